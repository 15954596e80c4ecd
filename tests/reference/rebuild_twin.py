"""The slow twin of a whole run: the model of a rebuild in plain Python, to hold the core against.

One run is stated here from the documentation (docs/models/rebuild.md, device.md, fabric.md): times
are whole picoseconds, and what happens at one time happens in the order in which it was scheduled.
Nothing is fast, nothing is shared with the core, and nothing is left out.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from resilver.spec import System
from tests.reference.ceph_losses import failed_osds, find_ceph_losses
from tests.reference.losses import Losses, Pull, failed_servers, find_losses

PICOSECONDS = 10**12


class Clock:
    """The present, and what is still to happen."""

    def __init__(self) -> None:
        self.now = 0
        self.executed = 0
        self._scheduled = 0
        self._pending: list[tuple[int, int, Callable[[], None]]] = []

    def at(self, time: int, action: Callable[[], None]) -> None:
        """Let something happen at a time, after all that was scheduled for that time before."""
        assert time >= self.now
        heapq.heappush(self._pending, (time, self._scheduled, action))
        self._scheduled += 1

    def run(self) -> None:
        """Let everything happen."""
        while self._pending:
            self.now, _, action = heapq.heappop(self._pending)
            self.executed += 1
            action()


def picoseconds(seconds: float) -> int:
    """The nearest whole number of picoseconds."""
    return round(Fraction(seconds) * PICOSECONDS)


class Network:
    """LogGP interfaces around a switch that never fills: one queue to send, one to receive."""

    def __init__(self, system: System, clock: Clock, seen: Counter[str]) -> None:
        self.clock, self.seen = clock, seen
        self.rows = system.loggp_rows
        self.send_free: Counter[int] = Counter()
        self.receive_free: Counter[int] = Counter()
        self.busy: Counter[int] = Counter()

    def cost(self, size: int) -> tuple[int, int, int]:
        """(L, (s - 1) G, g + (s - 1) G) of a message, by the first row that is strictly larger."""
        row = next((row for row in self.rows if row.size_bytes > size), self.rows[-1])
        transfer = max(size - 1, 0) * picoseconds(row.gap_per_byte_seconds)
        return (
            picoseconds(row.latency_seconds),
            transfer,
            transfer + picoseconds(row.gap_seconds),
        )

    def send(self, sender: int, receiver: int, size: int, delivered: Callable[[], None]) -> int:
        """Queue a message between endpoints; returns when its sender is done with it.

        What stays within one endpoint does not cross the network.
        """
        if sender == receiver:
            self.seen["message within a host"] += 1
            self.clock.at(self.clock.now, delivered)
            return self.clock.now
        latency, _, occupancy = self.cost(size)
        start = max(self.clock.now, self.send_free[sender])
        self.seen["send interface busy"] += start > self.clock.now
        self.send_free[sender] = start + occupancy
        self.busy[sender] += occupancy
        self.clock.at(start + latency, lambda: self._arrive(receiver, size, delivered))
        return start + occupancy

    def _arrive(self, receiver: int, size: int, delivered: Callable[[], None]) -> None:
        _, transfer, occupancy = self.cost(size)
        start = max(self.clock.now, self.receive_free[receiver])
        self.seen["receive interface busy"] += start > self.clock.now
        self.receive_free[receiver] = start + occupancy
        self.busy[receiver] += occupancy
        self.clock.at(start + transfer, delivered)


class Disk:
    """A volume that serves its requests first in, first out."""

    def __init__(self, system: System, clock: Clock, seen: Counter[str]) -> None:
        self.table, self.clock, self.seen = system.device_table, clock, seen
        self.free = self.busy = 0
        self.head: tuple[int, int] | None = None
        self.bytes: Counter[str] = Counter()

    def submit(self, direction: str, number: int, offset: int, size: int) -> int:
        """Queue a request for a part of an object; returns when it is done."""
        table = self.table
        is_read = direction == "read"
        rate = table.read_rate if is_read else table.write_rate
        overhead = table.read_overhead if is_read else table.write_overhead
        service = picoseconds(overhead) + round(Fraction(size) * PICOSECONDS / Fraction(rate))
        ahead = offset - self.head[1] if self.head and self.head[0] == number else -1
        if 0 <= ahead <= table.sequential_gap:
            self.seen["sequential request"] += 1
        else:
            seeks = table.read_seek if is_read else table.write_seek
            not_above = [
                seek
                for least, seek in zip(table.request_sizes, seeks, strict=True)
                if least <= size
            ]
            service += picoseconds(not_above[-1] if not_above else seeks[0])
        self.seen["disk busy"] += self.free > self.clock.now
        self.head = (number, offset + size)
        self.free = max(self.free, self.clock.now) + service
        self.busy += service
        self.bytes[direction] += size
        return self.free


@dataclass
class Buffer:
    """One piece of a pull: what one request asks for."""

    pull: Pull
    offset: int
    size: int

    @property
    def is_first(self) -> bool:
        """Whether the pull begins with it."""
        return self.offset == 0

    @property
    def is_last(self) -> bool:
        """Whether it completes the pull, since a pull's buffers are written in order."""
        return self.offset + self.size == self.pull.size


