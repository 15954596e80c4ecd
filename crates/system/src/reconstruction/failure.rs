//! Devices fail while lost pieces of others are being made anew.

use rayon::prelude::*;
use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_kernel::queue::QueueKind;
use resilver_redundancy::Pieces;
use resilver_units::{Bytes, DeviceId};

use super::gathers::{Gather, Phase, pieces_of};
use super::homes::{HomesScratch, NOBODY};
use super::needs::{Needs, Standing};
use super::work::{Task, copies_of};
use super::{Receiver, Reconstruction, Sender, Toll};
use crate::SystemError;
use crate::event::PULL_LIMIT;
use crate::rebuild::Unserved;
use crate::storage::Site;
use crate::work::{Copies, Losses, PART_OBJECTS};

/// What is to be done about a stretch of the objects.
#[derive(Default)]
struct Decision {
    /// Tasks of which nothing is wanted any more.
    cancelled: Vec<u32>,
    /// Tasks that replace a lost piece where they moved one before, or the other way round.
    kinds: Vec<(u32, bool)>,
    new: Vec<Task>,
    copies: Vec<Copies>,
    losses: Losses,
}

impl Reconstruction {
    /// Whether a device has failed by now, having served before.
    #[inline]
    pub(super) fn has_failed(&self, device: u32) -> bool {
        self.has_later() && self.failed.contains(DeviceId::new(device))
    }

