"""`resilver check`: is a study right, what is it exactly, and what will it cost."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from resilver.answer import Answer, Figures, KeyFigure, Lines, Part, Section, Shown
from resilver.cli.loading import load_study
from resilver.cli.replying import command_line, reply
from resilver.spec.capacity import stored_of
from resilver.spec.recovery import policy_of
from resilver.study.machine import machine_memory, memory_problems
from resilver.study.system_runs import format_swept, short_names
from resilver.tables import cell_text, table
from resilver.units import exact_bytes, format_bytes, format_duration
from resilver.words import listed, plural

if TYPE_CHECKING:
    from resilver.cli.studies import StudyRequest
    from resilver.spec import Run, Study, System


_FIGURES = (
    ("seconds", "time of a run", "seconds"),
    ("memory_bytes", "memory", "bytes"),
    ("events", "events", "amount"),
    ("bytes_to_move", "data to move", "bytes"),
    ("raw_bytes_a_device", "raw data per device", "bytes"),
    ("capacity_bytes", "capacity of a device", "bytes"),
    ("objects", "objects", "amount"),
    ("replicas_to_move", "replicas to move", "amount"),
    ("requests", "requests", "amount"),
    ("packet_hops", "packet hops", "amount"),
    ("servers", "devices", "amount"),
    ("placement_groups", "placement groups", "amount"),
    ("buffers", "buffers", "amount"),
    ("rebuilding_seconds", "rebuilding time", "seconds"),
    ("serving_seconds", "serving time", "seconds"),
)
"""What is stated of each system: key, heading and kind, what says most first."""
_OF_REBUILD = ("objects", "replicas_to_move", "bytes_to_move", "buffers", "placement_groups")
"""What says nothing of a study whose systems only serve."""


def check(request: StudyRequest, *, as_json: bool) -> int:
    """Validate, resolve and estimate."""
    from resilver.study import validate_runs

    study = load_study(request.study, request.settings)
    runs = study.runs()
    validate_runs(runs)
    if study.durability is not None:
        from resilver.data_loss.systems import refuse_study

        refuse_study(study)
    answer = check_answer(study, runs)
    next_command = "run" if study.durability is None else "durability"
    line = command_line(next_command, request, has_folders=True)
    return reply(answer.then([line] if answer.holds else []), as_json=as_json)


def check_answer(study: Study, runs: Sequence[Run]) -> Answer:
    """Whether a study can be run here, what it costs, and what it states.

    Args:
        study: The study, valid.
        runs: Its runs.
    """
    points = estimates(runs)
    refused = memory_problems([one["memory_bytes"] for one in points], _names(points))
    paper = list(dict.fromkeys(one["limit_on_paper"] for one in points if one["limit_on_paper"]))
    said = [*notes(study), *crowding_notes(points), *paper]
    assumed = _assumed(study)
    count = len({run.key for run in runs})
    record = {
        "study": study.resolved(),
        "runs": count,
        "estimate": points,
        "assumptions": [asdict(one) for one in assumed],
        "chances": list(study.chances()),
        "notes": said,
        "problems": [str(problem) for problem in refused],
    }
    rests = table(
        ("name", "assumption", "text", [one.name for one in assumed]),
        ("stated", "value", "text", [one.value for one in assumed]),
        ("origin", "from", "text", [one.origin for one in assumed]),
    )
    stated = study.to_toml(stated=True)
    defaults = plural(_values(study.to_toml()) - _values(stated), "default")
    seconds = sum(point.get("seconds", 0.0) * point["runs"] for point in points)
    but = ", but too large for this machine" if refused else ""
    verdict = f"The study is valid{but}: {plural(count, 'run')}"
    verdict += f", about {format_duration(seconds)} of processor time." if seconds else "."
    return Answer(
        "A study, checked",
        [verdict, *(f"Too large: {one}" for one in refused)],
        [
            Section("Cost", (_costs(points),)),
            Section("Assumptions", (Shown("assumptions", "Assumptions", rests),)),
            *_policy(study),
            Section(
                "Study",
                (
                    Lines(
                        "study",
                        f"The study, without {defaults} (--json has all)",
                        stated.splitlines(),
                    ),
                ),
            ),
        ],
        record,
        holds=not refused,
        notes=[f"{text[0].upper()}{text[1:]}" for text in said],
    )


def _values(text: str) -> int:
    """How many values a TOML document states."""

    def count(item: Any) -> int:
        if isinstance(item, list):
            return sum(count(one) for one in item if isinstance(one, dict)) or 1
        return sum(map(count, item.values())) if isinstance(item, dict) else 1

    return count(tomllib.loads(text))


def _costs(points: Sequence[Mapping[str, Any]]) -> Part:
    """What each system of a study is expected to cost: a line a figure of a single one."""
    figures = [one for one in _FIGURES if any(_applies(one[0], point) for point in points)]
    if len(points) == 1:
        (point,) = points
        raw = "with redundancy"
        raw += "" if point["capacity_bytes"] else "; set cluster.capacity for a limit"
        details = {"raw_bytes_a_device": raw}
        shown = [
            KeyFigure(
                f"{label[0].upper()}{label[1:]}",
                point[key],
                kind,
                exact_bytes(point[key]) if key == "capacity_bytes" else cell_text(point[key], kind),
                details.get(key, ""),
            )
            for key, label, kind in figures
        ]
        return Figures("Estimate", shown)
    keys = list(points[0]["swept"])
    swept = [
        (key, name, "text", [format_swept(key, point["swept"][key]) for point in points])
        for key, name in zip(keys, short_names(keys), strict=True)
    ]
    listed = [*figures, ("runs", "runs", "count")]
    costs = [(*one, [point.get(one[0]) for point in points]) for one in listed]
    return Shown(
        "estimate", "Estimate for one run of each system", table(*swept, *costs), keys=len(keys)
    )


def _applies(key: str, point: Mapping[str, Any]) -> bool:
    """Whether a figure says something of a point."""
    if key in _OF_REBUILD and point.get("serving_seconds") is not None:
        return False
    return point.get(key) is not None


def _names(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """What tells the systems of a sweep apart, in words; empty for the only one."""
    return [
        ", ".join(f"{key} = {format_swept(key, value)}" for key, value in point["swept"].items())
        for point in points
    ]


def crowding_notes(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """That runs at once need more memory than is free, where one alone has enough.

    Args:
        points: the estimates, as `estimates` gives them.
    """
    memory = machine_memory()
    need = max(point["memory_bytes"] for point in points)
    at_once = min(os.cpu_count() or 1, sum(point["runs"] for point in points))
    if memory is None or need > memory.total_bytes or at_once * need <= memory.available_bytes:
        return []
    fitting = max(int(memory.available_bytes // need), 1)
    free = format_bytes(memory.available_bytes)
    return [
        f"{at_once} {'run' if at_once == 1 else 'runs at once'} of {format_bytes(need)} need more "
        f"memory than the {free} that are free; use --workers {fitting}."
    ]


def _policy(study: Study) -> list[Section]:
    """What the policy of the recovery states, and where that is from; nothing without one."""
    names = dict.fromkeys(run.system.recovery.like for run in study.runs())
    sections = []
    for name in filter(None, names):
        policy = policy_of(name)
        rows = {key: value for key, value in policy.recovery.items() if key != "software"}
        rows |= policy.recovery.get("software", {})
        shown = table(
            ("key", "key", "text", list(rows)),
            ("value", "value", "text", [str(value) for value in rows.values()]),
            ("setting", "there", "text", [policy.settings.get(key, "") for key in rows]),
        )
        title = f"The policy {name}"
        text = [f"Source: {policy.source}."]
        sections.append(
            Section(
                title, (Shown("policy", title, shown), Lines("about", policy.description, text))
            )
        )
    return sections


def _assumed(study: Study) -> Sequence[Any]:
    """What the results will rest on; of a real cluster what its what-if rests on."""
    first = study.runs()[0]
    if first.system.report is None:
        return study.assumptions()
    from resilver.whatif.studied import made_ready

    return made_ready(first.system, first.seed).assumptions


def notes(study: Study) -> list[str]:
    """What a person may not have meant: a study that does nothing, and seeds that change nothing.

    Returns:
        Sentences, the weightiest first.
    """
    from resilver.spec.idle import idle_note

    systems = {id(run.system): run.system for run in study.runs()}
    found = []
    if study.durability is not None:
        found.append("no run depends on [durability]; resilver durability asks it.")
    if note := idle_note(list(systems.values())):
        return [note, *found]
    drawn, seeds = study.chances(), len(study.study.seeds)
    if drawn and seeds == 1:
        found.append(f"the seed draws {listed(list(drawn))}; one seed shows no spread.")
    elif not drawn and seeds > 1:
        found.append(f"the study is deterministic: all {seeds} seeds give the same run.")
    elif not drawn:
        found.append("the study is deterministic: any seed gives the same run.")
    return found


def estimates(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The estimated cost of each swept point.

    Returns:
        For each point, its swept values, the number of its runs, the estimate of one run, and
        ``limit_on_paper``, which limit of the software binds, in words.
    """
    from resilver.estimate import estimate, paper_note

    points: dict[str, dict[str, Any]] = {}
    for run in runs:
        name = repr(run.swept)
        if name not in points:
            points[name] = {
                "swept": dict(run.swept),
                "runs": 0,
                "servers": run.system.server_count,
                "placement_groups": run.system.placement_group_count,
                **_stored(run.system),
                **estimate(run.system),
            }
            points[name]["limit_on_paper"] = paper_note(run.system, points[name]["bytes_to_move"])
        points[name]["runs"] += 1
    return list(points.values())


def _stored(system: System) -> dict[str, Any]:
    """What a device stores with redundancy and what it holds, of the kind that stores most."""
    kinds = stored_of(system)
    if not kinds:
        return {"raw_bytes_a_device": None, "capacity_bytes": None}
    fullest = max(kinds, key=lambda one: (one.share or 0.0, one.raw_bytes))
    raw, capacity = round(fullest.raw_bytes), fullest.capacity
    return {
        "raw_bytes_a_device": raw,
        "capacity_bytes": None if capacity is None else int(capacity),
    }
