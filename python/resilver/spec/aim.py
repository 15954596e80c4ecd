"""What makes one system of a sweep better than another: a metric, and what others have to keep."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from resilver.errors import ConfigError, name_remedy, show
from resilver.units import Bytes, BytesPerSecond, Seconds

_ORDER = re.compile(r"(most|least)\s+(\w+)")
_LIMIT = re.compile(r"(\w+)\s*(>=|<=)\s*(.+)")
_EXAMPLE = 'such as "most during_throughput, rebuild_bytes_per_second >= 20 GiB/s"'
_TEXTS = ("string", "bool")

_KINDS = {
    "_bytes_per_second": "rate",
    "_seconds": "seconds",
    "_bytes": "bytes",
    "_fraction": "share",
    "_ratio": "share",
    "_share": "share",
}
"""What a metric is by the end of its name; others are numbers."""
_OF_WHICH = re.compile("_(max|read|written)$")
"""What may stand behind that end."""
_QUANTITIES: dict[str, type[Bytes | BytesPerSecond | Seconds]] = {
    "rate": BytesPerSecond,
    "seconds": Seconds,
    "bytes": Bytes,
}


def names() -> tuple[str, ...]:
    """The metrics that an aim may be about, which are columns of the table ``runs``."""
    # Arrow takes a tenth of a second, and few studies have an aim.
    from resilver.columns import METRICS

    return tuple(metric.name for metric in METRICS if str(metric.type) not in _TEXTS)


@dataclass(frozen=True)
class Limit:
    """What a metric has to keep.

    Attributes:
        column: The metric.
        is_least: Whether `value` is the least that it may be; else the most.
        value: In SI units.
        words: As written: ``rebuild_seconds <= 2 h``.
    """

    column: str
    is_least: bool
    value: float
    words: str

    def keeps(self, value: float | None) -> bool:
        """Whether a value keeps it; what has none does not."""
        if value is None:
            return False
        return value >= self.value if self.is_least else value <= self.value


@dataclass(frozen=True)
class Aim:
    """What is best: the most or the least of a metric, among what keeps all limits.

    Attributes:
        column: The metric that ranks.
        is_most: Whether more is better.
        limits: What every system has to keep.
    """

    column: str
    is_most: bool
    limits: tuple[Limit, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The metrics that it is about, each once."""
        return tuple(dict.fromkeys((self.column, *(limit.column for limit in self.limits))))


def kind_of(column: str) -> str:
    """What a metric is, as tables have it: ``rate``, ``seconds``, ``bytes``, ``share``, ``number``.

    >>> kind_of("rebuild_seconds"), kind_of("undrained_bytes_max"), kind_of("requests_lost")
    ('seconds', 'bytes', 'number')
    """
    name = _OF_WHICH.sub("", column)
    return next((kind for end, kind in _KINDS.items() if name.endswith(end)), "number")


def heading_of(column: str) -> str:
    """A metric as a heading has it, whose values have units.

    >>> heading_of("p99_delay_seconds")
    'p99 delay'
    """
    end: str = next((end for end in _KINDS if column.endswith(end)), "")
    return column.removesuffix(end).replace("_", " ")


def aim_of(text: str) -> Aim:
    """The aim that a text says.

    Args:
        text: ``most`` or ``least`` and a metric, then limits such as ``rebuild_seconds <= 2 h``,
            with commas between. A metric is a column of the table ``runs``, whose unit may be left
            off where one metric alone is meant.

    Raises:
        ConfigError: It says none, or of a metric that there is not, or no value keeps its limits.

    >>> aim = aim_of("least rebuild_seconds, requests_lost <= 0")
    >>> aim.is_most, aim.columns
    (False, ('rebuild_seconds', 'requests_lost'))
    """
    first, *others = (part.strip() for part in text.split(","))
    order = _ORDER.fullmatch(first)
    if order is None:
        rule = "an aim is most or least and a metric, then limits with commas between"
        raise ConfigError(rule, _EXAMPLE, value=show(text))
    aim = Aim(_named(order[2]), order[1] == "most", tuple(_limit(part) for part in others))
    for least in (limit for limit in aim.limits if limit.is_least):
        for most in (limit for limit in aim.limits if not limit.is_least):
            if least.column == most.column and least.value > most.value:
                rule = f"no value of {least.column} keeps both limits"
                value = show(f"{least.words}, {most.words}")
                raise ConfigError(rule, "change one of them", value=value)
    return aim


def _limit(text: str) -> Limit:
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise ConfigError("a limit is a metric, >= or <=, and a value", _EXAMPLE, value=show(text))
    column, value = _named(match[1]), match[3].strip()
    return Limit(column, match[2] == ">=", _value(column, value), f"{column} {match[2]} {value}")


def _named(name: str) -> str:
    """The metric of a name, which may lack its unit."""
    known = names()
    if name in known:
        return name
    meant = [metric for metric in known if metric in {f"{name}{end}" for end in _KINDS}]
    if len(meant) == 1:
        return meant[0]
    rule = "no metric has this name" if not meant else "several metrics have this name"
    remedy = name_remedy(name, known, "metrics") if not meant else f"write {' or '.join(meant)}"
    raise ConfigError(rule, remedy, value=show(name))


def _value(column: str, text: str) -> float:
    """A value of a metric in SI units."""
    kind = kind_of(column)
    if kind in _QUANTITIES:
        return float(_QUANTITIES[kind].parse(text))
    is_percent = kind == "share" and text.endswith("%")
    try:
        value = float(text.removesuffix("%") if is_percent else text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        example = 'such as 0.9 or "90%"' if kind == "share" else "such as 9"
        raise ConfigError(f"{column} is a number from 0", example, value=show(text))
    return value / (100.0 if is_percent else 1.0)
