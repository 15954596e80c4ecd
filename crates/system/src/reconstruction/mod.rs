//! Reconstruction of coded objects: each new home gathers each lost piece by itself, buffer by buffer.
//!
//! For every buffer: a control message to each source, a read there, the data's way back; when all parts are there they are
//! decoded, and the piece's is written. Which sources, the code says. Memory is as for copies: a destination has at most
//! `receive_memory` of sources' buffers between request and completed write, a source at most `send_memory` being read or
//! sent. A piece that moves without being lost comes from where it is.

mod asking;
mod failure;
mod gathers;
mod homes;
mod laws;
mod needs;
mod plan;
mod protocol;
mod reach;
#[cfg(test)]
mod tests;
mod transfers;
mod work;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_kernel::queue::QueueKind;
use resilver_kernel::stats::Timeline;
use resilver_placement::inverse::FailedSet;
use resilver_redundancy::Code;
use resilver_units::{Bytes, BytesPerSecond, DeviceId, SimTime};

use crate::SystemError;
use crate::choice::{ObjectOrder, SourceChoice};
use crate::config::SystemConfig;
use crate::curve::Curve;
use crate::event::{BUFFER_LIMIT, EventOf, StorageEvent};
use crate::outcome::{Coded, DeviceOutcome, Level, Outcome, Wasted};
use crate::rebuild::{Health, RebuildPolicy, Unserved};
use crate::scan::AffectedObject;
use crate::storage::Site;
use crate::work::Losses;

use gathers::{Gathers, Leg};
pub(crate) use homes::Homes;
use homes::NOBODY;
use laws::Tally;
use reach::Reach;
use transfers::TransferLog;
pub(crate) use work::PieceWork;
use work::{Task, piece_bytes};

/// A destination's progress through its tasks.
#[derive(Clone, Debug, Default)]
struct Receiver {
    /// The place of the task that is being asked for, and where this device's tasks end.
    place: u32,
    end: u32,
    /// The pieces that task is made of; empty while it has none.
    plan: Vec<u32>,
    /// The number of the buffer that was taken up last.
    opened: u32,
    gathers_held: u32,
    bytes_held: Bytes,
    /// When it may ask again without passing its bandwidth, and whether it is to be woken then.
    next_at: SimTime,
    is_waiting: bool,
    /// When it has decoded all that has come.
    decoder_idle_from: SimTime,
}

/// A source's memory and the requests that wait for it.
#[derive(Clone, Debug, Default)]
struct Sender {
    bytes_held: Bytes,
    /// Data asked of it and not sent yet.
    bytes_asked: Bytes,
    waiting: VecDeque<Leg>,
}

/// What is known of a task while it is under way.
#[derive(Clone, Copy, Debug)]
struct TaskState {
    buffers_left: u32,
    /// The next buffer to be asked for.
    number: u32,
    written: Bytes,
}

/// What each object went through where devices fail one after another.
#[derive(Clone, Copy, Debug, Default)]
struct Toll {
    lost: u16,
    rebuilt: u16,
    moved: u16,
}

/// The reconstruction of lost pieces.
pub struct Reconstruction {
    policy: RebuildPolicy,
    code: Arc<Code>,
    coding: Option<BytesPerSecond>,
    seed: u64,
    source: SourceChoice,
    order: ObjectOrder,
    keeps_positions: bool,
    homes: Homes,
    objects: Vec<AffectedObject>,
    /// The device of each piece, object by object, as it is by now.
    places: Vec<u32>,
    /// Which pieces of each object were ever stored, and which of them were made anew or moved, as sets.
    stored: Vec<u64>,
    made: Vec<u64>,
    /// What each object went through; empty where all devices fail at one time.
    tolls: Vec<Toll>,
    tasks: Vec<Task>,
    states: Vec<TaskState>,
    /// The tasks of each destination in the order in which it asks for them; empty while they are listed in that order.
    listed: Vec<u32>,
    receivers: Vec<Receiver>,
    senders: Vec<Sender>,
    gathers: Gathers,
    devices: Vec<DeviceOutcome>,
    timeline: Timeline,
    health: Health,
    curve: Curve,
    transfers: TransferLog,
    losses: Losses,
    /// When devices fail, and all that have failed by then.
    failures: Vec<(SimTime, FailedSet)>,
    failures_left: usize,
    /// The devices that have failed so far.
    failed: FailedSet,
    /// Of devices that failed later than the first: what their queues held, which is not served any more.
    unserved: BTreeMap<DeviceId, Unserved>,
    reach: Option<Box<Reach>>,
    tally: Tally,
    wasted: Wasted,
    rebuilt_pieces: u64,
    rebuilt_bytes: Bytes,
    moved_pieces: u64,
    moved_bytes: Bytes,
    rebuilt_at: SimTime,
    bytes_written: Bytes,
    open_tasks: u64,
    unreachable_pieces: u64,
    unreachable_moves: u64,
    problem: Option<SystemError>,
    /// Working memory of plans.
    preferred: Vec<u32>,
    planned: Vec<u32>,
}

