//! From a placement group to its up and acting sets, as an OSD map answers.
//!
//! The steps: CRUSH; the upmap exceptions; down devices left out, or holes where they were; the primary, by affinity; and
//! the temporary sets that serve while a group moves.

use super::{Osds, Pool, PoolKind};
use crate::hash::rjenkins1_2;
use crate::{Batch, BatchScratch, CrushMap, NONE, Rule, SHORT, Scratch};

/// What stands for the primary of a group that has none.
pub const NO_PRIMARY: i32 = -1;

/// The primary affinity of a device without one of its own, 16.16: it is primary wherever it comes first.
const AFFINITY_FULL: u32 = 0x10000;

/// Where a placement group is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupSets {
    /// The devices that should serve the group, in order.
    pub up: Vec<i32>,
    /// The primary among them, or [`NO_PRIMARY`].
    pub up_primary: i32,
    /// The devices that serve it at present.
    pub acting: Vec<i32>,
    /// The primary at present, or [`NO_PRIMARY`].
    pub acting_primary: i32,
}

impl Pool {
    /// The up set of a placement group: the devices that should serve it.
    ///
    /// # Arguments
    /// * `map` - the cluster's CRUSH map.
    /// * `rule` - the rule of the map that places the pool.
    /// * `ps` - the group's number in the pool.
    /// * `osds` - the state of each OSD.
    /// * `scratch`, `out` - working memory, and where the devices go ([`NONE`] for the holes of an erasure pool).
    ///
    /// # Returns
    /// The primary: the first device of a replicated pool's set; of an erasure pool's, any device, since affinity may
    /// choose another than the first but positions stand. [`NO_PRIMARY`] where the set has no device.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap, Scratch, Tunables};
    /// use resilver_crush::pool::{Exceptions, Osds, Pool, PoolKind};
    /// let map = CrushMap::flat(4, BucketKind::Straw2, Tunables::JEWEL);
    /// let kind = PoolKind::Replicated;
    /// let exceptions = Exceptions::default();
    /// let pool = Pool { id: 1, pg_num: 8, pgp_num: 8, size: 3, rule: 0, hashpspool: true, kind, exceptions };
    /// let osds = Osds { reweight: &[0x10000; 4], is_up: &[true, true, false, true], affinity: &[] };
    /// let (mut scratch, mut up) = (Scratch::new(), Vec::new());
    /// let primary = pool.up_set(&map, pool.rule_of(&map).unwrap(), 5, osds, &mut scratch, &mut up);
    /// assert_eq!(primary, up[0]);
    /// assert!(!up.contains(&2));
    /// ```
    pub fn up_set(
        &self,
        map: &CrushMap,
        rule: &Rule,
        ps: u32,
        osds: Osds<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<i32>,
    ) -> i32 {
        let (seed, weight_sets) = (self.placement_seed(ps), map.weight_sets_for(self.id));
        map.place_with(rule, seed, self.size as usize, osds.reweight, weight_sets, scratch, out);
        self.make_up(ps, seed, osds, out)
    }

    /// Turns what CRUSH placed into the up set of a group, and returns its primary.
    fn make_up(&self, ps: u32, seed: u32, osds: Osds<'_>, out: &mut Vec<i32>) -> i32 {
        if self.kind == PoolKind::Replicated {
            // Copies have no positions, so what a rule leaves empty is gone before an exception counts places.
            out.retain(|&device| device != NONE);
        }
        self.exceptions.apply_upmap(ps, osds, out);
        self.leave_out_down(osds, out);
        self.choose_primary(seed, osds.affinity, out)
    }

    /// The up and acting sets of a placement group, with their primaries.
    ///
    /// # Arguments
    /// As for [`up_set`](Self::up_set); `sets` receives the answer.
    pub fn group_sets(
        &self,
        map: &CrushMap,
        rule: &Rule,
        ps: u32,
        osds: Osds<'_>,
        scratch: &mut Scratch,
        sets: &mut GroupSets,
    ) {
        sets.up_primary = self.up_set(map, rule, ps, osds, scratch, &mut sets.up);
        self.add_acting(ps, osds, sets);
    }

