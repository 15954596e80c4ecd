"""The file of a signature: the traffic of one job, and what is told beside it.

A study takes the file as it is, and knows no uncertainty; so how far a value is known stands in the
comment behind it, ``# ± 2 s``, where `read_signature` finds it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resilver.errors import placed, show
from resilver.quantities import decimal, decimal_rate
from resilver.spec.jobs import JobSignature
from resilver.text import parse_toml, read_text
from resilver.units import Bytes, Seconds

_DIGITS = 6
_UNCERTAIN = re.compile(r"^(period|length|volume)[^#\n]*# ± ([^#\n]+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Signature:
    """What a job moves: a burst in each period, and nothing between.

    Attributes:
        period: Seconds from one burst's begin to the next.
        first: Seconds from the job's begin to its first burst.
        length: Seconds of a burst that nothing holds back.
        volume: Bytes of a burst.
        reads: The share of them that is read.
        name: What the job is called.
        confidence: The share of its bursts that were seen beyond what chance would show, times how
            sure so many runs can be: 1 - 2^-runs.
        runs: How many runs it was made of; 0 where nothing says.
        period_error: Half of the interval that holds the period 19 times of 20, in seconds.
        length_error: The same of the length.
        volume_error: The same of the volume, in bytes.
    """

    period: float
    first: float
    length: float
    volume: float
    reads: float = 0.0
    name: str = ""
    confidence: float | None = None
    runs: int = 0
    period_error: float = 0.0
    length_error: float = 0.0
    volume_error: float = 0.0

    @property
    def height(self) -> float:
        """Bytes a second in a burst."""
        return self.volume / self.length

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "name": self.name,
            "period_seconds": self.period,
            "first_seconds": self.first,
            "length_seconds": self.length,
            "volume_bytes": self.volume,
            "height_bytes_per_second": self.height,
            "reads_share": self.reads,
            "confidence": self.confidence,
            "runs": self.runs,
            "period_error_seconds": self.period_error,
            "length_error_seconds": self.length_error,
            "volume_error_bytes": self.volume_error,
        }

    def to_toml(self) -> str:
        """The file's text, which `read_signature` reads and `traffic.jobs` takes."""
        lines = [f"name = {show(self.name)}"] if self.name else []
        lines += [
            f'period = "{_seconds(self.period)}"{_within(_seconds, self.period_error)}',
            f'first = "{_seconds(self.first)}"',
            f'length = "{_seconds(self.length)}"{_within(_seconds, self.length_error)}',
            f'volume = "{_bytes(self.volume)}"{_within(_bytes, self.volume_error)}',
            f"reads = {round(self.reads, 4)}",
            f'height = "{decimal_rate(self.height)}"',
        ]
        if self.confidence is not None:
            lines.append(f"confidence = {round(self.confidence, 3)}")
        if self.runs:
            lines.append(f"runs = {self.runs}")
        return "\n".join(lines) + "\n"


def _seconds(value: float) -> str:
    return f"{float(f'{value:.{_DIGITS}g}'):g} s" if value < 10**_DIGITS else f"{value:.0f} s"


def _bytes(value: float) -> str:
    """A size to six digits, of whole bytes."""
    return decimal(float(round(value)), "B", _DIGITS)


def _within(told: Callable[[float], str], error: float) -> str:
    """A comment that says how far a value is known; nothing where nothing says."""
    return f"  # ± {told(float(f'{error:.3g}'))}" if error > 0.0 else ""


def read_signature(path: str | Path) -> Signature:
    """Read the file of a signature.

    Args:
        path: What `resilver signature` wrote, or a file with its keys.

    Raises:
        ConfigError: It cannot be read, a key is missing or not known, or a value is impossible.
    """
    place = Path(path)
    text = read_text(place)
    with placed(str(place)):
        given = JobSignature.from_table(parse_toml(text, place), place.parent)
    beside = {match[1]: match[2] for match in _UNCERTAIN.finditer(text)}

    def error_of(key: str, kind: type[Seconds] | type[Bytes]) -> float:
        with placed(str(place), key=key):
            return float(kind.parse(beside[key])) if key in beside else 0.0

    return Signature(
        float(given.period),
        float(given.first),
        float(given.length),
        float(given.volume),
        float(given.reads),
        given.name or place.stem,
        given.confidence,
        given.runs or 0,
        error_of("period", Seconds),
        error_of("length", Seconds),
        error_of("volume", Bytes),
    )
