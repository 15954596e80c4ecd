//! The least distance by exclusive or: an object is on the devices whose identifiers are nearest to its own.
//!
//! Source: Maymounkov and Mazieres, "Kademlia" (IPTPS 2002), whose metric it is; `xor` of the ch-placement library (Carns et
//! al. 2016, section IV) places data by it. A device has many identifiers, as it has many points on a ring, since the
//! share of one identifier is as uneven as the tree of them. Failures, removals and additions move only what they must.

use resilver_units::{DeviceId, ObjectId};
use serde::Deserialize;

use super::{Build, Domains, ObjectLayout, Over, draw};
use crate::layout::point_position;
use resilver_crush::MapError;

/// Placement by the distance between identifiers.
#[derive(Clone, Debug)]
pub struct Xor {
    /// Identifiers in rising order, each with its device.
    points: Vec<(u32, u32)>,
    /// How many leading bits of an identifier number its stretch: about one identifier a stretch.
    bits: u32,
    /// Where the identifiers of each stretch begin, and at last where the last ones end.
    starts: Vec<u32>,
    domains: Domains,
}

/// Bits of an identifier.
const BITS: u32 = 32;

impl Xor {
    /// A layout in which every device has `points` pseudo-random identifiers: the points it would have on a ring.
    ///
    /// # Examples
    /// ```
    /// use resilver_placement::layouts::{Domains, ObjectLayout, Xor};
    /// use resilver_units::ObjectId;
    /// let mut found = Vec::new();
    /// Xor::new(Domains::each_its_own(9), 64).place(ObjectId::new(7), 3, |_| false, &mut found);
    /// assert_eq!(found.len(), 3);
    /// ```
    #[must_use]
    pub fn new(domains: Domains, points: u32) -> Self {
        let devices = domains.devices() as u32;
        let of_device = |device| (0..points).map(move |point| (point_position(device, point, 0), device));
        let mut points: Vec<(u32, u32)> = (0..devices).flat_map(of_device).collect();
        points.sort_unstable();
        Xor::over(points, domains)
    }

    /// A layout over identifiers in rising order.
    fn over(points: Vec<(u32, u32)>, domains: Domains) -> Self {
        let bits = points.len().max(1).ilog2();
        let mut starts = vec![0; (1 << bits) + 1];
        for &(identifier, _) in &points {
            starts[stretch_of(identifier, bits) + 1] += 1;
        }
        for stretch in 1..starts.len() {
            starts[stretch] += starts[stretch - 1];
        }
        Xor { points, bits, starts, domains }
    }

    /// The devices of all identifiers, the nearest to `target` first; equal identifiers by device.
    fn nearest(&self, target: u32) -> Nearest<'_> {
        let mut nearest = Nearest { xor: self, target, level: 0, pending: [(0, 0, 0); BITS as usize + 1], depth: 0 };
        let stretch = stretch_of(target, self.bits);
        nearest.push((self.starts[stretch], self.starts[stretch + 1], BITS - self.bits));
        nearest
    }
}

/// The number of an identifier's stretch.
#[inline]
fn stretch_of(identifier: u32, bits: u32) -> usize {
    (u64::from(identifier) >> (BITS - bits)) as usize
}

/// A walk through the tree of identifiers that takes, at every bit, the side of the target first.
///
/// It begins with the target's own stretch, and goes on with its sibling, the sibling of both, and so on: the index of
/// stretches gives each of them at once, where a walk from the root would have to search for every branch on its way.
struct Nearest<'a> {
    xor: &'a Xor,
    target: u32,
    /// How many siblings were visited.
    level: u32,
    /// Ranges of identifiers still to be visited, the next one last: from, to, and the bits in which they may differ. Each
    /// differs in fewer bits than the one below it, so there are at most as many as bits, and one.
    pending: [(u32, u32, u32); BITS as usize + 1],
    depth: usize,
}

impl Iterator for Nearest<'_> {
    type Item = DeviceId;

    fn next(&mut self) -> Option<DeviceId> {
        loop {
            if self.depth == 0 {
                if self.level == self.xor.bits {
                    return None;
                }
                self.climb();
                continue;
            }
            self.depth -= 1;
            let (from, to, bits) = self.pending[self.depth];
            if bits == 0 || to - from == 1 {
                // What is left of a range of equal identifiers waits where the range did.
                self.push((from + 1, to, 0));
                return Some(DeviceId::new(self.xor.points[from as usize].1));
            }
            let bit = 1 << (bits - 1);
            let range = &self.xor.points[from as usize..to as usize];
            let middle = from + range.partition_point(|&(identifier, _)| identifier & bit == 0) as u32;
            let (zeros, ones) = ((from, middle, bits - 1), (middle, to, bits - 1));
            let (near, far) = if self.target & bit == 0 { (zeros, ones) } else { (ones, zeros) };
            self.push(far);
            self.push(near);
        }
    }
}

impl Nearest<'_> {
    /// Goes on with the stretches that differ from the target's in one bit more, counted from the last.
    #[inline]
    fn climb(&mut self) {
        let first = ((stretch_of(self.target, self.xor.bits) >> self.level) ^ 1) << self.level;
        let end = first + (1 << self.level);
        self.push((self.xor.starts[first], self.xor.starts[end], BITS - self.xor.bits + self.level));
        self.level += 1;
    }

    #[inline]
    fn push(&mut self, range: (u32, u32, u32)) {
        if range.0 < range.1 {
            self.pending[self.depth] = range;
            self.depth += 1;
        }
    }
}

/// The least distance by exclusive or by its keys.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XorKeys {
    /// Identifiers a device.
    ring_points: u32,
}

impl Build for XorKeys {
    type Layout = Xor;

    fn build(self, over: Over<'_>) -> Result<Xor, MapError> {
        Ok(Xor::new(over.domains, self.ring_points))
    }
}

impl ObjectLayout for Xor {
    fn devices(&self) -> usize {
        self.domains.devices()
    }

    #[inline]
    fn place(&self, object: ObjectId, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        found.clear();
        self.domains.take(self.nearest((draw(object, 0) >> 32) as u32), copies, failed, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_equals_a_sort_by_distance() {
        let xor = Xor::new(Domains::each_its_own(13), 37);
        for step in 0..500u32 {
            let target = step.wrapping_mul(0x9e37_79b9);
            let mut sorted = xor.points.clone();
            sorted.sort_by_key(|&(identifier, device)| (identifier ^ target, device));
            let expected: Vec<u32> = sorted.iter().map(|&(_, device)| device).collect();
            let walked: Vec<u32> = xor.nearest(target).map(|device| device.get()).collect();
            assert_eq!(walked, expected);
        }
    }

    #[test]
    fn equal_identifiers_come_by_device() {
        let xor = Xor::over(vec![(5, 0), (5, 1), (5, 2), (7, 1)], Domains::each_its_own(3));
        let walked: Vec<u32> = xor.nearest(4).map(|device| device.get()).collect();
        assert_eq!(walked, [0, 1, 2, 1]);
    }
}
