"""How large a file system must be: units by demand, the demand that binds, offers side by side.

Each figure comes with its derivation. Sources of the questions: S. Oral et al., "Best Practices and
Lessons Learned from Deploying and Operating Large-Scale Data-Centric Parallel File Systems" (2014),
sections III and IV-C. Nothing is weighed into a score: who buys, weighs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from resilver.center.capacity import Outlook, outlook
from resilver.center.figures import Figure
from resilver.center.islands import Copied, copied
from resilver.center.namespaces import Dealt, deal
from resilver.center.sizing_file import Demand, Offer, SizingFile
from resilver.quantities import Price, decimal_bytes, decimal_rate, duration
from resilver.record import record
from resilver.units import BytesPerSecond


def _respects(offer: SizedOffer) -> dict[str, float]:
    """In which respects an offer can be compared, each such that less is better."""
    found = {"usable": -offer.usable_bytes, "rate": -offer.rate_bytes_per_second}
    found["short of"] = float(len(offer.short_of))
    if offer.random_bytes_per_second is not None:
        found["random"] = -offer.random_bytes_per_second[0]
    if offer.power_watts is not None:
        found["power"] = offer.power_watts
    if offer.price is not None:
        found["price"] = offer.price.amount
    return found


def compared(offers: Sequence[SizedOffer]) -> list[SizedOffer]:
    """The offers, each with those that are better than it in one respect and worse in none."""
    found = []
    for one in offers:
        own = _respects(one)
        better = []
        for other in offers:
            theirs = _respects(other)
            # What only one of two states, is no ground to prefer either.
            if other is one or set(theirs) != set(own):
                continue
            pairs = [(theirs[name], own[name]) for name in own]
            if all(a <= b for a, b in pairs) and any(a < b for a, b in pairs):
                better.append(other.name)
        found.append(replace(one, dominated_by=tuple(better)))
    return found


_SLACK = 1e-9
"""Units are counted up, but for what rounding of binary fractions adds."""


@dataclass(frozen=True)
class Need:
    """How many units of an offer one demand needs.

    Attributes:
        demand: The demand.
        least: The fewest units with which it is met at all.
        units: How many it needs; more than `least` where a disk's share is known as a range.
        derivation: What it is computed from.
    """

    demand: str
    least: int
    units: int
    derivation: str


@dataclass(frozen=True)
class SizedOffer:
    """An offer, and how many units of it the demands need.

    Attributes:
        name: Its name.
        needs: The units that each demand needs.
        binding: The demand that needs the most; None without demands.
        units: How many units there are: those offered, else those needed.
        short_of: The demands that the offered units do not meet.
        disks, usable_bytes, rate_bytes_per_second, power_watts, price: Of all units; None where the
            offer does not say.
        random_bytes_per_second: The least and the most of requests at random; None where unsaid.
        figures: Of all units, each with its derivation.
        dominated_by: Offers that are no worse in any respect that both state, and better in one.
    """

    name: str
    needs: tuple[Need, ...]
    binding: str | None
    units: int
    short_of: tuple[str, ...]
    disks: int
    usable_bytes: float
    rate_bytes_per_second: float
    random_bytes_per_second: tuple[float, float] | None
    power_watts: float | None
    price: Price | None
    figures: tuple[Figure, ...]
    dominated_by: tuple[str, ...] = ()

    @property
    def needed(self) -> int | None:
        """How many units all demands need; None without demands."""
        return max((need.units for need in self.needs), default=None)


@dataclass(frozen=True)
class Sizing:
    """What a sizing file comes to.

    Attributes:
        file: The file.
        demands: What is asked, each figure with its derivation.
        offers: The offers, in the order of the file.
        knees: A figure a knee: how much larger than what is stored the formatted volume must be.
        outlook: How full the file system gets; None where the file does not ask.
        dealt: Projects over namespaces; None where the file has none.
        copied: What file systems of their own would have copied; None where the file has none.
    """

    file: SizingFile
    demands: tuple[Figure, ...]
    offers: tuple[SizedOffer, ...]
    knees: tuple[Figure, ...]
    outlook: Outlook | None = None
    dealt: Dealt | None = None
    copied: Copied | None = None

    @property
    def holds(self) -> bool:
        """Whether some offer meets every demand, all that comes in has room, and all is moved."""
        year = None if self.outlook is None else self.outlook.year
        has_room = year is None or not year.refused_bytes.any()
        has_room = has_room and (self.copied is None or (self.copied.mover_share or 0.0) <= 1.0)
        return has_room and (not self.offers or any(not one.short_of for one in self.offers))

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it, in SI units."""
        return {
            "description": self.file.description,
            "source": self.file.source,
            **record(self, "demands", "knees", "holds"),
            "offers": [asdict(offer) | {"needed": offer.needed} for offer in self.offers],
            "capacity": None if self.outlook is None else self.outlook.to_dict(),
            "namespaces": None if self.dealt is None else _dealt_json(self.file, self.dealt),
            "islands": None if self.copied is None else self.copied.to_dict(),
        }


