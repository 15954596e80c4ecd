//! Several hash rings, with points of their own: copy number c of an object is looked up on ring c.
//!
//! The multi-ring of the ch-placement library (Carns et al. 2016, section IV). On one ring the devices that follow a point
//! are few, and share what its device held; on several rings the copies of an object have neighbours that have nothing to do
//! with each other. A copy that meets a device that failed, or a failure domain in use, goes on along its own ring.
//!
//! A failure moves only what was lost. A device added or removed moves data only to or from it where every device is a failure
//! domain of its own: the set of the first c copies then changes by that device and one other. A device of another weight
//! does so too, but for objects that it holds before and after: where it holds them from another ring then, that ring's copy moves to
//! a third device. And where domains hold several devices, one that becomes free again may draw a copy.

use resilver_units::{DeviceId, ObjectId};
use serde::Deserialize;

use super::{Build, Domains, ObjectLayout, Over, STEP, draw};
use crate::layout::point_position;
use resilver_crush::MapError;
use resilver_crush::PointTable;

/// Placement by several rings.
#[derive(Clone, Debug)]
pub struct MultiRing {
    rings: Vec<PointTable>,
    domains: Domains,
}

impl MultiRing {
    /// A layout of `rings` rings on each of which device number i owns `points[i]` points, in proportion to its weight.
    ///
    /// Where there are more copies than rings, they begin again with the first ring.
    ///
    /// # Examples
    /// ```
    /// use resilver_placement::layouts::{Domains, MultiRing, ObjectLayout};
    /// use resilver_units::ObjectId;
    /// let mut found = Vec::new();
    /// MultiRing::new(Domains::each_its_own(9), &[64; 9], 3).place(ObjectId::new(7), 3, |_| false, &mut found);
    /// assert_eq!(found.len(), 3);
    /// ```
    #[must_use]
    pub fn new(domains: Domains, points: &[u32], rings: u32) -> Self {
        let ring = |number: u32| {
            let salt = u64::from(number).wrapping_mul(STEP);
            let of_device = |(device, &count): (u32, &u32)| {
                (0..count).map(move |point| (point_position(device, point, salt), device))
            };
            PointTable::new((0..).zip(points).flat_map(of_device))
        };
        MultiRing { rings: (0..rings).map(ring).collect(), domains }
    }

    /// The devices of a copy's ring, once around, from the first point at or after the object's position.
    #[inline]
    fn along(&self, object: ObjectId, copy: usize) -> impl Iterator<Item = DeviceId> {
        let ring = &self.rings[copy % self.rings.len()];
        let position = (draw(object, 0) >> 32) as u32;
        let first = if ring.is_empty() { 0 } else { ring.index_at(position) };
        (first..ring.len()).chain(0..first).map(|index| DeviceId::new(ring.item(index)))
    }
}

/// Several rings by their keys.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultiRingKeys {
    /// How many; `None` for one a piece.
    rings: Option<u32>,
    /// Points a device.
    ring_points: u32,
}

impl Build for MultiRingKeys {
    type Layout = MultiRing;

    fn build(self, over: Over<'_>) -> Result<MultiRing, MapError> {
        let points = vec![self.ring_points; over.domains.devices()];
        Ok(MultiRing::new(over.domains, &points, self.rings.unwrap_or(over.pieces as u32)))
    }
}

impl ObjectLayout for MultiRing {
    fn devices(&self) -> usize {
        self.domains.devices()
    }

    #[inline]
    fn place(&self, object: ObjectId, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        found.clear();
        if self.rings.is_empty() {
            return;
        }
        for copy in 0..copies {
            // A ring on which no domain is left says the same of every other: they have the same devices.
            self.domains.take(self.along(object, copy), copy + 1, |_| false, found);
        }
        if !found.iter().any(|&device| failed(device)) {
            return;
        }
        let lost: Vec<usize> = (0..found.len()).filter(|&copy| failed(found[copy])).collect();
        found.retain(|&device| !failed(device));
        // Survivors keep their places before a lost copy looks for a new one, so none is pushed out by it.
        for copy in lost {
            self.domains.take(self.along(object, copy), found.len() + 1, &failed, found);
        }
    }
}
