"""The key figures of a study, for the terminal and for the head of the page."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np

from resilver.report.charts_data import server_chart
from resilver.report.findings import largest_over_mean, nothing_rebuilt
from resilver.report.source import ResultsLike, SystemRuns, largest, number, serves_only, systems
from resilver.report.traffic import traffic_figures
from resilver.report.words import against, percent, size_of
from resilver.units import format_duration, format_rate


@dataclass(frozen=True)
class KeyFigure:
    """One number worth knowing.

    Args:
        label: What it is, in a few words.
        value: The number in the SI unit `unit`.
        unit: "s", "B/s", "B", "1" (a ratio), "share", "hops" or the noun of a count.
        text: The number for people.
        detail: Its spread or context; may be empty.
    """

    label: str
    value: float
    unit: str
    text: str
    detail: str = ""


CODED_FIGURES = (
    ("rebuild_p50_seconds", "Half of the bytes after", "s"),
    ("rebuild_p99_seconds", "99 of 100 bytes after", "s"),
    ("gathered_bytes", "Gathered to decode", "B"),
    ("decoded_bytes", "Decoded", "B"),
    ("network_bytes", "Sent over the network", "B"),
)
"""What a rebuild moves beside what it makes: column, label and unit."""


def key_figures(results: ResultsLike, system: SystemRuns | None = None) -> list[KeyFigure]:
    """The key figures of one system: medians over its seeds.

    Args:
        results: The study's results.
        system: Which system; the largest swept one by default.

    Returns:
        The figures that the system has, most important first.

    Raises:
        ConfigError: There is no finished run.
    """
    point = system or largest(systems(results))
    if serves_only(point.rows):
        served = [_median(point, *one) for one in traffic_figures(point)]
        return [figure for figure in served if figure is not None]
    figures = [
        _median(point, "rebuild_seconds", "Rebuild time", "s"),
        _lost(point),
        _median(point, "aggregate_bytes_per_second", "Rebuild rate", "B/s"),
        _median(point, "rebuilt_bytes", "Data rebuilt", "B"),
        _median(point, "rebuilt_pieces", "Replicas rebuilt", "replicas"),
        _redundant(point),
        _groups(point),
        _spread(results, point),
    ]
    figures += [
        _median(point, *one) for one in CODED_FIGURES if any(number(r, one[0]) for r in point.rows)
    ]
    for name, label in (
        ("unreachable_objects", "Out of the network's reach"),
        ("undersized_replicas", "Replicas without a new home"),
        ("returned_pieces", "Came back with their parts"),
        ("remapped_bytes", "Moved though not lost"),
    ):
        unit = {"_bytes": "B", "pieces": "replicas"}.get(name[-6:], "objects")
        figure = _median(point, name, label, unit)
        if figure is not None and any(number(row, name) for row in point.rows):
            figures.append(figure)
    figures += [_median(point, *one) for one in traffic_figures(point)]
    return [figure for figure in figures if figure is not None]


def summary(results: ResultsLike) -> list[tuple[str, str]]:
    """The key figures of the largest system as (label, value) pairs of words.

    Args:
        results: The study's results.

    Returns:
        Pairs such as ("Rebuild time", "5.2 h (5.1 h to 5.4 h)").

    Raises:
        ConfigError: There is no finished run.
    """
    return [
        (figure.label, f"{figure.text} ({figure.detail})" if figure.detail else figure.text)
        for figure in key_figures(results)
    ]


def _words(value: float, unit: str) -> str:
    """A number of one of the units of `KeyFigure` for people."""
    if unit == "s":
        return format_duration(value)
    if unit == "B/s":
        return format_rate(value)
    if unit == "B":
        return size_of(value)
    if unit == "share":
        return percent(value)
    if unit == "hops":
        return f"{value:,.2f}"
    return f"{value:,.0f}"


def _median(point: SystemRuns, name: str, label: str, unit: str) -> KeyFigure | None:
    """The median of a metric over the seeds, with its range; None where no run has it."""
    values = [value for row in point.rows if (value := number(row, name)) is not None]
    if not values:
        return None
    middle = float(statistics.median(values))
    text = _words(middle, unit)
    low, high = _words(min(values), unit), _words(max(values), unit)
    return KeyFigure(label, middle, unit, text, "" if low == high else f"{low} to {high}")


def _lost(point: SystemRuns) -> KeyFigure | None:
    """Objects of which too little is left, and their bytes; None if no run lost any."""
    figure = _median(point, "unrecoverable_objects", "Objects lost for good", "objects")
    if figure is None or not any(number(row, "unrecoverable_objects") for row in point.rows):
        return None
    volume = _median(point, "unrecoverable_bytes", "", "B")
    words = [figure.detail, volume.text if volume is not None else ""]
    detail = "; ".join(word for word in words if word)
    return KeyFigure(figure.label, figure.value, figure.unit, figure.text, detail)


def _redundant(point: SystemRuns) -> KeyFigure | None:
    """When the first object had all its copies again, and when the last had."""
    first = _median(point, "first_redundant_seconds", "First object whole again", "s")
    if first is None:
        return None
    last = _median(point, "last_redundant_seconds", "", "s")
    detail = f"the last after {last.text}" if last is not None else ""
    return KeyFigure(first.label, first.value, first.unit, first.text, detail)


def _groups(point: SystemRuns) -> KeyFigure | None:
    """How many placement groups had a replica on what failed, of how many."""
    figure = _median(point, "placement_groups_affected", "Groups affected", "groups")
    total = number(point.median, "placement_groups")
    if figure is None or not total:
        return None
    share = percent(figure.value / total)
    detail = f"{share} of {total:,.0f}"
    return KeyFigure(figure.label, figure.value, figure.unit, figure.text, detail)


def _spread(results: ResultsLike, point: SystemRuns) -> KeyFigure | None:
    """What the server rebuilds that rebuilds most, against the mean, in the median run."""
    if nothing_rebuilt(point) is not None:
        return None
    chart = server_chart(results, point)
    ratio = largest_over_mean(np.nan_to_num(chart.rebuilt_bytes))
    if not np.isfinite(ratio):
        return None
    words, _, _ = against(ratio, "|").partition(" |")
    if words == "equal to":
        return KeyFigure("Most for one server", ratio, "1", "even", "all rebuild equally much")
    detail = "the mean server's bytes"
    if words.endswith(" above"):
        words, detail = f"+{words.removesuffix(' above')}", f"over {detail}"
    return KeyFigure("Most for one server", ratio, "1", words, detail)
