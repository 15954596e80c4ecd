//! The objects of placement groups of which only counts and volumes are known.

use std::ops::Range;

use resilver_population::first_object;
use resilver_units::{Bytes, ObjectId};

use crate::scan::{AffectedObject, Scanned};

/// What one placement group of a real cluster holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupContents {
    /// Objects in the group.
    pub objects: u64,
    /// Their volume, before replication.
    pub bytes: Bytes,
}

/// The objects of the `affected` groups, given what every group holds.
///
/// Only a group's count and volume are known, so its objects share the volume evenly, to the byte. Objects are numbered
/// as if each group were a file, and come in rounds of one object from each group: recovery, as in the other
/// populations, does not go group by group.
pub fn scan_groups(contents: &[GroupContents], affected: impl Iterator<Item = u32> + Clone) -> Scanned {
    let mut scanned = Scanned::default();
    for group in contents {
        scanned.totals.objects += group.objects;
        scanned.totals.bytes += group.bytes;
    }
    let rounds = affected.clone().map(|group| contents[group as usize].objects).max().unwrap_or(0);
    group_rounds(contents, affected, 0..rounds, &mut scanned.affected);
    scanned
}

/// Appends the objects of a range of the rounds of [`scan_groups`].
pub(crate) fn group_rounds(
    contents: &[GroupContents],
    affected: impl Iterator<Item = u32> + Clone,
    rounds: Range<u64>,
    objects_found: &mut Vec<AffectedObject>,
) {
    for round in rounds {
        for group in affected.clone() {
            let GroupContents { objects, bytes } = contents[group as usize];
            if round < objects {
                let size = bytes.get() / objects + u64::from(round < bytes.get() % objects);
                let object = ObjectId::new(first_object(u64::from(group)).get() + round);
                objects_found.push(AffectedObject { object, size: Bytes::new(size) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use resilver_population::file_of;

    use super::*;

    #[test]
    fn a_group_s_volume_is_shared_to_the_byte() {
        let group = |objects, bytes| GroupContents { objects, bytes: Bytes::new(bytes) };
        let contents = [group(3, 11), group(5, 100), group(1, 7), group(0, 0)];
        let scanned = scan_groups(&contents, [0, 2, 3].into_iter());
        // 11 bytes over three objects: 4, 4, 3; one object of group 2 comes in the first round.
        let sizes: Vec<(u64, u64)> = scanned.affected.iter().map(|a| (file_of(a.object), a.size.get())).collect();
        assert_eq!(sizes, [(0, 4), (2, 7), (0, 4), (0, 3)]);
        assert_eq!(scanned.totals.bytes.get(), 118);
        assert_eq!(scanned.totals.objects, 9);
    }
}
