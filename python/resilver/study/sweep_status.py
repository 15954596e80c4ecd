"""How far a sweep is, read from its run folder by anyone, at any time, without a lock."""

from __future__ import annotations

import datetime
import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from resilver.errors import ConfigError
from resilver.study.heartbeat import FORMAT, STATUS_FILE, process_space, process_started
from resilver.study.progress import Counts, RunProgress, RunState, StudyProgress
from resilver.study.provenance import (
    PROVENANCE_FILE,
    SHARDS_FOLDER,
    read_provenance,
    refuse_other_folders,
)

State = Literal["running", "complete", "incomplete", "dead"]

SECONDS_UNTIL_DEAD = 60.0
"""A driver on another machine that has not been heard of for so long counts as gone: thirty beats,
which outlasts the half minute for which a network file system may show an old file."""

# A file that is replaced while it is read gives ESTALE on a network file system.
_ATTEMPTS = 5

_PACE_OF_RUN = ("elapsed_seconds", "events_per_second", "seconds_left")
_PACE = ("elapsed_seconds", "runs_per_second", "events_per_second", "seconds_left")

# What reading a record of another form ends with.
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError)


@dataclass(frozen=True)
class Driver:
    """The process that performs a sweep.

    Attributes:
        host: the machine.
        process: its number there.
        job: its batch job in words, if it is in one.
        started: when it began, seconds since 1970.
        silent_seconds: time since its last sign of life, by this machine's clock.
    """

    host: str
    process: int
    job: str | None
    started: float
    silent_seconds: float


@dataclass(frozen=True)
class PointStatus:
    """The runs of one system of a sweep.

    Attributes:
        swept: the swept values by key.
        runs: how many runs it has.
        finished: how many are in the folder.
        failed: how many failed.
        under_way: how many are being performed.
    """

    swept: Mapping[str, Any]
    runs: int
    finished: int
    failed: int
    under_way: int


@dataclass(frozen=True)
class Status:
    """How far a sweep is.

    Attributes:
        folder: its run folder.
        state: "running"; "complete"; "incomplete" if it ended with runs missing, because some
            failed or it was interrupted; "dead" if its driver ended without a word.
        total: different runs of the study.
        finished: runs that are in the folder.
        failed: runs that failed.
        progress: rates, time left and the runs under way; None unless it is running.
        driver: who performs it, or did when it died; None if nobody does.
        last_finished: when a run last finished, seconds since 1970; None if none has.
        points: a row for each system of the sweep.
        failures: what failed: label and message, the first twenty.
        finished_keys: the keys of the runs that are in the folder.
        command: the command line that does the rest.
    """

    folder: Path
    state: State
    total: int
    finished: int
    failed: int
    progress: StudyProgress | None
    driver: Driver | None
    last_finished: float | None
    points: tuple[PointStatus, ...]
    failures: tuple[tuple[str, str], ...]
    command: tuple[str, ...]
    finished_keys: frozenset[str]

    @property
    def under_way(self) -> int:
        """How many runs are being performed."""
        return len(self.progress.under_way) if self.progress is not None else 0

    @property
    def left(self) -> int:
        """How many runs have not ended, those under way among them."""
        return max(0, self.total - self.finished - self.failed)

    def to_record(self) -> dict[str, Any]:
        """The status as a JSON-able dictionary, as `resilver status --json` prints it."""
        progress = self.progress
        share = self.finished / self.total if self.total else 1.0
        last = self.last_finished
        return {
            "folder": str(self.folder),
            "state": self.state,
            "runs": self.total,
            "finished": self.finished,
            "failed": self.failed,
            "under_way": self.under_way,
            "left": self.left,
            "fraction": share if progress is None else progress.fraction,
            **{name: getattr(progress, name, None) for name in _PACE},
            "last_finished": None if last is None else _iso(last),
            "driver": None
            if self.driver is None
            else {**asdict(self.driver), "started": _iso(self.driver.started)},
            "points": [asdict(point) for point in self.points],
            "runs_under_way": [
                {
                    "label": label,
                    **run.state._asdict(),
                    **{name: getattr(run, name) for name in _PACE_OF_RUN},
                }
                for label, run in ({} if progress is None else progress.under_way).items()
            ],
            "failures": [{"label": label, "message": text} for label, text in self.failures],
        }


def status(folder: str | Path) -> Status:
    """How far the sweep of a run folder is.

    Reads the folder only: from another terminal, while a batch job writes it, over a network file
    system.

    Args:
        folder: the run folder.

    Returns:
        Its status at this moment.

    Raises:
        ConfigError: there is no such folder, or it is no run folder.

    Example:
        >>> status("runs/demo").state  # doctest: +SKIP
        'complete'
    """
    path = Path(folder)
    provenance = _provenance(path)
    try:
        return _status(path, provenance, _read_beat(path))
    except _MALFORMED:
        # A sign of life that somebody has edited says nothing.
        pass
    try:
        return _status(path, provenance, None)
    except _MALFORMED as error:
        raise ConfigError(
            f"{str(path / PROVENANCE_FILE)!r} is not as resilver writes it ({error!r}); "
            "call `resilver run` again to make it new, or choose another folder"
        ) from error