    /// Devices fail: at the first stage the reconstruction begins, at later ones it changes course.
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
            let disk = &mut site.plant.disks[device.index()];
            let requests = disk.usage().requests;
            let picoseconds = disk.fail(now).picoseconds();
            self.unserved.insert(device, Unserved { picoseconds, requests, ..Unserved::default() });
        }
        self.take_places();
        let decisions = self.decide(stage as usize + 1);
        if !self.apply(decisions, site) {
            self.problem = Some(SystemError::TooManyPulls);
            return;
        }
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
        let (width, failed) = (self.code.pieces() as usize, &self.failed);
        self.places.par_chunks_mut(width).zip(&mut self.tolls).for_each(|(row, toll)| {
            for place in row.iter_mut().filter(|place| **place != NOBODY) {
                if failed.contains(DeviceId::new(*place)) {
                    *place = NOBODY;
                    toll.lost += 1;
                }
            }
        });
    }

    /// What the failure asks for, in the order of the population; all threads work on it.
    fn decide(&self, stage: usize) -> Vec<Decision> {
        let is_under_way = |&index: &usize| self.states[index].buffers_left > 0 && !self.tasks[index].is_given_up;
        let mut under_way: Vec<(u32, u32)> =
            (0..self.tasks.len()).filter(is_under_way).map(|index| (self.tasks[index].subject, index as u32)).collect();
        under_way.par_sort_unstable();
        let under_way = &under_way;
        let chunks = self.objects.par_chunks(PART_OBJECTS).enumerate();
        chunks
            .map(|(chunk, objects)| {
                let first = (chunk * PART_OBJECTS) as u32;
                let (mut scratch, mut needs) = (HomesScratch::default(), Needs::default());
                let mut after = vec![NOBODY; self.code.pieces() as usize];
                let mut decision = Decision::default();
                for (subject, affected) in (first..).zip(objects) {
                    self.homes.fill(stage, affected.object, &mut scratch, &mut after);
                    let start = under_way.partition_point(|&(other, _)| other < subject);
                    let count = under_way[start..].iter().take_while(|&&(other, _)| other == subject).count();
                    let own = &under_way[start..start + count];
                    self.decide_one((subject, affected.size), own, &after, &mut needs, &mut decision);
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
        let width = after.len();
        let task_of = |&(_, task): &(u32, u32)| self.tasks[task as usize];
        let under_way: Vec<(u8, u32)> = own.iter().map(task_of).map(|task| (task.position, task.destination)).collect();
        let stored: Pieces = pieces_of(self.stored[subject as usize]);
        let places = &self.places[subject as usize * width..][..width];
        needs.find(&self.code, self.keeps_positions, Standing { places, stored, after, under_way: &under_way });
        let Toll { lost, rebuilt, moved } = self.tolls[subject as usize];
        let is_lost = lost > 0 && !needs.is_survivable;
        let to_rebuild = needs.wants.iter().filter(|want| want.is_rebuild).count() as u64;
        decision.losses.add(Losses {
            affected_objects: u64::from(lost > 0),
            lost_replicas: u64::from(lost),
            replicas_to_rebuild: u64::from(rebuilt) + to_rebuild,
            unrecoverable_objects: u64::from(is_lost),
            unrecoverable_bytes: if is_lost { size } else { Bytes::ZERO },
            unrecoverable_replicas: if is_lost { u64::from(lost - rebuilt) } else { 0 },
            undersized_replicas: u64::from(needs.undersized),
            replaced_replicas: 0,
            remapped_replicas: u64::from(moved) + needs.wants.len() as u64 - to_rebuild,
        });
        decision.copies.push(copies_of(needs.is_survivable, stored, needs.missing));
        for pair in own {
            let task = task_of(pair);
            let is_same =
                |want: &&super::needs::Want| (want.position, want.destination) == (task.position, task.destination);
            match needs.wants.iter().find(is_same) {
                None => decision.cancelled.push(pair.1),
                Some(want) if want.is_rebuild != task.is_rebuild => decision.kinds.push((pair.1, want.is_rebuild)),
                Some(_) => {}
            }
        }
        let is_new = |want: &&super::needs::Want| !under_way.contains(&(want.position, want.destination));
        decision.new.extend(needs.wants.iter().filter(is_new).map(|&want| Task::new(subject, want)));
    }

    /// Does what was decided; false when there are more tasks than can be numbered.
    fn apply<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        decisions: Vec<Decision>,
        site: &mut Site<'_, F, D, K>,
    ) -> bool {
        let (mut copies, mut losses): (Vec<Copies>, Losses) =
            (Vec::with_capacity(self.objects.len()), Losses::default());
        for mut decision in decisions {
            if self.tasks.len() + decision.new.len() > PULL_LIMIT {
                return false;
            }
            for (task, is_rebuild) in decision.kinds {
                self.tasks[task as usize].is_rebuild = is_rebuild;
            }
            decision.cancelled.into_iter().for_each(|task| self.give_up(task));
            for task in decision.new {
                self.open_tasks += 1;
                self.states.push(self.fresh(task));
                self.tasks.push(task);
            }
            copies.append(&mut decision.copies);
            losses.add(decision.losses);
        }
        self.health.fail(site.schedule.now(), copies);
        self.losses = losses;
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
            if gather.phase == Phase::Writing && newly_failed.contains(&DeviceId::new(gather.destination)) {
                let held = gather.held();
                self.tally.planned -= held;
                self.timeline.add(site.schedule.now(), -(held.get() as i64));
            }
        }
        for &device in newly_failed {
            let end = self.receivers[device.index()].end;
            self.receivers[device.index()] = Receiver { place: end, end, ..Receiver::default() };
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
        for slot in self.gathers.slots() {
            let gather = self.gathers.get(slot);
            let awaited = pieces_of(gather.wanted & !gather.arrived);
            if gather.is_gathering()
                && awaited.iter().any(|position| self.has_failed(self.gathers.device(slot, position)))
            {
                self.replan(slot, site);
            }
        }
    }

    /// Lists anew what each destination has still to ask for: what it is asking for, and the rest in its order.
    fn put_in_order(&mut self) {
        let mut turns: Vec<Vec<(u64, u32, u32)>> = vec![Vec::new(); self.receivers.len()];
        for (index, &task) in (0..).zip(&self.tasks) {
            let number = self.states[index as usize].number;
            if task.is_given_up || number >= self.fresh(task).buffers_left {
                continue;
            }
            let affected = self.objects[task.subject as usize];
            let key = self.order.key(affected.size, self.health.copies(task.subject));
            // What was begun comes first: every other turn is above (0, 0).
            let turn = if number > 0 { (0, 0, index) } else { (key, task.subject + 1, index) };
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
