//! Parts that fail by their age: a hazard that rises or falls, under a bound that holds for a while.
//!
//! The hazard of a Weibull law, `(shape / scale) (age / scale)^(shape - 1)`, has no end at age 0 where the shape is below 1. There it is taken as
//! constant over the first ten thousandth of the scale, at its mean over that time: as many fail by then, and all later failures are
//! as they were.

use std::sync::Arc;

use resilver_kernel::{exp, ln};

/// Ages below this share of the scale have one hazard where it falls with age.
const YOUNG_SHARE: f64 = 1e-4;
/// The mission is cut in so many parts, within each of which a bound of a rising hazard holds.
const BOUNDS: f64 = 64.0;
/// The oldest is looked for when this share of all parts has been made new.
const SOUGHT_EVERY: usize = 8;

/// The ages of the parts that fail by one law.
#[derive(Clone, Debug)]
pub(super) struct Ages {
    shape: f64,
    scale: f64,
    /// How long a bound of a rising hazard holds.
    step: f64,
    /// When each part of the level was new, and when at the beginning.
    births: Vec<f64>,
    first_births: Arc<[f64]>,
    /// Parts that were made new since, once each or more often.
    renewed: Vec<u32>,
    /// No birth is before the first of these, nor after the second; and how they were at the beginning.
    oldest: f64,
    youngest: f64,
    first: (f64, f64),
    /// How many parts were made new since the oldest was looked for.
    unsought: usize,
    parts: Arc<[u32]>,
    /// Parts by when they were new at the beginning, where they differ little: births, and how many.
    cohorts: Arc<[(f64, u32)]>,
}

