//! Groups that are not where CRUSH puts them: the tables of exceptions that an OSD map keeps beside its CRUSH map.
//!
//! What each table means, and when an entry of it is passed over, are facts of Ceph's OSD map ("Using pg-upmap" in Ceph's
//! documentation of operations, and its OSD map code); the oracle tests hold them against `osdmaptool`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::Osds;

/// The exceptions of one pool, by the number of the group in the pool.
///
/// An entry for a group that the pool does not have is never looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exceptions {
    /// `pg_upmap`: the whole set of a group.
    pub upmap: BTreeMap<u32, Vec<i32>>,
    /// `pg_upmap_items`: pairs (from, to) of devices, applied in order.
    pub upmap_items: BTreeMap<u32, Vec<(i32, i32)>>,
    /// `pg_upmap_primaries`: the device that trades places with the first of the set.
    pub upmap_primaries: BTreeMap<u32, i32>,
    /// `pg_temp`: the devices that serve a group while those of its up set are not ready.
    pub pg_temp: BTreeMap<u32, Vec<i32>>,
    /// `primary_temp`: the device that is primary meanwhile.
    pub primary_temp: BTreeMap<u32, i32>,
}

impl Exceptions {
    /// Changes the set that CRUSH gave a group as the upmap tables say.
    ///
    /// # Arguments
    /// * `ps` - the group's number in the pool.
    /// * `osds` - the cluster's OSDs; an entry that leads to one that is out is passed over.
    /// * `set` - the set.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::pool::{Exceptions, Osds};
    /// let mut exceptions = Exceptions::default();
    /// exceptions.upmap_items.insert(7, vec![(2, 5), (3, 0)]);
    /// let osds = Osds { reweight: &[0x10000; 6], is_up: &[true; 6], affinity: &[] };
    /// let mut set = vec![0, 2, 3];
    /// exceptions.apply_upmap(7, osds, &mut set);
    /// // The second pair is passed over: 0 is in the set already.
    /// assert_eq!(set, [0, 5, 3]);
    /// ```
    pub fn apply_upmap(&self, ps: u32, osds: Osds<'_>, set: &mut Vec<i32>) {
        if let Some(whole) = self.upmap.get(&ps) {
            if whole.iter().any(|&device| osds.is_out(device)) {
                // One target that is out makes Ceph leave the group to CRUSH alone, its other entries included.
                return;
            }
            set.clone_from(whole);
        }
        apply_pairs(self.upmap_items.get(&ps).map_or(&[], Vec::as_slice), osds, set);
        if let Some(&primary) = self.upmap_primaries.get(&ps)
            && osds.is_in(primary)
            && let Some(place) = set.iter().position(|&device| device == primary)
        {
            set.swap(0, place);
        }
    }

    /// The groups whose set need not be what CRUSH gives, in rising order.
    pub fn upmapped(&self) -> impl Iterator<Item = u32> + '_ {
        let groups: BTreeSet<u32> = self.upmap.keys().chain(self.upmap_items.keys()).copied().collect();
        groups.into_iter()
    }

    /// The most devices that an entry may give the up set of a group.
    #[must_use]
    pub fn longest_up(&self) -> usize {
        self.upmap.values().map(Vec::len).max().unwrap_or(0)
    }

    /// The most devices that an entry may give the acting set of a group.
    #[must_use]
    pub fn longest_acting(&self) -> usize {
        self.pg_temp.values().map(Vec::len).max().unwrap_or(0).max(self.longest_up())
    }
}

/// Changes a set as the pairs of a group say, in order.
pub(crate) fn apply_pairs(pairs: &[(i32, i32)], osds: Osds<'_>, set: &mut [i32]) {
    for &(from, to) in pairs {
        if set.contains(&to) || osds.is_out(to) {
            continue;
        }
        if let Some(place) = set.iter().position(|&device| device == from) {
            set[place] = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NONE;

    const IN: u32 = 0x10000;

    /// The set [0, 1, 2] of group 4 after the exceptions; OSD 5 of seven is out.
    fn applied(exceptions: &Exceptions) -> Vec<i32> {
        let reweight = [IN, IN, IN, IN, IN, 0, IN];
        let mut set = vec![0, 1, 2];
        exceptions.apply_upmap(4, Osds { reweight: &reweight, is_up: &[true; 7], affinity: &[] }, &mut set);
        set
    }

    fn items(pairs: &[(i32, i32)]) -> Exceptions {
        Exceptions { upmap_items: [(4, pairs.to_vec())].into(), ..Exceptions::default() }
    }

    // Rule: pairs apply in order, each to what the pairs before it left.
    #[test]
    fn pairs_follow_each_other() {
        assert_eq!(applied(&items(&[(1, 3), (3, 4), (0, 6)])), [6, 4, 2]);
        assert_eq!(applied(&items(&[(3, 4)])), [0, 1, 2]);
    }

    // Rule: a pair whose target is in the set already, or out, is passed over, and the rest still apply.
    #[test]
    fn pairs_that_cannot_be_are_passed_over() {
        assert_eq!(applied(&items(&[(1, 2), (1, 5), (2, 3)])), [0, 1, 3]);
        // No swap can be written: the first half would put a device twice into the set.
        assert_eq!(applied(&items(&[(0, 1), (1, 0)])), [0, 1, 2]);
    }

    // Rule: a whole set stands with all its targets or not at all, and where it does not, nor do the group's pairs.
    #[test]
    fn a_whole_set_with_a_target_that_is_out_is_passed_over() {
        let mut exceptions = items(&[(3, 6)]);
        exceptions.upmap.insert(4, vec![3, 4]);
        assert_eq!(applied(&exceptions), [6, 4]);
        exceptions.upmap.insert(4, vec![3, 5]);
        exceptions.upmap_items.insert(4, vec![(0, 6)]);
        assert_eq!(applied(&exceptions), [0, 1, 2]);
        // A hole is no device that could be out.
        exceptions.upmap.insert(4, vec![NONE, 3]);
        assert_eq!(applied(&exceptions), [NONE, 3]);
    }

    // Rule: the primary of pg_upmap_primaries trades places with the first, if it is in the set and in.
    #[test]
    fn a_primary_trades_places() {
        let primary = |device| Exceptions { upmap_primaries: [(4, device)].into(), ..Exceptions::default() };
        assert_eq!(applied(&primary(2)), [2, 1, 0]);
        assert_eq!(applied(&primary(6)), [0, 1, 2]);
        let mut out = primary(5);
        out.upmap.insert(4, vec![0, -1, 5]);
        assert_eq!(applied(&out), [0, 1, 2]);
        assert_eq!(applied(&primary(NONE)), [0, 1, 2]);
    }
}
