"""The report page: one HTML file that needs no network, with all it shows in tables too."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.errors import ConfigError
from resilver.report import charts
from resilver.report.findings import losses, nothing_rebuilt, plural
from resilver.report.provenance import provenance_html
from resilver.report.runs import runs_table
from resilver.report.sentence import describe
from resilver.report.source import ResultsLike, SystemRuns, largest, number, systems
from resilver.report.standing import Standing
from resilver.report.summary import key_figures
from resilver.report.tables import Table, to_csv, to_html

if TYPE_CHECKING:
    from resilver.report.charts import Chart

SYSTEMS_MAX = 12
"""Systems whose charts one page carries; each adds up to about 200 KB to it."""
RUNS_SHOWN_MAX = 200

# The browser itself then refuses whatever a page without network must not do. Plotly sets inline
# styles, and makes its pictures for download as data and blob addresses.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; connect-src 'none'; base-uri 'none'; form-action 'none'"
)


class _Page:
    """What the parts of a page leave for its end: the figures and the CSVs, by id."""

    def __init__(self) -> None:
        self.figures: dict[str, Any] = {}
        self.csv: dict[str, str] = {}

    def details(self, name: str, title: str, table: Table, rows_max: int | None = None) -> str:
        """A table that opens on demand, with its CSV."""
        self.csv[name] = to_csv(table)
        rows = to_html(table, title) if rows_max is None else to_html(table, title, rows_max)
        return (
            f'<details id="table-{name}"><summary>Table: {escape(title)}</summary>'
            f'<p class="bar js-only"><button type="button" data-csv="{name}">Download CSV</button>'
            f"</p>{rows}</details>"
        )

    def figure(self, made: Chart, suffix: str) -> str:
        """One chart with its finding, its words and its table."""
        name = f"{made.name}{suffix}"
        drawn = json.loads(made.draw().to_json())
        self.figures[name] = {"data": drawn["data"], "layout": drawn["layout"]}
        height = int(drawn["layout"]["height"])
        label = escape(f"{made.heading}. {made.description}", quote=True)
        return (
            f'<figure aria-labelledby="heading-{name}">'
            f'<h3 id="heading-{name}">{escape(made.heading)}</h3>'
            f"<figcaption>{escape(made.description)} "
            f'<a href="#table-{name}">Its table</a> follows.</figcaption>'
            f'<div class="chart chart-{made.name} js-only"><div class="plot" id="{name}" '
            f'role="img" aria-label="{label}" style="min-height:{height}px"></div></div>'
            f"{self.details(name, _TABLE_TITLES[made.name], made.table)}</figure>"
        )


_TABLE_TITLES = {
    "rate": "rebuild rate by swept value",
    "servers": "rebuilt replicas by server",
    "finish": "finishing time by server",
    "transfers": "transfers by source and destination",
    "timeline": "rebuild over time",
    "degraded": "objects short of copies over time",
    "busy": "busy shares by server",
}


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


def write_page(text: str, path: str | Path) -> Path:
    """Write a page as `write_html` does.

    Args:
        text: The page.
        path: The file to write.

    Returns:
        The path.

    Raises:
        ConfigError: The file cannot be written.
    """
    target = Path(path)
    place = target.resolve()
    # Two commands may write one page at a time; each has its own unfinished one.
    partial = place.with_name(f".{place.name}.{os.getpid()}.partial")
    is_special = place.exists() and not place.is_file() and not place.is_dir()
    try:
        if is_special:
            place.write_text(text, encoding="utf-8")
        else:
            partial.write_text(text, encoding="utf-8")
            partial.replace(place)
    except OSError as error:
        if not is_special:
            partial.unlink(missing_ok=True)
        raise ConfigError(
            f"report = {str(target)!r} cannot be written ({error.strerror}); "
            "choose another file with -o"
        ) from error
    return target


def render(results: ResultsLike, standing: Standing | None = None) -> str:
    """The report page of a study as text.

    Args:
        results: The study's results.
        standing: How far the study is, where its results are not all there.

    Raises:
        ConfigError: There is no finished run.
    """
    points = systems(results)
    page = _Page()
    body = "\n".join(_body(page, results, points, largest(points), standing))
    return _document(title_of(results.study), body, page, standing)


def render_waiting(study: dict[str, Any], standing: Standing) -> str:
    """The page of a study of which no run is finished.

    Args:
        study: The study as resolved.
        standing: How far it is.
    """
    title = title_of(study)
    body = f"<main><header><h1>{escape(title)}</h1>{standing.html()}</header></main>"
    return _document(title, body, _Page(), standing)


def _document(title: str, body: str, page: _Page, standing: Standing | None) -> str:
    """The HTML around a body."""
    from importlib.resources import files

    from plotly.offline import get_plotlyjs

    own = files("resilver.report")
    plotly = f"<script>{get_plotlyjs()}</script>\n" if page.figures else ""
    scripts = (
        f'<script type="application/json" id="figures">{_json(page.figures)}</script>\n'
        f'<script type="application/json" id="csv">{_json(page.csv)}</script>\n'
        f"{plotly}"
        f"<script>{own.joinpath('page.js').read_text(encoding='utf-8')}</script>"
    )
    reload = standing.reload_seconds if standing is not None else None
    attribute = f' data-reload="{reload}"' if reload else ""
    # The script keeps the reader's place; a browser without scripts loads the page afresh.
    without_script = (
        f'<noscript><meta http-equiv="refresh" content="{reload}"></noscript>\n' if reload else ""
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"{attribute}>\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"{without_script}"
        f"<title>{escape(title)}</title>\n"
        f"<style>\n{own.joinpath('page.css').read_text(encoding='utf-8')}</style>\n</head>\n"
        f"<body>\n{body}\n{scripts}\n</body>\n</html>\n"
    )


def title_of(study: dict[str, Any]) -> str:
    """The study's own title, or what any study is about.

    Args:
        study: The study as resolved.
    """
    section = study.get("study")
    title = section.get("title") if isinstance(section, dict) else None
    return str(title) if title else "How the system heals"


def _body(
    page: _Page,
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
    if lost := losses(point):
        yield f'<p class="lead"><strong>{escape(lost)}</strong></p>'
    yield "</header>"
    if point.swept:
        size = ", the largest system" if len({one.devices for one in points}) > 1 else ""
        yield f"<p>The figures below are for {escape(point.label)}{size}.</p>"
    yield _tiles(results, point)
    yield "<noscript><p>Charts need JavaScript. The tables hold the same numbers.</p></noscript>"
    yield "<section><h2>Rebuild rate</h2>"
    for made in charts.of_study(points):
        yield page.figure(made, "")
    if not any(number(row, "rebuilt_bytes") for one in points for row in one.rows):
        yield "<p>No run rebuilt anything, so there is no rate.</p>"
    yield "</section>"
    yield from _systems(page, results, points, point)
    yield "<section><h2>Every run</h2>"
    yield page.details("runs", "every run of the study", runs_table(results), RUNS_SHOWN_MAX)
    yield "</section>"
    yield provenance_html(results)
    yield "</main>"


def _tiles(results: ResultsLike, point: SystemRuns) -> str:
    """The key figures."""
    tiles = "".join(
        f'<li class="tile"><span>{escape(figure.label)}</span>'
        f"<strong>{escape(figure.text)}</strong><small>{escape(figure.detail)}</small></li>"
        for figure in key_figures(results, point)
    )
    seeds = plural(len(point.rows), "seed")
    return (
        f'<ul class="tiles" aria-label="Key figures">{tiles}</ul>'
        f'<p class="note">Medians and ranges over {seeds}.</p>'
    )


def _systems(
    page: _Page, results: ResultsLike, points: list[SystemRuns], chosen: SystemRuns
) -> Iterable[str]:
    """The charts about one run, for each system that the page carries."""
    kept = systems_shown(points)
    yield "<section><h2>One rebuild in detail</h2>"
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
        yield f'<div data-system="{rank}"{hidden}>'
        yield (
            f"<p>The run of median rebuild time for {escape(one.label)}: seed "
            f"{escape(str(one.median['seed']))}.</p>"
        )
        if reason := nothing_rebuilt(one):
            yield f"<p><strong>{escape(reason)}</strong> There is nothing to draw.</p>"
        for made in charts.of_system(results, one):
            yield page.figure(made, f"-{rank}")
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


def _json(value: object) -> str:
    """JSON that no reader of HTML can mistake for a tag."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
