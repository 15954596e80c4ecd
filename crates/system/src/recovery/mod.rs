//! Recovery: the driver of each lost piece gathers it, buffer by buffer; who that is, `drivers` says, and mostly its new home.
//!
//! For every buffer: a control message to each source, a read there, the data's way back; when all parts are there they are decoded,
//! and the piece's is written (Carns et al. 2016, sections II-C and III-C, of copies: pieces of a code of which one source is
//! enough). A driver has at most `receive_memory` of sources' buffers between request and completed write; a source at most
//! `send_memory` being read or sent, and lets further requests wait. What moves without being lost comes from where it is.

mod admission;
mod asked;
pub(crate) mod curve;
mod drivers;
mod events;
mod failure;
mod fetching;
mod film;
mod gathers;
mod health;
mod homes;
mod laws;
pub(crate) mod limits;
mod needs;
pub(crate) mod outcome;
mod places;
mod protocol;
mod receiver;
mod returns;
mod snapshot;
mod sources;
pub(crate) mod spent;
mod tasks;
#[cfg(test)]
mod tests;
mod traced;
mod transfers;
mod undetected;
pub(crate) mod waits;
mod work;

use std::collections::{BTreeMap, BTreeSet};

use resilver_kernel::stats::Timeline;
use resilver_placement::inverse::FailedSet;
use resilver_redundancy::Code;
use resilver_units::{Bytes, DeviceId, SimTime};

use crate::SystemError;
use crate::plant::Plant;
use crate::scan::AffectedObject;
use crate::scenario::faults::Span;
use crate::scenario::{ObjectOrder, PoolCode, RecoveryPolicy, SourceChoice, SystemConfig};
use admission::Admission;
use curve::Curve;
use drivers::Drivers;
use failure::{History, LostMessages, Unserved};
use film::{Film, UnderWay};
use gathers::Gathers;
use health::Health;
use laws::Tally;
use outcome::{Coded, DeviceOutcome, Level, Outcome, PoolOutcome, Rebuilt, Transfer, Wasted};
use places::device_or_nobody;
use receiver::{Receiver, Sender};
use returns::Returns;
use tasks::{Task, piece_bytes};
use transfers::TransferLog;
use waits::Waits;

pub use film::SourcesAwaited;
pub(crate) use homes::{Homes, PoolHomes};
pub use work::{Losses, RecoveryWork};

/// How recovery chooses, beyond its policy.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecoveryChoices {
    /// Key of random draws.
    pub seed: u64,
    /// Which sources pieces are made of.
    pub source: SourceChoice,
    /// In which order destinations ask.
    pub order: ObjectOrder,
}

/// The recovery of lost pieces.
pub struct Recovery {
    policy: RecoveryPolicy,
    choices: RecoveryChoices,
    /// What there is to do, as it stands by now.
    work: RecoveryWork,
    /// Pieces of the widest code: how many places an object has.
    stride: usize,
    /// Whether pieces are ever decoded: some code makes them of several others.
    is_coded: bool,
    /// What each object went through; empty where all devices fail at one time.
    histories: Vec<History>,
    /// The tasks of each destination in the order in which it asks for them; empty while they are listed in that order.
    listed: Vec<u32>,
    receivers: Vec<Receiver>,
    senders: Vec<Sender>,
    /// Who drives tasks, where that is not the device each comes to.
    drivers: Option<Box<Drivers>>,
    /// What software lets begin, where it limits that.
    admission: Option<Box<Admission>>,
    gathers: Gathers,
    devices: Vec<DeviceOutcome>,
    timeline: Timeline,
    health: Health,
    curve: Curve,
    film: Option<Box<Film>>,
    transfers: TransferLog,
    waits: Waits,
    /// When devices fail or come back, and all that are gone from then on.
    failures: Vec<(SimTime, FailedSet)>,
    failures_left: usize,
    /// When devices are gone that the system does not know of yet.
    undetected: Vec<(Span, DeviceId)>,
    /// When the first devices were gone.
    lost_at: SimTime,
    /// At how many of them, behind all others, devices only come back.
    returns_at_end: usize,
    /// The devices that are known to have failed.
    failed: FailedSet,
    /// Of devices that failed: what recovery had in their queues, which is not served any more.
    unserved: BTreeMap<DeviceId, Unserved>,
    /// What is known of devices that come back, where any do.
    returns: Option<Box<Returns>>,
    /// What is known of sources where messages may be lost.
    lost_messages: Option<Box<LostMessages>>,
    tally: Tally,
    wasted: Wasted,
    rebuilt_pieces: u64,
    rebuilt_bytes: Bytes,
    moved_pieces: u64,
    moved_bytes: Bytes,
    rebuilt_at: SimTime,
    /// What was rebuilt of each of several pools.
    rebuilt_of: Vec<Rebuilt>,
    bytes_written: Bytes,
    open_tasks: u64,
    unreachable_pieces: u64,
    /// The objects of these pieces.
    unreachable: BTreeSet<u32>,
    unreachable_moves: u64,
    /// Whether a piece ever stayed where another came, since its own way was lost: it may have nowhere to go by then.
    has_lost_moves: bool,
    problem: Option<SystemError>,
    /// Working memory of plans.
    preferred: Vec<u32>,
    planned: Vec<u32>,
}

