//! The pieces that devices are to get, while it is not known yet where each device's tasks begin.

use super::tasks::Restores;

/// Lists that wanted pieces are kept in until tasks are made of them, list by list: what is held twice is one of them.
const LISTS: usize = 8;

/// A piece that some device is to get: what its task is made of, in little more than a third of its room. All are listed before
/// it is known where each device's tasks begin.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub subject: u32,
    pub destination: u32,
    pub position: u8,
    pub is_rebuild: bool,
    pub restores: Restores,
}

/// All pieces that are asked for, in lists by ranges of destinations.
pub(super) struct AskedLists {
    /// Devices of a range.
    range: usize,
    pub lists: Vec<Vec<Asked>>,
    /// Pieces of each device.
    counts: Vec<u32>,
}

impl AskedLists {
    pub fn new(devices: usize) -> Self {
        let range = devices.div_ceil(LISTS).max(1);
        AskedLists { range, lists: vec![Vec::new(); devices.div_ceil(range)], counts: vec![0; devices] }
    }

    pub fn extend(&mut self, asked: &[Asked]) {
        for piece in asked {
            let destination = piece.destination as usize;
            self.counts[destination] += 1;
            self.lists[destination / self.range].push(*piece);
        }
    }

    pub fn len(&self) -> usize {
        self.lists.iter().map(Vec::len).sum()
    }

    /// Where each device's tasks begin, and at last where the last ones end.
    pub fn starts(&self) -> Vec<u32> {
        let mut start = 0;
        let behind = self.counts.iter().map(|count| {
            start += count;
            start
        });
        std::iter::once(0).chain(behind).collect()
    }
}
