//! Splitting of a future: where damage rises above all that it was, the future goes on in several copies, each of a share of its
//! weight.
//!
//! Every copy goes on by itself until calm, so that losses of all copies count the same on average as those of one that is not
//! split (fixed splitting; nothing is thrown away).

use resilver_kernel::Stream;

use super::Walker;
use super::excursions::level;
use crate::Model;

/// A future that was split, as it was then.
pub(super) struct Branch<M> {
    model: M,
    /// Copies that have still to go on from here.
    copies: u32,
    at: Standing,
}

/// How a future stands.
#[derive(Clone, Copy)]
struct Standing {
    /// The step of damage that it has reached.
    level: u32,
    weight: f64,
    alive: f64,
}

impl<M: Model> Walker<'_, M> {
    /// The future in `side`, of a weight, until calm.
    pub(super) fn splitting(&mut self, copies: u32, weight: f64, alive: f64, draws: &mut Stream) -> Option<()> {
        let mut branches: Vec<Branch<M>> = Vec::new();
        let mut at = Standing { level: 0, weight, alive };
        loop {
            if let Some(risen) = self.until_risen(at, draws)? {
                let at = Standing { weight: risen.weight / f64::from(copies), ..risen };
                branches.push(Branch { model: self.side.clone(), copies, at });
            }
            // The last branch first: there is never more than one branch a step of damage.
            while branches.last().is_some_and(|branch| branch.copies == 0) {
                branches.pop();
            }
            let Some(branch) = branches.last_mut() else { return Some(()) };
            branch.copies -= 1;
            at = branch.at;
            self.side.clone_from(&branch.model);
        }
    }

    /// Goes on until damage is above the step reached: how it stands then; or until calm. Once data was lost it goes on unsplit,
    /// for what more is lost.
    fn until_risen(&mut self, mut at: Standing, draws: &mut Stream) -> Option<Option<Standing>> {
        let began = self.side.now();
        self.futures.restart(draws);
        let risen = loop {
            if self.side.now() >= self.mission || self.is_calm(&self.side) {
                break None;
            }
            let level = level(&self.side);
            if level > at.level && at.alive > 0.0 {
                break Some(Standing { level, ..at });
            }
            self.futures.look(&self.side);
            let happened = self.futures.plain(&mut self.side, self.mission, draws);
            if self.tally.happened(&happened, self.side.now()) {
                self.go_on()?;
                at.alive = self.tally.losses(&mut self.side, &happened, at.weight, at.alive);
            }
        };
        self.tally.simulated(self.side.now() - began);
        Some(risen)
    }
}
