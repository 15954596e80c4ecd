//! Who drives the rebuild of a piece: has its parts gathered, makes it of them, and has it written where it is to be.
//!
//! Where that is the device it comes to, which pulls, nothing of this is there. Any other driver hands each buffer over to that
//! device (`hand_over`), and has its memory back once the buffer is written. Who that is, each policy says in a file of its own.

mod hand_over;
mod managers;
mod source;

use std::ops::Range;

use resilver_units::{Bytes, DeviceId};

use super::Recovery;
use super::places::NOBODY;
use super::receiver::Receiver;
use super::tasks::{Task, buffers_of};
use crate::scenario::Driver;

pub(super) use hand_over::HANDED_OVER;

/// What is known of drivers, where they are not the devices that pieces come to.
#[derive(Clone, Debug)]
pub(super) struct Drivers {
    policy: Driver,
    /// The driver of each task; nobody while no manager has taken it.
    of: Vec<u32>,
    /// Data of the tasks that each device was given to drive.
    given: Vec<Bytes>,
    /// Whether each device takes tasks from the queue, and which places of the order are still in it.
    is_manager: Vec<bool>,
    queue: Range<u32>,
    /// What each device was handed and has not written yet, and the most that this ever was.
    unwritten: Vec<Bytes>,
    most_unwritten: Vec<Bytes>,
}

impl Drivers {
    /// The drivers of a rebuild by so many devices; none where each device pulls what comes to it.
    pub fn of(policy: Driver, devices: usize) -> Option<Box<Self>> {
        let nothing = vec![Bytes::ZERO; devices];
        (policy != Driver::Destination).then(|| {
            Box::new(Drivers {
                policy,
                of: Vec::new(),
                given: nothing.clone(),
                is_manager: vec![false; devices],
                queue: 0..0,
                unwritten: nothing.clone(),
                most_unwritten: nothing,
            })
        })
    }

    /// The most that a device ever was handed and had not written yet.
    pub fn most_unwritten(&self, device: usize) -> Bytes {
        self.most_unwritten[device]
    }

    /// Whether who drives is one of those that a piece is made of.
    fn are_sources(&self) -> bool {
        self.policy == Driver::Source
    }
}

impl Recovery {
    /// The device that drives a task; nobody while no manager has taken it.
    #[inline]
    pub(super) fn driver_of(&self, task: u32) -> u32 {
        match &self.drivers {
            None => self.work.tasks[task as usize].destination,
            Some(drivers) => drivers.of.get(task as usize).copied().unwrap_or(NOBODY),
        }
    }

    /// The piece of a task's object that its driver has and reads itself, where sources drive.
    #[inline]
    pub(super) fn own_piece(&self, task: u32) -> Option<u32> {
        let drivers = self.drivers.as_ref().filter(|drivers| drivers.are_sources())?;
        let driver = drivers.of.get(task as usize).copied().filter(|&driver| driver != NOBODY)?;
        let subject = self.work.tasks[task as usize].subject;
        (0..self.row(subject).len() as u32).find(|&position| self.device_of(subject, position) == driver)
    }

    /// Gives a driver to every task that is open and has none, as the policy says.
    pub(super) fn find_drivers(&mut self) {
        let Some(drivers) = &mut self.drivers else { return };
        drivers.of.resize(self.work.tasks.len(), NOBODY);
        match drivers.policy {
            Driver::Destination => {}
            Driver::Source => self.drive_from_sources(),
            Driver::Managers(count) => self.seat_managers(count),
        }
    }

    /// Lists anew what each driver has still to ask for: what it is asking for, and the rest in its order; then what stands in a queue.
    pub(super) fn put_in_order(&mut self) {
        self.drop_unbegun();
        let mut turns: Vec<Vec<(u64, u32, u32)>> = vec![Vec::new(); self.receivers.len()];
        let mut queue = Vec::new();
        for (index, &task) in (0..).zip(&self.work.tasks) {
            let buffers = buffers_of(task.size, self.policy.pipeline_buffer);
            if task.is_given_up || task.number >= buffers {
                continue;
            }
            let key = self.choices.order.key(self.object(task.subject).size, self.health.copies(task.subject).left);
            // What was begun comes first: every other turn is above (0, 0).
            let turn = if task.number > 0 { (0, 0, index) } else { (key, task.subject + 1, index) };
            turns.get_mut(self.driver_of(index) as usize).unwrap_or(&mut queue).push(turn);
        }
        self.listed = Vec::with_capacity(turns.iter().map(Vec::len).sum::<usize>() + queue.len());
        for (receiver, mut turns) in self.receivers.iter_mut().zip(turns) {
            turns.sort_unstable();
            receiver.plan.clear();
            receiver.place = self.listed.len() as u32;
            self.listed.extend(turns.iter().map(|&(_, _, task)| task));
            receiver.end = self.listed.len() as u32;
        }
        queue.sort_unstable();
        let first = self.listed.len() as u32;
        self.listed.extend(queue.iter().map(|&(_, _, task)| task));
        if let Some(drivers) = &mut self.drivers {
            drivers.queue = first..self.listed.len() as u32;
        }
    }

    /// Drivers have failed: what they had begun begins anew, and the rest gets other drivers.
    pub(super) fn lose_drivers(&mut self, newly_failed: &[DeviceId]) {
        if self.drivers.is_none() {
            return;
        }
        for task in 0..self.work.tasks.len() as u32 {
            let Task { number, is_given_up, buffers_left, .. } = self.work.tasks[task as usize];
            let driver = self.driver_of(task);
            if driver == NOBODY || is_given_up || buffers_left == 0 || !newly_failed.contains(&DeviceId::new(driver)) {
                continue;
            }
            if number > 0 {
                self.give_up(task);
            } else if let Some(drivers) = &mut self.drivers {
                drivers.of[task as usize] = NOBODY;
            }
        }
    }

    /// The next task that a driver is to ask for, whose place it is at by then; `None` where there is none.
    #[inline]
    pub(super) fn next_task(&mut self, driver: u32) -> Option<u32> {
        loop {
            let Receiver { place, end, ref plan, .. } = self.receivers[driver as usize];
            if place == end {
                if !self.take_from_queue(driver) {
                    return None;
                }
                continue;
            }
            let task = self.task_at(place);
            // Of others' tasks some may have been given up since they were listed.
            if plan.count > 0 || self.drivers.is_none() || !self.work.tasks[task as usize].is_given_up {
                return Some(task);
            }
            self.receivers[driver as usize].place += 1;
        }
    }
}
