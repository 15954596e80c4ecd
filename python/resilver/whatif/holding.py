"""A change of the map whose data stays where it is, held by upmap entries, until it is released."""

from __future__ import annotations

import copy
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from resilver.crush.balance import UpmapEntry
from resilver.crush.model import HOLE, WEIGHT_ONE
from resilver.errors import ConfigError, show
from resilver.importers.ceph import ClusterReport
from resilver.quantities import duration
from resilver.simulate.ceph import heal
from resilver.whatif.configuration import has_old_clients, release_of
from resilver.whatif.declared.forms import FORMS, NEW_CLIENTS, UPMAP, has
from resilver.whatif.held import HeldChange, HeldGroup
from resilver.whatif.kinds import BY_KEY, MAP_KINDS
from resilver.whatif.options import Request
from resilver.whatif.perform import Told, answer_of
from resilver.whatif.plan import Plan
from resilver.whatif.pool_changes import upmap_change
from resilver.whatif.releases import Release
from resilver.whatif.request import prepare

_MOMENT = "1 s"
"""A run that is so long sees the map change, and nothing move."""
_STEPS = 10
_WAIT = "wait until every PG is active+clean"
_NONE: Mapping[Any, Any] = {}
_Key = tuple[int, int]
_Row = dict[str, Any]


