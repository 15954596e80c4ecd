//! What becomes of a rebuild's messages that the network loses, and of devices that die without anyone being told.
//!
//! A destination asks again for a buffer whose request or data was lost, after a time; when one buffer was lost too often, its
//! pull is given up, and goes on from another holder where its list has one. What was under way for a pull that was given up
//! ends where it comes to next, and gives back there the memory that it holds.

use std::collections::{BTreeMap, VecDeque};

use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_kernel::queue::QueueKind;
use resilver_units::{Bytes, DeviceId, SimDuration};

use super::{NO_SOURCE, PullState, Rebuild};
use crate::event::{Buffer, DATA, EventOf, REQUEST, StorageEvent};
use crate::storage::Site;
use crate::work::Pull;

/// How a destination goes about buffers that do not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How long it waits before it asks again.
    pub retry: SimDuration,
    /// After how many losses of one buffer its pull is given up; one at least.
    pub attempts: u32,
}

/// What is known of pulls where messages may be lost.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    patience: Patience,
    /// How often each buffer that is asked for was lost, by its pull and its number.
    losses: BTreeMap<(u32, u32), u32>,
    /// Bytes of each pull that have arrived, and that were written.
    pub received: Vec<u64>,
    written: Vec<u64>,
    /// Whether each pull was given up.
    pub given_up: Vec<bool>,
    /// Holders of a pull that were not asked yet, for pulls that have lost one.
    others: BTreeMap<u32, Vec<DeviceId>>,
    /// Pulls that go on from another holder, by the number of their destination.
    again: BTreeMap<u32, VecDeque<u32>>,
    /// Devices that answer nobody.
    dead: Vec<bool>,
}

impl Rebuild {
    /// Has this rebuild expect that messages are lost.
    pub fn with_patience(mut self, patience: Patience) -> Self {
        let pulls = self.work.pulls.len();
        self.reach = Some(Box::new(Reach {
            patience,
            losses: BTreeMap::new(),
            received: vec![0; pulls],
            written: vec![0; pulls],
            given_up: vec![false; pulls],
            others: BTreeMap::new(),
            again: BTreeMap::new(),
            dead: vec![false; self.devices.len()],
        }));
        self
    }

    /// Whether a pull was given up because one of its ends could not be reached.
    #[inline]
    pub(super) fn is_out_of_reach(&self, pull: u32) -> bool {
        self.reach.as_ref().is_some_and(|reach| reach.given_up[pull as usize])
    }

    /// Whether a device has died without anyone being told.
    #[inline]
    pub(super) fn is_dead(&self, device: DeviceId) -> bool {
        self.reach.as_ref().is_some_and(|reach| reach.dead[device.index()])
    }

    /// Counts data that has arrived for a pull.
    #[inline]
    pub(super) fn note_received(&mut self, pull: u32, bytes: Bytes) {
        if let Some(reach) = &mut self.reach {
            reach.received[pull as usize] += bytes.get();
        }
    }

    /// Counts data that was written for a pull.
    #[inline]
    pub(super) fn note_written(&mut self, pull: u32, bytes: Bytes) {
        if let Some(reach) = &mut self.reach {
            reach.written[pull as usize] += bytes.get();
        }
    }

