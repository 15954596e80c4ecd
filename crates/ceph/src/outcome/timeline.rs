//! What happened over time.

use super::{Column, Table, counts, reals, texts};
use crate::healing::{Healing, Sample, Served};

/// A row at each of some hundred times.
pub(super) fn timeline(healing: &Healing) -> Table {
    let rows = &healing.record.samples;
    let of = |count: fn(&Sample) -> u64| counts(rows.iter().map(count));
    // A rate is the mean since the row before.
    let rate = |sum: fn(&Sample) -> u64| {
        reals((0..rows.len()).map(move |at| {
            let Some(before) = at.checked_sub(1).map(|before| &rows[before]) else { return 0.0 };
            let seconds = rows[at].seconds - before.seconds;
            if seconds > 0.0 { (sum(&rows[at]) - sum(before)) as f64 / seconds } else { 0.0 }
        }))
    };
    Table::new(
        "timeline",
        vec![
            ("time_seconds", reals(rows.iter().map(|row| row.seconds))),
            ("degraded_objects", of(|row| row.totals.degraded_objects)),
            ("misplaced_objects", of(|row| row.totals.misplaced_objects)),
            ("degraded_groups", of(|row| row.totals.degraded)),
            ("undersized_groups", of(|row| row.totals.undersized)),
            ("at_risk_groups", of(|row| row.totals.at_risk)),
            ("inactive_groups", of(|row| row.totals.inactive)),
            ("backfilling_groups", of(|row| row.totals.backfilling)),
            ("recovering_groups", of(|row| row.totals.recovering)),
            ("backfill_wait_groups", of(|row| row.totals.waiting)),
            ("toofull_groups", of(|row| row.totals.toofull)),
            ("deleting_groups", of(|row| row.totals.deleting)),
            ("recovered_bytes_per_second", rate(|row| row.moved.recovered_bytes)),
            ("moved_bytes_per_second", rate(|row| row.moved.moved_bytes)),
            ("recovered_objects_per_second", rate(|row| row.moved.recovered_objects)),
        ],
    )
}

/// How full each OSD is at the times of the timeline; an OSD has rows from when it was added.
pub(super) fn fill(healing: &Healing) -> Table {
    let rows = &healing.record.samples;
    let cells = || rows.iter().flat_map(|row| row.fill.iter().map(move |cell| (row.seconds, cell)));
    Table::new(
        "fill",
        vec![
            ("osd", counts(cells().map(|(_, &(osd, _))| u64::from(osd)))),
            ("time_seconds", reals(cells().map(|(seconds, _)| seconds))),
            ("used_bytes", counts(cells().map(|(_, &(_, [used, ..]))| used))),
            ("pending_bytes", counts(cells().map(|(_, &(_, [_, pending, _]))| pending))),
            ("capacity_bytes", counts(cells().map(|(_, &(_, [.., capacity]))| capacity))),
        ],
    )
}

/// What limited groups, as shares of the time of all of them.
pub(super) fn limits(healing: &Healing) -> Table {
    let limits = &healing.record.limits;
    let all: f64 = limits.values().sum();
    Table::new(
        "limits",
        vec![
            ("kind", texts(limits.keys().map(|limiter| limiter.kind.to_owned()))),
            ("name", texts(limits.keys().map(|limiter| limiter.name.clone()))),
            ("share", reals(limits.values().map(|seconds| seconds / all))),
        ],
    )
}

/// What clients of each pool get, where a load is given.
pub(super) fn clients(healing: &Healing) -> Table {
    let rows = healing.record.samples.iter();
    let cells: Vec<(f64, usize, Served)> =
        rows.flat_map(|row| row.clients.iter().map(|&(pool, served)| (row.seconds, pool, served))).collect();
    let id = |pool: usize| healing.map.pools()[pool].pool.id;
    Table::new(
        "clients",
        vec![
            ("time_seconds", reals(cells.iter().map(|&(seconds, ..)| seconds))),
            ("pool", Column::Counts(cells.iter().map(|&(_, pool, _)| id(pool)).collect())),
            ("served_share", reals(cells.iter().map(|(.., served)| served.share))),
            ("mean_seconds", reals(cells.iter().map(|(.., served)| served.mean_seconds))),
            ("p99_seconds", reals(cells.iter().map(|(.., served)| served.p99_seconds))),
        ],
    )
}

/// What happened to the map.
pub(super) fn history(healing: &Healing) -> Table {
    let rows = &healing.record.history;
    Table::new(
        "history",
        vec![
            ("time_seconds", reals(rows.iter().map(|row| row.seconds))),
            ("what", texts(rows.iter().map(|row| row.what.clone()))),
            ("epoch", counts(rows.iter().map(|row| row.epoch))),
        ],
    )
}
