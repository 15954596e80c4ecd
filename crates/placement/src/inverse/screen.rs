//! The inner loop of the inverse on a ring: which objects have a draw in a touched stretch of the ring.
//!
//! An object costs a mix for two draws and a bit for each. With AVX-512 sixteen objects are mixed and tested at a time, and
//! those that pass are packed together without a branch; a property test holds both roads equal.

use super::stretches::{Touched, is_touched};
use crate::ring::draw_word;

/// Which instructions the loop uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Road {
    /// One object at a time.
    Plain,
    /// Sixteen at a time, if the processor has AVX-512 (F and DQ).
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Road {
    /// Those this processor can go, best first.
    pub(super) fn available() -> impl Iterator<Item = Road> {
        #[cfg(target_arch = "x86_64")]
        let wide =
            (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq")).then_some(Road::Avx512);
        #[cfg(not(target_arch = "x86_64"))]
        let wide = None;
        wide.into_iter().chain([Road::Plain])
    }

    /// The best one.
    pub(super) fn best() -> Road {
        Road::available().next().unwrap_or(Road::Plain)
    }
}

/// Fills `passed` from its front with the objects that have one of their first `draws` draws in a touched stretch.
///
/// Returns how many there are. There must be room for eight objects more than are asked.
pub(super) fn screen(road: Road, touched: &Touched, draws: usize, objects: &[u64], passed: &mut [u64]) -> usize {
    assert!(passed.len() >= objects.len() + 8, "there is room for all objects and a vector");
    match road {
        Road::Plain => plain(touched, draws, objects, passed),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Road::available` gives this road only where the processor has the features, and there is room for a
        // whole vector behind every object that passes.
        Road::Avx512 => unsafe {
            match draws {
                1 => avx512::<1>(touched, draws, objects, passed),
                2 => avx512::<2>(touched, draws, objects, passed),
                3 => avx512::<3>(touched, draws, objects, passed),
                _ => avx512::<0>(touched, draws, objects, passed),
            }
        },
    }
}

fn plain(touched: &Touched, draws: usize, objects: &[u64], passed: &mut [u64]) -> usize {
    let mut count = 0;
    for &object in objects {
        let mut is_hit = false;
        for word in 0..draws.div_ceil(2) {
            let drawn = draw_word(object, word);
            is_hit |= is_touched(touched, (drawn >> 32) as u32);
            is_hit |= 2 * word + 1 < draws && is_touched(touched, drawn as u32);
        }
        passed[count] = object;
        count += usize::from(is_hit);
    }
    count
}

/// The wide road; `DRAWS` is the number of draws where it is known beforehand, and 0 otherwise.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn avx512<const DRAWS: usize>(touched: &Touched, draws: usize, objects: &[u64], passed: &mut [u64]) -> usize {
    use std::arch::x86_64::*;

    use super::stretches::STRETCH_BITS;
    use crate::ring::word_offset;

    /// `layout::mix` of eight words.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn mix(words: __m512i) -> __m512i {
        let mut mixed = _mm512_add_epi64(words, _mm512_set1_epi64(0x9e37_79b9_7f4a_7c15_u64 as i64));
        mixed = _mm512_xor_si512(mixed, _mm512_srli_epi64::<30>(mixed));
        mixed = _mm512_mullo_epi64(mixed, _mm512_set1_epi64(0xbf58_476d_1ce4_e5b9_u64 as i64));
        mixed = _mm512_xor_si512(mixed, _mm512_srli_epi64::<27>(mixed));
        mixed = _mm512_mullo_epi64(mixed, _mm512_set1_epi64(0x94d0_49bb_1331_11eb_u64 as i64));
        _mm512_xor_si512(mixed, _mm512_srli_epi64::<31>(mixed))
    }

    /// Sixteen words whose lowest bit says whether the stretch of the position is touched.
    #[target_feature(enable = "avx512f,avx512dq")]
    fn tested(touched: &Touched, positions: __m512i) -> __m512i {
        const WORD_SHIFT: u32 = 32 - STRETCH_BITS + 5;
        let words = _mm512_srli_epi32::<WORD_SHIFT>(positions);
        // SAFETY: a position's leading bits are fewer than number the words of the table.
        let words = unsafe { _mm512_i32gather_epi32::<4>(words, touched.as_ptr().cast()) };
        // A shift takes the low five bits of its count here.
        let bits = _mm512_and_si512(_mm512_srli_epi32::<{ 32 - STRETCH_BITS }>(positions), _mm512_set1_epi32(31));
        _mm512_srlv_epi32(words, bits)
    }

    let draws = if DRAWS > 0 { DRAWS } else { draws };
    let one = _mm512_set1_epi64(1);
    let mut count = 0;
    let mut blocks = objects.chunks_exact(16);
    for block in &mut blocks {
        // SAFETY: a block is two vectors of eight objects.
        let (first, second) =
            unsafe { (_mm512_loadu_si512(block.as_ptr().cast()), _mm512_loadu_si512(block.as_ptr().add(8).cast())) };
        let (mut first_hit, mut second_hit) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for word in 0..draws.div_ceil(2) {
            let offset = _mm512_set1_epi64(word_offset(word) as i64);
            let first_words = mix(_mm512_xor_si512(first, offset));
            let second_words = mix(_mm512_xor_si512(second, offset));
            if 2 * word + 1 < draws {
                // Both halves of every word are positions.
                let first_bits = tested(touched, first_words);
                let second_bits = tested(touched, second_words);
                first_hit =
                    _mm512_or_si512(first_hit, _mm512_or_si512(first_bits, _mm512_srli_epi64::<32>(first_bits)));
                second_hit =
                    _mm512_or_si512(second_hit, _mm512_or_si512(second_bits, _mm512_srli_epi64::<32>(second_bits)));
            } else {
                // Only upper halves are: those of the first eight move down, beside those of the second eight.
                let both = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64::<32>(first_words), second_words);
                let bits = tested(touched, both);
                first_hit = _mm512_or_si512(first_hit, bits);
                second_hit = _mm512_or_si512(second_hit, _mm512_srli_epi64::<32>(bits));
            }
        }
        for (objects, hit) in [(first, first_hit), (second, second_hit)] {
            let mask = _mm512_test_epi64_mask(hit, one);
            // SAFETY: no more objects have passed than were asked, and behind them is room for eight.
            unsafe {
                let packed = _mm512_maskz_compress_epi64(mask, objects);
                _mm512_storeu_si512(passed.as_mut_ptr().add(count).cast(), packed);
            }
            count += mask.count_ones() as usize;
        }
    }
    count + plain(touched, draws, blocks.remainder(), &mut passed[count..])
}

#[cfg(test)]
mod tests {
    use super::super::stretches::Stretches;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // Rule: every road passes the same objects in the same order, whatever the number of draws and of objects.
        #[test]
        fn roads_agree(start: u64, count in 0usize..200, draws in 1usize..7, step in 1u64..1000, width in 0u32..5_000_000) {
            let intervals = (0..200u32).map(|i| (i * 20_000_000, i * 20_000_000 + width)).collect();
            let stretches = Stretches::new(intervals);
            let objects: Vec<u64> = (0..count as u64).map(|i| start.wrapping_add(i * step)).collect();
            let expected: Vec<u64> = objects
                .iter()
                .copied()
                .filter(|&object| {
                    (0..draws).any(|draw| {
                        let position = crate::ring::draw_position(resilver_units::ObjectId::new(object), draw);
                        is_touched(stretches.touched(), position)
                    })
                })
                .collect();
            for road in Road::available() {
                let mut passed = vec![0; count + 8];
                let length = screen(road, stretches.touched(), draws, &objects, &mut passed);
                prop_assert_eq!(&passed[..length], &expected[..]);
            }
        }
    }
}
