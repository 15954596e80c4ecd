//! Recovery by pulling: each new home fetches its objects from a surviving holder, buffer by buffer.
//!
//! For every buffer: a control message to the source, a read there, the data's way back, a write at the destination
//! (Carns et al. 2016, sections II-C and III-C). A destination has at most `receive_memory` of buffers between request
//! and completed write; a source has at most `send_memory` being read or sent, and lets further requests wait in order.

mod decision;
mod event;
mod failure;
mod health;
mod policy;
mod prefetch;
mod protocol;
mod tracking;
mod transfers;

use std::collections::VecDeque;

use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_kernel::Schedule;
use resilver_kernel::queue::QueueKind;
use resilver_kernel::stats::Timeline;
use resilver_units::{Bytes, DeviceId, EndpointId, SimTime};

use crate::SystemError;
use crate::checker;
use crate::outcome::{DeviceOutcome, Level, Outcome, Wasted};
use crate::stages::Later;
use crate::work::{Losses, Pull, WorkList};

pub use event::EventOf;
use event::{Buffer, StorageEvent};
use health::Health;
pub use policy::RebuildPolicy;
use tracking::Tracking;
use transfers::add_up_transfers;

/// No source was chosen for a pull yet.
const NO_SOURCE: u32 = u32::MAX;

/// Which endpoint each device is behind, and which devices fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    /// The endpoint of each device.
    pub endpoint_of: Vec<EndpointId>,
    /// Whether each device fails, at whatever time.
    pub is_failed: Vec<bool>,
}

/// A destination's progress through its pulls.
#[derive(Clone, Copy, Debug, Default)]
struct Receiver {
    /// The place of the pull that is being asked for, and where this device's pulls end.
    place: u32,
    end: u32,
    /// The next buffer of that pull.
    number: u32,
    buffers_held: u32,
    bytes_held: Bytes,
}

/// When a destination may ask again without passing its bandwidth.
#[derive(Clone, Copy, Debug, Default)]
struct Pacer {
    next: SimTime,
    /// Whether it is to be woken then.
    is_waiting: bool,
}

/// A source's memory and the requests that wait for it.
#[derive(Clone, Debug, Default)]
struct Sender {
    bytes_held: Bytes,
    /// Data of pulls assigned to this source and not sent yet.
    bytes_assigned: Bytes,
    waiting: VecDeque<Buffer>,
}

/// What is known of a pull while it is under way.
#[derive(Clone, Copy, Debug)]
struct PullState {
    source: u32,
    buffers_left: u32,
}

impl PullState {
    fn new(pull: &Pull, policy: RebuildPolicy) -> Self {
        PullState { source: NO_SOURCE, buffers_left: pull.size.pieces_of(policy.pipeline_buffer).max(1) as u32 }
    }
}

/// A storage system that is rebuilding lost copies.
pub struct Rebuild<F, D> {
    policy: RebuildPolicy,
    wiring: Wiring,
    fabric: F,
    disks: Vec<D>,
    work: WorkList,
    states: Vec<PullState>,
    /// The pulls of each destination in the order in which it asks for them; empty while they are listed in that order.
    order: Vec<u32>,
    receivers: Vec<Receiver>,
    senders: Vec<Sender>,
    pacers: Vec<Pacer>,
    devices: Vec<DeviceOutcome>,
    timeline: Timeline,
    health: Health,
    /// When the first devices fail.
    begins_at: SimTime,
    /// What later failures need to know; `None` where there are none.
    tracking: Option<Box<Tracking>>,
    wasted: Wasted,
    rebuilt_replicas: u64,
    rebuilt_bytes: Bytes,
    remapped_replicas: u64,
    remapped_bytes: Bytes,
    rebuilt_at: SimTime,
    bytes_written: Bytes,
}

impl<F: Fabric, D: Device> Rebuild<F, D> {
    /// A system with this work to do at time zero.
    ///
    /// # Errors
    /// When a buffer is empty, does not fit into a memory pool, or an object has too many of them.
    pub fn new(
        policy: RebuildPolicy,
        wiring: Wiring,
        fabric: F,
        disks: Vec<D>,
        work: WorkList,
    ) -> Result<Self, SystemError> {
        Rebuild::in_sequence(policy, wiring, fabric, disks, (SimTime::ZERO, work, None))
    }

