//! What happens to a buffer, from the request for it to its being written.

use resilver_device::{Device, Direction, Io};
use resilver_fabric::{Fabric, Message, Notice};
use resilver_kernel::prefetch;
use resilver_kernel::queue::QueueKind;
use resilver_units::{Bytes, DeviceId, EndpointId, ObjectId, SimTime};

use super::tracking::Made;
use super::{NO_SOURCE, Rebuild};
use crate::class::TrafficClass;
use crate::event::{Buffer, DATA, EventOf, REQUEST, StorageEvent, token, untoken};
use crate::restores::Restores;
use crate::storage::Site;
use crate::work::Pull;

/// The queue of a port or a device that a rebuild waits in, where there are several.
const LANE: u8 = TrafficClass::Rebuild.lane();
/// How far ahead of the pull that it asks for a destination fetches another: a cache line holds two or three.
const PULLS_AHEAD: u32 = 4;
/// How many requests before its turn the pull of one that waits at a source is fetched.
const REQUESTS_AHEAD: usize = 1;

impl Rebuild {
    /// The object, offset and size of a buffer.
    #[inline]
    pub(super) fn extent(&self, buffer: Buffer) -> (ObjectId, u64, Bytes) {
        let pull = &self.work.pulls[buffer.pull as usize];
        let offset = u64::from(buffer.number) * self.policy.pipeline_buffer.get();
        let bytes = self.policy.pipeline_buffer.get().min(pull.size.get() - offset);
        (pull.object, offset, Bytes::new(bytes))
    }

    /// Brings what is known of a pull into the cache while other work goes on.
    #[inline]
    fn fetch(&self, pull: u32) {
        prefetch(&self.work.pulls[pull as usize]);
        prefetch(&self.states[pull as usize]);
    }

    #[inline]
    fn source_of(&self, buffer: Buffer) -> DeviceId {
        DeviceId::new(self.states[buffer.pull as usize].source)
    }

    #[inline]
    fn destination_of(&self, buffer: Buffer) -> DeviceId {
        self.work.pulls[buffer.pull as usize].destination
    }

