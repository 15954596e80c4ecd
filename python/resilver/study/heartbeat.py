"""The sign of life that a sweep under way keeps in its run folder, for `resilver status`."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from resilver.study.files import TEMPORARY_PREFIX
from resilver.study.progress import StudyProgress

STATUS_FILE = "status.json"
FORMAT = 1
"""The version of the file's content."""

SECONDS_BETWEEN_BEATS = 2.0
"""Often enough to watch, and seldom enough for a network file system."""

# A person reads a few; the provenance has all of them in the end.
_FAILURES_KEPT = 20

# Batch systems name their job in its environment.
_JOB_VARIABLES = {
    "SLURM_JOB_ID": "Slurm job",
    "PBS_JOBID": "PBS job",
    "LSB_JOBID": "LSF job",
    "JOB_ID": "Grid Engine job",
}


class Heartbeat:
    """Writes how far a sweep is into its folder every few seconds, and removes it at the end.

    The file is a convenience: nothing is computed from it, and a folder that cannot take it does
    not stop the sweep. A thread of its own writes it, so that a sweep that puts large tables
    together still counts as alive.

    Args:
        folder: the run folder, locked by this process.
        keys: each run's key by its label.
        progress: told what the heartbeat is told.
    """

    def __init__(
        self,
        folder: Path,
        keys: Mapping[str, str],
        progress: Callable[[StudyProgress], None] | None = None,
    ) -> None:
        self._folder = folder
        self._keys = keys
        self._listener = progress
        self._latest: StudyProgress | None = None
        self._failures: list[dict[str, str]] = []
        self._failed: list[str] = []
        self._last_finished: float | None = None
        self._beats = 0
        self._sender = whereabouts() | {"started": time.time()}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Heartbeat:
        """Begin to beat."""
        self._write()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the file: from here on the provenance says how the sweep ended."""
        self._end.set()
        self._thread.join()
        with contextlib.suppress(OSError):
            (self._folder / STATUS_FILE).unlink(missing_ok=True)

    def __call__(self, progress: StudyProgress) -> None:
        """Note how far the sweep is."""
        label, message = progress.finished_label, progress.message
        if label is not None and message is not None:
            self._failed.append(self._keys.get(label, ""))
            if len(self._failures) < _FAILURES_KEPT:
                self._failures.append({"label": label, "message": message})
        elif label is not None:
            self._last_finished = time.time()
        self._latest = progress
        if self._listener is not None:
            self._listener(progress)

    def _beat(self) -> None:
        # The first beats follow one another closely, so that whoever looks at a sweep that has just
        # begun sees its runs.
        while not self._end.wait(pause_seconds(self._beats)):
            self._write()

    def _write(self) -> None:
        self._beats += 1
        record = {
            "format": FORMAT,
            "beat": self._beats,
            "written": time.time(),
            "last_finished": self._last_finished,
            **self._sender,
            "failed": list(self._failed),
            "failures": list(self._failures),
            "progress": None if self._latest is None else self._record(self._latest),
        }
        temporary = self._folder / f"{TEMPORARY_PREFIX}{STATUS_FILE}-{os.getpid()}"
        # Not forced to the device: after a crash of the machine the file is of no use.
        with contextlib.suppress(OSError):
            try:
                temporary.write_text(json.dumps(record), encoding="utf-8")
                temporary.replace(self._folder / STATUS_FILE)
            except OSError:
                temporary.unlink(missing_ok=True)
                raise

    def _record(self, progress: StudyProgress) -> dict[str, Any]:
        record = asdict(progress)
        counts = record.pop("counts")
        del record["finished_label"], record["message"]
        record["under_way"] = [
            {"run": self._keys.get(label, ""), "label": label, **run}
            for label, run in record["under_way"].items()
        ]
        return {**counts, **record}


def whereabouts() -> dict[str, Any]:
    """Where this process runs, in words that another can check.

    Returns:
        `host`, `process`, `process_started` (None where the system does not tell), `space` (which
        processes' numbers mean the same: one boot of one machine or container) and `job`, the batch
        job in words.
    """
    jobs = [
        f"{name} {os.environ[key]}" for key, name in _JOB_VARIABLES.items() if key in os.environ
    ]
    return {
        "host": socket.gethostname(),
        "process": os.getpid(),
        "process_started": process_started(os.getpid()),
        "space": process_space(),
        "job": jobs[0] if jobs else None,
    }


def process_space() -> str | None:
    """Within which process numbers are unique: a boot of a kernel and a namespace of its processes.

    Returns:
        None where the system has no procfs.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return None


def process_started(process: int) -> str | None:
    """When a process began, in the kernel's ticks, which tells it from a later one of its number.

    Returns:
        None where there is no such process, where it has ended, or where procfs is absent.
    """
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The second field is the name in parentheses and may hold anything; the state is the third
    # field and the start the 22nd (proc(5)).
    fields = text.rpartition(")")[2].split()
    return fields[19] if fields[0] not in ("Z", "X") else None


def pause_seconds(beats: int) -> float:
    """How long to wait for the next beat: a quarter of a second, doubled up to the usual distance.

    Args:
        beats: How many there were. Two to the power of 1,024, after half an hour, would be
            more than a float can hold.

    Returns:
        Seconds.

    >>> [pause_seconds(beats) for beats in (0, 1, 1_000_000)]
    [0.25, 0.5, 2.0]
    """
    doublings = min(beats, 16)
    return min(SECONDS_BETWEEN_BEATS, 0.25 * 2.0**doublings)
