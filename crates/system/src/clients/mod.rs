//! Clients: requests that enter at some endpoints, go to servers across the fabric, and come back.
//!
//! A read is a small request to the server, a read of its disk, and the data's way back. A write is the data's way to the
//! server, which acknowledges it when all has arrived and puts it on disk afterwards. A request that its requester gives up
//! is counted lost, and another of its kind goes to another server; what comes of the first one later is discarded.

mod arrivals;
pub(crate) mod measures;
mod outcome;
mod requests;
mod serving;
mod targets;
mod tokens;
mod traffic;

use resilver_device::Device;
use resilver_kernel::{Purpose, Stream};
use resilver_units::{Bytes, DeviceId, EndpointId, SimTime};

pub use outcome::{Bar, ClientOutcome, Counts, Delays, ServerOutcome, TrafficInterval};
pub use traffic::{Arrivals, Targets, TraceRequest, Traffic};

use crate::SystemError;
use crate::attendance::Attendance;
use crate::checker::ConservationError;
use measures::Measures;
use requests::Requests;
use targets::Chooser;

const ISSUE: Purpose = Purpose::named("issue");
const TARGET: Purpose = Purpose::named("target");
const KIND: Purpose = Purpose::named("kind");

/// One place where requests enter.
#[derive(Clone, Debug)]
struct Requester {
    /// When requests come.
    issue: Stream,
    /// Where they go.
    target: Stream,
    /// Whether they read.
    kind: Stream,
    is_working: bool,
    /// How often it has failed.
    life: u32,
}

/// The clients of a system.
#[derive(Clone, Debug)]
pub struct Clients {
    traffic: Traffic,
    requesters: Vec<Requester>,
    chooser: Chooser,
    requests: Requests,
    attendance: Attendance,
    measures: Measures,
    /// Whether the time that the run was to last is over.
    is_over: bool,
    problem: Option<SystemError>,
}

impl Clients {
    /// Clients of a system of `devices` devices; `has_rebuild` says whether there is a rebuild that the run may last for.
    ///
    /// # Errors
    /// When the traffic is not one that can be drawn.
    pub fn new(seed: u64, traffic: Traffic, devices: usize, has_rebuild: bool) -> Result<Self, SystemError> {
        traffic.check(devices, has_rebuild)?;
        let requester = |entity: u64| Requester {
            issue: Stream::new(seed, entity, ISSUE),
            target: Stream::new(seed, entity, TARGET),
            kind: Stream::new(seed, entity, KIND),
            is_working: true,
            life: 0,
        };
        Ok(Clients {
            requesters: (0..traffic.requesters.len() as u64).map(requester).collect(),
            chooser: Chooser::new(seed, &traffic.servers, traffic.targets),
            requests: Requests::default(),
            attendance: Attendance::new(devices),
            measures: Measures::new(devices),
            is_over: traffic.duration.is_none(),
            problem: None,
            traffic,
        })
    }

    /// Whether the time that the run was to last is over; it is from the start where the rebuild says how long it lasts.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The endpoints where requests enter.
    pub(crate) fn requesters(&self) -> &[EndpointId] {
        &self.traffic.requesters
    }

    /// Whether a requester works, and has not failed since an event was scheduled for it.
    #[inline]
    fn is_in_life(&self, requester: u32, life: u32) -> bool {
        let requester = &self.requesters[requester as usize];
        requester.is_working && requester.life == life
    }

    /// When the time that the run is to last is over, where that is given.
    pub(crate) fn end(&self) -> Option<SimTime> {
        self.traffic.duration.map(|duration| SimTime::ZERO + self.traffic.warm_up + duration)
    }

    /// Why the run cannot go on, if it cannot.
    pub(crate) fn problem(&self) -> Option<SystemError> {
        self.problem.clone()
    }

    /// Data that disks were asked to read and to write for clients.
    pub(crate) fn asked(&self) -> (Bytes, Bytes) {
        self.measures.asked
    }

    /// The fabric has dropped this many packets so far.
    pub(crate) fn dropped(&mut self, now: SimTime, so_far: u64) {
        self.measures.dropped(now, so_far);
    }

    /// A device fails: it answers no request from now on.
    pub(crate) fn fail_device<D: Device>(&mut self, now: SimTime, device: DeviceId, disk: &D) {
        if self.attendance.fail(now, device, disk) {
            self.measures.lose_backlog(now, device);
            for handle in self.requests.all(|request| request.pending.disk && request.device == device.get()) {
                self.requests.get(handle).pending.disk = false;
                self.requests.settle(handle);
            }
        }
    }

    /// A device works again, with an empty queue.
    pub(crate) fn repair_device(&mut self, device: DeviceId) {
        self.attendance.repair(device);
    }

    /// What the run has to tell of its clients, held to the laws of conservation.
    ///
    /// # Errors
    /// When a law is broken, which is a bug.
    pub(crate) fn finish<D: Device>(&self, ended_at: SimTime, disks: &[D]) -> Result<ClientOutcome, ConservationError> {
        self.measures.outcome(ended_at, self.requests.outstanding(), self.attendance.uses(ended_at, disks))
    }
}
