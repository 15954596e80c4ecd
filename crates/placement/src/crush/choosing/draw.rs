//! The inner loops: which item of a straw or straw2 bucket wins an input.
//!
//! A placement is almost all hashing, one hash an item. The loops run over contiguous arrays so that the compiler makes
//! vectors of them, and are compiled three times: plain, with AVX2 and with AVX-512. [`Lanes::Plain`] also takes the
//! plain road afterwards (one exact division an item), while the others look for the winner with fewer exact steps; a
//! property test holds the roads equal.

use crate::crush::choosing::hash::rjenkins1_3;
use crate::crush::choosing::hashing::hash_items;
use crate::crush::choosing::ln::{DRAWS, Distances, LAST_ORDERED, distance};
use crate::crush::fast::lanes::{Lanes, multiversion};
use crate::crush::map::bucket::Straw2Weights;

/// Buffers of the inner loops, reused from draw to draw.
#[derive(Debug, Default)]
pub(crate) struct DrawBuffers {
    low: Vec<u32>,
    keys: Vec<u64>,
}

impl DrawBuffers {
    /// Makes room for a bucket of `size` items.
    fn reserve(&mut self, size: usize) {
        if self.low.len() < size {
            self.low.resize(size, 0);
            self.keys.resize(size, 0);
        }
    }
}

/// Fills `keys` with the product of draw and straw, and returns the largest.
#[inline(always)]
fn scale_straws_body(low: &[u32], straws: &[u32], keys: &mut [u64]) -> u64 {
    let mut largest = 0;
    for ((key, &low), &straw) in keys.iter_mut().zip(low).zip(straws) {
        *key = u64::from(low) * u64::from(straw);
        largest = largest.max(*key);
    }
    largest
}

/// Fills `keys` with the bits of each approximate distance (distance over weight), and returns the smallest.
///
/// Distances are positive or infinite, and such doubles order as their bits do, so integer minima serve.
#[inline(always)]
fn scale_distances_body(low: &[u32], inverses: &[f64], table: &[f64; DRAWS], keys: &mut [u64]) -> u64 {
    let mut smallest = u64::MAX;
    for ((key, &low), &inverse) in keys.iter_mut().zip(low).zip(inverses) {
        *key = (table[low as usize & (DRAWS - 1)] * inverse).to_bits();
        smallest = smallest.min(*key);
    }
    smallest
}

/// The first index whose value is at least `bound`, if any.
#[inline(always)]
fn first_at_least_body(low: &[u32], bound: u32) -> usize {
    // Whole blocks are tested at once; only the block that answers is searched item by item.
    const BLOCK: usize = 64;
    for (block, values) in low.chunks(BLOCK).enumerate() {
        if values.iter().fold(false, |found, &value| found | (value >= bound)) {
            let inside = values.iter().position(|&value| value >= bound).unwrap_or(0);
            return block * BLOCK + inside;
        }
    }
    0
}

/// Lists the indices of the draws that are not below `least`, in order, and returns their number.
///
/// # Panics
/// When there is no room in `listed` for an index a draw and a vector more.
pub(crate) fn list_at_least(lanes: Lanes, draws: &[u32], least: u32, listed: &mut [u32]) -> usize {
    assert!(listed.len() >= draws.len() + LISTED_VECTOR, "there is room for all indices and a vector");
    #[cfg(target_arch = "x86_64")]
    if lanes == Lanes::Avx512 {
        // SAFETY: these lanes are in use only where the processor has them, and there is room for a whole vector behind
        // every index that is listed.
        return unsafe { list_at_least_avx512(draws, least, listed) };
    }
    let _ = lanes;
    list_from(0, draws, least, listed)
}

/// Indices that are written at once.
const LISTED_VECTOR: usize = 16;

/// The plain form of [`list_at_least`]; `first` is the index of the first draw.
fn list_from(first: u32, draws: &[u32], least: u32, listed: &mut [u32]) -> usize {
    let mut count = 0;
    for (index, &draw) in (first..).zip(draws) {
        // Which draw is listed no branch predictor foresees: write always, and keep or overwrite.
        listed[count] = index;
        count += usize::from(draw >= least);
    }
    count
}

