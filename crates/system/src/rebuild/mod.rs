//! Recovery by pulling: each new home fetches its objects from a surviving holder, buffer by buffer.
//!
//! For every buffer: a control message to the source, a read there, the data's way back, a write at the destination
//! (Carns et al. 2016, sections II-C and III-C). A destination has at most `receive_memory` of buffers between request
//! and completed write; a source has at most `send_memory` being read or sent, and lets further requests wait in order.

mod event;
mod policy;
mod transfers;

use std::collections::VecDeque;

use resilver_device::{Device, Direction, Io};
use resilver_fabric::{Fabric, Message};
use resilver_kernel::queue::QueueKind;
use resilver_kernel::stats::Timeline;
use resilver_kernel::{Model, Schedule};
use resilver_units::{Bytes, DeviceId, EndpointId, ObjectId, SimTime};

use crate::SystemError;
use crate::checker;
use crate::outcome::{DeviceOutcome, Outcome};
use crate::work::{Losses, Pull, WorkList};

pub use event::EventOf;
use event::{Buffer, DATA, REQUEST, StorageEvent, token, untoken};
pub use policy::RebuildPolicy;
use transfers::add_up_transfers;

/// No source was chosen for a pull yet.
const NO_SOURCE: u32 = u32::MAX;

/// Which endpoint each device is behind, and which devices failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    /// The endpoint of each device.
    pub endpoint_of: Vec<EndpointId>,
    /// Whether each device failed.
    pub is_failed: Vec<bool>,
}

/// A destination's progress through its pulls.
#[derive(Clone, Copy, Debug, Default)]
struct Receiver {
    /// The pull that is being asked for, and where this device's pulls end.
    pull: u32,
    end: u32,
    /// The next buffer of that pull.
    number: u32,
    buffers_held: u32,
    bytes_held: Bytes,
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

/// A storage system that is rebuilding lost copies.
pub struct Rebuild<F, D> {
    policy: RebuildPolicy,
    wiring: Wiring,
    fabric: F,
    disks: Vec<D>,
    work: WorkList,
    states: Vec<PullState>,
    receivers: Vec<Receiver>,
    senders: Vec<Sender>,
    devices: Vec<DeviceOutcome>,
    timeline: Timeline,
    rebuilt_replicas: u64,
    rebuilt_bytes: Bytes,
    remapped_replicas: u64,
    remapped_bytes: Bytes,
    rebuilt_at: SimTime,
    bytes_written: Bytes,
}

impl<F: Fabric, D: Device> Rebuild<F, D> {
    /// A system with this work to do.
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
        policy.check(&work)?;
        let buffers_left = |pull: &Pull| pull.size.pieces_of(policy.pipeline_buffer).max(1) as u32;
        let states =
            work.pulls.iter().map(|pull| PullState { source: NO_SOURCE, buffers_left: buffers_left(pull) }).collect();
        let receivers = work
            .starts
            .windows(2)
            .map(|bounds| Receiver { pull: bounds[0], end: bounds[1], ..Receiver::default() })
            .collect();
        let devices =
            wiring.is_failed.iter().map(|&is_failed| DeviceOutcome { is_failed, ..DeviceOutcome::default() }).collect();
        Ok(Rebuild {
            policy,
            fabric,
            work,
            states,
            receivers,
            senders: vec![Sender::default(); disks.len()],
            devices,
            disks,
            wiring,
            timeline: Timeline::new(),
            rebuilt_replicas: 0,
            rebuilt_bytes: Bytes::ZERO,
            remapped_replicas: 0,
            remapped_bytes: Bytes::ZERO,
            rebuilt_at: SimTime::ZERO,
            bytes_written: Bytes::ZERO,
        })
    }

    /// Lets every destination ask for its first buffers.
    pub fn start<K: QueueKind>(&mut self, schedule: &mut Schedule<EventOf<F>, K>) {
        for device in 0..self.receivers.len() as u32 {
            self.ask(DeviceId::new(device), schedule);
        }
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
        let held = self.receivers.iter().map(|r| r.bytes_held).sum::<Bytes>();
        let outcome = Outcome {
            losses: self.work.losses,
            rebuilt_replicas: self.rebuilt_replicas,
            rebuilt_bytes: self.rebuilt_bytes,
            remapped_replicas: self.remapped_replicas,
            remapped_bytes: self.remapped_bytes,
            moved_bytes: self.work.bytes(),
            rebuilt_at: self.rebuilt_at,
            ended_at,
            transfers: add_up_transfers(&self.work.pulls, &self.states),
            timeline: self.timeline.intervals(ended_at),
            memory_held_at_end: held + self.senders.iter().map(|s| s.bytes_held).sum(),
            devices,
        };
        checker::check(&outcome)?;
        Ok(outcome)
    }

