"""What an entry of the catalog says: published numbers, pictures, and conclusions in words."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from resilver.errors import Problem
from resilver.reproduce.words import unit_words

PREDICTED, CONSTRUCTED, CHECK, GOAL, MEASURED = KINDS = (
    "predicted",
    "by construction",
    "own check",
    "goal",
    "measured",
)
"""What a compared number is: published and not used by the model; published and put in, or fitted
to it; held to a closed form or oracle of ours; an aim of ours; compared with nothing."""

RELATIONS = ("", "at least", "at most")
"""How ours relates to the number it is judged by: as near as the tolerance, or on one side."""


@dataclass(frozen=True)
class Published:
    """A number of ours, its kind, and what it is judged by.

    A line of an entry's ``published.csv``; what a line leaves empty is None, or as here.

    Args:
        key: Its name among those of its entry.
        what: What it is, in words.
        select: How ours is computed, as DuckDB writes an aggregate, in SI units.
        table: The table or view that it is computed from.
        condition: Which of the table's rows; empty for all.
        kind: One of `KINDS`.
        unit: The unit of `paper`, `expected`, `low` and `high`; empty for a ratio.
        figure: The figure or table it belongs to; may be empty.
        source: Where the source has it, or what an own check follows from.
        paper: The published number that ours is judged by; None where there is none.
        expected: Of an own check, what ours should be.
        relation: One of `RELATIONS`, to `paper` or `expected`.
        within: How far from `paper` or `expected` ours may be, as a share of it.
        why: Why the tolerance is what it is.
        put_in: Of a number by construction, the input that it is, or that was fitted to it.
        low: The least allowed, as a number or in SQL over the same rows; None for no limit. Of a
            published number, what the source says in words.
        high: The most allowed.
    """

    key: str
    what: str
    select: str
    kind: str = MEASURED
    table: str = "runs"
    condition: str = ""
    unit: str = ""
    figure: str = ""
    source: str = ""
    paper: float | None = None
    expected: float | None = None
    relation: str = ""
    within: float | None = None
    why: str = ""
    put_in: str = ""
    low: float | str | None = None
    high: float | str | None = None

    @property
    def allowed(self) -> tuple[float | str | None, float | str | None]:
        """The least and the most that is allowed; of a published number, around that number.

        >>> Published("r", "Rate", "max(r)", paper=98.0, relation="at least", within=0.5).allowed
        (49.0, None)
        """
        about = self.expected if self.paper is None else self.paper
        if about is None or self.within is None:
            return self.low, self.high
        reach = self.within * abs(about)
        return (
            None if self.relation == "at most" else about - reach,
            None if self.relation == "at least" else about + reach,
        )

    def broken_rule(self) -> Problem | None:
        """The first rule of its kind that it breaks.

        >>> Published("r", "Rate", "max(r)", "predicted", source="IV", paper=1.0).broken_rule().rule
        'a number to compare with has a tolerance'
        """
        about = self.expected if self.paper is None else self.paper
        is_judged = about is not None or self.low is not None or self.high is not None
        is_published = self.kind in (PREDICTED, CONSTRUCTED)
        kinds, relations = ", ".join(KINDS), "at least, at most, or nothing"
        rules = (
            (self.kind in KINDS, "kind", "every number has a kind", f"give one of {kinds}"),
            (self.relation in RELATIONS, "relation", "there are two", f"give {relations}"),
            (
                bool(self.source or self.figure) or not is_published,
                *("source", "a published number has its place", "give section, figure or table"),
            ),
            (
                self.paper is None or is_published or self.kind == GOAL,
                *("paper", "own checks and measurements have no published number", "leave it out"),
            ),
            (
                self.expected is None or self.kind == CHECK,
                *("expected", "own checks alone expect a value of ours", "leave it out"),
            ),
            (
                (about is None) == (self.within is None),
                *("within", "a number to compare with has a tolerance", "give it"),
            ),
            (
                about is None or (self.low is None and self.high is None),
                *("low", "limits of ours judge no known number", "leave low and high out"),
            ),
            (
                bool(self.why) or not (is_published and is_judged),
                *("why", "a tolerance has a reason", "say what it follows from"),
            ),
            (
                bool(self.put_in) == (self.kind == CONSTRUCTED),
                *("put_in", "numbers by construction name their input, no others do", "see kind"),
            ),
            (
                is_judged == (self.kind != MEASURED),
                *("kind", "what is measured is judged by nothing, all else is", "give another"),
            ),
        )
        return next((Problem(rule, fix, key) for kept, key, rule, fix in rules if not kept), None)

    @property
    def query(self) -> str:
        """How ours is computed.

        >>> Published("r", "Rate", "median(rate)", condition="servers = 4").query
        'SELECT median(rate) FROM runs WHERE servers = 4'
        """
        return self.asking(self.select)

    def without(self, keys: Collection[str]) -> Published:
        """The same over the rows of every value of some keys of the study.

        >>> number = Published("r", "Rate", "max(r)", condition="servers = 4 AND copies = 2")
        >>> number.without(["cluster.servers"]).condition
        'copies = 2'
        """
        names = [key.rpartition(".")[2] for key in keys]
        terms = self.condition.split(" AND ")
        kept = [one for one in terms if not any(re.search(rf"\b{n}\b", one) for n in names)]
        return replace(self, condition=" AND ".join(kept))

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

    @property
    def numbered(self) -> str:
        """The figures that it answers to, before a heading."""
        return f"{' and '.join(self.figures)}. " if self.figures else ""

    @property
    def heading(self) -> str:
        """The figures that it answers to, and what is drawn."""
        return f"{self.numbered}{self.title}"


@dataclass(frozen=True)
class Conclusion:
    """Something that a source concludes in words, and the numbers of ours that decide it.

    Args:
        claim: What it says, in our words.
        where: Where it says so.
        rests_on: The numbers, each as ``entry/key``; the predicted ones decide, the rest inform.
        why: Why it holds, or does not, as far as ours can tell.
    """

    claim: str
    where: str
    rests_on: tuple[str, ...]
    why: str = ""
