//! Choosing: how a rule's steps descend the map, retry and collect devices.
//!
//! Source of the algorithm: S. Weil, S. Brandt, E. Miller, C. Maltzahn, "CRUSH: Controlled, Scalable, Decentralized
//! Placement of Replicated Data", SC'06, with the retries that Ceph added and that the map's tunables select.

use crate::choosing::draw::{self, DrawBuffers};
use crate::choosing::drawn::Drawn;
use crate::choosing::ln::Distances;
use crate::choosing::msr::MsrWork;
use crate::hash::{rjenkins1_2, rjenkins1_3, rjenkins1_4};
use crate::lanes::Lanes;
use crate::map::CrushMap;
use crate::map::bucket::{Bucket, Shape};
use crate::map::rule::{Choose, Rule, Step};
use crate::map::tunables::Tunables;
use crate::map::weight_set::WeightSets;

/// Marks a position that an indep step has not filled yet.
pub(crate) const UNDECIDED: i32 = 0x7fff_fffe;
/// A reweight of one: the device takes all that falls to it.
const FULL: u32 = 0x1_0000;

/// Working memory of [`CrushMap::place`], reused from placement to placement; one a thread.
#[derive(Debug)]
pub struct Scratch {
    in_hand: Vec<i32>,
    chosen: Vec<i32>,
    leaves: Vec<i32>,
    msr: MsrWork,
    pub(crate) inner: Inner,
}

/// The part of the working memory that a choose step itself needs.
#[derive(Debug)]
pub(crate) struct Inner {
    lanes: Lanes,
    draws: DrawBuffers,
    /// The identity between draws: each draw undoes its swaps.
    permutation: Vec<u32>,
    swaps: Vec<(u32, u32)>,
    pub(crate) drawn: Drawn,
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// Working memory that uses the best instructions of this processor.
    #[must_use]
    pub fn new() -> Self {
        Self::with_lanes(Lanes::available()[0])
    }

    /// Working memory that uses the given instructions, or the portable ones where the processor lacks those.
    ///
    /// # Arguments
    /// * `lanes` - the instructions to use.
    ///
    /// # Returns
    /// The working memory.
    #[must_use]
    pub fn with_lanes(lanes: Lanes) -> Self {
        let lanes = if Lanes::available().contains(&lanes) { lanes } else { Lanes::Portable };
        let (draws, drawn) = (DrawBuffers::default(), Drawn::default());
        let inner = Inner { lanes, draws, permutation: Vec::new(), swaps: Vec::new(), drawn };
        Self { in_hand: Vec::new(), chosen: Vec::new(), leaves: Vec::new(), msr: MsrWork::default(), inner }
    }

    /// Runs `body` with a placement, as a test that draws by itself needs it.
    #[cfg(test)]
    pub(crate) fn with_placement<T>(
        &mut self,
        map: &CrushMap,
        x: u32,
        reweight: &[u32],
        body: impl FnOnce(&mut Placement<'_, '_>) -> T,
    ) -> T {
        body(&mut Placement::new(map, x, reweight, None, &mut self.inner))
    }

    /// The instructions in use.
    #[must_use]
    pub fn lanes(&self) -> Lanes {
        self.inner.lanes
    }
}

/// The retry settings in force at a step.
#[derive(Clone, Copy)]
pub(crate) struct Tries {
    pub(crate) total: u32,
    pub(crate) leaf: u32,
    pub(crate) local: u32,
    pub(crate) fallback: u32,
    pub(crate) vary_r: u32,
    pub(crate) stable: bool,
}

/// What one descent looks for.
#[derive(Clone, Copy)]
pub(crate) struct Ask {
    pub(crate) type_id: i32,
    pub(crate) leaf: bool,
    /// Attempts per copy.
    pub(crate) total: u32,
    /// Attempts per copy below a failure domain.
    pub(crate) leaf_total: u32,
    /// Added to the attempt number: the parent's attempt, for the descent below a failure domain.
    pub(crate) parent_r: u32,
}

/// One placement in progress.
pub(crate) struct Placement<'m, 's> {
    pub(crate) map: &'m CrushMap,
    x: u32,
    reweight: &'s [u32],
    pub(crate) weight_sets: Option<&'m WeightSets>,
    distances: &'static Distances,
    pub(crate) inner: &'s mut Inner,
    pub(crate) tries: Tries,
}

