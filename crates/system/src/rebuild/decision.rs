//! What a later failure means for each object: which pulls go on, which end, and which are new.

use rayon::prelude::*;
use resilver_placement::layout::Relocation;
use resilver_units::{Bytes, DeviceId};

use super::tracking::{Made, Tracking};
use super::{NO_SOURCE, PullState};
use crate::forward::ForwardScratch;
use crate::scan::AffectedObject;
use crate::work::{Copies, Losses, PART_OBJECTS, Pull};

/// A stretch of a list of holders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holders {
    pub start: u32,
    pub count: u16,
}

/// A copy that a later failure asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewPull {
    pub subject: u32,
    pub destination: DeviceId,
    pub is_rebuild: bool,
    pub holders: Holders,
}

/// What is to be done about a stretch of the objects.
#[derive(Default)]
pub(super) struct Decision {
    /// Pulls of which nothing is wanted any more.
    pub cancelled: Vec<u32>,
    /// Pulls whose source failed and that go on from another holder.
    pub resumed: Vec<(u32, Holders)>,
    /// Pulls that have not begun and may be asked of other holders than before.
    pub resettled: Vec<(u32, Holders)>,
    pub new: Vec<NewPull>,
    /// Pulls that replace a lost copy where they moved one before, or the other way round.
    pub kinds: Vec<(u32, bool)>,
    pub holders: Vec<DeviceId>,
    pub copies: Vec<Copies>,
    pub lost: Vec<u16>,
    pub losses: Losses,
}

/// The pulls and the completed copies of each object, as they are when devices fail.
struct Standing {
    /// (object, pull), of pulls that are neither complete nor given up, in rising order.
    pulls: Vec<(u32, u32)>,
    /// By object; of one object in the order of completion.
    made: Vec<Made>,
}

impl Standing {
    fn pulls_of(&self, subject: u32) -> &[(u32, u32)] {
        let start = self.pulls.partition_point(|&(other, _)| other < subject);
        let count = self.pulls[start..].iter().take_while(|&&(other, _)| other == subject).count();
        &self.pulls[start..start + count]
    }

    fn made_of(&self, subject: u32) -> &[Made] {
        let start = self.made.partition_point(|made| made.subject < subject);
        let count = self.made[start..].iter().take_while(|made| made.subject == subject).count();
        &self.made[start..start + count]
    }
}

impl Tracking {
    /// What the failure of a stage asks for, in the order of the population; all threads work on it.
    pub fn decide(&self, stage: usize, pulls: &[Pull], states: &[PullState], buffer: Bytes) -> Vec<Decision> {
        let is_under_way = |&index: &usize| states[index].buffers_left > 0 && !self.progress[index].is_given_up;
        let under_way = (0..pulls.len()).filter(is_under_way);
        let mut standing = Standing {
            pulls: under_way.map(|index| (pulls[index].subject, index as u32)).collect(),
            made: self.made.clone(),
        };
        standing.pulls.par_sort_unstable();
        standing.made.par_sort_by_key(|made| made.subject);
        let standing = &standing;
        self.later
            .objects
            .par_chunks(PART_OBJECTS)
            .enumerate()
            .map(|(chunk, objects)| {
                let mut decider = Decider { tracking: self, pulls, states, buffer, decision: Decision::default() };
                let (mut scratch, mut relocation) = (ForwardScratch::default(), Relocation::default());
                for (subject, &affected) in (chunk * PART_OBJECTS..).map(|subject| subject as u32).zip(objects) {
                    self.later.stages.relocate(stage, affected.object, &mut scratch, &mut relocation);
                    let (pulls, made) = (standing.pulls_of(subject), standing.made_of(subject));
                    decider.decide(subject, affected, &relocation, (pulls, made));
                }
                decider.decision
            })
            .collect()
    }
}

struct Decider<'a> {
    tracking: &'a Tracking,
    pulls: &'a [Pull],
    states: &'a [PullState],
    buffer: Bytes,
    decision: Decision,
}

