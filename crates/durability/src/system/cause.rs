//! Why parts fail: which ones, when, and what becomes of them.

use super::ages::Ages;
use super::plan::{Rows, Tree};
use crate::Draws;
use crate::input::{BurstInput, EffectInput, FailureInput, LawInput};

/// A way to fail, and the parts that do.
#[derive(Debug)]
pub(super) struct Cause {
    pub level: usize,
    /// The parts that fail so, in the order of the input.
    pub parts: Vec<u32>,
    /// Whether each part of the level is one of them; empty where all are.
    is_member: Vec<bool>,
    pub law: LawInput,
    pub effect: EffectInput,
    burst: Option<Burst>,
    /// Whether what devices hold may be lost by it.
    pub loses: bool,
}

/// Several at once.
#[derive(Debug)]
struct Burst {
    input: BurstInput,
    /// The sum of all weights up to each size.
    weights: Vec<f64>,
    /// Parts by the part that a burst lies within, where it has some.
    within: Vec<Vec<u32>>,
}

impl Cause {
    pub fn of(input: &FailureInput, tree: &Tree) -> Self {
        let count = tree.counts[input.level];
        let parts = if input.parts.is_empty() { (0..count as u32).collect() } else { input.parts.clone() };
        let mut is_member = Vec::new();
        if parts.len() < count {
            is_member = vec![false; count];
            parts.iter().for_each(|&part| is_member[part as usize] = true);
        }
        let burst = input.burst.as_ref().map(|burst| Burst::of(burst, input.level, &parts, tree));
        let loses = match &input.effect {
            EffectInput::Lost => true,
            EffectInput::Away { lost_share, .. } => *lost_share > 0.0,
        };
        let (law, effect) = (input.law.clone(), input.effect.clone());
        Self { level: input.level, parts, is_member, law, effect, burst, loses }
    }

    /// Whether a part of its level fails so.
    #[inline]
    pub fn has(&self, part: u32) -> bool {
        self.is_member.is_empty() || self.is_member[part as usize]
    }

    /// Whether all parts of its level fail so.
    pub fn has_all(&self) -> bool {
        self.is_member.is_empty()
    }

    pub fn is_burst(&self) -> bool {
        self.burst.is_some()
    }

    /// Whether it leaves its parts where they are for a time.
    pub fn is_away(&self) -> bool {
        matches!(self.effect, EffectInput::Away { .. })
    }

    /// How old its parts are, where that matters.
    pub fn ages(&self, tree: &Tree, mission: f64) -> Option<Ages> {
        let LawInput::Weibull { shape, scale_seconds, age_seconds } = &self.law else { return None };
        Some(Ages::of((*shape, *scale_seconds), age_seconds, &self.parts, tree.counts[self.level], mission))
    }

    /// Draws the parts of a burst, and how long after its beginning each fails.
    pub fn draw_burst(&self, draws: &mut Draws, found: &mut Vec<(f64, u32)>) {
        found.clear();
        let Some(burst) = &self.burst else { return };
        let all = burst.weights[burst.weights.len() - 1];
        let drawn = draws.uniform() * all;
        let place = burst.weights.partition_point(|&sum| sum <= drawn).min(burst.weights.len() - 1);
        let size = burst.input.sizes[place].0 as usize;
        let parts = match burst.within.len() {
            0 => &self.parts,
            places => &burst.within[draws.below(places as u64) as usize],
        };
        let spread = burst.input.spread_seconds;
        let mut left = parts.clone();
        for taken in 0..size.min(left.len()) {
            let other = taken + draws.below((left.len() - taken) as u64) as usize;
            left.swap(taken, other);
            let after = if spread > 0.0 { draws.uniform() * spread } else { 0.0 };
            found.push((after, left[taken]));
        }
    }
}

impl Burst {
    fn of(input: &BurstInput, level: usize, parts: &[u32], tree: &Tree) -> Self {
        let mut sum = 0.0;
        let weights = input.sizes.iter().map(|&(_, weight)| {
            sum += weight;
            sum
        });
        let weights = weights.collect();
        let mut within = Vec::new();
        if let Some(upper) = input.within {
            // A part without devices lies nowhere that matters: nothing of it is lost.
            let above =
                |&part: &u32| tree.below(level, part).first().map(|&device| (tree.ancestors(device)[upper], part));
            let pairs: Vec<(u32, u32)> = parts.iter().filter_map(above).collect();
            let rows = Rows::of(tree.counts[upper], pairs.into_iter());
            within.extend((0..tree.counts[upper] as u32).map(|part| rows.row(part).to_vec()));
            within.retain(|parts| !parts.is_empty());
        }
        Self { input: input.clone(), weights, within }
    }
}
