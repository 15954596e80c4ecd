"""Running the tests of a plan with fio, one after another; what ended is kept.

Each test leaves a file of fio's JSON in the plan's folder of results, so that a run that was
interrupted goes on where it stopped. The space is written once before, each time it goes on.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resilver.calibration.bench_plan import Plan, Test
from resilver.calibration.fio_process import Runner, fill, fio_path, ready, terminable
from resilver.calibration.listening import Listener
from resilver.errors import ConfigError, Interrupted, show
from resilver.importers.jsonpath import Node
from resilver.text import parse_json, read_text
from resilver.units import format_bytes

RESULTS = "results"
"""The folder of results in a plan's."""

_ABOUT = "about.json"
_TIMES = 8


@dataclass(frozen=True)
class BenchRun:
    """How a plan is run.

    Attributes:
        plan: The plan.
        folder: Where its results go: a folder that is made.
        target: A file to make, or, with `overwrite`, one that exists or a block device.
        size_bytes: How much of it to use.
        overwrite: Whether what the target holds may be destroyed.
    """

    plan: Plan
    folder: Path
    target: Path
    size_bytes: int
    overwrite: bool = False

    def result_of(self, test: Test) -> Path:
        """Where the result of a test is kept."""
        return self.folder / f"{test.name}.json"

    @property
    def left(self) -> tuple[Test, ...]:
        """The tests that have no result yet, in the plan's order."""
        return tuple(test for test in self.plan.tests if not self.result_of(test).is_file())


def run_plan(asked: BenchRun, listener: Listener) -> int:
    """Run the tests of a plan that have no result yet.

    Returns:
        How many tests ran.

    Raises:
        ConfigError: fio is not installed, the target cannot be used or the space is short, or the
            results there are of another target or size; nothing was written to the target.
        ResilverError: fio failed.
        Interrupted: SIGINT or SIGTERM came. fio is ended, a file that was made is removed, and the
            results of tests that ended are kept.
    """
    fio = fio_path("bench run")
    largest = max(test.request_bytes for test in asked.plan.tests)
    size = asked.size_bytes // largest * largest
    if size < _TIMES * largest:
        rule = f"these tests need at least {format_bytes(_TIMES * largest)}"
        value = f'"{format_bytes(asked.size_bytes)}"'
        raise ConfigError(rule, 'such as "4 GiB"', key="--size", value=value)
    tests = asked.left
    if not tests:
        return 0
    about = {"target": str(asked.target.absolute()), "size_bytes": size}
    _check_same(asked.folder, about)
    with (
        terminable(),
        tempfile.TemporaryDirectory() as scratch,
        ready(asked.target, size, asked.overwrite, "--target") as target,
    ):
        runner = Runner.at(fio, target, size, scratch, "bench run")
        try:
            asked.folder.mkdir(parents=True, exist_ok=True)
            _write(asked.folder / _ABOUT, about)
            listener.step(f"writing {format_bytes(size)}", 0, len(tests) + 1)
            direct = fill(runner, listener)
            for done, test in enumerate(tests, start=1):
                words = f"{test.mode} {format_bytes(test.request_bytes)} queue {test.queue}"
                listener.step(words, done, len(tests) + 1)
                measured = runner.measure(
                    test.mode, test.request_bytes, test.queue, direct, asked.plan.seconds
                )
                _write(asked.result_of(test), measured)
                if done < len(tests):
                    time.sleep(asked.plan.pause_seconds)
        except KeyboardInterrupt:
            kept = len(asked.plan.tests) - len(asked.left)
            text = f"interrupted; {kept} of {len(asked.plan.tests)} tests are kept"
            raise Interrupted(f"{text}, and the same command does the rest") from None
    return len(tests)


def _check_same(folder: Path, about: dict[str, Any]) -> None:
    """That results which are there already were measured at the same place."""
    file = folder / _ABOUT
    if not file.is_file():
        return
    there = Node(parse_json(read_text(file), file), "", str(file))
    for name, value in about.items():
        if (old := there.at(name).value) != value:
            rule = f"{folder} holds results of {name} = {show(old)}, and this is {show(value)}"
            remedy = "use the same, or move the results elsewhere and start again"
            raise ConfigError(rule, remedy, place=str(file))


def _write(path: Path, document: dict[str, Any]) -> None:
    """Write a file in one step, so that a result is whole or not there."""
    beside = path.with_name(path.name + ".part")
    try:
        beside.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        os.replace(beside, path)
    except OSError as error:
        rule = f"it cannot be written: {error.strerror}"
        raise ConfigError(rule, "choose another folder", place=str(path)) from None
