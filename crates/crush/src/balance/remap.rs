//! Another set for a group, from OSDs that have too much to OSDs that have too little, as the group's rule allows.
//!
//! The definition is Ceph's `CrushWrapper::try_remap_rule` (Ceph 16), which walks the rule with the group's present set in hand:
//! at each level it names the buckets that the set uses, puts another in place of one that has a device to be relieved and none
//! that could take, and at the bottom replaces devices. What it answers need not be what the rule could give; an entry takes one
//! pair of it.

use std::collections::BTreeSet;

use crate::balance::shape::{Block, NO_PARENT, RuleShape, pieces_of};

/// Who has too much and who too little.
#[derive(Debug, Default)]
pub(super) struct Sides {
    /// To be relieved.
    pub(super) overfull: BTreeSet<i32>,
    /// To be given, those that lack most first.
    pub(super) underfull: Vec<i32>,
    /// Short of their target by no more than is borne; taken where none of the others will do.
    pub(super) more_underfull: Vec<i32>,
}

/// What goes through one walk over a rule.
struct Walk<'a> {
    shape: &'a RuleShape,
    sides: &'a Sides,
    set: &'a [i32],
    /// The next place of the set.
    next: usize,
    /// Targets that are taken.
    used: BTreeSet<i32>,
}

/// Another set for a group: of the same length where the rule's walk fits the set.
///
/// # Arguments
/// * `shape` - the rule.
/// * `sides` - who gives and who takes.
/// * `set` - the group's set, entries included; [`NONE`](crate::NONE) for holes.
pub(super) fn remapped(shape: &RuleShape, sides: &Sides, set: &[i32]) -> Vec<i32> {
    let mut walk = Walk { shape, sides, set, next: 0, used: BTreeSet::new() };
    let mut out = Vec::new();
    for block in &shape.blocks {
        walk.block(block, &mut out);
    }
    out
}

impl Walk<'_> {
    /// Takes one block of the rule.
    fn block(&mut self, block: &Block, out: &mut Vec<i32>) {
        let takers = self.buckets_with_takers(block);
        let mut working = vec![block.root];
        for (depth, level) in block.levels.iter().enumerate() {
            if self.next == self.set.len() {
                break;
            }
            let pieces_each = pieces_of(&block.levels[depth + 1..]);
            let mut chosen = Vec::new();
            let mut place = self.next;
            for &from in &working {
                // A set that ends early has nothing for the buckets that are left.
                if level.type_id > 0 && place == self.set.len() {
                    break;
                }
                if level.type_id > 0 {
                    let leaves = self.name_buckets(level.type_id, level.fanout, pieces_each, &mut place, &mut chosen);
                    let above = depth.checked_sub(1).map(|above| block.levels[above].type_id);
                    // Below the first item of a level, Ceph looks at the places of the first item again; its answers are
                    // the definition, so these are as well.
                    if let Some(takers) = takers.get(depth) {
                        self.replace_buckets(takers, above, &leaves, &mut chosen);
                    }
                } else {
                    self.replace_devices(from, level.fanout, &mut chosen);
                }
                if self.next == self.set.len() {
                    break;
                }
            }
            working = chosen;
        }
        out.append(&mut working);
    }

    /// At each level but the last: the buckets below the block's root in which a device wants more.
    fn buckets_with_takers(&self, block: &Block) -> Vec<BTreeSet<i32>> {
        let inner = block.levels.len().saturating_sub(1);
        let mut found = vec![BTreeSet::new(); inner];
        for &osd in &self.sides.underfull {
            let mut item = osd;
            for depth in (0..inner).rev() {
                item = self.shape.parent(item, block.levels[depth].type_id);
                if self.shape.contains(block.root, item) {
                    found[depth].insert(item);
                }
            }
        }
        found
    }

    /// Appends the buckets of a type that the set uses from `place` on, and gives the devices that each stands for.
    fn name_buckets(
        &self,
        type_id: i32,
        fanout: usize,
        pieces_each: usize,
        place: &mut usize,
        chosen: &mut Vec<i32>,
    ) -> Vec<Vec<i32>> {
        let mut leaves = Vec::with_capacity(fanout);
        for _ in 0..fanout {
            chosen.push(self.set.get(*place).map_or(NO_PARENT, |&device| self.shape.parent(device, type_id)));
            let end = place.saturating_add(pieces_each).min(self.set.len());
            leaves.push(self.set[*place..end].to_vec());
            *place = end;
        }
        leaves
    }

    /// Puts another bucket, of the same parent, in place of each that has a device to be relieved and none that wants more.
    fn replace_buckets(&self, takers: &BTreeSet<i32>, above: Option<i32>, leaves: &[Vec<i32>], chosen: &mut [i32]) {
        for (place, leaves) in leaves.iter().enumerate() {
            let gives = leaves.iter().any(|device| self.sides.overfull.contains(device));
            if takers.contains(&chosen[place]) || !gives {
                continue;
            }
            let beside = |&other: &i32| {
                above.is_none_or(|above| self.shape.parent(chosen[place], above) == self.shape.parent(other, above))
            };
            let other = takers.iter().copied().find(|other| !chosen.contains(other) && beside(other));
            if let Some(other) = other {
                chosen[place] = other;
            }
        }
    }

    /// Appends the devices of the set that come next, with others below `from` in place of those to be relieved.
    fn replace_devices(&mut self, from: i32, count: usize, chosen: &mut Vec<i32>) {
        for _ in 0..count {
            let device = self.set[self.next];
            let other = if self.sides.overfull.contains(&device) { self.taker_below(from) } else { None };
            self.used.extend(other);
            chosen.push(other.unwrap_or(device));
            self.next += 1;
            if self.next == self.set.len() {
                return;
            }
        }
    }

    fn taker_below(&self, from: i32) -> Option<i32> {
        let fits = |osd: &i32| !self.used.contains(osd) && self.shape.contains(from, *osd) && !self.set.contains(osd);
        let mut wanting = self.sides.underfull.iter().chain(&self.sides.more_underfull).copied();
        wanting.find(fits)
    }
}
