//! Entries of `pg_upmap_items` that even a cluster out: as Ceph's balancer finds them, by groups, and our own, by bytes.
//!
//! Source of the first: `OSDMap::calc_pg_upmaps` of Ceph 16.2, whose answers an oracle test holds ours to.

mod bytes;
mod counts;
mod groups;
mod remap;
mod shape;

use crate::{CrushMap, Rule};

pub use bytes::{ByteLimits, PoolBytes, plan_by_bytes};
pub use counts::{CountLimits, Retries, calc_pg_upmaps};
pub use groups::RawSets;

/// The devices that a rule reaches, by weights above zero, rising.
#[must_use]
pub fn devices_of(map: &CrushMap, rule: &Rule) -> Vec<i32> {
    shape::weights_of(map, rule).into_keys().collect()
}

/// What becomes of the `pg_upmap_items` of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The pool's id.
    pub pool: i64,
    /// The group's number in the pool.
    pub group: u32,
    /// The pairs (from, to) in place of what the group had; none takes its entry away.
    pub pairs: Vec<(i32, i32)>,
}
