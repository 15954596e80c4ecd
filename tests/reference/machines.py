"""The parts of the twin: a clock, LogGP interfaces and disks, in plain Python.

They are stated from docs/models/fabric.md and device.md. Times are whole picoseconds, and what
happens at one time happens in the order in which it was scheduled.
"""

import heapq
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

from resilver.spec import System

PICOSECONDS = 10**12


class Clock:
    """The present, and what is still to happen."""

    def __init__(self) -> None:
        self.now = 0
        self.executed = 0
        self._scheduled = 0
        self._pending: list[tuple[int, int, Callable[[], None]]] = []

    def at(self, time: int, action: Callable[[], None]) -> None:
        """Let something happen at a time, after all that is scheduled for it."""
        assert time >= self.now
        self._scheduled += 1
        heapq.heappush(self._pending, (time, self._scheduled, action))

    def step(self) -> None:
        """Let what comes next happen."""
        self.now, _, action = heapq.heappop(self._pending)
        self.executed += 1
        action()

    def run(self) -> None:
        """Let everything happen."""
        while self._pending:
            self.step()


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
        return (picoseconds(row.latency_seconds), transfer, transfer + picoseconds(row.gap_seconds))

    def send(
        self,
        sender: int,
        receiver: int,
        size: int,
        delivered: Callable[[], None],
        is_lost: Callable[[], bool],
    ) -> int:
        """Queue a message between endpoints; returns when its sender is done with it.

        What stays within one endpoint does not cross the network. A message that is lost by the
        time it reaches its receiver's interface does not keep that busy.
        """

        def deliver() -> None:
            if not is_lost():
                delivered()

        def arrive() -> None:
            if not is_lost():
                self._arrive(receiver, size, deliver)

        if sender == receiver:
            self.seen["message within a host"] += 1
            self.clock.at(self.clock.now, deliver)
            return self.clock.now
        latency, _, occupancy = self.cost(size)
        start = max(self.clock.now, self.send_free[sender])
        self.seen["send interface busy"] += start > self.clock.now
        self.send_free[sender] = start + occupancy
        self.busy[sender] += occupancy
        self.clock.at(start + latency, arrive)
        return start + occupancy

    def _arrive(self, receiver: int, size: int, delivered: Callable[[], None]) -> None:
        _, transfer, occupancy = self.cost(size)
        start = max(self.clock.now, self.receive_free[receiver])
        self.seen["receive interface busy"] += start > self.clock.now
        self.receive_free[receiver] = start + occupancy
        self.busy[receiver] += occupancy
        self.clock.at(start + transfer, delivered)

    def stop(self) -> None:
        """Count no time of interfaces that is still to come."""
        for free in (self.send_free, self.receive_free):
            for endpoint, until in free.items():
                self.busy[endpoint] -= max(0, until - self.clock.now)


class Disk:
    """A volume that serves its requests first in, first out."""

    def __init__(self, system: System, clock: Clock, seen: Counter[str]) -> None:
        self.table, self.clock, self.seen = system.device, clock, seen
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

    def fail(self) -> None:
        """Serve nothing from now on: the time that the queue would have taken is not spent."""
        self.busy -= max(0, self.free - self.clock.now)

    def repair(self) -> None:
        """Serve again: what was in the queue is not served any more."""
        self.free = self.clock.now
