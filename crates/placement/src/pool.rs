//! Pools and placement groups: from an object's name to its group, and from a group to its up set.
//!
//! Source: the placement of RADOS (S. Weil et al., "RADOS: A Scalable, Reliable Storage Service for Petabyte-scale Storage
//! Clusters", PDSW'07), with the `hashpspool` seed of Ceph 0.64 and later.

use serde::Deserialize;

use crate::crush::{CrushMap, MapError, NONE, Scratch};
use crate::hash::{rjenkins_bytes, rjenkins1_2};

/// How a pool protects its data, which decides what becomes of a device that is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PoolKind {
    /// Copies: a device that is down is left out, and those after it move up.
    Replicated,
    /// Strips: a device that is down leaves a hole, since a strip's position is its meaning.
    Erasure,
}

/// A pool: its placement groups and the rule that places them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// The pool's id.
    pub id: i64,
    /// Number of placement groups.
    pub pg_num: u32,
    /// Number of different seeds among them; equal to `pg_num` except while a pool is being split.
    pub pgp_num: u32,
    /// Copies (or strips) of each object.
    pub size: u32,
    /// Id of the CRUSH rule.
    pub rule: u32,
    /// Whether the pool's id is hashed into the seed, so that pools do not share their placements.
    pub hashpspool: bool,
    /// Replicated or erasure coded.
    pub kind: PoolKind,
}

/// `x` modulo `bins`, so that growing `bins` moves only what lands in the new bins.
///
/// # Arguments
/// * `x` - a hash.
/// * `bins` - number of bins, above zero.
/// * `mask` - one less than the least power of two that is not below `bins`.
///
/// # Returns
/// A number below `bins`.
///
/// # Examples
/// ```
/// use resilver_placement::pool::stable_mod;
/// // 12 bins: 13 would be bin 13 of 16, which does not exist yet, so it stays in bin 13 - 8.
/// assert_eq!(stable_mod(13, 12, 15), 5);
/// ```
#[must_use]
pub fn stable_mod(x: u32, bins: u32, mask: u32) -> u32 {
    if x & mask < bins { x & mask } else { x & (mask >> 1) }
}

fn mask_of(bins: u32) -> u32 {
    // The mask of 2^31 bins and more needs all bits but may not overflow on the way.
    u32::MAX.checked_shr(bins.saturating_sub(1).leading_zeros()).unwrap_or(0)
}

impl Pool {
    /// The CRUSH input of a placement group.
    ///
    /// # Arguments
    /// * `ps` - the group's number in the pool.
    ///
    /// # Returns
    /// The input `x` of the pool's rule.
    #[must_use]
    pub fn placement_seed(&self, ps: u32) -> u32 {
        let seed = stable_mod(ps, self.pgp_num, mask_of(self.pgp_num));
        // Ceph's pool ids enter as 32 bits, here and there.
        let pool = self.id as u32;
        if self.hashpspool { rjenkins1_2(seed, pool) } else { seed.wrapping_add(pool) }
    }

    /// The placement group of an object without namespace or key.
    ///
    /// # Arguments
    /// * `name` - the object's name.
    ///
    /// # Returns
    /// The group's number in the pool, below `pg_num`.
    #[must_use]
    pub fn group_of_object(&self, name: &[u8]) -> u32 {
        self.group_of_hash(rjenkins_bytes(name))
    }

    /// The placement group of an object in a namespace.
    ///
    /// # Arguments
    /// * `namespace` - the object's namespace; empty for none.
    /// * `key` - the object's locator key, or its name if it has none.
    ///
    /// # Returns
    /// The group's number in the pool, below `pg_num`.
    #[must_use]
    pub fn group_of_key(&self, namespace: &[u8], key: &[u8]) -> u32 {
        if namespace.is_empty() {
            return self.group_of_object(key);
        }
        // The separator is the ASCII unit separator.
        self.group_of_hash(rjenkins_bytes(&[namespace, &[0x1f], key].concat()))
    }

    fn group_of_hash(&self, hash: u32) -> u32 {
        stable_mod(hash, self.pg_num, mask_of(self.pg_num))
    }

