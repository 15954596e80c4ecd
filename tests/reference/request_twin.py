"""Requests of clients on objects that are stored, in plain Python, to hold the core against.

A closed loop reads and writes parts of objects over LogGP interfaces and first-in-first-out disks,
as docs/models/traffic.md states it. Times are whole picoseconds, and what happens at one time
happens in the order in which it was scheduled. Nothing fails here.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from resilver.spec import System
from tests.reference.draws import WORD, Stream
from tests.reference.losses import OBJECTS_A_FILE, Layout, file_sizes, object_sizes
from tests.reference.machines import PICOSECONDS, Clock, Disk, Network, picoseconds

SAMPLE = 2**16
"""Objects that requests are drawn from."""


@dataclass
class Outcome:
    """What a run came to: counts, sums of delays in picoseconds, and the disks."""

    issued: int = 0
    delays: dict[str, list[int]] = field(default_factory=lambda: {"read": [], "write": []})
    outstanding: int = 0
    bytes_asked: Counter[str] = field(default_factory=Counter)
    busy: list[int] = field(default_factory=list)
    ended_at: int = 0
    seen: Counter[str] = field(default_factory=Counter)


def uniform(stream: Stream) -> float:
    """A number in [0, 1): the leading 53 bits of a draw."""
    return (stream.word() >> 11) / 2**53


def sample_of(system: System, seed: int) -> list[list[int]]:
    """The devices of each object's pieces, of files drawn with equal chances, until enough."""
    layout, sizes = Layout(system, seed), list(file_sizes(system, seed))
    draws, sample = Stream(seed, "stripes", 0), list[list[int]]()
    while len(sample) < SAMPLE:
        file = draws.below(len(sizes))
        for place in range(len(object_sizes(system, sizes[file]))):
            if len(sample) < SAMPLE:
                number = file * OBJECTS_A_FILE + place
                sample.append(layout.set_of_object(number, frozenset()))
    return sample


class Requester:
    """A place where requests enter: its draws of when, of which kind and of where."""

    def __init__(self, seed: int, number: int) -> None:
        draws = [Stream(seed, purpose, number) for purpose in ("issue", "kind", "target")]
        self.issue, self.kind, self.target = draws


class Requests:
    """Clients in a closed loop; `run` does all."""

    def __init__(self, system: System, seed: int) -> None:
        self.system, self.traffic, self.outcome = system, system.traffic, Outcome()
        self.clock = Clock()
        self.network = Network(system, self.clock, self.outcome.seen)
        self.disks = [
            Disk(system, self.clock, self.outcome.seen) for _ in range(system.server_count)
        ]
        self.coder_free: Counter[int] = Counter()
        self.by_primary: dict[int, list[list[int]]] = {}
        for devices in sample_of(system, seed):
            self.by_primary.setdefault(devices[0], []).append(devices)
        self.primaries = sorted(self.by_primary)
        entries = system.cluster.fabric.router_count
        self.requesters = [Requester(seed, number) for number in range(entries)]
        self.pieces_asked = 0

    def run(self) -> Outcome:
        """Ask until the time is over."""
        traffic, outcome = self.traffic, self.outcome
        self.clock.at(picoseconds(traffic.duration), lambda: None)
        share, rest = divmod(traffic.outstanding, len(self.requesters))
        first = [
            (self.gap(requester), number)
            for number, requester in enumerate(self.requesters)
            for _ in range(share + (number < rest))
        ]
        for after, number in first:
            self.clock.at(after, lambda number=number: self.issue(number))
        # What would happen from the end on does not.
        while self.clock.now < picoseconds(traffic.duration):
            self.clock.step()
        outcome.ended_at = self.clock.now
        done = sum(map(len, outcome.delays.values()))
        outcome.outstanding = outcome.issued - done
        for disk in self.disks:
            disk.fail()
            outcome.busy.append(disk.busy)
        return outcome

    def gap(self, requester: Requester) -> int:
        """After what time a requester issues its next request: a draw, cut to picoseconds."""
        return int(picoseconds(self.traffic.interval_seconds) * uniform(requester.issue))

    def issue(self, number: int) -> None:
        """A request: its kind, its server, and an object of which that has the first piece."""
        requester = self.requesters[number]
        is_read = uniform(requester.kind) < self.traffic.read_share
        server = self.primaries[requester.target.below(len(self.primaries))]
        objects = self.by_primary[server]
        request = Request(self, number, objects[requester.target.below(len(objects))])
        self.outcome.issued += 1
        if is_read:
            request.read()
        else:
            request.write()

    def completed(self, number: int, kind: str, issued_at: int) -> None:
        """A request is done, and the requester goes on."""
        self.outcome.delays[kind].append(self.clock.now - issued_at)
        after = self.gap(self.requesters[number])
        self.clock.at(self.clock.now + after, lambda: self.issue(number))


