//! PGs that the map places elsewhere at the end: where they are at the start, their sets by CRUSH alone, and by the map after.

use super::{Column, Table, counts, texts};
use crate::healing::Healing;
use crate::map::{OsdMap, UpSets};

fn osds_text(set: &[i32]) -> String {
    set.iter().map(i32::to_string).collect::<Vec<_>>().join(" ")
}

/// A row a PG whose up set at the end is another than the set that has its data at the start.
pub(super) fn sets(healing: &Healing) -> Table {
    let mut bare = healing.map.clone();
    for pool in &mut bare.pools {
        pool.pool.exceptions.upmap.clear();
        pool.pool.exceptions.upmap_items.clear();
    }
    let (mut pools, mut groups, mut columns) = (Vec::new(), Vec::new(), [const { Vec::new() }; 3]);
    let maps: [&OsdMap; 3] = [&healing.first_map, &bare, &healing.map];
    for (place, pool) in healing.map.pools().iter().enumerate() {
        let [before, raw, after] = &maps.map(|map| {
            let mut sets = UpSets::default();
            map.up_sets(place, &mut sets);
            sets
        });
        for group in 0..before.groups().min(after.groups()) {
            let acting = healing.first_acting.get(&(place, group)).map_or(before.set(group), Vec::as_slice);
            if acting != after.set(group) {
                pools.push(pool.pool.id);
                groups.push(u64::from(group));
                for (column, set) in columns.iter_mut().zip([acting, raw.set(group), after.set(group)]) {
                    column.push(osds_text(set));
                }
            }
        }
    }
    let [before, raw, after] = columns.map(|column: Vec<String>| texts(column.into_iter()));
    let (pools, groups) = (Column::Counts(pools), counts(groups.into_iter()));
    Table::new("sets", vec![("pool", pools), ("group", groups), ("before", before), ("raw", raw), ("after", after)])
}
