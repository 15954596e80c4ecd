//! Entries of `pg_upmap_items` that even a cluster out: as Ceph's balancer finds them, by groups, and our own, by bytes.
//!
//! Source of the first: `OSDMap::calc_pg_upmaps` of Ceph 16.2, whose answers an oracle test holds ours to.

mod counts;
mod groups;
mod remap;
mod shape;

pub use counts::{CountLimits, Retries, calc_pg_upmaps};
pub use groups::RawSets;

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
