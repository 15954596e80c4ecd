//! The inverse of placement: which objects a failure touches, without holding the population.
//!
//! The forward question, where each copy of an object is, asks for every object of a population in turn. The inverse
//! prepares an answer for one set of failed devices, so that an object that is not touched, as nearly all are, costs one
//! hash and one bit.

use std::sync::Arc;

use resilver_units::{DeviceId, GroupId, ObjectId};

use crate::layout::{GroupTable, Relocation, mix, object_group};
use crate::ring::{HashRing, RingWalk, copy_position};

/// Which devices failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedSet {
    failed: Vec<bool>,
}

impl FailedSet {
    /// The set of `failed` among `devices` devices.
    pub fn new(devices: usize, failed: &[DeviceId]) -> Self {
        let mut set = FailedSet { failed: vec![false; devices] };
        for device in failed {
            set.failed[device.index()] = true;
        }
        set
    }

    /// Whether a device failed.
    #[inline]
    pub fn contains(&self, device: DeviceId) -> bool {
        self.failed[device.index()]
    }

    /// The failed devices, in rising order.
    pub fn devices(&self) -> impl Iterator<Item = DeviceId> + '_ {
        (0..self.failed.len() as u32).map(DeviceId::new).filter(|&device| self.contains(device))
    }
}

/// Finds the objects that a set of failed devices touches, and where they go.
pub trait Inverse: Sync {
    /// Working memory of one thread.
    type Scratch: Default;

    /// Appends, in order, those of the `count` objects from `first` that had a copy on a failed device.
    fn affected_in(&self, first: ObjectId, count: u64, scratch: &mut Self::Scratch, found: &mut Vec<ObjectId>);

    /// Where the copies of an affected object go.
    fn relocate(&self, object: ObjectId, scratch: &mut Self::Scratch, relocation: &mut Relocation);
}

/// One bit for each of a range of numbers.
#[derive(Clone, Debug)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(count: usize) -> Self {
        Bits(vec![0; count.div_ceil(64)])
    }

    fn set(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    #[inline]
    fn get(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }
}

/// Positions of a ring as sorted intervals, with a bit for each stretch of the ring that settles most positions.
///
/// `BITS` leading bits of a position number its stretch. They are part of the type, so that the test of one position has
/// no shift to load.
#[derive(Clone, Debug)]
struct Stretches<const BITS: u32> {
    /// Sorted intervals, with both ends included.
    intervals: Vec<(u32, u32)>,
    /// One bit for each stretch of positions: whether an interval lies in it, whole or in part.
    touched: Bits,
}

impl<const BITS: u32> Stretches<BITS> {
    fn new(intervals: Vec<(u32, u32)>) -> Self {
        let mut touched = Bits::new(1 << BITS);
        for &(start, end) in &intervals {
            for stretch in Self::stretch_of(start)..=Self::stretch_of(end) {
                touched.set(stretch);
            }
        }
        Stretches { intervals, touched }
    }

    #[inline]
    fn stretch_of(position: u32) -> usize {
        (position >> (u32::BITS - BITS)) as usize
    }

    /// Whether a position lies in one of the intervals.
    #[inline]
    fn contains(&self, position: u32) -> bool {
        if !self.touched.get(Self::stretch_of(position)) {
            return false;
        }
        let next = self.intervals.partition_point(|&(start, _)| start <= position);
        next > 0 && position <= self.intervals[next - 1].1
    }
}

/// The inverse of placement by groups: the sets of the affected groups before and after the failure.
#[derive(Clone, Debug)]
pub struct GroupInverse {
    groups: u32,
    affected: Bits,
    /// For each group, its row among the affected groups; meaningless for the others.
    row_of: Vec<u32>,
    rows: Vec<(GroupId, Relocation)>,
}

