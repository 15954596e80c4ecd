//! A table's sizes, searched without comparing with most of them.

use crate::Bytes;

/// Numbers of bits that an amount can have: 0 to 64.
const WIDTHS: usize = u64::BITS as usize + 1;

/// The sizes that the rows of a table stand for, in order, to find the row of an amount.
///
/// For each number of bits it is known how many sizes have fewer, so only those of the same number of bits are compared
/// with: one in a table whose sizes double.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeLadder {
    sizes: Vec<Bytes>,
    /// How many sizes have fewer bits than the index.
    below: [u32; WIDTHS],
}

impl SizeLadder {
    /// A ladder of `sizes`, which do not fall.
    pub fn new(sizes: impl IntoIterator<Item = Bytes>) -> Self {
        let sizes: Vec<Bytes> = sizes.into_iter().collect();
        debug_assert!(sizes.is_sorted(), "the sizes of a ladder do not fall");
        let mut below = [0; WIDTHS];
        for (bits, count) in below.iter_mut().enumerate() {
            *count = sizes.partition_point(|&size| width(size) < bits) as u32;
        }
        SizeLadder { sizes, below }
    }

    /// How many sizes are not above `bytes`.
    ///
    /// ```
    /// use resilver_units::{Bytes, SizeLadder};
    ///
    /// let ladder = SizeLadder::new([4, 8, 8, 16].map(Bytes::kibibytes));
    /// // 9 KiB has 4 and twice 8 KiB at or below it.
    /// assert_eq!(ladder.not_above(Bytes::kibibytes(9)), 3);
    /// ```
    #[inline]
    pub fn not_above(&self, bytes: Bytes) -> usize {
        let mut count = self.below[width(bytes)] as usize;
        while count < self.sizes.len() && self.sizes[count] <= bytes {
            count += 1;
        }
        count
    }
}

/// How many bits it takes to write an amount.
#[inline]
fn width(bytes: Bytes) -> usize {
    (u64::BITS - bytes.get().leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_what_a_search_finds() {
        // Sizes that stand twice, that share their number of bits, none, and the largest there is.
        let ladders: [&[u64]; 5] =
            [&[], &[0], &[1, 2, 3, 4, 7, 8, 8, 9, 4096], &[1000, 1001, 1 << 40], &[5, u64::MAX, u64::MAX]];
        for sizes in ladders {
            let ladder = SizeLadder::new(sizes.iter().copied().map(Bytes::new));
            let near = |size: u64| [size.saturating_sub(1), size, size.saturating_add(1)];
            let powers = (0..64).map(|bits| 1 << bits);
            for amount in sizes.iter().copied().chain(powers).flat_map(near) {
                let expected = sizes.partition_point(|&size| size <= amount);
                assert_eq!(ladder.not_above(Bytes::new(amount)), expected, "{amount} among {sizes:?}");
            }
        }
    }
}
