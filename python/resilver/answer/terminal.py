"""An answer in a terminal: its verdict, its notes, and its tables as far as they have room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from resilver.answer.model import Answer, Figures, Lines, Section, Shown, turned
from resilver.charts.vega import Chart
from resilver.tables import Column, Table, cell_text

_GAP = 3
"""Blanks between columns."""
_WORD_MAX = 24
"""Letters of a word, such as an address, that a line may break."""
_SHORT = 16
"""Letters of a text that stays on one line, such as `10 min 20 s`."""
_KEY_MAX = 36
"""Letters of what a row is of that stay on one line."""
_TEXT_MAX = 100
"""Columns of a paragraph; longer lines are hard to read."""


def print_answer(answer: Answer, console: Console) -> None:
    """Print an answer: the verdict, what it rests on, its tables and its lines to copy."""
    print_said(answer.said, console)
    for text in answer.notes:
        _print_text(text, "dim", console)
    for section in (*answer.sections, Section("", answer.basis)):
        if section.case not in (None, answer.chosen):
            continue
        if section.printed:
            console.print()
            print_said([f"{section.heading}:", *section.texts], console)
        for part in section.parts:
            if isinstance(part, Lines):
                print_lines(part, console)
            elif isinstance(part, Figures):
                _print_figures(part, console)
            elif part.printed and part.table.rows:
                print_table(part if isinstance(part, Shown) else _table_of(part), console)


def _table_of(chart: Chart) -> Shown:
    """The table of a chart, which says the same."""
    title, columns, printed = chart.table_title, chart.columns, chart.printed
    return Shown(chart.name, title, chart.table, columns, printed=printed)


def print_said(said: Sequence[str], console: Console) -> None:
    """Print sentences, of which the first one is the answer."""
    for rank, text in enumerate(said):
        _print_text(text, "" if rank else "bold", console)


def _print_text(text: str, style: str, console: Console) -> None:
    console.print(Text(text, style), width=min(console.width, _TEXT_MAX))


def _print_figures(part: Figures, console: Console) -> None:
    """Print a line a number; where that has no room, its words below each other."""
    if not part.figures:
        return
    _print_title(part.title, console)
    rows = [(one.label, one.text, one.detail) for one in part.figures]
    first, second, third = (max(map(cell_len, cells)) for cells in zip(*rows, strict=True))
    if first + second + 4 + min(third, _WORD_MAX) > console.width:
        for label, text, detail in rows:
            _print_text(f"{label}: {text}{f' ({detail})' if detail else ''}", "", console)
        return
    shown = RichTable.grid(padding=(0, 2, 0, 0))
    shown.add_column(style="dim", no_wrap=True)
    shown.add_column(style="bold", no_wrap=True)
    shown.add_column()
    for row in rows:
        shown.add_row(*map(Text, row))
    console.print(shown)


def print_lines(part: Lines, console: Console) -> None:
    """Print lines to copy, each whole on a line of its own; nothing where there are none."""
    if not part.lines or part.printed == 0:
        return
    _print_title(f"{part.title}:", console)
    for line in part.lines[: part.printed]:
        console.print(Text(f"  {line}"), soft_wrap=True)
    _print_more(len(part.lines), part.printed, "the page and --json have all", console)


def print_table(part: Shown, console: Console) -> None:
    """Print a table: the rows that it may have, and the columns that there is room for.

    No word and no number is broken. Columns without room are left out, notes first and then from
    the last on, and named, or stand below the others.
    """
    read, splits = part.read(), part.is_split or part.is_turned
    made = Table(read.columns, read.rows[: part.printed], read.note)
    made = turned(made) if part.is_turned else made
    lines = [
        [cell_text(cell, column.kind) for cell, column in zip(row, made.columns, strict=True)]
        for row in made.rows
    ]
    _print_title(part.title, console)
    whole = _WORD_MAX if splits else _SHORT
    ranges = [
        _range(column, [line[at] for line in lines], _KEY_MAX if at < part.keys else whole)
        for at, column in enumerate(made.columns)
    ]
    if splits:
        _print_below(made, lines, ranges, console)
    else:
        _print_beside(made, lines, ranges, part.keys, console)
    _print_more(len(read.rows), part.printed, "--json has all", console)
    if read.note:
        _print_text(read.note, "dim", console)


Range = tuple[int, int]
"""The least width of a column, and that at which none of its cells needs a second line."""


def _needed(ranges: Sequence[Range], columns: Sequence[int]) -> int:
    """The least width of some columns beside each other."""
    return sum(ranges[at][0] + _GAP for at in columns) - _GAP


def _print_below(
    table: Table, lines: Sequence[Sequence[str]], ranges: Sequence[Range], console: Console
) -> None:
    """Print every column; those without room below the others, with the first one again."""
    left = [*range(len(ranges))]
    while left:
        # The first column is repeated, so that one beside it gets there.
        count = next(
            (n for n in range(len(left), 2, -1) if _needed(ranges, left[:n]) <= console.width), 2
        )
        _print_columns(table, lines, left[:count], ranges, console)
        left = [0, *left[count:]] if left[count:] else []
        if left:
            console.print()


def _print_beside(
    table: Table,
    lines: Sequence[Sequence[str]],
    ranges: Sequence[Range],
    keys: int,
    console: Console,
) -> None:
    """Print the columns that there is room for, and name the others; else a paragraph a row."""
    shown = [*range(len(ranges))]
    notes = [at for at in shown if table.columns[at].kind == "note"]
    others = [at for at in shown[max(keys, 1) :] if at not in notes]
    for at in [*reversed(notes), *reversed(others)]:
        if _needed(ranges, shown) > console.width:
            shown.remove(at)
    if others and len(shown) == keys > 0:
        _print_paragraphs(table, lines, keys, console)
        return
    _print_columns(table, lines, shown, ranges, console)
    hidden = [
        column.heading
        for at, column in enumerate(table.columns)
        if at not in shown and column.kind != "note"
    ]
    if hidden:
        _print_text(f"Not shown: {', '.join(hidden)}; --json has all.", "dim", console)


def _print_paragraphs(
    table: Table, lines: Sequence[Sequence[str]], keys: int, console: Console
) -> None:
    """Print a paragraph a row, a line a column."""
    heads = [column.heading for column in table.columns]
    for line in lines:
        named = zip(heads[:keys], line, strict=False)
        _print_text(", ".join(f"{head} {cell}" for head, cell in named), "bold", console)
        for head, cell in zip(heads[keys:], line[keys:], strict=True):
            if cell:
                _print_text(f"  {head}: {cell}", "", console)


def _print_columns(
    table: Table,
    lines: Sequence[Sequence[str]],
    columns: Sequence[int],
    ranges: Sequence[Range],
    console: Console,
) -> None:
    """Print some columns, which share what room is left beyond their least widths."""
    shown = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    widths = _widths([ranges[at] for at in columns], console.width)
    for at, width in zip(columns, widths, strict=True):
        column = table.columns[at]
        # An address that is longer than a column may be is cut in two rather than off.
        justify: Literal["left", "right"] = "left" if _is_text(column) else "right"
        style = "dim" if column.kind == "note" else ""
        shown.add_column(
            Text(column.heading), justify=justify, overflow="fold", width=width, style=style
        )
    for line in lines:
        shown.add_row(*(Text(line[at]) for at in columns))
    console.print(shown)


def _is_text(column: Column) -> bool:
    """Whether a column holds words rather than numbers."""
    return column.kind in ("text", "note") and column.name != "value"


def _breaks(column: Column) -> bool:
    """Whether the cells of a column may take several lines."""
    return _is_text(column) and column.kind != "note"


def _print_title(title: str, console: Console) -> None:
    console.print()
    console.print(Text(title, "bold"))


def _print_more(count: int, printed: int | None, where: str, console: Console) -> None:
    """Say how many there are beyond those printed."""
    if printed is not None and count > printed:
        console.print(Text(f"... and {count - printed:,} more; {where}", "dim"))


def _range(column: Column, cells: Sequence[str], whole: int) -> Range:
    """The least width of a column, which breaks no word, and the width that it wants.

    Args:
        whole: Letters of a text that stays on one line.
    """
    words = [*column.heading.split()]
    for cell in cells:
        words += [cell] if not _breaks(column) or cell_len(cell) <= whole else cell.split()
    least = max(map(cell_len, words), default=1)
    most = max(map(cell_len, (column.heading, *cells)))
    return min(least, max(_WORD_MAX, whole)) if _breaks(column) else least, max(least, most)


def _widths(ranges: Sequence[Range], room: int) -> list[int]:
    """The widths of columns: the least of each, and what is left in equal parts."""
    widths = [least for least, _ in ranges]
    left = room - sum(least + _GAP for least in widths) + _GAP
    rising = sorted(range(len(ranges)), key=lambda at: ranges[at][1] - ranges[at][0])
    for rank, at in enumerate(rising):
        more = min(ranges[at][1] - widths[at], left // (len(rising) - rank))
        widths[at], left = widths[at] + max(more, 0), left - max(more, 0)
    return [min(width, room) for width in widths]
