//! Logarithm, exponential and power by additions, multiplications and divisions alone, rounded to within 0.55 units in the last place for powers up to e^8.
//!
//! IEEE 754 fixes the result of the four operations and of the square root, and of nothing else: the C library's functions differ in the
//! last digit between versions, processors and WebAssembly, and a time that differs in its last digit may become another order of events.
//! Sums of two numbers carry what one rounds away, by Dekker's product (Numer. Math. 18, 1971) and Knuth's sum, neither of which needs a
//! fused multiplication.

use std::f64::consts::{LOG2_E, SQRT_2};

/// A number as the sum of two, of which the second is below half a unit in the last place of the first.
#[derive(Clone, Copy)]
struct Pair(f64, f64);

/// ln 2 to 107 bits.
const LN_2: Pair = Pair(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
/// 1/3, 1/5 and so on, of the series of the logarithm.
const OF_LOGARITHM: [f64; 12] = [
    1.0 / 3.0,
    1.0 / 5.0,
    1.0 / 7.0,
    1.0 / 9.0,
    1.0 / 11.0,
    1.0 / 13.0,
    1.0 / 15.0,
    1.0 / 17.0,
    1.0 / 19.0,
    1.0 / 21.0,
    1.0 / 23.0,
    1.0 / 25.0,
];
/// 1/3!, 1/4! and so on, of the series of the exponential.
const OF_EXPONENTIAL: [f64; 12] = [
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
    1.0 / 87_178_291_200.0,
];
/// What leaves only whole numbers room when it is added: 1.5 2^52.
const TO_WHOLE: f64 = 6_755_399_441_055_744.0;
/// Splits 53 bits into 26 and 27.
const SPLIT: f64 = 134_217_729.0;

/// a + b and what it rounds away.
fn sum(a: f64, b: f64) -> Pair {
    let total = a + b;
    let of_b = total - a;
    Pair(total, (a - (total - of_b)) + (b - of_b))
}

/// The same, where a is not the smaller one.
fn ordered_sum(a: f64, b: f64) -> Pair {
    let total = a + b;
    Pair(total, b - (total - a))
}

fn halves(a: f64) -> [f64; 2] {
    let large = SPLIT * a;
    let high = large - (large - a);
    [high, a - high]
}

/// a b and what it rounds away.
fn product(a: f64, b: f64) -> Pair {
    let ([a_high, a_low], [b_high, b_low]) = (halves(a), halves(b));
    let rounded = a * b;
    Pair(rounded, ((a_high * b_high - rounded) + a_high * b_low + a_low * b_high) + a_low * b_low)
}

/// The sum of coefficient times power, four and four so that they need not wait for each other.
fn polynomial([a, b, c, d, e, f, g, h, i, j, k, l]: &[f64; 12], x: f64) -> f64 {
    let (square, fourth) = (x * x, (x * x) * (x * x));
    let low = (a + b * x) + (c + d * x) * square;
    let middle = (e + f * x) + (g + h * x) * square;
    let high = (i + j * x) + (k + l * x) * square;
    low + (middle + high * fourth) * fourth
}

impl Pair {
    fn plus(self, other: Pair) -> Pair {
        let Pair(total, rest) = sum(self.0, other.0);
        ordered_sum(total, rest + (self.1 + other.1))
    }

    fn times(self, other: Pair) -> Pair {
        let Pair(rounded, rest) = product(self.0, other.0);
        ordered_sum(rounded, rest + (self.0 * other.1 + self.1 * other.0))
    }

    fn over(self, other: Pair) -> Pair {
        let inverse = 1.0 / other.0;
        let first = self.0 * inverse;
        let Pair(rounded, rest) = product(first, other.0);
        let left = ((self.0 - rounded) - rest) + (self.1 - first * other.1);
        ordered_sum(first, left * inverse)
    }

    /// Its logarithm, to some 2^-60 of it; it must be positive and normal.
    #[inline]
    fn ln(self) -> Pair {
        // x = m 2^e with m between sqrt(1/2) and sqrt(2), by splitting the bits.
        let bits = self.0.to_bits();
        let mut exponent = ((bits >> 52) as i64 - 1023) as f64;
        let mut m = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
        let mut low = if self.1 == 0.0 { 0.0 } else { self.1 * (m / self.0) };
        if m > SQRT_2 {
            m *= 0.5;
            low *= 0.5;
            exponent += 1.0;
        }
        // With s = (m-1)/(m+1), ln m = 2 (s + s^3/3 + s^5/5 + ...). |s| is at most 0.1716: the term after s^25/25 is below
        // 0.1716^26/27 = 5e-22 of the sum, and those from s^3/3 on, 0.0098 of it, need no second number. m - 1 is exact.
        let s = if low == 0.0 {
            // Nothing is added to either, which is a good part of the work.
            Pair(m - 1.0, 0.0).over(sum(m, 1.0))
        } else {
            ordered_sum(m - 1.0, low).over(sum(m, 1.0).plus(Pair(low, 0.0)))
        };
        let square = s.0 * s.0;
        let rest = s.0 * square * polynomial(&OF_LOGARITHM, square);
        let Pair(high, of_exponent) = product(LN_2.0, exponent);
        let of_s = ordered_sum(2.0 * s.0, 2.0 * (s.1 + rest));
        Pair(high, of_exponent + LN_2.1 * exponent).plus(of_s)
    }

    /// The exponential, rounded; infinite above 709.78, and zero where it is below all normal numbers.
    fn exp(self) -> f64 {
        if self.0 > 709.782_712_893_384 {
            return f64::INFINITY;
        }
        if self.0 < -708.396_418_532_264_1 {
            return 0.0;
        }
        // x = k ln 2 + r with |r| at most ln 2 / 2 = 0.3466. The term after r^14/14! is below 0.3466^15/15! = 1e-19; those from r^3/6
        // on, 0.0070, need no second number.
        let k = (self.0 * LOG2_E + TO_WHOLE) - TO_WHOLE;
        let Pair(high, low) = product(LN_2.0, -k);
        let r = self.plus(Pair(high, low - LN_2.1 * k));
        let Pair(square, of_square) = product(r.0, r.0);
        let cubes = square * r.0 * polynomial(&OF_EXPONENTIAL, r.0);
        let small = ordered_sum(r.0, 0.5 * square);
        let rest = small.1 + (r.1 + r.1 * r.0 + 0.5 * of_square + cubes);
        let Pair(high, low) = ordered_sum(1.0, small.0);
        let low = low + rest;
        // Half the power of two at a time, since 2^1024 itself is not a number although exp(709.7) is.
        let k = k as i64;
        let power = |e: i64| f64::from_bits(((e + 1023) as u64) << 52);
        (high + low) * power(k / 2) * power(k - k / 2)
    }
}

/// The natural logarithm; of 0 and of what is below normal numbers negative infinity.
///
/// # Arguments
/// * `x` - not negative.
#[must_use]
pub fn ln(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x < f64::MIN_POSITIVE {
        return f64::NEG_INFINITY;
    }
    if x.is_infinite() {
        return x;
    }
    let Pair(high, low) = Pair(x, 0.0).ln();
    high + low
}

/// The natural logarithm of 1 + x, for x of -0.5 and more.
#[must_use]
pub fn ln_1p(x: f64) -> f64 {
    // Below this, x - x^2/2 differs from the logarithm by less than a third of x 2^-80.
    if x.abs() < 1e-12 {
        return x - x * x / 2.0;
    }
    let Pair(high, low) = sum(1.0, x).ln();
    high + low
}

/// The exponential.
#[must_use]
pub fn exp(x: f64) -> f64 {
    Pair(x, 0.0).exp()
}

/// x to the power of y.
///
/// # Arguments
/// * `x` - not negative.
/// * `y` - any number.
#[must_use]
pub fn pow(x: f64, y: f64) -> f64 {
    if y == 0.0 || x == 1.0 {
        return 1.0;
    }
    if x < f64::MIN_POSITIVE || !x.is_finite() || !y.is_finite() {
        return special_pow(x, y);
    }
    let logarithm = Pair(x, 0.0).ln();
    // Far beyond all numbers; the product of the halves would be as well.
    if (logarithm.0 * y).abs() > 800.0 {
        return special_pow(x, y);
    }
    logarithm.times(Pair(y, 0.0)).exp()
}

/// Powers of what is no positive normal number, or to what is none, which are limits.
fn special_pow(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    let grows = (x > 1.0) == (y > 0.0);
    if grows { f64::INFINITY } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: u32 = 200_000;

    /// Of points evenly in (0, 1): how far answers are from the library's at the most, in units in the last place, and how many differ.
    fn off(pairs: impl Fn(f64) -> [f64; 2]) -> (u64, u32) {
        (0..POINTS).fold((0, 0), |(most, differing), point| {
            let [got, wanted] = pairs((f64::from(point) + 0.5) / f64::from(POINTS));
            let distance = got.to_bits().abs_diff(wanted.to_bits());
            (most.max(distance), differing + u32::from(distance > 0))
        })
    }

    /// The library and these are within 0.52 units here: one in fifty of each is the second nearest number at the most.
    fn is_nearest(pairs: impl Fn(f64) -> [f64; 2]) {
        let (most, differing) = off(pairs);
        assert!(most <= 1 && differing <= POINTS / 40, "{most} units off, {differing} of {POINTS} differ");
    }

    #[test]
    fn logarithms_are_the_nearest_numbers() {
        is_nearest(|part| [ln(f64::exp2(part * 2040.0 - 1020.0)), f64::exp2(part * 2040.0 - 1020.0).ln()]);
        is_nearest(|part| [ln(0.5 + part), (0.5 + part).ln()]);
        // The library's own is the second nearest number more often here.
        for scale in [0.5, 1e-9, 1e-13] {
            assert!(off(|part| [ln_1p(-scale * part), (-scale * part).ln_1p()]).0 <= 1);
        }
        assert_eq!([ln(1.0), ln(0.0), ln(f64::INFINITY)], [0.0, f64::NEG_INFINITY, f64::INFINITY]);
        assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan());
    }

    #[test]
    fn exponentials_are_the_nearest_numbers() {
        is_nearest(|part| [exp(part * 1400.0 - 700.0), (part * 1400.0 - 700.0).exp()]);
        is_nearest(|part| [exp(part - 0.5), (part - 0.5).exp()]);
        assert_eq!([exp(0.0), exp(1e9), exp(-1e9)], [1.0, f64::INFINITY, 0.0]);
        assert!(exp(f64::NAN).is_nan());
    }

    #[test]
    fn powers_are_the_nearest_numbers() {
        is_nearest(|part| [pow(part, 2.3), part.powf(2.3)]);
        is_nearest(|part| [pow(1.0 + 1e5 * part, -0.99), (1.0 + 1e5 * part).powf(-0.99)]);
        is_nearest(|part| [pow(1.1, 200.0 * part), 1.1_f64.powf(200.0 * part)]);
        is_nearest(|part| [pow(1e-3, 90.0 * part), 1e-3_f64.powf(90.0 * part)]);
        // What is exact stays so: 2^10, 10^3, 3^30 and a square root.
        assert_eq!([pow(2.0, 10.0), pow(10.0, 3.0), pow(9.0, 0.5)], [1024.0, 1000.0, 3.0]);
        assert_eq!(pow(3.0, 30.0), 205_891_132_094_649.0);
    }

    #[test]
    fn powers_have_the_library_s_limits() {
        for x in [0.0, 0.5, 1.0, 2.0, 1e300, f64::INFINITY, f64::NAN] {
            for y in [f64::NEG_INFINITY, -1e300, -2.0, 0.0, 2.0, 1e300, f64::INFINITY, f64::NAN] {
                let [got, wanted] = [pow(x, y), x.powf(y)];
                assert!(got == wanted || (got.is_nan() && wanted.is_nan()), "{x} ^ {y} = {got}, not {wanted}");
            }
        }
    }
}
