//! What is certain to happen, and when.

use std::cmp::{Ordering, Reverse};

use super::StorageSystem;
use super::lost::Phase;
use crate::Draws;
use crate::input::LawInput;

/// Something that is certain to happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Certain {
    pub at: f64,
    /// Of two at one time the one foreseen first.
    number: u64,
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    /// The repair of a lost device can begin, if it is still that loss.
    Ready { slot: u32, number: u64 },
    /// A part comes back.
    Back { level: usize, part: u32 },
    /// A part of a burst fails.
    Member { cause: usize, part: u32 },
    /// The next failure of a trace or a plan.
    Next { cause: usize },
}

impl Eq for Certain {}

impl Ord for Certain {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.total_cmp(&other.at).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Certain {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl StorageSystem {
    /// Something is certain to happen at a time.
    pub(super) fn foresee(&mut self, at: f64, what: What) {
        self.certain.push(Reverse(Certain { at, number: self.foreseen, what }));
        self.foreseen += 1;
    }

    /// Foresees the next failure of a trace or a plan.
    pub(super) fn foresee_next(&mut self, cause: usize) {
        let done = self.states[cause].done;
        let at = match &self.plan.causes[cause].law {
            LawInput::Trace { seconds, .. } => seconds.get(done).copied(),
            LawInput::Planned { first_seconds, every_seconds } => Some(first_seconds + done as f64 * every_seconds),
            LawInput::Exponential { .. } | LawInput::Weibull { .. } => None,
        };
        if let Some(at) = at {
            self.foresee(at, What::Next { cause });
        }
    }

    /// What was foreseen happens.
    pub(super) fn happen(&mut self, what: What, draws: &mut Draws) {
        match what {
            What::Ready { slot, number } => {
                let lost = &self.slots[slot as usize];
                if lost.phase == Phase::Waiting && lost.number == number {
                    self.begin_repair(slot);
                }
            }
            What::Back { level, part } => self.come_back(level, part),
            What::Member { cause, part } => {
                self.strike(cause, &[part], draws);
            }
            What::Next { cause } => self.fail_next(cause, draws),
        }
    }

    /// The next failure of a trace, with all others of the same moment, or of a plan.
    fn fail_next(&mut self, cause: usize, draws: &mut Draws) {
        let plan = self.plan.clone();
        let done = self.states[cause].done;
        let law = &plan.causes[cause];
        match &law.law {
            LawInput::Trace { seconds, parts } => {
                let same = seconds[done..].iter().take_while(|&&at| at == seconds[done]).count();
                self.states[cause].done += same;
                self.strike(cause, &parts[done..done + same], draws);
            }
            _ => {
                self.states[cause].done += 1;
                if law.is_burst() {
                    self.burst(cause, draws);
                } else {
                    self.strike(cause, &[law.parts[done % law.parts.len()]], draws);
                }
            }
        }
        self.foresee_next(cause);
    }

    /// Several parts fail, at once or one after the other.
    pub(super) fn burst(&mut self, cause: usize, draws: &mut Draws) {
        let mut burst = std::mem::take(&mut self.burst);
        self.plan.causes[cause].draw_burst(draws, &mut burst);
        let now: Vec<u32> = burst.iter().filter(|&&(after, _)| after <= 0.0).map(|&(_, part)| part).collect();
        for &(after, part) in burst.iter().filter(|&&(after, _)| after > 0.0) {
            self.foresee(self.now + after, What::Member { cause, part });
        }
        self.strike(cause, &now, draws);
        self.burst = burst;
    }
}