impl GroupInverse {
    /// Compares the sets before the failure with those that `after` gives for the affected groups.
    ///
    /// Groups without a failed device keep their sets: placement turns only away from devices that failed.
    pub fn new(before: &GroupTable, failed: &FailedSet, mut after: impl FnMut(GroupId, &mut Vec<DeviceId>)) -> Self {
        let groups = before.len();
        let mut inverse = GroupInverse {
            groups,
            affected: Bits::new(groups as usize),
            row_of: vec![0; groups as usize],
            rows: Vec::new(),
        };
        let mut set = Vec::new();
        for group in (0..groups).map(GroupId::new) {
            let old = before.set(group);
            if !old.iter().any(|&device| failed.contains(device)) {
                continue;
            }
            set.clear();
            after(group, &mut set);
            let mut relocation = Relocation::default();
            relocation.set(old, &set, |device| failed.contains(device));
            inverse.affected.set(group.index());
            inverse.row_of[group.index()] = inverse.rows.len() as u32;
            inverse.rows.push((group, relocation));
        }
        inverse
    }

    /// The number of groups.
    pub fn group_count(&self) -> u32 {
        self.groups
    }

    /// The affected groups in rising order, with where their copies go.
    pub fn affected_groups(&self) -> &[(GroupId, Relocation)] {
        &self.rows
    }
}

impl Inverse for GroupInverse {
    type Scratch = ();

    #[inline]
    fn affected_in(&self, first: ObjectId, count: u64, _: &mut (), found: &mut Vec<ObjectId>) {
        for object in (first.get()..first.get() + count).map(ObjectId::new) {
            if self.affected.get(object_group(object, self.groups).index()) {
                found.push(object);
            }
        }
    }

    fn relocate(&self, object: ObjectId, _: &mut (), relocation: &mut Relocation) {
        let group = object_group(object, self.groups);
        relocation.clone_from(&self.rows[self.row_of[group.index()] as usize].1);
    }
}

/// The inverse of placement of each object on a hash ring whose copies follow one another along the ring.
#[derive(Clone, Debug)]
pub struct SuccessorInverse {
    ring: Arc<HashRing>,
    copies: usize,
    failed: FailedSet,
    /// Positions from which a failed device is reached.
    affected: Stretches<STRETCH_BITS>,
}

/// Bits of a position that number its stretch: 2^21 stretches are a table of 256 KiB, which stays in the cache.
const STRETCH_BITS: u32 = 21;

impl SuccessorInverse {
    /// Prepares the answer for one set of failed devices.
    ///
    /// # Panics
    /// When the ring's copies do not follow one another.
    pub fn new(ring: Arc<HashRing>, copies: usize, failed: FailedSet) -> Self {
        assert_eq!(ring.walk(), RingWalk::Successors, "only successors can be listed by stretches of the ring");
        let intervals = ring.affected_intervals(copies, |device| failed.contains(device));
        SuccessorInverse { ring, copies, failed, affected: Stretches::new(intervals) }
    }
}

impl Inverse for SuccessorInverse {
    type Scratch = (Vec<DeviceId>, Vec<DeviceId>);

    #[inline]
    fn affected_in(&self, first: ObjectId, count: u64, _: &mut Self::Scratch, found: &mut Vec<ObjectId>) {
        for object in first.get()..first.get() + count {
            // Spelled out as in `object_position`, so that a run of objects shares one loop.
            if self.affected.contains((mix(object) >> 32) as u32) {
                found.push(ObjectId::new(object));
            }
        }
    }

    fn relocate(&self, object: ObjectId, scratch: &mut Self::Scratch, relocation: &mut Relocation) {
        relocate_on_ring(&self.ring, self.copies, &self.failed, object, scratch, relocation);
    }
}

fn relocate_on_ring(
    ring: &HashRing,
    copies: usize,
    failed: &FailedSet,
    object: ObjectId,
    (before, after): &mut (Vec<DeviceId>, Vec<DeviceId>),
    relocation: &mut Relocation,
) {
    ring.place(object, copies, |_| false, before);
    ring.place(object, copies, |device| failed.contains(device), after);
    relocation.set(before, after, |device| failed.contains(device));
}

