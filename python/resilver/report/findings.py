"""The study's answer in sentences: when all data is fully redundant, and what is at risk."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from statistics import fmean

import numpy as np

from resilver.report.arrays import column, rows_of_run
from resilver.report.sweep import SAME
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns, number
from resilver.units import format_duration
from resilver.words import percent, plural, size_of

_TENTH = 10


_NOT_REBUILT = ("unrecoverable_objects", "unreachable_objects", "undersized_replicas")


def nothing_known(point: SystemRuns) -> str:
    """Why there is nothing to rebuild: nothing fails, or nothing is detected."""
    undetected = ("failed_disks", "failed_links", "failed_switches", "failed_parts")
    is_undetected = any(point.median.get(name) for name in undetected)
    return "no failure is detected" if is_undetected else "nothing fails in this study"


def nothing_rebuilt(point: SystemRuns) -> str | None:
    """Why a system's median run rebuilt nothing, or None if it did rebuild."""
    row = point.median
    if (number(row, "rebuilt_objects") or 0.0) > 0.0:
        return None
    start = f"Nothing was rebuilt (seed {row['seed']}):"
    if not row.get("failed_servers") and number(row, "population_objects"):
        return f"{start} {nothing_known(point)}."
    failed = row.get("failed_servers") or "the failed server"
    if not number(row, "population_objects"):
        return f"{start} the system stores no objects."
    if lost := number(row, "unrecoverable_objects"):
        return (
            f"{start} {failed} held every copy of {plural(lost, 'object')}, so no survivor can "
            "send them."
        )
    if number(row, "returned_pieces"):
        return f"{start} {failed} came back before any of its data was rebuilt."
    if undersized := number(row, "undersized_replicas"):
        what = plural(undersized, f"lost {point.piece}")
        verb = "has" if undersized == 1.0 else "have"
        return f"{start} {what} {verb} no target, because too few failure domains are left."
    return f"{start} {failed} held no {point.piece} of any object."


def rebuild_sentence(point: SystemRuns) -> str:
    """When all data is fully redundant, with the range over the seeds; empty without a rebuild.

    Where a run ends with less, it says what is, and what is not.
    """
    known = sorted(point.known("rebuild_seconds"))
    if nothing_rebuilt(point) is not None or not known:
        return ""
    most = {name: max(point.known(name), default=0.0) for name in _NOT_REBUILT}
    what = "What can be rebuilt" if any(most.values()) else "All data"
    text = f"{what} is fully redundant {format_duration(float(np.median(known)))} after the failure"
    if len(known) > 1 and format_duration(known[0]) != format_duration(known[-1]):
        low, high = format_duration(known[0]), format_duration(known[-1])
        text += f" (min {low}, max {high} of {len(known):,} seeds)"
    elif len(known) > 1:
        text += f" (in each of {len(known):,} seeds)"
    if detected := point.known("detection_seconds"):
        time = format_duration(float(np.median(detected)))
        text += f"; detection takes {time}"
    if unreachable := most["unreachable_objects"]:
        text += f"; {plural(unreachable, 'object')} could not be reached"
    if undersized := most["undersized_replicas"]:
        text += f"; {plural(undersized, f'lost {point.piece}')} found no target"
    return f"{text}."


def sweep_sentence(points: list[SystemRuns], level: str = "") -> str:
    """Which system is fully redundant first and which last; empty where there are not two.

    Args:
        level: The level whose parts fail in turn, a system each; empty for another sweep.
    """
    known = [
        (seconds, point)
        for point in points
        if nothing_rebuilt(point) is None
        and (seconds := number(point.median, "rebuild_seconds")) is not None
    ]
    if len(known) < 2:
        return ""
    (least, first), (most, last) = (pick(known, key=lambda one: one[0]) for pick in (min, max))
    if level:
        return (
            f"Of {plural(len(known), level)}, the rebuild takes longest after {last.short_label} "
            f"fails: {format_duration(most)}. It is quickest after {first.short_label}: "
            f"{format_duration(least)}."
        )
    if most <= SAME * least:
        return (
            f"All {len(known):,} systems are fully redundant after about {format_duration(most)}."
        )
    return (
        f"The systems are fully redundant between {format_duration(least)} ({first.label}) and "
        f"{format_duration(most)} ({last.label}) after the failure."
    )


def at_risk(results: StudyTables, point: SystemRuns) -> tuple[str, str]:
    """What is lost, or at the most one failure from it: in few words, and in a sentence."""
    if lost := losses(point):
        most = max(number(row, "unrecoverable_objects") or 0.0 for row in point.rows)
        return f"{plural(most, 'object')} lost", lost
    if number(point.median, "population_objects") is None:
        return "", ""
    data = rows_of_run(results.timeline, point.median["run"])
    if nothing_rebuilt(point) is not None or not data.num_rows:
        return "nothing", ""
    risk = np.nan_to_num(column(data, "at_risk_objects"))
    most = float(risk.max()) if risk.size else 0.0
    if not most:
        return "none", f"No data is lost, and no object is ever {point.last_words}."
    count = plural(most, "object") if most >= 1.0 else "under 1 object"
    verb = "is" if round(most) <= 1 else "are"
    return count, f"No data is lost; up to {count} at a time {verb} {point.last_words}."


def losses(point: SystemRuns) -> str | None:
    """What a system lost for good, said over its seeds; None if no run lost anything."""
    objects = [number(row, "unrecoverable_objects") or 0.0 for row in point.rows]
    if not any(objects):
        return None
    most, worst = max(zip(objects, point.rows, strict=True), key=lambda item: item[0])
    volume = number(worst, "unrecoverable_bytes")
    what = plural(most, "object") + (f" ({size_of(volume)})" if volume is not None else "")
    if len(objects) == 1:
        verb = "is" if most == 1.0 else "are"
        return f"Data loss: {what} {verb} unrecoverable."
    hit = sum(count > 0.0 for count in objects)
    where = (
        f"in each of {hit:,} seeds"
        if hit == len(objects)
        else f"in {hit:,} of {len(objects):,} seeds"
    )
    spread = f"up to {what}" if min(objects) < most else what
    return f"Data loss {where}: {spread}, unrecoverable."


def busiest_words(names: Sequence[str], amounts: Sequence[float]) -> tuple[str, str] | None:
    """Who rebuilds most, and how many times the mean; None where nobody rebuilds.

    From ten on also what the most loaded tenth rebuilds of all: the share by which Wozniak, Son and
    Ross (2010, GOBS) judge how a rebuild spreads.

    Args:
        amounts: The bytes that each rebuilt.

    >>> busiest_words("abcdefghij", [10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    ('1.8x the mean', 'a; the most loaded tenth rebuilds 18 % of all')
    """
    most = max(amounts, default=0.0)
    if most <= 0.0:
        return None
    ratio = most / fmean(amounts)
    if ratio < 1.0005:
        return "even", "all rebuild equally much"
    words = f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}"
    detail = names[amounts.index(most)]
    if len(amounts) >= _TENTH:
        share = sum(sorted(amounts, reverse=True)[: ceil(len(amounts) / _TENTH)]) / sum(amounts)
        detail += f"; the most loaded tenth rebuilds {percent(share)} of all"
    return f"{words}x the mean", detail
