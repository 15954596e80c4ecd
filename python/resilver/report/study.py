"""The answer of a study: what became of one system, of a sweep, or of parts that fail in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from resilver.answer import Answer, Case, Figures, Lines, Part, Section, Shown, sections_of
from resilver.report import charts
from resilver.report.clients import has_traffic
from resilver.report.counterfactuals import sensitivity_finding, sensitivity_table
from resilver.report.findings import (
    at_risk,
    nothing_known,
    nothing_rebuilt,
    rebuild_sentence,
    sweep_sentence,
)
from resilver.report.headline import key_figures
from resilver.report.network import named_tables
from resilver.report.provenance import assumptions_table, portable, provenance, spread_note
from resilver.report.ranking import aim_in, aim_sentence, by_aim, limits_kept
from resilver.report.runs import classes_table, pools_table, runs_table
from resilver.report.sentence import describe
from resilver.report.servers import hosts
from resilver.report.traffic_sentence import traffic_sentence
from resilver.report.waits import run_records, wait_sentence, waits_of
from resilver.spec.aim import Aim, heading_of, kind_of
from resilver.study.results import StudyTables
from resilver.study.system_runs import (
    SystemRuns,
    bursts_alone,
    format_swept,
    largest,
    serves_only,
    short_names,
    swept_keys,
    systems,
)
from resilver.tables import Cell, cell_text, table
from resilver.words import listed

SYSTEMS_MAX = 12
"""Systems whose charts one page carries; each adds up to about 100 KB to it."""
_POINTS_PRINTED, _RANKS_PRINTED = 40, 15
"""Rows of a sweep in a terminal, and of parts that fail in turn, whose worst are asked for."""
QUESTION = "How the system heals"
_FAILED = ("failed_servers", "failed_disks", "failed_links", "failed_switches")
_GATEWAYS = (
    "One client gateway per host port is assumed, as cluster.fabric.routers is not set: client "
    "ingress is never the bottleneck."
)

Metric = tuple[str, str, str]
"""A column of the table of systems: its name, heading and kind."""
_REBUILD: tuple[Metric, ...] = (("rebuild_seconds", "rebuild time", "seconds"),)
_BURSTS: tuple[Metric, ...] = (("mean_burst_delay_seconds", "time of a burst", "seconds"),)
_OF_CLIENTS: tuple[Metric, ...] = (
    ("throughput_bytes_per_second", "goodput", "rate"),
    ("mean_delay_seconds", "mean delay", "seconds"),
    ("requests_lost", "requests lost", "count"),
)
_BESIDE_FAULTS: tuple[Metric, ...] = (
    ("during_throughput_bytes_per_second", "during faults", "rate"),
    ("during_before_throughput_ratio", "of before", "share"),
    ("requests_lost", "requests lost", "count"),
    ("before_throughput_bytes_per_second", "before faults", "rate"),
    ("during_p99_read_delay_seconds", "p99 read", "seconds"),
    ("throughput_bytes_per_second", "whole run", "rate"),
)
_LAST: tuple[Metric, ...] = (
    ("rebuild_bytes_per_second", "strips rebuilt", "rate"),
    ("burst_bytes_per_second", "bursts", "rate"),
    ("aggregate_bytes_per_second", "rebuild rate", "rate"),
    ("rebuilt_bytes", "rebuilt", "bytes"),
    ("gathered_bytes", "read to rebuild", "bytes"),
)
_SPREAD = frozenset(
    {
        "rebuild_seconds",
        "aggregate_bytes_per_second",
        "throughput_bytes_per_second",
        "during_throughput_bytes_per_second",
    }
)
"""What is shown with its quartiles over the seeds."""


def study_answer(results: StudyTables) -> Answer:
    """The answer of a finished study, for a terminal and for programs."""
    points = systems(results)
    order = ranked(results, points)
    key = order[0] if _level(results) else _chosen(results, points)
    is_swept = bool(swept_keys(results))
    said = answer_of(results, key)
    if help_words := sensitivity_finding(results):
        said.append(f"{help_words}.")
    title = f"Key figures at {key.label}" if is_swept else "Key figures"
    seeds = len(key.rows)
    title += f", medians of {seeds} seeds" if seeds > 1 else ""
    worth = sensitivity_table(results)
    routers = results.study["cluster"]["fabric"].get("routers") if has_traffic(key) else None
    return Answer(
        title_of(results, key),
        _verdict(results, order) if is_swept else said,
        sections_of(
            ("Systems", [_overview(results, order) if is_swept else None]),
            ("Key figures", [Figures(title, key_figures(results, key)), *_pools(results, key)]),
            (
                "What would help",
                [worth and Shown("sensitivity", "What each assumption is worth", worth)],
            ),
        ),
        notes=[
            describe(results, key),
            *([_GATEWAYS] if routers == 0 else []),
            *filter(None, [nothing_rebuilt(key) if not serves_only(key.rows) else None]),
        ],
        cases=[Case(key.label, said)] if is_swept else (),
    )


def records(results: StudyTables) -> list[dict[str, Any]]:
    """The runs for ``--json``, those of the first system first where systems are ranked."""
    order = ranked(results, systems(results))
    return run_records(results, [row for point in order for row in point.rows])


def page_answer(results: StudyTables) -> Answer:
    """The same for a page: with the charts of up to `SYSTEMS_MAX` systems, and every run.

    Raises:
        ConfigError: There is no finished run.
    """
    points = systems(results)
    order, chosen = ranked(results, points), _chosen(results, points)
    every = systems_shown(results, points)
    rebuilds = not all(serves_only(one.rows) for one in points)
    over = f"Over the {'sweep' if chosen.swept else 'seeds'}"
    hidden = "" if len(every) == len(points) else (
        f"{len(every)} of {len(points):,} systems are on this page; the tables in the run folder "
        "have all."
    )  # fmt: skip
    of_every = [_of_system(results, one, rank, hidden) for rank, one in enumerate(every)]
    beside = _overview(results, order) if len(every) > 1 else None
    runs = Shown("runs", "every run of the study", runs_table(results), rows=200, is_closed=True)
    return Answer(
        title_of(results, chosen),
        _verdict(results, order) if rebuilds or aim_in(results) is not None else [],
        sections_of(
            ("Systems", [beside]),
            *(rests for _, rests, _ in of_every),
            *(first for first, _, _ in of_every),
            (over, charts.of_study(results, points)),
            *(detail for _, _, detail in of_every),
            ("Every run", [runs]),
            ("Run it yourself", _study_file(results), _how_to_run(results)),
        ),
        source=provenance(results),
        hosts={name: host for one in every for name, host in hosts(results, one).items()},
        cases=[Case(one.label, answer_of(results, one)) for one in every],
        chosen=next(rank for rank, one in enumerate(every) if one is chosen),
    )


def _level(results: StudyTables) -> str:
    """The level whose parts fail in turn; empty where none do."""
    return str(results.study["study"].get("each") or "")


def ranked(results: StudyTables, points: list[SystemRuns]) -> list[SystemRuns]:
    """Swept points in their order; by an aim the best first, of parts in turn the slowest."""
    aim = aim_in(results)
    if aim is not None and swept_keys(results):
        return by_aim(points, aim)
    if not _level(results):
        return points
    return sorted(points, key=lambda point: -(point.median["rebuild_seconds"] or 0.0))


def title_of(results: StudyTables, point: SystemRuns) -> str:
    """The study's own title, or the question that it answers by the system that stands for it."""
    if results.title:
        return results.title
    named = [str(point.median[key]) for key in _FAILED if point.median.get(key)]
    one = listed(named)
    return f"What if {one} fail{'' if ',' in one or ' and ' in one else 's'}?" if one else QUESTION


