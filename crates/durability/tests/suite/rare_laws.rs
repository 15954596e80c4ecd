//! Rates that change with time, and failures that are certain: nothing begins anew, and answers come from differential equations.

use resilver_durability::{Draws, Hazard, Loss, Method, Model};

use crate::chains::{HOUR, PUSHED, YEAR, batch, estimate};

/// Pieces that fail the more the older the system is (Weibull, shape 3), that are repaired all at once at a constant rate, and of which
/// one more is lost at each of some times.
#[derive(Clone)]
struct Aging {
    pieces: u32,
    lost_at: u32,
    scale: f64,
    repair_rate: f64,
    trace: &'static [f64],
    now: f64,
    lost: u32,
    repaired: f64,
    traced: usize,
    loss: Option<Loss>,
}

/// How long the bound of a rate holds: an eighth of a year, so that a mission has several.
const BOUNDED: f64 = YEAR / 8.0;

impl Aging {
    fn new(pieces: u32, lost_at: u32, scale: f64, hours: f64, trace: &'static [f64]) -> Self {
        let repair_rate = 1.0 / (hours * HOUR);
        Aging {
            pieces,
            lost_at,
            scale,
            repair_rate,
            trace,
            now: 0.0,
            lost: 0,
            repaired: f64::INFINITY,
            traced: 0,
            loss: None,
        }
    }

    /// The rate of one piece at an age.
    fn rate(&self, age: f64) -> f64 {
        3.0 * age * age / self.scale.powi(3)
    }

    fn lose_one(&mut self, cause: usize, draws: &mut Draws) {
        self.lost += 1;
        if self.lost == self.lost_at {
            let causes = if cause == 0 { vec![1.0, 0.0] } else { vec![0.0, 1.0] };
            self.loss = Some(Loss { groups: 1, bytes: 1.0, causes });
            self.lost = 0;
        }
        self.foresee(draws);
    }

    fn foresee(&mut self, draws: &mut Draws) {
        self.repaired = if self.lost == 0 {
            f64::INFINITY
        } else {
            self.now + draws.exponential(1.0 / (f64::from(self.lost) * self.repair_rate))
        };
    }

    fn traced_at(&self) -> f64 {
        self.trace.get(self.traced).copied().unwrap_or(f64::INFINITY)
    }

    /// The probability of loss within a time, by Runge and Kutta's fourth-order steps.
    fn exact(&self, mission: f64) -> f64 {
        const STEPS: usize = 200_000;
        let dt = mission / STEPS as f64;
        let lost_at = self.lost_at as usize;
        let slope = |time: f64, p: &[f64; 8]| {
            let mut slope = [0.0; 8];
            for lost in 0..lost_at {
                let fails = f64::from(self.pieces - lost as u32) * self.rate(time) * p[lost];
                let heals = lost as f64 * self.repair_rate * p[lost];
                slope[lost] -= fails + heals;
                slope[lost + 1] += fails;
                if lost > 0 {
                    slope[lost - 1] += heals;
                }
            }
            slope
        };
        let mut p = [0.0; 8];
        p[0] = 1.0;
        for step in 0..STEPS {
            let time = step as f64 * dt;
            for &at in self.trace {
                // The grid has the times of the trace: see where they are said.
                if (at / dt).round() as usize == step {
                    p[lost_at] += p[lost_at - 1];
                    (1..lost_at).rev().for_each(|lost| p[lost] = p[lost - 1]);
                    p[0] = 0.0;
                }
            }
            let along = |by: f64, slope: &[f64; 8]| std::array::from_fn(|state| p[state] + by * slope[state]);
            let first = slope(time, &p);
            let second = slope(time + dt / 2.0, &along(dt / 2.0, &first));
            let third = slope(time + dt / 2.0, &along(dt / 2.0, &second));
            let fourth = slope(time + dt, &along(dt, &third));
            let by = |state| first[state] + 2.0 * second[state] + 2.0 * third[state] + fourth[state];
            p = std::array::from_fn(|state| p[state] + dt / 6.0 * by(state));
        }
        p[lost_at]
    }
}