/// The form of [`list_at_least`] that packs sixteen indices at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn list_at_least_avx512(draws: &[u32], least: u32, listed: &mut [u32]) -> usize {
    use std::arch::x86_64::*;

    let bound = _mm512_set1_epi32(least as i32);
    let mut indices = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let (mut count, mut blocks) = (0, draws.chunks_exact(LISTED_VECTOR));
    for block in &mut blocks {
        // SAFETY: a block is one vector; no more indices are listed than draws were read, and behind them is room for one.
        unsafe {
            let mask = _mm512_cmpge_epu32_mask(_mm512_loadu_si512(block.as_ptr().cast()), bound);
            _mm512_storeu_si512(listed.as_mut_ptr().add(count).cast(), _mm512_maskz_compress_epi32(mask, indices));
            count += mask.count_ones() as usize;
        }
        indices = _mm512_add_epi32(indices, _mm512_set1_epi32(LISTED_VECTOR as i32));
    }
    let rest = blocks.remainder();
    count + list_from((draws.len() - rest.len()) as u32, rest, least, &mut listed[count..])
}

multiversion!(scale_straws, scale_straws_body, (low: &[u32], straws: &[u32], keys: &mut [u64]), u64);
multiversion!(
    scale_distances,
    scale_distances_body,
    (low: &[u32], inverses: &[f64], table: &[f64; DRAWS], keys: &mut [u64]),
    u64
);
multiversion!(pub(crate) first_at_least, first_at_least_body, (low: &[u32], bound: u32), usize);

/// The index of the item that wins input `x`, attempt `r`, in a straw bucket.
///
/// # Arguments
/// * `lanes`, `buffers` - how to compute, and where.
/// * `x`, `r` - the input and the attempt.
/// * `ids`, `straws` - item ids and straw lengths, not empty.
/// * `equal` - whether all straws are the same and not zero.
///
/// # Returns
/// The index of the longest draw; the first of equals.
pub(crate) fn straw(
    lanes: Lanes,
    buffers: &mut DrawBuffers,
    x: u32,
    r: u32,
    ids: &[i32],
    straws: &[u32],
    equal: bool,
) -> usize {
    if lanes == Lanes::Plain {
        return plain_straw(x, r, ids, straws);
    }
    buffers.reserve(ids.len());
    let low = &mut buffers.low[..ids.len()];
    let largest = hash_items(lanes, x, r, ids, low);
    if equal {
        return first_at_least(lanes, low, largest);
    }
    let keys = &mut buffers.keys[..ids.len()];
    let largest = scale_straws(lanes, low, straws, keys);
    keys.iter().position(|&key| key == largest).unwrap_or(0)
}

/// [`straw`] as the definition reads.
fn plain_straw(x: u32, r: u32, ids: &[i32], straws: &[u32]) -> usize {
    let mut best = (0, 0);
    for (index, (&id, &straw)) in ids.iter().zip(straws).enumerate() {
        let draw = u64::from(rjenkins1_3(x, id as u32, r) & 0xffff) * u64::from(straw);
        if index == 0 || draw > best.1 {
            best = (index, draw);
        }
    }
    best.0
}

