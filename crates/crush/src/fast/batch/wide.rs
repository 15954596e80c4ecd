//! The draws of [`super::lockstep`] by AVX-512, sixteen a vector and eight vectors at a time, so that hashes fill the processor.

use std::arch::x86_64::*;

use super::lockstep::{Block, UNSURE};
use super::plan::STRAW_SCALE;
use crate::choosing::ln::DRAWS;
use crate::choosing::wide::{FOUR, LANES, MANY, TWO, draws_of, in_groups, load, mix, step, store};

/// The buckets of a group of draws.
struct Buckets<const K: usize> {
    start: [__m512i; K],
    last: [__m512i; K],
    /// Items of the largest.
    most: u32,
    /// The first item of all, where all are one bucket.
    shared: Option<u32>,
}

impl<const K: usize> Buckets<K> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn of(block: &Block, first: usize) -> Self {
        let start = load::<K>(&block.start[..block.count], first);
        let mut last = load::<K>(&block.size[..block.count], first);
        let (mut most, mut is_shared) = (_mm512_setzero_si512(), true);
        for k in 0..K {
            most = _mm512_max_epu32(most, last[k]);
            last[k] = _mm512_sub_epi32(last[k], _mm512_set1_epi32(1));
            // A block is filled up to whole vectors, so a vector is of draws or of none.
            let is_filled = first + k * LANES < block.count;
            is_shared &= !is_filled
                || _mm512_cmpneq_epi32_mask(start[k], _mm512_broadcastd_epi32(_mm512_castsi512_si128(start[0]))) == 0;
        }
        let shared = is_shared.then_some(block.start[first]);
        Buckets { start, last, most: _mm512_reduce_max_epu32(most), shared }
    }

    /// A number of item `place` of each bucket, or of the last where it has no such item. Lanes behind the block's draws read
    /// the number of item `place` of all, which there is, and nobody reads their answers.
    ///
    /// # Safety
    /// `numbers` has an entry for each item of each bucket.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn gather(&self, numbers: *const i32, place: u32) -> [__m512i; K] {
        // SAFETY: as the caller says.
        unsafe {
            if let Some(start) = self.shared {
                return [_mm512_set1_epi32(*numbers.add((start + place) as usize)); K];
            }
            let mut found = [_mm512_setzero_si512(); K];
            for (k, found) in found.iter_mut().enumerate() {
                let index =
                    _mm512_add_epi32(self.start[k], _mm512_min_epu32(_mm512_set1_epi32(place as i32), self.last[k]));
                *found = _mm512_i32gather_epi32::<4>(index, numbers);
            }
            found
        }
    }

    /// The draws whose buckets have an item `place`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn having(&self, place: u32, k: usize) -> __mmask16 {
        _mm512_cmple_epu32_mask(_mm512_set1_epi32(place as i32), self.last[k])
    }
}

/// [`super::lockstep::draw`] in buckets of equal weights.
///
/// # Safety
/// The processor must have the instructions, and `ids` an entry for each item of each bucket.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn draw_equal(block: &mut Block, ids: &[u32], window: u32) {
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn group<const K: usize>(block: &mut Block, ids: &[u32], window: u32, first: usize) {
        let (x, r) = (load::<K>(&block.x[..block.count], first), load::<K>(&block.r[..block.count], first));
        let buckets = Buckets::<K>::of(block, first);
        let (mut key, mut second) = ([_mm512_setzero_si512(); K], [_mm512_setzero_si512(); K]);
        let highest = _mm512_set1_epi32(DRAWS as i32 - 1);
        for place in 0..buckets.most {
            // SAFETY: as the caller says.
            let id = unsafe { buckets.gather(ids.as_ptr().cast(), place) };
            let drawn = draws_of!(K, x, id, r);
            let down = _mm512_set1_epi32(DRAWS as i32 - 1 - place as i32);
            for k in 0..K {
                let of_item = _mm512_or_si512(_mm512_slli_epi32::<16>(drawn[k]), down);
                let of_item = _mm512_maskz_mov_epi32(buckets.having(place, k), of_item);
                second[k] = _mm512_max_epu32(second[k], _mm512_min_epu32(of_item, key[k]));
                key[k] = _mm512_max_epu32(key[k], of_item);
            }
        }
        let mut places = key;
        for k in 0..K {
            let (largest, second) = (_mm512_srli_epi32::<16>(key[k]), _mm512_srli_epi32::<16>(second[k]));
            let margin = _mm512_sub_epi32(largest, second);
            let is_near = _mm512_cmple_epu32_mask(margin, _mm512_set1_epi32(window as i32));
            let is_unsure = is_near | _mm512_cmpeq_epi32_mask(largest, highest);
            places[k] = _mm512_sub_epi32(highest, _mm512_and_si512(key[k], highest));
            if window > 0 {
                places[k] = _mm512_mask_mov_epi32(places[k], is_unsure, _mm512_set1_epi32(UNSURE as i32));
            }
        }
        let count = block.count;
        store(places, &mut block.place[..count], first);
    }
    // SAFETY: as the caller says.
    unsafe {
        in_groups!(block.count, first, group(block, ids, window, first));
    }
}

/// How far [`octaves`] may be from the distance that straw2 knows, in octaves.
const OCTAVES_ERROR: f32 = 5e-5;
/// The base-two logarithm of 1 + t by powers of t, for t from 0 to 1: the polynomial of degree five nearest to straw2's tables.
const LOGARITHM: [f32; 6] = [2.279e-6, 1.441_775_4, -0.708_788, 0.416_079_8, -0.195_232_77, 0.046_179_49];
/// What a value may be off by its roundings, each less than 2^-24 of it.
const ROUNDING: f32 = 1.0 / (1 << 20) as f32;
/// Two quotients of straw2, which are whole numbers of 2^-44 octaves and may tie where values differ by less than one.
const WHOLE: f32 = 1.0 / (1u64 << 43) as f32;

