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

from resilver.errors import ConfigError, Problem, name_remedy, show
from resilver.importers.text import parse_toml, read_text, refuse
from resilver.quantities import decimal, decimal_rate
from resilver.units import Bytes, BytesPerSecond, Quantity, Seconds

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
    given = parse_toml(text, place)
    known = ("period", "first", "length", "volume", "reads", "name", "height", "confidence")
    problems = [
        Problem("no such key of a signature", name_remedy(key, known), key, place=str(place))
        for key in given
        if key not in (*known, "runs")
    ]
    if problems:
        raise ConfigError(problems)
    if missing := [key for key in ("period", "length", "volume") if key not in given]:
        refuse(place, f"a signature has a {missing[0]}", f'write {missing[0]} = "..."')
    beside = {match[1]: match[2] for match in _UNCERTAIN.finditer(text)}

    def read(key: str, kind: type[Quantity], table: dict[str, Any] = given) -> float:
        try:
            return float(kind.parse(table.get(key, 0)))  # type: ignore[arg-type]
        except ConfigError as error:
            where = [
                Problem(one.rule, one.remedy, key, one.value, str(place)) for one in error.problems
            ]
            raise ConfigError(where) from None

    if "height" in given:
        read("height", BytesPerSecond)
    made = Signature(
        read("period", Seconds),
        read("first", Seconds),
        read("length", Seconds),
        read("volume", Bytes),
        _share(given, "reads", place) or 0.0,
        str(given.get("name") or place.stem),
        _share(given, "confidence", place),
        _runs(given, place),
        read("period", Seconds, beside),
        read("length", Seconds, beside),
        read("volume", Bytes, beside),
    )
    _check(made, place)
    return made


def _share(given: dict[str, Any], key: str, place: Path) -> float | None:
    value = given.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise ConfigError(Problem("it is a share of 0 to 1", "", key, show(value), str(place)))
    return float(value)


def _runs(given: dict[str, Any], place: Path) -> int:
    value = given.get("runs", 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        rule = "it is how many runs there were"
        raise ConfigError(Problem(rule, "write a whole number", "runs", show(value), str(place)))
    return value


def _check(made: Signature, place: Path) -> None:
    for key, value in (("length", made.length), ("volume", made.volume)):
        if value <= 0.0:
            raise ConfigError(Problem("it is above 0", "", key, show(value), str(place)))
    if made.period < made.length:
        rule = f"a period is no shorter than its burst, which is {_seconds(made.length)}"
        raise ConfigError(Problem(rule, "", "period", _seconds(made.period), str(place)))
