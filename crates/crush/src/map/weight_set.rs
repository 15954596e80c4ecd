//! choose_args: stand-in weights and ids by which straw2 buckets draw, without changing the map.

use crate::map::bucket::Straw2Weights;

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
    /// By descending bucket id. Memory follows the number of stand-ins, not the ids, which a map may choose freely.
    entries: Vec<(i32, BucketArguments)>,
}

impl WeightSets {
    /// Takes the stand-ins of some buckets, at most one entry each.
    pub(crate) fn new(mut entries: Vec<(i32, BucketArguments)>) -> Self {
        entries.sort_by_key(|&(bucket, _)| std::cmp::Reverse(bucket));
        Self { entries }
    }

    /// The stand-ins of one bucket, if it has any.
    #[inline]
    pub(crate) fn bucket(&self, bucket: i32) -> Option<&BucketArguments> {
        // Where every bucket has stand-ins, as the balancer leaves a map, an entry stands at its bucket's slot.
        match self.entries.get(!bucket as usize) {
            Some((id, arguments)) if *id == bucket => Some(arguments),
            _ => {
                let found = self.entries.binary_search_by_key(&!bucket, |&(id, _)| !id);
                found.ok().map(|index| &self.entries[index].1)
            }
        }
    }

    /// Every bucket that has stand-ins, with them, from id -1 down.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i32, &BucketArguments)> {
        self.entries.iter().map(|(bucket, arguments)| (*bucket, arguments))
    }
}
