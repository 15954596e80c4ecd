"""What a person reads in the terminal when a study is done."""

from __future__ import annotations

import textwrap
from collections import Counter
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
# Of parts that fail in turn the worst are asked for.
_RANKS_SHOWN = 15
_SPREAD_COLUMNS_MAX = 2
_SWEPT_WIDTH_MAX = 36
_ROUTERS = (
    "The study says no cluster.fabric.routers: clients enter by one for each network port of a "
    "host, so that entering limits nobody."
)
# What the table of key figures needs.
_FIGURES_WIDTH = 72
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
    from resilver.report.clients import has_traffic
    from resilver.report.findings import losses, nothing_rebuilt
    from resilver.report.headline import key_figures
    from resilver.report.pools import classes_table, pools_table
    from resilver.report.sensitivity import sensitivity_finding
    from resilver.report.sentence import describe
    from resilver.report.source import largest, serves_only, systems
    from resilver.report.traffic_sentence import traffic_sentence
    from resilver.report.waits import wait_sentence

    console = output()
    points = systems(results)
    # Of parts that fail in turn the worst is looked at, else the largest system.
    rows = ranked(results, points)
    key = largest(points) if rows is points else rows[0]
    console.print()
    _print_wrapped(console, describe(results, key))
    if wait := wait_sentence(results, key):
        of_one = f"At {key.label}: {wait[0].lower()}{wait[1:]}" if results.swept_keys else wait
        _print_wrapped(console, of_one, style="bold")
    if lost := losses(key):
        _print_wrapped(console, lost, style="bold red")
    if has_traffic(key):
        _print_wrapped(console, traffic_sentence(results, key), style="bold")
        if results.study["cluster"]["fabric"].get("routers") == 0:
            _print_wrapped(console, _ROUTERS, style="dim")
    console.print()
    if results.swept_keys:
        if rows is not points:
            _add_waits(results, rows)
        most = _POINTS_SHOWN if rows is points else _RANKS_SHOWN
        _print_points(console, results, rows[:most])
        if len(rows) > most:
            text = f"and {len(rows) - most} more, all in {results.folder}/runs.parquet"
            if rows is not points:
                seconds = rows[-1].median["rebuild_seconds"] or 0.0
                text += f"; the quickest: {rows[-1].label}, {format_duration(seconds)}"
            console.print(f"  {text}", soft_wrap=True)
        console.print()
        console.print(Text(f"Key figures at {key.label}", style="bold"))
    _print_figures(console, key_figures(results, key))
    for table in filter(None, (pools_table(results, key), classes_table(results, key))):
        console.print()
        console.print(_beside(table, console.width))
    if results.sensitivity:
        console.print()
        _print_wrapped(console, f"{sensitivity_finding(results)}.", style="bold")
        console.print(_sensitivity(results.sensitivity, console.width))
    if not serves_only(key.rows) and (reason := nothing_rebuilt(key)):
        _print_wrapped(console, reason)
    console.print()
    print_whereabouts(console, results, next_command)


def _sensitivity(effects: Sequence[Effect], width: int) -> Table:
    """A row an assumption: what came of it lower and higher, as fully as the terminal is wide."""
    from resilver.report.counterfactuals import signed
    from resilver.report.sensitivity import value_words

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


