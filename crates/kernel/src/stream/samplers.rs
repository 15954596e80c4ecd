//! Samplers, each an inverse transform of its own, so that no library's change moves a result.

use super::Stream;
use super::elementary::{exp, ln};

impl Stream {
    /// A number in [0, 1): one draw, a whole multiple of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A number in (0, 1), never either end: one draw, an odd multiple of 2^-53.
    #[inline]
    pub fn uniform_open(&mut self) -> f64 {
        // 52 bits and a half are exact; with 53 the largest would be rounded up to one.
        ((self.next_u64() >> 12) as f64 + 0.5) * (1.0 / (1_u64 << 52) as f64)
    }

    /// A whole number in 0..n, each exactly as likely: one draw, rarely more.
    ///
    /// Lemire, "Fast random integer generation in an interval" (ACM TOMACS 29, 2019).
    ///
    /// # Panics
    /// When `n` is zero: there is nothing to choose from.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "a draw below zero has nothing to choose from");
        // The high word of draw * n is the number. A number gets one draw too many when the low word falls among the
        // first 2^64 mod n, so these are drawn again; the low word is below n whenever it is among them.
        let mut product = self.next_u64() as u128 * n as u128;
        if (product as u64) < n {
            let excess = n.wrapping_neg() % n;
            while (product as u64) < excess {
                product = self.next_u64() as u128 * n as u128;
            }
        }
        (product >> 64) as u64
    }

    /// An exponentially distributed number: one draw.
    ///
    /// `mean` is finite and above zero, and the result has its unit.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        debug_assert!(mean.is_finite() && mean > 0.0, "mean={mean} must be finite and above zero");
        -mean * ln(self.uniform_open())
    }

    /// A Weibull distributed number, scale (-ln u)^(1/shape): one draw.
    ///
    /// Both are finite and above zero; the result has the unit of `scale`. A shape below one means that failures become
    /// rarer with age, above one that they become more frequent.
    #[inline]
    pub fn weibull(&mut self, shape: f64, scale: f64) -> f64 {
        debug_assert!(shape.is_finite() && shape > 0.0, "shape={shape} must be finite and above zero");
        debug_assert!(scale.is_finite() && scale > 0.0, "scale={scale} must be finite and above zero");
        scale * exp(ln(-ln(self.uniform_open())) / shape)
    }

    /// A Pareto distributed number, minimum u^(-1/shape): one draw.
    ///
    /// Both are finite and above zero; the result has the unit of `minimum`. The mean is infinite for a shape of one or
    /// less, the variance for two or less.
    #[inline]
    pub fn pareto(&mut self, shape: f64, minimum: f64) -> f64 {
        debug_assert!(shape.is_finite() && shape > 0.0, "shape={shape} must be finite and above zero");
        debug_assert!(minimum.is_finite() && minimum > 0.0, "minimum={minimum} must be finite and above zero");
        minimum * exp(-ln(self.uniform_open()) / shape)
    }

    /// A normally distributed number of mean 0 and standard deviation 1, by the polar method: two draws, sometimes more.
    ///
    /// Marsaglia and Bray, "A convenient method for generating normal variables" (SIAM Review 6, 1964); the second of each pair
    /// is not kept.
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * ln(square) / square).sqrt();
            }
        }
    }
}