def _dealt_json(file: SizingFile, dealt: Dealt) -> dict[str, Any]:
    projects = () if file.namespaces is None else file.namespaces.projects
    places = zip(projects, dealt.namespace, strict=True)
    return {
        "worst_load": dealt.worst,
        "optimum": dealt.optimum,
        "projects": [{"name": one.name, "namespace": place} for one, place in places],
    }


def size(sizing: str | Path | Mapping[str, Any] | SizingFile) -> Sizing:
    """How many units of each offer a file system needs, and what they come to.

    Args:
        sizing: A sizing file's path, the name of one in the catalog, its tables as nested
            dictionaries, or a `SizingFile`.

    Returns:
        The demands, the offers, and what head room costs, each figure with its derivation.

    Raises:
        ConfigError: The file cannot be read, or with every problem in it.

    >>> found = size("spider-2")
    >>> [(need.demand, need.units) for need in found.offers[0].needs]
    [('bandwidth', 45), ('random', 44), ('capacity', 37)]
    >>> found.offers[0].binding
    'bandwidth'
    """
    file = SizingFile.of(sizing)
    demands = () if file.demand is None else tuple(_demands(file.demand))
    offers = [_sized(offer, file) for offer in file.offers]
    knees = tuple(_knee(knee) for knee in file.knees)
    usable = offers[0].usable_bytes * (1.0 - file.thin) if offers else None
    ahead = None if file.capacity is None else outlook(file.capacity, file.knees, usable)
    dealt = None
    if file.namespaces is not None:
        needs = [(one.capacity, one.bandwidth) for one in file.namespaces.projects]
        dealt = deal(np.array(needs, dtype=np.float64), file.namespaces.count)
    rate = offers[0].rate_bytes_per_second if offers else None
    moved = None if file.islands is None else copied(file.islands, rate)
    return Sizing(file, demands, tuple(compared(offers)), knees, ahead, dealt, moved)


def _demands(demand: Demand) -> Iterator[Figure]:
    """What is asked, as figures."""
    checkpoint, rate = demand.checkpoint, demand.checkpoint_rate
    if checkpoint is not None and rate is not None and demand.memory is not None:
        volume = f"{checkpoint.share:g} × {decimal_bytes(demand.memory)}"
        words = f"{volume} ÷ {duration(checkpoint.within)}"
        what = "Checkpoint bandwidth"
        yield Figure("checkpoint_bytes_per_second", what, rate, "rate", words)
        if demand.bandwidth is not None:
            seconds = checkpoint.share * demand.memory / demand.bandwidth
            words = f"{volume} ÷ {decimal_rate(demand.bandwidth)}"
            what = "Checkpoint at the bandwidth asked"
            yield Figure("checkpoint_seconds", what, seconds, "seconds", words)
    if demand.sequential is not None:
        words = "as asked" if demand.bandwidth is not None else "the checkpoint's"
        what = "Bandwidth in order"
        yield Figure("bytes_per_second", what, demand.sequential, "rate", words)
    if (random := _random_rate(demand)) is not None:
        words = "as asked"
        if not isinstance(demand.random, BytesPerSecond) and demand.sequential is not None:
            words = f"{demand.random:g} × {decimal_rate(demand.sequential)}"
        what = "Bandwidth at random"
        yield Figure("random_bytes_per_second", what, random, "rate", words)
        if demand.sequential is not None:
            words = f"{decimal_rate(random)} ÷ {decimal_rate(demand.sequential)}"
            share = random / demand.sequential
            yield Figure("random_share", "At random, of in order", share, "share", words)
    if (volume_bytes := _volume(demand)) is not None and demand.capacity is not None:
        words, capacity = "as asked", demand.capacity
        if capacity.memory_multiple is not None:
            memory = demand.connected_memory or demand.memory or 0
            words = f"{capacity.memory_multiple:g} × {decimal_bytes(memory)}"
        yield Figure("stored_bytes", "Stored", volume_bytes, "bytes", words)
        if capacity.times > 1.0:
            what = f"Formatted, to stay below {100 * capacity.fill:.3g} % full"
            words = f"{decimal_bytes(volume_bytes)} {capacity.factor}"
            needed = volume_bytes * capacity.times
            yield Figure("formatted_bytes", what, needed, "bytes", words)


