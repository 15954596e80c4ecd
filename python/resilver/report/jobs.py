"""Jobs whose bursts repeat: how long these take beside what they would take alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from resilver.charts.idioms import lines, series
from resilver.charts.scales import time_scale
from resilver.charts.vega import Chart, Spec, axis, rows, tip
from resilver.quantities import decimal_bytes
from resilver.report.arrays import Floats, column, rows_of_run
from resilver.spec import Traffic
from resilver.spec.jobs import names_of
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns
from resilver.tables import table
from resilver.units import exact_duration, format_duration
from resilver.words import plural

_JOBS_SHOWN_MAX = 8
_TOLD_MAX = 4
_AS_ALONE = 1.01
"""Below so many times as long a burst takes as long as alone."""


@dataclass(frozen=True, eq=False)
class JobBursts:
    """The bursts of a job in a run.

    Attributes:
        name: The job's.
        began: When each burst that ended began, in seconds.
        seconds: How long it took.
        slowed: That over how long it takes alone.
        unended: Bursts that were asked for and did not end.
    """

    name: str
    began: Floats
    seconds: Floats
    slowed: Floats
    unended: int


def job_bursts(results: StudyTables, point: SystemRuns) -> list[JobBursts]:
    """The bursts of each job in the system's median run; none without jobs."""
    found: pa.Table | None = getattr(results, "jobs", None)
    data = None if found is None else rows_of_run(found, point.median["run"])
    if data is None or not data.num_rows:
        return []
    names = np.array(data["job"].to_pylist(), dtype=object)
    began, seconds = column(data, "began_seconds"), column(data, "seconds")
    slowed, has_ended = column(data, "slowed"), ~np.isnan(column(data, "ended_seconds"))
    made = []
    for name in dict.fromkeys(names.tolist()):
        own = (names == name) & has_ended
        unended = int(np.sum((names == name) & ~has_ended))
        made.append(JobBursts(name, began[own], seconds[own], slowed[own], unended))
    return made


def jobs_sentence(results: StudyTables, point: SystemRuns) -> str:
    """How long the bursts of each job take, a sentence each; empty without jobs."""
    bursts = job_bursts(results, point)
    told = [_of_job(one) for one in bursts[:_TOLD_MAX]]
    if len(bursts) > _TOLD_MAX:
        told.append(f"{plural(len(bursts) - _TOLD_MAX, 'job')} more.")
    return " ".join(told)


def _of_job(one: JobBursts) -> str:
    """The bursts of one job in words; the median where they differ."""
    if not one.seconds.size:
        return f"{one.name}: no burst ends."
    took = f"bursts take {format_duration(float(np.median(one.seconds)))}"
    slowed, worst = float(np.median(one.slowed)), float(one.slowed.max())
    if worst < _AS_ALONE:
        words = f"{took}, as long as alone"
    else:
        words = f"{took}, {slowed:.3g} times as long as alone"
        words += f" ({worst:.3g} times at the most)" if worst > slowed * _AS_ALONE else ""
    if one.unended:
        words += f"; {plural(one.unended, 'burst')} {'has' if one.unended == 1 else 'have'} not"
        words += " ended by the end of the run"
    return f"{one.name}: {words}."


def jobs_words(traffic: Traffic) -> str:
    """What the jobs of a section move, and how often."""
    said = []
    for name, job in zip(names_of(traffic.jobs), traffic.jobs, strict=True):
        of = job.signature
        what = f"{decimal_bytes(of.volume)} within {exact_duration(of.length)}"
        said.append(f"{name} moves {what} every {exact_duration(of.period)}")
    shown = f"Jobs: {'; '.join(said[:_TOLD_MAX])}"
    more = len(said) - _TOLD_MAX
    return shown + (f"; {plural(more, 'job')} more" if more > 0 else "")


def jobs(results: StudyTables, point: SystemRuns) -> Chart | None:
    """How long bursts take over time, a line a job; None where none ended."""
    bursts = [one for one in job_bursts(results, point) if one.seconds.size]
    if not bursts:
        return None
    # Those that are slowed most are shown where there are many.
    shown = sorted(bursts, key=lambda one: -float(one.slowed.max()))[:_JOBS_SHOWN_MAX]
    shown = [one for one in bursts if one in shown]
    named = series(one.name for one in shown)
    time = time_scale(max(float(one.began.max()) for one in bursts))

    def make() -> Spec:
        data = rows(
            kind=[one.name for one in shown for _ in one.began],
            x=[at / time.divisor for one in shown for at in one.began],
            y=[times for one in shown for times in one.slowed],
            text=[f"{one.name}: {format_duration(s)}" for one in shown for s in one.seconds],
        )
        across = axis("x", f"burst began ({time.unit})")
        upwards = axis("y", "times as long as alone")
        read = tip(("text", "burst"), ("y", "times as long as alone"))
        return lines(data, across, upwards, named, dots="true", height=240, read=read)

    slowest = max(bursts, key=lambda one: float(one.slowed.max()))
    most = float(slowest.slowed.max())
    heading = "Every burst takes as long as alone"
    if most >= _AS_ALONE:
        heading = f"The slowest burst is of {slowest.name}: {most:.3g} times as long as alone"
    text = (
        "How long each burst took over how long it takes where nothing is in its way, by when it "
        "began; a line a job, a point a burst that ended."
    )
    if len(bursts) > len(shown):
        text += f" The {len(shown)} jobs of {len(bursts)} that are slowed most are drawn."
    return Chart(
        "jobs",
        heading,
        text,
        make,
        table(
            ("job", "job", "text", [one.name for one in bursts for _ in one.began]),
            ("began_seconds", "began", "seconds", np.concatenate([one.began for one in bursts])),
            ("seconds", "took", "seconds", np.concatenate([one.seconds for one in bursts])),
            ("slowed", "over alone", "number", np.concatenate([one.slowed for one in bursts])),
        ),
        "bursts of jobs",
    )
