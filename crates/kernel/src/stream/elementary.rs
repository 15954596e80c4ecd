//! Logarithm and exponential by additions, multiplications and divisions alone.
//!
//! The C library's differ in the last digit between platforms and versions, and a sample that differs in its last digit
//! becomes another event order. IEEE 754 fixes the result of the four operations, so these give equal bits everywhere.

/// ln 2 as a sum of two numbers; the first has 32 significant bits, so that its product with an exponent is exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// The natural logarithm of a finite, positive, normal number, to within 2 units in the last place.
pub fn ln(x: f64) -> f64 {
    // x = m 2^e with m between sqrt(1/2) and sqrt(2), by splitting the bits.
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    // With s = (m-1)/(m+1), ln m = 2 atanh s = 2 (s + s^3/3 + s^5/5 + ...). |s| is at most 0.1716, so the term after
    // s^21/21 is below 0.1716^22/23 = 6e-19 of the sum, and may be left out of 53 bits.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let mut series = 0.0;
    for odd in (3..=21).rev().step_by(2) {
        series = series * square + 1.0 / odd as f64;
    }
    let exponent = exponent as f64;
    exponent * LN_2_HIGH + (2.0 * s + (2.0 * s * square * series + exponent * LN_2_LOW))
}

/// The exponential of a number, to within 2 units in the last place; infinite above 709.7, zero below -708.
pub fn exp(x: f64) -> f64 {
    if x > 709.78 {
        return f64::INFINITY;
    }
    if x < -708.0 {
        return 0.0;
    }
    // x = k ln 2 + r with |r| at most ln 2 / 2 = 0.3466. The term after r^13/13! is below 0.3466^14/14! = 4e-18.
    let k = (x * std::f64::consts::LOG2_E).round();
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let mut series = 1.0;
    for divisor in (2..=13).rev() {
        series = 1.0 + r / divisor as f64 * series;
    }
    // Half the power of two at a time, since 2^1024 itself is not a number although exp(709.7) is.
    let k = k as i64;
    let power = |e: i64| f64::from_bits(((e + 1023) as u64) << 52);
    (1.0 + r * series) * power(k / 2) * power(k - k / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far `got` is from `wanted` in units of the last place of `wanted`.
    fn units_off(got: f64, wanted: f64) -> u64 {
        got.to_bits().abs_diff(wanted.to_bits())
    }

    #[test]
    fn the_logarithm_is_within_two_units_of_the_library_s() {
        // 200,000 points, evenly in the exponent, over all normal positive numbers and closely around 1.
        for index in 0..200_000 {
            let part = (index as f64 + 0.5) / 200_000.0;
            for x in [f64::exp2(part * 2040.0 - 1020.0), 0.5 + part, 1.0 + (part - 0.5) * 1e-6] {
                assert!(units_off(ln(x), x.ln()) <= 2, "ln {x:e} = {:e}, not {:e}", ln(x), x.ln());
            }
        }
        assert_eq!(ln(1.0), 0.0);
    }

    #[test]
    fn the_exponential_is_within_two_units_of_the_library_s() {
        for index in 0..200_000 {
            let part = (index as f64 + 0.5) / 200_000.0;
            for x in [part * 1400.0 - 700.0, part - 0.5, (part - 0.5) * 1e-6] {
                assert!(units_off(exp(x), x.exp()) <= 2, "exp {x:e} = {:e}, not {:e}", exp(x), x.exp());
            }
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(1e9), f64::INFINITY);
        assert_eq!(exp(-1e9), 0.0);
    }
}
