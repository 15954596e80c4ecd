"""The layers of a file system from the bottom up: what each loses, beside what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from resilver.center.benchmarks import LayerCost
from resilver.center.culling import Culling, Reference
from resilver.errors import name_remedy, show
from resilver.record import record
from resilver.text import refuse

_IN_ORDER = ("read", "write")


@dataclass(frozen=True)
class Layer:
    """A layer of parts.

    Attributes:
        layer: Its level; "clients" is what they ask for.
        parts: How many parts it has.
        alone_bytes_per_second: The rate of all clients where this layer alone binds; None where
            some do not pass it.
        stacked_bytes_per_second: The same behind all layers below it (max-min fair).
        lost_bytes_per_second: What is lost from the layer below to this one; 0 of the lowest.
        lost_share: That as a share of what the layer below passes.
        bound: How many clients it binds in the end.
        binding: A part of it that binds, the one of most clients; None where none does.
    """

    layer: str
    parts: int
    alone_bytes_per_second: float | None
    stacked_bytes_per_second: float | None
    lost_bytes_per_second: float
    lost_share: float
    bound: int
    binding: str | None = None


@dataclass(frozen=True)
class Needed:
    """What each part of a level must pass for a target.

    Attributes:
        level: The level; of disks under a code once as they are, once of those with data alone.
        parts: How many there are.
        each_bytes_per_second: Target / parts.
    """

    level: str
    parts: float
    each_bytes_per_second: float


@dataclass(frozen=True)
class Measured:
    """A measured rate.

    Attributes:
        layer: The layer that was measured.
        rate_bytes_per_second: Its rate, of all parts that were measured together.
        parts: How many these were; None for all of the layer.
        mode: "read" or "write", or "randread" or "randwrite"; None where it is not said.
        size: Bytes of a request; None likewise.
        place: The line, for errors.
        is_stacked: Whether it was measured through the layers below as well, as benchmarks are.
        expected_bytes_per_second: What those parts pass by the model; None where it is of another
            mode or size than the study's requests.
    """

    layer: str
    rate_bytes_per_second: float
    parts: int | None
    mode: str | None
    size: int | None
    place: str = field(default="", compare=False)
    is_stacked: bool = False
    expected_bytes_per_second: float | None = None

    @property
    def of_expected(self) -> float | None:
        """Measured over expected."""
        expected = self.expected_bytes_per_second
        return None if not expected else self.rate_bytes_per_second / expected


@dataclass(frozen=True)
class LayerProfile:
    """The layers of a study's file system.

    Attributes:
        title: What the study asks.
        clients: How many clients there are.
        layers: From devices to clients.
        needed: What each part must pass for the target; empty without one.
        measured: Measured rates beside expected ones.
        target_bytes_per_second: The target; None without one.
        costs: What layers cost that benchmarks measured alike.
        notes: What a reader must know of the measured rates, a sentence each.
        culled: What culling slow disks comes to; None where it is not asked.
    """

    title: str
    clients: int
    layers: tuple[Layer, ...]
    needed: tuple[Needed, ...]
    measured: tuple[Measured, ...]
    target_bytes_per_second: float | None = None
    costs: tuple[LayerCost, ...] = ()
    notes: tuple[str, ...] = ()
    culled: CulledLayers | None = None

    @property
    def rate_bytes_per_second(self) -> float:
        """What all clients get."""
        return self.layers[-1].stacked_bytes_per_second or 0.0

    @property
    def binding(self) -> Layer:
        """The layer that binds the most clients; of equals the lowest."""
        return max(self.layers, key=lambda one: one.bound)

    @property
    def is_met(self) -> bool:
        """Whether clients get the target, to a billionth; true without one."""
        target = self.target_bytes_per_second
        return target is None or self.rate_bytes_per_second >= target * (1.0 - 1e-9)

    @property
    def holds(self) -> bool:
        """Whether clients get the target; with culling, whether it ends and they then get it."""
        return self.is_met if self.culled is None else self.culled.holds and self.culled.after.holds

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it, in SI units."""
        measured = []
        for one in self.measured:
            row = asdict(one) | {"of_expected": one.of_expected}
            del row["place"], row["is_stacked"]
            measured.append(row)
        return {
            **record(self, "title", "clients", "rate_bytes_per_second", "target_bytes_per_second"),
            **record(self, "layers", "needed", "notes", "holds"),
            "binding_layer": self.binding.layer,
            "binding": self.binding.binding,
            "measured": measured,
            "costs": [asdict(one) | {"cost": one.cost} for one in self.costs],
            **({} if self.culled is None else {"culled": self.culled.to_dict()}),
        }


