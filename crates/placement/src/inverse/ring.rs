//! The inverses of placement of each object on a hash ring.

use std::sync::Arc;

use resilver_units::{DeviceId, ObjectId};

use super::screen::{Objects, Road, screen};
use super::stretches::Stretches;
use super::{FailedSet, Inverse, Run};
use crate::layout::{Relocation, object_position};
use crate::ring::{HashRing, RingWalk, draw_position, draw_word};

/// Working memory of one thread.
#[derive(Debug, Default)]
pub struct RingScratch {
    before: Vec<DeviceId>,
    after: Vec<DeviceId>,
    passed: Vec<u64>,
    /// Those of them with a draw that may come to a failed device, and which.
    near: Vec<(ObjectId, u64)>,
    /// Where the objects stand, among those found, that only their placement decides.
    undecided: Vec<usize>,
    positions: Vec<u32>,
    owners: Vec<u32>,
}

/// Objects of a list: those which pass are settled together, and the list stays in the first-level cache.
const LISTED: usize = 2048;
/// Objects of a run that pays to be looked through by itself.
const LONG_RUN: u64 = 128;
/// Objects that go through the screen at once.
const LOOKED_THROUGH: usize = 1024;
/// Objects of which those that pass the screen are settled together, at least: enough for their cache misses to overlap.
const SETTLED: usize = 512;

impl RingScratch {
    /// Hands on the objects with one of their first `draws` draws in a touched stretch, some hundreds together.
    fn screened<O: Objects>(
        &mut self,
        (road, stretches, draws): (Road, &Stretches, usize),
        objects: O,
        mut settle: impl FnMut(&mut RingScratch, &[u64]),
    ) {
        let mut passed = std::mem::take(&mut self.passed);
        passed.resize(SETTLED + LOOKED_THROUGH + 8, 0);
        let mut count = 0;
        for start in (0..objects.count()).step_by(LOOKED_THROUGH) {
            let part = objects.part(start, LOOKED_THROUGH.min(objects.count() - start));
            count += screen(road, stretches.touched(), draws, part, &mut passed[count..]);
            if count >= SETTLED {
                settle(self, &passed[..count]);
                count = 0;
            }
        }
        settle(self, &passed[..count]);
        self.passed = passed;
    }
}

fn relocate(
    (ring, copies, failed): (&HashRing, usize, &FailedSet),
    object: ObjectId,
    scratch: &mut RingScratch,
    relocation: &mut Relocation,
) {
    let RingScratch { before, after, .. } = scratch;
    ring.place(object, copies, |_| false, before);
    if ring.walk() == RingWalk::Rehash {
        after.clone_from(before);
        ring.replace_failed(object, copies, |device| failed.contains(device), after);
    } else {
        ring.place(object, copies, |device| failed.contains(device), after);
    }
    relocation.set(before, after, |device| failed.contains(device));
}

/// The inverse of placement of each object on a hash ring whose copies follow one another along the ring.
#[derive(Clone, Debug)]
pub struct SuccessorInverse {
    ring: Arc<HashRing>,
    copies: usize,
    failed: FailedSet,
    road: Road,
    /// Positions from which a failed device is reached.
    affected: Stretches,
}

impl SuccessorInverse {
    /// Prepares the answer for one set of failed devices.
    ///
    /// # Panics
    /// When the ring's copies do not follow one another.
    pub fn new(ring: Arc<HashRing>, copies: usize, failed: FailedSet) -> Self {
        assert_eq!(ring.walk(), RingWalk::Successors, "only successors can be listed by stretches of the ring");
        let intervals = ring.affected_intervals(copies, |device| failed.contains(device));
        SuccessorInverse { ring, copies, failed, road: Road::best(), affected: Stretches::new(intervals) }
    }
}

impl SuccessorInverse {
    fn search(&self, objects: impl Objects, scratch: &mut RingScratch, found: &mut Vec<ObjectId>) {
        // An object's position is its draw 0.
        scratch.screened((self.road, &self.affected, 1), objects, |_, passed| {
            let passed = passed.iter().copied().map(ObjectId::new);
            found.extend(passed.filter(|&object| self.affected.contains(object_position(object))));
        });
    }
}

impl Inverse for SuccessorInverse {
    type Scratch = RingScratch;

    const LISTED: usize = LISTED;
    const LONG_RUN: u64 = LONG_RUN;

    fn affected_among(&self, objects: &[u64], scratch: &mut RingScratch, found: &mut Vec<ObjectId>) {
        self.search(objects, scratch, found);
    }

    fn affected_in(&self, run: Run, scratch: &mut RingScratch, found: &mut Vec<ObjectId>) {
        self.search(run, scratch, found);
    }

    fn relocate(&self, object: ObjectId, scratch: &mut RingScratch, relocation: &mut Relocation) {
        relocate((&self.ring, self.copies, &self.failed), object, scratch, relocation);
    }
}

