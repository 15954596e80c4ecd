//! Philox4x64-10, the counter-based generator.
//!
//! Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), section 4.3 and table 2.

/// The multipliers of a round.
pub(super) const MULTIPLIERS: [u64; 2] = [0xd2e7_470e_e14c_6c93, 0xca5a_8263_9512_1157];
/// What the key's words grow by from round to round: the golden ratio and the square root of 3 less 1, as 64-bit
/// fractions (Weyl sequences).
pub(super) const KEY_STEPS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbb67_ae85_84ca_a73b];
/// Rounds; seven pass every published test of randomness, ten leave a margin.
pub(super) const ROUNDS: usize = 10;

/// Four words of 64 random bits: a bijection of `counter` chosen by `key`.
///
/// ```
/// // The first published vector of Philox4x64-10: counter and key all zero.
/// assert_eq!(resilver_kernel::philox4x64([0; 4], [0; 2])[0], 0x1655_4d9e_ca36_314c);
/// ```
#[inline]
pub const fn philox4x64(counter: [u64; 4], key: [u64; 2]) -> [u64; 4] {
    let [mut a, mut b, mut c, mut d] = counter;
    let [mut key_low, mut key_high] = key;
    let mut round = 0;
    while round < ROUNDS {
        let first = MULTIPLIERS[0] as u128 * a as u128;
        let second = MULTIPLIERS[1] as u128 * c as u128;
        a = (second >> 64) as u64 ^ b ^ key_low;
        b = second as u64;
        c = (first >> 64) as u64 ^ d ^ key_high;
        d = first as u64;
        key_low = key_low.wrapping_add(KEY_STEPS[0]);
        key_high = key_high.wrapping_add(KEY_STEPS[1]);
        round += 1;
    }
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::philox4x64;

    #[test]
    fn the_published_vectors_come_out() {
        // The known answers for philox4x64-10 that the authors publish with Random123 (kat_vectors).
        let ones = u64::MAX;
        assert_eq!(
            philox4x64([0; 4], [0; 2]),
            [0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b]
        );
        assert_eq!(
            philox4x64([ones; 4], [ones; 2]),
            [0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0]
        );
        let pi = [0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89];
        assert_eq!(
            philox4x64(pi, [0x452821e638d01377, 0xbe5466cf34e90c6c]),
            [0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6]
        );
    }
}
