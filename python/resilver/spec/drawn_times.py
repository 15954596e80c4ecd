"""Times that are drawn, and how fast lost devices are made whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import PlainValidator, WithJsonSchema

from resilver.errors import ConfigError, Problem, collected, raise_all, show, under
from resilver.failure_rates import LongSeconds, long_words
from resilver.spec.problems import unknown_key
from resilver.spec.section import TEXT, either, one_key
from resilver.units import BytesPerSecond, exact_rate

Kind: TypeAlias = Literal["fixed", "exponential", "weibull", "drawn"]

SHAPE_MIN, SHAPE_MAX = 0.05, 50.0
"""The shapes of Weibull laws: beyond, all fails at once, or at one age."""

_FORMS = 'write "10 h", { exponential = "10 h" }, { weibull = { shape = 2, scale = "10 h" } }'
_SHARED = 'write { device = "50 MiB/s", host = "10 Gb/s" }'


@dataclass(frozen=True)
class DrawnTime:
    """A time that is always the same, or drawn each time.

    Attributes:
        kind: By which law.
        seconds: The time, the mean of an exponential law, the scale of a Weibull law, or the times
            of which one is drawn.
        shape: Of a Weibull law.
        least_seconds: What is added to a Weibull time.

    >>> DrawnTime("weibull", (3600.0,), shape=1.0, least_seconds=60.0).mean_seconds
    3660.0
    """

    kind: Kind
    seconds: tuple[float, ...]
    shape: float = 1.0
    least_seconds: float = 0.0

    @property
    def mean_seconds(self) -> float:
        """The mean time."""
        if self.kind == "weibull":
            return self.least_seconds + self.seconds[0] * math.gamma(1 + 1 / self.shape)
        return math.fsum(self.seconds) / len(self.seconds)

    @property
    def label(self) -> str:
        """The time in words."""
        first = long_words(self.seconds[0])
        if self.kind == "fixed":
            return first
        if self.kind == "exponential":
            return f"exponential, mean {first}"
        if self.kind == "drawn":
            return f"one of {len(self.seconds)} times, mean {long_words(self.mean_seconds)}"
        least = f" + {long_words(self.least_seconds)}" if self.least_seconds else ""
        return f"Weibull({self.shape:g}, {first}){least}"

    @property
    def plain(self) -> Any:
        """The value as a TOML file holds it."""
        times = [_text(one) for one in self.seconds]
        if self.kind == "fixed":
            return times[0]
        if self.kind == "weibull":
            least = {"least": _text(self.least_seconds)} if self.least_seconds else {}
            return {"weibull": {"shape": self.shape, "scale": times[0], **least}}
        return {self.kind: times if self.kind == "drawn" else times[0]}

    def content(self) -> dict[str, Any]:
        """The time as the core reads it, in seconds."""
        if self.kind == "fixed":
            return {"kind": "fixed", "seconds": self.seconds[0]}
        if self.kind == "exponential":
            return {"kind": "exponential", "mean_seconds": self.seconds[0]}
        if self.kind == "drawn":
            return {"kind": "drawn", "seconds": list(self.seconds)}
        return {
            "kind": "weibull",
            "shape": self.shape,
            "scale_seconds": self.seconds[0],
            "least_seconds": self.least_seconds,
        }


@dataclass(frozen=True)
class RepairSpeed:
    """How fast lost devices are made whole.

    Attributes:
        kind: ``simulate`` for what rebuilds of the same study take, ``times`` that are given, or
            bandwidth that is ``shared``.
        times: The time of a device's repair by how many are repaired at once, from one on; the last
            is that of more.
        rates: Bytes per second by level, ``device`` first: what each device gives to repair, reads
            and writes together, and what a part of another level passes in each direction.
    """

    kind: Literal["simulate", "times", "shared"]
    times: tuple[DrawnTime, ...] = ()
    rates: tuple[tuple[str, float], ...] = ()

    @property
    def label(self) -> str:
        """The speed in words."""
        if self.kind == "simulate":
            return "as simulated"
        if self.kind == "times":
            return ", ".join(one.label for one in self.times)
        return ", ".join(f"{exact_rate(rate)} a {level}" for level, rate in self.rates)

    @property
    def plain(self) -> Any:
        """The value as a TOML file holds it."""
        if self.kind == "simulate":
            return "simulate"
        if self.kind == "shared":
            return {level: exact_rate(rate) for level, rate in self.rates}
        return self.times[0].plain if len(self.times) == 1 else [one.plain for one in self.times]

    def content(self) -> Any:
        """What affects results, JSON-able."""
        if self.kind == "times":
            return [one.content() for one in self.times]
        return dict(self.rates) if self.kind == "shared" else "simulate"


def drawn_time(value: object) -> DrawnTime | None:
    """The time that a study file's value means.

    Args:
        value: ``"10 h"``, ``{ exponential = "10 h" }``, ``{ weibull = { shape = 2, scale = "10 h",
            least = "1 h" } }``, ``{ drawn = ["9 h", "11 h"] }``, or a `DrawnTime`.

    Raises:
        ConfigError: It is none of these, or a time of a law is zero.
    """
    if value is None or isinstance(value, DrawnTime):
        return value
    if not isinstance(value, dict):
        if isinstance(value, list | tuple | bool):
            raise ConfigError("this is one time", _FORMS, value=show(value))
        return DrawnTime("fixed", (_seconds(value),))
    kind = one_key(value, ("exponential", "weibull", "drawn"))
    inside = value[kind]
    with under(kind):
        if kind == "exponential":
            return DrawnTime("exponential", (_above_zero(inside),))
        if kind == "weibull":
            return _weibull(inside)
        if not isinstance(inside, list | tuple) or not inside:
            rule, remedy = "these are the times of which one is drawn", 'write ["9 h", "11 h"]'
            raise ConfigError(rule, remedy, value=show(inside))
        return DrawnTime("drawn", tuple(_above_zero(one) for one in inside))


def repair_speed(value: object) -> RepairSpeed:
    """The speed of repair that a study file's value means.

    Args:
        value: ``"simulate"``, a time as `drawn_time` reads it, a list of such times, a table of
            rates by level with one of ``device``, or a `RepairSpeed`.

    Raises:
        ConfigError: It is none of these, a repair takes no time, or a rate is zero.
    """
    if isinstance(value, RepairSpeed):
        return value
    if value == "simulate":
        return RepairSpeed("simulate")
    if isinstance(value, dict) and not value.keys() & {"exponential", "weibull", "drawn"}:
        return RepairSpeed("shared", rates=_rates(value))
    several = list(value) if isinstance(value, list | tuple) else [value]
    if not several:
        raise ConfigError("no time of a repair is given", 'write "10 h"', value="[]")
    times: list[DrawnTime] = []
    problems: list[Problem] = []
    for index, one in enumerate(several):
        with collected(problems, str(index) if isinstance(value, list | tuple) else ""):
            time = drawn_time(one)
            if time is None or time.mean_seconds <= 0:
                rule = "a repair takes time; what takes none is never at risk"
                raise ConfigError(rule, 'write such as "10 h"', value=show(one))
            times.append(time)
    raise_all(problems)
    return RepairSpeed("times", times=tuple(times))


def shape_of(value: object) -> float:
    """The shape of a Weibull law.

    Raises:
        ConfigError: It is no number, or out of range.
    """
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else 0
    if SHAPE_MIN <= number <= SHAPE_MAX:
        return float(number)
    rule = f"a shape is a number from {SHAPE_MIN:g} to {SHAPE_MAX:g}"
    remedy = "below 1 the young fail more, at 1 all alike, above 1 the old"
    raise ConfigError(rule, remedy, key="shape", value=show(value))


def _weibull(value: object) -> DrawnTime:
    if not isinstance(value, dict):
        remedy = 'write { shape = 2, scale = "10 h" }'
        raise ConfigError("a Weibull law is a table", remedy, value=show(value))
    keys = ("shape", "scale", "least")
    problems = [unknown_key(str(key), list(keys)) for key in value if key not in keys]
    rule = "a Weibull law has a shape and a scale"
    problems += [Problem(rule, "add it", key=key) for key in keys[:2] if key not in value]
    raise_all(problems)
    with under("scale"):
        scale = _above_zero(value["scale"])
    least = _seconds(value.get("least", 0))
    return DrawnTime("weibull", (scale,), shape_of(value["shape"]), least)


def _rates(value: dict[Any, Any]) -> tuple[tuple[str, float], ...]:
    if "device" not in value:
        remedy = f"{_SHARED}, or {_FORMS[6:]}"
        raise ConfigError("shared bandwidth says what a device gives", remedy, "device")
    rates: list[tuple[str, float]] = []
    problems: list[Problem] = []
    for level in sorted(value, key=lambda name: name != "device"):
        with collected(problems, str(level)):
            rate = BytesPerSecond.parse(value[level])
            if not rate > 0:
                rule, remedy = "the rate must be above zero", "leave out what does not limit"
                raise ConfigError(rule, remedy, value=show(value[level]))
            rates.append((str(level), float(rate)))
    raise_all(problems)
    return tuple(rates)


def _seconds(value: object) -> float:
    return float(LongSeconds.parse(value))


def _above_zero(value: object) -> float:
    seconds = _seconds(value)
    if not seconds:
        rule, remedy = "the time of a law must be above zero", 'such as "10 h"'
        raise ConfigError(rule, remedy, value=show(value))
    return seconds


def _text(seconds: float) -> str:
    return LongSeconds(seconds).as_text()


_TIMES: dict[str, Any] = {"type": "array", "minItems": 1, "items": TEXT}
_TIME_FORMS = either(
    {"exponential": TEXT},
    {"weibull": {"type": "object", "required": ["shape", "scale"]}},
    {"drawn": _TIMES},
)
_TIME_FORMS["anyOf"][0]["examples"] = ["10 h"]
_REPAIR_FORMS = {"type": "object", "required": ["device"], "additionalProperties": TEXT}

AnyTime = Annotated[
    DrawnTime, PlainValidator(drawn_time, json_schema_input_type=str), WithJsonSchema(_TIME_FORMS)
]
"""A time, or the law by which it is drawn."""

AnyRepair = Annotated[
    RepairSpeed,
    PlainValidator(repair_speed, json_schema_input_type=str),
    WithJsonSchema({"anyOf": [*_TIME_FORMS["anyOf"], {**_TIMES, "items": {}}, _REPAIR_FORMS]}),
]
"""How fast lost devices are made whole."""
