//! Stretch pools and stretch mode: in which buckets a PG's OSDs must be for it to serve.
//!
//! Source: `pg_pool_t::stretch_set_can_peer`, `PeeringState::calc_replicated_acting_stretch` and, of the monitors,
//! `OSDMonitor::trigger_degraded_stretch_mode`, `trigger_recovery_stretch_mode` and `trigger_healthy_stretch_mode` of Ceph 19.

use std::collections::{BTreeMap, BTreeSet};

use resilver_crush::CrushMap;

use super::{OsdMap, StretchChange, Touched};
use crate::input::Stretch;

/// The bucket of a type that holds an OSD.
fn bucket_of(crush: &CrushMap, osd: i32, type_id: i32) -> Option<i32> {
    let mut above = std::iter::successors(crush.parent_of(osd), |&item| crush.parent_of(item));
    above.find(|&item| crush.bucket(item).is_some_and(|bucket| bucket.type_id() == type_id))
}

/// What a stretch pool asks of the OSDs that serve a PG, beside their number.
#[derive(Debug, Clone, Copy)]
pub struct Barrier<'m> {
    stretch: Stretch,
    crush: &'m CrushMap,
}

impl Barrier<'_> {
    /// Whether a PG serves with these OSDs, if they are enough.
    #[must_use]
    pub fn admits(&self, acting: &[i32]) -> bool {
        let counts = self.counts(acting);
        counts.len() >= self.stretch.count as usize
            && self.stretch.mandatory_member.is_none_or(|member| counts.contains_key(&member))
    }

    /// Why a PG does not serve with these OSDs, which are not admitted.
    #[must_use]
    pub fn objection(&self, acting: &[i32]) -> String {
        let (buckets, needed) = (self.counts(acting).len(), self.stretch.count);
        let type_name = self.crush.type_name(self.stretch.barrier);
        match self.stretch.mandatory_member {
            Some(member) if buckets >= needed as usize => {
                format!("it needs an OSD in {type_name} {} to serve, and has none", self.crush.item_name(member))
            }
            _ => format!("it needs OSDs in {needed} buckets of type {type_name} to serve, and has them in {buckets}"),
        }
    }

    /// Which of some OSDs serves beside others first: one of the mandatory bucket where that has none, then the first of the bucket
    /// that has fewest, of those that have not their part of the copies yet.
    #[must_use]
    pub fn next(&self, acting: &[i32], others: &[i32], size: usize) -> Option<usize> {
        let counts = self.counts(acting);
        let most = size.div_ceil(self.stretch.target as usize);
        let of = |osd: i32| bucket_of(self.crush, osd, self.stretch.barrier);
        let mandatory = self.stretch.mandatory_member.filter(|member| !counts.contains_key(member));
        let wanted = mandatory.and_then(|member| others.iter().position(|&osd| of(osd) == Some(member)));
        wanted.or_else(|| {
            let has = |osd: i32| of(osd).and_then(|bucket| counts.get(&bucket).copied()).unwrap_or(0);
            let open = (0..others.len()).map(|at| (has(others[at]), at)).filter(|&(has, _)| has < most);
            open.min().map(|(_, at)| at)
        })
    }

    /// How many of these OSDs each bucket has.
    fn counts(&self, osds: &[i32]) -> BTreeMap<i32, usize> {
        let mut counts = BTreeMap::new();
        for bucket in osds.iter().filter_map(|&osd| bucket_of(self.crush, osd, self.stretch.barrier)) {
            *counts.entry(bucket).or_default() += 1;
        }
        counts
    }
}

impl OsdMap {
    /// What the pool of a place asks of the OSDs that serve, where it is a stretch pool.
    #[must_use]
    pub fn barrier(&self, pool: usize) -> Option<Barrier<'_>> {
        self.pools[pool].stretch.map(|stretch| Barrier { stretch, crush: &self.crush })
    }

    /// (sites with an OSD that is up, sites all of whose OSDs are down), where there is stretch mode.
    #[must_use]
    pub fn sites(&self) -> Option<(BTreeSet<i32>, BTreeSet<i32>)> {
        let site = self.stretch_mode?.bucket;
        let sites_of = |up: bool| -> BTreeSet<i32> {
            let osds = self.osds().map(|osd| osd.id).filter(|&osd| self.is_up(osd) == up);
            osds.filter_map(|osd| bucket_of(&self.crush, osd as i32, site)).collect()
        };
        let live = sites_of(true);
        let dead = sites_of(false).difference(&live).copied().collect();
        Some((live, dead))
    }

    /// Share of all OSDs that are up.
    #[must_use]
    pub fn up_share(&self) -> f64 {
        let all = self.osds().count();
        self.osds().filter(|osd| self.is_up(osd.id)).count() as f64 / all.max(1) as f64
    }

    /// Stretch mode goes into another state; tells which pools go by it.
    pub(super) fn set_stretch(&mut self, change: StretchChange) -> Touched {
        let Some(mode) = &mut self.stretch_mode else { return Touched::Nothing };
        let (bucket_count, min_size) = (mode.bucket_count, self.settings.mon_stretch_pool_min_size);
        mode.is_degraded = change != StretchChange::Healthy;
        mode.is_recovering = change == StretchChange::Recovering;
        let mut pools = Vec::new();
        for (place, pool) in self.pools.iter_mut().enumerate() {
            let Some(stretch) = &mut pool.stretch else { continue };
            match change {
                StretchChange::Degraded(survivor) => {
                    (stretch.count, stretch.mandatory_member) = (1, Some(survivor));
                    pool.min_size = (pool.min_size / 2).max(1);
                }
                StretchChange::Recovering => continue,
                StretchChange::Healthy => {
                    (stretch.count, stretch.mandatory_member) = (bucket_count, None);
                    pool.min_size = min_size.clamp(1, pool.pool.size);
                }
            }
            pools.push(place);
        }
        if pools.is_empty() { Touched::Nothing } else { Touched::Pools(pools) }
    }
}