/// The inverse of placement of each object on a hash ring on which every copy has a position of its own.
///
/// Whether a failed device owns a position is one bit of a table that stays in the first-level cache. An object's first
/// draws, one a copy, are always looked at by placement, so a bit among them settles it. A further draw counts only when
/// earlier draws fell into one failure domain; where one of those has the bit, the object is placed in full.
#[derive(Clone, Debug)]
pub struct RehashInverse {
    ring: Arc<HashRing>,
    copies: usize,
    failed: FailedSet,
    /// How many draws are looked at, or `None` where every object is placed in full.
    draws: Option<usize>,
    /// Positions that failed devices own.
    owned: Stretches<OWNED_STRETCH_BITS>,
}

/// Bits of a position that number its stretch in [`RehashInverse`]: a table of 8 KiB.
const OWNED_STRETCH_BITS: u32 = 16;
/// The largest chance, for one object, of needing more draws than are looked at.
pub(crate) const NEGLIGIBLE: f64 = 1e-18;
/// Most draws looked at; where more would be needed, rings are small and placing every object is cheap.
const DRAWS_MAX: usize = 16;

impl RehashInverse {
    /// Prepares the answer for one set of failed devices.
    ///
    /// # Panics
    /// When the ring's copies follow one another instead.
    pub fn new(ring: Arc<HashRing>, copies: usize, failed: FailedSet) -> Self {
        assert_eq!(ring.walk(), RingWalk::Rehash, "every copy must have a position of its own");
        let owned = Stretches::new(ring.affected_intervals(1, |device| failed.contains(device)));
        let draws = sufficient_draws(ring.largest_domain_share(), copies);
        RehashInverse { ring, copies, failed, draws, owned }
    }

    /// Whether an object had a copy on a failed device, by placing it.
    fn is_placed_on_failed(&self, object: ObjectId, set: &mut Vec<DeviceId>) -> bool {
        self.ring.place(object, self.copies, |_| false, set);
        set.iter().any(|&device| self.failed.contains(device))
    }

    /// Whether an object had a copy on a failed device.
    #[inline]
    fn is_affected(&self, object: ObjectId, draws: usize, set: &mut Vec<DeviceId>) -> bool {
        let is_hit = (0..draws as u64).any(|draw| self.owned.contains(copy_position(object, draw)));
        is_hit && self.is_placed_on_failed(object, set)
    }
}

/// How many draws to look at, so that placement needs a further one with a chance of at most [`NEGLIGIBLE`].
///
/// Placement needs draw number d (from 0) only if the d draws before it fell into fewer domains than there are copies,
/// that is, all into some set of `copies - 1` domains. With n = 1 / `largest_share` equal domains there are at most
/// n^(copies - 1) such sets, and d draws all fall into a given one with the chance ((copies - 1) / n)^d.
pub(crate) fn sufficient_draws(largest_share: f64, copies: usize) -> Option<usize> {
    let others = copies.saturating_sub(1) as f64;
    let sets = (1.0 / largest_share).powf(others);
    (copies.max(1)..=DRAWS_MAX).find(|&draws| sets * (others * largest_share).powi(draws as i32) <= NEGLIGIBLE)
}

impl Inverse for RehashInverse {
    type Scratch = (Vec<DeviceId>, Vec<DeviceId>);

    #[inline]
    fn affected_in(&self, first: ObjectId, count: u64, scratch: &mut Self::Scratch, found: &mut Vec<ObjectId>) {
        let objects = (first.get()..first.get() + count).map(ObjectId::new);
        match self.draws {
            Some(draws) => found.extend(objects.filter(|&object| self.is_affected(object, draws, &mut scratch.0))),
            None => found.extend(objects.filter(|&object| self.is_placed_on_failed(object, &mut scratch.0))),
        }
    }

