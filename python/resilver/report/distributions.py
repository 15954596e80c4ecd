"""Histograms of a run: how long requests take, how far packets go, how busy channels are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from resilver.charts.idioms import coloured, columns, lines
from resilver.charts.scales import log_ticks, time_scale
from resilver.charts.style import BLUE, DASHES, GREEN, ORANGE, VERMILLION
from resilver.charts.vega import READ, UPRIGHT, Chart, Spec, axis, lines_up, rows
from resilver.report.arrays import Floats, column, rows_of_run
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns
from resilver.tables import table, table_of
from resilver.units import format_duration
from resilver.words import percent, plural

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


def histogram(results: StudyTables, point: SystemRuns, quantity: str) -> Histogram:
    """One histogram of the system's median run, empty where it has none.

    Args:
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


_TAIL = 0.0005
"""Of delays, the share at either end that gets no room: one early request would take half of it."""
_DELAY_COLOURS = {"reads": BLUE, "writes": ORANGE}
_QUANTILES = ((0.5, "half"), (0.99, "99 %"))


def delays(results: StudyTables, point: SystemRuns) -> Chart | None:
    """How long reads and writes take; None where no request completed."""
    found = [
        (kind, histogram(results, point, f"{kind}_delay_seconds")) for kind in ("read", "write")
    ]
    kinds = [(f"{kind}s", one) for kind, one in found if one.total]
    if not kinds:
        return None
    words = "; ".join(
        f"half of the {name} take at most {format_duration(one.quantile(0.5))}, 1 in 100 more than "
        f"{format_duration(one.quantile(0.99))}"
        for name, one in kinds
    )
    bins = [
        (name, float(low), float(high), int(count), float(share))
        for name, one in kinds
        for low, high, count, share in zip(one.low, one.high, one.count, one.share, strict=True)
        if count
    ]
    return Chart(
        "delays",
        words[0].upper() + words[1:],
        "From the first issue of a request to its completion, attempts that were lost included: "
        "the share of the reads and of the writes that took so long, each of the two adding up to "
        "100 %. Half of the requests lie left of the dashed line and 99 % left of the dotted one.",
        lambda: _delays_spec(kinds),
        table_of(
            bins,
            ("kind", "requests", "text"),
            ("low_seconds", "from", "seconds"),
            ("high_seconds", "to", "seconds"),
            ("requests", "requests", "count"),
            ("share", "share", "share"),
        ),
        "requests by delay",
    )


def _delays_spec(kinds: list[tuple[str, Histogram]]) -> Spec:
    """Histograms over a logarithmic axis, with the middle and the 99th percentile."""
    low = min(max(one.quantile(_TAIL), 1e-12) for _, one in kinds) / 1.15
    high = max(one.quantile(1.0 - _TAIL) for _, one in kinds) * 1.15
    high = max(high, low * 1.5)
    time = time_scale(high / 2.0)
    edges = np.geomspace(low, high, BINS_DRAWN + 1)
    shares = [100.0 * by_ratios(one, edges) for _, one in kinds]
    data = rows(
        kind=[name for name, _ in kinds for _ in edges],
        x=np.tile(edges / time.divisor, len(kinds)),
        y=np.concatenate([np.append(one, one[-1:]) for one in shares]),
    )
    named = {name: _DELAY_COLOURS[name] for name, _ in kinds}
    over = []
    for rank, (share, words) in enumerate(_QUANTILES, 1):
        places = [one.quantile(share) for _, one in kinds]
        found = rows(
            kind=list(named),
            x=[at / time.divisor for at in places],
            text=[
                f"{words} of {name} below {format_duration(at)}"
                for name, at in zip(named, places, strict=True)
            ],
        )
        mark = {"type": "rule", "strokeDash": DASHES[rank], "strokeWidth": 1.75}
        over.append({"data": found, **coloured(mark, named, **UPRIGHT, tooltip=READ)})
    ends = (low / time.divisor, high / time.divisor)
    inside = [at for at in log_ticks(*ends) if ends[0] <= at <= ends[1]]
    given = inside if len(inside) > 1 else None
    across = axis("x", f"delay ({time.unit}), logarithmic", ends=ends, log=10, ticks=given)
    upwards = axis("y", "share of the requests (%)")
    step = "step-after"
    return lines(
        data, across, upwards, named, steps=step, filled=True, dashes=(), width=1.5,
        height=290, over=over,
    )  # fmt: skip


def hops(results: StudyTables, point: SystemRuns) -> Chart | None:
    """How far packets go; None where nobody counts."""
    one = histogram(results, point, "hops")
    if not one.total:
        return None
    seen = one.count > 0.0
    values, counts, shares = one.low[seen], one.count[seen], one.share[seen]
    # A bin of whole numbers may be given by its value alone or up to the next one.
    mean = float((one.low * one.count).sum()) / one.total

    def make() -> Spec:
        ends = (float(values.min()) - 0.7, float(values.max()) + 0.7)
        across = axis("x", "hops of a delivered packet", ends=ends, form=",d", tickMinStep=1)
        upwards = axis("y", "share of the packets (%)")
        return columns(rows(x=values, y=100.0 * shares), across, upwards, wide=0.8, height=230)

    return Chart(
        "hops",
        f"A packet takes {mean:,.2f} hops on average, the farthest "
        f"{plural(int(values[-1]), 'hop')}",
        "A hop is one channel crossed: from a router over two switches to a disk there are three.",
        make,
        table(
            ("hops", "hops", "count", values),
            ("packets", "packets delivered", "count", counts),
            ("share", "share", "share", shares),
        ),
        "packets by number of hops",
        is_for_experts=True,
    )


def channels(results: StudyTables, point: SystemRuns) -> Chart | None:
    """How busy the channels are; None where the network has none that are told apart."""
    one = histogram(results, point, "channel_busy_fraction")
    if not one.total:
        return None
    above = one.share_above(0.5)
    many = f"{percent(above)} of the channels are" if above else "No channel is"

    def make() -> Spec:
        xs = 100.0 * np.append(one.low[:1], one.high)
        ys = 100.0 * np.append(0.0, np.cumsum(one.share))
        last = float(xs[np.flatnonzero(one.count)[-1] + 1])
        across = axis("x", "busy share of the time (%)", ends=(0.0, min(102.0, 1.05 * last)))
        upwards = axis("y", "channels as busy or less (%)", ends=(0.0, 102.0))
        mean = lines_up([100.0 * one.mean], VERMILLION)
        return lines(rows(x=xs, y=ys), across, upwards, GREEN, width=2.25, cut=True, over=mean)

    return Chart(
        "channels",
        f"{many} busy more than half of the time; the median one {percent(one.quantile(0.5))}, the "
        f"busiest tenth more than {percent(one.quantile(0.9))}",
        "A channel is one direction of a link. The curve says which share of all channels is busy "
        "so much of the time or less; where it is steep, many are equally busy. The dashed line is "
        "their mean.",
        make,
        table(
            ("low_share", "busy from", "share", one.low),
            ("high_share", "to", "share", one.high),
            ("channels", "channels", "count", one.count),
            ("at_most", "as busy or less", "share", np.cumsum(one.share)),
        ),
        "channels by busy share",
        is_for_experts=True,
    )
