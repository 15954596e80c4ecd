//! The hashes of straw draws by AVX-512, sixteen a vector and six vectors at a time.
//!
//! A hash is a chain of some ninety steps that each wait for the one before. One or two vectors at a time leave the
//! processor waiting; six keep it busy, though their words just exceed its registers: 0.8 ns a hash against 1.7 ns for the
//! loops the compiler makes.

use std::arch::x86_64::*;

use super::hash::{PAD_X, PAD_Y, SEED};
use super::ln::DRAWS;

/// Numbers in a vector.
const LANES: usize = 16;
/// Numbers that three vectors hold.
const FEW: usize = 3 * LANES;

/// The low 16 bits of `rjenkins1_3` of three words, a lane each.
#[inline]
#[target_feature(enable = "avx512f")]
fn draws_of<const K: usize>(a: [__m512i; K], b: [__m512i; K], c: [__m512i; K]) -> [__m512i; K] {
    macro_rules! step {
        ($a:ident, $b:ident, $c:ident, $shift:ident, $bits:literal) => {
            for k in 0..K {
                let left = _mm512_sub_epi32(_mm512_sub_epi32($a[k], $b[k]), $c[k]);
                $a[k] = _mm512_xor_si512(left, $shift::<$bits>($c[k]));
            }
        };
    }
    // `hash::mix`, line by line.
    macro_rules! mix {
        ($a:ident, $b:ident, $c:ident) => {
            step!($a, $b, $c, _mm512_srli_epi32, 13);
            step!($b, $c, $a, _mm512_slli_epi32, 8);
            step!($c, $a, $b, _mm512_srli_epi32, 13);
            step!($a, $b, $c, _mm512_srli_epi32, 12);
            step!($b, $c, $a, _mm512_slli_epi32, 16);
            step!($c, $a, $b, _mm512_srli_epi32, 5);
            step!($a, $b, $c, _mm512_srli_epi32, 3);
            step!($b, $c, $a, _mm512_slli_epi32, 10);
            step!($c, $a, $b, _mm512_srli_epi32, 15);
        };
    }
    let (mut a, mut b, mut c) = (a, b, c);
    let (mut x, mut y) = ([_mm512_set1_epi32(PAD_X as i32); K], [_mm512_set1_epi32(PAD_Y as i32); K]);
    let mut hash = [_mm512_set1_epi32(SEED as i32); K];
    for k in 0..K {
        // The table of a three-way exclusive or.
        hash[k] = _mm512_xor_si512(hash[k], _mm512_ternarylogic_epi32::<0x96>(a[k], b[k], c[k]));
    }
    mix!(a, b, hash);
    mix!(c, x, hash);
    mix!(y, a, hash);
    mix!(b, x, hash);
    mix!(y, c, hash);
    for hash in &mut hash {
        *hash = _mm512_and_si512(*hash, _mm512_set1_epi32(DRAWS as i32 - 1));
    }
    hash
}

/// The lanes of vector number `k` of those from `start` on that are below `end`.
#[inline(always)]
fn lanes_below(end: usize, start: usize, k: usize) -> __mmask16 {
    let left = end.saturating_sub(start + k * LANES).min(LANES);
    ((1u32 << left) - 1) as __mmask16
}

/// Vectors of a slice; lanes beyond its end are zero.
#[inline]
#[target_feature(enable = "avx512f")]
fn load<const K: usize>(values: &[u32], start: usize) -> [__m512i; K] {
    let mut vectors = [_mm512_setzero_si512(); K];
    for (k, vector) in vectors.iter_mut().enumerate() {
        let mask = lanes_below(values.len(), start, k);
        // SAFETY: lanes beyond the end are not read.
        *vector = unsafe { _mm512_maskz_loadu_epi32(mask, values.as_ptr().wrapping_add(start + k * LANES).cast()) };
    }
    vectors
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store<const K: usize>(vectors: [__m512i; K], values: &mut [u32], start: usize) {
    for (k, vector) in vectors.into_iter().enumerate() {
        let mask = lanes_below(values.len(), start, k);
        // SAFETY: lanes beyond the end are not written.
        unsafe { _mm512_mask_storeu_epi32(values.as_mut_ptr().wrapping_add(start + k * LANES).cast(), mask, vector) };
    }
}

/// Calls a function of one generic number for all of `length` numbers, six vectors at a time; the last of them may not be
/// full, since fewer vectors take nearly as long.
macro_rules! in_groups {
    ($length:expr, $start:ident, $group:ident($($argument:expr),*)) => {
        let mut $start = 0;
        while $start < $length {
            match $length - $start {
                1..=LANES => $group::<1>($($argument),*),
                ..=FEW => $group::<3>($($argument),*),
                _ => $group::<6>($($argument),*),
            }
            $start += 6 * LANES;
        }
    };
}

/// [`super::hashing::raise_draws`].
#[target_feature(enable = "avx512f")]
pub(super) fn raise_draws(xs: &[u32], attempts: &[u32], ids: &[i32], draws: &mut [u32]) {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn group<const K: usize>(xs: &[u32], attempts: &[u32], ids: &[i32], draws: &mut [u32], start: usize) {
        let (x, attempt, mut largest) = (load::<K>(xs, start), load::<K>(attempts, start), load::<K>(draws, start));
        for &id in ids {
            let drawn = draws_of(x, [_mm512_set1_epi32(id); K], attempt);
            for k in 0..K {
                largest[k] = _mm512_max_epu32(largest[k], drawn[k]);
            }
        }
        store(largest, draws, start);
    }
    in_groups!(draws.len(), start, group(xs, attempts, ids, draws, start));
}

/// [`super::hashing::hash_items`].
#[target_feature(enable = "avx512f")]
pub(super) fn hash_items(x: u32, r: u32, ids: &[u32], low: &mut [u32]) -> u32 {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn group<const K: usize>(x: u32, r: u32, ids: &[u32], low: &mut [u32], largest: &mut __m512i, start: usize) {
        let constant = |word: u32| [_mm512_set1_epi32(word as i32); K];
        let drawn = draws_of(constant(x), load::<K>(ids, start), constant(r));
        for (k, &vector) in drawn.iter().enumerate() {
            let mask = lanes_below(ids.len(), start, k);
            *largest = _mm512_mask_max_epu32(*largest, mask, *largest, vector);
        }
        store(drawn, low, start);
    }
    let mut largest = _mm512_setzero_si512();
    let low = &mut low[..ids.len()];
    in_groups!(ids.len(), start, group(x, r, ids, low, &mut largest, start));
    _mm512_reduce_max_epu32(largest)
}

/// [`super::hashing::largest_draw`].
#[target_feature(enable = "avx512f")]
pub(super) fn largest_draw(x: u32, r: u32, ids: &[u32], bound: u32) -> u32 {
    let (mut largest, mut low) = (0, [0; 6 * LANES]);
    for ids in ids.chunks(6 * LANES) {
        largest = largest.max(hash_items(x, r, ids, &mut low));
        if largest > bound {
            break;
        }
    }
    largest
}
