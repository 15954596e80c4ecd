//! Actors: what is asked of a system beside recovery, and by whom.
//!
//! Clients issue requests (in a closed loop, by a law of arrivals, or as recorded) or stream whole stripes; bursts write a volume
//! all at once; groups make strips anew in place. All of them begin operations ([`crate::clients::operations`]) and hear of their ends.
//! Where something is stored, requests and streams are on its objects, where their pieces are at the time; where nothing is, a
//! request is to one piece at a server of its own, and a stream goes over a group of servers.

mod bursts;
mod choosing;
mod drain;
pub(crate) mod liveness;
pub(crate) mod measures;
mod objects;
pub(crate) mod operations;
mod requesters;
mod requests;
mod sources;
mod start;
mod streams;
mod targets;
mod trials;

use std::sync::Arc;

use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_units::{Bytes, DeviceId, SimDuration, SimTime};

pub(crate) use trials::{Asked, ClientFlow, Clients, Demand};

use crate::SystemError;
use crate::checker::ConservationError;
use crate::plant::Site;
use crate::ports::Ports;
use crate::scenario::{Corruption, StreamTraffic, TrafficClass};
use liveness::Liveness;
use measures::operations::OperationMeasures;
use measures::{ClientOutcome, Period, Rates, StreamOutcome, StripeGroup};
use objects::{NO_STAGE, Objects};
use operations::plan::Plan;
use operations::table::{Operation, Operations};
use operations::tokens::WorkloadEvent;
use requesters::Requests;
use streams::Source;

/// Stands for no device.
const NO_DEVICE: u32 = u32::MAX;
/// Stands for no group.
const NO_GROUP: u32 = u32::MAX;

/// A group of servers that hold stripes.
#[derive(Clone, Debug)]
struct Group {
    /// Its servers, in the order that the last draw left them in.
    members: Vec<u32>,
    is_rebuilding: bool,
}

/// What is asked of a system beside recovery.
#[derive(Clone, Debug)]
pub struct Workload {
    pub(crate) operations: Operations,
    pub(crate) measures: OperationMeasures,
    /// The code of what clients read and write, then those of the corruptions.
    pub(crate) plans: Vec<Plan>,
    /// When each server's coding is done with what came so far.
    pub(crate) coders: Vec<SimTime>,
    pub(crate) liveness: Liveness,
    /// Size on the wire of a message without data.
    pub(crate) control: Bytes,
    /// Pieces that devices were asked for.
    pub(crate) pieces_asked: u64,
    /// The devices of the operation being drawn, by piece, and what it gathers.
    drawn: Vec<u32>,
    gathered: Vec<u32>,
    /// The devices that are known to have failed.
    is_out: Vec<bool>,
    /// How much of the data that the known failures ask for is rebuilt, from 0 to 1.
    share_rebuilt: f64,
    /// What is stored, of which operations are; empty where nothing is.
    objects: Arc<Objects>,
    /// The clients that issue requests, where there are any.
    requests: Option<Requests>,
    /// Whose turn it is of the sides of servers, for requests.
    turns: u32,
    /// What clients stream, where they do.
    streams: Option<StreamTraffic>,
    corruptions: Vec<Corruption>,
    strip: Bytes,
    /// How long a source waits before it goes on after a loss.
    pause: SimDuration,
    groups: Vec<Group>,
    sources: Vec<Source>,
    /// The sources of each corruption, as ranges.
    corruption_sources: Vec<std::ops::Range<u32>>,
    /// Bursts beside streams and of jobs, by their sources.
    series: Vec<bursts::Series>,
    /// What takes away again what bursts beside streams write, where anything does.
    drain: Option<drain::Drain>,
    /// Strips that corruptions with an end are still to make, and when they began and ended.
    strips_left: u64,
    corrupted_at: Option<SimTime>,
    rebuilt_at: Option<SimTime>,
    /// When statistics begin, and how long the run lasts from then on, where that is given.
    warm_up: SimDuration,
    duration: Option<SimDuration>,
    /// Whether the time that the run was to last is over; it is from the start where the rebuild says how long it lasts.
    is_time_over: bool,
    problem: Option<SystemError>,
}

