//! What the pools came to.

use std::collections::BTreeSet;

use resilver_units::SimTime;

use super::{Column, Table, counts, maybe, texts};
use crate::fill::{Fits, STATES};
use crate::groups::{Group, members, places_held};
use crate::healing::{Healing, Room, SafeFill};

/// Seconds of a time until which groups were of a kind; none where some still are.
fn until(left: u64, time: SimTime) -> Option<f64> {
    (left == 0).then(|| time.seconds())
}

/// Bytes of each pool that must move at least, from who had a group at the start to who should have it at the end; what a group that was
/// merged into another held should be where that one is.
fn least_bytes(healing: &Healing) -> Vec<u64> {
    let mut least = vec![0; healing.map.pools().len()];
    let mut own: Vec<_> = healing.groups.iter().map(|group| group.contents).collect();
    let mut heirs: Vec<u32> = (0..healing.groups.len() as u32).collect();
    for &(child, parent) in healing.merged.iter().rev() {
        let (gone, left) = (healing.groups[child as usize].contents, &mut own[parent as usize]);
        left.objects = left.objects.saturating_sub(gone.objects);
        left.bytes = left.bytes.saturating_sub(gone.bytes);
        left.omap_bytes = left.omap_bytes.saturating_sub(gone.omap_bytes);
        heirs[child as usize] = heirs[parent as usize];
    }
    for ((contents, heir), first) in own.iter().zip(heirs).zip(&healing.first_holders) {
        let group = &healing.groups[heir as usize];
        let protection = &healing.protections[group.pool];
        let new = members(&group.up, protection.is_coded()).filter(|member| !first.contains(member)).count();
        least[group.pool] += new as u64 * contents.objects * contents.moved_piece_bytes(protection);
    }
    least
}

/// Whether a group's data is gone: what runs, and what was stopped in order and may return, does not have it.
fn is_lost(healing: &Healing, group: &Group, gone: &BTreeSet<u32>) -> bool {
    let protection = &healing.protections[group.pool];
    let held = places_held(&group.pieces, protection, |piece| piece.is_whole() && !gone.contains(&piece.osd));
    group.contents.objects > 0 && !protection.survives(held, 0)
}

/// A row a pool.
pub(super) fn pools(healing: &Healing) -> Table {
    let (pools, kept) = (healing.map.pools(), &healing.counts.pools);
    let least = least_bytes(healing);
    let mut lost = vec![0; pools.len()];
    let gone = healing.dead();
    for group in healing.groups.iter().filter(|group| group.exists) {
        lost[group.pool] += u64::from(is_lost(healing, group, &gone));
    }
    let moved = &healing.record.by_pool;
    Table::new(
        "pools",
        vec![
            ("pool", Column::Counts(pools.iter().map(|pool| pool.pool.id).collect())),
            ("name", texts(pools.iter().map(|pool| pool.name.clone()))),
            ("groups", counts(kept.iter().map(|pool| pool.groups))),
            ("degraded_seconds", maybe(kept.iter().map(|pool| until(pool.degraded, pool.degraded_until)))),
            ("at_risk_seconds", maybe(kept.iter().map(|pool| until(pool.at_risk, pool.at_risk_until)))),
            ("inactive_seconds", maybe(kept.iter().map(|pool| until(pool.inactive, pool.inactive_until)))),
            ("whole_seconds", maybe(kept.iter().map(|pool| until(pool.unclean, pool.unclean_until)))),
            ("recovered_bytes", counts(moved.iter().map(|&(recovered, _)| recovered))),
            ("moved_bytes", counts(moved.iter().map(|&(_, moved)| moved))),
            ("least_bytes", counts(least.into_iter())),
            ("lost_groups", counts(lost.into_iter())),
        ],
    )
}

/// How much more fits into each pool before the first OSD reaches a ratio, and by Ceph's MAX AVAIL, at the start and at the end: a row a
/// pool and such a state.
pub(super) fn room(healing: &Healing, last: &Room) -> Table {
    let mut rows = Vec::new();
    for ((pool, first), last) in healing.map.pools().iter().zip(&healing.first_room.pools).zip(&last.pools) {
        rows.extend(STATES.iter().zip(first).zip(last).map(|((&state, &start), &end)| (pool, state, start, end)));
    }
    let bytes = |fits: Option<Fits>| fits.map(|fits| fits.bytes.floor());
    let osd = |fits: Option<Fits>| fits.map(|fits| f64::from(fits.osd));
    Table::new(
        "room",
        vec![
            ("pool", Column::Counts(rows.iter().map(|row| row.0.pool.id).collect())),
            ("name", texts(rows.iter().map(|row| row.0.name.clone()))),
            ("state", texts(rows.iter().map(|row| row.1.to_owned()))),
            ("start_bytes", maybe(rows.iter().map(|row| bytes(row.2)))),
            ("start_osd", maybe(rows.iter().map(|row| osd(row.2)))),
            ("end_bytes", maybe(rows.iter().map(|row| bytes(row.3)))),
            ("end_osd", maybe(rows.iter().map(|row| osd(row.3)))),
        ],
    )
}

/// How full the cluster may be so that any part of a level can fail and heal, at the start, where that is known, and at the end; no row
/// where it is not asked.
pub(super) fn safe_fill(healing: &Healing, last: &Room) -> Table {
    let start = last.safe.iter().map(|_| healing.first_room.safe.clone()).collect();
    let end = last.safe.iter().cloned().map(Some).collect();
    let columns = |of: Vec<Option<SafeFill>>| {
        let safe = maybe(of.iter().map(|row| row.as_ref().and_then(|row| row.share)));
        let part = texts(of.iter().map(|row| row.as_ref().map_or_else(String::new, |row| row.part.clone())));
        (safe, part, maybe(of.iter().map(|row| row.as_ref().map(|row| row.fill))))
    };
    let ((start_safe, start_part, start), (end_safe, end_part, end)) = (columns(start), columns(end));
    Table::new(
        "safe_fill",
        vec![
            ("start_safe_share", start_safe),
            ("start_part", start_part),
            ("start_share", start),
            ("end_safe_share", end_safe),
            ("end_part", end_part),
            ("end_share", end),
        ],
    )
}

/// Upmap entries that were written in the run, as they are at its end; those that were removed have no pairs.
pub(super) fn upmaps(healing: &Healing) -> Table {
    let mut rows: Vec<(i64, u32, String)> = Vec::new();
    for (before, after) in healing.first_map.pools().iter().zip(healing.map.pools()) {
        let (before, after) = (&before.pool.exceptions.upmap_items, &after.pool);
        let mut groups: BTreeSet<u32> = before.keys().copied().collect();
        groups.extend(after.exceptions.upmap_items.keys().copied());
        for group in groups {
            let now = after.exceptions.upmap_items.get(&group);
            if before.get(&group) != now && group < after.pg_num {
                let pairs = now.into_iter().flatten().map(|(from, to)| format!("{from} {to}"));
                rows.push((after.id, group, pairs.collect::<Vec<_>>().join(" ")));
            }
        }
    }
    Table::new(
        "upmaps",
        vec![
            ("pool", Column::Counts(rows.iter().map(|row| row.0).collect())),
            ("group", counts(rows.iter().map(|row| u64::from(row.1)))),
            ("pairs", texts(rows.iter().map(|row| row.2.clone()))),
        ],
    )
}