    /// A system with this work to do from a point of time on, and with what `later` failures will add.
    ///
    /// # Errors
    /// As [`Rebuild::new`].
    pub(crate) fn in_sequence(
        policy: RebuildPolicy,
        wiring: Wiring,
        fabric: F,
        disks: Vec<D>,
        (begins_at, mut work, later): (SimTime, WorkList, Option<Later>),
    ) -> Result<Self, SystemError> {
        policy.check(&work, later.as_ref())?;
        let health = Health::new(std::mem::take(&mut work.copies));
        let tracking = later.map(|later| Box::new(Tracking::new(later, &work, &health, disks.len())));
        let states = work.pulls.iter().map(|pull| PullState::new(pull, policy)).collect();
        let receivers = work
            .starts
            .windows(2)
            .map(|bounds| Receiver { place: bounds[0], end: bounds[1], ..Receiver::default() })
            .collect();
        let devices =
            wiring.is_failed.iter().map(|&is_failed| DeviceOutcome { is_failed, ..DeviceOutcome::default() }).collect();
        Ok(Rebuild {
            policy,
            fabric,
            work,
            states,
            order: Vec::new(),
            receivers,
            senders: vec![Sender::default(); disks.len()],
            pacers: vec![Pacer::default(); disks.len()],
            devices,
            disks,
            wiring,
            timeline: Timeline::new(),
            health,
            begins_at,
            tracking,
            wasted: Wasted::default(),
            rebuilt_replicas: 0,
            rebuilt_bytes: Bytes::ZERO,
            remapped_replicas: 0,
            remapped_bytes: Bytes::ZERO,
            rebuilt_at: begins_at,
            bytes_written: Bytes::ZERO,
        })
    }

    /// Lets every destination ask for its first buffers, once the first devices have failed.
    pub fn start<K: QueueKind>(&mut self, schedule: &mut Schedule<EventOf<F>, K>) {
        // Failures come before all that happens at their time.
        if self.begins_at > SimTime::ZERO {
            schedule.at(self.begins_at, EventOf::new(StorageEvent::Fail(0)));
        }
        if let Some(tracking) = &self.tracking {
            for (stage, &(time, _)) in (0..).zip(&tracking.later.failures).skip(1) {
                schedule.at(time, EventOf::new(StorageEvent::Fail(stage)));
            }
        }
        if self.begins_at == SimTime::ZERO {
            self.begin(schedule);
        }
    }

    fn begin<K: QueueKind>(&mut self, schedule: &mut Schedule<EventOf<F>, K>) {
        self.health.count(schedule.now());
        for device in 0..self.receivers.len() as u32 {
            self.ask(DeviceId::new(device), schedule);
        }
    }

    /// Why the run cannot go on, if it cannot.
    pub(crate) fn problem(&self) -> Option<SystemError> {
        self.tracking.as_ref().and_then(|tracking| tracking.problem.clone())
    }

    /// Data written so far, to show progress against the work list's.
    pub fn bytes_written(&self) -> Bytes {
        self.bytes_written
    }

    /// Lost copies that are whole again.
    pub fn rebuilt_replicas(&self) -> u64 {
        self.rebuilt_replicas
    }

    /// What the failure asks for.
    pub fn losses(&self) -> Losses {
        self.work.losses
    }

    /// The fabric.
    pub fn fabric(&self) -> &F {
        &self.fabric
    }

    /// What the run has to tell, held to the conservation laws.
    ///
    /// # Errors
    /// When a law is broken, which is a bug.
    pub fn finish(self, ended_at: SimTime) -> Result<Outcome, SystemError> {
        let mut devices = self.devices;
        for (device, disk) in devices.iter_mut().zip(&self.disks) {
            device.disk = disk.usage();
        }
        let progress = match &self.tracking {
            Some(tracking) => {
                tracking.correct(&mut devices);
                tracking.progress.as_slice()
            }
            None => &[],
        };
        let is_wanted = |index: usize| progress.get(index).is_none_or(|progress| !progress.is_given_up);
        let wanted = self.work.pulls.iter().enumerate().filter(|&(index, _)| is_wanted(index));
        let held = self.receivers.iter().map(|r| r.bytes_held).sum::<Bytes>();
        let outcome = Outcome {
            losses: self.work.losses,
            rebuilt_replicas: self.rebuilt_replicas,
            rebuilt_bytes: self.rebuilt_bytes,
            remapped_replicas: self.remapped_replicas,
            remapped_bytes: self.remapped_bytes,
            moved_bytes: wanted.map(|(_, pull)| pull.size).sum(),
            wasted: self.wasted,
            begins_at: self.begins_at,
            rebuilt_at: self.rebuilt_at,
            first_redundant_at: self.health.first_redundant_at,
            last_redundant_at: self.health.last_redundant_at,
            ended_at,
            transfers: add_up_transfers(&self.work.pulls, &self.states, progress, self.policy.pipeline_buffer),
            timeline: Level::intervals(&self.timeline, &self.health.degraded, &self.health.at_risk, ended_at),
            memory_held_at_end: held + self.senders.iter().map(|s| s.bytes_held).sum(),
            devices,
        };
        checker::check(&outcome)?;
        Ok(outcome)
    }
}
