//! The system as a model that an estimator drives.

use std::cmp::Reverse;

use super::StorageSystem;
use super::certain::{Certain, What};
use super::lost::{NONE, Phase};
use crate::input::LawInput;
use crate::{Draws, Hazard, Loss, Model};

impl Model for StorageSystem {
    fn reset(&mut self, _draws: &mut Draws) {
        for &slot in &self.active {
            self.of_device[self.slots[slot as usize].device as usize] = NONE;
        }
        self.slots.clear();
        self.free.clear();
        self.active.clear();
        self.repairing.clear();
        self.damaged.clear();
        self.away.clear();
        self.certain.clear();
        (self.now, self.losses, self.foreseen, self.is_retimed) = (0.0, 0, 0, true);
        (self.held, self.holding, self.returned) = (0, 0, 0);
        self.focus.forget();
        (self.loss, self.latent_loss) = (None, Loss::default());
        for cause in 0..self.states.len() {
            let state = &mut self.states[cause];
            (state.alive, state.done) = (self.plan.causes[cause].parts.len() as u32, 0);
            if let Some(ages) = &mut state.ages {
                ages.reset();
            }
            self.foresee_next(cause);
        }
        self.conclude();
    }

    fn now(&self) -> f64 {
        self.now
    }

    fn kinds(&self) -> usize {
        2 * self.plan.causes.len()
    }

    fn hazards(&self, hazards: &mut [Hazard]) {
        for (number, (cause, of_cause)) in self.plan.causes.iter().zip(hazards.chunks_mut(2)).enumerate() {
            let state = &self.states[number];
            let critical = self.focus.critical[number];
            let (low, high) = (f64::from(state.alive - critical), f64::from(critical));
            let (rest, critical) = match (&cause.law, &state.ages) {
                (LawInput::Exponential { rate_per_second }, _) if cause.is_burst() && cause.loses => {
                    (0.0, *rate_per_second)
                }
                (LawInput::Exponential { rate_per_second }, _) if cause.is_burst() => (*rate_per_second, 0.0),
                (LawInput::Exponential { rate_per_second }, _) => (low * rate_per_second, high * rate_per_second),
                (_, Some(ages)) => {
                    let (bound, _) = ages.bound(self.now);
                    (low * bound, high * bound)
                }
                _ => (0.0, 0.0),
            };
            of_cause[0] = Hazard { rate: critical, critical: true };
            of_cause[1] = Hazard { rate: rest, critical: false };
        }
    }

    fn expected_failures(&self, kind: usize, to: f64) -> f64 {
        let (number, is_critical) = (kind / 2, kind.is_multiple_of(2));
        let cause = &self.plan.causes[number];
        match &cause.law {
            LawInput::Exponential { rate_per_second } => {
                let critical = self.focus.critical[number];
                let count = match (cause.is_burst(), is_critical) {
                    (true, _) => f64::from(u8::from(cause.loses == is_critical)),
                    (false, true) => f64::from(critical),
                    (false, false) => f64::from(self.states[number].alive - critical),
                };
                count * rate_per_second * (to - self.now)
            }
            LawInput::Weibull { .. } => self.expected_by_age(number, is_critical, to),
            LawInput::Trace { .. } | LawInput::Planned { .. } => 0.0,
        }
    }

    fn bounded_until(&self) -> f64 {
        let untils = self.states.iter().filter_map(|state| state.ages.as_ref()).map(|ages| ages.bound(self.now).1);
        untils.fold(f64::INFINITY, f64::min)
    }

    fn next_change(&self) -> f64 {
        self.next
    }

    fn advance(&mut self, to: f64) {
        debug_assert!(to >= self.now && to <= self.next, "{} to {to}, beyond {}", self.now, self.next);
        self.now = to;
    }

    fn change(&mut self, draws: &mut Draws) -> f64 {
        self.settle();
        let mut bytes = 0.0;
        let certain = self.certain.peek().map_or(f64::INFINITY, |Reverse(certain)| certain.at);
        match self.earliest() {
            Some((at, slot)) if at < certain => bytes = self.step(slot),
            _ => {
                if let Some(Reverse(certain)) = self.certain.pop() {
                    self.happen(certain.what, draws);
                }
            }
        }
        self.conclude();
        self.latent_probability(bytes)
    }

    fn fail(&mut self, kind: usize, draws: &mut Draws) -> bool {
        let (cause, is_critical) = (kind / 2, kind.is_multiple_of(2));
        let law = &self.plan.causes[cause];
        if law.is_burst() {
            self.settle();
            self.burst(cause, draws);
        } else {
            let part = self.draw_part(cause, is_critical, draws);
            if let Some(ages) = &self.states[cause].ages
                && draws.uniform() * ages.bound(self.now).0 >= ages.hazard_of(part, self.now)
            {
                return false;
            }
            self.settle();
            self.strike(cause, &[part], draws);
        }
        self.conclude();
        true
    }

    fn damage(&self) -> f64 {
        let distance = self.plan.distance;
        self.focus.margin.map_or(0.0, |margin| f64::from(distance - margin) / f64::from(distance))
    }

    fn steps(&self) -> usize {
        self.plan.distance as usize
    }

    fn is_idle(&self) -> bool {
        self.active.is_empty()
            && self.away.is_empty()
            && self.certain.iter().all(|Reverse(certain)| matches!(certain.what, What::Next { .. }))
    }

    fn window(&self) -> f64 {
        let Some(margin) = self.focus.margin else { return f64::INFINITY };
        let mut window: f64 = 0.0;
        for record in self.damaged.at_margin(margin).take(64) {
            let first = record.lost.iter().map(|&(_, slot)| self.time_to(slot, Some(record.group)));
            window = window.max(first.fold(f64::INFINITY, f64::min));
        }
        for &slot in &self.active {
            if self.plan.holdings[self.slots[slot as usize].device as usize].margin == margin {
                window = window.max(self.time_to(slot, None));
            }
        }
        window
    }

    fn take_loss(&mut self) -> Option<Loss> {
        let mut loss = self.loss.take()?;
        loss.causes.iter_mut().for_each(|share| *share /= loss.groups as f64);
        Some(loss)
    }

    fn latent_loss(&self) -> Loss {
        self.latent_loss.clone()
    }
}

impl StorageSystem {
    /// About how long from now until a group, or all, of a lost device is back.
    fn time_to(&self, slot: u32, group: Option<u32>) -> f64 {
        let lost = &self.slots[slot as usize];
        let takes = self.takes_about(slot);
        // It is known as of the last event; since then time has passed.
        let passed = |left: f64| (lost.settled() + left - self.now).max(0.0);
        let left = match (lost.phase, group) {
            (Phase::Holding, _) => {
                // What cannot be read now can be when the first part is back.
                let back = |certain: &&Reverse<Certain>| matches!(certain.0.what, What::Back { .. });
                let first = self.certain.iter().filter(back).map(|Reverse(certain)| certain.at);
                return first.fold(f64::INFINITY, f64::min) - self.now;
            }
            (_, Some(group)) => lost.time_to(group, takes, self.plan.repair.returns),
            (_, None) => lost.left * takes,
        };
        if lost.phase == Phase::Waiting { (lost.ready - self.now).max(0.0) + left } else { passed(left) }
    }
}