@dataclass
class Device:
    """A device: as a source, what it was asked for; as a destination, what it still has to ask for.

    Attributes:
        number: Its number.
        endpoint: The network interface it is behind, which OSDs of one host share.
        disk: Its disk.
        waiting: Requests that its memory has no room for yet.
        send_held: Bytes being read or sent.
        assigned: Bytes of the pulls it was chosen for and that it has not sent.
        to_ask: The buffers to ask for, in order.
        receive_held: Bytes asked for and not written.
        outstanding: Buffers asked for and not written.
        source: Whom its pull under way comes from.
        finished: When its last byte was written; None before the first.
    """

    number: int
    endpoint: int
    disk: Disk
    waiting: deque[tuple[Buffer, Device]] = field(default_factory=deque)
    send_held: int = 0
    assigned: int = 0
    to_ask: deque[Buffer] = field(default_factory=deque)
    receive_held: int = 0
    outstanding: int = 0
    source: Device | None = None
    finished: int | None = None


@dataclass
class Outcome:
    """What a run found; times in picoseconds.

    Attributes:
        losses: What the failure asked for.
        failed: The devices that failed.
        devices: What each device did, by number.
        link_busy: How long each endpoint's interface was busy, sending and receiving together.
        copies: Copies and bytes moved, by whether they replace lost ones.
        bytes: See `copies`.
        transfers: (copies, bytes) by (source, destination).
        received: Copies and bytes by (destination, whether they replace lost ones).
        rebuilt_at: When the last lost copy was back.
        ended_at: When the last event happened.
        events: How many events there were.
        seen: How often what the model distinguishes occurred, to know what a run covers.
    """

    losses: Losses
    failed: set[int]
    devices: list[Device]
    link_busy: Counter[int]
    copies: Counter[bool] = field(default_factory=Counter)
    bytes: Counter[bool] = field(default_factory=Counter)
    transfers: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    received: dict[tuple[int, bool], tuple[int, int]] = field(default_factory=dict)
    rebuilt_at: int = 0
    ended_at: int = 0
    events: int = 0
    seen: Counter[str] = field(default_factory=Counter)


