//! The members of a system, under one of the protocols.

use crate::gossip::Counters;
use crate::heartbeats::Heartbeats;
use crate::swim::Swim;
use crate::turn::{Content, Timer, Turn};
use crate::{Detection, Protocol};

/// The members under their protocol.
pub enum Members {
    Heartbeats(Heartbeats),
    Gossip(Counters),
    Swim(Swim),
}

impl Members {
    pub fn new(config: &Detection, members: usize) -> Self {
        match config.protocol {
            Protocol::Monitor { monitors } => Members::Heartbeats(Heartbeats::to_monitors(monitors, members)),
            Protocol::AllToAll {} => Members::Heartbeats(Heartbeats::to_all(members)),
            Protocol::Gossip { fanout } => Members::Gossip(Counters::new(fanout, members)),
            Protocol::Swim { fanout, suspicion } => Members::Swim(Swim::new(fanout, suspicion, members)),
        }
    }

    /// Before anything else: what each waits for.
    pub fn start(&mut self, turn: &mut Turn<'_>) {
        match self {
            Members::Heartbeats(heartbeats) => heartbeats.start(turn),
            Members::Gossip(counters) => counters.start(turn),
            Members::Swim(_) => {}
        }
    }

    /// A member's period begins.
    pub fn begin_period(&mut self, member: u32, turn: &mut Turn<'_>) {
        match self {
            Members::Heartbeats(heartbeats) => heartbeats.beat(member, turn),
            Members::Gossip(counters) => counters.beat(member, turn),
            Members::Swim(swim) => swim.probe(member, turn),
        }
    }

    /// A member receives a message.
    pub fn receive(&mut self, from: u32, member: u32, content: Content, turn: &mut Turn<'_>) {
        match self {
            Members::Heartbeats(heartbeats) => heartbeats.receive(from, member, content, turn),
            Members::Gossip(counters) => counters.receive(member, content, turn),
            Members::Swim(swim) => swim.receive(from, member, content, turn),
        }
    }

    /// A member has waited long enough.
    pub fn expire(&mut self, timer: Timer, turn: &mut Turn<'_>) {
        match self {
            Members::Heartbeats(heartbeats) => heartbeats.expire(timer, turn),
            Members::Gossip(counters) => counters.expire(timer, turn),
            Members::Swim(swim) => swim.expire(timer, turn),
        }
    }
}
