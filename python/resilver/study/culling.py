"""Culling as a study: slow disks of its own RAID sets are replaced in rounds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resilver.center.culling import Culling, Floats, Ints, Reference, cull_disks
from resilver.errors import ConfigError, show
from resilver.spec import Fault, Study, System
from resilver.spec.faults import Broken, Failing
from resilver.spec.sweep import put, read_section
from resilver.spec.tree import Side, Tree, number_of, plural

_PURPOSE = 0x6E65776C79
"""The key of the streams that say which new disks are slow."""


class StudyDisks:
    """The disks of a study's RAID sets under one seed, as its runs begin with them.

    A disk has the speed that it draws, times the health that faults at the start give it. A new one
    draws another of the same spread. Where a fault says how many disks are slow, so is a new one
    with that chance; where it names them, these are what is wrong, and a new one is healthy.

    Args:
        system: The system.
        seed: The seed.

    Raises:
        ConfigError: It has no RAID sets, or such whose disks are of several kinds.
    """

    def __init__(self, system: System, seed: int) -> None:
        from resilver.simulate import named_faults

        self.system, self.seed = system, seed
        self.tree, self.side = _sets_of(system)
        tree, cluster = self.tree, system.cluster
        kind_of = cluster.kind_of
        self.members = np.array(
            [list(tree.members(self.side.name, one)) for one in range(self.side.count)]
        )
        kinds = {kind_of[device] for device in self.members.ravel().tolist()}
        if len(kinds) > 1:
            rule = f"the {plural(self.side.name)} are made of disks of several kinds"
            remedy = "profile a study whose groups are all of one"
            raise ConfigError(rule, remedy, key="cluster.parts")
        self.spread = cluster.device_kinds[kinds.pop()].spread
        self.replaced = np.zeros(tree.devices, dtype=np.uint32)
        for name, times in cluster.replaced.items():
            self.replaced[number_of(name, tree.device_level, tree.devices) or 0] = times
        self.names = named_faults(system, seed) if system.faults else []
        self.slow = {
            index: {number_of(name, tree.device_level, tree.devices) or 0 for name in names}
            for index, names in enumerate(self.names)
            if self._slows(system.faults[index])
        }
        self.around = self._health_around()
        self._stream = np.random.Generator(np.random.Philox(key=[seed, _PURPOSE]))

    @property
    def units(self) -> Ints:
        """The part that each RAID set is in, by number: shape (sets,)."""
        return np.arange(self.side.count) // self.side.each

    def cull(self, within: float, of: Reference) -> Culling:
        """Replace slow disks in rounds until all sets are within an envelope."""
        return cull_disks(self._speeds(self.members), self.units, within, of, self._new)

    def culled(self, study: Study) -> Study:
        """A study of this seed with its disks as they now are."""
        level = self.tree.device_level
        replaced = {f"{level}.{at}": int(self.replaced[at]) for at in np.flatnonzero(self.replaced)}
        if not self.spread:
            # Disks without a spread are all as fast, and a study does not say which are new.
            replaced = {}
        sections = study.given()
        cluster = put(study.cluster, ["replaced"], replaced, "cluster.replaced")
        sections["cluster"] = read_section("cluster", cluster, Path.cwd())
        faults = [self._now(index, fault) for index, fault in enumerate(study.faults)]
        sections["faults"] = tuple(fault for fault in faults if fault is not None)
        sections["study"] = study.study.model_copy(update={"seeds": (self.seed,)})
        return Study(**sections)

    def _slows(self, fault: Fault) -> bool:
        """Whether a fault makes disks themselves slow from the beginning."""
        broken = fault.broken
        is_of_disks = broken is not None and broken.level in ("disk", self.tree.device_level)
        return is_of_disks and _is_slow_at_once(fault)

    def _health_around(self) -> Floats:
        """What slow enclosures, hosts and so on leave of the speed of the disks in them."""
        health = np.ones(self.tree.devices)
        for fault, names in zip(self.system.faults, self.names, strict=False):
            broken = fault.broken
            level = None if broken is None else self.tree.level_of(plural(broken.level))
            if broken is None or level is None or not _is_slow_at_once(fault):
                continue
            side = self.tree.side(level)
            if level == self.tree.device_level or (side is not None and side.carries is not None):
                continue
            for name in names:
                number = number_of(name, level, self.tree.count(level) or 0)
                at = list(self.tree.members(level, number or 0))
                health[at] = np.minimum(health[at], broken.health)
        return health

    def _broken(self, index: int) -> Broken:
        broken = self.system.faults[index].broken
        assert broken is not None, "soft errors make no disk slow"
        return broken

    def _speeds(self, devices: npt.NDArray[np.int64]) -> Floats:
        from resilver.simulate import drawn_speeds

        flat = devices.ravel()
        speeds = drawn_speeds(self.spread, self.seed, flat, self.replaced[flat])
        health = self.around.copy()
        for index, slow in self.slow.items():
            at = list(slow)
            # Of several faults the worst holds, as in runs.
            health[at] = np.minimum(health[at], self._broken(index).health)
        return (speeds * health[flat]).reshape(devices.shape)

    def _new(self, groups: Ints, places: Ints) -> Floats:
        """The speeds of new disks in some places of some sets."""
        devices = self.members[groups, places]
        self.replaced[devices] += 1
        chance = self._stream.random(len(devices))
        for index, slow in self.slow.items():
            slow -= set(devices.tolist())
            targets = self._broken(index).targets
            share = targets / self.tree.devices if isinstance(targets, int) else 0.0
            slow |= set(devices[(chance >= 0.0) & (chance < share)].tolist())
            # Each is slow by one fault at the most.
            chance = chance - share
        return self._speeds(devices)

    def _now(self, index: int, fault: Fault) -> Fault | None:
        """A fault with the parts that it is now of, by name; None where none is left."""
        broken = fault.broken
        if broken is None:
            return fault
        names: Sequence[str] = self.names[index]
        if index in self.slow:
            names = [f"{self.tree.device_level}.{device}" for device in sorted(self.slow[index])]
        if not names:
            return None
        part = Failing.model_validate({broken.level: list(names)})
        health, told = (broken.health, None) if broken.health else (None, broken.is_told)
        return Fault(at=fault.at, part=part, health=health, told=told, until=broken.until)


def _is_slow_at_once(fault: Fault) -> bool:
    return fault.broken is not None and fault.broken.health > 0.0 and fault.at == 0.0


def _sets_of(system: System) -> tuple[Tree, Side]:
    """The RAID sets of a system: those that hold its data, else the first that are declared."""
    tree, placement = system.cluster.tree, system.placement
    sides = [side for side in tree.sides if side.size] if tree is not None else []
    if tree is None or not sides:
        rule = "groups of disks are RAID sets, and no level is made of disks"
        remedy = "declare one in cluster.parts, with of and size, or leave out --within"
        raise ConfigError(rule, remedy, key="cluster.parts")
    named = None if placement is None else tree.side(placement.level or "")
    return tree, named or sides[0]


def check_draws(seeds: int | None) -> None:
    """Refuse a number of draws where a study has seeds of its own."""
    if seeds is not None:
        rule, remedy = "a study has seeds of its own", "set them with --set study.seeds=15"
        raise ConfigError(rule, remedy, key="--seeds", value=show(seeds))
