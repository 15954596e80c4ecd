//! The points of time at which other devices than before are known to have failed.

use resilver_fabric::Fabric;
use resilver_placement::inverse::FailedSet;
use resilver_units::{DeviceId, SimTime};

use super::Recovery;
use super::gathers::Leg;
use super::homes::HomesScratch;
use super::places::{LOST, NOBODY, device_at, is_there};
use crate::event::{EventOf, StorageEvent};
use crate::plant::Site;
use crate::scan::AffectedObject;
use crate::scenario::faults::Span;

impl Recovery {
    /// Whether other devices are ever known to have failed than those of the first time.
    #[inline]
    pub(super) fn has_later(&self) -> bool {
        self.failures.len() > 1
    }

    /// When the system knows of the first failed devices.
    pub(crate) fn begins_at(&self) -> SimTime {
        self.failures[0].0
    }

    /// Lets every destination ask for its first buffers, once the first devices have failed.
    pub(crate) fn start<F: Fabric>(&mut self, site: &mut Site<'_, F>) {
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

    pub(super) fn begin<F: Fabric>(&mut self, site: &mut Site<'_, F>) {
        self.failures_left -= 1;
        let failing = self.failing_at(0);
        self.shelve(&failing);
        self.count_missing(site.schedule.now());
        self.begin_waits(site);
        self.lose_tasks_of_dead(site);
        for device in 0..self.receivers.len() as u32 {
            self.ask(device, site);
        }
    }

    /// Devices are gone with nobody told: what they held is missing where the system is to know of it.
    pub(crate) fn lose_undetected(&mut self, now: SimTime) {
        if !self.undetected.is_empty() {
            self.count_missing(now);
        }
    }

    /// Counts the degraded objects anew.
    fn count_missing(&mut self, now: SimTime) {
        let undetected = self.undetected_pieces(now);
        self.health.count_without(now, undetected);
    }

    /// How many fewer pieces each object has than the system knows; empty where it knows all.
    ///
    /// Before it knows of any failure what is known of objects is what the first one leaves, so that the pieces it takes are added.
    pub(super) fn undetected_pieces(&self, now: SimTime) -> Vec<i8> {
        let is_now = |&&((since, at), _): &&(Span, DeviceId)| since <= now && now < at;
        let devices: Vec<DeviceId> = self.undetected.iter().filter(is_now).map(|&(_, device)| device).collect();
        let has_begun = self.stages_passed() > 0;
        if devices.is_empty() && has_begun {
            return Vec::new();
        }
        let gone = FailedSet::new(self.devices.len(), &devices);
        let (mut scratch, mut before) = (HomesScratch::default(), vec![NOBODY; self.stride]);
        let mut fewer_of = |(subject, affected): (u32, &AffectedObject)| {
            let mut row = self.row(subject);
            let known = if has_begun { 0 } else { row.iter().filter(|&&place| place == LOST).count() as i8 };
            if known > 0 {
                let before = &mut before[..row.len()];
                self.work.homes.fill(0, affected.object, &mut scratch, before);
                row = before;
            }
            let is_gone = |place: &&u32| is_there(**place) && gone.contains(DeviceId::new(device_at(**place)));
            row.iter().filter(is_gone).count() as i8 - known
        };
        (0..).zip(&self.work.objects).map(&mut fewer_of).collect()
    }

    /// The devices that fail at a stage, which has not come yet.
    pub(crate) fn failing_at(&self, stage: u32) -> Vec<DeviceId> {
        let is_new = |device: &DeviceId| stage == 0 || !self.failed.contains(*device);
        self.failures[stage as usize].1.devices().filter(is_new).collect()
    }

    /// The devices that come back at a stage, which has not come yet.
    pub(crate) fn returning_at(&self, stage: u32) -> Vec<DeviceId> {
        let failed = &self.failures[stage as usize].1;
        self.failed.devices().filter(|&device| !failed.contains(device)).collect()
    }

    /// A device fails, and was given so many requests before.
    pub(crate) fn begin_without(&mut self, device: DeviceId, requests: u64) {
        self.devices[device.index()].requests_before_failure = requests;
    }

    /// A device that failed comes back, and was given so many requests before.
    pub(crate) fn end_without(&mut self, device: DeviceId, requests: u64) {
        let before = std::mem::take(&mut self.devices[device.index()].requests_before_failure);
        self.tally.served_after_failure += requests - before;
    }

    /// How many stages have come.
    #[inline]
    pub(super) fn stages_passed(&self) -> u32 {
        (self.failures.len() - self.failures_left) as u32
    }

    /// Whether nothing is left to be done, now or after a failure to come.
    ///
    /// Parts that come back change something only where pieces are missing.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.open_tasks == 0
            && self.gathers.open_count() == 0
            && (self.failures_left == 0 || self.failures_left <= self.returns_at_end && self.is_whole())
    }

    /// Whether each piece that was lost is there again.
    #[cold]
    pub(super) fn is_whole(&self) -> bool {
        self.work.losses.lost_pieces == self.rebuilt_pieces + self.returned_pieces()
    }

    /// How many of the lost pieces that the failures so far ask for are there again, from 0 to 1; 1 where all is done.
    pub(crate) fn share_rebuilt(&self) -> f64 {
        match self.work.losses.pieces_to_rebuild {
            0 => 1.0,
            _ if self.failures_left == 0 && self.open_tasks == 0 => 1.0,
            all => self.rebuilt_pieces as f64 / all as f64,
        }
    }

    /// Whether a device has failed since a part was asked of it.
    #[inline]
    pub(super) fn has_lost_source(&self, leg: Leg, source: u32) -> bool {
        self.has_later()
            && (self.failed.contains(DeviceId::new(source))
                || self.returns.as_ref().is_some_and(|returns| returns.is_stale_leg(leg, source)))
    }

    /// Whether a device has failed since it began to ask for a buffer.
    #[inline]
    pub(super) fn has_lost_destination(&self, slot: u32, destination: u32) -> bool {
        self.has_later()
            && (self.failed.contains(DeviceId::new(destination))
                || self.returns.as_ref().is_some_and(|returns| returns.is_stale_buffer(slot, destination)))
    }
}
