//! Positions of an object on a ring on which every copy has a position of its own.
//!
//! A 64-bit mix gives two positions: draw d is the upper half of word d/2 where d is even, and the lower half where it is odd.
//! Every bit of the mix depends on every bit of the object and of the word's number, so the halves serve as independent
//! positions; three copies and their spare cost two mixes.

use resilver_units::ObjectId;

use crate::layout::mix;

/// Mixed in by the number of a word: zero for word 0, whose upper half thereby is the object's own position.
const WORD_STEP: u64 = 0xd6e8_feb8_6659_fd93;

/// What is mixed for a word of an object.
#[inline(always)]
pub(crate) const fn word_offset(word: usize) -> u64 {
    (word as u64).wrapping_mul(WORD_STEP)
}

/// Word number `word` of an object: its draws 2 `word` (the upper half) and 2 `word` + 1.
#[inline(always)]
pub(crate) fn draw_word(object: u64, word: usize) -> u64 {
    mix(object ^ word_offset(word))
}

/// The position of an object's draw; that of draw 0 is the object's own.
#[inline]
pub(crate) fn draw_position(object: ObjectId, draw: usize) -> u32 {
    let word = draw_word(object.get(), draw / 2);
    (word >> (32 * (1 - draw % 2))) as u32
}
