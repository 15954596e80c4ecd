"""Columns of the results' tables as arrays, and long courses made short enough to draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resilver.report.faults import fault_seconds

if TYPE_CHECKING:
    import pyarrow as pa

    from resilver.study.system_runs import SystemRuns

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

TIMELINE_INTERVALS_MAX = 400
"""Intervals of a drawn course: more than one for two pixels of a chart on a laptop are wasted."""


def rows_of_run(table: pa.Table, run: str) -> pa.Table:
    """The rows of one run in a table whose column `run` names it."""
    import pyarrow.compute as pc

    return table.filter(pc.equal(table["run"], run))


def column(table: pa.Table, name: str) -> Floats:
    """A column as float64, NaN where it is null or where the table has no such column."""
    if name not in table.column_names:
        return np.full(table.num_rows, np.nan)
    import pyarrow as pa

    filled = table[name].cast(pa.float64()).fill_null(float("nan"))
    return np.asarray(filled.to_numpy(), dtype=np.float64)


def descending(values: Floats) -> Integers:
    """The order from the largest value to the smallest, ties by index, NaN last."""
    return np.argsort(-np.where(np.isnan(values), -np.inf, values), kind="stable")


def moments_within(point: SystemRuns, start: Floats, duration: Floats) -> tuple[float, ...]:
    """The moments of the system's faults that a chart over time can mark.

    Args:
        start: Start of each interval of the chart.
        duration: Length of each interval.
    """
    end = float((start + duration).max()) if start.size else 0.0
    return tuple(seconds for seconds in fault_seconds(point) if seconds <= end)


def intervals_of(
    data: pa.Table, means: Sequence[str] = (), sums: Sequence[str] = ()
) -> tuple[Floats, Floats, list[Floats], list[Floats]]:
    """The intervals of one run's rows of a table over time, few enough to draw; nulls are zero.

    Args:
        means: Columns that are means over an interval.
        sums: Columns that are sums over an interval.

    Returns:
        As `merged_intervals`.
    """
    start, duration = column(data, "start_seconds"), column(data, "duration_seconds")
    both = ([np.nan_to_num(column(data, name)) for name in names] for names in (means, sums))
    return merged_intervals(start, duration, *both)


def merged_intervals(
    start: Floats, duration: Floats, means: list[Floats], sums: list[Floats]
) -> tuple[Floats, Floats, list[Floats], list[Floats]]:
    """Neighbouring intervals put together until there are few enough to draw.

    Args:
        start: Start of each interval.
        duration: Length of each interval.
        means: Quantities that are means over an interval.
        sums: Quantities that are sums over an interval.

    Returns:
        The same four, with at most `TIMELINE_INTERVALS_MAX` intervals.
    """
    if start.size <= TIMELINE_INTERVALS_MAX:
        return start, duration, means, sums
    stride = -(-start.size // TIMELINE_INTERVALS_MAX)
    first = np.arange(0, start.size, stride)
    merged = np.add.reduceat(duration, first)
    areas = [np.add.reduceat(values * duration, first) for values in means]
    return (
        start[first],
        merged,
        [np.divide(a, merged, out=np.zeros_like(a), where=merged > 0.0) for a in areas],
        [np.add.reduceat(values, first) for values in sums],
    )