impl Recovery {
    /// The recovery that a system's failures ask for.
    ///
    /// # Errors
    /// When a buffer is empty, does not fit into a memory pool, or a piece has too many of them.
    pub(crate) fn of_system(config: &SystemConfig, work: RecoveryWork) -> Result<Self, SystemError> {
        let choices = RecoveryChoices { seed: config.seed, source: config.source, order: config.order };
        let mut recovery = Self::new(config.policy, choices, config.stages(), work)?.undetected(config.undetected());
        recovery.film = Film::of(config.frames, recovery.devices.len()).map(Box::new);
        Ok(recovery)
    }

    /// What a system of so many devices has where nothing is ever lost.
    pub fn of_nothing(devices: usize) -> Self {
        let (at_start, code) = ((SimTime::ZERO, FailedSet::new(devices, &[])), Code::replication(1));
        let policy = RecoveryPolicy::default();
        let how = (policy.pipeline_buffer, ObjectOrder::Population);
        let work = code.map_err(SystemError::from).and_then(|code| {
            let nowhere = |_| (Vec::new(), Vec::new());
            RecoveryWork::of_places(code, Vec::new(), (devices, &at_start.1), how, nowhere)
        });
        let made = work.and_then(|work| Self::new(policy, RecoveryChoices::default(), vec![at_start], work));
        made.expect("nothing needs no room")
    }

    /// The recovery of this work; `failures` are the points of time at which devices fail or come back, rising, each with all that
    /// are gone from then on, and one at least.
    ///
    /// # Errors
    /// When a buffer is empty, does not fit into a memory pool, or a piece has too many of them.
    pub fn new(
        policy: RecoveryPolicy,
        choices: RecoveryChoices,
        failures: Vec<(SimTime, FailedSet)>,
        mut work: RecoveryWork,
    ) -> Result<Self, SystemError> {
        work.check(&policy)?;
        let devices = work.starts.len() - 1;
        let mut outcomes = vec![DeviceOutcome::default(); devices];
        let ever_failed = failures.iter().flat_map(|(_, failed)| failed.devices());
        ever_failed.for_each(|device| outcomes[device.index()].is_failed = true);
        let stride = work.pools.iter().map(PoolCode::width).max().unwrap_or(1);
        let health = Health::new(std::mem::take(&mut work.copies), &work);
        Ok(Recovery {
            policy,
            choices,
            stride,
            is_coded: work.pools.iter().any(|pool| pool.code.data() > 1),
            histories: if failures.len() > 1 { History::of_rows(&work.places, stride) } else { Vec::new() },
            listed: Vec::new(),
            receivers: work.starts.windows(2).map(|bounds| Receiver::of(bounds[0], bounds[1])).collect(),
            senders: vec![Sender::default(); devices],
            drivers: Drivers::of(policy.driver, devices),
            admission: Admission::of(policy.software, devices),
            gathers: Gathers::new(stride, work.pools.iter().any(|pool| pool.code.data() > 1)),
            devices: outcomes,
            timeline: Timeline::new(),
            health,
            curve: Curve::default(),
            film: None,
            transfers: TransferLog::new(devices),
            waits: Waits::new(stride, &policy, &work),
            failures_left: failures.len(),
            undetected: Vec::new(),
            lost_at: failures[0].0,
            returns_at_end: Returns::at_end(&failures),
            failed: failures[0].1.clone(),
            unserved: BTreeMap::new(),
            returns: Returns::of(&failures, devices, work.objects.len(), stride).map(Box::new),
            lost_messages: None,
            tally: Tally::default(),
            wasted: Wasted::default(),
            rebuilt_pieces: 0,
            rebuilt_bytes: Bytes::ZERO,
            moved_pieces: 0,
            moved_bytes: Bytes::ZERO,
            rebuilt_at: failures[0].0,
            rebuilt_of: vec![Rebuilt::since(failures[0].0); work.code_of.len()],
            bytes_written: Bytes::ZERO,
            open_tasks: work.tasks.len() as u64,
            unreachable_pieces: 0,
            unreachable: BTreeSet::new(),
            unreachable_moves: 0,
            has_lost_moves: false,
            problem: None,
            preferred: Vec::new(),
            planned: Vec::new(),
            failures,
            work,
        })
    }

