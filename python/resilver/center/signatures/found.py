"""A job's signature from logs of its runs: what repeats in all of them under others' traffic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any

import numpy as np

from resilver.center.signatures.common import CommonBurst, common_bursts
from resilver.center.signatures.file import Signature
from resilver.center.signatures.folds import Burst, fold, volume_at
from resilver.center.signatures.period import Period, bursts_of, find_period
from resilver.center.signatures.prepare import SAMPLES_MIN, Runs, prepare
from resilver.errors import ConfigError, show
from resilver.importers.jobs import Job, read_jobs
from resilver.importers.series import MOVED, Series, read_series
from resilver.quantities import decimal_bytes, duration
from resilver.text import refuse

_PRESENT_MIN = 0.5
_COVERED_MIN = 0.9
_BESIDES_TOLD = 0.15
_ONE_RUN = (
    "one run alone does not tell its own pattern from a regular one of others, so that the "
    "confidence is halved"
)


@dataclass(frozen=True, eq=False)
class FoundSignature:
    """What was found in the runs of a job.

    Attributes:
        signature: The job's; None where runs do not repeat.
        runs: Those that were used.
        period: What autocorrelation and spectrum say.
        burst: What a period holds; None where folds have nothing in common.
        common: The bursts that half of the runs or more have at about one time; none of one run.
        notes: What a reader must know.
        reason: Why there is no signature; empty where there is one.
    """

    signature: Signature | None
    runs: Runs = field(repr=False)
    period: Period = field(repr=False)
    burst: Burst | None = field(repr=False)
    common: tuple[CommonBurst, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    reason: str = ""

    @property
    def holds(self) -> bool:
        """Whether there is a signature."""
        return self.signature is not None

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        bursts = [
            {"begin_seconds": one.begin, "length_seconds": one.length}
            | {"volume_bytes": one.volume, "runs": one.runs}
            for one in self.common
        ]
        return {
            "signature": None if self.signature is None else self.signature.to_dict(),
            "reason": self.reason,
            "runs": [run.name for run in self.runs.runs],
            "left_out": dict(self.runs.left_out),
            "sample_seconds": self.runs.step,
            "period": {
                "autocorrelation_seconds": self.period.samples * self.runs.step,
                "spectrum_seconds": self.period.spectral_samples * self.runs.step,
                "score": self.period.score,
                "stands_out": self.period.stands_out,
            },
            "present": None if self.burst is None else self.burst.present,
            "common_bursts": bursts,
            "notes": list(self.notes),
        }


def signature(
    logs: Series | str | Path | Sequence[Series | str | Path],
    *,
    jobs: Sequence[Job] | str | Path | None = None,
    every: float | None = None,
    moved: str = "writes",
    name: str = "",
    zone: tzinfo = UTC,
) -> FoundSignature:
    """Find the pattern that a job's runs repeat, under what others move.

    Args:
        logs: A log a run, from its begin to its end; or, with `jobs`, one or more that its runs lie
            in. Logs are files that `read_series` reads, or series.
        jobs: When the runs were, or the file that says so.
        every: Seconds of a sample; by default the longest of the logs' own.
        moved: Which bytes count: ``writes``, ``reads`` or ``both``.
        name: What the job is called; by default after the first log.
        zone: Where dates in `jobs` are of that name no offset.

    Returns:
        What was found; its `signature` is None where runs do not repeat.

    Raises:
        ConfigError: A log or the file of jobs cannot be used, no log covers a run, or runs are too
            short.
    """
    given = [logs] if isinstance(logs, Series | str | Path) else list(logs)
    if moved not in MOVED:
        raise ConfigError(f"it is one of {', '.join(MOVED)}", "", "moved", show(moved))
    reads: list[Series] | None = None
    if moved == "both" and not any(isinstance(one, Series) for one in given):
        reads = [read_series(Path(one), "reads") for one in given]  # type: ignore[arg-type]
    series = [one if isinstance(one, Series) else read_series(Path(one), moved) for one in given]
    notes: list[str] = []
    if jobs is not None:
        when = read_jobs(Path(jobs), zone) if isinstance(jobs, str | Path) else list(jobs)
        series, notes = _cut(series, when)
        reads = None if reads is None else _cut(reads, when)[0]
    runs = prepare(series, every)
    return _found(runs, reads, notes, name or _name(given, jobs))


def _name(given: Sequence[Series | str | Path], jobs: object) -> str:
    """The name of the first log, without the number of its run."""
    if isinstance(jobs, str | Path):
        return Path(jobs).name.split(".")[0]
    names = [one.name if isinstance(one, Series) else Path(one).name for one in given]
    stems = [name.split(".")[0] for name in names]
    return stems[0].rstrip("0123456789").rstrip("-_. ") or stems[0]


def _cut(series: Sequence[Series], jobs: Sequence[Job]) -> tuple[list[Series], list[str]]:
    """The runs of jobs in logs, and what is said of those that are not there."""
    found, missing = [], []
    for job in jobs:
        for one in series:
            step = float(np.median(np.diff(one.times))) if len(one.times) > 1 else 0.0
            low, high = np.searchsorted(one.times, [job.start, job.end])
            covered = min(job.end, one.times[-1] + step) - max(job.start, one.times[0])
            if covered >= _COVERED_MIN * (job.end - job.start) and high - low >= SAMPLES_MIN:
                found.append(Series(one.times[low:high], one.values[low:high], job.name))
                break
        else:
            missing.append(job.name)
    if not found:
        begin, end = series[0].times[0], series[0].times[-1]
        rule = (
            f"none of {len(jobs)} jobs lies in the logs with {SAMPLES_MIN} samples or more; the "
            f"first log is from {begin:.10g} to {end:.10g} s"
        )
        refuse("jobs", rule, "give logs of their time, or say with --zone where dates are of")
    told = ", ".join(missing[:5]) + (" and others" if len(missing) > 5 else "")
    notes = [f"{len(missing)} of {len(jobs)} jobs are not in the logs: {told}"] if missing else []
    return found, notes


def _found(
    runs: Runs, reads: Sequence[Series] | None, notes: list[str], name: str
) -> FoundSignature:
    values = [run.values for run in runs.runs]
    bursts = [bursts_of(run) for run in values]
    period = find_period(values, bursts)
    seconds = period.samples * runs.step
    burst = fold(values, runs.step, seconds)
    common = tuple(common_bursts(values, bursts, runs.step)) if len(values) > 1 else ()
    notes += [f"{which} is left out: {why}" for which, why in runs.left_out]
    reason = _why_not(period, burst, runs, common)
    if reason or burst is None:
        return FoundSignature(None, runs, period, burst, common, tuple(notes), reason)
    if len(values) == 1:
        notes.append(_ONE_RUN)
    if burst.besides > _BESIDES_TOLD * burst.volume:
        notes.append(
            f"a period has {decimal_bytes(burst.besides)} outside of this burst, which the "
            "signature leaves out"
        )
    share = 0.0
    if reads is not None:
        left = {which for which, _ in runs.left_out}
        kept = replace(
            runs, runs=prepare([one for one in reads if one.name not in left], runs.step).runs
        )
        read = volume_at([run.values for run in kept.runs], runs.step, seconds, burst)
        share = min(read / burst.volume, 1.0)
    confidence = min(burst.present, 1.0) * (1.0 - 0.5 ** len(values))
    made = Signature(
        burst.period,
        burst.first,
        burst.length,
        burst.volume,
        share,
        name,
        confidence,
        len(values),
        burst.period_error,
        burst.length_error,
        burst.volume_error,
    )
    return FoundSignature(made, runs, period, burst, common, tuple(notes))


def _why_not(period: Period, burst: Burst | None, runs: Runs, common: Sequence[CommonBurst]) -> str:
    """Why runs have no period; empty where they have one."""
    by_one = duration(period.samples * runs.step)
    reason = ""
    if period.stands_out < period.least:
        reason = (
            f"no distance between samples stands out: {by_one} comes nearest, at "
            f"{period.stands_out:.1f} standard deviations of {period.least:g}"
        )
    elif not period.is_found:
        other = duration(period.spectral_samples * runs.step) if period.spectral_samples else "none"
        reason = f"autocorrelation says {by_one} and the spectrum {other}, which do not agree"
    elif burst is None or burst.present < _PRESENT_MIN:
        share = 0.0 if burst is None else max(burst.present, 0.0)
        reason = (
            f"only {100.0 * share:.0f} % of the bursts that a period of {by_one} would have are "
            f"there, beyond chance"
        )
    if reason and common:
        reason += f"; {len(common)} bursts are common to runs, but do not repeat"
    return reason