class Request:
    """One request: what is sent, read, coded and written for it."""

    def __init__(self, clients: Requests, number: int, devices: list[int]) -> None:
        code = clients.system.code
        self.clients, self.number, self.devices = clients, number, devices
        self.issued_at = clients.clock.now
        self.data_pieces = code.data if code is not None else 1
        self.bytes = clients.traffic.request_bytes
        self.piece = -(-self.bytes // self.data_pieces)
        self.entry = clients.system.server_count + number
        self.awaited = 0

    def send(self, sender: int, receiver: int, size: int, then: Callable[[], None]) -> None:
        self.clients.network.send(sender, receiver, size, then, lambda: False)

    def at_disk(self, piece: int, direction: str, then: Callable[[], None]) -> None:
        """Have a piece read or written; each is an object of its own to its disk."""
        clients = self.clients
        clients.pieces_asked += 1
        clients.outcome.bytes_asked[direction] += self.piece
        disk = clients.disks[self.devices[piece]]
        done = disk.submit(direction, WORD - clients.pieces_asked, 0, self.piece)
        clients.clock.at(done, then)

    def count_down(self, then: Callable[[], None]) -> Callable[[], None]:
        """What goes on to the next step with the last of those that are awaited."""

        def one_is_there() -> None:
            self.awaited -= 1
            if self.awaited == 0:
                then()

        return one_is_there

    @property
    def control(self) -> int:
        return int(self.clients.traffic.control_message)

    def read(self) -> None:
        """The first piece's server gathers the data and sends them to the client."""
        first = self.devices[0]

        def gather() -> None:
            self.awaited = self.data_pieces
            arrived = self.count_down(deliver)
            self.at_disk(0, "read", arrived)
            for piece in range(1, self.data_pieces):
                self.send(first, self.devices[piece], self.control, read_at(piece, arrived))

        def read_at(piece: int, arrived: Callable[[], None]) -> Callable[[], None]:
            def back() -> None:
                self.send(self.devices[piece], first, self.piece, arrived)

            return lambda: self.at_disk(piece, "read", back)

        def deliver() -> None:
            self.awaited = self.data_pieces
            for _ in range(self.data_pieces):
                self.send(first, self.entry, self.piece, self.count_down(done))

        def done() -> None:
            self.clients.completed(self.number, "read", self.issued_at)

        self.send(self.entry, first, self.control, gather)

    def write(self) -> None:
        """The first piece's server encodes the data, keeps its piece and spreads the others."""
        first, clients = self.devices[0], self.clients

        def encode() -> None:
            speed = clients.system.redundancy.coding_rate
            if speed is None or self.data_pieces == 1:
                spread()
                return
            time = round(Fraction(self.bytes) * PICOSECONDS / Fraction(speed))
            start = max(clients.clock.now, clients.coder_free[first])
            clients.outcome.seen["coder busy"] += start > clients.clock.now
            clients.coder_free[first] = start + time
            clients.clock.at(start + time, spread)

        def spread() -> None:
            self.awaited = len(self.devices)
            written = self.count_down(acknowledge)
            for piece in range(1, len(self.devices)):
                self.send(first, self.devices[piece], self.piece, write_at(piece, written))
            self.at_disk(0, "write", written)

        def write_at(piece: int, written: Callable[[], None]) -> Callable[[], None]:
            def back() -> None:
                self.send(self.devices[piece], first, self.control, written)

            return lambda: self.at_disk(piece, "write", back)

        def acknowledge() -> None:
            self.send(first, self.entry, self.control, done)

        def done() -> None:
            clients.completed(self.number, "write", self.issued_at)

        self.awaited = self.data_pieces
        for _ in range(self.data_pieces):
            self.send(self.entry, first, self.piece, self.count_down(encode))
