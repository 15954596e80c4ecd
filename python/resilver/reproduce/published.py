"""What an entry of the catalog says: published numbers, pictures, and conclusions in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Published:
    """A number to be reproduced, where it stands, and the band that ours must lie in.

    Args:
        key: Its name among those of its entry.
        what: What it is, in words.
        metric: The column of the rows that holds ours.
        unit: The unit of `paper`, `low` and `high`; empty for a ratio.
        figure: The figure or table it belongs to; may be empty.
        where: Where the source has it; may be empty.
        paper: The published number; None where there is none.
        low: The least that holds; None for no limit.
        high: The most that holds; None for no limit.
        within: Instead: how far from `paper` ours may be, as a share of it.
        mean: Instead, with `deviation`: the expectation of one run, for a mean of several.
        deviation: The standard deviation of one run.
        statistic: How rows become one number: "median", "mean", "max", "min", "sum", "spread"
            (largest over smallest median of the groups of `spread_over`), "fullest" (the metric
            where the column `of` is greatest), "rank_correlation" (Spearman's, of the groups'
            medians of the metric and of the column `of`), "least_rank_correlation" (the least of
            the groups' own, each over its rows), "order" (the least ratio of a member of
            one of `groups` to a member of the next, by medians of the metric, or of its ratio to
            that at `over_at`), or "greatest_ratio" and
            "least_ratio" (of every group's runs to the runs of the same group and seed at
            `over_at`, medians over seeds).
        at: The columns that choose the rows; of a list, any of its values does.
        besides: The columns that leave rows out.
        above: Columns that must be above a number.
        over: The entry whose number, of the same metric at the same place, ours is divided by.
        over_at: Instead: the columns that choose this entry's rows to divide by.
        over_metric: Instead: the metric of the same rows to divide by.
        ideal_from: Instead: divide by the line through this number of servers.
        spread_over: The column that makes groups.
        of: The column that "fullest" and "rank_correlation" look at.
        groups: Of "order": values of `spread_over`, the best group first.
        claim: Whether the band is what the source says, not what this project promises: outside of
            it, ours differs, and nothing fails.
    """

    key: str
    what: str
    metric: str
    unit: str = ""
    figure: str = ""
    where: str = ""
    paper: float | None = None
    low: float | None = None
    high: float | None = None
    within: float | None = None
    mean: float | None = None
    deviation: float | None = None
    statistic: str = "median"
    at: Mapping[str, Any] = field(default_factory=dict)
    over: str = ""
    over_at: Mapping[str, Any] = field(default_factory=dict)
    over_metric: str = ""
    ideal_from: int | None = None
    spread_over: str = ""
    of: str = ""
    groups: tuple[tuple[str, ...], ...] = ()
    besides: Mapping[str, Any] = field(default_factory=dict)
    above: Mapping[str, float] = field(default_factory=dict)
    claim: bool = False


@dataclass(frozen=True)
class PictureSpec:
    """One picture of an entry.

    Args:
        name: What its file is called.
        draw: "rate", "curve", "histogram", "bars", "cumulative", "parallel", or a chart of one
            run: "transfers", "servers", "finish".
        title: What is drawn.
        figure: The figure of the source that it answers to; may be empty.
        also: Further figures that it covers.
        ideal: Of a rate: whether to draw the line from the smallest system.
        series: Of a rate: entries, with the names of their boxes.
        servers: Of one run: the size whose slowest run is drawn.
        x, x_unit, x_title: Of a curve: the column across, "bytes", "count", "ms" or "%", and its
            title; of bars the column that groups them; of a cumulative one unit and title alone.
        x_linear: Of a curve: whether the axis across is linear and not logarithmic.
        each: Of a curve: the column whose every value makes a point, at medians of `x` and `y`; by
            default `x` itself.
        y, y_unit, y_title, y_logarithmic: Of a curve and bars: the column upwards.
        by, names: Of a curve, bars and a cumulative one: the column that parts its series, and what
            their values are called.
        at: Of the same: the columns that choose the rows, as in `Published`.
        change_from: Of bars: the columns that choose the run of the same group and seed from which
            the change is drawn, in per cent.
        quantity: Of a cumulative one: which distribution.
        count, volume: Of a histogram: the columns of counts and of bytes.
        axes, lines: Of parallel coordinates, see `resilver.reproduce.parallels`.
        expected: Of a curve: the column of what a formula expects of `y`, drawn as a line without
            marks, at medians over all series.
        level, level_name: Of parallel coordinates: a value in SI units to draw across, and what it
            is; of a curve the name alone, of the line of `expected`.
    """

    name: str
    draw: str
    title: str
    figure: str = ""
    also: tuple[str, ...] = ()
    ideal: bool = False
    series: Mapping[str, str] = field(default_factory=dict)
    servers: int = 0
    x: str = ""
    x_unit: str = "count"
    x_title: str = ""
    x_linear: bool = False
    each: str = ""
    y: str = ""
    y_unit: str = ""
    y_title: str = ""
    y_logarithmic: bool = False
    by: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    count: str = ""
    volume: str = ""
    at: Mapping[str, Any] = field(default_factory=dict)
    change_from: Mapping[str, Any] = field(default_factory=dict)
    quantity: str = ""
    axes: tuple[Mapping[str, Any], ...] = ()
    lines: tuple[Mapping[str, Any], ...] = ()
    expected: str = ""
    level: float = 1.0
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


def matches(row: Mapping[str, Any], at: Mapping[str, Any]) -> bool:
    """Whether a row is at a place; of a list of values, any will do.

    >>> matches({"case": "none", "seed": 1}, {"case": ["none", "4 disks"]})
    True
    """
    return all(
        row.get(key) in value if isinstance(value, list) else row.get(key) == value
        for key, value in at.items()
    )
