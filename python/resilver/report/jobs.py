"""Jobs whose bursts repeat: how long these take beside what they would take alone."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from resilver.charts.idioms import lines, series
from resilver.charts.scales import time_scale
from resilver.charts.vega import Chart, Spec, axis, marks, tip
from resilver.quantities import decimal_bytes
from resilver.report.arrays import rows_of_run
from resilver.spec import Traffic
from resilver.spec.jobs import names_of
from resilver.study.results import StudyTables
from resilver.study.system_runs import Row, SystemRuns
from resilver.tables import table_of
from resilver.units import exact_duration, format_duration
from resilver.words import plural

if TYPE_CHECKING:
    import pyarrow as pa

_JOBS_SHOWN_MAX = 8
_TOLD_MAX = 4
_AS_ALONE = 1.01
"""Below so many times as long a burst takes as long as alone."""


def job_bursts(results: StudyTables, point: SystemRuns) -> dict[str, list[Row]]:
    """The bursts of each job in the system's median run, rows of the table `jobs` by its name.

    Those that were asked for and did not end have a null for `ended_seconds`; none without jobs.
    """
    found: pa.Table | None = getattr(results, "jobs", None)
    bursts: dict[str, list[Row]] = {}
    for row in [] if found is None else rows_of_run(found, point.median["run"]).to_pylist():
        bursts.setdefault(row["job"], []).append(row)
    return bursts


def _ended(bursts: Sequence[Row]) -> list[Row]:
    return [row for row in bursts if row["ended_seconds"] is not None]


def jobs_sentence(results: StudyTables, point: SystemRuns) -> str:
    """How long the bursts of each job take, a sentence each; empty without jobs."""
    bursts = job_bursts(results, point)
    told = [_of_job(*one) for one in list(bursts.items())[:_TOLD_MAX]]
    if len(bursts) > _TOLD_MAX:
        told.append(f"{plural(len(bursts) - _TOLD_MAX, 'job')} more.")
    return " ".join(told)


def _of_job(name: str, bursts: Sequence[Row]) -> str:
    """The bursts of one job in words; the median where they differ."""
    ended = _ended(bursts)
    if not ended:
        return f"{name}: no burst ends."
    took = f"bursts take {format_duration(median(row['seconds'] for row in ended))}"
    slowed, worst = (of(row["slowed"] for row in ended) for of in (median, max))
    if worst < _AS_ALONE:
        words = f"{took}, as long as alone"
    else:
        words = f"{took}, {slowed:.3g} times as long as alone"
        words += f" ({worst:.3g} times at the most)" if worst > slowed * _AS_ALONE else ""
    if unended := len(bursts) - len(ended):
        words += f"; {plural(unended, 'burst')} {'has' if unended == 1 else 'have'} not"
        words += " ended by the end of the run"
    return f"{name}: {words}."


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
    ended = {name: _ended(bursts) for name, bursts in job_bursts(results, point).items()}
    slowest = {
        name: max(row["slowed"] for row in bursts) for name, bursts in ended.items() if bursts
    }
    if not slowest:
        return None
    # Those that are slowed most are shown where there are many.
    most_first = sorted(slowest, key=lambda name: -slowest[name])
    shown = [name for name in slowest if name in most_first[:_JOBS_SHOWN_MAX]]
    every = [row for name in slowest for row in ended[name]]
    time = time_scale(max(row["began_seconds"] for row in every))

    def make() -> Spec:
        data = marks(
            "kind x y text",
            (
                (
                    *(name, row["began_seconds"] / time.divisor, row["slowed"]),
                    f"{name}: {format_duration(row['seconds'])}",
                )
                for name in shown
                for row in ended[name]
            ),
        )
        across = axis("x", f"burst began ({time.unit})")
        upwards = axis("y", "times as long as alone")
        read = tip(("text", "burst"), ("y", "times as long as alone"))
        named = series(shown)
        return lines(data, across, upwards, named, dots="true", height=240, read=read)

    most = slowest[most_first[0]]
    heading = "Every burst takes as long as alone"
    if most >= _AS_ALONE:
        heading = f"The slowest burst is of {most_first[0]}: {most:.3g} times as long as alone"
    text = (
        "How long each burst took over how long it takes where nothing is in its way, by when it "
        "began; a line a job, a point a burst that ended."
    )
    if len(slowest) > len(shown):
        text += f" The {len(shown)} jobs of {len(slowest)} that are slowed most are drawn."
    return Chart(
        "jobs",
        heading,
        text,
        make,
        table_of(
            every,
            ("job", "job", "text"),
            ("began_seconds", "began", "seconds"),
            ("seconds", "took", "seconds"),
            ("slowed", "over alone", "number"),
        ),
        "bursts of jobs",
    )
