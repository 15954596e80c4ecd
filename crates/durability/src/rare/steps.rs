//! From one failure or change of a model to the next.

use resilver_kernel::{Stream, exp};

use crate::{Hazard, Model};

/// What happened at the end of a step.
pub(super) enum Happened {
    /// Nothing: the time that was asked for has come, a bound ended, or a failure was thinned out.
    Nothing,
    /// What was certain, and with it the probability that data was lost to latent errors.
    Change { latent: f64 },
    /// A failure of a kind.
    Failure { kind: usize },
}

impl Happened {
    /// How likely nothing is lost yet, where that was `alive` before this happened to a model.
    pub(super) fn survived<M: Model>(&self, model: &mut M, alive: f64) -> f64 {
        if model.take_loss().is_some() {
            return 0.0;
        }
        match self {
            Happened::Change { latent } => alive * (1.0 - latent),
            _ => alive,
        }
    }
}

/// The clock of random failures of one trajectory.
pub(super) struct Steps {
    /// How likely each kind was at the beginning of the last step.
    pub(super) hazards: Vec<Hazard>,
    /// By how much each kind's failures are more likely than they are; 1 where they are not.
    pub(super) boosts: Vec<f64>,
    /// Of the integral of all (boosted) rates, what is left until the next failure: exponentially distributed with mean 1. To keep
    /// it over changes is the same as to draw anew, and takes fewer draws.
    left: f64,
}

impl Steps {
    pub(super) fn new<M: Model>(model: &M) -> Self {
        let kinds = model.kinds();
        Steps { hazards: vec![Hazard::default(); kinds], boosts: vec![1.0; kinds], left: 0.0 }
    }

    /// Begins anew.
    pub(super) fn restart(&mut self, draws: &mut Stream) {
        self.left = draws.exponential(1.0);
    }

    /// Reads how likely each kind is now.
    pub(super) fn look<M: Model>(&mut self, model: &M) {
        model.hazards(&mut self.hazards);
    }

    /// Goes on to the next failure or change, or to `until`, at which nothing happens yet. The hazards are those of now.
    pub(super) fn plain<M: Model>(&mut self, model: &mut M, until: f64, draws: &mut Stream) -> Happened {
        let total: f64 = self.hazards.iter().map(|hazard| hazard.rate).sum();
        match self.next(model, total, until) {
            Stop::Failure(to) => {
                model.advance(to);
                self.left = draws.exponential(1.0);
                let hazards = &self.hazards;
                let kind = if hazards.len() == 1 { 0 } else { pick(draws, total, hazards.iter().map(|h| h.rate)) };
                if model.fail(kind, draws) { Happened::Failure { kind } } else { Happened::Nothing }
            }
            Stop::Change(to) => {
                model.advance(to);
                Happened::Change { latent: model.change(draws) }
            }
            Stop::Time(to) => {
                model.advance(to);
                Happened::Nothing
            }
        }
    }

    /// The same with each kind's failures as many times more likely as `boosts` says. Multiplies `likelihood` by the likelihood
    /// ratio of what came: for each boosted kind exp((boost - 1) x expected failures), over the boost where one came.
    pub(super) fn boosted<M: Model>(
        &mut self,
        model: &mut M,
        until: f64,
        draws: &mut Stream,
        likelihood: &mut f64,
    ) -> Happened {
        let total: f64 = self.hazards.iter().zip(&self.boosts).map(|(hazard, boost)| hazard.rate * boost).sum();
        let stop = self.next(model, total, until);
        let (Stop::Failure(to) | Stop::Change(to) | Stop::Time(to)) = stop;
        let boosted = self.boosts.iter().enumerate().filter(|&(_, &boost)| boost != 1.0);
        let exposure: f64 = boosted.map(|(kind, &boost)| (boost - 1.0) * model.expected_failures(kind, to)).sum();
        if exposure != 0.0 {
            *likelihood *= exp(exposure);
        }
        model.advance(to);
        match stop {
            Stop::Failure(_) => {
                self.left = draws.exponential(1.0);
                let rates = self.hazards.iter().zip(&self.boosts).map(|(hazard, boost)| hazard.rate * boost);
                let kind = pick(draws, total, rates);
                if !model.fail(kind, draws) {
                    return Happened::Nothing;
                }
                *likelihood /= self.boosts[kind];
                Happened::Failure { kind }
            }
            Stop::Change(_) => Happened::Change { latent: model.change(draws) },
            Stop::Time(_) => Happened::Nothing,
        }
    }

    /// Where the next step ends. What is left of the clock is that at its end.
    fn next<M: Model>(&mut self, model: &M, total: f64, until: f64) -> Stop {
        let now = model.now();
        let change = model.next_change();
        let horizon = change.min(model.bounded_until()).min(until);
        let at = if total > 0.0 { now + self.left / total } else { f64::INFINITY };
        if at < horizon {
            return Stop::Failure(at);
        }
        self.left = (self.left - total * (horizon - now)).max(0.0);
        if change == horizon && change < until { Stop::Change(horizon) } else { Stop::Time(horizon) }
    }
}

/// Where a step ends, and why.
#[derive(Clone, Copy)]
enum Stop {
    Failure(f64),
    Change(f64),
    Time(f64),
}

/// One of several, each as likely as its share of the total. What rounding leaves over is the last that has a share.
pub(super) fn pick(draws: &mut Stream, total: f64, shares: impl Iterator<Item = f64>) -> usize {
    let mut left = draws.uniform() * total;
    let mut picked = 0;
    for (index, share) in shares.enumerate() {
        if share > 0.0 {
            picked = index;
            if left < share {
                break;
            }
            left -= share;
        }
    }
    picked
}