/// The index of the item that wins input `x`, attempt `r`, in a straw2 bucket.
///
/// # Arguments
/// * `lanes`, `buffers`, `distances` - how to compute, where, and the table of logarithms.
/// * `x`, `r` - the input and the attempt.
/// * `ids`, `weights` - item ids (or their stand-ins from choose_args) and weights, not empty.
///
/// # Returns
/// The index of the nearest item, by distance over weight in whole numbers; the first of equals.
pub(crate) fn straw2(
    lanes: Lanes,
    buffers: &mut DrawBuffers,
    distances: &Distances,
    (x, r): (u32, u32),
    ids: &[i32],
    weights: &Straw2Weights,
) -> usize {
    if lanes == Lanes::Plain {
        return plain_straw2(x, r, ids, &weights.weights);
    }
    buffers.reserve(ids.len());
    let low = &mut buffers.low[..ids.len()];
    let largest = hash_items(lanes, x, r, ids, low);
    if weights.equal && largest <= LAST_ORDERED {
        return first_at_least(lanes, low, distances.smallest_equal(largest, weights.weights[0]));
    }
    let keys = &mut buffers.keys[..ids.len()];
    let smallest = f64::from_bits(scale_distances(lanes, low, &weights.inverses, distances.table(), keys));
    if smallest.is_infinite() {
        return 0;
    }
    // Each product carries two roundings, a relative error below 2^-51. The winner's exact quotient is under one above
    // the least exact quotient, so its key cannot exceed this bound; the few keys below it are divided exactly.
    let bound = (smallest * (1.0 + 1.0 / (1u64 << 49) as f64) + 1.0).to_bits();
    let mut best = (0, u64::MAX);
    for (index, _) in keys.iter().enumerate().filter(|&(_, &key)| key <= bound) {
        let quotient = distances.exact(low[index]) / u64::from(weights.weights[index]);
        if quotient < best.1 {
            best = (index, quotient);
        }
    }
    best.0
}

/// [`straw2`] as the definition reads.
fn plain_straw2(x: u32, r: u32, ids: &[i32], weights: &[u32]) -> usize {
    let mut best = (0, u64::MAX);
    for (index, (&id, &weight)) in ids.iter().zip(weights).enumerate() {
        let low = rjenkins1_3(x, id as u32, r) & 0xffff;
        // An item of weight zero is farther than any other.
        let quotient = distance(low).checked_div(u64::from(weight)).unwrap_or(u64::MAX);
        if quotient < best.1 {
            best = (index, quotient);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crush::map::straw::straw_lengths;
    use proptest::prelude::*;

    fn weight() -> impl Strategy<Value = u32> {
        prop_oneof![Just(0u32), 1u32..16, 1u32..0x20_0000, any::<u32>(), Just(0x1_0000u32)]
    }

    proptest! {
        // Rule: the list of high draws is the same on every instruction set, whatever the length.
        #[test]
        fn lists_agree(draws in prop::collection::vec(0u32..100, 0..70), least in 0u32..110) {
            let expected: Vec<u32> = (0..).zip(&draws).filter(|&(_, &draw)| draw >= least).map(|(at, _)| at).collect();
            for lanes in Lanes::available() {
                let mut listed = vec![0; draws.len() + LISTED_VECTOR];
                let count = list_at_least(lanes, &draws, least, &mut listed);
                prop_assert_eq!(&listed[..count], &expected[..]);
            }
        }

        // Rule: every instruction set names the same winner as the plain loop, for straw buckets of any weights.
        #[test]
        fn straw_roads_agree(
            weights in prop::collection::vec(weight(), 1..200), x in any::<u32>(), r in 0u32..60, level in any::<bool>()
        ) {
            let weights = if level { vec![weights[0]; weights.len()] } else { weights };
            let ids: Vec<i32> = (0..weights.len() as i32).map(|item| item * 7 - 300).collect();
            let straws = straw_lengths(&weights, 1);
            let equal = straws[0] > 0 && straws.iter().all(|&straw| straw == straws[0]);
            let expected = plain_straw(x, r, &ids, &straws);
            for lanes in Lanes::available() {
                prop_assert_eq!(straw(lanes, &mut DrawBuffers::default(), x, r, &ids, &straws, equal), expected);
            }
        }

        // Rule: the same for straw2, whose fast road divides exactly only near the winner.
        #[test]
        fn straw2_roads_agree(
            weights in prop::collection::vec(weight(), 1..200), x in any::<u32>(), r in 0u32..60, level in any::<bool>()
        ) {
            let weights = if level { vec![weights[0]; weights.len()] } else { weights };
            let ids: Vec<i32> = (0..weights.len() as i32).map(|item| item * 7 - 300).collect();
            let expected = plain_straw2(x, r, &ids, &weights);
            let weights = Straw2Weights::new(weights);
            for lanes in Lanes::available() {
                let distances = Distances::shared();
                let found = straw2(lanes, &mut DrawBuffers::default(), distances, (x, r), &ids, &weights);
                prop_assert_eq!(found, expected);
            }
        }
    }
}
