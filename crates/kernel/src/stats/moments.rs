//! Count, mean, variance and extremes of a sample.

/// Count, mean, variance, smallest and largest of the values recorded.
///
/// Welford, "Note on a method for calculating corrected sums of squares and products" (Technometrics 4, 1962); merged
/// by Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979).
/// Neither loses digits when the spread is small beside the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    count: u64,
    mean: f64,
    /// The sum of squared distances from the mean.
    squares: f64,
    min: f64,
    max: f64,
}

impl Moments {
    /// Of no values.
    pub const fn new() -> Self {
        Moments { count: 0, mean: 0.0, squares: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY }
    }

    /// Takes in a finite value.
    pub fn record(&mut self, value: f64) {
        debug_assert!(value.is_finite(), "value={value} must be finite");
        self.count += 1;
        let from_old = value - self.mean;
        self.mean += from_old / self.count as f64;
        self.squares += from_old * (value - self.mean);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Takes in all that `other` has. Results depend on the order of merging in their last digit.
    pub fn merge(&mut self, other: &Moments) {
        if other.count == 0 {
            return;
        }
        let (own, others) = (self.count as f64, other.count as f64);
        let both = own + others;
        let apart = other.mean - self.mean;
        self.count += other.count;
        self.mean += apart * (others / both);
        self.squares += other.squares + apart * apart * (own * others / both);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// How many values were recorded.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The mean; `None` of no values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// The sample variance (divided by count - 1); `None` of fewer than two values.
    pub fn variance(&self) -> Option<f64> {
        (self.count > 1).then(|| self.squares / (self.count - 1) as f64)
    }

    /// The smallest value; `None` of no values.
    pub fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min)
    }

    /// The largest value; `None` of no values.
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }
}

impl Default for Moments {
    fn default() -> Self {
        Moments::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn moments_of(values: &[f64]) -> Moments {
        let mut moments = Moments::new();
        values.iter().for_each(|&value| moments.record(value));
        moments
    }

    #[test]
    fn a_small_spread_survives_a_large_mean() {
        // 1e9 + {4, 7, 13, 16}: mean 1e9 + 10, squared distances 36 + 9 + 9 + 36 = 90, over 3 is 30. Summing squares of
        // 1e9 would leave no digit of it.
        let moments = moments_of(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]);
        assert_eq!(moments.mean(), Some(1e9 + 10.0));
        assert_eq!(moments.variance(), Some(30.0));
        assert_eq!((moments.min(), moments.max()), (Some(1e9 + 4.0), Some(1e9 + 16.0)));
    }

    #[test]
    fn nothing_has_no_mean_and_one_value_no_variance() {
        assert_eq!(moments_of(&[]).mean(), None);
        assert_eq!(moments_of(&[]).min(), None);
        assert_eq!(moments_of(&[3.0]).mean(), Some(3.0));
        assert_eq!(moments_of(&[3.0]).variance(), None);
    }

    proptest! {
        #[test]
        fn merging_parts_gives_the_whole(values in prop::collection::vec(-1e6..1e6_f64, 0..60), cut in 0..60_usize) {
            let (left, right) = values.split_at(cut.min(values.len()));
            let mut merged = moments_of(left);
            merged.merge(&moments_of(right));
            let whole = moments_of(&values);
            prop_assert_eq!(merged.count(), whole.count());
            prop_assert_eq!((merged.min(), merged.max()), (whole.min(), whole.max()));
            // Values up to 1e6 with 53 bits: sums of 60 are exact to about 1e-8, their squares to about 1e-2 of 1e14.
            prop_assert!((merged.mean - whole.mean).abs() < 1e-8);
            prop_assert!((merged.squares - whole.squares).abs() <= 1e-12 * whole.squares + 1e-2);
        }
    }
}