impl Workload {
    /// Whether the run may end: its time is over, and so is each rebuild in place that has an end.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.is_time_over && self.strips_left == 0
    }

    /// When the time that the run is to last is over, where that is given.
    pub(crate) fn end(&self) -> Option<SimTime> {
        self.duration.map(|duration| SimTime::ZERO + self.warm_up + duration)
    }

    /// Why the run cannot go on, if it cannot.
    pub(crate) fn problem(&self) -> Option<SystemError> {
        self.problem.clone()
    }

    /// Data that devices were asked to read and to write.
    pub(crate) fn asked(&self) -> (Bytes, Bytes) {
        self.measures.clients.asked
    }

    /// The fabric has dropped this many packets so far.
    pub(crate) fn dropped(&mut self, now: SimTime, so_far: u64) {
        self.measures.clients.dropped(now, so_far);
    }

    /// Devices are known to have failed: what they held is lost, and goes to where `stage` of the failures places it.
    pub(crate) fn lose_devices<F: Fabric>(&mut self, devices: &[DeviceId], stage: u32, site: &mut Site<'_, F>) {
        if devices.is_empty() {
            return;
        }
        Arc::make_mut(&mut self.objects).stage = stage as usize;
        devices.iter().for_each(|device| self.is_out[device.index()] = true);
        devices.iter().for_each(|&device| self.fail_device(device, site));
        self.ask_elsewhere(devices, site);
    }

    /// Devices that were known to have failed are back, where `stage` of the failures places what they held.
    ///
    /// Of what was rebuilt so far, which is this share, each piece stays where it is.
    pub(crate) fn regain_devices(&mut self, devices: &[DeviceId], stage: u32, share: f64) {
        Arc::make_mut(&mut self.objects).settle(devices, &self.is_out, share);
        Arc::make_mut(&mut self.objects).stage = stage as usize;
        devices.iter().for_each(|device| self.is_out[device.index()] = false);
    }

    /// A device that answered no request works again.
    pub(crate) fn repair_device(&mut self, device: DeviceId) {
        self.liveness.repair(device);
    }

    /// Whether anything depends on how far the rebuild is.
    #[inline]
    pub(crate) fn asks_what_is_rebuilt(&self) -> bool {
        self.objects.stage != NO_STAGE
    }

    /// So much of the data that the known failures ask for is rebuilt, from 0 to 1.
    #[inline]
    pub(crate) fn set_share_rebuilt(&mut self, share: f64) {
        self.share_rebuilt = share;
    }

    /// What happens at the time of an event of the workload's own.
    #[inline]
    pub(crate) fn execute<F: Fabric>(&mut self, number: u64, site: &mut Site<'_, F>) {
        match WorkloadEvent::of_number(number) {
            WorkloadEvent::Served(handle, piece) => self.served(handle, piece, site),
            WorkloadEvent::Coded(handle) => self.finish_coding(handle, site),
            WorkloadEvent::Issue(life) => self.issue_drawn(life, site),
            WorkloadEvent::Arrive(life) => self.arrive(life, site),
            WorkloadEvent::Recorded(row) => self.replay(row, site),
            WorkloadEvent::Timeout(handle) => self.time_out(handle, site),
            WorkloadEvent::Retry(handle) => self.retry(handle, site),
            WorkloadEvent::Pace(source) => self.pace(source, site),
            WorkloadEvent::Resume { source, gives_back } => self.resume(source, gives_back, site),
            WorkloadEvent::Burst(series) => self.burst(series, site),
            WorkloadEvent::Corrupt(corruption) => self.corrupt(corruption, site),
            WorkloadEvent::Begin => {
                let now = site.schedule.now();
                let disks = self.liveness.uses(now, &site.plant.disks);
                self.measures.begin(now, disks);
                site.begin_statistics();
            }
            WorkloadEvent::End => self.is_time_over = true,
        }
    }

    /// Whether devices are known to have failed.
    pub(crate) fn knows_of_failures(&self) -> bool {
        self.is_out.contains(&true)
    }

    /// Which period of the run it is, for what is counted.
    #[inline]
    pub(crate) fn period(&self) -> Period {
        self.measures.clients.period()
    }

    /// Another period of the run begins.
    pub(crate) fn enter(&mut self, now: SimTime, period: Period) {
        self.measures.clients.enter(now, period);
    }

    /// Whether groups make strips anew in place, and whether the last of them is made, where there is one.
    pub(crate) fn repair_in_place(&self) -> (bool, bool) {
        let is_endless = self.corruptions.iter().any(|corruption| corruption.strips_per_server.is_none());
        (!self.corruptions.is_empty(), !is_endless && self.strips_left == 0)
    }

    /// What the run has to tell of its clients and, where they stream, of its streams, held to the laws of conservation.
    ///
    /// # Errors
    /// When a law is broken, which is a bug.
    pub(crate) fn finish(
        &self,
        ended_at: SimTime,
        disks: &[Device],
        ports: &Ports,
    ) -> Result<(ClientOutcome, Option<StreamOutcome>), ConservationError> {
        let measures = &self.measures;
        measures.check(&self.operations)?;
        if let (Some(drain), Some(streams)) = (&self.drain, &self.streams) {
            drain.check(&self.sources, streams.window)?;
        }
        let is_of_clients = TrafficClass::Clients.lane();
        let waiting = || self.operations.all().filter(|(_, of)| of.is_wanted && of.lane == is_of_clients);
        let hangs = |of: &Operation| of.is_request && !of.is_under_way() && self.timeout_of(of).is_none();
        let hanging = waiting().filter(|(_, of)| hangs(of)).count();
        let waiting = (waiting().count() as u64, hanging as u64);
        let clients = measures.clients.outcome(ended_at, waiting, self.liveness.uses(ended_at, disks))?;
        let streams = self.streams.as_ref().map(|traffic| self.outcome_of_streams(traffic, clients.window, ports));
        Ok((clients, streams))
    }

    fn outcome_of_streams(&self, traffic: &StreamTraffic, window: SimDuration, ports: &Ports) -> StreamOutcome {
        let measures = &self.measures;
        let mean_burst = measures.burst_picoseconds as f64 / measures.bursts_ended as f64 * 1e-12;
        let (has_corruption, is_made) = self.repair_in_place();
        let rebuilt = self.rebuilt_at.zip(self.corrupted_at).filter(|_| is_made);
        let group = |(group, rates): (&Group, &Rates)| StripeGroup {
            is_rebuilding: group.is_rebuilding,
            servers: group.members.len() as u32,
            ports_working: group.members.iter().map(|&device| ports.working_count(DeviceId::new(device))).sum(),
            rates: *rates,
        };
        StreamOutcome {
            window,
            all: measures.all,
            has_bursts: traffic.bursts.is_some() || !traffic.jobs.is_empty(),
            has_corruption,
            mean_burst_seconds: (measures.bursts_ended > 0).then_some(mean_burst),
            undrained: self.drain.as_ref().map(drain::Drain::undrained),
            strips_rebuilt: measures.strips_rebuilt,
            rebuild_seconds: rebuilt.map(|(end, begin)| end.since(begin).seconds()),
            groups: self.groups.iter().zip(&measures.groups).map(group).collect(),
            jobs: self.job_bursts(),
        }
    }
}
