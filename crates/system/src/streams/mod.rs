//! Streams: clients that read and write whole stripes without end, bursts of writes, and groups that rebuild in place.
//!
//! An operation has a coordinator, the server that gathers. A read is asked for by a small message from the client's entry;
//! the coordinator reads its own strip and asks the holders of the others; when all are there, it sends the data to the entry,
//! a message a strip. A write brings the data to the coordinator, which encodes them, keeps one strip and sends the others to
//! their holders, each of which acknowledges it once it is written; then the entry is told. A server that rebuilds in place
//! gathers what one lost strip takes, decodes it and writes it to its own device. Operations that lose a message or a
//! server are counted lost, and others in their place begin after a pause.

mod measures;
mod operations;
mod outcome;
mod serving;
mod sources;
mod start;
mod stripes;
mod tokens;
mod traffic;

use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_kernel::queue::QueueKind;
use resilver_units::{Bytes, BytesPerSecond, DeviceId, SimDuration, SimTime};

pub use outcome::{Rates, StreamOutcome, StripeGroup};
pub use traffic::{Bursts, Corruption, Pairing, StreamTraffic, StripesOf};

use crate::SystemError;
use crate::attendance::Attendance;
use crate::checker::ConservationError;
use crate::clients::ClientOutcome;
use crate::ports::Ports;
use crate::storage::Site;
use measures::StreamMeasures;
use operations::Operations;
use sources::{Plan, Source};
use stripes::Stripes;
use tokens::StreamEvent;

/// Stands for no device.
const NO_DEVICE: u32 = u32::MAX;

/// A group of servers that hold stripes.
#[derive(Clone, Debug)]
struct Group {
    /// Its servers, in the order that the last draw left them in.
    members: Vec<u32>,
    is_rebuilding: bool,
}

/// A burst under way, or over.
#[derive(Clone, Copy, Debug)]
struct Burst {
    began_at: SimTime,
    /// Operations that are not completed.
    left: u64,
}

/// The streams of a system.
#[derive(Clone, Debug)]
pub struct Streams {
    traffic: StreamTraffic,
    corruptions: Vec<Corruption>,
    strip: Bytes,
    coding: Option<BytesPerSecond>,
    /// How long a source waits before it goes on after a loss.
    pause: SimDuration,
    /// The code of the streams, then those of the corruptions.
    plans: Vec<Plan>,
    groups: Vec<Group>,
    stripes: Stripes,
    sources: Vec<Source>,
    /// The sources of bursts, and of each corruption, as ranges.
    burst_sources: std::ops::Range<u32>,
    corruption_sources: Vec<std::ops::Range<u32>>,
    operations: Operations,
    bursts: Vec<Burst>,
    /// When each server's coding is done with what came so far.
    coders: Vec<SimTime>,
    attendance: Attendance,
    /// The devices that are known to have failed.
    is_out: Vec<bool>,
    /// How much of the data that the known failures ask for is rebuilt, from 0 to 1.
    share_rebuilt: f64,
    measures: StreamMeasures,
    /// Pieces that devices were asked for.
    objects: u64,
    /// The devices of the operation being drawn, by piece, and what it gathers.
    drawn: Vec<u32>,
    gathered: Vec<u32>,
    /// Strips that corruptions with an end are still to make, and when they began and ended.
    strips_left: u64,
    corrupted_at: Option<SimTime>,
    rebuilt_at: Option<SimTime>,
    /// Whether the time that the run was to last is over.
    is_time_over: bool,
    problem: Option<SystemError>,
}

