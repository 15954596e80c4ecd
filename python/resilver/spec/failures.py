"""Ways in which parts fail: when, how many together, and what becomes of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field, PlainValidator, ValidationInfo, WithJsonSchema

from resilver import catalog
from resilver.errors import ConfigError, Problem, Problems, show, under
from resilver.failure_rates import YEAR_SECONDS, FailedShare, FailureRate, LongSeconds, long_words
from resilver.importers.failures import FailureList, read_failures
from resilver.spec.drawn_times import SHAPE_MAX, SHAPE_MIN, AnyTime
from resilver.spec.section import Positive, Section, Share, either, file_path

PARTS_MAX = 2**31 - 1
"""The most parts that fail together."""

_LAWS = ("afr", "mttf", "rate", "weibull", "trace", "planned")
_LAW_REMEDY = 'give one, such as afr = "1.36 %", or like = "NAME" of the catalog'


class WeibullLife(Section):
    """How long parts live, by their age; a part that was replaced is new."""

    shape: Annotated[float, Field(strict=True, ge=SHAPE_MIN, le=SHAPE_MAX)] = Field(examples=[1.12])
    """Below 1 the young fail more, above 1 the old; at 1 all alike."""
    scale: Positive[LongSeconds] = Field(examples=["10 y"])
    """The age at which 63 % have failed."""
    age: LongSeconds | tuple[LongSeconds, ...] = Field(default=LongSeconds(0), examples=["2 y"])
    """How old the parts are at the beginning: one age for all, or a list with that of each in
    order.
    """

    @property
    def mean_seconds(self) -> float:
        """How long a part lives on average, from new."""
        return float(self.scale) * math.gamma(1 + 1 / self.shape)

    @property
    def ages(self) -> tuple[float, ...]:
        """The ages as a list, with one of all parts alone in it."""
        return tuple(self.age) if isinstance(self.age, tuple) else (float(self.age),)


class PlannedWork(Section):
    """Parts that are taken away one after the other, in turn and over and over."""

    every: Positive[LongSeconds] = Field(examples=["30 d"])
    """From one to the next."""
    first: LongSeconds = Field(default=LongSeconds(0), examples=["1 d"])
    """When the first is taken, from the mission's beginning on."""


@dataclass(frozen=True)
class BurstSizes:
    """How many parts fail in a burst.

    Attributes:
        weights: Each number and its weight, numbers rising.
        label: The entry of the catalog that says so; empty for what the study says.

    >>> BurstSizes(((2, 0.5), (4, 0.5))).mean_parts
    3.0
    """

    weights: tuple[tuple[int, float], ...]
    label: str = ""

    @property
    def mean_parts(self) -> float:
        """How many fail in a burst on average."""
        total = math.fsum(weight for _, weight in self.weights)
        return math.fsum(count * weight for count, weight in self.weights) / total

    @property
    def plain(self) -> Any:
        """The value as a TOML file holds it."""
        return self.label or {str(count): weight for count, weight in self.weights}


def burst_sizes(value: object) -> BurstSizes:
    """How many parts fail in a burst, each number with its weight.

    Args:
        value: A number; ``"all"``; a table from numbers to weights; an entry of the catalog that
            has a burst; or `BurstSizes`.

    Raises:
        ConfigError: It is none of these, or no weight is above zero.
    """
    if isinstance(value, BurstSizes):
        return value
    remedy = 'write 3, { 2 = 0.7, 5 = 0.3 }, or an entry of the catalog such as "google-2010/burst"'
    if value == "all":
        return BurstSizes(((PARTS_MAX, 1.0),), "all")
    if isinstance(value, str):
        said = catalog.failure(value).fails
        if "burst" not in said:
            rule = "this entry of the catalog says nothing of bursts"
            raise ConfigError(rule, remedy, value=show(value))
        return BurstSizes(burst_sizes(said["burst"]["sizes"]).weights, value)
    table = {value: 1.0} if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(table, dict) or not table:
        raise ConfigError("these are numbers of parts", remedy, value=show(value))
    sizes, problems = [], []
    for count, weight in table.items():
        number = int(count) if str(count).isdecimal() and len(str(count)) < 11 else 0
        is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not 1 <= number <= PARTS_MAX:
            problems.append(Problem("a number of parts is whole and from 1", value=show(count)))
        elif not is_number or not 0 <= weight < math.inf:
            rule = "a weight is a finite number, zero or more"
            problems.append(Problem(rule, "such as 0.3", str(count), show(weight)))
        else:
            sizes.append((number, float(weight)))
    if problems or not any(weight for _, weight in sizes):
        rule = "no number of parts has a weight above zero"
        raise ConfigError(problems or [Problem(rule, remedy, value=show(value))])
    return BurstSizes(tuple(sorted(sizes)))


