//! What comes across the border: a cluster as it stands, its settings, and the changes to come.

use resilver_crush::pool::Pool;
use resilver_redundancy::Code;
use serde::Deserialize;

pub use crate::load::PoolLoad;
use crate::settings::{ClusterSettings, OsdSettings};

/// A cluster and a plan.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterInput {
    /// The CRUSH map, as the JSON of `ceph osd crush dump`.
    pub crushmap: String,
    /// The OSDs, by rising number.
    pub osds: Vec<OsdInput>,
    /// The pools, by rising number.
    pub pools: Vec<PoolInput>,
    /// What the groups of each pool hold, in the order of `pools`.
    pub groups: Vec<GroupColumns>,
    /// The ratios of the OSD map.
    pub ratios: Ratios,
    /// Flags that are set.
    pub flags: Vec<Flag>,
    /// Stretch mode, where it is enabled.
    #[serde(default)]
    pub stretch_mode: Option<StretchMode>,
    /// Settings of monitors and manager.
    pub settings: ClusterSettings,
    /// Settings of OSDs, those that differ; an OSD says which it has.
    pub osd_settings: Vec<OsdSettings>,
    /// The network of a host.
    pub network: NetworkInput,
    /// Whether the balancer of the manager is on from the start.
    pub balancer: bool,
    /// What clients ask of each pool, in the order of `pools`; empty for nothing.
    pub load: Vec<PoolLoad>,
    /// The changes, by rising time.
    pub plan: Vec<Step>,
    /// Seconds after which the run ends, whole or not.
    pub horizon_seconds: f64,
    /// Seconds after which it is counted: as if it began then, but for what OSDs sent, received and were busy, and for the film.
    #[serde(default)]
    pub counted_from_seconds: f64,
    /// Whether the data moves by events (else by steady flows).
    pub events: bool,
    /// The most frames of the film of who reads, writes and waits; 0 for no film.
    #[serde(default)]
    pub frames: u32,
    /// The seed of what is drawn.
    pub seed: u64,
    /// A type of the CRUSH map: how full may the cluster be so that any part of it can fail and heal? Empty where that is not asked.
    #[serde(default)]
    pub safe_level: String,
    /// Whether the sets of PGs that the changes place elsewhere are listed.
    #[serde(default)]
    pub lists_sets: bool,
}

/// An OSD.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OsdInput {
    /// Its number.
    pub id: u32,
    /// Whether it runs.
    pub up: bool,
    /// Its reweight, 16.16; 0 is out.
    pub reweight: u32,
    /// Its primary affinity, 16.16.
    pub affinity: u32,
    /// How many bytes it has.
    pub capacity_bytes: u64,
    /// How many are used, as `osd df` states it; none where nothing does, so that they are what its groups hold.
    pub used_bytes: Option<u64>,
    /// The smallest unit it allocates.
    pub min_alloc_bytes: u64,
    /// Its device.
    pub device: DeviceLaw,
    /// Whether its device turns.
    pub rotational: bool,
    /// Which of `osd_settings` it has.
    pub settings: u32,
    /// Which host's network it uses: the number of the CRUSH bucket, or -1 for one of its own.
    pub host: i32,
}

/// What a request takes on a device: so many seconds, and its bytes over a rate. `channels` requests are served at a time, each at
/// that speed.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceLaw {
    /// Seconds of a read before its bytes.
    pub read_seconds: f64,
    /// Bytes a second of a read.
    pub read_bytes_per_second: f64,
    /// Seconds of a write before its bytes.
    pub write_seconds: f64,
    /// Bytes a second of a write.
    pub write_bytes_per_second: f64,
    /// Requests that are served at a time.
    pub channels: u32,
}

impl DeviceLaw {
    /// The law of a device that does all at a share of its rates.
    #[must_use]
    pub fn slowed(&self, share: f64) -> Self {
        DeviceLaw {
            read_seconds: self.read_seconds / share,
            read_bytes_per_second: self.read_bytes_per_second * share,
            write_seconds: self.write_seconds / share,
            write_bytes_per_second: self.write_bytes_per_second * share,
            channels: self.channels,
        }
    }
}

