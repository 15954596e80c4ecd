//! What a destination asks for, and when.

use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_kernel::prefetch;
use resilver_kernel::queue::QueueKind;
use resilver_units::{Bytes, SimTime};

use super::Reconstruction;
use super::gathers::{Gather, Happening, Leg, Phase};
use super::protocol::event;
use crate::event::EventOf;
use crate::storage::Site;

/// How far ahead of the task that it asks for a destination fetches another.
const TASKS_AHEAD: u32 = 4;

impl Reconstruction {
    /// The task at a place of the order in which tasks are asked for.
    #[inline]
    pub(super) fn task_at(&self, place: u32) -> u32 {
        if self.listed.is_empty() { place } else { self.listed[place as usize] }
    }

    /// The size of a task's next buffer, and whether it is the last.
    #[inline]
    fn next_buffer(&self, task: u32) -> (Bytes, bool) {
        let (size, buffer) = (self.size_of(self.tasks[task as usize]), self.policy.pipeline_buffer);
        let offset = u64::from(self.states[task as usize].number) * buffer.get();
        let bytes = Bytes::new(buffer.get().min(size.get() - offset));
        (bytes, offset + bytes.get() == size.get())
    }

    /// Lets a destination ask for as many buffers as its memory, its policy and its bandwidth allow.
    pub(super) fn ask<F: Fabric, D: Device, K: QueueKind>(&mut self, destination: u32, site: &mut Site<'_, F, D, K>) {
        loop {
            let receiver = &self.receivers[destination as usize];
            if receiver.place == receiver.end || (!self.policy.pipelining && receiver.gathers_held > 0) {
                return;
            }
            let task = self.task_at(receiver.place);
            if receiver.plan.is_empty() {
                let shunned = self.shunned(task);
                if !self.choose(task, shunned, (0, 0)) {
                    self.lose_task(task);
                    continue;
                }
                let planned = std::mem::take(&mut self.planned);
                self.planned = std::mem::replace(&mut self.receivers[destination as usize].plan, planned);
            }
            let (bytes, is_last) = self.next_buffer(task);
            let receiver = &self.receivers[destination as usize];
            let held = Bytes::new(receiver.plan.len() as u64 * bytes.get());
            if receiver.bytes_held + held > self.policy.receive_memory || !self.is_on_pace(destination, held, site) {
                return;
            }
            self.open(destination, task, bytes, site.schedule.now());
            if is_last {
                self.pass(destination);
            }
            self.request_opened(destination, is_last, site);
        }
    }

    /// Takes up the next buffer of a task; its number is the last opened.
    fn open(&mut self, destination: u32, task: u32, bytes: Bytes, now: SimTime) {
        let receiver = &mut self.receivers[destination as usize];
        let wanted = receiver.plan.iter().fold(0, |set, &position| set | 1u64 << position);
        let state = &mut self.states[task as usize];
        let gather = Gather {
            bytes,
            wanted,
            arrived: 0,
            in_flight: wanted,
            unsent: 0,
            task,
            number: state.number,
            destination,
            phase: Phase::Gathering,
            is_busy: false,
        };
        state.number += 1;
        let held = gather.held();
        receiver.bytes_held += held;
        receiver.gathers_held += 1;
        receiver.opened = self.gathers.open(gather);
        self.tally.planned += held;
        self.timeline.add(now, held.get() as i64);
    }

    /// A destination has asked for all of a task and turns to the next one.
    #[inline]
    fn pass(&mut self, destination: u32) {
        let receiver = &mut self.receivers[destination as usize];
        receiver.place += 1;
        let coming = receiver.place + TASKS_AHEAD;
        if coming < receiver.end {
            let task = self.task_at(coming);
            prefetch(&self.states[task as usize]);
            let subject = self.tasks[task as usize].subject as usize;
            prefetch(&self.objects[subject]);
            prefetch(&self.places[subject * self.code.pieces() as usize]);
        }
    }

    /// Asks the sources of the buffer that was opened last; the plan of a task that is asked for in full is done with.
    fn request_opened<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        destination: u32,
        is_last: bool,
        site: &mut Site<'_, F, D, K>,
    ) {
        let mut plan = std::mem::take(&mut self.receivers[destination as usize].plan);
        let slot = self.receivers[destination as usize].opened;
        let width = self.code.pieces() as usize;
        let subject = self.tasks[self.gathers.get(slot).task as usize].subject as usize;
        for &position in &plan {
            let device = self.places[subject * width + position as usize];
            self.gathers.set_device(slot, position, device);
            self.request(Leg { slot, position }, site);
        }
        if is_last {
            plan.clear();
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
                site.schedule.at(receiver.next_at, EventOf::new(event(Happening::Wake(destination))));
            }
            return false;
        }
        receiver.next_at = now + rate.time_for(bytes);
        true
    }
}
