//! The inner loops: which item of a straw or straw2 bucket wins an input.
//!
//! A placement is almost all hashing, one hash an item. The loops run over contiguous arrays so that the compiler makes
//! vectors of them, and are compiled three times: plain, with AVX2 and with AVX-512. [`Lanes::Plain`] also takes the
//! plain road afterwards (one exact division an item), while the others look for the winner with fewer exact steps; a
//! property test holds the roads equal.

use crate::choosing::hashing::hash_items;
use crate::choosing::ln::{DRAWS, Distances, LAST_ORDERED, distance};
use crate::hash::rjenkins1_3;
use crate::lanes::{Lanes, multiversion};
use crate::map::bucket::Straw2Weights;

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
    use crate::map::straw::straw_lengths;
    use proptest::prelude::*;

    fn weight() -> impl Strategy<Value = u32> {
        prop_oneof![Just(0u32), 1u32..16, 1u32..0x20_0000, any::<u32>(), Just(0x1_0000u32)]
    }

    proptest! {
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
