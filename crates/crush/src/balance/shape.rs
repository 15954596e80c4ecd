//! What a rule asks of a set: where its blocks start, which levels they go down, and what stands above each device there.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::{CrushMap, NONE, Rule, Step};

/// What stands for the parent of an item that has none of the type; Ceph answers with the same number, which also is that of a
/// device.
pub(super) const NO_PARENT: i32 = 0;

/// A level that a block goes down: the type that it chooses, and how many in each item of the level above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) type_id: i32,
    pub(super) fanout: usize,
}

/// What follows a take up to where it is chosen down to devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) root: i32,
    pub(super) levels: Vec<Level>,
}

impl Block {
    /// How many pieces the block places.
    pub(super) fn pieces(&self) -> usize {
        pieces_of(&self.levels)
    }
}

/// How many pieces an item of the level above the first of these has.
pub(super) fn pieces_of(levels: &[Level]) -> usize {
    levels.iter().fold(1, |pieces, level| pieces.saturating_mul(level.fanout))
}

/// A rule and the trees below its takes.
#[derive(Debug, Clone)]
pub(super) struct RuleShape {
    /// In the order of the rule's emits.
    pub(super) blocks: Vec<Block>,
    /// Whether each of the rule's steps is one that entries can follow: no multi-step retries, and each block ends at devices.
    pub(super) is_plain: bool,
    /// By item: every bucket that it is in, however deep, rising.
    above: BTreeMap<i32, Vec<i32>>,
    /// By type and item: the bucket of the type that the item is in, or is.
    parents: BTreeMap<i32, BTreeMap<i32, i32>>,
    /// By device: its share of the weight of each take, summed over them.
    pub(super) weights: BTreeMap<i32, f32>,
}

impl RuleShape {
    /// Reads the rule for sets of `size` pieces.
    pub(super) fn new(map: &CrushMap, rule: &Rule, size: usize) -> Self {
        let roots: BTreeSet<i32> = takes(rule).collect();
        let (blocks, is_plain) = blocks_of(rule, size);
        let mut above: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for &bucket in roots.iter().flat_map(|&root| below(map, root)).collect::<BTreeSet<i32>>().iter() {
            for item in below(map, bucket).into_iter().filter(|&item| item != bucket && bucket < 0) {
                above.entry(item).or_default().push(bucket);
            }
        }
        let types: BTreeSet<i32> = blocks.iter().flat_map(|block| &block.levels).map(|level| level.type_id).collect();
        let parents = types.into_iter().filter(|&of| of > 0).map(|of| (of, parents_of_type(map, &roots, of))).collect();
        Self { blocks, is_plain, above, parents, weights: weights_of(map, rule) }
    }

    /// Whether an item is at or below another.
    pub(super) fn contains(&self, root: i32, item: i32) -> bool {
        root == item || self.above.get(&item).is_some_and(|above| above.binary_search(&root).is_ok())
    }

    /// The bucket of a type of the rule's levels that an item is in or is, below the rule's takes; else [`NO_PARENT`].
    pub(super) fn parent(&self, item: i32, type_id: i32) -> i32 {
        self.parents.get(&type_id).and_then(|parents| parents.get(&item)).copied().unwrap_or(NO_PARENT)
    }

    /// Whether the rule lets the piece at a place of a set be on another device, all others where they are.
    pub(super) fn may_replace(&self, set: &[i32], place: usize, to: i32) -> bool {
        let (block, places) = self.block_of(set.len(), place);
        if !self.contains(block.root, to) {
            return false;
        }
        let under = |osd: i32, type_id: i32| if type_id > 0 { self.parent(osd, type_id) } else { osd };
        // The highest level at which the two devices part: there the piece leaves a bucket, which must be its alone, for one
        // that is not in use.
        let parts = |level: &&Level| under(to, level.type_id) != under(set[place], level.type_id);
        let Some(&Level { type_id, .. }) = block.levels.iter().find(parts) else { return false };
        let (old, new) = (under(set[place], type_id), under(to, type_id));
        if type_id > 0 && new == NO_PARENT {
            return false;
        }
        // What other blocks use is not taken either: the monitors take an entry away that puts two pieces into one domain.
        set.iter().enumerate().filter(|&(other, &device)| other != place && device != NONE).all(|(other, &device)| {
            let used = under(device, type_id);
            used != new && (used != old || !places.contains(&other))
        })
    }