    /// The object, offset and size of a buffer.
    #[inline]
    fn extent(&self, buffer: Buffer) -> (ObjectId, u64, Bytes) {
        let pull = &self.work.pulls[buffer.pull as usize];
        let offset = u64::from(buffer.number) * self.policy.pipeline_buffer.get();
        let bytes = self.policy.pipeline_buffer.get().min(pull.size.get() - offset);
        (pull.object, offset, Bytes::new(bytes))
    }

    #[inline]
    fn source_of(&self, buffer: Buffer) -> DeviceId {
        DeviceId::new(self.states[buffer.pull as usize].source)
    }

    #[inline]
    fn destination_of(&self, buffer: Buffer) -> DeviceId {
        self.work.pulls[buffer.pull as usize].destination
    }

    /// Lets a destination ask for as many buffers as its memory and policy allow.
    fn ask<K: QueueKind>(&mut self, destination: DeviceId, schedule: &mut Schedule<EventOf<F>, K>) {
        loop {
            let receiver = self.receivers[destination.index()];
            if receiver.pull == receiver.end || (!self.policy.pipelining && receiver.buffers_held > 0) {
                return;
            }
            let buffer = Buffer { pull: receiver.pull, number: receiver.number };
            let (_, offset, bytes) = self.extent(buffer);
            if receiver.bytes_held + bytes > self.policy.receive_memory {
                return;
            }
            if buffer.number == 0 {
                self.choose_source(buffer.pull);
            }
            let is_last = offset + bytes.get() == self.work.pulls[buffer.pull as usize].size.get();
            let receiver = &mut self.receivers[destination.index()];
            receiver.bytes_held += bytes;
            receiver.buffers_held += 1;
            receiver.number += 1;
            if is_last {
                receiver.pull += 1;
                receiver.number = 0;
            }
            self.timeline.add(schedule.now(), bytes.get() as i64);
            self.send(buffer, destination, self.source_of(buffer), self.policy.control_message, REQUEST, schedule);
        }
    }

    /// Settles where a pull comes from: the only holder listed, or the one with the least left to send.
    fn choose_source(&mut self, pull: u32) {
        let Pull { holders_start, holder_count, size, .. } = self.work.pulls[pull as usize];
        let holders = &self.work.holders[holders_start as usize..][..usize::from(holder_count)];
        let least = holders.iter().min_by_key(|holder| self.senders[holder.index()].bytes_assigned);
        let source = *least.expect("a pull has a holder");
        self.states[pull as usize].source = source.get();
        self.senders[source.index()].bytes_assigned += size;
    }

    fn send<K: QueueKind>(
        &mut self,
        buffer: Buffer,
        from: DeviceId,
        to: DeviceId,
        bytes: Bytes,
        kind: u64,
        schedule: &mut Schedule<EventOf<F>, K>,
    ) -> SimTime {
        let message = Message {
            from: self.wiring.endpoint_of[from.index()],
            to: self.wiring.endpoint_of[to.index()],
            bytes,
            token: token(buffer, kind),
        };
        let now = schedule.now();
        self.fabric.send(now, message, |time, event| schedule.at(time, EventOf(StorageEvent::Fabric(event))))
    }

    /// A request has reached its source: read when there is memory and nobody waits already.
    fn request_arrived<K: QueueKind>(&mut self, buffer: Buffer, schedule: &mut Schedule<EventOf<F>, K>) {
        let source = self.source_of(buffer);
        self.senders[source.index()].waiting.push_back(buffer);
        self.read_waiting(source, schedule);
    }

    /// Lets a source read for the requests that wait, in order, while they fit into its memory.
    fn read_waiting<K: QueueKind>(&mut self, source: DeviceId, schedule: &mut Schedule<EventOf<F>, K>) {
        while let Some(&buffer) = self.senders[source.index()].waiting.front() {
            let (object, offset, bytes) = self.extent(buffer);
            let sender = &mut self.senders[source.index()];
            if sender.bytes_held + bytes > self.policy.send_memory {
                return;
            }
            sender.waiting.pop_front();
            sender.bytes_held += bytes;
            let io = Io { object, offset, bytes, direction: Direction::Read };
            let read = self.disks[source.index()].submit(schedule.now(), io);
            schedule.at(read, EventOf(StorageEvent::ReadDone(buffer)));
        }
    }