/// The inverse of placement of each object on a hash ring on which every copy has a position of its own.
///
/// Draw d takes the first device along the ring whose failure domain is not among the at most d used before it: one of the
/// first d + 1 domains from its position on. The stretches from which a failed device is among those are listed once. An
/// object with no draw in them has no copy on a failed device, certainly; of the others, one with a draw that a failed
/// device owns itself has a copy there where domains are single devices, and the rest are placed in full.
#[derive(Clone, Debug)]
pub struct RehashInverse {
    ring: Arc<HashRing>,
    copies: usize,
    failed: FailedSet,
    road: Road,
    /// For draw d, or the last of them for all further ones, the positions from which it may come to a failed device.
    reach: Vec<Stretches>,
}

/// Draws whose reach is listed one by one; a fifth copy and further ones are screened as if they were the last.
const REACHES: usize = 4;

impl RehashInverse {
    /// Prepares the answer for one set of failed devices.
    ///
    /// # Panics
    /// When the ring's copies follow one another instead.
    pub fn new(ring: Arc<HashRing>, copies: usize, failed: FailedSet) -> Self {
        assert_eq!(ring.walk(), RingWalk::Rehash, "every copy must have a position of its own");
        let domains = (1..=copies.min(REACHES)).chain((copies > REACHES).then_some(copies));
        let reach = domains
            .map(|domains| Stretches::new(ring.affected_intervals(domains, |device| failed.contains(device))))
            .collect();
        RehashInverse { ring, copies, failed, road: Road::best(), reach }
    }

    fn search(&self, objects: impl Objects, scratch: &mut RingScratch, found: &mut Vec<ObjectId>) {
        // What the last draw reaches holds what the others do.
        let Some(widest) = self.reach.last() else {
            return;
        };
        scratch.screened((self.road, widest, self.copies), objects, |scratch, passed| {
            scratch.undecided.clear();
            scratch.near.clear();
            scratch.near.resize(passed.len(), (ObjectId::new(0), 0));
            let mut count = 0;
            for object in passed.iter().copied().map(ObjectId::new) {
                let near = self.near_draws(object);
                scratch.near[count] = (object, near);
                count += usize::from(near > 0);
            }
            for &(object, near) in &scratch.near[..count] {
                let answer = self.is_affected(object, near);
                if answer.is_none() {
                    scratch.undecided.push(found.len());
                }
                if answer != Some(false) {
                    found.push(object);
                }
            }
            self.settle(scratch, found);
        });
    }

    /// Whether an object had a copy on a failed device, by placing it.
    fn is_placed_on_failed(&self, object: ObjectId, set: &mut Vec<DeviceId>) -> bool {
        self.ring.place(object, self.copies, |_| false, set);
        set.iter().any(|&device| self.failed.contains(device))
    }

    /// Which draws of an object may come to a failed device, a bit each from the lowest; the last bit stands for all further ones.
    ///
    /// It tells without a branch, since none could be foreseen.
    #[inline]
    fn near_draws(&self, object: ObjectId) -> u64 {
        let (mut near, mut word) = (0, 0);
        for draw in 0..self.copies {
            word = if draw % 2 == 0 { draw_word(object.get(), draw / 2) } else { word << 32 };
            let is_near = self.reach[draw.min(self.reach.len() - 1)].is_near((word >> 32) as u32);
            near |= u64::from(is_near) << draw.min(63);
        }
        near
    }

    /// Whether an object had a copy on a failed device, of whose draws some may; `None` where only its placement tells.
    fn is_affected(&self, object: ObjectId, near: u64) -> Option<bool> {
        let mut answer = Some(false);
        let first = near.trailing_zeros() as usize;
        for draw in (first..self.copies).filter(|&draw| near >> draw.min(63) & 1 == 1) {
            let position = draw_position(object, draw);
            if self.reach[draw.min(self.reach.len() - 1)].contains(position) {
                // A draw's own device is taken, or was already.
                if self.ring.is_flat() && self.reach[0].contains(position) {
                    return Some(true);
                }
                answer = None;
            }
        }
        answer
    }

    /// Strikes, from the objects found, those of the undecided ones that had no copy on a failed device.
    ///
    /// No draw of theirs belongs to a failed device itself, where every device is a failure domain of its own: then they
    /// had none unless two draws meet. The lookups of all of them are made together, since each misses the cache.
    fn settle(&self, scratch: &mut RingScratch, found: &mut Vec<ObjectId>) {
        let RingScratch { undecided, positions, owners, before, .. } = scratch;
        let Some(&first) = undecided.first() else { return };
        positions.clear();
        if self.ring.is_flat() {
            let draws = |&index: &usize| (0..self.copies).map(move |draw| (index, draw));
            positions.extend(undecided.iter().flat_map(draws).map(|(index, draw)| draw_position(found[index], draw)));
        }
        owners.resize(positions.len(), 0);
        self.ring.table().owners(positions, owners);
        let mut rows = owners.chunks_exact(self.copies);
        let mut next = undecided.iter().peekable();
        let mut kept = first;
        for index in first..found.len() {
            let object = found[index];
            let is_kept = next.next_if_eq(&&index).is_none() || {
                let meet = rows.next().is_none_or(|row| (1..row.len()).any(|draw| row[..draw].contains(&row[draw])));
                meet && self.is_placed_on_failed(object, before)
            };
            found[kept] = object;
            kept += usize::from(is_kept);
        }
        found.truncate(kept);
    }
}

