//! What happens to a buffer, from the requests for its parts to its being written.

use resilver_device::{Direction, Io};
use resilver_fabric::{Fabric, Message, Notice};
use resilver_kernel::prefetch;
use resilver_units::{Bytes, BytesPerSecond, DeviceId, SimDuration, SimTime};

use super::Recovery;
use super::drivers::HANDED_OVER;
use super::events::RecoveryEvent;
use super::film::UnderWay;
use super::gathers::{Gather, Leg, Phase};
use super::places::made_at;
use super::tasks::{Restores, Task};
use super::waits::Mark;
use crate::SystemError;
use crate::event::{DATA, EventOf, REQUEST, StorageEvent};
use crate::plant::Site;
use crate::ports::Ports;
use crate::scenario::TrafficClass;
use crate::trace::Held;

/// The queue of a port or a device that recovery waits in, where there are several.
pub(super) const LANE: u8 = TrafficClass::Rebuild.lane();

/// How far ahead of the task that it asks for a driver fetches another.
const TASKS_AHEAD: u32 = 4;

/// An event of recovery among the system's.
#[inline]
pub(super) fn event<F>(event: RecoveryEvent) -> StorageEvent<F> {
    StorageEvent::Recovery(event.number())
}

impl Recovery {
    /// Asks a source for its part, which is in flight from then on; returns a part that the driver is to read itself as soon as nothing
    /// else is half done.
    pub(super) fn request<F: Fabric>(&mut self, leg: Leg, site: &mut Site<'_, F>) -> Option<Leg> {
        let source = self.gathers.device(leg.slot, leg.position);
        let passed = self.stages_passed();
        if let Some(returns) = &mut self.returns {
            returns.asked(leg, passed);
        }
        let gather = self.gathers.get_mut(leg.slot);
        gather.in_flight |= leg.bit();
        self.senders[source as usize].bytes_asked += gather.bytes;
        self.waits.mark(leg, Mark::Asked, site.schedule.now());
        if source == gather.driver {
            return Some(leg);
        }
        let message = self.message_of(leg.token(REQUEST), &site.plant.ports);
        site.send(message, || self.about(leg, REQUEST));
        None
    }

    /// The message of a token: a request for a part of a buffer, or its data.
    ///
    /// Where servers have several ports, parts take turns: each goes by the side of its buffer's number and its piece's.
    #[inline]
    pub(crate) fn message_of(&self, token: u64, ports: &Ports) -> Message {
        if token & HANDED_OVER != 0 {
            return self.hand_over_message(token, ports);
        }
        let (leg, kind) = Leg::of_token(token);
        let gather = self.gathers.get(leg.slot);
        let source = DeviceId::new(self.gathers.device(leg.slot, leg.position));
        let driver = DeviceId::new(gather.driver);
        let side = match ports.sides() {
            1 => 0,
            sides => (gather.number() + leg.position) % sides,
        };
        let (source, driver) = ports.ends(source, driver, side);
        match kind {
            REQUEST => Message { from: driver, to: source, bytes: self.policy.control_message, lane: LANE, token },
            _ => Message { from: source, to: driver, bytes: gather.bytes, lane: LANE, token },
        }
    }

    /// A request has reached its source: read when there is memory and nobody waits already.
    pub(super) fn request_arrived<F: Fabric>(&mut self, leg: Leg, site: &mut Site<'_, F>) {
        let source = self.gathers.device(leg.slot, leg.position);
        if self.is_dead(source) {
            self.senders[source as usize].bytes_asked -= self.gathers.get(leg.slot).bytes;
            self.leg_lost(leg, site);
            return;
        }
        self.waits.mark(leg, Mark::Came, site.schedule.now());
        self.waits.note(|trace| trace.came((leg.slot, leg.position), source, site.schedule.now()));
        let waiting = &mut self.senders[source as usize].waiting;
        waiting.push_back(leg);
        // Who waits already does so for memory, of which there is no more by now, unless nothing is wanted of it any more.
        if waiting.len() == 1 || self.may_lose_sources() {
            self.read_waiting(source, site);
        }
    }