impl Streams {
    /// Whether the run may end: its time is over, and so is each rebuild in place that has an end.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.is_time_over && self.strips_left == 0
    }

    /// When the time that the run is to last is over, where that is given.
    pub(crate) fn end(&self) -> Option<SimTime> {
        self.traffic.duration.map(|duration| SimTime::ZERO + self.traffic.warm_up + duration)
    }

    /// Why the run cannot go on, if it cannot.
    pub(crate) fn problem(&self) -> Option<SystemError> {
        self.problem.clone()
    }

    /// Data that devices were asked to read and to write for streams.
    pub(crate) fn asked(&self) -> (Bytes, Bytes) {
        self.measures.clients.asked
    }

    /// The fabric has dropped this many packets so far.
    pub(crate) fn dropped(&mut self, now: SimTime, so_far: u64) {
        self.measures.clients.dropped(now, so_far);
    }

    /// Devices are known to have failed: what they held is lost, and goes to where `stage` of the failures places it.
    pub(crate) fn lose_devices<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        devices: &[DeviceId],
        stage: u32,
        site: &mut Site<'_, F, D, K>,
    ) {
        if devices.is_empty() {
            return;
        }
        self.stripes.stage = stage as usize;
        for &device in devices {
            self.is_out[device.index()] = true;
            self.fail_device(device, site);
        }
    }

    /// A device that answered no request works again.
    pub(crate) fn repair_device(&mut self, device: DeviceId) {
        self.attendance.repair(device);
    }

    /// Whether anything depends on how far the rebuild is.
    #[inline]
    pub(crate) fn asks_what_is_rebuilt(&self) -> bool {
        self.stripes.stage != stripes::NO_STAGE
    }

    /// So much of the data that the known failures ask for is rebuilt, from 0 to 1.
    #[inline]
    pub(crate) fn set_share_rebuilt(&mut self, share: f64) {
        self.share_rebuilt = share;
    }

    /// An operation of a burst is completed.
    fn count_burst(&mut self, now: SimTime, source: u32) {
        let source = &self.sources[source as usize];
        // Operations of a source are alike, so those completed first are of the first bursts.
        let burst = &mut self.bursts[((source.completed - 1) / source.of_burst) as usize];
        burst.left -= 1;
        if burst.left == 0 {
            let length = now.since(burst.began_at);
            self.measures.burst_ended(length);
        }
    }

    /// A strip is made anew.
    fn count_strip(&mut self, now: SimTime) {
        if self.strips_left > 0 {
            self.strips_left -= 1;
            self.rebuilt_at = Some(now);
        }
    }

    /// What the run has to tell of its streams, held to the laws of conservation.
    ///
    /// # Errors
    /// When a law is broken, which is a bug.
    pub(crate) fn finish<D: Device>(
        &self,
        ended_at: SimTime,
        disks: &[D],
        ports: &Ports,
    ) -> Result<(ClientOutcome, StreamOutcome), ConservationError> {
        let measures = &self.measures;
        measures.check(&self.operations)?;
        let waits = |lane: u8| {
            let waiting = self.operations.all().filter(|(_, of)| of.is_wanted && of.lane == lane);
            waiting.count() as u64
        };
        let outstanding = waits(crate::class::TrafficClass::Clients.lane());
        let clients = measures.clients.outcome(ended_at, outstanding, self.attendance.uses(ended_at, disks))?;
        let mean_burst = measures.burst_picoseconds as f64 / measures.bursts_ended as f64 * 1e-12;
        let is_endless = self.corruptions.iter().any(|corruption| corruption.strips_per_server.is_none());
        let rebuilt = self.rebuilt_at.zip(self.corrupted_at).filter(|_| self.strips_left == 0 && !is_endless);
        let group = |(group, rates): (&Group, &Rates)| StripeGroup {
            is_rebuilding: group.is_rebuilding,
            servers: group.members.len() as u32,
            ports_working: group.members.iter().map(|&device| ports.working_count(DeviceId::new(device))).sum(),
            rates: *rates,
        };
        let outcome = StreamOutcome {
            window: clients.window,
            all: measures.all,
            has_bursts: self.traffic.bursts.is_some(),
            has_corruption: !self.corruptions.is_empty(),
            mean_burst_seconds: (measures.bursts_ended > 0).then_some(mean_burst),
            degraded_reads: measures.degraded_reads,
            strips_rebuilt: measures.strips_rebuilt,
            rebuild_seconds: rebuilt.map(|(end, begin)| end.since(begin).seconds()),
            groups: self.groups.iter().zip(&measures.groups).map(group).collect(),
        };
        Ok((clients, outcome))
    }
}
