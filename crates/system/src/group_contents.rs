//! The objects of placement groups of which only counts and volumes are known.

use std::ops::Range;

use resilver_population::{RangeTotals, first_object};
use resilver_units::{Bytes, ObjectId};
use serde::Deserialize;

use crate::scan::AffectedObject;

/// What one placement group of a real cluster holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct GroupContents {
    /// Objects in the group.
    pub objects: u64,
    /// Their volume, before replication.
    pub bytes: Bytes,
}

/// What groups add up to.
pub(crate) fn totals_of(groups: &[GroupContents]) -> RangeTotals {
    let mut totals = RangeTotals::default();
    for group in groups {
        totals.objects += group.objects;
        totals.bytes += group.bytes;
    }
    totals
}

/// The objects of groups, each given with the file that its objects are numbered as parts of.
///
/// Only a group's count and volume are known, so its objects share the volume evenly, to the byte. They come in rounds of one
/// object from each group: recovery, as in the other populations, does not go group by group.
pub(crate) fn objects_of_groups(groups: &[(u64, GroupContents)]) -> Vec<AffectedObject> {
    let mut found = Vec::new();
    group_rounds(groups, 0..rounds_of(groups), &mut found);
    found
}

/// How many rounds of one object from each group there are.
pub(crate) fn rounds_of(groups: &[(u64, GroupContents)]) -> u64 {
    groups.iter().map(|(_, contents)| contents.objects).max().unwrap_or(0)
}

/// Appends the objects of a range of the rounds of [`objects_of_groups`].
pub(crate) fn group_rounds(groups: &[(u64, GroupContents)], rounds: Range<u64>, found: &mut Vec<AffectedObject>) {
    for round in rounds {
        for &(file, GroupContents { objects, bytes }) in groups {
            if round < objects {
                let size = bytes.get() / objects + u64::from(round < bytes.get() % objects);
                let object = ObjectId::new(first_object(file).get() + round);
                found.push(AffectedObject { object, size: Bytes::new(size) });
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
        let affected = objects_of_groups(&[0, 2, 3].map(|group| (group, contents[group as usize])));
        // 11 bytes over three objects: 4, 4, 3; one object of group 2 comes in the first round.
        let sizes: Vec<(u64, u64)> = affected.iter().map(|a| (file_of(a.object), a.size.get())).collect();
        assert_eq!(sizes, [(0, 4), (2, 7), (0, 4), (0, 3)]);
        let totals = totals_of(&contents);
        assert_eq!((totals.bytes.get(), totals.objects), (118, 9));
    }
}