    /// Lets a destination ask for as many buffers as its memory, its policy and its bandwidth allow.
    pub(super) fn ask<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        destination: DeviceId,
        site: &mut Site<'_, F, D, K>,
    ) {
        loop {
            let receiver = self.receivers[destination.index()];
            if receiver.place == receiver.end || (!self.policy.pipelining && receiver.buffers_held > 0) {
                return;
            }
            let buffer = Buffer { pull: self.pull_at(receiver.place), number: receiver.number };
            let (_, offset, bytes) = self.extent(buffer);
            if receiver.bytes_held + bytes > self.policy.receive_memory || !self.is_on_pace(destination, bytes, site) {
                return;
            }
            if self.states[buffer.pull as usize].source == NO_SOURCE {
                self.choose_source(buffer.pull);
            }
            let is_last = offset + bytes.get() == self.work.pulls[buffer.pull as usize].size.get();
            let receiver = &mut self.receivers[destination.index()];
            receiver.bytes_held += bytes;
            receiver.buffers_held += 1;
            receiver.number += 1;
            if is_last {
                receiver.place += 1;
                receiver.number = 0;
                let coming = receiver.place + PULLS_AHEAD;
                if coming < receiver.end {
                    self.fetch(self.pull_at(coming));
                }
                self.resume_next(destination);
                self.turn_back(destination);
            }
            self.timeline.add(site.schedule.now(), bytes.get() as i64);
            self.send(buffer, REQUEST, site);
        }
    }

    /// The pull at a place of the order in which pulls are asked for.
    #[inline]
    pub(super) fn pull_at(&self, place: u32) -> u32 {
        if self.order.is_empty() { place } else { self.order[place as usize] }
    }

    /// Whether a destination may ask for `bytes` by now, which counts as asked; otherwise it is woken when it may.
    #[inline]
    fn is_on_pace<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        destination: DeviceId,
        bytes: Bytes,
        site: &mut Site<'_, F, D, K>,
    ) -> bool {
        let Some(rate) = self.policy.bandwidth else { return true };
        let (now, pacer) = (site.schedule.now(), &mut self.pacers[destination.index()]);
        if now < pacer.next {
            if !pacer.is_waiting {
                pacer.is_waiting = true;
                site.schedule.at(pacer.next, EventOf::new(StorageEvent::Wake(destination)));
            }
            return false;
        }
        pacer.next = now + rate.time_for(bytes);
        true
    }

    /// Settles where a pull comes from: the only holder listed, or the one with the least left to send.
    fn choose_source(&mut self, pull: u32) {
        let Pull { holders, holder_count, size, .. } = self.work.pulls[pull as usize];
        let source = if holder_count == 1 {
            DeviceId::new(holders)
        } else {
            let holders = &self.work.holders[holders as usize..][..usize::from(holder_count)];
            let least = holders.iter().min_by_key(|holder| self.senders[holder.index()].bytes_assigned);
            *least.expect("a pull has a holder")
        };
        self.states[pull as usize].source = source.get();
        self.senders[source.index()].bytes_assigned += size;
        if let Some(tracking) = &mut self.tracking {
            tracking.begun += 1;
            tracking.progress[pull as usize].begun = tracking.begun;
            // What an earlier source had sent is not asked of this one.
            let start = tracking.progress[pull as usize].start;
            let sent = self.bytes_before(pull, start);
            self.senders[source.index()].bytes_assigned -= sent;
        }
    }

    pub(super) fn send<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        buffer: Buffer,
        kind: u64,
        site: &mut Site<'_, F, D, K>,
    ) -> Option<SimTime> {
        let message = self.message_of(token(buffer, kind), &site.plant.endpoint_of);
        site.send(message)
    }

    /// The message of a token: a request for a buffer, or its data.
    #[inline]
    pub(crate) fn message_of(&self, token: u64, endpoint_of: &[EndpointId]) -> Message {
        let (buffer, kind) = untoken(token);
        let source = endpoint_of[self.source_of(buffer).index()];
        let destination = endpoint_of[self.destination_of(buffer).index()];
        match kind {
            REQUEST => Message { from: destination, to: source, bytes: self.policy.control_message, lane: LANE, token },
            _ => Message { from: source, to: destination, bytes: self.extent(buffer).2, lane: LANE, token },
        }
    }

    /// A request has reached its source: read when there is memory and nobody waits already.
    fn request_arrived<F: Fabric, D: Device, K: QueueKind>(&mut self, buffer: Buffer, site: &mut Site<'_, F, D, K>) {
        if self.is_given_up(buffer.pull) {
            return;
        }
        let source = self.source_of(buffer);
        if self.is_out_of_reach(buffer.pull) || self.is_dead(source) {
            self.buffer_lost(buffer, site);
            return;
        }
        self.senders[source.index()].waiting.push_back(buffer);
        self.read_waiting(source, site);
    }

    /// Lets a source read for the requests that wait, in order, while they fit into its memory.
    pub(super) fn read_waiting<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        source: DeviceId,
        site: &mut Site<'_, F, D, K>,
    ) {
        while let Some(&buffer) = self.senders[source.index()].waiting.front() {
            let (object, offset, bytes) = self.extent(buffer);
            let sender = &mut self.senders[source.index()];
            if sender.bytes_held + bytes > self.policy.send_memory {
                return;
            }
            sender.waiting.pop_front();
            sender.bytes_held += bytes;
            let coming = sender.waiting.get(REQUESTS_AHEAD).copied();
            let io = Io { object, offset, bytes, direction: Direction::Read, lane: LANE };
            if let Some(tracking) = &mut self.tracking {
                tracking.progress[buffer.pull as usize].read += 1;
            }
            site.submit(source, io, StorageEvent::ReadDone(buffer));
            if let Some(coming) = coming {
                self.fetch(coming.pull);
            }
        }
    }

    fn read_done<F: Fabric, D: Device, K: QueueKind>(&mut self, buffer: Buffer, site: &mut Site<'_, F, D, K>) {
        let (_, _, bytes) = self.extent(buffer);
        let source = self.source_of(buffer);
        if self.is_given_up(buffer.pull) {
            self.discard_read(source, bytes, site);
            return;
        }
        if self.is_out_of_reach(buffer.pull) || self.is_dead(source) {
            self.wasted.read += bytes;
            self.senders[source.index()].bytes_held -= bytes;
            self.buffer_lost(buffer, site);
            self.read_waiting(source, site);
            return;
        }
        self.devices[source.index()].sent_bytes += bytes;
        if let Some(sent) = self.send(buffer, DATA, site) {
            site.schedule.at(sent, EventOf::new(StorageEvent::SendDone(buffer)));
        }
    }

    fn send_done<F: Fabric, D: Device, K: QueueKind>(&mut self, buffer: Buffer, site: &mut Site<'_, F, D, K>) {
        let (_, _, bytes) = self.extent(buffer);
        let source = self.source_of(buffer);
        if self.has_failed(source) {
            return;
        }
        let sender = &mut self.senders[source.index()];
        sender.bytes_held -= bytes;
        sender.bytes_assigned -= bytes;
        self.read_waiting(source, site);
    }

    fn data_arrived<F: Fabric, D: Device, K: QueueKind>(&mut self, buffer: Buffer, site: &mut Site<'_, F, D, K>) {
        let (object, offset, bytes) = self.extent(buffer);
        let destination = self.destination_of(buffer);
        if self.is_given_up(buffer.pull) {
            self.wasted.sent += bytes;
            return;
        }
        if self.is_out_of_reach(buffer.pull) {
            self.wasted.sent += bytes;
            self.release(buffer, site);
            return;
        }
        self.note_received(buffer.pull, bytes);
        self.devices[destination.index()].received_bytes += bytes;
        let io = Io { object, offset, bytes, direction: Direction::Write, lane: LANE };
        if let Some(tracking) = &mut self.tracking {
            let is_last = offset + bytes.get() == self.work.pulls[buffer.pull as usize].size.get();
            tracking.progress[buffer.pull as usize].receive(is_last);
        }
        site.submit(destination, io, StorageEvent::WriteDone(buffer));
    }

    fn write_done<F: Fabric, D: Device, K: QueueKind>(&mut self, buffer: Buffer, site: &mut Site<'_, F, D, K>) {
        let (_, _, bytes) = self.extent(buffer);
        let now = site.schedule.now();
        let destination = self.destination_of(buffer);
        if self.has_failed(destination) {
            self.lose_write(destination, bytes);
            return;
        }
        let receiver = &mut self.receivers[destination.index()];
        receiver.bytes_held -= bytes;
        receiver.buffers_held -= 1;
        self.bytes_written += bytes;
        self.timeline.add(now, -(bytes.get() as i64));
        self.devices[destination.index()].finished_at = Some(now);
        if self.is_out_of_reach(buffer.pull) {
            self.wasted.written += bytes;
            self.ask(destination, site);
            return;
        }
        self.note_written(buffer.pull, bytes);
        let Some(buffer) = self.still_wanted(buffer) else {
            self.wasted.written += bytes;
            self.ask(destination, site);
            return;
        };
        if self.work.pulls[buffer.pull as usize].is_rebuild {
            self.timeline.record(now, bytes.get());
            self.curve.add(now, bytes.get());
        }
        let state = &mut self.states[buffer.pull as usize];
        state.buffers_left -= 1;
        if state.buffers_left == 0 {
            self.pull_done(buffer.pull, now);
        }
        self.ask(destination, site);
    }

    fn pull_done(&mut self, pull: u32, now: SimTime) {
        let source = self.states[pull as usize].source;
        let Pull { size, destination, subject, restores, is_rebuild, .. } = self.work.pulls[pull as usize];
        self.open_pulls -= 1;
        if let Some(tracking) = &mut self.tracking {
            tracking.made.push(Made { subject, device: destination, is_rebuild });
        }
        self.devices[source as usize].sent_replicas += 1;
        let device = &mut self.devices[destination.index()];
        if is_rebuild {
            device.rebuilt_replicas += 1;
            device.rebuilt_bytes += size;
            self.rebuilt_replicas += 1;
            self.rebuilt_bytes += size;
            self.rebuilt_at = now;
            match restores {
                Restores::All if self.tracking.is_none() => self.health.restored(now, false),
                Restores::AllOfOneAtRisk if self.tracking.is_none() => self.health.restored(now, true),
                _ => self.health.rebuilt(now, subject),
            }
        } else {
            device.remapped_replicas += 1;
            device.remapped_bytes += size;
            self.remapped_replicas += 1;
            self.remapped_bytes += size;
        }
    }
}

