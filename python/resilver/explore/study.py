"""The document of a page about a study: its first system, and what its reader may choose of it.

Beside what the document of a cluster has, ``study`` says how the page writes the study file that
makes the same input:

    {"blocks": [{"name": "recovery", "header": "[recovery]", "keys": [["order", "\\"risk\\""]]}],
     "stops": {KEY OF A CONTROL: [the edits of each stop]},
     "header": "[[faults]]",
     "lines": {KEY OF A CHANGE: [["at", "\\"$at s\\""], ...]},
     "ending": {"key": "repair", ..., "input": ["until", "$at"], "line": ["until", "\\"$at s\\""]}}

A choice makes its edits of the blocks (`resilver.explore.study_text` says what an edit is). What
happens adds a block of this header with its lines, in which ``$at`` and ``$share`` stand for
numbers, ``$kind`` for the part's level, and ``$name`` for text as TOML writes it. It stands behind
the study's own faults, in the order in which the core gets it. ``ending`` is one more thing that
can happen: the last change before it of the same part that nothing has ended yet gets its key and
value in the core's input, and its line in the file. `web/src/scenario.ts` and `along.ts` do all of
this.

Rows of the table of the map are devices by number where its key is empty.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from resilver.errors import ConfigError
from resilver.estimate.run import estimate
from resilver.explore.controls import Control, Group, Stop
from resilver.explore.document import Document
from resilver.explore.fixed_draws import pinned
from resilver.explore.interactions import Chosen, Heeding
from resilver.explore.patches import Patch, changes_between
from resilver.explore.study_figures import charts_of, figures_of, harm_of, has_clients, map_of
from resilver.explore.study_maker import Maker
from resilver.explore.study_offer import is_part_of, sentence_of, stop_of
from resilver.explore.study_offers import study_offers
from resilver.explore.study_parts import (
    SWITCHES_MAX,
    changes_of,
    ending_of,
    joined_by,
    lines_of,
    parts_of,
    switch_names,
    unit_of,
    with_switches,
)
from resilver.explore.study_text import Block, Edit, beside, blocks_of, edit_of, stated
from resilver.spec import Run, Study, System
from resilver.spec.assumptions import Assumption
from resilver.spec.ensemble import values_of
from resilver.spec.sweep import has_path, sections_at, with_each
from resilver.study.run import validate_runs

_TEXT_BYTES = 2_000_000
"""Inputs that are made of the combinations of a group have about as many bytes together, so that
large systems do not take long; fewer, and more, are none."""
_COMBINATIONS_MIN, _COMBINATIONS_MAX = 12, 400
_FABRIC = "cluster.fabric"
"""Below this stands what the network is."""
_ROUNDS_MIN, _ROUNDS_MAX = 6, 160


_Groups = list[tuple[list[Control], dict[tuple[int, ...], list[Patch]]]]
"""Controls that heed each other, with what each combination of their stops changes."""


def study_document(
    study: Study | str | Path, seed: int | None = None, settings: Sequence[str] = ()
) -> Document:
    """The document of a study's page.

    Args:
        study: The study, or its file. Of a sweep the first system is shown, and what is swept may
            be chosen.
        seed: The seed; by default the study's first.
        settings: ``KEY=VALUE`` texts that replace keys of the file, as `Study.load` takes them.

    Returns:
        The document.

    Raises:
        ConfigError: The study has problems.
        PlacementError: Its CRUSH map cannot be used.
    """
    source, folder = "study.toml", Path.cwd()
    if not isinstance(study, Study):
        source, folder = Path(study).name, Path(study).expanduser().absolute().parent
        study = Study.load(study, settings)
    seed = study.study.seeds[0] if seed is None else seed
    sections = _first(study, folder)
    if sections.get("faults"):
        sections["faults"] = pinned(System(**sections), seed)
    maker = Maker(sections, seed, folder)
    system = maker.system
    validate_runs([Run(system, {}, seed, "")])
    controls = _controls(study, maker)
    groups = _groups(controls, maker)
    switches = _switches(controls, maker)
    changes = changes_of(system, _allowed(controls, maker), switches)
    parts, endpoints = parts_of(system), maker.base["endpoint_of"]
    cost = estimate(system)
    clients = has_clients(system) or any("traffic" in one.keys for one in controls)
    tables = {name: beside(stated(section), folder) for name, section in sections.items()}
    title = {"title": study.study.title} if study.study.title else {}
    blocks = blocks_of({**tables, "study": {**title, "seeds": [seed]}})
    return Document(
        kind="system",
        title=study.study.title or Path(source).stem,
        source=source,
        input=maker.base,
        maps=tuple(b64encode(one).decode("ascii") for one in maker.maps),
        unit=unit_of(system),
        parts=with_switches(parts, switches, joined_by(system, seed, endpoints, parts)),
        groups=[
            Group(tuple(_shown(one, study, tables) for one in own), patches)
            for own, patches in groups
        ],
        changes=changes,
        changes_at=("faults", "faults"),
        figures=figures_of(system, clients=clients),
        harm=harm_of(system),
        charts=charts_of(system, clients=clients),
        map=map_of(system),
        assumptions=[_told(one) for one in study.assumptions()],
        notes=_notes(study, seed),
        command=("resilver", "run"),
        study={
            **_written(blocks, groups, folder),
            "lines": {change.key: lines_of(change) for change in changes},
            "ending": ending_of(changes) if changes else None,
        },
        until=_until(controls, maker),
        seconds=cost["seconds"],
        bytes=cost["memory_bytes"],
    )


def _written(blocks: list[Block], groups: _Groups, folder: Path) -> dict[str, Any]:
    """The study as a file, and what each stop makes of it."""
    stops = {
        one.key: [_edits(blocks, stop, folder) for stop in one.stops]
        for controls, _ in groups
        for one in controls
    }
    return {"blocks": blocks, "stops": stops, "header": "[[faults]]"}


def _first(study: Study, folder: Path) -> dict[str, Any]:
    """The sections of a study's first system, as far as they are stated."""
    given = {
        name: section
        for name, section in study.given().items()
        if name != "study" and section is not None
    }
    if given["cluster"].ceph is not None:
        rule = "a page computes of a real Ceph cluster by its dumps"
        raise ConfigError(rule, "use `resilver explore REPORT`", key="cluster.ceph")
    sweep = with_each(given, study.study).sweep
    firsts = [pair for swept, steps in sweep.items() for pair in values_of(swept, steps[0])]
    return sections_at(given, dict(firsts), folder)


