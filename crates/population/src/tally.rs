//! The inner loop of a survey: small files are added up, the others named.
//!
//! In populations of many files most are small, of one bin, and one object each. What such a file needs is a comparison, a
//! product and a sum; with AVX-512 eight are made at a time. A property test holds both roads equal.

use resilver_units::Bytes;

use crate::histogram::Share;

/// Which instructions the loop uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Road {
    /// One file at a time.
    Plain,
    /// Eight at a time, if the processor has AVX-512 (F).
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Road {
    /// The best one this processor can go.
    pub(crate) fn best() -> Road {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") {
            return Road::Avx512;
        }
        Road::Plain
    }
}

/// Places that are written at once.
pub(crate) const LISTED_VECTOR: usize = 8;

/// Adds up the files whose words are of the common share, and lists the places of the others.
///
/// Returns the volume of the former and the number of the latter. There must be room for a vector more than there are words.
pub(crate) fn tally(road: Road, common: Option<&Share>, words: &[u64], others: &mut [u32]) -> (Bytes, usize) {
    assert!(others.len() >= words.len() + LISTED_VECTOR, "there is room for all places and a vector");
    let Some(common) = common else {
        (0..).zip(words).for_each(|(place, _)| others[place as usize] = place);
        return (Bytes::ZERO, words.len());
    };
    match road {
        Road::Plain => plain(common, 0, words, others),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Road::best` gives this road only where the processor has the feature, and there is room for a whole
        // vector behind every place that is listed.
        Road::Avx512 => unsafe { avx512(common, words, others) },
    }
}

/// The plain form of [`tally`]; `first` is the place of the first word.
fn plain(common: &Share, first: u32, words: &[u64], others: &mut [u32]) -> (Bytes, usize) {
    let Some(scaling) = common.scaling else { unreachable!("a common share is one whose sizes one word settles") };
    let (mut bytes, mut count) = (0, 0);
    for (place, &word) in (first..).zip(words) {
        let offset = word.wrapping_sub(common.start);
        let is_common = offset <= common.last;
        let size = (common.min + scaling.size(offset)).max(1);
        bytes += if is_common { size } else { 0 };
        // Which file is another no branch predictor foresees: write always, and keep or overwrite.
        others[count] = place;
        count += usize::from(!is_common);
    }
    (Bytes::new(bytes), count)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn avx512(common: &Share, words: &[u64], others: &mut [u32]) -> (Bytes, usize) {
    use std::arch::x86_64::*;

    let Some(scaling) = common.scaling else { unreachable!("a common share is one whose sizes one word settles") };
    let constant = |value: u64| _mm512_set1_epi64(value as i64);
    let shift = |bits: u32| _mm_cvtsi32_si128(bits as i32);
    let (start, last, factor) = (constant(common.start), constant(common.last), constant(u64::from(scaling.factor)));
    let (offset_shift, product_shift) = (shift(scaling.offset_shift), shift(scaling.product_shift));
    // Sizes are added up less the smallest, of which there is one a file; only where that is zero may a size be raised to one.
    let least = constant(u64::from(common.min == 0));
    let lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    let mut sums = _mm512_setzero_si512();
    let mut count = 0;
    let (eights, rest) = words.as_chunks::<8>();
    for (eight, first) in eights.iter().zip((0..).step_by(8)) {
        // SAFETY: eight words are one vector.
        let offsets = _mm512_sub_epi64(unsafe { _mm512_loadu_si512(eight.as_ptr().cast()) }, start);
        let is_common = _mm512_cmple_epu64_mask(offsets, last);
        let products = _mm512_mul_epu32(_mm512_srl_epi64(offsets, offset_shift), factor);
        let sizes = _mm512_max_epu64(_mm512_srl_epi64(products, product_shift), least);
        sums = _mm512_mask_add_epi64(sums, is_common, sums, sizes);
        // Where files of other bins are rare, most vectors have none.
        if is_common != 0xff {
            let places = _mm512_add_epi64(constant(first), lanes);
            let listed = _mm512_cvtepi64_epi32(_mm512_maskz_compress_epi64(!is_common, places));
            // SAFETY: no more places are listed than words were read, and behind them is room for a vector.
            unsafe { _mm256_storeu_si256(others.as_mut_ptr().add(count).cast(), listed) };
            count += is_common.count_zeros() as usize;
        }
    }
    let looked_at = words.len() - rest.len();
    let bytes = _mm512_reduce_add_epi64(sums) as u64 + (looked_at - count) as u64 * common.min;
    let (of_rest, more) = plain(common, looked_at as u32, rest, &mut others[count..]);
    (of_rest + Bytes::new(bytes), count + more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bin, Histogram};
    use proptest::prelude::*;

    proptest! {
        // Rule: every road adds up the same volume and lists the same places, and these are the words of other bins.
        #[test]
        fn roads_agree(words in prop::collection::vec(any::<u64>(), 0..100), before in 1u64..100, min in 0u64..3, width in 1u64..65_000) {
            let bins = [
                Bin { min: 1 << 20, max: 1 << 21, count: before },
                Bin { min, max: min + width, count: 150 },
                Bin { min: 1 << 30, max: 1 << 31, count: 3 },
            ];
            let histogram = Histogram::new(&bins).unwrap();
            let common = histogram.common_share(Bytes::new(1 << 17)).unwrap();
            let size = |word: u64| histogram.file_size(word, || 0).get();
            let expected: Vec<u32> = (0..).zip(&words).filter(|&(_, &word)| size(word) >= 1 << 20).map(|(at, _)| at).collect();
            let volume: u64 = words.iter().map(|&word| size(word)).filter(|&size| size < 1 << 20).sum();
            for road in [Road::Plain, Road::best()] {
                let mut others = vec![0; words.len() + LISTED_VECTOR];
                let (bytes, count) = tally(road, Some(&common), &words, &mut others);
                prop_assert_eq!(bytes.get(), volume);
                prop_assert_eq!(&others[..count], &expected[..]);
            }
        }
    }
}
