//! What a session answers: a header in JSON, and behind it the columns of tables as arrays.
//!
//! The first 4 bytes say how long the header is (the lowest byte first), the header follows, and behind blanks up to a multiple of 8 bytes
//! begin the arrays, which the header gives places counted from there.

use resilver_ceph::Healing;
use resilver_system::{Column, Moved, Simulation};
use resilver_units::ErrorClass;
use serde::Serialize;

use crate::columns::{ALIGNMENT, Columns, Entry};

/// What the header says.
#[derive(Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum Header<'a> {
    /// How far a run of a system is.
    Working(Progress),
    /// How far a cluster has healed.
    Healing { fraction: f64, simulated_seconds: f64, unclean_groups: u64, groups: u64 },
    /// What a run came to.
    Done { digest: String, tables: Vec<TableEntry> },
    /// Why there is no run, or no more of it.
    Failed { class: &'a str, message: &'a str },
}

#[derive(Debug, Serialize)]
struct Progress {
    phase: &'static str,
    fraction: f64,
    events: u64,
    simulated_seconds: f64,
    rebuilt_pieces: u64,
    pieces_to_rebuild: u64,
}

#[derive(Debug, Serialize)]
struct TableEntry {
    name: &'static str,
    rows: usize,
    columns: Vec<Entry>,
}

fn pack(header: &Header<'_>, arrays: &[u8]) -> Vec<u8> {
    let mut header = serde_json::to_vec(header).expect("a header has text keys and finite numbers");
    header.resize((4 + header.len()).next_multiple_of(ALIGNMENT) - 4, b' ');
    let mut packed = Vec::with_capacity(4 + header.len() + arrays.len());
    packed.extend((header.len() as u32).to_le_bytes());
    packed.extend(header);
    packed.extend(arrays);
    packed
}

/// What went wrong.
pub fn failed(class: ErrorClass, message: &str) -> Vec<u8> {
    pack(&Header::Failed { class: class.name(), message }, &[])
}

/// How far a run of a system is.
pub fn working(simulation: &Simulation) -> Vec<u8> {
    let Moved { events, simulated, rebuilt_pieces, pieces_to_rebuild } = simulation.moved();
    let progress = Progress {
        phase: simulation.phase().name(),
        fraction: simulation.fraction(),
        events,
        simulated_seconds: simulated.seconds(),
        rebuilt_pieces,
        pieces_to_rebuild,
    };
    pack(&Header::Working(progress), &[])
}

/// How far a cluster has healed.
pub fn healing(healing: &Healing) -> Vec<u8> {
    let (unclean_groups, groups) = healing.unclean();
    let (fraction, simulated_seconds) = (healing.fraction(), healing.now().seconds());
    pack(&Header::Healing { fraction, simulated_seconds, unclean_groups, groups }, &[])
}

/// A table: its name, and its columns by name, all of one length.
pub type Told = (&'static str, Vec<(String, Column)>);

/// What a run came to.
pub fn done(digest: String, tables: impl Iterator<Item = Told>) -> Vec<u8> {
    let mut columns = Columns::default();
    let tables = tables.map(|(name, own)| TableEntry {
        name,
        rows: own.first().map_or(0, |(_, column)| column.rows()),
        columns: own.into_iter().map(|(name, column)| columns.add(name, &column)).collect(),
    });
    let tables = tables.collect();
    pack(&Header::Done { digest, tables }, &columns.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_begin_behind_the_header_at_a_multiple_of_eight() {
        for name in ["a", "ab", "abc", "abcdefgh"] {
            let table = ("t", vec![(name.to_owned(), Column::Counts(vec![7]))]);
            let packed = done(String::new(), [table].into_iter());
            let length = u32::from_le_bytes(packed[..4].try_into().unwrap()) as usize;
            assert_eq!((4 + length) % ALIGNMENT, 0);
            let header: serde_json::Value = serde_json::from_slice(&packed[4..4 + length]).unwrap();
            assert_eq!(header["tables"][0]["columns"][0]["name"], name);
            assert_eq!(packed[4 + length..], 7_i64.to_le_bytes());
        }
    }
}
