//! A cheap test that an input cannot map to any of a few devices, for a rule over one flat bucket of equal weights.
//!
//! Placing an input on a flat bucket hashes every item for every attempt. To learn that a given device is *not* chosen takes
//! far less: its own draw must be close to the best possible to win an attempt at all, and where it is, the first item
//! found with a better one ends the matter.

use super::choose::Scratch;
use super::draw::{any_above, first_better, hash_attempts, raise_draws};
use super::lanes::Lanes;
use super::ln::{DRAWS, Distances, LAST_ORDERED};
use super::map::CrushMap;
use super::rule::{Rule, Step};
use crate::inverse::{NEGLIGIBLE, sufficient_draws};

/// Most attempts that are hashed at once.
pub(crate) const ATTEMPTS_MAX: usize = 16;

/// Tells, for a rule over one flat bucket of equal weights, which inputs cannot map to any of the `targets`.
///
/// It errs to the safe side but for a chance of 10^-18 an input: an input that it passes may still miss the targets.
#[derive(Clone, Debug)]
pub struct FlatScreen {
    targets: Vec<i32>,
    items: Vec<i32>,
    /// How many attempts are looked at.
    attempts: usize,
    /// For each 16-bit draw its rank, 0 for the best; draws that tie have one rank.
    ranks: Box<[u32; DRAWS]>,
    /// The worst rank that still has a chance to win an attempt.
    worst_rank: u32,
    /// The least draw whose rank is not worse than that.
    least_draw: u32,
    /// A draw that exceeds another by more than this has the better rank.
    window: u32,
}

/// Inputs that are screened together: their draws stay in the first-level cache.
const SCREENED: usize = 1024;

/// Working memory of [`FlatScreen::candidates`]; one a thread.
#[derive(Debug)]
pub struct ScreenScratch {
    lanes: Lanes,
    draws: Vec<u32>,
    passed: Vec<bool>,
    contenders: Contenders,
}

/// The inputs of which a target's draw is high, with one element more than inputs so that a list can be written past its end.
#[derive(Debug)]
struct Contenders {
    index: Vec<u32>,
    x: Vec<u32>,
    /// A draw above this beats the target's.
    bound: Vec<u32>,
    /// The largest draw that another item has had.
    largest: Vec<u32>,
}

/// Items whose draws are compared for all contenders in lockstep, in blocks; only few contenders are left then.
const FIRST_ITEMS: usize = 64;
/// Items between one look at who is beaten and the next.
const ITEMS_BLOCK: usize = 16;
/// Draws of the widest vector.
const VECTOR: usize = 16;

impl Contenders {
    fn new() -> Self {
        let column = || vec![0; SCREENED + VECTOR];
        Contenders { index: column(), x: column(), bound: column(), largest: column() }
    }

    /// Lists the inputs whose draw is not below `least`, and returns their number.
    fn list(&mut self, inputs: &[u32], draws: &[u32], least: u32, window: u32) -> usize {
        let mut count = 0;
        for (index, (&draw, &x)) in draws.iter().zip(inputs).enumerate() {
            // One draw in some 25 is listed, which no branch predictor foresees: write always, and keep or overwrite.
            (self.index[count], self.x[count], self.bound[count]) = (index as u32, x, draw + window);
            count += usize::from(draw >= least);
        }
        count
    }

    /// Strikes out, of the first `count`, those that one of the items beats; returns how many are left.
    fn strike(&mut self, lanes: Lanes, attempt: u32, items: &[i32], count: usize) -> usize {
        // What fills the last vector is hashed and not read; one by one the rest would cost a vector each.
        let padded = count.next_multiple_of(VECTOR);
        self.largest[..padded].fill(0);
        raise_draws(lanes, &self.x[..padded], attempt, items, &mut self.largest[..padded]);
        let mut left = 0;
        for one in 0..count {
            let (index, x, bound) = (self.index[one], self.x[one], self.bound[one]);
            (self.index[left], self.x[left], self.bound[left]) = (index, x, bound);
            left += usize::from(self.largest[one] <= bound);
        }
        left
    }
}

impl Default for ScreenScratch {
    fn default() -> Self {
        Self::with_lanes(Lanes::available()[0])
    }
}

impl ScreenScratch {
    /// Working memory that uses the given instructions, or the portable ones where the processor lacks those.
    #[must_use]
    pub fn with_lanes(lanes: Lanes) -> Self {
        let lanes = if Lanes::available().contains(&lanes) { lanes } else { Lanes::Portable };
        ScreenScratch { lanes, draws: vec![0; SCREENED], passed: vec![false; SCREENED], contenders: Contenders::new() }
    }
}

