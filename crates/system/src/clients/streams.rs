//! Streams, bursts and rebuilds in place: windows of operations that are filled again as they empty.

use resilver_fabric::Fabric;
use resilver_kernel::Stream;
use resilver_units::{DeviceId, EndpointId, SimDuration, SimTime};

use super::operations::table::{Action, Operation};
use super::operations::tokens::{Handle, WorkloadEvent};
use super::{NO_DEVICE, Workload};
use crate::SystemError;
use crate::plant::Site;
use crate::ports::Ports;
use crate::scenario::{Pairing, TrafficClass};

/// Stands for operations without an end.
pub(super) const ENDLESS: u64 = u64::MAX;

/// One window of operations.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub class: TrafficClass,
    /// Which of the codes.
    pub code: u8,
    /// The server that coordinates, and its group; of none where stripes are the population's.
    pub device: u32,
    pub group: u32,
    /// The side of its messages; of none where operations take turns.
    pub side: Option<u8>,
    /// The endpoint where the client is, where stripes are the population's.
    pub entry: u32,
    /// How many more operations may be under way.
    pub free: u32,
    /// How many are due and not begun.
    pub owed: u64,
    /// How many came due by a pace.
    pub paced: u64,
    /// When the first one was, and the time between them.
    pub first_due: SimTime,
    pub interval: SimDuration,
    /// Whether it begins nothing until a pause is over.
    pub is_resting: bool,
    /// Whether it begins nothing any more, whatever it owes.
    pub is_closed: bool,
    /// Operations lost since one was completed, and how many may be before it is closed, where its operations have an end.
    pub lost_in_a_row: u64,
    pub lost_most: u64,
    pub begun: u64,
    pub completed: u64,
    /// Operations of each burst.
    pub of_burst: u64,
    /// The share of operations that read, where they may do either.
    pub read_share: f64,
    pub draws: Stream,
}

impl Workload {
    /// Begins what a source owes and may begin.
    #[inline]
    pub(super) fn fill<F: Fabric>(&mut self, number: u32, site: &mut Site<'_, F>) {
        loop {
            let source = &self.sources[number as usize];
            if source.free == 0 || source.owed == 0 || source.is_resting || source.is_closed {
                return;
            }
            let now = site.schedule.now();
            let Some(operation) = self.draw(number, now, &site.plant.ports) else {
                if self.close(number) {
                    return;
                }
                self.sources[number as usize].is_resting = true;
                self.later(number, false, site);
                return;
            };
            let Some(handle) = self.operations.insert(operation, &self.drawn) else {
                self.problem = Some(SystemError::TooManyOperations);
                return;
            };
            let source = &mut self.sources[number as usize];
            source.free -= 1;
            source.begun += 1;
            if source.owed != ENDLESS {
                source.owed -= 1;
            }
            self.measures.issued(operation.lane, operation.class);
            self.start_operation(handle, site);
        }
    }

    /// Closes a source of strips that are to be made anew, because its server or too many of their holders have failed or are out
    /// of reach; returns whether it is one. Nobody waits for the strips that it has not begun; those under way are still made or
    /// lost.
    pub(super) fn close(&mut self, number: u32) -> bool {
        let source = &mut self.sources[number as usize];
        let has_end = source.class == TrafficClass::Rebuild && source.owed != ENDLESS;
        if has_end && !std::mem::replace(&mut source.is_closed, true) {
            self.strips_left -= source.owed;
        }
        has_end
    }

    /// Has a source go on after a pause.
    pub(super) fn later<F: Fabric>(&mut self, source: u32, gives_back: bool, site: &mut Site<'_, F>) {
        let time = site.schedule.now() + self.pause;
        if time < SimTime::MAX {
            self.schedule(time, WorkloadEvent::Resume { source, gives_back }, site);
        }
    }

    /// A pause of a source is over.
    pub(super) fn resume<F: Fabric>(&mut self, number: u32, gives_back: bool, site: &mut Site<'_, F>) {
        let source = &mut self.sources[number as usize];
        if source.is_closed {
            self.strips_left -= u64::from(gives_back);
            return;
        }
        if gives_back {
            source.free += 1;
            // What was lost is owed again.
            source.owed = source.owed.saturating_add(1);
        } else {
            source.is_resting = false;
        }
        self.fill(number, site);
    }

    /// The next operation of a paced source is due, and the one behind it comes.
    pub(super) fn pace<F: Fabric>(&mut self, number: u32, site: &mut Site<'_, F>) {
        if let Some(place) = self.drain.as_ref().and_then(|drain| drain.place(number)) {
            return self.pace_drain(number, place, site);
        }
        let source = &mut self.sources[number as usize];
        source.owed += 1;
        source.paced += 1;
        let next = site.schedule.now() + source.interval;
        let is_last = source.class == TrafficClass::Bursts && source.paced == source.of_burst;
        if next < SimTime::MAX && !is_last {
            self.schedule(next, WorkloadEvent::Pace(number), site);
        }
        self.fill(number, site);
    }