def _controls(study: Study, maker: Maker) -> list[Control]:
    """The controls of a study; what it sweeps goes before another offer of the same key."""
    found: list[Control] = []
    for offer in study_offers(study, maker.system):
        taken = {key for control in found for key in control.keys}
        if any(is_part_of(key, one) for key in offer.keys for one in taken):
            continue
        control = _control(_with_pinned(offer, maker), maker)
        if control is not None:
            found.append(control)
    return found


def _with_pinned(offer: Control, maker: Maker) -> Control:
    """An offer whose faults name their parts."""
    stops = []
    for stop in offer.stops:
        if stop.values.get("faults"):
            system = maker.system_of(stop.values)
            if system is not None:
                values = {**stop.values, "faults": pinned(system, maker.seed)}
                stop = stop_of(stop.label, values, stop.size)
        stops.append(stop)
    return replace(offer, stops=tuple(stops))


def _control(offer: Control, maker: Maker) -> Control | None:
    """The control of an offer; None where none of its choices has an effect."""
    stops: list[tuple[Stop, list[Patch]]] = []
    as_it_is = None
    for stop in offer.stops:
        made = maker.made(stop.values)
        patches = None if made is None else changes_between(maker.base, made)
        if patches:
            stops.append((stop, patches))
        elif patches is not None and as_it_is is None:
            as_it_is = Stop(stop.label, (), stop.size)
            stops.append((as_it_is, []))
    if all(not patches for _, patches in stops):
        return None
    if as_it_is is None:
        as_it_is = Stop(offer.now, (), offer.size)
        stops.insert(0, (as_it_is, []))
    if all(stop.size is not None for stop, _ in stops):
        stops.sort(key=lambda pair: pair[0].size or 0.0)
    kept, patches_of = zip(*stops, strict=True)
    return replace(offer, stops=kept, chosen=kept.index(as_it_is), patches=patches_of)


