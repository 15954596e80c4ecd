"""What each chart shows, said in a sentence that is computed from its data."""

from __future__ import annotations

import numpy as np

from resilver.report.charts_data import (
    BoxSummary,
    Floats,
    RateChart,
    ServerChart,
    TimelineChart,
    descending,
)
from resilver.report.chord import Flows
from resilver.report.metrics import REBUILD_RATE
from resilver.report.source import SystemRuns, number
from resilver.report.words import against, percent, plural, size_of
from resilver.units import format_duration, format_rate

_SAME = 1.02
"""Medians within this factor are called the same: few seeds differ by as much by chance."""


def rate_finding(chart: RateChart) -> str:
    """How the metric changes over the swept axis, and its share of the ideal where it has one.

    Args:
        chart: The boxes, at least one.
    """
    boxes = [box for series in chart.series for box in series.boxes]
    if len(boxes) == 1:
        return _one_rate(boxes[0]) if chart.metric is REBUILD_RATE else _one_value(chart)
    noun, words = chart.metric.noun, chart.metric.words
    subject = noun[0].upper() + noun[1:]
    best = max(boxes, key=lambda box: box.median)
    if len(chart.series) > 1:
        worst = min(boxes, key=lambda box: box.median)
        named = [
            f"{words(box.median)}, at {box.label} with {series.name}"
            for box in (best, worst)
            for series in chart.series
            if any(box is one for one in series.boxes)
        ]
        if best.median <= _SAME * worst.median:
            return f"{subject} hardly changes over the sweep: about {words(best.median)}"
        return f"{subject} is highest, {named[0]}, and lowest, {named[1]}"
    first, last = boxes[0], boxes[-1]
    if chart.ideal is not None:
        share = last.median / float(chart.ideal[1][-1])
        verb = "grows" if last.median > first.median else "falls"
        return (
            f"{subject} {verb} to {words(last.median)} at {last.label} servers, "
            f"{percent(share)} of ideal"
        )
    worst = min(boxes, key=lambda box: box.median)
    if best.median <= _SAME * worst.median:
        return f"{chart.key} hardly changes the {noun}: about {words(best.median)}"
    return (
        f"{subject} is highest, {words(best.median)}, at {chart.key} = {best.label}, and "
        f"lowest, {words(worst.median)}, at {worst.label}"
    )


def _one_value(chart: RateChart) -> str:
    """A metric of a study of one system."""
    box, metric = chart.series[0].boxes[0], chart.metric
    text = f"The {metric.noun} is {metric.words(box.median)}"
    if box.values.size == 1:
        return f"{text} (one seed)"
    low, high = metric.words(float(box.values[0])), metric.words(float(box.values[-1]))
    return f"{text}; its {box.values.size} seeds lie between {low} and {high}"


def _one_rate(box: BoxSummary) -> str:
    """The rate of a study of one system."""
    if box.values.size == 1:
        return f"The system rebuilds at {format_rate(box.median)} (one seed)"
    return (
        f"The system rebuilds at {format_rate(box.median)}; its {box.values.size} seeds lie "
        f"between {format_rate(box.values[0])} and {format_rate(box.values[-1])}"
    )


def servers_finding(chart: ServerChart) -> str:
    """How unevenly the rebuilt replicas fall on the survivors."""
    objects = chart.rebuilt_objects
    top = int(descending(objects)[0])
    idle = int(np.count_nonzero(objects == 0))
    mean = float(objects.mean())
    text = f"{chart.names[top]} rebuilds {plural(float(objects[top]), 'replica')}"
    # A mean of half a replica must not be called 0.
    mean_text = f"{mean:,.0f}" if mean == round(mean) or mean > 10 else f"{mean:,.1f}"
    text += f", {against(float(objects[top]) / mean, f'the mean of {mean_text}')}"
    if chart.groups is not None:
        text += f", from {plural(float(chart.groups[top]), 'group')}"
    if idle:
        text += f"; {idle:,} of {len(objects):,} survivors rebuild nothing"
    return text


def finish_finding(chart: ServerChart) -> str:
    """Who finishes last, and how much later than half of those that rebuild."""
    finish = chart.finish_seconds
    if np.isnan(finish).all():
        return "No server rebuilt anything"
    last = int(np.nanargmax(finish))
    text = f"{chart.names[last]} finishes last, at {format_duration(float(finish[last]))}"
    if np.count_nonzero(~np.isnan(finish)) < 2:
        return text + ": it is the only server that rebuilds"
    return text + f"; half of them are done at {format_duration(float(np.nanmedian(finish)))}"


