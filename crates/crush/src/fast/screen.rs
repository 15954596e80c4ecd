//! A cheap test that an input cannot map to any of a few devices, for a rule over one flat bucket of equal weights.
//!
//! Placing an input on a flat bucket hashes every item for every attempt. To learn that a given device is *not* chosen takes
//! far less: its own draw must be close to the best possible to win an attempt at all, and where it is, the first item
//! found with a better one ends the matter.
//!
//! Attempts fall into two kinds. Position p of a firstn step begins with attempt p, whatever happened before. So a device
//! that wins an attempt below the number of positions is in the set: it is taken there, unless it was taken already. Any
//! further attempt is made only after some device won two of those, which is looked into where a target wins one.
//!
//! The positions of an indep step do likewise in their first round. A further attempt belongs to one position, which makes it
//! only if its first winner won for a position before it; so where a target wins one, only that winner is looked for.

use resilver_units::elementary::pow;

use crate::choosing::attempts::{Looks, firstn_looks, indep_looks};
use crate::choosing::contenders::{Contenders, HELD};
use crate::choosing::draw::first_at_least;
use crate::choosing::hashing::{hash_items, largest_draw, raise_draws};
use crate::choosing::ln::{DRAWS, Distances};
use crate::lanes::Lanes;
use crate::map::CrushMap;
use crate::map::rule::{Rule, Step};

/// Tells, for a rule over one flat bucket of equal weights, which inputs cannot map to any of the `targets`.
///
/// It errs to the safe side but for a chance of 10^-18 an input and attempt: an input that it passes may still miss the
/// targets, unless it passes as certain.
#[derive(Clone, Debug)]
pub struct FlatScreen {
    targets: Vec<i32>,
    items: Vec<i32>,
    /// The items that are no targets.
    others: Vec<i32>,
    /// How many devices the rule asks for: attempts below it are made for every input.
    wanted: u32,
    /// Whether results are compacted; if not, an attempt from `wanted` on is a further round of one position.
    is_firstn: bool,
    /// The attempts that are looked at, each with the least draw that still has a chance to win it.
    least_draws: Vec<(u32, u32)>,
    /// A draw that exceeds another by more than this wins against it.
    window: u32,
    /// Items that all contenders meet before the first look at who is left: half as many as beat the lowest of them.
    first_items: usize,
}

/// An input that may map to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its index among the inputs asked.
    pub index: u32,
    /// Whether it maps to one for certain.
    pub is_certain: bool,
}

/// Inputs whose draws are made together: they stay in the first-level cache.
const SCREENED: usize = 1024;
/// Inputs whose contenders are held together, which are a sixth as many: enough of them that vectors stay full while most
/// drop out.
const GATHERED: usize = 32 * SCREENED;

/// Contenders so few that the vectors they do not fill cost more than each looking through the remaining items by itself.
const FEW: usize = 16;
/// How many times as many items contenders have met, at a look, as they meet until the next.
const LOOK_RARITY: usize = 10;

/// Working memory of [`FlatScreen::candidates`]; one a thread.
#[derive(Debug)]
pub struct ScreenScratch {
    lanes: Lanes,
    draws: Vec<u32>,
    attempts: Vec<u32>,
    verdicts: Vec<Verdict>,
    contenders: Contenders,
    again: Again,
}

/// Working memory of looks at whether attempts are made that are not made for every input.
#[derive(Debug, Default)]
struct Again {
    /// The draws of all items.
    low: Vec<u32>,
    /// The attempts that a winner may win as well, the input once for each, and its draws there.
    attempts: Vec<u32>,
    xs: Vec<u32>,
    draws: Vec<u32>,
}

/// What is known of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Missed,
    Possible,
    Certain,
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
        let (draws, attempts) = (vec![0; SCREENED], vec![0; SCREENED]);
        let (verdicts, contenders) = (vec![Verdict::Missed; GATHERED], Contenders::new());
        ScreenScratch { lanes, draws, attempts, verdicts, contenders, again: Again::default() }
    }
}

