"""Running fio as the recipe wants it: four patterns, 4 KiB to 8 MiB, four requests outstanding.

Each of the 48 measurements, or fewer where less than 8 MiB will do, is a run of fio of its own, so
that none shares the device with another and an interrupt waits for none. The space is written once
before: what was never written reads as zeros without the device being asked.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

from resilver.errors import ConfigError, Interrupted, Problem, ResilverError
from resilver.importers.fio import MODES
from resilver.units import format_bytes

REQUEST_SIZES = tuple(2**power for power in range(12, 24))
"""4 KiB to 8 MiB."""
QUEUE_DEPTH = 4

_LARGEST = REQUEST_SIZES[-1]
_LEAST = 8 * _LARGEST
_ENGINES = ("libaio", "io_uring")
_PATIENCE_SECONDS = 5.0


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


class Listener(Protocol):
    """Who is told how far the measuring is."""

    def step(self, name: str, done: int, total: int) -> None:
        """`name` is under way, after `done` of `total`."""

    def say(self, text: str) -> None:
        """Something worth a line happened."""


def measure(plan: FioPlan, listener: Listener) -> str:
    """Measure with fio.

    Args:
        plan: What to measure.
        listener: Told of each step.

    Returns:
        The measurements as one report in fio's JSON, without the target's name.

    Raises:
        ConfigError: fio is not installed, or the target cannot be used; nothing was written.
        ResilverError: fio failed.
        Interrupted: SIGINT or SIGTERM came. A file that was made is removed in every case.
    """
    fio = shutil.which("fio")
    if fio is None:
        rule = "fio is not installed"
        raise ConfigError(Problem(rule, "install it (Debian: apt-get install fio)", key="--run"))
    if not plan.request_sizes:
        rule = f"the smallest request measured is of {format_bytes(REQUEST_SIZES[0])}"
        value = f'"{format_bytes(plan.largest_bytes)}"'
        raise ConfigError(Problem(rule, 'such as "1 MiB"', key="--largest", value=value))
    size = plan.size_bytes // _LARGEST * _LARGEST
    if size < _LEAST:
        rule = f"measuring needs at least {format_bytes(_LEAST)}, eight of the largest requests"
        value = f'"{format_bytes(plan.size_bytes)}"'
        raise ConfigError(Problem(rule, 'such as "4 GiB"', key="--size", value=value))
    with _terminable(), tempfile.TemporaryDirectory() as folder, _ready(plan, size) as target:
        # A colon separates names in fio's option.
        name = str(target).replace("\\", "\\\\").replace(":", "\\:")
        common = [
            fio,
            f"--ioengine={_engine(fio)}",
            "--output-format=json",
            f"--filename={name}",
            f"--size={size}",
        ]
        runner = _Runner(common, folder)
        try:
            return _all(runner, plan, size, listener)
        except KeyboardInterrupt:
            raise Interrupted("interrupted; nothing of the measurement is kept") from None


def _all(runner: _Runner, plan: FioPlan, size: int, listener: Listener) -> str:
    total = len(MODES) * len(plan.request_sizes) + 1
    listener.step(f"writing {format_bytes(size)}", 0, total)
    direct = _fill(runner, listener)
    jobs: list[dict[str, Any]] = []
    version = ""
    for mode in ("write", "read", "randread", "randwrite"):
        for request in plan.request_sizes:
            listener.step(f"{mode} {format_bytes(request)}", len(jobs) + 1, total)
            options = [
                f"--name={mode}-{request}",
                f"--rw={mode}",
                f"--bs={request}",
                f"--iodepth={QUEUE_DEPTH}",
                f"--direct={direct}",
                "--time_based",
                f"--runtime={max(round(plan.seconds * 1000), 1)}ms",
            ]
            document = runner.run(options)
            version = str(document.get("fio version", ""))
            for job in document["jobs"]:
                for private in ("filename", "name"):
                    job["job options"].pop(private, None)
                # Each was alone, as the jobs of a group are not.
                jobs.append({**job, "groupid": len(jobs)})
    return json.dumps({"fio version": version, "jobs": jobs}, indent=1) + "\n"


def _fill(runner: _Runner, listener: Listener) -> int:
    """Write the space once; answers whether direct I/O works there."""
    fill = ["--name=fill", "--rw=write", "--bs=1m", f"--iodepth={QUEUE_DEPTH}", "--end_fsync=1"]
    try:
        runner.run([*fill, "--direct=1"])
    except _FioFailed as failed:
        if failed.number != errno.EINVAL:
            raise
        listener.say(
            "direct I/O does not work there, so the page cache answers too: the figures are of "
            "both together"
        )
        runner.run([*fill, "--direct=0"])
        return 0
    return 1


class _FioFailed(ResilverError):
    """A run of fio that ended with an error."""

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self.number = number


@dataclass(frozen=True)
class _Runner:
    """Runs fio with options in common, in a folder where it may leave files."""

    common: list[str]
    folder: str

    def run(self, options: list[str]) -> dict[str, Any]:
        process = subprocess.Popen(
            [self.common[0], *options, *self.common[1:]],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # The terminal's Ctrl-C is for us: fio is told once, by us.
            start_new_session=True,
        )
        try:
            printed, errors = process.communicate()
        except BaseException:
            _stop(process)
            raise
        document = _document(printed)
        jobs = document.get("jobs", [])
        number = next((int(job.get("error", 0)) for job in jobs if job.get("error")), 0)
        if process.returncode != 0 or number or not jobs:
            said = [line for line in (errors + printed).splitlines() if line.startswith("fio:")]
            why = said[0].removeprefix("fio:").strip() if said else f"exit {process.returncode}"
            if number:
                why = f"{os.strerror(number)} ({why})"
            raise _FioFailed(f"fio failed: {why}", number)
        return document


def _document(printed: str) -> dict[str, Any]:
    start = printed.find("{")
    try:
        document = json.loads(printed[max(start, 0) :])
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _engine(fio: str) -> str:
    """An engine that keeps several requests outstanding, of those this fio has."""
    listed = subprocess.run([fio, "--enghelp"], capture_output=True, text=True, check=False).stdout
    names = {line.strip() for line in listed.splitlines()}
    for engine in _ENGINES:
        if engine in names:
            return engine
    rule = f"this fio has neither of the engines {' and '.join(_ENGINES)}"
    raise ConfigError(Problem(rule, "install a fio that has one", key="--run"))


@contextmanager
def _ready(plan: FioPlan, size: int) -> Iterator[Path]:
    """The target, safe to write; what was made here is removed at the end."""
    target = plan.target.absolute()
    try:
        kind = os.stat(target).st_mode
    except FileNotFoundError:
        kind = None
    except OSError as error:
        _refuse(target, f"it cannot be looked at: {error.strerror}", "choose another")
    if kind is not None:
        _check_existing(target, kind, plan.overwrite)
        yield target
        return
    try:
        free = shutil.disk_usage(target.parent).free
        if free < size:
            rule = f"{format_bytes(size)} are needed, and {format_bytes(free)} are free there"
            _refuse(target, rule, "use a smaller --size, or another place")
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        _refuse(target, f"no file can be made there: {error.strerror}", "choose another place")
    try:
        yield target
    finally:
        target.unlink(missing_ok=True)


def _check_existing(target: Path, kind: int, overwrite: bool) -> None:
    if stat.S_ISDIR(kind):
        _refuse(target, "this is a folder", "name a file to make in it")
    block = stat.S_ISBLK(kind)
    if not block and not stat.S_ISREG(kind):
        _refuse(target, "this is neither a file nor a block device", "name one of these")
    if not overwrite:
        what = "a block device" if block else "a file that exists"
        remedy = "name a file to make, or add --overwrite if what it holds may go"
        _refuse(target, f"this is {what}, and measuring destroys what it holds", remedy)
    try:
        # On a block device O_EXCL fails while it is mounted, or part of a volume or of the swap.
        os.close(os.open(target, os.O_RDWR | (os.O_EXCL if block else 0)))
    except OSError as error:
        if error.errno == errno.EBUSY:
            _refuse(target, "the device is in use: mounted, or part of a volume", "free it first")
        _refuse(target, f"it cannot be written: {error.strerror}", "choose another")


def _refuse(target: Path, rule: str, remedy: str) -> NoReturn:
    raise ConfigError(Problem(rule, remedy, key="--run", value=f'"{target}"'))


@contextmanager
def _terminable() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C, so that what was made is removed then too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: object) -> NoReturn:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
