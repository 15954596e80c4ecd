"""What `resilver durability` prints of its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from resilver.cli.console import output
from resilver.cli.tables import print_figures, print_turned
from resilver.data_loss.answer import Durabilities, Durability
from resilver.report.durability import tables
from resilver.report.durability.sentences import answer_sentences, compared_sentences
from resilver.tables import Table, cell_text

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS, _SYSTEMS, _TURNED = 24, 40, 8
_BETWEEN = 3
"""Blanks between two columns."""
_WIDE = 80


def print_durability(found: Durability | Durabilities) -> None:
    """Print an answer: its sentences, then the figures behind them.

    Args:
        found: The answer for one system or several.
    """
    if isinstance(found, Durability):
        _print_one(found)
    else:
        _print_several(found)


def _print_one(found: Durability) -> None:
    _print_sentences(answer_sentences(found))
    figures = tables.answer_table(found)
    is_sure = not any(row[2] for row in figures.rows)
    if not is_sure:
        print_figures("In numbers", figures, 3)
    if len(tables.cause_names((found,))) > 1:
        print_figures("What loses data", tables.causes_table((found,)), tables.CAUSE_WORDS)
    if found.bursts is not None and found.bursts.num_rows:
        _print_bursts(found.bursts)
    if found.sensitivity is not None and found.sensitivity.num_rows:
        made = tables.sensitivity_table(found.sensitivity)
        is_sampled = any(row[2] for row in made.rows)
        columns = tables.SENSITIVITY_WORDS - (not is_sampled)
        print_figures("What matters most", made, columns)
    _print_basis(tables.premises_table(found.premises), found.notes)


def _print_bursts(bursts: pa.Table) -> None:
    """How likely failures at one moment lose data, as many columns as the window has room for."""
    grid = tables.bursts_grid(bursts)
    if grid is None:
        most = max(bursts["failures"].to_pylist())
        output().print(Text(f"No burst of up to {most} failures at one moment loses data."))
        return
    first = 1
    while first < len(grid.columns):
        chosen = [0, *range(first, len(grid.columns))]
        part = _columns_of(grid, chosen)
        chosen = chosen[: max(2, _fitting(part, len(chosen)))]
        title = "Data lost by failures at once" if first == 1 else ""
        print_figures(title, _columns_of(grid, chosen), len(chosen), _ROWS)
        first = chosen[-1] + 1
    output().print(Text(grid.note, "dim"))


def _columns_of(made: Table, chosen: Sequence[int]) -> Table:
    rows = [[row[at] for at in chosen] for row in made.rows]
    return Table(tuple(made.columns[at] for at in chosen), rows)


def _print_several(found: Durabilities) -> None:
    _print_sentences(compared_sentences(found))
    made = tables.compared_table(found.systems)
    count = tables.compared_words(made)
    fitting = _fitting(made, count)
    names = [column.name for column in made.columns[:count]]
    if "interval" in names[fitting:] and len(made.rows) <= _TURNED:
        # No simulated figure without its interval: then systems stand side by side.
        print_turned(_columns_of(made, range(count)))
    else:
        print_figures("Side by side", made, fitting, _SYSTEMS)
    if made.note:
        output().print(Text(made.note, "dim"))
    notes = list(dict.fromkeys(note for one in found.systems for note in one.notes))
    _print_basis(tables.premises_table(tables.shared_premises(found.systems)), notes)


def _print_sentences(said: Sequence[str]) -> None:
    for rank, text in enumerate(said):
        output().print(Text(text, "" if rank else "bold"))


def _print_basis(premises: Table, notes: Sequence[str]) -> None:
    if premises.rows:
        columns = tables.PREMISE_WORDS if output().width >= _WIDE else tables.PREMISE_WORDS - 1
        print_figures("What this rests on", premises, columns)
    for text in notes:
        output().print(Text(text, "dim"))


def _fitting(made: Table, most: int) -> int:
    """How many of a table's first columns the window has room for."""
    left = output().width
    for rank, column in enumerate(made.columns[:most]):
        words = [cell_text(row[rank], column.kind) for row in made.rows]
        left -= max(map(len, [column.heading, *words])) + _BETWEEN
        if left < 0:
            return max(1, rank)
    return most
