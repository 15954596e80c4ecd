//! Priorities of reservations (`OSD_*_PRIORITY_*` and `PeeringState::get_*_priority` of Ceph 19).

/// What is added to a pool's own priority of -10 to 10 before it is added to a group's.
const POOL_SHIFT: i32 = 10;
const MISPLACED: i32 = 100;
const DEGRADED: i32 = 140;
const BY_LOG: i32 = 180;
const INACTIVE: i32 = 220;
/// The priority of a backfill that an operator forces.
pub const FORCED_BACKFILL: i32 = 254;
/// The priority of a recovery that an operator forces.
pub const FORCED_RECOVERY: i32 = 255;

/// How much of a group is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// OSDs that serve it.
    pub acting: u32,
    /// OSDs that should.
    pub size: u32,
    /// OSDs below which it serves nobody.
    pub min_size: u32,
    /// Whether an object lacks a copy.
    pub degraded: bool,
    /// OSDs that lack no object of it.
    pub without_missing: u32,
    /// The pool's own priority.
    pub pool: i32,
}

fn with_pool(priority: i32, pool: i32, most: i32) -> i32 {
    (priority + pool.clamp(-POOL_SHIFT, POOL_SHIFT) + POOL_SHIFT).clamp(0, most)
}

/// The priority of a backfill.
///
/// # Examples
/// ```
/// use resilver_ceph::reserve::{Standing, backfill_priority};
/// let misplaced = Standing { acting: 3, size: 3, min_size: 2, degraded: false, without_missing: 3, pool: 0 };
/// assert_eq!(backfill_priority(misplaced), 110);
/// assert_eq!(backfill_priority(Standing { acting: 2, degraded: true, ..misplaced }), 151);
/// ```
#[must_use]
pub fn backfill_priority(standing: Standing) -> i32 {
    let Standing { acting, size, min_size, degraded, pool, .. } = standing;
    if acting < min_size {
        with_pool(INACTIVE + (min_size - acting) as i32, pool, FORCED_BACKFILL - 1)
    } else if acting < size {
        with_pool(DEGRADED + (size - acting) as i32, pool, BY_LOG - 1)
    } else if degraded {
        with_pool(DEGRADED, pool, BY_LOG - 1)
    } else {
        with_pool(MISPLACED, pool, DEGRADED - 1)
    }
}

/// The priority of a recovery by log.
#[must_use]
pub fn recovery_priority(standing: Standing) -> i32 {
    let Standing { min_size, degraded, without_missing, pool, .. } = standing;
    if degraded && without_missing < min_size {
        with_pool(INACTIVE + (min_size - without_missing) as i32, pool, FORCED_BACKFILL - 1)
    } else {
        with_pool(BY_LOG, pool, INACTIVE - 1)
    }
}

/// The priority of the deletion of a piece that is left over; pools have no part in it.
///
/// # Arguments
/// * `nearfull` - whether its OSD is above that ratio.
/// * `backfillfull` - whether it is above that one, or full.
#[must_use]
pub fn deletion_priority(nearfull: bool, backfillfull: bool) -> i32 {
    match (nearfull, backfillfull) {
        (_, true) => FORCED_RECOVERY,
        (true, false) => INACTIVE - 1,
        (false, false) => BY_LOG - 1,
    }
}
