//! The fixed-point logarithm of straw2.
//!
//! Each item draws a uniform 16-bit number `u`; its straw is `ln((u + 1) / 65536)` over its weight, and the longest straw
//! (the logarithm nearest zero) wins. Ceph works in base 2 with 44 fractional bits: `crush_ln(u) = 2^44 log2(u + 1)`, so
//! the *distance* is `2^48 - crush_ln(u)`. It computes the logarithm from three tables whose documented contents are
//!
//! * `RH[k] = 2^48 / (1 + k/128)`, which reduces the operand to within 1/128 above 1,
//! * `LH[k] = 2^48 log2(1 + k/128)`, the part of the logarithm that this removes,
//! * `LL[k] = 2^48 log2(1 + k/2^15)`, the rest.
//!
//! The tables that clusters run differ from that: 235 of the 256 entries of `LL`, and the last entry of `LH`. The
//! differences below were measured, not copied: in a straw2 bucket of two items, `crushtool --test` shows which of two
//! distances is the shorter after division by chosen weights, so each answer bounds an entry, and some thousands of
//! answers enclose it. `tools/derive_ln.py` does so again. What the measurements show:
//!
//! * `RH` rounds up; `LH` is as documented except that `LH[128]` is `2^48 - 2^32`.
//! * 212 entries of `LL` exceed the formula by one constant, enclosed in [5493489660, 5493489666).
//! * 23 entries exceed it by amounts of their own, each enclosed to at most 76, which is 5 units in 2^44 of distance.
//! * 21 entries, 0 among them, follow the formula.

use std::sync::LazyLock;

/// Number of different draws: the low 16 bits of a hash.
pub(crate) const DRAWS: usize = 1 << 16;

/// The last draw of those whose distances never grow with the draw; only 65535 lies beyond it.
pub(crate) const LAST_ORDERED: u32 = 0xfffe;

/// What most entries of `LL` exceed their formula by.
const LL_EXCESS: u64 = 5_493_489_663;

/// Entries of `LL` that follow their formula.
const LL_EXACT: [u8; 21] =
    [0, 1, 203, 216, 222, 233, 237, 238, 239, 243, 244, 245, 246, 248, 249, 250, 251, 252, 253, 254, 255];

/// Entries of `LL` that exceed their formula by an amount of their own.
const LL_ODD: [(u8, u64); 23] = [
    (56, 5_349_423_543),
    (127, 978_272_901),
    (134, 3_588_789_673),
    (181, 4_007_963_587),
    (184, 5_423_282_373),
    (188, 2_201_924_429),
    (193, 3_829_329_174),
    (198, 2_511_158_309),
    (199, 2_670_353_279),
    (200, 3_807_665_762),
    (207, 5_045_407_019),
    (210, 4_635_559_689),
    (212, 3_670_382_111),
    (225, 3_209_098_743),
    (227, 1_514_328_389),
    (228, 2_662_093_655),
    (229, 561_838_844),
    (231, 3_537_203_767),
    (235, 4_861_920_979),
    (236, 5_281_046_901),
    (240, 2_650_193_886),
    (241, 4_203_558_263),
    (247, 362_109_524),
];

/// `2^48 log2(numerator / denominator)` rounded to the nearest integer, for a ratio from 1 to below 2.
///
/// Squaring a number doubles its logarithm, so each bit of the logarithm is whether the next square reaches 2. The
/// operand has 62 fractional bits; truncation in the squares shifts the result by less than 2^-60.
const fn log2_fixed(numerator: u128, denominator: u128) -> u64 {
    const GUARD_BITS: u32 = 8;
    let mut operand = (numerator << 62) / denominator;
    let mut logarithm = 0u64;
    let mut bit = 0;
    while bit < 48 + GUARD_BITS {
        operand = (operand * operand) >> 62;
        logarithm <<= 1;
        if operand >> 63 != 0 {
            operand >>= 1;
            logarithm |= 1;
        }
        bit += 1;
    }
    (logarithm + (1 << (GUARD_BITS - 1))) >> GUARD_BITS
}

/// `RH[k]`, the reciprocal that brings an operand near 1.
const fn reciprocals() -> [u64; 129] {
    let mut table = [0; 129];
    let mut k = 0;
    while k <= 128 {
        table[k] = (128u64 << 48).div_ceil(128 + k as u64);
        k += 1;
    }
    table
}

/// `LH[k]`, the logarithm of what the reciprocal removed.
const fn high_logarithms() -> [u64; 129] {
    let mut table = [0; 129];
    let mut k = 0;
    while k < 128 {
        table[k] = log2_fixed(128 + k as u128, 128);
        k += 1;
    }
    table[128] = (1 << 48) - (1 << 32);
    table
}

