//! The shadows of device classes, built anew after every edit.

use std::collections::{BTreeMap, BTreeSet};

use super::bucket::EditBucket;
use super::map::EditMap;
use crate::map::bucket::BucketKind;
use crate::map::class::{Shadow, add_shadows};
use crate::map::draft::{Draft, DraftArguments};
use crate::map::place::Place;
use crate::map::rule::Step;

impl EditMap {
    /// Builds all shadows anew under the ids they had, as `CrushWrapper::rebuild_roots_with_classes` does.
    pub(super) fn rebuild_shadows(&mut self) {
        self.forget_dead_classes();
        let kept = std::mem::take(&mut self.draft.classes.shadows);
        let old: Vec<i32> = self.buckets.keys().copied().filter(|&id| self.is_shadow(id)).collect();
        if !old.is_empty() {
            for id in old {
                self.drop_bucket(id);
            }
            self.forget_other_kinds();
        }
        if self.draft.classes.names.is_empty() {
            return;
        }
        let mut plain = Draft::new();
        plain.classes = std::mem::take(&mut self.draft.classes);
        plain.classes.shadows = kept;
        for bucket in self.buckets.values() {
            let EditBucket { id, ref name, type_id, kind, ref items, .. } = *bucket;
            plain.add_bucket(id, name.clone(), type_id, kind, items.clone());
        }
        let shadows = add_shadows(&mut plain);
        self.draft.classes = plain.classes;
        let mut sums = BTreeMap::new();
        for shadow in shadows {
            self.stand_in_for_shadow(&shadow, &mut sums);
            let bucket = shadow.bucket;
            let kind: BucketKind = bucket.kind;
            self.put(EditBucket::made(bucket.id, bucket.name, bucket.type_id, kind, &bucket.items));
        }
    }

    /// Forgets classes that no device has and whose shadows no rule takes.
    fn forget_dead_classes(&mut self) {
        let classes = &self.draft.classes;
        let mut alive: BTreeSet<i32> = classes.of_item.range(0..).map(|(_, &class)| class).collect();
        for step in self.draft.rules.iter().flat_map(|rule| &rule.rule.steps) {
            if let Step::Take(item) = *step {
                alive.extend(classes.original(item).map(|(_, class)| class));
            }
        }
        self.draft.classes.names.retain(|class, _| alive.contains(class));
    }

    /// Gives a shadow the stand-in weights of what it holds of its original.
    ///
    /// # Arguments
    /// * `sums` - by key and shadow, what the shadows so far weigh. Ceph keeps the sum of the last weight set only and takes
    ///   the others for zero; so does this, since its clusters place by what comes of it.
    fn stand_in_for_shadow(&mut self, shadow: &Shadow, sums: &mut BTreeMap<(i64, i32), Vec<u32>>) {
        let id = shadow.bucket.id;
        for (&key, sets) in &mut self.choose_args {
            let Some(original) = sets.get(&shadow.original).filter(|set| !set.weights.is_empty()) else { continue };
            let mut weights = Vec::with_capacity(original.weights.len());
            let mut last = Vec::new();
            for (position, row) in original.weights.iter().enumerate() {
                let weight = |(&(item, _), &source): (&(i32, u32), &usize)| match sums.get(&(key, item)) {
                    _ if item >= 0 => row[source],
                    Some(sums) => sums.get(position).copied().unwrap_or(0),
                    None => 0,
                };
                let own: Vec<u32> = shadow.bucket.items.iter().zip(&shadow.sources).map(weight).collect();
                last = vec![0; original.weights.len()];
                last[position] = own.iter().fold(0u32, |sum, &weight| sum.wrapping_add(weight));
                weights.push(own);
            }
            sums.insert((key, id), last);
            sets.insert(id, DraftArguments { bucket: id, weights, ids: None, place: Place::Unknown });
        }
    }
}