/// A pool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolInput {
    /// Its groups and its rule.
    pub pool: Pool,
    /// Its name.
    pub name: String,
    /// OSDs below which a group serves nobody.
    pub min_size: u32,
    /// Pieces that hold data: 1 of a replicated pool, k of a coded one.
    pub data_pieces: u32,
    /// Bytes of a stripe of all data pieces; 0 of a replicated pool.
    pub stripe_width: u64,
    /// What is added to the priorities of its groups, -10 to 10.
    pub recovery_priority: i32,
    /// The `pg_num` that the manager is on the way to.
    pub pg_num_target: u32,
    /// Its code, where it is not one of which any `data_pieces` restore the data and a repair reads so many.
    #[serde(default)]
    pub code: Option<Code>,
    /// What a stretch pool asks of the OSDs that serve a PG.
    #[serde(default)]
    pub stretch: Option<Stretch>,
}

/// What a stretch pool asks of the OSDs that serve a PG: stretch mode sets it for every pool, `ceph osd pool stretch set` for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// Buckets that must have an OSD among them (`peering_crush_bucket_count`).
    pub count: u32,
    /// Buckets that the copies are spread over (`peering_crush_bucket_target`).
    pub target: u32,
    /// The CRUSH type of these buckets (`peering_crush_bucket_barrier`).
    pub barrier: i32,
    /// A bucket that must be among them (`peering_crush_bucket_mandatory_member`).
    pub mandatory_member: Option<i32>,
}

/// Stretch mode: two sites, of which the monitors let one serve alone while the other is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StretchMode {
    /// Sites that a PG has OSDs in (`stretch_bucket_count`).
    pub bucket_count: u32,
    /// The CRUSH type of a site (`stretch_mode_bucket`).
    pub bucket: i32,
    /// Whether one site serves alone (`degraded_stretch_mode`).
    pub is_degraded: bool,
    /// Whether the other site is back and recovers (`recovering_stretch_mode`).
    pub is_recovering: bool,
}

/// What the groups of a pool hold, by their numbers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupColumns {
    /// Bytes of each, before redundancy.
    pub bytes: Vec<u64>,
    /// Objects of each.
    pub objects: Vec<u64>,
    /// Bytes in omaps of each; empty for none.
    pub omap_bytes: Vec<u64>,
    /// The OSDs that serve each now (2147483647 is a hole); empty where they are those that the map gives.
    pub acting: Vec<Vec<i32>>,
    /// Objects of each that lack a copy now, counted once for each copy; empty for none.
    pub degraded: Vec<u64>,
    /// Objects of each that are not where they should be, once for each copy; empty for none.
    pub misplaced: Vec<u64>,
}

/// Shares of an OSD's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratios {
    /// A warning.
    pub nearfull: f64,
    /// No new backfill comes.
    pub backfillfull: f64,
    /// Clients' writes to its pools stop.
    pub full: f64,
    /// The OSD drops writes.
    pub failsafe: f64,
}

/// What an operator may set on a whole cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Flag {
    NoOut,
    NoIn,
    NoUp,
    NoDown,
    NoRebalance,
    NoBackfill,
    NoRecover,
    NoAutoscale,
}

/// The network of a host.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkInput {
    /// Bytes a second, each way.
    pub host_bytes_per_second: f64,
    /// Seconds of a message there, without its bytes.
    pub latency_seconds: f64,
}

/// A change and its time.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Seconds from the start.
    pub at_seconds: f64,
    /// What happens.
    pub change: Change,
}