    /// An operation of a stream, of a burst or of a rebuild in place is completed.
    #[inline]
    pub(crate) fn complete_of_stream<F: Fabric>(&mut self, operation: &Operation, site: &mut Site<'_, F>) {
        let now = site.schedule.now();
        let source = &mut self.sources[operation.source as usize];
        source.free += 1;
        source.completed += 1;
        source.lost_in_a_row = 0;
        let (class, group) = (source.class, source.group);
        if self.drain.as_ref().is_some_and(|drain| drain.place(operation.source).is_some()) {
            self.count_drained(operation.lane, operation.data);
            return self.fill(operation.source, site);
        }
        self.measures.completed(now, operation, group);
        match class {
            TrafficClass::Clients => {}
            TrafficClass::Bursts => {
                self.count_burst(operation.source, operation.data, site);
                self.owe_drain(operation.source, site);
            }
            TrafficClass::Rebuild => self.count_strip(now),
        }
        self.fill(operation.source, site);
    }

    /// An operation will never be completed; another one in its place begins after a pause, unless too many were lost.
    pub(crate) fn give_up<F: Fabric>(&mut self, handle: Handle, site: &mut Site<'_, F>) {
        let operation = self.operations.get(handle);
        operation.is_abandoned = true;
        if !std::mem::replace(&mut operation.is_wanted, false) {
            return;
        }
        let operation = *operation;
        self.measures.lost(site.schedule.now(), &operation);
        let source = &mut self.sources[operation.source as usize];
        source.lost_in_a_row += 1;
        if source.lost_in_a_row >= source.lost_most {
            self.close(operation.source);
        }
        self.later(operation.source, true, site);
    }

    /// Closes the sources of strips that a device was to make anew, and that has failed.
    pub(crate) fn close_sources(&mut self, device: DeviceId) {
        for number in 0..self.sources.len() as u32 {
            if self.sources[number as usize].device == device.get() {
                self.close(number);
            }
        }
    }

    /// A strip is made anew.
    fn count_strip(&mut self, now: SimTime) {
        if self.strips_left > 0 {
            self.strips_left -= 1;
            self.rebuilt_at = Some(now);
        }
    }

    /// Draws a source's next operation, with its devices in `drawn`; `None` where there is none that can be done.
    fn draw(&mut self, number: u32, now: SimTime, ports: &Ports) -> Option<Operation> {
        let source = &mut self.sources[number as usize];
        let read_share = source.read_share;
        let action = match source.class {
            TrafficClass::Rebuild => Action::Rebuild,
            // A stream that only reads, and a burst that only writes, draw nothing for it.
            TrafficClass::Bursts if read_share <= 0.0 => Action::Write,
            TrafficClass::Clients | TrafficClass::Bursts if read_share >= 1.0 => Action::Read,
            TrafficClass::Clients | TrafficClass::Bursts if source.draws.uniform() < read_share => Action::Read,
            TrafficClass::Clients | TrafficClass::Bursts => Action::Write,
        };
        let due_at = if source.interval > SimDuration::ZERO {
            // Of those that came due, all but the owed ones have begun.
            let first = source.paced.saturating_sub(source.owed);
            let offset = source.interval.picoseconds().saturating_mul(first);
            source.first_due + SimDuration::from_picoseconds(offset)
        } else {
            now
        };
        let side = source.side.map_or((source.begun % u64::from(ports.sides())) as u8, |side| side);
        let draft = Operation {
            begun_at: now,
            source: number,
            coordinator: source.device,
            entry: source.entry,
            side,
            lane: source.class.lane(),
            code: source.code,
            action,
            ..Operation::due(due_at)
        };
        if source.device == NO_DEVICE {
            return self.draw_of_population(draft);
        }
        let mut operation = self.draw_of_group(draft)?;
        if action != Action::Rebuild {
            let port = ports.working(DeviceId::new(operation.coordinator), u32::from(side));
            operation.entry = self.entry_of(number, port).get();
        }
        Some(operation)
    }

    /// The entry of an operation whose coordinator is reached by a port.
    fn entry_of(&mut self, source: u32, port: EndpointId) -> EndpointId {
        let Some(traffic) = &self.streams else { return port };
        let entries = &traffic.entries;
        let index = match traffic.pairing {
            Pairing::Paired => port.index() % entries.len(),
            Pairing::Random => self.sources[source as usize].draws.below(entries.len() as u64) as usize,
        };
        entries[index]
    }
}
