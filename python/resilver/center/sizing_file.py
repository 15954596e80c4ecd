"""The sizing file: what a file system must do, what is offered for it, and how full it may get."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PlainValidator, WithJsonSchema

from resilver.center.capacity_file import Capacity
from resilver.center.given import GivenFile
from resilver.center.islands import Islands
from resilver.center.namespaces import Namespaces
from resilver.errors import ConfigError, Problem, Problems, show
from resilver.quantities import Price, Watts
from resilver.spec.code import ErasureCode, erasure_of
from resilver.spec.section import Count, Positive, Section
from resilver.units import Bytes, BytesPerSecond, Seconds

_Size = Positive[Bytes]
_Rate = Positive[BytesPerSecond]
_Part = Annotated[float, Field(strict=True, gt=0, le=1)]


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        rule = "a share is a number above 0 and at most 1"
        raise ConfigError(rule, "such as 0.22", value=show(value))
    return float(value)


def _rate_or_share(value: object) -> BytesPerSecond | float | None:
    """A rate where it is text, else a share."""
    if value is None or isinstance(value, BytesPerSecond):
        return value
    if not isinstance(value, str):
        return _share(value)
    rate = BytesPerSecond.parse(value)
    if not rate:
        raise ConfigError("the rate must be above zero", value=show(value))
    return rate


def _shares(value: object) -> tuple[float, float] | None:
    """The least and the most of a share that is one number or two."""
    if value is None:
        return None
    both = tuple(value) if isinstance(value, list | tuple) else (value, value)
    if len(both) != 2:
        rule = "a share is one number, or its least and its most"
        raise ConfigError(rule, "such as [0.2, 0.25]", value=show(value))
    least, most = map(_share, both)
    if least > most:
        raise ConfigError("the least stands before the most", "swap them", value=show(value))
    return least, most


_SHARE_SCHEMA = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
_RATE_SCHEMA = {"type": "string", "examples": ["240 GB/s"]}
_PAIR_SCHEMA = {"type": "array", "items": _SHARE_SCHEMA, "minItems": 2, "maxItems": 2}
_RateOrShare = Annotated[
    BytesPerSecond | float | None,
    PlainValidator(_rate_or_share),
    WithJsonSchema({"anyOf": [_SHARE_SCHEMA, _RATE_SCHEMA]}),
]
_Shares = Annotated[
    tuple[float, float] | None,
    PlainValidator(_shares),
    WithJsonSchema({"anyOf": [_SHARE_SCHEMA, _PAIR_SCHEMA]}),
]


class Checkpoint(Section):
    """A share of the memory, written within a time."""

    share: _Part = Field(examples=[0.75])
    """Which share of the memory is written."""
    within: Positive[Seconds] = Field(examples=["6 min"])
    """How long it may take."""


class Volume(Section):
    """How much must be stored, and below which fill."""

    bytes: _Size | None = Field(default=None, examples=["30 PB"])
    """The volume. Default: ``memory_multiple`` times the connected memory."""
    memory_multiple: Annotated[float | None, Field(strict=True, gt=0, le=1e6)] = Field(
        default=None, examples=[30.0]
    )
    """How many times the memory of all connected systems is stored."""
    below: _Part | None = Field(default=None, examples=[0.7])
    """Below which share of the formatted volume this must stay, such as a knee of the rate."""
    head_room: Annotated[float | None, Field(strict=True, ge=0, le=100)] = Field(
        default=None, examples=[0.3]
    )
    """Instead of ``below``: how much more than this is bought, as a share of it."""

    def _problems(self) -> Problems:
        if (self.bytes is None) == (self.memory_multiple is None):
            rule = "the volume is either given or a multiple of the memory"
            yield Problem(rule, "give one of bytes and memory_multiple")
        if self.below is not None and self.head_room is not None:
            remedy = "give one of below and head_room"
            yield self.problem("head_room", "head room is said in two ways", remedy)

    @property
    def times(self) -> float:
        """How many times what is stored is bought."""
        return 1.0 / self.below if self.below is not None else 1.0 + (self.head_room or 0.0)

    @property
    def fill(self) -> float:
        """How full what is bought is."""
        return 1.0 / self.times

    @property
    def factor(self) -> str:
        """The same in a formula."""
        return f"÷ {self.below:g}" if self.below is not None else f"× {self.times:g}"


class Demand(Section):
    """What the file system must do."""

    memory: Positive[Bytes] | None = Field(default=None, examples=["600 TB"])
    """The memory that is checkpointed."""
    checkpoint: Checkpoint | None = Field(
        default=None, examples=[{"share": 0.75, "within": "6 min"}]
    )
    """Which share of it is written, and within which time."""
    bandwidth: _Rate | None = Field(default=None, examples=["1 TB/s"])
    """The bandwidth of requests in order. Default: what the checkpoint needs."""
    random: _RateOrShare = Field(default=None, examples=["240 GB/s"])
    """The bandwidth of requests at random: a rate, or a share of that of requests in order."""
    connected_memory: Positive[Bytes] | None = Field(default=None, examples=["770 TB"])
    """The memory of all systems that use the file system. Default: ``memory``."""
    capacity: Volume | None = Field(default=None, examples=[{"memory_multiple": 30.0}])
    """How much must be stored."""

    def _problems(self) -> Problems:
        if self.checkpoint is not None and self.memory is None:
            rule = "a checkpoint writes memory, and demand.memory does not say how much"
            yield Problem(rule, 'add memory = "600 TB"', key="checkpoint")
        multiple = self.capacity is not None and self.capacity.memory_multiple is not None
        if multiple and self.connected_memory is None and self.memory is None:
            rule = "this is a multiple of memory, and none is given"
            remedy = 'add connected_memory = "770 TB"'
            yield Problem(rule, remedy, key="capacity.memory_multiple")
        is_share = self.random is not None and not isinstance(self.random, BytesPerSecond)
        if is_share and self.sequential is None:
            rule = "this is a share of a bandwidth that is not given"
            remedy = 'add bandwidth or a checkpoint, or write a rate such as "240 GB/s"'
            yield self.problem("random", rule, remedy)
        if not self.given():
            rule = "nothing is asked of the file system"
            yield Problem(rule, 'add such as bandwidth = "1 TB/s"')

    @property
    def checkpoint_rate(self) -> float | None:
        """What the checkpoint needs, in bytes per second."""
        if self.checkpoint is None or self.memory is None:
            return None
        return self.checkpoint.share * self.memory / self.checkpoint.within

    @property
    def sequential(self) -> float | None:
        """The bandwidth of requests in order, in bytes per second."""
        return self.checkpoint_rate if self.bandwidth is None else float(self.bandwidth)


class OfferedDisk(Section):
    """A disk of a unit."""

    size: _Size = Field(examples=["2 TB"])
    """How much it holds; disks are sold in powers of ten, so that TB is not TiB."""
    sequential: Positive[BytesPerSecond] | None = Field(default=None, examples=["62 MB/s"])
    """What it moves of requests in order."""
    random_share: _Shares = Field(default=None, examples=[[0.2, 0.25]])
    """Which share of that it moves of requests at random; two are the least and the most."""


class Offer(Section):
    """A unit that is offered: disks behind what passes their bytes, bought in any number."""

    name: Annotated[str, Field(min_length=1, max_length=60)] = Field(examples=["spider-2"])
    """What it is called."""
    units: Count | None = Field(default=None, le=1_000_000, examples=[36])
    """How many there are or are offered. Default: as many as the demands need."""
    disks: Count = Field(le=1_000_000, examples=[560])
    """The disks of a unit."""
    disk: OfferedDisk = Field(examples=[{"size": "2 TB"}])
    """What each disk is."""
    code: str = Field(default="rs 8+2", examples=["rs 8+2"])
    """The code of the groups that the disks of a unit are in."""
    rate: _Rate | None = Field(default=None, examples=["27.8 GB/s"])
    """What a unit passes of requests in order. Default: what its data disks move."""
    power: Watts | None = Field(default=None, examples=["12.5 kW"])
    """What a unit draws."""
    price: Price | None = Field(default=None, examples=["1200000 USD"])
    """What a unit costs."""

    def _problems(self) -> Problems:
        if self.disks < self.erasure.pieces:
            rule = f"a group of {self.code} has {self.erasure.pieces} members"
            yield self.problem("disks", rule, "add disks, or take a smaller code")
        if self.rate is None and self.disk.sequential is None:
            rule = "what the unit moves is not said"
            yield Problem(rule, 'add rate = "27.8 GB/s", or disk.sequential = "62 MB/s"')
        if self.power is not None and not self.power:
            remedy = "leave it out where it is not known"
            yield self.problem("power", "what runs draws power", remedy)

    @property
    def erasure(self) -> ErasureCode:
        """The code by its numbers."""
        return erasure_of(self.code, "code")

    @property
    def random_shares(self) -> tuple[float, float] | None:
        """The least and the most share that requests at random get."""
        return self.disk.random_share


class SizingFile(GivenFile):
    """A sizing file.

    Raises:
        ConfigError: With every problem found.
    """

    catalog_kind = "sizings"
    called = "sizing"

    demand: Demand | None = Field(default=None, examples=[{"bandwidth": "1 TB/s"}])
    """What the file system must do."""
    offers: tuple[Offer, ...] = Field(default=(), max_length=20)
    """What is offered for it."""
    knees: tuple[_Part, ...] = Field(default=(0.5, 0.7), max_length=10, examples=[[0.5, 0.7]])
    """Shares of the formatted volume beyond which the file system is known to be slower."""
    thin: Annotated[float, Field(strict=True, ge=0, le=0.5)] = Field(default=0.0, examples=[0.01])
    """Which share of the formatted volume is kept for tests, as a thin file system on all disks."""
    capacity: Capacity | None = Field(default=None, examples=[{"inflow": "1.2 PB/d"}])
    """How full it gets."""
    namespaces: Namespaces | None = Field(default=None, examples=[{"count": 2}])
    """Over how many namespaces which projects are dealt."""
    islands: Islands | None = Field(default=None)
    """What would be copied if each system had a file system of its own."""

    def _problems(self) -> Problems:
        names = [offer.name for offer in self.offers]
        for name in {name for name in names if names.count(name) > 1}:
            rule = "two offers have this name"
            yield Problem(rule, "rename one", key="offers", value=show(name))
        currencies = {offer.price.currency for offer in self.offers if offer.price is not None}
        if len(currencies) > 1:
            rule = f"prices are in {' and '.join(sorted(currencies))}, which cannot be compared"
            yield Problem(rule, "write them in one currency", key="offers")
        if self.demand is not None and not self.offers:
            rule = "nothing is offered for the demand"
            yield Problem(rule, "add a table [[offers]]", key="offers")
        if self.offers and self.demand is None and any(one.units is None for one in self.offers):
            rule = "how many units there are follows from no demand"
            yield Problem(rule, "add [demand], or units to each offer", key="offers")
        if not (self.demand or self.offers or self.capacity or self.namespaces or self.islands):
            rule = "there is nothing to size"
            remedy = "add [demand] and [[offers]], [capacity], [namespaces] or [islands]"
            yield Problem(rule, remedy)
        capacity = self.capacity
        if capacity is not None and capacity.inflow and not (capacity.usable or self.offers):
            rule = "how much the file system holds is not said"
            yield Problem(rule, 'add usable = "32 PB", or [[offers]]', key="capacity")
        for number, offer in enumerate(self.offers):
            asks = self.demand is not None and self.demand.random is not None
            if asks and offer.random_shares is None:
                rule = "the demand has requests at random, and what disks move of them is not said"
                key = f"offers.{number}.disk.random_share"
                yield Problem(rule, "add such as 0.22", key=key)