impl Ages {
    pub fn of((shape, scale): (f64, f64), ages: &[f64], parts: &[u32], count: usize, mission: f64) -> Self {
        let mut births = vec![0.0; count];
        for (place, &part) in parts.iter().enumerate() {
            births[part as usize] = -ages.get(place).or(ages.first()).copied().unwrap_or(0.0);
        }
        let own = || parts.iter().map(|&part| births[part as usize]);
        let (oldest, youngest) =
            own().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), birth| (birth.min(low), birth.max(high)));
        let mut sorted: Vec<f64> = own().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let cohorts =
            sorted.chunk_by(|left, right| left == right).map(|equal| (equal[0], equal.len() as u32)).collect();
        Self {
            shape,
            scale,
            step: mission / BOUNDS,
            first_births: births.as_slice().into(),
            births,
            renewed: Vec::new(),
            oldest,
            youngest,
            first: (oldest, youngest),
            unsought: 0,
            parts: parts.into(),
            cohorts,
        }
    }

    /// Begins anew.
    pub fn reset(&mut self) {
        for part in self.renewed.drain(..) {
            self.births[part as usize] = self.first_births[part as usize];
        }
        ((self.oldest, self.youngest), self.unsought) = (self.first, 0);
    }

    /// A part is new.
    pub fn renew(&mut self, part: u32, now: f64) {
        let (birth, first) = (&mut self.births[part as usize], self.first_births[part as usize]);
        if *birth == first && now != first {
            self.renewed.push(part);
        }
        *birth = now;
        self.youngest = now;
        self.unsought += 1;
        // To look through all is worth it once so many are new that few of the oldest may be left.
        if SOUGHT_EVERY * self.unsought >= self.parts.len() {
            self.unsought = 0;
            let births = self.parts.iter().map(|&part| self.births[part as usize]);
            self.oldest = births.fold(f64::INFINITY, f64::min);
        }
    }

    /// The power of an age over the scale.
    fn power(&self, age: f64, exponent: f64) -> f64 {
        if age <= 0.0 { 0.0 } else { exp(ln(age / self.scale) * exponent) }
    }

    /// The age below which the hazard is constant.
    fn young(&self) -> f64 {
        if self.shape < 1.0 { YOUNG_SHARE * self.scale } else { 0.0 }
    }

    /// The hazard at an age.
    fn hazard(&self, age: f64) -> f64 {
        if age < self.young() {
            return self.power(self.young(), self.shape) / self.young();
        }
        if self.shape == 1.0 { 1.0 / self.scale } else { self.shape / self.scale * self.power(age, self.shape - 1.0) }
    }

    /// The integral of the hazard from age 0.
    fn cumulative(&self, age: f64) -> f64 {
        if age < self.young() { age * self.hazard(age) } else { self.power(age, self.shape) }
    }

    /// The hazard of a part now.
    pub fn hazard_of(&self, part: u32, now: f64) -> f64 {
        self.hazard(now - self.births[part as usize])
    }

    /// Failures that a part is expected to have between two times.
    pub fn expected(&self, part: u32, from: f64, to: f64) -> f64 {
        let birth = self.births[part as usize];
        self.cumulative(to - birth) - self.cumulative(from - birth)
    }

    /// The same of all parts together.
    pub fn expected_of_all(&self, from: f64, to: f64) -> f64 {
        let between = |birth: f64| self.cumulative(to - birth) - self.cumulative(from - birth);
        let first = self.cohorts.iter().map(|&(birth, count)| f64::from(count) * between(birth)).sum::<f64>();
        let changed = |&part: &u32| between(self.births[part as usize]) - between(self.first_births[part as usize]);
        first + self.renewed.iter().map(changed).sum::<f64>()
    }

    /// A bound of the hazard of any part that is there now, and until when it holds.
    pub fn bound(&self, now: f64) -> (f64, f64) {
        if self.shape >= 1.0 {
            // By rounding, a multiple of the step may seem to lie just before itself.
            let steps = (now / self.step).floor() + 1.0;
            let until = if steps * self.step > now { steps * self.step } else { (steps + 1.0) * self.step };
            return (self.hazard(until - self.oldest), until);
        }
        // The bound is the hazard of the youngest when it was as old as the last of 1, 2, 4 and so on times the young age.
        let mut age = self.young();
        if self.youngest + age > now {
            return (self.hazard(0.0), self.youngest + age);
        }
        while self.youngest + 2.0 * age <= now {
            age *= 2.0;
        }
        (self.hazard(age), self.youngest + 2.0 * age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One part of this age at the beginning.
    fn one(shape: f64, age: f64) -> Ages {
        Ages::of((shape, 1000.0), &[age], &[0], 1, 5000.0)
    }

    #[test]
    fn the_hazard_is_what_the_expected_failures_grow_by() {
        // Of shape 2: 2 age / scale^2, and (age / scale)^2.
        let ages = one(2.0, 500.0);
        assert!((ages.hazard_of(0, 0.0) - 1e-3).abs() < 1e-15);
        assert!((ages.expected(0, 0.0, 500.0) - 0.75).abs() < 1e-12);
        assert!((ages.expected_of_all(0.0, 500.0) - 0.75).abs() < 1e-12);
        for shape in [0.5, 0.9, 1.0, 1.12, 3.0] {
            let ages = one(shape, 0.05);
            // By the midpoint rule over 20,000 pieces of 0.1 s, away from the youth in which a low shape changes fast.
            let summed: f64 = (0..20_000).map(|step| 0.1 * ages.hazard_of(0, 100.05 + 0.1 * step as f64)).sum();
            assert!((summed / ages.expected(0, 100.0, 2100.0) - 1.0).abs() < 1e-6, "{shape}: {summed}");
            // The constant hazard of youth makes as many failures as the law.
            let young = 1e-4_f64.powf(shape);
            assert!(shape >= 1.0 || (ages.cumulative(0.1) / young - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_bound_holds_until_it_ends() {
        for shape in [0.4, 0.99, 1.0, 1.12, 5.0] {
            let mut ages = Ages::of((shape, 1000.0), &[0.0, 300.0], &[0, 1], 2, 5000.0);
            ages.renew(1, 17.0);
            let mut now = 17.0;
            while now < 5000.0 {
                let (bound, until) = ages.bound(now);
                assert!(until > now);
                for step in 0..=10 {
                    let at = now + (until - now) * f64::from(step) / 10.001;
                    assert!((0..2).all(|part| ages.hazard_of(part, at) <= bound * (1.0 + 1e-12)), "{shape} at {at}");
                }
                now = until;
            }
        }
    }

    #[test]
    fn a_reset_makes_all_as_old_as_they_were() {
        let mut ages = Ages::of((2.0, 1000.0), &[0.0, 300.0], &[0, 1], 2, 5000.0);
        let before = ages.expected_of_all(10.0, 20.0);
        ages.renew(1, 5.0);
        ages.renew(1, 7.0);
        assert!((ages.expected_of_all(10.0, 20.0) - 2.0 * (0.02f64.powi(2) - 0.01f64.powi(2))).abs() < 2e-4);
        ages.reset();
        assert_eq!(ages.expected_of_all(10.0, 20.0), before);
    }
}
