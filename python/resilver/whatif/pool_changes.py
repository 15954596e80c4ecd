"""What changes of pools and of their groups mean."""

from __future__ import annotations

import re
import shlex
from typing import Any

from resilver.crush.balance import UpmapEntry
from resilver.errors import ConfigError, name_remedy, show
from resilver.importers.ceph import PG_NUM_MAX
from resilver.whatif.cluster import Cluster, PoolState
from resilver.whatif.configuration import Daemon
from resilver.whatif.declared import SETTINGS
from resilver.whatif.declared.forms import (
    BALANCER,
    BALANCER_RUNS,
    CRUSH_RULE,
    FORCE_GROUPS,
    FORCE_POOLS,
    MANAGED_PG_NUM,
    MERGES,
    SINGLE_COPY,
    UPMAP,
    has,
    require,
)
from resilver.whatif.naming import Made, listed, number, pair, targets
from resilver.whatif.releases import QUINCY, Release

_PGID = re.compile(r"(\d+)\.([0-9a-f]+)")
_SIZE_MAX = 10
_ENTRIES_MAX = 10_000


def set_rule(value: str, cluster: Cluster) -> Made:
    """Another rule for a pool: ``POOL=RULE``."""
    name, rule = pair(value, 'such as "rbd=replicated_ssd"')
    pool = cluster.pool(name)
    rules = {found.name: number for number, found in cluster.tree.rules.items()}
    if rule not in rules and not (rule.isdigit() and int(rule) in cluster.tree.rules):
        remedy = name_remedy(rule, list(rules), "rules")
        raise ConfigError("the map has no rule of this name", remedy, value=show(rule))
    wanted = rules[rule] if rule in rules else int(rule)
    check_rule(cluster, pool, wanted, pool.size)
    pool.rule = wanted
    label = cluster.tree.rules[pool.rule].name
    # Before Luminous a rule was named by its number.
    word = (
        ["crush_rule", label]
        if has(CRUSH_RULE, cluster.release)
        else ["crush_ruleset", str(pool.rule)]
    )
    line = shlex.join(["ceph", "osd", "pool", "set", pool.info.name, *word])
    change = {"kind": "set_rule", "pool": pool.info.id, "rule": pool.rule}
    return Made([change], f"pool {pool.info.name} gets the rule {label}", [line])


def pg_num(value: str, cluster: Cluster) -> Made:
    """Another number of groups: ``POOL=N``."""
    name, count = pair(value, 'such as "rbd=2048"')
    pool = cluster.pool(name)
    wanted = int(number(count, 1, PG_NUM_MAX, "pg_num"))
    if wanted < pool.pg_num:
        require(MERGES, cluster.release, value)
    check_flag(pool, "nopgchange", "pg_num")
    check_pool_bounds(cluster, pool, wanted)
    check_pg_num(cluster, pool, wanted, pool.size)
    words = ["ceph", "osd", "pool", "set", pool.info.name]
    steps = [("pg_num", wanted)]
    if not has(MANAGED_PG_NUM, cluster.release):
        steps = own_steps(cluster, pool, wanted)
    lines = [shlex.join([*words, key, str(step)]) for key, step in steps]
    pool.pg_num = wanted
    if wanted & (wanted - 1):
        cluster.note(
            f"{wanted:,} PGs of pool {pool.info.name} are no power of two: some hold twice as much "
            "data as others."
        )
    change = {"kind": "pg_num", "pool": pool.info.id, "pg_num": wanted}
    return Made([change], f"pool {pool.info.name} is to have {wanted:,} PGs", lines)


def pool_size(value: str, cluster: Cluster) -> Made:
    """Another number of copies: ``POOL=SIZE[/MIN]``."""
    name, sizes = pair(value, 'such as "rbd=3" or "rbd=3/2"')
    pool = cluster.pool(name)
    if pool.info.kind == "erasure":
        rule = f"pool '{pool.info.name}' is coded, and the pieces of a code stay as many"
        raise ConfigError(rule, "name a replicated pool", value=show(value))
    first, sign, least = sizes.partition("/")
    size = int(number(first, 1, _SIZE_MAX, "a pool's size"))
    # `ceph osd pool set size` sets min_size to its rule for a new pool.
    min_size = int(number(least, 1, size, "min_size")) if sign else size - size // 2
    check_flag(pool, "nosizechange", "size")
    check_rule(cluster, pool, pool.rule, size)
    check_pg_num(cluster, pool, pool.pg_num, size)
    pool.size, pool.min_size = size, min_size
    words = ["ceph", "osd", "pool", "set", pool.info.name]
    lines = [shlex.join([*words, "size", str(size)])]
    if size == 1 and has(SINGLE_COPY, cluster.release):
        lines[0] += " --yes-i-really-mean-it"
        lines.insert(0, "ceph config set global mon_allow_pool_size_one true")
    if sign:
        lines.append(shlex.join([*words, "min_size", str(min_size)]))
    change = {"kind": "pool_size", "pool": pool.info.id, "size": size, "min_size": min_size}
    copies = "1 copy" if size == 1 else f"{size} copies"
    return Made([change], f"pool {pool.info.name} is to have {copies}", lines)


