"""Charts of when data is lost, and of what failures at one moment do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from resilver.charts.idioms import fields, heat, lines, series
from resilver.charts.scales import Scale, log_ticks, time_scale
from resilver.charts.style import BLUE
from resilver.charts.vega import Chart, Spec, axis, marks, rows, tip
from resilver.data_loss.answer import Durability
from resilver.report.arrays import Floats, column
from resilver.report.durability import tables, words
from resilver.report.durability.words import labels, within
from resilver.tables import table

_LINES_MAX = 7
"""Systems whose courses are told apart."""
_EVEN = 0.05
"""So near to a half in the first half of a mission losses come at a constant rate."""
_DECADES = 2.0
"""From so many on an axis of probabilities is logarithmic."""
_RESOLVED = 1e-13
"""A probability of a loss below this is lost in what floats know of 1 less it."""
_SCIENTIFIC: Spec = {"labelExpr": "datum.value == 0 ? '0' : format(datum.value, '~e')"}
"""Labels of an axis of small probabilities."""
_RARE = 0.02
"""Where no burst is likelier than this its axis is logarithmic."""
_LOST: Spec = {"field": "text", "type": "nominal", "title": "data lost"}
"""What the pointer reads of a chance of a loss."""
_WORDS_ACROSS = 8
"""Numbers of failures whose chances fit their fields on a telephone."""


def time_of(seconds: float) -> Scale:
    """The unit of an axis of time, years among them."""
    year = words.YEAR_SECONDS
    return Scale(year, "years") if seconds >= 2.0 * year else time_scale(seconds)


def survival_chart(systems: Sequence[Durability]) -> Chart | None:
    """The probability of data loss by time, with its band.

    Args:
        systems: One system or several; of many those of the largest probabilities are drawn.

    Returns:
        The chart; None without courses, and where losses come at a constant rate: a straight line.
    """
    shown = [one for one in systems if one.survival is not None and _is_resolved(one.survival)]
    shown = sorted(shown, key=lambda one: -(one.loss_probability.value or 0.0))[:_LINES_MAX]
    if not shown:
        return None
    courses = [_course(one.survival) for one in shown if one.survival is not None]
    names = labels(shown)
    end = max(float(times[-1]) for times, *_ in courses)
    time = time_of(end)
    first = shown[0]
    last = words.chance(first.loss_probability)
    # The share of the risk that falls in the first half of each mission.
    halves = [
        float(np.interp(0.5 * times[-1], times, risk)) / float(risk[-1])
        for times, risk, *_ in courses
    ]
    if all(abs(half - 0.5) <= _EVEN for half in halves):
        return None
    heading = f"{last} {within(first)}, {100.0 * halves[0]:.0f} % of it in the first half"
    if len(shown) > 1:
        heading = f"{names[0]} is most likely to lose data {within(first)}: {last}"
    text = "The probability that any data has been lost by then."
    if any((low < high).any() for _, _, low, high in courses):
        text += " Pale: its 95 % interval."
    if len(shown) < len(systems):
        text += f" {len(shown)} of {len(systems)} systems, those most likely to lose data."
    return Chart(
        "survival",
        heading,
        text,
        lambda: _lines(names, courses, time),
        table(
            ("system", "system", "text", [name for name, one in zip(names, courses, strict=True)
                                          for _ in one[0]]),
            ("time_seconds", "time", "seconds", np.concatenate([one[0] for one in courses])),
            *(
                (name, heading, "number", np.concatenate([one[at] for one in courses]))
                for at, name, heading in (
                    (1, "loss_probability", "probability of data loss"),
                    (2, "low", "low"),
                    (3, "high", "high"),
                )
            ),
        ),
        "loss over time",
    )  # fmt: skip


def _is_resolved(survival: pa.Table) -> bool:
    risk = _course(survival)[1]
    return bool(risk.size > 1 and risk[-1] > _RESOLVED)


def _course(survival: pa.Table) -> tuple[Floats, Floats, Floats, Floats]:
    """Times, the probability of a loss until then, and its interval."""
    times = column(survival, "time_seconds")
    if "loss_probability" in survival.column_names:
        names = ("loss_probability", "loss_low", "loss_high")
        value, low, high = (column(survival, name) for name in names)
    else:
        value, high, low = (1.0 - column(survival, name) for name in ("survival", "low", "high"))
    return times, value, np.where(np.isnan(low), value, low), np.where(np.isnan(high), value, high)


def _lines(
    names: Sequence[str], courses: Sequence[tuple[Floats, Floats, Floats, Floats]], time: Scale
) -> Spec:
    points = [
        (name, at / time.divisor, *ends)
        for name, (times, value, low, high) in zip(names, courses, strict=True)
        for at, *ends in zip(times, value, low, high, strict=True)
    ]
    ends = [float(value[-1]) for _, value, *_ in courses]
    is_log = math.log10(max(ends) / min(ends)) > _DECADES
    top = max(float(high.max()) for *_, high in courses)
    floor = 0.0
    if is_log:
        # Whoever is safest is drawn over two decades.
        floor = min(ends) / 100.0
        points = [
            (name, at, value, max(low, floor), high)
            for name, at, value, low, high in points
            if value >= floor
        ]
    end = max(float(times[-1]) for times, *_ in courses) / time.divisor
    across = axis("x", f"time ({time.unit})", ends=(0.0, end))
    ticks = [at for at in log_ticks(floor, top) if floor <= at <= top] if is_log else None
    upwards = axis("y", "probability of data loss", ends=(floor, top), log=10 * is_log, ticks=ticks)
    upwards["axis"] |= _SCIENTIFIC if is_log or top < 1e-2 else {}
    read = tip(("kind", "system"), ("x", f"until ({time.unit})"), ("y", "probability"))
    data = marks("kind x y low high", points)
    return lines(data, across, upwards, series(names), height=300, read=read, cut=True)


def bursts_chart(found: Durability) -> Chart | None:
    """The chance that failures of parts at random, at one moment, lose data; None of none."""
    rows_of = _rows(found, is_placed=False)
    if not rows_of:
        return None
    heading = "No such failures lose data"
    if sure := [one for one in rows_of if one["loss_probability"] > 0.0]:
        least = min(sure, key=lambda one: one["failures"])
        what = f"{least['failures']} simultaneous failures of {tables.plural_of(least['level'])}"
        heading = f"{what} lose data {_cases(least)}"
    text = "The probability that so many simultaneous random failures lose data."
    made = tables.bursts_table(pa.Table.from_pylist(rows_of))
    return Chart(
        "bursts", heading, text, lambda: _burst_lines(rows_of), made, "Simultaneous failures"
    )


def _cases(one: dict[str, Any]) -> str:
    """How often a burst loses data, as a sentence ends."""
    text = tables.burst_words(one)
    return f"in {text} of the cases" if "%" in text else f"with a probability of {text}"


def _rows(found: Durability, *, is_placed: bool) -> list[dict[str, Any]]:
    every = [] if found.bursts is None else found.bursts.to_pylist()
    return [
        one
        for one in every
        if (one["within"] is not None) == is_placed and one["loss_probability"] is not None
    ]


def _burst_lines(rows_of: Sequence[dict[str, Any]]) -> Spec:
    names = list(dict.fromkeys(tables.plural_of(one["level"]) for one in rows_of))
    positive = [one for one in rows_of if one["loss_probability"] > 0.0]
    chances = [one["loss_probability"] for one in positive] or [1.0]
    is_log = max(chances) < _RARE or math.log10(max(chances) / min(chances)) > _DECADES
    shown = positive if is_log else rows_of
    figures = [
        tables.burst_figure(one["loss_probability"], one["standard_error"] or 0.0) for one in shown
    ]
    scale = 1.0 if is_log else 100.0
    low = 10.0 ** math.floor(math.log10(0.999 * min(chances))) if is_log else 0.0
    top = 10.0 ** math.ceil(math.log10(max(chances))) if is_log else 100.0
    most = max(one["failures"] for one in rows_of)
    read = [*tip(("kind", "of"), ("x", "simultaneous failures")), _LOST]
    title = "data lost" if is_log else "data lost (%)"
    ticks = [at for at in log_ticks(low, top) if low <= at <= top] if is_log else None
    upwards = axis("y", title, ends=(low, top), log=10 * is_log, ticks=ticks)
    upwards["axis"] |= _SCIENTIFIC if is_log else {}
    data = rows(
        kind=[tables.plural_of(one["level"]) for one in shown],
        x=[one["failures"] for one in shown],
        y=[scale * one["loss_probability"] for one in shown],
        low=[scale * max(one.low, low / scale) for one in figures],
        high=[scale * one.high for one in figures],
        text=[tables.burst_words(one) for one in shown],
    )
    across = axis("x", "simultaneous failures", ends=(0.5, most + 0.5), tickMinStep=1)
    return lines(
        data, across, upwards, series(names), dots="true", interval="rule", width=1.5, height=280,
        read=read,
    )  # fmt: skip


def heat_chart(found: Durability) -> Chart | None:
    """Failures at one moment by how many parts they lie in, deeper the likelier a loss."""
    rows_of = _rows(found, is_placed=True)
    if not rows_of:
        return None
    level = tables.across_words(rows_of[0])
    worst = max(rows_of, key=lambda one: one["loss_probability"])
    safe = [one for one in rows_of if one["loss_probability"] == 0.0]
    heading = (
        f"{worst['failures']} failures in {worst['within']:,} {level} lose data {_cases(worst)}"
    )
    if safe:
        most = max(one["failures"] for one in rows_of)
        spared = [one["within"] for one in safe if one["failures"] == most]
        heading += f"; {most} in {max(spared)} or fewer never do" if spared else ""
    text = (
        "Each cell is a number of simultaneous failures within a number of parts: the darker, the "
        "more likely is data loss. Empty cells lose nothing."
    )
    made = tables.bursts_table(pa.Table.from_pylist(rows_of))
    return Chart(
        "heat", heading, text, lambda: _heat(rows_of, level), made, "Simultaneous failures by place"
    )


def _heat(rows_of: Sequence[dict[str, Any]], level: str) -> Spec:
    across = sorted({one["failures"] for one in rows_of})
    up = sorted({one["within"] for one in rows_of}, reverse=True)
    chances = [one["loss_probability"] for one in rows_of if one["loss_probability"] > 0.0]
    least, most = max(min(chances, default=1.0), 1e-12), max(chances, default=1.0)
    decades = max(1.0, math.log10(most / least))

    def depth(value: float) -> float:
        return 0.0 if value <= 0.0 else 0.6 + 0.48 * math.log10(max(value, least) / most) / decades

    data = rows(
        x=[one["failures"] for one in rows_of],
        y=[one["within"] for one in rows_of],
        depth=[depth(one["loss_probability"]) for one in rows_of],
        text=[tables.burst_words(one) for one in rows_of],
        name=[tables.within_words(one) for one in rows_of],
    )
    read = [*tip(("x", "failures"), ("name", "in")), _LOST]
    made = heat(
        data,
        fields("x", "simultaneous failures", across),
        fields("y", f"{level} with failures", up),
        (0.0, 1.0),
        depths=(0.0, 1.0),
        height=max(90, 26 * len(up)),
        read=read,
        words=len(across) <= _WORDS_ACROSS,
        stroke=BLUE,
        strokeOpacity=0.35,
        strokeWidth=0.5,
    )
    return made | {"most": 72 * len(across)}
