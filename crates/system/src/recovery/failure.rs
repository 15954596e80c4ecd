//! Devices fail, or come back, while lost pieces are being made anew.

use std::collections::BTreeMap;

use rayon::prelude::*;
use resilver_fabric::{Fabric, Notice};
use resilver_redundancy::Pieces;
use resilver_units::{Bytes, DeviceId, SimTime};

use super::drivers::HANDED_OVER;
use super::events::RecoveryEvent;
use super::gathers::{Gather, Leg, Phase, pieces_of};
use super::homes::HomesScratch;
use super::needs::{Needs, Standing, Want};
use super::outcome::DeviceOutcome;
use super::places::{LOST, NOBODY, device_at, device_or_nobody, is_there, stored_in};
use super::protocol::event;
use super::receiver::Receiver;
use super::returns::refusing;
use super::tasks::{Task, buffers_of};
use super::work::{Copies, Losses, PART_OBJECTS, copies_of};
use super::{Recovery, Sender};
use crate::SystemError;
use crate::event::{DATA, EventOf, REQUEST, StorageEvent, TASK_LIMIT};
use crate::plant::Site;
use crate::scenario::RetryPolicy;
use crate::trace::Fate;

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

/// What is known of sources where messages may be lost.
#[derive(Clone, Debug)]
pub(super) struct LostMessages {
    retry: RetryPolicy,
    /// How often each part that is asked for was lost, by its buffer and its position.
    losses: BTreeMap<(u32, u32), u32>,
    /// The pieces that are not asked for any more, task by task, as sets.
    shunned: BTreeMap<u32, u64>,
    /// Devices that answer nobody.
    pub dead: Vec<bool>,
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
        self.lose_drivers(&newly_failed);
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
                self.waits.note(|trace| trace.unwanted((leg.slot, leg.position), site.schedule.now()));
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
        self.find_drivers();
        self.put_in_order();
        if self.drivers.is_some() {
            self.lose_tasks_of_dead(site);
            self.lose_queue_of_nobody();
        }
        for device in 0..self.receivers.len() as u32 {
            self.read_waiting(device, site);
        }
        self.ask_all(site);
    }

    /// Lets every device ask for what it may.
    pub(super) fn ask_all<F: Fabric>(&mut self, site: &mut Site<'_, F>) {
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

    /// What failed devices were writing, or had handed over, is not written any more for them, and their memory is gone.
    fn leave_writes<F: Fabric>(&mut self, newly_failed: &[DeviceId], site: &Site<'_, F>) {
        for slot in self.gathers.slots() {
            let gather = self.gathers.get(slot);
            // What a device was writing when it failed before is not written already.
            let is_left = |driver| self.returns.as_ref().is_some_and(|of| of.is_stale_buffer(slot, driver));
            if matches!(gather.phase(), Phase::Writing | Phase::HandedOver)
                && newly_failed.contains(&DeviceId::new(gather.driver))
                && !is_left(gather.driver)
            {
                let held = gather.held();
                if !self.is_handed_over(slot) {
                    self.tally.planned -= held;
                }
                self.timeline.add(site.schedule.now(), -(held.get() as i64));
                self.waits.note(|trace| trace.ended(slot, site.schedule.now(), Fate::Lost));
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
        self.unserved.entry(DeviceId::new(gather.driver)).or_default().written += gather.bytes;
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
                gathers.push((gather.driver, task.subject, task.position, gather.number(), slot));
            }
        }
        // In an order that does not depend on which slots were free.
        gathers.sort_unstable();
        for (.., slot) in gathers {
            self.replan(slot, site);
        }
    }

    /// Whether other devices are ever known to have failed than those of the first time.
    #[inline]
    pub(super) fn has_later(&self) -> bool {
        self.failures.len() > 1
    }

    /// When the system knows of the first failed devices.
    pub(crate) fn begins_at(&self) -> SimTime {
        self.failures[0].0
    }

    /// Lets every destination ask for its first buffers, once the first devices have failed.
    pub(crate) fn start<F: Fabric>(&mut self, site: &mut Site<'_, F>) {
        // Failures come before all that happens at their time.
        for (stage, &(time, _)) in (0..).zip(&self.failures) {
            if stage > 0 || time > SimTime::ZERO {
                site.schedule.at(time, EventOf::new(StorageEvent::Fail(stage)));
            }
        }
        if self.begins_at() == SimTime::ZERO {
            self.begin(site);
        }
    }

    pub(super) fn begin<F: Fabric>(&mut self, site: &mut Site<'_, F>) {
        self.failures_left -= 1;
        let failing = self.failing_at(0);
        self.shelve(&failing);
        self.count_missing(site.schedule.now());
        self.begin_waits(site);
        if self.drivers.is_some() {
            self.find_drivers();
            self.put_in_order();
        }
        self.lose_tasks_of_dead(site);
        self.lose_queue_of_nobody();
        self.scan_first(site.schedule.now());
        self.ask_all(site);
    }

    /// The devices that fail at a stage, which has not come yet.
    pub(crate) fn failing_at(&self, stage: u32) -> Vec<DeviceId> {
        let is_new = |device: &DeviceId| stage == 0 || !self.failed.contains(*device);
        self.failures[stage as usize].1.devices().filter(is_new).collect()
    }

    /// The devices that come back at a stage, which has not come yet.
    pub(crate) fn returning_at(&self, stage: u32) -> Vec<DeviceId> {
        let failed = &self.failures[stage as usize].1;
        self.failed.devices().filter(|&device| !failed.contains(device)).collect()
    }

    /// A device fails, and was given so many requests before.
    pub(crate) fn begin_without(&mut self, device: DeviceId, requests: u64) {
        self.devices[device.index()].requests_before_failure = requests;
    }

    /// A device that failed comes back, and was given so many requests before.
    pub(crate) fn end_without(&mut self, device: DeviceId, requests: u64) {
        let before = std::mem::take(&mut self.devices[device.index()].requests_before_failure);
        self.tally.served_after_failure += requests - before;
    }

    /// How many stages have come.
    #[inline]
    pub(super) fn stages_passed(&self) -> u32 {
        (self.failures.len() - self.failures_left) as u32
    }

    /// Whether nothing is left to be done, now or after a failure to come.
    ///
    /// Parts that come back change something only where pieces are missing.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.open_tasks == 0
            && self.gathers.open_count() == 0
            && (self.failures_left == 0 || self.failures_left <= self.returns_at_end && self.is_whole())
    }

    /// Whether each piece that was lost is there again.
    #[cold]
    pub(super) fn is_whole(&self) -> bool {
        self.work.losses.lost_pieces == self.rebuilt_pieces + self.returned_pieces()
    }

    /// How many of the lost pieces that the failures so far ask for are there again, from 0 to 1; 1 where all is done.
    pub(crate) fn share_rebuilt(&self) -> f64 {
        match self.work.losses.pieces_to_rebuild {
            0 => 1.0,
            _ if self.failures_left == 0 && self.open_tasks == 0 => 1.0,
            all => self.rebuilt_pieces as f64 / all as f64,
        }
    }

    /// Whether a device has failed since a part was asked of it.
    #[inline]
    pub(super) fn has_lost_source(&self, leg: Leg, source: u32) -> bool {
        self.has_later()
            && (self.failed.contains(DeviceId::new(source))
                || self.returns.as_ref().is_some_and(|returns| returns.is_stale_leg(leg, source)))
    }

    /// Whether a device has failed since it began to ask for a buffer.
    #[inline]
    pub(super) fn has_lost_destination(&self, slot: u32, destination: u32) -> bool {
        self.has_later()
            && (self.failed.contains(DeviceId::new(destination))
                || self.returns.as_ref().is_some_and(|returns| returns.is_stale_buffer(slot, destination)))
    }

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
        let driver = gather.driver;
        if !gather.wants(leg.position) || self.lost_messages.is_none() {
            return self.settle(leg.slot, site);
        }
        if let Some(time) = self.count_loss((leg.slot, leg.position), site.schedule.now()) {
            self.gathers.get_mut(leg.slot).in_flight |= leg.bit();
            site.schedule.at(time, EventOf::new(event(RecoveryEvent::Retry(leg))));
            return;
        }
        if let Some(lost) = &mut self.lost_messages {
            *lost.shunned.entry(task).or_insert(0) |= leg.bit();
        }
        // What is asked for from now on does without that source as well.
        let receiver = &mut self.receivers[driver as usize];
        if receiver.place < receiver.end {
            receiver.plan.clear();
        }
        self.replan(leg.slot, site);
    }

    /// Counts a message of a buffer that was lost; when it is to be sent again, and `None` after as many as there are attempts.
    pub(super) fn count_loss(&mut self, which: (u32, u32), now: SimTime) -> Option<SimTime> {
        let lost = self.lost_messages.as_mut()?;
        let losses = lost.losses.entry(which).or_insert(0);
        *losses += 1;
        (*losses < lost.retry.attempts).then(|| now + lost.retry.after)
    }

    /// The time has come to ask again for a part.
    #[cold]
    pub(super) fn retry<F: Fabric>(&mut self, leg: Leg, site: &mut Site<'_, F>) {
        let gather = self.gathers.get_mut(leg.slot);
        if gather.unsent & leg.bit() != 0 {
            // What was lost is still leaving its source, whose memory it holds: another message would be taken for it.
            let Some(lost) = &self.lost_messages else { return };
            let time = site.schedule.now() + lost.retry.after;
            site.schedule.at(time, EventOf::new(event(RecoveryEvent::Retry(leg))));
        } else if gather.wants(leg.position) {
            if let Some(own) = self.request(leg, site) {
                self.request_arrived(own, site);
            }
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
    /// The driver keeps what has come, so it may hold more than its memory until the buffer is written; it asks for no
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
        let receiver = &mut self.receivers[gather.driver as usize];
        receiver.bytes_held = receiver.bytes_held + now - before;
        self.tally.planned = self.tally.planned + now - before;
        self.timeline.add(site.schedule.now(), now.get() as i64 - before.get() as i64);
        let subject = self.work.tasks[gather.task() as usize].subject;
        let mut own = None;
        for &position in &planned {
            if (gather.arrived | coming) >> position & 1 == 0 {
                self.gathers.set_device(slot, position, self.device_of(subject, position));
                own = self.request(Leg { slot, position }, site).or(own);
            }
        }
        self.planned = planned;
        if let Some(own) = own {
            return self.request_arrived(own, site);
        }
        let gather = self.gathers.get(slot);
        if gather.arrived == gather.wanted {
            self.decode(slot, site);
        }
    }

    /// Nothing of a buffer is wanted any more that is not being written: its driver gives back its memory.
    pub(super) fn void<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        let gather = *self.gathers.get(slot);
        let receiver = &mut self.receivers[gather.driver as usize];
        receiver.bytes_held -= gather.held();
        receiver.gathers_held -= 1;
        self.timeline.add(site.schedule.now(), -(gather.held().get() as i64));
        self.tally.planned -= gather.held();
        self.waits.note(|trace| trace.ended(slot, site.schedule.now(), Fate::Lost));
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
        self.drop_admission(task);
        self.wasted.written += self.written_of(task);
        let driver = self.driver_of(task) as usize;
        let is_at_it = |receiver: &Receiver| receiver.place < receiver.end && self.task_at(receiver.place) == task;
        if self.receivers.get(driver).is_some_and(is_at_it) {
            let receiver = &mut self.receivers[driver];
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
            self.has_lost_moves = true;
        }
    }

    /// A buffer of a task that was given up has come to where nothing more is done for it.
    #[cold]
    pub(super) fn let_go<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        let driver = self.gathers.get(slot).driver;
        self.void(slot, site);
        self.ask(driver, site);
    }

    /// Whether a message does not arrive because one of its ends has failed.
    #[inline]
    pub(crate) fn has_vanished<F: Fabric>(&mut self, token: u64, site: &mut Site<'_, F>) -> bool {
        self.has_later()
            && if token & HANDED_OVER == 0 {
                self.vanishes(Leg::of_token(token), site)
            } else {
                self.hand_over_vanishes(token, site)
            }
    }

    #[cold]
    fn vanishes<F: Fabric>(&mut self, (leg, kind): (Leg, u64), site: &mut Site<'_, F>) -> bool {
        let source = self.gathers.device(leg.slot, leg.position);
        let gather = self.gathers.get_mut(leg.slot);
        let (bytes, driver) = (gather.bytes, gather.driver);
        let has_lost_source = self.has_lost_source(leg, source);
        if !has_lost_source && !self.has_lost_destination(leg.slot, driver) {
            return false;
        }
        site.note(Notice::Lost(leg.token(kind)));
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
