//! File sizes by weighted sampling of a histogram.

use resilver_units::Bytes;

use crate::PopulationError;

/// One bin of a histogram: `count` files of `min` up to, but not including, `max` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// Smallest size in bytes.
    pub min: u64,
    /// First size above the bin, in bytes.
    pub max: u64,
    /// How many files were counted.
    pub count: u64,
}

/// A histogram of file sizes, ready to draw from.
///
/// A file's size is drawn by choosing a bin in proportion to its count, then a size uniformly within the bin; a size of
/// zero becomes one byte (docs/models/population.md).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    bins: Vec<Bin>,
    /// The running sum of the counts, bin by bin; its last entry is the total.
    cumulative: Vec<u64>,
}

impl Histogram {
    /// A histogram of `bins`; bins without files are left out.
    ///
    /// # Errors
    /// When no bin counts a file, a bin is empty, or the counts overflow.
    pub fn new(bins: &[Bin]) -> Result<Self, PopulationError> {
        let mut kept = Vec::with_capacity(bins.len());
        let mut cumulative = Vec::with_capacity(bins.len());
        let mut total = 0u64;
        for (index, bin) in bins.iter().enumerate() {
            if bin.max <= bin.min {
                return Err(PopulationError::EmptyBin { index, min: bin.min, max: bin.max });
            }
            if bin.count == 0 {
                continue;
            }
            total = total.checked_add(bin.count).ok_or(PopulationError::CountOverflow)?;
            kept.push(*bin);
            cumulative.push(total);
        }
        if kept.is_empty() {
            return Err(PopulationError::EmptyHistogram);
        }
        Ok(Histogram { bins: kept, cumulative })
    }

    /// The size of a file from two uniform random words: one chooses the bin, the other the size within it.
    #[inline]
    pub fn file_size(&self, bin_word: u64, size_word: u64) -> Bytes {
        let total = *self.cumulative.last().expect("a histogram has a bin");
        let rank = scale(bin_word, total);
        let index = match self.bins.len() {
            // A short run of comparisons without a branch to predict wins over bisection.
            ..=16 => self.cumulative.iter().map(|&edge| usize::from(rank >= edge)).sum(),
            _ => self.cumulative.partition_point(|&edge| edge <= rank),
        };
        let bin = self.bins[index];
        Bytes::new((bin.min + scale(size_word, bin.max - bin.min)).max(1))
    }

    /// The largest size that can be drawn.
    pub fn largest(&self) -> Bytes {
        Bytes::new(self.bins.iter().map(|bin| (bin.max - 1).max(1)).max().expect("a histogram has a bin"))
    }

    /// The expected size of a file, in bytes, taking each bin's sizes as uniform.
    pub fn mean_bytes(&self) -> f64 {
        let total = *self.cumulative.last().expect("a histogram has a bin") as f64;
        let volume: f64 =
            self.bins.iter().map(|bin| bin.count as f64 * (bin.min as f64 + (bin.max - 1) as f64) / 2.0).sum();
        volume / total
    }
}

/// A uniform word scaled to `0..limit`, by the upper half of the product (bias below `limit` / 2^64).
#[inline]
fn scale(word: u64, limit: u64) -> u64 {
    ((u128::from(word) * u128::from(limit)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_bins() -> Histogram {
        Histogram::new(&[Bin { min: 0, max: 10, count: 3 }, Bin { min: 100, max: 200, count: 1 }]).unwrap()
    }

    #[test]
    fn the_bin_follows_the_counts() {
        // Three files in four lie in the first bin, so words below 3/4 of 2^64 choose it.
        let edge = 3u64 << 62;
        assert_eq!(two_bins().file_size(edge - 1, u64::MAX).get(), 9);
        assert_eq!(two_bins().file_size(edge, 0).get(), 100);
        assert_eq!(two_bins().file_size(u64::MAX, u64::MAX).get(), 199);
    }

    #[test]
    fn a_size_of_zero_becomes_one_byte() {
        assert_eq!(two_bins().file_size(0, 0).get(), 1);
    }

    #[test]
    fn many_bins_are_bisected_to_the_same_answer() {
        // Forty bins [i, i + 1) of one file each: word w chooses bin floor(40 w / 2^64), and the size is the bin.
        let bins: Vec<Bin> = (1..=40).map(|i| Bin { min: i, max: i + 1, count: 1 }).collect();
        let histogram = Histogram::new(&bins).unwrap();
        for i in 0..40u64 {
            let word = (u64::MAX / 40) * i + u64::MAX / 80;
            assert_eq!(histogram.file_size(word, 0).get(), i + 1);
        }
    }

    #[test]
    fn the_mean_is_the_bins_mean() {
        // (3 x 4.5 + 1 x 149.5) / 4 = 40.75.
        assert!((two_bins().mean_bytes() - 40.75).abs() < 1e-12);
    }

    #[test]
    fn a_histogram_without_files_is_refused() {
        assert_eq!(Histogram::new(&[]), Err(PopulationError::EmptyHistogram));
        assert_eq!(Histogram::new(&[Bin { min: 0, max: 1, count: 0 }]), Err(PopulationError::EmptyHistogram));
        assert!(matches!(Histogram::new(&[Bin { min: 5, max: 5, count: 1 }]), Err(PopulationError::EmptyBin { .. })));
        let huge = Bin { min: 0, max: 1, count: u64::MAX };
        assert_eq!(Histogram::new(&[huge, huge]), Err(PopulationError::CountOverflow));
    }
}