/// What an operator does, or what breaks. Names are numbers by now; weights are 16.16 where Ceph's are.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Change {
    /// OSDs die: they are down after the grace, and out when the monitors say so.
    Fail {
        /// Which.
        osds: Vec<u32>,
    },
    /// OSDs are stopped in order: down at once.
    Stop {
        /// Which.
        osds: Vec<u32>,
    },
    /// OSDs run again, with what they had; those that the monitors marked out are in again.
    Start {
        /// Which.
        osds: Vec<u32>,
    },
    /// `ceph osd out`.
    Out {
        /// Which.
        osds: Vec<u32>,
    },
    /// `ceph osd in`.
    In {
        /// Which.
        osds: Vec<u32>,
    },
    /// `ceph osd reweight`.
    Reweight {
        /// Which.
        osds: Vec<u32>,
        /// 16.16.
        weight: u32,
    },
    /// Devices work at a share of their rates from now on; 1 ends it. What the map holds, and what settings say of a device, stays.
    Slow {
        /// Whose.
        osds: Vec<u32>,
        /// The share, above 0.
        share: f64,
    },
    /// `ceph osd crush reweight` of a device, or of all devices below a bucket (`reweight-subtree`).
    CrushReweight {
        /// The item's name.
        item: String,
        /// Its weight, or that of each device below it.
        weight: f64,
    },
    /// `ceph osd crush move`: a device or bucket, with all it holds, to another place.
    CrushMove {
        /// The item's name.
        item: String,
        /// (type, bucket); buckets that are not there yet are made.
        location: Vec<(String, String)>,
    },
    /// `ceph osd crush rename-bucket`.
    CrushRename {
        /// The bucket's name.
        item: String,
        /// Its name from now on.
        name: String,
    },
    /// New OSDs, up and in.
    Add {
        /// Which.
        osds: Vec<Add>,
    },
    /// OSDs that are stopped get other devices, which are empty; what their states and settings are stays.
    Replace {
        /// Which, and what they are from now on.
        osds: Vec<OsdInput>,
    },
    /// `ceph osd pool set POOL crush_rule`.
    SetRule {
        /// The pool's number.
        pool: i64,
        /// The rule's number.
        rule: u32,
    },
    /// `ceph osd pool set POOL pg_num`: the manager gets there step by step.
    PgNum {
        /// The pool's number.
        pool: i64,
        /// How many groups.
        pg_num: u32,
    },
    /// `ceph osd pool set POOL size`.
    PoolSize {
        /// The pool's number.
        pool: i64,
        /// Copies.
        size: u32,
        /// OSDs below which a group serves nobody.
        min_size: u32,
    },
    /// `ceph osd setcrushmap`.
    Crush {
        /// The JSON of `ceph osd crush dump`.
        crushmap: String,
    },
    /// The balancer on or off.
    Balance {
        /// On.
        on: bool,
    },
    /// `ceph osd pg-upmap-items`, or its removal where there are no pairs.
    Upmap {
        /// The pool's number.
        pool: i64,
        /// The group's number in the pool.
        group: u32,
        /// (from, to).
        pairs: Vec<(i32, i32)>,
    },
    /// `ceph osd set` and `unset`.
    Flags {
        /// Set.
        set: Vec<Flag>,
        /// Unset.
        unset: Vec<Flag>,
    },
    /// `ceph config set`: the settings as they are from now on, and which of them each OSD has.
    Settings {
        /// Of monitors and manager.
        settings: ClusterSettings,
        /// Of OSDs.
        osd_settings: Vec<OsdSettings>,
        /// (OSD, which of them), of every OSD.
        of_osd: Vec<(u32, u32)>,
    },
    /// `ceph pg force-backfill` and `force-recovery` of all groups of a pool, or of some.
    Force {
        /// The pool's number.
        pool: i64,
        /// Its groups; empty for all.
        groups: Vec<u32>,
    },
}

/// A new OSD and its place.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Add {
    /// What it is.
    pub osd: OsdInput,
    /// Its name in the CRUSH map.
    pub name: String,
    /// Its weight there.
    pub weight: f64,
    /// Its device class; empty for none.
    pub class: String,
    /// (type, name) of the buckets above it, lowest first; those that do not exist are made.
    pub location: Vec<(String, String)>,
}
