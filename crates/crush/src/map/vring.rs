//! The vring bucket: a hash ring with virtual nodes as a bucket kind.
//!
//! Source: P. Carns et al., "Impact of Data Placement on Resilience in Large-Scale Object Storage Systems", MSST 2016, section
//! V-B, and the prototype in the authors' public repository (mochi-ch-placement, `patches/ceph-0.94.3-crush-vring.patch`).
//! An item has 1,024 pseudo-random points a weight of one on a ring of 32 bits; an attempt has a position of its own, and
//! goes to the item of the closest point at or after it. Decision 6 says where this differs from the prototype, and why.
//!
//! An item's points depend on its id and weight alone: its j-th point is where it is whatever else the bucket holds. So adding
//! an item moves data only to it, removing one only what it had, and a change of weight only to it or only from it.

use std::sync::Arc;

use crate::hash::rjenkins1_3;
use crate::map::draft::DraftBucket;
use crate::map::error::MapError;
use crate::map::place::Fault;
use crate::points::PointTable;

/// Points of an item of weight one, as in the paper.
pub(crate) const POINTS: u32 = 1 << 10;
/// Points that the vring buckets of one map may have together: at 8 bytes each, 128 MiB.
pub(crate) const POINTS_LIMIT: u32 = 1 << 24;
/// Binary digits of a 16.16 weight below one point.
const POINT_SHIFT: u32 = 16 - POINTS.trailing_zeros();
/// Third word of a point's hash. A position has its bucket's id there, which is below zero: were the two alike, input x at
/// attempt r < 1,024 would meet the r-th point of item x, and an input below the number of items would find that one item at
/// every attempt. The bucket's id also makes the levels of a tree independent, which makes its shares more even.
const POINT: u32 = 0;

/// The points of one vring bucket. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Ring(Arc<Points>);

#[derive(Debug)]
struct Points {
    /// The bucket's items by id, so that of points that meet the same one counts in whatever order the bucket lists its items.
    items: Vec<i32>,
    /// Each point's position, and its item's index in `items`.
    table: PointTable,
}

impl PartialEq for Ring {
    fn eq(&self, other: &Self) -> bool {
        let (one, two) = (&*self.0, &*other.0);
        std::ptr::eq(one, two) || (one.items == two.items && one.table.iter().eq(two.table.iter()))
    }
}

impl Ring {
    /// The ring of these items (id and 16.16 weight).
    pub(crate) fn new(items: &[(i32, u32)]) -> Self {
        let mut sorted = items.to_vec();
        sorted.sort_unstable();
        let points = sorted.iter().zip(0u32..).flat_map(|(&(item, weight), index)| {
            (0..point_count(weight)).map(move |point| (rjenkins1_3(item as u32, point, POINT), index))
        });
        let table = PointTable::new(points);
        let items = sorted.into_iter().map(|(item, _)| item).collect();
        Self(Arc::new(Points { items, table }))
    }

    /// Whether no item has weight.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.table.is_empty()
    }

    /// The bucket's items in the order of their ids.
    pub(crate) fn items(&self) -> &[i32] {
        &self.0.items
    }

    /// The items that own `positions`, by their place in [`Self::items`].
    pub(crate) fn owners(&self, positions: &[u32], owners: &mut [u32]) {
        self.0.table.owners(positions, owners);
    }

    /// The item that attempt `r` at input `x` goes to in the bucket of this id; `None` where no item has weight.
    #[inline]
    pub(crate) fn choose(&self, bucket: i32, x: u32, r: u32) -> Option<i32> {
        let Points { items, table } = &*self.0;
        if table.is_empty() { None } else { Some(items[table.owner(position(bucket, x, r)) as usize]) }
    }
}

/// Where attempt `r` at input `x` stands on a bucket's ring.
#[inline(always)]
pub(crate) fn position(bucket: i32, x: u32, r: u32) -> u32 {
    rjenkins1_3(x, r, bucket as u32)
}

/// How many points an item of this weight has: the nearest number to 1,024 a weight of one, and at least one unless the weight
/// is zero.
pub(crate) fn point_count(weight: u32) -> u32 {
    let nearest = (weight >> POINT_SHIFT) + ((weight >> (POINT_SHIFT - 1)) & 1);
    nearest.max(u32::from(weight > 0))
}

/// Refuses a map whose vring buckets would have more points than memory is meant for.
///
/// # Errors
/// The bucket by which the map exceeds the limit.
pub(crate) fn check_points(buckets: &[DraftBucket]) -> Result<(), Fault> {
    let mut total = 0u64;
    for bucket in buckets.iter().filter(|bucket| bucket.kind == crate::BucketKind::Vring) {
        total += bucket.items.iter().map(|&(_, weight)| u64::from(point_count(weight))).sum::<u64>();
        if total > u64::from(POINTS_LIMIT) {
            let rule = format!(
                "the vring buckets of a map have at most {POINTS_LIMIT} points together, {POINTS} a weight of one"
            );
            let remedy = "divide all weights by the same number (only their ratios matter), or choose straw2";
            let error = MapError::invalid(format!("bucket {}: points", bucket.name), total, rule, remedy);
            return Err(Fault { place: bucket.place, error });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: the closest point at or after the position, or the first; the lowest item where points meet.
    fn plain(items: &[(i32, u32)], bucket: i32, x: u32, r: u32) -> Option<i32> {
        let points = || {
            items.iter().flat_map(|&(item, weight)| {
                let count = ((f64::from(weight) / 64.0) + 0.5).floor().max(f64::from(u8::from(weight > 0))) as u32;
                (0..count).map(move |point| (rjenkins1_3(item as u32, point, 0), item))
            })
        };
        let at = rjenkins1_3(x, r, bucket as u32);
        points().filter(|point| point.0 >= at).min().or(points().min()).map(|point| point.1)
    }

    proptest! {
        // Rule: a ring answers as its definition does, whatever the weights, for devices and for buckets.
        #[test]
        fn a_ring_chooses_the_closest_point(
            weights in prop::collection::vec(prop_oneof![Just(0u32), 0u32..300, 0u32..0x4_0000], 1..12),
            step in prop::sample::select(vec![1, -1, 7, -9]), bucket in -9i32..0, x: u32, r in 0u32..60,
        ) {
            let items: Vec<(i32, u32)> = weights.iter().zip(1..).map(|(&weight, n)| (n * step, weight)).collect();
            prop_assert_eq!(Ring::new(&items).choose(bucket, x, r), plain(&items, bucket, x, r));
            let reversed: Vec<_> = items.iter().rev().copied().collect();
            prop_assert_eq!(Ring::new(&reversed), Ring::new(&items), "the order of items does not matter");
        }
    }

    // Rule: 1,024 points a weight of one, rounded to the nearest, at least one; a weight of 0x10000 / 1024 = 64 is one point.
    #[test]
    fn points_follow_weights() {
        let weights = [0, 1, 64, 95, 96, 0x1_0000, 0x1_8000, u32::MAX];
        assert_eq!(weights.map(point_count), [0, 1, 1, 1, 2, 1024, 1536, 1 << 26]);
    }

    // Rule: the points of 1,024 items of weight one take at most 8 bytes each, and a clone takes none.
    #[test]
    fn points_are_small_and_shared() {
        let items: Vec<(i32, u32)> = (0..1024).map(|item| (item, 0x1_0000)).collect();
        let ring = Ring::new(&items);
        assert_eq!(ring.0.table.len(), 1 << 20);
        assert!(ring.0.table.size_bytes() <= 8 << 20);
        assert!(Arc::ptr_eq(&ring.0, &ring.clone().0));
    }
}
