"""The tree that a synthetic cluster's devices stand in: levels, names and who is in what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


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


def number_of(name: str, prefix: str, count: int) -> int | None:
    """The number in a name such as ``server.3``, if there is such a member.

    Args:
        prefix: What stands before the number, such as ``server``.
        count: How many members there are.
    """
    head, _, digits = name.rpartition(".")
    if head != prefix or not digits.isdecimal() or len(digits) > 9 or str(int(digits)) != digits:
        return None
    return int(digits) if int(digits) < count else None


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
class Side:
    """A level beside the tree: of parts that are made of devices, or that carry others' bytes.

    Attributes:
        name: Its name, such as ``raid`` or ``controller``.
        scopes: How many parts of the tree there are that such parts are in; 1 for all of it.
        each: How many there are in each of these.
        size: Of what is made of devices: of how many.
        hands: Of what is made of devices: over how many parts of each scope these are dealt.
        spares: How many devices of each of these are in no set, and stand by: the last ones.
        carries: Of what carries others: their level.
        has_partners: Whether each two neighbours take over for each other.
    """

    name: str
    scopes: int
    each: int
    size: int = 0
    hands: int = 1
    spares: int = 0
    carries: str | None = None
    has_partners: bool = False

    @property
    def count(self) -> int:
        """How many parts of it there are in all."""
        return self.scopes * self.each


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
        sides: The levels beside it, none of which contains a device.

    >>> tree = Tree((Level("rack", 2), Level("host", 6), Level("osd", 30)), "host")
    >>> tree.members("host", 3), tree.name("osd", 17), tree.part_above("rack", 17)
    (range(15, 20), 'osd.17', 'rack.1')
    """

    levels: tuple[Level, ...]
    port_level: str
    ports: int = 1
    kinds: tuple[int, ...] = (0,)
    sides: tuple[Side, ...] = ()

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
        return self._counts.get(level)

    @cached_property
    def _counts(self) -> dict[str, int]:
        counts = {one.name: one.count for one in self.levels}
        return counts | {side.name: side.count for side in self.sides}

    def size(self, level: str) -> int:
        """How many devices each part of a level holds, is made of or carries."""
        return self.devices // (self.count(level) or 1)

    def level_of(self, kind: str) -> str | None:
        """The level whose parts faults call so; None where there is none."""
        return next((name for name in self.names if plural(name) == kind), None)

    @property
    def names(self) -> list[str]:
        """The names of all levels."""
        return [*(level.name for level in self.levels), *(side.name for side in self.sides)]

    def side(self, level: str) -> Side | None:
        """The level of this name beside the tree, if it is one."""
        return next((side for side in self.sides if side.name == level), None)

    def carrier_of(self, kind: str) -> str | None:
        """The level that faults call so, if its parts carry others and contain no devices."""
        side = self.side(self.level_of(kind) or "")
        return side.name if side is not None and side.carries is not None else None

    def carrier(self, level: str, number: int) -> str | None:
        """The name of the part that carries one of a level beside the tree; None where none does.

        >>> made = Side("set", scopes=1, each=4, size=2)
        >>> server = Side("server", scopes=1, each=2, carries="set")
        >>> Tree((Level("drive", 8),), "drive", sides=(made, server)).carrier("set", 3)
        'server.1'
        """
        own = self.side(level)
        side = next((side for side in self.sides if side.carries == level), None)
        if own is None or side is None:
            return None
        # What is carried is dealt over the carriers of its container in turn.
        scope, at = divmod(number, own.count // side.scopes)
        return self.name(side.name, scope * side.each + at % side.each)

    def lost_with_one(self, level: str) -> int:
        """How many devices are lost with one part of a level: none where a partner takes over."""
        side = self.side(level)
        return 0 if side is not None and side.has_partners else self.size(level)

    def members(self, level: str, number: int) -> Sequence[int]:
        """The numbers of the devices that a part contains, is made of or carries."""
        side = self.side(level)
        if side is None:
            size = self.size(level)
            return range(number * size, (number + 1) * size)
        scope, own = divmod(number, side.each)
        devices = self.devices // side.scopes
        if side.carries is not None:
            # What is carried is dealt over the carriers of its container in turn.
            count = (self.count(side.carries) or 0) // side.scopes
            sets = range(scope * count + own, (scope + 1) * count, side.each)
            below = [self.members(side.carries, one) for one in sets]
            # Behind the sets come the devices that stand by for them.
            spares = self._spares(side.carries, range(scope * devices, (scope + 1) * devices))
            below.append(spares[(own - count) % side.each :: side.each])
            return sorted(device for some in below for device in some)
        # Members are dealt one from each hand in turn, and one set behind another.
        dealt = range(own * side.size, (own + 1) * side.size)
        hand = devices // side.hands
        return [scope * devices + one % side.hands * hand + one // side.hands for one in dealt]

    def _spares(self, level: str, devices: range) -> list[int]:
        """Those of some devices that are in no set of a level, which is made of devices."""
        made = self.side(level)
        if made is None or not made.spares:
            return []
        hand = self.devices // (made.scopes * made.hands)
        return [device for device in devices if device % hand >= hand - made.spares]

    def name(self, level: str, number: int) -> str:
        """The name of a part."""
        return f"{level}.{number}"

    def part_above(self, level: str, device: int) -> str:
        """The name of the part of a level that a device is in."""
        return self.name(level, device // self.size(level))

    def kind(self, device: int) -> int:
        """The kind of a device, by number."""
        return self.kinds[device % len(self.kinds)]