impl CrushMap {
    /// Maps one input to devices, as Ceph does, with the map's default choose_args if it has any.
    ///
    /// # Arguments
    /// * `rule` - the rule to follow.
    /// * `x` - the input (a placement group's seed, an object's hash).
    /// * `copies` - how many devices to find.
    /// * `reweight` - 16.16 reweight of each device by id: 0 is out, 0x10000 is in; ids beyond the end are in.
    /// * `scratch` - working memory.
    /// * `out` - receives the devices: fewer than `copies` where a firstn rule comes up short, `NONE` holes where an
    ///   indep rule does.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap, Scratch, Tunables};
    /// let map = CrushMap::flat(8, BucketKind::Straw2, Tunables::JEWEL);
    /// let (mut scratch, mut devices) = (Scratch::new(), Vec::new());
    /// map.place(map.rule_by_id(0).unwrap(), 42, 3, &[], &mut scratch, &mut devices);
    /// assert_eq!(devices.len(), 3);
    /// ```
    pub fn place(
        &self,
        rule: &Rule,
        x: u32,
        copies: usize,
        reweight: &[u32],
        scratch: &mut Scratch,
        out: &mut Vec<i32>,
    ) {
        self.place_with(rule, x, copies, reweight, self.default_weight_sets(), scratch, out);
    }

    /// [`place`](Self::place) with choose_args of the caller's choice (a pool's: [`weight_sets_for`](Self::weight_sets_for)).
    #[allow(clippy::too_many_arguments)]
    pub fn place_with(
        &self,
        rule: &Rule,
        x: u32,
        copies: usize,
        reweight: &[u32],
        weight_sets: Option<&WeightSets>,
        scratch: &mut Scratch,
        out: &mut Vec<i32>,
    ) {
        out.clear();
        let Scratch { in_hand, chosen, leaves, msr, inner } = scratch;
        in_hand.clear();
        let mut placement = Placement::new(self, x, reweight, weight_sets, inner);
        if rule.is_msr() {
            placement.msr(rule, copies, msr, out);
            return;
        }
        for &step in &rule.steps {
            match step {
                Step::Take(item) => {
                    in_hand.clear();
                    in_hand.push(item);
                }
                Step::Choose(choose) => {
                    placement.choose(choose, copies, in_hand, chosen, leaves);
                    std::mem::swap(in_hand, if choose.leaf { leaves } else { chosen });
                }
                Step::Emit => {
                    out.extend(in_hand.iter().take(copies - out.len()));
                    in_hand.clear();
                }
                // Outside multi-step-retry rules Ceph passes over `choosemsr` and what sets its retries.
                Step::Noop | Step::ChooseMsr { .. } | Step::SetMsrDescents(_) | Step::SetMsrCollisionTries(_) => {}
                Step::SetChooseTries(_)
                | Step::SetChooseleafTries(_)
                | Step::SetChooseLocalTries(_)
                | Step::SetChooseLocalFallbackTries(_)
                | Step::SetChooseleafVaryR(_)
                | Step::SetChooseleafStable(_) => placement.tries.set(step),
            }
        }
    }
}

impl Tries {
    /// What the map's tunables say, before any step of a rule.
    pub(crate) fn new(tunables: &Tunables) -> Self {
        Tries {
            total: tunables.choose_total_tries + 1,
            leaf: 0,
            local: tunables.choose_local_tries,
            fallback: tunables.choose_local_fallback_tries,
            vary_r: tunables.chooseleaf_vary_r,
            stable: tunables.chooseleaf_stable != 0,
        }
    }

    /// Attempts per copy below a failure domain.
    pub(crate) fn leaf_total(&self, firstn: bool, tunables: &Tunables) -> u32 {
        match (self.leaf, firstn) {
            (0, true) if tunables.chooseleaf_descend_once != 0 => 1,
            (0, true) => self.total,
            (0, false) => 1,
            (tries, _) => tries,
        }
    }

    /// Obeys a step that sets something; numbers out of range change nothing.
    pub(crate) fn set(&mut self, step: Step) {
        let set = |target: &mut u32, value: i32, least: i32| {
            if value >= least {
                *target = value as u32;
            }
        };
        match step {
            Step::SetChooseTries(value) => set(&mut self.total, value, 1),
            Step::SetChooseleafTries(value) => set(&mut self.leaf, value, 1),
            Step::SetChooseLocalTries(value) => set(&mut self.local, value, 0),
            Step::SetChooseLocalFallbackTries(value) => set(&mut self.fallback, value, 0),
            Step::SetChooseleafVaryR(value) => set(&mut self.vary_r, value, 0),
            Step::SetChooseleafStable(value) if value >= 0 => self.stable = value != 0,
            _ => {}
        }
    }
}

impl<'m, 's> Placement<'m, 's> {
    /// A placement before its first step, under the map's tunables.
    fn new(
        map: &'m CrushMap,
        x: u32,
        reweight: &'s [u32],
        weight_sets: Option<&'m WeightSets>,
        inner: &'s mut Inner,
    ) -> Self {
        let tries = Tries::new(map.tunables());
        Self { map, x, reweight, weight_sets, distances: Distances::shared(), inner, tries }
    }

