"""One chart of a report: its finding, its words, its table, and the specification that draws it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from resilver.charts.vega import WIDTH, Spec, drawn, finished
from resilver.tables import Table


@dataclass(frozen=True, eq=False)
class Chart:
    """One chart.

    Args:
        name: What it is called in addresses and file names: letters and hyphens.
        heading: What to see in it, as a sentence without its full stop.
        description: What is drawn, for the caption and for those who cannot see it.
        make: Makes its specification, by the conventions of `resilver.charts.vega`.
        table: The same numbers in rows.
        table_title: What the table holds.
        is_for_experts: Whether a page folds it.
        printed: How many rows of its table a terminal shows, which draws nothing.
        columns: How many columns of them; None for all.
    """

    name: str
    heading: str
    description: str
    make: Callable[[], Spec] = field(repr=False)
    table: Table
    table_title: str
    is_for_experts: bool = False
    printed: int = 0
    columns: int | None = None

    def drawn(self, format: str, width: int = WIDTH) -> bytes:
        """The chart as a file's bytes, titled with its finding.

        Args:
            format: "png", "svg" or "pdf".
            width: Its width in pixels.
        """
        return drawn(self.make(), format, self.heading, width)

    def _repr_mimebundle_(self, **_: Any) -> Mapping[str, Any]:
        """How a notebook shows it."""
        made = finished(self.make(), self.heading)
        return {"application/vnd.vegalite.v6+json": made, "image/png": self.drawn("png")}
