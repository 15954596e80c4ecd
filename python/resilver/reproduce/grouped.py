"""Numbers that compare groups of runs: an order, a rank correlation, ratios to a base case.

A group is the runs that share a value of one column, such as a topology.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from resilver.reproduce.published import Published, matches

Row = Mapping[str, Any]
Rows = Sequence[Row]


def medians(rows: Rows, by: str, metric: str) -> dict[Any, float]:
    """The median of a metric in each group.

    Args:
        rows: The runs.
        by: The column that makes groups.
        metric: The metric; rows without it are left out.

    Returns:
        The median by value of the column, in the order of the rows.

    >>> medians([{"c": "a", "m": 1}, {"c": "b", "m": 5}, {"c": "a", "m": 3}], "c", "m")
    {'a': 2.0, 'b': 5.0}
    """
    groups: dict[Any, list[float]] = {}
    for row in rows:
        value = row.get(metric)
        if isinstance(value, int | float) and math.isfinite(value):
            groups.setdefault(row.get(by), []).append(float(value))
    return {name: float(statistics.median(values)) for name, values in groups.items()}


def paired_ratios(rows: Rows, base: Rows, group: str, metric: str) -> list[float]:
    """Each run's metric over that of the run of the same group and seed in the base case.

    Args:
        rows: The runs.
        base: The runs of the base case.
        group: The column that makes groups.
        metric: The metric.

    Returns:
        A ratio a run that has such a partner, the partner's metric not being zero.
    """
    partners = {(row.get(group), row.get("seed")): row.get(metric) for row in base}
    found = []
    for row in rows:
        above, below = row.get(metric), partners.get((row.get(group), row.get("seed")))
        if isinstance(above, int | float) and isinstance(below, int | float) and below:
            found.append(float(above) / float(below))
    return found


def order(number: Published, chosen: Rows, rows: Rows) -> float | None:
    """The least ratio of a member of one group of values to a member of the next.

    Args:
        number: What is published; its `groups` name values of its `spread_over`. With an
            `over_at`, members are compared by the ratio of their runs to the base case there.
        chosen: The runs at its place.
        rows: All runs, the base case among them.

    Returns:
        The ratio, above 1 where every member is above every member of the next; None where a
        member has no runs.
    """
    found = medians(chosen, number.spread_over, number.metric)
    if number.over_at:
        found = _relative(number, chosen, rows)
    if not all(name in found for members in number.groups for name in members):
        return None
    pairs = zip(number.groups, number.groups[1:], strict=False)
    return min(
        min(found[name] for name in above) / max(found[name] for name in below)
        for above, below in pairs
    )


def _relative(number: Published, chosen: Rows, rows: Rows) -> dict[Any, float]:
    """The median over seeds of each group's ratio to the base case."""
    base = [row for row in rows if matches(row, number.over_at)]
    found = {}
    for name in dict.fromkeys(row.get(number.spread_over) for row in chosen):
        part = [row for row in chosen if row.get(number.spread_over) == name]
        values = paired_ratios(part, base, number.spread_over, number.metric)
        if values:
            found[name] = float(statistics.median(values))
    return found


def rank_correlation(number: Published, chosen: Rows, _rows: Rows) -> float | None:
    """Spearman's rank correlation of the groups' medians of two columns.

    Args:
        number: What is published; its `metric` and `of` are the columns.
        chosen: The runs at its place.

    Returns:
        From -1 to 1; None with fewer than three groups, or where all are equal.
    """
    one = medians(chosen, number.spread_over, number.metric)
    other = medians(chosen, number.spread_over, number.of)
    names = [name for name in one if name in other]
    if len(names) < 3:
        return None
    above = _ranks([one[name] for name in names])
    across = _ranks([other[name] for name in names])
    if len(set(above)) == 1 or len(set(across)) == 1:
        return None
    return statistics.correlation(above, across)


def least_rank_correlation(number: Published, chosen: Rows, _rows: Rows) -> float | None:
    """The least of the groups' own rank correlations of two columns, each over the group's rows.

    Args:
        number: What is published; its `metric` and `of` are the columns.
        chosen: The runs at its place.

    Returns:
        From -1 to 1; None where no group has three runs that differ.
    """
    groups: dict[Any, list[Row]] = {}
    for row in chosen:
        if isinstance(row.get(number.of), int | float):
            groups.setdefault(row.get(number.spread_over), []).append(row)
    found = []
    for part in groups.values():
        above = _ranks([float(row[number.metric]) for row in part])
        across = _ranks([float(row[number.of]) for row in part])
        if len(part) >= 3 and len(set(above)) > 1 and len(set(across)) > 1:
            found.append(statistics.correlation(above, across))
    return min(found, default=None)


def _ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value; equal ones share the mean of theirs."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2
        for value in values
    ]


def greatest_ratio(number: Published, chosen: Rows, rows: Rows) -> float | None:
    """The greatest of the groups' ratios to the base case; see `ratios`."""
    return max(ratios(number, chosen, rows), default=None)


def least_ratio(number: Published, chosen: Rows, rows: Rows) -> float | None:
    """The least of the groups' ratios to the base case; see `ratios`."""
    return min(ratios(number, chosen, rows), default=None)


def ratios(number: Published, chosen: Rows, rows: Rows) -> list[float]:
    """Each group's and case's runs over those of the same group and seed in the base case.

    Args:
        number: What is published: groups by its `spread_over`, the base case at its `over_at`, and
            cases by the columns of `over_at`.
        chosen: The runs at its place.
        rows: All runs, the base case among them.

    Returns:
        The median over the seeds, for each group and case; the base case itself is left out.
    """
    base = [row for row in rows if matches(row, number.over_at)]
    parts: dict[tuple[Any, ...], list[Row]] = {}
    for row in chosen:
        if not matches(row, number.over_at):
            case = (row.get(number.spread_over), *(row.get(key) for key in number.over_at))
            parts.setdefault(case, []).append(row)
    found = [
        paired_ratios(part, base, number.spread_over, number.metric) for part in parts.values()
    ]
    return [statistics.median(values) for values in found if values]


GROUPED: dict[str, Callable[[Published, Rows, Rows], float | None]] = {
    "order": order,
    "rank_correlation": rank_correlation,
    "least_rank_correlation": least_rank_correlation,
    "greatest_ratio": greatest_ratio,
    "least_ratio": least_ratio,
}
"""The statistics of this module, by the names that entries use."""