    fn relocate(&self, object: ObjectId, scratch: &mut Self::Scratch, relocation: &mut Relocation) {
        relocate_on_ring(&self.ring, self.copies, &self.failed, object, scratch, relocation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds an inverse to the forward answer on every one of 50,000 objects.
    fn equals_forward(ring: &HashRing, inverse: &impl Inverse, failed: &FailedSet) {
        let (mut found, mut scratch) = (Vec::new(), Default::default());
        inverse.affected_in(ObjectId::new(1000), 50_000, &mut scratch, &mut found);
        let mut set = Vec::new();
        let forward: Vec<ObjectId> = (1000..51_000)
            .map(ObjectId::new)
            .filter(|&object| {
                ring.place(object, 3, |_| false, &mut set);
                set.iter().any(|&device| failed.contains(device))
            })
            .collect();
        assert_eq!(found, forward);
        // Two of 40 devices, and 50 of 1,024, hold a copy of about 3 x 2/40 = 3 x 50/1024 = 0.15 of the objects.
        assert!((found.len() as f64 / 50_000.0 - 0.15).abs() < 0.03);
        let mut relocation = Relocation::default();
        for &object in &found {
            inverse.relocate(object, &mut scratch, &mut relocation);
            assert_eq!(relocation.survivors.len() + relocation.lost as usize, 3);
            assert_eq!(relocation.homes.len(), relocation.lost as usize);
        }
    }

    #[test]
    fn the_inverse_of_a_ring_equals_the_forward_answer_on_every_object() {
        let failed = FailedSet::new(40, &[DeviceId::new(7), DeviceId::new(31)]);
        let successors = Arc::new(HashRing::new((0..40).collect(), 128, RingWalk::Successors));
        equals_forward(&successors, &SuccessorInverse::new(successors.clone(), 3, failed.clone()), &failed);
        let rehash = Arc::new(HashRing::new((0..40).collect(), 128, RingWalk::Rehash));
        equals_forward(&rehash, &RehashInverse::new(rehash.clone(), 3, failed.clone()), &failed);
    }

    #[test]
    fn a_ring_of_many_devices_is_looked_at_by_few_draws_to_the_same_answer() {
        // 1,024 equal shares: n^2 (2/n)^d <= 1e-18 needs d = 9: 1,048,576 x (1/512)^9 = 4.3e-19. Shares of a ring of 64
        // points a device are uneven, and the largest, about 1.5 times the mean, needs a draw more.
        let ring = Arc::new(HashRing::new((0..1024).collect(), 64, RingWalk::Rehash));
        let failed = FailedSet::new(1024, &(0..50).map(|i| DeviceId::new(i * 20)).collect::<Vec<_>>());
        let inverse = RehashInverse::new(ring.clone(), 3, failed.clone());
        assert!((9..=11).contains(&inverse.draws.unwrap()), "{:?}", inverse.draws);
        equals_forward(&ring, &inverse, &failed);
    }

    #[test]
    fn a_small_ring_is_placed_object_by_object() {
        assert_eq!(sufficient_draws(1.0 / 8.0, 3), None);
        assert_eq!(sufficient_draws(1.0 / 1024.0, 3), Some(9));
        assert_eq!(sufficient_draws(1.0 / 1024.0, 1), Some(1));
    }

    #[test]
    fn the_groups_inverse_equals_the_forward_answer_on_every_object() {
        // Sixteen groups over eight devices: group g is on g, g + 1 and g + 3 (mod 8); device d is replaced by d + 4.
        let set = |group: u32| [group, group + 1, group + 3].map(|d| DeviceId::new(d % 8));
        let mut before = GroupTable::new();
        for group in 0..16 {
            before.push(&set(group));
        }
        let failed = FailedSet::new(8, &[DeviceId::new(2)]);
        let inverse = GroupInverse::new(&before, &failed, |group, after| {
            let replaced = |d: DeviceId| if d.get() == 2 { DeviceId::new(6) } else { d };
            after.extend(set(group.get()).map(replaced));
        });
        // Device 2 is in groups 2, 1 and 7 (7 + 3 = 10), and in those eight further on.
        let groups: Vec<u32> = inverse.affected_groups().iter().map(|(group, _)| group.get()).collect();
        assert_eq!(groups, [1, 2, 7, 9, 10, 15]);
        let mut found = Vec::new();
        inverse.affected_in(ObjectId::new(0), 10_000, &mut (), &mut found);
        let forward: Vec<ObjectId> =
            (0..10_000).map(ObjectId::new).filter(|&object| groups.contains(&object_group(object, 16).get())).collect();
        assert_eq!(found, forward);
        let mut relocation = Relocation::default();
        inverse.relocate(found[0], &mut (), &mut relocation);
        assert_eq!(relocation.homes, [DeviceId::new(6)]);
    }
}
