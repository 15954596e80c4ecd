//! Who reads, who writes and who waits for whom, at moments of the run.

use super::{Table, counts, maybe, reals};
use crate::healing::Film;

/// A row a frame and an OSD that reads, writes or waits, or did in the frame before: what has ended is told once.
pub(super) fn film(film: &Film) -> Table {
    let rows = film.rows();
    Table::new(
        "film",
        vec![
            ("time_seconds", reals(rows.iter().map(|row| row.seconds))),
            ("since_seconds", reals(rows.iter().map(|row| row.since))),
            ("osd", counts(rows.iter().map(|row| row.unit))),
            ("read_bytes_per_second", reals(rows.iter().map(|row| row.read))),
            ("written_bytes_per_second", reals(rows.iter().map(|row| row.written))),
            ("waiting_groups", counts(rows.iter().map(|row| u64::from(row.note.groups)))),
            ("waits_for", maybe(rows.iter().map(|row| row.note.on.map(f64::from)))),
        ],
    )
}
