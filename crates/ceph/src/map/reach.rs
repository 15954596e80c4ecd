//! Which pools an OSD matters to, and what stands where in the CRUSH map.

use std::collections::BTreeSet;

use resilver_crush::{BucketKind, CrushMap, NONE, Rule, Step};

use super::{OsdMap, Touched};

/// The devices at or below an item, whatever they weigh.
pub(crate) fn devices_below(crush: &CrushMap, item: i32) -> BTreeSet<u32> {
    let (mut found, mut seen, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![item]);
    while let Some(item) = open.pop() {
        if let Ok(device) = u32::try_from(item) {
            found.insert(device);
        } else if seen.insert(item)
            && let Some(bucket) = crush.bucket(item)
        {
            open.extend_from_slice(bucket.items());
        }
    }
    found
}

/// The devices below an item that weigh something where they stand.
pub(crate) fn weighted_below(crush: &CrushMap, item: i32) -> BTreeSet<u32> {
    let (mut found, mut seen, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![item]);
    // A rule may take a device, which then needs no weight.
    found.extend(u32::try_from(item));
    while let Some(item) = open.pop() {
        let Some(bucket) = crush.bucket(item).filter(|_| seen.insert(item)) else { continue };
        for (&inner, &weight) in bucket.items().iter().zip(bucket.weights()) {
            match u32::try_from(inner) {
                Ok(device) if weight > 0 => drop(found.insert(device)),
                Ok(_) => {}
                Err(_) => open.push(inner),
            }
        }
    }
    found
}

/// The item of a name, a device or a bucket.
pub(crate) fn item_of(crush: &CrushMap, name: &str) -> Option<i32> {
    let bucket = || crush.buckets().iter().find(|bucket| bucket.name() == name).map(|bucket| bucket.id());
    crush.device_id(name).or_else(bucket)
}

/// The topmost bucket above an item, or the item where no bucket holds it.
pub(crate) fn top_of(crush: &CrushMap, item: i32) -> i32 {
    std::iter::successors(Some(item), |&item| crush.parent_of(item)).last().unwrap_or(item)
}

impl OsdMap {
    /// The pools whose groups may be placed otherwise when these OSDs come in, go out or weigh something else: those whose rule reaches
    /// one of them, and those with an exception that names one.
    pub(crate) fn touched_by(&self, osds: &BTreeSet<u32>) -> Touched {
        if self.crush.buckets().iter().any(|bucket| bucket.kind() != BucketKind::Straw2) {
            // The draws of other buckets depend on more than the weights of those that can be drawn.
            return Touched::Everything;
        }
        let pools: Vec<usize> = (0..self.pools.len()).filter(|&pool| self.pool_reaches(pool, osds)).collect();
        if pools.is_empty() { Touched::Nothing } else { Touched::Pools(pools) }
    }

    /// As [`touched_by`](Self::touched_by), where these OSDs go out or have a lower reweight than before.
    pub(crate) fn touched_by_rejecting(&self, osds: BTreeSet<u32>) -> Touched {
        let pools: Vec<usize> = (0..self.pools.len()).filter(|&pool| self.pool_reaches(pool, &osds)).collect();
        if pools.is_empty() { Touched::Nothing } else { Touched::Takers { pools, osds, groups: Vec::new() } }
    }

    /// Whether one of some OSDs may be among those that serve a group, or would if it were up.
    ///
    /// Whom CRUSH takes stands in the up set, or is down, which leaves the set short. Where an upmap entry leads away from it, the entry
    /// no longer holds once CRUSH takes another, and its removal names the group.
    ///
    /// # Arguments
    /// * `pool` - the pool's place.
    /// * `up` - the group's up set.
    #[must_use]
    pub fn may_be_served_by(&self, pool: usize, up: &[i32], osds: &BTreeSet<u32>) -> bool {
        let pool = &self.pools[pool].pool;
        let known = |device: &i32| u32::try_from(*device).is_ok_and(|device| osds.contains(&device));
        let is_short = || up.iter().filter(|&&device| device != NONE).count() < pool.size as usize;
        up.iter().any(known)
            || (osds.iter().any(|&osd| !self.is_up(osd)) && is_short())
            || self.crush.rule_by_id(pool.rule).is_none_or(Rule::is_msr)
    }

    fn pool_reaches(&self, pool: usize, osds: &BTreeSet<u32>) -> bool {
        let pool = &self.pools[pool].pool;
        let known = |device: &i32| u32::try_from(*device).is_ok_and(|device| osds.contains(&device));
        let exceptions = &pool.exceptions;
        let steps = self.crush.rule_by_id(pool.rule).map_or(&[][..], |rule| &rule.steps);
        steps.iter().any(|step| match *step {
            Step::Take(root) => !devices_below(&self.crush, root).is_disjoint(osds),
            _ => false,
        }) || exceptions.upmap.values().flatten().any(known)
            || exceptions.upmap_items.values().flatten().any(|(_, to)| known(to))
            || exceptions.upmap_primaries.values().any(known)
    }
}
