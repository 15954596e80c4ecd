//! Devices fail, or come back, while lost pieces are being made anew.

use rayon::prelude::*;
use resilver_fabric::Fabric;
use resilver_redundancy::Pieces;
use resilver_units::{Bytes, DeviceId};

use super::asking::Receiver;
use super::gathers::{Gather, Leg, Phase, pieces_of};
use super::homes::HomesScratch;
use super::needs::{Needs, Standing, Want};
use super::outcome::DeviceOutcome;
use super::places::{LOST, NOBODY, device_at, device_or_nobody, is_there, stored_in};
use super::returns::refusing;
use super::tasks::{Task, buffers_of};
use super::work::{Copies, Losses, PART_OBJECTS, copies_of};
use super::{Recovery, Sender};
use crate::SystemError;
use crate::event::TASK_LIMIT;
use crate::plant::Site;

/// What an object went through where devices fail one after another.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct History {
    pub lost: u16,
    pub rebuilt: u16,
    /// Lost pieces that came back.
    pub returned: u16,
    pub moved: u16,
}

impl History {
    /// What the first failure did to objects of `stride` places each.
    pub fn of_rows(places: &[u32], stride: usize) -> Vec<Self> {
        let lost = |row: &[u32]| row.iter().filter(|&&place| place == LOST).count() as u16;
        places.chunks(stride).map(|row| History { lost: lost(row), ..History::default() }).collect()
    }
}

/// What recovery had in a device's queue when it failed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unserved {
    pub read: Bytes,
    pub written: Bytes,
}

impl Unserved {
    /// Takes what a failed device did not serve from what its disk was asked for.
    pub fn take_from(&self, outcome: &mut DeviceOutcome) {
        outcome.disk.bytes_read -= self.read;
        outcome.disk.bytes_written -= self.written;
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
    /// Where devices come back: the pieces of each object that stay where they are.
    stays: Vec<u64>,
    /// By pool.
    losses: Vec<Losses>,
}

impl Recovery {
    /// Devices fail or come back: at the first stage recovery begins, at later ones it changes course.
    #[cold]
    pub(crate) fn fail<F: Fabric>(&mut self, stage: u32, site: &mut Site<'_, F>) {
        if stage == 0 {
            return self.begin(site);
        }
        self.failures_left -= 1;
        if self.problem.is_some() {
            return;
        }
        let (newly_failed, returning) = (self.failing_at(stage), self.returning_at(stage));
        self.shelve(&newly_failed);
        self.failed = self.failures[stage as usize].1.clone();
        if self.open_tasks == 0 {
            self.begin_waits(site);
        }
        self.take_places();
        self.give_back(site.schedule.now(), &returning);
        let decisions = self.decide(stage as usize + 1, newly_failed.is_empty());
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
        let passed = self.stages_passed();
        if let Some(returns) = &mut self.returns {
            returns.failed(&newly_failed, passed);
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

    /// What the stage asks for, in the order of the population; all threads work on it. `only_returns` says whether no device fails.
    fn decide(&self, stage: usize, only_returns: bool) -> Vec<Decision> {
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
                    self.decide_one((subject, affected.size, only_returns), own, after, &mut needs, &mut decision);
                }
                decision
            })
            .collect()
    }

    fn decide_one(
        &self,
        (subject, size, only_returns): (u32, Bytes, bool),
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
        let mut stays = Pieces::new();
        if let Some(returns) = &self.returns {
            let kept = pieces_of(returns.stays[subject as usize]);
            stays = Pieces::of(kept.iter().filter(|&position| places[position as usize] != NOBODY));
            if only_returns {
                let back = pieces_of(returns.back[subject as usize]);
                let refusing = refusing(pool.keeps_positions, (&places, after), &under_way, back);
                stays = pieces_of(stays.bits() | refusing.bits());
            }
            decision.stays.push(stays.bits());
        }
        let standing = Standing { places: &places, stored, after, under_way: &under_way, stays };
        needs.find(&pool.code, pool.keeps_positions, standing);
        let History { lost, rebuilt, returned, moved } = self.histories[subject as usize];
        let is_lost = lost > 0 && !needs.is_survivable;
        let to_rebuild = needs.wants.iter().filter(|want| want.is_rebuild).count() as u64;
        decision.losses[self.work.number_of_pool(subject)].add(Losses {
            affected_objects: u64::from(lost > 0),
            lost_pieces: u64::from(lost),
            pieces_to_rebuild: u64::from(rebuilt) + to_rebuild,
            unrecoverable_objects: u64::from(is_lost),
            unrecoverable_bytes: if is_lost { size } else { Bytes::ZERO },
            unrecoverable_pieces: if is_lost { u64::from(lost - rebuilt - returned) } else { 0 },
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
    fn apply<F: Fabric>(&mut self, decisions: Vec<Decision>, site: &mut Site<'_, F>) -> bool {
        let (mut copies, mut stays) = (Vec::with_capacity(self.work.objects.len()), Vec::new());
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
            stays.append(&mut decision.stays);
            for (losses, decided) in self.work.losses_of.iter_mut().zip(decision.losses) {
                losses.add(decided);
                self.work.losses.add(decided);
            }
        }
        if let Some(returns) = &mut self.returns {
            returns.stays = stays;
        }
        let now = site.schedule.now();
        self.health.change(now, copies, self.undetected_pieces(now));
        true
    }

    /// What failed devices were writing is not written any more, and their memory is gone.
    fn leave_writes<F: Fabric>(&mut self, newly_failed: &[DeviceId], site: &Site<'_, F>) {
        for slot in self.gathers.slots() {
            let gather = self.gathers.get(slot);
            // What a device was writing when it failed before is not written already.
            let is_left = |destination| self.returns.as_ref().is_some_and(|of| of.is_stale_buffer(slot, destination));
            if gather.phase() == Phase::Writing
                && newly_failed.contains(&DeviceId::new(gather.destination))
                && !is_left(gather.destination)
            {
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
    fn replan_gathers<F: Fabric>(&mut self, site: &mut Site<'_, F>) {
        let mut gathers = Vec::new();
        for slot in self.gathers.slots() {
            let gather = self.gathers.get(slot);
            let awaited = pieces_of(gather.wanted & !gather.arrived);
            if gather.is_gathering()
                && awaited
                    .iter()
                    .any(|position| self.has_lost_source(Leg { slot, position }, self.gathers.device(slot, position)))
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
            let key = self.choices.order.key(self.object(task.subject).size, self.health.copies(task.subject).left);
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
