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
    /// Whether false alarms are counted, and how many there were.
    pub is_counting: bool,
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
            is_counting: false,
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
        let counts = self.is_up[member as usize] && self.is_counting;
        if self.learn(observer, member, now) && counts {
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
            let index = self.failing.iter().position(|&failing| failing == member);
            if let (Some(index), Some(left), true) = (index, &mut self.unknown, self.is_up[observer as usize])
                && self.known[index][observer as usize].is_none()
            {
                // Its last message came after the failure, so that there is something to find out.
                *left += 1;
            }
        }
    }

    /// The members that fail do so, and others are gone besides; who takes one for failed already will not find it out.
    pub fn fail(&mut self, leaving: &[u32]) {
        for &member in self.failing.iter().chain(leaving) {
            self.is_up[member as usize] = false;
        }
        let observers = (0u32..).zip(&self.is_up).filter(|&(_, &is_up)| is_up);
        let unknown = observers.flat_map(|(observer, _)| self.failing.iter().map(move |&member| (observer, member)));
        self.unknown = Some(unknown.filter(|&(observer, member)| !self.takes_for_failed(observer, member)).count());
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
                last: times.last().map(|&(time, _)| time),
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
        knowledge.is_counting = true;
        knowledge.declare(0, 3, at(1));
        knowledge.retract(0, 3);
        knowledge.is_counting = false;
        knowledge.fail(&[]);
        for (observer, seconds) in [(2, 11), (0, 13), (1, 16)] {
            assert!(!knowledge.is_complete());
            knowledge.declare(observer, 3, at(seconds));
        }
        assert!(knowledge.is_complete());
        let (known, others) = knowledge.outcome(at(10));
        let after = |seconds| at(seconds).since(SimTime::ZERO);
        let expected = Known {
            member: 3,
            first: Some((after(1), 2)),
            half: Some(after(3)),
            all: Some(after(6)),
            last: Some(after(6)),
            informed: 3,
        };
        assert_eq!((known, others, knowledge.false_alarms), (vec![expected], 3, 1));
    }
}
