"""fio as a process: started, told to end, and the place where it measures."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from resilver.calibration.listening import Listener
from resilver.errors import ConfigError, ResilverError
from resilver.units import format_bytes

QUEUE_DEPTH = 4
"""How many requests the recipe keeps outstanding."""

_ENGINES = ("libaio", "io_uring")
_PATIENCE_SECONDS = 5.0
_LATE_SECONDS = 300.0


def fio_path(key: str) -> str:
    """Where fio is.

    Args:
        key: What asks for it, for the message.

    Raises:
        ConfigError: It is not installed.
    """
    fio = shutil.which("fio")
    if fio is None:
        rule = "fio is not installed"
        raise ConfigError(rule, "install it (Debian: apt-get install fio)", key=key)
    return fio


def fill(runner: Runner, listener: Listener) -> int:
    """Write the space once; what was never written reads as zeros without the device being asked.

    Args:
        listener: Told if direct I/O does not work there.

    Returns:
        Whether it works, as fio writes that.

    Raises:
        ResilverError: fio failed.
    """
    words = ["--name=fill", "--rw=write", "--bs=1m", f"--iodepth={QUEUE_DEPTH}", "--end_fsync=1"]
    try:
        runner.run([*words, "--direct=1"])
    except FioFailed as failed:
        if failed.number != errno.EINVAL:
            raise
        listener.say(
            "direct I/O does not work there, so the page cache answers too: the figures are of "
            "both together"
        )
        runner.run([*words, "--direct=0"])
        return 0
    return 1


class FioFailed(ResilverError):
    """A run of fio that ended with an error."""

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self.number = number


@dataclass(frozen=True)
class Runner:
    """Runs fio with options in common, in a folder where it may leave files.

    Attributes:
        common: fio and those options.
        folder: The folder.
    """

    common: list[str]
    folder: str

    @classmethod
    def at(cls, fio: str, target: Path, size: int, folder: str, key: str) -> Runner:
        """One that measures so many bytes of a target.

        Args:
            fio: Where fio is.
            target: The file or device.
            size: How many bytes of it are used.
            folder: Where fio may leave files.
            key: What asks for it, for messages.
        """
        # A colon separates names in fio's option.
        name = str(target).replace("\\", "\\\\").replace(":", "\\:")
        engine = f"--ioengine={engine_of(fio, key)}"
        words = [fio, engine, "--output-format=json", f"--filename={name}", f"--size={size}"]
        return cls(words, folder)

    def measure(
        self, mode: str, request_bytes: int, queue: int, direct: int, seconds: float
    ) -> dict[str, Any]:
        """Measure one pattern at one size; answers fio's report without the target's name.

        Args:
            mode: The pattern, as fio names it.
            request_bytes: The size of a request.
            queue: How many requests are outstanding.
            direct: Whether they go past the page cache, as fio writes that.
            seconds: How long it takes.

        Raises:
            ResilverError: fio failed.
        """
        document = self.run(
            [
                f"--name={mode}-{request_bytes}",
                f"--rw={mode}",
                f"--bs={request_bytes}",
                f"--iodepth={queue}",
                f"--direct={direct}",
                "--time_based",
                f"--runtime={max(round(seconds * 1000), 1)}ms",
            ],
            2.0 * seconds + _LATE_SECONDS,
        )
        for job in document["jobs"]:
            for private in ("filename", "name"):
                job["job options"].pop(private, None)
        return document

    def run(self, options: list[str], seconds: float | None = None) -> dict[str, Any]:
        """Run fio to its end, or end it where this is interrupted; answers its report.

        Args:
            options: Its options beside those in common.
            seconds: After how long it is ended and counts as failed; None for never.

        Raises:
            ResilverError: fio failed, or took longer.
        """
        process = None
        try:
            with _INTERRUPTS.held():
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
            printed, errors = process.communicate(timeout=seconds)
        except BaseException as error:
            if process is not None:
                _stop(process)
            if isinstance(error, subprocess.TimeoutExpired):
                text = (
                    f"fio failed: it did not end within {error.timeout:.0f} s; does the disk hang?"
                )
                raise FioFailed(text, errno.ETIMEDOUT) from None
            raise
        document = _document(printed)
        jobs = document.get("jobs", [])
        number = next((int(job.get("error", 0)) for job in jobs if job.get("error")), 0)
        if process.returncode != 0 or number or not jobs:
            said = [line for line in (errors + printed).splitlines() if line.startswith("fio:")]
            why = said[0].removeprefix("fio:").strip() if said else f"exit {process.returncode}"
            if number:
                why = f"{os.strerror(number)} ({why})"
            raise FioFailed(f"fio failed: {why}", number)
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
        process.kill()
        process.wait()
    # Its jobs are processes of its group, and end with it as a rule.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def engine_of(fio: str, key: str) -> str:
    """An engine that keeps several requests outstanding, of those this fio has.

    Args:
        key: What asks for it, for the message.

    Raises:
        ConfigError: It has none.
    """
    listed = subprocess.run([fio, "--enghelp"], capture_output=True, text=True, check=False).stdout
    names = {line.strip() for line in listed.splitlines()}
    for engine in _ENGINES:
        if engine in names:
            return engine
    rule = f"this fio has neither of the engines {' and '.join(_ENGINES)}"
    raise ConfigError(rule, "install a fio that has one", key=key)


@contextmanager
def ready(asked: Path, size: int, overwrite: bool, key: str) -> Iterator[Path]:
    """The target, safe to write; what was made here is removed at the end.

    Args:
        asked: A file to make, or, with `overwrite`, one that exists or a block device.
        size: How many bytes of it are used.
        overwrite: Whether what the target holds may be destroyed.
        key: What names the target, for messages.

    Raises:
        ConfigError: It cannot be used, or the space is short; nothing was written.
    """
    target = asked.absolute()
    try:
        kind = os.stat(target).st_mode
    except FileNotFoundError:
        kind = None
    except OSError as error:
        _refuse(key, target, f"it cannot be looked at: {error.strerror}", "choose another")
    if kind is not None:
        _check_existing(target, kind, overwrite, key)
        yield target
        return
    try:
        free = shutil.disk_usage(target.parent).free
        if free < size:
            rule = f"{format_bytes(size)} are needed, and {format_bytes(free)} are free there"
            _refuse(key, target, rule, "use a smaller --size, or another place")
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        _refuse(key, target, f"no file can be made there: {error.strerror}", "choose another place")
    try:
        yield target
    finally:
        target.unlink(missing_ok=True)


def _check_existing(target: Path, kind: int, overwrite: bool, key: str) -> None:
    if stat.S_ISDIR(kind):
        _refuse(key, target, "this is a folder", "name a file to make in it")
    block = stat.S_ISBLK(kind)
    if not block and not stat.S_ISREG(kind):
        _refuse(key, target, "this is neither a file nor a block device", "name one of these")
    if not overwrite:
        what = "a block device" if block else "a file that exists"
        remedy = "name a file to make, or add --overwrite if what it holds may go"
        _refuse(key, target, f"this is {what}, and measuring destroys what it holds", remedy)
    try:
        # On a block device O_EXCL fails while it is mounted, or part of a volume or of the swap.
        os.close(os.open(target, os.O_RDWR | (os.O_EXCL if block else 0)))
    except OSError as error:
        if error.errno == errno.EBUSY:
            _refuse(
                key, target, "the device is in use: mounted, or part of a volume", "free it first"
            )
        _refuse(key, target, f"it cannot be written: {error.strerror}", "choose another")


def _refuse(key: str, target: Path, rule: str, remedy: str) -> NoReturn:
    raise ConfigError(rule, remedy, key=key, value=f'"{target}"')


class _Interrupts:
    """SIGINT and SIGTERM as `KeyboardInterrupt`, but not while a process is being started.

    One that comes then would leave a process that nobody knows of.
    """

    def __init__(self) -> None:
        self.is_held = False
        self.came = False

    def handle(self, _number: int, _frame: object) -> None:
        """Interrupt, or remember it."""
        if self.is_held:
            self.came = True
            return
        raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Put interrupts off to the end of this."""
        self.is_held = True
        try:
            yield
        finally:
            self.is_held = False
        if self.came:
            self.came = False
            raise KeyboardInterrupt


_INTERRUPTS = _Interrupts()


@contextmanager
def terminable() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C, so that what was made is removed then too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGTERM, signal.SIGINT)
    previous = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        # Who starts us in the background may have us ignore Ctrl-C.
        if previous[number] is not signal.SIG_IGN:
            signal.signal(number, _INTERRUPTS.handle)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, previous[number])
