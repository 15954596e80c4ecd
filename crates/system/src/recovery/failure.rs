//! Devices fail while lost pieces of others are being made anew.

use rayon::prelude::*;
use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_kernel::queue::QueueKind;
use resilver_redundancy::Pieces;
use resilver_units::{Bytes, DeviceId, SimDuration};

use super::asking::Receiver;
use super::gathers::{Gather, Phase, pieces_of};
use super::homes::HomesScratch;
use super::needs::{Needs, Standing, Want};
use super::places::{LOST, NOBODY, device_at, device_or_nobody, is_there, stored_in};
use super::tasks::{Task, buffers_of};
use super::work::{Copies, Losses, PART_OBJECTS, copies_of};
use super::{Recovery, Sender};
use crate::SystemError;
use crate::event::TASK_LIMIT;
use crate::outcome::DeviceOutcome;
use crate::storage::Site;

/// What an object went through where devices fail one after another.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct History {
    pub lost: u16,
    pub rebuilt: u16,
    pub moved: u16,
}

impl History {
    /// What the first failure did to objects of `stride` places each.
    pub fn of_rows(places: &[u32], stride: usize) -> Vec<Self> {
        let lost = |row: &[u32]| row.iter().filter(|&&place| place == LOST).count() as u16;
        places.chunks(stride).map(|row| History { lost: lost(row), ..History::default() }).collect()
    }
}

/// What was in a device's queue when it failed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unserved {
    pub picoseconds: u64,
    pub read: Bytes,
    pub written: Bytes,
    /// Requests queued until then.
    pub requests: u64,
}

impl Unserved {
    /// Takes what a failed device did not serve from what its disk was asked for.
    pub fn take_from(&self, outcome: &mut DeviceOutcome) {
        let busy = outcome.disk.busy.picoseconds() - self.picoseconds;
        outcome.disk.busy = SimDuration::from_picoseconds(busy);
        outcome.disk.bytes_read -= self.read;
        outcome.disk.bytes_written -= self.written;
        outcome.requests_before_failure = self.requests;
    }
}

/// What is to be done about a stretch of the objects.
#[derive(Default)]
struct Decision {
    /// Tasks of which nothing is wanted any more.
    cancelled: Vec<u32>,
    /// Tasks that replace a lost piece where they moved one before, or the other way round.
    kinds: Vec<(u32, bool)>,
    new: Vec<Task>,
    copies: Vec<Copies>,
    /// By pool.
    losses: Vec<Losses>,
}

impl Recovery {
    /// Whether a device has failed by now, having served before.
    #[inline]
    pub(super) fn has_failed(&self, device: u32) -> bool {
        self.has_later() && self.failed.contains(DeviceId::new(device))
    }

    /// Devices fail: at the first stage recovery begins, at later ones it changes course.
    #[cold]
    pub(crate) fn fail<F: Fabric, D: Device, K: QueueKind>(&mut self, stage: u32, site: &mut Site<'_, F, D, K>) {
        if stage == 0 {
            return self.begin(site);
        }
        self.failures_left -= 1;
        if self.problem.is_some() {
            return;
        }
        let newly_failed = self.failing_at(stage);
        self.failed = self.failures[stage as usize].1.clone();
        let now = site.schedule.now();
        for &device in &newly_failed {
            let requests = site.plant.disks[device.index()].usage().requests;
            let picoseconds = site.plant.fail_disk(now, device).picoseconds();
            self.unserved.insert(device, Unserved { picoseconds, requests, ..Unserved::default() });
        }
        self.take_places();
        let decisions = self.decide(stage as usize + 1);
        if !self.apply(decisions, site) {
            self.problem = Some(SystemError::TooManyTasks);
            return;
        }
        self.forget_shunned();
        self.void_given_up(site);
        self.leave_writes(&newly_failed, site);
        for &device in &newly_failed {
            for leg in std::mem::take(&mut self.senders[device.index()]).waiting {
                self.gathers.get_mut(leg.slot).in_flight &= !leg.bit();
                self.settle(leg.slot, site);
            }
            self.senders[device.index()] = Sender::default();
        }
        self.replan_gathers(site);
        self.put_in_order();
        for device in 0..self.receivers.len() as u32 {
            self.read_waiting(device, site);
        }
        for device in 0..self.receivers.len() as u32 {
            self.ask(device, site);
        }
    }

