//! Devices are lost: what their groups lack by it, and what data goes with them.

use super::StorageSystem;
use super::certain::What;
use super::lost::{Lost, NONE, Phase};
use super::times::draw;
use crate::input::{EffectInput, NO_DEVICE, Returns, SpeedInput, TimeInput};
use crate::{Draws, Loss};

/// Beside so many lost devices the groups of another are looked through, whether or not it shares any with them.
const NEIGHBORS_SOUGHT: usize = 16;

impl StorageSystem {
    /// Parts fail, all at this moment, by one cause; whether anything came of it.
    pub(super) fn strike(&mut self, cause: usize, parts: &[u32], draws: &mut Draws) -> bool {
        let plan = self.plan.clone();
        let (level, lowest) = (plan.causes[cause].level, plan.tree.lowest());
        let mut devices = std::mem::take(&mut self.devices);
        devices.clear();
        let mut is_changed = false;
        match &plan.causes[cause].effect {
            EffectInput::Lost => {
                for &part in parts {
                    if level == lowest {
                        devices.push(part);
                    } else {
                        devices.extend_from_slice(plan.tree.below(level, part));
                        self.renew(level, part, false);
                        is_changed = true;
                    }
                }
                is_changed |= self.lose(&devices, cause as u32, self.now, draws);
            }
            EffectInput::Away { lasts, lost_share } => {
                for &part in parts {
                    if self.away.is_away(level, part) || level == lowest && self.of_device[part as usize] != NONE {
                        continue;
                    }
                    is_changed = true;
                    let until = self.now + draw(lasts, draws);
                    self.leave(level, part, until);
                    if *lost_share > 0.0 {
                        devices.clear();
                        let drawn = plan.tree.below(level, part).iter().filter(|_| draws.uniform() < *lost_share);
                        devices.extend(drawn);
                        // What does not come back is missed when the others are back.
                        self.lose(&devices, cause as u32, until, draws);
                    }
                }
            }
        }
        self.devices = devices;
        is_changed
    }

    /// Devices are lost together, which is noticed from a time on; whether any was there to lose.
    fn lose(&mut self, devices: &[u32], cause: u32, noticed: f64, draws: &mut Draws) -> bool {
        let plan = self.plan.clone();
        if devices.iter().all(|&device| self.of_device[device as usize] != NONE) {
            return false;
        }
        let repair = &plan.repair;
        let ready = noticed + draw(&repair.detection, draws) + draw(&repair.replacement, draws);
        let takes = match &repair.speed {
            SpeedInput::Parallel { takes } | SpeedInput::Serial { takes, .. } => std::slice::from_ref(takes),
            SpeedInput::ByLost { takes } => takes,
            SpeedInput::Shared { .. } => &[],
        };
        let is_drawn = takes.iter().any(|takes| !matches!(takes, TimeInput::Fixed { .. }));
        let first = self.active.len();
        for &device in devices {
            if self.of_device[device as usize] != NONE {
                continue;
            }
            let salt = if repair.returns == Returns::Groups { draws.next_u64() } else { 0 };
            let drawn = if is_drawn { draws.uniform_open() } else { 0.5 };
            let lost = Lost::new(device, cause, self.losses, (salt, drawn), ready);
            self.losses += 1;
            let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
            match self.slots.get_mut(slot as usize) {
                Some(place) => *place = lost,
                None => self.slots.push(lost),
            }
            self.of_device[device as usize] = slot;
            self.active.push(slot);
            self.count_lost(device, true);
            if ready > self.now {
                self.foresee(ready, What::Ready { slot, number: self.slots[slot as usize].number });
            } else {
                self.begin_repair(slot);
            }
        }
        // All are gone before any group is looked at.
        for place in first..self.active.len() {
            self.look_through(self.active[place]);
        }
        true
    }

    /// A lost device can be repaired from now on.
    pub(super) fn begin_repair(&mut self, slot: u32) {
        let now = self.now;
        let lost = &mut self.slots[slot as usize];
        lost.phase = Phase::Repairing;
        lost.settle(now);
        self.repairing.push(slot);
        self.is_retimed = false;
    }