impl Inverse for RehashInverse {
    type Scratch = RingScratch;

    const LISTED: usize = LISTED;
    const LONG_RUN: u64 = LONG_RUN;

    fn affected_among(&self, objects: &[u64], scratch: &mut RingScratch, found: &mut Vec<ObjectId>) {
        self.search(objects, scratch, found);
    }

    fn affected_in(&self, run: Run, scratch: &mut RingScratch, found: &mut Vec<ObjectId>) {
        self.search(run, scratch, found);
    }

    fn relocate(&self, object: ObjectId, scratch: &mut RingScratch, relocation: &mut Relocation) {
        relocate((&self.ring, self.copies, &self.failed), object, scratch, relocation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Relocate = Box<dyn Fn(ObjectId, &mut Relocation)>;

    /// Holds an inverse to the forward answer on every one of `count` objects from `first`; returns how many it finds.
    fn equals_forward(ring: &HashRing, copies: usize, failed: &FailedSet, first: u64, count: u64) -> usize {
        let shared = Arc::new(ring.clone());
        let mut found = Vec::new();
        let run = Run { first, count, step: 1 };
        let relocate: Relocate = match ring.walk() {
            RingWalk::Rehash => {
                let inverse = RehashInverse::new(shared, copies, failed.clone());
                inverse.affected_in(run, &mut RingScratch::default(), &mut found);
                Box::new(move |object, relocation| inverse.relocate(object, &mut RingScratch::default(), relocation))
            }
            RingWalk::Successors => {
                let inverse = SuccessorInverse::new(shared, copies, failed.clone());
                inverse.affected_in(run, &mut RingScratch::default(), &mut found);
                Box::new(move |object, relocation| inverse.relocate(object, &mut RingScratch::default(), relocation))
            }
        };
        let (mut before, mut after, mut forward) = (Vec::new(), Vec::new(), Vec::new());
        let mut relocation = Relocation::default();
        for object in (first..first + count).map(ObjectId::new) {
            ring.place(object, copies, |_| false, &mut before);
            if !before.iter().any(|&device| failed.contains(device)) {
                continue;
            }
            forward.push(object);
            ring.place(object, copies, |device| failed.contains(device), &mut after);
            relocate(object, &mut relocation);
            let survivors: Vec<_> = before.iter().copied().filter(|&one| !failed.contains(one)).collect();
            let homes: Vec<_> = after.iter().copied().filter(|one| !before.contains(one)).collect();
            assert_eq!((&relocation.survivors, &relocation.homes), (&survivors, &homes));
            // Nobody leaves; where copies have positions of their own, survivors stand before the new homes.
            assert!(relocation.leaving.is_empty());
            if ring.walk() == RingWalk::Rehash {
                assert_eq!([survivors, homes].concat(), after);
            }
        }
        assert_eq!(found, forward);
        found.len()
    }

    #[test]
    fn the_inverse_equals_the_forward_answer_on_every_one_of_many_objects() {
        for walk in [RingWalk::Rehash, RingWalk::Successors] {
            // Two of 40 devices, and 50 of 1,024, hold a copy of about 3 x 2/40 = 3 x 50/1024 = 0.15 of the objects.
            let failed = FailedSet::new(40, &[DeviceId::new(7), DeviceId::new(31)]);
            let small = HashRing::new((0..40).collect(), 128, walk);
            let share = equals_forward(&small, 3, &failed, 1000, 300_000) as f64 / 300_000.0;
            assert!((share - 0.15).abs() < 0.03, "{share}");
            // All servers of a rack of 16 among 64 racks: a copy in 3/64 = 0.047 of the objects, and never two.
            let rack: Vec<DeviceId> = (160..176).map(DeviceId::new).collect();
            let failed = FailedSet::new(1024, &rack);
            let racks = HashRing::new((0..1024).map(|device| device / 16).collect(), 64, walk);
            let share = equals_forward(&racks, 3, &failed, 1 << 40, 300_000) as f64 / 300_000.0;
            assert!((share - 0.047).abs() < 0.015, "{share}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// The same on any ring, with any set of failed devices from none to all.
        #[test]
        fn the_inverse_equals_the_forward_answer(
            points_of in prop::collection::vec(0u32..40, 1..30), domains in 1u32..30, copies in 1usize..14,
            failed in prop::collection::vec(0u32..30, 0..40), first in 0u64..1 << 60
        ) {
            let devices = points_of.len() as u32;
            let failed: Vec<DeviceId> = failed.into_iter().map(|one| DeviceId::new(one % devices)).collect();
            let failed = FailedSet::new(devices as usize, &failed);
            for walk in [RingWalk::Rehash, RingWalk::Successors] {
                let domain_of = (0..devices).map(|device| device % domains).collect();
                let ring = HashRing::weighted(domain_of, &points_of, walk);
                equals_forward(&ring, copies, &failed, first, 2500);
            }
        }
    }
}