impl FlatScreen {
    /// The screen of `rule` for `copies` copies, or `None` where the rule or the map is of another kind.
    ///
    /// It serves rules that take a straw or straw2 bucket of devices of equal weight and choose all copies from it (firstn or
    /// indep), under tunables without the permutation fallback, while every device is in.
    #[must_use]
    pub fn new(map: &CrushMap, rule: &Rule, copies: usize, targets: Vec<i32>) -> Option<Self> {
        // How often a step tries decides when it gives up, which only leaves out devices that it might have found.
        let is_tries = |step: &Step| matches!(step, Step::SetChooseTries(_) | Step::SetChooseleafTries(_));
        let first = rule.steps.iter().position(|step| !is_tries(step))?;
        let [Step::Take(root), Step::Choose(choose), Step::Emit] = rule.steps[first..] else {
            return None;
        };
        let bucket = map.bucket(root)?;
        let is_plain = choose.type_id == 0 && choose.count <= 0 && map.weight_sets().is_empty();
        let is_flat = bucket.items.iter().all(|&item| item >= 0);
        if !is_plain || !is_flat || map.tunables().choose_local_fallback_tries > 0 {
            return None;
        }
        let wanted = copies.checked_sub(choose.count.unsigned_abs() as usize).filter(|&wanted| wanted > 0)?;
        let ranks = ranks_of(&bucket.draw_quality()?);
        let items = bucket.items.clone();
        let others: Vec<i32> = items.iter().copied().filter(|item| !targets.contains(item)).collect();
        let rivals = others.len().max(1) as f64;
        let looks = if choose.firstn { firstn_looks } else { indep_looks };
        let Looks { looks, negligible } = looks(items.len(), wanted, targets.len())?;
        let (wanted, window) = (wanted as u32, tie_window(&ranks));
        let least_draws = looks.iter().map(|look| {
            // A draw d wins only if all others are at most d + window. That a target draws so, below some bound, and wins, has
            // at most the chance share^(rivals + 1) / (rivals + 1), where the share is that of draws up to bound + window.
            let share =
                pow(negligible / look.chance * (rivals + 1.0) / targets.len().max(1) as f64, 1.0 / (rivals + 1.0));
            (look.attempt, ((share.min(1.0) * DRAWS as f64) as u32).saturating_sub(window + 1))
        });
        let least_draws: Vec<(u32, u32)> = least_draws.collect();
        let lowest = least_draws.iter().map(|&(_, least)| least).min().unwrap_or(0);
        let first_items = (DRAWS as u32).div_ceil(2 * (DRAWS as u32 - lowest)) as usize;
        Some(FlatScreen { least_draws, is_firstn: choose.firstn, targets, items, others, wanted, window, first_items })
    }

    /// Appends, in rising order, those of `inputs` that may map to one of the targets.
    ///
    /// A target's draws are hashed for many inputs at once; only inputs with a high one are looked at further, in lockstep
    /// while they are many.
    ///
    /// # Arguments
    /// * `inputs` - the inputs; lists of a few hundred and more are served best.
    /// * `scratch` - working memory.
    /// * `found` - receives the candidates.
    pub fn candidates(&self, inputs: &[u32], scratch: &mut ScreenScratch, found: &mut Vec<Candidate>) {
        for (gathering, inputs) in inputs.chunks(GATHERED).enumerate() {
            scratch.verdicts[..inputs.len()].fill(Verdict::Missed);
            for (place, inputs) in (0..).step_by(SCREENED).zip(inputs.chunks(SCREENED)) {
                self.gather(place, inputs, scratch);
            }
            self.decide(scratch);
            let first = (gathering * GATHERED) as u32;
            let passed =
                (first..).zip(&scratch.verdicts[..inputs.len()]).filter(|&(_, &verdict)| verdict != Verdict::Missed);
            found.extend(passed.map(|(index, &verdict)| Candidate { index, is_certain: verdict == Verdict::Certain }));
        }
    }

    /// Adds the contenders among some inputs, the first of which has the index `place`.
    fn gather(&self, place: u32, inputs: &[u32], scratch: &mut ScreenScratch) {
        for &(attempt, least) in &self.least_draws {
            if scratch.contenders.count + SCREENED > HELD {
                self.decide(scratch);
            }
            let (draws, attempts) = (&mut scratch.draws[..inputs.len()], &mut scratch.attempts[..inputs.len()]);
            draws.fill(0);
            attempts.fill(attempt);
            raise_draws(scratch.lanes, inputs, attempts, &self.targets, draws);
            scratch.contenders.add(scratch.lanes, place, inputs, draws, attempt, least);
        }
    }

