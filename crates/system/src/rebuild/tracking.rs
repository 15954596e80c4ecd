//! What is known of pulls beyond their progress where devices fail while others are being rebuilt.

use std::collections::BTreeMap;

use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_kernel::queue::QueueKind;
use resilver_placement::inverse::FailedSet;
use resilver_units::{Bytes, DeviceId, SimDuration};

use super::health::Health;
use super::{NO_SOURCE, Rebuild};
use crate::SystemError;
use crate::event::{Buffer, DATA};
use crate::outcome::DeviceOutcome;
use crate::stages::Later;
use crate::storage::Site;
use crate::work::WorkList;

/// How far one pull has come, buffer by buffer.
///
/// Buffers of one size keep their order all the way, so a count tells which have arrived. A last buffer that is smaller may
/// overtake them where small messages have a smaller latency, and is counted apart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// Buffers that an earlier source had sent: this pull begins behind them.
    pub start: u32,
    /// Buffers whose reading was begun, those of earlier sources included.
    pub read: u32,
    /// Buffers before the last that have arrived, those of earlier sources included.
    pub received: u32,
    pub last_received: bool,
    pub last_written: bool,
    /// The rank among the pulls that have begun.
    pub begun: u32,
    /// Whether nothing of it is wanted any more: another pull goes on from here, or none.
    pub is_given_up: bool,
    /// Whether it goes on where another source failed.
    pub is_resumed: bool,
}

impl Progress {
    pub fn receive(&mut self, is_last: bool) {
        if is_last {
            self.last_received = true;
        } else {
            self.received += 1;
        }
    }

    /// Data that has arrived, of this pull's own source.
    pub fn received_bytes(&self, size: Bytes, buffer: Bytes) -> Bytes {
        let last = if self.last_received { size - last_offset(size, buffer) } else { Bytes::ZERO };
        bytes_of(size, buffer, self.received) - bytes_of(size, buffer, self.start) + last
    }
}

/// The first `count` buffers' data.
pub(super) fn bytes_of(size: Bytes, buffer: Bytes, count: u32) -> Bytes {
    Bytes::new(size.get().min(u64::from(count) * buffer.get()))
}

/// Where the last buffer begins.
pub(super) fn last_offset(size: Bytes, buffer: Bytes) -> Bytes {
    Bytes::new(size.pieces_of(buffer).saturating_sub(1) * buffer.get())
}

/// A copy that was completed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub subject: u32,
    pub device: DeviceId,
    pub is_rebuild: bool,
}

/// What later failures need to know.
pub(super) struct Tracking {
    pub later: Later,
    /// The devices that have failed so far.
    pub failed: FailedSet,
    /// Of each pull.
    pub progress: Vec<Progress>,
    /// How many pulls have begun.
    pub begun: u32,
    /// In the order in which they were completed.
    pub made: Vec<Made>,
    /// How many complete copies of each object were lost so far.
    pub lost: Vec<u16>,
    /// For a pull that was given up and goes on: the pull that does, and how many buffers that one does without.
    pub successors: BTreeMap<u32, (u32, u32)>,
    /// Of devices that failed later than the first: what their queues held, which is not served any more.
    pub unserved: BTreeMap<DeviceId, Unserved>,
    pub problem: Option<SystemError>,
}

/// What was in a device's queue when it failed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unserved {
    pub picoseconds: u64,
    pub read: Bytes,
    pub written: Bytes,
    /// Requests queued until then.
    pub requests: u64,
}

impl Unserved {
    /// Takes what a failed device did not serve from what its disk was asked for.
    pub fn take_from(&self, outcome: &mut DeviceOutcome) {
        let busy = outcome.disk.busy.picoseconds() - self.picoseconds;
        outcome.disk.busy = SimDuration::from_picoseconds(busy);
        outcome.disk.bytes_read -= self.read;
        outcome.disk.bytes_written -= self.written;
        outcome.requests_before_failure = self.requests;
    }
}

impl Tracking {
    pub fn new(later: Later, work: &WorkList, health: &Health) -> Self {
        let lost = (0..later.objects.len() as u32).map(|subject| health.copies(subject)).map(|c| c.full - c.left);
        Tracking {
            failed: later.failures[0].1.clone(),
            progress: vec![Progress::default(); work.pulls.len()],
            begun: 0,
            made: Vec::new(),
            lost: lost.collect(),
            successors: BTreeMap::new(),
            unserved: BTreeMap::new(),
            problem: None,
            later,
        }
    }

