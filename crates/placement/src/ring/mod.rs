//! A hash ring with virtual nodes: each device owns many pseudo-random points of a 32-bit ring.
//!
//! A copy goes to the device of the first point at or after the copy's position (Karger et al. 1997; with virtual nodes as
//! in Carns et al. 2016, section V-B). Where the further copies of an object go is a choice of two, [`RingWalk`].

mod table;

pub use table::PointTable;

use resilver_units::{DeviceId, ObjectId};

use crate::layout::{mix, object_position};

/// How many positions beyond one a copy are tried before the search goes on along the ring.
const EXTRA_DRAWS: usize = 50;

/// Where the further copies of an object go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RingWalk {
    /// Every copy has a position of its own, hashed from the object and the copy's number; a copy that meets a device
    /// that failed, or a failure domain that is used, tries the next number. This is how the authors' CRUSH bucket works
    /// (`bucket_vring_choose` in the vring patch of their public ch-placement repository), and it spreads what a
    /// device held over all others, object by object.
    #[default]
    Rehash,
    /// Further copies go on along the ring to the next devices in failure domains not used yet. What a device held goes
    /// to the few devices whose points follow its own.
    Successors,
}

/// One point of the ring: 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    position: u32,
    device: u32,
}

/// A hash ring with virtual nodes.
#[derive(Clone, Debug)]
pub struct HashRing {
    /// Sorted by position, then by device, so that equal positions have one order; at the end a copy of the first device's
    /// point, which closes the ring.
    points: Vec<Point>,
    /// For each value of a position's leading bits, the first point at or after the start of that stretch.
    stretch_start: Vec<u32>,
    /// How far a position is shifted to give its stretch.
    stretch_shift: u32,
    /// The failure domain of each device.
    domain_of: Vec<u32>,
    walk: RingWalk,
}

impl HashRing {
    /// A ring on which device number i, in failure domain `domain_of[i]`, owns `points_per_device` points.
    pub fn new(domain_of: Vec<u32>, points_per_device: u32, walk: RingWalk) -> Self {
        let mut points = Vec::with_capacity(domain_of.len() * points_per_device as usize);
        for device in 0..domain_of.len() as u32 {
            for point in 0..points_per_device {
                let position = (mix((u64::from(device) << 32) | u64::from(point)) >> 32) as u32;
                points.push(Point { position, device });
            }
        }
        points.sort_unstable();
        // Positions past the last point belong to the first one; a point at the very end stands for that.
        if let Some(&first) = points.first() {
            points.push(Point { position: u32::MAX, device: first.device });
        }
        // About one stretch a point: the first or second point looked at is nearly always the one.
        let stretch_bits = points.len().next_power_of_two().trailing_zeros().clamp(1, 24);
        let stretch_shift = 32 - stretch_bits;
        let mut stretch_start = Vec::with_capacity(1 << stretch_bits);
        let mut next = 0;
        for stretch in 0..1u64 << stretch_bits {
            while next + 1 < points.len() && u64::from(points[next].position) < stretch << stretch_shift {
                next += 1;
            }
            stretch_start.push(next as u32);
        }
        HashRing { points, stretch_start, stretch_shift, domain_of, walk }
    }

    /// The number of points on the ring.
    pub fn point_count(&self) -> usize {
        self.points.len().saturating_sub(1)
    }

    /// Where the further copies of an object go.
    pub fn walk(&self) -> RingWalk {
        self.walk
    }

    /// Finds up to `copies` devices for an object, in order, leaving out the devices for which `failed` is true.
    ///
    /// Fewer are found only when the ring has too few failure domains.
    pub fn place(&self, object: ObjectId, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        found.clear();
        let mut position = object_position(object);
        if self.walk == RingWalk::Rehash {
            for draw in 0..copies + EXTRA_DRAWS {
                position = copy_position(object, draw as u64);
                let device = self.owner(position);
                if !failed(device) && !self.is_domain_used(device, found) {
                    found.push(device);
                }
                if found.len() == copies {
                    return;
                }
            }
        }
        self.walk_from(self.first_point(position), copies, failed, found);
    }

    /// The largest share of the ring that one failure domain owns, from 0 to 1.
    pub(crate) fn largest_domain_share(&self) -> f64 {
        let mut owned = vec![0u64; self.domain_of.iter().max().map_or(0, |&domain| domain as usize + 1)];
        let mut previous = 0;
        for point in &self.points {
            owned[self.domain_of[point.device as usize] as usize] += u64::from(point.position) - previous;
            previous = u64::from(point.position);
        }
        owned.into_iter().max().unwrap_or(0) as f64 / f64::from(u32::MAX)
    }

    /// The device of the first point at or after a position.
    #[inline]
    pub(crate) fn owner(&self, position: u32) -> DeviceId {
        DeviceId::new(self.points[self.first_point(position)].device)
    }

    #[inline]
    pub(crate) fn is_domain_used(&self, device: DeviceId, found: &[DeviceId]) -> bool {
        let domain = self.domain_of[device.index()];
        found.iter().any(|other| self.domain_of[other.index()] == domain)
    }

    /// The index of the first point at or after a position.
    #[inline]
    fn first_point(&self, position: u32) -> usize {
        let mut index = self.stretch_start[(position >> self.stretch_shift) as usize] as usize;
        // The first step is taken without a branch, which would be mispredicted every other time.
        index += usize::from(self.points[index].position < position);
        while self.points[index].position < position {
            index += 1;
        }
        index
    }

