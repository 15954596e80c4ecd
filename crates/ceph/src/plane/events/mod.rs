//! Data moved by events, object by object: every request waits in its OSD's queue, holds a thread while the device serves it, and passes
//! the ports of hosts.
//!
//! An object under way goes through rounds, one a chunk. A round *gathers* a piece from each source, then *spreads* a piece to each target,
//! then hears of each that it is written. A pulled object does so twice: to the primary, and from there on.

mod clients;
mod objects;
mod osd;
mod rounds;

use std::collections::BTreeMap;

use resilver_kernel::{Digest, Event, KernelError, Limit, Model, Schedule, run};
use resilver_units::{SimDuration, SimTime};

use super::{ClientLoad, ClientState, DataPlane, Progress, Work, WorkId};
use crate::input::{NetworkInput, OsdInput};
use crate::settings::OsdSettings;

use objects::{Object, Request, WorkRun};
use osd::{Osd, Ports};

/// Something that happens to a request, or to a queue.
#[derive(Debug, Clone, Copy)]
enum Happening {
    /// A device has served a request.
    Served(u32),
    /// The first byte of a message reaches the port of its receiver.
    Reaches(u32),
    /// A message is there.
    Came(u32),
    /// An item that sleeps before it starts has slept.
    Slept(u32),
    /// The limits of a shard's queue let something go.
    Wake { osd: u32, shard: u32 },
    /// Clients ask, unless their load has changed since.
    Asked { osd: u32, write: bool, load: u32 },
    /// Nothing, after a time in which nothing was under way.
    Passed,
}

impl Event for Happening {
    fn code(&self) -> u64 {
        let word = |kind: u64, subject: u32, detail: u32| (kind << 56) | (u64::from(detail) << 32) | u64::from(subject);
        match *self {
            Happening::Served(request) => word(1, request, 0),
            Happening::Reaches(request) => word(2, request, 0),
            Happening::Came(request) => word(3, request, 0),
            Happening::Slept(request) => word(4, request, 0),
            Happening::Wake { osd, shard } => word(5, osd, shard & 0xff_ffff),
            Happening::Asked { osd, write, .. } => word(6, osd, u32::from(write)),
            Happening::Passed => word(7, 0, 0),
        }
    }
}

/// All but the clock.
#[derive(Debug)]
struct State {
    seed: u64,
    network: NetworkInput,
    osds: Vec<Option<Osd>>,
    /// Ports by host; OSDs without one have their own.
    ports: BTreeMap<(i32, u32), Ports>,
    works: Vec<WorkRun>,
    objects: Vec<Object>,
    free_objects: Vec<u32>,
    requests: Vec<Request>,
    free_requests: Vec<u32>,
    ended: Vec<WorkId>,
}

/// Moves data by events.
pub struct EventPlane {
    state: State,
    schedule: Schedule<Happening>,
    /// Which entry of `state.works` has an id now.
    ids: BTreeMap<WorkId, u32>,
    fault: Option<KernelError>,
}

impl EventPlane {
    /// A plane over hosts with such ports; `seed` draws what clients ask and what WPQ draws.
    pub fn new(network: NetworkInput, seed: u64) -> Self {
        let state = State {
            seed,
            network,
            osds: Vec::new(),
            ports: BTreeMap::new(),
            works: Vec::new(),
            objects: Vec::new(),
            free_objects: Vec::new(),
            requests: Vec::new(),
            free_requests: Vec::new(),
            ended: Vec::new(),
        };
        EventPlane { state, schedule: Schedule::new(), ids: BTreeMap::new(), fault: None }
    }

    /// The digest of all that has happened.
    pub fn digest(&self) -> Digest {
        self.schedule.digest()
    }

    /// How many events have happened.
    pub fn executed(&self) -> u64 {
        self.schedule.executed()
    }

    /// What ended the run, where something did: an event beyond the horizon of simulated time.
    pub fn fault(&self) -> Option<KernelError> {
        self.fault
    }

