"""What the twin keeps: objects, pieces to come, buffers, devices, and what a run found."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.reference.losses import Losses, Subject
from tests.reference.machines import Disk


@dataclass(eq=False)
class Item:
    """An object that some failure touches, as it stands: copies, of which each has a position.

    Attributes:
        rank: Its place in the population's order among those that are touched.
        subject: What is known of it beforehand.
        places: The device of each copy; None where it is nowhere.
        stored: The positions that were ever on a device.
        made: Those that were made anew or have moved.
        tasks: The copies that are under way or still to begin, in the order they were asked for.
        held: By device that is gone: the position of what it holds, and whether that was made.
        stays: The positions of copies that stay where they are, whatever placement says.
        lost: How many copies were lost.
        returned: How many of them came back with their devices.
        surplus: How many copies came back that had been made anew.
        full: How many copies it had; zero once it is lost for good.
        left: How many of them are not missing.
        undersized: How many of those missing have no device to go to.
        is_gone: Whether it is lost for good.
        was_degraded: Whether it lacked a copy when that was last noted.
        was_at_risk: Whether it had one copy left then.
        was_whole: Whether it had all its copies then.
    """

    rank: int
    subject: Subject
    places: list[int | None]
    stored: set[int]
    made: set[int] = field(default_factory=set)
    tasks: list[Task] = field(default_factory=list)
    held: dict[int, tuple[int, bool]] = field(default_factory=dict)
    stays: set[int] = field(default_factory=set)
    lost: int = 0
    returned: int = 0
    surplus: int = 0
    full: int = 0
    left: int = 0
    undersized: int = 0
    is_gone: bool = False
    was_degraded: bool = False
    was_at_risk: bool = False
    was_whole: bool = True

    @classmethod
    def before(cls, rank: int, subject: Subject) -> Item:
        """An object before anything failed."""
        places = [*subject.before, *[None] * (subject.copies - len(subject.before))]
        return cls(rank, subject, places, set(range(len(subject.before))))


@dataclass(eq=False)
class Part:
    """What one source is asked for a buffer, until nothing of it is under way any more."""

    position: int
    source: Device
    life: int
    is_in_flight: bool = True
    is_unsent: bool = False

    @property
    def is_lost(self) -> bool:
        """Whether its source has failed since it was asked."""
        return self.source.is_down or self.source.life != self.life

    @property
    def is_open(self) -> bool:
        """Whether a message or a read of it is still to end, or its source holds memory for it."""
        return self.is_in_flight or self.is_unsent


@dataclass(eq=False)
class Buffer:
    """One buffer of a task, and how far it has come.

    Attributes:
        task: The task.
        number: Its number, from zero.
        offset: Where it begins.
        size: Its bytes.
        wanted: The part that it is made of; None before it is asked for, and once it is void.
        stale: Parts that are not wanted any more, and under way.
        is_starved: Whether it waits for a stale part to end, as no other source is left.
        has_arrived: Whether its data has come.
        is_done: Whether it is written, or nothing is wanted of it.
        life: The life of its destination in which it was asked for.
    """

    task: Task
    number: int
    offset: int
    size: int
    wanted: Part | None = None
    stale: list[Part] = field(default_factory=list)
    is_starved: bool = False
    has_arrived: bool = False
    is_done: bool = False
    life: int = 0

    @property
    def is_lost(self) -> bool:
        """Whether its destination has failed since it began to ask for it."""
        return self.task.destination.is_down or self.task.destination.life != self.life

    def stale_positions(self) -> set[int]:
        """The positions of stale parts that are under way."""
        return {part.position for part in self.stale if part.is_open}


class Task:
    """One copy of an object that one new home gets."""

    def __init__(self, item: Item, position: int, destination: Device, size: int) -> None:
        self.item, self.position, self.destination = item, position, destination
        self.object, self.size = item.subject.object, item.subject.size
        self.replaces_lost = False
        self.is_given_up = False
        self.plan: int | None = None
        self.source: Device | None = None
        self.asked = self.written = 0
        # Full buffers, and at last what is left; one for an empty object.
        self.buffers = [
            Buffer(self, number, offset, min(size, self.size - offset))
            for number, offset in enumerate(range(0, max(self.size, 1), size))
        ]

    @property
    def is_under_way(self) -> bool:
        """Whether it is wanted and not complete."""
        return not self.is_given_up and self.written < len(self.buffers)


@dataclass(eq=False)
class Device:
    """A device: as a source, what it was asked for; as a destination, what it still has to ask for.

    Attributes:
        number: Its number.
        endpoint: The network interface it is behind, which OSDs of one host share.
        disk: Its disk.
        waiting: Requests that its memory has no room for yet.
        send_held: Bytes being read or sent.
        asked: Bytes that it was asked for and has not sent.
        sent: Bytes handed to its network interface.
        tasks: What it has to fetch, in order.
        receive_held: Bytes asked for and not written.
        outstanding: Buffers asked for and not written.
        may_ask_at: When its bandwidth allows the next request.
        is_waiting: Whether it goes on by itself then.
        finished: When its last byte was written; None before the first.
        is_down: Whether it has failed.
        life: How often it has.
    """

    number: int
    endpoint: int
    disk: Disk
    waiting: deque[tuple[Buffer, Part]] = field(default_factory=deque)
    send_held: int = 0
    asked: int = 0
    sent: int = 0
    tasks: list[Task] = field(default_factory=list)
    receive_held: int = 0
    outstanding: int = 0
    may_ask_at: int = 0
    is_waiting: bool = False
    finished: int | None = None
    is_down: bool = False
    life: int = 0

    def next_task(self) -> Task | None:
        """The first task in order of which a buffer was not asked for."""
        unasked = (t for t in self.tasks if not t.is_given_up and t.asked < len(t.buffers))
        return next(unasked, None)

    def fail(self) -> None:
        """Be gone from now on."""
        self.is_down = True
        self.life += 1
        self.disk.fail()

    def come_back(self) -> None:
        """Work again, with an empty queue."""
        self.is_down = False
        self.disk.repair()

    def stop(self) -> None:
        """Forget all that was to be done."""
        self.waiting.clear()
        self.tasks.clear()
        self.send_held = self.receive_held = self.outstanding = self.asked = self.may_ask_at = 0


@dataclass
class Outcome:
    """What a run found; times in picoseconds.

    Attributes:
        losses: The population, and what failures touch of it.
        failed: The devices that failed.
        devices: What each device did, by number.
        link_busy: How long each endpoint's interface was busy, sending and receiving together.
        copies: Copies and bytes moved, by whether they replace lost ones.
        objects: The ranks of the objects that these are of.
        bytes: See `copies`.
        transfers: (copies, bytes) by (source, destination).
        received: Copies and bytes by (destination, whether they replace lost ones).
        affected_objects: Objects that lost a copy.
        unrecoverable: Objects and bytes lost for good.
        undersized_copies: Missing copies that have no device to go to.
        returned: Lost copies that came back, and their objects; None where nothing comes back.
        surplus: Copies that came back and had been made anew; None likewise.
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
    objects: dict[bool, set[int]] = field(default_factory=lambda: {True: set(), False: set()})
    bytes: Counter[bool] = field(default_factory=Counter)
    transfers: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    received: dict[tuple[int, bool], tuple[int, int]] = field(default_factory=dict)
    affected_objects: int = 0
    unrecoverable: tuple[int, int] = (0, 0)
    undersized_copies: int = 0
    returned: tuple[int, int] | None = None
    surplus: int | None = None
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

    def note_buffers(self, buffers: list[Buffer]) -> None:
        """Note which kinds of buffers a new task has."""
        size = buffers[0].task.size
        self.seen["empty object"] += size == 0
        self.seen["several buffers"] += len(buffers) > 1
        self.seen["partial last buffer"] += len(buffers) > 1 and buffers[-1].size < buffers[0].size
        self.seen["object below 4 KiB"] += size < 4096

    def transfer(self, source: Device, destination: Device, copies: int, size: int) -> None:
        """Count what came from one device to another."""
        pair = (source.number, destination.number)
        before = self.transfers.get(pair, (0, 0))
        self.transfers[pair] = (before[0] + copies, before[1] + size)

    def complete(self, task: Task) -> None:
        """Count a complete copy."""
        self.copies[task.replaces_lost] += 1
        self.objects.setdefault(task.replaces_lost, set()).add(task.item.rank)
        self.bytes[task.replaces_lost] += task.size
        to = (task.destination.number, task.replaces_lost)
        copies, amount = self.received.get(to, (0, 0))
        self.received[to] = (copies + 1, amount + task.size)

    def note_health(self, now: int, items: Iterable[Item]) -> None:
        """Note which of these objects lack a copy from now on."""
        for item in items:
            is_degraded = item.left < item.full
            is_at_risk = is_degraded and item.left <= 1
            # Each object adds the time from its entering to its leaving the state.
            self.degraded_area += (item.was_degraded - is_degraded) * now
            self.at_risk_area += (item.was_at_risk - is_at_risk) * now
            self._degraded += is_degraded - item.was_degraded
            self._at_risk += is_at_risk - item.was_at_risk
            is_whole = item.full > 0 and not is_degraded
            if is_whole and not item.was_whole:
                self.last_redundant_at = now
                if self.first_redundant_at is None:
                    self.first_redundant_at = now
            item.was_degraded, item.was_at_risk = is_degraded, is_at_risk
            item.was_whole = is_whole

    def count_losses(self, items: list[Item]) -> None:
        """Add up, at the end, what was lost, and what still lacks a copy."""
        self.degraded_area += self._degraded * self.ended_at
        self.at_risk_area += self._at_risk * self.ended_at
        self.affected_objects = sum(item.lost > 0 for item in items)
        gone = [item.subject.size for item in items if item.is_gone]
        self.unrecoverable = (len(gone), sum(gone))
        self.undersized_copies = sum(item.undersized for item in items if not item.is_gone)
        if self.returned is not None:
            returned = [item.returned for item in items if item.returned]
            self.returned = (sum(returned), len(returned))
            self.surplus = sum(item.surplus for item in items)
