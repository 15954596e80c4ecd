//! Every bucket's weight summed anew, from the devices up.

use std::collections::{BTreeMap, BTreeSet};

use super::map::EditMap;
use crate::map::bucket::BucketKind;
use crate::map::error::MapError;

impl EditMap {
    /// Sums all weights anew, as `CrushWrapper::reweight` does.
    pub(super) fn recompute(&mut self) -> Result<(), MapError> {
        let order = self.children_first();
        for &id in &order {
            let Some(bucket) = self.buckets.get(&id) else { continue };
            let mut weights = bucket.weights();
            let child = |item: i32| self.buckets.get(&item).map(|child| child.weight);
            let children: Vec<u32> = bucket.items.iter().filter_map(|entry| child(entry.0)).collect();
            if bucket.kind == BucketKind::Uniform {
                // A uniform bucket of buckets takes their mean, one of devices keeps its weight.
                if children.len() * 2 > bucket.items.len() {
                    let sum: u64 = children.iter().map(|&weight| u64::from(weight)).sum();
                    weights.fill((sum / children.len() as u64) as u32);
                }
            } else {
                for (weight, &(item, _)) in weights.iter_mut().zip(&bucket.items) {
                    *weight = child(item).unwrap_or(*weight);
                }
            }
            if let Some(bucket) = self.buckets.get_mut(&id) {
                bucket.sum_items(&weights)?;
            }
        }
        self.recompute_sets(&order);
        self.rebuild_shadows();
        Ok(())
    }

    /// The same for stand-in weights, of which Ceph sums the first set, with what the last set of each bucket below gives.
    fn recompute_sets(&mut self, order: &[i32]) {
        for sets in self.choose_args.values_mut() {
            let mut sums: BTreeMap<i32, Vec<u32>> = BTreeMap::new();
            for &id in order {
                let (Some(bucket), Some(set)) = (self.buckets.get(&id), sets.get_mut(&id)) else { continue };
                let count = set.weights.len();
                let mut own = vec![0u32; count];
                for (position, &(item, _)) in bucket.items.iter().enumerate() {
                    for (index, sum) in own.iter_mut().enumerate() {
                        if item < 0 {
                            let below = sums.get(&item).and_then(|below| below.get(index)).copied().unwrap_or(0);
                            set.weights[0][position] = below;
                            *sum = sum.wrapping_add(below);
                        } else {
                            *sum = sum.wrapping_add(set.weights[0][position]);
                        }
                    }
                }
                sums.insert(id, own);
            }
        }
    }

    /// Every bucket of the trees that are no shadows, after those it holds.
    fn children_first(&self) -> Vec<i32> {
        let held: BTreeSet<i32> =
            self.buckets.values().flat_map(|bucket| bucket.items.iter().map(|entry| entry.0)).collect();
        let mut ordered = Vec::new();
        let mut seen = BTreeSet::new();
        for root in self.bucket_ids().into_iter().filter(|id| !held.contains(id) && !self.is_shadow(*id)) {
            let mut path = if seen.insert(root) { vec![(root, 0)] } else { Vec::new() };
            while let Some((id, next)) = path.last_mut() {
                match self.buckets.get(id).and_then(|bucket| bucket.items.get(*next)) {
                    Some(&(item, _)) => {
                        *next += 1;
                        if item < 0 && seen.insert(item) {
                            path.push((item, 0));
                        }
                    }
                    None => {
                        ordered.push(*id);
                        path.pop();
                    }
                }
            }
        }
        ordered
    }
}