def _beside(shown: Any, width: int) -> Table:
    """A table, or in a narrow terminal one with its rows as columns, so that nothing is cut."""
    from resilver.tables import cell_text

    headings = [column.heading for column in shown.columns]
    cells = [
        [cell_text(value, column.kind) for value, column in zip(row, shown.columns, strict=True)]
        for row in shown.rows
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


def _print_points(console: Console, results: Results, points: list[Any]) -> None:
    """A row a swept point, with as many figures as the terminal is wide enough for.

    The swept values are always whole; where no figure fits beside them, a paragraph a point.
    """
    from resilver.report.source import format_swept

    columns = _point_columns(points)
    headings = [heading for heading, _, _ in columns]
    swept = [[format_swept(key, value) for key, value in point.swept.items()] for point in points]
    figures = [
        [_median_and_quartiles(point.rows, name, words) for _, name, words in columns]
        for point in points
    ]
    names = _key_names(results)
    keys = [_key_width(cells) for cells in zip(names, *swept, strict=True)]
    widths = [
        _GAP + max(len(heading), *(len(row[place][0]) for row in figures))
        for place, heading in enumerate(headings)
    ]
    fixed = sum(one + _GAP for one in keys)
    runs_width = len("runs") + _GAP
    needed = fixed + sum(widths) + runs_width
    room = console.width - fixed
    shown = []
    for place in sorted(range(len(columns)), key=lambda place: columns[place][1] in _LAST):
        if widths[place] <= room:
            shown.append(place)
            room -= widths[place]
    # The first figure is what the study is about.
    if 0 not in shown:
        _print_turned(console, names, swept, headings, figures)
        return
    shown.sort()
    # The quartiles of more than two figures would not fit.
    spread = console.width >= 100 and len(columns) <= _SPREAD_COLUMNS_MAX
    with_runs = room >= runs_width
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading, width in zip(names, keys, strict=True):
        table.add_column(heading, justify="right", min_width=width)
    if with_runs:
        table.add_column("runs", justify="right")
    for place in shown:
        table.add_column(headings[place], justify="right", no_wrap=True)
        if spread:
            table.add_column("quartiles", style="dim", justify="right")
    for point, cells, row in zip(points, swept, figures, strict=True):
        pairs = (row[place][: 2 if spread else 1] for place in shown)
        runs = [str(len(point.rows))] if with_runs else []
        table.add_row(*cells, *runs, *(cell for pair in pairs for cell in pair))
    console.print(table)
    hidden = [heading for place, heading in enumerate(headings) if place not in shown]
    # Equally many of all points are the seeds, which the sentence above counts.
    hidden += ["runs"] if not with_runs and len({len(point.rows) for point in points}) > 1 else []
    if hidden:
        all_of_it = f"--json has all, and so has a terminal of {needed} columns"
        _print_wrapped(console, f"Without {', '.join(hidden)}: {all_of_it}.", style="dim")


def _key_width(cells: Sequence[str]) -> int:
    """The least width of a swept column: long values take more lines, and no word is broken."""
    longest_word = max(len(word) for cell in cells for word in cell.split() or [""])
    return min(max(map(len, cells)), max(_SWEPT_WIDTH_MAX, longest_word))


def _add_waits(results: Results, points: list[Any]) -> None:
    """Give each run of the points the name of what its last device waited for, if known."""
    table = getattr(results, "limits", None)
    found = [] if table is None else [row for row in table.to_pylist() if row["is_limit"]]
    names = {row["run"]: row["name"] or row["kind"].replace("_", " ") for row in found}
    for point in points:
        for row in point.rows:
            row["waited_for"] = names.get(row["run"])


def _print_turned(
    console: Console,
    names: list[str],
    swept: list[list[str]],
    headings: list[str],
    figures: list[list[tuple[str, str]]],
) -> None:
    """A paragraph a swept point, a line a figure: for terminals too narrow for a table."""
    width = max(map(len, headings))
    for cells, row in zip(swept, figures, strict=True):
        label = ", ".join(f"{key} = {value}" for key, value in zip(names, cells, strict=True))
        _print_wrapped(console, label, style="bold")
        for heading, (text, _) in zip(headings, row, strict=True):
            console.print(f"  {heading:<{width}}  {text}", soft_wrap=True)


def _key_names(results: Results) -> list[str]:
    """What heads the swept columns; parts that fail in turn are headed by their level."""
    level = results.study["study"].get("each")
    names = short_names(results.swept_keys)
    return [level if level and key == "faults" else name
            for key, name in zip(results.swept_keys, names, strict=True)]  # fmt: skip


def ranked(results: Results, points: list[Any]) -> list[Any]:
    """Swept points in their order; where parts fail in turn, the slowest rebuild first.

    Args:
        results: The results of the study.
        points: Its points.
    """
    if not results.study["study"].get("each"):
        return points
    return sorted(points, key=lambda point: -(point.median["rebuild_seconds"] or 0.0))


def records(results: Results) -> list[dict[str, Any]]:
    """The runs for ``--json``; where parts fail in turn, the slowest rebuild first.

    Args:
        results: The results of the study.
    """
    found = results.to_records()
    if results.study["study"].get("each"):
        found.sort(key=lambda row: -(row["rebuild_seconds"] or 0.0))
    return found


def _point_columns(points: list[Any]) -> list[tuple[str, str, Any]]:
    """What a row of a swept point states: heading, column and words; of a rebuild, of clients."""
    from resilver.report.clients import has_traffic
    from resilver.report.source import bursts_alone, serves_only

    clients = any(has_traffic(point) for point in points)
    columns: list[tuple[str, str, Any]] = []
    if not all(serves_only(point.rows) for point in points):
        columns.append(("rebuild time", "rebuild_seconds", format_duration))
        if any(row.get("waited_for") for point in points for row in point.rows):
            columns.append(("last waits for", "waited_for", str))
        columns.append(("rebuild rate", "aggregate_bytes_per_second", format_rate))
    if clients and all(bursts_alone(point) for point in points):
        columns.append(("a burst", "mean_burst_delay_seconds", format_duration))
    elif clients:
        columns += _client_columns(points)
    # Strips that are made anew in place, and what new homes take in: a copy, or pieces to decode.
    for heading, name, words in (
        ("rebuilt", "rebuild_bytes_per_second", format_rate),
        ("bursts", "burst_bytes_per_second", format_rate),
        ("taken in", "gathered_bytes", format_bytes),
    ):
        if any(row.get(name) for point in points for row in point.rows):
            columns.append((heading, name, words))
    return columns


def _client_columns(points: list[Any]) -> list[tuple[str, str, Any]]:
    """What a swept point states of clients: what they got during its faults, where it has some."""
    from resilver.words import percent

    def count(value: float) -> str:
        return f"{value:,.0f}"

    lost = ("lost", "requests_lost", count)
    if not any(row.get("during_seconds") for point in points for row in point.rows):
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
    if isinstance(values[0], str):
        return Counter(values).most_common(1)[0][0], ""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    spread = f"{words(float(low))} - {words(float(high))}" if len(values) > 1 else ""
    return words(float(middle)), spread


def _print_figures(console: Console, figures: Sequence[Any]) -> None:
    """A row a key figure; in a narrow terminal a line, broken where it must be."""
    if console.width < _FIGURES_WIDTH:
        for figure in figures:
            detail = f" ({figure.detail})" if figure.detail else ""
            _print_wrapped(console, f"{figure.label}: {figure.text}{detail}")
        return
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(style="bold")
    table.add_column()
    for figure in figures:
        table.add_row(figure.label, figure.text, figure.detail)
    console.print(table)


def print_whereabouts(console: Console, results: Results, next_command: str | None) -> None:
    """Print what runs took, where results are, and what the reader may want to type next."""
    lines = []
    cost = results.runs["wall_seconds"].to_pylist()
    memory = [value for value in results.runs["peak_rss_bytes"].to_pylist() if value]
    seconds = [value for value in cost if value is not None]
    if seconds:
        longest = f"longest run {format_duration(max(seconds))}"
        peak = f", {format_bytes(max(memory))} of memory" if memory else ""
        lines.append(("Cost", f"{format_duration(sum(seconds))} of simulation, {longest}{peak}"))
        if phases := _phases(results):
            lines.append(("Phases", phases))
    lines.append(("Results", f"{results.folder}"))
    if next_command:
        lines.append(("Next", next_command))
    for heading, text in lines:
        # Never broken or cut, so that paths and commands can be copied.
        console.print(Text.assemble((f"{heading:<9}", "dim"), text), soft_wrap=True)


def _phases(results: Results) -> str:
    """The share of each phase in the time of all runs; empty where it was not measured."""
    from resilver.words import percent

    sums = {
        phase: sum(value or 0.0 for value in results.runs[f"{phase}_seconds"].to_pylist())
        for phase in SIMULATED_PHASES
    }
    total = sum(sums.values())
    if not total:
        return ""
    return ", ".join(f"{name} {percent(part / total)}" for name, part in sums.items() if part)