    /// The pool's rule made ready for [`group_sets_in`](Self::group_sets_in).
    #[must_use]
    pub fn batch<'m>(&self, map: &'m CrushMap, rule: &'m Rule) -> Batch<'m> {
        Batch::new(map, rule, self.size as usize, map.weight_sets_for(self.id))
    }

    /// The [`group_sets`](Self::group_sets) of many groups, which are placed together.
    ///
    /// # Arguments
    /// * `batch` - what [`batch`](Self::batch) made of the pool's rule.
    /// * `groups` - the groups' numbers in the pool.
    /// * `osds`, `scratch` - the state of each OSD, and working memory.
    /// * `visit` - is called with each group's number and sets, in order.
    pub fn group_sets_in(
        &self,
        batch: &Batch<'_>,
        groups: impl Iterator<Item = u32> + Clone,
        osds: Osds<'_>,
        scratch: &mut BatchScratch,
        mut visit: impl FnMut(u32, &GroupSets),
    ) {
        let size = self.size as usize;
        let seeds: Vec<u32> = groups.clone().map(|ps| self.placement_seed(ps)).collect();
        let mut rows = vec![SHORT; seeds.len() * size];
        batch.place(&seeds, osds.reweight, scratch, &mut rows);
        let mut sets = GroupSets::default();
        for (index, (ps, &seed)) in groups.zip(&seeds).enumerate() {
            let row = &rows[index * size..][..size];
            if row.contains(&SHORT) {
                // It may be the end of a set that is short, or the id of a bucket that the rule chose.
                batch.place_one(seed, osds.reweight, scratch, &mut sets.up);
            } else {
                sets.up.clear();
                sets.up.extend_from_slice(row);
            }
            sets.up_primary = self.make_up(ps, seed, osds, &mut sets.up);
            self.add_acting(ps, osds, &mut sets);
            visit(ps, &sets);
        }
    }

    /// Adds the acting set to the up set of a group.
    fn add_acting(&self, ps: u32, osds: Osds<'_>, sets: &mut GroupSets) {
        sets.acting.clear();
        if let Some(temporary) = self.exceptions.pg_temp.get(&ps) {
            sets.acting.extend_from_slice(temporary);
            self.leave_out_down(osds, &mut sets.acting);
        }
        // A temporary primary is taken at its word: Ceph does not ask whether it is up or in the set.
        let named = self.exceptions.primary_temp.get(&ps).copied();
        sets.acting_primary = named.unwrap_or_else(|| first_device(&sets.acting));
        if sets.acting.is_empty() {
            sets.acting.extend_from_slice(&sets.up);
            if sets.acting_primary == NO_PRIMARY {
                sets.acting_primary = sets.up_primary;
            }
        }
    }

    /// Takes what does not run out of a set: copies move up, strips keep their places.
    fn leave_out_down(&self, osds: Osds<'_>, set: &mut Vec<i32>) {
        match self.kind {
            PoolKind::Replicated => set.retain(|&device| osds.is_up(device)),
            PoolKind::Erasure => {
                for device in set.iter_mut().filter(|device| !osds.is_up(**device)) {
                    *device = NONE;
                }
            }
        }
    }

    /// The primary of a set of running devices, moved to the front where positions have no meaning.
    ///
    /// Each device draws from the group's seed whether it takes the part; the first that does is primary, or, where none
    /// does, the first of all.
    fn choose_primary(&self, seed: u32, affinity: &[u32], set: &mut [i32]) -> i32 {
        let willing = |&device: &i32| {
            let own = usize::try_from(device).ok().and_then(|device| affinity.get(device)).copied();
            let own = own.unwrap_or(AFFINITY_FULL);
            device != NONE && (own >= AFFINITY_FULL || rjenkins1_2(seed, device as u32) >> 16 < own)
        };
        let Some(place) = set.iter().position(willing).or_else(|| set.iter().position(|&device| device != NONE)) else {
            return NO_PRIMARY;
        };
        let primary = set[place];
        if self.kind == PoolKind::Replicated {
            set[..=place].rotate_right(1);
        }
        primary
    }
}

fn first_device(set: &[i32]) -> i32 {
    set.iter().copied().find(|&device| device != NONE).unwrap_or(NO_PRIMARY)
}