impl FlatScreen {
    /// The screen of `rule` for `copies` copies, or `None` where the rule or the map is of another kind.
    ///
    /// It serves rules that take a straw or straw2 bucket of devices of equal weight and choose all copies from it
    /// (firstn), under tunables without the permutation fallback.
    #[must_use]
    pub fn new(map: &CrushMap, rule: &Rule, copies: usize, targets: Vec<i32>) -> Option<Self> {
        let [Step::Take(root), Step::Choose(choose), Step::Emit] = rule.steps[..] else {
            return None;
        };
        let bucket = map.bucket(root)?;
        let is_plain = choose.firstn && choose.type_id == 0 && choose.count <= 0 && map.weight_sets().is_empty();
        let is_flat = bucket.items.iter().all(|&item| item >= 0);
        if !is_plain || !is_flat || map.tunables().choose_local_fallback_tries > 0 {
            return None;
        }
        let quality = bucket.draw_quality()?;
        let attempts = sufficient_draws(1.0 / bucket.items.len() as f64, copies).filter(|&n| n <= ATTEMPTS_MAX)?;
        let others = bucket.items.len() as f64 - 1.0;
        // A draw that all others stay below with a chance under NEGLIGIBLE cannot win: (share below)^others.
        let share = (NEGLIGIBLE.ln() / others).exp();
        let ranks = ranks_of(&quality);
        let worst_rank = ranks[((share * DRAWS as f64) as usize).min(DRAWS - 1)];
        let least_draw = ranks.iter().position(|&rank| rank <= worst_rank)? as u32;
        let window = tie_window(&ranks);
        Some(FlatScreen { targets, items: bucket.items.clone(), attempts, ranks, worst_rank, least_draw, window })
    }

    /// Appends the index, in rising order, of each of `inputs` that may map to one of the targets.
    ///
    /// It passes what [`may_hit`](Self::may_hit) passes, and inputs where the best draw nearly ties. A target's draws are
    /// hashed for many inputs at once; only inputs with a high one are looked at further, in lockstep while they are many.
    ///
    /// # Arguments
    /// * `inputs` - the inputs; lists of a few hundred and more are served best.
    /// * `scratch` - working memory.
    /// * `found` - receives the indices.
    pub fn candidates(&self, inputs: &[u32], scratch: &mut ScreenScratch, found: &mut Vec<u32>) {
        let ScreenScratch { lanes, draws, passed, contenders } = scratch;
        let (first_items, other_items) = self.items.split_at(self.items.len().min(FIRST_ITEMS));
        for (part, inputs) in inputs.chunks(SCREENED).enumerate() {
            let (draws, passed) = (&mut draws[..inputs.len()], &mut passed[..inputs.len()]);
            passed.fill(false);
            for attempt in 0..self.attempts as u32 {
                draws.fill(0);
                raise_draws(*lanes, inputs, attempt, &self.targets, draws);
                let mut count = contenders.list(inputs, draws, self.least_draw, self.window);
                for items in first_items.chunks(ITEMS_BLOCK) {
                    count = contenders.strike(*lanes, attempt, items, count);
                }
                for one in 0..count {
                    let (x, bound) = (contenders.x[one], contenders.bound[one]);
                    passed[contenders.index[one] as usize] |= !any_above(*lanes, x, attempt, other_items, bound);
                }
            }
            let first = part * SCREENED;
            found.extend((first..).zip(&*passed).filter(|&(_, &passed)| passed).map(|(index, _)| index as u32));
        }
    }

    /// Whether input `x` may map to one of the targets.
    #[must_use]
    pub fn may_hit(&self, x: u32, scratch: &Scratch) -> bool {
        let mut draws = [0; ATTEMPTS_MAX];
        self.targets.iter().any(|&target| {
            hash_attempts(scratch.lanes(), x, target as u32, &mut draws);
            draws[..self.attempts].iter().zip(0..).any(|(&draw, attempt)| {
                let rank = self.ranks[draw as usize & (DRAWS - 1)];
                rank <= self.worst_rank && !first_better(scratch.lanes(), x, attempt, &self.items, &self.ranks, rank)
            })
        })
    }
}

/// The difference above which a larger draw certainly has the better rank.
fn tie_window(ranks: &[u32; DRAWS]) -> u32 {
    let (mut longest, mut first) = (0, 0);
    for draw in 1..=LAST_ORDERED as usize {
        if ranks[draw] != ranks[first] {
            first = draw;
        }
        longest = longest.max(draw - first);
    }
    // The last draw may rank behind the one below it, and tie with those below that.
    longest as u32 + 2
}

