//! How much more fits, and how full the cluster may be so that any part of a level, such as a host, can fail and heal.
//!
//! The latter by the up sets without each part in turn: all that OSDs hold grows by one factor until the first OSD that gains data is
//! backfillfull. What a copy takes on its way, and the order in which copies move, do not count.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use resilver_crush::Scratch;
use resilver_crush::pool::Osds;

use super::Healing;
use crate::fill::{PoolRoom, room_of_pools};
use crate::groups::members;

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
        let pools = room_of_pools(&self.groups, &self.protections, &self.fill);
        let level = (!self.safe_level.is_empty()).then_some(&self.safe_level);
        Room { pools, safe: level.and_then(|level| self.safe_fill(level)) }
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
        let factor = |(_, osds): &(i32, Vec<u32>)| self.growth_without(osds, &held_by);
        let factors: Vec<f64> = parts.par_iter().map(factor).collect();
        let worst = (0..parts.len()).min_by(|&one, &other| factors[one].total_cmp(&factors[other]))?;
        let fill = (used > 0.0).then_some(used / capacity)?;
        let part = || self.map.crush().item_name(parts[worst].0);
        Some(match factors[worst] {
            0.0 => SafeFill { share: None, part: part(), fill },
            factor if factor < 1.0 / most => SafeFill { share: Some(factor * fill), part: part(), fill },
            _ => SafeFill { share: Some(fill / most), part: String::new(), fill },
        })
    }

    /// By which factor all that OSDs hold may grow, so that others have room for what these OSDs hold; 0 where groups find too few others.
    fn growth_without(&self, osds: &[u32], held_by: &[Vec<u32>]) -> f64 {
        let now = self.map.states();
        let (mut reweight, mut is_up) = (now.reweight.to_vec(), now.is_up.to_vec());
        osds.iter().for_each(|&osd| (reweight[osd as usize], is_up[osd as usize]) = (0, false));
        let states = Osds { reweight: &reweight, is_up: &is_up, affinity: now.affinity };
        let (mut scratch, mut up) = (Scratch::new(), Vec::new());
        let mut gained: BTreeMap<u32, f64> = BTreeMap::new();
        let numbers: BTreeSet<u32> = osds.iter().flat_map(|&osd| &held_by[osd as usize]).copied().collect();
        for number in numbers {
            let group = &self.groups[number as usize];
            let (pool, protection) = (&self.map.pools()[group.pool].pool, &self.protections[group.pool]);
            let Some(rule) = self.map.crush().rule_by_id(pool.rule) else { continue };
            pool.up_set(self.map.crush(), rule, group.number, states, &mut scratch, &mut up);
            let set = |up: &[i32]| members(up, false).map(|(osd, _)| osd).collect::<BTreeSet<u32>>();
            let (before, after) = (set(&group.up), set(&up));
            if after.len() < before.len() {
                return 0.0;
            }
            for (&osd, sign) in
                after.difference(&before).map(|osd| (osd, 1.0)).chain(before.difference(&after).map(|osd| (osd, -1.0)))
            {
                let min_alloc = self.fill.space(osd).map_or(1, |space| space.min_alloc);
                let bytes = group.contents.allocated(protection, group.contents.objects, min_alloc);
                *gained.entry(osd).or_default() += sign * bytes as f64;
            }
        }
        let ratio = self.map.ratios().backfillfull;
        let factors = gained.iter().filter(|&(_, &gained)| gained > 0.0).filter_map(|(&osd, gained)| {
            let space = self.fill.space(osd)?;
            Some(ratio * space.capacity as f64 / (space.used() as f64 + gained))
        });
        factors.fold(f64::INFINITY, f64::min)
    }
}
