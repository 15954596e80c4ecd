//! A member's turn: what it sees, what it sends, and what it waits for.

use std::rc::Rc;

use resilver_kernel::Stream;
use resilver_units::{SimDuration, SimTime};

use crate::Detection;
use crate::knowledge::Knowledge;

/// What is said of a member, in rising order for one incarnation of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    Works,
    Suspected,
    Failed,
}

/// News: of whom, which of its incarnations, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    pub member: u32,
    pub incarnation: u32,
    pub standing: Standing,
}

/// What a message says.
#[derive(Clone, Debug)]
pub enum Content {
    /// The sender works, and has the map of this version of the receiver's, where that is a monitor.
    Heartbeat {
        version: u32,
    },
    /// A monitor's map: whom it takes for failed.
    Map {
        version: u32,
        failed: Vec<u32>,
    },
    /// How many heartbeats of each member the sender knows of.
    Counters(Rc<[u32]>),
    /// A probe for `asker`, or its answer; `number` is the asker's. News ride on it.
    Probe {
        asker: u32,
        number: u32,
        news: Vec<Update>,
    },
    Answer {
        asker: u32,
        number: u32,
        news: Vec<Update>,
    },
    /// A request to probe `member` for the sender.
    Ask {
        member: u32,
        number: u32,
        news: Vec<Update>,
    },
    /// Other traffic.
    Background,
}

impl Content {
    /// How many entries on members it has.
    pub fn entries(&self) -> u64 {
        let count = match self {
            Content::Heartbeat { .. } | Content::Background => 0,
            Content::Map { failed, .. } => failed.len(),
            Content::Counters(counters) => counters.len(),
            Content::Probe { news, .. } | Content::Answer { news, .. } | Content::Ask { news, .. } => news.len(),
        };
        count as u64
    }
}

/// Something that a member waits for: what it is about, and a number of the protocol's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    pub member: u32,
    pub about: u32,
    pub number: u32,
}

/// A member's turn: what it sees, and what it does.
pub struct Turn<'a> {
    pub now: SimTime,
    pub config: &'a Detection,
    pub knowledge: &'a mut Knowledge,
    pub draws: &'a mut Stream,
    /// What is to be sent: from whom, to whom, what.
    pub post: &'a mut Vec<(u32, u32, Content)>,
    /// What is waited for, and how long.
    pub timers: &'a mut Vec<(SimDuration, Timer)>,
}

impl Turn<'_> {
    pub fn send(&mut self, from: u32, to: u32, content: Content) {
        self.post.push((from, to, content));
    }

    pub fn wait(&mut self, time: SimDuration, timer: Timer) {
        self.timers.push((time, timer));
    }

    /// So many members drawn alike among those that `from` takes for working, without itself and `not`; all of them where they
    /// are no more.
    pub fn others(&mut self, from: u32, not: Option<u32>, count: u32) -> Vec<u32> {
        let (knowledge, out) = (&*self.knowledge, self.knowledge.count_failed_for(from));
        let may = |member: u32| Some(member) != not && !knowledge.takes_for_failed(from, member);
        draw_others(self.draws, knowledge.is_up.len(), from, count as usize, 1 + out, may)
    }
}

/// So many of `members` drawn alike among those other than `from` that may be drawn, of whom at most `out` may not; all of them
/// where they are no more.
pub fn draw_others(
    draws: &mut Stream,
    members: usize,
    from: u32,
    count: usize,
    out: usize,
    may: impl Fn(u32) -> bool,
) -> Vec<u32> {
    let may = |member: &u32| *member != from && may(*member);
    let least = members.saturating_sub(1 + out);
    if 2 * least < members || 2 * count > least {
        let mut candidates: Vec<u32> = (0..members as u32).filter(may).collect();
        let taken = count.min(candidates.len());
        if taken < candidates.len() {
            for place in 0..taken {
                let left = (candidates.len() - place) as u64;
                candidates.swap(place, place + draws.below(left) as usize);
            }
        }
        candidates.truncate(taken);
        return candidates;
    }
    // Most draws are of somebody new.
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        let member = draws.below(members as u64) as u32;
        if may(&member) && !drawn.contains(&member) {
            drawn.push(member);
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use resilver_kernel::Purpose;

    use super::*;

    #[test]
    fn all_who_may_be_are_drawn_alike() {
        // Of few members a list is shuffled, of many the draws are repeated that do not count.
        for members in [6_u32, 40] {
            let (draws, mut counts) = (20_000, vec![0_u32; members as usize]);
            let mut stream = Stream::new(1, 0, Purpose::named("alike"));
            for _ in 0..draws {
                let mut drawn = draw_others(&mut stream, members as usize, 2, 3, 1, |member| member != 5);
                drawn.iter().for_each(|&member| counts[member as usize] += 1);
                drawn.sort_unstable();
                drawn.dedup();
                assert_eq!(drawn.len(), 3);
            }
            let expected = 3.0 * f64::from(draws) / f64::from(members - 2);
            for (member, &count) in counts.iter().enumerate() {
                let is_out = [2, 5].contains(&member);
                let off = (f64::from(count) - expected).abs() / expected.sqrt();
                assert!(if is_out { count == 0 } else { off < 5.0 }, "{members}: {member} {count}, {expected}");
            }
            assert_eq!(draw_others(&mut stream, 4, 2, 3, 1, |member| member != 0), [1, 3]);
        }
    }
}
