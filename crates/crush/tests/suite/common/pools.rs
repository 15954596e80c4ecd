//! The pools of `ceph report` and of `osdmaptool --dump json`, for comparison with what Ceph says of their groups.

use resilver_crush::pool::{Exceptions, Pool, PoolKind};
use resilver_crush::{CrushMap, Rule};
use serde_json::Value;

/// Every pool, in the dump's order; panics at a dump that is not Ceph's.
pub fn pools_of(text: &str, map: &CrushMap) -> Vec<Pool> {
    let dump: Value = serde_json::from_str(text).unwrap();
    let osdmap = dump.get("osdmap").unwrap_or(&dump);
    osdmap["pools"].as_array().unwrap().iter().map(|pool| pool_of(pool, map)).collect()
}

fn pool_of(pool: &Value, map: &CrushMap) -> Pool {
    let number = |name: &str| u32::try_from(pool[name].as_u64().unwrap()).unwrap();
    let kind = if pool["type"] == 3 { PoolKind::Erasure } else { PoolKind::Replicated };
    Pool {
        id: pool["pool"].as_i64().unwrap(),
        pg_num: number("pg_num"),
        pgp_num: number("pg_placement_num"),
        size: number("size"),
        rule: match pool.get("crush_rule") {
            Some(rule) => rule.as_u64().unwrap() as u32,
            None => rule_of_ruleset(map, number("crush_ruleset"), number("type"), number("size")).id,
        },
        hashpspool: pool["flags_names"].as_str().unwrap().split(',').any(|flag| flag == "hashpspool"),
        kind,
        exceptions: Exceptions::default(),
    }
}

/// Clusters before Luminous name a ruleset: its first rule of the pool's kind and size places the pool.
fn rule_of_ruleset(map: &CrushMap, ruleset: u32, kind: u32, size: u32) -> &Rule {
    let serves = |rule: &&Rule| {
        rule.ruleset == ruleset && u32::from(rule.pool_kind) == kind && (rule.min_size..=rule.max_size).contains(&size)
    };
    map.rules().iter().find(serves).unwrap()
}
