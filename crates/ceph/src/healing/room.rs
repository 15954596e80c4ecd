//! How much more fits, and how full the cluster may be so that any part of a level, such as a host, can fail and heal.
//!
//! The latter by the up sets without each part in turn: all that OSDs hold grows by one factor until the first OSD that gains data is
//! backfillfull. What a copy takes on its way, and the order in which copies move, do not count.

use std::collections::BTreeMap;

use rayon::prelude::*;
use resilver_crush::pool::Osds;
use resilver_crush::{Batch, BatchScratch};

use super::Healing;
use crate::fill::{PoolRoom, room_of_pools};
use crate::groups::members;
use crate::input::{Change, PoolInput};

/// What fits.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Room {
    /// How much more fits into each pool.
    pub(crate) pools: Vec<PoolRoom>,
    /// How full the cluster may be, where that is asked.
    pub(crate) safe: Option<SafeFill>,
}

/// How full all OSDs that are up and in may be together.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SafeFill {
    /// The share; none where the groups of a part find too few others at any fill.
    pub(crate) share: Option<f64>,
    /// The part that allows no more; empty where an OSD is full before.
    pub(crate) part: String,
    /// How full they are.
    pub(crate) fill: f64,
}

impl Healing {
    /// What fits now.
    pub(crate) fn room(&self) -> Room {
        let pools = room_of_pools(&self.map, &self.groups, &self.protections, &self.fill);
        let level = (!self.safe_level.is_empty()).then_some(&self.safe_level);
        Room { pools, safe: level.and_then(|level| self.safe_fill(level)) }
    }

    /// What fits at the start; how full is safe then is a question of plans that change where data belongs.
    pub(super) fn room_at_start(&self) -> Room {
        let is_failure = |change: &Change| {
            matches!(change, Change::Fail { .. } | Change::Stop { .. } | Change::Start { .. } | Change::Slow { .. })
        };
        if self.plan.iter().all(|(_, step)| is_failure(&step.change)) {
            return Room { pools: room_of_pools(&self.map, &self.groups, &self.protections, &self.fill), safe: None };
        }
        self.room()
    }

    /// How full the cluster may be so that any part of a level can fail and heal.
    ///
    /// # Arguments
    /// * `level` - a type of the CRUSH map.
    ///
    /// # Returns
    /// None where nothing is stored, or no OSD that is up and in stands below a bucket of the level.
    fn safe_fill(&self, level: &str) -> Option<SafeFill> {
        let mut parts: BTreeMap<i32, Vec<u32>> = BTreeMap::new();
        let (mut used, mut capacity, mut most) = (0.0, 0.0, 0.0_f64);
        for (osd, space) in self.fill.iter().filter(|&(osd, _)| self.map.is_up(osd) && !self.map.is_out(osd)) {
            let (own, size) = (space.used() as f64, space.capacity as f64);
            (used, capacity, most) = (used + own, capacity + size, most.max(own / size));
            if let Some(part) = self.map.crush().ancestor(osd as i32, level) {
                parts.entry(part).or_default().push(osd);
            }
        }
        let mut held_by = vec![Vec::new(); self.works_on.len()];
        for (number, group) in self.groups.iter().enumerate().filter(|(_, group)| group.exists) {
            members(&group.up, false).for_each(|(osd, _)| held_by[osd as usize].push(number as u32));
        }
        let parts: Vec<(i32, Vec<u32>)> = parts.into_iter().collect();
        let of_pools = self.map.pools().iter().map(|PoolInput { pool, .. }| {
            let crush = self.map.crush();
            crush.rule_by_id(pool.rule).map(|rule| pool.batch(crush, rule))
        });
        let batches: Vec<_> = of_pools.collect();
        let factor = |(_, osds): &(i32, Vec<u32>)| self.growth_without(osds, &held_by, &batches);
        let factors: Vec<f64> = parts.par_iter().map(factor).collect();
        let worst = (0..parts.len()).min_by(|&one, &other| factors[one].total_cmp(&factors[other]))?;
        let fill = (used > 0.0).then_some(used / capacity)?;
        let part = || self.map.crush().item_name(parts[worst].0);
        let full = self.map.ratios().full;
        Some(match factors[worst] {
            0.0 => SafeFill { share: None, part: part(), fill },
            factor if factor < full / most => SafeFill { share: Some(factor * fill), part: part(), fill },
            _ => SafeFill { share: Some(fill * full / most), part: String::new(), fill },
        })
    }

    /// By which factor all that OSDs hold may grow, so that others have room for what these OSDs hold; 0 where groups find too few others.
    fn growth_without(&self, osds: &[u32], held_by: &[Vec<u32>], batches: &[Option<Batch<'_>>]) -> f64 {
        let now = self.map.states();
        let (mut reweight, mut is_up) = (now.reweight.to_vec(), now.is_up.to_vec());
        osds.iter().for_each(|&osd| (reweight[osd as usize], is_up[osd as usize]) = (0, false));
        let states = Osds { reweight: &reweight, is_up: &is_up, affinity: now.affinity };
        let mut numbers: Vec<u32> = osds.iter().flat_map(|&osd| &held_by[osd as usize]).copied().collect();
        numbers.sort_unstable_by_key(|&number| (self.groups[number as usize].pool, number));
        numbers.dedup();
        let (mut scratch, mut gained, mut is_short) = (BatchScratch::new(), vec![0.0; held_by.len()], false);
        let pool_of = |number: u32| self.groups[number as usize].pool;
        for numbers in numbers.chunk_by(|&one, &other| pool_of(one) == pool_of(other)) {
            let place = pool_of(numbers[0]);
            let (pool, protection) = (&self.map.pools()[place].pool, &self.protections[place]);
            let Some(batch) = &batches[place] else { continue };
            let mut groups = numbers.iter().map(|&number| &self.groups[number as usize]);
            let of_pool = groups.clone().map(|group| group.number);
            pool.group_sets_in(batch, of_pool, states, &mut scratch, |_, sets| {
                let Some(group) = groups.next() else { return };
                is_short |= members(&sets.up, false).count() < members(&group.up, false).count();
                for (set, other, sign) in [(&sets.up, &group.up, 1.0), (&group.up, &sets.up, -1.0)] {
                    for (osd, _) in members(set, false).filter(|&(osd, _)| !other.contains(&(osd as i32))) {
                        let min_alloc = self.fill.space(osd).map_or(1, |space| space.min_alloc);
                        let bytes = group.contents.allocated(protection, group.contents.objects, min_alloc);
                        gained[osd as usize] += sign * bytes as f64;
                    }
                }
            });
        }
        if is_short {
            return 0.0;
        }
        let ratio = self.map.ratios().backfillfull;
        let factors = self
            .fill
            .iter()
            .filter(|&(osd, _)| gained[osd as usize] > 0.0)
            .map(|(osd, space)| ratio * space.capacity as f64 / (space.used() as f64 + gained[osd as usize]));
        factors.fold(f64::INFINITY, f64::min)
    }
}
