"""One chart of a report: its finding, its words, its numbers, and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resilver.report.tables import Table

if TYPE_CHECKING:
    import matplotlib.figure
    from plotly.graph_objects import Figure


@dataclass(frozen=True, eq=False)
class Chart:
    """One chart, not drawn yet.

    Args:
        name: What it is called in addresses and file names: letters and hyphens.
        heading: What to see in it, as a sentence without its full stop.
        description: What is drawn, for the caption and for those who cannot see it.
        data: The numbers.
        draw: Makes the Plotly figure.
        table: The same numbers in rows.
        table_title: What the table holds; empty for a chart that the page has a title for.
        static: Draws it into an empty matplotlib figure; None for a chart that the module of
            static charts knows by the type of its numbers.
        inches: Width and height of the static figure, where `static` is given.
        whole: Instead of `static`, makes the static figure with its title, where it is a figure
            that is drawn elsewhere as well.
    """

    name: str
    heading: str
    description: str
    data: object
    draw: Callable[[], Figure]
    table: Table
    table_title: str = ""
    static: Callable[[matplotlib.figure.Figure], None] | None = None
    inches: tuple[float, float] = (3.5, 2.5)
    whole: Callable[[], matplotlib.figure.Figure] | None = None
