//! The hashes of straw draws, many at once: of one input for many items, and of many inputs for few.
//!
//! The plain loops are compiled for each set of instructions, where the compiler makes vectors of them; where there is
//! AVX-512, [`crate::choosing::wide`] takes their place. A property test holds all of them to the hash itself.

use crate::choosing::ln::DRAWS;
#[cfg(target_arch = "x86_64")]
use crate::choosing::wide;
use crate::hash::rjenkins1_3;
use crate::lanes::{Lanes, multiversion};

/// Fills `low` with the low 16 bits of each item's hash and returns the largest.
#[inline(always)]
fn hash_items_body(x: u32, r: u32, ids: &[i32], low: &mut [u32]) -> u32 {
    let mut largest = 0;
    for (low, &id) in low.iter_mut().zip(ids) {
        let draw = rjenkins1_3(x, id as u32, r) & (DRAWS as u32 - 1);
        *low = draw;
        largest = largest.max(draw);
    }
    largest
}

/// Raises each of `draws` to the largest that any of the items draws for its input and attempt; returns the largest of all.
///
/// The compiler works on several vectors at a time only in loops that carry a result from element to element, and one hash
/// at a time leaves half of the processor idle: that is what the result is for.
#[inline(always)]
fn raise_draws_body(xs: &[u32], attempts: &[u32], ids: &[i32], draws: &mut [u32]) -> u32 {
    let mut largest = 0;
    for &id in ids {
        for ((draw, &x), &r) in draws.iter_mut().zip(xs).zip(attempts) {
            let raised = (*draw).max(rjenkins1_3(x, id as u32, r) & (DRAWS as u32 - 1));
            *draw = raised;
            largest = largest.max(raised);
        }
    }
    largest
}

/// Items that a search for a large draw looks at before it asks whether it has one.
const SEARCHED: usize = 32;

/// The largest of the items' draws; ends at the first that lies above `bound`, or not far behind it.
#[inline(always)]
fn largest_draw_body(x: u32, r: u32, ids: &[i32], bound: u32) -> u32 {
    let mut largest = 0;
    for ids in ids.chunks(SEARCHED) {
        for &id in ids {
            largest = largest.max(rjenkins1_3(x, id as u32, r) & (DRAWS as u32 - 1));
        }
        if largest > bound {
            break;
        }
    }
    largest
}

multiversion!(hash_items_compiled, hash_items_body, (x: u32, r: u32, ids: &[i32], low: &mut [u32]), u32);
multiversion!(
    raise_draws_compiled,
    raise_draws_body,
    (xs: &[u32], attempts: &[u32], ids: &[i32], draws: &mut [u32]),
    u32
);
multiversion!(largest_draw_compiled, largest_draw_body, (x: u32, r: u32, ids: &[i32], bound: u32), u32);

/// Fills `low` with the low 16 bits of each item's hash and returns the largest.
pub(crate) fn hash_items(lanes: Lanes, x: u32, r: u32, ids: &[i32], low: &mut [u32]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if lanes == Lanes::Avx512 {
        // SAFETY: these lanes are in use only where the processor has them.
        return unsafe { wide::hash_items(x, r, words(ids), low) };
    }
    hash_items_compiled(lanes, x, r, ids, low)
}

/// Raises each of `draws` to the largest that any of the items draws for its input and attempt.
///
/// `xs` and `attempts` have an entry a draw.
pub(crate) fn raise_draws(lanes: Lanes, xs: &[u32], attempts: &[u32], ids: &[i32], draws: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if lanes == Lanes::Avx512 {
        // SAFETY: these lanes are in use only where the processor has them.
        return unsafe { wide::raise_draws(xs, attempts, ids, draws) };
    }
    raise_draws_compiled(lanes, xs, attempts, ids, draws);
}

/// The largest of the items' draws; ends at the first that lies above `bound`, or not far behind it.
pub(crate) fn largest_draw(lanes: Lanes, x: u32, r: u32, ids: &[i32], bound: u32) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if lanes == Lanes::Avx512 {
        // SAFETY: these lanes are in use only where the processor has them.
        return unsafe { wide::largest_draw(x, r, words(ids), bound) };
    }
    largest_draw_compiled(lanes, x, r, ids, bound)
}

/// Item ids as the words that are hashed.
#[cfg(target_arch = "x86_64")]
fn words(ids: &[i32]) -> &[u32] {
    // SAFETY: both are whole numbers of 32 bits, and any bits are one.
    unsafe { std::slice::from_raw_parts(ids.as_ptr().cast(), ids.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn draw(x: u32, id: i32, r: u32) -> u32 {
        rjenkins1_3(x, id as u32, r) & 0xffff
    }

    proptest! {
        // Rule: every instruction set hashes alike, whatever the number of items.
        #[test]
        fn items_are_hashed_alike(x: u32, r in 0u32..60, ids in prop::collection::vec(any::<i32>(), 0..250), bound in 0u32..70_000) {
            let expected: Vec<u32> = ids.iter().map(|&id| draw(x, id, r)).collect();
            let largest = expected.iter().copied().max().unwrap_or(0);
            for lanes in Lanes::available() {
                let mut low = vec![0; ids.len()];
                prop_assert_eq!(hash_items(lanes, x, r, &ids, &mut low), largest);
                prop_assert_eq!(&low, &expected);
                // A search ends early only where it has found a draw above the bound.
                let found = largest_draw(lanes, x, r, &ids, bound);
                prop_assert!(found == largest || (bound < found && expected.contains(&found)));
            }
        }

        // Rule: draws rise to the largest of the items', whatever the number of inputs and of items.
        #[test]
        fn draws_rise_alike(
            inputs in prop::collection::vec((any::<u32>(), 0u32..60, 0u32..1 << 16), 0..250), ids in prop::collection::vec(any::<i32>(), 0..9)
        ) {
            let xs: Vec<u32> = inputs.iter().map(|input| input.0).collect();
            let attempts: Vec<u32> = inputs.iter().map(|input| input.1).collect();
            let raised = |&(x, r, before): &(u32, u32, u32)| ids.iter().fold(before, |most, &id| most.max(draw(x, id, r)));
            let expected: Vec<u32> = inputs.iter().map(raised).collect();
            for lanes in Lanes::available() {
                let mut draws: Vec<u32> = inputs.iter().map(|input| input.2).collect();
                raise_draws(lanes, &xs, &attempts, &ids, &mut draws);
                prop_assert_eq!(&draws, &expected);
            }
        }
    }
}
