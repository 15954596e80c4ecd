"""The slow twin of a whole run: the model of a rebuild in plain Python, to hold the core against.

One run is stated here from the documentation (docs/models/rebuild.md): times are whole picoseconds,
and what happens at one time happens in the order in which it was scheduled. Nothing is fast,
nothing is shared with the core, and nothing is left out.
"""

from collections import Counter
from fractions import Fraction
from functools import partial

from resilver.spec import System
from tests.reference.draws import Stream
from tests.reference.losses import Losses, Span, failed_servers, find_losses, stages_of
from tests.reference.machines import PICOSECONDS, Clock, Disk, Network
from tests.reference.rebuild_places import give_back, homes_of, lose_copies, stay
from tests.reference.rebuild_state import Buffer, Device, Item, Outcome, Part, Task


class Rebuild:
    """Every new home gathers its copies: request, read, send, write, buffer by buffer."""

    def __init__(
        self,
        system: System,
        seed: int,
        losses: Losses,
        gone: dict[int, list[Span]],
        hosts: list[int],
    ) -> None:
        self.recovery, self.seed = system.recovery, seed
        self.clock, seen = Clock(), Counter[str]()
        self.network = Network(system, self.clock, seen)
        self.devices = [
            Device(number, host, Disk(system, self.clock, seen))
            for number, host in enumerate(hosts)
        ]
        self.items = [Item.before(rank, one) for rank, one in enumerate(losses.subjects)]
        self.stages = stages_of(gone)
        self.outcome = Outcome(losses, set(gone), self.devices, self.network.busy, seen=seen)
        if any(end is not None for spans in gone.values() for _, end in spans):
            self.outcome.returned = (0, 0)

    def run(self) -> Outcome:
        """Rebuild everything."""
        outcome = self.outcome
        outcome.begins_at = outcome.rebuilt_at = self.stages[0][0]
        for stage, (time, _) in enumerate(self.stages):
            if time > 0:
                self.clock.at(time, lambda stage=stage: self.fail(stage))
        if outcome.begins_at == 0:
            self.fail(0)
        self.clock.run()
        self.network.stop()
        outcome.ended_at, outcome.events = self.clock.now, self.clock.executed
        outcome.count_losses(self.items)
        return outcome

    def fail(self, stage: int) -> None:
        """Devices fail or come back, and every object's copies follow the placement."""
        gone = self.stages[stage][1]
        down = [one for one in self.devices if one.number in gone and not one.is_down]
        returning = [one for one in self.devices if one.number not in gone and one.is_down]
        for device in down:
            device.fail()
        for device in returning:
            device.come_back()
        for item in self.items:
            self.reconsider(item, stage, None if down else returning)
            for task in item.tasks:
                lost = task.source is not None and task.source.is_down and task.is_under_way
                self.outcome.seen["copy that lost its source"] += lost
        self.outcome.note_health(self.clock.now, self.items)
        under_way = self.buffers_under_way()
        for buffer in under_way:
            if buffer.task.is_given_up and not buffer.has_arrived:
                self.void(buffer)
        for device in down:
            for buffer, part in device.waiting:
                self.part_ended(buffer, part)
            device.stop()
        for buffer in under_way:
            part = buffer.wanted
            if part is not None and not buffer.has_arrived and part.is_lost:
                arrived = [other.number for other in buffer.task.buffers if other.has_arrived]
                seen = self.outcome.seen
                seen["source changed in the middle"] += bool(arrived)
                seen["arrived ahead of one asked again"] += max(arrived, default=-1) > buffer.number
                self.replan(buffer)
        for device in self.devices:
            if not device.is_down:
                self.put_in_order(device)
        for device in self.devices:
            self.read_what_fits(device)
        for device in self.devices:
            self.ask(device)

    def buffers_under_way(self) -> list[Buffer]:
        """What was asked for and is not done, by destination, object, copy and place in it."""
        tasks = {task for device in self.devices for task in device.tasks}
        ordered = sorted(tasks, key=lambda t: (t.destination.number, t.item.rank, t.position))
        return [
            buffer
            for task in ordered
            for buffer in task.buffers[: task.asked]
            if not buffer.is_done
        ]

    def reconsider(self, item: Item, stage: int, returning: list[Device] | None) -> None:
        """What a stage means for one object: copies that are wanted, go on, or are not wanted."""
        lose_copies(item, self.devices)
        under_way = [task for task in item.tasks if task.is_under_way]
        if returning is not None:
            back = give_back(item, returning)
            stay(item, item.subject.after[stage], under_way, back)
            if back:
                self.outcome.rebuilt_at = self.clock.now
        missing = [n for n, device in enumerate(item.places) if device is None]
        wants: dict[int, int] = {}
        is_gone = len(missing) == len(item.places)
        if not is_gone:
            wants = homes_of(item, item.subject.after[stage], missing, under_way)
        self.outcome.seen["object lost for good"] += is_gone and item.lost > 0 and not item.is_gone
        item.is_gone = is_gone and item.lost > 0
        owed = [n for n in missing if n in item.stored]
        item.undersized = 0 if is_gone else sum(n not in wants for n in owed)
        item.full = 0 if is_gone else len(item.stored)
        item.left = 0 if is_gone else len(item.stored) - len(owed)
        for task in under_way:
            if wants.get(task.position) == task.destination.number:
                task.replaces_lost = task.position in owed
            else:
                self.outcome.seen["copy no longer wanted"] += not task.destination.is_down
                task.is_given_up = True
        going = {(task.position, task.destination.number) for task in under_way}
        for position, home in sorted(wants.items()):
            if (position, home) not in going:
                task = Task(item, position, self.devices[home], self.recovery.pipeline_buffer)
                task.replaces_lost = position in owed
                self.outcome.note_buffers(task.buffers)
                item.tasks.append(task)
                self.devices[home].tasks.append(task)

    def void(self, buffer: Buffer) -> None:
        """Nothing is wanted of a buffer that has not come."""
        destination = buffer.task.destination
        destination.receive_held -= buffer.size
        destination.outstanding -= 1
        if buffer.wanted is not None:
            buffer.stale.append(buffer.wanted)
        buffer.wanted, buffer.is_done, buffer.is_starved = None, True, False

    def part_ended(self, buffer: Buffer, part: Part, *, is_sent: bool = False) -> None:
        """Something of a part has ended: what starved for it looks for a source again."""
        if is_sent:
            part.is_unsent = False
        else:
            part.is_in_flight = False
        if buffer.is_starved:
            self.replan(buffer)

    def replan(self, buffer: Buffer) -> None:
        """A buffer that has lost its source is asked of another."""
        if buffer.task.is_given_up:
            self.void(buffer)
            return
        if buffer.wanted is not None:
            buffer.stale.append(buffer.wanted)
            buffer.wanted = None
        position = self.choose(buffer.task, buffer.stale_positions())
        buffer.is_starved = position is None
        if position is None:
            self.outcome.seen["buffer without a source"] += 1
        else:
            self.request(buffer, position)

    def choose(self, task: Task, unusable: set[int]) -> int | None:
        """The position whose copy a task is made of; None where there is none to ask.

        A copy that moves comes from where it is. Of others, those that were there from the
        beginning come before those made since then.
        """
        item = task.item
        survivors = [
            n for n, device in enumerate(item.places) if device is not None and n not in unusable
        ]
        if task.position in survivors or not survivors:
            return task.position if survivors else None
        ordered = sorted(survivors, key=lambda n: n in item.made)
        self.outcome.seen["choice of holders"] += len(ordered) > 1
        if self.recovery.source == "random":
            stream = Stream(self.seed, "source", item.subject.object)
            stream.seek(task.position * 2**10)
            for last in range(len(ordered) - 1, 0, -1):
                other = stream.below(last + 1)
                ordered[last], ordered[other] = ordered[other], ordered[last]
        elif self.recovery.source == "least_loaded":
            ordered.sort(key=lambda n: self.devices[item.places[n] or 0].asked)
        return ordered[0]

    def put_in_order(self, device: Device) -> None:
        """What a destination asks for: what it has begun, then the rest in its order."""
        sign = {"smallest": 1, "largest": -1}.get(self.recovery.order, 0)

        def turn(task: Task) -> tuple[int, int, int]:
            if task.asked > 0:
                return (0, 0, 0)
            key = task.item.left if self.recovery.order == "risk" else sign * task.size
            return (1, key, task.item.rank)

        device.tasks.sort(key=turn)
        for task in device.tasks:
            task.plan = None

    def driver(self, task: Task) -> Device:
        """Who has a task's copy gathered and written: the device that it comes to pulls it."""
        return task.destination

    def next_task(self, driver: Device) -> Task | None:
        """The next task that a device is to ask for."""
        return driver.next_task()

    def ask(self, driver: Device) -> None:
        """A driver asks for its next buffers, as its memory and its bandwidth allow."""
        while self.recovery.pipelining or not driver.outstanding:
            if (task := self.next_task(driver)) is None:
                return
            if task.plan is None:
                task.plan = self.choose(task, set())
                assert task.plan is not None
                task.source = self.devices[task.item.places[task.plan] or 0]
            buffer = task.buffers[task.asked]
            if driver.receive_held + buffer.size > self.recovery.receive_memory:
                self.outcome.seen["receive memory full"] += 1
                return
            if self.recovery.bandwidth is not None:
                if self.clock.now < driver.may_ask_at:
                    self.wake_later(driver)
                    return
                pause = Fraction(buffer.size) * PICOSECONDS / Fraction(self.recovery.bandwidth)
                driver.may_ask_at = self.clock.now + round(pause)
            driver.receive_held += buffer.size
            driver.outstanding += 1
            task.asked += 1
            buffer.life = driver.life
            self.request(buffer, task.plan)

    def wake_later(self, driver: Device) -> None:
        """A driver goes on asking when its bandwidth allows."""

        def wake() -> None:
            driver.is_waiting = False
            self.ask(driver)

        self.outcome.seen["bandwidth used up"] += 1
        if not driver.is_waiting:
            driver.is_waiting = True
            self.clock.at(driver.may_ask_at, wake)

    def request(self, buffer: Buffer, position: int) -> None:
        """The control message that asks a source for a buffer."""
        device = buffer.task.item.places[position]
        assert device is not None
        source, driver = self.devices[device], self.driver(buffer.task)
        part = Part(position, source, source.life)
        buffer.wanted = part
        source.asked += buffer.size

        def requested() -> None:
            source.waiting.append((buffer, part))
            self.read_what_fits(source)

        if source is driver:
            requested()
            return
        size, is_lost = self.recovery.control_message, partial(self.is_lost, buffer, part)
        self.network.send(driver.endpoint, source.endpoint, size, requested, is_lost)

    def is_lost(self, buffer: Buffer, part: Part, *, is_read: bool = False) -> bool:
        """Whether a message of a part is lost, since one of its ends is; then the part ends."""
        if not (part.is_lost or buffer.is_lost):
            return False
        if not (part.is_lost or is_read):
            part.source.asked -= buffer.size
        self.part_ended(buffer, part)
        return True

    def read_what_fits(self, source: Device) -> None:
        """A source reads for those who wait, in order, until one does not fit into its memory."""
        while source.waiting:
            buffer, part = source.waiting[0]
            if buffer.wanted is not part:
                source.waiting.popleft()
                source.asked -= buffer.size
                self.part_ended(buffer, part)
                continue
            if source.send_held + buffer.size > self.recovery.send_memory:
                self.outcome.seen["send memory full"] += 1
                return
            source.waiting.popleft()
            source.send_held += buffer.size
            part.is_unsent = True
            done = source.disk.submit("read", buffer.task.object, buffer.offset, buffer.size)
            self.clock.at(done, lambda b=buffer, p=part: self.was_read(b, p))

    def was_read(self, buffer: Buffer, part: Part) -> None:
        """A buffer that was read goes to who drives; once sent, its memory is free."""
        source, driver = part.source, self.driver(buffer.task)

        def sent() -> None:
            self.part_ended(buffer, part, is_sent=True)
            if not part.is_lost:
                source.send_held -= buffer.size
                source.asked -= buffer.size
                self.read_what_fits(source)

        if part.is_lost:
            part.is_unsent = False
            source.disk.bytes["read"] -= buffer.size
            self.part_ended(buffer, part)
        elif buffer.wanted is not part:
            self.outcome.seen["buffer read in vain"] += 1
            part.is_unsent = False
            source.send_held -= buffer.size
            source.asked -= buffer.size
            self.part_ended(buffer, part)
            self.read_what_fits(source)
        elif source is driver:
            sent()
            self.arrived(buffer, part)
        else:
            source.sent += buffer.size
            ends = (source.endpoint, driver.endpoint)
            arrived = partial(self.arrived, buffer, part)
            is_lost = partial(self.is_lost, buffer, part, is_read=True)
            self.clock.at(self.network.send(*ends, buffer.size, arrived, is_lost), sent)

    def arrived(self, buffer: Buffer, part: Part) -> None:
        """A buffer that has arrived is written; then its destination may ask for more."""
        task, destination = buffer.task, buffer.task.destination
        if buffer.wanted is not part:
            self.part_ended(buffer, part)
            return
        part.is_in_flight = False
        buffer.has_arrived = True
        self.outcome.transfer(part.source, destination, int(buffer.number == 0), buffer.size)

        def written() -> None:
            if buffer.is_lost:
                destination.disk.bytes["write"] -= buffer.size
                return
            destination.receive_held -= buffer.size
            destination.outstanding -= 1
            destination.finished = self.clock.now
            buffer.is_done = True
            if not task.is_given_up:
                task.written += 1
                if task.written == len(task.buffers):
                    self.completed(task)
            self.ask(destination)

        disk = destination.disk
        self.clock.at(disk.submit("write", task.object, buffer.offset, buffer.size), written)

    def completed(self, task: Task) -> None:
        """A copy is complete."""
        item, position = task.item, task.position
        task.destination.tasks.remove(task)
        item.places[position] = task.destination.number
        item.made.add(position)
        item.stored.add(position)
        self.outcome.complete(task)
        if task.replaces_lost:
            item.left += 1
            self.outcome.rebuilt_at = self.clock.now
            self.outcome.note_health(self.clock.now, [item])


def rebuild(system: System, seed: int) -> Outcome:
    """One run.

    Args:
        system: The system, of which every server is an endpoint.
        seed: The seed of every draw.
    """
    losses, gone = find_losses(system, seed), failed_servers(system, seed)
    return Rebuild(system, seed, losses, gone, list(range(system.server_count))).run()
