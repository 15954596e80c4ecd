"""What the monitors refuse of the commands that change a pool."""

from __future__ import annotations

from resilver.errors import ConfigError
from resilver.whatif.cluster import Cluster, PoolState
from resilver.whatif.configuration import Daemon
from resilver.whatif.declared import SETTINGS
from resilver.whatif.releases import QUINCY, Release

_LEAST_OSDS = 3
"""Ceph counts at least so many."""

_BY_RULE: Release = (17, 2, 6)
"""PR 50327, the backport of PR 49507: pools of one rule over the OSDs below its root."""


_REFUSE = "the monitors refuse it"
_POOL_TYPES = {1: "replicated", 3: "erasure", 4: "replicated", 5: "erasure"}
"""For what pools a rule is; 4 and 5 are rules with multi-step retries."""


def check_flag(pool: PoolState, flag: str, what: str) -> None:
    """Refuse what a flag of the pool forbids (EPERM).

    Args:
        flag: ``nopgchange`` or ``nosizechange``.
        what: What is to change.
    """
    name = pool.info.name
    if flag in pool.info.limits.flags:
        rule = f"{_REFUSE} (EPERM): pool '{name}' has the flag {flag}, so its {what} stays"
        raise ConfigError(rule, f"unset it: ceph osd pool set {name} {flag} false")


def check_pool_bounds(cluster: Cluster, pool: PoolState, pg_num: int) -> None:
    """Refuse a pg_num beyond what any pool, or this one, may have.

    Raises:
        ConfigError: It is above `mon_max_pool_pg_num` (ERANGE), or since Quincy (PR 44054) outside
            the pool's own pg_num_min and pg_num_max (EINVAL).
    """
    setting, info = SETTINGS["mon_max_pool_pg_num"], pool.info
    most = int(cluster.configuration.find(setting.name, Daemon("mon")).value)
    if pg_num > most:
        rule = f"{_REFUSE} (ERANGE): pg_num {pg_num} is above {setting.name}, {most}"
        raise ConfigError(rule, f"add --set-option {setting.name}={pg_num}")
    least, most = info.limits.pg_num_min, info.limits.pg_num_max
    for bound, is_beyond, name in (
        (least, pg_num < least, "pg_num_min"),
        (most, most and pg_num > most, "pg_num_max"),
    ):
        if is_beyond and cluster.release >= QUINCY:
            rule = f"{_REFUSE} (EINVAL): pg_num {pg_num} is beyond the pool's {name}, {bound}"
            remedy = f"first: ceph osd pool set {info.name} {name} {pg_num}"
            raise ConfigError(rule, remedy)


def check_rule(cluster: Cluster, pool: PoolState, rule: int, size: int) -> None:
    """Refuse a rule that is not for such a pool (EINVAL, `CrushWrapper::check_crush_rule`).

    Raises:
        ConfigError: It is for pools of the other type, or before Quincy for other sizes.
    """
    own = cluster.tree.rules[rule]
    least, most = own.min_size, own.max_size
    wanted = _POOL_TYPES.get(own.kind or 0, pool.info.kind)
    what = f"{_REFUSE} (EINVAL): rule '{own.name}'"
    if wanted != pool.info.kind:
        problem = f"{what} is for {wanted} pools, and '{pool.info.name}' is {pool.info.kind}"
        raise ConfigError(problem, f"name a rule for {pool.info.kind} pools")
    is_outside = (least is not None and size < least) or (most is not None and size > most)
    if is_outside and cluster.release < QUINCY:
        problem = f"{what} is for {least} to {most} copies or shards, and not for {size}"
        raise ConfigError(problem, "name another rule, or change its sizes in the map first")


def check_pg_num(cluster: Cluster, pool: PoolState, pg_num: int, size: int) -> None:
    """Refuse what `OSDMonitor::check_pg_num` refuses: more PGs an OSD than `mon_max_pg_per_osd`.

    Args:
        cluster: The cluster before the command.
        pool: The pool that it changes.
        pg_num: The pg_num that it gets.
        size: The size that it gets.

    Raises:
        ConfigError: The monitors would answer ERANGE.
    """
    setting = SETTINGS["mon_max_pg_per_osd"]
    if not setting.span.holds(cluster.release) or (pg_num <= pool.pg_num and size <= pool.size):
        return
    found = cluster.configuration.find(setting.name, Daemon("mon"))
    cluster.ledger.found(setting, found, "")
    most = int(found.value)
    by_rule = cluster.release >= _BY_RULE
    pools = [one for one in cluster.pools.values() if not by_rule or one.rule == pool.rule]
    others = sum(_pg_num(one) * one.size for one in pools if one is not pool)
    osds = max(
        _osds_below(cluster, pool.rule) if by_rule else sum(map(cluster.is_usable, cluster.osds)),
        _LEAST_OSDS,
    )
    total = others + pg_num * size
    # The later check divides whole numbers.
    most_total = (most + 1) * osds - 1 if by_rule else most * osds
    if total <= most_total:
        return
    per_osd = total // osds if by_rule else -(-total // osds)
    which = ("pools with its rule", "below its root") if by_rule else ("all pools", "that are in")
    what = f"pg_num {pg_num} and size {size} of pool '{pool.info.name}'"
    rule = (
        f"{_REFUSE} (ERANGE): {what} would mean {per_osd:,} PGs an OSD ({total:,} "
        f"copies or shards of {which[0]} on {osds} OSDs {which[1]}), more than "
        f"mon_max_pg_per_osd, {most}"
    )
    least = (most_total - others) // size
    smaller = f"give it a pg_num of up to {least}, or " if least > pool.pg_num else ""
    raise ConfigError(rule, f"{smaller}add --set-option mon_max_pg_per_osd={per_osd}")


def _pg_num(pool: PoolState) -> int:
    """The pg_num that a pool is on the way to."""
    is_as_dumped = pool.pg_num == pool.info.pg_num
    return (pool.info.pg_num_target if is_as_dumped else 0) or pool.pg_num


def _osds_below(cluster: Cluster, rule: int) -> int:
    """The OSDs below the roots of a rule, out or in, of the class that it takes."""
    found: set[int] = set()
    for step in cluster.tree.rules[rule].steps:
        if step["op"] == "take":
            found |= cluster.tree.below_root(str(step["item_name"]))
    return len(found)


def own_steps(cluster: Cluster, pool: PoolState, pg_num: int) -> list[tuple[str, int]]:
    """The steps of an operator from a pool's pg_num to another, where no manager takes them.

    Args:
        pg_num: Where it is to come to.

    Returns:
        (``pg_num`` or ``pgp_num``, the number) of each command. One splits off at most
        `mon_osd_max_split_count` PGs for each OSD, of which no more count than there are PGs.
    """
    most = int(cluster.configuration.find("mon_osd_max_split_count", Daemon("mon")).value)
    steps, reached = [], pool.pg_num
    while reached < pg_num:
        reached = min(pg_num, reached + most * min(reached, len(cluster.osds)))
        steps.append(("pg_num", reached))
    return [*steps, ("pgp_num", pg_num)]
