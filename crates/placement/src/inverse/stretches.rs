//! Sets of numbers and of positions that are asked billions of times.

/// One bit for each of a range of numbers.
#[derive(Clone, Debug)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn new(count: usize) -> Self {
        Bits(vec![0; count.div_ceil(64)])
    }

    pub(super) fn set(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    #[inline(always)]
    pub(super) fn get(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }
}

/// Bits of a position that number its stretch: 2^18 stretches are a table of 32 KiB, which stays in the first-level cache.
pub(super) const STRETCH_BITS: u32 = 18;

/// A bit for each stretch of the ring, 32 to a word: whether any position of it may be in a set.
pub(super) type Touched = [u32; 1 << (STRETCH_BITS - 5)];

/// Bits of a position that number its short stretch: of those that pass the first table, this one leaves little more than the
/// intervals themselves hold, and its 256 KiB stay in the second-level cache.
const SHORT_BITS: u32 = 21;

/// Positions of a ring as sorted intervals, with a bit for each stretch of the ring that settles most positions.
#[derive(Clone, Debug)]
pub(super) struct Stretches {
    /// Sorted intervals that do not meet, with both ends included.
    intervals: Vec<(u32, u32)>,
    touched: Box<Touched>,
    /// The same for shorter stretches.
    near: Vec<u32>,
    /// For each word of `touched`, the first interval that ends at or after the word's first position; at last their number.
    first: Vec<u32>,
}

impl Stretches {
    pub(super) fn new(intervals: Vec<(u32, u32)>) -> Self {
        let mut touched: Box<Touched> = vec![0; 1 << (STRETCH_BITS - 5)].try_into().expect("a word a 32 stretches");
        let mut near = vec![0; 1 << (SHORT_BITS - 5)];
        for &(start, end) in &intervals {
            for stretch in start >> (32 - SHORT_BITS)..=end >> (32 - SHORT_BITS) {
                near[stretch as usize / 32] |= 1 << (stretch % 32);
            }
            for stretch in start >> (32 - STRETCH_BITS)..=end >> (32 - STRETCH_BITS) {
                touched[stretch as usize / 32] |= 1 << (stretch % 32);
            }
        }
        let mut first = Vec::with_capacity(touched.len() + 1);
        let mut next = 0;
        for word in 0..touched.len() as u32 {
            let start = word << (32 - STRETCH_BITS + 5);
            while intervals.get(next).is_some_and(|&(_, end)| end < start) {
                next += 1;
            }
            first.push(next as u32);
        }
        first.push(intervals.len() as u32);
        Stretches { intervals, touched, near, first }
    }

    /// The bits that settle most positions: one that is not set says that no position of its stretch is in an interval.
    #[inline]
    pub(super) fn touched(&self) -> &Touched {
        &self.touched
    }

    /// Whether a position lies close to an interval, or in one: all that do lie in one are, and few others.
    #[inline(always)]
    pub(super) fn is_near(&self, position: u32) -> bool {
        let stretch = position >> (32 - SHORT_BITS);
        self.near[stretch as usize / 32] >> (stretch % 32) & 1 == 1
    }

    /// Whether a position lies in one of the intervals.
    #[inline]
    pub(super) fn contains(&self, position: u32) -> bool {
        if !self.is_near(position) {
            return false;
        }
        let word = (position >> (32 - STRETCH_BITS + 5)) as usize;
        // The interval that may hold the position is one of those of its word, or the one that reaches past it.
        let last = self.intervals.len().min(self.first[word + 1] as usize + 1);
        let among = &self.intervals[self.first[word] as usize..last];
        let next = among.partition_point(|&(_, end)| end < position);
        among.get(next).is_some_and(|&(start, _)| start <= position)
    }
}

/// Whether the stretch of a position is touched.
#[inline(always)]
pub(super) fn is_touched(touched: &Touched, position: u32) -> bool {
    let stretch = position >> (32 - STRETCH_BITS);
    touched[stretch as usize / 32] >> (stretch % 32) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The bits and the index change nothing but the time: an interval holds what lies between its ends.
        #[test]
        fn positions_are_in_what_a_plain_search_finds(
            mut ends in prop::collection::vec(any::<u32>(), 0..60), shift in 0u32..20, probes in prop::collection::vec(any::<u32>(), 40)
        ) {
            ends.iter_mut().for_each(|end| *end >>= shift);
            ends.sort_unstable();
            ends.dedup();
            let intervals: Vec<(u32, u32)> = ends.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
            let stretches = Stretches::new(intervals.clone());
            let near = ends.iter().flat_map(|&end| [end.saturating_sub(1), end, end.saturating_add(1)]);
            for position in near.chain(probes).chain([0, u32::MAX]) {
                let is_inside = intervals.iter().any(|&(start, end)| start <= position && position <= end);
                prop_assert_eq!(stretches.contains(position), is_inside);
            }
        }
    }
}
