"""Results as a notebook shows them: a table of systems with a bar a row, without any library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from statistics import median

from resilver.report.source import ResultsLike, Row, format_swept, number, swept_keys, systems
from resilver.units import format_bytes, format_duration, format_rate

_ROWS_MAX = 100
_BAR_PIXELS = 160

_COLUMNS: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("rebuild time", "rebuild_seconds", format_duration),
    ("rebuild rate", "aggregate_bytes_per_second", format_rate),
    ("rebuilt", "rebuilt_bytes", format_bytes),
    ("goodput", "throughput_bytes_per_second", format_rate),
)


def results_html(results: ResultsLike) -> str:
    """A table of the systems of a study.

    Args:
        results: The study's results.

    Returns:
        HTML: a row a system with medians over its seeds, as far as they have any, and a bar for the
        first of them; everything that comes from files is escaped.
    """
    points = systems(results)
    medians = [[_median(point.rows, name) for _, name, _ in _COLUMNS] for point in points]
    shown = [
        place
        for place in range(len(_COLUMNS))
        if any(values[place] is not None for values in medians)
    ]
    most = max((values[shown[0]] or 0.0 for values in medians), default=0.0) if shown else 0.0
    heads = [*swept_keys(results), "runs", "", *(_COLUMNS[place][0] for place in shown)]
    lines = ["<tr>" + "".join(f"<th>{escape(head)}</th>" for head in heads) + "</tr>"]
    for point, values in list(zip(points, medians, strict=True))[:_ROWS_MAX]:
        cells = [escape(format_swept(key, value)) for key, value in point.swept.items()]
        cells += [str(len(point.rows)), _bar(values[shown[0]] or 0.0, most) if shown else ""]
        cells += [_text(values[place], _COLUMNS[place][2]) for place in shown]
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    more = len(points) - _ROWS_MAX
    note = f"<p>and {more:,} more systems, in <code>.runs</code></p>" if more > 0 else ""
    return f"<p>{escape(repr(results))}</p><table>{''.join(lines)}</table>{note}"


def _median(rows: Sequence[Row], name: str) -> float | None:
    values = [value for row in rows if (value := number(row, name)) is not None]
    return median(values) if values else None


def _text(value: float | None, words: Callable[[float], str]) -> str:
    return "-" if value is None else escape(words(value))


def _bar(value: float, most: float) -> str:
    width = round(_BAR_PIXELS * value / most) if most > 0 else 0
    return (
        f'<svg width="{_BAR_PIXELS}" height="10" role="img" aria-hidden="true">'
        f'<rect width="{width}" height="10" fill="#4c78a8"/></svg>'
    )
