//! Upmap entries that no longer hold, which the monitors remove in the change that breaks them.
//!
//! Source: what Ceph's `OSDMap::check_pg_upmaps` and `CrushWrapper::verify_upmap` ask of an entry; `osdmaptool --upmap-cleanup` is the
//! oracle.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use resilver_crush::pool::{Pool, PoolKind};
use resilver_crush::{CrushMap, NONE, Rule, Scratch, Step};

use super::reach::{devices_below, weighted_below};
use super::{OsdMap, Touched};

/// What a step of a rule demands of a group's set.
#[derive(Debug)]
enum Demand {
    /// No two devices in one bucket; bucket by device.
    Apart(BTreeMap<i32, i32>),
    /// Devices in at most so many buckets.
    AtMost(usize, BTreeMap<i32, i32>),
    /// The next so many devices stand among these.
    Below(usize, BTreeSet<u32>),
}

/// What a pool's rule demands of its sets.
#[derive(Debug)]
pub(super) struct Demands {
    /// The layout of the map that it was read from.
    layout: u64,
    steps: Vec<Demand>,
    /// Devices that the rule's roots hold with a weight above zero.
    weighted: BTreeSet<u32>,
}

impl Demands {
    fn of(crush: &CrushMap, layout: u64, rule: &Rule, size: u32) -> Self {
        let roots: Vec<i32> = takes(rule).collect();
        let (mut steps, mut root, mut counts) = (Vec::new(), 0, BTreeMap::new());
        for step in &rule.steps {
            match *step {
                Step::Take(item) => root = item,
                Step::Choose(choose) => {
                    let count = if choose.count > 0 { choose.count } else { choose.count + size as i32 };
                    // Ceph keeps one number a type, that of the first step.
                    counts.entry(choose.type_id).or_insert(count);
                    if choose.type_id == 0 {
                        continue;
                    }
                    let domains = domains(crush, &roots, choose.type_id);
                    let count = usize::try_from(count).unwrap_or(0);
                    steps.push(if choose.leaf { Demand::Apart(domains) } else { Demand::AtMost(count, domains) });
                }
                Step::Emit => {
                    if root < 0 {
                        let count: i64 = counts.values().map(|&count| i64::from(count)).product();
                        steps.push(Demand::Below(usize::try_from(count).unwrap_or(0), devices_below(crush, root)));
                    }
                    counts.clear();
                    root = 0;
                }
                _ => {}
            }
        }
        Self { layout, steps, weighted: roots.iter().flat_map(|&root| weighted_below(crush, root)).collect() }
    }

    /// Whether a set keeps them, and all its devices are in.
    fn met_by(&self, set: &[i32], reweight: &[u32]) -> bool {
        let mut cursor = 0;
        self.steps.iter().all(|step| match step {
            Demand::Apart(domains) => {
                let mut seen: BTreeMap<i32, i32> = BTreeMap::new();
                let known = set.iter().filter_map(|device| Some((*domains.get(device)?, *device)));
                // The same device twice is no second device, here as in Ceph.
                known.into_iter().all(|(domain, device)| *seen.entry(domain).or_insert(device) == device)
            }
            Demand::AtMost(count, domains) => {
                let domains: BTreeSet<i32> = set.iter().filter_map(|device| domains.get(device).copied()).collect();
                domains.len() <= *count
            }
            Demand::Below(count, devices) => {
                let end = set.len().min(cursor + count);
                let part = &set[cursor..end];
                cursor = end;
                part.iter().all(|&device| u32::try_from(device).is_ok_and(|device| devices.contains(&device)))
            }
        }) && set.iter().all(|&device| {
            let known = u32::try_from(device).ok().filter(|device| self.weighted.contains(device));
            known.is_some_and(|device| reweight.get(device as usize).copied().unwrap_or(0) > 0)
        })
    }
}

fn takes(rule: &Rule) -> impl Iterator<Item = i32> {
    rule.steps.iter().filter_map(|step| match *step {
        Step::Take(item) => Some(item),
        _ => None,
    })
}

/// The bucket of a type below the roots that holds each device.
fn domains(crush: &CrushMap, roots: &[i32], type_id: i32) -> BTreeMap<i32, i32> {
    let mut domains = BTreeMap::new();
    let mut open = roots.to_vec();
    while let Some(item) = open.pop() {
        let Some(bucket) = crush.bucket(item) else { continue };
        if bucket.type_id() == type_id {
            for device in devices_below(crush, item) {
                domains.entry(device as i32).or_insert(item);
            }
        } else if bucket.type_id() > type_id {
            open.extend_from_slice(bucket.items());
        }
    }
    domains
}

