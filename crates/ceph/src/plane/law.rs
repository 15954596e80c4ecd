//! What requests of recovery cost, in a queue and on a device: the same for both planes.

use super::{OpClass, Work, WorkKind};
use crate::input::DeviceLaw;
use crate::settings::{CostModel, Mclock, OpQueue, OsdSettings, Share};

/// Bytes that an item of deletion costs in the queue (`osd_pg_delete_cost`).
const DELETE_COST: u64 = 1 << 20;
/// The least and the most a pull costs; the latter is also the most bytes a push holds (`osd_max_push_cost`).
const PULL_COST: (u64, u64) = (1, 8 << 20);
/// What a reply to a push costs: the floor of a request, where there is one.
const REPLY_COST: u64 = 1;

/// What a request is for, which says its cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// An item that starts an object of recovery.
    Item,
    /// Bytes to be read for another OSD.
    Pull,
    /// Bytes to be written.
    Push,
    /// A push was written.
    Reply,
    /// A transaction of a deletion.
    Delete,
}

/// How the pieces of a work's objects are cut: all rounds of an object have the same bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rounds {
    /// Rounds of an object.
    pub count: u32,
    /// Bytes of a piece in a round.
    pub bytes: f64,
}

impl Rounds {
    /// What a source reads of its piece in a round.
    pub fn source_bytes(&self, work: &Work) -> f64 {
        self.bytes / f64::from(work.source_parts)
    }

    /// Those of a work whose primary has these settings: a chunk is a number of bytes of an object, so of a piece the k-th part.
    pub fn of(work: &Work, settings: &OsdSettings) -> Self {
        let chunk = settings.osd_recovery_max_chunk.div_ceil(u64::from(work.data_pieces.max(1))).max(1);
        let count = work.piece_bytes.div_ceil(chunk).max(1);
        Rounds { count: u32::try_from(count).unwrap_or(u32::MAX), bytes: work.piece_bytes as f64 / count as f64 }
    }
}

/// Objects of a work's next item: a transaction of a deletion has many.
pub(super) fn objects_an_item(work: &Work, settings: &OsdSettings) -> u64 {
    let most = match work.kind {
        WorkKind::Delete => settings.osd_target_transaction_size,
        _ => settings.osd_recovery_max_single_start,
    };
    u64::from(most.max(1))
}

/// What a request of clients costs.
pub(super) fn client_cost(settings: &OsdSettings, bytes: f64) -> f64 {
    scaled(settings, bytes)
}

/// What a request of a work costs at an OSD of these settings: bytes, or requests under the old model.
pub(super) fn cost(settings: &OsdSettings, asked: Asked, work: &Work, round_bytes: f64) -> f64 {
    let bytes = match asked {
        Asked::Item => match settings.queue {
            OpQueue::Wpq { osd_recovery_cost, .. } => osd_recovery_cost as f64,
            // Only since PR 49975 an item costs what its objects hold.
            OpQueue::Mclock(Mclock { cost: CostModel::Iops { osd_recovery_cost, .. }, .. }) => osd_recovery_cost as f64,
            OpQueue::Mclock(_) => work.piece_bytes as f64 * f64::from(work.data_pieces.max(1)),
        },
        Asked::Pull => round_bytes.clamp(PULL_COST.0 as f64, PULL_COST.1 as f64),
        Asked::Push => round_bytes,
        Asked::Reply => REPLY_COST as f64,
        Asked::Delete => DELETE_COST as f64,
    };
    scaled(settings, bytes)
}

/// A request's cost in the unit of its queue.
fn scaled(settings: &OsdSettings, bytes: f64) -> f64 {
    match &settings.queue {
        OpQueue::Wpq { .. } => bytes,
        OpQueue::Mclock(mclock) => match mclock.cost {
            CostModel::Bandwidth => bytes.max(mclock.max_sequential_bandwidth / mclock.max_capacity_iops),
            CostModel::Iops { per_io, per_byte, .. } => per_io + bytes * per_byte,
        },
    }
}

/// What a request takes of its line's turns: its cost, or under WPQ the draws until one lets it go. There the dearest is an item of recovery.
pub(super) fn line_cost(settings: &OsdSettings, cost: f64) -> f64 {
    match settings.queue {
        OpQueue::Wpq { osd_recovery_cost, .. } => 1.0 / (1.0 - 0.9 * (cost / osd_recovery_cost.max(1) as f64).min(1.0)),
        OpQueue::Mclock(_) => cost,
    }
}

/// A class's reservation, weight and limit at one shard, in cost a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rates {
    /// Kept for it.
    pub reservation: f64,
    /// Its part of all, beside the weights of the others.
    pub weight: f64,
    /// The most; infinite for none.
    pub limit: f64,
}

/// A class's rates at each shard of an OSD under mClock; none under WPQ.
pub(super) fn rates(settings: &OsdSettings, class: OpClass) -> Option<Rates> {
    let OpQueue::Mclock(mclock) = &settings.queue else {
        return None;
    };
    let capacity = match mclock.cost {
        CostModel::Bandwidth => mclock.max_sequential_bandwidth,
        CostModel::Iops { .. } => mclock.max_capacity_iops,
    } / f64::from(settings.osd_op_num_shards.max(1));
    let Share { reservation, weight, limit } = match class {
        OpClass::Client => mclock.shares.client,
        OpClass::Recovery => mclock.shares.recovery,
        OpClass::BestEffort => mclock.shares.best_effort,
    };
    let limit = limit.map_or(f64::INFINITY, |share| share * capacity);
    Some(Rates { reservation: reservation * capacity, weight, limit })
}

/// Whether a read of a piece for a decoding primary passes a class of the queue; else it comes before all classes.
pub(super) fn sub_reads_in_class(settings: &OsdSettings) -> bool {
    match &settings.queue {
        OpQueue::Wpq { .. } => false,
        OpQueue::Mclock(mclock) => mclock.sub_reads_in_class,
    }
}

/// The shard of an OSD's queue that a group's requests wait in: the high bits of a product, so that neighbouring numbers part.
pub(super) fn shard(settings: &OsdSettings, group: u64) -> u32 {
    let mixed = (group ^ (group >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((u128::from(mixed) * u128::from(settings.osd_op_num_shards.max(1))) >> 64) as u32
}

impl DeviceLaw {
    /// Seconds of a read of so many bytes.
    pub(super) fn read(&self, bytes: f64) -> f64 {
        self.read_seconds + bytes / self.read_bytes_per_second
    }

    /// Seconds of a write of so many bytes.
    pub(super) fn write(&self, bytes: f64) -> f64 {
        self.write_seconds + bytes / self.write_bytes_per_second
    }
}
