//! The hashes of straw draws by AVX-512, sixteen a vector and eight vectors at a time.
//!
//! A hash is a chain of some ninety steps that each wait for the one before. One or two vectors at a time leave the
//! processor waiting; eight keep it busy, though their words exceed its registers: measured, a hash takes 2.0 ns with one
//! vector at a time, 1.3 with three, 0.84 with six, 0.71 with eight, 0.70 with ten and 1.2 with twelve.

use std::arch::x86_64::*;

use crate::choosing::contenders::Contenders;

/// Numbers in a vector.
pub(crate) const LANES: usize = 16;
/// Numbers that two and four vectors hold.
pub(crate) const TWO: usize = 2 * LANES;
pub(crate) const FOUR: usize = 4 * LANES;
/// Numbers that eight vectors hold.
pub(crate) const MANY: usize = 8 * LANES;

/// One line of [`mix`] for each of the vectors.
///
/// By index, since at full optimisation a zip was not inlined where AVX-512 is enabled, and took five sixths of the time.
macro_rules! step {
    ($a:ident, $b:ident, $c:ident, $shift:ident, $bits:literal) => {
        for k in 0..$a.len() {
            let rest = _mm512_sub_epi32(_mm512_sub_epi32($a[k], $b[k]), $c[k]);
            $a[k] = _mm512_xor_si512(rest, $shift::<$bits>($c[k]));
        }
    };
}

/// `hash::mix`, line by line.
macro_rules! mix {
    ($a:ident, $b:ident, $c:ident) => {{
        step!($a, $b, $c, _mm512_srli_epi32, 13);
        step!($b, $c, $a, _mm512_slli_epi32, 8);
        step!($c, $a, $b, _mm512_srli_epi32, 13);
        step!($a, $b, $c, _mm512_srli_epi32, 12);
        step!($b, $c, $a, _mm512_slli_epi32, 16);
        step!($c, $a, $b, _mm512_srli_epi32, 5);
        step!($a, $b, $c, _mm512_srli_epi32, 3);
        step!($b, $c, $a, _mm512_slli_epi32, 10);
        step!($c, $a, $b, _mm512_srli_epi32, 15);
    }};
}

/// The low 16 bits of `rjenkins1_3` of three words, a lane each, for `$k` vectors.
///
/// It is no function, since the compiler would call one: its vectors would go there and back through memory.
macro_rules! draws_of {
    ($k:ident, $a:expr, $b:expr, $c:expr) => {{
        use $crate::choosing::ln::DRAWS;
        use $crate::hash;
        let (mut a, mut b, mut c): ([__m512i; $k], [__m512i; $k], [__m512i; $k]) = ($a, $b, $c);
        let (mut x, mut y) = ([_mm512_set1_epi32(hash::PAD_X as i32); $k], [_mm512_set1_epi32(hash::PAD_Y as i32); $k]);
        let mut hash = [_mm512_set1_epi32(hash::SEED as i32); $k];
        for k in 0..$k {
            // The table of a three-way exclusive or.
            hash[k] = _mm512_xor_si512(hash[k], _mm512_ternarylogic_epi32::<0x96>(a[k], b[k], c[k]));
        }
        mix!(a, b, hash);
        mix!(c, x, hash);
        mix!(y, a, hash);
        mix!(b, x, hash);
        mix!(y, c, hash);
        for k in 0..$k {
            hash[k] = _mm512_and_si512(hash[k], _mm512_set1_epi32(DRAWS as i32 - 1));
        }
        hash
    }};
}

pub(crate) use {draws_of, mix, step};

/// The lanes of vector number `k` of those from `start` on that are below `end`.
#[inline(always)]
fn lanes_below(end: usize, start: usize, k: usize) -> __mmask16 {
    let left = end.saturating_sub(start + k * LANES).min(LANES);
    ((1u32 << left) - 1) as __mmask16
}

/// Vectors of a slice; lanes beyond its end are zero.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load<const K: usize>(values: &[u32], start: usize) -> [__m512i; K] {
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
pub(crate) fn store<const K: usize>(vectors: [__m512i; K], values: &mut [u32], start: usize) {
    for (k, vector) in vectors.into_iter().enumerate() {
        let mask = lanes_below(values.len(), start, k);
        // SAFETY: lanes beyond the end are not written.
        unsafe { _mm512_mask_storeu_epi32(values.as_mut_ptr().wrapping_add(start + k * LANES).cast(), mask, vector) };
    }
}

/// Calls a function of one generic number for all of `length` numbers, eight vectors at a time; the last of them may not be
/// full.
macro_rules! in_groups {
    ($length:expr, $start:ident, $group:ident($($argument:expr),*)) => {
        let mut $start = 0;
        while $start < $length {
            match $length - $start {
                1..=LANES => $group::<1>($($argument),*),
                ..=TWO => $group::<2>($($argument),*),
                ..=FOUR => $group::<4>($($argument),*),
                _ => $group::<8>($($argument),*),
            }
            $start += MANY;
        }
    };
}

pub(crate) use in_groups;

