//! choose_args: stand-in weights and ids by which straw2 buckets draw, without changing the map.

use super::bucket::Straw2Weights;

/// Stand-ins for one bucket.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BucketArguments {
    pub(crate) weights: Vec<Straw2Weights>,
    pub(crate) ids: Option<Vec<i32>>,
}

impl BucketArguments {
    /// The weights for the copy at `position`; the last set serves all further positions.
    #[inline]
    pub(crate) fn weights(&self, position: usize) -> Option<&Straw2Weights> {
        self.weights.get(position.min(self.weights.len().saturating_sub(1)))
    }

    /// The ids to hash in place of the items' own.
    #[inline]
    pub(crate) fn ids(&self) -> Option<&[i32]> {
        self.ids.as_deref()
    }
}

/// One set of choose_args: stand-ins for some buckets of a map.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WeightSets {
    /// By bucket, at `-1 - id`; shorter than the map where the last buckets have no stand-ins.
    by_bucket: Vec<Option<BucketArguments>>,
}

impl WeightSets {
    /// Sets the stand-ins of one bucket.
    pub(crate) fn insert(&mut self, bucket: i32, arguments: BucketArguments) {
        let slot = !bucket as usize;
        if self.by_bucket.len() <= slot {
            self.by_bucket.resize(slot + 1, None);
        }
        self.by_bucket[slot] = Some(arguments);
    }

    /// The stand-ins of one bucket, if it has any.
    #[inline]
    pub(crate) fn bucket(&self, bucket: i32) -> Option<&BucketArguments> {
        self.by_bucket.get(!bucket as usize)?.as_ref()
    }

    /// Every bucket that has stand-ins, with them, from id -1 down.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i32, &BucketArguments)> {
        self.by_bucket.iter().enumerate().filter_map(|(slot, entry)| Some((!(slot as i32), entry.as_ref()?)))
    }
}
