"""What the twin of a rebuild keeps: objects, pulls, buffers, devices, and what a run found."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.reference.losses import Losses, Subject
from tests.reference.machines import Disk


@dataclass(eq=False)
class Item:
    """An object that some failure touches, as it stands.

    Attributes:
        rank: Its place in the population's order among those that are touched.
        subject: What is known of it beforehand.
        made: The devices of the copies completed, in that order, and whether each replaced a lost
            one.
        pulls: What is under way or still to begin, by destination.
        lost: How many complete copies were lost.
        full: How many copies it had; zero once it is lost for good.
        left: How many of them are not missing.
        undersized: How many of those missing have no device to go to.
        is_gone: Whether it is lost for good.
        was_degraded: Whether it lacked a copy when that was last noted.
        was_at_risk: Whether it had one copy left then.
    """

    rank: int
    subject: Subject
    made: list[tuple[int, bool]] = field(default_factory=list)
    pulls: dict[int, Pull] = field(default_factory=dict)
    lost: int = 0
    full: int = 0
    left: int = 0
    undersized: int = 0
    is_gone: bool = False
    was_degraded: bool = False
    was_at_risk: bool = False


@dataclass(eq=False)
class Request:
    """One buffer of a pull, and how far it has come."""

    pull: Pull
    offset: int
    size: int
    is_asked: bool = False
    is_read: bool = False
    has_arrived: bool = False
    is_written: bool = False
    is_dropped: bool = False

    def again(self) -> Request:
        """The same buffer, to be asked of another source."""
        return Request(self.pull, self.offset, self.size)

    def is_lost_between(self, one: Device, other: Device) -> Callable[[], bool]:
        """Whether a message about it vanishes: it is not wanted, since one of its ends failed."""
        return lambda: self.is_dropped and (one.is_down or other.is_down)


class Pull:
    """One object that one new home fetches."""

    def __init__(self, item: Item, destination: int, size: int) -> None:
        self.item, self.destination = item, destination
        self.object, self.size = item.subject.object, item.subject.size
        self.replaces_lost = False
        self.holders: list[int] = []
        self.source: Device | None = None
        self.begun = -1
        self.resumed_as: int | None = None
        # Full buffers, and at last what is left; one for an empty object.
        self.buffers = [
            Request(self, offset, min(size, self.size - offset))
            for offset in range(0, max(self.size, 1), size)
        ]

    def is_missing_something(self) -> bool:
        """Whether a buffer has not arrived."""
        return not all(buffer.has_arrived for buffer in self.buffers)


@dataclass(eq=False)
class Device:
    """A device: as a source, what it was asked for; as a destination, what it still has to ask for.

    Attributes:
        number: Its number.
        endpoint: The network interface it is behind, which OSDs of one host share.
        disk: Its disk.
        waiting: Requests that its memory has no room for yet.
        send_held: Bytes being read or sent.
        assigned: Bytes of the pulls it was chosen for and that it has not sent.
        sent: Bytes handed to its network interface.
        pulls: What it has to fetch, in order.
        receive_held: Bytes asked for and not written.
        outstanding: Buffers asked for and not written.
        may_ask_at: When its bandwidth allows the next request.
        is_waiting: Whether it goes on by itself then.
        finished: When its last byte was written; None before the first.
        is_down: Whether it has failed.
    """

    number: int
    endpoint: int
    disk: Disk
    waiting: deque[tuple[Request, Device]] = field(default_factory=deque)
    send_held: int = 0
    assigned: int = 0
    sent: int = 0
    pulls: list[Pull] = field(default_factory=list)
    receive_held: int = 0
    outstanding: int = 0
    may_ask_at: int = 0
    is_waiting: bool = False
    finished: int | None = None
    is_down: bool = False

    def next_buffer(self) -> Request | None:
        """The first buffer in order that was not asked for."""
        unasked = (buffer for pull in self.pulls for buffer in pull.buffers if not buffer.is_asked)
        return next(unasked, None)

    def stop(self) -> None:
        """Forget all that was to be done."""
        self.waiting.clear()
        self.pulls.clear()
        self.send_held = self.receive_held = self.outstanding = 0


@dataclass
class Outcome:
    """What a run found; times in picoseconds.

    Attributes:
        losses: The population, and what failures touch of it.
        failed: The devices that failed.
        devices: What each device did, by number.
        link_busy: How long each endpoint's interface was busy, sending and receiving together.
        copies: Copies and bytes moved, by whether they replace lost ones.
        bytes: See `copies`.
        transfers: (copies, bytes) by (source, destination).
        received: Copies and bytes by (destination, whether they replace lost ones).
        affected_objects: Objects that lost a copy.
        unrecoverable: Objects and bytes lost for good.
        undersized_copies: Missing copies that have no device to go to.
        begins_at: When the first devices failed.
        rebuilt_at: When the last lost copy was back.
        first_redundant_at: When the first object had all its copies again.
        last_redundant_at: When the last did.
        degraded_area: Objects that lacked a copy, times picoseconds.
        at_risk_area: Those with one copy left, times picoseconds.
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
    affected_objects: int = 0
    unrecoverable: tuple[int, int] = (0, 0)
    undersized_copies: int = 0
    begins_at: int = 0
    rebuilt_at: int = 0
    first_redundant_at: int | None = None
    last_redundant_at: int | None = None
    degraded_area: int = 0
    at_risk_area: int = 0
    ended_at: int = 0
    events: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    _degraded: int = 0
    _at_risk: int = 0

    def note_buffers(self, buffers: list[Request]) -> None:
        """Note which kinds of buffers a new pull has."""
        size = buffers[0].pull.size
        self.seen["empty object"] += size == 0
        self.seen["several buffers"] += len(buffers) > 1
        self.seen["partial last buffer"] += len(buffers) > 1 and buffers[-1].size < buffers[0].size
        self.seen["object below 4 KiB"] += size < 4096

    def transfer(self, source: Device, destination: Device, copies: int, size: int) -> None:
        """Count what came from one device to another."""
        pair = (source.number, destination.number)
        before = self.transfers.get(pair, (0, 0))
        self.transfers[pair] = (before[0] + copies, before[1] + size)

    def complete(self, pull: Pull) -> None:
        """Count a complete copy."""
        self.copies[pull.replaces_lost] += 1
        self.bytes[pull.replaces_lost] += pull.size
        to = (pull.destination, pull.replaces_lost)
        copies, amount = self.received.get(to, (0, 0))
        self.received[to] = (copies + 1, amount + pull.size)

    def note_health(self, now: int, items: Iterable[Item], is_all: bool = True) -> None:
        """Note which objects lack a copy from now on; not all of them where one was rebuilt."""
        for item in items:
            is_degraded = item.left < item.full
            is_at_risk = is_degraded and item.left <= 1
            # Each object adds the time from its entering to its leaving the state.
            self.degraded_area += (item.was_degraded - is_degraded) * now
            self.at_risk_area += (item.was_at_risk - is_at_risk) * now
            self._degraded += is_degraded - item.was_degraded
            self._at_risk += is_at_risk - item.was_at_risk
            if item.was_degraded and not is_degraded and not is_all:
                self.last_redundant_at = now
                if self.first_redundant_at is None:
                    self.first_redundant_at = now
            item.was_degraded, item.was_at_risk = is_degraded, is_at_risk

    def count_losses(self, items: list[Item], failed: frozenset[int]) -> None:
        """Add up, at the end, what was lost, and what still lacks a copy."""
        self.degraded_area += self._degraded * self.ended_at
        self.at_risk_area += self._at_risk * self.ended_at
        self.affected_objects = sum(item.lost > 0 for item in items)
        gone = [item.subject.size for item in items if item.is_gone]
        self.unrecoverable = (len(gone), sum(gone))
        self.undersized_copies = sum(item.undersized for item in items if not item.is_gone)
