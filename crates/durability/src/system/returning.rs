//! Pieces and devices come back.

use super::StorageSystem;
use super::lost::{NONE, Phase, Step};
use crate::input::{NO_DEVICE, Returns};

impl StorageSystem {
    /// What is due of a lost device happens; returns how many bytes were read that had to be readable.
    pub(super) fn step(&mut self, slot: u32) -> f64 {
        match self.slots[slot as usize].take_step() {
            Step::Group(group) => self.return_piece(slot, group),
            Step::End => self.end_repair(slot),
        }
    }

    /// A group's piece is made anew, if what it is made of can be read; returns the bytes that had to be.
    fn return_piece(&mut self, slot: u32, group: u32) -> f64 {
        let device = self.slots[slot as usize].device;
        if self.is_blocked(group, device) {
            self.slots[slot as usize].hold(group);
            self.held += 1;
            return 0.0;
        }
        let reads = self.reads(group, device);
        self.put_back(slot, group);
        reads
    }

    /// A group has a piece again.
    fn put_back(&mut self, slot: u32, group: u32) {
        let Some(record) = self.damaged.find(group) else { return };
        let mut lost = std::mem::take(&mut self.lacking);
        lost.clear();
        lost.extend(record.lost.iter().copied().filter(|&(_, other)| other != slot));
        let device = self.slots[slot as usize].device;
        let has_holes = || {
            let plan = &self.plan;
            plan.holdings[device as usize].is_frail && plan.pool(group).members(group).contains(&NO_DEVICE)
        };
        match lost.as_slice() {
            [] => self.damaged.remove(group),
            &[(_, last)] if !has_holes() => {
                self.damaged.remove(group);
                self.slots[last as usize].forget(group);
                let device = self.slots[last as usize].device;
                if self.is_blocked(group, device) && !self.slots[last as usize].held.contains(&group) {
                    self.watch(last, group);
                }
            }
            left => self.lacks(group, left),
        }
        self.lacking = lost;
    }

    /// A blocked group of a lost device is to be known of when it is passed.
    pub(super) fn watch(&mut self, slot: u32, group: u32) {
        if self.plan.repair.returns == Returns::Groups {
            self.slots[slot as usize].watch(group);
        }
    }

    /// A device is whole but for groups that cannot be read; returns how many bytes were read that had to be readable.
    fn end_repair(&mut self, slot: u32) -> f64 {
        let plan = self.plan.clone();
        let device = self.slots[slot as usize].device;
        self.repairing.retain(|&other| other != slot);
        self.is_retimed = false;
        let mut reads = 0.0;
        let is_told = plan.repair.returns == Returns::Devices && !(self.damaged.is_empty() && self.away.is_empty());
        if is_told {
            // What of it was emptied is no longer there to come back.
            let lacking = plan.places(device).iter().filter(|&&(group, _)| self.slot_lacking(device, group).is_some());
            let lacking: Vec<u32> = lacking.map(|&(group, _)| group).collect();
            self.slots[slot as usize].phase = Phase::Holding;
            for group in lacking {
                if self.damaged.find(group).is_some() || self.is_blocked(group, device) {
                    reads += self.return_piece(slot, group);
                }
            }
        }
        let lost = &mut self.slots[slot as usize];
        lost.phase = Phase::Holding;
        reads += (plan.holdings[device as usize].lone_reads - lost.listed_reads).max(0.0);
        self.holding += 1;
        if lost.held.is_empty() {
            self.bring_back(slot);
        }
        reads
    }

    /// A device is whole, and new.
    fn bring_back(&mut self, slot: u32) {
        let device = self.slots[slot as usize].device;
        self.holding -= 1;
        self.returned += 1;
        self.of_device[device as usize] = NONE;
        self.active.retain(|&other| other != slot);
        self.free.push(slot);
        self.count_lost(device, false);
        self.renew(self.plan.tree.lowest(), device, false);
        self.is_retimed = false;
    }

    /// Groups that were passed and could not be read come back as soon as they can be.
    pub(super) fn release(&mut self) {
        let mut is_found = self.held + self.holding > 0;
        while is_found {
            is_found = false;
            for place in (0..self.active.len()).rev() {
                let slot = self.active[place];
                let device = self.slots[slot as usize].device;
                let held = self.slots[slot as usize].held.clone();
                for group in held {
                    if self.is_blocked(group, device) {
                        continue;
                    }
                    self.slots[slot as usize].held.retain(|&other| other != group);
                    self.held -= 1;
                    self.put_back(slot, group);
                    is_found = true;
                }
                let lost = &self.slots[slot as usize];
                if lost.phase == Phase::Holding && lost.held.is_empty() {
                    self.bring_back(slot);
                    is_found = true;
                }
            }
        }
    }

    /// Whether a group has too few pieces that can be read to make that of a lost device.
    pub(super) fn is_blocked(&self, group: u32, device: u32) -> bool {
        if self.away.is_empty() {
            return false;
        }
        let pool = self.plan.pool(group);
        let is_there = |member: u32| -> bool {
            member != NO_DEVICE
                && member != device
                && !self.is_device_away(member)
                && self.slot_lacking(member, group).is_none()
        };
        let members = || (0..).zip(pool.members(group));
        // Any fewer than the code's distance can be missed.
        let missed = members().filter(|&(_, &member)| !is_there(member)).count();
        if missed < pool.judge.distance as usize {
            return false;
        }
        let lacking: Vec<u32> = members().filter(|&(_, &member)| !is_there(member)).map(|(place, _)| place).collect();
        pool.judge.margin(&lacking) == 0
    }
}
