//! What a finished run has to tell of its streams, beside what it tells of clients.

use resilver_units::{Bytes, SimDuration, SimTime};

use crate::scenario::TrafficClass;

/// What was completed since statistics began, by what it was for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Data that clients read.
    pub read: Bytes,
    /// Data that clients wrote, bursts apart.
    pub written: Bytes,
    /// Data of bursts.
    pub bursts: Bytes,
    /// Data of bursts that was read again to be drained.
    pub drained: Bytes,
    /// Strips that were made anew.
    pub rebuilt: Bytes,
    /// Operations of clients, bursts apart.
    pub completed: u64,
    /// The sum of their delays.
    pub delay_picoseconds: u128,
}

impl Rates {
    #[inline]
    pub(super) fn add(&mut self, lane: u8, is_read: bool, bytes: Bytes, delay: SimDuration) {
        const REBUILD: u8 = TrafficClass::Rebuild.lane();
        const BURSTS: u8 = TrafficClass::Bursts.lane();
        match lane {
            REBUILD => self.rebuilt += bytes,
            BURSTS => self.bursts += bytes,
            _ => {
                *(if is_read { &mut self.read } else { &mut self.written }) += bytes;
                self.completed += 1;
                self.delay_picoseconds += u128::from(delay.picoseconds());
            }
        }
    }

    /// The mean delay of clients' operations in seconds; `None` where none was completed.
    pub fn mean_delay_seconds(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.delay_picoseconds as f64 / self.completed as f64 * 1e-12)
    }
}

/// What one group of servers did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripeGroup {
    /// Whether its servers rebuilt strips in place.
    pub is_rebuilding: bool,
    /// How many servers it has.
    pub servers: u32,
    /// How many of their ports worked at the end.
    pub ports_working: u32,
    /// What it completed.
    pub rates: Rates,
}

/// A burst of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobBurst {
    /// Which job, and which of its bursts, from 0.
    pub job: u32,
    /// See there.
    pub burst: u32,
    /// When it would begin had none before it been late, when it began, and when it ended; `None` where it did not.
    pub asked: SimTime,
    /// See there.
    pub began: SimTime,
    /// See there.
    pub ended: Option<SimTime>,
    /// How long it takes where nothing is in its way.
    pub length: SimDuration,
    /// The data that it has moved.
    pub bytes: Bytes,
    /// The layer of what binds most of it, where that is known.
    pub layer: Option<String>,
}

/// What a finished run has to tell of its streams.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamOutcome {
    /// How long statistics were taken.
    pub window: SimDuration,
    /// What all completed.
    pub all: Rates,
    /// Whether there were bursts.
    pub has_bursts: bool,
    /// Whether groups rebuilt in place.
    pub has_corruption: bool,
    /// The mean time from a burst's beginning to its end; `None` where none ended.
    pub mean_burst_seconds: Option<f64>,
    /// Data of bursts that is not drained at the end, the most there was, and the most when a next burst began; `None` where
    /// nothing is drained, and where no next burst began.
    pub undrained: Option<(Bytes, Bytes, Option<Bytes>)>,
    /// Strips that were made anew in place.
    pub strips_rebuilt: u64,
    /// From the first corruption to the last strip; `None` where the rebuild in place is endless, or not over.
    pub rebuild_seconds: Option<f64>,
    /// One entry a group, where stripes are of groups.
    pub groups: Vec<StripeGroup>,
    /// The bursts of jobs, job by job.
    pub jobs: Vec<JobBurst>,
}

impl StreamOutcome {
    /// Bytes over the time of statistics; `None` where that is none.
    pub fn per_second(&self, bytes: Bytes) -> Option<f64> {
        let seconds = self.window.seconds();
        (seconds > 0.0).then(|| bytes.get() as f64 / seconds)
    }
}
