"""Streams of stripes over a leaf-spine network in plain Python: packets, lanes, and nothing else.

Nothing is shared with the core, neither code nor order of events nor draws, so that the two agree
as two measurements of one system do: in the mean. Switches and servers take no time, links no
latency; a packet is passed on when all of it is there. A port serves of the lanes that wait the
one that has sent least by its share; one that comes back from idleness has no credit.
"""

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.reference.machines import Clock

CONTROL = 64
CLIENTS, REBUILD = 0, 1
Place = tuple[int, int]
"""A host's leaf, and its slot there."""


@dataclass(frozen=True)
class Tree:
    """Leaves of slots hosts below spines with entries; and where each port of each server is.

    Args:
        spines: Switches of the second level.
        slots: Hosts at each leaf.
        entries: Links of clients at each spine.
        groups: Of each group of each server the places of its ports.
    """

    spines: int
    slots: int
    entries: int
    groups: Sequence[Sequence[Sequence[Place]]]


@dataclass(frozen=True)
class Figures:
    """What streams do: strips and packets in bytes, rates in bytes a second, times in seconds."""

    data: int
    pieces: int
    gathered: int
    strip: int
    packet: int
    overhead: int
    link_rate: float
    window: int
    reads: bool
    shares: tuple[float, float]
    rebuilding: frozenset[int]
    rebuild_window: int
    warm_up: float
    duration: float


class Port:
    """The sending end of a channel: a queue for each lane, and how far each lane is served."""

    def __init__(self) -> None:
        self.queues: tuple[deque[Any], deque[Any]] = (deque(), deque())
        self.served = [0.0, 0.0]
        self.is_busy = False
        self.bytes = 0


@dataclass
class Outcome:
    """What completed within the statistics, and what every channel carried in all."""

    user_bytes: list[int]
    strips_made: list[int]
    delay: float = 0.0
    completed: int = 0
    channels: dict[tuple[str, int, int], int] = field(default_factory=dict)


