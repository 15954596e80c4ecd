//! What works will have done by a time until which their rates hold.

use resilver_units::SimTime;

use super::WorkFlow;
use crate::plane::Progress;

impl WorkFlow {
    /// Units that it does from `since` until a time.
    pub fn units_until(&self, at: SimTime) -> f64 {
        let from = self.since.max(self.filled);
        (self.rate * at.since(from).seconds()).min(self.units() - self.done)
    }

    /// What is done once so many units are.
    pub fn progress_of(&self, done: f64) -> Progress {
        // Rounded down but for what arithmetic loses.
        let objects = (done + 1e-6).floor() * self.unit;
        Progress { objects: (objects as u64).min(self.work.objects) }
    }
}
