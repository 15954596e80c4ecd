//! A hash ring with virtual nodes: each device owns many pseudo-random points of a 32-bit ring.
//!
//! A copy goes to the device of the first point at or after the copy's position (Karger et al. 1997; with virtual nodes as
//! in Carns et al. 2016, section V-B). Where the further copies of an object go is a choice of two, [`RingWalk`].

mod batch;
mod draws;
#[cfg(test)]
mod tests;

use std::ops::Range;

use resilver_crush::PointTable;
use resilver_units::{DeviceId, ObjectId};
use serde::Deserialize;

use crate::layout::{object_position, point_position};

pub use batch::NO_DEVICE;
#[cfg(target_arch = "x86_64")]
pub(crate) use draws::word_offset;
pub(crate) use draws::{draw_position, draw_word};

/// Steps along the ring after which a walk looks whether there is anything left to find.
const LONG_WALK: usize = 256;

/// Where the further copies of an object go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RingWalk {
    /// Every copy has a position of its own, hashed from the object and the copy's number; where that meets a failure
    /// domain that is used, it goes on along the ring. A copy whose device failed goes to one more position of the
    /// object, the spare, and from there along the ring. It spreads what a device held over all others, object by object.
    #[default]
    Rehash,
    /// Further copies go on along the ring to the next devices in failure domains not used yet. What a device held goes
    /// to the few devices whose points follow its own.
    Successors,
}

/// A hash ring with virtual nodes.
#[derive(Clone, Debug)]
pub struct HashRing {
    table: PointTable,
    /// The failure domain of each device.
    domain_of: Vec<u32>,
    /// Whether every device is a failure domain of its own.
    is_flat: bool,
    walk: RingWalk,
}

impl HashRing {
    /// A ring on which device number i, in failure domain `domain_of[i]`, owns `points_per_device` points.
    pub fn new(domain_of: Vec<u32>, points_per_device: u32, walk: RingWalk) -> Self {
        let points_of = vec![points_per_device; domain_of.len()];
        HashRing::weighted(domain_of, &points_of, walk)
    }

    /// A ring on which device number i, in failure domain `domain_of[i]`, owns `points_of[i]` points: its weight.
    ///
    /// A device's points depend on nothing else, and a device that gains points keeps those it had. So a change of one
    /// device's points moves data only to it or from it, where every device is a failure domain of its own.
    ///
    /// # Panics
    /// When there is not one number of points a device.
    ///
    /// ```
    /// use resilver_placement::ring::{HashRing, RingWalk};
    ///
    /// let ring = HashRing::weighted(vec![0, 1, 2], &[100, 200, 0], RingWalk::Rehash);
    /// assert_eq!(ring.point_count(), 300);
    /// ```
    pub fn weighted(domain_of: Vec<u32>, points_of: &[u32], walk: RingWalk) -> Self {
        assert_eq!(domain_of.len(), points_of.len(), "every device has a number of points");
        let points = (0u32..)
            .zip(points_of)
            .flat_map(|(device, &count)| (0..count).map(move |point| (point_position(device, point, 0), device)));
        let mut domains = domain_of.clone();
        domains.sort_unstable();
        let is_flat = domains.windows(2).all(|pair| pair[0] != pair[1]);
        HashRing { table: PointTable::new(points), domain_of, is_flat, walk }
    }

    /// The number of points on the ring.
    pub fn point_count(&self) -> usize {
        self.table.len()
    }

    /// The points: which device owns each position.
    pub fn table(&self) -> &PointTable {
        &self.table
    }

    /// Where the further copies of an object go.
    pub fn walk(&self) -> RingWalk {
        self.walk
    }

    /// Whether every device is a failure domain of its own.
    pub(crate) fn is_flat(&self) -> bool {
        self.is_flat
    }