    /// Finds the contenders that win, and what follows for their inputs.
    fn decide(&self, scratch: &mut ScreenScratch) {
        let (lanes, mut done) = (scratch.lanes, 0);
        while scratch.contenders.count > FEW && done < self.others.len() {
            // The chance to be beaten by the next item falls as one over the items before, so looks become rarer.
            let step = if done == 0 { self.first_items } else { done.div_ceil(LOOK_RARITY) };
            let end = self.others.len().min(done + step);
            scratch.contenders.strike(lanes, &self.others[done..end], self.window);
            done = end;
        }
        for one in 0..scratch.contenders.count {
            let contenders = &scratch.contenders;
            let (index, draw) = (contenders.index[one] as usize, contenders.draw[one]);
            let (x, attempt) = (contenders.x[one], contenders.attempt[one]);
            let further = largest_draw(lanes, x, attempt, &self.others[done..], draw + self.window);
            let largest = contenders.largest[one].max(further);
            if largest > draw + self.window {
                continue;
            }
            let verdict = if attempt >= self.wanted {
                let is_open = scratch.verdicts[index] == Verdict::Missed;
                if is_open && self.may_be_made(x, attempt, lanes, &mut scratch.again) {
                    Verdict::Possible
                } else {
                    Verdict::Missed
                }
            } else if draw > largest + self.window {
                Verdict::Certain
            } else {
                Verdict::Possible
            };
            scratch.verdicts[index] = scratch.verdicts[index].max(verdict);
        }
        scratch.contenders.count = 0;
    }

    /// Whether an attempt may be made that is not made for every input.
    fn may_be_made(&self, x: u32, attempt: u32, lanes: Lanes, again: &mut Again) -> bool {
        if self.is_firstn {
            // If two attempts have one winner, it is that of the earlier; so the last one's is not looked for.
            return (0..self.wanted - 1)
                .any(|attempt| self.may_win_again(x, attempt, attempt + 1..self.wanted, lanes, again));
        }
        let (wanted, position) = (self.wanted, attempt % self.wanted);
        // In its second round a position may meet what the first gave any other, and the second those before it.
        let second = || (0..wanted).filter(|&other| other != position).chain(wanted..wanted + position);
        self.may_win_again(x, position, 0..position, lanes, again)
            && (attempt < 2 * wanted || self.may_win_again(x, wanted + position, second(), lanes, again))
    }

    /// Whether the item that wins an attempt may win one of the `others` as well; yes where it is not clear who wins.
    fn may_win_again(
        &self,
        x: u32,
        attempt: u32,
        others: impl Iterator<Item = u32>,
        lanes: Lanes,
        again: &mut Again,
    ) -> bool {
        again.low.resize(self.items.len(), 0);
        let bound = hash_items(lanes, x, attempt, &self.items, &mut again.low).saturating_sub(self.window);
        let first = first_at_least(lanes, &again.low, bound);
        let behind = &again.low[first + 1..];
        if behind.get(first_at_least(lanes, behind, bound)).is_some_and(|&draw| draw >= bound) {
            return true;
        }
        let Again { attempts, xs, draws, .. } = again;
        attempts.clear();
        attempts.extend(others);
        xs.clear();
        xs.resize(attempts.len(), x);
        draws.clear();
        draws.resize(attempts.len(), 0);
        raise_draws(lanes, xs, attempts, &self.items[first..=first], draws);
        // As low as a target's draw must be at an attempt that every input makes, the winner's is too low.
        let least = self.least_draws.first().map_or(0, |&(_, least)| least);
        attempts.iter().zip(&*draws).any(|(&other, &draw)| {
            let bound = draw + self.window;
            draw >= least && largest_draw(lanes, x, other, &self.items, bound) <= bound
        })
    }
}

/// The difference above which a larger draw certainly has the better rank.
fn tie_window(ranks: &[u32; DRAWS]) -> u32 {
    // The best rank among the draws up to each.
    let best: Vec<u32> = ranks
        .iter()
        .scan(u32::MAX, |best, &rank| {
            *best = rank.min(*best);
            Some(*best)
        })
        .collect();
    let farthest = ranks.iter().enumerate().map(|(draw, &rank)| {
        let first = best.partition_point(|&best| best > rank);
        draw - first
    });
    farthest.max().unwrap_or(0) as u32
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

impl crate::map::bucket::Bucket {
    /// How good each 16-bit draw is in this bucket, larger being better, where its items have equal weights.
    fn draw_quality(&self) -> Option<Vec<u64>> {
        match &self.shape {
            crate::map::bucket::Shape::Straw { equal: true, .. } => Some((0..DRAWS as u64).collect()),
            crate::map::bucket::Shape::Straw2(weights) if weights.equal => {
                let weight = u64::from(weights.weights[0]);
                let distances = Distances::shared();
                Some((0..DRAWS as u32).map(|draw| u64::MAX - distances.exact(draw) / weight).collect())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
