"""Tables of a report, in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from resilver.cli.console import output

if TYPE_CHECKING:
    from resilver.tables import Table as ReportTable

_NAME_WIDTH = 24


def print_figures(title: str, made: ReportTable, columns: int, rows_max: int = 1000) -> None:
    """Print a table of a report, whose long cells wrap.

    Args:
        title: Its title.
        made: The table.
        columns: How many of its columns.
        rows_max: How many of its rows; how many more there are is said.
    """
    from resilver.tables import cell_text

    shown = Table(box=SIMPLE_HEAD, pad_edge=False, title=Text(title, "bold"), title_justify="left")
    for column in made.columns[:columns]:
        is_number = column.kind != "text" or column.name == "value"
        justify: Literal["left", "right"] = "right" if is_number else "left"
        # A name without a blank is cut in two rather than off.
        shown.add_column(column.heading, justify=justify, overflow="fold")
    for row in made.rows[:rows_max]:
        cells = (
            Text(cell_text(value, column.kind))
            for value, column in zip(row, made.columns[:columns], strict=False)
        )
        shown.add_row(*cells)
    output().print(shown)
    if len(made.rows) > rows_max:
        output().print(Text(f"... and {len(made.rows) - rows_max:,} more; --json has all", "dim"))


def print_turned(made: ReportTable) -> None:
    """A table of a report with its rows side by side, as many as the window has room for."""
    from resilver.tables import cell_text

    console = output()
    side_by_side = max(1, (console.width - _NAME_WIDTH) // _NAME_WIDTH)
    for first in range(0, len(made.rows), side_by_side):
        rows = made.rows[first : first + side_by_side]
        shown = Table(box=SIMPLE_HEAD, pad_edge=False)
        shown.add_column("")
        for row in rows:
            shown.add_column(Text(cell_text(row[0], "text")), justify="right", overflow="fold")
        for rank, column in list(enumerate(made.columns))[1:]:
            cells = (Text(cell_text(row[rank], column.kind)) for row in rows)
            shown.add_row(column.heading, *cells)
        console.print(shown)
