"""Histograms of a run: how long requests take, how far packets go, how busy channels are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from resilver.report.charts_data import Floats, column, rows_of_run
from resilver.report.source import ResultsLike, SystemRuns
from resilver.report.tables import Column, Table
from resilver.report.words import percent, plural
from resilver.units import format_duration

BINS_DRAWN = 72
"""Bins of a drawn histogram of delays: finer ones would show the draws of one seed."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many of a quantity lie in each bin, from `low` to below `high`, bins rising.

    Args:
        low: The lower end of each bin.
        high: The upper end of each bin; the lower one again for a bin of one value.
        count: How many lie in it.
    """

    low: Floats
    high: Floats
    count: Floats

    @property
    def total(self) -> float:
        """How many there are in all."""
        return float(self.count.sum())

    @property
    def share(self) -> Floats:
        """The share of all that each bin holds."""
        return self.count / self.total if self.total else self.count

    @property
    def mean(self) -> float:
        """The mean, as if all in a bin lay in its middle; NaN for none."""
        middles = (self.low + self.high) / 2.0
        return float((middles * self.count).sum()) / self.total if self.total else float("nan")

    def quantile(self, share: float) -> float:
        """The value below which this share lies, linear within a bin; NaN for none.

        >>> ten = Histogram(np.array([0.0, 1.0]), np.array([1.0, 3.0]), np.array([5.0, 5.0]))
        >>> ten.quantile(0.5), ten.quantile(0.75)
        (1.0, 2.0)
        """
        if not self.total:
            return float("nan")
        below = np.concatenate(([0.0], np.cumsum(self.count)))
        at = min(int(np.searchsorted(below[1:], share * self.total)), self.count.size - 1)
        within = (share * self.total - below[at]) / self.count[at] if self.count[at] else 1.0
        return float(self.low[at] + within * (self.high[at] - self.low[at]))

    def share_above(self, value: float) -> float:
        """The share that lies above a value, linear within a bin.

        >>> Histogram(np.array([0.0]), np.array([1.0]), np.array([4.0])).share_above(0.25)
        0.75
        """
        width = np.maximum(self.high - self.low, np.finfo(float).tiny)
        part = np.clip((self.high - value) / width, 0.0, 1.0)
        return float((self.share * part).sum())


@dataclass(frozen=True, eq=False)
class Delays:
    """How long the requests of one run took.

    Args:
        reads: Delays of the reads, in seconds.
        writes: Delays of the writes, in seconds.
    """

    reads: Histogram
    writes: Histogram

    @property
    def kinds(self) -> list[tuple[str, Histogram]]:
        """Those of the two that happened, by name."""
        both = (("reads", self.reads), ("writes", self.writes))
        return [(name, one) for name, one in both if one.total]


@dataclass(frozen=True, eq=False)
class Hops:
    """How many channels the delivered packets of one run crossed."""

    histogram: Histogram


@dataclass(frozen=True, eq=False)
class ChannelsBusy:
    """What share of the time the channels of one run were sending."""

    histogram: Histogram


def histogram(results: ResultsLike, point: SystemRuns, quantity: str) -> Histogram:
    """One histogram of the system's median run, empty where it has none.

    Args:
        results: The study's results.
        point: The system.
        quantity: The name in the column `quantity`.
    """
    import pyarrow.compute as pc

    table = rows_of_run(results.distributions, point.median["run"])
    table = table.filter(pc.equal(table["quantity"], quantity))
    low, high, count = (column(table, name) for name in ("low", "high", "count"))
    order = np.argsort(low, kind="stable")
    return Histogram(low[order], high[order], count[order])


def by_ratios(one: Histogram, edges: Floats) -> Floats:
    """The share of all that lies between each two edges, spread within a bin by equal ratios.

    Args:
        one: A histogram of values above zero.
        edges: Edges in equal ratios.

    Returns:
        One share fewer than there are edges.

    >>> from_1_to_4 = Histogram(np.array([1.0]), np.array([4.0]), np.array([6.0]))
    >>> by_ratios(from_1_to_4, np.array([1.0, 2.0, 4.0])).round(9).tolist()
    [0.5, 0.5]
    """
    least = edges[0] / 2.0
    # Both ends of every bin, so that the curve is flat over bins that the table leaves out.
    at = np.log(np.maximum(np.stack([one.low, one.high], axis=1).ravel(), least))
    up_to = np.cumsum(one.share)
    reached = np.stack([up_to - one.share, up_to], axis=1).ravel()
    return np.diff(np.interp(np.log(edges), at, reached))


def delays_finding(data: Delays) -> str:
    """How long reads and writes take: the middle one, and 1 in 100.

    Args:
        data: The histograms, at least one of them with something in it.
    """
    words = [
        f"half of the {name} take at most {format_duration(one.quantile(0.5))}, 1 in 100 more than "
        f"{format_duration(one.quantile(0.99))}"
        for name, one in data.kinds
    ]
    text = "; ".join(words)
    return text[0].upper() + text[1:]


def hops_finding(data: Hops) -> str:
    """The mean number of hops and the most.

    Args:
        data: The histogram.
    """
    one = data.histogram
    most = int(one.low[np.flatnonzero(one.count)[-1]])
    # A bin of whole numbers may be given by its value alone or up to the next one.
    mean = float((one.low * one.count).sum()) / one.total
    return f"A packet takes {mean:,.2f} hops on average, the farthest {plural(most, 'hop')}"


def channels_finding(data: ChannelsBusy) -> str:
    """How busy the middle channel and the busiest tenth are, and how many are half busy.

    Args:
        data: The histogram.
    """
    one = data.histogram
    above = one.share_above(0.5)
    many = f"{percent(above)} of the channels are" if above else "No channel is"
    return (
        f"{many} busy more than half of the time; the "
        f"median one {percent(one.quantile(0.5))}, the busiest tenth more than "
        f"{percent(one.quantile(0.9))}"
    )


def delays_table(data: Delays) -> Table:
    """One row a bin that holds a read or a write.

    Args:
        data: The histograms.
    """
    columns = (
        Column("kind", "requests", "text"),
        Column("low_seconds", "from", "seconds"),
        Column("high_seconds", "to", "seconds"),
        Column("requests", "requests", "count"),
        Column("share", "share", "share"),
    )
    rows = [
        (name, float(low), float(high), int(count), float(share))
        for name, one in data.kinds
        for low, high, count, share in zip(one.low, one.high, one.count, one.share, strict=True)
        if count
    ]
    return Table(columns, rows)


def hops_table(data: Hops) -> Table:
    """One row a number of hops.

    Args:
        data: The histogram.
    """
    columns = (
        Column("hops", "hops", "count"),
        Column("packets", "packets delivered", "count"),
        Column("share", "share", "share"),
    )
    one = data.histogram
    rows = [
        (int(low), int(count), float(share))
        for low, count, share in zip(one.low, one.count, one.share, strict=True)
        if count
    ]
    return Table(columns, rows)


def channels_table(data: ChannelsBusy) -> Table:
    """One row a bin of busy shares.

    Args:
        data: The histogram.
    """
    columns = (
        Column("low_share", "busy from", "share"),
        Column("high_share", "to", "share"),
        Column("channels", "channels", "count"),
        Column("at_most", "as busy or less", "share"),
    )
    one = data.histogram
    rows = [
        (float(low), float(high), int(count), float(below))
        for low, high, count, below in zip(
            one.low, one.high, one.count, np.cumsum(one.share), strict=True
        )
    ]
    return Table(columns, rows)