def _random_rate(demand: Demand) -> float | None:
    if demand.random is None or isinstance(demand.random, BytesPerSecond):
        return demand.random
    return None if demand.sequential is None else demand.random * demand.sequential


def _volume(demand: Demand) -> float | None:
    """How much is stored, in bytes."""
    if demand.capacity is None:
        return None
    if demand.capacity.bytes is not None:
        return float(demand.capacity.bytes)
    memory = demand.connected_memory or demand.memory or 0
    return (demand.capacity.memory_multiple or 0.0) * memory


def _knee(knee: float) -> Figure:
    """How much more than what is stored must be bought to stay below a knee."""
    key, words = f"more_below_{100 * knee:g}_percent", f"1 ÷ {knee:g} − 1"
    what = f"Head room to stay below {100 * knee:g} % full"
    return Figure(key, what, 1.0 / knee - 1.0, "share", words)


def _units(needed: float, of_one: float) -> int:
    return max(1, math.ceil(needed / of_one * (1.0 - _SLACK)))


def unit_rate(offer: Offer) -> tuple[float, str]:
    """What a unit moves of requests in order, and its derivation.

    Args:
        offer: The offer. Where it says both what the unit passes and what its disks move, the less
            of the two counts.

    Returns:
        Bytes per second, and the formula.
    """
    code, disks = offer.erasure, offer.disk.sequential
    if disks is None:
        return float(offer.rate or 0.0), f"{decimal_rate(offer.rate or 0.0)} a unit"
    data = _groups(offer) * code.data
    words = f"{data:,} data disks × {decimal_rate(disks)} a unit"
    if offer.rate is not None and offer.rate < data * disks:
        return float(offer.rate), f"{decimal_rate(offer.rate)} a unit (its disks: {words})"
    return data * float(disks), words


def _groups(offer: Offer) -> int:
    """Whole groups of a unit; disks beyond them stand by."""
    return offer.disks // offer.erasure.pieces


def unit_bytes(offer: Offer) -> float:
    """What a unit holds, formatted: its data disks."""
    return float(_groups(offer) * offer.erasure.data * offer.disk.size)


def _needs(offer: Offer, demand: Demand, thin: float) -> list[Need]:
    """The units that each demand needs, where tests keep a share of the capacity."""
    found = []
    rate, words = unit_rate(offer)
    if (asked := demand.sequential) is not None:
        units = _units(asked, rate)
        found.append(Need("bandwidth", units, units, f"{decimal_rate(asked)} ÷ {words}"))
    random = _random_rate(demand)
    if random is not None and offer.random_shares is not None:
        least, most = (_units(random, rate * share) for share in reversed(offer.random_shares))
        low, high = offer.random_shares
        shares = f"{low:g}" if low == high else f"{low:g} (at {high:g}: {least:,} units)"
        words = f"{decimal_rate(random)} ÷ {decimal_rate(rate)} × {shares}"
        found.append(Need("random", least, most, words))
    volume = _volume(demand)
    if volume is not None and demand.capacity is not None:
        times = demand.capacity.times
        units = _units(volume * times / (1.0 - thin), unit_bytes(offer))
        stored = decimal_bytes(volume) + (f" {demand.capacity.factor}" if times > 1.0 else "")
        stored += f" ÷ (1 − {thin:g})" if thin else ""
        words = f"{stored} ÷ {decimal_bytes(unit_bytes(offer))} a unit"
        found.append(Need("capacity", units, units, words))
    return found