def transfers_finding(flow: Flows) -> str:
    """Which arc receives most, and over how many pairs of servers the rebuild spreads."""
    total = float(flow.matrix.sum())
    if total <= 0.0:
        return "No server sent anything"
    top = int(np.argmax(flow.received))
    return (
        f"{flow.labels[top]} receives most, {percent(float(flow.received[top]) / total)} of all "
        f"bytes; {plural(flow.pairs, 'pair')} of servers exchange {size_of(total)}"
    )


def timeline_finding(chart: TimelineChart) -> str:
    """When half of the data is back, and how long the last tenth takes."""
    if float(chart.rebuilt_bytes.sum()) <= 0.0:
        return "Nothing was written"
    half, most, end = (chart.seconds_until(share) for share in (0.5, 0.9, 1.0))
    tail = (end - most) / end if end > 0.0 else 0.0
    return (
        f"Half of the data is back after {format_duration(half)}; the last tenth takes "
        f"{percent(tail)} of the {format_duration(end)}"
    )


def busy_finding(chart: ServerChart) -> str:
    """How busy the devices and links are, and which binds."""
    device, link = chart.device_share, chart.link_share
    if np.isnan(device).all():
        return "The results do not say how busy the devices were"
    top = int(np.nanargmax(device))
    text = (
        f"Devices are busy {percent(float(np.nanmean(device)))} of the {chart.share_of} on "
        f"average; the busiest, {chart.names[top]}'s, {percent(float(device[top]))}"
    )
    if not np.isnan(link).all():
        text += f", the busiest link {percent(float(np.nanmax(link)))}"
    return text


def nothing_rebuilt(point: SystemRuns) -> str | None:
    """Why a system's median run rebuilt nothing, or None if it did rebuild."""
    row = point.median
    if (number(row, "rebuilt_objects") or 0.0) > 0.0:
        return None
    seed = row["seed"]
    if not row.get("failed_servers") and number(row, "population_objects"):
        return f"Nothing was rebuilt (seed {seed}): nothing fails in this study."
    failed = row.get("failed_servers") or "the failed server"
    if not number(row, "population_objects"):
        return f"Nothing was rebuilt (seed {seed}): the system stores no objects."
    if lost := number(row, "unrecoverable_objects"):
        return (
            f"Nothing was rebuilt (seed {seed}): {failed} took every copy of "
            f"{plural(lost, 'object')} along, so no survivor could send them."
        )
    if number(row, "returned_pieces"):
        return (
            f"Nothing was rebuilt (seed {seed}): {failed} came back before any of what it held "
            "was made anew."
        )
    if undersized := number(row, "undersized_replicas"):
        return (
            f"Nothing was rebuilt (seed {seed}): {plural(undersized, 'lost replica')} found no "
            "device that may hold them, because too few failure domains are left."
        )
    return f"Nothing was rebuilt (seed {seed}): {failed} held no replica of any object."


def largest_over_mean(values: Floats) -> float:
    """The largest value over the mean: 1 for an even spread; NaN where the mean is 0."""
    mean = float(np.mean(values)) if values.size else 0.0
    return float(np.max(values)) / mean if mean > 0.0 else float("nan")


def losses(point: SystemRuns) -> str | None:
    """What a system lost for good, said over its seeds; None if no run lost anything.

    Args:
        point: The system.
    """
    objects = [number(row, "unrecoverable_objects") or 0.0 for row in point.rows]
    if not any(objects):
        return None
    rows = list(zip(objects, point.rows, strict=True))
    most, worst = max(rows, key=lambda item: item[0])
    volume = number(worst, "unrecoverable_bytes")
    what = plural(most, "object") + (f" ({size_of(volume)})" if volume is not None else "")
    if len(rows) == 1:
        one, it = ("is", "it") if most == 1.0 else ("are", "them")
        return f"{what} {one} lost for good: too little of {it} is left."
    hit = sum(count > 0.0 for count in objects)
    many = "each" if hit == len(rows) else f"{hit:,} of {len(rows):,} seeds"
    least = min(objects)
    spread = f"up to {what}" if least < most else what
    where = f"in {many}" if many != "each" else f"in each of {len(rows):,} seeds"
    return f"Objects are lost for good {where}: {spread}, of which too little is left."