    /// The same recovery of devices that are gone before the system knows it.
    fn undetected(mut self, undetected: Vec<(Span, DeviceId)>) -> Self {
        let first = undetected.iter().map(|&((since, _), _)| since).min();
        self.lost_at = first.map_or(self.lost_at, |first| first.min(self.lost_at));
        self.rebuilt_at = self.lost_at;
        self.rebuilt_of.fill(Rebuilt::since(self.lost_at));
        self.undetected = undetected;
        self
    }

    #[inline]
    fn object(&self, subject: u32) -> AffectedObject {
        self.work.objects[subject as usize]
    }

    /// The size of an object's pieces.
    #[inline]
    fn piece_size(&self, subject: u32) -> Bytes {
        piece_bytes(self.work.objects[subject as usize].size, self.work.pool(subject).code.data())
    }

    /// Where an object's pieces are, as many as its code has.
    #[inline]
    fn row(&self, subject: u32) -> &[u32] {
        self.work.row(subject, self.stride)
    }

    /// The device that a piece is at.
    #[inline]
    fn device_of(&self, subject: u32, position: u32) -> u32 {
        device_or_nobody(self.work.places[subject as usize * self.stride + position as usize])
    }

    /// Why the run cannot go on, if it cannot.
    pub(crate) fn problem(&self) -> Option<SystemError> {
        self.problem.clone().or_else(|| self.waits.trace.as_ref().and_then(|trace| trace.problem()))
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
        self.work.losses
    }