    /// Lets a source read for the requests that wait, in order, while they fit into its memory.
    pub(super) fn read_waiting<F: Fabric>(&mut self, source: u32, site: &mut Site<'_, F>) {
        while let Some(&leg) = self.senders[source as usize].waiting.front() {
            let gather = self.gathers.get_mut(leg.slot);
            let (bytes, sender) = (gather.bytes, &mut self.senders[source as usize]);
            if !gather.wants(leg.position) {
                sender.waiting.pop_front();
                sender.bytes_asked -= bytes;
                gather.in_flight &= !leg.bit();
                self.waits.note(|trace| trace.unwanted((leg.slot, leg.position), site.schedule.now()));
                self.settle(leg.slot, site);
                continue;
            }
            if sender.bytes_held + bytes > self.policy.send_memory {
                return;
            }
            sender.waiting.pop_front();
            sender.bytes_held += bytes;
            gather.unsent |= leg.bit();
            self.waits.mark(leg, Mark::Reads, site.schedule.now());
            let io = self.io(leg.slot, Direction::Read);
            site.submit(DeviceId::new(source), io, event(RecoveryEvent::ReadDone(leg)));
        }
    }

    /// A buffer's part at a source, or the buffer of the piece itself.
    #[inline]
    pub(super) fn io(&self, slot: u32, direction: Direction) -> Io {
        let gather = self.gathers.get(slot);
        let offset = u64::from(gather.number()) * self.policy.pipeline_buffer.get();
        Io { object: gather.object, offset, bytes: gather.bytes, direction, lane: LANE, operation: None }
    }

    fn read_done<F: Fabric>(&mut self, leg: Leg, site: &mut Site<'_, F>) {
        let source = self.gathers.device(leg.slot, leg.position);
        let (bytes, is_wanted) = {
            let gather = self.gathers.get(leg.slot);
            (gather.bytes, gather.wants(leg.position))
        };
        if !is_wanted || self.has_lost_source(leg, source) || self.is_dead(source) {
            self.discard_read(leg, (source, bytes), site);
            return;
        }
        let is_local = source == self.gathers.get(leg.slot).driver;
        if !is_local {
            self.devices[source as usize].sent_bytes += bytes;
        }
        if let Some(film) = &mut self.film {
            let under_way = UnderWay { gathers: &self.gathers, senders: &self.senders };
            film.read(source, bytes, site.schedule.now(), under_way);
        }
        self.waits.mark(leg, Mark::Sends, site.schedule.now());
        if is_local {
            self.tally.local += bytes;
            self.send_done(leg, site);
            return self.data_arrived(leg, site);
        }
        let message = self.message_of(leg.token(DATA), &site.plant.ports);
        if let Some(sent) = site.send(message, || self.about(leg, DATA)) {
            site.schedule.at(sent, EventOf::new(event(RecoveryEvent::SendDone(leg))));
        }
    }

    fn send_done<F: Fabric>(&mut self, leg: Leg, site: &mut Site<'_, F>) {
        let source = self.gathers.device(leg.slot, leg.position);
        let gather = self.gathers.get_mut(leg.slot);
        let bytes = gather.bytes;
        gather.unsent &= !leg.bit();
        let has_lost_source = self.has_lost_source(leg, source);
        self.waits.mark(leg, Mark::Left, site.schedule.now());
        self.settle(leg.slot, site);
        if has_lost_source {
            return;
        }
        let sender = &mut self.senders[source as usize];
        sender.bytes_held -= bytes;
        sender.bytes_asked -= bytes;
        self.read_waiting(source, site);
    }

