//! What trajectories came to.

use resilver_kernel::Digest;

use super::steps::Happened;
use crate::{BatchSums, Loss, Model};

/// Parts of the mission in which losses are counted by their time.
const PARTS: usize = 50;

/// Sums over trajectories, and what the present one came to so far.
pub(super) struct Tally {
    sums: BatchSums,
    mission: f64,
    /// Its estimate of the probability of loss, in all and by part of the mission.
    loss: f64,
    by_time: [f64; PARTS],
    bytes: f64,
    digest: Digest,
}

impl Tally {
    pub(super) fn new(mission: f64) -> Self {
        let sums = BatchSums {
            loss_by_time: vec![0.0; PARTS],
            loss_by_time_squared: vec![0.0; PARTS],
            ..BatchSums::default()
        };
        Tally { sums, mission, loss: 0.0, by_time: [0.0; PARTS], bytes: 0.0, digest: Digest::new() }
    }

    /// Counts what happened; whether anything did.
    #[inline]
    pub(super) fn happened(&mut self, happened: &Happened, time: f64) -> bool {
        if let Happened::Nothing = happened {
            return false;
        }
        self.sums.events += 1;
        self.sums.failures += u64::from(matches!(happened, Happened::Failure { .. }));
        self.digest.fold(time.to_bits());
        true
    }

    /// Counts what a model lost by what happened, where the trajectory has a weight and nothing was lost before with the
    /// probability `alive`; returns that probability from now on.
    pub(super) fn losses<M: Model>(&mut self, model: &mut M, happened: &Happened, weight: f64, alive: f64) -> f64 {
        let mut alive = alive;
        if let &Happened::Change { latent } = happened
            && latent > 0.0
        {
            self.lose(model.now(), weight * alive * latent, weight * latent, &model.latent_loss());
            alive *= 1.0 - latent;
        }
        if let Some(loss) = model.take_loss() {
            self.lose(model.now(), weight * alive, weight, &loss);
            alive = 0.0;
        }
        alive
    }

    /// Data was lost at a time. `first` is the weight with which it is the first loss of a mission, `weight` that with which it is
    /// any.
    fn lose(&mut self, time: f64, first: f64, weight: f64, loss: &Loss) {
        self.bytes += weight * loss.bytes;
        self.digest.fold(weight.to_bits());
        if first == 0.0 {
            return;
        }
        self.loss += first;
        let part = (time / self.mission * PARTS as f64) as usize;
        self.by_time[part.min(PARTS - 1)] += first;
        let causes = &mut self.sums.loss_by_cause;
        causes.resize(causes.len().max(loss.causes.len()), 0.0);
        causes.iter_mut().zip(&loss.causes).for_each(|(sum, share)| *sum += first * share);
        self.sums.seen += 1;
        self.sums.largest_weight = self.sums.largest_weight.max(first);
        self.sums.weights += first;
        self.sums.weights_squared += first * first;
    }

    /// A system was simulated for so long.
    pub(super) fn simulated(&mut self, seconds: f64) {
        self.sums.system_seconds += seconds;
    }

    /// A mission ended as it came; that it lost nothing has the probability `alive`.
    pub(super) fn mission_ended(&mut self, alive: f64) {
        self.sums.plain_loss += 1.0 - alive;
        self.simulated(self.mission);
    }

    /// Events so far.
    pub(super) fn events(&self) -> u64 {
        self.sums.events
    }

    /// The trajectory has ended.
    pub(super) fn end_trajectory(&mut self) {
        let sums = &mut self.sums;
        sums.trajectories += 1;
        sums.digest = sums.digest.wrapping_add(self.digest.value());
        self.digest = Digest::new();
        if self.bytes != 0.0 {
            sums.bytes += self.bytes;
            sums.bytes_squared += self.bytes * self.bytes;
            self.bytes = 0.0;
        }
        if self.loss == 0.0 {
            return;
        }
        sums.loss += self.loss;
        sums.loss_squared += self.loss * self.loss;
        sums.loss_cubed += self.loss * self.loss * self.loss;
        let mut until = 0.0;
        for (part, weight) in self.by_time.iter().enumerate() {
            until += weight;
            sums.loss_by_time[part] += weight;
            sums.loss_by_time_squared[part] += until * until;
        }
        self.loss = 0.0;
        self.by_time = [0.0; PARTS];
    }

    pub(super) fn into_sums(self) -> BatchSums {
        self.sums
    }
}
