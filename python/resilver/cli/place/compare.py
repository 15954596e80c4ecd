"""`--compare`: what moves between two maps, clusters or studies."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from rich import box
from rich.table import Table

from resilver.cli.console import output, print_json
from resilver.cli.place.options import Inputs, Judging
from resilver.cli.place.placements import Placement, placements
from resilver.cli.place.source import ClusterSource, MapSource, Source, StudySource
from resilver.cli.place.structure import MapLevel
from resilver.errors import ConfigError
from resilver.placement_quality import Comparison, LevelMoves, compare
from resilver.units import format_bytes

# Rows of the table of devices and hosts: those with the most to do, for a person to read; JSON has
# all of them.
_PARTS_SHOWN = 5


def print_comparison(
    before: Source, after: Source, inputs: Inputs, judging: Judging, *, as_json: bool
) -> None:
    """Say what moves from one source to another.

    Args:
        before: A map, a cluster or a study.
        after: The same, changed. With a cluster before and a map after, that cluster under the map.
        inputs: The rule and its inputs, where one is compared. Without one, reweights are those
            of the groups after.
        judging: The pool.
        as_json: Print JSON, a list of one object a pool or rule.

    Raises:
        ConfigError: The two have nothing in common that could be compared.
    """
    if isinstance(before, StudySource) != isinstance(after, StudySource):
        raise ConfigError(
            "--compare: a study and a real map have nothing in common; compare two studies, or two "
            "maps or clusters"
        )
    as_it_is = inputs
    if inputs.rule is None:
        before, after = _with_map(before, after), _with_map(after, before)
        if isinstance(before, ClusterSource):
            as_it_is = replace(inputs, weights=())
    firsts = {one.key: one for one in placements(before, as_it_is, judging)}
    seconds = {one.key: one for one in placements(after, inputs, judging)}
    common = [key for key in firsts if key in seconds]
    if not common:
        raise ConfigError(
            f"--compare: {before.label!r} has {', '.join(firsts)} and {after.label!r} "
            f"{', '.join(seconds)}, none in both; choose with --rule or --pool what both have"
        )
    rows = []
    for key in common:
        one, other = _alike(firsts[key], seconds[key])
        levels = _levels(one, other)
        result = compare(
            one.sets,
            other.sets,
            set_bytes=one.set_bytes,
            weights=(one.weights, other.weights),
            levels={level: (pair[0].part_of, pair[1].part_of) for level, pair in levels.items()},
            by_position=one.by_position,
        )
        names = {"device": _device_names(one, other)}
        names |= {level: list(pair[0].part_names) for level, pair in levels.items()}
        notes = _notes(before, after, key)
        if as_json:
            rows.append(_json(one, other, result, names) | {"notes": notes})
        else:
            _print(one, result, names)
            for note in notes:
                output().print(f"Note: {note}.", style="dim", soft_wrap=True)
    if as_json:
        print_json(rows)


def _notes(before: Source, after: Source, rule_name: str) -> list[str]:
    """What explains a comparison of two maps: a rule that maps nothing, an id that hashes take."""
    if isinstance(before, StudySource) or isinstance(after, StudySource):
        return []
    notes = []
    for when, source in (("before", before), ("after", after)):
        rules = [rule for rule in source.structure.rules.values() if rule.name == rule_name]
        notes += [f"{when}, {why}" for why in map(source.structure.why_empty, rules) if why]
    others = before.structure.hashed_otherwise(after.structure)
    if others:
        more = f" and {len(others) - _PARTS_SHOWN:,} more" if len(others) > _PARTS_SHOWN else ""
        notes.append(
            f"another id, which hashes take, chooses otherwise whatever else is the same: "
            f"{', '.join(others[:_PARTS_SHOWN])}{more}; edit the map before, where ids stay"
        )
    return notes


def _with_map(source: Source, other: Source) -> Source:
    """A bare map beside a cluster stands for that cluster under the map."""
    if isinstance(source, ClusterSource) or not isinstance(other, ClusterSource):
        return source
    if not isinstance(source, MapSource):
        return source
    from resilver.importers.buckets import read_buckets
    from resilver.importers.ceph import OsdInfo

    document = source.crush.document()
    buckets = read_buckets(document)
    known = {osd.id for osd in other.report.osds}
    # A device that only the map knows is about to be added: it exists, and is up and in.
    added = tuple(
        OsdInfo(
            id=device,
            name=buckets.device_name(device),
            host=buckets.host_of(device),
            up=True,
            in_cluster=True,
            reweight=0x10000,
            listed=False,
        )
        for device in buckets.devices
        if device not in known
    )
    osds = tuple(sorted((*other.report.osds, *added), key=lambda osd: osd.id))
    report = replace(other.report, crushmap=json.dumps(document), buckets=buckets, osds=osds)
    return ClusterSource(source.label, source.crush, report)


def _alike(one: Placement, other: Placement) -> tuple[Placement, Placement]:
    """Both with the same sets: the groups of the smaller pool stand for those split from them.

    A group that is split keeps its objects' lower bits: group x of more groups comes from group
    stable_mod(x) of fewer, and takes an even share of its bytes.
    """
    if one.unit != other.unit or (one.unit != "PG" and len(one.sets) != len(other.sets)):
        raise ConfigError(
            f"--compare: {len(one.sets):,} {one.unit}s of {one.title!r} and {len(other.sets):,} "
            f"{other.unit}s of {other.title!r} are not the same data; use the same inputs"
        )
    count = max(len(one.sets), len(other.sets))
    return _split(one, count), _split(other, count)


def _split(placement: Placement, count: int) -> Placement:
    groups = len(placement.sets)
    if groups == count:
        return placement
    number = np.arange(count)
    mask = (1 << (groups - 1).bit_length()) - 1
    parent = np.where(number & mask < groups, number & mask, number & (mask >> 1))
    shares = np.bincount(parent, minlength=groups)
    set_bytes = placement.set_bytes
    if set_bytes is not None:
        set_bytes = (set_bytes / shares)[parent]
    return replace(placement, sets=placement.sets[parent], set_bytes=set_bytes)


def _levels(one: Placement, other: Placement) -> dict[str, tuple[MapLevel, MapLevel]]:
    """The levels that both have, with parts numbered alike: a part is the same by its name."""
    found = {}
    after = {level.name: level for level in other.levels}
    for level in one.levels:
        if level.name not in after:
            continue
        names = tuple(dict.fromkeys((*level.part_names, *after[level.name].part_names)))
        # Nothing can leave the only root.
        if len(names) < 2:
            continue
        found[level.name] = (_renumbered(level, names), _renumbered(after[level.name], names))
    return found


def _renumbered(level: MapLevel, names: tuple[str, ...]) -> MapLevel:
    index = {name: position for position, name in enumerate(names)}
    new = np.array([*(index[name] for name in level.part_names), -1], dtype=np.int64)
    return MapLevel(level.name, names, new[level.part_of])


def _device_names(one: Placement, other: Placement) -> list[str]:
    longest, shorter = sorted((one.device_names, other.device_names), key=len, reverse=True)
    # A device keeps the name it had, also where the map after has forgotten it.
    return (
        one.device_names + longest[len(one.device_names) :] if longest is not shorter else longest
    )


def _json(
    one: Placement, other: Placement, result: Comparison, names: dict[str, list[str]]
) -> dict[str, Any]:
    return {
        "placement": one.key,
        "before": one.title,
        "after": other.title,
        "unit": "bytes" if one.set_bytes is not None else "copies",
        "sets": result.sets,
        "changed_sets": result.changed_sets,
        "reordered_sets": result.reordered_sets,
        "primary_changes": result.primary_changes,
        "total": result.total,
        "moved": result.moved,
        "moved_share": result.moved_share,
        "least_by_weight": result.least_by_weight,
        "least_by_load": result.least_by_load,
        "moved_over_least": result.over_least,
        "levels": [
            {
                "level": moves.level,
                "moved": moves.moved,
                "parts": [
                    {
                        "name": names[moves.level][part],
                        "gained": float(moves.gained[part]),
                        "lost": float(moves.lost[part]),
                    }
                    for part in _by_work(moves)
                ],
            }
            for moves in result.levels
        ],
    }


def _by_work(moves: LevelMoves) -> list[int]:
    """The parts that gain or lose anything, the one with the most to do first."""
    work: npt.NDArray[np.float64] = moves.gained + moves.lost
    order = np.argsort(-work, kind="stable")
    return [int(part) for part in order if work[part] > 0]


def _print(one: Placement, result: Comparison, names: dict[str, list[str]]) -> None:
    def amount(value: float | None) -> str:
        if value is None:
            return "unknown"
        return format_bytes(round(value)) if one.set_bytes is not None else f"{value:,.0f} copies"

    console = output()
    table = Table(title=one.title, box=box.SIMPLE, title_justify="left", pad_edge=False)
    table.add_column("what moves")
    table.add_column("amount", justify="right")
    table.add_column("beside it", style="dim")
    share = f"{result.moved_share:.2%} of {amount(result.total)}"
    table.add_row("to another device", amount(result.moved), share)
    for moves in result.levels[1:]:
        table.add_row(f"  to another {moves.level}", amount(moves.moved), "")
    over = "" if result.over_least is None else f"{result.over_least:.2f} times it moves"
    table.add_row("the least, by the change of weights", amount(result.least_by_weight), over)
    table.add_row("the least, by the loads of both", amount(result.least_by_load), "")
    changed = f"{result.changed_sets:,}"
    table.add_row(f"{one.unit}s with other members", changed, f"of {result.sets:,}")
    table.add_row(f"{one.unit}s in another order only", f"{result.reordered_sets:,}", "")
    table.add_row(f"{one.unit}s with another primary", f"{result.primary_changes:,}", "")
    console.print(table)
    for moves in result.levels:
        _print_parts(moves, names[moves.level], amount)


def _print_parts(moves: LevelMoves, names: list[str], amount: Any) -> None:
    busy = _by_work(moves)
    if not busy:
        return
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column(moves.level)
    table.add_column("gains", justify="right")
    table.add_column("loses", justify="right")
    for part in busy[:_PARTS_SHOWN]:
        table.add_row(names[part], amount(moves.gained[part]), amount(moves.lost[part]))
    hidden = len(busy) - _PARTS_SHOWN
    if hidden > 0:
        table.add_row(f"and {hidden:,} more", "", "", style="dim")
    output().print(table)
