//! Clients: requests that enter at some endpoints, go to servers across the fabric, and come back.
//!
//! A read is a small request to the server, a read of its disk, and the data's way back. A write is the data's way to the
//! server, which acknowledges it when all has arrived and puts it on disk afterwards. A request that its requester gives up
//! is counted lost, and another of its kind goes to another server; what comes of the first one later is discarded.

mod arrivals;
mod measures;
mod outcome;
mod requests;
mod serving;
mod targets;
mod tokens;
mod traffic;

use resilver_device::{Device, DeviceUse};
use resilver_kernel::{Purpose, Stream};
use resilver_units::{Bytes, DeviceId, EndpointId, SimDuration, SimTime};

pub use outcome::{Bar, ClientOutcome, Counts, Delays, ServerOutcome, TrafficInterval};
pub use traffic::{Arrivals, Targets, TraceRequest, Traffic};

use crate::SystemError;
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

/// What is known of a device.
#[derive(Clone, Copy, Debug, Default)]
struct Served {
    is_dead: bool,
    /// How long it had been serving when it died.
    busy_until_death: SimDuration,
}

/// The clients of a system.
#[derive(Clone, Debug)]
pub struct Clients {
    traffic: Traffic,
    requesters: Vec<Requester>,
    chooser: Chooser,
    requests: Requests,
    devices: Vec<Served>,
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
            devices: vec![Served::default(); devices],
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
        let served = &mut self.devices[device.index()];
        if !served.is_dead {
            *served = Served { is_dead: true, busy_until_death: disk.busy_until(now) };
            self.measures.lose_backlog(now, device);
            for handle in self.requests.all(|request| request.pending.disk && request.device == device.get()) {
                self.requests.get(handle).pending.disk = false;
                self.requests.settle(handle);
            }
        }
    }

    /// A device works again, with an empty queue.
    pub(crate) fn repair_device(&mut self, device: DeviceId) {
        self.devices[device.index()].is_dead = false;
    }

    /// What each disk has done up to now.
    fn disks<D: Device>(&self, now: SimTime, disks: &[D]) -> Vec<DeviceUse> {
        let use_of = |(served, disk): (&Served, &D)| {
            let busy = if served.is_dead { served.busy_until_death } else { disk.busy_until(now) };
            DeviceUse { busy, ..disk.usage() }
        };
        self.devices.iter().zip(disks).map(use_of).collect()
    }

    /// What the run has to tell of its clients, held to the laws of conservation.
    ///
    /// # Errors
    /// When a law is broken, which is a bug.
    pub(crate) fn finish<D: Device>(&self, ended_at: SimTime, disks: &[D]) -> Result<ClientOutcome, ConservationError> {
        let measures = &self.measures;
        let since = |(now, before): (DeviceUse, &DeviceUse)| DeviceUse {
            busy: now.busy - before.busy,
            bytes_read: now.bytes_read - before.bytes_read,
            bytes_written: now.bytes_written - before.bytes_written,
            seeks: now.seeks - before.seeks,
            requests: now.requests - before.requests,
        };
        let (write_backlog, write_backlog_bytes, write_backlog_max) = measures.backlog();
        let outcome = ClientOutcome {
            window: ended_at.since(measures.since),
            counts: measures.counts,
            outstanding: self.requests.outstanding(),
            all: measures.reads.with(&measures.writes),
            reads: measures.reads.clone(),
            writes: measures.writes.clone(),
            write_backlog,
            write_backlog_bytes,
            write_backlog_max,
            servers: measures.servers(),
            disks: self.disks(ended_at, disks).into_iter().zip(&measures.disks_before).map(since).collect(),
            intervals: measures.intervals(ended_at),
        };
        self.check(&outcome)?;
        Ok(outcome)
    }

    /// Holds what is to be told to the laws of conservation.
    fn check(&self, outcome: &ClientOutcome) -> Result<(), ConservationError> {
        let measures = &self.measures;
        let (total, window) = (measures.total, outcome.window.picoseconds());
        let of_servers = |count: fn(&ServerOutcome) -> u64| outcome.servers.iter().map(count).sum::<u64>();
        let busiest = outcome.disks.iter().map(|disk| disk.busy.picoseconds()).max().unwrap_or(0);
        let laws = [
            (
                "every request issued is completed, lost or outstanding",
                total.issued,
                total.completed + total.lost + outcome.outstanding,
            ),
            (
                "every write acknowledged is on disk, to be written, or lost with its server",
                measures.acknowledged,
                measures.written + outcome.write_backlog + measures.lost_with_server,
            ),
            ("requests completed are reads and writes", outcome.counts.completed, outcome.all.completed),
            ("servers have completed what was completed", outcome.counts.completed, of_servers(|s| s.completed)),
            ("servers have lost what was lost", outcome.counts.lost, of_servers(|s| s.lost)),
            ("servers have the backlog that there is", outcome.write_backlog, of_servers(|s| s.write_backlog)),
            ("no disk is busier than the time allows", busiest.max(window), window),
        ];
        match laws.into_iter().find(|(_, left, right)| left != right) {
            Some((law, left, right)) => Err(ConservationError { law, left, right }),
            None => Ok(()),
        }
    }
}
