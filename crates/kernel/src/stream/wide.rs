//! Many blocks of a stream at once.
//!
//! With AVX-512 the generator runs 32 blocks at a time: 24 of them a block a lane in three sets of eight, which hide each other's
//! latencies, and eight by the processor's own products of 128 bits, which leave the vectors' ports free and are made beside them.
//! A lane has no product of 128 bits, so one is put together from four products of 32 bits. The first two rounds are short: half
//! of the counter is zero, and the counters of a set follow one another.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::philox::philox4x64;
#[cfg(target_arch = "x86_64")]
use super::philox::{KEY_STEPS, MULTIPLIERS, ROUNDS};

/// Blocks of a set, a block a lane.
#[cfg(target_arch = "x86_64")]
const LANES: usize = 8;
/// Sets under way at once.
#[cfg(target_arch = "x86_64")]
const SETS: usize = 3;
/// Blocks that are made at once: those of the sets, and one beside each of their full rounds.
#[cfg(target_arch = "x86_64")]
const TOGETHER: usize = SETS * LANES + ROUNDS - SHORT_ROUNDS;
/// Rounds that begin a set.
#[cfg(target_arch = "x86_64")]
const SHORT_ROUNDS: usize = 2;

/// Fills `blocks` with those of a stream, from number `first` on.
pub(super) fn fill_blocks(first: u64, entity: u64, key: [u64; 2], blocks: &mut [[u64; 4]]) {
    let mut done = 0;
    #[cfg(target_arch = "x86_64")]
    // The products of counters that follow one another add up only where none is past the last.
    if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && first.checked_add(blocks.len() as u64).is_some()
    {
        let (together, _) = blocks.as_chunks_mut::<TOGETHER>();
        // SAFETY: the processor has the features.
        unsafe { fill_avx512(first, entity, key, together) };
        done = together.len() * TOGETHER;
    }
    for block in &mut blocks[done..] {
        *block = philox4x64([first.wrapping_add(done as u64), entity, 0, 0], key);
        done += 1;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn fill_avx512(first: u64, entity: u64, key: [u64; 2], together: &mut [[[u64; 4]; TOGETHER]]) {
    let keys: [[u64; 2]; ROUNDS] =
        std::array::from_fn(|round| [0, 1].map(|word| grown(key[word], KEY_STEPS[word], round)));
    let begin = Beginning::new(entity, &keys);
    let mut next = first;
    for blocks in together {
        let (in_sets, beside) = blocks.split_at_mut(SETS * LANES);
        // Written out: what passes vectors through a closure of an array's map is not put into this function in every build.
        let of_set = LANES as u64;
        let mut sets = [begin.set(next, &keys), begin.set(next + of_set, &keys), begin.set(next + 2 * of_set, &keys)];
        next += (SETS * LANES) as u64;
        for (round_keys, block) in keys[SHORT_ROUNDS..].iter().zip(beside) {
            *block = philox4x64([next, entity, 0, 0], key);
            next += 1;
            let (low, high) = (_mm512_set1_epi64(round_keys[0] as i64), _mm512_set1_epi64(round_keys[1] as i64));
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
        }
        for (eight, set) in in_sets.as_chunks_mut::<LANES>().0.iter_mut().zip(sets) {
            store(set, eight);
        }
    }
}

/// A word of the key in a round.
#[cfg(target_arch = "x86_64")]
fn grown(word: u64, step: u64, round: usize) -> u64 {
    word.wrapping_add(step.wrapping_mul(round as u64))
}

/// The upper and the lower halves of a product of two words.
#[cfg(target_arch = "x86_64")]
fn halves(one: u64, other: u64) -> (u64, u64) {
    let product = u128::from(one) * u128::from(other);
    ((product >> 64) as u64, product as u64)
}

/// The upper and the lower halves of the products of eight words and a constant.
#[cfg(target_arch = "x86_64")]
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
    // The lower half of `second` stands on the lower half of `lower`.
    let above = _mm512_castsi512_ps(second);
    (upper, _mm512_castps_si512(_mm512_mask_moveldup_ps(_mm512_castsi512_ps(lower), 0xaaaa, above)))
}

/// What all sets have in common in their first two rounds.
///
/// Of a counter [k, entity, 0, 0], round 1 multiplies k alone, and the products of k, k + 1 ... k + 7 are that of k and a table's.
/// It makes the word that round 2 multiplies first the same for every k.
#[cfg(target_arch = "x86_64")]
struct Beginning {
    /// The first multiplier times the number of each lane: upper and lower halves.
    lanes: [[u64; LANES]; 2],
    /// The first product of round 2.
    common: (u64, u64),
}

#[cfg(target_arch = "x86_64")]
impl Beginning {
    fn new(entity: u64, keys: &[[u64; 2]; ROUNDS]) -> Beginning {
        let lanes: [(u64, u64); LANES] = std::array::from_fn(|lane| halves(MULTIPLIERS[0], lane as u64));
        Beginning {
            lanes: [lanes.map(|(upper, _)| upper), lanes.map(|(_, lower)| lower)],
            common: halves(MULTIPLIERS[0], entity ^ keys[0][0]),
        }
    }

    /// The state of the blocks from number `first` on, after two rounds.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn set(&self, first: u64, keys: &[[u64; 2]; ROUNDS]) -> [__m512i; 4] {
        let constant = |word: u64| _mm512_set1_epi64(word as i64);
        // SAFETY: a table's half is one vector.
        let lane_upper = unsafe { _mm512_loadu_si512(self.lanes[0].as_ptr().cast()) };
        // SAFETY: as above.
        let lane_lower = unsafe { _mm512_loadu_si512(self.lanes[1].as_ptr().cast()) };
        let (upper, lower) = halves(MULTIPLIERS[0], first);
        let lower_sum = _mm512_add_epi64(constant(lower), lane_lower);
        let carried = _mm512_cmplt_epu64_mask(lower_sum, lane_lower);
        let upper_sum = _mm512_add_epi64(constant(upper), lane_upper);
        let upper_sum = _mm512_mask_add_epi64(upper_sum, carried, upper_sum, constant(1));
        let (second_upper, second_lower) = product(_mm512_xor_si512(upper_sum, constant(keys[0][1])), MULTIPLIERS[1]);
        [
            _mm512_xor_si512(second_upper, constant(keys[1][0])),
            second_lower,
            _mm512_xor_si512(lower_sum, constant(self.common.0 ^ keys[1][1])),
            constant(self.common.1),
        ]
    }
}

