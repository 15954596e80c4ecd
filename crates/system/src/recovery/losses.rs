//! What becomes of messages that the network loses, of devices that die without anyone being told, and of buffers that lose
//! a source.
//!
//! A destination asks a source again for a part that was lost, after a time; when it was lost too often, the source is
//! passed over for the rest of the piece, and others make up for it where the code allows.

use std::collections::BTreeMap;

use resilver_fabric::Fabric;
use resilver_units::{Bytes, DeviceId};

use super::Recovery;
use super::gathers::{Leg, Phase, RecoveryEvent, pieces_of};
use super::protocol::event;
use super::tasks::{Task, buffers_of};
use crate::event::{DATA, EventOf, REQUEST};
use crate::plant::Site;
use crate::scenario::RetryPolicy;

/// What is known of sources where messages may be lost.
#[derive(Clone, Debug)]
pub(super) struct LostMessages {
    retry: RetryPolicy,
    /// How often each part that is asked for was lost, by its buffer and its position.
    losses: BTreeMap<(u32, u32), u32>,
    /// The pieces that are not asked for any more, task by task, as sets.
    shunned: BTreeMap<u32, u64>,
    /// Devices that answer nobody.
    dead: Vec<bool>,
}

impl Recovery {
    /// Has this recovery expect that messages are lost.
    #[must_use]
    pub fn with_retry(mut self, retry: RetryPolicy) -> Self {
        let dead = vec![false; self.devices.len()];
        let lost = LostMessages { retry, losses: BTreeMap::new(), shunned: BTreeMap::new(), dead };
        self.lost_messages = Some(Box::new(lost));
        self
    }

    /// Whether a device has died without anyone being told.
    #[inline]
    pub(super) fn is_dead(&self, device: u32) -> bool {
        self.lost_messages.as_ref().is_some_and(|lost| lost.dead[device as usize])
    }

    /// The pieces that a task does without.
    #[inline]
    pub(super) fn shunned(&self, task: u32) -> u64 {
        self.lost_messages.as_ref().and_then(|lost| lost.shunned.get(&task)).copied().unwrap_or(0)
    }

    /// Every source may be asked again: pieces may be at other devices by now.
    pub(super) fn forget_shunned(&mut self) {
        if let Some(lost) = &mut self.lost_messages {
            lost.shunned.clear();
        }
    }

    /// A buffer's number is used for another from now on.
    #[inline]
    pub(super) fn forget_losses(&mut self, slot: u32) {
        if let Some(lost) = &mut self.lost_messages
            && !lost.losses.is_empty()
        {
            let of_slot: Vec<(u32, u32)> =
                lost.losses.range((slot, 0)..=(slot, u32::MAX)).map(|(&leg, _)| leg).collect();
            for leg in of_slot {
                lost.losses.remove(&leg);
            }
        }
    }

    /// The network has lost a message.
    #[cold]
    pub(super) fn message_lost<F: Fabric>(&mut self, (leg, kind): (Leg, u64), site: &mut Site<'_, F>) {
        let bytes = self.gathers.get(leg.slot).bytes;
        if kind == DATA {
            self.wasted.sent += bytes;
        } else {
            let source = self.gathers.device(leg.slot, leg.position);
            if !self.has_lost_source(leg, source) {
                self.senders[source as usize].bytes_asked -= bytes;
            }
        }
        self.leg_lost(leg, site);
    }

    /// A part does not come: it is asked for again, or made up for by others.
    #[cold]
    pub(super) fn leg_lost<F: Fabric>(&mut self, leg: Leg, site: &mut Site<'_, F>) {
        let gather = self.gathers.get_mut(leg.slot);
        gather.in_flight &= !leg.bit();
        let task = gather.task();
        if gather.wants(leg.position) && self.work.tasks[task as usize].is_given_up {
            return self.let_go(leg.slot, site);
        }
        let Some(lost) = self.lost_messages.as_mut().filter(|_| gather.wants(leg.position)) else {
            return self.settle(leg.slot, site);
        };
        let losses = lost.losses.entry((leg.slot, leg.position)).or_insert(0);
        *losses += 1;
        if *losses < lost.retry.attempts {
            gather.in_flight |= leg.bit();
            let time = site.schedule.now() + lost.retry.after;
            site.schedule.at(time, EventOf::new(event(RecoveryEvent::Retry(leg))));
            return;
        }
        *lost.shunned.entry(task).or_insert(0) |= leg.bit();
        // What is asked for from now on does without that source as well.
        let destination = self.gathers.get(leg.slot).destination;
        let receiver = &mut self.receivers[destination as usize];
        if receiver.place < receiver.end {
            receiver.plan.clear();
        }
        self.replan(leg.slot, site);
    }

    /// The time has come to ask again for a part.
    #[cold]
    pub(super) fn retry<F: Fabric>(&mut self, leg: Leg, site: &mut Site<'_, F>) {
        let gather = self.gathers.get_mut(leg.slot);
        if gather.wants(leg.position) {
            self.request(leg, site);
        } else {
            gather.in_flight &= !leg.bit();
            self.settle(leg.slot, site);
        }
    }

