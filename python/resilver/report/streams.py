"""What streams of whole stripes got beside what the analytic model expects, whole and by group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver.report.charts_data import Floats, column, rows_of_run
from resilver.report.source import ResultsLike, SystemRuns, number
from resilver.report.tables import Column, Table
from resilver.report.words import against, listed, plural
from resilver.units import format_rate

KINDS = ("read", "write", "rebuild", "burst")
NOUNS = {"read": "reads", "write": "writes", "rebuild": "rebuilds", "burst": "bursts"}


@dataclass(frozen=True)
class StreamRate:
    """One kind of stream.

    Args:
        kind: One of `KINDS`.
        bytes_per_second: What it got; of rebuilds the bytes of strips made anew.
        analytic_bytes_per_second: What the analytic model expects; None where it says nothing.
    """

    kind: str
    bytes_per_second: float
    analytic_bytes_per_second: float | None


@dataclass(frozen=True, eq=False)
class GroupRates:
    """What each group of servers got, one entry a group.

    Args:
        group: Its number.
        rebuilding: Whether it rebuilds.
        ports_working: How many of its ports work.
        rates: For each kind with any, bytes a second.
        mean_delay_seconds: The mean delay of its stripe operations; NaN where there are none.
    """

    group: Floats
    rebuilding: npt.NDArray[np.bool_]
    ports_working: Floats
    rates: dict[str, Floats]
    mean_delay_seconds: Floats

    def shown(self) -> list[tuple[str, Floats]]:
        """The rates that are drawn: a group that does not rebuild has no mark at zero for it."""
        return [
            (kind, np.where(values > 0.0, values, np.nan) if kind == "rebuild" else values)
            for kind, values in self.rates.items()
        ]


@dataclass(frozen=True, eq=False)
class StreamsChart:
    """The streams of one run.

    Args:
        rates: The kinds that got anything or were expected to.
        groups: The same by group; None where the streams do not go over groups.
    """

    rates: tuple[StreamRate, ...]
    groups: GroupRates | None


def streams_chart(results: ResultsLike, point: SystemRuns) -> StreamsChart | None:
    """The streams of the system's median run.

    Args:
        results: The study's results.
        point: The system.

    Returns:
        The numbers; None where it has no streams.
    """
    row = point.median
    groups = _groups(results, str(row["run"]))
    expected = {kind: number(row, f"analytic_{kind}_bytes_per_second") for kind in KINDS}
    if groups is None and not any(value is not None for value in expected.values()):
        return None
    rates = tuple(
        StreamRate(kind, got or 0.0, expected[kind] or None)
        for kind in KINDS
        if (got := number(row, f"{kind}_bytes_per_second")) or expected[kind]
    )
    return StreamsChart(rates, groups) if rates else None


def _groups(results: ResultsLike, run: str) -> GroupRates | None:
    table = rows_of_run(results.stripe_groups, run)
    if not table.num_rows:
        return None
    rates = {kind: np.nan_to_num(column(table, f"{kind}_bytes_per_second")) for kind in KINDS}
    return GroupRates(
        group=column(table, "group"),
        rebuilding=np.array(table["is_rebuilding"].to_pylist(), dtype=bool),
        ports_working=column(table, "ports_working"),
        rates={kind: values for kind, values in rates.items() if values.any()},
        mean_delay_seconds=column(table, "mean_delay_seconds"),
    )


def streams_finding(made: StreamsChart) -> str:
    """What each kind got, against the analytic model where it says anything.

    Args:
        made: The streams.
    """
    parts = []
    for one in made.rates:
        text = f"{NOUNS[one.kind]} get {format_rate(one.bytes_per_second)}"
        if one.analytic_bytes_per_second:
            ratio = one.bytes_per_second / one.analytic_bytes_per_second
            text += f", {against(ratio, 'the analytic rate')}"
        parts.append(text)
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}"


def streams_text(made: StreamsChart) -> str:
    """What is drawn, for the caption.

    Args:
        made: The streams.
    """
    text = (
        "User data of completed stripe operations a second, and bytes of strips made anew by "
        "rebuilds."
    )
    if any(one.analytic_bytes_per_second for one in made.rates):
        text += (
            " The upright mark at a bar is what the analytic model expects, in which the "
            "servers' own ports are the only limit."
        )
    if made.groups is not None:
        count = int(made.groups.rebuilding.sum())
        text += " Below, the same by group of servers"
        names = [f"{at:.0f}" for at in made.groups.group[made.groups.rebuilding]]
        text += (
            f"; a ring is around the {plural(count, 'group')} that rebuild"
            f"{'s' if count == 1 else ''}: {listed(names)}."
            if count
            else "."
        )
    return text


def streams_table(made: StreamsChart) -> Table:
    """A row a kind, and one a group and kind.

    Args:
        made: The streams.
    """
    columns = (
        Column("kind", "kind", "text"),
        Column("group", "group", "text"),
        Column("bytes_per_second", "simulated", "rate"),
        Column("analytic_bytes_per_second", "analytic", "rate"),
        Column("of_analytic", "simulated over analytic", "share"),
        Column("ports_working", "ports that work", "count"),
        Column("mean_delay_seconds", "mean delay", "seconds"),
        Column("state", "state", "text"),
    )
    rows: list[tuple[str | float | int | None, ...]] = []
    for one in made.rates:
        expected = one.analytic_bytes_per_second
        share = one.bytes_per_second / expected if expected else None
        rows.append((NOUNS[one.kind], "all", one.bytes_per_second, expected, share, None, None, ""))
    if (groups := made.groups) is not None:
        for kind, rates in groups.rates.items():
            for rank in range(groups.group.size):
                rows.append(
                    (
                        NOUNS[kind],
                        f"{groups.group[rank]:.0f}",
                        float(rates[rank]),
                        None,
                        None,
                        int(groups.ports_working[rank]),
                        float(groups.mean_delay_seconds[rank]),
                        "rebuilds" if groups.rebuilding[rank] else "",
                    )
                )
    return Table(columns, rows)
