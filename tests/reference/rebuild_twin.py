"""The slow twin of a whole run: the model of a rebuild in plain Python, to hold the core against.

One run is stated here from the documentation (docs/models/rebuild.md): times are whole picoseconds,
and what happens at one time happens in the order in which it was scheduled. Nothing is fast,
nothing is shared with the core, and nothing is left out.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from resilver.spec import System
from tests.reference.ceph_losses import failed_osds, find_ceph_losses
from tests.reference.draws import Stream
from tests.reference.losses import Losses, failed_servers, find_losses, stages_of
from tests.reference.machines import PICOSECONDS, Clock, Disk, Network
from tests.reference.rebuild_state import Device, Item, Outcome, Pull, Request


class Rebuild:
    """Every new home pulls its objects: request, read, send, write, buffer by buffer."""

    def __init__(
        self, system: System, seed: int, losses: Losses, fails_at: dict[int, int], hosts: list[int]
    ) -> None:
        self.recovery, self.seed = system.recovery, seed
        self.clock, seen = Clock(), Counter[str]()
        self.network = Network(system, self.clock, seen)
        self.devices = [
            Device(number, host, Disk(system, self.clock, seen))
            for number, host in enumerate(hosts)
        ]
        self.items = [Item(rank, subject) for rank, subject in enumerate(losses.subjects)]
        self.stages = stages_of(fails_at)
        self.outcome = Outcome(losses, set(fails_at), self.devices, self.network.busy, seen=seen)
        self.begun = 0

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
        outcome.ended_at, outcome.events = self.clock.now, self.clock.executed
        outcome.count_losses(self.items, self.stages[-1][1])
        return outcome

    def fail(self, stage: int) -> None:
        """Devices fail, and every object's pulls follow the placement without them."""
        for device in self.devices:
            if device.number in self.stages[stage][1] and not device.is_down:
                device.is_down = True
                device.disk.fail()
        resumed: list[Pull] = []
        for item in self.items:
            resumed += self.reconsider(item, stage)
        for pull in sorted(resumed, key=lambda pull: pull.begun):
            self.resume(pull)
        for device in self.devices:
            if device.is_down:
                device.stop()
            else:
                self.put_in_order(device)
        self.outcome.note_health(self.clock.now, self.items)
        for device in self.devices:
            self.read_what_fits(device)
        for device in self.devices:
            self.ask(device)

    def reconsider(self, item: Item, stage: int) -> list[Pull]:
        """What a failure means for one object; returns its pulls that have lost their source."""
        before, after = item.subject.before, item.subject.after[stage]
        working = [*before, *(device for device, _ in item.made)]
        holders = [number for number in working if not self.devices[number].is_down]
        lost = len(working) - len(holders)
        newly_lost, item.lost = lost - item.lost, lost
        if not holders:
            self.outcome.seen["object lost for good"] += lost > 0 and not item.is_gone
            item.is_gone, item.left, item.full = lost > 0, 0, 0
            for pull in list(item.pulls.values()):
                self.cancel(item, pull)
            return []
        wanted = [home for home in after if home not in working]
        missing = lost - sum(replaces for _, replaces in item.made)
        undersized = min(missing, max(0, len(before) - len(after)))
        rebuilt = min(missing - undersized, len(wanted))
        item.full, item.left = len(before), max(0, len(before) - undersized - rebuilt)
        item.undersized = undersized
        is_touched = newly_lost > 0 or set(wanted) != set(item.pulls)
        candidates = self.candidates(item, holders) if is_touched else []
        for destination, pull in list(item.pulls.items()):
            if destination not in wanted:
                self.outcome.seen["pull to a device no longer wanted"] += not self.devices[
                    destination
                ].is_down
                self.cancel(item, pull)
        for rank, home in enumerate(wanted):
            if home not in item.pulls:
                item.pulls[home] = Pull(item, home, self.recovery.pipeline_buffer)
                self.outcome.note_buffers(item.pulls[home].buffers)
                self.devices[home].pulls.append(item.pulls[home])
            item.pulls[home].replaces_lost = rank < rebuilt
        without_source = []
        for pull in item.pulls.values():
            if is_touched:
                pull.holders = candidates
            if pull.source is not None and pull.source.is_down and pull.is_missing_something():
                without_source.append(pull)
        return without_source

    def candidates(self, item: Item, holders: list[int]) -> list[int]:
        """The holders that may be asked: all, where the choice is made when a pull begins."""
        if self.recovery.source == "primary":
            return holders[:1]
        if self.recovery.source == "random":
            stream = Stream(self.seed, "source", item.subject.object)
            return [holders[stream.below(len(holders))]]
        return holders

    def cancel(self, item: Item, pull: Pull) -> None:
        """Nothing of a pull is wanted any more."""
        del item.pulls[pull.destination]
        self.devices[pull.destination].pulls.remove(pull)
        self.take_back(pull, pull.buffers)

    def take_back(self, pull: Pull, buffers: list[Request]) -> None:
        """Buffers of a pull are not wanted of its source any more."""
        destination = self.devices[pull.destination]
        for buffer in buffers:
            buffer.is_dropped = True
            if buffer.is_asked and not buffer.has_arrived:
                destination.receive_held -= buffer.size
                destination.outstanding -= 1
            if pull.source is not None and not buffer.is_read:
                pull.source.assigned -= buffer.size
            if pull.source is not None and (buffer, destination) in pull.source.waiting:
                pull.source.waiting.remove((buffer, destination))

    def resume(self, pull: Pull) -> None:
        """A pull goes on from another holder, behind what has arrived in order."""
        self.outcome.seen["pull that lost its source"] += 1
        kept = next(n for n, buffer in enumerate(pull.buffers) if not buffer.has_arrived)
        self.outcome.seen["pull resumed in the middle"] += kept > 0
        ahead = any(buffer.has_arrived for buffer in pull.buffers[kept:])
        self.outcome.seen["arrived ahead and asked for again"] += ahead
        self.take_back(pull, pull.buffers[kept:])
        pull.buffers[kept:] = [buffer.again() for buffer in pull.buffers[kept:]]
        pull.source, pull.resumed_as = None, self.begun
        self.begun += 1

    def put_in_order(self, device: Device) -> None:
        """What a destination asks for: the pull under way, those that lost their source, the rest.

        A pull that is asked for completely has its place before all others, and does no harm.
        """
        sign = {"smallest": 1, "largest": -1}.get(self.recovery.order, 0)

        def turn(pull: Pull) -> tuple[int, int, int]:
            if pull.source is not None:
                return (0, 0, 0)
            if pull.resumed_as is not None:
                return (1, pull.resumed_as, 0)
            key = pull.item.left if self.recovery.order == "risk" else sign * pull.size
            return (2, key, pull.item.rank)

        device.pulls.sort(key=turn)

    def ask(self, destination: Device) -> None:
        """A destination asks for its next buffers, as its memory and its bandwidth allow."""
        while (buffer := destination.next_buffer()) is not None:
            if destination.outstanding and not self.recovery.pipelining:
                return
            if destination.receive_held + buffer.size > self.recovery.receive_memory:
                self.outcome.seen["receive memory full"] += 1
                return
            if self.recovery.bandwidth is not None:
                if self.clock.now < destination.may_ask_at:
                    self.wake_later(destination)
                    return
                pause = Fraction(buffer.size) * PICOSECONDS / Fraction(self.recovery.bandwidth)
                destination.may_ask_at = self.clock.now + round(pause)
            destination.receive_held += buffer.size
            destination.outstanding += 1
            buffer.is_asked = True
            pull = buffer.pull
            if pull.source is None:
                self.begin(pull)
            assert pull.source is not None
            self.request(pull.source, destination, buffer)

    def wake_later(self, destination: Device) -> None:
        """A destination goes on asking when its bandwidth allows."""

        def wake() -> None:
            destination.is_waiting = False
            self.ask(destination)

        self.outcome.seen["bandwidth used up"] += 1
        if not destination.is_waiting:
            destination.is_waiting = True
            self.clock.at(destination.may_ask_at, wake)

    def begin(self, pull: Pull) -> None:
        """Choose the holder with the least assigned and not sent; of equals, the first listed.

        With the other two choices, one holder is listed.
        """
        holders = [self.devices[number] for number in pull.holders]
        self.outcome.seen["choice of holders"] += len(holders) > 1
        pull.source = min(holders, key=lambda holder: holder.assigned)
        pull.source.assigned += sum(b.size for b in pull.buffers if not b.has_arrived)
        pull.begun = self.begun
        self.begun += 1

    def request(self, source: Device, destination: Device, buffer: Request) -> None:
        """The control message that asks a source for a buffer."""

        def requested() -> None:
            if not buffer.is_dropped:
                source.waiting.append((buffer, destination))
                self.read_what_fits(source)

        size = self.recovery.control_message
        ends = (destination.endpoint, source.endpoint)
        self.network.send(*ends, size, requested, buffer.is_lost_between(source, destination))

    def read_what_fits(self, source: Device) -> None:
        """A source reads for those who wait, in order, until one does not fit into its memory."""
        while source.waiting:
            buffer, destination = source.waiting[0]
            if source.send_held + buffer.size > self.recovery.send_memory:
                self.outcome.seen["send memory full"] += 1
                return
            source.waiting.popleft()
            source.send_held += buffer.size
            buffer.is_read = True
            done = source.disk.submit("read", buffer.pull.object, buffer.offset, buffer.size)
            self.clock.at(done, lambda b=buffer, d=destination: self.was_read(source, d, b))

    def was_read(self, source: Device, destination: Device, buffer: Request) -> None:
        """A buffer that was read goes to its destination; once sent, its memory is free."""

        def sent() -> None:
            if not source.is_down:
                source.send_held -= buffer.size
                source.assigned -= buffer.size
                self.read_what_fits(source)

        if source.is_down:
            source.disk.bytes["read"] -= buffer.size
        elif buffer.is_dropped:
            self.outcome.seen["buffer read in vain"] += 1
            sent()
        else:
            source.sent += buffer.size
            ends = (source.endpoint, destination.endpoint)
            done = self.network.send(
                *ends,
                buffer.size,
                lambda: self.arrived(source, destination, buffer),
                buffer.is_lost_between(source, destination),
            )
            self.clock.at(done, sent)

    def arrived(self, source: Device, destination: Device, buffer: Request) -> None:
        """A buffer that has arrived is written; then its destination may ask for more."""

        def written() -> None:
            if destination.is_down:
                destination.disk.bytes["write"] -= buffer.size
                return
            destination.receive_held -= buffer.size
            destination.outstanding -= 1
            destination.finished = self.clock.now
            if not buffer.is_dropped:
                buffer.is_written = True
                if all(one.is_written for one in buffer.pull.buffers):
                    self.pulled(buffer.pull, source)
            self.ask(destination)

        if buffer.is_dropped:
            return
        buffer.has_arrived = True
        self.outcome.transfer(source, destination, 0, buffer.size)
        disk = destination.disk
        self.clock.at(disk.submit("write", buffer.pull.object, buffer.offset, buffer.size), written)

    def pulled(self, pull: Pull, source: Device) -> None:
        """A copy is complete."""
        destination = self.devices[pull.destination]
        del pull.item.pulls[pull.destination]
        destination.pulls.remove(pull)
        pull.item.made.append((pull.destination, pull.replaces_lost))
        last = pull.source or source
        self.outcome.transfer(last, destination, 1, 0)
        self.outcome.complete(pull)
        if pull.replaces_lost:
            pull.item.left += 1
            self.outcome.rebuilt_at = self.clock.now
            self.outcome.note_health(self.clock.now, [pull.item], is_all=False)


def rebuild(system: System, seed: int) -> Outcome:
    """One run.

    Args:
        system: The system: a synthetic cluster, of which every server is an endpoint, or a real
            one, of which every host is.
        seed: The seed of every draw.
    """
    report = system.report
    if report is None:
        losses, fails_at = find_losses(system, seed), failed_servers(system, seed)
        return Rebuild(system, seed, losses, fails_at, list(range(system.server_count))).run()
    # Endpoints are numbered as OSDs first name their hosts; numbers without an OSD have no traffic.
    hosts = {osd.id: osd.host or osd.name for osd in report.osds}
    names = list(dict.fromkeys(hosts.values()))
    endpoints = [names.index(hosts.get(number, names[0])) for number in range(max(hosts) + 1)]
    losses, fails_at = find_ceph_losses(system, seed), failed_osds(system, seed)
    return Rebuild(system, seed, losses, fails_at, endpoints).run()
