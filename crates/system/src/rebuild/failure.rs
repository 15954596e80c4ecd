//! Devices fail while others are being rebuilt.

use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_kernel::queue::QueueKind;
use resilver_units::{Bytes, DeviceId};

use super::decision::{Decision, Holders};
use super::tracking::{Progress, Tracking, Unserved};
use super::{PullState, Rebuild, Receiver, Sender};
use crate::SystemError;
use crate::event::PULL_LIMIT;
use crate::restores::Restores;
use crate::storage::Site;
use crate::work::{Copies, Losses, Pull};

/// Where a pull that its destination has still to ask for comes in its order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    /// It is being asked for.
    UnderWay,
    /// Its source failed: in the order in which such pulls were begun again.
    Resumed(u32),
    /// It has not begun: by the order asked for, then in the order of the population.
    NotBegun(u64, u32),
}

impl Rebuild {
    /// Devices fail: at the first stage the rebuild begins, at later ones it changes course.
    #[cold]
    pub(super) fn fail<F: Fabric, D: Device, K: QueueKind>(&mut self, stage: u32, site: &mut Site<'_, F, D, K>) {
        if stage == 0 {
            return self.begin(site);
        }
        self.failures_left -= 1;
        let mut tracking = self.tracking.take().expect("a later failure was announced");
        if tracking.problem.is_some() {
            return self.tracking = Some(tracking);
        }
        let newly_failed: Vec<DeviceId> = {
            let after = &tracking.later.failures[stage as usize].1;
            after.devices().filter(|&device| !tracking.failed.contains(device)).collect()
        };
        tracking.failed = tracking.later.failures[stage as usize].1.clone();
        let buffer = self.policy.pipeline_buffer;
        let decisions = tracking.decide(stage as usize, &self.work.pulls, &self.states, buffer);
        let now = site.schedule.now();
        for &device in &newly_failed {
            let disk = &mut site.plant.disks[device.index()];
            let requests = disk.usage().requests;
            let picoseconds = disk.fail(now).picoseconds();
            tracking.unserved.insert(device, Unserved { picoseconds, requests, ..Unserved::default() });
        }
        if self.apply(&mut tracking, decisions, site) {
            for &device in &newly_failed {
                let receiver = &mut self.receivers[device.index()];
                self.timeline.add(now, -(receiver.bytes_held.get() as i64));
                *receiver = Receiver { place: receiver.end, end: receiver.end, ..Receiver::default() };
                self.senders[device.index()] = Sender::default();
            }
            self.put_in_order(&tracking);
            self.tracking = Some(tracking);
            self.go_on(site);
        } else {
            tracking.problem = Some(SystemError::TooManyPulls);
            self.tracking = Some(tracking);
        }
    }