impl Decider<'_> {
    fn decide(
        &mut self,
        subject: u32,
        affected: AffectedObject,
        relocation: &Relocation,
        (under_way, made): (&[(u32, u32)], &[Made]),
    ) {
        let is_working = |device: DeviceId| !self.tracking.failed.contains(device);
        let mut holders = relocation.survivors.clone();
        holders.extend(made.iter().map(|made| made.device).filter(|&device| is_working(device)));
        let lost = relocation.lost + made.iter().filter(|made| !is_working(made.device)).count() as u32;
        let rebuilt = made.iter().filter(|made| made.is_rebuild).count() as u32;
        let owed = lost - rebuilt;
        self.decision.lost.push(lost as u16);
        let losses = &mut self.decision.losses;
        losses.affected_objects += u64::from(lost > 0);
        losses.lost_replicas += u64::from(lost);
        losses.replicas_to_rebuild += u64::from(rebuilt);
        losses.remapped_replicas += (made.len() - rebuilt as usize) as u64;
        if holders.is_empty() {
            if lost > 0 {
                losses.unrecoverable_objects += 1;
                losses.unrecoverable_bytes += affected.size;
                losses.unrecoverable_replicas += u64::from(owed);
            }
            self.decision.copies.push(Copies::default());
            self.decision.cancelled.extend(under_way.iter().map(|&(_, pull)| pull));
            return;
        }
        let full = relocation.survivors.len() as u32 + relocation.lost;
        let placed = (relocation.survivors.len() - relocation.leaving.len() + relocation.homes.len()) as u32;
        let wanted: Vec<DeviceId> =
            relocation.homes.iter().copied().filter(|home| made.iter().all(|made| made.device != *home)).collect();
        let undersized = owed.min(full.saturating_sub(placed));
        let to_rebuild = (owed - undersized).min(wanted.len() as u32);
        losses.replicas_to_rebuild += u64::from(to_rebuild);
        losses.undersized_replicas += u64::from(undersized);
        losses.replaced_replicas += u64::from(owed - undersized - to_rebuild);
        losses.remapped_replicas += (wanted.len() - to_rebuild as usize) as u64;
        let left = full.saturating_sub(undersized + to_rebuild);
        self.decision.copies.push(Copies { full: full as u16, left: left as u16 });
        let is_same_set = under_way.len() == wanted.len()
            && under_way.iter().all(|&(_, pull)| wanted.contains(&self.pulls[pull as usize].destination));
        let is_touched = lost != u32::from(self.tracking.lost[subject as usize]) || !is_same_set;
        let settled = if is_touched && !wanted.is_empty() { Some(self.settle(affected, &holders)) } else { None };
        for &(_, pull) in under_way {
            let place = wanted.iter().position(|home| *home == self.pulls[pull as usize].destination);
            match (place, settled) {
                (None, _) => self.decision.cancelled.push(pull),
                (Some(rank), settled) => self.go_on(pull, rank < to_rebuild as usize, settled),
            }
        }
        for (rank, &destination) in wanted.iter().enumerate() {
            if under_way.iter().all(|&(_, pull)| self.pulls[pull as usize].destination != destination) {
                let is_rebuild = rank < to_rebuild as usize;
                let holders = settled.expect("a set that gains a device is touched");
                self.decision.new.push(NewPull { subject, destination, is_rebuild, holders });
            }
        }
    }

    /// Lists the holders that may be asked for an object from now on.
    fn settle(&mut self, affected: AffectedObject, holders: &[DeviceId]) -> Holders {
        let later = &self.tracking.later;
        let candidates = later.source.candidates(later.seed, affected.object, holders);
        let start = self.decision.holders.len() as u32;
        self.decision.holders.extend_from_slice(candidates);
        Holders { start, count: candidates.len() as u16 }
    }

    /// A pull is wanted still: what becomes of it, given the holders where its object was touched.
    fn go_on(&mut self, pull: u32, is_rebuild: bool, settled: Option<Holders>) {
        if self.pulls[pull as usize].is_rebuild != is_rebuild {
            self.decision.kinds.push((pull, is_rebuild));
        }
        let Some(holders) = settled else { return };
        let source = self.states[pull as usize].source;
        if source == NO_SOURCE {
            self.decision.resettled.push((pull, holders));
        } else if self.tracking.failed.contains(DeviceId::new(source)) {
            let progress = self.tracking.progress[pull as usize];
            let buffers = self.pulls[pull as usize].size.pieces_of(self.buffer).max(1);
            if u64::from(progress.received) + u64::from(progress.last_received) < buffers {
                self.decision.resumed.push((pull, holders));
            }
        }
    }
}
