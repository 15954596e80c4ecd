//! A trace of a run: each message, request to a device, buffer and wait of a window of simulated time, and what the engine executed.
//!
//! A row belongs to the window if it begins before the window's end and is not over before its begin. A trace only looks on:
//! nothing in a run depends on it, and a run without one pays one test where there is something to note.

mod plant;
mod recovery;

use std::collections::BTreeMap;

use resilver_units::SimTime;

pub(crate) use plant::{About, DiskRow, EVENT_KINDS, Engine, MESSAGE_KINDS, MessageRow, PUSHED, Trace};
pub(crate) use recovery::{BUFFER_STATES, BufferRow, HELD, Held, RecoveryTrace, WaitRow};

use crate::SystemError;

/// The simulated time of a trace: from `from` up to and without `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceWindow {
    /// When it begins.
    pub from: SimTime,
    /// When it ends.
    pub to: SimTime,
    /// How many rows a table may have; a run that has more is refused.
    pub rows_max: usize,
}

/// What became of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is not over by the end of the run.
    UnderWay,
    /// It is over as it was to be.
    Done,
    /// It was lost, or was not wanted any more.
    Lost,
}

/// Rows under way by their keys, and those that are over; each has the number in which it began.
#[derive(Clone, Debug)]
struct Spans<R> {
    name: &'static str,
    window: TraceWindow,
    begun: u64,
    open: BTreeMap<(u64, u64), R>,
    over: Vec<(u64, R)>,
    is_too_long: bool,
}

impl<R> Spans<R> {
    fn new(name: &'static str, window: TraceWindow) -> Self {
        Spans { name, window, begun: 0, open: BTreeMap::new(), over: Vec::new(), is_too_long: false }
    }

    fn open(&mut self, key: u64, now: SimTime, row: R) {
        self.is_too_long |= self.open.len() + self.over.len() >= self.window.rows_max && now < self.window.to;
        if now < self.window.to && !self.is_too_long {
            self.open.insert((key, self.begun), row);
            self.begun += 1;
        }
    }

    /// The oldest row of a key that is one of these.
    fn find(&mut self, key: u64, is_wanted: impl Fn(&R) -> bool) -> Option<(u64, &mut R)> {
        let rows = self.open.range_mut((key, 0)..=(key, u64::MAX));
        rows.map(|(&(_, number), row)| (number, row)).find(|(_, row)| is_wanted(row))
    }

    /// A row is over since `end`.
    fn close(&mut self, key: u64, number: u64, end: SimTime) {
        if let Some(row) = self.open.remove(&(key, number)).filter(|_| end >= self.window.from) {
            self.over.push((number, row));
        }
    }

    /// All rows in the order in which they began.
    fn rows(self) -> Vec<R> {
        let mut rows = self.over;
        rows.extend(self.open.into_iter().map(|((_, number), row)| (number, row)));
        rows.sort_unstable_by_key(|&(number, _)| number);
        rows.into_iter().map(|(_, row)| row).collect()
    }

    fn problem(&self) -> Option<SystemError> {
        let TraceWindow { from, to, rows_max } = self.window;
        let (from, to, table) = (from.seconds(), to.seconds(), self.name);
        self.is_too_long.then_some(SystemError::TraceTooLong { from, to, table, rows_max })
    }
}

/// All rows of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceRows {
    pub(crate) messages: Vec<MessageRow>,
    pub(crate) disks: Vec<DiskRow>,
    pub(crate) buffers: Vec<BufferRow>,
    pub(crate) waits: Vec<WaitRow>,
    pub(crate) engine: Engine,
}
