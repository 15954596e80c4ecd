//! The rolling digest that makes two runs comparable.

use std::fmt;

/// An odd constant with no pattern in its bits: the first 64 bits after the point of the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// The first 64 bits after the point of pi, made odd.
const PI: u64 = 0x243f_6a88_85a3_08d3;

/// A 64-bit rolling digest of a sequence of words; two runs that executed the same events in the same order have equal
/// digests.
///
/// Each step is a bijection of the state, so two sequences that differ in one word can never fall together again by
/// what follows; unrelated sequences agree by chance once in 2^64. It guards against accidents, not adversaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(u64);

impl Digest {
    /// The digest of the empty sequence.
    pub const fn new() -> Self {
        Digest(PI)
    }

    /// Appends `word` to the sequence.
    #[inline]
    pub const fn fold(&mut self, word: u64) {
        // The product carries every bit upwards and the shift brings the high half back down.
        let product = (self.0 ^ word).wrapping_mul(GOLDEN);
        self.0 = product ^ (product >> 32);
    }

    /// Appends the pair (`first`, `second`) as one step.
    ///
    /// The pair is compressed before it meets the state, so that only one multiplication per event waits for the one
    /// before it.
    #[inline]
    pub const fn fold_pair(&mut self, first: u64, second: u64) {
        self.fold(first.wrapping_mul(PI).rotate_left(32) ^ second.wrapping_mul(GOLDEN));
    }

    /// The digest as a number, mixed once more so that the last word reaches every bit.
    pub const fn value(self) -> u64 {
        let mut last = self;
        last.fold(0);
        last.fold(0);
        last.0
    }
}

impl Default for Digest {
    fn default() -> Self {
        Digest::new()
    }
}

/// Sixteen hexadecimal digits.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest_of(words: &[u64]) -> Digest {
        let mut digest = Digest::new();
        for &word in words {
            digest.fold(word);
        }
        digest
    }

    #[test]
    fn order_length_and_value_of_words_count() {
        assert_eq!(digest_of(&[1, 2, 3]), digest_of(&[1, 2, 3]));
        assert_ne!(digest_of(&[1, 2, 3]), digest_of(&[1, 3, 2]));
        assert_ne!(digest_of(&[0]), digest_of(&[]));
        assert_ne!(digest_of(&[0, 0]), digest_of(&[0]));
    }

    #[test]
    fn the_two_parts_of_a_pair_are_told_apart() {
        let pair = |first, second| {
            let mut digest = Digest::new();
            digest.fold_pair(first, second);
            digest
        };
        assert_ne!(pair(1, 2), pair(2, 1));
        assert_ne!(pair(1, 0), pair(0, 1));
    }

    #[test]
    fn one_flipped_bit_changes_about_half_of_the_digest() {
        // 64 input bits, each flipping 64 output bits with chance 1/2: 4,096 fair coins, mean 2,048, sd 32. Five sd are
        // 160, left by chance once in 1.7 million constants.
        let plain = digest_of(&[0x0123_4567_89ab_cdef]).value();
        let flipped: u32 =
            (0..64).map(|bit| (digest_of(&[0x0123_4567_89ab_cdef ^ (1 << bit)]).value() ^ plain).count_ones()).sum();
        assert!(flipped.abs_diff(2048) < 160, "{flipped} of 4096 bits flipped");
    }

    #[test]
    fn it_prints_as_sixteen_hexadecimal_digits() {
        let text = Digest::new().to_string();
        assert_eq!(text.len(), 16);
        assert_eq!(u64::from_str_radix(&text, 16), Ok(Digest::new().value()));
    }
}
