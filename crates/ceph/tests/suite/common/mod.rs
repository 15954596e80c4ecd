//! Clusters for tests.

use resilver_ceph::{ClusterInput, OsdInput, PoolInput};
use resilver_crush::{BucketKind, CrushMap, TreeRule, Tunables};
use serde_json::{Value, json};

/// A weight of one.
pub const ONE: u32 = 0x10000;

/// A cluster of equal OSDs, all up and in, without pools: `racks` racks of `hosts` hosts of `osds` OSDs, one rule that spreads
/// copies over hosts.
pub fn cluster(racks: u32, hosts: u32, osds: u32) -> ClusterInput {
    of_classes(racks, hosts, osds, &[])
}

/// The same, of device classes in turn.
pub fn of_classes(racks: u32, hosts: u32, osds: u32, classes: &[Option<&str>]) -> ClusterInput {
    let levels = [("osd", racks * hosts * osds), ("host", racks * hosts), ("rack", racks)];
    let class = classes.first().copied().flatten();
    let rule = TreeRule { domains: &[("host", 0)], class };
    let map = CrushMap::tree(&levels, classes, BucketKind::Straw2, Tunables::JEWEL, rule).unwrap();
    let osds: Vec<Value> = (0..levels[0].1).map(|id| osd_json(id, map.ancestor(id as i32, "host").unwrap())).collect();
    let input = json!({
        "crushmap": with_rule_for_codes(&map),
        "osds": osds,
        "pools": [],
        "groups": [],
        "ratios": {"nearfull": 0.85, "backfillfull": 0.9, "full": 0.95, "failsafe": 0.97},
        "flags": [],
        "settings": {
            "osd_heartbeat_grace": 20.0, "mon_osd_down_out_interval": 600.0, "mon_osd_down_out_subtree_limit": "rack",
            "mon_osd_min_in_ratio": 0.75, "mon_osd_min_up_ratio": 0.3, "mgr_tick_period": 2.0,
            "mon_stretch_cluster_recovery_ratio": 0.6, "mon_stretch_recovery_min_wait": 15.0, "mon_stretch_pool_min_size": 2,
            "mon_osd_max_creating_pgs": 1024, "target_max_misplaced_ratio": 0.05, "balancer_sleep_interval": 60.0,
            "upmap_max_optimizations": 10, "upmap_max_deviation": 5,
        },
        "osd_settings": [{
            "osd_max_backfills": 1, "osd_recovery_max_active": 3, "osd_recovery_max_single_start": 1,
            "osd_recovery_max_chunk": 8_388_608, "osd_min_recovery_priority": 0, "osd_backfill_retry_interval": 30.0,
            "osd_recovery_retry_interval": 30.0, "osd_allow_recovery_below_min_size": true,
            "mon_max_pg_per_osd": 250, "osd_max_pg_per_osd_hard_ratio": 3.0,
            "osd_max_pg_log_entries": 10_000, "osd_target_pg_log_entries_per_osd": 300_000, "osd_min_pg_log_entries": 250,
            "osd_recovery_sleep": 0.0, "osd_delete_sleep": 0.0, "osd_target_transaction_size": 30,
            "queue": {
                "kind": "wpq", "osd_client_op_priority": 63, "osd_recovery_op_priority": 3,
                "osd_recovery_cost": 20_971_520,
            },
            "osd_op_num_shards": 1, "osd_op_num_threads_per_shard": 5,
        }],
        "network": {"host_bytes_per_second": 1.25e9, "latency_seconds": 1e-4},
        "balancer": false,
        "load": [],
        "plan": [],
        "horizon_seconds": 1e6,
        "events": false,
        "seed": 1,
    });
    serde_json::from_value(input).unwrap()
}

/// The map with a rule 1 that does for codes what rule 0 does for copies.
fn with_rule_for_codes(map: &CrushMap) -> String {
    let mut dump: Value = serde_json::from_str(&map.to_json()).unwrap();
    let mut rule = serde_json::from_str::<Value>(&map.for_codes().to_json()).unwrap()["rules"][0].take();
    rule["rule_id"] = 1.into();
    rule["rule_name"] = "coded".into();
    dump["rules"].as_array_mut().unwrap().push(rule);
    dump.to_string()
}

/// An OSD of 1 TB, up and in, on a host.
pub fn osd(id: u32, host: i32) -> OsdInput {
    serde_json::from_value(osd_json(id, host)).unwrap()
}

fn osd_json(id: u32, host: i32) -> Value {
    json!({
        "id": id, "up": true, "reweight": ONE, "affinity": ONE, "capacity_bytes": 1_000_000_000_000u64,
        "used_bytes": null, "min_alloc_bytes": 4096, "rotational": true, "settings": 0, "host": host,
        "device": {
            "read_seconds": 0.008, "read_bytes_per_second": 2e8, "write_seconds": 0.004, "write_bytes_per_second": 2e8,
            "channels": 1,
        },
    })
}

/// A replicated pool.
pub fn replicated(id: i64, pg_num: u32, size: u32) -> PoolInput {
    pool(id, pg_num, size, "replicated", 1)
}

/// A coded pool.
pub fn coded(id: i64, pg_num: u32, data: u32, parity: u32) -> PoolInput {
    pool(id, pg_num, data + parity, "erasure", data)
}

fn pool(id: i64, pg_num: u32, size: u32, kind: &str, data: u32) -> PoolInput {
    let min_size = if data == 1 { size - size / 2 } else { data + (size - data - 1).min(1) };
    serde_json::from_value(json!({
        "pool": {
            "id": id, "pg_num": pg_num, "pgp_num": pg_num, "size": size, "rule": u32::from(data > 1), "hashpspool": true, "kind": kind,
        },
        "name": format!("pool{id}"), "min_size": min_size, "data_pieces": data,
        "stripe_width": if data == 1 { 0 } else { data * 4096 }, "recovery_priority": 0, "pg_num_target": pg_num,
    }))
    .unwrap()
}