/// `LL[k]`, the logarithm of the rest, as clusters have it.
const fn low_logarithms() -> [u64; 256] {
    let mut table = [0; 256];
    let mut k = 0;
    while k < 256 {
        table[k] = log2_fixed(32_768 + k as u128, 32_768) + LL_EXCESS;
        k += 1;
    }
    k = 0;
    while k < LL_EXACT.len() {
        table[LL_EXACT[k] as usize] -= LL_EXCESS;
        k += 1;
    }
    k = 0;
    while k < LL_ODD.len() {
        let (entry, excess) = LL_ODD[k];
        table[entry as usize] = table[entry as usize] - LL_EXCESS + excess;
        k += 1;
    }
    table
}

const RH: [u64; 129] = reciprocals();
const LH: [u64; 129] = high_logarithms();
const LL: [u64; 256] = low_logarithms();

/// The distance of a draw: `2^48 - crush_ln(u)`, at most 2^48.
///
/// The excesses make the draw 65534 the nearest of all, and 65535 the next.
///
/// # Arguments
/// * `draw` - the low 16 bits of an item's hash.
///
/// # Returns
/// The distance in units of 2^-44 octaves.
pub(crate) fn distance(draw: u32) -> u64 {
    let operand = (draw & 0xffff) + 1;
    // Shift the leading one to bit 15; 65536 itself already stands at bit 16 and keeps exponent 15.
    let shift = (operand.leading_zeros()).saturating_sub(16);
    let operand = operand << shift;
    let exponent = u64::from(15 - shift);
    let high = (operand >> 8) as usize - 128;
    let low = ((u64::from(operand) * RH[high]) >> 48) & 0xff;
    let logarithm = (exponent << 44) + ((LH[high] + LL[low as usize]) >> 4);
    (1 << 48) - logarithm
}

/// Every distance, for the fast paths: 512 KiB, exact in doubles since distances stay below 2^53.
pub(crate) struct Distances(Box<[f64; DRAWS]>);

static SHARED: LazyLock<Distances> = LazyLock::new(|| {
    let table: Box<[f64]> = (0..DRAWS as u32).map(|draw| distance(draw) as f64).collect();
    Distances(table.try_into().expect("one distance a draw"))
});

impl Distances {
    /// The one table, built at first use.
    pub(crate) fn shared() -> &'static Self {
        &SHARED
    }

    /// The table by draw.
    #[inline(always)]
    pub(crate) fn table(&self) -> &[f64; DRAWS] {
        &self.0
    }

    /// The distance of a draw as the integer it is.
    #[inline(always)]
    pub(crate) fn exact(&self, draw: u32) -> u64 {
        self.0[draw as usize & (DRAWS - 1)] as u64
    }

    /// The smallest draw that ties with `draw` once distances are divided by `weight` (16.16, not zero).
    ///
    /// Up to [`LAST_ORDERED`] distances never grow with the draw, so ties lie directly below it: some ten of them for the
    /// heaviest weight.
    pub(crate) fn smallest_equal(&self, draw: u32, weight: u32) -> u32 {
        debug_assert!(draw <= LAST_ORDERED, "draw {draw} is out of order");
        let quotient = self.exact(draw) / u64::from(weight);
        let mut smallest = draw;
        while smallest > 0 && self.exact(smallest - 1) / u64::from(weight) == quotient {
            smallest -= 1;
        }
        smallest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rule: the tables' formulas, to the last bit. Expected values from decimal arithmetic with 60 digits:
    // 2^48 log2(129/128), 2^48 log2(1.5), 2^48 log2(1 + 1/2^15) and 2^48 * 128/129 rounded up.
    #[test]
    fn formulas_are_exact() {
        assert_eq!(LH[1], 3_160_191_458_785);
        assert_eq!(LH[64], 164_652_306_267_095);
        assert_eq!(LL[1], 12_392_466_944);
        assert_eq!(RH[1], 279_293_000_147_008);
    }

    // Rule: distances never grow with the draw save at the last, on which `smallest_equal` relies.
    #[test]
    fn distances_are_ordered() {
        assert!((1..=LAST_ORDERED).all(|draw| distance(draw) <= distance(draw - 1)));
        assert!(distance(LAST_ORDERED) < distance(0xffff) && distance(0xffff) < distance(LAST_ORDERED - 1));
    }

    // Rule: the distance follows the true logarithm. Its error is the largest excess of a low entry, 0.4434 steps of
    // 2^-15 / ln 2 octaves in 2^44, save at the highest draw, where LH[128] leaves 2^28.
    #[test]
    fn distances_follow_the_logarithm() {
        let bound = (LL_EXCESS >> 4) as f64 + 20.0;
        for draw in 0..DRAWS as u32 - 1 {
            let exact = (1u64 << 48) as f64 - (f64::from(draw) + 1.0).log2() * (1u64 << 44) as f64;
            // The reduced operand is truncated to a step of 2^-15, one more step of error.
            let step = 2f64.powi(44 - 15) / std::f64::consts::LN_2;
            assert!((distance(draw) as f64 - exact).abs() < bound + step, "draw {draw}");
        }
        assert_eq!(distance(0xffff), 1 << 28);
    }
}
