//! What a destination asks for, and when.

use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_kernel::prefetch;
use resilver_kernel::queue::QueueKind;
use resilver_units::{Bytes, ObjectId, SimTime};

use super::Recovery;
use super::gathers::{Gather, Leg, Phase, RecoveryEvent};
use super::protocol::event;
use crate::SystemError;
use crate::event::EventOf;
use crate::storage::Site;

/// How far ahead of the task that it asks for a destination fetches another.
const TASKS_AHEAD: u32 = 4;

/// A destination's progress through its tasks.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    /// The place of the task that is being asked for, and where this device's tasks end.
    pub place: u32,
    pub end: u32,
    /// The pieces that task is made of; empty while it has none.
    pub plan: Vec<u32>,
    /// What is asked for of that task: its object, and the size of its piece.
    pub object: ObjectId,
    pub size: Bytes,
    pub gathers_held: u32,
    pub bytes_held: Bytes,
    /// When it may ask again without passing its bandwidth, and whether it is to be woken then.
    pub next_at: SimTime,
    pub is_waiting: bool,
    /// When it has decoded all that has come.
    pub decoder_idle_from: SimTime,
}

impl Receiver {
    /// A destination that asks for the tasks from one place to another.
    pub fn of(place: u32, end: u32) -> Self {
        Receiver {
            place,
            end,
            plan: Vec::new(),
            object: ObjectId::new(0),
            size: Bytes::ZERO,
            gathers_held: 0,
            bytes_held: Bytes::ZERO,
            next_at: SimTime::ZERO,
            is_waiting: false,
            decoder_idle_from: SimTime::ZERO,
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
    pub(super) fn ask<F: Fabric, D: Device, K: QueueKind>(&mut self, destination: u32, site: &mut Site<'_, F, D, K>) {
        loop {
            let receiver = &self.receivers[destination as usize];
            if receiver.place == receiver.end || (!self.policy.pipelining && receiver.gathers_held > 0) {
                return;
            }
            let task = self.task_at(receiver.place);
            if receiver.plan.is_empty() && !self.turn_to(destination, task) {
                self.lose_task(task);
                continue;
            }
            let receiver = &self.receivers[destination as usize];
            let number = self.work.tasks[task as usize].number;
            let (size, buffer) = (receiver.size.get(), self.policy.pipeline_buffer.get());
            let offset = u64::from(number) * buffer;
            let bytes = Bytes::new(buffer.min(size - offset));
            let held = Bytes::new(receiver.plan.len() as u64 * bytes.get());
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
                self.pass(destination);
            }
            self.request_all(destination, slot, task, site);
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
        let subject = self.work.tasks[task as usize].subject;
        let (object, size) = (self.object(subject).object, self.work.tasks[task as usize].size);
        let receiver = &mut self.receivers[destination as usize];
        std::mem::swap(&mut self.planned, &mut receiver.plan);
        (receiver.object, receiver.size) = (object, size);
        true
    }

    /// Takes up the next buffer of a task; returns its slot.
    fn open(&mut self, destination: u32, (task, number): (u32, u32), bytes: Bytes, now: SimTime) -> u32 {
        let receiver = &mut self.receivers[destination as usize];
        let wanted = receiver.plan.iter().fold(0, |set, &position| set | 1u64 << position);
        let gather = Gather {
            object: receiver.object,
            bytes,
            wanted,
            arrived: 0,
            in_flight: wanted,
            unsent: 0,
            task,
            number,
            destination,
            phase: Phase::Gathering,
            is_busy: false,
        };
        self.work.tasks[task as usize].number += 1;
        let held = gather.held();
        receiver.bytes_held += held;
        receiver.gathers_held += 1;
        self.tally.planned += held;
        self.timeline.add(now, held.get() as i64);
        self.gathers.open(gather)
    }

    /// A destination has asked for all of a task and turns to the next one.
    #[inline]
    fn pass(&mut self, destination: u32) {
        let receiver = &mut self.receivers[destination as usize];
        receiver.place += 1;
        let coming = receiver.place + TASKS_AHEAD;
        if coming < receiver.end {
            let subject = self.work.tasks[self.task_at(coming) as usize].subject as usize;
            prefetch(&self.work.objects[subject]);
            prefetch(&self.work.places[subject * self.stride]);
        }
    }

    /// Asks the sources of a buffer that was taken up.
    #[inline]
    fn request_all<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        destination: u32,
        slot: u32,
        task: u32,
        site: &mut Site<'_, F, D, K>,
    ) {
        let subject = self.work.tasks[task as usize].subject;
        let plan = std::mem::take(&mut self.receivers[destination as usize].plan);
        for &position in &plan {
            self.gathers.set_device(slot, position, self.device_of(subject, position));
            self.request(Leg { slot, position }, site);
        }
        self.receivers[destination as usize].plan = plan;
    }

    /// Whether a destination may ask for `bytes` by now, which counts as asked; otherwise it is woken when it may.
    #[inline]
    fn is_on_pace<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        destination: u32,
        bytes: Bytes,
        site: &mut Site<'_, F, D, K>,
    ) -> bool {
        let Some(rate) = self.policy.bandwidth else { return true };
        let (now, receiver) = (site.schedule.now(), &mut self.receivers[destination as usize]);
        if now < receiver.next_at {
            if !receiver.is_waiting {
                receiver.is_waiting = true;
                site.schedule.at(receiver.next_at, EventOf::new(event(RecoveryEvent::Wake(destination))));
            }
            return false;
        }
        receiver.next_at = now + rate.time_for(bytes);
        true
    }
}
