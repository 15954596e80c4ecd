"""An answer in a terminal: its verdict, its notes, and its tables as far as they have room."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from resilver.answer.model import Answer, Lines, Shown
from resilver.tables import Table, cell_text

_GAP = 3
"""Blanks between columns."""
_WORD_MAX = 24
"""Letters of a word, such as an address, that a line may break."""


def print_answer(answer: Answer, console: Console) -> None:
    """Print an answer: the verdict, what it rests on, its tables and its lines to copy.

    Args:
        answer: The answer.
        console: Where to.
    """
    print_said(answer.verdict, console)
    for text in answer.notes:
        console.print(Text(text, "dim"))
    for part in answer.parts():
        if isinstance(part, Shown) and part.printed and part.table.rows:
            print_table(part, console)
        elif isinstance(part, Lines):
            print_lines(part, console)


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
    if not part.lines:
        return
    console.print(Text(f"{part.title}:", "bold"))
    for line in part.lines[: part.printed]:
        console.print(Text(f"  {line}"), soft_wrap=True)
    if part.printed is not None and len(part.lines) > part.printed:
        more = len(part.lines) - part.printed
        console.print(Text(f"... and {more:,} more; the page and --json have all", "dim"))


def print_table(part: Shown, console: Console) -> None:
    """Print a table: the rows that it may have, and the columns that there is room for.

    No word and no number is broken. Columns without room are left out from the last on, and named.

    Args:
        part: The table.
        console: Where to.
    """
    made = part.table
    columns = list(range(len(made.columns)))[: part.columns]
    lines = [
        [cell_text(row[at], made.columns[at].kind) for at in columns]
        for row in made.rows[: part.printed]
    ]
    if part.is_turned:
        _print_turned(part.title, made, lines, console)
        return
    widths = [
        _least(made.columns[at].heading, [line[at] for line in lines], made.columns[at].kind)
        for at in columns
    ]
    shown = columns
    while len(shown) > 1 and sum(widths[at] + _GAP for at in shown) > console.width:
        shown = shown[:-1]
    table = _table(part.title)
    for at in shown:
        _add_column(table, made, at, widths[at])
    for line in lines:
        table.add_row(*(Text(line[at]) for at in shown))
    console.print(table)
    left_out = [made.columns[at].heading for at in columns[len(shown) :]]
    if left_out:
        console.print(Text(f"Not shown: {', '.join(left_out)}; --json has all.", "dim"))
    if len(made.rows) > part.printed:
        more = len(made.rows) - part.printed
        console.print(Text(f"... and {more:,} more; --json has all", "dim"))


def _print_turned(
    title: str, made: Table, lines: Sequence[Sequence[str]], console: Console
) -> None:
    """A table with its rows side by side, as many as there is room for."""
    headings = [column.heading for column in made.columns[: len(lines[0])]]
    first = max(map(len, headings)) + _GAP
    widths = [max(max(len(word) for word in " ".join(line).split()), 16) + _GAP for line in lines]
    at = 0
    while at < len(lines):
        end, room = at + 1, console.width - first - widths[at]
        while end < len(lines) and widths[end] <= room:
            room -= widths[end]
            end += 1
        table = _table(title if at == 0 else "")
        table.add_column("")
        for line in lines[at:end]:
            table.add_column(Text(line[0]), justify="right", overflow="fold")
        for row, heading in list(enumerate(headings))[1:]:
            table.add_row(heading, *(Text(line[row]) for line in lines[at:end]))
        console.print(table)
        at = end


def _table(title: str) -> RichTable:
    shown = Text(title, "bold") if title else None
    return RichTable(box=SIMPLE_HEAD, pad_edge=False, title=shown, title_justify="left")


def _add_column(table: RichTable, made: Table, at: int, width: int) -> None:
    column = made.columns[at]
    is_text = column.kind == "text" and column.name != "value"
    # An address that is longer than a column may be is cut in two rather than off.
    table.add_column(
        column.heading,
        justify="left" if is_text else "right",
        overflow="fold",
        min_width=width,
        no_wrap=column.kind != "text",
    )


def _least(heading: str, cells: Sequence[str], kind: str) -> int:
    """The least width of a column: texts wrap between words, and numbers do not."""
    words = [word for text in (heading, *cells) for word in text.split()] or [""]
    longest = max(map(len, words))
    if kind == "text":
        return min(longest, _WORD_MAX)
    return max(longest, *(len(cell) for cell in cells), 1) if cells else longest