    /// The block that a place of a set belongs to, and the places that it has.
    fn block_of(&self, length: usize, place: usize) -> (&Block, Range<usize>) {
        let mut start = 0usize;
        for block in &self.blocks {
            let end = if self.blocks.len() == 1 { length } else { start.saturating_add(block.pieces()).min(length) };
            if place < end {
                return (block, start..end);
            }
            start = end;
        }
        (self.blocks.last().expect("a plain rule has a block, since its set has a place"), start..length)
    }
}

fn takes(rule: &Rule) -> impl Iterator<Item = i32> + '_ {
    rule.steps.iter().filter_map(|step| if let Step::Take(root) = step { Some(*root) } else { None })
}

/// The blocks of a rule, and whether they say all of it.
fn blocks_of(rule: &Rule, size: usize) -> (Vec<Block>, bool) {
    let (mut blocks, mut is_plain) = (Vec::new(), true);
    let mut open: Option<Block> = None;
    let fanout = |count: i32| {
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        let wanted = if count <= 0 { size + i64::from(count) } else { i64::from(count) };
        // A rule may name more than there are pieces, and then no group uses all.
        usize::try_from(wanted.min(size)).unwrap_or(0)
    };
    for step in &rule.steps {
        match *step {
            Step::Take(root) => open = Some(Block { root, levels: Vec::new() }),
            Step::Choose(choose) => {
                let Some(block) = &mut open else { continue };
                // A step below devices, or one that goes on from devices, is none that an entry could follow.
                is_plain &= block.levels.last().is_none_or(|level| level.type_id > choose.type_id.max(0));
                block.levels.push(Level { type_id: choose.type_id, fanout: fanout(choose.count) });
                if choose.leaf && choose.type_id > 0 {
                    block.levels.push(Level { type_id: 0, fanout: 1 });
                }
            }
            Step::ChooseMsr { .. } => is_plain = false,
            Step::Emit => {
                if let Some(block) = open.take() {
                    is_plain &= block.root < 0 && block.levels.last().is_some_and(|level| level.type_id == 0);
                    blocks.push(block);
                }
            }
            _ => {}
        }
    }
    let is_plain = is_plain && !blocks.is_empty();
    (blocks, is_plain)
}

/// An item and everything below it, in the order of going down, each once.
fn below(map: &CrushMap, item: i32) -> Vec<i32> {
    let (mut found, mut seen, mut open) = (Vec::new(), BTreeSet::new(), vec![item]);
    while let Some(next) = open.pop() {
        if seen.insert(next) {
            found.push(next);
            if let Some(bucket) = map.bucket(next) {
                open.extend(bucket.items().iter().rev());
            }
        }
    }
    found
}

/// By item below the roots: the first bucket of the type that holds it, roots rising and items in their order.
fn parents_of_type(map: &CrushMap, roots: &BTreeSet<i32>, type_id: i32) -> BTreeMap<i32, i32> {
    let mut parents = BTreeMap::new();
    for &root in roots {
        for candidate in below(map, root) {
            if map.bucket(candidate).is_some_and(|bucket| bucket.type_id() == type_id) {
                for item in below(map, candidate) {
                    parents.entry(item).or_insert(candidate);
                }
            }
        }
    }
    parents
}

/// By device that has any: its share of each take's weight.
pub(super) fn weights_of(map: &CrushMap, rule: &Rule) -> BTreeMap<i32, f32> {
    let mut weights = map.shares_of(rule);
    weights.retain(|&device, weight| device != NONE && *weight > 0.0);
    weights
}
