//! Quantiles of a sample of whole numbers, from a histogram with logarithmic bins.

/// Bits kept below the leading one: bins are at most 2^-7 of their values wide.
const KEPT_BITS: u32 = 7;

/// A histogram of whole numbers (picoseconds, bytes, counts) whose quantiles are within 1/256 of the exact ones.
///
/// Values below 256 have a bin each and are exact. From there on a bin holds the values that agree in their eight
/// leading bits; it is answered by its middle, which is off by at most half of 2^-7, 0.4 %, of any value in it. Counts
/// only add, so merging in any order gives the same histogram. It holds at most 7,424 bins (58 KiB) whatever is
/// recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogHistogram {
    count: u64,
    bins: Vec<u64>,
}

/// The bin of a value.
#[inline]
fn bin_of(value: u64) -> usize {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(KEPT_BITS + 1);
    // Within one shift the leading bits run from 128 to 255, so each shift adds 128 bins to the first 128.
    (u64::from(shift) << KEPT_BITS) as usize + (value >> shift) as usize
}

/// The middle of a bin, rounded down.
fn middle_of(bin: usize) -> u64 {
    let shift = (bin >> KEPT_BITS).saturating_sub(1);
    let leading = (bin - (shift << KEPT_BITS)) as u64;
    (leading << shift) + ((1_u64 << shift) - 1) / 2
}

impl LogHistogram {
    /// Of no values.
    pub const fn new() -> Self {
        LogHistogram { count: 0, bins: Vec::new() }
    }

    /// Takes in a value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bin = bin_of(value);
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += 1;
        self.count += 1;
    }

    /// Takes in all that `other` has.
    pub fn merge(&mut self, other: &LogHistogram) {
        if other.bins.len() > self.bins.len() {
            self.bins.resize(other.bins.len(), 0);
        }
        for (own, others) in self.bins.iter_mut().zip(&other.bins) {
            *own += others;
        }
        self.count += other.count;
    }

    /// The bins with values in them, rising: the smallest value of each, the smallest above it, and how many it holds.
    ///
    /// The last bin of all ends at the largest number that there is, which it holds too.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let bound = |bin: usize| {
            let shift = (bin >> KEPT_BITS).saturating_sub(1);
            let leading = bin - (shift << KEPT_BITS);
            u64::try_from((leading as u128) << shift).unwrap_or(u64::MAX)
        };
        let filled = self.bins.iter().enumerate().filter(|&(_, &count)| count > 0);
        filled.map(move |(bin, &count)| (bound(bin), bound(bin + 1), count))
    }

    /// How many values were recorded.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The smallest value with at least a share `q` (0 to 1) of the sample at or below it, within 1/256 of itself;
    /// `None` of no values.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        debug_assert!((0.0..=1.0).contains(&q), "q={q} must be a share, from 0 to 1");
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let bin = self.bins.iter().position(|&bin| {
            seen += bin;
            seen >= rank
        })?;
        Some(middle_of(bin))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn histogram_of(values: &[u64]) -> LogHistogram {
        let mut histogram = LogHistogram::new();
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    #[test]
    fn quantiles_of_small_values_are_exact() {
        // 1 to 100: half of them are at or below 50, all but one at or below 99.
        let histogram = histogram_of(&(1..=100).collect::<Vec<_>>());
        assert_eq!(histogram.quantile(0.5), Some(50));
        assert_eq!(histogram.quantile(0.99), Some(99));
        assert_eq!((histogram.quantile(0.0), histogram.quantile(1.0)), (Some(1), Some(100)));
        assert_eq!(LogHistogram::new().quantile(0.5), None);
    }

    #[test]
    fn the_largest_number_has_the_last_bin() {
        // 56 shifts (64 bits less the 8 kept) of 128 bins above the first 256: 256 + 56 * 128 = 7424.
        assert_eq!(bin_of(u64::MAX), 7423);
        assert_eq!(bin_of(255) + 1, bin_of(256));
    }

    #[test]
    fn bins_hold_the_values_between_their_bounds() {
        // 5 has a bin of its own; 300 shares the bin of its eight leading bits, 100101100 without the last: 300 and 301.
        let bins: Vec<(u64, u64, u64)> = histogram_of(&[5, 300, 301, 5, u64::MAX]).bins().collect();
        assert_eq!(bins, [(5, 6, 2), (300, 302, 2), (255 << 56, u64::MAX, 1)]);
    }

    proptest! {
        #[test]
        fn a_bin_s_middle_is_within_a_256th_of_its_values(value: u64, bits in 0..64_u32) {
            let value = value >> bits;
            let middle = middle_of(bin_of(value));
            prop_assert!(u128::from(middle.abs_diff(value)) * 256 <= u128::from(value));
        }

        #[test]
        fn quantiles_are_near_those_of_the_sorted_sample(
            mut values in prop::collection::vec(any::<u64>(), 1..200), q in 0.0..=1.0_f64,
        ) {
            let got = histogram_of(&values).quantile(q).unwrap();
            values.sort_unstable();
            let exact = values[((q * values.len() as f64).ceil() as usize).clamp(1, values.len()) - 1];
            prop_assert!(u128::from(got.abs_diff(exact)) * 256 <= u128::from(exact));
        }

        #[test]
        fn merging_parts_gives_the_whole(values in prop::collection::vec(any::<u64>(), 0..60), cut in 0..60_usize) {
            let (left, right) = values.split_at(cut.min(values.len()));
            let mut merged = histogram_of(left);
            merged.merge(&histogram_of(right));
            prop_assert_eq!(merged, histogram_of(&values));
        }
    }
}
