"""The tree that a synthetic cluster's devices stand in: levels, names and who is in what."""

from __future__ import annotations

from dataclasses import dataclass


def plural(level: str) -> str:
    """What several parts of a level are called, as faults name them.

    Args:
        level: The level's name, or its plural already.

    >>> [plural(name) for name in ("osd", "osds", "chassis", "switch", "box")]
    ['osds', 'osds', 'chassis', 'switches', 'boxes']
    """
    if level.endswith("s"):
        return level
    return level + ("es" if level.endswith(("x", "ch", "sh")) else "s")


def singular(kind: str) -> str:
    """What one part is called of which several are called so; the inverse of `plural`.

    >>> [singular(kind) for kind in ("osds", "chassis", "switches", "boxes", "nodes")]
    ['osd', 'chassis', 'switch', 'box', 'node']
    """
    if kind.endswith(("xes", "ches", "shes")):
        return kind[:-2]
    return kind if kind.endswith("is") else kind.removesuffix("s")


@dataclass(frozen=True)
class Level:
    """A level of the tree.

    Attributes:
        name: Its name, such as ``host``.
        count: How many parts of it there are in all.
    """

    name: str
    count: int


@dataclass(frozen=True)
class Tree:
    """Levels of which each part holds equally many of the level below, down to the devices.

    Parts are numbered within their level in the order of the tree, so that neighbours have
    neighbouring numbers.

    Attributes:
        levels: The levels from the top down; the last one is the devices'.
        port_level: The level whose parts have the network ports.
        ports: How many ports each of these has.
        kinds: The kinds of the devices in turn, over and over, by number.

    >>> tree = Tree((Level("rack", 2), Level("host", 6), Level("osd", 30)), "host")
    >>> tree.members("host", 3), tree.name("osd", 17), tree.part_above("rack", 17)
    (range(15, 20), 'osd.17', 'rack.1')
    """

    levels: tuple[Level, ...]
    port_level: str
    ports: int = 1
    kinds: tuple[int, ...] = (0,)

    @property
    def device_level(self) -> str:
        """The name of the level of the devices."""
        return self.levels[-1].name

    @property
    def devices(self) -> int:
        """How many devices there are."""
        return self.levels[-1].count

    @property
    def machines(self) -> int:
        """How many parts have network ports."""
        return self.count(self.port_level) or 0

    def count(self, level: str) -> int | None:
        """How many parts of a level there are, or None where there is no such level."""
        return next((one.count for one in self.levels if one.name == level), None)

    def size(self, level: str) -> int:
        """How many devices each part of a level holds."""
        return self.devices // (self.count(level) or 1)

    def level_of(self, kind: str) -> str | None:
        """The level whose parts faults call so; None where there is none."""
        return next((one.name for one in self.levels if plural(one.name) == kind), None)

    def members(self, level: str, number: int) -> range:
        """The numbers of the devices in a part."""
        size = self.size(level)
        return range(number * size, (number + 1) * size)

    def name(self, level: str, number: int) -> str:
        """The name of a part."""
        return f"{level}.{number}"

    def part_above(self, level: str, device: int) -> str:
        """The name of the part of a level that a device is in."""
        return self.name(level, device // self.size(level))

    def kind(self, device: int) -> int:
        """The kind of a device, by number."""
        return self.kinds[device % len(self.kinds)]