    /// Finds up to `copies` devices for an object, in order, leaving out the devices for which `failed` is true.
    ///
    /// Fewer are found only when the ring has too few failure domains.
    pub fn place(&self, object: ObjectId, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        found.clear();
        if self.table.is_empty() {
            return;
        }
        if self.walk == RingWalk::Successors {
            let first = self.table.index_at(object_position(object));
            return self.walk_from(first, copies, failed, found);
        }
        for draw in 0..copies {
            let device = self.owner(draw_position(object, draw));
            if !self.is_domain_used(device, found) {
                found.push(device);
            } else {
                self.walk_from(self.table.index_at(draw_position(object, draw)), found.len() + 1, |_| false, found);
            }
        }
        self.replace_failed(object, copies, failed, found);
    }

    /// Where copies have positions of their own: turns the set of an object of which no device failed into the set
    /// after the failure.
    pub fn replace_failed(
        &self,
        object: ObjectId,
        copies: usize,
        failed: impl Fn(DeviceId) -> bool,
        found: &mut Vec<DeviceId>,
    ) {
        found.retain(|&device| !failed(device));
        if found.len() < copies && !self.table.is_empty() {
            let spare = self.table.index_at(draw_position(object, copies));
            self.walk_from(spare, copies, failed, found);
        }
    }

    /// The devices of `copies` copies of each of a range of objects, none failed: row by row, `copies` numbers each.
    ///
    /// It is [`Self::place`] of every object, faster by far. A row that comes up short ends in [`NO_DEVICE`].
    ///
    /// # Panics
    /// When `rows` has no room for exactly the devices of all objects.
    pub fn place_batch(&self, objects: Range<u64>, copies: usize, rows: &mut [u32]) {
        batch::place_batch(self, objects, copies, rows);
    }

    /// The device of the first point at or after a position.
    #[inline]
    pub(crate) fn owner(&self, position: u32) -> DeviceId {
        DeviceId::new(self.table.owner(position))
    }

    #[inline]
    pub(crate) fn is_domain_used(&self, device: DeviceId, found: &[DeviceId]) -> bool {
        let domain = self.domain_of[device.index()];
        found.iter().any(|other| self.domain_of[other.index()] == domain)
    }

    /// Whether a device has not failed and lies in a failure domain not used yet.
    fn is_any_left(&self, failed: &impl Fn(DeviceId) -> bool, found: &[DeviceId]) -> bool {
        (0..self.domain_of.len() as u32).map(DeviceId::new).any(|one| !failed(one) && !self.is_domain_used(one, found))
    }

    /// Adds devices along the ring, from a point on, until there are `copies`.
    fn walk_from(&self, first: usize, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        if copies == found.len() {
            return;
        }
        for (step, index) in (first..self.table.len()).chain(0..first).enumerate() {
            // A walk this long is rare, unless no device is left: then it would go all around the ring.
            if step % LONG_WALK == LONG_WALK - 1 && !self.is_any_left(&failed, found) {
                return;
            }
            let device = DeviceId::new(self.table.item(index));
            if failed(device) || self.is_domain_used(device, found) {
                continue;
            }
            found.push(device);
            if found.len() == copies {
                return;
            }
        }
    }

    /// The stretches of the ring from which a walk of `copies` copies comes to a failed device, as sorted intervals
    /// `[start, end]` of positions, both included.
    pub(crate) fn affected_intervals(&self, copies: usize, failed: impl Fn(DeviceId) -> bool) -> Vec<(u32, u32)> {
        let mut intervals: Vec<(u32, u32)> = Vec::new();
        let mut found = Vec::with_capacity(copies);
        let mut previous: Option<u32> = None;
        let mut last = 0;
        let mut is_first_affected = false;
        for (index, (position, _)) in self.table.iter().enumerate() {
            last = position;
            let start = match previous.replace(position) {
                None => 0,
                Some(before) if before == position => continue,
                Some(before) => before + 1,
            };
            found.clear();
            self.walk_from(index, copies, |_| false, &mut found);
            if found.iter().any(|&device| failed(device)) {
                is_first_affected |= index == 0;
                match intervals.last_mut() {
                    Some(before) if before.1.checked_add(1) == Some(start) => before.1 = position,
                    _ => intervals.push((start, position)),
                }
            }
        }
        // The first point also serves the positions past the last one, around the end of the ring.
        if is_first_affected && last < u32::MAX {
            intervals.push((last + 1, u32::MAX));
        }
        intervals
    }
}
