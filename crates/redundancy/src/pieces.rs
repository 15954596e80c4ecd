//! Sets of an object's pieces.

/// A set of pieces by their numbers, which are below 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pieces(u64);

impl Pieces {
    /// How many pieces an object can have.
    pub const LIMIT: u32 = 64;

    /// No piece.
    pub const fn new() -> Self {
        Self(0)
    }

    /// The pieces that `numbers` names.
    ///
    /// # Panics
    ///
    /// Panics if a number is 64 or more, which no piece of a [`crate::Code`] has.
    pub fn of(numbers: impl IntoIterator<Item = u32>) -> Self {
        let mut pieces = Self::new();
        for number in numbers {
            pieces.insert(number);
        }
        pieces
    }

    /// The first `count` pieces.
    pub const fn first(count: u32) -> Self {
        if count >= Self::LIMIT { Self(u64::MAX) } else { Self((1 << count) - 1) }
    }

    /// Adds a piece; panics if its number is 64 or more.
    pub fn insert(&mut self, piece: u32) {
        assert!(piece < Self::LIMIT, "piece {piece} is beyond the {} that a set holds", Self::LIMIT);
        self.0 |= 1 << piece;
    }

    /// Takes a piece out, if it is in.
    pub const fn remove(&mut self, piece: u32) {
        if piece < Self::LIMIT {
            self.0 &= !(1 << piece);
        }
    }

    /// Whether a piece is in the set.
    pub const fn contains(self, piece: u32) -> bool {
        piece < Self::LIMIT && self.0 >> piece & 1 == 1
    }

    /// How many pieces are in the set.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether no piece is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The pieces in both sets.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The pieces in either set.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The pieces in this set that are not in `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The pieces in ascending order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let piece = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(piece)
        })
    }

    /// The set as a number: bit i for piece i.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Every set of `size` of the first `count` pieces, by ascending number.
    pub(crate) fn combinations(count: u32, size: u32) -> impl Iterator<Item = Self> {
        let mut next = (size <= count).then(|| Self::first(size).0);
        let all = Self::first(count).0;
        std::iter::from_fn(move || {
            let current = next?;
            next = following(current).filter(|&bits| bits & !all == 0);
            Some(Self(current))
        })
    }
}

/// The next larger number with as many bits set, if 64 bits hold it.
///
/// The lowest run of ones loses its highest bit to the zero above it, and the rest of the run falls to the bottom.
fn following(bits: u64) -> Option<u64> {
    if bits == 0 {
        return None;
    }
    let lowest = bits & bits.wrapping_neg();
    let carried = bits.checked_add(lowest)?;
    Some(carried | ((bits ^ carried) >> 2 >> lowest.trailing_zeros()))
}

/// How many sets of `size` there are of `count` pieces; [`u64::MAX`] where that is beyond 64 bits.
pub(crate) fn combination_count(count: u32, size: u32) -> u64 {
    if size > count {
        return 0;
    }
    let mut sets = 1u128;
    for step in 0..u128::from(size.min(count - size)) {
        sets = sets * (u128::from(count) - step) / (step + 1);
    }
    u64::try_from(sets).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in_once() {
        let mut pieces = Pieces::of([63, 0, 7, 7]);
        assert_eq!((pieces.len(), pieces.iter().collect::<Vec<_>>()), (3, vec![0, 7, 63]));
        pieces.remove(7);
        pieces.remove(64);
        assert!(!pieces.contains(7) && pieces.contains(63) && !pieces.contains(64) && !pieces.is_empty());
    }

    #[test]
    fn combinations_are_all_there_and_each_once() {
        // 13 choose 4 = 13 x 12 x 11 x 10 / 24 = 715.
        let mut sets: Vec<Pieces> = Pieces::combinations(13, 4).collect();
        assert_eq!((sets.len() as u64, combination_count(13, 4)), (715, 715));
        sets.dedup();
        assert_eq!(sets.len(), 715);
        assert!(sets.iter().all(|set| set.len() == 4 && set.bits() < 1 << 13));
    }

    #[test]
    fn combinations_reach_the_ends_of_their_range() {
        assert_eq!(Pieces::combinations(5, 0).collect::<Vec<_>>(), [Pieces::new()]);
        assert_eq!(Pieces::combinations(64, 64).collect::<Vec<_>>(), [Pieces::first(64)]);
        assert_eq!(Pieces::combinations(64, 63).count(), 64);
        assert_eq!((Pieces::combinations(3, 4).count(), combination_count(3, 4)), (0, 0));
        // 64 choose 32 = 1.83e18, the largest of all, is below 2^64 = 1.84e19.
        assert_eq!(combination_count(64, 32), 1_832_624_140_942_590_534);
    }
}
