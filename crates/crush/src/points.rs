//! The points of a ring of 32 bits, at most 8 bytes each, and which of them a position belongs to.
//!
//! With 2^b <= points < 2^(b+1), the leading b bits of a position number its *stretch* of the ring, and a table says where
//! each stretch's points begin: a stretch holds one or two points on average. Within a stretch a point needs only its
//! other 32 - b bits, which leaves b bits of a word for the item: 4 bytes a point, and at most 4 more for the stretches.
//! Where an item's number takes more bits than that, a point is a wide word and is found by bisection.

/// Positions that a batch works on at once, so that the cache misses of all of them overlap.
const BLOCK: usize = 64;
/// Points of a stretch that are compared one by one, before bisection takes over.
const STEPS: usize = 4;

/// Which item owns each position of a ring of 32 bits: that of the closest point at or after it.
///
/// Of points at one position the one of the lowest item counts. Positions after the last point belong to the first one.
///
/// ```
/// use resilver_crush::PointTable;
///
/// let table = PointTable::new([(100, 0), (2_000_000_000, 1)].into_iter());
/// assert_eq!([table.owner(100), table.owner(101), table.owner(u32::MAX)], [0, 1, 0]);
/// ```
#[derive(Clone, Debug)]
pub struct PointTable {
    points: Points,
}

#[derive(Clone, Debug)]
enum Points {
    Packed(Packed),
    /// Position and item, sorted.
    Wide(Vec<u64>),
}

#[derive(Clone, Debug)]
struct Packed {
    /// How many leading bits of a position number its stretch; the same number of trailing bits of an entry is the item.
    bits: u32,
    /// The first point of each stretch.
    starts: Vec<u32>,
    /// The other bits of each point's position, then its item.
    entries: Vec<u32>,
}

impl PointTable {
    /// The table of `points`, each a position and an item, in any order.
    ///
    /// # Panics
    /// When there are 2^31 points or more.
    pub fn new(points: impl Iterator<Item = (u32, u32)>) -> PointTable {
        let mut words: Vec<u64> =
            points.map(|(position, item)| (u64::from(position) << 32) | u64::from(item)).collect();
        assert!(words.len() < 1 << 31, "a ring has fewer than 2^31 points");
        words.sort_unstable();
        let largest_item = words.iter().map(|&word| word as u32).max().unwrap_or(0);
        let bits = words.len().checked_ilog2().unwrap_or(0);
        let points = if u64::from(largest_item) < 1 << bits && !words.is_empty() {
            Points::Packed(Packed::new(&words, bits))
        } else {
            words.shrink_to_fit();
            Points::Wide(words)
        };
        PointTable { points }
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        match &self.points {
            Points::Packed(packed) => packed.entries.len(),
            Points::Wide(words) => words.len(),
        }
    }

    /// Whether there is no point, so that nothing owns any position.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory that the points and their index take, in bytes.
    pub fn size_bytes(&self) -> usize {
        match &self.points {
            Points::Packed(packed) => 4 * (packed.starts.len() + packed.entries.len()),
            Points::Wide(words) => 8 * words.len(),
        }
    }

    /// The item that owns a position.
    ///
    /// # Panics
    /// When the table is empty.
    #[inline]
    pub fn owner(&self, position: u32) -> u32 {
        self.item(self.index_at(position))
    }

    /// The items that own `positions`, in their order: [`Self::owner`] of each, faster by far than one by one.
    ///
    /// # Panics
    /// When the lengths differ, or the table is empty and `positions` are not.
    pub fn owners(&self, positions: &[u32], items: &mut [u32]) {
        assert_eq!(positions.len(), items.len(), "there is room for one item a position");
        match &self.points {
            Points::Packed(packed) => packed.owners(positions, items),
            Points::Wide(_) => {
                for (item, &position) in items.iter_mut().zip(positions) {
                    *item = self.owner(position);
                }
            }
        }
    }