impl Model for Aging {
    fn reset(&mut self, draws: &mut Draws) {
        (self.now, self.lost, self.traced, self.loss) = (0.0, 0, 0, None);
        self.foresee(draws);
    }
    fn now(&self) -> f64 {
        self.now
    }
    fn kinds(&self) -> usize {
        1
    }
    fn hazards(&self, hazards: &mut [Hazard]) {
        let rate = f64::from(self.pieces - self.lost) * self.rate(self.bounded_until());
        hazards[0] = Hazard { rate, critical: true };
    }
    fn expected_failures(&self, _: usize, to: f64) -> f64 {
        f64::from(self.pieces - self.lost) * (to.powi(3) - self.now.powi(3)) / self.scale.powi(3)
    }
    fn bounded_until(&self) -> f64 {
        ((self.now / BOUNDED).floor() + 1.0) * BOUNDED
    }
    fn next_change(&self) -> f64 {
        self.repaired.min(self.traced_at())
    }
    fn advance(&mut self, to: f64) {
        self.now = to;
    }
    fn change(&mut self, draws: &mut Draws) -> f64 {
        if self.traced_at() <= self.repaired {
            self.traced += 1;
            self.lose_one(1, draws);
        } else {
            self.lost -= 1;
            self.foresee(draws);
        }
        0.0
    }
    fn fail(&mut self, _: usize, draws: &mut Draws) -> bool {
        if draws.uniform() * self.rate(self.bounded_until()) >= self.rate(self.now) {
            return false;
        }
        self.lose_one(0, draws);
        true
    }
    fn damage(&self) -> f64 {
        f64::from(self.lost) / f64::from(self.lost_at)
    }
    fn steps(&self) -> usize {
        self.lost_at as usize
    }
    fn is_idle(&self) -> bool {
        self.lost == 0
    }
    fn window(&self) -> f64 {
        self.repaired - self.now
    }
    fn take_loss(&mut self) -> Option<Loss> {
        self.loss.take()
    }
    fn latent_loss(&self) -> Loss {
        Loss::default()
    }
}

/// Each within four standard errors, which are below `error` of the value.
fn holds(model: &Aging, mission: f64, method: Method, trajectories: u64, most: f64) {
    let exact = model.exact(mission);
    let (value, error) = estimate(&batch(model, method, mission, 11, trajectories));
    println!("{method:?}: {:.4} +- {:.4} of {exact:.4e}", value / exact, error / exact);
    assert!((value - exact).abs() < 4.0 * error, "{method:?}: {value:e} +- {error:e}, not {exact:e}");
    assert!(error < most * exact, "{method:?}: {error:e} of {exact:e}");
}

#[test]
fn rates_that_rise_with_age_are_weighed() {
    // 2e-10, most of it in the last year: rates rise with the square of the age, and a loss takes four failures.
    let rare = Aging::new(6, 4, 10.0 * YEAR, 50.0, &[]);
    assert!(rare.exact(5.0 * YEAR) < 1e-8);
    holds(&rare, 5.0 * YEAR, PUSHED, 200_000, 0.05);
    // And where missions lose data as they come, by each method.
    let frequent = Aging::new(6, 3, 4.0 * YEAR, 100.0, &[]);
    holds(&frequent, 5.0 * YEAR, Method::Plain, 50_000, 0.05);
    holds(&frequent, 5.0 * YEAR, PUSHED, 20_000, 0.05);
    holds(&frequent, 5.0 * YEAR, Method::Splitting { copies: 10, from: 1 }, 20_000, 0.06);
}

#[test]
fn failures_that_are_certain_begin_futures_too() {
    // Two pieces are lost an hour of the grid apart in the second year, and one in the fourth: of the five years 200,000 steps are 789 s.
    const DT: f64 = 5.0 * YEAR / 200_000.0;
    static TRACE: [f64; 3] = [70_000.0 * DT, 70_010.0 * DT, 150_000.0 * DT];
    let rare = Aging::new(6, 4, 30.0 * YEAR, 50.0, &TRACE);
    let without = Aging::new(6, 4, 30.0 * YEAR, 50.0, &[]);
    assert!(rare.exact(5.0 * YEAR) > 10.0 * without.exact(5.0 * YEAR));
    // Half of the losses need two failures in the days just before the trace's.
    for from in [0, 1] {
        holds(&rare, 5.0 * YEAR, Method::Importance { push: 0.8, from }, 50_000, 0.05);
    }
    let weaker = Aging::new(6, 3, 10.0 * YEAR, 50.0, &TRACE);
    assert!(weaker.exact(5.0 * YEAR) > 10.0 * Aging::new(6, 3, 10.0 * YEAR, 50.0, &[]).exact(5.0 * YEAR));
    holds(&weaker, 5.0 * YEAR, Method::Plain, 50_000, 0.3);
    holds(&weaker, 5.0 * YEAR, Method::Importance { push: 0.8, from: 2 }, 100_000, 0.2);
    holds(&weaker, 5.0 * YEAR, Method::Splitting { copies: 30, from: 1 }, 30_000, 0.2);
}

#[test]
fn a_trace_that_is_enough_by_itself_loses_for_certain() {
    // Two at one moment of which one may be lost, whatever else happens.
    static TRACE: [f64; 2] = [0.5 * YEAR, 0.5 * YEAR];
    let certain = Aging::new(3, 2, 1e6 * YEAR, 1.0, &TRACE);
    for method in [Method::Plain, PUSHED, Method::Importance { push: 0.8, from: 2 }] {
        let sums = batch(&certain, method, YEAR, 1, 1_000);
        assert_eq!((sums.loss, sums.loss_by_cause[1]), (1_000.0, 1_000.0), "{method:?}");
    }
}