impl Reconstruction {
    /// The reconstruction that a system's failures ask for.
    ///
    /// # Errors
    /// When a buffer is empty, does not fit into a memory pool, or a piece has too many of them.
    pub(crate) fn new(config: &SystemConfig, work: PieceWork) -> Result<Self, SystemError> {
        check(config.policy, &work)?;
        let devices = config.endpoint_of.len();
        let failures = config.stages();
        let mut outcomes = vec![DeviceOutcome::default(); devices];
        config.failed.iter().for_each(|device| outcomes[device.index()].is_failed = true);
        let receiver = |bounds: &[u32]| Receiver { place: bounds[0], end: bounds[1], ..Receiver::default() };
        let code = work.coded.code;
        // Beyond the losses that it always survives, the next one may be the last.
        let least_safe = code.pieces() - code.fault_tolerance();
        let width = code.pieces() as usize;
        let toll = |(row, &stored): (&[u32], &u64)| {
            let is_lost = |&(position, &device): &(u32, &u32)| stored >> position & 1 == 1 && device == NOBODY;
            Toll { lost: (0..).zip(row).filter(is_lost).count() as u16, ..Toll::default() }
        };
        let tolls = work.places.chunks(width).zip(&work.stored).map(toll);
        let mut reconstruction = Reconstruction {
            policy: config.policy,
            coding: work.coded.coding,
            seed: config.seed,
            source: config.source,
            order: config.order,
            keeps_positions: work.keeps_positions,
            homes: work.homes,
            made: vec![0; work.objects.len()],
            tolls: if failures.len() > 1 { tolls.collect() } else { Vec::new() },
            objects: work.objects,
            places: work.places,
            stored: work.stored,
            states: Vec::new(),
            listed: Vec::new(),
            receivers: work.starts.windows(2).map(receiver).collect(),
            senders: vec![Sender::default(); devices],
            gathers: Gathers::new(code.pieces() as usize),
            devices: outcomes,
            timeline: Timeline::new(),
            health: Health::new(work.copies, least_safe as u16),
            curve: Curve::default(),
            transfers: TransferLog::default(),
            losses: work.losses,
            failures_left: failures.len(),
            failed: failures[0].1.clone(),
            unserved: BTreeMap::new(),
            reach: None,
            tally: Tally::default(),
            wasted: Wasted::default(),
            rebuilt_pieces: 0,
            rebuilt_bytes: Bytes::ZERO,
            moved_pieces: 0,
            moved_bytes: Bytes::ZERO,
            rebuilt_at: failures[0].0,
            bytes_written: Bytes::ZERO,
            open_tasks: work.tasks.len() as u64,
            unreachable_pieces: 0,
            unreachable_moves: 0,
            problem: None,
            preferred: Vec::new(),
            planned: Vec::new(),
            tasks: work.tasks,
            failures,
            code,
        };
        let states = reconstruction.tasks.iter().map(|&task| reconstruction.fresh(task)).collect();
        reconstruction.states = states;
        Ok(reconstruction)
    }

    /// What a task's object and its piece weigh.
    #[inline]
    fn size_of(&self, task: Task) -> Bytes {
        piece_bytes(self.objects[task.subject as usize].size, self.code.data())
    }

    fn fresh(&self, task: Task) -> TaskState {
        let buffers_left = self.size_of(task).pieces_of(self.policy.pipeline_buffer).max(1) as u32;
        TaskState { buffers_left, number: 0, written: Bytes::ZERO }
    }

    /// Whether devices fail at several times.
    #[inline]
    fn has_later(&self) -> bool {
        self.failures.len() > 1
    }

    fn begins_at(&self) -> SimTime {
        self.failures[0].0
    }

    /// Lets every destination ask for its first buffers, once the first devices have failed.
    pub(crate) fn start<F: Fabric, D: Device, K: QueueKind>(&mut self, site: &mut Site<'_, F, D, K>) {
        // Failures come before all that happens at their time.
        for (stage, &(time, _)) in (0..).zip(&self.failures) {
            if stage > 0 || time > SimTime::ZERO {
                site.schedule.at(time, EventOf::new(StorageEvent::Fail(stage)));
            }
        }
        if self.begins_at() == SimTime::ZERO {
            self.begin(site);
        }
    }

    fn begin<F: Fabric, D: Device, K: QueueKind>(&mut self, site: &mut Site<'_, F, D, K>) {
        self.failures_left -= 1;
        self.health.count(site.schedule.now());
        for device in 0..self.receivers.len() as u32 {
            self.ask(device, site);
        }
    }

