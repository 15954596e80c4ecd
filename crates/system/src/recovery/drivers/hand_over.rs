//! A buffer's way from its driver to the device it is to be at, which did not request it, and its acknowledgement.
//!
//! The driver holds the buffer in its memory until it is acknowledged. The device cannot refuse it: what comes faster than it writes
//! waits in its queue, in memory that nothing bounds.

use resilver_device::Direction;
use resilver_fabric::{Fabric, Message, Notice};
use resilver_units::{DeviceId, SimTime};

use super::super::Recovery;
use super::super::events::RecoveryEvent;
use super::super::gathers::{Leg, Phase};
use super::super::protocol::{LANE, event};
use crate::event::{DATA, EventOf, REQUEST};
use crate::plant::Site;
use crate::ports::Ports;
use crate::trace::{About, Fate, PUSHED};

/// Marks the messages of a hand-over: the data there, and the acknowledgement that takes a request's place.
pub(in crate::recovery) const HANDED_OVER: u64 = 1 << 40;
/// What stands for a position where losses of these two are counted, behind those of all pieces.
const LOST_DATA: u32 = u32::MAX - 1;
const LOST_ACKNOWLEDGEMENT: u32 = u32::MAX;

impl Recovery {
    /// The device that a buffer is to be at.
    #[inline]
    fn target(&self, slot: u32) -> u32 {
        self.work.tasks[self.gathers.get(slot).task() as usize].destination
    }

    /// Whether a buffer is made elsewhere than where it is to be.
    #[inline]
    pub(in crate::recovery) fn is_handed_over(&self, slot: u32) -> bool {
        self.drivers.is_some() && self.target(slot) != self.gathers.get(slot).driver
    }

    /// A message of a hand-over.
    pub(in crate::recovery) fn hand_over_message(&self, token: u64, ports: &Ports) -> Message {
        let (Leg { slot, .. }, kind) = Leg::of_token(token);
        let gather = self.gathers.get(slot);
        let side = gather.number() % ports.sides();
        let [driver, target] = [gather.driver, self.target(slot)].map(DeviceId::new);
        let (driver, target) = ports.ends(driver, target, side);
        match kind {
            DATA => Message { from: driver, to: target, bytes: gather.bytes, lane: LANE, token },
            _ => Message { from: target, to: driver, bytes: self.policy.control_message, lane: LANE, token },
        }
    }

    fn send_of_hand_over<F: Fabric>(&self, slot: u32, kind: u64, site: &mut Site<'_, F>) {
        let token = Leg { slot, position: 0 }.token(kind) | HANDED_OVER;
        let message = self.hand_over_message(token, &site.plant.ports);
        site.send(message, || self.about_hand_over(slot, kind));
    }

    /// What a trace says of a message of a hand-over.
    fn about_hand_over(&self, slot: u32, kind: u64) -> About {
        let (target, gather) = (self.target(slot), self.gathers.get(slot));
        let piece = u32::from(self.work.tasks[gather.task() as usize].position);
        let part = Some((gather.object.get(), piece, gather.number()));
        match kind {
            DATA => About { kind: PUSHED, part, devices: Some((gather.driver, target)) },
            _ => About { kind: PUSHED + 1, part, devices: Some((target, gather.driver)) },
        }
    }