class Rebuild:
    """Every new home pulls its objects: request, read, send, write, buffer by buffer."""

    def __init__(self, system: System, losses: Losses, failed: set[int], hosts: list[int]) -> None:
        self.recovery, self.clock, seen = system.recovery, Clock(), Counter[str]()
        self.network = Network(system, self.clock, seen)
        self.devices = [
            Device(number, host, Disk(system, self.clock, seen))
            for number, host in enumerate(hosts)
        ]
        self.outcome = Outcome(losses, failed, self.devices, self.network.busy, seen=seen)
        for pull in self.outcome.losses.pulls:
            self.devices[pull.destination].to_ask.extend(self.buffers_of(pull))

    def buffers_of(self, pull: Pull) -> list[Buffer]:
        """The buffers of a pull: full ones, and at last what is left; one for an empty object."""
        size = self.recovery.pipeline_buffer
        buffers = [
            Buffer(pull, offset, min(size, pull.size - offset))
            for offset in range(0, max(pull.size, 1), size)
        ]
        self.outcome.seen["empty object"] += pull.size == 0
        self.outcome.seen["several buffers"] += len(buffers) > 1
        self.outcome.seen["partial last buffer"] += len(buffers) > 1 and buffers[-1].size < size
        self.outcome.seen["object below 4 KiB"] += pull.size < 4096
        return buffers

    def run(self) -> Outcome:
        """Rebuild everything."""
        for device in self.devices:
            self.ask(device)
        self.clock.run()
        self.outcome.ended_at, self.outcome.events = self.clock.now, self.clock.executed
        return self.outcome

    def ask(self, destination: Device) -> None:
        """A destination asks for its next buffers, as many as its memory takes."""
        while destination.to_ask:
            buffer = destination.to_ask[0]
            if destination.outstanding and not self.recovery.pipelining:
                return
            if destination.receive_held + buffer.size > self.recovery.receive_memory:
                self.outcome.seen["receive memory full"] += 1
                return
            destination.to_ask.popleft()
            destination.receive_held += buffer.size
            destination.outstanding += 1
            if buffer.is_first:
                destination.source = self.choose_source(buffer.pull)
            self.request(destination.source, destination, buffer)

    def choose_source(self, pull: Pull) -> Device:
        """The holder with the least assigned and not sent; of equals, the first in placement order.

        With the other two choices, one holder is listed.
        """
        holders = [self.devices[number] for number in pull.holders]
        self.outcome.seen["choice of holders"] += len(holders) > 1
        source = min(holders, key=lambda holder: holder.assigned)
        source.assigned += pull.size
        copies, amount = self.outcome.transfers.get((source.number, pull.destination), (0, 0))
        self.outcome.transfers[source.number, pull.destination] = (copies + 1, amount + pull.size)
        return source

    def request(self, source: Device, destination: Device, buffer: Buffer) -> None:
        """The control message that asks a source for a buffer."""

        def requested() -> None:
            source.waiting.append((buffer, destination))
            self.read_what_fits(source)

        size = self.recovery.control_message
        self.network.send(destination.endpoint, source.endpoint, size, requested)

    def read_what_fits(self, source: Device) -> None:
        """A source reads for those who wait, in order, until one does not fit into its memory."""
        while source.waiting:
            buffer, destination = source.waiting[0]
            if source.send_held + buffer.size > self.recovery.send_memory:
                self.outcome.seen["send memory full"] += 1
                return
            source.waiting.popleft()
            source.send_held += buffer.size
            done = source.disk.submit("read", buffer.pull.object, buffer.offset, buffer.size)
            self.clock.at(done, lambda b=buffer, d=destination: self.send(source, d, b))

    def send(self, source: Device, destination: Device, buffer: Buffer) -> None:
        """A buffer that was read goes to its destination; once sent, its memory is free."""

        def sent() -> None:
            source.send_held -= buffer.size
            source.assigned -= buffer.size
            self.read_what_fits(source)

        done = self.network.send(
            source.endpoint,
            destination.endpoint,
            buffer.size,
            lambda: self.write(destination, buffer),
        )
        self.clock.at(done, sent)

    def write(self, destination: Device, buffer: Buffer) -> None:
        """A buffer that has arrived is written; then its destination may ask for more."""

        def written() -> None:
            destination.receive_held -= buffer.size
            destination.outstanding -= 1
            destination.finished = self.clock.now
            if buffer.is_last:
                self.pulled(buffer.pull)
            self.ask(destination)

        disk = destination.disk
        self.clock.at(disk.submit("write", buffer.pull.object, buffer.offset, buffer.size), written)

    def pulled(self, pull: Pull) -> None:
        """A copy is complete."""
        self.outcome.copies[pull.replaces_lost] += 1
        self.outcome.bytes[pull.replaces_lost] += pull.size
        to = (pull.destination, pull.replaces_lost)
        copies, amount = self.outcome.received.get(to, (0, 0))
        self.outcome.received[to] = (copies + 1, amount + pull.size)
        if pull.replaces_lost:
            self.outcome.rebuilt_at = self.clock.now


def rebuild(system: System, seed: int) -> Outcome:
    """One run.

    Args:
        system: The system: a synthetic cluster, of which every server is an endpoint, or a real
            one, of which every host is.
        seed: The seed of every draw.
    """
    report = system.report
    if report is None:
        losses, failed = find_losses(system, seed), failed_servers(system, seed)
        return Rebuild(system, losses, failed, list(range(system.server_count))).run()
    # Endpoints are numbered as OSDs first name their hosts; numbers without an OSD have no traffic.
    hosts = {osd.id: osd.host or osd.name for osd in report.osds}
    names = list(dict.fromkeys(hosts.values()))
    endpoints = [names.index(hosts.get(number, names[0])) for number in range(max(hosts) + 1)]
    losses, failed = find_ceph_losses(system, seed), failed_osds(system, seed)
    return Rebuild(system, losses, failed, endpoints).run()
