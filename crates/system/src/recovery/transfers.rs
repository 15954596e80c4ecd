//! Who sent how much to whom.

use rayon::prelude::*;
use resilver_units::{Bytes, DeviceId};

use crate::outcome::Transfer;

/// Entries that are kept before they are first added up.
const FIRST_FILL: usize = 1 << 20;

/// Data from one device to another.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The source above, the destination below.
    ends: u64,
    bytes: u64,
    pieces: u64,
}

/// Sums by source and destination of what has arrived.
///
/// Arrivals are put down one after another and added up from time to time, whenever they are twice as many as the sums: that
/// costs a few nanoseconds each, whatever the number of devices.
#[derive(Clone, Debug, Default)]
pub(super) struct TransferLog {
    entries: Vec<Entry>,
    /// How many entries there may be before they are added up.
    most: usize,
}

impl TransferLog {
    /// Data has arrived; `is_first` says whether it is the first of its piece.
    #[inline]
    pub fn add(&mut self, source: u32, destination: u32, bytes: Bytes, is_first: bool) {
        if self.entries.len() >= self.most.max(FIRST_FILL) {
            self.add_up();
        }
        let ends = u64::from(source) << 32 | u64::from(destination);
        self.entries.push(Entry { ends, bytes: bytes.get(), pieces: u64::from(is_first) });
    }

    #[cold]
    fn add_up(&mut self) {
        self.entries.par_sort_unstable_by_key(|entry| entry.ends);
        self.entries.dedup_by(|next, sum| {
            let is_same = next.ends == sum.ends;
            if is_same {
                sum.bytes += next.bytes;
                sum.pieces += next.pieces;
            }
            is_same
        });
        self.most = 2 * self.entries.len();
    }

    /// The sums by source, then destination; pairs without traffic left out.
    pub fn finish(mut self) -> Vec<Transfer> {
        self.add_up();
        let transfer = |entry: &Entry| Transfer {
            source: DeviceId::new((entry.ends >> 32) as u32),
            destination: DeviceId::new(entry.ends as u32),
            pieces: entry.pieces,
            bytes: Bytes::new(entry.bytes),
        };
        let has_traffic = |entry: &&Entry| entry.bytes > 0 || entry.pieces > 0;
        self.entries.iter().filter(has_traffic).map(transfer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_added_up_by_source_and_destination() {
        // More arrivals than are kept: arrival i is of i bytes from i mod 3 to i mod 2, the first of its piece where 5 divides i.
        let count = (3 * FIRST_FILL) as u64;
        let mut log = TransferLog::default();
        (0..count).for_each(|i| log.add((i % 3) as u32, (i % 2) as u32, Bytes::new(i), i % 5 == 0));
        let sums: Vec<(u32, u32, u64, u64)> = log
            .finish()
            .into_iter()
            .map(|sum| (sum.source.get(), sum.destination.get(), sum.pieces, sum.bytes.get()))
            .collect();
        let mut expected = Vec::new();
        for (source, destination) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
            let own = (0..count).filter(|i| i % 3 == source && i % 2 == destination);
            let pieces = own.clone().filter(|i| i % 5 == 0).count() as u64;
            expected.push((source as u32, destination as u32, pieces, own.sum()));
        }
        assert_eq!(sums, expected);
        assert_eq!(TransferLog::default().finish(), []);
    }
}
