//! Importance sampling of a future: critical failures are pushed.
//!
//! While damage stays as it is, a critical failure comes, of all kinds together, with the probability `push` within the time in which it
//! has to, and evenly over that time, as rare failures do: then every one that comes weighs the same. Half of the rate that this takes
//! is shared alike by all critical kinds (balanced failure biasing: no kind that a loss needs is left so rare that its weight is
//! large), half by their rates. What is likelier than that by itself stays so.

use resilver_kernel::{Stream, ln};

use super::Walker;
use super::steps::Steps;
use crate::Model;

/// A rate that makes failures come evenly rises; it is constant in each of so many parts of the time.
const PARTS: f64 = 6.0;

/// Above this likelihood ratio nothing is pushed: a future in which failures were pushed again and again and did not come goes on as it
/// is. It has to be far above what one push can give, 1 / (1 - push): what is not pushed is not seen, and its weight is not told.
const MOST_LIKELIHOOD: f64 = 1000.0;

impl<M: Model> Walker<'_, M> {
    /// The future in `side`, of a weight, until calm.
    pub(super) fn importance(&mut self, push: f64, weight: f64, mut alive: f64, draws: &mut Stream) -> Option<()> {
        let began = self.side.now();
        let mut likelihood = 1.0;
        let mut spell = Spell::of(&self.side, self.mission);
        self.futures.restart(draws);
        while self.side.now() < self.mission && !self.is_calm(&self.side) {
            self.futures.look(&self.side);
            self.futures.boosts.fill(1.0);
            let mut until = self.mission;
            if alive > 0.0 && likelihood <= MOST_LIKELIHOOD {
                until = spell.push(self.side.now(), push, &mut self.futures).min(until);
            }
            let happened = self.futures.boosted(&mut self.side, until, draws, &mut likelihood);
            if self.tally.happened(&happened, self.side.now()) {
                self.go_on()?;
                alive = self.tally.losses(&mut self.side, &happened, weight * likelihood, alive);
                spell.look(&self.side, self.mission);
            }
        }
        self.tally.simulated(self.side.now() - began);
        Some(())
    }
}

/// A time in which damage is the same: from when to when, as it seems.
struct Spell {
    damage: f64,
    began: f64,
    end: f64,
}

impl Spell {
    /// One that begins now.
    fn of<M: Model>(model: &M, mission: f64) -> Self {
        let mut spell = Spell { damage: model.damage(), began: model.now(), end: 0.0 };
        spell.look(model, mission);
        spell
    }

    /// Begins anew where damage is another. Where it is not, the beginning stays: what happens to others meanwhile does not begin the
    /// push anew.
    fn look<M: Model>(&mut self, model: &M, mission: f64) {
        if model.damage() != self.damage {
            (self.damage, self.began) = (model.damage(), model.now());
        }
        self.end = (model.now() + model.window()).min(mission);
    }

    /// Sets by how much each kind is more likely, for the hazards that `steps` has seen, and until when.
    fn push(&self, now: f64, push: f64, steps: &mut Steps) -> f64 {
        let critical = steps.hazards.iter().filter(|hazard| hazard.critical && hazard.rate > 0.0);
        let (kinds, rates) = critical.fold((0.0, 0.0), |(kinds, rates), hazard| (kinds + 1.0, rates + hazard.rate));
        let part = (self.end - self.began) / PARTS;
        let mut index = ((now - self.began) / part).floor();
        // The end of a part is the beginning of the next, whatever rounding says.
        let end = |index: f64| self.began + (index + 1.0) * part;
        index += f64::from(u8::from(end(index) <= now));
        if kinds == 0.0 || self.damage <= 0.0 || !(0.0..PARTS).contains(&index) || end(index) <= now {
            return f64::INFINITY;
        }
        // That none has come falls evenly from 1 to 1 - push.
        let left = |index: f64| 1.0 - push * index / PARTS;
        let wanted = ln(left(index) / left(index + 1.0)) / part;
        for (boost, hazard) in steps.boosts.iter_mut().zip(&steps.hazards) {
            if hazard.critical && hazard.rate > 0.0 {
                *boost = (wanted * (0.5 / kinds / hazard.rate + 0.5 / rates)).max(1.0);
            }
        }
        end(index)
    }
}