    /// The rank, in the order of the ring, of the point that a position belongs to.
    #[inline]
    pub fn index_at(&self, position: u32) -> usize {
        let index = match &self.points {
            Points::Packed(packed) => packed.first_at(position),
            Points::Wide(words) => words.partition_point(|&word| ((word >> 32) as u32) < position),
        };
        if index == self.len() { 0 } else { index }
    }

    /// The item of the point of this rank.
    #[inline]
    pub fn item(&self, index: usize) -> u32 {
        match &self.points {
            Points::Packed(packed) => packed.item(index),
            Points::Wide(words) => words[index] as u32,
        }
    }

    /// All points in the order of the ring: position, then item.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut stretch = 0;
        (0..self.len()).map(move |index| match &self.points {
            Points::Packed(packed) => {
                while packed.end(stretch) <= index {
                    stretch += 1;
                }
                (packed.position(stretch, index), packed.item(index))
            }
            Points::Wide(words) => ((words[index] >> 32) as u32, words[index] as u32),
        })
    }
}

impl Packed {
    fn new(words: &[u64], bits: u32) -> Packed {
        let mut starts = Vec::with_capacity(1 << bits);
        for stretch in 0..1u64 << bits {
            let from = starts.last().map_or(0, |&start| start as usize);
            let first = stretch << (64 - bits).min(63);
            let before = words[from..].iter().take_while(|&&word| bits > 0 && word < first).count();
            starts.push((from + before) as u32);
        }
        let entries = words.iter().map(|&word| shifted((word >> 32) as u32, bits) | word as u32).collect();
        Packed { bits, starts, entries }
    }

    /// Which stretch a position is in.
    #[inline(always)]
    fn stretch(&self, position: u32) -> usize {
        // A shift by all 32 bits, where there is one stretch, is defined on a wider word only.
        (u64::from(position) >> (32 - self.bits)) as usize
    }

    /// Where a stretch's points end.
    #[inline(always)]
    fn end(&self, stretch: usize) -> usize {
        self.starts.get(stretch + 1).map_or(self.entries.len(), |&end| end as usize)
    }

    #[inline(always)]
    fn item(&self, index: usize) -> u32 {
        self.entries[index] & ((1 << self.bits) - 1)
    }

    fn position(&self, stretch: usize, index: usize) -> u32 {
        let leading = (stretch as u64) << (32 - self.bits);
        leading as u32 | (self.entries[index] >> self.bits)
    }

    /// The first point at or after a position; the number of points where there is none.
    #[inline(always)]
    fn first_at(&self, position: u32) -> usize {
        let stretch = self.stretch(position);
        let (start, end) = (self.starts[stretch] as usize, self.end(stretch));
        // An entry's leading bits are its position's, so entries compare with the position moved there.
        let key = shifted(position, self.bits);
        self.search(start, end, key)
    }

    /// The first of the entries from `start` to `end` that is at least `key`, or `end`.
    #[inline(always)]
    fn search(&self, start: usize, end: usize, key: u32) -> usize {
        let mut index = start;
        // Few points of a stretch lie before the position. They are counted without a branch to predict.
        for step in start..start + STEPS {
            index += usize::from(step < end && self.entries[step.min(self.entries.len() - 1)] < key);
        }
        if index == start + STEPS {
            index += self.entries[index..end].partition_point(|&entry| entry < key);
        }
        index
    }

    fn owners(&self, positions: &[u32], items: &mut [u32]) {
        let mut ranges = [(0u32, 0u32); BLOCK];
        for (positions, items) in positions.chunks(BLOCK).zip(items.chunks_mut(BLOCK)) {
            for (range, &position) in ranges.iter_mut().zip(positions) {
                let stretch = self.stretch(position);
                *range = (self.starts[stretch], self.end(stretch) as u32);
            }
            for ((item, &position), &(start, end)) in items.iter_mut().zip(positions).zip(&ranges) {
                let index = self.search(start as usize, end as usize, shifted(position, self.bits));
                *item = self.item(if index == self.entries.len() { 0 } else { index });
            }
        }
    }
}

