//! Multi-step-retry (MSR) rules: one descent through all steps for each position, retried as a whole.
//!
//! Source of the algorithm: Ceph's developer page "CRUSH MSR (Multi-step Retry)" and the commentary of its mapper (Ceph 19
//! "squid" and later). A rule of pool kind 4 (`msr_firstn`) or 5 (`msr_indep`) is a prefix of `set_msr_*` steps and then
//! blocks `take`, `choosemsr` ..., `emit`. The positions of a block are divided among the items of its first step, each
//! item's share (a *stride*) among the items of the next, and so on: `choosemsr 4 type host, choosemsr 2 type osd` makes four
//! strides of two positions. An item serves one stride of its step only, so strides never share a host; where devices are
//! out, one stride may spread over several hosts.

use std::ops::Range;

use crate::choosing::choose::{Placement, UNDECIDED};
use crate::map::bucket::Bucket;
use crate::map::rule::{NONE, Rule, Step};

/// The pool kind of a rule whose results are compacted.
const MSR_FIRSTN: u8 = 4;
/// The pool kind of a rule whose results keep their positions.
const MSR_INDEP: u8 = 5;

/// Working memory of multi-step-retry rules, reused from placement to placement.
#[derive(Debug, Default)]
pub(crate) struct MsrWork {
    /// For each choose step of a block, one after the other: the items that its strides use, at the positions that they serve.
    used: Vec<i32>,
    /// Items that the descent in progress chose in vain, with their step and stride, in the order of choice.
    vain: Vec<(usize, Range<usize>)>,
}

/// One block of a rule: a root, the steps that choose below it, and the steps after the block.
struct Block<'r> {
    root: i32,
    chooses: &'r [Step],
    rest: &'r [Step],
}

impl Rule {
    /// Whether the rule retries over all its steps (Ceph 19 and later).
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap, Tunables};
    /// assert!(!CrushMap::flat(3, BucketKind::Straw2, Tunables::JEWEL).rules()[0].is_msr());
    /// ```
    #[must_use]
    pub fn is_msr(&self) -> bool {
        matches!(self.pool_kind, MSR_FIRSTN | MSR_INDEP)
    }
}

impl Block<'_> {
    /// The block at the start of `steps`; `None` where they are no block, by which Ceph gives up on the whole rule.
    fn first(steps: &[Step]) -> Option<Block<'_>> {
        let (&Step::Take(root), after) = steps.split_first()? else { return None };
        let end = after.iter().position(|step| !matches!(step, Step::ChooseMsr { .. }))?;
        let (chooses, rest) = after.split_at(end);
        match rest {
            // Nothing can be chosen below a device.
            [Step::Emit, rest @ ..] if root < 0 || chooses.is_empty() => Some(Block { root, chooses, rest }),
            _ => None,
        }
    }
}

/// One block being placed.
struct Descent<'m, 's, 'p> {
    placement: &'p mut Placement<'m, 's>,
    work: &'p mut MsrWork,
    chooses: &'p [Step],
    firstn: bool,
    copies: usize,
    collision_tries: u32,
    /// How many descents went before.
    descent: u32,
    /// Devices found by all blocks so far.
    found: usize,
    out: &'p mut [i32],
}

impl<'m> Placement<'m, '_> {
    /// Follows a multi-step-retry rule; `out` receives what `CrushMap::place` describes, nothing where the rule is malformed.
    pub(crate) fn msr(&mut self, rule: &Rule, copies: usize, work: &mut MsrWork, out: &mut Vec<i32>) {
        let tunables = self.map.tunables();
        let (mut descents, mut collision_tries) = (tunables.msr_descents, tunables.msr_collision_tries);
        let mut steps = &rule.steps[..];
        loop {
            match steps {
                [Step::SetMsrDescents(value), rest @ ..] => (descents, steps) = (*value as u32, rest),
                [Step::SetMsrCollisionTries(value), rest @ ..] => (collision_tries, steps) = (*value as u32, rest),
                _ => break,
            }
        }
        out.resize(copies, NONE);
        let firstn = rule.pool_kind == MSR_FIRSTN;
        let (mut first, mut found) = (0usize, 0usize);
        while !steps.is_empty() {
            let Some(block) = Block::first(steps) else {
                out.clear();
                return;
            };
            steps = block.rest;
            let total = positions(block.chooses, copies);
            let end = first.saturating_add(total).min(copies);
            if let Some(root) = self.map.bucket(block.root) {
                work.clear(block.chooses.len() * copies);
                let wanted = found + end - first;
                let (placement, chooses) = (&mut *self, block.chooses);
                let mut descent =
                    Descent { placement, work, chooses, firstn, copies, collision_tries, descent: 0, found, out };
                while descent.descent < descents && descent.found < wanted && !chooses.is_empty() {
                    descent.choose(root, 0, first..end);
                    descent.descent += 1;
                }
                found = descent.found;
            } else if first < end {
                out[if firstn { found } else { first }] = block.root;
                found += 1;
            }
            first = end;
        }
        if firstn {
            out.truncate(found);
        }
    }
}

