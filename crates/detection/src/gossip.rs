//! Gossip of heartbeat counters: each member raises its own and sends all that it knows to some others.

use std::rc::Rc;

use crate::silence::Silence;
use crate::turn::{Content, Timer, Turn, draw_others};

/// Members that gossip.
pub struct Counters {
    fanout: u32,
    /// What each knows of each one's heartbeats.
    counters: Vec<Vec<u32>>,
    /// Who is gone from the beginning; all others are sent to, also those that are taken for failed and may not be.
    absent: Vec<u32>,
    silence: Silence,
}

impl Counters {
    pub fn new(fanout: u32, members: usize) -> Self {
        let (counters, silence) = (vec![vec![0; members]; members], Silence::new(members, members));
        Counters { fanout, counters, absent: Vec::new(), silence }
    }

    pub fn start(&mut self, turn: &mut Turn<'_>) {
        let members = 0..self.counters.len() as u32;
        self.absent = members.filter(|&member| !turn.knowledge.is_up[member as usize]).collect();
        for member in 0..self.counters.len() as u32 {
            self.silence.start(member, member, turn);
        }
    }

    pub fn beat(&mut self, member: u32, turn: &mut Turn<'_>) {
        let own = &mut self.counters[member as usize];
        own[member as usize] += 1;
        let all: Rc<[u32]> = own.as_slice().into();
        let (members, absent) = (self.counters.len(), &self.absent);
        let may = |other: u32| absent.binary_search(&other).is_err();
        for other in draw_others(turn.draws, members, member, self.fanout as usize, absent.len(), may) {
            turn.send(member, other, Content::Counters(all.clone()));
        }
    }

    pub fn receive(&mut self, member: u32, content: Content, turn: &mut Turn<'_>) {
        let Content::Counters(counters) = content else { return };
        for (about, &counter) in (0u32..).zip(counters.iter()) {
            let known = &mut self.counters[member as usize][about as usize];
            if counter > *known && about != member {
                *known = counter;
                let timer = Timer { member, about, number: member };
                self.silence.hear(timer, turn);
                turn.knowledge.retract(member, about);
            }
        }
    }

    pub fn expire(&mut self, timer: Timer, turn: &mut Turn<'_>) {
        if self.silence.is_over(timer, turn) {
            turn.knowledge.declare(timer.member, timer.about, turn.now);
        }
    }
}
