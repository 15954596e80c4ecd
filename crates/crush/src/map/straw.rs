//! Straw lengths of a straw bucket, computed from the weights as Ceph's map builder does.
//!
//! CRUSH maps in text and JSON carry weights only. The longest straw wins, each straw being a uniform draw scaled by its
//! length, and the lengths are chosen so that items win (nearly) in proportion to weight. Two versions of the calculation
//! exist, selected by the tunable `straw_calc_version`; version 0 mishandles items of weight zero and of equal weight, and
//! is kept because clusters made with it still place data by it. Both are checked against `crushtool` by the oracle tests.
//!
//! A map that a cluster saved may hold straws calculated under an earlier version than its tunable says; only the binary
//! form tells.

use resilver_units::elementary::pow;

/// Straw length of each item, 16.16 fixed point.
///
/// # Arguments
/// * `weights` - 16.16 fixed-point weights.
/// * `version` - the tunable `straw_calc_version`: 0 for the historic calculation, 1 and above for the corrected one.
///
/// # Returns
/// One length an item; zero for items of weight zero.
pub(crate) fn straw_lengths(weights: &[u32], version: u32) -> Vec<u32> {
    let size = weights.len();
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by_key(|&item| weights[item]);
    let mut straws = vec![0u32; size];
    // The number of items that are not shorter than the straw in hand.
    let mut remaining = size as u32;
    let mut straw = 1.0f64;
    let mut weight_below = 0.0f64;
    let mut last_weight = 0.0f64;
    for position in 0..size {
        let weight = weights[order[position]];
        if weight == 0 {
            if version > 0 {
                remaining -= 1;
            }
            continue;
        }
        // The builder converts through a 64-bit integer, so a length beyond 32 bits keeps its low bits.
        straws[order[position]] = (straw * 65536.0) as i64 as u32;
        let Some(&next) = order.get(position + 1) else { break };
        let next_weight = weights[next];
        if version == 0 {
            if next_weight == weight {
                continue;
            }
            weight_below += (f64::from(weight) - last_weight) * f64::from(remaining);
            let ties = order[position + 1..].iter().take_while(|&&item| weights[item] == next_weight).count();
            remaining -= ties as u32;
        } else {
            weight_below += (f64::from(weight) - last_weight) * f64::from(remaining);
            remaining -= 1;
        }
        // The product is taken in 32 bits, as in the builder: it wraps for heavy buckets.
        let weight_next = f64::from(remaining.wrapping_mul(next_weight - weight));
        let share_below = weight_below / (weight_below + weight_next);
        straw *= pow(1.0 / share_below, 1.0 / f64::from(remaining));
        last_weight = f64::from(weight);
    }
    straws
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: u32 = 0x1_0000;

    // Rule: equal weights give equal straws of length 1, whatever the version.
    #[test]
    fn equal_weights_give_unit_straws() {
        for version in 0..2 {
            assert_eq!(straw_lengths(&[3 * ONE; 5], version), vec![ONE; 5]);
        }
    }

    // Rule: with two items of weight 1 and 2 the heavier wins twice as often. Draws a (straw 1) and b (straw s) are
    // uniform, so a wins with probability 1/(2s) = 1/3, hence s = 3/2. The builder: below = 2, next = 1, so 1/share = 3/2.
    #[test]
    fn two_items_of_one_and_two() {
        assert_eq!(straw_lengths(&[2 * ONE, ONE], 1), vec![ONE * 3 / 2, ONE]);
    }

    // Rule: an item of weight zero has no straw, and version 1 leaves the others as if it were absent.
    #[test]
    fn weight_zero_has_no_straw() {
        let with = straw_lengths(&[ONE, 0, 2 * ONE], 1);
        let without = straw_lengths(&[ONE, 2 * ONE], 1);
        assert_eq!((with[0], with[1], with[2]), (without[0], 0, without[1]));
    }
}
