"""What is stored on each device, held against what it holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from resilver.errors import Problem, show
from resilver.spec.population import VOLUMES
from resilver.units import Bytes, exact_bytes, format_bytes

if TYPE_CHECKING:
    from resilver.spec.cluster import DeviceKind
    from resilver.spec.system import System


@dataclass(frozen=True)
class Stored:
    """What a device of one kind stores, in the mean over them.

    Attributes:
        name: The kind's device, as the catalog or its file calls it; empty of a table of its own.
        of_pools: By the pool's number, from 0: bytes of its copies or pieces on each device.
        capacity: What one holds; None where nothing states it.
    """

    name: str
    of_pools: Mapping[int, Fraction]
    capacity: Bytes | None

    @property
    def raw_bytes(self) -> Fraction:
        """What each stores in all, with redundancy."""
        return sum(self.of_pools.values(), start=Fraction(0))

    @property
    def share(self) -> float | None:
        """How full it is; None where its capacity is not known."""
        return None if self.capacity is None else float(self.raw_bytes / self.capacity)


def stored_of(system: System) -> list[Stored]:
    """What each kind of a synthetic system's devices stores; none where nothing is placed.

    Devices of all kinds that a pool takes weigh alike, so each gets the same share of it.
    """
    found = []
    for kind in system.cluster.device_kinds:
        of_pools = {
            index: _raw_bytes(pool)
            for index, pool in enumerate(system.of_pools)
            if pool.population is not None and pool.holder_count and _takes(pool, kind)
        }
        if of_pools:
            capacity = system.cluster.capacity or kind.device.capacity
            found.append(Stored(kind.device.label, of_pools, capacity))
    return found


def capacity_problems(system: System) -> list[Problem]:
    """More on a device than it holds, with the key of the volume that stores most there."""
    for stored in stored_of(system):
        if stored.capacity is None or stored.raw_bytes <= stored.capacity:
            continue
        index = max(stored.of_pools, key=lambda one: stored.of_pools[one])
        pool = system.of_pools[index]
        assert pool.population is not None, "what stores nothing is left out"
        key = next(name for name in VOLUMES if getattr(pool.population, name) is not None)
        given = int(getattr(pool.population, key))
        level = system.cluster.tree.device_level if system.cluster.tree else "device"
        code = pool.code or f"{pool.copies} replica{'s' if pool.copies != 1 else ''}"
        raw, holds = format_bytes(float(stored.raw_bytes)), format_bytes(stored.capacity)
        if raw == holds:
            raw, holds = f"{math.ceil(stored.raw_bytes)} B", f"{int(stored.capacity)} B"
        rule = f"under {code} each {level} stores {raw}, and a {stored.name or level} holds {holds}"
        remedy = "store less"
        if len(stored.of_pools) == 1:
            most = int(given * stored.capacity / stored.raw_bytes)
            remedy = f"use at most {most if key == 'files' else _whole_units(most)}"
        remedy += ", or more or larger devices; cluster.capacity states what one holds"
        value = show(given if key == "files" else exact_bytes(given))
        above = f"pools.{index}." if system.pools else ""
        return [Problem(rule, remedy, key=f"{above}population.{key}", value=value)]
    return []


def _raw_bytes(pool: System) -> Fraction:
    """What each device that a pool takes stores of it, with redundancy."""
    population = pool.population
    assert population is not None, "what stores nothing is left out"
    volume = Fraction(pool.population_target_bytes or 0)
    if population.files is not None:
        volume = population.files * population.mean_file_bytes
    code = pool.code
    times = Fraction(pool.copies or 1) if code is None else Fraction(code.pieces, code.data)
    return volume * times / pool.holder_count


def _whole_units(most: int) -> str:
    """At most so many bytes, in the largest unit of which there are a hundred: 14901 GiB."""
    unit = 1024 ** max(0, (len(f"{most:b}") - 7) // 10)
    return exact_bytes(most // unit * unit)


def _takes(pool: System, kind: DeviceKind) -> bool:
    """Whether a pool is placed on devices of a kind."""
    name = pool.placement.only_class if pool.placement else None
    return name in (None, kind.device_class)
