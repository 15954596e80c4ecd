"""What an entry of the catalog says: published numbers, pictures, and conclusions in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from resilver.reproduce.words import unit_words


@dataclass(frozen=True)
class Published:
    """A number to be reproduced, where it stands, and the band that ours must lie in.

    A line of an entry's ``published.csv``; what a line leaves empty is None, or as here.

    Args:
        key: Its name among those of its entry.
        what: What it is, in words.
        select: How ours is computed, as DuckDB writes an aggregate, in SI units.
        table: The table or view that it is computed from.
        condition: Which of the table's rows; empty for all.
        unit: The unit of `paper`, `low` and `high`; empty for a ratio.
        figure: The figure or table it belongs to; may be empty.
        source: Where the source has it; may be empty.
        paper: The published number; None where there is none.
        low: The least that holds, as a number or in SQL over the same rows; None for no limit.
        high: The most that holds.
        within: Instead: how far from `paper` ours may be, as a share of it.
        claim: Whether the band is what the source says, not what this project promises: outside of
            it, ours differs, and nothing fails.
    """

    key: str
    what: str
    select: str
    table: str = "runs"
    condition: str = ""
    unit: str = ""
    figure: str = ""
    source: str = ""
    paper: float | None = None
    low: float | str | None = None
    high: float | str | None = None
    within: float | None = None
    claim: bool = False

    @property
    def query(self) -> str:
        """How ours is computed.

        >>> Published("r", "Rate", "median(rate)", condition="servers = 4").query
        'SELECT median(rate) FROM runs WHERE servers = 4'
        """
        return self.asking(self.select)

    def asking(self, columns: str) -> str:
        """A query of other columns over the same rows."""
        which = f" WHERE {self.condition}" if self.condition else ""
        return f"SELECT {columns} FROM {self.table}{which}"


@dataclass(frozen=True)
class Axis:
    """An axis of a picture.

    Args:
        title: What is along it.
        unit: The unit that it is marked in; empty for a count or a ratio.
        logarithmic: Whether equal ratios are equally far apart.
    """

    title: str = ""
    unit: str = ""
    logarithmic: bool = False

    @property
    def label(self) -> str:
        """The title with the unit.

        >>> Axis("rate", "GB/s").label, Axis("links").label
        ('rate (GB/s)', 'links')
        """
        return f"{self.title} ({unit_words(self.unit)})" if self.unit else self.title


@dataclass(frozen=True)
class PictureSpec:
    """One picture of an entry.

    Args:
        name: What its file is called.
        draw: "rate", "curve", "histogram", "bars", "cumulative", "parallel", or a chart of one
            run: "transfers", "servers", "finish".
        title: What is drawn.
        figures: The figures of the source that it answers to.
        query: What is drawn, in SI units, by the place of its columns: of bars a row a run with
            group, series (may be left out) and height; of a curve a row a run with line (may be
            left out), place across, height and what a formula expects of it (may be left out); of
            a histogram panel, least size of the bin, number and volume; of a cumulative one line,
            size and how many; of parallel coordinates line, axis and value. Lines, groups and
            axes come in the order of the rows.
        x: The axis across; of a curve its unit may be "bytes", "ms" or "%" too.
        y: The axis upwards.
        stars: Published numbers to draw beside ours: of a curve and a rate, the place across by
            their key (``entry/key`` if of another entry); of parallel coordinates by line, the key
            for each axis, empty for none.
        ideal: Of a rate: whether to draw the line from the smallest system.
        series: Of a rate: entries, with the names of their boxes.
        servers: Of one run: the size whose slowest run is drawn.
        level_name: What the level of 1 of parallel coordinates is, or what a curve expects.
    """

    name: str
    draw: str
    title: str
    figures: tuple[str, ...] = ()
    query: str = ""
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    stars: Mapping[str, Any] = field(default_factory=dict)
    ideal: bool = False
    series: Mapping[str, str] = field(default_factory=dict)
    servers: int = 0
    level_name: str = ""


@dataclass(frozen=True)
class Conclusion:
    """Something that a source concludes in words, and the numbers of ours that decide it.

    Args:
        claim: What it says, in our words.
        where: Where it says so.
        rests_on: The numbers, each as ``entry/key``; those with a band decide, the rest inform.
        why: Why it holds, or does not, as far as ours can tell.
    """

    claim: str
    where: str
    rests_on: tuple[str, ...]
    why: str = ""
