//! What changes the map by itself: monitors, manager and balancer.

mod balancer;
mod manager;
mod monitor;
mod sites;

use resilver_units::{SimDuration, SimTime};

use crate::map::{MapChange, OsdMap};

pub use balancer::Balancer;
pub use manager::Manager;
pub use monitor::Monitor;
pub use sites::SiteWatch;

/// How the cluster is, as far as the monitors and the manager look at it. Objects are counted once for each copy or piece.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// Pieces of all objects, as many as there should be.
    pub pieces: u64,
    /// Pieces that are missing.
    pub degraded_pieces: u64,
    /// Pieces that are not where they should be.
    pub misplaced_pieces: u64,
    /// Groups that serve nobody.
    pub inactive_groups: u32,
    /// Groups that a split is still making, and groups of which the manager has not heard yet.
    pub creating_groups: u32,
    /// Of each pool.
    pub pools: Vec<PoolHealth>,
}

impl Health {
    /// Whether something keeps the manager and the balancer from moving data: pieces are missing, groups serve nobody, or are being
    /// made.
    #[must_use]
    pub fn is_hurt(&self) -> bool {
        self.degraded_pieces > 0 || self.inactive_groups > 0 || self.creating_groups > 0
    }

    /// The share of pieces that are not where they should be.
    #[must_use]
    pub fn misplaced_ratio(&self) -> f64 {
        if self.pieces == 0 { 0.0 } else { self.misplaced_pieces as f64 / self.pieces as f64 }
    }
}

/// How a pool is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolHealth {
    /// Its objects, each counted once.
    pub objects: u64,
    /// Groups that are active and clean.
    pub clean_groups: u32,
    /// Groups that are neither active nor peered.
    pub unpeered_groups: u32,
    /// Whether its last group and that group's parent are both active and clean, with equal acting sets. It is looked at where the
    /// pool is to have fewer groups.
    pub mergeable: bool,
}

/// Who changes the map by itself.
///
/// The loop asks [`next`](Self::next) for the time of the next look, calls [`act`](Self::act) then, makes the changes in order
/// ([`OsdMap::act`]), and calls [`saw`](Self::saw) of every agent after all changes of one time, an operator's among them, and once
/// before the first.
pub trait Agent {
    /// The map has changed, or is seen for the first time.
    fn saw(&mut self, now: SimTime, map: &OsdMap);
    /// When it next looks at the cluster; none until the map changes. Never before now.
    fn next(&self) -> Option<SimTime>;
    /// Whether a look would change nothing as long as the cluster is as it is: the loop may then pass over it, and asks again when
    /// the cluster is another. Who waits so for ever is no reason to go on.
    fn waits(&self, _health: &Health) -> bool {
        false
    }
    /// How many groups it will have move, about, as far as it knows from its last look.
    fn to_move(&self) -> u64 {
        0
    }
    /// Looks at the cluster, at the time that it named.
    ///
    /// # Returns
    /// What it changes, in order.
    fn act(&mut self, now: SimTime, map: &OsdMap, health: &Health) -> Vec<MapChange>;
}

/// A setting as a length of time; what a setting may be was checked when it came.
fn length(seconds: f64) -> SimDuration {
    SimDuration::from_seconds(seconds).unwrap_or(SimDuration::ZERO)
}

/// The first multiple of a period that is later than a time, or not earlier where `now` will do.
fn tick(now: SimTime, period: SimDuration, now_will_do: bool) -> SimTime {
    let period = period.picoseconds().max(1);
    let (whole, rest) = (now.picoseconds() / period, now.picoseconds() % period);
    if rest == 0 && now_will_do { now } else { SimTime::from_picoseconds((whole + 1).saturating_mul(period)) }
}