    /// Pieces on failed devices are gone.
    fn take_places(&mut self) {
        let (stride, failed) = (self.stride, &self.failed);
        self.work.places.par_chunks_mut(stride).zip(&mut self.histories).for_each(|(row, history)| {
            for place in row.iter_mut().filter(|place| is_there(**place)) {
                if failed.contains(DeviceId::new(device_at(*place))) {
                    *place = LOST;
                    history.lost += 1;
                }
            }
        });
    }

    /// What the failure asks for, in the order of the population; all threads work on it.
    fn decide(&self, stage: usize) -> Vec<Decision> {
        let is_under_way = |(_, task): &(u32, &Task)| task.buffers_left > 0 && !task.is_given_up;
        let mut under_way: Vec<(u32, u32)> =
            (0..).zip(&self.work.tasks).filter(is_under_way).map(|(index, task)| (task.subject, index)).collect();
        under_way.par_sort_unstable();
        let under_way = &under_way;
        let chunks = self.work.objects.par_chunks(PART_OBJECTS).enumerate();
        chunks
            .map(|(chunk, objects)| {
                let first = (chunk * PART_OBJECTS) as u32;
                let (mut scratch, mut needs) = (HomesScratch::default(), Needs::default());
                let mut after = vec![NOBODY; self.stride];
                let losses = vec![Losses::default(); self.work.losses_of.len()];
                let mut decision = Decision { losses, ..Decision::default() };
                for (subject, affected) in (first..).zip(objects) {
                    let after = &mut after[..self.row(subject).len()];
                    self.work.homes.fill(stage, affected.object, &mut scratch, after);
                    let start = under_way.partition_point(|&(other, _)| other < subject);
                    let count = under_way[start..].iter().take_while(|&&(other, _)| other == subject).count();
                    let own = &under_way[start..start + count];
                    self.decide_one((subject, affected.size), own, after, &mut needs, &mut decision);
                }
                decision
            })
            .collect()
    }

    fn decide_one(
        &self,
        (subject, size): (u32, Bytes),
        own: &[(u32, u32)],
        after: &[u32],
        needs: &mut Needs,
        decision: &mut Decision,
    ) {
        let task_of = |&(_, task): &(u32, u32)| self.work.tasks[task as usize];
        let under_way: Vec<(u8, u32)> = own.iter().map(task_of).map(|task| (task.position, task.destination)).collect();
        let (row, pool) = (self.row(subject), self.work.pool(subject));
        let places: Vec<u32> = row.iter().map(|&place| device_or_nobody(place)).collect();
        let stored: Pieces = stored_in(row);
        let standing = Standing { places: &places, stored, after, under_way: &under_way };
        needs.find(&pool.code, pool.keeps_positions, standing);
        let History { lost, rebuilt, moved } = self.histories[subject as usize];
        let is_lost = lost > 0 && !needs.is_survivable;
        let to_rebuild = needs.wants.iter().filter(|want| want.is_rebuild).count() as u64;
        decision.losses[self.work.number_of_pool(subject)].add(Losses {
            affected_objects: u64::from(lost > 0),
            lost_pieces: u64::from(lost),
            pieces_to_rebuild: u64::from(rebuilt) + to_rebuild,
            unrecoverable_objects: u64::from(is_lost),
            unrecoverable_bytes: if is_lost { size } else { Bytes::ZERO },
            unrecoverable_pieces: if is_lost { u64::from(lost - rebuilt) } else { 0 },
            undersized_pieces: u64::from(needs.undersized),
            moved_pieces: u64::from(moved) + needs.wants.len() as u64 - to_rebuild,
        });
        decision.copies.push(copies_of(needs.is_survivable, stored, needs.missing));
        for pair in own {
            let task = task_of(pair);
            let is_same = |want: &&Want| (want.position, want.destination) == (task.position, task.destination);
            match needs.wants.iter().find(is_same) {
                None => decision.cancelled.push(pair.1),
                Some(want) if want.is_rebuild != task.is_rebuild => decision.kinds.push((pair.1, want.is_rebuild)),
                Some(_) => {}
            }
        }
        let is_new = |want: &&Want| !under_way.contains(&(want.position, want.destination));
        let (size, buffer) = (self.piece_size(subject), self.policy.pipeline_buffer);
        decision.new.extend(needs.wants.iter().filter(is_new).map(|&want| Task::new(subject, want, size, buffer)));
    }