def _status(path: Path, provenance: Mapping[str, Any], beat: Mapping[str, Any] | None) -> Status:
    keys = dict.fromkeys(str(key) for key in provenance["run_keys"])
    driver = None if beat is None else _driver(beat)
    state = _state(provenance, beat, driver)
    if state == "complete":
        finished, last = set(keys), _last_of_tables(path)
    else:
        finished, last = _shards(path / SHARDS_FOLDER, keys)
    if state in ("complete", "incomplete"):
        driver = beat = None
    failures = provenance.get("failures", []) if beat is None else beat["failures"]
    runs = [item.get("run") for item in failures] if beat is None else beat["failed"]
    failed = {str(run) for run in runs}
    failed = (failed & set(keys)) - finished
    under_way = beat["progress"] if state == "running" and beat is not None else None
    busy = [] if under_way is None else [str(run["run"]) for run in under_way["under_way"]]
    return Status(
        path,
        state,
        len(keys),
        len(finished),
        len(failed),
        None if under_way is None else _progress(under_way, len(finished), finished),
        driver,
        last,
        tuple(_points(provenance, finished, failed, busy)),
        tuple((_label(item), str(item.get("message", ""))) for item in failures),
        tuple(str(word) for word in provenance.get("command", [])),
        frozenset(finished),
    )


def _provenance(path: Path) -> dict[str, Any]:
    refuse_other_folders(path)
    for attempt in range(_ATTEMPTS):
        try:
            return read_provenance(path)
        except ConfigError:
            if attempt == _ATTEMPTS - 1:
                raise
        time.sleep(0.05)
    raise AssertionError("the last attempt returns or raises")


def _read_beat(path: Path) -> dict[str, Any] | None:
    """The sign of life, or None where there is none that this version can read."""
    for _ in range(_ATTEMPTS):
        try:
            record = json.loads((path / STATUS_FILE).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            time.sleep(0.05)
            continue
        is_ours = isinstance(record, dict) and record.get("format") == FORMAT
        return record if is_ours else None
    return None


def _driver(beat: Mapping[str, Any]) -> Driver:
    # Clocks of two machines differ; a beat from the future is one of this moment.
    silent = max(0.0, time.time() - beat["written"])
    job, started = beat["job"], float(beat["started"])
    # A moment that is none is refused here and not where it is shown.
    _iso(started)
    return Driver(
        str(beat["host"]), int(beat["process"]), None if job is None else str(job), started, silent
    )


def _state(
    provenance: Mapping[str, Any], beat: Mapping[str, Any] | None, driver: Driver | None
) -> State:
    if beat is not None and driver is not None and _is_alive(beat, driver):
        return "running"
    if provenance["state"] == "complete":
        return "complete"
    return "incomplete" if beat is None else "dead"


def _is_alive(beat: Mapping[str, Any], driver: Driver) -> bool:
    """Whether the driver lives: by its process where that can be seen, else by its last sign."""
    if beat["process_started"] is not None and beat["space"] == process_space():
        return process_started(driver.process) == str(beat["process_started"])
    return driver.silent_seconds <= SECONDS_UNTIL_DEAD


def _shards(folder: Path, keys: Mapping[str, None]) -> tuple[set[str], float | None]:
    """The keys of the stored runs, and when the last of them was."""
    finished: set[str] = set()
    last: float | None = None
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                # A shard appears whole, by a rename, so that its name alone says that it is there.
                if entry.name in keys:
                    finished.add(entry.name)
                    moment = entry.stat().st_mtime
                    last = moment if last is None else max(last, moment)
    except OSError:
        # Not made yet, or being swept up by a driver that has just started.
        return finished, last
    return finished, last


def _last_of_tables(path: Path) -> float | None:
    try:
        return (path / "runs.parquet").stat().st_mtime
    except OSError:
        return None


def _progress(record: Mapping[str, Any], stored: int, finished: set[str]) -> StudyProgress:
    # A run may have been stored since the last beat; it is not under way any more.
    under_way = {
        str(run["label"]): RunProgress(
            RunState(*run["state"]),
            run["fraction"],
            **{name: run[name] for name in _PACE_OF_RUN},
        )
        for run in record["under_way"]
        if run["run"] not in finished
    }
    done = max(0, stored - record["reused"])
    return StudyProgress(
        Counts(record["total"], record["reused"], done, record["failed"]),
        under_way,
        record["fraction"],
        record["fraction_reused"],
        **{name: record[name] for name in _PACE},
    )


def _points(
    provenance: Mapping[str, Any], finished: set[str], failed: set[str], under_way: list[str]
) -> Iterator[PointStatus]:
    """A row for each system; none for a folder from before they were recorded."""
    keys = [str(key) for key in provenance["run_keys"]]
    order = provenance["swept_keys"]
    busy = set(under_way) - finished
    first = 0
    for point in provenance.get("points", []):
        own = keys[first : first + point["runs"]]
        first += point["runs"]
        yield PointStatus(
            {key: point["swept"][key] for key in order},
            len(own),
            sum(key in finished for key in own),
            sum(key in failed for key in own),
            sum(key in busy for key in own),
        )


def _label(failure: Mapping[str, Any]) -> str:
    """A failed run in a few words, from the sign of life or from the provenance."""
    if "label" in failure:
        return str(failure["label"])
    parts = [f"{key}={value}" for key, value in failure.get("swept", {}).items()]
    return " ".join([*parts, f"seed={failure.get('seed')}"])


def _iso(moment: float) -> str:
    return datetime.datetime.fromtimestamp(moment, datetime.UTC).isoformat(timespec="seconds")