/// The distances of draws in octaves, but for [`OCTAVES_ERROR`]: a twentieth of a hash, where a look into a table of all takes
/// a third.
#[inline]
#[target_feature(enable = "avx512f")]
fn octaves(draw: __m512i) -> __m512 {
    let number = _mm512_cvtepi32_ps(_mm512_add_epi32(draw, _mm512_set1_epi32(1)));
    let exponent = _mm512_getexp_ps(number);
    let rest = _mm512_sub_ps(_mm512_getmant_ps::<_MM_MANT_NORM_1_2, _MM_MANT_SIGN_ZERO>(number), _mm512_set1_ps(1.0));
    let mut logarithm = _mm512_set1_ps(LOGARITHM[5]);
    for power in (0..5).rev() {
        logarithm = _mm512_fmadd_ps(logarithm, rest, _mm512_set1_ps(LOGARITHM[power]));
    }
    _mm512_sub_ps(_mm512_sub_ps(_mm512_set1_ps(DRAWS.ilog2() as f32), exponent), logarithm)
}

/// [`super::lockstep::draw`] in buckets of any weights: the least product of value and factor wins. Values of straw2 are
/// distances in octaves, of which a least and a most is known; those of straw are draws, and their factors below zero.
///
/// # Safety
/// The processor must have the instructions, and `ids` and `factors` an entry for each item of each bucket.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn draw_weighted(block: &mut Block, ids: &[u32], factors: &[f32]) {
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn group<const K: usize>(block: &mut Block, ids: &[u32], factors: &[f32], first: usize) {
        let column = |values: &[u32]| load::<K>(&values[..block.count], first);
        let (x, r, scale) = (column(&block.x), column(&block.r), column(&block.scale));
        let buckets = Buckets::<K>::of(block, first);
        let infinite = _mm512_set1_ps(f32::INFINITY);
        let (mut most, mut least, mut second) = ([infinite; K], [infinite; K], [infinite; K]);
        let mut best = [_mm512_setzero_si512(); K];
        for place in 0..buckets.most {
            // SAFETY: as the caller says.
            let (id, factor) =
                unsafe { (buckets.gather(ids.as_ptr().cast(), place), buckets.gather(factors.as_ptr().cast(), place)) };
            let drawn = draws_of!(K, x, id, r);
            for k in 0..K {
                let distance = octaves(drawn[k]);
                let error = _mm512_set1_ps(OCTAVES_ERROR);
                let low = _mm512_max_ps(_mm512_sub_ps(distance, error), _mm512_set1_ps(WHOLE));
                let high = _mm512_add_ps(distance, error);
                let is_straw = _mm512_cmpeq_epi32_mask(scale[k], _mm512_set1_epi32(STRAW_SCALE as i32));
                let draw = _mm512_cvtepi32_ps(drawn[k]);
                let factor = _mm512_castsi512_ps(factor[k]);
                let low = _mm512_mul_ps(_mm512_mask_mov_ps(low, is_straw, draw), factor);
                let high = _mm512_mul_ps(_mm512_mask_mov_ps(high, is_straw, draw), factor);
                let is_item = buckets.having(place, k);
                let is_less = _mm512_mask_cmp_ps_mask::<_CMP_LT_OQ>(is_item, high, most[k]);
                let loser = _mm512_mask_mov_ps(low, is_less, least[k]);
                second[k] = _mm512_mask_min_ps(second[k], is_item, second[k], loser);
                most[k] = _mm512_mask_mov_ps(most[k], is_less, high);
                least[k] = _mm512_mask_mov_ps(least[k], is_less, low);
                best[k] = _mm512_mask_mov_epi32(best[k], is_less, _mm512_set1_epi32(place as i32));
            }
        }
        for k in 0..K {
            let bound = _mm512_fmadd_ps(_mm512_abs_ps(most[k]), _mm512_set1_ps(ROUNDING), _mm512_set1_ps(WHOLE));
            // Where all weights are zero the values are infinite, and their difference is no number.
            let is_sure = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(_mm512_sub_ps(second[k], most[k]), bound);
            best[k] = _mm512_mask_mov_epi32(_mm512_set1_epi32(UNSURE as i32), is_sure, best[k]);
        }
        let count = block.count;
        store(best, &mut block.place[..count], first);
    }
    // SAFETY: as the caller says.
    unsafe {
        in_groups!(block.count, first, group(block, ids, factors, first));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choosing::ln::Distances;

    // Rule: what is taken for a draw's distance is no farther from it than what is said; all 65,536 are looked at.
    #[test]
    fn octaves_are_near_the_distance() {
        if !is_x86_feature_detected!("avx512f") {
            return;
        }
        for first in (0..DRAWS as u32).step_by(LANES) {
            let draws: [u32; LANES] = std::array::from_fn(|k| first + k as u32);
            let mut found = [0.0f32; LANES];
            // SAFETY: the processor has the instructions, and both arrays are one vector.
            unsafe { _mm512_storeu_ps(found.as_mut_ptr(), octaves(_mm512_loadu_si512(draws.as_ptr().cast()))) };
            for (draw, found) in draws.into_iter().zip(found) {
                let expected = Distances::shared().exact(draw) as f64 / (1u64 << 44) as f64;
                let error = (f64::from(found) - expected).abs();
                assert!(error < f64::from(OCTAVES_ERROR) * 0.98, "draw {draw}: {error}");
            }
        }
    }
}