@dataclass(frozen=True)
class CulledLayers:
    """The slow disks of a study's RAID sets replaced in rounds, and its layers with the new ones.

    Attributes:
        level: The level of the RAID sets, which are the groups.
        groups: Their names.
        units: The number of the part that each is in.
        within, of: The envelope.
        cullings: One a seed, of shares of the speed that a disk has by its table.
        replaced: How often each disk was replaced under the first seed, by name.
        after: The layers with these, under the first seed.
        toml: The study with these, under the first seed, as a study file.
    """

    level: str
    groups: tuple[str, ...]
    units: tuple[int, ...]
    within: float
    of: Reference
    cullings: tuple[Culling, ...]
    replaced: dict[str, int]
    after: LayerProfile
    toml: str = field(repr=False)

    @property
    def holds(self) -> bool:
        """Whether culling brings all groups within, under every seed."""
        return all(one.holds for one in self.cullings)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it, in SI units; rounds and groups are of the first seed."""
        first = self.cullings[0]
        columns = (self.groups, self.units, first.before.tolist(), first.after.tolist())
        return {
            **record(self, "level", "within", "of", "after", "holds"),
            "replaced": [one.replaced for one in self.cullings],
            "rounds": [{"round": number, **asdict(one)} for number, one in enumerate(first.rounds)],
            "groups": [
                dict(zip(("group", "unit", "before", "after"), row, strict=True))
                for row in zip(*columns, strict=True)
            ],
            "disks": self.replaced,
        }


def needed_of(
    target: float, counts: Sequence[tuple[str, int]], code: tuple[int, int] | None
) -> tuple[Needed, ...]:
    """What each part must pass for a target.

    Args:
        target: The rate of all clients, in bytes per second.
        counts: The levels and how many parts each has; the devices' is the last.
        code: Pieces of data and of all that an object's devices have; None without a code.

    >>> [round(one.each_bytes_per_second / 1e6, 1)
    ...  for one in needed_of(1e12, [("unit", 36), ("drive", 20160)], (8, 10))]
    [27777.8, 49.6, 62.0]
    """
    found = [Needed(level, count, target / count) for level, count in counts]
    if code is not None and code[0] < code[1]:
        level, count = counts[-1]
        data = count * code[0] / code[1]
        found.append(Needed(f"{level} with data", data, target / data))
    return tuple(found)


def beside(
    measured: Sequence[Measured], layers: Sequence[Layer], reads: float, request: int
) -> tuple[Measured, ...]:
    """Measured rates beside what the model expects of the same parts.

    A layer is expected to pass what it allows alone, in proportion to the parts that were measured;
    "clients", and what was measured through the layers below, what all of these leave.

    Args:
        measured: What was measured.
        reads: The share of the study's requests that read.
        request: Bytes of one.

    Raises:
        ConfigError: A layer is none of the study's, or more parts were measured than it has.
    """
    known = {one.layer: one for one in layers}
    return tuple(_beside(one, known, reads, request) for one in measured)


def _beside(one: Measured, known: dict[str, Layer], reads: float, request: int) -> Measured:
    layer = known.get(one.layer)
    if layer is None:
        remedy = name_remedy(one.layer, list(known), "layers")
        refuse(one.place, f"the study has no layer {show(one.layer)}", remedy)
    parts = layer.parts if one.parts is None else one.parts
    if parts > layer.parts:
        rule = f"parts = {parts:,}: the study has {layer.parts:,} of {one.layer}"
        refuse(one.place, rule, "is this of another system?")
    is_like = one.mode is None or (one.mode in _IN_ORDER and reads == (one.mode == "read"))
    if not is_like or (one.size is not None and one.size != request):
        return one
    passes = layer.alone_bytes_per_second
    if one.layer == "clients" or one.is_stacked:
        passes = layer.stacked_bytes_per_second
    expected = None if passes is None else passes * parts / layer.parts
    return replace(one, expected_bytes_per_second=expected)
