//! Rates of data.

use serde::Deserialize;

use crate::time::PICOSECONDS_PER_SECOND;
use crate::{Bytes, SimDuration};

/// A rate of data in bytes a second; always finite and above zero.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Deserialize)]
#[serde(try_from = "f64")]
#[repr(transparent)]
pub struct BytesPerSecond(f64);

/// A number of bytes a second that is no rate.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} B/s is not a rate: it must be finite and above zero")]
pub struct RateError(pub f64);

/// The time that a byte takes at some rate, kept to spare each transfer the division.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct TimePerByte {
    picoseconds: f64,
}

impl BytesPerSecond {
    /// The rate, or `None` unless it is finite and above zero.
    pub fn new(bytes_per_second: f64) -> Option<Self> {
        (bytes_per_second.is_finite() && bytes_per_second > 0.0).then_some(BytesPerSecond(bytes_per_second))
    }

    /// Bytes a second.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The time that a byte takes at this rate.
    pub fn time_per_byte(self) -> TimePerByte {
        TimePerByte { picoseconds: PICOSECONDS_PER_SECOND as f64 / self.0 }
    }

    /// The time that `amount` takes at this rate, to the nearest picosecond (the horizon, where it takes longer).
    pub fn time_for(self, amount: Bytes) -> SimDuration {
        self.time_per_byte().time_for(amount)
    }
}

impl TryFrom<f64> for BytesPerSecond {
    type Error = RateError;

    fn try_from(bytes_per_second: f64) -> Result<Self, RateError> {
        BytesPerSecond::new(bytes_per_second).ok_or(RateError(bytes_per_second))
    }
}

impl TimePerByte {
    /// The time that `amount` takes, to the nearest picosecond (the horizon, where it takes longer).
    #[inline]
    pub fn time_for(self, amount: Bytes) -> SimDuration {
        // Below 2^63 a signed number is the same, and takes the processor one instruction rather than several.
        let bytes = amount.get();
        let bytes = if bytes <= i64::MAX as u64 { bytes as i64 as f64 } else { bytes as f64 };
        SimDuration::from_picoseconds(nearest(bytes * self.picoseconds))
    }
}

/// 2^63, from which on a number does not fit into a signed integer.
const SIGNED_LIMIT: f64 = (1u64 << 63) as f64;

/// The whole number nearest to `value`, which is zero or more: halves go up, what is too large is `u64::MAX`.
///
/// It equals `value.round() as u64`, which is a call into the mathematics library on the processors that builds are
/// made for. What the cast cuts off is exact: below 2^53 both parts have the bits they need, and above it nothing is cut
/// off.
#[inline]
fn nearest(value: f64) -> u64 {
    // Below 2^63 the signed cast is the same, and takes the processor one instruction rather than several.
    if value < SIGNED_LIMIT {
        let whole = value as i64;
        return whole as u64 + u64::from(value - whole as f64 >= 0.5);
    }
    // A float-to-integer cast saturates, which is the horizon.
    let whole = value as u64;
    whole.saturating_add(u64::from(value - whole as f64 >= 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_finite_and_above_zero() {
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(BytesPerSecond::new(wrong).is_none());
        }
    }

    #[test]
    fn time_is_amount_over_rate() {
        // 16 MiB at 1542.1 MiB/s: 16 / 1542.1 s = 10.375462 ms.
        let rate = BytesPerSecond::new(1542.1 * 1024.0 * 1024.0).unwrap();
        let time = rate.time_for(Bytes::mebibytes(16));
        assert!((time.seconds() - 16.0 / 1542.1).abs() < 1e-12);
    }

    #[test]
    fn what_never_ends_takes_until_the_horizon() {
        let slow = BytesPerSecond::new(1e-300).unwrap();
        assert_eq!(slow.time_for(Bytes::new(u64::MAX)).picoseconds(), u64::MAX);
        assert_eq!(slow.time_for(Bytes::ZERO).picoseconds(), 0);
    }

    #[test]
    fn the_nearest_whole_number_is_that_of_the_library() {
        // Values of every magnitude: each power of two with the neighbours of it, of its half and of one half more.
        let around = |value: f64| [value.next_down(), value, value.next_up()];
        for exponent in -3..=70 {
            let power = 2_f64.powi(exponent);
            for value in [power, power + 0.5, power - 0.5, power * 1.37].into_iter().flat_map(around) {
                if value >= 0.0 {
                    assert_eq!(nearest(value), value.round() as u64, "{value}");
                }
            }
        }
        assert_eq!(nearest(0.5_f64.next_down()), 0);
        assert_eq!(nearest(f64::INFINITY), u64::MAX);
    }
}