    fn read_done<K: QueueKind>(&mut self, buffer: Buffer, schedule: &mut Schedule<EventOf<F>, K>) {
        let (_, _, bytes) = self.extent(buffer);
        let source = self.source_of(buffer);
        let sent = self.send(buffer, source, self.destination_of(buffer), bytes, DATA, schedule);
        schedule.at(sent, EventOf(StorageEvent::SendDone(buffer)));
    }

    fn send_done<K: QueueKind>(&mut self, buffer: Buffer, schedule: &mut Schedule<EventOf<F>, K>) {
        let (_, _, bytes) = self.extent(buffer);
        let source = self.source_of(buffer);
        let sender = &mut self.senders[source.index()];
        sender.bytes_held -= bytes;
        sender.bytes_assigned -= bytes;
        self.devices[source.index()].sent_bytes += bytes;
        self.read_waiting(source, schedule);
    }

    fn data_arrived<K: QueueKind>(&mut self, buffer: Buffer, schedule: &mut Schedule<EventOf<F>, K>) {
        let (object, offset, bytes) = self.extent(buffer);
        let destination = self.destination_of(buffer);
        self.devices[destination.index()].received_bytes += bytes;
        let io = Io { object, offset, bytes, direction: Direction::Write };
        let written = self.disks[destination.index()].submit(schedule.now(), io);
        schedule.at(written, EventOf(StorageEvent::WriteDone(buffer)));
    }

    fn write_done<K: QueueKind>(&mut self, buffer: Buffer, schedule: &mut Schedule<EventOf<F>, K>) {
        let (_, _, bytes) = self.extent(buffer);
        let now = schedule.now();
        let destination = self.destination_of(buffer);
        let receiver = &mut self.receivers[destination.index()];
        receiver.bytes_held -= bytes;
        receiver.buffers_held -= 1;
        self.bytes_written += bytes;
        self.timeline.add(now, -(bytes.get() as i64));
        if self.work.pulls[buffer.pull as usize].is_rebuild {
            self.timeline.record(now, bytes.get());
        }
        self.devices[destination.index()].finished_at = Some(now);
        let state = &mut self.states[buffer.pull as usize];
        state.buffers_left -= 1;
        if state.buffers_left == 0 {
            self.pull_done(buffer.pull, now);
        }
        self.ask(destination, schedule);
    }

    fn pull_done(&mut self, pull: u32, now: SimTime) {
        let source = self.states[pull as usize].source;
        let Pull { size, destination, is_rebuild, .. } = self.work.pulls[pull as usize];
        self.devices[source as usize].sent_replicas += 1;
        let device = &mut self.devices[destination.index()];
        if is_rebuild {
            device.rebuilt_replicas += 1;
            device.rebuilt_bytes += size;
            self.rebuilt_replicas += 1;
            self.rebuilt_bytes += size;
            self.rebuilt_at = now;
        } else {
            device.remapped_replicas += 1;
            device.remapped_bytes += size;
            self.remapped_replicas += 1;
            self.remapped_bytes += size;
        }
    }
}

impl<F: Fabric, D: Device, K: QueueKind> Model<K> for Rebuild<F, D> {
    type Event = EventOf<F>;

    #[inline]
    fn execute(&mut self, EventOf(event): EventOf<F>, schedule: &mut Schedule<EventOf<F>, K>) {
        match event {
            StorageEvent::Fabric(event) => {
                let now = schedule.now();
                let delivered = self
                    .fabric
                    .execute(now, event, |time, next| schedule.at(time, EventOf(StorageEvent::Fabric(next))));
                match delivered.map(untoken) {
                    None => {}
                    Some((buffer, REQUEST)) => self.request_arrived(buffer, schedule),
                    Some((buffer, _)) => self.data_arrived(buffer, schedule),
                }
            }
            StorageEvent::ReadDone(buffer) => self.read_done(buffer, schedule),
            StorageEvent::SendDone(buffer) => self.send_done(buffer, schedule),
            StorageEvent::WriteDone(buffer) => self.write_done(buffer, schedule),
        }
    }
}
