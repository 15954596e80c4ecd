"""What a person reads in the terminal when a study is done."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from resilver.cli.console import output
from resilver.study import Results
from resilver.study.phases import SIMULATED_PHASES
from resilver.units import format_bytes, format_duration, format_rate

if TYPE_CHECKING:
    from resilver.study import Effect

# A sweep of more points than this is better read on the page or in the tables.
_POINTS_SHOWN = 40
_SPREAD_COLUMNS_MAX = 2
_SWEPT_WIDTH_MAX = 36
# Blanks beside a column.
_GAP = 3
# What a narrow terminal does without first.
_LAST = ("aggregate_bytes_per_second", "throughput_bytes_per_second", "gathered_bytes")


def print_summary(results: Results, *, next_command: str | None = None) -> None:
    """Print the study in words, its key figures, and a row a swept point.

    Args:
        results: finished results.
        next_command: what the reader may want to type next.
    """
    from resilver.report.findings import losses, nothing_rebuilt
    from resilver.report.pools import pools_table
    from resilver.report.sensitivity import sensitivity_finding
    from resilver.report.sentence import describe
    from resilver.report.source import largest, serves_only, systems
    from resilver.report.summary import key_figures
    from resilver.report.traffic import has_traffic
    from resilver.report.traffic_sentence import traffic_sentence

    console = output()
    points = systems(results)
    console.print()
    _print_wrapped(console, describe(results, largest(points)))
    if lost := losses(largest(points)):
        _print_wrapped(console, lost, style="bold red")
    if has_traffic(largest(points)):
        _print_wrapped(console, traffic_sentence(results, largest(points)), style="bold")
    console.print()
    if results.swept_keys:
        console.print(_points_table(results, points[:_POINTS_SHOWN], console.width))
        if len(points) > _POINTS_SHOWN:
            hidden = len(points) - _POINTS_SHOWN
            console.print(f"  and {hidden} more points, all in {results.folder}/runs.parquet")
        console.print()
        console.print(Text(f"Key figures at {largest(points).label}", style="bold"))
    figures = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    figures.add_column(style="dim")
    figures.add_column(style="bold")
    figures.add_column()
    for figure in key_figures(results):
        figures.add_row(figure.label, figure.text, figure.detail)
    console.print(figures)
    if table := pools_table(results, largest(points)):
        console.print()
        console.print(_pools(table, console.width))
    if results.sensitivity:
        console.print()
        _print_wrapped(console, f"{sensitivity_finding(results)}.", style="bold")
        console.print(_sensitivity(results.sensitivity, console.width))
    if not serves_only(largest(points).rows) and (reason := nothing_rebuilt(largest(points))):
        _print_wrapped(console, reason)
    console.print()
    _print_whereabouts(console, results, next_command)


def _sensitivity(effects: Sequence[Effect], width: int) -> Table:
    """A row an assumption: what came of it lower and higher, as fully as the terminal is wide."""
    from resilver.report.sensitivity import signed, value_words

    def row(one: Effect, detail: int) -> list[str]:
        sides = zip((one.low, one.high), (one.low_value, one.high_value), one.changes, strict=True)
        cells = [
            (f"{at}: " if detail > 1 else "")
            + (f"{value_words(one, value)}, " if detail else "")
            + signed(change)
            for at, value, change in sides
        ]
        return [one.assumption, *cells]

    lines: list[list[str]] = []
    for detail in (2, 1, 0):
        lines = [["assumption", "lower", "higher"], *(row(one, detail) for one in effects)]
        if sum(max(map(len, cells)) + _GAP for cells in zip(*lines, strict=True)) <= width:
            break
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading in lines[0]:
        side: Any = "left" if heading == lines[0][0] else "right"
        table.add_column(heading, justify=side)
    for line in lines[1:]:
        table.add_row(*line)
    return table


def _pools(pools: Any, width: int) -> Table:
    """A row a pool, or in a narrow terminal a column a pool, so that nothing is cut."""
    from resilver.report.tables import cell_text

    headings = [column.heading for column in pools.columns]
    cells = [
        [cell_text(value, column.kind) for value, column in zip(row, pools.columns, strict=True)]
        for row in pools.rows
    ]
    lines = [headings, *cells]
    needed = sum(max(len(line[place]) for line in lines) + 2 for place in range(len(headings)))
    if needed > width:
        lines = [list(line) for line in zip(*lines, strict=True)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for place, heading in enumerate(lines[0]):
        table.add_column(heading, justify="left" if place == 0 else "right")
    for line in lines[1:]:
        table.add_row(*line)
    return table


def _print_wrapped(console: Console, text: str, style: str = "") -> None:
    for line in textwrap.wrap(text, width=min(console.width, 100)):
        console.print(Text(line, style=style), soft_wrap=True)


def _points_table(results: Results, points: list[Any], width: int) -> Table:
    """A row a swept point; of its figures as many as the terminal is wide enough for."""
    from resilver.report.source import format_swept

    columns = _point_columns(points)
    swept = [[format_swept(key, value) for key, value in point.swept.items()] for point in points]
    figures = [
        [_median_and_quartiles(point.rows, name, words) for _, name, words in columns]
        for point in points
    ]
    names = short_names(results.swept_keys)
    longest = [max(len(cell) for cell in cells) for cells in zip(names, *swept, strict=True)]
    # What is swept may take half of the width, and more lines than one.
    room = width - sum(min(one, _SWEPT_WIDTH_MAX) + _GAP for one in longest) - len("runs") - _GAP
    shown = []
    for place in sorted(range(len(columns)), key=lambda place: columns[place][1] in _LAST):
        needed = _GAP + max(len(columns[place][0]), *(len(row[place][0]) for row in figures))
        if needed <= room:
            shown.append(place)
            room -= needed
    shown.sort()
    # The quartiles of more than two figures would not fit.
    spread = width >= 100 and len(columns) <= _SPREAD_COLUMNS_MAX
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading, most in zip(names, longest, strict=True):
        table.add_column(heading, justify="right", min_width=min(most, _SWEPT_WIDTH_MAX))
    table.add_column("runs", justify="right")
    for place in shown:
        table.add_column(columns[place][0], justify="right", no_wrap=True)
        if spread:
            table.add_column("quartiles", style="dim", justify="right")
    for point, cells, row in zip(points, swept, figures, strict=True):
        pairs = (row[place][: 2 if spread else 1] for place in shown)
        table.add_row(*cells, str(len(point.rows)), *(cell for pair in pairs for cell in pair))
    return table


def _point_columns(points: list[Any]) -> list[tuple[str, str, Any]]:
    """What a row of a swept point states: heading, column and words; of a rebuild, of clients."""
    from resilver.report.source import serves_only
    from resilver.report.traffic import has_traffic

    clients = any(has_traffic(point) for point in points)
    columns: list[tuple[str, str, Any]] = []
    if not all(serves_only(point.rows) for point in points):
        columns.append(("rebuild time", "rebuild_seconds", format_duration))
        columns.append(("rebuild rate", "aggregate_bytes_per_second", format_rate))
    if clients:
        columns += _client_columns(any(_had_faults(point) for point in points))
    # Strips that are made anew in place, and what new homes take in to decode.
    for heading, name, words in (
        ("made anew", "rebuild_bytes_per_second", format_rate),
        ("bursts", "burst_bytes_per_second", format_rate),
        ("gathered", "gathered_bytes", format_bytes),
    ):
        if any(row.get(name) for point in points for row in point.rows):
            columns.append((heading, name, words))
    return columns


def _had_faults(point: Any) -> bool:
    """Whether something failed while clients were counted."""
    return any(row.get("during_seconds") for row in point.rows)


def _client_columns(faults: bool) -> list[tuple[str, str, Any]]:
    """What a swept point states of clients: what they got during its faults, where it has some."""

    from resilver.report.words import percent

    def count(value: float) -> str:
        return f"{value:,.0f}"

    lost = ("lost", "requests_lost", count)
    if not faults:
        whole = ("goodput", "throughput_bytes_per_second", format_rate)
        return [whole, ("mean delay", "mean_delay_seconds", format_duration), lost]
    return [
        ("during faults", "during_throughput_bytes_per_second", format_rate),
        ("of before", "during_before_throughput_ratio", percent),
        ("over all", "throughput_bytes_per_second", format_rate),
        lost,
    ]


def short_names(keys: Sequence[str]) -> list[str]:
    """The last words of dotted keys, where they tell the keys apart; else the whole keys.

    Args:
        keys: Swept keys, such as ``cluster.servers``.

    Returns:
        A heading for each.
    """
    last = [key.rpartition(".")[2] for key in keys]
    return last if len(set(last)) == len(last) else list(keys)


def _median_and_quartiles(rows: Any, column: str, words: Any) -> tuple[str, str]:
    values = [row[column] for row in rows if row[column] is not None]
    if not values:
        return "-", ""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    spread = f"{words(float(low))} - {words(float(high))}" if len(values) > 1 else ""
    return words(float(middle)), spread


def _print_whereabouts(console: Console, results: Results, next_command: str | None) -> None:
    lines = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    # A long path must not squeeze the headings.
    lines.add_column(style="dim", no_wrap=True, min_width=7)
    lines.add_column(no_wrap=True, overflow="ignore")
    cost = results.runs["wall_seconds"].to_pylist()
    memory = [value for value in results.runs["peak_rss_bytes"].to_pylist() if value]
    seconds = [value for value in cost if value is not None]
    if seconds:
        longest = f"longest run {format_duration(max(seconds))}"
        peak = f", {format_bytes(max(memory))} of memory" if memory else ""
        lines.add_row("Cost", f"{format_duration(sum(seconds))} of simulation, {longest}{peak}")
        if phases := _phases(results):
            lines.add_row("Phases", phases)
    lines.add_row("Results", f"{results.folder}")
    if next_command:
        lines.add_row("Next", next_command)
    console.print(lines, soft_wrap=True)


def _phases(results: Results) -> str:
    """The share of each phase in the time of all runs; empty where it was not measured."""
    from resilver.report.words import percent

    sums = {
        phase: sum(value or 0.0 for value in results.runs[f"{phase}_seconds"].to_pylist())
        for phase in SIMULATED_PHASES
    }
    total = sum(sums.values())
    if not total:
        return ""
    return ", ".join(f"{name} {percent(part / total)}" for name, part in sums.items() if part)
