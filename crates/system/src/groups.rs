//! Placing many groups at once.

use rayon::prelude::*;
use resilver_placement::layout::GroupTable;
use resilver_units::{DeviceId, GroupId};

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
    let parts: Vec<GroupTable> = (0..groups.div_ceil(PART_GROUPS))
        .into_par_iter()
        .map(|part| {
            let mut scratch = scratch();
            let mut set = Vec::new();
            let mut table = GroupTable::new();
            for group in part * PART_GROUPS..groups.min((part + 1) * PART_GROUPS) {
                set.clear();
                place(GroupId::new(group), &mut scratch, &mut set);
                table.push(&set);
            }
            table
        })
        .collect();
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
