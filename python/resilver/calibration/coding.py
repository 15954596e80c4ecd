"""Calibrating how fast one core encodes and decodes, with the library that storage systems use."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from resilver.calibration.isal import Bytes8, Library, plain_product
from resilver.calibration.listening import Listener
from resilver.errors import ConfigError, Problem, ResilverError, raise_all, show
from resilver.record import record
from resilver.spec.toml import write_keys, write_toml
from resilver.units import exact_bytes

STRIP_BYTES = 65536
"""One device's part of a stripe, by default."""

REPEATS = 7
"""How often each rate is measured; the median counts."""

_SECONDS = 0.1
_SPREAD_BYTES = 64 * 2**20
_SAMPLE_BYTES = 4096
_STRIP_BYTES_MAX = 2**26


class MeasuredCode(Protocol):
    """What is asked of a code, such as `resilver.redundancy` gives."""

    @property
    def name(self) -> str:
        """As a study file writes it."""

    @property
    def data(self) -> int:
        """Data pieces."""

    @property
    def pieces(self) -> int:
        """All pieces."""

    @property
    def fault_tolerance(self) -> int:
        """How many pieces may be lost wherever they are."""

    @property
    def generator(self) -> Bytes8:
        """How the data make the pieces, shape (pieces, data)."""

    def read(self, lost: Sequence[int]) -> list[int] | None:
        """The pieces that a read gathers."""

    def decoding(self, gathered: Sequence[int], wanted: Sequence[int]) -> Bytes8 | None:
        """How some pieces make others."""


@dataclass(frozen=True)
class CodingRates:
    """How fast one core codes, in bytes of user data a second.

    Attributes:
        code: The code, as a study file writes it.
        strip_bytes: One device's part of a stripe.
        encode_bytes_per_second: Making all parity of a stripe, counted by the stripe's data.
        decode_bytes_per_second: Reading a stripe with 1, 2, ... data strips lost, up to what the
            code survives anywhere: making these of what a read gathers, counted by the data.
    """

    code: str
    strip_bytes: int
    encode_bytes_per_second: float
    decode_bytes_per_second: tuple[float, ...]


@dataclass(frozen=True)
class CodingCalibration:
    """The rates of some codes on this machine.

    Attributes:
        rates: By code, in the order asked.
        library: The file of the library.
        machine: The processor.
        date: The day of the measurement, ISO 8601.
    """

    rates: tuple[CodingRates, ...]
    library: str
    machine: str
    date: str

    def to_toml(self) -> str:
        """The rates as a file that ``redundancy.coding = { file = "..." }`` reads."""
        head = {
            "description": "How fast one core encodes and decodes, in bytes of user data a second.",
            "source": f"Measured by resilver calibrate coding on {self.date}: {self.library} on "
            f"one core of {self.machine}; medians of {REPEATS}, from main memory.",
        }
        return f"{write_keys(head)}\n{write_toml({'codes': [_plain(row) for row in self.rates]})}"

    def to_dict(self) -> dict[str, Any]:
        """Everything, JSON-able, with units in the names."""
        found = record(self, "library", "machine", "date")
        return {**found, "codes": [asdict(row) for row in self.rates]}


def calibrate_coding(
    codes: Sequence[MeasuredCode],
    *,
    strip_bytes: int = STRIP_BYTES,
    library: str | os.PathLike[str] | None = None,
    listener: Listener | None = None,
) -> CodingCalibration:
    """Measure how fast one core of this machine codes with Intel's ISA-L.

    Each rate is the median of several. Stripes follow one another through more memory than caches
    hold, and time is what the core spends, so that other processes take little from it.

    Args:
        codes: The codes, with their matrices.
        strip_bytes: One device's part of a stripe.
        library: The file of ISA-L; by default what the system finds.
        listener: Told of each measurement.

    Returns:
        The rates.

    Raises:
        ConfigError: The library is missing, or a code or the strip cannot be measured.
        ResilverError: The library computes something else than our matrices say.

    >>> calibrate_coding([])
    Traceback (most recent call last):
    resilver.errors.ConfigError: no code is named; name one, such as "rs 8+3"
    """
    _check(codes, strip_bytes)
    coder = Library(library)
    total = sum(1 + code.fault_tolerance for code in codes)
    done = 0

    def step(name: str) -> None:
        nonlocal done
        if listener is not None:
            listener.step(name, done, total)
        done += 1

    rates = tuple(_rates(coder, code, strip_bytes, step) for code in codes)
    return CodingCalibration(rates, coder.name, _machine(), time.strftime("%Y-%m-%d"))


