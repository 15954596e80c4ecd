//! What a destination asks for, and when.

use resilver_fabric::Fabric;
use resilver_kernel::prefetch;
use resilver_redundancy::Pieces;
use resilver_units::{Bytes, ObjectId, SimDuration, SimTime};

use super::Recovery;
use super::gathers::{Gather, Leg, RecoveryEvent};
use super::protocol::event;
use super::tasks::Task;
use crate::SystemError;
use crate::event::EventOf;
use crate::plant::Site;

/// How far ahead of the task that it asks for a destination fetches another.
const TASKS_AHEAD: u32 = 4;

/// The pieces that a task's is made of, in the order in which they are asked for; none while a task has no plan.
///
/// They stand within their receiver, where a list of its own would be one more place in memory to be waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    count: u8,
    positions: [u8; Pieces::LIMIT as usize],
}

impl Plan {
    const NONE: Plan = Plan { count: 0, positions: [0; Pieces::LIMIT as usize] };

    fn set(&mut self, positions: &[u32]) {
        self.count = positions.len() as u8;
        self.positions.iter_mut().zip(positions).for_each(|(own, &position)| *own = position as u8);
    }

    pub fn clear(&mut self) {
        self.count = 0;
    }

    #[inline]
    fn positions(&self) -> &[u8] {
        &self.positions[..usize::from(self.count)]
    }

    /// The pieces as a set.
    #[inline]
    fn set_of(&self) -> u64 {
        self.positions().iter().fold(0, |set, &position| set | 1u64 << position)
    }
}

/// A destination's progress through its tasks: what each of its buffers needs lies in the first line of the cache.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Receiver {
    /// The place of the task that is being asked for, and where this device's tasks end.
    pub place: u32,
    pub end: u32,
    /// What is asked for of that task: its object, the size of its piece, and the next buffer.
    pub subject: u32,
    pub number: u32,
    pub object: ObjectId,
    pub size: Bytes,
    pub bytes_held: Bytes,
    /// When the last buffer was written so far.
    pub finished_at: Option<SimTime>,
    pub gathers_held: u32,
    /// Whether it is to be woken when it may ask again.
    pub is_waiting: bool,
    pub plan: Plan,
    /// When it may ask again without passing its bandwidth.
    pub next_at: SimTime,
    /// When it has decoded all that has come, and how long it has decoded in all by then.
    pub decoder_idle_from: SimTime,
    pub decoding: SimDuration,
    /// Since when it asks for nothing lest it pass its bandwidth, and how long it did before.
    pub paced_since: SimTime,
    pub paced: SimDuration,
    /// When it had asked for all that it is to get.
    pub asked_at: SimTime,
}

impl Receiver {
    /// A destination that asks for the tasks from one place to another.
    pub fn of(place: u32, end: u32) -> Self {
        Receiver {
            place,
            end,
            plan: Plan::NONE,
            subject: 0,
            object: ObjectId::new(0),
            size: Bytes::ZERO,
            number: 0,
            gathers_held: 0,
            bytes_held: Bytes::ZERO,
            finished_at: None,
            next_at: SimTime::ZERO,
            is_waiting: false,
            decoder_idle_from: SimTime::ZERO,
            decoding: SimDuration::ZERO,
            paced_since: SimTime::ZERO,
            paced: SimDuration::ZERO,
            asked_at: SimTime::ZERO,
        }
    }
}

impl Recovery {
    /// The task at a place of the order in which tasks are asked for.
    #[inline]
    pub(super) fn task_at(&self, place: u32) -> u32 {
        if self.listed.is_empty() { place } else { self.listed[place as usize] }
    }

    /// Lets a destination ask for as many buffers as its memory, its policy and its bandwidth allow.
    pub(super) fn ask<F: Fabric>(&mut self, destination: u32, site: &mut Site<'_, F>) {
        loop {
            let receiver = &self.receivers[destination as usize];
            if receiver.place == receiver.end || (!self.policy.pipelining && receiver.gathers_held > 0) {
                return;
            }
            let task = self.task_at(receiver.place);
            if receiver.plan.count == 0 && !self.turn_to(destination, task) {
                self.lose_task(task);
                continue;
            }
            let receiver = &self.receivers[destination as usize];
            let number = receiver.number;
            let (size, buffer) = (receiver.size.get(), self.policy.pipeline_buffer.get());
            let offset = u64::from(number) * buffer;
            let bytes = Bytes::new(buffer.min(size - offset));
            let held = Bytes::new(u64::from(receiver.plan.count) * bytes.get());
            if receiver.bytes_held + held > self.policy.receive_memory || !self.is_on_pace(destination, held, site) {
                return;
            }
            if self.gathers.is_full() {
                self.problem = Some(SystemError::TooManyBuffersUnderWay);
                return;
            }
            let slot = self.open(destination, (task, number), bytes, site.schedule.now());
            let is_last = offset + bytes.get() == size;
            if is_last {
                self.pass(destination, site.schedule.now());
            }
            self.request_all(destination, slot, site);
            if is_last {
                self.receivers[destination as usize].plan.clear();
            }
        }
    }

    /// A destination turns to a task: of which pieces it is to be made; false where it cannot be.
    fn turn_to(&mut self, destination: u32, task: u32) -> bool {
        let shunned = self.shunned(task);
        if !self.choose(task, shunned, (0, 0)) {
            return false;
        }
        let Task { subject, size, number, .. } = self.work.tasks[task as usize];
        let object = self.object(subject).object;
        let receiver = &mut self.receivers[destination as usize];
        receiver.plan.set(&self.planned);
        (receiver.subject, receiver.object, receiver.size, receiver.number) = (subject, object, size, number);
        true
    }

    /// Takes up the next buffer of a task; returns its slot.
    fn open(&mut self, destination: u32, (task, number): (u32, u32), bytes: Bytes, now: SimTime) -> u32 {
        let receiver = &mut self.receivers[destination as usize];
        let wanted = receiver.plan.set_of();
        let gather = Gather::new(receiver.object, bytes, wanted, (task, number), destination);
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
        slot
    }

    /// A destination has asked for all of a task and turns to the next one.
    #[inline]
    fn pass(&mut self, destination: u32, now: SimTime) {
        let receiver = &mut self.receivers[destination as usize];
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

    /// Asks the sources of a buffer that was taken up.
    #[inline]
    fn request_all<F: Fabric>(&mut self, destination: u32, slot: u32, site: &mut Site<'_, F>) {
        let subject = self.receivers[destination as usize].subject;
        for index in 0..usize::from(self.receivers[destination as usize].plan.count) {
            let position = u32::from(self.receivers[destination as usize].plan.positions[index]);
            self.gathers.set_device(slot, position, self.device_of(subject, position));
            self.request(Leg { slot, position }, site);
        }
    }

    /// Whether a destination may ask for `bytes` by now, which counts as asked; otherwise it is woken when it may.
    #[inline]
    fn is_on_pace<F: Fabric>(&mut self, destination: u32, bytes: Bytes, site: &mut Site<'_, F>) -> bool {
        let Some(rate) = self.policy.bandwidth else { return true };
        let (now, receiver) = (site.schedule.now(), &mut self.receivers[destination as usize]);
        if now < receiver.next_at {
            if !receiver.is_waiting {
                receiver.is_waiting = true;
                receiver.paced_since = now;
                site.schedule.at(receiver.next_at, EventOf::new(event(RecoveryEvent::Wake(destination))));
            }
            return false;
        }
        receiver.next_at = now + rate.time_for(bytes);
        true
    }
}
