//! Who sent how much to whom.

use rayon::prelude::*;
use resilver_kernel::prefetch;
use resilver_units::{Bytes, DeviceId};

use super::outcome::Transfer;

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

/// What a destination had last from a source: fewer pieces than there are tasks.
#[derive(Clone, Copy, Debug)]
struct Recent {
    source: u32,
    pieces: u32,
    bytes: u64,
}

/// Sources whose last arrivals each destination has at hand: more than it asks at a time, mostly.
const RECENT: usize = 16;
/// No source.
const NOBODY: u32 = u32::MAX;

impl Recent {
    /// The sum with both its ends, where there is one.
    #[inline]
    fn entry(self, destination: u32) -> Option<Entry> {
        let ends = u64::from(self.source) << 32 | u64::from(destination);
        (self.source != NOBODY).then_some(Entry { ends, bytes: self.bytes, pieces: u64::from(self.pieces) })
    }
}

/// Sums by source and destination of what has arrived.
///
/// The buffers of a piece come from the same sources, so each destination adds to what it had last from a source. Where
/// another takes that place, the sum is put down behind others, and all are added up from time to time, whenever they are twice
/// as many as the sums: that costs a few nanoseconds each, whatever the number of devices.
#[derive(Clone, Debug)]
pub(super) struct TransferLog {
    /// What each destination had last from sources, by their number modulo `RECENT`.
    recent: Vec<Recent>,
    entries: Vec<Entry>,
    /// How many entries there may be before they are added up.
    most: usize,
}

impl TransferLog {
    /// Nothing yet, between so many devices.
    pub fn new(devices: usize) -> Self {
        let nothing = Recent { source: NOBODY, pieces: 0, bytes: 0 };
        TransferLog { recent: vec![nothing; devices * RECENT], entries: Vec::new(), most: 0 }
    }

    /// Data has arrived; `is_first` says whether it is the first of its piece.
    #[inline]
    pub fn add(&mut self, source: u32, destination: u32, bytes: Bytes, is_first: bool) {
        let last = &mut self.recent[destination as usize * RECENT + source as usize % RECENT];
        if last.source == source {
            last.bytes += bytes.get();
            last.pieces += u32::from(is_first);
            return;
        }
        let before = std::mem::replace(last, Recent { source, bytes: bytes.get(), pieces: u32::from(is_first) });
        if let Some(entry) = before.entry(destination) {
            self.put_down(entry);
        }
    }

    /// Fetches what a destination had last from a source.
    #[inline]
    pub fn fetch(&self, source: u32, destination: u32) {
        prefetch(&self.recent[destination as usize * RECENT + source as usize % RECENT]);
    }

    fn put_down(&mut self, entry: Entry) {
        if self.entries.len() >= self.most.max(FIRST_FILL) {
            self.add_up();
        }
        self.entries.push(entry);
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
        let recent = std::mem::take(&mut self.recent);
        let entry = |(index, recent): (usize, Recent)| recent.entry((index / RECENT) as u32);
        self.entries.extend(recent.into_iter().enumerate().filter_map(entry));
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
        // More arrivals than are kept, of sources that take each other's place at hand: arrival i is of i bytes from 16 (i mod 3)
        // to i mod 2, the first of its piece where 5 divides i.
        let count = (3 * FIRST_FILL) as u64;
        let mut log = TransferLog::new(40);
        (0..count).for_each(|i| log.add(16 * (i % 3) as u32, (i % 2) as u32, Bytes::new(i), i % 5 == 0));
        let sums: Vec<(u32, u32, u64, u64)> = log
            .finish()
            .into_iter()
            .map(|sum| (sum.source.get(), sum.destination.get(), sum.pieces, sum.bytes.get()))
            .collect();
        let mut expected = Vec::new();
        for (source, destination) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
            let own = (0..count).filter(|i| i % 3 == source && i % 2 == destination);
            let pieces = own.clone().filter(|i| i % 5 == 0).count() as u64;
            expected.push((16 * source as u32, destination as u32, pieces, own.sum()));
        }
        assert_eq!(sums, expected);
        assert_eq!(TransferLog::new(2).finish(), []);
    }
}
