//! Sums over trajectories: what a batch gives, and how batches are joined.

use serde::{Deserialize, Serialize};

/// How an estimate is made.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Method {
    /// Trajectories as they come.
    Plain,
    /// Critical failures are made more likely, alike for every kind (balanced failure biasing), and the first failure is forced into
    /// the mission; each trajectory has its likelihood ratio for a weight.
    Importance {
        /// The probability, about, that a critical failure comes before what lacks most is whole.
        push: f64,
        /// From which step of damage on failures are made more likely; 0: from the first failure of any kind on, until all is whole
        /// and nothing is under way.
        #[serde(default = "from_first_step")]
        from: u32,
    },
    /// A trajectory that comes closer to loss is split into several, each of less weight.
    Splitting {
        /// Into how many at each step.
        copies: u32,
        /// From which step of damage on; see [`Method::Importance`].
        #[serde(default = "from_first_step")]
        from: u32,
    },
}

fn from_first_step() -> u32 {
    1
}

/// What a batch of trajectories came to. Sums are over trajectories, with their weights; they add up.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct BatchSums {
    /// Trajectories, each a whole mission.
    pub trajectories: u64,
    /// Sum and sum of squares of each trajectory's estimate of the probability of loss.
    pub loss: f64,
    /// See `loss`.
    pub loss_squared: f64,
    /// The sum of their cubes: how skewed they are, which an interval has to know.
    pub loss_cubed: f64,
    /// Missions that lost data as they came, beside which futures stood; of a plain estimate the same as `loss`. It needs no
    /// weights, so a weighted estimate that is far from it cannot be.
    pub plain_loss: f64,
    /// The same of bytes lost.
    pub bytes: f64,
    /// See `bytes`.
    pub bytes_squared: f64,
    /// Of losses, the weight by the time of the first, in equal parts of the mission.
    pub loss_by_time: Vec<f64>,
    /// The weight until the end of each part squared, summed by trajectory: what the error of a survival curve needs.
    pub loss_by_time_squared: Vec<f64>,
    /// Of losses, the weight by cause (the failures of the input, then latent errors).
    pub loss_by_cause: Vec<f64>,
    /// Losses that were seen, whatever their weight, and the largest weight.
    pub seen: u64,
    /// See `seen`.
    pub largest_weight: f64,
    /// Sum and sum of squares of the weights of losses: the effective sample size is the first squared over the second.
    pub weights: f64,
    /// See `weights`.
    pub weights_squared: f64,
    /// Simulated time of whole systems, in seconds, and failures that happened.
    pub system_seconds: f64,
    /// See `system_seconds`.
    pub failures: u64,
    /// All that happened (failures, changes, futures begun): what it cost, whatever the machine.
    pub events: u64,
    /// The digest of all that happened, as a number: the sum of the digests of trajectories, so that it does not depend on how they
    /// are joined.
    pub digest: u64,
}

impl BatchSums {
    /// Adds what other trajectories came to. Sums of numbers depend in their last digits on the order in which they are joined.
    pub fn add(&mut self, other: &BatchSums) {
        let join = |own: &mut Vec<f64>, other: &[f64]| {
            own.resize(own.len().max(other.len()), 0.0);
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        };
        self.trajectories += other.trajectories;
        self.loss += other.loss;
        self.loss_squared += other.loss_squared;
        self.loss_cubed += other.loss_cubed;
        self.plain_loss += other.plain_loss;
        self.bytes += other.bytes;
        self.bytes_squared += other.bytes_squared;
        join(&mut self.loss_by_time, &other.loss_by_time);
        join(&mut self.loss_by_time_squared, &other.loss_by_time_squared);
        join(&mut self.loss_by_cause, &other.loss_by_cause);
        self.seen += other.seen;
        self.largest_weight = self.largest_weight.max(other.largest_weight);
        self.weights += other.weights;
        self.weights_squared += other.weights_squared;
        self.system_seconds += other.system_seconds;
        self.failures += other.failures;
        self.events += other.events;
        self.digest = self.digest.wrapping_add(other.digest);
    }
}