def _sized(offer: Offer, file: SizingFile) -> SizedOffer:
    """An offer at the number of units that it has or needs."""
    needs = [] if file.demand is None else _needs(offer, file.demand, file.thin)
    binding = max(needs, key=lambda need: need.units, default=None)
    units = offer.units or (binding.units if binding is not None else 1)
    rate = units * unit_rate(offer)[0]
    shares = offer.random_shares
    return SizedOffer(
        name=offer.name,
        needs=tuple(needs),
        binding=None if binding is None else binding.demand,
        units=units,
        short_of=tuple(need.demand for need in needs if need.units > units),
        disks=units * offer.disks,
        usable_bytes=units * unit_bytes(offer),
        rate_bytes_per_second=rate,
        random_bytes_per_second=None if shares is None else (rate * shares[0], rate * shares[1]),
        power_watts=None if offer.power is None else units * offer.power,
        price=None if offer.price is None else offer.price.times(units),
        figures=tuple(_figures(offer, units, file)),
    )


def _figures(offer: Offer, units: int, file: SizingFile) -> list[Figure]:
    """What so many units come to, each with its derivation."""
    demand, (rate, words) = file.demand, unit_rate(offer)
    code, groups = offer.erasure, _groups(offer)
    usable = units * unit_bytes(offer)
    data = f"{units:,} × {groups * code.data:,} data disks × {decimal_bytes(offer.disk.size)}"
    whole = f"{units:,} × ⌊{offer.disks:,} ÷ {code.pieces}⌋"
    found = [
        Figure("disks", "Disks", units * offer.disks, "count", f"{units:,} × {offer.disks:,}"),
        Figure("groups", f"Groups of {offer.code}", units * groups, "count", whole),
        Figure("usable_bytes", "Formatted, before the file system's own", usable, "bytes", data),
    ]
    if file.thin:
        found += _thin(file.thin, usable, units * rate)
        usable -= file.thin * usable
    volume = None if demand is None else _volume(demand)
    for knee in file.knees:
        formula = f"{knee:g} × {decimal_bytes(usable)}"
        if volume is not None:
            formula += f" ({knee * usable / volume:.2f} of what is stored)"
        key, what = f"usable_bytes_below_{100 * knee:g}_percent", f"At {100 * knee:g} % full"
        found.append(Figure(key, what, knee * usable, "bytes", formula))
    if volume is not None:
        formula = f"{decimal_bytes(volume)} ÷ {decimal_bytes(usable)}"
        found.append(Figure("fill", "Full with what is stored", volume / usable, "share", formula))
    formula = f"{units:,} × {words}"
    what = "Bandwidth in order"
    found.append(Figure("rate_bytes_per_second", what, units * rate, "rate", formula))
    shares = offer.random_shares or ()
    for word, share in zip(("least", "most"), dict.fromkeys(shares), strict=False):
        what = "Bandwidth at random" + (f", at {word}" if len(set(shares)) > 1 else "")
        formula = f"{share:g} × {decimal_rate(units * rate)}"
        value = share * units * rate
        found.append(Figure(f"random_{word}_bytes_per_second", what, value, "rate", formula))
    if demand is not None and demand.checkpoint is not None and demand.memory is not None:
        volume = demand.checkpoint.share * demand.memory
        formula = f"{decimal_bytes(volume)} ÷ {decimal_rate(units * rate)}"
        seconds = volume / (units * rate)
        found.append(Figure("checkpoint_seconds", "Checkpoint", seconds, "seconds", formula))
    return found


def _thin(share: float, usable: float, rate: float) -> list[Figure]:
    """What a thin file system for tests takes, and how long a test at the full rate may be."""
    words = f"{share:g} × {decimal_bytes(usable)}, on all disks"
    found = [Figure("thin_bytes", "Kept for tests", share * usable, "bytes", words)]
    words = f"(1 − {share:g}) × {decimal_bytes(usable)}"
    found.append(Figure("users_bytes", "Left to users", (1.0 - share) * usable, "bytes", words))
    seconds = share * usable / rate
    words = f"{decimal_bytes(share * usable)} ÷ {decimal_rate(rate)}"
    what = "A test that writes at the full rate fills it after"
    return [*found, Figure("thin_seconds", what, seconds, "seconds", words)]