impl OsdMap {
    /// Removes the upmap entries that no longer hold among the groups of a change.
    ///
    /// # Returns
    /// What the change and the removals touch together.
    pub(super) fn clean_upmaps(&mut self, touched: Touched) -> Touched {
        let mut moved = Vec::new();
        for pool in 0..self.pools.len() {
            let groups: Vec<u32> = match &touched {
                // Whoever is only down has not moved.
                Touched::Nothing | Touched::Holders(_) => return touched,
                Touched::Groups(groups) => {
                    let own: BTreeSet<u32> = groups.iter().filter(|one| one.0 == pool).map(|one| one.1).collect();
                    let exceptions = &self.pools[pool].pool.exceptions;
                    let has = |group: &u32| {
                        exceptions.upmap.contains_key(group) || exceptions.upmap_items.contains_key(group)
                    };
                    own.into_iter().filter(has).collect()
                }
                Touched::Pools(pools) | Touched::Takers { pools, .. } if !pools.contains(&pool) => continue,
                Touched::Pools(_) | Touched::Takers { .. } | Touched::Everything => {
                    self.pools[pool].pool.exceptions.upmapped().collect()
                }
            };
            self.clean_pool(pool, &groups, &mut moved);
        }
        if moved.is_empty() { touched } else { touched.and(Touched::Groups(moved)) }
    }

    fn clean_pool(&mut self, place: usize, groups: &[u32], moved: &mut Vec<(usize, u32)>) {
        let pool = &self.pools[place].pool;
        let Some(rule) = self.crush.rule_by_id(pool.rule).filter(|_| !groups.is_empty()) else { return };
        let demands = self.demands.get(&place).filter(|known| known.layout == self.layout).cloned();
        let demands = demands.unwrap_or_else(|| Arc::new(Demands::of(&self.crush, self.layout, rule, pool.size)));
        let mut scratch = Scratch::new();
        let kept: Vec<(u32, Kept)> =
            groups.iter().map(|&group| (group, self.kept(pool, rule, group, &demands, &mut scratch))).collect();
        self.demands.insert(place, demands);
        for (group, kept) in kept {
            let exceptions = &mut self.pools[place].pool.exceptions;
            let pairs = match kept {
                Kept::All => continue,
                Kept::Pairs(pairs) => pairs,
                Kept::Nothing => {
                    exceptions.upmap.remove(&group);
                    Vec::new()
                }
            };
            if pairs.is_empty() {
                exceptions.upmap_items.remove(&group);
            } else {
                exceptions.upmap_items.insert(group, pairs);
            }
            moved.push((place, group));
        }
    }

    /// What of a group's entries the monitors keep.
    fn kept(&self, pool: &Pool, rule: &Rule, group: u32, demands: &Demands, scratch: &mut Scratch) -> Kept {
        let exceptions = &pool.exceptions;
        let (mut raw, sets) = (Vec::new(), self.crush.weight_sets_for(pool.id));
        let seed = pool.placement_seed(group);
        self.crush.place_with(rule, seed, pool.size as usize, &self.reweight, sets, scratch, &mut raw);
        if pool.kind == PoolKind::Replicated {
            raw.retain(|&device| device != NONE);
        }
        let mut up = raw.clone();
        exceptions.apply_upmap(group, self.states(), &mut up);
        if group >= pool.pg_num || !demands.met_by(&up, &self.reweight) {
            return Kept::Nothing;
        }
        if exceptions.upmap.get(&group).is_some_and(|whole| *whole == raw || whole.len() != pool.size as usize) {
            return Kept::Nothing;
        }
        let Some(pairs) = exceptions.upmap_items.get(&group) else { return Kept::All };
        let serves = |&&(from, to): &&(i32, i32)| raw.contains(&from) && !self.states().is_out(to);
        let left: Vec<(i32, i32)> = pairs.iter().filter(serves).copied().collect();
        match left.len() {
            0 => Kept::Nothing,
            count if count == pairs.len() => Kept::All,
            _ => Kept::Pairs(left),
        }
    }
}

/// What is kept of a group's entries.
enum Kept {
    All,
    Pairs(Vec<(i32, i32)>),
    Nothing,
}