/// [`crate::choosing::hashing::raise_draws`].
#[target_feature(enable = "avx512f")]
pub(crate) fn raise_draws(xs: &[u32], attempts: &[u32], ids: &[i32], draws: &mut [u32]) {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn group<const K: usize>(xs: &[u32], attempts: &[u32], ids: &[i32], draws: &mut [u32], start: usize) {
        let (x, attempt, mut largest) = (load::<K>(xs, start), load::<K>(attempts, start), load::<K>(draws, start));
        for &id in ids {
            let drawn = draws_of!(K, x, [_mm512_set1_epi32(id); K], attempt);
            for k in 0..K {
                largest[k] = _mm512_max_epu32(largest[k], drawn[k]);
            }
        }
        store(largest, draws, start);
    }
    in_groups!(draws.len(), start, group(xs, attempts, ids, draws, start));
}

/// [`crate::choosing::hashing::hash_items`].
#[target_feature(enable = "avx512f")]
pub(crate) fn hash_items(x: u32, r: u32, ids: &[u32], low: &mut [u32]) -> u32 {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn group<const K: usize>(x: u32, r: u32, ids: &[u32], low: &mut [u32], largest: &mut __m512i, start: usize) {
        let constant = |word: u32| [_mm512_set1_epi32(word as i32); K];
        let drawn = draws_of!(K, constant(x), load::<K>(ids, start), constant(r));
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

/// [`crate::choosing::hashing::largest_draw`].
///
/// Most searches end among the first few items, since most bounds are no high ones; the others go on by full groups.
#[target_feature(enable = "avx512f")]
pub(crate) fn largest_draw(x: u32, r: u32, ids: &[u32], bound: u32) -> u32 {
    let mut low = [0; MANY];
    let (first, others) = ids.split_at(ids.len().min(LANES));
    let mut largest = hash_items(x, r, first, &mut low);
    for ids in others.chunks(MANY) {
        if largest > bound {
            break;
        }
        largest = largest.max(hash_items(x, r, ids, &mut low));
    }
    largest
}

/// [`crate::choosing::contenders::Contenders::add`].
///
/// # Safety
/// The processor must have the instructions, there must be a draw an input, and every column must have room for all inputs and
/// a vector behind its first `count` numbers.
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn add(
    contenders: &mut Contenders,
    place: u32,
    inputs: &[u32],
    draws: &[u32],
    attempt: u32,
    least: u32,
) {
    let (least, attempts) = (_mm512_set1_epi32(least as i32), _mm512_set1_epi32(attempt as i32));
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let Contenders { count, index, x, attempt, draw, largest } = contenders;
    for start in (0..draws.len()).step_by(LANES) {
        let [drawn] = load::<1>(draws, start);
        let is_high = _mm512_mask_cmpge_epu32_mask(lanes_below(draws.len(), start, 0), drawn, least);
        let indices = _mm512_add_epi32(_mm512_set1_epi32((place as usize + start) as i32), lanes);
        let [inputs] = load::<1>(inputs, start);
        for (values, vector) in [(&mut *index, indices), (&mut *x, inputs), (&mut *draw, drawn)] {
            // SAFETY: no more are added than inputs were read, and behind them is room for a vector.
            unsafe {
                let packed = _mm512_maskz_compress_epi32(is_high, vector);
                _mm512_storeu_si512(values.as_mut_ptr().add(*count).cast(), packed);
            }
        }
        for (values, vector) in [(&mut *attempt, attempts), (&mut *largest, _mm512_setzero_si512())] {
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(values.as_mut_ptr().add(*count).cast(), vector) };
        }
        *count += is_high.count_ones() as usize;
    }
}

/// [`crate::choosing::contenders::Contenders::strike`], with each contender's column of numbers.
///
/// # Safety
/// The processor must have the instructions, and every column must have room for a vector behind its first `count` numbers.
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn strike(contenders: &mut Contenders, ids: &[i32], window: u32) {
    /// Those of a group, packed from number `left` on; how many are left then.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn group<const K: usize>(
        contenders: &mut Contenders,
        ids: &[i32],
        window: u32,
        left: &mut usize,
        start: usize,
    ) {
        let count = contenders.count;
        let column = |values: &[u32]| load::<K>(&values[..count], start);
        let (x, attempt, draw) = (column(&contenders.x), column(&contenders.attempt), column(&contenders.draw));
        let (index, mut largest) = (column(&contenders.index), column(&contenders.largest));
        for &id in ids {
            let drawn = draws_of!(K, x, [_mm512_set1_epi32(id); K], attempt);
            for k in 0..K {
                largest[k] = _mm512_max_epu32(largest[k], drawn[k]);
            }
        }
        let window = _mm512_set1_epi32(window as i32);
        for k in 0..K {
            let bound = _mm512_add_epi32(draw[k], window);
            let is_left = _mm512_mask_cmple_epu32_mask(lanes_below(count, start, k), largest[k], bound);
            let columns = [
                (&mut contenders.x, x[k]),
                (&mut contenders.attempt, attempt[k]),
                (&mut contenders.draw, draw[k]),
                (&mut contenders.index, index[k]),
                (&mut contenders.largest, largest[k]),
            ];
            for (values, vector) in columns {
                let packed = _mm512_maskz_compress_epi32(is_left, vector);
                // SAFETY: no more are left than were read, and behind those is room for a vector. What it writes over was
                // read before, since a group is read as a whole.
                unsafe { _mm512_storeu_si512(values.as_mut_ptr().add(*left).cast(), packed) };
            }
            *left += is_left.count_ones() as usize;
        }
    }
    let mut left = 0;
    // SAFETY: as the caller says.
    unsafe {
        in_groups!(contenders.count, start, group(contenders, ids, window, &mut left, start));
    }
    contenders.count = left;
}