    /// The network has lost a message.
    #[cold]
    pub(super) fn message_lost<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        (buffer, kind): (Buffer, u64),
        site: &mut Site<'_, F, D, K>,
    ) {
        if self.reach.is_none() {
            return;
        }
        let (_, _, bytes) = self.extent(buffer);
        if kind == DATA {
            self.wasted.sent += bytes;
            if self.is_out_of_reach(buffer.pull) {
                self.release(buffer, site);
                return;
            }
            // Its source has sent it, and is to send it again.
            self.senders[self.states[buffer.pull as usize].source as usize].bytes_assigned += bytes;
        }
        self.buffer_lost(buffer, site);
    }

    /// A buffer that was asked for does not come: it is asked for again, or its pull is given up.
    #[cold]
    pub(super) fn buffer_lost<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        buffer: Buffer,
        site: &mut Site<'_, F, D, K>,
    ) {
        let Some(reach) = &mut self.reach else { return };
        if reach.given_up[buffer.pull as usize] {
            self.drop_unsent(buffer, site);
            return;
        }
        let losses = reach.losses.entry((buffer.pull, buffer.number)).or_insert(0);
        *losses += 1;
        if *losses < reach.patience.attempts {
            let time = site.schedule.now() + reach.patience.retry;
            site.schedule.at(time, EventOf::new(StorageEvent::Retry(buffer)));
            return;
        }
        self.abandon(buffer.pull);
        self.drop_unsent(buffer, site);
    }

    /// The time has come to ask again for a buffer.
    #[cold]
    pub(super) fn ask_again<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        buffer: Buffer,
        site: &mut Site<'_, F, D, K>,
    ) {
        if self.is_out_of_reach(buffer.pull) {
            self.drop_unsent(buffer, site);
        } else {
            self.send(buffer, REQUEST, site);
        }
    }

    /// A buffer of a pull that was given up will not be sent: its source is rid of it, and its destination of its memory.
    pub(super) fn drop_unsent<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        buffer: Buffer,
        site: &mut Site<'_, F, D, K>,
    ) {
        let (_, _, bytes) = self.extent(buffer);
        self.senders[self.states[buffer.pull as usize].source as usize].bytes_assigned -= bytes;
        self.release(buffer, site);
    }

    /// Gives back the memory that a destination holds for a buffer that will not come.
    pub(super) fn release<F: Fabric, D: Device, K: QueueKind>(&mut self, buffer: Buffer, site: &mut Site<'_, F, D, K>) {
        let (_, _, bytes) = self.extent(buffer);
        let destination = self.work.pulls[buffer.pull as usize].destination;
        let receiver = &mut self.receivers[destination.index()];
        receiver.bytes_held -= bytes;
        receiver.buffers_held -= 1;
        self.timeline.add(site.schedule.now(), -(bytes.get() as i64));
        self.ask(destination, site);
    }

    /// Gives a pull up: it goes on from another holder where there is one, and is out of reach otherwise.
    fn abandon(&mut self, pull: u32) {
        let Pull { destination, holders, holder_count, size, is_rebuild, .. } = self.work.pulls[pull as usize];
        let source = DeviceId::new(self.states[pull as usize].source);
        // What its destination has not asked for is not to be sent any more.
        let receiver = self.receivers[destination.index()];
        if receiver.place < receiver.end && self.pull_at(receiver.place) == pull {
            let asked = u64::from(receiver.number) * self.policy.pipeline_buffer.get();
            if source.get() != NO_SOURCE {
                self.senders[source.index()].bytes_assigned -= size - Bytes::new(asked);
            }
            let receiver = &mut self.receivers[destination.index()];
            receiver.place += 1;
            receiver.number = 0;
        }
        let reach = self.reach.as_mut().expect("only where messages may be lost is a pull given up");
        reach.given_up[pull as usize] = true;
        self.open_pulls -= 1;
        self.wasted.written += Bytes::new(reach.written[pull as usize]);
        let mut others = reach.others.remove(&pull).unwrap_or_else(|| {
            let listed = if holder_count > 1 {
                &self.work.holders[holders as usize..][..usize::from(holder_count)]
            } else {
                &[]
            };
            listed.iter().copied().filter(|&holder| holder != source).collect()
        });
        if others.is_empty() || reach.dead[destination.index()] {
            if is_rebuild {
                self.unreachable_replicas += 1;
            } else {
                self.unreachable_moves += 1;
            }
            return;
        }
        let next = others.remove(0);
        let successor = self.work.pulls.len() as u32;
        reach.others.insert(successor, others);
        reach.again.entry(destination.get()).or_default().push_back(successor);
        reach.received.push(0);
        reach.written.push(0);
        reach.given_up.push(false);
        let pull = Pull { holders: next.get(), holder_count: 1, ..self.work.pulls[pull as usize] };
        self.states.push(PullState::new(&pull, self.policy));
        self.work.pulls.push(pull);
        self.open_pulls += 1;
        if self.order.is_empty() {
            self.order = (0..successor).collect();
        }
        self.turn_back(destination);
    }

    /// Lets a destination that is between two pulls turn to one that goes on from another holder.
    #[inline]
    pub(super) fn turn_back(&mut self, destination: DeviceId) {
        let Some(reach) = &mut self.reach else { return };
        let receiver = &mut self.receivers[destination.index()];
        if reach.again.is_empty() || receiver.number > 0 {
            return;
        }
        let waiting = reach.again.get_mut(&destination.get());
        if let Some(pull) = waiting.and_then(VecDeque::pop_front) {
            // The place before is that of a pull that was asked for or given up, and is free.
            receiver.place -= 1;
            self.order[receiver.place as usize] = pull;
        }
    }

    /// A device answers nobody any more: what waits at it is lost, and what it was to receive is out of reach.
    pub(crate) fn lose_device<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        device: DeviceId,
        site: &mut Site<'_, F, D, K>,
    ) {
        let Some(reach) = &mut self.reach else { return };
        if std::mem::replace(&mut reach.dead[device.index()], true) {
            return;
        }
        let waiting = std::mem::take(&mut self.senders[device.index()].waiting);
        waiting.into_iter().for_each(|buffer| self.buffer_lost(buffer, site));
        for pull in 0..self.work.pulls.len() as u32 {
            let is_open = self.states[pull as usize].buffers_left > 0 && !self.is_out_of_reach(pull);
            if is_open && self.work.pulls[pull as usize].destination == device {
                self.abandon(pull);
            }
        }
        if let Some(reach) = &mut self.reach {
            reach.again.remove(&device.get());
        }
        let receiver = &mut self.receivers[device.index()];
        (receiver.place, receiver.number) = (receiver.end, 0);
    }

    /// A device answers again.
    pub(crate) fn regain_device(&mut self, device: DeviceId) {
        if let Some(reach) = &mut self.reach {
            reach.dead[device.index()] = false;
        }
    }
}