/// The rank of every draw from how good it is, larger being better.
fn ranks_of(quality: &[u64]) -> Box<[u32; DRAWS]> {
    let mut sorted = quality.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    sorted.dedup();
    let rank = |quality: &u64| sorted.partition_point(|better| better > quality) as u32;
    let ranks: Box<[u32]> = quality.iter().map(rank).collect();
    ranks.try_into().expect("one rank a draw")
}

impl super::bucket::Bucket {
    /// How good each 16-bit draw is in this bucket, larger being better, where its items have equal weights.
    fn draw_quality(&self) -> Option<Vec<u64>> {
        match &self.shape {
            super::bucket::Shape::Straw { equal: true, .. } => Some((0..DRAWS as u64).collect()),
            super::bucket::Shape::Straw2(weights) if weights.equal => {
                let weight = u64::from(weights.weights[0]);
                let distances = Distances::shared();
                Some((0..DRAWS as u32).map(|draw| u64::MAX - distances.exact(draw) / weight).collect())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crush::{BucketKind, Tunables};

    fn screened(kind: BucketKind, servers: u32, targets: &[i32]) -> (f64, usize) {
        let map = CrushMap::flat(servers, kind, Tunables::JEWEL);
        let rule = map.rule_by_id(0).unwrap();
        let screen = FlatScreen::new(&map, rule, 3, targets.to_vec()).unwrap();
        let (mut placed, mut passed, mut hits) = (Vec::new(), 0, 0);
        for lanes in Lanes::available() {
            let mut scratch = Scratch::with_lanes(lanes);
            let inputs: Vec<u32> = (0..20_000u32).map(|x| x.wrapping_mul(0x9e37_79b9)).collect();
            let mut candidates = Vec::new();
            screen.candidates(&inputs, &mut ScreenScratch::with_lanes(lanes), &mut candidates);
            let may_hit: Vec<u32> =
                (0..20_000).filter(|&index| screen.may_hit(inputs[index as usize], &scratch)).collect();
            // Both look at the same draws; the many pass a little more, where the best of 200 draws has another within a
            // few of 65,536.
            assert!(may_hit.iter().all(|index| candidates.binary_search(index).is_ok()));
            assert!(candidates.is_sorted() && candidates.len() - may_hit.len() < may_hit.len() / 10);
            for x in 0..20_000u32 {
                let x = x.wrapping_mul(0x9e37_79b9);
                map.place(rule, x, 3, &[], &mut scratch, &mut placed);
                let is_hit = placed.iter().any(|device| targets.contains(device));
                let may_hit = screen.may_hit(x, &scratch);
                assert!(may_hit || !is_hit, "input {x} maps to {placed:?} and was screened out");
                passed += usize::from(may_hit);
                hits += usize::from(is_hit);
            }
        }
        (passed as f64 / (20_000.0 * Lanes::available().len() as f64), hits)
    }

    // Rule: nothing that maps to a target is screened out, and little else is passed. Of 200 servers three draws hit two
    // targets with a chance of 6/200 = 0.03, and ten draws win with 20/200 = 0.1.
    #[test]
    fn no_hit_is_screened_out_and_most_misses_are() {
        for kind in [BucketKind::Straw, BucketKind::Straw2] {
            let (passed, hits) = screened(kind, 200, &[17, 111]);
            assert!(hits > 1000, "{hits}");
            assert!((0.03..0.15).contains(&passed), "{passed}");
        }
    }

    // Rule: what the screen does not understand, it does not serve.
    #[test]
    fn other_maps_have_no_screen() {
        let hierarchy =
            CrushMap::hierarchical(64, 8, None, BucketKind::Straw, Tunables::JEWEL, crate::crush::Level::Rack).unwrap();
        assert!(FlatScreen::new(&hierarchy, hierarchy.rule_by_id(0).unwrap(), 3, vec![1]).is_none());
        let legacy = CrushMap::flat(64, BucketKind::Straw, Tunables::ARGONAUT);
        assert!(FlatScreen::new(&legacy, legacy.rule_by_id(0).unwrap(), 3, vec![1]).is_none());
        let small = CrushMap::flat(4, BucketKind::Straw, Tunables::JEWEL);
        assert!(FlatScreen::new(&small, small.rule_by_id(0).unwrap(), 3, vec![1]).is_none());
    }
}
