//! The up sets of groups.

use std::ops::Range;

use rayon::prelude::*;
use resilver_crush::pool::NO_PRIMARY;
use resilver_crush::{BatchScratch, Scratch};

use super::OsdMap;

/// Groups that one task places: some milliseconds of work.
const GROUPS_A_TASK: usize = 1024;

/// What stands after the end of a short set.
const END: i32 = -1;

/// The up sets of all groups of a pool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpSets {
    width: usize,
    cells: Vec<i32>,
    primaries: Vec<i32>,
}

impl UpSets {
    /// How many groups there are.
    #[must_use]
    pub fn groups(&self) -> u32 {
        self.primaries.len() as u32
    }

    /// The up set of a group: OSDs in order; a hole of an erasure pool is [`NONE`](resilver_crush::NONE), and a set may be short.
    ///
    /// # Panics
    /// There is no such group.
    #[must_use]
    pub fn set(&self, group: u32) -> &[i32] {
        let row = &self.cells[group as usize * self.width..][..self.width];
        &row[..row.iter().position(|&device| device == END).unwrap_or(row.len())]
    }

    /// The primary of the up set of a group, or [`NO_PRIMARY`].
    #[must_use]
    pub fn primary(&self, group: u32) -> i32 {
        self.primaries[group as usize]
    }
}

/// The up set of one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Up<'a> {
    /// As [`UpSets::set`].
    pub set: &'a [i32],
    /// As [`UpSets::primary`].
    pub primary: i32,
}

/// Working memory of [`OsdMap::up_of`].
#[derive(Debug, Default)]
pub struct UpScratch {
    scratch: Scratch,
    set: Vec<i32>,
}

impl OsdMap {
    /// The up sets of all groups of the pool of a place, on all threads.
    ///
    /// # Arguments
    /// * `pool` - the pool's place.
    /// * `out` - where they go; what it held is gone.
    ///
    /// # Panics
    /// There is no such pool.
    pub fn up_sets(&self, pool: usize, out: &mut UpSets) {
        let pool = &self.pools[pool].pool;
        // Sets of no places still need a row to be told apart.
        let width = pool.exceptions.longest_up().max(pool.size as usize).max(1);
        let groups = pool.pg_num as usize;
        out.width = width;
        out.cells.clear();
        out.cells.resize(groups * width, END);
        out.primaries.clear();
        out.primaries.resize(groups, NO_PRIMARY);
        let Some(rule) = self.crush.rule_by_id(pool.rule) else { return };
        let batch = pool.batch(&self.crush, rule);
        let tasks = out.cells.par_chunks_mut(GROUPS_A_TASK * width).zip(out.primaries.par_chunks_mut(GROUPS_A_TASK));
        tasks.enumerate().for_each_init(BatchScratch::new, |scratch, (task, (cells, primaries))| {
            let first = (task * GROUPS_A_TASK) as u32;
            let groups: Range<u32> = first..first + primaries.len() as u32;
            pool.group_sets_in(&batch, groups, self.states(), scratch, |group, sets| {
                let row = (group - first) as usize;
                cells[row * width..][..sets.up.len()].copy_from_slice(&sets.up);
                primaries[row] = sets.up_primary;
            });
        });
    }

    /// The up set of one group of the pool of a place.
    ///
    /// # Panics
    /// There is no such pool.
    pub fn up_of<'s>(&self, pool: usize, group: u32, scratch: &'s mut UpScratch) -> Up<'s> {
        let UpScratch { scratch, set } = scratch;
        let pool = &self.pools[pool].pool;
        let primary = match self.crush.rule_by_id(pool.rule) {
            Some(rule) => pool.up_set(&self.crush, rule, group, self.states(), scratch, set),
            None => {
                set.clear();
                NO_PRIMARY
            }
        };
        Up { set, primary }
    }
}
