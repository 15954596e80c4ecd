//! What is written down of a run.

use std::collections::BTreeMap;

use resilver_units::SimTime;

use super::counts::Totals;
use crate::fill::Fill;

/// The most rows of the timeline. Beyond them every second row goes, and the next come half as often; what hangs is short, and stays.
const MOST_ROWS: usize = 320;
/// Seconds between two rows at first.
const FIRST_INTERVAL: f64 = 5.0;

/// Bytes and objects that moved since the start, pieces counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) recovered_bytes: u64,
    pub(crate) moved_bytes: u64,
    pub(crate) recovered_objects: u64,
}

/// What clients of a pool get.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Served {
    pub(crate) share: f64,
    pub(crate) mean_seconds: f64,
    pub(crate) p99_seconds: f64,
}

/// A row of the timeline.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) seconds: f64,
    pub(crate) totals: Totals,
    pub(crate) moved: Moved,
    /// (OSD, used, pending, capacity) of each OSD.
    pub(crate) fill: Vec<(u32, [u64; 3])>,
    /// Of each pool that clients ask anything of.
    pub(crate) clients: Vec<(usize, Served)>,
    /// Whether requests hang on an OSD that died and is not marked down yet.
    pub(crate) hangs: bool,
}

/// Something that happened to the map.
#[derive(Debug, Clone)]
pub(crate) struct Happened {
    pub(crate) seconds: f64,
    pub(crate) what: String,
    pub(crate) epoch: u64,
}

/// What limits a group at a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Limiter {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
}

/// The record.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) samples: Vec<Sample>,
    pub(crate) history: Vec<Happened>,
    /// Seconds of groups.
    pub(crate) limits: BTreeMap<Limiter, f64>,
    pub(crate) moved: Moved,
    /// (recovered, moved) bytes of each pool.
    pub(crate) by_pool: Vec<(u64, u64)>,
    interval: f64,
}

impl Record {
    pub(super) fn new(pools: usize) -> Self {
        Record { by_pool: vec![(0, 0); pools], interval: FIRST_INTERVAL, ..Record::default() }
    }

    /// Forgets all but how much has moved in all.
    pub(super) fn restart(&mut self) {
        *self = Record { moved: self.moved, ..Record::new(self.by_pool.len()) };
    }

    /// When the next row is due.
    pub(super) fn next(&self) -> SimTime {
        let last = self.samples.last().map_or(0.0, |sample| sample.seconds);
        SimTime::try_from(last + self.interval).unwrap_or(SimTime::MAX)
    }

    /// Adds a row; one of the same time as the last replaces it, but for the first, which is how it was before all.
    pub(super) fn add(&mut self, sample: Sample) {
        if self.samples.len() > 1 && self.samples.last().is_some_and(|last| last.seconds >= sample.seconds) {
            self.samples.pop();
        }
        self.samples.push(sample);
        if self.samples.len() > MOST_ROWS {
            // A short peak stays: the first row with the most groups at risk, inactive or toofull.
            let counts: [fn(&Totals) -> u64; 3] = [|of| of.at_risk, |of| of.inactive, |of| of.toofull];
            let most = counts.map(|of| (0..self.samples.len()).rev().max_by_key(|&row| of(&self.samples[row].totals)));
            let mut row = 0;
            self.samples.retain(|sample| {
                row += 1;
                row % 2 == 1 || sample.hangs || most.contains(&Some(row - 1))
            });
            self.interval *= 2.0;
        }
    }

    /// Puts time of a group down to what limited it.
    pub(super) fn limited(&mut self, kind: &'static str, name: String, seconds: f64) {
        if seconds > 0.0 {
            *self.limits.entry(Limiter { kind, name }).or_default() += seconds;
        }
    }

    pub(super) fn tell(&mut self, now: SimTime, what: String, epoch: u64) {
        self.history.push(Happened { seconds: now.seconds(), what, epoch });
    }
}

/// (OSD, used, pending, capacity) of each OSD.
pub(super) fn fill_row(fill: &Fill) -> Vec<(u32, [u64; 3])> {
    fill.iter().map(|(osd, space)| (osd, [space.used(), space.pending(), space.capacity])).collect()
}
