"""Figures of outcomes in words: cells of tables, and the tiles above an answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from resilver.answer import KeyFigure
from resilver.quantities import duration
from resilver.report.whatif.source import Facts
from resilver.tables import cell_text
from resilver.whatif.figures import BY_KEY

if TYPE_CHECKING:
    from resilver.whatif.answer import Outcome

    Column = tuple[str, str, str, Sequence[Any]]

_KINDS = {"peak_share": "fill"}


def figure_words(key: str, value: Any, facts: Facts | None = None, pool: int | None = None) -> str:
    """A figure for people; a time is `none` where nothing was, and `never` where it has no end.

    Args:
        key: Its key in `resilver.whatif.figures`.
        facts: The answer's facts, which tell a run that was cut short from one without an end.
        pool: Of which pool it is; None for all.
    """
    figure = BY_KEY[key]
    if figure.unit != "seconds":
        return cell_text(value, _KINDS.get(key, figure.unit))
    if value is not None and (value or key == "p99_seconds"):
        return duration(value)
    if figure.table == "osds":
        return "never" if value is None else "at the start"
    if value is not None:
        return "always" if key == "whole_seconds" else "none"
    if key == "p99_seconds":
        return "not served"
    if facts is not None and not facts.has_no_end(pool):
        return f"over {duration(facts.answer.end_seconds)}"
    return "never" if key == "whole_seconds" else "never ends"


def outcome_columns(
    keys: Iterable[str], outcomes: Sequence[Outcome | None], after: str = ""
) -> list[Column]:
    """Columns of figures, an outcome a row.

    Args:
        keys: The keys of the figures.
        outcomes: What came of each; None where there is nothing.
        after: What stands behind each heading.
    """
    made: list[Column] = []
    for key in keys:
        name, kind = f"{key}{after}", _KINDS.get(key, BY_KEY[key].unit)
        values = [one and getattr(one, key) for one in outcomes]
        if kind == "seconds":
            words = [one and figure_words(key, getattr(one, key)) for one in outcomes]
            name, kind, values = name.replace("_seconds", "_words"), "text", words
        made.append((name, f"{BY_KEY[key].heading} {after}".strip(), kind, values))
    return made


def key_figure(facts: Facts, key: str, detail: str = "") -> KeyFigure:
    """A figure of an answer as a tile."""
    value, figure = getattr(facts.answer.outcome, key), BY_KEY[key]
    number = math.inf if value is None else float(value)
    unit = {"seconds": "s", "bytes": "B", "count": "PGs"}.get(figure.unit, "share")
    return KeyFigure(figure.label, number, unit, figure_words(key, value, facts), detail)
