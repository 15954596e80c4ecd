//! Placing many groups at once.

use resilver_placement::layout::GroupTable;
use resilver_units::{DeviceId, GroupId};

use crate::parallel::in_parts;

/// Groups in a piece of work of one thread.
const PART_GROUPS: u32 = 256;

/// The sets of `groups` groups, worked out by all threads and merged in order.
///
/// `place` appends a group's devices to an empty list; `scratch` makes the working memory of one piece of work.
pub fn place_in_parallel<S>(
    groups: u32,
    scratch: impl Fn() -> S + Sync,
    place: impl Fn(GroupId, &mut S, &mut Vec<DeviceId>) + Sync,
) -> GroupTable {
    let parts = in_parts(groups.div_ceil(PART_GROUPS) as usize, &|part| {
        let mut scratch = scratch();
        let mut set = Vec::new();
        let mut table = GroupTable::new();
        let first = part as u32 * PART_GROUPS;
        for group in first..groups.min(first + PART_GROUPS) {
            set.clear();
            place(GroupId::new(group), &mut scratch, &mut set);
            table.push(&set);
        }
        table
    });
    let mut table = GroupTable::new();
    for part in &parts {
        table.append(part);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parallel_table_equals_one_plain_loop() {
        let place = |group: GroupId, set: &mut Vec<DeviceId>| {
            set.extend((0..group.get() % 4).map(|copy| DeviceId::new(group.get() + copy)));
        };
        let table = place_in_parallel(1000, || (), |group, (), set| place(group, set));
        assert_eq!(table.len(), 1000);
        for group in (0..1000).map(GroupId::new) {
            let mut set = Vec::new();
            place(group, &mut set);
            assert_eq!(table.set(group), set);
        }
    }
}
