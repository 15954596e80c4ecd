"""Figures with their derivations as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from resilver.quantities import daily, duration
from resilver.tables import Table, cell_text, table

if TYPE_CHECKING:
    from resilver.center.figures import Figure

_KINDS = {"bytes": "TB", "rate": "TB/s"}
"""How figures are shown: sizes and rates in decimal units, as they are bought."""


def figure_words(figure: Figure) -> str:
    """A figure's value for people."""
    if figure.kind == "seconds":
        return duration(figure.value)
    if figure.kind == "daily":
        return daily(figure.value)
    if figure.kind == "share":
        return f"{100 * figure.value:.3g} %"
    return cell_text(figure.value, _KINDS.get(figure.kind, figure.kind))


def figures_table(figures: Sequence[Figure]) -> Table:
    """Figures with their derivations, a row each."""
    return table(
        ("figure", "figure", "text", [one.what for one in figures]),
        ("value", "value", "text", [figure_words(one) for one in figures]),
        ("derivation", "derivation", "text", [one.derivation for one in figures]),
        ("si_value", "in SI units", "number", [one.value for one in figures]),
    )
