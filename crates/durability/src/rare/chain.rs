//! A small Markov chain as a model: what estimators are tried on, since linear algebra has its exact answer, and a way to ask about
//! chains that are too large for it.

use std::sync::Arc;

use resilver_kernel::Stream;
use serde::Deserialize;

use crate::{Draws, DurabilityError, Hazard, Loss, Model};

/// A chain that begins in state 0, whole. It has failures of several kinds, repairs, and states in which data is lost; from these it
/// goes on in state 0.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainInput {
    /// How long data has to last, in seconds.
    pub mission_seconds: f64,
    /// Of each state by how many steps it is damaged; data is lost in the states of the largest number.
    pub damage: Vec<u32>,
    /// What raises damage or leaves it as it is.
    pub failures: Vec<FailureRate>,
    /// What lowers it.
    pub repairs: Vec<RepairRate>,
}

/// A failure from one state to another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureRate {
    /// The state before.
    pub from: usize,
    /// The state after.
    pub to: usize,
    /// How often, a second.
    pub per_second: f64,
    /// Of which kind, from 0.
    #[serde(default)]
    pub kind: usize,
}

/// A repair from one state to another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairRate {
    /// The state before.
    pub from: usize,
    /// The state after.
    pub to: usize,
    /// How often, a second.
    pub per_second: f64,
    /// The probability that it meets a latent error, and data is lost.
    #[serde(default)]
    pub latent: f64,
}

/// A chain that has been checked.
#[derive(Debug)]
struct Rates {
    mission_seconds: f64,
    damage: Vec<f64>,
    steps: usize,
    kinds: usize,
    /// By state and kind: the hazard, and where it leads with which rate.
    hazards: Vec<Hazard>,
    failures: Vec<Vec<(usize, f64)>>,
    /// By state: the rate of all repairs, and where each leads with which rate and probability of a latent error.
    repair: Vec<f64>,
    repairs: Vec<Vec<(usize, f64, f64)>>,
}

/// A Markov chain that fails and is repaired.
#[derive(Clone, Debug)]
pub struct Chain {
    rates: Arc<Rates>,
    state: usize,
    now: f64,
    next_change: f64,
    /// The kind of the failure by which data was lost, until it is taken.
    lost: Option<usize>,
}

impl Chain {
    /// A chain from its rates.
    pub fn of(input: &ChainInput) -> Result<Self, DurabilityError> {
        let rates = Arc::new(Rates::of(input)?);
        Ok(Chain { rates, state: 0, now: 0.0, next_change: f64::INFINITY, lost: None })
    }

    /// How long data has to last, in seconds.
    pub fn mission_seconds(&self) -> f64 {
        self.rates.mission_seconds
    }

    /// Goes on in a state: draws when its repair ends.
    fn enter(&mut self, state: usize, draws: &mut Stream) {
        self.state = state;
        let rate = self.rates.repair[state];
        self.next_change = if rate > 0.0 { self.now + draws.exponential(1.0 / rate) } else { f64::INFINITY };
    }
}

impl Rates {
    fn of(input: &ChainInput) -> Result<Self, DurabilityError> {
        let states = input.damage.len();
        let steps = input.damage.iter().copied().max().unwrap_or(0);
        if steps == 0 || input.damage[0] != 0 {
            let rule = "state 0 has no damage, and another is lost";
            let found = format!("{:?}", input.damage);
            return Err(DurabilityError::invalid("damage", found, rule, "give each state its steps of damage"));
        }
        let kinds = input.failures.iter().map(|failure| failure.kind + 1).max().unwrap_or(0);
        let mut rates = Rates {
            mission_seconds: input.mission_seconds,
            damage: input.damage.iter().map(|&damage| f64::from(damage) / f64::from(steps)).collect(),
            steps: steps as usize,
            kinds,
            hazards: vec![Hazard::default(); states * kinds],
            failures: vec![Vec::new(); states * kinds],
            repair: vec![0.0; states],
            repairs: vec![Vec::new(); states],
        };
        for (index, failure) in input.failures.iter().enumerate() {
            let (from, to, rate) = (failure.from, failure.to, failure.per_second);
            check(&format!("failures[{index}]"), from, to, rate, &rates.damage)?;
            let hazard = &mut rates.hazards[from * kinds + failure.kind];
            hazard.rate += rate;
            hazard.critical |= rates.damage[to] > rates.damage[from];
            rates.failures[from * kinds + failure.kind].push((to, rate));
        }
        for (index, repair) in input.repairs.iter().enumerate() {
            let (from, to, rate) = (repair.from, repair.to, repair.per_second);
            let path = format!("repairs[{index}]");
            check(&path, from, to, rate, &rates.damage)?;
            if rates.damage[to] >= 1.0 {
                let remedy = "say the probability of a latent error instead";
                return Err(DurabilityError::invalid(path + ".to", to, "a repair does not lead to loss", remedy));
            }
            if !(0.0..=1.0).contains(&repair.latent) {
                let field = path + ".latent";
                return Err(DurabilityError::invalid(field, repair.latent, "a probability", "0 where there are none"));
            }
            rates.repair[from] += rate;
            rates.repairs[from].push((to, rate, repair.latent));
        }
        Ok(rates)
    }
}

