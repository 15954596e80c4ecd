"""Which devices of a run are slow, and when."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from resilver.describe_streams import ChooseFailed
from resilver.errors import ConfigError, Problem, show
from resilver.spec import Fault, System
from resilver.spec.slow import part_names


@dataclass(frozen=True)
class SlowParts:
    """Parts whose devices are slow for a while.

    Attributes:
        names: The names of the parts.
        devices: The numbers of the devices in them.
        at_seconds: When they become slow.
        until_seconds: When they work as before, or None.
        health: The share of their speed that they work at.
    """

    names: tuple[str, ...]
    devices: tuple[int, ...]
    at_seconds: float
    until_seconds: float | None
    health: float

    def described(self) -> dict[str, Any]:
        """The same in the core's words."""
        return {name: value for name, value in asdict(self).items() if name != "names"}


def slow_devices(
    system: System, seed: int, failed: Collection[int], choose: ChooseFailed
) -> list[SlowParts]:
    """The devices that are slow for a while, by the place of their fault in the study file.

    Args:
        system: The system, whose faults name parts or say how many.
        seed: The seed of the run, which decides where a fault says how many.
        failed: The numbers of the devices that fail in the run; parts with one are not drawn.
        choose: The core's draw.

    Returns:
        What is slow, in the order of the study file.

    Raises:
        ConfigError: Fewer parts are left to draw from than a fault says.
    """
    slow = []
    lost = set(failed)
    for index, fault in enumerate(system.faults):
        if fault.part is None or fault.health is None:
            continue
        kind, targets = fault.part.kind, fault.part.targets
        members = part_names(system.cluster, kind)
        tree = system.cluster.tree
        if tree is not None and tree.carrier_of(kind) is not None:
            # What carries devices is slow itself, and they are not.
            names = list(members)
            if isinstance(targets, int):
                names = [names[one] for one in choose(seed, index, len(names), targets)]
            else:
                names = list(targets)
            slow.append(_slow(fault, names, ()))
            continue
        if isinstance(targets, int):
            # An OSD may go by two names, of which the first is told.
            named = {devices: name for name, devices in reversed(members.items())}
            whole = sorted(devices for devices in named if lost.isdisjoint(devices))
            if targets > len(whole):
                rule = f"with seed {seed}, {len(whole)} of them have no device that fails"
                key = f"faults.{index}.part.{kind}"
                raise ConfigError(Problem(rule, "let fewer be slow", key=key, value=show(targets)))
            names = [named[whole[one]] for one in choose(seed, index, len(whole), targets)]
        else:
            names = list(targets)
        slow.append(_slow(fault, names, {number for name in names for number in members[name]}))
    return slow


def _slow(fault: Fault, names: Sequence[str], devices: Collection[int]) -> SlowParts:
    until = None if fault.until is None else float(fault.until)
    health = fault.health or 0.0
    return SlowParts(tuple(names), tuple(sorted(devices)), float(fault.at), until, health)
