"""A network of packets in plain Python: the slow twin that the core's switched fabric answers to.

It knows nothing of a topology but its ports: distances come from breadth-first search, queues are
lists, and every packet is an object. Requests come from a list, so no random draw is needed. Times
are whole picoseconds. Packets that come to nodes at one time do so in the order in which they
entered their queues. Source of the model: Mehech (2007), see docs/models/fabric.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.reference.machines import Clock


@dataclass(frozen=True)
class Request:
    """One request of a client: when, by which node, of which disk's node."""

    time: int
    is_read: bool
    requester: int
    target: int


@dataclass(frozen=True)
class Figures:
    """What links, packets and disks are like; times in picoseconds."""

    picoseconds_per_byte: int
    latency: int
    switch_latency: int
    overhead: int
    packet: int
    request: int
    control: int
    service: int
    hop_limit: int


@dataclass
class Channel:
    """One direction of a link."""

    source: int
    peer: int
    waiting: deque[Packet] = field(default_factory=deque)
    sending: Packet | None = None
    free_at: int = 0
    busy: int = 0
    packets: int = 0
    queued: int = 0
    works: bool = True


@dataclass
class Packet:
    """A packet of a message."""

    payload: int
    target: int
    message: Message
    at: int
    came_from: int | None = None
    hops: int = 0
    turn: int = 0


@dataclass
class Message:
    """What is sent at once; `arrived` is called when all of it is there."""

    packets_left: int
    arrived: Callable[[], None]


@dataclass
class Disk:
    """A disk that serves reads before writes."""

    reads: deque[Callable[[], None]] = field(default_factory=deque)
    writes: deque[Callable[[], None]] = field(default_factory=deque)
    is_busy: bool = False
    served: int = 0


class Network(Clock):
    """Simulates requests over a network.

    Args:
        ports: Of each node, the far ends of its ports in order.
        figures: What links, packets and disks are like.
    """

    def __init__(self, ports: Sequence[Sequence[int]], figures: Figures) -> None:
        super().__init__()
        self.figures = figures
        self.channels = [
            [Channel(node, peer) for peer in peers] for node, peers in enumerate(ports)
        ]
        self.distances: dict[int, list[int]] = {}
        self.turns = [0] * len(ports)
        self.disks: dict[int, Disk] = {}
        self.delays: list[tuple[int, int]] = []
        self.hops: list[int] = []
        self.dropped = {"no_link": 0, "hop_limit": 0}

    def fail_link(self, one: int, other: int) -> None:
        """Break both directions of an idle link."""
        for source, peer in ((one, other), (other, one)):
            for channel in self.channels[source]:
                if channel.peer == peer:
                    channel.works = False

    def distance(self, node: int, target: int) -> int:
        """Hops of the shortest way, failures not known."""
        if target not in self.distances:
            found = [-1] * len(self.channels)
            found[target] = 0
            frontier = deque([target])
            while frontier:
                here = frontier.popleft()
                for channel in self.channels[here]:
                    if found[channel.peer] < 0:
                        found[channel.peer] = found[here] + 1
                        frontier.append(channel.peer)
            self.distances[target] = found
        return self.distances[target][node]

    def send(self, source: int, target: int, size: int, arrived: Callable[[], None]) -> None:
        """Cut a message into packets, all of which set off at once."""
        most = self.figures.packet
        sizes = [min(most, size - start) for start in range(0, size, most)] or [0]
        message = Message(len(sizes), arrived)
        for payload in sizes:
            self.forward(Packet(payload, target, message, source))

    def forward(self, packet: Packet) -> None:
        """Let a packet choose its next channel and queue for it."""
        if packet.hops >= self.figures.hop_limit:
            self.dropped["hop_limit"] += 1
            return
        here = self.channels[packet.at]
        left = self.distance(packet.at, packet.target)
        nearer = [c for c in here if self.distance(c.peer, packet.target) == left - 1]
        chosen = self.choose(packet, nearer)
        if chosen is None:
            chosen = self.choose(packet, [c for c in here if c not in nearer])
            if chosen is None:
                self.dropped["no_link"] += 1
                return
        packet.hops += 1
        packet.turn = self.take_turn()
        chosen.packets += 1
        chosen.queued += chosen.free_at > self.now
        time = (packet.payload + self.figures.overhead) * self.figures.picoseconds_per_byte
        chosen.free_at = max(chosen.free_at, self.now) + time
        chosen.busy += time
        chosen.waiting.append(packet)
        if chosen.sending is None:
            self.begin(chosen)

    def choose(self, packet: Packet, channels: Sequence[Channel]) -> Channel | None:
        """The channel that is free first, then the least used, then each in turn."""
        usable = [c for c in channels if c.works and c.peer != packet.came_from]
        if not usable:
            return None
        best = min((max(c.free_at, self.now), c.busy) for c in usable)
        equal = [c for c in usable if (max(c.free_at, self.now), c.busy) == best]
        turn = self.turns[packet.at]
        if len(equal) > 1:
            self.turns[packet.at] += 1
        return equal[turn % len(equal)]

    def begin(self, channel: Channel) -> None:
        """Begin to send the first packet that waits."""
        packet = channel.waiting.popleft()
        channel.sending = packet
        time = (packet.payload + self.figures.overhead) * self.figures.picoseconds_per_byte
        due = self.now + time + self.figures.latency
        if channel.peer != packet.target:
            due += self.figures.switch_latency
        self.at(due, lambda: self.arrive(channel, packet), packet.turn)
        self.at(self.now + time, lambda: self.end(channel))

    def end(self, channel: Channel) -> None:
        """A packet has been sent."""
        channel.sending = None
        if channel.waiting:
            self.begin(channel)

    def arrive(self, channel: Channel, packet: Packet) -> None:
        """A packet has come to a node, which has had time to look at it."""
        packet.came_from, packet.at = channel.source, channel.peer
        if packet.at != packet.target:
            self.forward(packet)
            return
        self.hops.append(packet.hops)
        packet.message.packets_left -= 1
        if packet.message.packets_left == 0:
            packet.message.arrived()

    def issue(self, number: int, request: Request) -> None:
        """Let a client ask."""
        size, control = self.figures.request, self.figures.control
        begun = request.time

        def done() -> None:
            self.delays.append((number, self.now - begun))

        def read() -> None:
            self.send(request.target, request.requester, size, done)

        if request.is_read:
            action = lambda: self.serve(request.target, "reads", read)  # noqa: E731
            self.send(request.requester, request.target, control, action)
            return

        def written() -> None:
            self.serve(request.target, "writes", lambda: None)
            self.send(request.target, request.requester, control, done)

        self.send(request.requester, request.target, size, written)

    def serve(self, node: int, queue: str, done: Callable[[], None]) -> None:
        """Queue a request at a disk."""
        disk = self.disks.setdefault(node, Disk())
        getattr(disk, queue).append(done)
        if not disk.is_busy:
            self.next_of(disk)

    def next_of(self, disk: Disk) -> None:
        """Let a disk turn to its next request, reads before writes."""
        queue = disk.reads or disk.writes
        if not queue:
            return
        done = queue.popleft()
        disk.is_busy = True

        def finish() -> None:
            disk.is_busy = False
            disk.served += 1
            done()
            if not disk.is_busy:
                self.next_of(disk)

        self.at(self.now + self.figures.service, finish)
