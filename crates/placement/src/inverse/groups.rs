//! The inverse of placement by groups.

use resilver_units::{DeviceId, GroupId, ObjectId};

use super::stretches::Bits;
use super::{FailedSet, Inverse};
use crate::layout::{GroupTable, Relocation, mix, object_group};

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

impl GroupInverse {
    /// Whether an object's group is affected, where the number of groups is a power of two.
    #[inline(always)]
    fn is_masked_affected(&self, object: u64) -> bool {
        self.affected.get((mix(object) as u32 & (self.groups - 1)) as usize)
    }
}

impl Inverse for GroupInverse {
    type Scratch = ();

    fn affected_among(&self, objects: &[u64], _: &mut (), found: &mut Vec<ObjectId>) {
        let objects = objects.iter().copied();
        if self.groups.is_power_of_two() {
            found.extend(objects.filter(|&object| self.is_masked_affected(object)).map(ObjectId::new));
        } else {
            let objects = objects.map(ObjectId::new);
            found.extend(objects.filter(|&object| self.affected.get(object_group(object, self.groups).index())));
        }
    }

    fn relocate(&self, object: ObjectId, _: &mut (), relocation: &mut Relocation) {
        let group = object_group(object, self.groups);
        relocation.clone_from(&self.rows[self.row_of[group.index()] as usize].1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inverse::Run;

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
        inverse.affected_in(Run { first: 0, count: 10_000, step: 1 }, &mut (), &mut found);
        let forward: Vec<ObjectId> =
            (0..10_000).map(ObjectId::new).filter(|&object| groups.contains(&object_group(object, 16).get())).collect();
        assert_eq!(found, forward);
        let mut relocation = Relocation::default();
        inverse.relocate(found[0], &mut (), &mut relocation);
        assert_eq!(relocation.homes, [DeviceId::new(6)]);
    }
}