    /// Executes what is due by a time, at which the clock then stands.
    fn go_to(&mut self, now: SimTime) {
        loop {
            if let Err(fault) = run(&mut self.state, &mut self.schedule, Limit::until(now)) {
                self.fault = Some(fault);
                return;
            }
            if self.schedule.due().is_some() || self.schedule.now() >= now {
                return;
            }
            // After the last event the clock stays there, and what starts now would start in the past.
            self.schedule.at(now, Happening::Passed);
        }
    }
}

impl DataPlane for EventPlane {
    fn set_osd(&mut self, now: SimTime, osd: &OsdInput, settings: &OsdSettings) {
        self.go_to(now);
        self.state.set_osd(&mut self.schedule, osd, settings);
    }

    fn set_clients(&mut self, now: SimTime, osd: u32, load: ClientLoad) {
        self.go_to(now);
        self.state.set_clients(&mut self.schedule, osd, load);
    }

    fn start(&mut self, now: SimTime, id: WorkId, work: Work) {
        self.go_to(now);
        let index = u32::try_from(self.state.works.len()).expect("2^32 works exceed any memory");
        self.ids.insert(id, index);
        self.state.start(&mut self.schedule, id, index, work);
    }

    fn stop(&mut self, now: SimTime, id: WorkId) -> Progress {
        self.go_to(now);
        let Some(index) = self.ids.remove(&id) else {
            return Progress::default();
        };
        self.state.ended.retain(|ended| *ended != id);
        Progress { objects: self.state.stop(&mut self.schedule, index) }
    }

    fn progress(&mut self, now: SimTime, id: WorkId) -> Progress {
        self.go_to(now);
        self.done_at(id, now)
    }

    fn done_at(&self, id: WorkId, _at: SimTime) -> Progress {
        // Between two events nothing is done.
        Progress { objects: self.ids.get(&id).map_or(0, |index| self.state.works[*index as usize].done) }
    }

    fn next(&mut self) -> Option<SimTime> {
        if self.fault.is_some() {
            None
        } else if self.state.ended.is_empty() {
            self.schedule.due()
        } else {
            Some(self.schedule.now())
        }
    }

    fn advance(&mut self, to: SimTime, ended: &mut Vec<WorkId>) {
        self.go_to(to);
        for id in self.state.ended.drain(..) {
            self.ids.remove(&id);
            ended.push(id);
        }
    }

    fn clients(&mut self, now: SimTime, osd: u32) -> ClientState {
        self.go_to(now);
        self.state.osd_mut(osd).client_state(now)
    }

    fn used(&mut self, now: SimTime, osd: u32) -> (u64, u64, f64) {
        self.go_to(now);
        let osd = self.state.osd_mut(osd);
        (osd.read_bytes.round() as u64, osd.written_bytes.round() as u64, osd.busy_seconds)
    }
}

impl Model for State {
    type Event = Happening;

    fn execute(&mut self, happening: Happening, schedule: &mut Schedule<Happening>) {
        match happening {
            Happening::Served(request) => self.served(schedule, request),
            Happening::Reaches(request) => self.reaches(schedule, request),
            Happening::Came(request) => self.came(schedule, request),
            Happening::Slept(request) => self.enqueue(schedule, request),
            Happening::Wake { osd, shard } => {
                let woken = &mut self.osd_mut(osd).shards[shard as usize];
                if woken.wake == Some(schedule.now()) {
                    woken.wake = None;
                }
                self.serve(schedule, osd, shard);
            }
            Happening::Asked { osd, write, load } => self.asked(schedule, osd, write, load),
            Happening::Passed => {}
        }
    }
}

/// A length of simulated time; what is beyond its end is the end.
fn duration(seconds: f64) -> SimDuration {
    SimDuration::from_seconds(seconds.max(0.0)).unwrap_or(SimDuration::from_picoseconds(u64::MAX))
}

#[cfg(test)]
mod tests;
