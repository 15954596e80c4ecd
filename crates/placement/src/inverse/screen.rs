//! The inner loop of the inverse on a ring: which objects have a draw in a touched stretch of the ring.
//!
//! An object costs a mix for two draws and a bit for each. With AVX-512 sixteen objects are mixed and tested at a time, and
//! those that pass are packed together without a branch; a property test holds both roads equal.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::Run;
#[cfg(target_arch = "x86_64")]
use super::stretches::STRETCH_BITS;
use super::stretches::{Touched, is_touched};
use crate::ring::draw_word;
#[cfg(target_arch = "x86_64")]
use crate::ring::word_offset;

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

/// Objects to be looked through: a list, or a run.
pub(super) trait Objects: Copy {
    /// How many there are.
    fn count(self) -> usize;

    /// One of them.
    fn one(self, index: usize) -> u64;

    /// Those from `from` on, `count` of them.
    fn part(self, from: usize, count: usize) -> Self;

    /// Eight of them, from `index` on.
    ///
    /// # Safety
    /// There must be as many.
    #[cfg(target_arch = "x86_64")]
    unsafe fn eight(self, index: usize) -> __m512i;
}

impl Objects for &[u64] {
    fn count(self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn one(self, index: usize) -> u64 {
        self[index]
    }

    fn part(self, from: usize, count: usize) -> Self {
        &self[from..from + count]
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    unsafe fn eight(self, index: usize) -> __m512i {
        // SAFETY: the caller sees to it that there are eight.
        unsafe { _mm512_loadu_si512(self.as_ptr().add(index).cast()) }
    }
}

impl Objects for Run {
    fn count(self) -> usize {
        self.count as usize
    }

    #[inline(always)]
    fn one(self, index: usize) -> u64 {
        self.first.wrapping_add(self.step.wrapping_mul(index as u64))
    }

    fn part(self, from: usize, count: usize) -> Self {
        Run { first: self.one(from), count: count as u64, step: self.step }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    unsafe fn eight(self, index: usize) -> __m512i {
        let lanes = _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), _mm512_set1_epi64(self.step as i64));
        _mm512_add_epi64(_mm512_set1_epi64(self.one(index) as i64), lanes)
    }
}

/// Fills `passed` from its front with the objects that have one of their first `draws` draws in a touched stretch.
///
/// Returns how many there are. There must be room for eight objects more than are asked.
pub(super) fn screen<O: Objects>(road: Road, touched: &Touched, draws: usize, objects: O, passed: &mut [u64]) -> usize {
    assert!(passed.len() >= objects.count() + 8, "there is room for all objects and a vector");
    match road {
        Road::Plain => plain(touched, draws, objects, passed),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Road::available` gives this road only where the processor has the features, and there is room for a
        // whole vector behind every object that passes.
        Road::Avx512 => unsafe {
            match draws {
                1 => avx512::<1, O>(touched, draws, objects, passed),
                2 => avx512::<2, O>(touched, draws, objects, passed),
                3 => avx512::<3, O>(touched, draws, objects, passed),
                _ => avx512::<0, O>(touched, draws, objects, passed),
            }
        },
    }
}

fn plain(touched: &Touched, draws: usize, objects: impl Objects, passed: &mut [u64]) -> usize {
    let mut count = 0;
    for index in 0..objects.count() {
        let object = objects.one(index);
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

/// The mix of eight words but for its last step, which leaves the leading 31 bits as they are.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn mixed(words: __m512i) -> __m512i {
    let constant = |word: u64| _mm512_set1_epi64(word as i64);
    let words = _mm512_add_epi64(words, constant(0x9e37_79b9_7f4a_7c15));
    let words =
        _mm512_mullo_epi64(_mm512_xor_si512(words, _mm512_srli_epi64::<30>(words)), constant(0xbf58_476d_1ce4_e5b9));
    _mm512_mullo_epi64(_mm512_xor_si512(words, _mm512_srli_epi64::<27>(words)), constant(0x94d0_49bb_1331_11eb))
}

/// Words whose lowest bit says whether the stretch of the position is touched.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn tested(touched: &Touched, positions: __m512i) -> __m512i {
    const WORD_SHIFT: u32 = 32 - STRETCH_BITS + 5;
    let words = _mm512_srli_epi32::<WORD_SHIFT>(positions);
    // SAFETY: a position's leading bits are fewer than number the words of the table.
    let words = unsafe { _mm512_i32gather_epi32::<4>(words, touched.as_ptr().cast()) };
    // A rotation takes the low five bits of its count.
    _mm512_rorv_epi32(words, _mm512_srli_epi32::<{ 32 - STRETCH_BITS }>(positions))
}

/// The wide road; `DRAWS` is the number of draws where it is known beforehand, and 0 otherwise.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
unsafe fn avx512<const DRAWS: usize, O: Objects>(
    touched: &Touched,
    draws: usize,
    objects: O,
    passed: &mut [u64],
) -> usize {
    let draws = if DRAWS > 0 { DRAWS } else { draws };
    let one = _mm512_set1_epi64(1);
    let mut count = 0;
    let whole = objects.count() / 16 * 16;
    for index in (0..whole).step_by(16) {
        // SAFETY: there are sixteen objects from `index` on.
        let (first, second) = unsafe { (objects.eight(index), objects.eight(index + 8)) };
        let (mut first_hit, mut second_hit) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for word in 0..draws.div_ceil(2) {
            let offset = _mm512_set1_epi64(word_offset(word) as i64);
            let first_words = mixed(_mm512_xor_si512(first, offset));
            let second_words = mixed(_mm512_xor_si512(second, offset));
            if 2 * word + 1 < draws {
                // Both halves of every word are positions; the lower ones need the last step of the mix.
                let whole = |words| _mm512_xor_si512(words, _mm512_srli_epi64::<31>(words));
                let first_bits = tested(touched, whole(first_words));
                let second_bits = tested(touched, whole(second_words));
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
    let rest = objects.part(whole, objects.count() - whole);
    count + plain(touched, draws, rest, &mut passed[count..])
}

#[cfg(test)]
mod tests {
    use super::super::stretches::Stretches;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // Rule: every road passes the same objects in the same order, whatever the number of draws and of objects.
        #[test]
        fn roads_agree(start: u64, count in 0usize..200, draws in 1usize..7, step: u64, width in 0u32..5_000_000) {
            let intervals = (0..200u32).map(|i| (i * 20_000_000, i * 20_000_000 + width)).collect();
            let stretches = Stretches::new(intervals);
            let objects: Vec<u64> = (0..count as u64).map(|i| start.wrapping_add(i.wrapping_mul(step))).collect();
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
                let length = screen(road, stretches.touched(), draws, &objects[..], &mut passed);
                prop_assert_eq!(&passed[..length], &expected[..]);
                let run = Run { first: start, count: count as u64, step };
                let length = screen(road, stretches.touched(), draws, run, &mut passed);
                prop_assert_eq!(&passed[..length], &expected[..]);
            }
        }
    }
}
