//! Who reads, who writes and who waits for whom, at moments of the run.

use super::{Table, counts, maybe, reals};
use crate::healing::{Cell, Film};

/// An OSD in a frame.
struct Row {
    seconds: f64,
    since: f64,
    osd: u64,
    read: f64,
    written: f64,
    cell: Cell,
}

/// A row a frame and an OSD that reads, writes or waits, or did in the frame before: what has ended is told once.
pub(super) fn film(film: &Film) -> Table {
    let mut rows: Vec<Row> = Vec::new();
    let mut told: Vec<bool> = Vec::new();
    for (at, frame) in film.frames.iter().enumerate() {
        let before = at.checked_sub(1).map_or(frame, |before| &film.frames[before]);
        let (seconds, since) = (frame.at.seconds(), before.at.seconds());
        told.resize(frame.cells.len(), false);
        for (osd, cell) in frame.cells.iter().enumerate() {
            let was = before.cells.get(osd).map_or((0, 0), |cell| (cell.read, cell.written));
            let bytes = (cell.read - was.0, cell.written - was.1);
            let tells = bytes != (0, 0) || cell.waiting > 0;
            if tells || told[osd] {
                let rate = |bytes: u64| if bytes > 0 { bytes as f64 / (seconds - since) } else { 0.0 };
                let (read, written) = (rate(bytes.0), rate(bytes.1));
                rows.push(Row { seconds, since, osd: osd as u64, read, written, cell: *cell });
            }
            told[osd] = tells;
        }
    }
    Table::new(
        "film",
        vec![
            ("time_seconds", reals(rows.iter().map(|row| row.seconds))),
            ("since_seconds", reals(rows.iter().map(|row| row.since))),
            ("osd", counts(rows.iter().map(|row| row.osd))),
            ("read_bytes_per_second", reals(rows.iter().map(|row| row.read))),
            ("written_bytes_per_second", reals(rows.iter().map(|row| row.written))),
            ("waiting_groups", counts(rows.iter().map(|row| u64::from(row.cell.waiting)))),
            ("waits_for", maybe(rows.iter().map(|row| row.cell.waits_for().map(f64::from)))),
        ],
    )
}