def hold(
    report: ClusterReport,
    change: Plan,
    request: Request,
    step_bytes: int | None = None,
    told: Told | None = None,
) -> HeldChange:
    """Hold the data of a cluster where it is while its map changes, or while it is backfilled.

    The core makes the change three times: to the end with nothing held; for the sets that CRUSH
    alone gives afterwards; and with the entries that should bring each PG back to where it is, less
    those that the monitors then remove.

    Args:
        report: The cluster, as its dumps say.
        change: What changes, at the start; nothing where a backfill under way is to be cancelled.
        request: What is known of the cluster beside.
        step_bytes: The most that a step of the release moves, if it is more than one PG; a tenth of
            all where it is None.
        told: Told how far it is.

    Raises:
        ConfigError: A change cannot be held, there is nothing to hold, or the release has no upmap
            entries.
        PlanDoesNotFit: What the change leaves cannot hold the pools.
        Interrupted: `told` answered False.
    """
    _check(report, change, release_of(report, request.release))
    at_once = answer_of(report, change, replace(request, counterfactuals=False), told)
    first = prepare(report, change, replace(request, horizon=_MOMENT, frames=0)).input
    placed = _placed(first)
    left = {
        (row["pool"], row["group"]): _pairs(row["pairs"]) for row in placed["upmaps"].to_pylist()
    }
    coded = {pool.id for pool in report.pools if pool.kind == "erasure"}
    copies = {pool.id: pool.size for pool in report.pools}
    before = _entries(report)
    sizes = _sizes(report, placed["sets"].to_pylist(), coded)
    groups: dict[_Key, HeldGroup] = {}
    entries: list[UpmapEntry] = []
    whole: dict[_Key, list[int]] = {}
    for row in placed["sets"].to_pylist():
        key, wanted = (row["pool"], row["group"]), _osds(row["before"])
        if key not in sizes or HOLE in wanted:
            continue
        after = UpmapEntry(*key, left.get(key, before.get(key, ())))
        pairs = pairs_back(_osds(row["raw"]), wanted, is_coded=key[0] in coded)
        if pairs is not None:
            entries.append(UpmapEntry(*key, pairs))
            groups[key] = HeldGroup((entries[-1].command,), (after.command,), sizes[key])
        elif len(wanted) == copies[key[0]]:  # A shorter one would stay short.
            whole[key] = wanted
            groups[key] = _held_whole(after, wanted, sizes[key], has_pairs=key in before)
    tried = _sizes(report, _placed(first, entries, whole)["sets"].to_pylist(), coded)
    # Those that are not back get no entry, and move as the change alone moves them.
    loose = {key: size for key, size in sizes.items() if key in tried or key not in groups}
    held = [group for key, group in groups.items() if key not in loose]
    most = step_bytes or -(-sum(group.bytes for group in held) // _STEPS)
    return HeldChange(
        at_once=at_once,
        preparing=_preparing(report),
        returning=tuple(dict.fromkeys(_returning(report, first["plan"]))),
        back=tuple(_back(report, before, {*groups} - {*loose}, {*whole} - {*loose}, {*left})),
        is_balanced=report.balancer is None or report.balancer.active,
        steps=_in_steps(held, most),
        loose=tuple((UpmapEntry(*key, ()).pgid, size) for key, size in loose.items()),
    )


def _held_whole(after: UpmapEntry, wanted: list[int], size: int, *, has_pairs: bool) -> HeldGroup:
    """A PG that is held by an entry of its whole set, where it may have pairs now."""
    drop = UpmapEntry(after.pool, after.group, ())
    line = " ".join(["ceph osd pg-upmap", drop.pgid, *map(str, wanted)])
    release = (f"ceph osd rm-pg-upmap {drop.pgid}", *[after.command] * bool(after.pairs))
    return HeldGroup((*[drop.command] * has_pairs, line), release, size)


def _entries(report: ClusterReport) -> dict[_Key, tuple[tuple[int, int], ...]]:
    """The pairs of each PG that has some."""
    return {
        (pool.id, group): pairs
        for pool in report.pools
        for group, pairs in pool.exceptions.upmap_items
    }


def pairs_back(
    raw: Sequence[int], wanted: Sequence[int], *, is_coded: bool
) -> tuple[tuple[int, int], ...] | None:
    """The pairs of an upmap entry that bring a PG from one set to another.

    They are in an order in which no OSD comes into a set that has it. Of a code, where each place
    has its own shard, no entry can swap two OSDs, or fill a place that CRUSH leaves empty.

    Args:
        raw: The OSDs that CRUSH gives.
        wanted: The OSDs that the PG is to have.
        is_coded: Whether each is to be in its place, not only in the set.

    Returns:
        (from, to) of each; None where no pairs do it.

    >>> pairs_back([1, 2, 3], [4, 2, 1], is_coded=False)
    ((3, 4),)
    >>> pairs_back([1, 2, 3], [4, 1, 3], is_coded=True)
    ((1, 4), (2, 1))
    >>> pairs_back([1, 2, 3], [2, 1, 3], is_coded=True)
    """
    if is_coded:
        waiting = [pair for pair in zip(raw, wanted, strict=False) if pair[0] != pair[1]]
    else:
        gone, come = (
            [osd for osd in ours if osd not in others]
            for ours, others in ((raw, wanted), (wanted, raw))
        )
        waiting = list(zip(gone, come, strict=False))
    present, pairs = set(raw) - {HOLE}, []
    while ready := [pair for pair in waiting if HOLE not in pair and pair[1] not in present]:
        waiting.remove(ready[0])
        pairs.append(ready[0])
        present = present - {ready[0][0]} | {ready[0][1]}
    is_done = not waiting and len(raw) == len(wanted)
    return tuple(pairs) if is_done else None


def _check(report: ClusterReport, change: Plan, release: Release) -> None:
    if not has(UPMAP, release):
        raise ConfigError(FORMS[UPMAP].problem("upmap entries", release))
    if not change.changes and all(group.acting == group.up for group in report.groups):
        known = ", ".join(BY_KEY[key].option for key in MAP_KINDS)
        rule = "there is no change to hold, and no PG is backfilled that could be held"
        raise ConfigError(rule, f"give one of {known}")
    for wanted in change.changes:
        if wanted.at_seconds:
            rule, remedy = "the map changes at once, and data moves later", "leave the time out"
            text = f"{wanted.value} @ {duration(wanted.at_seconds)}"
            raise ConfigError(rule, remedy, wanted.place, show(text))
    down = [osd.id for osd in report.osds if osd.in_cluster and not osd.up]
    if down:
        rule = f"osd.{down[0]} is down and in: its data is not where the map has it"
        raise ConfigError(rule, _WAIT, place=report.label)
    for pool in report.pools:
        if pool.pg_num_target not in (0, pool.pg_num):
            rule = f"pool '{pool.name}' is on its way from {pool.pg_num:,} to "
            raise ConfigError(f"{rule}{pool.pg_num_target:,} PGs", _WAIT, place=report.label)


def _placed(
    first: dict[str, Any],
    entries: Sequence[UpmapEntry] = (),
    whole: Mapping[_Key, list[int]] = _NONE,
) -> dict[str, pa.Table]:
    """The tables of a run that sees the map change; the balancer writes nothing in it.

    Args:
        first: The core's input without any entry.
        entries: Entries that come with the change.
        whole: The sets that PGs have by entries of whole sets, which the change then meets.
    """
    tried = {**first, "lists_sets": True, "balancer": False, "plan": [*first["plan"]]}
    tried["pools"] = copy.deepcopy(first["pools"])
    exceptions = {pool["pool"]["id"]: pool["pool"]["exceptions"] for pool in tried["pools"]}
    for (pool, group), osds in whole.items():
        exceptions[pool]["upmap_items"].pop(group, None)
        exceptions[pool]["upmap"][group] = osds
    tried["plan"] += [{"at_seconds": 0.0, "change": upmap_change(entry)} for entry in entries]
    return heal(json.dumps(tried, separators=(",", ":"))).tables


def _sizes(report: ClusterReport, rows: Sequence[_Row], coded: set[int]) -> dict[_Key, int]:
    """What moves of each PG that gets an OSD or loses one, in bytes."""
    loads = {(load.pool, load.number): load.bytes for load in report.loads}
    pieces = {pool.id: pool.data_pieces or 1 for pool in report.pools}
    sizes = {}
    for row in rows:
        key, now, then = (row["pool"], row["group"]), _osds(row["after"]), _osds(row["before"])
        if key[0] in coded:
            count = sum(osd not in (old, HOLE) for osd, old in zip(now, then, strict=False))
        elif set(now) == set(then):
            continue
        else:
            count = len(set(now) - set(then))
        sizes[key] = count * loads[key] // pieces[key[0]]
    return sizes


def _preparing(report: ClusterReport) -> tuple[str, ...]:
    """The commands after which data waits, and clients know upmap entries."""
    lines = ["ceph osd set norebalance"] * ("norebalance" not in report.flags)
    return (*lines, *[NEW_CLIENTS] * has_old_clients(report))


def _back(
    report: ClusterReport,
    before: Mapping[_Key, tuple[tuple[int, int], ...]],
    held: set[_Key],
    whole: set[_Key],
    changed: set[_Key],
) -> Iterator[str]:
    """The commands after which PGs have the entries that they had.

    Args:
        before: The entries that there were.
        held: The PGs that are held.
        whole: Those of them that are held by an entry of a whole set.
        changed: The PGs whose entries the change itself takes away or cuts.
    """
    sets = {
        (pool.id, group): osds for pool in report.pools for group, osds in pool.exceptions.upmap
    }
    for key in sorted(whole - {*sets}):
        yield f"ceph osd rm-pg-upmap {UpmapEntry(*key, ()).pgid}"
    for key in sorted(held | changed & {*before}):
        if key in before or key not in whole:
            yield UpmapEntry(*key, before.get(key, ())).command
    # Whether the change takes one of these away is not known, and giving it again does no harm.
    for key, osds in sets.items():
        yield " ".join(["ceph osd pg-upmap", UpmapEntry(*key, ()).pgid, *map(str, osds)])


def _returning(report: ClusterReport, plan: Sequence[_Row]) -> Iterator[str]:
    """The commands that undo what is no matter of the CRUSH map, the last change first."""
    weights = {osd.id: osd.reweight / WEIGHT_ONE for osd in report.osds}
    pools = {pool.id: pool for pool in report.pools}
    rules = {rule["rule_id"]: rule["rule_name"] for rule in json.loads(report.crushmap)["rules"]}
    for step in reversed(plan):
        change = step["change"]
        if change["kind"] == "set_rule":
            pool = pools[change["pool"]]
            words = ["ceph", "osd", "pool", "set", pool.name, "crush_rule", rules[pool.rule_id]]
            yield shlex.join(words)
        elif change["kind"] in ("reweight", "in", "out"):
            for osd in change["osds"]:
                weight = weights[osd]
                yield f"ceph osd reweight {osd} {weight:g}" if weight else f"ceph osd out {osd}"


def _in_steps(held: Sequence[HeldGroup], most: int) -> tuple[tuple[HeldGroup, ...], ...]:
    steps: list[list[HeldGroup]] = []
    room = 0
    for group in held:
        if not steps or group.bytes > room:
            steps.append([])
            room = most
        steps[-1].append(group)
        room -= group.bytes
    return tuple(map(tuple, steps))


def _osds(text: str) -> list[int]:
    return [int(word) for word in text.split()]


def _pairs(text: str) -> tuple[tuple[int, int], ...]:
    osds = _osds(text)
    return tuple(zip(osds[::2], osds[1::2], strict=True))
