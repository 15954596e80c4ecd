//! Rates of data.

use crate::time::PICOSECONDS_PER_SECOND;
use crate::{Bytes, SimDuration};

/// A rate of data in bytes a second; always finite and above zero.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct BytesPerSecond(f64);

impl BytesPerSecond {
    /// The rate, or `None` unless it is finite and above zero.
    pub fn new(bytes_per_second: f64) -> Option<Self> {
        (bytes_per_second.is_finite() && bytes_per_second > 0.0).then_some(BytesPerSecond(bytes_per_second))
    }

    /// Bytes a second.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The time that `amount` takes at this rate, to the nearest picosecond (the horizon, where it takes longer).
    pub fn time_for(self, amount: Bytes) -> SimDuration {
        // A float-to-integer cast saturates, which is the horizon.
        SimDuration::from_picoseconds((amount.get() as f64 * (PICOSECONDS_PER_SECOND as f64 / self.0)).round() as u64)
    }
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
}
