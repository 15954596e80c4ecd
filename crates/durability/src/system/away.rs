//! Parts that are away for a time: what they hold is not lost, and cannot be read.

use super::StorageSystem;
use super::certain::What;
use super::lost::{NONE, Phase};
use crate::input::Returns;

/// What is away.
#[derive(Debug, Default)]
pub(super) struct Away {
    /// Whether each part of each level is.
    is_away: Vec<Vec<bool>>,
    /// Those that are, by level and number.
    pub parts: Vec<(usize, u32)>,
}

impl Clone for Away {
    fn clone(&self) -> Self {
        let mut other = Self::default();
        other.clone_from(self);
        other
    }

    fn clone_from(&mut self, other: &Self) {
        self.is_away.clone_from(&other.is_away);
        self.parts.clone_from(&other.parts);
    }
}

impl Away {
    pub fn new(counts: &[usize]) -> Self {
        Self { is_away: counts.iter().map(|&count| vec![false; count]).collect(), parts: Vec::new() }
    }

    /// All is there.
    pub fn clear(&mut self) {
        for (level, part) in self.parts.drain(..) {
            self.is_away[level][part as usize] = false;
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    #[inline]
    pub fn is_away(&self, level: usize, part: u32) -> bool {
        self.is_away[level][part as usize]
    }
}

impl StorageSystem {
    /// Whether a device is away, or something that it is in.
    pub(super) fn is_device_away(&self, device: u32) -> bool {
        let mut parts = self.plan.tree.ancestors(device).iter().enumerate();
        !self.away.is_empty() && parts.any(|(level, &part)| self.away.is_away(level, part))
    }

    /// A part is away until a time.
    pub(super) fn leave(&mut self, level: usize, part: u32, until: f64) {
        self.away.is_away[level][part as usize] = true;
        self.away.parts.push((level, part));
        self.count_away(level, part, true);
        self.foresee(until, What::Back { level, part });
        self.is_retimed = false;
        if self.plan.repair.returns == Returns::Devices {
            return;
        }
        let plan = self.plan.clone();
        for place in 0..self.active.len() {
            let slot = self.active[place];
            let lost = &self.slots[slot as usize];
            if lost.phase == Phase::Holding {
                continue;
            }
            let device = lost.device;
            for &(group, _) in plan.places(device) {
                if self.damaged.find(group).is_none()
                    && self.slot_lacking(device, group).is_some()
                    && self.is_blocked(group, device)
                {
                    self.slots[slot as usize].watch(group);
                }
            }
        }
    }

    /// A part is back.
    pub(super) fn come_back(&mut self, level: usize, part: u32) {
        self.away.is_away[level][part as usize] = false;
        self.away.parts.retain(|&other| other != (level, part));
        self.count_away(level, part, false);
        self.renew(level, part, true);
        self.is_retimed = false;
    }

    /// A device is lost, or back: so much less can fail.
    pub(super) fn count_lost(&mut self, device: u32, is_lost: bool) {
        let lowest = self.plan.tree.lowest();
        for (cause, state) in self.plan.causes.iter().zip(&mut self.states) {
            let is_counted = cause.level == lowest && cause.has(device);
            if is_counted && !(cause.is_away() && self.away.is_away(lowest, device)) {
                state.alive = if is_lost { state.alive - 1 } else { state.alive + 1 };
            }
        }
    }

    /// A part is away, or back: so much less can go away.
    fn count_away(&mut self, level: usize, part: u32, is_away: bool) {
        let is_lost = level == self.plan.tree.lowest() && self.of_device[part as usize] != NONE;
        for (cause, state) in self.plan.causes.iter().zip(&mut self.states) {
            if cause.level == level && cause.has(part) && cause.is_away() && !is_lost {
                state.alive = if is_away { state.alive - 1 } else { state.alive + 1 };
            }
        }
    }
}
