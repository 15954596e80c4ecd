//! Recovery by pulling: each new home fetches its objects from a surviving holder, buffer by buffer.
//!
//! For every buffer: a control message to the source, a read there, the data's way back, a write at the destination
//! (Carns et al. 2016, sections II-C and III-C). A destination has at most `receive_memory` of buffers between request
//! and completed write; a source has at most `send_memory` being read or sent, and lets further requests wait in order.

mod decision;
mod failure;
mod health;
mod policy;
mod protocol;
mod reach;
mod tracking;
mod transfers;

use std::collections::VecDeque;

use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_kernel::queue::QueueKind;
use resilver_kernel::stats::Timeline;
use resilver_units::{Bytes, DeviceId, SimTime};

use crate::SystemError;
use crate::checker;
use crate::curve::Curve;
use crate::event::{Buffer, EventOf, StorageEvent};
use crate::outcome::{DeviceOutcome, Level, Outcome, Wasted};
use crate::stages::Later;
use crate::storage::Site;
use crate::work::{Losses, Pull, WorkList};

pub(crate) use health::Health;
pub use policy::RebuildPolicy;
pub use reach::Patience;
use reach::Reach;
use tracking::Tracking;
pub(crate) use tracking::Unserved;
use transfers::add_up_transfers;

/// No source was chosen for a pull yet.
const NO_SOURCE: u32 = u32::MAX;

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

/// The rebuild of lost copies.
pub struct Rebuild {
    policy: RebuildPolicy,
    work: WorkList,
    states: Vec<PullState>,
    /// The pulls of each destination in the order in which it asks for them; empty while they are listed in that order.
    order: Vec<u32>,
    receivers: Vec<Receiver>,
    senders: Vec<Sender>,
    pacers: Vec<Pacer>,
    devices: Vec<DeviceOutcome>,
    timeline: Timeline,
    curve: Curve,
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
    /// Data of the work list, those of later failures not included.
    bytes_asked: Bytes,
    /// Pulls that are neither complete nor given up.
    open_pulls: u64,
    /// Failures still to come.
    failures_left: u32,
    /// What is known of pulls where messages may be lost.
    reach: Option<Box<Reach>>,
    unreachable_replicas: u64,
    unreachable_moves: u64,
}

impl Rebuild {
    /// A rebuild with this work to do at time zero; `is_failed` says of each device whether it fails.
    ///
    /// # Errors
    /// When a buffer is empty, does not fit into a memory pool, or an object has too many of them.
    pub fn new(policy: RebuildPolicy, is_failed: &[bool], work: WorkList) -> Result<Self, SystemError> {
        Rebuild::in_sequence(policy, is_failed, (SimTime::ZERO, work, None))
    }

    /// A rebuild with this work to do from a point of time on, and with what `later` failures will add.
    ///
    /// `is_failed` says of each device whether it fails, at whatever time.
    ///
    /// # Errors
    /// As [`Rebuild::new`].
    pub(crate) fn in_sequence(
        policy: RebuildPolicy,
        is_failed: &[bool],
        (begins_at, mut work, later): (SimTime, WorkList, Option<Later>),
    ) -> Result<Self, SystemError> {
        policy.check(&work, later.as_ref())?;
        let work_bytes = work.bytes();
        let health = Health::new(std::mem::take(&mut work.copies), 1);
        let tracking = later.map(|later| Box::new(Tracking::new(later, &work, &health)));
        let failures_left = tracking.as_ref().map_or(1, |tracking| tracking.later.failures.len() as u32);
        let open_pulls = work.pulls.len() as u64;
        let states = work.pulls.iter().map(|pull| PullState::new(pull, policy)).collect();
        let receivers = work
            .starts
            .windows(2)
            .map(|bounds| Receiver { place: bounds[0], end: bounds[1], ..Receiver::default() })
            .collect();
        let devices =
            is_failed.iter().map(|&is_failed| DeviceOutcome { is_failed, ..DeviceOutcome::default() }).collect();
        Ok(Rebuild {
            policy,
            work,
            states,
            order: Vec::new(),
            receivers,
            senders: vec![Sender::default(); is_failed.len()],
            pacers: vec![Pacer::default(); is_failed.len()],
            devices,
            timeline: Timeline::new(),
            curve: Curve::default(),
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
            bytes_asked: work_bytes,
            open_pulls,
            failures_left,
            reach: None,
            unreachable_replicas: 0,
            unreachable_moves: 0,
        })
    }

    /// Lets every destination ask for its first buffers, once the first devices have failed.
    pub(crate) fn start<F: Fabric, D: Device, K: QueueKind>(&mut self, site: &mut Site<'_, F, D, K>) {
        // Failures come before all that happens at their time.
        if self.begins_at > SimTime::ZERO {
            site.schedule.at(self.begins_at, EventOf::new(StorageEvent::Fail(0)));
        }
        if let Some(tracking) = &self.tracking {
            for (stage, &(time, _)) in (0..).zip(&tracking.later.failures).skip(1) {
                site.schedule.at(time, EventOf::new(StorageEvent::Fail(stage)));
            }
        }
        if self.begins_at == SimTime::ZERO {
            self.begin(site);
        }
    }