fn check(path: &str, from: usize, to: usize, rate: f64, damage: &[f64]) -> Result<(), DurabilityError> {
    let invalid = |field: &str, value: String, rule: &str, remedy: &str| {
        Err(DurabilityError::invalid(format!("{path}.{field}"), value, rule, remedy))
    };
    for (field, state) in [("from", from), ("to", to)] {
        if state >= damage.len() {
            return invalid(field, state.to_string(), "a state of the chain", "number states from 0");
        }
    }
    if damage[from] >= 1.0 {
        return invalid("from", from.to_string(), "nothing leads out of loss", "leave it out");
    }
    if from == to {
        return invalid("to", to.to_string(), "another state than `from`", "leave it out");
    }
    if !(rate >= 0.0 && rate.is_finite()) {
        return invalid(
            "per_second",
            rate.to_string(),
            "a rate is finite and not below zero",
            "say how often a second",
        );
    }
    Ok(())
}

impl Model for Chain {
    fn reset(&mut self, draws: &mut Draws) {
        (self.now, self.lost) = (0.0, None);
        self.enter(0, draws);
    }

    fn now(&self) -> f64 {
        self.now
    }

    fn kinds(&self) -> usize {
        self.rates.kinds
    }

    fn hazards(&self, hazards: &mut [Hazard]) {
        let kinds = self.rates.kinds;
        hazards.copy_from_slice(&self.rates.hazards[self.state * kinds..][..kinds]);
    }

    fn expected_failures(&self, kind: usize, to: f64) -> f64 {
        self.rates.hazards[self.state * self.rates.kinds + kind].rate * (to - self.now)
    }

    fn bounded_until(&self) -> f64 {
        f64::INFINITY
    }

    fn next_change(&self) -> f64 {
        self.next_change
    }

    fn advance(&mut self, to: f64) {
        self.now = to;
    }

    fn change(&mut self, draws: &mut Draws) -> f64 {
        let rates = Arc::clone(&self.rates);
        let ways = &rates.repairs[self.state];
        let (to, _, latent) = ways[super::steps::pick(draws, rates.repair[self.state], ways.iter().map(|way| way.1))];
        self.enter(to, draws);
        latent
    }

    fn fail(&mut self, kind: usize, draws: &mut Draws) -> bool {
        let rates = Arc::clone(&self.rates);
        let at = self.state * rates.kinds + kind;
        let ways = &rates.failures[at];
        let (to, _) = ways[super::steps::pick(draws, rates.hazards[at].rate, ways.iter().map(|way| way.1))];
        if rates.damage[to] >= 1.0 {
            self.lost = Some(kind);
            self.enter(0, draws);
        } else {
            self.enter(to, draws);
        }
        true
    }

    fn damage(&self) -> f64 {
        self.rates.damage[self.state]
    }

    fn steps(&self) -> usize {
        self.rates.steps
    }

    fn is_idle(&self) -> bool {
        self.state == 0
    }

    fn window(&self) -> f64 {
        self.next_change - self.now
    }

    fn take_loss(&mut self) -> Option<Loss> {
        self.lost.take().map(|kind| self.loss(kind))
    }

    fn latent_loss(&self) -> Loss {
        self.loss(self.rates.kinds)
    }
}

impl Chain {
    /// The loss of one group and one byte by one kind; latent errors come after all kinds.
    fn loss(&self, kind: usize) -> Loss {
        let mut causes = vec![0.0; self.rates.kinds + 1];
        causes[kind] = 1.0;
        Loss { groups: 1, bytes: 1.0, causes }
    }
}