    /// Takes what failed devices did not serve from what their disks were asked for.
    pub fn correct(&self, devices: &mut [DeviceOutcome]) {
        for (device, unserved) in &self.unserved {
            unserved.take_from(&mut devices[device.index()]);
        }
    }
}

impl Rebuild {
    /// The data of the first `count` buffers of a pull.
    pub(super) fn bytes_before(&self, pull: u32, count: u32) -> Bytes {
        bytes_of(self.work.pulls[pull as usize].size, self.policy.pipeline_buffer, count)
    }

    /// Whether nothing of a pull is wanted any more.
    #[inline]
    pub(super) fn is_given_up(&self, pull: u32) -> bool {
        self.tracking.as_ref().is_some_and(|tracking| tracking.progress[pull as usize].is_given_up)
    }

    /// Whether a device has failed by now, having served before.
    #[inline]
    pub(super) fn has_failed(&self, device: DeviceId) -> bool {
        self.tracking.as_ref().is_some_and(|tracking| tracking.failed.contains(device))
    }

    /// A destination turns to its next pull: one that goes on where a source failed begins in the middle.
    #[inline]
    pub(super) fn resume_next(&mut self, destination: DeviceId) {
        if let Some(tracking) = &self.tracking {
            let receiver = self.receivers[destination.index()];
            if receiver.place < receiver.end {
                let start = tracking.progress[self.pull_at(receiver.place) as usize].start;
                self.receivers[destination.index()].number = start;
            }
        }
    }

    /// Whether a message is lost because one of its ends failed.
    #[cold]
    pub(super) fn has_vanished(&mut self, (buffer, kind): (Buffer, u64)) -> bool {
        if !self.is_given_up(buffer.pull) {
            return false;
        }
        let source = DeviceId::new(self.states[buffer.pull as usize].source);
        let destination = self.work.pulls[buffer.pull as usize].destination;
        let vanishes = self.has_failed(source) || self.has_failed(destination);
        if vanishes && kind == DATA {
            self.wasted.sent += self.extent(buffer).2;
        }
        vanishes
    }

    /// A buffer was read that nobody wants any more, or whose source failed before.
    #[cold]
    pub(super) fn discard_read<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        source: DeviceId,
        bytes: Bytes,
        site: &mut Site<'_, F, D, K>,
    ) {
        if self.has_failed(source) {
            self.unserved(source).read += bytes;
            return;
        }
        self.wasted.read += bytes;
        let sender = &mut self.senders[source.index()];
        sender.bytes_held -= bytes;
        sender.bytes_assigned -= bytes;
        self.read_waiting(source, site);
    }

    /// A buffer would have been written by now on a device that failed before.
    #[cold]
    pub(super) fn lose_write(&mut self, destination: DeviceId, bytes: Bytes) {
        self.wasted.received += bytes;
        self.unserved(destination).written += bytes;
    }

    fn unserved(&mut self, device: DeviceId) -> &mut Unserved {
        let tracking = self.tracking.as_mut().expect("only a later failure leaves a queue unserved");
        tracking.unserved.entry(device).or_default()
    }

    /// The buffer that a written one counts for, by the pull that goes on with its object; `None` where none does.
    #[inline]
    pub(super) fn still_wanted(&mut self, mut buffer: Buffer) -> Option<Buffer> {
        let Some(tracking) = &mut self.tracking else { return Some(buffer) };
        let pull = &self.work.pulls[buffer.pull as usize];
        let offset = last_offset(pull.size, self.policy.pipeline_buffer).get();
        let is_last = u64::from(buffer.number) * self.policy.pipeline_buffer.get() == offset;
        while tracking.progress[buffer.pull as usize].is_given_up {
            match tracking.successors.get(&buffer.pull) {
                Some(&(pull, kept)) if buffer.number < kept => buffer.pull = pull,
                _ => return None,
            }
        }
        tracking.progress[buffer.pull as usize].last_written |= is_last;
        Some(buffer)
    }

    /// Whether a pull has begun: a source was chosen for it.
    pub(super) fn has_begun(&self, pull: u32) -> bool {
        self.states[pull as usize].source != NO_SOURCE
    }
}
