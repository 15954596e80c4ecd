//! What changes the map by itself: monitors and manager.

use resilver_units::SimTime;

use crate::map::{MapChange, OsdMap};

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
/// ([`OsdMap::act`]), and calls [`saw`](Self::saw) of every agent after all changes of one time, an operator's among them.
pub trait Agent {
    /// The map has changed.
    fn saw(&mut self, now: SimTime, map: &OsdMap);
    /// When it next looks at the cluster; none until the map changes. Never before now.
    fn next(&self) -> Option<SimTime>;
    /// Looks at the cluster, at the time that it named.
    ///
    /// # Returns
    /// What it changes, in order.
    fn act(&mut self, now: SimTime, map: &OsdMap, health: &Health) -> Vec<MapChange>;
}
