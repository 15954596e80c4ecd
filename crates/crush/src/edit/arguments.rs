//! Items that come, go and change their weight in a bucket of the map, with the choose_args that stand in for it.

use super::map::{EditMap, Sets};
use crate::map::draft::DraftArguments;
use crate::map::error::MapError;
use crate::map::place::Place;

/// How many weight sets the stand-ins of a key have, by the first bucket that has any; one where none has.
pub(super) fn positions(sets: &Sets) -> usize {
    sets.values().rev().map(|set| set.weights.len()).find(|&count| count > 0).unwrap_or(1)
}

impl EditMap {
    /// Appends an item to a bucket and to its stand-ins.
    pub(super) fn bucket_add(&mut self, bucket: i32, item: i32, weight: u32) -> Result<(), MapError> {
        let Some(target) = self.buckets.get_mut(&bucket) else { return Ok(()) };
        target.add(item, weight)?;
        for sets in self.choose_args.values_mut() {
            let Some(set) = sets.get_mut(&bucket) else { continue };
            for weights in &mut set.weights {
                weights.push(weight);
            }
            if let Some(ids) = &mut set.ids {
                ids.push(item);
            }
        }
        Ok(())
    }

    /// Takes an item out of a bucket and its stand-ins.
    pub(super) fn bucket_remove(&mut self, bucket: i32, position: usize) {
        let Some(target) = self.buckets.get_mut(&bucket) else { return };
        target.remove(position);
        let left = target.items.len();
        for sets in self.choose_args.values_mut() {
            let Some(set) = sets.get_mut(&bucket) else { continue };
            for weights in set.weights.iter_mut().filter(|weights| weights.len() > left) {
                weights.remove(position.min(weights.len() - 1));
                weights.truncate(left);
            }
            if let Some(ids) = set.ids.as_mut().filter(|ids| ids.len() > left) {
                ids.remove(position.min(ids.len() - 1));
                ids.truncate(left);
            }
            set.ids = set.ids.take().filter(|ids| !ids.is_empty());
        }
    }

    /// Sets an item's weight wherever it stands, and the weights of all above; returns in how many buckets it stands.
    ///
    /// # Arguments
    /// * `also_sets` - whether the item's weight in the stand-ins becomes the same.
    pub(super) fn set_weight(&mut self, item: i32, weight: u32, also_sets: bool) -> Result<usize, MapError> {
        // Ceph sums the stand-ins of every bucket on its way, also of those that do not hold the item.
        let buckets = if self.choose_args.is_empty() { self.holders(item) } else { self.bucket_ids() };
        let mut count = 0;
        for bucket in buckets {
            count += usize::from(self.set_weight_in(bucket, item, weight, also_sets)?);
        }
        Ok(count)
    }

    /// Sets an item's weight in one bucket, and the weights of all above; returns whether it stands there.
    pub(super) fn set_weight_in(
        &mut self,
        bucket: i32,
        item: i32,
        weight: u32,
        also_sets: bool,
    ) -> Result<bool, MapError> {
        let Some(target) = self.buckets.get_mut(&bucket) else { return Ok(false) };
        let places: Vec<usize> =
            target.items.iter().enumerate().filter(|entry| entry.1.0 == item).map(|entry| entry.0).collect();
        for &position in &places {
            let Some(target) = self.buckets.get_mut(&bucket) else { break };
            target.set_weight(places[0], weight)?;
            let total = target.weight;
            if also_sets {
                for set in self.choose_args.values_mut().filter_map(|sets| sets.get_mut(&bucket)) {
                    for weights in &mut set.weights {
                        weights[position] = weight;
                    }
                }
            }
            self.set_weight(bucket, total, false)?;
        }
        self.sum_sets(bucket);
        Ok(!places.is_empty())
    }

    /// Makes the stand-in weights above a bucket the sums of those in it.
    fn sum_sets(&mut self, bucket: i32) {
        let keys: Vec<i64> = self.choose_args.keys().copied().collect();
        for key in keys {
            let Some(set) = self.choose_args.get(&key).and_then(|sets| sets.get(&bucket)) else { continue };
            if !set.weights.is_empty() {
                let sums = sums(set);
                self.set_stand_in(key, bucket, &sums);
            }
        }
    }

    /// Sets an item's stand-in weights wherever it stands, and those of all above. Every straw2 bucket without stand-in
    /// weights gets its own as such on the way, as in Ceph: from then on the key serves the whole map.
    fn set_stand_in(&mut self, key: i64, item: i32, weights: &[u32]) {
        // (item, its weights), worked off like the calls of a recursion: the latest first.
        let mut open = vec![(item, weights.to_vec(), self.bucket_ids().into_iter())];
        while let Some((item, weights, buckets)) = open.last_mut() {
            let Some(bucket) = buckets.next() else {
                open.pop();
                continue;
            };
            let (item, weights) = (*item, weights.clone());
            let Some(target) = self.buckets.get(&bucket) else { continue };
            let Some(sets) = self.choose_args.get_mut(&key) else { return };
            let count = positions(sets);
            let mut changed = false;
            let empty = || DraftArguments { bucket, weights: Vec::new(), ids: None, place: Place::Unknown };
            let set = sets.entry(bucket).or_insert_with(empty);
            if set.weights.is_empty() {
                set.weights = vec![target.weights(); count];
                changed = true;
            }
            if set.weights.len() != weights.len() {
                continue;
            }
            for (position, _) in target.items.iter().enumerate().filter(|entry| entry.1.0 == item) {
                for (row, &weight) in set.weights.iter_mut().zip(&weights) {
                    row[position] = weight;
                }
                changed = true;
            }
            if changed {
                let sums = sums(set);
                open.push((bucket, sums, self.bucket_ids().into_iter()));
            }
        }
    }
}

/// The sum of each weight set.
fn sums(set: &DraftArguments) -> Vec<u32> {
    set.weights.iter().map(|weights| weights.iter().fold(0u32, |sum, &weight| sum.wrapping_add(weight))).collect()
}
