"""Several pools on the same parts: each with its own population, placement, code and clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from resilver.errors import Problem, Problems, show
from resilver.spec.placement import Placement
from resilver.spec.population import Population
from resilver.spec.redundancy import Redundancy
from resilver.spec.section import Section
from resilver.spec.traffic import Traffic
from resilver.units import Seconds, exact_bytes, exact_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

POOLS_MAX = 256
"""The most pools of a study: as many share the numbers that files have."""


class Pool(Section):
    """One population under one placement and one redundancy."""

    name: str = Field(examples=["archive"])
    """What it is called in results."""
    population: Population
    """What is stored in it."""
    placement: Placement = Field(default_factory=Placement)
    """Where each piece goes, such as devices of one class."""
    redundancy: Redundancy = Field(default_factory=Redundancy)
    """What a piece needs to survive."""
    traffic: Traffic | None = None
    """What the clients of this pool do; requests, not streams."""

    def _problems(self) -> Problems:
        if not self.name.strip():
            yield self.problem("name", "a pool has a name", 'such as "archive"')
        if self.traffic is not None and self.traffic.is_striped:
            rule = "the clients of one pool issue requests"
            remedy = (
                "use outstanding or arrivals, or write [traffic] for streams or jobs over all pools"
            )
            key = "traffic.streams" if self.traffic.streams is not None else "traffic.jobs"
            yield Problem(rule, remedy, key=key)


def pool_list_problems(pools: Sequence[Pool], *, has_traffic: bool) -> Problems:
    """What is wrong with pools beside each other.

    Args:
        has_traffic: Whether the study has clients of all pools besides.
    """
    names = [pool.name for pool in pools]
    for index, name in enumerate(names):
        if name in names[:index]:
            rule = "two pools have this name"
            key = f"pools.{index}.name"
            yield Problem(rule, "give each its own", key=key, value=show(name))
    if len(pools) > POOLS_MAX:
        rule = f"a study has at most {POOLS_MAX} pools"
        yield Problem(rule, "leave some out", key="pools", value=show(len(pools)))
    served = [(index, pool.traffic) for index, pool in enumerate(pools) if pool.traffic is not None]
    if has_traffic and served:
        rule = "[traffic] has clients of all pools, and this pool has its own"
        yield Problem(rule, "keep one of the two", key=f"pools.{served[0][0]}.traffic")
    for index, traffic in served[1:]:
        _, first = served[0]
        written = {
            "warm_up": exact_duration(Seconds(traffic.warm_up_seconds)),
            "duration": None if traffic.duration is None else exact_duration(traffic.duration),
            "control_message": exact_bytes(traffic.control_message),
        }
        same = {
            "warm_up": traffic.warm_up_seconds == first.warm_up_seconds,
            "duration": traffic.duration == first.duration,
            "control_message": traffic.control_message == first.control_message,
        }
        yield from [
            Problem(
                f"the clients of all pools are measured alike, and those of "
                f'"{names[served[0][0]]}" have another {name}',
                "give both the same",
                key=f"pools.{index}.traffic.{name}",
                value=show(value),
            )
            for name, value in written.items()
            if not same[name]
        ]
