//! Ceph's settings, as one release and a cluster's own configuration give them. Every default stands in Python, where a setting is
//! declared; what comes here is complete.

use serde::Deserialize;

/// What the monitors and the manager go by.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterSettings {
    /// Seconds from the death of an OSD until the monitors hold it for down (`osd_heartbeat_grace`).
    pub osd_heartbeat_grace: f64,
    /// Seconds from down to out; 0 never marks out.
    pub mon_osd_down_out_interval: f64,
    /// The CRUSH type of which a whole bucket that is down is never marked out; empty for none.
    pub mon_osd_down_out_subtree_limit: String,
    /// Share of OSDs that are in below which nothing more is marked out.
    pub mon_osd_min_in_ratio: f64,
    /// Share of OSDs that are up below which nothing more is marked down.
    pub mon_osd_min_up_ratio: f64,
    /// Share of OSDs that are up above which a site that is back ends degraded stretch mode.
    pub mon_stretch_cluster_recovery_ratio: f64,
    /// Seconds from then until it may end.
    pub mon_stretch_recovery_min_wait: f64,
    /// `min_size` of stretch pools from then on.
    pub mon_stretch_pool_min_size: u32,
    /// Seconds between two looks of the manager.
    pub mgr_tick_period: f64,
    /// The most groups that may be under creation at a time.
    pub mon_osd_max_creating_pgs: u32,
    /// Whether an operator changes `pg_num` and `pgp_num`, at once and whatever is misplaced, as before the manager did (Nautilus).
    #[serde(default)]
    pub pg_num_by_operator: bool,
    /// Share of objects that may be misplaced by changes of the manager's.
    pub target_max_misplaced_ratio: f64,
    /// Seconds between two rounds of the balancer.
    pub balancer_sleep_interval: f64,
    /// The most entries a round of the balancer.
    pub upmap_max_optimizations: u32,
    /// How many groups an OSD may be off its share.
    pub upmap_max_deviation: u32,
}

/// What an OSD goes by. OSDs of the same settings share one of these.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OsdSettings {
    /// Slots of the local reserver and of the remote one.
    pub osd_max_backfills: u32,
    /// Objects under way of all groups of which the OSD is primary (of its class, `osd_recovery_max_active_{hdd,ssd}`).
    pub osd_recovery_max_active: u32,
    /// Objects that one item of the queue starts.
    pub osd_recovery_max_single_start: u32,
    /// Bytes of a chunk of a push.
    pub osd_recovery_max_chunk: u64,
    /// Priority below which nothing is reserved.
    pub osd_min_recovery_priority: i32,
    /// Seconds until a backfill that was refused for space asks again.
    pub osd_backfill_retry_interval: f64,
    /// Seconds until a recovery that was refused for space asks again.
    pub osd_recovery_retry_interval: f64,
    /// Whether groups below `min_size` recover.
    pub osd_allow_recovery_below_min_size: bool,
    /// PGs an OSD that the monitors let a pool come to; 0 in a release without a limit.
    pub mon_max_pg_per_osd: u32,
    /// How many times as many an OSD takes on.
    pub osd_max_pg_per_osd_hard_ratio: f64,
    /// The most entries of a group's log; what is behind by more is filled, not recovered.
    pub osd_max_pg_log_entries: u64,
    /// Entries of logs that an OSD aims at over all its groups.
    pub osd_target_pg_log_entries_per_osd: u64,
    /// The fewest entries of a group's log.
    pub osd_min_pg_log_entries: u64,
    /// Seconds before each item of recovery (0 under mClock).
    pub osd_recovery_sleep: f64,
    /// Seconds before each transaction of a deletion (0 under mClock).
    pub osd_delete_sleep: f64,
    /// Objects of a transaction of a deletion.
    pub osd_target_transaction_size: u32,
    /// The queue of operations.
    pub queue: OpQueue,
    /// Independent queues of an OSD.
    pub osd_op_num_shards: u32,
    /// Threads that serve each.
    pub osd_op_num_threads_per_shard: u32,
}

impl OsdSettings {
    /// The PGs at which an OSD takes on no more (`OSD::maybe_wait_for_max_pg`); none without a limit.
    #[must_use]
    pub fn most_groups(&self) -> Option<u32> {
        let most = f64::from(self.mon_max_pg_per_osd) * self.osd_max_pg_per_osd_hard_ratio;
        (most > 0.0).then(|| most.ceil() as u32)
    }
}

/// How an OSD orders its operations.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum OpQueue {
    /// Weighted priorities.
    Wpq {
        /// Weight of clients (`osd_client_op_priority`).
        osd_client_op_priority: u32,
        /// Weight of recovery (`osd_recovery_op_priority`).
        osd_recovery_op_priority: u32,
        /// Cost of an item of recovery in bytes (`osd_recovery_cost`).
        osd_recovery_cost: u64,
    },
    /// dmClock's tags.
    Mclock(Mclock),
}

/// mClock as a profile or own settings give it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mclock {
    /// Bytes a second (`osd_mclock_max_sequential_bandwidth_*`).
    pub max_sequential_bandwidth: f64,
    /// Operations a second (`osd_mclock_max_capacity_iops_*`).
    pub max_capacity_iops: f64,
    /// What a request costs.
    pub cost: CostModel,
    /// Shares of the classes.
    pub shares: Shares,
    /// Whether a recovery's reads of other OSDs' pieces are in a class (PR 64618), or immediate.
    pub sub_reads_in_class: bool,
}

/// What a request costs under mClock.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum CostModel {
    /// max(bytes, bandwidth / IOPS), of a capacity of bytes a second: Reef, and Quincy since its backport.
    Bandwidth,
    /// `per_io + bytes x per_byte` of a capacity of IOPS: before.
    Iops {
        /// Cost of a request of no bytes, in requests.
        per_io: f64,
        /// Cost of a byte, in requests.
        per_byte: f64,
        /// Bytes that every item of recovery costs, whatever its objects hold (`osd_recovery_cost`).
        osd_recovery_cost: u64,
    },
}

/// Shares of the three classes.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shares {
    /// Clients.
    pub client: Share,
    /// Repair of degraded groups.
    pub recovery: Share,
    /// Movement of misplaced groups, deletion.
    pub best_effort: Share,
}

/// A class under mClock, as shares of the capacity.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// What is kept for it, of the capacity.
    pub reservation: f64,
    /// Its part of all, beside the other classes' weights, where reservations and limits leave a choice.
    pub weight: f64,
    /// The most it gets of the capacity; none for no limit.
    pub limit: Option<f64>,
}