def group_of(text: str, cluster: Cluster) -> tuple[PoolState, int]:
    """The pool and the number of a group such as ``3.1a``.

    Raises:
        ConfigError: It is no group of the cluster.
    """
    found = _PGID.fullmatch(text)
    if found is None:
        rule = "a PG is a pool's number, a dot and a hexadecimal number"
        raise ConfigError(rule, 'such as "3.1a"', value=show(text))
    pool = cluster.pool(found[1])
    number = int(found[2], 16)
    if number >= pool.pg_num:
        rule = f"pool '{pool.info.name}' has {pool.pg_num} PGs"
        raise ConfigError(rule, f"the last is {pool.info.id}.{pool.pg_num - 1:x}", value=show(text))
    return pool, number


def upmap(value: str, cluster: Cluster) -> Made:
    """An upmap entry: ``PGID FROM TO...``."""
    words = value.split()
    pool, group = group_of(words[0] if words else "", cluster)
    if len(words) % 2 == 0:
        rule = "an upmap entry is a PG and pairs of OSDs, from and to"
        raise ConfigError(rule, 'such as "3.1a 5 17"', value=show(value))
    osds = [targets(word, cluster).osds[0] for word in words[1:]]
    pairs = list(zip(osds[::2], osds[1::2], strict=True))
    entry = UpmapEntry(pool.info.id, group, tuple(pairs))
    require(UPMAP, cluster.release, value)
    lines = cluster.upmap_lines([entry.command])
    return Made([upmap_change(entry)], upmap_text(words[0], pairs), lines)


def upmap_text(pgid: str, pairs: list[tuple[int, int]]) -> str:
    """What an upmap entry does, as a clause."""
    moved = listed([f"from osd.{one} to osd.{other}" for one, other in pairs]) if pairs else ""
    return f"PG {pgid} moves {moved}" if pairs else f"PG {pgid} loses its upmap entry"


def upmap_change(entry: UpmapEntry) -> dict[str, Any]:
    """The change that writes an upmap entry, or takes it away, as the core reads it."""
    return {"kind": "upmap", "pool": entry.pool, "group": entry.group, "pairs": entry.pairs}


def force(value: str, cluster: Cluster) -> Made:
    """A pool or groups first: ``POOL`` or ``PGID,...``."""
    if _PGID.fullmatch(value.split(",")[0].strip()) and value not in cluster.pools:
        require(FORCE_GROUPS, cluster.release, value)
        groups = [group_of(word.strip(), cluster) for word in value.split(",")]
        words = " ".join(word.strip() for word in value.split(","))
        by_pool: dict[int, list[int]] = {}
        for pool, number in groups:
            by_pool.setdefault(pool.info.id, []).append(number)
        changes = [
            {"kind": "force", "pool": pool, "groups": some} for pool, some in by_pool.items()
        ]
        lines = [f"ceph pg force-recovery {words}", f"ceph pg force-backfill {words}"]
        return Made(changes, f"PG {listed(words.split())} goes first", lines)
    pool = cluster.pool(value)
    require(FORCE_POOLS, cluster.release, value)
    name = shlex.quote(pool.info.name)
    lines = [f"ceph osd pool force-recovery {name}", f"ceph osd pool force-backfill {name}"]
    change = {"kind": "force", "pool": pool.info.id, "groups": []}
    return Made([change], f"pool {pool.info.name} goes first", lines)


def balance(value: str, cluster: Cluster) -> Made:
    """The balancer, or entries by bytes: ``ceph``, ``off``, ``bytes [N]``."""
    if value in ("ceph", "on", "off"):
        is_on = value != "off"
        require(BALANCER, cluster.release, value)
        lines = ["ceph balancer off"]
        if is_on:
            lines = cluster.upmap_lines(["ceph balancer mode upmap", "ceph balancer on"])
        if is_on and not has(BALANCER_RUNS, cluster.release):
            lines.insert(0, "ceph mgr module enable balancer")
        text = f"the balancer is turned {'on' if is_on else 'off'}"
        return Made([{"kind": "balance", "on": is_on}], text, lines)
    word, _, count = value.partition(" ")
    if word == "bytes":
        entries = int(number(count.strip() or "100", 1, _ENTRIES_MAX, "how many entries"))
        return _balance_by_bytes(entries, cluster)
    rule = "PGs are balanced by the manager's balancer (ceph, off) or by bytes (bytes, bytes 50)"
    raise ConfigError(rule, name_remedy(value, ("ceph", "off", "bytes")), value=show(value))


def _balance_by_bytes(entries: int, cluster: Cluster) -> Made:
    """Upmap entries by our own plan, which is made for the map as the dumps have it."""
    from resilver.simulate.balance import balance_by_bytes

    if cluster.is_changed:
        rule = "entries by bytes are planned for the map as it is, and this plan changes it before"
        remedy = "balance first, or ask with the dumps of the map that it will be"
        raise ConfigError(rule, remedy, value='"bytes"')
    require(UPMAP, cluster.release, "bytes")
    plan = balance_by_bytes(cluster.report, entries=entries)
    changes = [upmap_change(entry) for entry in plan.entries]
    many = "1 PG moves" if len(changes) == 1 else f"{len(changes):,} PGs move"
    lines = cluster.upmap_lines([one.command for one in plan.entries])
    return Made(changes, f"{many} to even out how full OSDs are", lines)


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