    /// Does what was decided; false when there are more pulls or holders than can be numbered.
    fn apply<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        tracking: &mut Tracking,
        decisions: Vec<Decision>,
        site: &mut Site<'_, F, D, K>,
    ) -> bool {
        let (mut copies, mut losses): (Vec<Copies>, Losses) = (Vec::new(), Losses::default());
        let mut resumed: Vec<(u32, Holders)> = Vec::new();
        tracking.lost.clear();
        for mut decision in decisions {
            let first_holder = self.work.holders.len() as u32;
            let at = |holders: Holders| Holders { start: first_holder + holders.start, ..holders };
            let pulls = self.work.pulls.len() + resumed.len() + decision.resumed.len() + decision.new.len();
            if pulls > PULL_LIMIT || self.work.holders.len() + decision.holders.len() >= u32::MAX as usize {
                return false;
            }
            self.work.holders.append(&mut decision.holders);
            for (pull, is_rebuild) in decision.kinds {
                self.work.pulls[pull as usize].is_rebuild = is_rebuild;
            }
            for (pull, holders) in decision.resettled {
                self.set_holders(pull, at(holders));
            }
            for pull in decision.cancelled {
                self.give_up(tracking, pull, site);
                self.wasted.written += self.written(tracking, pull);
            }
            resumed.extend(decision.resumed.into_iter().map(|(pull, holders)| (pull, at(holders))));
            for new in decision.new {
                let affected = tracking.later.objects[new.subject as usize];
                let pull = Pull {
                    object: affected.object,
                    size: affected.size,
                    destination: new.destination,
                    holders: 0,
                    subject: new.subject,
                    holder_count: 0,
                    restores: Restores::Counted,
                    is_rebuild: new.is_rebuild,
                };
                let state = PullState::new(&pull, self.policy);
                let number = self.push(tracking, pull, state, Progress::default());
                self.set_holders(number, at(new.holders));
            }
            copies.append(&mut decision.copies);
            tracking.lost.append(&mut decision.lost);
            losses.add(decision.losses);
        }
        resumed.sort_unstable_by_key(|&(pull, _)| tracking.progress[pull as usize].begun);
        for (pull, holders) in resumed {
            self.resume(tracking, pull, holders, site);
        }
        self.health.fail(site.schedule.now(), copies);
        self.work.losses = losses;
        true
    }

    fn push(&mut self, tracking: &mut Tracking, pull: Pull, state: PullState, progress: Progress) -> u32 {
        self.open_pulls += 1;
        self.work.pulls.push(pull);
        self.states.push(state);
        tracking.progress.push(progress);
        (self.work.pulls.len() - 1) as u32
    }

    fn set_holders(&mut self, pull: u32, holders: Holders) {
        let pull = &mut self.work.pulls[pull as usize];
        pull.holder_count = holders.count;
        pull.holders = match holders.count {
            1 => self.work.holders[holders.start as usize].get(),
            _ => holders.start,
        };
    }

    /// A pull goes on from another holder behind the buffers that have arrived in order; the others are asked for again.
    fn resume<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        tracking: &mut Tracking,
        pull: u32,
        holders: Holders,
        site: &mut Site<'_, F, D, K>,
    ) {
        let progress = tracking.progress[pull as usize];
        let size = self.work.pulls[pull as usize].size;
        let buffers = PullState::new(&self.work.pulls[pull as usize], self.policy).buffers_left;
        let written = buffers - self.states[pull as usize].buffers_left - u32::from(progress.last_written);
        self.give_up(tracking, pull, site);
        if progress.last_written {
            self.wasted.written += size - super::tracking::last_offset(size, self.policy.pipeline_buffer);
        }
        let kept = progress.received;
        let state = PullState { buffers_left: buffers - written, source: super::NO_SOURCE };
        let start = Progress { start: kept, read: kept, received: kept, is_resumed: true, ..Progress::default() };
        let successor = self.push(tracking, self.work.pulls[pull as usize], state, start);
        self.set_holders(successor, holders);
        tracking.successors.insert(pull, (successor, kept));
    }

    /// Takes back what a pull holds: memory for what has not arrived, and its source's share still to be read.
    fn give_up<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        tracking: &mut Tracking,
        pull: u32,
        site: &mut Site<'_, F, D, K>,
    ) {
        let progress = &mut tracking.progress[pull as usize];
        progress.is_given_up = true;
        self.open_pulls -= 1;
        if !self.has_begun(pull) {
            return;
        }
        let progress = *progress;
        let Pull { size, destination, .. } = self.work.pulls[pull as usize];
        let source = DeviceId::new(self.states[pull as usize].source);
        if !tracking.failed.contains(source) {
            let unread = size - self.bytes_before(pull, progress.read);
            self.senders[source.index()].bytes_assigned -= unread;
        }
        if !tracking.failed.contains(destination) {
            let buffers = PullState::new(&self.work.pulls[pull as usize], self.policy).buffers_left;
            let asked =
                if self.is_being_asked_for(pull) { self.receivers[destination.index()].number } else { buffers };
            let received = progress.received_bytes(size, self.policy.pipeline_buffer);
            let on_the_way = self.bytes_before(pull, asked) - self.bytes_before(pull, progress.start) - received;
            let receiver = &mut self.receivers[destination.index()];
            receiver.bytes_held -= on_the_way;
            receiver.buffers_held -= asked - progress.received - u32::from(progress.last_received);
            self.timeline.add(site.schedule.now(), -(on_the_way.get() as i64));
        }
    }

    /// Whether some buffers of a pull were asked for, and others are still to be.
    fn is_being_asked_for(&self, pull: u32) -> bool {
        let receiver = self.receivers[self.work.pulls[pull as usize].destination.index()];
        receiver.place < receiver.end && self.pull_at(receiver.place) == pull && self.has_begun(pull)
    }

    /// What was written of a pull, what earlier pulls that it goes on from wrote included.
    fn written(&self, tracking: &Tracking, pull: u32) -> Bytes {
        let progress = tracking.progress[pull as usize];
        let Pull { size, .. } = self.work.pulls[pull as usize];
        let buffers = PullState::new(&self.work.pulls[pull as usize], self.policy).buffers_left;
        let written = buffers - self.states[pull as usize].buffers_left - u32::from(progress.last_written);
        let last = size - super::tracking::last_offset(size, self.policy.pipeline_buffer);
        self.bytes_before(pull, written) + if progress.last_written { last } else { Bytes::ZERO }
    }

    /// Lists anew what each destination has still to ask for: what it is asking for, what lost its source, and the rest.
    fn put_in_order(&mut self, tracking: &Tracking) {
        let mut turns: Vec<Vec<(Turn, u32)>> = vec![Vec::new(); self.receivers.len()];
        for (index, pull) in (0..).zip(&self.work.pulls) {
            let progress = tracking.progress[index as usize];
            if progress.is_given_up || (self.has_begun(index) && !self.is_being_asked_for(index)) {
                continue;
            }
            let turn = if self.has_begun(index) {
                Turn::UnderWay
            } else if progress.is_resumed {
                Turn::Resumed(index)
            } else {
                Turn::NotBegun(tracking.later.order.key(pull.size, self.health.copies(pull.subject)), pull.subject)
            };
            turns[pull.destination.index()].push((turn, index));
        }
        let mut order = Vec::with_capacity(turns.iter().map(Vec::len).sum());
        for (device, mut turns) in turns.into_iter().enumerate() {
            turns.sort_unstable();
            let receiver = &mut self.receivers[device];
            receiver.place = order.len() as u32;
            order.extend(turns.iter().map(|&(_, pull)| pull));
            receiver.end = order.len() as u32;
            match turns.first() {
                Some((Turn::UnderWay, _)) => {}
                Some(&(_, pull)) => receiver.number = tracking.progress[pull as usize].start,
                None => receiver.number = 0,
            }
        }
        self.order = order;
    }

    /// Sources read for those who still wait, and destinations ask for what they want by now.
    fn go_on<F: Fabric, D: Device, K: QueueKind>(&mut self, site: &mut Site<'_, F, D, K>) {
        let tracking = self.tracking.as_ref().expect("devices have failed");
        for sender in &mut self.senders {
            sender.waiting.retain(|buffer| !tracking.progress[buffer.pull as usize].is_given_up);
        }
        for device in (0..self.receivers.len() as u32).map(DeviceId::new) {
            self.read_waiting(device, site);
        }
        for device in (0..self.receivers.len() as u32).map(DeviceId::new) {
            self.ask(device, site);
        }
    }
}