class Streams:
    """The system while it runs; `run` does all, in seconds."""

    def __init__(self, tree: Tree, figures: Figures, seed: int) -> None:
        self.tree, self.figures, self.clock = tree, figures, Clock()
        self.draws = random.Random(seed)
        self.ports: dict[tuple[str, int, int], Port] = {}
        groups = len(tree.groups)
        self.outcome = Outcome([0] * groups, [0] * groups)

    # The network -------------------------------------------------------------------------------

    def path(self, source: Place | int, target: Place | int) -> list[tuple[str, int, int]]:
        """Channels from a host to a host or entry, or from an entry to a host, by D-mod-K.

        An entry is known by its number e, at spine e mod spines. A packet for another leaf climbs
        to the spine of its target's slot; a packet for an entry, to the entry's spine.
        """
        if isinstance(source, int):
            assert not isinstance(target, int)
            spine, (leaf, slot) = source % self.tree.spines, target
            return [("in", source, 0), ("down", spine, leaf), ("host", leaf, slot)]
        if isinstance(target, int):
            spine = target % self.tree.spines
            return [("port", *source), ("up", source[0], spine), ("out", target, 0)]
        if source[0] == target[0]:
            return [("port", *source), ("host", *target)]
        spine = target[1] % self.tree.spines
        climbed = [("port", *source), ("up", source[0], spine)]
        return [*climbed, ("down", spine, target[0]), ("host", *target)]

    def send(
        self, source: Place | int, target: Place | int, size: int, lane: int, done: Any
    ) -> None:
        """Send a message; `done` is called when its last packet has arrived."""
        path = [self.ports.setdefault(name, Port()) for name in self.path(source, target)]
        while size > 0:
            part = min(size, self.figures.packet)
            size -= part
            last = done if size == 0 else None
            self.enqueue((path, 0, part + self.figures.overhead, lane, last))

    def enqueue(self, packet: Any) -> None:
        path, hop, _, lane, _ = packet
        port: Port = path[hop]
        queue = port.queues[lane]
        if not queue and not port.queues[1 - lane]:
            port.served[lane] = max(port.served)
        elif not queue:
            port.served[lane] = max(port.served[lane], port.served[1 - lane])
        queue.append(packet)
        if not port.is_busy:
            self.begin(port)

    def begin(self, port: Port) -> None:
        """Have a port send the next packet of the lane whose turn it is."""
        first, second = port.queues
        behind = port.served[1] < port.served[0]
        lane = int(behind if first and second else not first)
        packet = port.queues[lane].popleft()
        port.served[lane] += packet[2] / self.figures.shares[lane]
        port.is_busy = True
        port.bytes += packet[2]
        passed = self.clock.now + packet[2] / self.figures.link_rate
        self.clock.at(passed, lambda: self.passed(port, packet))

    def passed(self, port: Port, packet: Any) -> None:
        """A packet has left a port: it is at the next one, or at its end."""
        path, hop, size, lane, done = packet
        port.is_busy = False
        if port.queues[0] or port.queues[1]:
            self.begin(port)
        if hop + 1 < len(path):
            self.enqueue((path, hop + 1, size, lane, done))
        elif done is not None:
            done()

    # Operations --------------------------------------------------------------------------------

    def entry(self, place: Place) -> int:
        """The entry that is paired with a port: its host's number modulo the entries."""
        leaf, slot = place
        return (leaf * self.tree.slots + slot) % (self.tree.entries * self.tree.spines)

    def peers(self, group: int, server: int, count: int) -> list[int]:
        members = len(self.tree.groups[group])
        return self.draws.sample([other for other in range(members) if other != server], count)

    def read(self, at: tuple[int, int, int]) -> None:
        """The entry asks; k - 1 peers are asked and answer; k strips go out."""
        group, server, side = at
        servers = self.tree.groups[group]
        place, start = servers[server][side], self.clock.now
        entry, strip, wanted = self.entry(place), self.figures.strip, self.figures.data - 1
        left = [wanted]

        def gathered() -> None:
            left[0] -= 1
            if left[0] <= 0:
                left[0] = self.figures.data
                for _ in range(self.figures.data):
                    self.send(place, entry, strip, CLIENTS, delivered)

        def delivered() -> None:
            left[0] -= 1
            if not left[0]:
                self.complete(at, start)

        def asked() -> None:
            for peer in self.peers(group, server, wanted):
                self.ask(place, servers[peer][side], CLIENTS, gathered)

        self.send(entry, place, CONTROL, CLIENTS, asked)

    def ask(self, place: Place, peer: Place, lane: int, done: Any) -> None:
        """Ask a peer for a strip, and have it sent."""
        strip = self.figures.strip
        self.send(place, peer, CONTROL, lane, lambda: self.send(peer, place, strip, lane, done))

    def write(self, at: tuple[int, int, int]) -> None:
        """k strips come in, n - 1 go to peers, all acknowledge, and the entry is told."""
        group, server, side = at
        servers = self.tree.groups[group]
        place, start = servers[server][side], self.clock.now
        entry, strip, others = self.entry(place), self.figures.strip, self.figures.pieces - 1
        left = [self.figures.data]

        def acknowledged() -> None:
            left[0] -= 1
            if not left[0]:
                self.send(place, entry, CONTROL, CLIENTS, lambda: self.complete(at, start))

        def told(there: Place) -> Any:
            return lambda: self.send(there, place, CONTROL, CLIENTS, acknowledged)

        def arrived() -> None:
            left[0] -= 1
            if left[0]:
                return
            left[0] = others
            for peer in self.peers(group, server, others):
                self.send(place, servers[peer][side], strip, CLIENTS, told(servers[peer][side]))

        for _ in range(self.figures.data):
            self.send(entry, place, strip, CLIENTS, arrived)

    def complete(self, at: tuple[int, int, int], start: float) -> None:
        if self.clock.now >= self.figures.warm_up:
            self.outcome.user_bytes[at[0]] += self.figures.data * self.figures.strip
            self.outcome.delay += self.clock.now - start
            self.outcome.completed += 1
        (self.read if self.figures.reads else self.write)(at)

    def rebuild(self, at: tuple[int, int, int]) -> None:
        """y peers' strips make one anew, and the next is begun."""
        group, server, side = at
        servers = self.tree.groups[group]
        left = [self.figures.gathered]

        def gathered() -> None:
            left[0] -= 1
            if not left[0]:
                if self.clock.now >= self.figures.warm_up:
                    self.outcome.strips_made[group] += 1
                self.rebuild(at)

        for peer in self.peers(group, server, left[0]):
            self.ask(servers[server][side], servers[peer][side], REBUILD, gathered)

    def run(self) -> Outcome:
        """Run to the end of the statistics.

        Returns:
            What was done.
        """

        def later(call: Any, *at: int) -> None:
            begin = self.draws.random() * self.figures.warm_up / 2
            self.clock.at(begin, lambda: call(at))

        first = self.read if self.figures.reads else self.write
        for group, servers in enumerate(self.tree.groups):
            for server, sides in enumerate(servers):
                for side in range(len(sides)):
                    for _ in range(self.figures.window):
                        later(first, group, server, side)
                if group in self.figures.rebuilding:
                    for number in range(self.figures.rebuild_window):
                        later(self.rebuild, group, server, number % len(sides))
        self.clock.run(self.figures.warm_up + self.figures.duration)
        self.outcome.channels = {name: port.bytes for name, port in self.ports.items()}
        return self.outcome


def local(groups: int, size: int, slots: int, ports: int = 2) -> list[list[list[Place]]]:
    """Groups on one set of neighbouring leaves after the other: places by group, server, port."""
    servers = range(groups * size)
    places = [[(s // slots * ports + port, s % slots) for port in range(ports)] for s in servers]
    return [places[group * size : (group + 1) * size] for group in range(groups)]


def distributed(groups: int, size: int, sets: int, ports: int = 2) -> list[list[list[Place]]]:
    """Each group dealt evenly over all sets of leaves: places by group, server, port."""
    each = size // sets
    return [
        [
            [(i // each * ports + port, g * each + i % each) for port in range(ports)]
            for i in range(size)
        ]
        for g in range(groups)
    ]
