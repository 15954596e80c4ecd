//! The groups of several pools, numbered through, with the entries that they have by now.

use std::collections::BTreeSet;

use crate::balance::Entry;
use crate::balance::shape::RuleShape;
use crate::pool::{Osds, Pool, PoolKind, apply_pairs};
use crate::{Batch, BatchScratch, CrushMap, MapError, NONE, SHORT};

/// Groups that are placed at a time: enough for the fast paths, few enough for the caches.
const GROUPS_AT_ONCE: usize = 1024;

/// The sets that CRUSH alone gives the groups of a pool, before any entry of the OSD map.
///
/// They change with the CRUSH map, the reweights, and the pool's rule, size and `pgp_num`, but not with entries and not with who is
/// up; who balances again and again keeps them.
#[derive(Debug, Clone)]
pub struct RawSets {
    size: usize,
    cells: Vec<i32>,
    lengths: Vec<u32>,
    shape: RuleShape,
}

impl RawSets {
    /// Places all groups of a pool.
    ///
    /// # Errors
    /// When the map has no such rule as the pool's.
    pub fn place(map: &CrushMap, pool: &Pool, osds: Osds<'_>) -> Result<Self, MapError> {
        let rule = pool.rule_of(map)?;
        let (batch, size) = (pool.batch(map, rule), pool.size as usize);
        let (cells, shape) = (vec![SHORT; size * pool.pg_num as usize], RuleShape::new(map, rule, size));
        let mut sets = Self { size, cells, lengths: Vec::new(), shape };
        let (mut scratch, mut one) = (BatchScratch::new(), Vec::new());
        let groups: Vec<u32> = (0..pool.pg_num).map(|ps| pool.placement_seed(ps)).collect();
        for (part, seeds) in groups.chunks(GROUPS_AT_ONCE).enumerate() {
            let rows = &mut sets.cells[part * GROUPS_AT_ONCE * size..][..seeds.len() * size];
            batch.place(seeds, osds.reweight, &mut scratch, rows);
            for (place, &seed) in seeds.iter().enumerate() {
                let row = &mut rows[place * size..][..size];
                sets.lengths.push(finish(pool, &batch, (seed, osds), row, &mut scratch, &mut one));
            }
        }
        Ok(sets)
    }

    /// The set of a group: devices, and [`NONE`] for the holes of a pool of strips.
    #[must_use]
    pub fn of(&self, group: u32) -> &[i32] {
        &self.cells[group as usize * self.size..][..self.lengths[group as usize] as usize]
    }
}

/// Makes a row what the OSD map takes it for, and returns its length: copies have no holes, and a row may be short.
fn finish(
    pool: &Pool,
    batch: &Batch<'_>,
    (seed, osds): (u32, Osds<'_>),
    row: &mut [i32],
    scratch: &mut BatchScratch,
    one: &mut Vec<i32>,
) -> u32 {
    if !row.contains(&SHORT) && !row.contains(&NONE) {
        return row.len() as u32;
    }
    batch.place_one(seed, osds.reweight, scratch, one);
    if pool.kind == PoolKind::Replicated {
        one.retain(|&device| device != NONE);
    }
    row[..one.len()].copy_from_slice(one);
    one.len() as u32
}

/// A pool among those that are evened out.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) pool: &'a Pool,
    pub(super) raw: &'a RawSets,
    pub(super) shape: &'a RuleShape,
    /// The number of its first group among all.
    first: u32,
}

/// The groups of some pools, by rising pool id, each with its entry.
#[derive(Debug)]
pub(super) struct Groups<'a> {
    pub(super) members: Vec<Member<'a>>,
    pub(super) osds: Osds<'a>,
    /// `pg_upmap_items` by group, as they are by now.
    pairs: Vec<Vec<(i32, i32)>>,
    /// The groups that have any.
    with_pairs: BTreeSet<u32>,
}