    /// A driver has made a buffer, and sends it to where it is to be.
    pub(in crate::recovery) fn hand_over<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        let gather = self.gathers.get_mut(slot);
        gather.set_phase(Phase::HandedOver);
        let (driver, bytes) = (gather.driver, gather.bytes);
        self.devices[driver as usize].sent_bytes += bytes;
        self.tally.handed_over += bytes;
        self.send_of_hand_over(slot, DATA, site);
    }

    /// The fabric has news of a hand-over.
    pub(in crate::recovery) fn hand_over_notice<F: Fabric>(&mut self, notice: Notice, site: &mut Site<'_, F>) {
        let (Notice::Delivered(token) | Notice::Sent(token) | Notice::Lost(token)) = notice;
        let (Leg { slot, .. }, kind) = Leg::of_token(token);
        match (notice, kind) {
            (Notice::Sent(_), _) => {}
            (Notice::Delivered(_), DATA) => self.handed_over(slot, site),
            (Notice::Delivered(_), _) => self.release(slot, site),
            (Notice::Lost(_), DATA) => self.hand_over_lost(slot, site),
            (Notice::Lost(_), _) => self.acknowledgement_lost(slot, site),
        }
    }

    /// A message of a hand-over does not arrive where one of its ends has failed.
    #[cold]
    pub(in crate::recovery) fn hand_over_vanishes<F: Fabric>(&mut self, token: u64, site: &mut Site<'_, F>) -> bool {
        let (Leg { slot, .. }, kind) = Leg::of_token(token);
        let has_vanished = self.has_lost_end(slot);
        if has_vanished {
            site.note(Notice::Lost(token));
        }
        match kind {
            _ if !has_vanished => {}
            DATA => self.hand_over_lost(slot, site),
            _ => self.release(slot, site),
        }
        has_vanished
    }

    /// Whether one of a buffer's two devices has failed since it was taken up.
    fn has_lost_end(&self, slot: u32) -> bool {
        let driver = self.gathers.get(slot).driver;
        self.has_lost_destination(slot, self.target(slot)) || self.has_lost_destination(slot, driver)
    }

    /// A buffer has come to where it is to be.
    fn handed_over<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        let (target, gather) = (self.target(slot), *self.gathers.get(slot));
        if self.is_given_up(gather.task()) || self.is_dead(target) {
            return self.hand_over_lost(slot, site);
        }
        self.tally.handed_in += gather.bytes;
        self.tally.gathered += gather.held();
        self.transfers.add(gather.driver, target, gather.bytes, gather.number() == 0);
        if let Some(drivers) = &mut self.drivers {
            let unwritten = &mut drivers.unwritten[target as usize];
            *unwritten += gather.bytes;
            let most = &mut drivers.most_unwritten[target as usize];
            *most = (*most).max(*unwritten);
        }
        self.gathers.get_mut(slot).set_phase(Phase::Writing);
        self.waits.handed_over(slot, site.schedule.now());
        let io = self.io(slot, Direction::Write);
        site.submit(DeviceId::new(target), io, event(RecoveryEvent::WriteDone(slot, gather.task())));
    }

    /// A buffer is written that was handed over, or would be, had its device not failed before.
    pub(in crate::recovery) fn handed_over_written<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        let (target, gather, now) = (self.target(slot), *self.gathers.get(slot), site.schedule.now());
        let bytes = gather.bytes;
        if let Some(drivers) = &mut self.drivers {
            drivers.unwritten[target as usize] -= bytes;
        }
        if self.has_lost_destination(slot, target) {
            self.waits.note(|trace| trace.ended(slot, now, Fate::Lost));
            self.tally.handed_in_vain += bytes;
            self.unserved.entry(DeviceId::new(target)).or_default().written += bytes;
            return self.release(slot, site);
        }
        self.tally.handed_written += bytes;
        self.receivers[target as usize].finished_at = Some(now);
        self.waits.done(slot, (gather.driver, target), bytes, now);
        self.written(&gather, target, site);
        self.acknowledge(slot, site);
    }

    /// A buffer is written: its driver is told.
    pub(in crate::recovery) fn acknowledge<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        if self.has_lost_end(slot) {
            self.release(slot, site);
        } else if self.is_dead(self.target(slot)) {
            self.acknowledgement_lost(slot, site);
        } else {
            self.send_of_hand_over(slot, REQUEST, site);
        }
    }

    /// A driver is done with a buffer, has its memory back, and asks for more; one that has failed has none.
    fn release<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        let gather = *self.gathers.get(slot);
        self.gathers.get_mut(slot).set_phase(Phase::Done);
        let is_there = !self.has_lost_destination(slot, gather.driver);
        self.settle(slot, site);
        if is_there {
            let receiver = &mut self.receivers[gather.driver as usize];
            receiver.bytes_held -= gather.held();
            receiver.gathers_held -= 1;
            self.timeline.add(site.schedule.now(), -(gather.held().get() as i64));
            self.ask(gather.driver, site);
        }
    }

    /// A buffer does not come to where it is to be: it is sent again while it is wanted there.
    #[cold]
    fn hand_over_lost<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        let bytes = self.gathers.get(slot).bytes;
        self.wasted.sent += bytes;
        if let Some(at) = self.time_to_retry(slot, LOST_DATA, site.schedule.now()) {
            site.schedule.at(at, EventOf::new(event(RecoveryEvent::HandOver(slot))));
            return;
        }
        self.drop_hand_over(slot, site);
    }

    /// The time has come to send a buffer again.
    #[cold]
    pub(in crate::recovery) fn hand_over_again<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        if self.is_moot(slot) { self.drop_hand_over(slot, site) } else { self.hand_over(slot, site) }
    }

    /// A buffer is handed over no more: what was gathered of it was in vain, and its piece cannot be had where it still was wanted.
    fn drop_hand_over<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        let (is_moot, gather) = (self.is_moot(slot), *self.gathers.get(slot));
        self.waits.note(|trace| trace.ended(slot, site.schedule.now(), Fate::Lost));
        self.tally.planned -= gather.held();
        self.wasted.received += gather.held();
        if !is_moot {
            self.lose_task(gather.task());
        }
        self.release(slot, site);
    }

    /// The acknowledgement of a buffer does not come: it is sent again, a few times at most.
    #[cold]
    fn acknowledgement_lost<F: Fabric>(&mut self, slot: u32, site: &mut Site<'_, F>) {
        match self.time_to_retry(slot, LOST_ACKNOWLEDGEMENT, site.schedule.now()) {
            Some(at) => site.schedule.at(at, EventOf::new(event(RecoveryEvent::Acknowledge(slot)))),
            None => self.release(slot, site),
        }
    }

    /// Whether nothing is wanted of a buffer any more, or one of its two devices has failed.
    fn is_moot(&self, slot: u32) -> bool {
        self.is_given_up(self.gathers.get(slot).task()) || self.has_lost_end(slot)
    }

    /// When a message of a hand-over that was lost is sent again; `None` where it is not.
    fn time_to_retry(&mut self, slot: u32, which: u32, now: SimTime) -> Option<SimTime> {
        if self.is_moot(slot) { None } else { self.count_loss((slot, which), now) }
    }
}