    /// What the run has to tell, held to the conservation laws; `asked` is what others read from disks and wrote.
    ///
    /// # Errors
    /// When a law is broken, which is a bug.
    pub(crate) fn finish<F>(
        mut self,
        plant: &Plant<F>,
        asked: (Bytes, Bytes),
        ended_at: SimTime,
    ) -> Result<Outcome, SystemError> {
        let held = self.receivers.iter().map(|r| r.bytes_held).chain(self.senders.iter().map(|s| s.bytes_held)).sum();
        let is_rebuilt = |task: &Task| task.is_rebuild && !self.unreachable.contains(&task.subject);
        let (rebuilt_objects, moved_objects) =
            (self.work.completed_objects(is_rebuilt), self.work.completed_objects(|task| !task.is_rebuild));
        let pools = self.pools(&rebuilt_objects);
        let wanted = self.work.tasks.iter().filter(|task| !task.is_given_up);
        let wanted_bytes = wanted.map(|task| task.size).sum();
        if !self.has_lost_moves && self.unreachable_pieces + self.unreachable_moves == 0 {
            laws::check_places(&self.work.places, self.stride)?;
        }
        let transfers = std::mem::replace(&mut self.transfers, TransferLog::new(0)).finish();
        let devices = self.device_outcomes(plant, &transfers);
        let coded = Coded { gathered_bytes: self.tally.gathered, decoded_bytes: self.tally.decoded };
        let outcome = Outcome {
            losses: self.work.losses,
            rebuilt_objects: rebuilt_objects.iter().sum(),
            moved_objects: moved_objects.iter().sum(),
            pools,
            unreachable_objects: self.unreachable.len() as u64,
            rebuilt_pieces: self.rebuilt_pieces,
            rebuilt_bytes: self.rebuilt_bytes,
            moved_pieces: self.moved_pieces,
            remapped_bytes: self.moved_bytes,
            moved_bytes: wanted_bytes,
            wasted: self.wasted,
            returned_pieces: self.returned_pieces(),
            returned_objects: self.histories.iter().filter(|history| history.returned > 0).count() as u64,
            surplus_pieces: self.returns.as_ref().map_or(0, |returns| returns.surplus),
            unreachable_pieces: self.unreachable_pieces,
            unreachable_moves: self.unreachable_moves,
            begins_at: self.lost_at,
            rebuilt_at: self.rebuilt_at,
            half_rebuilt_at: self.curve.reached(0.5),
            nearly_rebuilt_at: self.curve.reached(0.99),
            coded: Some(coded),
            first_redundant_at: self.health.first_redundant_at,
            last_redundant_at: self.health.last_redundant_at,
            ended_at,
            transfers,
            timeline: Level::intervals(&self.timeline, &self.health.degraded, &self.health.at_risk, ended_at),
            film: self
                .film
                .take()
                .map(|film| film.finish(ended_at, UnderWay { gathers: &self.gathers, senders: &self.senders })),
            memory_held_at_end: held,
            devices,
        };
        self.tally.left_in_admission = self.admission.as_ref().map_or(0, |admission| admission.left());
        laws::check(&outcome, &self.tally, asked)?;
        Ok(outcome)
    }

    /// What each device did.
    fn device_outcomes<F>(&mut self, plant: &Plant<F>, transfers: &[Transfer]) -> Vec<DeviceOutcome> {
        let mut devices = std::mem::take(&mut self.devices);
        for (number, (device, disk)) in devices.iter_mut().zip(&plant.disks).enumerate() {
            device.disk = disk.usage();
            // What is on its way to a device was asked of it.
            device.disk.bytes_written += plant.ways.as_ref().map_or(Bytes::ZERO, |ways| ways.unwritten(number));
            device.finished_at = self.receivers[number].finished_at;
            device.most_unwritten = self.drivers.as_ref().map(|drivers| drivers.most_unwritten(number));
            if self.failed.contains(DeviceId::new(number as u32)) {
                self.tally.served_after_failure += device.disk.requests - device.requests_before_failure;
            }
        }
        for transfer in transfers {
            devices[transfer.source.index()].sent_pieces += transfer.pieces;
            devices[transfer.destination.index()].received_bytes += transfer.bytes;
        }
        for (device, unserved) in &self.unserved {
            unserved.take_from(&mut devices[device.index()]);
        }
        devices
    }

    /// What became of each pool's objects, of which so many were rebuilt.
    pub(super) fn pools(&self, rebuilt_objects: &[u64]) -> Vec<PoolOutcome> {
        let all = Rebuilt { pieces: self.rebuilt_pieces, bytes: self.rebuilt_bytes, last_at: self.rebuilt_at };
        let of_pool = |(pool, &losses): (usize, &Losses)| {
            // Of one pool it is all that is counted.
            let Rebuilt { pieces, bytes, last_at } =
                if self.rebuilt_of.len() > 1 { self.rebuilt_of[pool] } else { all };
            PoolOutcome {
                losses,
                rebuilt_objects: rebuilt_objects[pool],
                rebuilt_pieces: pieces,
                rebuilt_bytes: bytes,
                rebuilt_at: last_at,
            }
        };
        self.work.losses_of.iter().enumerate().map(of_pool).collect()
    }
}
