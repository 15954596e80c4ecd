//! From an object to where its copies are: directly, or through a placement group.

use resilver_units::{DeviceId, GroupId, ObjectId};

/// A mix of 64 bits into 64 bits, in which every bit of the input moves every bit of the output.
///
/// The finaliser of splitmix64 (Steele, Lea and Flood 2014, with the multipliers of Stafford's thirteenth mix), after the
/// golden-ratio step, so that zero does not stay zero.
#[inline]
pub fn mix(word: u64) -> u64 {
    let mut mixed = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Sets the points of devices apart from the hashes of objects: without it, object n would stand on point n of device 0.
/// (The fraction of the square root of two in binary; any number would do that no object's identifier comes near.)
const POINT_SALT: u64 = 0x6a09_e667_f3bc_c908;

/// The position of one of a device's points on a ring of 32 bits.
///
/// # Arguments
/// * `device`, `point` - which point of which device.
/// * `ring` - zero, or what sets several rings apart.
#[inline]
pub fn point_position(device: u32, point: u32, ring: u64) -> u32 {
    (mix(((u64::from(device) << 32) | u64::from(point)) ^ POINT_SALT ^ ring) >> 32) as u32
}

/// The 32 bits by which an object is placed on its own: its position on a ring, or its CRUSH input.
#[inline]
pub fn object_position(object: ObjectId) -> u32 {
    (mix(object.get()) >> 32) as u32
}

/// The placement group of an object: a hash of its identifier modulo the number of groups.
#[inline]
pub fn object_group(object: ObjectId, groups: u32) -> GroupId {
    let hash = mix(object.get()) as u32;
    GroupId::new(if groups.is_power_of_two() { hash & (groups - 1) } else { hash % groups })
}

/// Where the copies of an object go when devices fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relocation {
    /// Devices that held a copy and did not fail, in placement order.
    pub survivors: Vec<DeviceId>,
    /// Devices that the object's set gains, in placement order.
    pub homes: Vec<DeviceId>,
    /// Survivors that are not in the object's set any more: their copies move though they were not lost.
    pub leaving: Vec<DeviceId>,
    /// Copies lost to the failure.
    pub lost: u32,
}

impl Relocation {
    /// Compares the sets before and after a failure.
    pub fn set(&mut self, before: &[DeviceId], after: &[DeviceId], failed: impl Fn(DeviceId) -> bool) {
        self.survivors.clear();
        self.homes.clear();
        self.leaving.clear();
        self.survivors.extend(before.iter().copied().filter(|&device| !failed(device)));
        self.homes.extend(after.iter().copied().filter(|device| !before.contains(device)));
        self.leaving.extend(self.survivors.iter().copied().filter(|device| !after.contains(device)));
        self.lost = (before.len() - self.survivors.len()) as u32;
    }
}

/// Where the placement groups are: one set of devices a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupTable {
    /// The sets of all groups, one behind another.
    devices: Vec<DeviceId>,
    /// Where each group's set begins, and at last where the last one ends.
    starts: Vec<u32>,
}

impl GroupTable {
    /// A table without groups.
    pub fn new() -> Self {
        GroupTable { devices: Vec::new(), starts: vec![0] }
    }

    /// Appends the set of the next group.
    pub fn push(&mut self, set: &[DeviceId]) {
        self.devices.extend_from_slice(set);
        self.starts.push(u32::try_from(self.devices.len()).expect("fewer than 2^32 copies of groups"));
    }

    /// Appends all groups of another table.
    pub fn append(&mut self, other: &GroupTable) {
        for group in 0..other.len() {
            self.push(other.set(GroupId::new(group)));
        }
    }

    /// The number of groups.
    pub fn len(&self) -> u32 {
        (self.starts.len() - 1) as u32
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The devices of a group, in placement order.
    pub fn set(&self, group: GroupId) -> &[DeviceId] {
        let (start, end) = (self.starts[group.index()], self.starts[group.index() + 1]);
        &self.devices[start as usize..end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(numbers: &[u32]) -> Vec<DeviceId> {
        numbers.iter().copied().map(DeviceId::new).collect()
    }

    fn relocation(before: &[u32], after: &[u32], failed: &[u32]) -> Relocation {
        let mut relocation = Relocation::default();
        relocation.set(&devices(before), &devices(after), |device| failed.contains(&device.get()));
        relocation
    }

    #[test]
    fn survivors_and_homes_keep_the_placement_order() {
        let one = relocation(&[4, 7, 1], &[4, 1, 9], &[7]);
        assert_eq!((one.survivors, one.homes, one.lost), (devices(&[4, 1]), devices(&[9]), 1));
    }

    #[test]
    fn a_set_that_changes_beyond_the_failure_has_more_homes_than_losses() {
        let two = relocation(&[4, 7, 1], &[4, 8, 9], &[7]);
        assert_eq!((two.lost, two.homes, two.leaving), (1, devices(&[8, 9]), devices(&[1])));
    }

    #[test]
    fn a_placement_that_comes_up_short_has_no_home() {
        let short = relocation(&[0, 1, 2], &[0, 2], &[1]);
        assert_eq!((short.lost, short.homes), (1, vec![]));
    }

    #[test]
    fn groups_share_objects_evenly() {
        // 65,536 objects into 64 groups: 1,024 each with a standard deviation of 31.8; six of them is a false alarm in
        // ten million, over 64 groups.
        let mut counts = [0i32; 64];
        for object in 0..65_536 {
            counts[object_group(ObjectId::new(object), 64).index()] += 1;
        }
        assert!(counts.iter().all(|count| (count - 1024).abs() < 6 * 32), "{counts:?}");
    }

    #[test]
    fn a_table_keeps_sets_of_different_lengths() {
        let mut table = GroupTable::new();
        table.push(&devices(&[1, 2, 3]));
        table.push(&[]);
        let mut both = GroupTable::new();
        both.append(&table);
        both.push(&devices(&[9]));
        assert_eq!(both.len(), 3);
        assert_eq!(both.set(GroupId::new(0)), devices(&[1, 2, 3]));
        assert_eq!(both.set(GroupId::new(1)), []);
        assert_eq!(both.set(GroupId::new(2)), devices(&[9]));
    }
}
