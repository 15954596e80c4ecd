"""An answer in a terminal: its verdict, its notes, and its tables as far as they have room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from resilver.answer.model import Answer, Lines, Section, Shown
from resilver.charts.chart import Chart
from resilver.tables import Column, Table, cell_text

_GAP = 3
"""Blanks between columns."""
_WORD_MAX = 24
"""Letters of a word, such as an address, that a line may break."""
_SHORT = 16
"""Letters of a text that stays on one line, such as `10 min 20 s`."""


def print_answer(answer: Answer, console: Console) -> None:
    """Print an answer: the verdict, what it rests on, its tables and its lines to copy.

    Args:
        answer: The answer.
        console: Where to.
    """
    print_said(answer.verdict, console)
    for text in answer.notes:
        console.print(Text(text, "dim"))
    for section in (*answer.sections, Section("", answer.basis)):
        if section.printed:
            console.print()
            print_said([f"{section.heading}:", *section.texts], console)
        for part in section.parts:
            if isinstance(part, Lines):
                print_lines(part, console)
            elif part.printed and part.table.rows:
                print_table(part if isinstance(part, Shown) else _table_of(part), console)


def _table_of(chart: Chart) -> Shown:
    """The table of a chart, which says the same."""
    title, columns, printed = chart.table_title, chart.columns, chart.printed
    return Shown(chart.name, title, chart.table, columns, printed=printed)


def print_said(said: Sequence[str], console: Console) -> None:
    """Print sentences, of which the first one is the answer.

    Args:
        said: The sentences.
        console: Where to.
    """
    for rank, text in enumerate(said):
        console.print(Text(text, "" if rank else "bold"))


def print_lines(part: Lines, console: Console) -> None:
    """Print lines to copy, each whole on a line of its own; nothing where there are none.

    Args:
        part: The lines.
        console: Where to.
    """
    if not part.lines or part.printed == 0:
        return
    _print_title(f"{part.title}:", console)
    for line in part.lines[: part.printed]:
        console.print(Text(f"  {line}"), soft_wrap=True)
    _print_more(len(part.lines), part.printed, "the page and --json have all", console)


def print_table(part: Shown, console: Console) -> None:
    """Print a table: the rows that it may have, and the columns that there is room for.

    No word and no number is broken. Columns without room are left out from the last on, and named,
    or stand below the others.

    Args:
        part: The table.
        console: Where to.
    """
    read, splits = part.read(), part.is_split or part.is_turned
    made = Table(read.columns, read.rows[: part.printed], read.note)
    made = _turned(made) if part.is_turned else made
    lines = [
        [cell_text(cell, column.kind) for cell, column in zip(row, made.columns, strict=True)]
        for row in made.rows
    ]
    _print_title(part.title, console)
    left = list(range(len(made.columns)))
    while left:
        widths = _widths(
            [made.columns[at] for at in left],
            [[line[at] for at in left] for line in lines],
            console.width,
            splits,
        )
        _print_columns(made, lines, left, widths, console)
        left = left[len(widths) :]
        if left and not splits:
            named = ", ".join(made.columns[at].heading for at in left)
            console.print(Text(f"Not shown: {named}; --json has all.", "dim"))
            break
        if left:
            console.print()
            left = [0, *left]
    _print_more(len(read.rows), part.printed, "--json has all", console)
    if read.note:
        console.print(Text(read.note, "dim"))


def _print_columns(
    table: Table,
    lines: Sequence[Sequence[str]],
    columns: Sequence[int],
    widths: Sequence[int],
    console: Console,
) -> None:
    """Print the first columns of these, as many as have a width."""
    shown = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for at, width in zip(columns, widths, strict=False):
        column = table.columns[at]
        # An address that is longer than a column may be is cut in two rather than off.
        justify: Literal["left", "right"] = "left" if _is_text(column) else "right"
        shown.add_column(Text(column.heading), justify=justify, overflow="fold", width=width)
    for line in lines:
        shown.add_row(*(Text(line[at]) for at in columns[: len(widths)]))
    console.print(shown)


def _turned(table: Table) -> Table:
    """A table with a column a row: the cells of the first column are the headings."""
    first, *others = table.columns
    heads = [cell_text(row[0], first.kind) for row in table.rows]
    columns = (Column("name", "", "text"), *(Column("value", head, "text") for head in heads))
    rows = [
        [column.heading, *(cell_text(row[at], column.kind) for row in table.rows)]
        for at, column in enumerate(others, 1)
    ]
    return Table(columns, rows, table.note)


def _is_text(column: Column) -> bool:
    """Whether a column holds words rather than numbers."""
    return column.kind == "text" and column.name != "value"


def _print_title(title: str, console: Console) -> None:
    console.print()
    console.print(Text(title, "bold"))


def _print_more(count: int, printed: int | None, where: str, console: Console) -> None:
    """Say how many there are beyond those printed."""
    if printed is not None and count > printed:
        console.print(Text(f"... and {count - printed:,} more; {where}", "dim"))


def _widths(
    columns: Sequence[Column], lines: Sequence[Sequence[str]], room: int, splits: bool
) -> list[int]:
    """The widths of the first columns, as many as there is room for.

    Each has the room of its longest word at least, and a short text that of all its words; what is
    left goes to those that want more, in equal parts.
    """
    whole = _WORD_MAX if splits else _SHORT
    ranges = []
    for at, column in enumerate(columns):
        cells = [line[at] for line in lines]
        words = [*column.heading.split()]
        for cell in cells:
            words += [cell] if not _is_text(column) or cell_len(cell) <= whole else cell.split()
        least = max(map(cell_len, words), default=1)
        most = max(map(cell_len, (column.heading, *cells)))
        ranges.append((min(least, _WORD_MAX) if _is_text(column) else least, max(least, most)))
    # A split table repeats its first column, so that one beside it gets there.
    while len(ranges) > 1 + splits and sum(least + _GAP for least, _ in ranges) - _GAP > room:
        ranges.pop()
    widths = [least for least, _ in ranges]
    left = room - sum(least + _GAP for least in widths) + _GAP
    rising = sorted(range(len(ranges)), key=lambda at: ranges[at][1] - ranges[at][0])
    for rank, at in enumerate(rising):
        more = min(ranges[at][1] - widths[at], left // (len(rising) - rank))
        widths[at], left = widths[at] + max(more, 0), left - max(more, 0)
    return [min(width, room) for width in widths]
