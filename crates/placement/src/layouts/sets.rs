//! RAID sets: an object lies on one set of devices, its first piece on the set's first device, and so on.
//!
//! A set is chosen by the object's hash. What a failed member held is made anew on a hot spare of the pool that the member is of,
//! such as its enclosure, which takes the member's place for good. Spares are given out in the order in which devices fail, and
//! a spare that fails is followed by another. A piece of which no spare is left stays lost: it goes to no other pool, where it
//! might share an enclosure with another piece of its set.

use resilver_units::{DeviceId, ObjectId};
use serde::Deserialize;

use super::{Build, ObjectLayout, Over, draw, part};
use resilver_crush::MapError;

/// Nobody, in place of a device.
const NOBODY: u32 = u32::MAX;

/// Placement on RAID sets.
#[derive(Clone, Debug)]
pub struct Sets {
    /// The members of the sets, one set behind another.
    members: Vec<DeviceId>,
    size: usize,
    /// Who takes the place of each device once it has failed.
    next: Vec<u32>,
}

impl Sets {
    /// Sets of members, and the pool that each device is of; devices that are in no set are their pool's spares.
    ///
    /// `failing` are devices in the order in which they fail; of others nobody takes the place.
    ///
    /// # Panics
    /// When the sets are not all of one size above zero, or a member or a device that fails has no pool.
    ///
    /// # Examples
    /// ```
    /// use resilver_placement::layouts::{ObjectLayout, Sets};
    /// use resilver_units::{DeviceId, ObjectId};
    /// let device = DeviceId::new;
    /// // Devices 0 to 2 are of one enclosure and 3 to 5 of another; each has a spare, 2 and 5.
    /// let sets = Sets::new(&[vec![device(0), device(3)], vec![device(1), device(4)]], &[0, 0, 0, 1, 1, 1], &[device(3)]);
    /// let mut found = Vec::new();
    /// sets.place(ObjectId::new(7), 2, |one| one == device(3), &mut found);
    /// assert!(found == [device(0), device(5)] || found == [device(1), device(4)]);
    /// ```
    #[must_use]
    pub fn new(sets: &[Vec<DeviceId>], pool_of: &[u32], failing: &[DeviceId]) -> Self {
        let size = sets.first().map_or(0, Vec::len);
        assert!(size > 0 && sets.iter().all(|set| set.len() == size), "sets have equally many members");
        let members = sets.concat();
        // Whether a device stands in a place of a set now.
        let mut is_in_use = vec![false; pool_of.len()];
        members.iter().for_each(|member| is_in_use[member.index()] = true);
        let pools = pool_of.iter().max().map_or(0, |&pool| pool as usize + 1);
        let mut spares: Vec<Vec<DeviceId>> = vec![Vec::new(); pools];
        // The first spare is given out first, so it is the last of its list.
        for device in (0..pool_of.len() as u32).rev().map(DeviceId::new).filter(|device| !is_in_use[device.index()]) {
            spares[pool_of[device.index()] as usize].push(device);
        }
        let mut next = vec![NOBODY; pool_of.len()];
        for &device in failing {
            let pool = &mut spares[pool_of[device.index()] as usize];
            pool.retain(|&spare| spare != device);
            if let Some(spare) = is_in_use[device.index()].then(|| pool.pop()).flatten() {
                is_in_use[spare.index()] = true;
                next[device.index()] = spare.get();
            }
        }
        Sets { members, size, next }
    }
}

/// Sets of devices by their members.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetsKeys {
    /// The devices of each set.
    sets: Vec<Vec<DeviceId>>,
    /// Of which pool of spares each device is.
    pool_of: Vec<u32>,
}

impl Build for SetsKeys {
    type Layout = Sets;

    fn build(self, over: Over<'_>) -> Result<Sets, MapError> {
        let SetsKeys { sets, pool_of } = self;
        let is_known =
            |set: &Vec<DeviceId>| set.len() == over.pieces && set.iter().all(|device| device.index() < pool_of.len());
        if sets.is_empty() || pool_of.len() != over.domains.devices() || !sets.iter().all(is_known) {
            let rule = "every set has as many members as an object has pieces, and they are devices";
            let field = "placement.level".to_owned();
            let (value, remedy) = (format!("{} sets", sets.len()), "let the sizes be equal".to_owned());
            return Err(MapError::Invalid { field, value, rule: rule.to_owned(), remedy });
        }
        Ok(Sets::new(&sets, &pool_of, over.failing))
    }
}

impl ObjectLayout for Sets {
    fn devices(&self) -> usize {
        self.next.len()
    }

    #[inline]
    fn place(&self, object: ObjectId, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        found.clear();
        let set = part(draw(object, 0), self.members.len() / self.size);
        for &member in &self.members[set * self.size..][..copies.min(self.size)] {
            let mut device = member;
            while failed(device) && self.next[device.index()] != NOBODY {
                device = DeviceId::new(self.next[device.index()]);
            }
            if !failed(device) {
                found.push(device);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(numbers: &[u32]) -> Vec<DeviceId> {
        numbers.iter().copied().map(DeviceId::new).collect()
    }

    /// Where each set is once these have failed, in this order; 0, 1 and 2 are of one pool with the spares 6 and 7.
    fn placed(failing: &[u32]) -> Vec<Vec<u32>> {
        let failing = devices(failing);
        let sets =
            Sets::new(&[devices(&[0, 3]), devices(&[1, 4]), devices(&[2, 5])], &[0, 0, 0, 1, 1, 1, 0, 0], &failing);
        let mut all: Vec<Vec<u32>> = Vec::new();
        for object in 0..200 {
            let mut found = vec![DeviceId::new(9)];
            sets.place(ObjectId::new(object), 2, |device| failing.contains(&device), &mut found);
            all.push(found.iter().map(|device| device.get()).collect());
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn an_object_lies_on_one_set_in_its_order() {
        assert_eq!(placed(&[]), [[0, 3], [1, 4], [2, 5]]);
    }

    #[test]
    fn spares_take_places_in_the_order_of_failures_and_are_followed_by_others() {
        assert_eq!(placed(&[1, 0]), [vec![2, 5], vec![6, 4], vec![7, 3]]);
        // A spare that took a place fails too, and then none is left for the next.
        assert_eq!(placed(&[1, 6, 0]), [vec![2, 5], vec![3], vec![7, 4]]);
        // One that failed before it was needed takes none.
        assert_eq!(placed(&[6, 1]), [vec![0, 3], vec![2, 5], vec![7, 4]]);
    }

    #[test]
    fn a_piece_goes_to_no_other_pool() {
        assert_eq!(placed(&[4]), [vec![0, 3], vec![1], vec![2, 5]]);
    }
}
