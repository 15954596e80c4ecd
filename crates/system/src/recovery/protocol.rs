//! What happens to a buffer, from the requests for its parts to its being written.

use resilver_device::{Direction, Io};
use resilver_fabric::{Fabric, Message, Notice};
use resilver_units::{Bytes, DeviceId, SimTime};

use super::Recovery;
use super::film::UnderWay;
use super::gathers::{Gather, Leg, Phase, RecoveryEvent};
use super::places::made_at;
use super::tasks::Restores;
use super::waits::Mark;
use crate::event::{DATA, EventOf, REQUEST, StorageEvent};
use crate::plant::Site;
use crate::ports::Ports;
use crate::scenario::TrafficClass;

/// The queue of a port or a device that recovery waits in, where there are several.
const LANE: u8 = TrafficClass::Rebuild.lane();

/// An event of recovery among the system's.
#[inline]
pub(super) fn event<F>(event: RecoveryEvent) -> StorageEvent<F> {
    StorageEvent::Recovery(event.number())
}

impl Recovery {
    /// Asks a source for its part, which is in flight from then on.
    pub(super) fn request<F: Fabric>(&mut self, leg: Leg, site: &mut Site<'_, F>) {
        let source = self.gathers.device(leg.slot, leg.position);
        let passed = self.stages_passed();
        if let Some(returns) = &mut self.returns {
            returns.asked(leg, passed);
        }
        let gather = self.gathers.get_mut(leg.slot);
        gather.in_flight |= leg.bit();
        self.senders[source as usize].bytes_asked += gather.bytes;
        self.waits.mark(leg, Mark::Asked, site.schedule.now());
        let message = self.message_of(leg.token(REQUEST), &site.plant.ports);
        site.send(message);
    }

    /// The message of a token: a request for a part of a buffer, or its data.
    ///
    /// Where servers have several ports, parts take turns: each goes by the side of its buffer's number and its piece's.
    #[inline]
    pub(crate) fn message_of(&self, token: u64, ports: &Ports) -> Message {
        let (leg, kind) = Leg::of_token(token);
        let gather = self.gathers.get(leg.slot);
        let source = DeviceId::new(self.gathers.device(leg.slot, leg.position));
        let destination = DeviceId::new(gather.destination);
        let side = match ports.sides() {
            1 => 0,
            sides => (gather.number() + leg.position) % sides,
        };
        let (source, destination) = ports.ends(source, destination, side);
        match kind {
            REQUEST => Message { from: destination, to: source, bytes: self.policy.control_message, lane: LANE, token },
            _ => Message { from: source, to: destination, bytes: gather.bytes, lane: LANE, token },
        }
    }

    /// A request has reached its source: read when there is memory and nobody waits already.
    fn request_arrived<F: Fabric>(&mut self, leg: Leg, site: &mut Site<'_, F>) {
        let source = self.gathers.device(leg.slot, leg.position);
        if self.is_dead(source) {
            self.senders[source as usize].bytes_asked -= self.gathers.get(leg.slot).bytes;
            self.leg_lost(leg, site);
            return;
        }
        self.waits.mark(leg, Mark::Came, site.schedule.now());
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
    fn io(&self, slot: u32, direction: Direction) -> Io {
        let gather = self.gathers.get(slot);
        let offset = u64::from(gather.number()) * self.policy.pipeline_buffer.get();
        Io { object: gather.object, offset, bytes: gather.bytes, direction, lane: LANE }
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
        self.devices[source as usize].sent_bytes += bytes;
        if let Some(film) = &mut self.film {
            let under_way = UnderWay { gathers: &self.gathers, senders: &self.senders };
            film.read(source, bytes, site.schedule.now(), under_way);
        }
        self.waits.mark(leg, Mark::Sends, site.schedule.now());
        let message = self.message_of(leg.token(DATA), &site.plant.ports);
        if let Some(sent) = site.send(message) {
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
            self.wasted.sent += bytes;
            self.settle(leg.slot, site);
            return;
        }
        gather.arrived |= leg.bit();
        let (destination, number, task) = (gather.destination, gather.number(), gather.task());
        let is_complete = gather.arrived == gather.wanted;
        self.tally.received += bytes;
        self.transfers.add(source, destination, bytes, number == 0);
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
        if !self.is_decoded(gather) {
            return self.write(slot, site);
        }
        let subject = self.work.tasks[gather.task() as usize].subject;
        let Some(rate) = self.work.pool(subject).coding else { return self.write(slot, site) };
        let (held, receiver) = (gather.held(), &mut self.receivers[gather.destination as usize]);
        let time = rate.time_for(held);
        receiver.decoder_idle_from = receiver.decoder_idle_from.max(now) + time;
        receiver.decoding += time;
        site.schedule.at(receiver.decoder_idle_from, EventOf::new(event(RecoveryEvent::Decoded(slot))));
        let gather = self.gathers.get_mut(slot);
        gather.set_phase(Phase::Decoding);
    }

    /// Whether what is asked for may come to be not wanted any more: devices may fail, or messages be lost.
    #[inline]
    fn may_lose_sources(&self) -> bool {
        self.has_later() || self.lost_messages.is_some()
    }

    /// Whether nothing of a task is wanted any more; where nothing is ever given up, no task is fetched to tell.
    #[inline]
    fn is_given_up(&self, task: u32) -> bool {
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
        let io = self.io(slot, Direction::Write);
        let gather = self.gathers.get_mut(slot);
        gather.set_phase(Phase::Writing);
        self.waits.write(slot, site.schedule.now());
        let destination = DeviceId::new(gather.destination);
        let task = self.gathers.get(slot).task();
        site.submit(destination, io, event(RecoveryEvent::WriteDone(slot, task)));
    }

    fn write_done<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        let now = site.schedule.now();
        let gather = self.gathers.get_mut(slot);
        gather.set_phase(Phase::Done);
        let gather = *gather;
        let (bytes, task, destination) = (gather.bytes, gather.task(), gather.destination);
        if self.has_lost_destination(slot, destination) {
            self.lose_write(&gather);
            self.settle(slot, site);
            return;
        }
        let receiver = &mut self.receivers[destination as usize];
        receiver.bytes_held -= gather.held();
        receiver.gathers_held -= 1;
        receiver.finished_at = Some(now);
        self.bytes_written += bytes;
        if let Some(film) = &mut self.film {
            let under_way = UnderWay { gathers: &self.gathers, senders: &self.senders };
            film.written(destination, bytes, now, under_way);
        }
        self.tally.gathered += gather.held();
        if self.is_decoded(&gather) {
            self.tally.decoded += bytes;
        } else {
            self.tally.copied += bytes;
        }
        self.timeline.add(now, -(gather.held().get() as i64));
        self.waits.done(slot, destination, bytes, now);
        self.settle(slot, site);
        if self.is_given_up(task) {
            self.wasted.written += bytes;
        } else if self.buffer_done((task, self.is_last(&gather)), bytes, now) && self.is_made_whole() {
            self.waits.stop(now, site.plant, &self.devices);
        }
        self.ask(destination, site);
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
            self.waits.last = task.destination;
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
        match notice {
            Notice::Delivered(token) => match Leg::of_token(token) {
                _ if self.has_vanished(token, site) => {}
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
            RecoveryEvent::Wake(destination) => {
                let (now, receiver) = (site.schedule.now(), &mut self.receivers[destination as usize]);
                receiver.is_waiting = false;
                receiver.paced += now.since(receiver.paced_since);
                self.ask(destination, site);
            }
        }
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
}