_SIZES = either(names=["all", "google-2010/burst"])
_SIZES["anyOf"] += [
    {"type": "integer", "minimum": 1},
    {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
]


class Burst(Section):
    """Several parts that fail together, as at a loss of power; its law is then that of bursts."""

    within: str | None = Field(default=None, examples=["rack"])
    """The level in one part of which they all are, drawn evenly. Default: anywhere."""
    sizes: Annotated[BurstSizes, PlainValidator(burst_sizes), WithJsonSchema(_SIZES)] = Field(
        examples=[3]
    )
    """How many: a number, ``"all"``, weights by number such as ``{ 2 = 0.7, 5 = 0.3 }``, or an
    entry of the catalog. What is more than there are is all.
    """
    spread: LongSeconds = Field(default=LongSeconds(0), examples=["2 min"])
    """Over how long they are spread, evenly. Default: all at once."""


def _trace_of(value: object, info: ValidationInfo) -> FailureList | None:
    if value is None or isinstance(value, FailureList):
        return value
    return read_failures(file_path(value, info))


class Failure(Section):
    """A way in which parts of one level fail: exactly one law, and what becomes of the parts."""

    level: str | None = Field(default=None, examples=["host"])
    """The level of the parts. Default: the devices."""
    device_class: str | None = Field(default=None, alias="class", examples=["hdd"])
    """Of devices: the class of those that fail so. Default: all."""
    parts: tuple[str, ...] = Field(default=(), examples=[["rack.0"]])
    """The names of the parts that fail so. Default: all of the level."""
    name: str | None = Field(default=None, examples=["power"])
    """What it is called among the causes of loss. Default: its level, its class and its kind."""
    like: str | None = Field(default=None, examples=["simedc/disk"])
    """An entry of the catalog that says what is not said here: ``backblaze-2024`` for a whole
    fleet, ``backblaze-2024/MODEL`` for one model of drive, ``simedc/disk`` for a law.
    """
    afr: Positive[FailedShare] | None = Field(default=None, examples=["1.36 %"])
    """The share that fails in a year, of those that work at its beginning: a constant rate of
    -ln(1 - share) a year.
    """
    mttf: Positive[LongSeconds] | None = Field(default=None, examples=["1.2e6 h"])
    """The mean time to a failure of each part, at a constant rate; of bursts, the mean time from
    one to the next in the whole system.
    """
    rate: Positive[FailureRate] | None = Field(default=None, examples=["0.1 /y"])
    """How often each part fails, at a constant rate; of bursts, how often one comes in the whole
    system.
    """
    weibull: WeibullLife | None = Field(default=None, examples=[{"shape": 1.12, "scale": "10 y"}])
    """How long parts live, by their age."""
    trace: Annotated[
        FailureList | None, PlainValidator(_trace_of), WithJsonSchema({"type": "string"})
    ] = Field(default=None, examples=["failures.csv"])
    """A list of lives as ``resilver calibrate failures`` reads them: what failed there fails here,
    as long after the mission's beginning as there after the earliest start.
    """
    planned: PlannedWork | None = Field(default=None, examples=[{"every": "30 d"}])
    """Parts that are taken away in turn."""
    lasts: AnyTime | None = Field(default=None, examples=["15 min"])
    """How long a part is away before it comes back with what it holds. Default: it is lost, and
    repaired.
    """
    lost_share: Share | None = Field(default=None, examples=[0.01])
    """The share of the devices of parts that are away, each by chance, that do not come back.
    Default: 0.
    """
    burst: Burst | None = Field(default=None, examples=[{"within": "rack", "sizes": 3}])
    """How many fail together. Default: each fails by itself."""

    _catalog_keys: ClassVar[tuple[str, ...]] = (*_LAWS, "lasts", "lost_share", "burst")

    @classmethod
    def defaults_beside(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """What an entry of the catalog says, where the study does not."""
        like = given.get("like")
        if not isinstance(like, str):
            return {}
        with under("like"):
            said = dict(catalog.failure(like).fails)
        if any(law in given for law in _LAWS):
            said = {key: value for key, value in said.items() if key not in _LAWS}
        return said

    def _problems(self) -> Problems:
        yield from (wrong := [*self.exactly_one(_LAWS, _LAW_REMEDY)])
        if not wrong and self.burst is not None and self.law not in ("mttf", "rate"):
            rule = "this is of each part, and bursts come to the whole system"
            yield Problem(rule, 'give rate, such as "2 /y", or mttf', key=self.law)
        if self.lost_share is not None and self.lasts is None:
            rule = "it is the share of what is away that does not come back"
            yield self.problem("lost_share", rule, "give lasts")
        if self.name is not None and not (self.name.strip() and self.name.isprintable()):
            yield self.problem("name", "a name is a line of text", 'such as "power"')
        if self.trace is not None and not any(self.trace.failed):
            rule = "nothing failed in this list, so nothing would fail here"
            remedy = "give afr, of what did not fail yet resilver calibrate failures says how often"
            yield self.problem("trace", rule, remedy)

    @property
    def law(self) -> str:
        """The key that says when parts fail."""
        return next(law for law in _LAWS if getattr(self, law) is not None)

    @property
    def is_by_catalog(self) -> bool:
        """Whether an entry of the catalog says when parts fail."""
        return self.like is not None and not self.model_fields_set & {*_LAWS}

    @property
    def source(self) -> str:
        """Where the law is from, of an entry of the catalog; empty for what the study says."""
        return catalog.failure(self.like).source if self.like and self.is_by_catalog else ""

    @property
    def rate_per_second(self) -> float | None:
        """The constant rate of each part, or of bursts; None of any other law."""
        if self.afr is not None:
            return self.afr.per_second
        if self.mttf is not None:
            return 1 / float(self.mttf)
        return None if self.rate is None else float(self.rate)

    @property
    def mean_seconds(self) -> float | None:
        """The mean time to a failure of a new part, or between bursts; None of a list or plan."""
        if self.weibull is not None:
            return self.weibull.mean_seconds
        rate = self.rate_per_second
        return None if rate is None else 1 / rate

    @property
    def words(self) -> str:
        """When parts fail and for how long, for people."""
        if self.trace is not None:
            when = f"as in {self.trace.label}"
        elif self.weibull is not None:
            when = f"Weibull({self.weibull.shape:g}, {long_words(self.weibull.scale)})"
        elif self.planned is not None:
            when = f"one every {long_words(self.planned.every)}"
        elif self.afr is not None:
            when = f"AFR {self.afr.as_text()}"
        elif self.mttf is not None:
            when = f"MTTF {long_words(self.mttf)}"
        elif self.burst is not None:
            when = f"{YEAR_SECONDS * (self.rate or 0.0):.4g} a year"
        else:
            count = YEAR_SECONDS * (self.rate or 0.0)
            share = -100 * math.expm1(-count)
            when = f"{100 * count:.4g} failures of 100 in a year (AFR {share:.4g} %)"
        if self.burst is not None:
            inside = f" in one {self.burst.within}" if self.burst.within else ""
            sizes = self.burst.sizes
            many = "of all" if sizes.label == "all" else f"of {sizes.mean_parts:.3g} on average"
            when += f", bursts {many}{inside}"
        return f"{when}, away {self.lasts.label}" if self.lasts is not None else when

    def called(self, level: str) -> str:
        """What it is called among the causes of loss.

        Args:
            level: The level of its parts.
        """
        if self.name is not None:
            return self.name
        kind = "planned work" if self.planned else "bursts" if self.burst else ""
        kind = kind or ("outages" if self.lasts is not None else "failures")
        return " ".join(part for part in (level, self.device_class, kind) if part)

    def law_content(self, numbers: Mapping[str, int]) -> dict[str, Any]:
        """When parts fail, as the core reads it, in seconds.

        Args:
            numbers: The number of each part of the level by its name.
        """
        if self.weibull is not None:
            return {
                "kind": "weibull",
                "shape": self.weibull.shape,
                "scale_seconds": float(self.weibull.scale),
                "age_seconds": list(self.weibull.ages),
            }
        if self.planned is not None:
            first, every = float(self.planned.first), float(self.planned.every)
            return {"kind": "planned", "first_seconds": first, "every_seconds": every}
        if self.trace is not None:
            failed = self.trace.failures()
            return {
                "kind": "trace",
                "seconds": [second for second, _ in failed],
                "parts": [numbers[name] for _, name in failed],
            }
        return {"kind": "exponential", "rate_per_second": self.rate_per_second}

    def effect_content(self) -> dict[str, Any]:
        """What becomes of the parts, as the core reads it, in seconds."""
        if self.lasts is None:
            return {"kind": "lost"}
        return {"kind": "away", "lasts": self.lasts.content(), "lost_share": self.lost_share or 0.0}

    def content(self) -> dict[str, Any]:
        """All that affects the answer, in SI units, JSON-able; a list of lives by its hash."""
        burst, trace = self.burst, self.trace
        return {
            "name": self.name,
            "level": self.level,
            "class": self.device_class,
            "parts": list(self.parts),
            "law": self.law_content({}) if trace is None else {"sha256": trace.sha256},
            "effect": self.effect_content(),
            "burst": None
            if burst is None
            else {
                "within": burst.within,
                "sizes": [list(one) for one in burst.sizes.weights],
                "spread": float(burst.spread),
            },
        }
