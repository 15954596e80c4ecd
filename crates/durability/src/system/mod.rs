//! The model of a storage system: parts, groups, failures, repair.
//!
//! A device that is lost alone costs no work for its groups: only those that lack two pieces or more are listed, with what of them is lost.
//! [`lost`] has the repair of each device, [`damaged`] the listed groups, [`focus`] what is critical.

mod ages;
mod away;
mod cause;
mod certain;
mod check;
mod damaged;
mod driven;
mod focus;
mod judge;
mod latent;
mod losing;
mod lost;
mod plan;
mod returning;
mod speed;
#[cfg(test)]
mod tests;
mod times;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::input::DurabilityInput;
use crate::{DurabilityError, Loss};
use ages::Ages;
use away::Away;
use certain::Certain;
use damaged::Damaged;
use focus::Focus;
use lost::{Lost, NONE};
use plan::Plan;

/// A storage system that fails and heals.
///
/// Kind `2 c` of random failures is those of failure `c` of the input that are critical, kind `2 c + 1` the others. Critical are parts with a device that
/// holds a piece of a group that lacks most; while nothing lacks, and while they would be more than are worth telling
/// apart, all that lose what devices hold.
#[derive(Debug)]
pub struct StorageSystem {
    plan: Arc<Plan>,
    now: f64,
    /// When the next thing that is certain happens.
    next: f64,
    /// How many devices were lost so far, and how many came back.
    losses: u64,
    returned: u64,
    /// The slot of each lost device.
    of_device: Vec<u32>,
    slots: Vec<Lost>,
    free: Vec<u32>,
    /// Slots of lost devices in the order of their loss, and of those whose repair is under way or waits for its turn.
    active: Vec<u32>,
    repairing: Vec<u32>,
    /// Whether repairs have the speed that what is under way leaves them.
    is_retimed: bool,
    damaged: Damaged,
    /// How many groups of lost devices were passed and could not be read.
    held: usize,
    /// How many lost devices are done but for such groups.
    holding: usize,
    focus: Focus,
    away: Away,
    certain: BinaryHeap<Reverse<Certain>>,
    foreseen: u64,
    states: Vec<CauseState>,
    loss: Option<Loss>,
    latent_loss: Loss,
    /// Room that is used again.
    devices: Vec<u32>,
    lacking: Vec<(u16, u32)>,
    places: Vec<u32>,
    burst: Vec<(f64, u32)>,
}

impl Clone for StorageSystem {
    fn clone(&self) -> Self {
        let mut other = Self::of(self.plan.clone());
        other.clone_from(self);
        other
    }

    /// Uses the room that there is: futures of a system are begun more often than systems.
    fn clone_from(&mut self, other: &Self) {
        self.plan.clone_from(&other.plan);
        (self.now, self.next, self.foreseen) = (other.now, other.next, other.foreseen);
        (self.losses, self.returned) = (other.losses, other.returned);
        (self.held, self.holding, self.is_retimed) = (other.held, other.holding, other.is_retimed);
        self.of_device.clone_from(&other.of_device);
        self.slots.clone_from(&other.slots);
        self.free.clone_from(&other.free);
        self.active.clone_from(&other.active);
        self.repairing.clone_from(&other.repairing);
        self.damaged.clone_from(&other.damaged);
        self.focus.clone_from(&other.focus);
        self.away.clone_from(&other.away);
        self.certain.clone_from(&other.certain);
        self.states.clone_from(&other.states);
        self.loss.clone_from(&other.loss);
        self.latent_loss.clone_from(&other.latent_loss);
    }
}

/// Where a cause stands.
#[derive(Clone, Debug)]
struct CauseState {
    /// How many of its parts can fail.
    alive: u32,
    /// How far a trace or a plan has come.
    done: usize,
    ages: Option<Ages>,
}

impl StorageSystem {
    /// The system that an input describes, whole and at time 0; it is not begun until [`crate::Model::reset`].
    ///
    /// # Errors
    /// When a value breaks a rule, or a code cannot be.
    pub fn new(input: &DurabilityInput) -> Result<Self, DurabilityError> {
        Ok(Self::of(Arc::new(Plan::of(input)?)))
    }

    /// The system of a plan.
    fn of(plan: Arc<Plan>) -> Self {
        let ages = plan.causes.iter().map(|cause| cause.ages(&plan.tree, plan.mission));
        Self {
            now: 0.0,
            next: f64::INFINITY,
            losses: 0,
            returned: 0,
            of_device: vec![NONE; plan.tree.devices()],
            slots: Vec::new(),
            free: Vec::new(),
            active: Vec::new(),
            repairing: Vec::new(),
            is_retimed: true,
            damaged: Damaged::new(plan.distance),
            held: 0,
            holding: 0,
            focus: Focus::new(&plan),
            away: Away::new(&plan.tree.counts),
            certain: BinaryHeap::new(),
            foreseen: 0,
            states: ages.map(|ages| CauseState { alive: 0, done: 0, ages }).collect(),
            loss: None,
            latent_loss: Loss::default(),
            devices: Vec::new(),
            lacking: Vec::new(),
            places: Vec::new(),
            burst: Vec::new(),
            plan,
        }
    }

    /// How many devices there are.
    pub fn devices(&self) -> usize {
        self.plan.tree.devices()
    }

    /// How many groups there are.
    pub fn groups(&self) -> u64 {
        self.plan.pools.iter().map(|pool| u64::from(pool.groups())).sum()
    }

    /// A part is new for the laws of its level that ask for ages; if `only_away`, for those that it came back from alone.
    fn renew(&mut self, level: usize, part: u32, only_away: bool) {
        for (cause, state) in self.plan.causes.iter().zip(&mut self.states) {
            if let Some(ages) = &mut state.ages
                && cause.level == level
                && cause.has(part)
                && (cause.is_away() || !only_away)
            {
                ages.renew(part, self.now);
            }
        }
    }

    /// Brings all repairs up to now.
    fn settle(&mut self) {
        let now = self.now;
        for &slot in &self.active {
            self.slots[slot as usize].settle(now);
        }
    }

    /// After something happened: what follows from it at once, and when the next thing will.
    fn conclude(&mut self) {
        self.release();
        if !self.is_retimed {
            self.retime();
        }
        self.next = self.certain.peek().map_or(f64::INFINITY, |Reverse(certain)| certain.at);
        for &slot in &self.active {
            let lost = &mut self.slots[slot as usize];
            lost.foresee();
            self.next = self.next.min(lost.next);
        }
        // By rounding, what is due now may seem to be over.
        self.next = self.next.max(self.now);
        self.refocus();
    }

    /// The lost device to which something happens first, and when.
    fn earliest(&self) -> Option<(f64, u32)> {
        let steps = self.active.iter().map(|&slot| (self.slots[slot as usize].next, slot));
        steps.min_by(|left, right| left.0.total_cmp(&right.0))
    }
}
