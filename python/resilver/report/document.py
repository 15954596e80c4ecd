"""One offline HTML file: its head, its charts with their tables, its scripts, and its writing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.errors import ConfigError
from resilver.report.standing import Standing
from resilver.report.tables import Table, to_csv, to_html

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# The browser itself then refuses whatever a page without network must not do. Plotly sets inline
# styles, and makes its pictures for download as data and blob addresses.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; connect-src 'none'; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True, eq=False)
class Shown:
    """One chart of a page, not drawn yet.

    Args:
        name: What it is called in the page's addresses: letters, digits and hyphens.
        heading: What to see in it, as a sentence without its full stop.
        description: What is drawn, for the caption and for those who cannot see it.
        draw: Makes the Plotly figure.
        table: The same numbers in rows.
    """

    name: str
    heading: str
    description: str
    draw: Callable[[], Figure]
    table: Table


class Document:
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

    def figure(self, made: Shown, table_title: str, suffix: str = "") -> str:
        """One chart with its finding, its words and its table.

        Args:
            made: The chart.
            table_title: What its table holds.
            suffix: What tells it from another chart of the same name on the page.
        """
        name = f"{made.name}{suffix}"
        drawn = json.loads(made.draw().to_json())
        self.figures[name] = {"data": drawn["data"], "layout": drawn["layout"]}
        height = int(drawn["layout"]["height"])
        narrowest = drawn["layout"].get("meta", {}).get("narrowest")
        room = f";min-width:{int(narrowest)}px" if narrowest else ""
        label = escape(f"{made.heading}. {made.description}", quote=True)
        return (
            f'<figure aria-labelledby="heading-{name}">'
            f'<h3 id="heading-{name}">{escape(made.heading)}</h3>'
            f"<figcaption>{escape(made.description)} "
            f'<a href="#table-{name}">Its table</a> follows.</figcaption>'
            f'<div class="chart chart-{made.name} js-only"><div class="plot" id="{name}" '
            f'role="img" aria-label="{label}" style="min-height:{height}px{room}"></div></div>'
            f"{self.details(name, table_title, made.table)}</figure>"
        )

    def assemble(self, title: str, body: str, standing: Standing | None = None) -> str:
        """The whole page.

        Args:
            title: Its title.
            body: The HTML between its head and its scripts.
            standing: How far the study is, on a page that follows it.
        """
        from importlib.resources import files

        from plotly.offline import get_plotlyjs

        own = files("resilver.report")
        plotly = f"<script>{get_plotlyjs()}</script>\n" if self.figures else ""
        scripts = (
            f'<script type="application/json" id="figures">{_json(self.figures)}</script>\n'
            f'<script type="application/json" id="csv">{_json(self.csv)}</script>\n'
            f"{plotly}"
            f"<script>{own.joinpath('page.js').read_text(encoding='utf-8')}</script>"
        )
        reload = standing.reload_seconds if standing is not None else None
        attribute = f' data-reload="{reload}"' if reload else ""
        # The script keeps the reader's place; a browser without scripts loads the page afresh.
        refresh = f'<meta http-equiv="refresh" content="{reload}">'
        without_script = f"<noscript>{refresh}</noscript>\n" if reload else ""
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


def write_page(text: str, path: str | Path, name: str = "report") -> Path:
    """Write a page.

    Args:
        text: The page.
        path: The file to write; it is replaced in one step, so that no half page is ever read. A
            link is followed, and what is no file (a pipe, a device) is written into.
        name: What the page is, for the message if it cannot be written.

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
            f"{name} = {str(target)!r} cannot be written ({error.strerror}); "
            "choose another file with -o"
        ) from error
    return target


def _json(value: object) -> str:
    """JSON that no reader of HTML can mistake for a tag."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