    /// Adds devices along the ring, from a point on, until there are `copies`.
    fn walk_from(&self, first: usize, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        if copies == found.len() {
            return;
        }
        let (points, _) = self.points.split_at(self.point_count());
        let first = if first == points.len() { 0 } else { first };
        for point in points[first..].iter().chain(&points[..first]) {
            let device = DeviceId::new(point.device);
            if failed(device) || self.is_domain_used(device, found) {
                continue;
            }
            found.push(device);
            if found.len() == copies {
                return;
            }
        }
    }

    /// With [`RingWalk::Successors`], the stretches of the ring from which an object has a copy on a failed device, as
    /// sorted intervals `[start, end]` of positions, both included.
    pub(crate) fn affected_intervals(&self, copies: usize, failed: impl Fn(DeviceId) -> bool) -> Vec<(u32, u32)> {
        let mut intervals: Vec<(u32, u32)> = Vec::new();
        let mut found = Vec::with_capacity(copies);
        for (index, point) in self.points[..self.point_count()].iter().enumerate() {
            let after_previous = match index.checked_sub(1).map(|previous| self.points[previous].position) {
                // The first point also serves the positions past the last one, around the end of the ring.
                None => 0,
                Some(position) if position == point.position => continue,
                Some(position) => position + 1,
            };
            found.clear();
            self.walk_from(index, copies, |_| false, &mut found);
            if found.iter().any(|&device| failed(device)) {
                intervals.push((after_previous, point.position));
                if index == 0 {
                    let last = self.points[self.point_count() - 1].position;
                    if last < u32::MAX {
                        intervals.push((last + 1, u32::MAX));
                    }
                }
            }
        }
        intervals.sort_unstable();
        intervals
    }
}

/// The position of an object's copy; that of its first copy is the object's own.
#[inline]
pub(crate) fn copy_position(object: ObjectId, copy: u64) -> u32 {
    // Copy 0 must give the object's own position, so its number is mixed in by a product that is zero for it.
    (mix(object.get() ^ copy.wrapping_mul(0xd6e8_feb8_6659_fd93)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn flat(devices: u32) -> HashRing {
        HashRing::new((0..devices).collect(), 64, RingWalk::Successors)
    }

    fn rehashed(devices: u32) -> HashRing {
        HashRing { walk: RingWalk::Rehash, ..flat(devices) }
    }

    fn place(ring: &HashRing, object: u64, copies: usize, failed: &[u32]) -> Vec<u32> {
        let mut found = Vec::new();
        ring.place(ObjectId::new(object), copies, |device| failed.contains(&device.get()), &mut found);
        found.iter().map(|device| device.get()).collect()
    }

    fn plain(ring: &HashRing, position: u32) -> usize {
        ring.points.iter().position(|point| point.position >= position).unwrap()
    }

    #[test]
    fn a_lookup_finds_what_a_plain_search_finds() {
        let ring = flat(10);
        for step in 0..10_000u32 {
            let position = step.wrapping_mul(0x9e37_79b9);
            assert_eq!(ring.first_point(position), plain(&ring, position));
        }
        for point in &ring.points {
            for position in [point.position.saturating_sub(1), point.position, point.position.saturating_add(1)] {
                assert_eq!(ring.first_point(position), plain(&ring, position));
            }
        }
        assert_eq!(ring.owner(u32::MAX).get(), ring.points[0].device);
    }

    #[test]
    fn too_few_domains_give_fewer_copies() {
        for ring in [flat(2), rehashed(2)] {
            assert_eq!(place(&ring, 77, 3, &[]).len(), 2);
            assert_eq!(place(&ring, 77, 3, &[0]), [1]);
        }
        for walk in [RingWalk::Successors, RingWalk::Rehash] {
            // Six devices in two domains hold two copies at the most.
            assert_eq!(place(&HashRing::new(vec![0, 0, 0, 1, 1, 1], 64, walk), 77, 3, &[]).len(), 2);
        }
    }

    #[test]
    fn load_is_even_to_what_the_points_allow() {
        // A device's share of the ring has a relative standard deviation of about 1/sqrt(points): 1/32 for 1,024 points,
        // plus that of the sample, 1/sqrt(10,000). Five of both, added in quadrature, is 0.165; over 16 devices that is
        // a false alarm in about a hundred thousand seeds, and this one is fixed.
        let ring = HashRing::new((0..16).collect(), 1024, RingWalk::Rehash);
        let mut counts = [0u32; 16];
        for object in 0..160_000u64 {
            counts[place(&ring, object, 1, &[])[0] as usize] += 1;
        }
        for count in counts {
            assert!((f64::from(count) / 10_000.0 - 1.0).abs() < 0.165, "{counts:?}");
        }
    }

    proptest! {
        /// A failure moves only the copies of the failed device: the others stay, in their order.
        #[test]
        fn survivors_stay(object: u64, failed in 0u32..12) {
            for ring in [flat(12), rehashed(12)] {
                let before = place(&ring, object, 3, &[]);
                let after = place(&ring, object, 3, &[failed]);
                let kept: Vec<u32> = before.iter().copied().filter(|&d| d != failed).collect();
                prop_assert_eq!(&after[..kept.len()], &kept[..]);
                prop_assert!(!after.contains(&failed));
                prop_assert_eq!(after.len(), 3);
            }
        }

        /// The affected intervals hold exactly the positions from which a failed device is found.
        #[test]
        fn intervals_are_exact(object: u64, failed in 0u32..12) {
            let ring = flat(12);
            let position = object_position(ObjectId::new(object));
            let intervals = ring.affected_intervals(3, |device| device.get() == failed);
            let inside = intervals.iter().any(|&(start, end)| start <= position && position <= end);
            prop_assert_eq!(inside, place(&ring, object, 3, &[]).contains(&failed));
        }
    }
}
