//! Who takes whom for failed, and since when.

use std::collections::BTreeSet;

use resilver_units::{SimDuration, SimTime};

use crate::Known;

/// Who takes whom for failed.
pub struct Knowledge {
    /// Whether each member works.
    pub is_up: Vec<bool>,
    /// Who is taken for failed, by whom.
    believed: BTreeSet<(u32, u32)>,
    /// How many take each for failed, and how many each takes for failed.
    believers: Vec<u32>,
    believes: Vec<u32>,
    /// Members that fail, and by each other member the time from which it knows.
    failing: Vec<u32>,
    known: Vec<Vec<Option<SimTime>>>,
    /// Pairs of a failure and of somebody who does not know it yet; `None` until the failure.
    unknown: Option<usize>,
    /// How often a healthy member was taken for failed.
    pub false_alarms: u64,
}

impl Knowledge {
    pub fn new(is_up: Vec<bool>, failing: &[u32]) -> Self {
        let known = vec![vec![None; is_up.len()]; failing.len()];
        Knowledge {
            believed: BTreeSet::new(),
            believers: vec![0; is_up.len()],
            believes: vec![0; is_up.len()],
            failing: failing.to_vec(),
            known,
            unknown: None,
            false_alarms: 0,
            is_up,
        }
    }

    /// Whether an observer takes a member for failed.
    pub fn takes_for_failed(&self, observer: u32, member: u32) -> bool {
        self.believers[member as usize] > 0 && self.believed.contains(&(observer, member))
    }

    /// Whether anybody takes a member for failed.
    pub fn is_believed(&self, member: u32) -> bool {
        self.believers[member as usize] > 0
    }

    /// How many an observer takes for failed.
    pub fn count_failed_for(&self, observer: u32) -> usize {
        self.believes[observer as usize] as usize
    }

    /// Whom an observer takes for failed.
    pub fn failed_for(&self, observer: u32) -> Vec<u32> {
        self.believed.range((observer, 0)..=(observer, u32::MAX)).map(|&(_, member)| member).collect()
    }

    /// An observer finds by its own watch that a member has failed.
    pub fn declare(&mut self, observer: u32, member: u32, now: SimTime) {
        let is_healthy = self.is_up[member as usize] && self.unknown.is_none();
        if self.learn(observer, member, now) && is_healthy {
            self.false_alarms += 1;
        }
    }

    /// An observer takes a member for failed from now on; returns whether it did not before.
    pub fn learn(&mut self, observer: u32, member: u32, now: SimTime) -> bool {
        let is_new = self.believed.insert((observer, member));
        if is_new {
            self.believers[member as usize] += 1;
            self.believes[observer as usize] += 1;
            if !self.is_up[member as usize] {
                self.note(observer, member, now);
            }
        }
        is_new
    }

    /// An observer no longer takes a member for failed.
    pub fn retract(&mut self, observer: u32, member: u32) {
        if self.believed.remove(&(observer, member)) {
            self.believers[member as usize] -= 1;
            self.believes[observer as usize] -= 1;
        }
    }

    /// The members that fail do so; who took them for failed already knows at once.
    pub fn fail(&mut self, now: SimTime) {
        for &member in &self.failing {
            self.is_up[member as usize] = false;
        }
        let others = self.is_up.iter().filter(|&&is_up| is_up).count();
        self.unknown = Some(others * self.failing.len());
        let early: Vec<(u32, u32)> = self.believed.iter().copied().collect();
        early.into_iter().for_each(|(observer, member)| self.note(observer, member, now));
    }

    fn note(&mut self, observer: u32, member: u32, now: SimTime) {
        let Some(index) = self.failing.iter().position(|&failing| failing == member) else { return };
        let (since, unknown) = (&mut self.known[index][observer as usize], &mut self.unknown);
        if let (None, Some(left), true) = (*since, unknown, self.is_up[observer as usize]) {
            *since = Some(now);
            *left -= 1;
        }
    }

    /// Whether the failure happened, and all who work know.
    pub fn is_complete(&self) -> bool {
        self.unknown == Some(0)
    }

    /// When each failure became known, after the time at which it happened, and how many members are left.
    pub fn outcome(&self, failed_at: SimTime) -> (Vec<Known>, u32) {
        let others = self.is_up.iter().filter(|&&is_up| is_up).count();
        let known = self.failing.iter().zip(&self.known).map(|(&member, since)| {
            let numbered = (0u32..).zip(since);
            let mut times: Vec<(SimDuration, u32)> =
                numbered.filter_map(|(observer, at)| Some(((*at)?.since(failed_at), observer))).collect();
            times.sort_unstable();
            let after = |count: usize| count.checked_sub(1).and_then(|last| times.get(last)).map(|&(time, _)| time);
            Known {
                member,
                first: times.first().copied(),
                half: after(others.div_ceil(2)),
                all: after(others),
                informed: times.len() as u32,
            }
        });
        (known.collect(), others as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_others_is_rounded_up() {
        let at = |seconds: u64| SimTime::from_picoseconds(seconds * 1_000_000_000_000);
        let mut knowledge = Knowledge::new(vec![true; 4], &[3]);
        knowledge.declare(0, 3, at(1));
        assert_eq!(knowledge.false_alarms, 1);
        knowledge.retract(0, 3);
        knowledge.fail(at(10));
        for (observer, seconds) in [(2, 11), (0, 13), (1, 16)] {
            assert!(!knowledge.is_complete());
            knowledge.declare(observer, 3, at(seconds));
        }
        assert!(knowledge.is_complete());
        let (known, others) = knowledge.outcome(at(10));
        let after = |seconds| at(seconds).since(SimTime::ZERO);
        let expected =
            Known { member: 3, first: Some((after(1), 2)), half: Some(after(3)), all: Some(after(6)), informed: 3 };
        assert_eq!((known, others, knowledge.false_alarms), (vec![expected], 3, 1));
    }
}