def _verdict(results: StudyTables, points: list[SystemRuns]) -> list[str]:
    """What is said of all systems together; nothing where there is nothing to compare."""
    aim = aim_in(results)
    ranks = aim_sentence(points, aim) if aim is not None and swept_keys(results) else ""
    return [text for text in [ranks, sweep_sentence(points, _level(results))] if text]


def answer_of(results: StudyTables, point: SystemRuns) -> list[str]:
    """The answer for one system: how long, what clients get, and what is at risk."""
    said = [rebuild_sentence(point), wait_sentence(results, point)]
    said += [traffic_sentence(results, point)] if has_traffic(point) else []
    said.append(at_risk(results, point)[1])
    why = nothing_known(point)
    return [text for text in said if text] or [f"{why[0].upper()}{why[1:]}."]


def _overview(results: StudyTables, points: Sequence[SystemRuns]) -> Shown:
    """A row a system, the answer in figures: medians over its seeds, what says most first."""
    keys = swept_keys(results)
    level = _level(results)
    columns: list[tuple[str, str, str, Sequence[Cell]]] = [
        (
            key,
            level if level and key == "faults" else name,
            "text",
            [format_swept(key, point.swept[key]) for point in points],
        )
        for key, name in zip(keys, short_names(keys), strict=True)
    ]
    aim = aim_in(results)
    if aim is not None and aim.limits:
        columns.append(("limits_kept", "limits kept", "text", limits_kept(points, aim)))
    for metric in _metrics(points, aim):
        columns += _measured(points, metric)
        if metric == _REBUILD[0]:
            found = waits_of(results, [point.median["run"] for point in points])
            waits = [found.get(point.median["run"]) for point in points]
            if any(waits):
                cells = [None if one is None else one.what for one in waits]
                columns.append(("waited_for", "last waits for", "text", cells))
    risks = [at_risk(results, point)[0] for point in points]
    if not {*risks} <= {"", "none", "nothing"}:
        columns.append(("at_risk", "at risk at most", "text", risks))
    columns.append(("runs", "runs", "count", [len(point.rows) for point in points]))
    printed = _RANKS_PRINTED if level else _POINTS_PRINTED
    title = "The slowest rebuilds" if level else "The systems"
    title = title if aim is None else "The systems, best first"
    return Shown("systems", title, table(*columns), rows=100, printed=printed, keys=len(keys))