/// Stores the blocks of a set, which has a block a lane.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn store([a, b, c, d]: [__m512i; 4], blocks: &mut [[u64; 4]; LANES]) {
    // Pairs of words of the even and of the odd blocks, then whole blocks: 0 and 2, 4 and 6, 1 and 3, 5 and 7.
    let (ab_even, ab_odd) = (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    let (cd_even, cd_odd) = (_mm512_unpacklo_epi64(c, d), _mm512_unpackhi_epi64(c, d));
    let front = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    let back = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    let (pairs, _) = blocks.as_chunks_mut::<4>();
    for (four, order) in pairs.iter_mut().zip([front, back]) {
        let even = _mm512_permutex2var_epi64(ab_even, order, cd_even);
        let odd = _mm512_permutex2var_epi64(ab_odd, order, cd_odd);
        // SAFETY: four blocks are two vectors.
        unsafe {
            let place: *mut u64 = four.as_mut_ptr().cast();
            _mm512_storeu_si512(place.cast(), _mm512_shuffle_i64x2::<0x44>(even, odd));
            _mm512_storeu_si512(place.add(8).cast(), _mm512_shuffle_i64x2::<0xee>(even, odd));
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
        fn many_blocks_are_each_its_own(first: u64, near_end: bool, entity: u64, key: [u64; 2], count in 0usize..150) {
            let first = if near_end { u64::MAX - first % 150 } else { first };
            let mut blocks = vec![[0; 4]; count];
            fill_blocks(first, entity, key, &mut blocks);
            for (index, block) in (0..).zip(blocks) {
                prop_assert_eq!(block, philox4x64([first.wrapping_add(index), entity, 0, 0], key));
            }
        }
    }
}