    /// The up set of a placement group: the devices that should serve it, first the primary.
    ///
    /// # Arguments
    /// * `map` - the cluster's CRUSH map.
    /// * `ps` - the group's number in the pool.
    /// * `reweight` - 16.16 reweight of each device by id.
    /// * `is_up` - whether a device runs.
    /// * `scratch`, `out` - working memory, and where the devices go ([`NONE`] for the holes of an erasure pool).
    ///
    /// # Errors
    /// The map has no rule of the pool's id.
    pub fn up_set(
        &self,
        map: &CrushMap,
        ps: u32,
        reweight: &[u32],
        is_up: impl Fn(i32) -> bool,
        scratch: &mut Scratch,
        out: &mut Vec<i32>,
    ) -> Result<(), MapError> {
        let rule = map.rule_by_id(self.rule).ok_or_else(|| {
            let rule = "a pool's rule is one of the map";
            MapError::invalid(format!("pool {}: rule", self.id), self.rule, rule, "choose an existing rule")
        })?;
        let sets = map.weight_sets_for(self.id);
        map.place_with(rule, self.placement_seed(ps), self.size as usize, reweight, sets, scratch, out);
        match self.kind {
            PoolKind::Replicated => out.retain(|&device| device != NONE && is_up(device)),
            PoolKind::Erasure => {
                for device in out.iter_mut().filter(|device| **device != NONE && !is_up(**device)) {
                    *device = NONE;
                }
            }
        }
        Ok(())
    }

    /// Reads every pool of a cluster.
    ///
    /// # Arguments
    /// * `text` - the JSON of `ceph report` or of `ceph osd dump`.
    /// * `map` - the cluster's CRUSH map, to find the rules of pools that name a ruleset.
    ///
    /// # Returns
    /// The pools in the report's order.
    ///
    /// # Errors
    /// The text is not such JSON, or a pool has no rule, no groups or no copies.
    pub fn all_from_json(text: &str, map: &CrushMap) -> Result<Vec<Pool>, MapError> {
        let json_error = |error: serde_json::Error| MapError::Json { message: error.to_string() };
        let report: JsonReport = serde_json::from_str(text).map_err(json_error)?;
        let pools = report.osdmap.map_or(report.pools, |osdmap| osdmap.pools);
        pools.into_iter().map(|pool| pool.checked(map)).collect()
    }
}

#[derive(Deserialize)]
struct JsonReport {
    #[serde(default)]
    osdmap: Option<JsonOsdMap>,
    #[serde(default)]
    pools: Vec<JsonPool>,
}

#[derive(Deserialize)]
struct JsonOsdMap {
    #[serde(default)]
    pools: Vec<JsonPool>,
}

#[derive(Deserialize)]
struct JsonPool {
    pool: i64,
    #[serde(rename = "type")]
    kind: u8,
    size: u32,
    pg_num: u32,
    pg_placement_num: u32,
    #[serde(default)]
    flags_names: String,
    #[serde(default)]
    crush_rule: Option<u32>,
    #[serde(default)]
    crush_ruleset: Option<u32>,
}

impl JsonPool {
    fn checked(self, map: &CrushMap) -> Result<Pool, MapError> {
        let field = |what: &str| format!("pool {}: {what}", self.pool);
        let kind = match self.kind {
            1 => PoolKind::Replicated,
            3 => PoolKind::Erasure,
            other => {
                let rule = "a pool is replicated (1) or erasure coded (3)";
                return Err(MapError::invalid(field("type"), other, rule, "leave the pool out"));
            }
        };
        for (what, value) in [("size", self.size), ("pg_num", self.pg_num), ("pg_placement_num", self.pg_placement_num)]
        {
            // A pool has at most a few hundred thousand groups; the limit only keeps nonsense from filling memory.
            if !(1..=1 << 24).contains(&value) {
                let rule = "it is from 1 to 16777216";
                return Err(MapError::invalid(field(what), value, rule, "correct the dump"));
            }
        }
        let rule = match (self.crush_rule, self.crush_ruleset) {
            (Some(rule), _) => map.rule_by_id(rule),
            (None, Some(ruleset)) => map.rule_for_pool(ruleset, self.kind, self.size),
            (None, None) => None,
        };
        let Some(rule) = rule else {
            let named = self.crush_rule.or(self.crush_ruleset).map_or("nothing".to_owned(), |rule| rule.to_string());
            let rule = "a pool's rule is one of the map that serves its kind and size";
            return Err(MapError::invalid(field("crush_rule"), named, rule, "choose an existing rule"));
        };
        Ok(Pool {
            id: self.pool,
            pg_num: self.pg_num,
            pgp_num: self.pg_placement_num,
            size: self.size,
            rule: rule.id,
            hashpspool: self.flags_names.split(',').any(|flag| flag == "hashpspool"),
            kind,
        })
    }
}
