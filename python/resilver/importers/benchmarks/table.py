"""One table of what benchmarks measured, whatever program did it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from resilver.errors import show
from resilver.importers.fio import MODES
from resilver.text import refuse

LAYERS = ("block", "server", "file system", "metadata")
"""What a rate is of: devices past all software, the servers' own storage, clients, names."""

MIB = float(2**20)
RATE_MOST = 1e18
COUNT_MOST = 2**40


@dataclass(frozen=True)
class Benchmark:
    """One rate that a program measured.

    Attributes:
        layer: One of `LAYERS`.
        program: What measured it, such as ``IOR``.
        test: What the program calls the test, such as ``rewrite`` or ``ior-easy-write``.
        mode: One of `MODES`; None of metadata.
        request_bytes: The size of a request; None where the file does not say.
        queue: Requests outstanding at a device; likewise.
        threads: Threads that worked together, of all devices or clients; likewise.
        clients: Clients or processes that worked together; likewise.
        devices: Devices, or targets of a server, that worked together; likewise.
        device: The device that the rate is of; empty where it is of all of them.
        bytes_per_second: The rate of data; None of metadata.
        operations_per_second: The rate of operations on names; None of data.
        skew_bytes_per_second: The fastest less the slowest of what worked together, as the program
            tells it; None where it does not.
        latency_seconds: The median time of a request; None where the file does not say.
        file: The file's name.
        line: The line that the rate stands on; None where that means nothing.
    """

    layer: str
    program: str
    test: str
    mode: str | None = None
    request_bytes: int | None = None
    queue: int | None = None
    threads: int | None = None
    clients: int | None = None
    devices: int | None = None
    device: str = ""
    bytes_per_second: float | None = None
    operations_per_second: float | None = None
    skew_bytes_per_second: float | None = None
    latency_seconds: float | None = None
    file: str = ""
    line: int | None = None

    @property
    def is_of_all(self) -> bool:
        """Whether the rate is of all that worked together, and not of one device among others."""
        return not self.device or self.devices in (None, 1)

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return self.file if self.line is None else f"{self.file}, line {self.line}"


COLUMNS = tuple(one.name for one in fields(Benchmark))
"""The columns of the table, as its files have them."""


@dataclass(frozen=True)
class Benchmarks:
    """What several files say.

    Attributes:
        rows: The rates, in the order of the files.
        notes: What was left out or put right and why, a sentence each.
    """

    rows: tuple[Benchmark, ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows by column, JSON-able, with units in the names."""
        return [asdict(one) for one in self.rows]

    def to_pandas(self) -> Any:
        """The table as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.to_dicts(), columns=list(COLUMNS))


@dataclass
class Found:
    """What a reader gathers from one file.

    Attributes:
        path: The file.
        program: What measured.
        rows: Rates.
        notes: What was left out and why.
    """

    path: Path
    program: str
    rows: list[Benchmark] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, layer: str, test: str, line: int | None = None, **more: Any) -> None:
        """Take a rate that stands on a line; see `Benchmark`."""
        row = Benchmark(layer, self.program, test, file=self.path.name, line=line, **more)
        self.rows.append(row)

    def note(self, line: int, text: str) -> None:
        """Say what was left out at a line, and why."""
        self.notes.append(f"{self.path.name}, line {line}: {text}")

    def whole(self, rule: str, remedy: str) -> Found:
        """This, of a file that has a rate.

        Raises:
            ConfigError: It has none, with the first reason for which one was left out.
        """
        if not self.rows:
            why = f": {self.notes[0]}" if self.notes else ""
            refuse(self.path, f"{rule}{why}", remedy)
        return self


def rate_of(text: str, unit: float, place: str, what: str = "rate") -> float:
    """A rate from its digits.

    Args:
        text: The digits, without their unit.
        unit: What one of the unit is, in bytes or operations per second.
        place: Where they stand.
        what: What they are called there.

    Raises:
        ConfigError: They are no number above zero, or one that no storage system has.
    """
    try:
        value = float(text) * unit
    except ValueError:
        refuse(place, f"{what} {show(text)} is not a number", "is the file cut off?")
    if not 0.0 < value <= RATE_MOST:
        refuse(place, f"{what} {show(text)}: a rate is above zero", "run that test again")
    return value


def count_of(text: str, place: str, what: str) -> int:
    """A number of things, or of bytes, from its digits; at least one.

    Raises:
        ConfigError: They are no whole number from 1 on.
    """
    digits = text.strip()
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 14):
        refuse(place, f"{what} {show(text)} is not a whole number", "is the file cut off?")
    if not 1 <= int(digits) <= COUNT_MOST:
        refuse(place, f"{what} {show(text)} is not between 1 and 2^40", "run that test again")
    return int(digits)


def mode_of(writes: bool, random: bool) -> str:
    """The mode by its name.

    >>> mode_of(True, False), mode_of(False, True)
    ('write', 'randread')
    """
    name = f"{'rand' if random else ''}{'write' if writes else 'read'}"
    assert name in MODES
    return name


def repeated(rows: Sequence[Benchmark]) -> dict[tuple[Any, ...], list[Benchmark]]:
    """Rates of the same test, which ran again: by all that tells tests apart."""
    found: dict[tuple[Any, ...], list[Benchmark]] = {}
    for one in rows:
        key = (one.layer, one.mode, one.test if one.mode is None else "", one.request_bytes)
        found.setdefault(
            (*key, one.queue, one.threads, one.clients, one.devices, one.device), []
        ).append(one)
    return found