    fn begin<F: Fabric, D: Device, K: QueueKind>(&mut self, site: &mut Site<'_, F, D, K>) {
        self.failures_left -= 1;
        self.health.count(site.schedule.now());
        for device in 0..self.receivers.len() as u32 {
            self.ask(DeviceId::new(device), site);
        }
    }

    /// The devices that the failure of a stage adds.
    pub(crate) fn failing_at(&self, stage: u32) -> Vec<DeviceId> {
        match &self.tracking {
            Some(tracking) => {
                let is_new = |device: &DeviceId| stage == 0 || !tracking.failed.contains(*device);
                tracking.later.failures[stage as usize].1.devices().filter(is_new).collect()
            }
            None => {
                let failed = (0u32..).zip(&self.devices).filter(|(_, device)| device.is_failed);
                failed.map(|(device, _)| DeviceId::new(device)).collect()
            }
        }
    }

    /// The devices that fail at time zero.
    pub(crate) fn failing_at_start(&self) -> Vec<DeviceId> {
        if self.begins_at == SimTime::ZERO { self.failing_at(0) } else { Vec::new() }
    }

    /// A device fails at the first failure, and has served so many requests of others before.
    pub(crate) fn begin_without(&mut self, device: DeviceId, requests: u64) {
        self.devices[device.index()].requests_before_failure = requests;
    }

    /// Whether nothing is left to be done, now or after a failure to come.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.open_pulls == 0 && self.failures_left == 0 && self.memory_held() == Bytes::ZERO
    }

    /// Data in the memory pools.
    fn memory_held(&self) -> Bytes {
        let held = self.receivers.iter().map(|r| r.bytes_held).sum::<Bytes>();
        held + self.senders.iter().map(|s| s.bytes_held).sum()
    }

    /// Why the run cannot go on, if it cannot.
    pub(crate) fn problem(&self) -> Option<SystemError> {
        self.tracking.as_ref().and_then(|tracking| tracking.problem.clone())
    }

    /// Data written so far, to show progress against the work list's.
    pub fn bytes_written(&self) -> Bytes {
        self.bytes_written
    }

    /// How much of the data that the failures so far ask for has been moved, from 0 to 1.
    pub(crate) fn share_rebuilt(&self) -> f64 {
        if self.failures_left == 0 && self.open_pulls == 0 {
            return 1.0;
        }
        self.bytes_written.get() as f64 / (self.bytes_asked.get() as f64).max(1.0)
    }

    /// Lost copies that are whole again.
    pub fn rebuilt_replicas(&self) -> u64 {
        self.rebuilt_replicas
    }

    /// What the failure asks for.
    pub fn losses(&self) -> Losses {
        self.work.losses
    }

    /// What the run has to tell, held to the conservation laws; `asked` is what others read from disks and wrote.
    ///
    /// # Errors
    /// When a law is broken, which is a bug.
    pub(crate) fn finish<D: Device>(
        self,
        disks: &[D],
        asked: (Bytes, Bytes),
        ended_at: SimTime,
    ) -> Result<Outcome, SystemError> {
        let memory_held_at_end = self.memory_held();
        let mut devices = self.devices;
        for (device, disk) in devices.iter_mut().zip(disks) {
            device.disk = disk.usage();
        }
        let progress = match &self.tracking {
            Some(tracking) => {
                tracking.correct(&mut devices);
                tracking.progress.as_slice()
            }
            None => &[],
        };
        let reach = self.reach.as_deref();
        let is_reached = |index: usize| reach.is_none_or(|reach| !reach.given_up[index]);
        let is_wanted =
            |index: usize| progress.get(index).is_none_or(|progress| !progress.is_given_up) && is_reached(index);
        let wanted = self.work.pulls.iter().enumerate().filter(|&(index, _)| is_wanted(index));
        let outcome = Outcome {
            losses: self.work.losses,
            rebuilt_replicas: self.rebuilt_replicas,
            rebuilt_bytes: self.rebuilt_bytes,
            remapped_replicas: self.remapped_replicas,
            remapped_bytes: self.remapped_bytes,
            moved_bytes: wanted.map(|(_, pull)| pull.size).sum(),
            wasted: self.wasted,
            unreachable_replicas: self.unreachable_replicas,
            unreachable_moves: self.unreachable_moves,
            begins_at: self.begins_at,
            rebuilt_at: self.rebuilt_at,
            half_rebuilt_at: self.curve.reached(0.5),
            nearly_rebuilt_at: self.curve.reached(0.99),
            coded: None,
            first_redundant_at: self.health.first_redundant_at,
            last_redundant_at: self.health.last_redundant_at,
            ended_at,
            transfers: add_up_transfers(&self.work.pulls, &self.states, (progress, reach), self.policy.pipeline_buffer),
            timeline: Level::intervals(&self.timeline, &self.health.degraded, &self.health.at_risk, ended_at),
            memory_held_at_end,
            devices,
        };
        checker::check(&outcome, asked)?;
        Ok(outcome)
    }
}