def _check(codes: Sequence[MeasuredCode], strip_bytes: int) -> None:
    if not codes:
        raise ConfigError("no code is named", 'name one, such as "rs 8+3"')
    problems = []
    for code in codes:
        if code.data == 1:
            rule = "one data piece is copied and not coded"
            remedy = 'measure a code of several, such as "rs 8+3"'
            problems.append(Problem(rule, remedy, key="code", value=show(code.name)))
    if not 64 <= strip_bytes <= _STRIP_BYTES_MAX:
        rule, value = "a strip is from 64 B to 64 MiB", show(exact_bytes(max(strip_bytes, 0)))
        problems.append(Problem(rule, 'such as "64 KiB"', key="strip", value=value))
    raise_all(problems)


def _rates(
    library: Library, code: MeasuredCode, strip_bytes: int, step: Callable[[str], None]
) -> CodingRates:
    """The rates of one code."""
    step(f"{code.name}: encoding")
    parity = code.generator[code.data :]
    encode = _rate(library, parity, strip_bytes, code.data)
    decode = []
    for losses in range(1, code.fault_tolerance + 1):
        step(f"{code.name}: decoding {losses} lost")
        decode.append(_rate(library, _decoding(code, losses), strip_bytes, code.data))
    return CodingRates(code.name, strip_bytes, encode, tuple(decode))


def _decoding(code: MeasuredCode, losses: int) -> Bytes8:
    """How the first data strips are made of what a read without them gathers.

    What is gathered and has no part in any of them, such as the data of other local groups, is
    left out, as a coder leaves it out.
    """
    lost = list(range(losses))
    gathered = code.read(lost)
    factors = None if gathered is None else code.decoding(gathered, lost)
    if factors is None:
        raise ResilverError(f"{code.name} does not survive {losses} losses, which it should")
    return np.ascontiguousarray(factors[:, factors.any(axis=0)])


def _rate(library: Library, factors: Bytes8, strip_bytes: int, data: int) -> float:
    """Bytes of user data a second of one core's time."""
    outputs, inputs = factors.shape
    matrix = library.prepared(factors)
    generator = np.random.default_rng(1)
    stripe_bytes = (outputs + inputs) * strip_bytes
    stripes = max(_SPREAD_BYTES // stripe_bytes, 2)
    memory = generator.integers(0, 256, (stripes, outputs + inputs, strip_bytes), dtype=np.uint8)
    sample = [strip[:_SAMPLE_BYTES] for strip in memory[0, :inputs]]
    expected = plain_product(factors, sample)
    if not all(map(np.array_equal, matrix.made(sample), expected)):
        raise ResilverError(f"{library.name} computes another product than the code's matrix says")
    places = [
        (matrix.addresses(list(stripe[:inputs])), matrix.addresses(list(stripe[inputs:])))
        for stripe in memory
    ]
    once = _seconds(matrix.apply, strip_bytes, places, 1)
    rounds = max(round(_SECONDS / max(once, 1e-6)), 1)
    times = [_seconds(matrix.apply, strip_bytes, places, rounds) for _ in range(REPEATS)]
    coded_bytes = rounds * stripes * data * strip_bytes
    return float(coded_bytes / statistics.median(times))


def _seconds(
    apply: Callable[[int, npt.NDArray[np.uintp], npt.NDArray[np.uintp]], None],
    strip_bytes: int,
    places: Sequence[tuple[npt.NDArray[np.uintp], npt.NDArray[np.uintp]]],
    rounds: int,
) -> float:
    """How long this thread computes over the stripes, so many times over."""
    start = time.thread_time_ns()
    for _ in range(rounds):
        for sources, made in places:
            apply(strip_bytes, sources, made)
    return (time.thread_time_ns() - start) / 1e9


def _plain(row: CodingRates) -> dict[str, Any]:
    """A code's row of the file; its decoding rate is the slowest of those by losses."""
    by_losses = [_megabytes(rate) for rate in row.decode_bytes_per_second]
    return {
        "code": row.code,
        "strip": exact_bytes(row.strip_bytes),
        "encode": _megabytes(row.encode_bytes_per_second),
        "decode": _megabytes(min(row.decode_bytes_per_second)),
        "decode_by_losses": by_losses,
    }


def _megabytes(bytes_per_second: float) -> str:
    """A rate to the megabyte per second, which is finer than it is measured, and at least one."""
    return f"{max(round(bytes_per_second / 1e6), 1)} MB/s"


def _machine() -> str:
    """The processor as Linux names it, else as Python does."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    models = [line.split(":", 1)[1] for line in text.splitlines() if line.startswith("model name")]
    name = models[0] if models else platform.processor() or platform.machine()
    return " ".join(name.split())
