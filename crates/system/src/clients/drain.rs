//! The drain of bursts: what they wrote is read again and leaves the system, at a rate that is the next system's.

use std::ops::Range;

use resilver_fabric::Fabric;
use resilver_units::{Bytes, SimDuration, SimTime};

use super::Workload;
use super::operations::tokens::WorkloadEvent;
use super::streams::Source;
use crate::checker::{ConservationError, hold};
use crate::plant::Site;

/// Where a source of the drain stands.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// Operations that bursts wrote and that are not due yet.
    waiting: u64,
    /// Whether the next one is on its way, and not before when it comes.
    is_coming: bool,
    not_before: SimTime,
}

/// What is drained: a source for each of the bursts'.
#[derive(Clone, Debug)]
pub(super) struct Drain {
    of_bursts: Range<u32>,
    first: u32,
    /// The time between the operations of a source.
    interval: SimDuration,
    turns: Vec<Turn>,
    /// The data of an operation, operations that are not drained, and the most of them.
    data: Bytes,
    left: u64,
    most: u64,
    /// The most of them when a burst after the first began; `None` where none did.
    carried: Option<u64>,
}

impl Drain {
    /// The drain of the bursts of these sources by as many from `first` on, of operations of so much data.
    pub fn new(of_bursts: Range<u32>, first: u32, interval: SimDuration, data: Bytes) -> Self {
        let turns = vec![Turn::default(); of_bursts.len()];
        Drain { of_bursts, first, interval, turns, data, left: 0, most: 0, carried: None }
    }

    /// The place among the drain's of a source, if it is one of them.
    pub fn place(&self, source: u32) -> Option<usize> {
        let place = source.checked_sub(self.first)? as usize;
        (place < self.turns.len()).then_some(place)
    }

    /// Data that bursts have written and that is not drained, the most there was, and the most when a next burst began.
    pub fn undrained(&self) -> (Bytes, Bytes, Option<Bytes>) {
        let bytes = |operations: u64| Bytes::new(operations.saturating_mul(self.data.get()));
        (bytes(self.left), bytes(self.most), self.carried.map(bytes))
    }

    /// A burst of these sources begins after another.
    pub fn next_begins(&mut self, sources: &Range<u32>) {
        if self.of_bursts == *sources {
            self.carried = self.carried.max(Some(self.left));
        }
    }

    /// That each operation which is not drained waits, is owed or is under way.
    ///
    /// # Errors
    /// When the law is broken, which is a bug.
    pub fn check(&self, sources: &[Source], window: u32) -> Result<(), ConservationError> {
        let own = &sources[self.first as usize..][..self.turns.len()];
        let open = |(turn, source): (&Turn, &Source)| turn.waiting + source.owed + u64::from(window - source.free);
        let open = self.turns.iter().zip(own).map(open).sum::<u64>();
        hold([("what bursts wrote is drained, waits for it or is being drained", self.left, open)])
    }
}

impl Workload {
    /// An operation of a burst is completed, which the drain is to take.
    pub(super) fn owe_drain<F: Fabric>(&mut self, source: u32, site: &mut Site<'_, F>) {
        let Some(drain) = self.drain.as_mut().filter(|drain| drain.of_bursts.contains(&source)) else { return };
        drain.left += 1;
        drain.most = drain.most.max(drain.left);
        let place = source - drain.of_bursts.start;
        let turn = &mut drain.turns[place as usize];
        turn.waiting += 1;
        if !std::mem::replace(&mut turn.is_coming, true) {
            let (at, number) = (turn.not_before.max(site.schedule.now()), drain.first + place);
            self.schedule(at, WorkloadEvent::Pace(number), site);
        }
    }

    /// The next operation of a source of the drain is due, where one waits.
    pub(super) fn pace_drain<F: Fabric>(&mut self, number: u32, place: usize, site: &mut Site<'_, F>) {
        let Some(drain) = &mut self.drain else { return };
        let (next, turn) = (site.schedule.now() + drain.interval, &mut drain.turns[place]);
        turn.waiting -= 1;
        (turn.is_coming, turn.not_before) = (turn.waiting > 0, next);
        let is_coming = turn.is_coming && next < SimTime::MAX;
        self.sources[number as usize].owed += 1;
        if is_coming {
            self.schedule(next, WorkloadEvent::Pace(number), site);
        }
        self.fill(number, site);
    }

    /// An operation of the drain is completed.
    pub(super) fn count_drained(&mut self, lane: u8, data: Bytes) {
        if let Some(drain) = &mut self.drain {
            drain.left -= 1;
        }
        self.measures.drained(lane, data);
    }
}
