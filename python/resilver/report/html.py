"""The report page: one HTML file that needs no network, with all it shows in tables too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resilver.answer import page as answer_page
from resilver.answer.document import Document, rendered, write_page
from resilver.answer.standing import Standing
from resilver.charts.chart import Chart
from resilver.report import charts
from resilver.report.assumptions import assumptions_table, spread_note
from resilver.report.clients import has_traffic
from resilver.report.clusters import clusters_answer, is_of_clusters
from resilver.report.findings import at_risk, nothing_rebuilt, rebuild_sentence, sweep_sentence
from resilver.report.headline import key_figures
from resilver.report.network import named_tables
from resilver.report.pools import classes_table, pools_table
from resilver.report.provenance import portable, provenance
from resilver.report.runs import runs_table
from resilver.report.sentence import describe
from resilver.report.servers import hosts
from resilver.report.source import (
    ResultsLike,
    SystemRuns,
    bursts_alone,
    largest,
    serves_only,
    systems,
)
from resilver.report.traffic_sentence import traffic_sentence
from resilver.report.waits import system_wait, wait_sentence
from resilver.tables import Cell, Table, table
from resilver.words import listed

SYSTEMS_MAX = 12
"""Systems whose charts one page carries; each adds up to about 100 KB to it."""


def write_html(
    results: ResultsLike, path: str | Path, standing: Standing | None = None, explore: str = ""
) -> Path:
    """Write the report page of a study.

    Args:
        results: The study's results.
        path: The file to write; it is replaced in one step, so that no half page is ever read. A
            link is followed, and what is no file (a pipe, a device) is written into.
        standing: How far the study is, where its results are not all there.
        explore: The name of the page beside it that computes (`resilver.explore`); empty for none.

    Returns:
        The path.

    Raises:
        ConfigError: There is no finished run, or the file cannot be written.
    """
    if is_of_clusters(results):
        return answer_page.write(clusters_answer(results), path, "resilver run study.toml")
    return write_page(render(results, standing, explore), path)


def render(results: ResultsLike, standing: Standing | None = None, explore: str = "") -> str:
    """The report page of a study as text.

    Args:
        results: The study's results.
        standing: How far the study is, where its results are not all there.
        explore: The name of the page beside it that computes; empty for none.

    Raises:
        ConfigError: There is no finished run.
    """
    points = systems(results)
    chosen = largest(points)
    page = Document()
    shown = systems_shown(points)
    rebuilds = not all(serves_only(one.rows) for one in points)
    of_study = [(one.name, one) for one in charts.of_study(results, points)]
    for name, chart in of_study:
        page.add_chart(name, chart)
    runs = runs_table(results)
    page.add_table("runs", runs)
    study_file = portable(results.study_file)
    title = title_of(results, chosen)
    of_systems = [
        _system(page, results, one, rank, is_chosen=one is chosen) for rank, one in enumerate(shown)
    ]
    contents = [
        ("systems", "Side by side" if len(shown) > 1 else "In short"),
        ("assumptions", "Assumptions"),
        *([("study", "Over the sweep" if chosen.swept else "Over the seeds")] if of_study else []),
        ("detail", "One rebuild" if rebuilds else "One run"),
        ("runs", "Every run"),
        *([("file", "Run it yourself")] if study_file else []),
        ("provenance", "Provenance"),
    ]
    hidden = f"{len(shown)} of {len(points):,} systems are on this page; the tables in the run "
    body = rendered(
        "report.html",
        title=title,
        standing=standing,
        systems=of_systems,
        across=sweep_sentence(points) if rebuilds else "",
        contents=contents,
        explore=explore,
        overview=overview(results, points),
        study_charts=of_study,
        is_swept=bool(chosen.swept),
        what="rebuild" if rebuilds else "run",
        median_of="rebuild time" if rebuilds else "goodput",
        hidden_systems=f"{hidden}folder have all." if len(shown) < len(points) else "",
        runs=runs,
        study_file=study_file,
        how_to_run=_how_to_run(study_file, results),
        provenance=provenance(results),
    )
    return page.assemble(title, body, standing)


def render_waiting(results: ResultsLike, standing: Standing) -> str:
    """The page of a study of which no run is finished.

    Args:
        results: The study's results, without runs.
        standing: How far it is.
    """
    page = Document()
    title = results.title or _QUESTION
    text = rendered("waiting.html", title=title, standing=standing)
    return page.assemble(title, text, standing)


_QUESTION = "How the system heals"


def title_of(results: ResultsLike, point: SystemRuns) -> str:
    """The study's own title, or the question that it answers.

    Args:
        results: The study's results.
        point: The system that stands for it.
    """
    if results.title:
        return results.title
    named = [str(point.median[key]) for key in _FAILED if point.median.get(key)]
    one = listed(named)
    return f"What if {one} fail{'' if ',' in one or ' and ' in one else 's'}?" if one else _QUESTION


_FAILED = ("failed_servers", "failed_disks", "failed_links", "failed_switches")


def answer(results: ResultsLike, point: SystemRuns) -> list[str]:
    """The answer for one system: how long, what clients get, and what is at risk.

    Args:
        results: The study's results.
        point: The system.
    """
    said = [rebuild_sentence(point), wait_sentence(results, point)]
    said += [traffic_sentence(results, point)] if has_traffic(point) else []
    said.append(at_risk(results, point)[1])
    return [text for text in said if text] or ["Nothing fails in this study."]


def overview(results: ResultsLike, points: Sequence[SystemRuns]) -> Table:
    """A row a system: the answer in figures, medians over its seeds.

    Args:
        results: The study's results.
        points: The systems.
    """
    columns: list[tuple[str, str, str, list[Cell]]] = [
        ("system", "system", "text", [point.short_label for point in points]),
        ("runs", "runs", "count", [len(point.rows) for point in points]),
    ]
    found = [system_wait(results, point) for point in points]
    for name, heading, kind in _OVERVIEW:
        values: list[Cell] = [point.middle(name) for point in points]
        if name in _GOODPUT and all(bursts_alone(point) for point in points):
            continue
        if any(value is not None for value in values):
            columns.append((name, heading, kind, values))
        if name == "rebuild_seconds" and any(found):
            waits: list[Cell] = [one.what if one is not None else None for one in found]
            columns.append(("waited_for", "last waits for", "text", waits))
    risks: list[Cell] = [at_risk(results, point)[0] for point in points]
    if any(risks):
        columns.append(("at_risk", "at risk at most", "text", risks))
    return table(*columns)


_GOODPUT = frozenset(
    {
        "before_throughput_bytes_per_second",
        "during_throughput_bytes_per_second",
        "during_before_throughput_ratio",
    }
)
_OVERVIEW = (
    ("rebuild_seconds", "fully redundant after", "seconds"),
    ("rebuilt_bytes", "rebuilt", "bytes"),
    ("before_throughput_bytes_per_second", "clients before", "rate"),
    ("during_throughput_bytes_per_second", "clients during", "rate"),
    ("during_before_throughput_ratio", "of before", "share"),
    ("during_p99_read_delay_seconds", "99 % of reads within", "seconds"),
    ("requests_lost", "requests lost", "count"),
)


def _system(
    page: Document, results: ResultsLike, point: SystemRuns, rank: int, *, is_chosen: bool
) -> dict[str, Any]:
    """What the page shows of one system."""
    made: list[tuple[str, Chart]] = []
    for chart in charts.of_system(results, point):
        name = f"{chart.name}-{rank}"
        page.add_chart(name, chart)
        made.append((name, chart))
    named = [
        (f"{name}-{rank}", title, found) for name, title, found in named_tables(results, point)
    ]
    page.hosts |= hosts(results, point)
    pools, classes = pools_table(results, point), classes_table(results, point)
    for name, _, found in named:
        page.add_table(name, found)
    for word, beside in (("pools", pools), ("classes", classes)):
        if beside is not None:
            page.add_table(f"{word}-{rank}", beside)
    rebuilds = not serves_only(point.rows)
    return {
        "rank": rank,
        "label": point.label,
        "is_chosen": is_chosen,
        "answer": answer(results, point),
        "described": describe(results, point),
        "assumptions": assumptions_table(results),
        "seed": point.median["seed"],
        "nothing": (nothing_rebuilt(point) or "") if rebuilds else "",
        "figures": key_figures(results, point),
        "spread": spread_note(results, len(point.rows)),
        "pools": pools,
        "classes": classes,
        "charts": made,
        "has_experts": any(chart.is_for_experts for _, chart in made),
        "named": named,
    }


def _how_to_run(study_file: str, results: ResultsLike) -> str:
    """How the study on the page becomes results again, and what it needs beside itself."""
    text = (
        "Save it as study.toml and type: resilver run study.toml. Equal digests mean equal results"
    )
    version = results.provenance.get("resilver_version")
    text += f", with resilver {version}." if version else "."
    if study_file != results.study_file:
        text += " The files that it names are looked for beside it; ask whoever sent the page."
    return text


def systems_shown(points: list[SystemRuns]) -> list[SystemRuns]:
    """The systems whose charts a page carries: the largest and others, evenly over the sweep.

    Args:
        points: All systems.

    Returns:
        At most `SYSTEMS_MAX` of them, in their order.
    """
    chosen = largest(points)
    if len(points) <= SYSTEMS_MAX:
        return points
    last = len(points) - 1
    ranks = {round(step * last / (SYSTEMS_MAX - 1)) for step in range(SYSTEMS_MAX)}
    own = next(rank for rank, one in enumerate(points) if one is chosen)
    if own not in ranks:
        ranks.remove(min(ranks, key=lambda rank: abs(rank - own)))
        ranks.add(own)
    return [points[rank] for rank in sorted(ranks)]