    /// Looks for groups of a device just lost that lack more than its piece.
    fn look_through(&mut self, slot: u32) {
        let plan = self.plan.clone();
        let device = self.slots[slot as usize].device;
        let is_frail = plan.holdings[device as usize].is_frail;
        if !is_frail && self.away.is_empty() && !self.shares_groups(device) {
            return;
        }
        for &(group, place) in plan.places(device) {
            if self.damaged.find(group).is_some_and(|record| record.lost.iter().any(|&(_, other)| other == slot))
                || !self.slots[slot as usize].lacks(group, plan.repair.returns)
            {
                continue;
            }
            let mut lost = std::mem::take(&mut self.lacking);
            lost.clear();
            let mut holes = false;
            for (other, &member) in (0..).zip(plan.pool(group).members(group)) {
                if member == NO_DEVICE {
                    holes = true;
                } else if other == place {
                    lost.push((place, slot));
                } else if let Some(at) = self.slot_lacking(member, group) {
                    lost.push((other, at));
                }
            }
            if lost.len() > 1 || holes || plan.pool(group).judge.distance == 1 {
                self.lacks(group, &lost);
            } else if self.is_blocked(group, device) {
                self.watch(slot, group);
            }
            self.lacking = lost;
        }
    }

    /// Whether a lost device may share a group with another that is lost.
    fn shares_groups(&self, device: u32) -> bool {
        if self.active.len() > NEIGHBORS_SOUGHT {
            return true;
        }
        let mut others = self.active.iter().map(|&slot| self.slots[slot as usize].device);
        others.any(|other| other != device && self.plan.neighbors(device).binary_search(&other).is_ok())
    }

    /// The slot of a device if it is lost and lacks its piece of a group.
    #[inline]
    pub(super) fn slot_lacking(&self, device: u32, group: u32) -> Option<u32> {
        let slot = *self.of_device.get(device as usize)?;
        let is_lacking = slot != NONE && self.slots[slot as usize].lacks(group, self.plan.repair.returns);
        is_lacking.then_some(slot)
    }

    /// A group lacks these pieces, which is more than one or matters by itself.
    pub(super) fn lacks(&mut self, group: u32, lost: &[(u16, u32)]) {
        let plan = self.plan.clone();
        let pool = plan.pool(group);
        let margin = self.margin(group, lost);
        if margin == 0 {
            self.lose_data(group, lost);
            return;
        }
        self.damaged.set(group, lost, margin);
        if plan.repair.returns == Returns::Devices {
            return;
        }
        for &(_, slot) in lost {
            let lost = &mut self.slots[slot as usize];
            if lost.held.contains(&group) {
                continue;
            }
            if plan.repair.most_lost_first {
                let bytes = plan.holdings[lost.device as usize].bytes;
                let groups = plan.places(lost.device).len() as f64;
                let share = if bytes > 0.0 { pool.piece_bytes(group) / bytes } else { 1.0 / groups };
                lost.put_first(group, margin, share);
            } else {
                lost.watch(group);
            }
        }
    }

    /// The fewest further losses that lose a group's data that lacks these pieces.
    fn margin(&mut self, group: u32, lost: &[(u16, u32)]) -> u32 {
        let plan = self.plan.clone();
        let pool = plan.pool(group);
        self.places.clear();
        self.places.extend(lost.iter().map(|&(place, _)| u32::from(place)));
        if lost.iter().any(|&(_, slot)| plan.holdings[self.slots[slot as usize].device as usize].is_frail) {
            let holes = (0..).zip(pool.members(group)).filter(|&(_, &device)| device == NO_DEVICE);
            self.places.extend(holes.map(|(place, _)| place));
        }
        pool.judge.margin(&self.places)
    }

    /// A group's data is lost: it is empty and whole from now on.
    fn lose_data(&mut self, group: u32, lost: &[(u16, u32)]) {
        let plan = self.plan.clone();
        let pool = plan.pool(group);
        let causes = plan.causes.len() + 1;
        let loss = self.loss.get_or_insert_with(|| Loss { causes: vec![0.0; causes], ..Loss::default() });
        loss.groups += 1;
        loss.bytes += pool.piece_bytes(group) * f64::from(pool.judge.data);
        for &(place, slot) in lost {
            let slot = &mut self.slots[slot as usize];
            loss.causes[slot.cause as usize] += 1.0 / lost.len() as f64;
            self.held -= slot.held.iter().filter(|&&held| held == group).count();
            slot.empty(group);
            slot.listed_reads += plan.lone_reads(group, place);
        }
        self.damaged.remove(group);
    }
}