    /// Runs one choose step from every bucket in hand; `leaves` receives the devices of a chooseleaf step.
    fn choose(&mut self, choose: Choose, copies: usize, in_hand: &[i32], chosen: &mut Vec<i32>, leaves: &mut Vec<i32>) {
        chosen.clear();
        chosen.resize(copies, UNDECIDED);
        leaves.clear();
        leaves.resize(copies, UNDECIDED);
        let mut filled = 0;
        for &item in in_hand {
            let wanted =
                if choose.count > 0 { i64::from(choose.count) } else { i64::from(choose.count) + copies as i64 };
            let Ok(wanted @ 1..) = usize::try_from(wanted) else { continue };
            let Some(bucket) = self.map.bucket(item) else { continue };
            let room = copies - filled;
            let (out, leaf_out) = (&mut chosen[filled..], &mut leaves[filled..]);
            let leaf_total = self.tries.leaf_total(choose.firstn, self.map.tunables());
            let total = self.tries.total;
            let ask = Ask { type_id: choose.type_id, leaf: choose.leaf, total, leaf_total, parent_r: 0 };
            if choose.firstn {
                filled += self.firstn(bucket, ask, wanted as u32, out, leaf_out, room);
            } else {
                let positions = wanted.min(room);
                self.indep(bucket, ask, wanted as u32, &mut out[..positions], &mut leaf_out[..positions]);
                filled += positions;
            }
        }
        chosen.truncate(filled);
        leaves.truncate(filled);
    }

    /// Draws an item of a bucket by the bucket's own kind. `position` selects the weight set, where the map has several.
    pub(crate) fn draw_anew(&mut self, bucket: &Bucket, r: u32, position: usize) -> i32 {
        let x = self.x;
        let index = match &bucket.shape {
            Shape::Uniform => return self.permuted(bucket, r),
            // As in the other kinds, the first item stands for all where none has weight.
            Shape::Vring(ring) => return ring.choose(bucket.id, x, r).unwrap_or(bucket.items[0]),
            Shape::List { sums } => list_index(bucket, sums, x, r),
            Shape::Tree { nodes } => tree_index(bucket, nodes, x, r),
            Shape::Straw { straws, equal } => {
                draw::straw(self.inner.lanes, &mut self.inner.draws, x, r, &bucket.items, straws, *equal)
            }
            Shape::Straw2(weights) => {
                let arguments = self.weight_sets.and_then(|sets| sets.bucket(bucket.id));
                let ids = arguments.and_then(|arguments| arguments.ids()).unwrap_or(&bucket.items);
                let weights = arguments.and_then(|arguments| arguments.weights(position)).unwrap_or(weights);
                draw::straw2(self.inner.lanes, &mut self.inner.draws, self.distances, (x, r), ids, weights)
            }
        };
        bucket.items[index]
    }

    /// The item at place `r` of the bucket's pseudo-random permutation for this input.
    pub(crate) fn permuted(&mut self, bucket: &Bucket, r: u32) -> i32 {
        let size = bucket.items.len() as u32;
        let place = r % size;
        let Inner { permutation, swaps, .. } = &mut *self.inner;
        for next in permutation.len() as u32..size {
            permutation.push(next);
        }
        swaps.clear();
        for step in 0..=place.min(size.saturating_sub(2)) {
            let other = step + rjenkins1_3(self.x, bucket.id as u32, step) % (size - step);
            permutation.swap(step as usize, other as usize);
            swaps.push((step, other));
        }
        let index = permutation[place as usize];
        for &(one, other) in swaps.iter().rev() {
            permutation.swap(one as usize, other as usize);
        }
        bucket.items[index as usize]
    }

    /// Whether a device's reweight turns this input away.
    pub(crate) fn is_out(&self, device: i32) -> bool {
        is_turned_away(self.reweight, self.x, device)
    }
}

/// Whether a device's reweight turns input `x` away.
#[inline]
pub(crate) fn is_turned_away(reweight: &[u32], x: u32, device: i32) -> bool {
    let reweight = reweight.get(device as usize).copied().unwrap_or(FULL);
    reweight < FULL && (rjenkins1_2(x, device as u32) & 0xffff) >= reweight
}

/// The index of a list bucket's winner: from the newest item back, each stays with its share of what is left.
fn list_index(bucket: &Bucket, sums: &[u32], x: u32, r: u32) -> usize {
    let stays = |&index: &usize| {
        let draw = u64::from(rjenkins1_4(x, bucket.items[index] as u32, r, bucket.id as u32) & 0xffff);
        ((draw * u64::from(sums[index])) >> 16) < u64::from(bucket.weights[index])
    };
    (0..sums.len()).rev().find(stays).unwrap_or(0)
}

/// The index of a tree bucket's winner: from the root down, left with the left child's share of the weight.
fn tree_index(bucket: &Bucket, nodes: &[u32], x: u32, r: u32) -> usize {
    let mut node = nodes.len() / 2;
    while node.is_multiple_of(2) {
        let draw = u64::from(rjenkins1_4(x, node as u32, r, bucket.id as u32));
        let threshold = (draw * u64::from(nodes[node])) >> 32;
        let half = 1 << (node.trailing_zeros() - 1);
        node = if threshold < u64::from(nodes[node - half]) { node - half } else { node + half };
    }
    // A tree without weight sends every input right, past the last item; Ceph reads beyond its array there.
    (node / 2).min(bucket.items.len() - 1)
}
