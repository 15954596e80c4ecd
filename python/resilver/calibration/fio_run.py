"""Running fio as the recipe wants it: four patterns, 4 KiB to 8 MiB, four requests outstanding.

Each of the 48 measurements, or fewer where less than 8 MiB will do, is a run of fio of its own, so
that none shares the device with another and an interrupt waits for none. The space is written once
before: what was never written reads as zeros without the device being asked.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resilver.calibration.fio_process import (
    QUEUE_DEPTH,
    Runner,
    fill,
    fio_path,
    ready,
    terminable,
)
from resilver.calibration.listening import Listener
from resilver.errors import ConfigError, Interrupted
from resilver.importers.fio import MODES
from resilver.units import format_bytes

REQUEST_SIZES = tuple(2**power for power in range(12, 24))
"""4 KiB to 8 MiB."""

_LARGEST = REQUEST_SIZES[-1]
_LEAST = 8 * _LARGEST


@dataclass(frozen=True)
class FioPlan:
    """What to measure.

    Attributes:
        target: A file to make, or, with `overwrite`, one that exists or a block device.
        size_bytes: How much of it to use.
        seconds: How long each measurement takes.
        overwrite: Whether what the target holds may be destroyed.
        largest_bytes: The largest request measured.
    """

    target: Path
    size_bytes: int
    seconds: float
    overwrite: bool = False
    largest_bytes: int = REQUEST_SIZES[-1]

    @property
    def request_sizes(self) -> tuple[int, ...]:
        """The sizes measured."""
        return tuple(size for size in REQUEST_SIZES if size <= self.largest_bytes)


def measure(plan: FioPlan, listener: Listener) -> str:
    """Measure with fio.

    Returns:
        The measurements as one report in fio's JSON, without the target's name.

    Raises:
        ConfigError: fio is not installed, or the target cannot be used; nothing was written.
        ResilverError: fio failed.
        Interrupted: SIGINT or SIGTERM came. A file that was made is removed in every case.
    """
    fio = fio_path("--run")
    if not plan.request_sizes:
        rule = f"the smallest request measured is of {format_bytes(REQUEST_SIZES[0])}"
        value = f'"{format_bytes(plan.largest_bytes)}"'
        raise ConfigError(rule, 'such as "1 MiB"', key="--largest", value=value)
    size = plan.size_bytes // _LARGEST * _LARGEST
    if size < _LEAST:
        rule = f"measuring needs at least {format_bytes(_LEAST)}, eight of the largest requests"
        value = f'"{format_bytes(plan.size_bytes)}"'
        raise ConfigError(rule, 'such as "4 GiB"', key="--size", value=value)
    with (
        terminable(),
        tempfile.TemporaryDirectory() as folder,
        ready(plan.target, size, plan.overwrite, "--run") as target,
    ):
        runner = Runner.at(fio, target, size, folder, "--run")
        try:
            return _all(runner, plan, size, listener)
        except KeyboardInterrupt:
            raise Interrupted("interrupted; nothing of the measurement is kept") from None


def _all(runner: Runner, plan: FioPlan, size: int, listener: Listener) -> str:
    total = len(MODES) * len(plan.request_sizes) + 1
    listener.step(f"writing {format_bytes(size)}", 0, total)
    direct = fill(runner, listener)
    jobs: list[dict[str, Any]] = []
    version = ""
    for mode in ("write", "read", "randread", "randwrite"):
        for request in plan.request_sizes:
            listener.step(f"{mode} {format_bytes(request)}", len(jobs) + 1, total)
            document = runner.measure(mode, request, QUEUE_DEPTH, direct, plan.seconds)
            version = str(document.get("fio version", ""))
            # Each was alone, as the jobs of a group are not.
            jobs += [{**job, "groupid": len(jobs)} for job in document["jobs"]]
    return json.dumps({"fio version": version, "jobs": jobs}, indent=1) + "\n"