    /// A part was read that nobody wants any more, or whose source answers nobody.
    #[cold]
    pub(super) fn discard_read<F: Fabric>(&mut self, leg: Leg, (source, bytes): (u32, Bytes), site: &mut Site<'_, F>) {
        let gather = self.gathers.get_mut(leg.slot);
        gather.unsent &= !leg.bit();
        gather.in_flight &= !leg.bit();
        if self.has_lost_source(leg, source) {
            self.unserved.entry(DeviceId::new(source)).or_default().read += bytes;
            self.settle(leg.slot, site);
            return;
        }
        self.wasted.read += bytes;
        let sender = &mut self.senders[source as usize];
        sender.bytes_held -= bytes;
        sender.bytes_asked -= bytes;
        self.leg_lost(leg, site);
        self.read_waiting(source, site);
    }

    /// A buffer has lost a source before its part came: it is made of others, and of what has come as far as that serves.
    ///
    /// The destination keeps what has come, so it may hold more than its memory until the buffer is written; it asks for no
    /// further one meanwhile.
    #[cold]
    pub(super) fn replan<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        let gather = *self.gathers.get(slot);
        if self.work.tasks[gather.task() as usize].is_given_up {
            return self.let_go(slot, site);
        }
        let shunned = self.shunned(gather.task());
        // A source that failed answers no more, but a message of its may still be under way under the piece's number.
        let awaited = pieces_of(gather.wanted & !gather.arrived);
        let is_gone = |position: u32| self.has_lost_source(Leg { slot, position }, self.gathers.device(slot, position));
        let gone = awaited.iter().filter(|&position| is_gone(position));
        let gone = gone.fold(0, |set, position| set | 1u64 << position);
        let coming = gather.in_flight & gather.wanted & !gone;
        let busy = gather.stale() | (gather.in_flight | gather.unsent) & gone;
        if !self.choose(gather.task(), (shunned | busy) & !gather.arrived, (gather.arrived, coming)) {
            if self.choose(gather.task(), shunned & !gather.arrived, (gather.arrived, coming)) {
                self.gathers.get_mut(slot).set_phase(Phase::Starved);
            } else {
                self.lose_task(gather.task());
                self.let_go(slot, site);
            }
            return;
        }
        let planned = std::mem::take(&mut self.planned);
        let wanted = planned.iter().fold(0, |set, &position| set | 1u64 << position);
        let spared = u64::from((gather.arrived & !wanted).count_ones());
        self.wasted.received += Bytes::new(spared * gather.bytes.get());
        let before = gather.held();
        let now = {
            self.gathers.set_wanted(slot, wanted);
            let gather = self.gathers.get_mut(slot);
            gather.set_phase(Phase::Gathering);
            gather.held()
        };
        let receiver = &mut self.receivers[gather.destination as usize];
        receiver.bytes_held = receiver.bytes_held + now - before;
        self.tally.planned = self.tally.planned + now - before;
        self.timeline.add(site.schedule.now(), now.get() as i64 - before.get() as i64);
        let subject = self.work.tasks[gather.task() as usize].subject;
        for &position in &planned {
            if (gather.arrived | coming) >> position & 1 == 0 {
                self.gathers.set_device(slot, position, self.device_of(subject, position));
                self.request(Leg { slot, position }, site);
            }
        }
        self.planned = planned;
        let gather = self.gathers.get(slot);
        if gather.arrived == gather.wanted {
            self.decode(slot, site);
        }
    }

    /// Nothing of a buffer is wanted any more that is not being written: its destination gives back its memory.
    pub(super) fn void<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        let gather = *self.gathers.get(slot);
        let receiver = &mut self.receivers[gather.destination as usize];
        receiver.bytes_held -= gather.held();
        receiver.gathers_held -= 1;
        self.timeline.add(site.schedule.now(), -(gather.held().get() as i64));
        self.tally.planned -= gather.held();
        self.wasted.received += Bytes::new(u64::from(gather.arrived.count_ones()) * gather.bytes.get());
        let is_decoding = gather.phase() == Phase::Decoding;
        self.gathers.set_wanted(slot, 0);
        self.gathers.get_mut(slot).set_phase(if is_decoding { Phase::Leaving } else { Phase::Done });
        self.settle(slot, site);
    }

    /// Takes back the buffers of tasks that were given up, but for those that are being written.
    pub(super) fn void_given_up<F: Fabric>(&mut self, site: &mut Site<'_, F>) {
        for slot in self.gathers.slots() {
            let gather = self.gathers.get(slot);
            let is_under_way = gather.is_gathering() || gather.phase() == Phase::Decoding;
            if is_under_way && self.work.tasks[gather.task() as usize].is_given_up {
                self.void(slot, site);
            }
        }
    }

    /// Data that was written of a task.
    fn written_of(&self, task: u32) -> Bytes {
        let Task { size, buffers_left, last_is_written, .. } = self.work.tasks[task as usize];
        let buffer = self.policy.pipeline_buffer;
        let count = buffers_of(size, buffer);
        let full = Bytes::new(u64::from(count - buffers_left) * buffer.get());
        let missing_of_last = Bytes::new(u64::from(count) * buffer.get()) - size;
        if last_is_written { full - missing_of_last } else { full }
    }

    /// Gives a task up: what was written of it was written in vain.
    pub(super) fn give_up(&mut self, task: u32) {
        self.work.tasks[task as usize].is_given_up = true;
        self.open_tasks -= 1;
        self.wasted.written += self.written_of(task);
        let receiver = &self.receivers[self.work.tasks[task as usize].destination as usize];
        if receiver.place < receiver.end && self.task_at(receiver.place) == task {
            let receiver = &mut self.receivers[self.work.tasks[task as usize].destination as usize];
            receiver.place += 1;
            receiver.plan.clear();
        }
    }

    /// A task cannot be had: too few of its object's pieces can be reached, or its new home cannot.
    ///
    /// What is under way for it ends where it comes to next.
    #[cold]
    pub(super) fn lose_task(&mut self, task: u32) {
        self.give_up(task);
        if self.work.tasks[task as usize].is_rebuild {
            self.unreachable_pieces += 1;
            self.unreachable.insert(self.work.tasks[task as usize].subject);
        } else {
            self.unreachable_moves += 1;
        }
    }

    /// A buffer of a task that was given up has come to where nothing more is done for it.
    #[cold]
    pub(super) fn let_go<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        let destination = self.gathers.get(slot).destination;
        self.void(slot, site);
        self.ask(destination, site);
    }

    /// A device answers nobody any more: what waits at it is lost, and what it was to receive is out of lost.
    #[cold]
    pub(crate) fn lose_device<F: Fabric>(&mut self, device: DeviceId, site: &mut Site<'_, F>) {
        let Some(lost) = &mut self.lost_messages else { return };
        // What is to come to a device is given up when recovery asks for it: until then the device may be back.
        if std::mem::replace(&mut lost.dead[device.index()], true) || self.stages_passed() == 0 {
            return;
        }
        self.lose_tasks_of(device, site);
        for leg in std::mem::take(&mut self.senders[device.index()].waiting) {
            self.senders[device.index()].bytes_asked -= self.gathers.get(leg.slot).bytes;
            self.leg_lost(leg, site);
        }
    }

    /// What is to come to a device that answers nobody is out of reach.
    fn lose_tasks_of<F: Fabric>(&mut self, device: DeviceId, site: &mut Site<'_, F>) {
        for task in 0..self.work.tasks.len() as u32 {
            let Task { destination, is_given_up, buffers_left, .. } = self.work.tasks[task as usize];
            if destination == device.get() && !is_given_up && buffers_left > 0 {
                self.lose_task(task);
            }
        }
        let receiver = &mut self.receivers[device.index()];
        receiver.place = receiver.end;
        receiver.plan.clear();
        self.void_given_up(site);
    }

    /// Recovery begins: what is to come to devices that answer nobody is out of reach.
    pub(super) fn lose_tasks_of_dead<F: Fabric>(&mut self, site: &mut Site<'_, F>) {
        let dead = |device: &DeviceId| self.is_dead(device.get());
        let dead: Vec<DeviceId> = (0..self.devices.len() as u32).map(DeviceId::new).filter(dead).collect();
        dead.into_iter().for_each(|device| self.lose_tasks_of(device, site));
    }

    /// A device answers again.
    pub(crate) fn regain_device(&mut self, device: DeviceId) {
        if let Some(lost) = &mut self.lost_messages {
            lost.dead[device.index()] = false;
        }
    }

    /// Whether a message does not arrive because one of its ends has failed.
    #[inline]
    pub(crate) fn has_vanished<F: Fabric>(&mut self, token: u64, site: &mut Site<'_, F>) -> bool {
        self.has_later() && self.vanishes(Leg::of_token(token), site)
    }

    #[cold]
    fn vanishes<F: Fabric>(&mut self, (leg, kind): (Leg, u64), site: &mut Site<'_, F>) -> bool {
        let source = self.gathers.device(leg.slot, leg.position);
        let gather = self.gathers.get_mut(leg.slot);
        let (bytes, destination) = (gather.bytes, gather.destination);
        let has_lost_source = self.has_lost_source(leg, source);
        if !has_lost_source && !self.has_lost_destination(leg.slot, destination) {
            return false;
        }
        self.gathers.get_mut(leg.slot).in_flight &= !leg.bit();
        if kind != REQUEST {
            self.wasted.sent += bytes;
        } else if !has_lost_source {
            self.senders[source as usize].bytes_asked -= bytes;
        }
        self.settle(leg.slot, site);
        true
    }
}