    /// Does what was decided; false when there are more tasks than can be numbered.
    fn apply<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        decisions: Vec<Decision>,
        site: &mut Site<'_, F, D, K>,
    ) -> bool {
        let mut copies = Vec::with_capacity(self.work.objects.len());
        self.work.losses = Losses::default();
        self.work.losses_of.fill(Losses::default());
        // What was out of reach is wanted still, and is tried anew.
        (self.unreachable_pieces, self.unreachable_moves) = (0, 0);
        self.unreachable.clear();
        for mut decision in decisions {
            if self.work.tasks.len() + decision.new.len() > TASK_LIMIT {
                return false;
            }
            for (task, is_rebuild) in decision.kinds {
                self.work.tasks[task as usize].is_rebuild = is_rebuild;
            }
            decision.cancelled.into_iter().for_each(|task| self.give_up(task));
            for task in decision.new {
                self.open_tasks += 1;
                self.work.tasks.push(task);
                if self.is_dead(task.destination) {
                    self.lose_task((self.work.tasks.len() - 1) as u32);
                }
            }
            copies.append(&mut decision.copies);
            for (losses, decided) in self.work.losses_of.iter_mut().zip(decision.losses) {
                losses.add(decided);
                self.work.losses.add(decided);
            }
        }
        self.health.fail(site.schedule.now(), copies);
        true
    }

    /// What failed devices were writing is not written any more, and their memory is gone.
    fn leave_writes<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        newly_failed: &[DeviceId],
        site: &Site<'_, F, D, K>,
    ) {
        for slot in self.gathers.slots() {
            let gather = self.gathers.get(slot);
            if gather.phase() == Phase::Writing && newly_failed.contains(&DeviceId::new(gather.destination)) {
                let held = gather.held();
                self.tally.planned -= held;
                self.timeline.add(site.schedule.now(), -(held.get() as i64));
            }
        }
        for &device in newly_failed {
            let Receiver { end, finished_at, .. } = self.receivers[device.index()];
            self.receivers[device.index()] = Receiver { finished_at, ..Receiver::of(end, end) };
        }
    }

    /// A buffer would have been written by now on a device that failed before.
    #[cold]
    pub(super) fn lose_write(&mut self, gather: &Gather) {
        self.wasted.received += gather.held();
        self.unserved.entry(DeviceId::new(gather.destination)).or_default().written += gather.bytes;
    }

    /// Buffers of which a source failed before its part came are made of others.
    fn replan_gathers<F: Fabric, D: Device, K: QueueKind>(&mut self, site: &mut Site<'_, F, D, K>) {
        let mut gathers = Vec::new();
        for slot in self.gathers.slots() {
            let gather = self.gathers.get(slot);
            let awaited = pieces_of(gather.wanted & !gather.arrived);
            if gather.is_gathering()
                && awaited.iter().any(|position| self.has_failed(self.gathers.device(slot, position)))
            {
                let task = self.work.tasks[gather.task() as usize];
                gathers.push((gather.destination, task.subject, task.position, gather.number(), slot));
            }
        }
        // In an order that does not depend on which slots were free.
        gathers.sort_unstable();
        for (.., slot) in gathers {
            self.replan(slot, site);
        }
    }

    /// Lists anew what each destination has still to ask for: what it is asking for, and the rest in its order.
    fn put_in_order(&mut self) {
        let mut turns: Vec<Vec<(u64, u32, u32)>> = vec![Vec::new(); self.receivers.len()];
        for (index, &task) in (0..).zip(&self.work.tasks) {
            let buffers = buffers_of(task.size, self.policy.pipeline_buffer);
            if task.is_given_up || task.number >= buffers {
                continue;
            }
            let key = self.choices.order.key(self.object(task.subject).size, self.health.copies(task.subject));
            // What was begun comes first: every other turn is above (0, 0).
            let turn = if task.number > 0 { (0, 0, index) } else { (key, task.subject + 1, index) };
            turns[task.destination as usize].push(turn);
        }
        self.listed = Vec::with_capacity(turns.iter().map(Vec::len).sum());
        for (receiver, mut turns) in self.receivers.iter_mut().zip(turns) {
            turns.sort_unstable();
            receiver.plan.clear();
            receiver.place = self.listed.len() as u32;
            self.listed.extend(turns.iter().map(|&(_, _, task)| task));
            receiver.end = self.listed.len() as u32;
        }
    }
}