impl MsrWork {
    /// Forgets all choices and makes room for `size` positions.
    fn clear(&mut self, size: usize) {
        self.used.clear();
        self.used.resize(size, UNDECIDED);
    }
}

/// How many positions these steps fill below one bucket; a count of zero stands for all copies.
fn positions(chooses: &[Step], copies: usize) -> usize {
    chooses.iter().fold(1, |product: usize, step| match step {
        Step::ChooseMsr { count: 1.., .. } => product.saturating_mul(count_of(step)),
        _ => product.saturating_mul(copies),
    })
}

/// The count of a choose step.
fn count_of(step: &Step) -> usize {
    if let Step::ChooseMsr { count, .. } = step { usize::try_from(*count).unwrap_or(0) } else { 0 }
}

impl<'m> Descent<'m, '_, '_> {
    /// Fills what it can of `range` below a bucket by the step at `level` and those after it; returns how many it filled.
    ///
    /// A position that meets a device that is out stays empty until the next descent. An item chosen in vain counts as used
    /// until all strides of its step have had their turn, so that one device out moves as little as possible.
    fn choose(&mut self, bucket: &'m Bucket, level: usize, range: Range<usize>) -> usize {
        let Step::ChooseMsr { type_id, .. } = self.chooses[level] else { return 0 };
        let length = positions(&self.chooses[level + 1..], self.copies);
        let is_last = level + 1 == self.chooses.len();
        let base = self.work.vain.len();
        let (mut filled, mut start, mut index) = (0, range.start, 0);
        while start < range.end {
            let stride = start..start.saturating_add(length).min(range.end);
            (start, index) = (stride.end, index + 1);
            if self.is_filled(stride.clone()) {
                continue;
            }
            let Some(item) = self.draw(bucket, level, type_id, index - 1, &range, &stride) else { continue };
            if type_id == 0 {
                // Devices end a descent: a step that asks for them before the last finds nothing.
                if is_last && !self.placement.is_out(item) {
                    self.push(level, stride.clone(), item);
                    self.out[if self.firstn { self.found } else { stride.start }] = item;
                    self.found += 1;
                    filled += 1;
                }
            } else if let (false, Some(child)) = (is_last, self.placement.map.bucket(item)) {
                let below = self.choose(child, level + 1, stride.clone());
                let is_new = self.push(level, stride.clone(), item);
                if is_new && below == 0 {
                    self.work.vain.push((level, stride));
                }
                filled += below;
            }
        }
        for (level, stride) in self.work.vain.split_off(base) {
            let used = &mut self.work.used[level * self.copies..][stride];
            if let Some(last) = used.iter_mut().rev().find(|item| **item != UNDECIDED) {
                *last = UNDECIDED;
            }
        }
        filled
    }

    /// Whether every position of a stride has its device.
    fn is_filled(&self, stride: Range<usize>) -> bool {
        let devices = &self.work.used[(self.chooses.len() - 1) * self.copies..];
        !devices[stride].contains(&UNDECIDED)
    }

    /// Draws an item that no other stride of `range` uses, trying again after collisions.
    fn draw(
        &mut self,
        bucket: &'m Bucket,
        level: usize,
        type_id: i32,
        index: usize,
        range: &Range<usize>,
        stride: &Range<usize>,
    ) -> Option<i32> {
        for local in 0..self.collision_tries {
            let Some(item) = self.descend(bucket, type_id, index, local) else { continue };
            let used = &self.work.used[level * self.copies..];
            match used[range.clone()].iter().position(|&other| other == item) {
                Some(place) if !stride.contains(&(range.start + place)) => {}
                _ => return Some(item),
            }
        }
        None
    }

    /// Draws down from a bucket to the first item of a type, or to a device; `None` at a bucket without items.
    fn descend(&mut self, bucket: &'m Bucket, type_id: i32, index: usize, local: u32) -> Option<i32> {
        let turn = self.descent.wrapping_mul(self.copies as u32).wrapping_add(index as u32);
        let attempt = (turn << 16).wrapping_add(local);
        let mut bucket = bucket;
        loop {
            if bucket.items.is_empty() {
                return None;
            }
            let item = self.placement.draw(bucket, attempt, index);
            match self.placement.map.bucket(item) {
                Some(child) if child.type_id != type_id => bucket = child,
                _ => return Some(item),
            }
        }
    }

    /// Notes that a stride uses an item; false where it did already.
    fn push(&mut self, level: usize, stride: Range<usize>, item: i32) -> bool {
        let used = &mut self.work.used[level * self.copies..][stride];
        for slot in used {
            if *slot == item {
                return false;
            }
            if *slot == UNDECIDED {
                *slot = item;
                return true;
            }
        }
        false
    }
}
