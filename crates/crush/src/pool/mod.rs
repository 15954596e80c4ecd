//! Pools and placement groups: from an object to its group, and from a group to its up and acting sets.
//!
//! Source: the placement of RADOS (S. Weil et al., "RADOS: A Scalable, Reliable Storage Service for Petabyte-scale Storage
//! Clusters", PDSW'07), with the `hashpspool` seed of Ceph 0.64 and later.

mod exceptions;
mod object;
mod sets;

#[cfg(test)]
mod tests;

pub use exceptions::Exceptions;
pub(crate) use exceptions::apply_pairs;
pub use object::{ObjectHash, linux_bytes};
pub use sets::{GroupSets, NO_PRIMARY};

use serde::Deserialize;

use crate::hash::rjenkins1_2;
use crate::{CrushMap, MapError, NONE, Rule};

/// How a pool protects its data, which decides what becomes of a device that is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PoolKind {
    /// Copies: a device that is down is left out, and those after it move up.
    Replicated,
    /// Strips: a device that is down leaves a hole, since a strip's position is its meaning.
    Erasure,
}

/// A pool: its placement groups and the rule that places them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// Groups that are not where the rule puts them.
    #[serde(default)]
    pub exceptions: Exceptions,
}

/// The OSDs of a cluster, as its OSD map lists them: an entry a device id.
///
/// A device that the cluster does not have is one that is neither up nor in: CRUSH passes it over, and so does an exception.
#[derive(Debug, Clone, Copy)]
pub struct Osds<'a> {
    /// 16.16 reweight: 0 is out, 0x10000 is in; ids beyond the end are in.
    pub reweight: &'a [u32],
    /// Whether the OSD runs; ids beyond the end do not.
    pub is_up: &'a [bool],
    /// 16.16 primary affinity: 0 is primary only where no other device is; ids beyond the end have 0x10000, always.
    pub affinity: &'a [u32],
}

impl Osds<'_> {
    /// Whether this is a device that runs; [`NONE`] and other ids of no device do not.
    #[must_use]
    pub fn is_up(self, device: i32) -> bool {
        usize::try_from(device).is_ok_and(|device| self.is_up.get(device) == Some(&true))
    }

    /// Whether this is a device that is out. What is no device, such as [`NONE`], is not.
    #[must_use]
    pub fn is_out(self, device: i32) -> bool {
        usize::try_from(device).is_ok_and(|device| self.reweight.get(device) == Some(&0))
    }

    /// Whether this is a device that is in, if only in part.
    #[must_use]
    pub fn is_in(self, device: i32) -> bool {
        device >= 0 && device != NONE && !self.is_out(device)
    }
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
/// use resilver_crush::pool::stable_mod;
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
    /// The rule of the map that places the pool.
    ///
    /// # Errors
    /// When the map has no such rule.
    pub fn rule_of<'a>(&self, map: &'a CrushMap) -> Result<&'a Rule, MapError> {
        map.rule_by_id(self.rule).ok_or_else(|| {
            let known: Vec<String> = map.rules().iter().map(|rule| rule.id.to_string()).collect();
            let field = format!("pool {}: rule", self.id);
            let (rule, remedy) = ("the map has no such rule", format!("its rules are {}", known.join(", ")));
            MapError::Invalid { field, value: self.rule.to_string(), rule: rule.to_owned(), remedy }
        })
    }

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
}