/// A position without its `bits` leading bits, moved to the front of the word.
#[inline(always)]
fn shifted(position: u32, bits: u32) -> u32 {
    // There are fewer than 2^31 points, so bits is at most 30 and the shift is defined.
    position << bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: the least point at or after the position, or the least of all.
    fn plain(points: &[(u32, u32)], position: u32) -> u32 {
        let after = points.iter().filter(|&&(at, _)| at >= position).min();
        after.or(points.iter().min()).unwrap().1
    }

    fn check(points: &[(u32, u32)], positions: &[u32]) {
        let table = PointTable::new(points.iter().copied());
        let mut items = vec![0; positions.len()];
        table.owners(positions, &mut items);
        for (&position, &item) in positions.iter().zip(&items) {
            assert_eq!(table.owner(position), plain(points, position), "position {position} of {points:?}");
            assert_eq!(item, plain(points, position), "position {position} of {points:?}, in a batch");
        }
        let mut sorted = points.to_vec();
        sorted.sort_unstable();
        assert_eq!(table.iter().collect::<Vec<_>>(), sorted);
        assert!(table.size_bytes() <= 8 * points.len());
    }

    /// Positions at, before and after every point, at both ends and elsewhere.
    fn probes(points: &[(u32, u32)]) -> Vec<u32> {
        let around = points.iter().flat_map(|&(at, _)| [at.wrapping_sub(1), at, at.wrapping_add(1)]);
        around.chain([0, 1, u32::MAX, u32::MAX - 1]).chain((0..50).map(|i: u32| i.wrapping_mul(0x9e37_79b9))).collect()
    }

    proptest! {
        /// One by one and in batches, the table answers as the definition does, ties and wide items included.
        #[test]
        fn owners_are_the_closest_points_at_or_after(
            mut points in prop::collection::vec((any::<u32>(), 0u32..40), 1..120), mask: u32, item_bits in 0u32..27
        ) {
            for (at, item) in &mut points {
                // A mask makes positions meet; the shift makes items too wide to be packed.
                *at &= mask | 0xf000_0000;
                *item <<= item_bits;
            }
            check(&points, &probes(&points));
        }
    }

    // Rule: a table holds where no stretch has a point, one has them all, and at the ends of the ring.
    #[test]
    fn degenerate_rings_answer_too() {
        for points in [
            vec![(7, 0)],
            vec![(7, 3)],
            vec![(0, 0), (u32::MAX, 1)],
            vec![(u32::MAX, 1), (u32::MAX, 0)],
            vec![(5, 2); 100],
            (0..1000).map(|at| (at, at % 7)).collect(),
            (0..1000).map(|at| (u32::MAX - at, at % 7)).collect(),
        ] {
            check(&points, &probes(&points));
        }
        let none = PointTable::new(std::iter::empty());
        assert!(none.is_empty());
        none.owners(&[], &mut []);
    }

    // Rule: 2^24 points take 8 bytes each at the most, and many of them at one place are found by bisection.
    #[test]
    fn sixteen_million_points_fit_into_eight_bytes_each() {
        let points = 1u32 << 24;
        // Half of the points lie 256 apart all around the ring, the other half at consecutive positions from 1.
        let half = points / 2;
        let table = PointTable::new((0..half).map(|i| (i << 9, 0)).chain((0..half).map(|i| (i + 1, 1))));
        assert_eq!(table.len(), points as usize);
        assert!(table.size_bytes() <= 8 * table.len());
        // Position 1,000 has a point of item 1; 512 has one of both, of which the lower item counts.
        assert_eq!([table.owner(1000), table.owner(512), table.owner(half + 1)], [1, 0, 0]);
    }
}