def _groups(controls: list[Control], maker: Maker) -> _Groups:
    """Controls that heed each other, with what each combination of their stops changes."""

    def values_of_stops(chosen: Chosen) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for number, stop in sorted(chosen.items()):
            values |= controls[number].stops[stop].values
        return values

    affordable = _TEXT_BYTES // len(json.dumps(maker.base))
    heeding = Heeding(
        [one.patches for one in controls],
        [one.chosen for one in controls],
        lambda chosen: maker.made(values_of_stops(chosen)),
        lambda chosen: maker.refuses(values_of_stops(chosen)),
        combinations_max=min(max(affordable, _COMBINATIONS_MIN), _COMBINATIONS_MAX),
        rounds=min(max(affordable // 2, _ROUNDS_MIN), _ROUNDS_MAX),
    )
    found: _Groups = []
    for group in heeding.groups:
        # A control of which nothing but how things are is left is none.
        left = [one for one in group if len(heeding.kept[one]) > 1]
        shown = [
            replace(
                controls[one],
                stops=tuple(controls[one].stops[at] for at in heeding.kept[one]),
                chosen=heeding.kept[one].index(controls[one].chosen),
                patches=(),
            )
            for one in left
        ]
        patches = {}
        for combination in heeding.combinations(left):
            stops = dict(zip(left, combination, strict=True))
            ranks = tuple(heeding.kept[one].index(at) for one, at in stops.items())
            patches[ranks] = heeding.patches_of(stops) or []
        if shown:
            found.append((shown, patches))
    return found


def _shown(control: Control, study: Study, tables: Mapping[str, Any]) -> Control:
    """A control as the document has it."""
    first = control.key.split(",")[0].strip()
    known = next((one for one in study.assumptions() if one.key == first), None)
    is_stated = has_path(tables, first.split("."))
    return replace(
        control,
        sentence=sentence_of(first),
        stops=tuple(
            Stop(one.label, ((control.key, one.label),) if one.values else ())
            for one in control.stops
        ),
        origin=known.origin if known is not None else "stated" if is_stated else "default",
        source=known.sentence if known is not None else "",
    )


def _edits(blocks: Sequence[Block], stop: Stop, folder: Path) -> list[Edit]:
    return [edit_of(blocks, key, beside(value, folder)) for key, value in stop.values.items()]


def _notes(study: Study, seed: int) -> list[str]:
    """What the page leaves out of a study."""
    notes = []
    if len(study.points) > 1:
        words = ", ".join(f"{key} = {value}" for key, value in study.points[0].swept.items())
        notes.append(
            f"The study has {len(study.points):,} systems; this is its first, with {words}."
        )
    if drawn := study.chances():
        notes.append(f"Seed {seed} draws {', '.join(drawn)}; another seed draws others.")
    return notes


def _swept(controls: list[Control]) -> list[dict[str, Any]]:
    """How things are, and each value that the study sweeps, by key."""
    stops = [stop for one in controls if one.is_swept for stop in one.stops]
    return [{}, *(stop.values for stop in stops if stop.values)]


def _allowed(controls: list[Control], maker: Maker) -> Callable[[dict[str, Any]], bool]:
    """Whether a fault may be added, whichever of the swept values is chosen."""
    swept = _swept(controls)

    def is_allowed(fault: dict[str, Any]) -> bool:
        for values in swept:
            faults = values.get("faults", maker.sections.get("faults", ()))
            if maker.refuses({**values, "faults": [*faults, fault]}):
                return False
        return True

    return is_allowed


def _switches(controls: list[Control], maker: Maker) -> list[str]:
    """The switches of the network that it has whatever is chosen, unless they are very many."""
    stops = [stop.values for one in controls for stop in one.stops]
    others = [values for values in stops if any(_FABRIC in key for key in values)]
    found = switch_names(maker.system, maker.seed)
    for system in map(maker.system_of, others if found else ()):
        there = set() if system is None else set(switch_names(system, maker.seed))
        found = [name for name in found if name in there]
    return found if len(found) <= SWITCHES_MAX else []


def _until(controls: list[Control], maker: Maker) -> float | None:
    """When the first run ends by its clients' time; None where all go on until all is whole."""
    systems = [maker.system_of(values) for values in _swept(controls)]
    laws = [
        pool.traffic
        for system in systems
        if system is not None
        for pool in (system, *system.of_pools)
        if pool.traffic is not None
    ]
    ends = [one.warm_up_seconds + float(one.duration) for one in laws if one.duration is not None]
    return min(ends, default=None)


def _told(one: Assumption) -> dict[str, str]:
    """An assumption as the document has it."""
    return {
        "name": one.name,
        "value": one.value,
        "origin": one.origin,
        "applies_to": one.key,
        "sentence": one.sentence,
    }