impl<'a> Groups<'a> {
    pub(super) fn new(pools: &[(&'a Pool, &'a RawSets)], osds: Osds<'a>) -> Self {
        let mut sorted = pools.to_vec();
        sorted.sort_by_key(|(pool, _)| pool.id);
        let (mut members, mut pairs, mut with_pairs, mut first) = (Vec::new(), Vec::new(), BTreeSet::new(), 0u32);
        for (pool, raw) in sorted {
            let items = pool.exceptions.upmap_items.range(..pool.pg_num).filter(|(_, items)| !items.is_empty());
            pairs.resize((first + pool.pg_num) as usize, Vec::new());
            for (&ps, items) in items {
                pairs[(first + ps) as usize].clone_from(items);
                with_pairs.insert(first + ps);
            }
            members.push(Member { pool, raw, shape: &raw.shape, first });
            first += pool.pg_num;
        }
        Self { members, osds, pairs, with_pairs }
    }

    /// Every group's number.
    pub(super) fn numbers(&self) -> std::ops::Range<u32> {
        0..self.members.last().map_or(0, |last| last.first + last.pool.pg_num)
    }

    /// The pairs of a group.
    pub(super) fn pairs(&self, group: u32) -> &[(i32, i32)] {
        &self.pairs[group as usize]
    }

    /// The groups that have pairs, rising.
    pub(super) fn with_pairs(&self) -> impl Iterator<Item = u32> + '_ {
        self.with_pairs.iter().copied()
    }

    /// Which member a group is of.
    pub(super) fn member_place(&self, group: u32) -> usize {
        self.members.partition_point(|member| member.first <= group) - 1
    }

    /// The pool of a group, and its number there.
    pub(super) fn member(&self, group: u32) -> (&Member<'a>, u32) {
        let member = &self.members[self.member_place(group)];
        (member, group - member.first)
    }

    /// Whether a group has a whole set of an operator's, which nobody touches.
    pub(super) fn is_fixed(&self, group: u32) -> bool {
        let (member, ps) = self.member(group);
        member.pool.exceptions.upmap.contains_key(&ps)
    }

    /// The set of a group with its entries as they are by now, those that are down included.
    pub(super) fn set(&self, group: u32, out: &mut Vec<i32>) {
        let (member, ps) = self.member(group);
        out.clear();
        out.extend_from_slice(member.raw.of(ps));
        if let Some(whole) = member.pool.exceptions.upmap.get(&ps) {
            if whole.iter().any(|&device| self.osds.is_out(device)) {
                return;
            }
            out.clone_from(whole);
        }
        apply_pairs(self.pairs(group), self.osds, out);
    }

    /// Gives a group other pairs, or none.
    pub(super) fn put(&mut self, group: u32, pairs: Vec<(i32, i32)>) {
        if pairs.is_empty() {
            self.with_pairs.remove(&group);
        } else {
            self.with_pairs.insert(group);
        }
        self.pairs[group as usize] = pairs;
    }

    /// Gives a group the pairs that it had at first.
    pub(super) fn put_back(&mut self, group: u32) {
        let (member, ps) = self.member(group);
        let before = member.pool.exceptions.upmap_items.get(&ps).cloned();
        self.put(group, before.unwrap_or_default());
    }

    /// The entries that are others than at first, by pool and group.
    pub(super) fn changed(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        for member in &self.members {
            let own = member.first..member.first + member.pool.pg_num;
            let mut numbers: Vec<u32> = self.with_pairs.range(own).map(|group| group - member.first).collect();
            let before = &member.pool.exceptions.upmap_items;
            numbers.extend(before.range(..member.pool.pg_num).map(|(&ps, _)| ps));
            numbers.sort_unstable();
            numbers.dedup();
            for ps in numbers {
                let pairs = self.pairs(member.first + ps);
                if before.get(&ps).map_or(&[][..], Vec::as_slice) != pairs {
                    entries.push(Entry { pool: member.pool.id, group: ps, pairs: pairs.to_vec() });
                }
            }
        }
        entries
    }
}
