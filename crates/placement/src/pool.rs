//! Pools and placement groups: from an object's name to its group, and from a group to its up set.
//!
//! Source: the placement of RADOS (S. Weil et al., "RADOS: A Scalable, Reliable Storage Service for Petabyte-scale Storage
//! Clusters", PDSW'07), with the `hashpspool` seed of Ceph 0.64 and later.

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
        stable_mod(rjenkins_bytes(name), self.pg_num, mask_of(self.pg_num))
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four OSDs under one root, and a rule of each mode that places on all of them.
    const MAP: &str = "
        device 0 osd.0  device 1 osd.1  device 2 osd.2  device 3 osd.3
        type 0 osd  type 1 root
        root default { id -1 alg straw2 hash 0
            item osd.0 weight 1.0  item osd.1 weight 1.0  item osd.2 weight 1.0  item osd.3 weight 1.0 }
        rule copies { id 0 type replicated step take default step choose firstn 0 type osd step emit }
        rule strips { id 1 type erasure step take default step choose indep 0 type osd step emit }";

    /// The up sets of all groups of a pool of this kind and size while osd.2 is down.
    fn up_sets(kind: PoolKind, rule: u32, size: u32) -> Vec<(Vec<i32>, Vec<i32>)> {
        let map = CrushMap::from_text(MAP).unwrap();
        let pool = Pool { id: 1, pg_num: 32, pgp_num: 32, size, rule, hashpspool: true, kind };
        let mut scratch = Scratch::new();
        let mut up_set = |ps, down| {
            let mut up = Vec::new();
            pool.up_set(&map, ps, &[], |device| device != down, &mut scratch, &mut up).unwrap();
            up
        };
        (0..32).map(|ps| (up_set(ps, -1), up_set(ps, 2))).collect()
    }

    // Rule: the strips of an erasure pool keep their positions, with a hole where the device is down.
    #[test]
    fn a_device_that_is_down_leaves_a_hole_in_an_erasure_pool() {
        for (before, after) in up_sets(PoolKind::Erasure, 1, 4) {
            // Four strips on four devices: osd.2 holds one in every group.
            assert!(before.contains(&2));
            let holes: Vec<i32> = before.iter().map(|&device| if device == 2 { NONE } else { device }).collect();
            assert_eq!(after, holes);
        }
    }

    // Rule: a position for which CRUSH finds no device is a hole too. Five strips on four devices leave exactly one.
    #[test]
    fn an_erasure_pool_wider_than_the_cluster_has_a_hole() {
        for (before, _) in up_sets(PoolKind::Erasure, 1, 5) {
            assert_eq!(before.len(), 5);
            assert_eq!(before.iter().filter(|&&device| device == NONE).count(), 1);
        }
    }

    // Rule: the copies of a replicated pool move up, also where the rule is one that leaves holes.
    #[test]
    fn a_device_that_is_down_shortens_the_set_of_a_replicated_pool() {
        for rule in [0, 1] {
            for (before, after) in up_sets(PoolKind::Replicated, rule, 5) {
                assert_eq!(before.len(), 4);
                let rest: Vec<i32> = before.into_iter().filter(|&device| device != 2).collect();
                assert_eq!(after, rest);
            }
        }
    }
}
