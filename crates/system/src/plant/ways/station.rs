//! A part with a service: one queue, served in the order in which requests come.

use resilver_device::Pace;
use resilver_parts::{PartId, PartService};
use resilver_units::{Bytes, SimDuration, SimTime};

/// What a part with a service did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartUse {
    /// Its level.
    pub level: String,
    /// Its name.
    pub name: String,
    /// Requests that passed it.
    pub requests: u64,
    /// What these held.
    pub bytes: Bytes,
    /// How long it served.
    pub busy: SimDuration,
}

/// A part with a service.
#[derive(Clone, Debug)]
pub(super) struct Station {
    pub part: PartId,
    pub service: PartService,
    pub pace: Pace,
    /// Who serves what comes to it: itself, its partner or nobody.
    pub stand_in: u32,
    pub idle_from: SimTime,
    /// Time given to requests, those that wait included.
    pub given: SimDuration,
    /// Requests that came, and that went to the partner before they were served.
    pub came: u64,
    pub moved: u64,
    /// Since the beginning: those that passed, and what they held; and all three at the beginning of statistics.
    pub passed: (u64, Bytes),
    pub before: (u64, Bytes, SimDuration),
}

impl Station {
    /// One that has served nothing, and has the number `stand_in` itself.
    pub fn new(part: PartId, service: PartService, stand_in: u32) -> Self {
        Station {
            part,
            service,
            pace: Pace::default(),
            stand_in,
            idle_from: SimTime::ZERO,
            given: SimDuration::ZERO,
            came: 0,
            moved: 0,
            passed: (0, Bytes::ZERO),
            before: (0, Bytes::ZERO, SimDuration::ZERO),
        }
    }

    /// Takes in a request; returns when it has passed.
    pub fn take(&mut self, now: SimTime, bytes: Bytes) -> SimTime {
        let begin = self.idle_from.max(now);
        let work = self.service.time_for(bytes);
        let time = if self.pace.is_plain() { work } else { self.pace.time_for(begin, work) };
        self.idle_from = begin + time;
        self.given += time;
        self.came += 1;
        self.idle_from
    }

    /// How long it has served by now: without a gap in its queue, all that it has still to do lies ahead.
    pub fn busy_until(&self, now: SimTime) -> SimDuration {
        self.given - self.idle_from.max(now).since(now)
    }
}
