//! Groups that lack two pieces or more, or one that matters by itself.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Mixes the number of a group: nothing goes through the map in its order, so that it need only be even.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupHasher(u64);

impl Hasher for GroupHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    fn write_u32(&mut self, number: u32) {
        let product = u128::from(self.0 ^ u64::from(number) ^ 0x243f_6a88_85a3_08d3) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product as u64) ^ (product >> 64) as u64;
    }
}

/// A group that lacks pieces.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    pub group: u32,
    /// The places that lack their pieces, and the lost devices they were on, by slot.
    pub lost: Vec<(u16, u32)>,
    /// The fewest further losses that lose its data.
    pub margin: u32,
    /// Its place among those of its margin.
    at: u32,
}

/// All groups that are known to lack pieces.
#[derive(Debug, Default)]
pub(super) struct Damaged {
    records: Vec<Record>,
    free: Vec<u32>,
    of_group: HashMap<u32, u32, BuildHasherDefault<GroupHasher>>,
    /// Records by margin, and how often those of each have changed.
    tiers: Vec<Vec<u32>>,
    changes: Vec<u64>,
}

impl Clone for Damaged {
    fn clone(&self) -> Self {
        let mut other = Self::default();
        other.clone_from(self);
        other
    }

    fn clone_from(&mut self, other: &Self) {
        self.records.clone_from(&other.records);
        self.free.clone_from(&other.free);
        self.of_group.clone_from(&other.of_group);
        self.tiers.clone_from(&other.tiers);
        self.changes.clone_from(&other.changes);
    }
}

impl Damaged {
    pub fn new(distance: u32) -> Self {
        let margins = distance as usize + 1;
        Self { tiers: vec![Vec::new(); margins], changes: vec![0; margins], ..Self::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.of_group.is_empty()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        if !self.is_empty() || !self.records.is_empty() {
            self.of_group.clear();
            self.records.clear();
            self.free.clear();
            self.tiers.iter_mut().for_each(Vec::clear);
        }
    }

    #[inline]
    pub fn find(&self, group: u32) -> Option<&Record> {
        self.of_group.get(&group).map(|&record| &self.records[record as usize])
    }

    /// Says what a group lacks from now on, and how far it is from loss.
    pub fn set(&mut self, group: u32, lost: &[(u16, u32)], margin: u32) {
        let number = match self.of_group.get(&group) {
            Some(&number) => {
                self.leave(number);
                number
            }
            None => {
                let number = self.free.pop().unwrap_or(self.records.len() as u32);
                if number as usize == self.records.len() {
                    self.records.push(Record::default());
                }
                self.of_group.insert(group, number);
                number
            }
        };
        let record = &mut self.records[number as usize];
        (record.group, record.margin) = (group, margin);
        record.lost.clear();
        record.lost.extend_from_slice(lost);
        let tier = &mut self.tiers[margin as usize];
        record.at = tier.len() as u32;
        tier.push(number);
        self.changes[margin as usize] += 1;
    }

    /// Forgets a group.
    pub fn remove(&mut self, group: u32) {
        if let Some(number) = self.of_group.remove(&group) {
            self.leave(number);
            self.free.push(number);
        }
    }

    /// A record leaves its tier.
    fn leave(&mut self, number: u32) {
        let Record { margin, at, .. } = self.records[number as usize];
        self.changes[margin as usize] += 1;
        let tier = &mut self.tiers[margin as usize];
        tier.swap_remove(at as usize);
        if let Some(&moved) = tier.get(at as usize) {
            self.records[moved as usize].at = at;
        }
    }

    /// The lowest margin of all.
    pub fn margin(&self) -> Option<u32> {
        self.tiers.iter().position(|tier| !tier.is_empty()).map(|margin| margin as u32)
    }

    /// How often the groups of a margin have changed.
    pub fn changes(&self, margin: u32) -> u64 {
        self.changes[margin as usize]
    }

    /// The groups of a margin, in an order that follows from all that happened.
    pub fn at_margin(&self, margin: u32) -> impl ExactSizeIterator<Item = &Record> {
        self.tiers[margin as usize].iter().map(|&number| &self.records[number as usize])
    }
}
