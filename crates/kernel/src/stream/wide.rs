//! Many blocks of a stream at once.
//!
//! With AVX-512 the generator runs sixteen blocks at a time, a block a lane in two sets of eight, which hide each other's
//! latencies. A lane has no product of 128 bits, so the upper half of one is put together from four products of 32 bits.

use super::philox::philox4x64;
#[cfg(target_arch = "x86_64")]
use super::philox::{KEY_STEPS, MULTIPLIERS, ROUNDS};

/// Fills `blocks` with those of a stream, from number `first` on.
pub(super) fn fill_blocks(first: u64, entity: u64, key: [u64; 2], blocks: &mut [[u64; 4]]) {
    let mut done = 0;
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
        for sixteen in blocks.as_chunks_mut::<16>().0 {
            // SAFETY: the processor has the features.
            unsafe { fill_avx512(first.wrapping_add(done as u64), entity, key, sixteen) };
            done += 16;
        }
    }
    for block in &mut blocks[done..] {
        *block = philox4x64([first.wrapping_add(done as u64), entity, 0, 0], key);
        done += 1;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn fill_avx512(first: u64, entity: u64, key: [u64; 2], blocks: &mut [[u64; 4]; 16]) {
    use std::arch::x86_64::*;

    /// The upper and the lower halves of the products of eight words and a constant.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn product(words: __m512i, multiplier: u64) -> (__m512i, __m512i) {
        let (low, high) = (_mm512_set1_epi64(multiplier as i64), _mm512_set1_epi64((multiplier >> 32) as i64));
        let half = _mm512_set1_epi64(0xffff_ffff);
        // A product of 32 bits reads the lower half of each word, and is at most (2^32 - 1)^2: two more halves fit on top.
        let upper_words = _mm512_srli_epi64::<32>(words);
        let lower = _mm512_mul_epu32(words, low);
        let first = _mm512_add_epi64(_mm512_mul_epu32(upper_words, low), _mm512_srli_epi64::<32>(lower));
        let second = _mm512_add_epi64(_mm512_mul_epu32(words, high), _mm512_and_si512(first, half));
        let carried = _mm512_add_epi64(_mm512_srli_epi64::<32>(first), _mm512_srli_epi64::<32>(second));
        let upper = _mm512_add_epi64(_mm512_mul_epu32(upper_words, high), carried);
        (upper, _mm512_mullo_epi64(words, _mm512_set1_epi64(multiplier as i64)))
    }

    let lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    let (entity, zero) = (_mm512_set1_epi64(entity as i64), _mm512_setzero_si512());
    let counter = |first: u64| _mm512_add_epi64(_mm512_set1_epi64(first as i64), lanes);
    let mut sets = [[counter(first), entity, zero, zero], [counter(first.wrapping_add(8)), entity, zero, zero]];
    let [mut key_low, mut key_high] = key;
    for _ in 0..ROUNDS {
        let (low, high) = (_mm512_set1_epi64(key_low as i64), _mm512_set1_epi64(key_high as i64));
        for set in &mut sets {
            let [a, b, c, d] = *set;
            let (first_upper, first_lower) = product(a, MULTIPLIERS[0]);
            let (second_upper, second_lower) = product(c, MULTIPLIERS[1]);
            // The table of a three-way exclusive or.
            *set = [
                _mm512_ternarylogic_epi64::<0x96>(second_upper, b, low),
                second_lower,
                _mm512_ternarylogic_epi64::<0x96>(first_upper, d, high),
                first_lower,
            ];
        }
        key_low = key_low.wrapping_add(KEY_STEPS[0]);
        key_high = key_high.wrapping_add(KEY_STEPS[1]);
    }
    for (eight, [a, b, c, d]) in blocks.as_chunks_mut::<8>().0.iter_mut().zip(sets) {
        // Pairs of words of the even and of the odd blocks, then whole blocks: 0 and 4, 1 and 5, 2 and 6, 3 and 7.
        let (ab_even, ab_odd) = (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
        let (cd_even, cd_odd) = (_mm512_unpacklo_epi64(c, d), _mm512_unpackhi_epi64(c, d));
        // A vector of pairs holds those of blocks 0, 2, 4, 6 (or 1, 3, 5, 7); each vector stored is two whole blocks.
        let pairs = |first: i64| _mm512_setr_epi64(first, first + 1, 8 + first, 9 + first, 0, 0, 0, 0);
        for (pair, (ab, cd)) in [(ab_even, cd_even), (ab_odd, cd_odd)].into_iter().enumerate() {
            for quarter in 0..4 {
                let block = _mm512_permutex2var_epi64(ab, pairs(2 * quarter), cd);
                // SAFETY: a block is half a vector.
                unsafe {
                    let place = eight[2 * quarter as usize + pair].as_mut_ptr().cast();
                    _mm256_storeu_si256(place, _mm512_castsi512_si256(block));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // Rule: blocks made together are those made one by one, wherever they begin and however many there are.
        #[test]
        fn many_blocks_are_each_its_own(first: u64, entity: u64, key: [u64; 2], count in 0usize..60) {
            let mut blocks = vec![[0; 4]; count];
            fill_blocks(first, entity, key, &mut blocks);
            for (index, block) in (0..).zip(blocks) {
                prop_assert_eq!(block, philox4x64([first.wrapping_add(index), entity, 0, 0], key));
            }
        }
    }
}