impl Rebuild {
    /// Fetches the pull that an event is about.
    #[inline]
    pub(crate) fn announce(&self, buffer: Buffer) {
        self.fetch(buffer.pull);
    }

    /// Whether a message of this rebuild is not to go any further.
    #[inline]
    pub(crate) fn is_void(&mut self, token: u64) -> bool {
        self.tracking.is_some() && self.has_vanished(untoken(token))
    }

    /// The fabric has news of a message.
    #[inline]
    pub(crate) fn notice<F: Fabric, D: Device, K: QueueKind>(&mut self, notice: Notice, site: &mut Site<'_, F, D, K>) {
        match notice {
            Notice::Delivered(token) => match untoken(token) {
                (buffer, REQUEST) => self.request_arrived(buffer, site),
                (buffer, _) => self.data_arrived(buffer, site),
            },
            Notice::Sent(token) => {
                let (buffer, kind) = untoken(token);
                if kind == DATA {
                    self.send_done(buffer, site);
                }
            }
            Notice::Lost(token) => self.message_lost(untoken(token), site),
        }
    }

    /// Executes an event of the rebuild's own.
    #[inline]
    pub(crate) fn execute<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        event: StorageEvent<F::Event>,
        site: &mut Site<'_, F, D, K>,
    ) {
        match event {
            StorageEvent::ReadDone(buffer) => self.read_done(buffer, site),
            StorageEvent::SendDone(buffer) => self.send_done(buffer, site),
            StorageEvent::WriteDone(buffer) => self.write_done(buffer, site),
            StorageEvent::Retry(buffer) => self.ask_again(buffer, site),
            StorageEvent::Wake(destination) => {
                self.pacers[destination.index()].is_waiting = false;
                self.ask(destination, site);
            }
            StorageEvent::Fail(stage) => self.fail(stage, site),
            _ => {}
        }
    }
}
