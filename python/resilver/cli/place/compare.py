"""`--compare`: what moves between two maps, clusters or studies."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.answer import Answer, Section, Shown
from resilver.cli.crush.source import ClusterSource, MapSource, Source, StudySource, open_source
from resilver.cli.crush.structure import MapLevel
from resilver.cli.place.options import Asked
from resilver.cli.place.placements import PG, Placement, placements
from resilver.crush import Comparison, LevelMoves, compare
from resilver.errors import ConfigError
from resilver.importers.buckets import BucketTree
from resilver.importers.ceph import OsdInfo
from resilver.record import record
from resilver.tables import table, table_of
from resilver.words import percent, plural, size_of

# Rows of the tables of devices and hosts that a terminal shows: those with the most to do.
_PARTS_SHOWN = 5

_Amount = Callable[[float | None], str]


def compare_answer(asked: Asked) -> Answer:
    """What moves from one source to another.

    With a cluster before and a map after, that cluster is compared with itself under the map.
    Without a rule, reweights are those of the PGs after.

    Raises:
        ConfigError: The two have nothing in common that could be compared.
    """
    before, after = (open_source(path, asked, alone=False) for path in asked.words)
    if isinstance(before, StudySource) != isinstance(after, StudySource):
        raise ConfigError(
            "--compare: a study and a real map have nothing in common; compare two studies, or two "
            "maps or clusters"
        )
    as_it_is = asked
    if asked.rule is None:
        before, after = _with_map(before, after), _with_map(after, before)
        if isinstance(before, ClusterSource):
            as_it_is = replace(asked, weights=())
    firsts = {one.key: one for one in placements(before, as_it_is)}
    seconds = {one.key: one for one in placements(after, asked)}
    common = [key for key in firsts if key in seconds]
    if not common:
        raise ConfigError(
            f"--compare: {before.label!r} has {', '.join(firsts)} and {after.label!r} "
            f"{', '.join(seconds)}, none in both; choose with --rule or --pool what both have"
        )
    verdict, sections, record = [], [], []
    said: dict[str, None] = {}
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
        # A device keeps the name it had, also where the map after has forgotten it.
        added = other.device_names[len(one.device_names) :]
        names = {"device": one.device_names + added}
        names |= {level: list(pair[0].part_names) for level, pair in levels.items()}
        notes = _notes(before, after, key)
        amount = partial(_amount, one.set_bytes is not None)
        verdict.append(_sentence(one, result, amount))
        sections.append(_section(one, result, names, amount))
        record.append(_record(one, other, result, names) | {"notes": notes})
        said |= {f"Note: {note}.": None for note in notes}
    title = f"What moves from {before.label} to {after.label}"
    return Answer(title, verdict, sections, record, notes=list(said))


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
    document = source.crush.document()
    buckets = BucketTree(document)
    hosts = buckets.holders("host")
    known = {osd.id for osd in other.report.osds}
    # A device that only the map knows is about to be added: it exists, and is up and in.
    added = tuple(
        OsdInfo(
            id=device,
            name=buckets.device_name(device),
            host=hosts.get(device),
            up=True,
            in_cluster=True,
            reweight=0x10000,
            listed=False,
        )
        for device in buckets.devices
        if device not in known
    )
    osds = tuple(sorted((*other.report.osds, *added), key=lambda osd: osd.id))
    report = replace(other.report, crushmap=json.dumps(document), osds=osds)
    return ClusterSource(source.label, source.crush, report)


def _alike(one: Placement, other: Placement) -> tuple[Placement, Placement]:
    """Both with the same sets: the groups of the smaller pool stand for those split from them.

    A group that is split keeps its objects' lower bits: group x of more groups comes from group
    stable_mod(x) of fewer, and takes an even share of its bytes.
    """
    if one.unit != other.unit or (one.unit != PG and len(one.sets) != len(other.sets)):
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


def _record(
    one: Placement, other: Placement, result: Comparison, names: dict[str, list[str]]
) -> dict[str, Any]:
    return {
        "placement": one.key,
        "before": one.title,
        "after": other.title,
        "unit": "bytes" if one.set_bytes is not None else "copies",
        **record(result, "sets", "changed_sets", "reordered_sets", "primary_changes"),
        **record(result, "total", "moved", "moved_share", "least_by_weight", "least_by_load"),
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


def _amount(has_bytes: bool, value: float | None) -> str:
    return "unknown" if value is None else size_of(value) if has_bytes else f"{value:,.0f} copies"


def _sentence(one: Placement, result: Comparison, amount: _Amount) -> str:
    """How much moves, of how much, and how that compares with the least."""
    text = f"{one.key}: {amount(result.moved)} of {amount(result.total)} move"
    text += f" ({percent(result.moved_share)})"
    if result.over_least is not None:
        text += f", {result.over_least:.2f} times the minimum for this change of weights"
    return f"{text}."


def _section(
    one: Placement, result: Comparison, names: dict[str, list[str]], amount: _Amount
) -> Section:
    """What moves, and by level the parts that gain or lose it."""
    of_all = f"{result.moved_share:.2%} of {amount(result.total)}"
    over = "" if result.over_least is None else f"moved: {result.over_least:.2f} times that"
    rows = [
        ("to another device", amount(result.moved), of_all),
        *((f"to another {level.level}", amount(level.moved), "") for level in result.levels[1:]),
        ("minimum for the change of weights", amount(result.least_by_weight), over),
        ("minimum for the change of loads", amount(result.least_by_load), ""),
        (f"{one.unit}s with other members", f"{result.changed_sets:,}", f"of {result.sets:,}"),
        (f"{one.unit}s in another order only", f"{result.reordered_sets:,}", ""),
        (f"{one.unit}s with another primary", f"{result.primary_changes:,}", ""),
    ]
    columns = (("what", "what moves", "text"), ("value", "amount", "text"), ("context", "", "text"))
    made = table_of(rows, *columns)
    parts = [Shown(f"{one.key}-moves", one.title, made)]
    kind = "bytes" if one.set_bytes is not None else "count"
    for moves in result.levels:
        if busy := _by_work(moves):
            made = table(
                ("name", moves.level, "text", [names[moves.level][part] for part in busy]),
                ("gained", "gains", kind, moves.gained[busy]),
                ("lost", "loses", kind, moves.lost[busy]),
            )
            title = f"{plural(len(busy), moves.level)} with changes"
            parts.append(Shown(f"{one.key}-{moves.level}", title, made, printed=_PARTS_SHOWN))
    return Section(one.title, parts)
