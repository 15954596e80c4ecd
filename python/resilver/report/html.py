"""The report page: one HTML file that needs no network, with all it shows in tables too."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.report import charts
from resilver.report.assumptions import spread_note
from resilver.report.document import Document, Shown, write_page
from resilver.report.findings import losses, nothing_rebuilt
from resilver.report.limit import limit_sentence
from resilver.report.network import named_tables
from resilver.report.pools import pools_table
from resilver.report.provenance import provenance_html
from resilver.report.runs import runs_table
from resilver.report.sensitivity import sensitivity_chart
from resilver.report.sentence import describe
from resilver.report.source import ResultsLike, SystemRuns, largest, number, serves_only, systems
from resilver.report.standing import Standing
from resilver.report.summary import key_figures
from resilver.report.traffic import has_traffic
from resilver.report.traffic_charts import of_traffic
from resilver.report.traffic_sentence import traffic_sentence

if TYPE_CHECKING:
    from resilver.report.chart import Chart

SYSTEMS_MAX = 12
"""Systems whose charts one page carries; each adds up to about 200 KB to it."""
RUNS_SHOWN_MAX = 200

_TABLE_TITLES = {
    "servers": "rebuilt replicas by server",
    "finish": "finishing time by server",
    "transfers": "transfers by source and destination",
    "timeline": "rebuild over time",
    "degraded": "objects short of copies over time",
    "busy": "busy shares by server",
}


def chart_html(page: Document, made: Chart, suffix: str = "") -> str:
    """One chart of a run folder on a page, with its table.

    Args:
        page: The page.
        made: The chart.
        suffix: What tells it from the same chart of another system.
    """
    shown = Shown(made.name, made.heading, made.description, made.draw, made.table)
    return page.figure(shown, made.table_title or _TABLE_TITLES[made.name], suffix)


def traffic_html(
    page: Document, results: ResultsLike, point: SystemRuns, suffix: str
) -> Iterable[str]:
    """What clients got of one system and what its network did: charts, then what is named.

    Args:
        page: The page.
        results: The study's results.
        point: The system.
        suffix: What tells its charts from those of another system.
    """
    for made in of_traffic(results, point):
        yield chart_html(page, made, suffix)
    for name, title, table in named_tables(results, point):
        shown = page.details(f"{name}{suffix}", title[0].lower() + title[1:], table)
        # A few rows that are read with the charts need not be asked for.
        opened = shown.replace("<details ", "<details open ", 1)
        yield f'<div class="named"><h3>{escape(title)}</h3>{opened}</div>'


def write_html(results: ResultsLike, path: str | Path, standing: Standing | None = None) -> Path:
    """Write the report page of a study.

    Args:
        results: The study's results.
        path: The file to write; it is replaced in one step, so that no half page is ever read. A
            link is followed, and what is no file (a pipe, a device) is written into.
        standing: How far the study is, where its results are not all there.

    Returns:
        The path.

    Raises:
        ConfigError: There is no finished run, or the file cannot be written.
    """
    return write_page(render(results, standing), path)


def render(results: ResultsLike, standing: Standing | None = None) -> str:
    """The report page of a study as text.

    Args:
        results: The study's results.
        standing: How far the study is, where its results are not all there.

    Raises:
        ConfigError: There is no finished run.
    """
    points = systems(results)
    page = Document()
    body = "\n".join(_body(page, results, points, largest(points), standing))
    return page.assemble(title_of(results.study), body, standing)


def render_waiting(study: dict[str, Any], standing: Standing) -> str:
    """The page of a study of which no run is finished.

    Args:
        study: The study as resolved.
        standing: How far it is.
    """
    title = title_of(study)
    body = f"<main><header><h1>{escape(title)}</h1>{standing.html()}</header></main>"
    return Document().assemble(title, body, standing)


def title_of(study: dict[str, Any]) -> str:
    """The study's own title, or what any study is about.

    Args:
        study: The study as resolved.
    """
    section = study.get("study")
    title = section.get("title") if isinstance(section, dict) else None
    return str(title) if title else "How the system heals"


def _body(
    page: Document,
    results: ResultsLike,
    points: list[SystemRuns],
    point: SystemRuns,
    standing: Standing | None,
) -> Iterable[str]:
    """The page from its title to its foot."""
    yield f"<main><header><h1>{escape(title_of(results.study))}</h1>"
    if standing is not None:
        yield standing.html()
    yield f'<p class="lead">{escape(describe(results, point))}</p>'
    if limit := limit_sentence(results, point):
        yield f'<p class="lead"><strong>{escape(limit)}</strong></p>'
    if lost := losses(point):
        yield f'<p class="lead"><strong>{escape(lost)}</strong></p>'
    if has_traffic(point):
        yield f'<p class="lead"><strong>{escape(traffic_sentence(results, point))}</strong></p>'
    yield "</header>"
    if point.swept:
        size = ", the largest system" if len({one.devices for one in points}) > 1 else ""
        yield f"<p>The figures below are for {escape(point.label)}{size}.</p>"
    yield _tiles(results, point)
    if table := pools_table(results, point):
        shown = page.details("pools", "pools", table).replace("<details ", "<details open ", 1)
        yield f'<section><h2>Pools</h2><div class="named">{shown}</div></section>'
    yield "<noscript><p>Charts need JavaScript. The tables hold the same numbers.</p></noscript>"
    if (tornado := sensitivity_chart(results)) is not None:
        yield f"<section><h2>What it depends on</h2>{chart_html(page, tornado)}</section>"
    yield from _whole_study(page, points)
    yield from _systems(page, results, points, point)
    yield "<section><h2>Every run</h2>"
    yield page.details("runs", "every run of the study", runs_table(results), RUNS_SHOWN_MAX)
    yield "</section>"
    yield provenance_html(results)
    yield "</main>"


def _whole_study(page: Document, points: list[SystemRuns]) -> Iterable[str]:
    """The charts about the whole study: its rebuild rate, and what clients get over a sweep."""
    made = charts.of_study(points)
    if not all(serves_only(one.rows) for one in points):
        yield "<section><h2>Rebuild rate</h2>"
        for one in made:
            if one.name == charts.NAMES[0]:
                yield chart_html(page, one)
        if not any(number(row, "rebuilt_bytes") for one in points for row in one.rows):
            yield "<p>No run rebuilt anything, so there is no rate.</p>"
        yield "</section>"
    swept = [one for one in made if one.name != charts.NAMES[0]]
    if swept:
        yield "<section><h2>What clients get over the sweep</h2>"
        for one in swept:
            yield chart_html(page, one)
        yield "</section>"


def _tiles(results: ResultsLike, point: SystemRuns) -> str:
    """The key figures."""
    tiles = "".join(
        f'<li class="tile"><span>{escape(figure.label)}</span>'
        f"<strong>{escape(figure.text)}</strong><small>{escape(figure.detail)}</small></li>"
        for figure in key_figures(results, point)
    )
    return (
        f'<ul class="tiles" aria-label="Key figures">{tiles}</ul>'
        f'<p class="note">{escape(spread_note(results, len(point.rows)))}</p>'
    )


def _systems(
    page: Document, results: ResultsLike, points: list[SystemRuns], chosen: SystemRuns
) -> Iterable[str]:
    """The charts about one run, for each system that the page carries."""
    kept = systems_shown(points)
    rebuilds = not all(serves_only(one.rows) for one in points)
    what = "rebuild" if rebuilds else "run"
    yield f"<section><h2>One {what} in detail</h2>"
    if len(kept) > 1:
        options = "".join(
            f'<option value="{rank}"{" selected" if one is chosen else ""}>{escape(one.label)}'
            "</option>"
            for rank, one in enumerate(kept)
        )
        yield (
            '<p class="choice js-only"><label>System: '
            f'<select id="system" autocomplete="off">{options}</select></label></p>'
        )
    if len(kept) < len(points):
        yield (
            f'<p class="note">{len(kept)} of {len(points):,} systems are on this page; the tables '
            "in the run folder have all.</p>"
        )
    for rank, one in enumerate(kept):
        hidden = "" if one is chosen else " hidden"
        name = escape(one.label, quote=True)
        yield f'<div data-system="{rank}" data-name="{name}"{hidden}>'
        of_what = "rebuild time" if rebuilds else "goodput"
        yield (
            f"<p>The run of median {of_what} for {escape(one.label)}: seed "
            f"{escape(str(one.median['seed']))}.</p>"
        )
        if rebuilds and (reason := nothing_rebuilt(one)):
            nothing = "" if has_traffic(one) else " There is nothing to draw."
            yield f"<p><strong>{escape(reason)}</strong>{nothing}</p>"
        for made in charts.of_rebuild(results, one):
            yield chart_html(page, made, f"-{rank}")
        yield from traffic_html(page, results, one, f"-{rank}")
        yield "</div>"
    yield "</section>"


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
