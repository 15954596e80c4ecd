//! Silences: who has not been heard of for how long.

use resilver_units::SimTime;

use crate::turn::{Timer, Turn};

/// Since when each watcher has heard nothing new of each member, and whether it waits for the silence to be too long.
pub struct Silence {
    members: usize,
    since: Vec<SimTime>,
    waits: Vec<bool>,
}

impl Silence {
    /// Of so many watchers and members.
    pub fn new(watchers: usize, members: usize) -> Self {
        Silence { members, since: vec![SimTime::ZERO; watchers * members], waits: vec![false; watchers * members] }
    }

    /// A watcher begins to wait for all others; `number` is that of its row, `member` its own.
    pub fn start(&mut self, number: u32, member: u32, turn: &mut Turn<'_>) {
        for about in (0..self.members as u32).filter(|&about| about != member) {
            self.hear(Timer { member, about, number }, turn);
        }
    }

    /// A watcher hears of a member, and waits from then on.
    pub fn hear(&mut self, timer: Timer, turn: &mut Turn<'_>) {
        let cell = timer.number as usize * self.members + timer.about as usize;
        self.since[cell] = turn.now;
        if !std::mem::replace(&mut self.waits[cell], true) {
            turn.wait(turn.config.timeout, timer);
        }
    }

    /// A wait is over: whether the silence was too long. Where it was not, the wait goes on.
    pub fn is_over(&mut self, timer: Timer, turn: &mut Turn<'_>) -> bool {
        let cell = timer.number as usize * self.members + timer.about as usize;
        let end = self.since[cell] + turn.config.timeout;
        let is_over = end <= turn.now;
        if is_over {
            self.waits[cell] = false;
        } else {
            turn.wait(end.since(turn.now), timer);
        }
        is_over
    }
}
