//! What becomes of an input once its descents have landed: placed, to be tried further, or beyond this road.

use super::descend::Landing;
use super::{Lockstep, SHORT};
use crate::NONE;
use crate::choosing::choose::{UNDECIDED, is_turned_away};

/// How far an input has come.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    /// Positions that are settled: of a firstn step, all before this one.
    placed: usize,
    /// Failures of the position in hand (firstn) or rounds gone by (indep).
    pub(super) failures: u32,
}

/// The state of an input after a round.
pub(super) enum Settled {
    /// Its row is complete.
    Placed,
    /// Some position needs a further descent.
    Waiting,
    /// It met something that only the plain road knows how to treat.
    Unfit,
}

/// What becomes of one landing.
enum Verdict {
    Accepted,
    Again,
    Unfit,
}

impl Lockstep<'_> {
    /// Settles what can be settled of one input; `row` receives the devices once all is.
    pub(super) fn settle(
        &self,
        x: u32,
        reweight: &[u32],
        landings: &mut [Landing],
        progress: &mut Progress,
        row: &mut [i32],
    ) -> Settled {
        let settled = match self.choose.firstn {
            true => self.settle_firstn(x, reweight, landings, progress),
            false => self.settle_indep(x, reweight, landings, progress, &mut row[..self.positions]),
        };
        if matches!(settled, Settled::Placed) {
            for (slot, landing) in row.iter_mut().zip(landings) {
                // An indep step marks its holes as it goes.
                let is_hole = !self.choose.firstn && *slot == UNDECIDED;
                let device = if self.choose.leaf { landing.device } else { landing.item };
                *slot = if is_hole { NONE } else { device };
            }
            row[self.positions..].fill(SHORT);
        }
        settled
    }

    /// The positions that need a further descent.
    pub(super) fn wanting(&self, landings: &[Landing], progress: &Progress) -> impl Iterator<Item = usize> + use<> {
        let mut wanting = 0u64;
        if self.choose.firstn {
            wanting |= 1 << progress.placed;
        } else {
            for (position, landing) in landings.iter().enumerate() {
                wanting |= u64::from(*landing == Landing::OPEN) << position;
            }
        }
        (0..u64::BITS as usize).filter(move |position| wanting >> position & 1 == 1)
    }

    /// firstn: each position in turn takes the first landing that serves; those behind it have theirs ready.
    fn settle_firstn(&self, x: u32, reweight: &[u32], landings: &[Landing], progress: &mut Progress) -> Settled {
        while let Some(landing) = landings.get(progress.placed) {
            let before = &landings[..progress.placed];
            let is_collision = before.iter().any(|other| other.item == landing.item);
            // The devices of different items are different too, unless the items share one.
            let is_leaf_collision = self.choose.leaf && before.iter().any(|other| other.device == landing.device);
            match self.judge(x, reweight, landing, is_collision, is_leaf_collision) {
                Verdict::Unfit => return Settled::Unfit,
                Verdict::Accepted => *progress = Progress { placed: progress.placed + 1, failures: 0 },
                Verdict::Again => {
                    progress.failures += 1;
                    // A copy without a place leaves its number to none, so the copies behind it are drawn otherwise.
                    let is_spent = progress.failures >= self.total;
                    return if is_spent { Settled::Unfit } else { Settled::Waiting };
                }
            }
        }
        Settled::Placed
    }

    /// indep: every round looks at all positions without an item, in order.
    fn settle_indep(
        &self,
        x: u32,
        reweight: &[u32],
        landings: &mut [Landing],
        progress: &mut Progress,
        taken: &mut [i32],
    ) -> Settled {
        if progress.failures == 0 {
            taken.fill(UNDECIDED);
        }
        for position in 0..taken.len() {
            if taken[position] != UNDECIDED {
                continue;
            }
            let landing = landings[position];
            let is_collision = taken.contains(&landing.item);
            match self.judge(x, reweight, &landing, is_collision, false) {
                Verdict::Unfit => return Settled::Unfit,
                Verdict::Accepted => {
                    taken[position] = landing.item;
                    progress.placed += 1;
                }
                Verdict::Again => landings[position] = Landing::OPEN,
            }
        }
        progress.failures += 1;
        let is_over = progress.placed == taken.len() || progress.failures >= self.total;
        if is_over { Settled::Placed } else { Settled::Waiting }
    }

    /// What becomes of a landing that collides, or does not, with items taken before.
    fn judge(
        &self,
        x: u32,
        reweight: &[u32],
        landing: &Landing,
        is_collision: bool,
        is_leaf_collision: bool,
    ) -> Verdict {
        if landing.item == NONE {
            return Verdict::Unfit;
        }
        if is_collision {
            return Verdict::Again;
        }
        let is_device = landing.item == landing.device;
        let is_out = landing.device >= 0 && is_turned_away(reweight, x, landing.device);
        if is_device {
            // An indep step that names devices as its failure domain keeps one that was turned away, if nothing better
            // comes.
            let keeps = !self.choose.firstn && self.choose.leaf;
            return match is_out {
                true if keeps => Verdict::Unfit,
                true => Verdict::Again,
                false => Verdict::Accepted,
            };
        }
        if is_out || is_leaf_collision {
            // With several attempts below the chosen item, the next may find another device there.
            return if self.leaf_total > 1 { Verdict::Unfit } else { Verdict::Again };
        }
        Verdict::Accepted
    }
}