    fn data_arrived<F: Fabric>(&mut self, leg: Leg, site: &mut Site<'_, F>) {
        let source = self.gathers.device(leg.slot, leg.position);
        let gather = self.gathers.get_mut(leg.slot);
        let bytes = gather.bytes;
        gather.in_flight &= !leg.bit();
        if !gather.wants(leg.position) {
            *if source == gather.driver { &mut self.wasted.received } else { &mut self.wasted.sent } += bytes;
            self.settle(leg.slot, site);
            return;
        }
        gather.arrived |= leg.bit();
        let (driver, number, task) = (gather.driver, gather.number(), gather.task());
        let is_complete = gather.arrived == gather.wanted;
        if source != driver {
            self.tally.received += bytes;
            self.transfers.add(source, driver, bytes, number == 0);
        }
        if is_complete {
            self.waits.whole(leg, source, site.schedule.now());
        }
        if is_complete && self.is_given_up(task) {
            self.let_go(leg.slot, site);
        } else if is_complete {
            self.decode(leg.slot, site);
        }
    }

    /// All parts of a buffer are there: the piece's is made of them, or is what came.
    pub(super) fn decode<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        let (gather, now) = (self.gathers.get(slot), site.schedule.now());
        self.waits.note(|trace| trace.know(slot, |row| (row.whole, row.held) = (Some(now), gather.held())));
        let coding = if self.is_decoded(gather) { self.coding_of(gather) } else { None };
        let held = gather.held();
        let time_at = |rate: Option<BytesPerSecond>| rate.map_or(SimDuration::ZERO, |rate| rate.time_for(held));
        let time = time_at(coding) + time_at(self.policy.software.check_rate);
        let kept = self.software_time(gather);
        if time + kept == SimDuration::ZERO {
            return self.write(slot, site);
        }
        let receiver = &mut self.receivers[gather.driver as usize];
        receiver.decoder_idle_from = receiver.decoder_idle_from.max(now) + time;
        receiver.decoding += time;
        let done_at = receiver.decoder_idle_from + kept;
        self.waits.held_for(slot, kept);
        site.schedule.at(done_at, EventOf::new(event(RecoveryEvent::Decoded(slot))));
        let gather = self.gathers.get_mut(slot);
        gather.set_phase(Phase::Decoding);
    }

    /// How fast the pool of a buffer makes pieces of others.
    fn coding_of(&self, gather: &Gather) -> Option<BytesPerSecond> {
        self.work.pool(self.work.tasks[gather.task() as usize].subject).coding
    }

    /// Whether what is asked for may come to be not wanted any more: devices may fail, or messages be lost.
    #[inline]
    fn may_lose_sources(&self) -> bool {
        self.has_later() || self.lost_messages.is_some()
    }

    /// Whether nothing of a task is wanted any more; where nothing is ever given up, no task is fetched to tell.
    #[inline]
    pub(super) fn is_given_up(&self, task: u32) -> bool {
        self.may_lose_sources() && self.work.tasks[task as usize].is_given_up
    }

    /// Whether a buffer is the last of its piece.
    #[inline]
    fn is_last(&self, gather: &Gather) -> bool {
        // Only a last buffer may be smaller; one that is not need not be told from the others.
        gather.bytes < self.policy.pipeline_buffer
    }

    /// Whether a buffer is made of others: neither a copy, which is all there is of an object, nor a piece that moves.
    #[inline]
    fn is_decoded(&self, gather: &Gather) -> bool {
        self.is_coded && {
            let task = self.work.tasks[gather.task() as usize];
            gather.wanted != 1 << task.position && self.work.pool(task.subject).code.data() > 1
        }
    }

    fn write<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        self.waits.write(slot, site.schedule.now());
        if self.is_handed_over(slot) {
            return self.hand_over(slot, site);
        }
        let io = self.io(slot, Direction::Write);
        let gather = self.gathers.get_mut(slot);
        gather.set_phase(Phase::Writing);
        let destination = DeviceId::new(gather.driver);
        let task = self.gathers.get(slot).task();
        site.submit(destination, io, event(RecoveryEvent::WriteDone(slot, task)));
    }

    fn write_done<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        if self.is_handed_over(slot) {
            return self.handed_over_written(slot, site);
        }
        let now = site.schedule.now();
        let gather = self.gathers.get_mut(slot);
        gather.set_phase(Phase::Done);
        let gather = *gather;
        let (bytes, destination) = (gather.bytes, gather.driver);
        if self.has_lost_destination(slot, destination) {
            self.lose_write(&gather);
            self.settle(slot, site);
            return;
        }
        let receiver = &mut self.receivers[destination as usize];
        receiver.bytes_held -= gather.held();
        receiver.gathers_held -= 1;
        receiver.finished_at = Some(now);
        self.tally.gathered += gather.held();
        self.timeline.add(now, -(gather.held().get() as i64));
        self.waits.done(slot, (destination, destination), bytes, now);
        self.settle(slot, site);
        self.written(&gather, destination, site);
        self.ask(destination, site);
    }

    /// A buffer is written at the device that it is to be at.
    #[inline]
    pub(super) fn written<F: Fabric>(&mut self, gather: &Gather, target: u32, site: &mut Site<'_, F>) {
        let (bytes, task, now) = (gather.bytes, gather.task(), site.schedule.now());
        self.bytes_written += bytes;
        if let Some(film) = &mut self.film {
            let under_way = UnderWay { gathers: &self.gathers, senders: &self.senders };
            film.written(target, bytes, now, under_way);
        }
        if self.is_decoded(gather) {
            self.tally.decoded += bytes;
        } else {
            self.tally.copied += bytes;
        }
        if self.is_given_up(task) {
            self.wasted.written += bytes;
        } else if self.buffer_done((task, self.is_last(gather)), bytes, now) && self.is_made_whole() {
            self.waits.stop(now, site.plant, &self.devices);
        }
    }

    /// A buffer of a task is written; says whether a lost piece is complete by it.
    fn buffer_done(&mut self, (number, is_last): (u32, bool), bytes: Bytes, now: SimTime) -> bool {
        let task = &mut self.work.tasks[number as usize];
        task.buffers_left -= 1;
        task.last_is_written |= is_last;
        let (is_complete, is_rebuild) = (task.buffers_left == 0, task.is_rebuild);
        if is_rebuild {
            self.timeline.record(now, bytes.get());
            self.curve.add(now, bytes.get());
        }
        if is_complete {
            self.task_done(number, now);
        }
        is_complete && is_rebuild
    }

    /// Whether all lost pieces are made that are not given up.
    #[inline]
    fn is_made_whole(&self) -> bool {
        self.rebuilt_pieces + self.unreachable_pieces >= self.work.losses.pieces_to_rebuild
    }

    fn task_done(&mut self, number: u32, now: SimTime) {
        let task = self.work.tasks[number as usize];
        let (size, subject) = (task.size, task.subject as usize);
        self.open_tasks -= 1;
        self.leave_admission(number, now);
        self.work.places[subject * self.stride + usize::from(task.position)] = made_at(task.destination);
        if let Some(history) = self.histories.get_mut(subject) {
            history.rebuilt += u16::from(task.is_rebuild);
            history.moved += u16::from(!task.is_rebuild);
        }
        let device = &mut self.devices[task.destination as usize];
        if task.is_rebuild {
            device.rebuilt_pieces += 1;
            device.rebuilt_bytes += size;
            self.rebuilt_pieces += 1;
            self.rebuilt_bytes += size;
            self.rebuilt_at = now;
            self.waits.last = self.driver_of(number);
            if let Some(&pool) = self.work.pool_of.get(subject) {
                self.rebuilt_of[usize::from(pool)].add(size, now);
            }
            match task.restores {
                Restores::All if !self.has_later() => self.health.restored(now, false),
                Restores::AllOfOneAtRisk if !self.has_later() => self.health.restored(now, true),
                _ => self.health.rebuilt(now, task.subject),
            }
        } else {
            device.moved_pieces += 1;
            device.remapped_bytes += size;
            self.moved_pieces += 1;
            self.moved_bytes += size;
        }
    }

    /// Something of a buffer has ended: its number is given back where that was the last, and what starved goes on.
    #[inline]
    pub(super) fn settle<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        if self.gathers.close(slot) {
            self.forget_losses(slot);
        } else if self.gathers.get(slot).phase() == Phase::Starved {
            self.replan(slot, site);
        }
    }

    /// The fabric has news of a message.
    #[inline]
    pub(crate) fn notice<F: Fabric>(&mut self, notice: Notice, site: &mut Site<'_, F>) {
        if matches!(notice, Notice::Delivered(token) if self.has_vanished(token, site)) {
            return;
        }
        site.note(notice);
        let (Notice::Delivered(token) | Notice::Sent(token) | Notice::Lost(token)) = notice;
        if token & HANDED_OVER != 0 {
            return self.hand_over_notice(notice, site);
        }
        match notice {
            Notice::Delivered(token) => match Leg::of_token(token) {
                (leg, REQUEST) => self.request_arrived(leg, site),
                (leg, _) => self.data_arrived(leg, site),
            },
            Notice::Sent(token) => {
                let (leg, kind) = Leg::of_token(token);
                if kind == DATA {
                    self.send_done(leg, site);
                }
            }
            Notice::Lost(token) => self.message_lost(Leg::of_token(token), site),
        }
        self.ask_admitted(site);
    }

    /// Executes an event of recovery's own.
    #[inline]
    pub(crate) fn execute<F: Fabric>(&mut self, number: u64, site: &mut Site<'_, F>) {
        match RecoveryEvent::of_number(number) {
            RecoveryEvent::ReadDone(leg) => self.read_done(leg, site),
            RecoveryEvent::SendDone(leg) => self.send_done(leg, site),
            RecoveryEvent::Retry(leg) => self.retry(leg, site),
            RecoveryEvent::Decoded(slot) => self.decoded(slot, site),
            RecoveryEvent::WriteDone(slot, _) => self.write_done(slot, site),
            RecoveryEvent::Wake(driver) => {
                let (now, receiver) = (site.schedule.now(), &mut self.receivers[driver as usize]);
                receiver.is_waiting = false;
                receiver.paced += now.since(receiver.paced_since);
                self.ask(driver, site);
            }
            RecoveryEvent::HandOver(slot) => self.hand_over_again(slot, site),
            RecoveryEvent::Acknowledge(slot) => self.acknowledge(slot, site),
        }
        self.ask_admitted(site);
    }

    fn decoded<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        let gather = self.gathers.get_mut(slot);
        if gather.phase() == Phase::Decoding {
            self.write(slot, site);
        } else {
            gather.set_phase(Phase::Done);
            self.settle(slot, site);
        }
    }

    /// The task at a place of the order in which tasks are asked for.
    #[inline]
    pub(super) fn task_at(&self, place: u32) -> u32 {
        if self.listed.is_empty() { place } else { self.listed[place as usize] }
    }

    /// Lets a driver ask for as many buffers as its memory, its policy and its bandwidth allow.
    pub(super) fn ask<F: Fabric>(&mut self, driver: u32, site: &mut Site<'_, F>) {
        loop {
            if !self.policy.pipelining && self.receivers[driver as usize].gathers_held > 0 {
                self.waits.note(|trace| trace.released(driver, site.schedule.now()));
                return;
            }
            let Some(task) = self.next_task(driver) else {
                self.waits.note(|trace| trace.released(driver, site.schedule.now()));
                return;
            };
            if self.receivers[driver as usize].plan.count == 0 && !self.turn_to(driver, task, site) {
                self.lose_task(task);
                continue;
            }
            if self.receivers[driver as usize].number == 0 && !self.is_admitted(driver, task, site) {
                return;
            }
            let receiver = &self.receivers[driver as usize];
            let number = receiver.number;
            let (size, buffer) = (receiver.size.get(), self.policy.pipeline_buffer.get());
            let offset = u64::from(number) * buffer;
            let bytes = Bytes::new(buffer.min(size - offset));
            let held = Bytes::new(u64::from(receiver.plan.count) * bytes.get());
            if receiver.bytes_held + held > self.policy.receive_memory {
                let now = site.schedule.now();
                self.waits.note(|trace| trace.held_back(driver, Held::ReceiveMemory, held, now));
                return;
            }
            if !self.is_on_pace(driver, held, site) {
                let now = site.schedule.now();
                self.waits.note(|trace| trace.held_back(driver, Held::Bandwidth, held, now));
                return;
            }
            if self.gathers.is_full() {
                self.problem = Some(SystemError::TooManyBuffersUnderWay);
                return;
            }
            let slot = self.open(driver, (task, number), bytes, site.schedule.now());
            let is_last = offset + bytes.get() == size;
            if is_last {
                self.pass(driver, site.schedule.now());
            }
            let own = self.request_all(driver, slot, site);
            if is_last {
                self.receivers[driver as usize].plan.clear();
            }
            if let Some(own) = own {
                self.request_arrived(own, site);
            }
        }
    }

    /// A driver turns to a task: of which pieces it is to be made; false where it cannot be.
    fn turn_to<F: Fabric>(&mut self, driver: u32, task: u32, site: &Site<'_, F>) -> bool {
        let (shunned, taken) = (self.shunned(task), self.taken_sources(task, site));
        // Of sources those come first that software lets be read now.
        if (taken == 0 || !self.choose(task, shunned | taken, (0, 0))) && !self.choose(task, shunned, (0, 0)) {
            return false;
        }
        let Task { subject, size, number, .. } = self.work.tasks[task as usize];
        let object = self.object(subject).object;
        let receiver = &mut self.receivers[driver as usize];
        receiver.plan.set(&self.planned);
        (receiver.subject, receiver.object, receiver.size, receiver.number) = (subject, object, size, number);
        true
    }

    /// Takes up the next buffer of a task; returns its slot.
    fn open(&mut self, driver: u32, (task, number): (u32, u32), bytes: Bytes, now: SimTime) -> u32 {
        let receiver = &mut self.receivers[driver as usize];
        let wanted = receiver.plan.set_of();
        let gather = Gather::new(receiver.object, bytes, wanted, (task, number), driver);
        receiver.number += 1;
        self.work.tasks[task as usize].number = receiver.number;
        let held = gather.held();
        receiver.bytes_held += held;
        receiver.gathers_held += 1;
        self.tally.planned += held;
        self.timeline.add(now, held.get() as i64);
        let slot = self.gathers.open(gather);
        let passed = self.stages_passed();
        if let Some(returns) = &mut self.returns {
            returns.opened(slot, passed);
        }
        self.waits.open(slot, now);
        self.waits.note(|trace| trace.opened(slot, now, gather.row(now)));
        slot
    }

    /// A driver has asked for all of a task and turns to the next one.
    #[inline]
    fn pass(&mut self, driver: u32, now: SimTime) {
        let receiver = &mut self.receivers[driver as usize];
        receiver.place += 1;
        if receiver.place == receiver.end {
            receiver.asked_at = now;
        }
        let coming = receiver.place + TASKS_AHEAD;
        if coming < receiver.end {
            let subject = self.work.tasks[self.task_at(coming) as usize].subject as usize;
            prefetch(&self.work.objects[subject]);
            prefetch(&self.work.places[subject * self.stride]);
        }
    }

    /// Asks the sources of a buffer that was taken up; returns the part that the driver is to read itself, if there is one.
    #[inline]
    fn request_all<F: Fabric>(&mut self, driver: u32, slot: u32, site: &mut Site<'_, F>) -> Option<Leg> {
        let subject = self.receivers[driver as usize].subject;
        let mut own = None;
        for index in 0..usize::from(self.receivers[driver as usize].plan.count) {
            let position = u32::from(self.receivers[driver as usize].plan.positions[index]);
            self.gathers.set_device(slot, position, self.device_of(subject, position));
            own = self.request(Leg { slot, position }, site).or(own);
        }
        own
    }
}