    /// The devices that the failure of a stage adds.
    pub(crate) fn failing_at(&self, stage: u32) -> Vec<DeviceId> {
        let is_new = |device: &DeviceId| stage == 0 || !self.failed.contains(*device);
        self.failures[stage as usize].1.devices().filter(is_new).collect()
    }

    /// The devices that fail at time zero.
    pub(crate) fn failing_at_start(&self) -> Vec<DeviceId> {
        if self.begins_at() == SimTime::ZERO { self.failing_at(0) } else { Vec::new() }
    }

    /// A device fails at the first failure, and has served so many requests of others before.
    pub(crate) fn begin_without(&mut self, device: DeviceId, requests: u64) {
        self.devices[device.index()].requests_before_failure = requests;
    }

    /// Whether nothing is left to be done, now or after a failure to come.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.open_tasks == 0 && self.failures_left == 0 && self.gathers.open_count() == 0
    }

    /// Why the run cannot go on, if it cannot.
    pub(crate) fn problem(&self) -> Option<SystemError> {
        self.problem.clone()
    }

    /// Data written so far, to show progress.
    pub fn bytes_written(&self) -> Bytes {
        self.bytes_written
    }

    /// Lost pieces that are whole again.
    pub fn rebuilt_pieces(&self) -> u64 {
        self.rebuilt_pieces
    }

    /// What the failures so far ask for.
    pub fn losses(&self) -> Losses {
        self.losses
    }

    /// How many of the lost pieces that the failures so far ask for are there again, from 0 to 1; 1 where all is done.
    pub fn share_rebuilt(&self) -> f64 {
        match self.losses.replicas_to_rebuild {
            0 => 1.0,
            _ if self.failures_left == 0 && self.open_tasks == 0 => 1.0,
            all => self.rebuilt_pieces as f64 / all as f64,
        }
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
        let held = self.receivers.iter().map(|r| r.bytes_held).chain(self.senders.iter().map(|s| s.bytes_held)).sum();
        let wanted = self.tasks.iter().filter(|task| !task.is_given_up);
        let wanted_bytes = wanted.map(|&task| self.size_of(task)).sum();
        let mut devices = self.devices;
        for (device, disk) in devices.iter_mut().zip(disks) {
            device.disk = disk.usage();
        }
        for (device, unserved) in &self.unserved {
            unserved.take_from(&mut devices[device.index()]);
        }
        let outcome = Outcome {
            losses: self.losses,
            rebuilt_replicas: self.rebuilt_pieces,
            rebuilt_bytes: self.rebuilt_bytes,
            remapped_replicas: self.moved_pieces,
            remapped_bytes: self.moved_bytes,
            moved_bytes: wanted_bytes,
            wasted: self.wasted,
            unreachable_replicas: self.unreachable_pieces,
            unreachable_moves: self.unreachable_moves,
            begins_at: self.failures[0].0,
            rebuilt_at: self.rebuilt_at,
            half_rebuilt_at: self.curve.reached(0.5),
            nearly_rebuilt_at: self.curve.reached(0.99),
            coded: Some(Coded { gathered_bytes: self.tally.gathered, decoded_bytes: self.tally.decoded }),
            first_redundant_at: self.health.first_redundant_at,
            last_redundant_at: self.health.last_redundant_at,
            ended_at,
            transfers: self.transfers.finish(),
            timeline: Level::intervals(&self.timeline, &self.health.degraded, &self.health.at_risk, ended_at),
            memory_held_at_end: held,
            devices,
        };
        laws::check(&outcome, &self.tally, asked)?;
        let width = self.code.pieces() as usize;
        if self.unreachable_pieces + self.unreachable_moves == 0 {
            laws::check_places(&self.places, width)?;
        }
        Ok(outcome)
    }
}

/// Checks that buffers can be numbered and fit into memory.
///
/// # Errors
/// When they cannot or do not.
fn check(policy: RebuildPolicy, work: &PieceWork) -> Result<(), SystemError> {
    let (buffer, data) = (policy.pipeline_buffer.get(), work.coded.code.data());
    if buffer == 0 {
        return Err(SystemError::EmptyBuffer);
    }
    if policy.send_memory < policy.pipeline_buffer {
        let memory = policy.send_memory.get();
        return Err(SystemError::BufferTooLarge { pool: "send_memory", buffer, memory });
    }
    if u128::from(policy.receive_memory.get()) < u128::from(buffer) * u128::from(data) {
        return Err(SystemError::GatherTooLarge { buffer, sources: data, memory: policy.receive_memory.get() });
    }
    let largest = work.objects.iter().map(|affected| affected.size).max().unwrap_or(Bytes::ZERO);
    if piece_bytes(largest, data).pieces_of(policy.pipeline_buffer) > BUFFER_LIMIT {
        return Err(SystemError::TooManyBuffers { buffer, object: largest.get() });
    }
    Ok(())
}