def _metrics(points: Sequence[SystemRuns], aim: Aim | None) -> Iterator[Metric]:
    """What is stated of systems: what an aim is about, then all else, each once."""
    usual = {name: (name, heading, kind) for name, heading, kind in _usual(points)}
    of_aim = () if aim is None else aim.columns
    yield from [usual.pop(name, (name, heading_of(name), kind_of(name))) for name in of_aim]
    yield from usual.values()


def _usual(points: Sequence[SystemRuns]) -> Iterator[Metric]:
    """What is stated of systems: of a rebuild, of clients, and what else any of them has."""
    if not all(serves_only(point.rows) for point in points):
        yield from _REBUILD
    is_beside = any(row.get("during_seconds") for point in points for row in point.rows)
    if any(has_traffic(point) for point in points):
        of_bursts = all(bursts_alone(point) for point in points)
        yield from _BURSTS if of_bursts else _BESIDE_FAULTS if is_beside else _OF_CLIENTS
    for metric in _LAST:
        if any(row.get(metric[0]) for point in points for row in point.rows):
            yield metric


def _measured(
    points: Sequence[SystemRuns], metric: Metric
) -> Iterator[tuple[str, str, str, Sequence[Cell]]]:
    """The column of a metric, and its quartiles where its runs differ; none without a value."""
    name, heading, kind = metric
    known = [point.known(name) for point in points]
    if not any(known):
        return
    yield name, heading, kind, [point.middle(name) for point in points]
    if name in _SPREAD and any(len(set(values)) > 1 for values in known):
        quartiles = [
            " to ".join(cell_text(float(at), kind) for at in np.quantile(values, [0.25, 0.75]))
            if values
            else ""
            for values in known
        ]
        yield f"{name}_quartiles", "quartiles", "note", quartiles


def _pools(results: StudyTables, point: SystemRuns) -> list[Part | None]:
    """The pools of a system and the classes of its requests, where it has several."""
    pools, classes = pools_table(results, point), classes_table(results, point)
    return [
        None if pools is None else Shown("pools", "Pools", pools, is_turned=True),
        None if classes is None else Shown("classes", "Requests by class", classes, is_turned=True),
    ]


def _of_system(
    results: StudyTables, point: SystemRuns, rank: int, hidden: str
) -> tuple[Section, Section, Section]:
    """What the page shows of one system: its figures, what they rest on, and its charts."""
    rebuilds = not serves_only(point.rows)
    nothing = (nothing_rebuilt(point) or "") if rebuilds else ""
    rests = assumptions_table(results)
    median = f"The run of median {'rebuild time' if rebuilds else 'goodput'} has seed "
    spread = spread_note(results, len(point.rows))
    texts = [hidden, f"{median}{point.median['seed']}.", nothing, spread]
    named = [
        Shown(name, title, found, is_closed=True)
        for name, title, found in named_tables(results, point)
    ]
    parts: list[Part | None] = [*_pools(results, point), *charts.of_system(results, point), *named]
    return (
        Section(
            "Key figures",
            (Figures("Key figures", key_figures(results, point)),),
            [" ".join(filter(None, texts))],
            case=rank,
        ),
        Section(
            "Assumptions",
            () if rests is None else (Shown("assumptions", "Assumptions", rests),),
            (describe(results, point),),
            case=rank,
        ),
        Section(
            f"One {'rebuild' if rebuilds else 'run'} in detail",
            [part for part in parts if part is not None],
            case=rank,
        ),
    )


def _study_file(results: StudyTables) -> list[Part]:
    """The study as a file that a reader saves, where it is at hand."""
    text = portable(results.study_file)
    return [Lines("study", "The study file", text.splitlines(), file="study.toml")] if text else []


def _how_to_run(results: StudyTables) -> str:
    """How the study on the page becomes results again, and what it needs beside itself."""
    text = (
        "Save it as study.toml and type: resilver run study.toml. Equal digests mean equal results"
    )
    version = results.provenance.get("resilver_version")
    text += f", with resilver {version}." if version else "."
    if portable(results.study_file) != results.study_file:
        text += " The files that it names are looked for beside it; ask whoever sent the page."
    return text


def _chosen(results: StudyTables, points: list[SystemRuns]) -> SystemRuns:
    """The system that stands for a sweep: the best by its aim, else the largest."""
    return largest(points) if aim_in(results) is None else ranked(results, points)[0]


def systems_shown(results: StudyTables, points: list[SystemRuns]) -> list[SystemRuns]:
    """At most `SYSTEMS_MAX` systems for a page, in their order: what stands for all, and others."""
    chosen = _chosen(results, points)
    if len(points) <= SYSTEMS_MAX:
        return points
    last = len(points) - 1
    ranks = {round(step * last / (SYSTEMS_MAX - 1)) for step in range(SYSTEMS_MAX)}
    own = next(rank for rank, one in enumerate(points) if one is chosen)
    if own not in ranks:
        ranks.remove(min(ranks, key=lambda rank: abs(rank - own)))
        ranks.add(own)
    return [points[rank] for rank in sorted(ranks)]
