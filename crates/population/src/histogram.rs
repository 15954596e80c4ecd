//! File sizes by weighted sampling of a histogram.

use resilver_units::Bytes;
use serde::Deserialize;

use crate::PopulationError;

/// One bin of a histogram: `count` files of `min` up to, but not including, `max` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Bin {
    /// Smallest size in bytes.
    pub min: u64,
    /// First size above the bin, in bytes.
    pub max: u64,
    /// How many files were counted.
    pub count: u64,
}

/// Widest bin, in bytes, whose sizes come from the word that chose the bin.
const NARROW_WIDTH: u64 = 1 << 16;

/// A histogram of file sizes, ready to draw from.
///
/// A file's size is drawn by choosing a bin in proportion to its count, then a size uniformly within the bin; a size of
/// zero becomes one byte (docs/models/population.md).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<Bin>")]
pub struct Histogram {
    bins: Vec<Bin>,
    /// The words that choose each bin, in rising order; a bin of too small a share for any word has none.
    shares: Vec<Share>,
    /// Where each of the shares starts.
    starts: Vec<u64>,
}

/// The words that choose one bin, and how a size within it comes from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// The first word.
    pub start: u64,
    /// How far the last word lies behind the first.
    pub last: u64,
    /// Smallest size in bytes.
    pub min: u64,
    /// Sizes in the bin.
    pub width: u64,
    /// How a word becomes a size, where the bin is narrow.
    pub scaling: Option<Scaling>,
}

/// The size at an offset into a share: the offset's leading 32 bits times a factor of 32 bits.
///
/// A share has 2^31 of these offsets or more, and the factor is 2^31 or more (2^30 where the width is 1), so the distribution
/// function of the sizes in a bin is right to 2^-30.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scaling {
    /// What the offset is shifted by to leave 32 bits.
    pub offset_shift: u32,
    /// The factor.
    pub factor: u32,
    /// What the product is shifted by to leave a size.
    pub product_shift: u32,
}

impl Scaling {
    /// The scaling of a share that ends at `last`, if it has words enough for a bin of `width` sizes.
    fn new(last: u64, width: u64) -> Option<Scaling> {
        if width > NARROW_WIDTH || last < u64::from(u32::MAX) {
            return None;
        }
        let offset_shift = 32 - last.leading_zeros();
        let offsets = (last >> offset_shift) + 1;
        let factor = |shift: u32| (u128::from(width) << shift) / u128::from(offsets);
        let product_shift = (0..64).rev().find(|&shift| factor(shift) <= u128::from(u32::MAX))?;
        Some(Scaling { offset_shift, factor: factor(product_shift) as u32, product_shift })
    }

    /// What lies above the smallest size, for an offset within the share; meaningless beyond it.
    #[inline(always)]
    pub(crate) fn size(self, offset: u64) -> u64 {
        let leading = u64::from((offset >> self.offset_shift) as u32);
        (leading * u64::from(self.factor)) >> self.product_shift
    }
}

impl TryFrom<Vec<Bin>> for Histogram {
    type Error = PopulationError;

    fn try_from(bins: Vec<Bin>) -> Result<Self, PopulationError> {
        Histogram::new(&bins)
    }
}

impl Histogram {
    /// A histogram of `bins`; bins without files are left out.
    ///
    /// # Errors
    /// When no bin counts a file, a bin is empty, or the counts overflow.
    pub fn new(bins: &[Bin]) -> Result<Self, PopulationError> {
        let mut kept = Vec::with_capacity(bins.len());
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
        }
        if kept.is_empty() {
            return Err(PopulationError::EmptyHistogram);
        }
        // Word w stands for file w total / 2^64 of those counted, so a bin's first word is its first file's, rounded up.
        let first_word = |files: u64| (u128::from(files) << 64).div_ceil(u128::from(total));
        let mut shares = Vec::with_capacity(kept.len());
        let mut files = 0;
        for bin in &kept {
            let (start, end) = (first_word(files), first_word(files + bin.count));
            files += bin.count;
            if start < end {
                let (width, last) = (bin.max - bin.min, (end - start - 1) as u64);
                let scaling = Scaling::new(last, width);
                shares.push(Share { start: start as u64, last, min: bin.min, width, scaling });
            }
        }
        let starts = shares.iter().map(|share| share.start).collect();
        Ok(Histogram { bins: kept, shares, starts })
    }

    /// The size of a file from a uniform random word, and from a further one where the bin is wide.
    #[inline]
    pub fn file_size(&self, word: u64, further: impl FnOnce() -> u64) -> Bytes {
        // The first share starts at word 0, so one that starts at or before the word is there.
        let index = match self.starts.len() {
            // A short run of comparisons without a branch to predict wins over bisection.
            ..=16 => self.starts.iter().map(|&start| usize::from(start <= word)).sum::<usize>() - 1,
            _ => self.starts.partition_point(|&start| start <= word) - 1,
        };
        let share = &self.shares[index];
        let offset = match share.scaling {
            Some(scaling) => scaling.size(word - share.start),
            None => scale(further(), share.width),
        };
        Bytes::new((share.min + offset).max(1))
    }

    /// The share that most words fall into, if one word settles its sizes and none is larger than `largest`.
    pub(crate) fn common_share(&self, largest: Bytes) -> Option<Share> {
        let share = self.shares.iter().max_by_key(|share| share.last)?;
        let is_small = share.min + share.width - 1 <= largest.get();
        (is_small && share.scaling.is_some()).then_some(*share)
    }

    /// The largest size that can be drawn.
    pub fn largest(&self) -> Bytes {
        Bytes::new(self.bins.iter().map(|bin| (bin.max - 1).max(1)).max().expect("a histogram has a bin"))
    }

    /// The expected size of a file, in bytes, taking each bin's sizes as uniform and a size of zero as one byte.
    pub fn mean_bytes(&self) -> f64 {
        let mean = |bin: &Bin| {
            let plain = (bin.min as f64 + (bin.max - 1) as f64) / 2.0;
            if bin.min == 0 { plain + 1.0 / bin.max as f64 } else { plain }
        };
        let total: f64 = self.bins.iter().map(|bin| bin.count as f64).sum();
        let volume: f64 = self.bins.iter().map(|bin| bin.count as f64 * mean(bin)).sum();
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

    fn size(histogram: &Histogram, word: u64) -> u64 {
        histogram.file_size(word, || unreachable!("the bin is narrow")).get()
    }

    #[test]
    fn the_bin_follows_the_counts() {
        // Three files in four lie in the first bin, so words below 3/4 of 2^64 choose it; each bin's last word has its
        // largest size.
        let edge = 3u64 << 62;
        assert_eq!(size(&two_bins(), edge - 1), 9);
        assert_eq!(size(&two_bins(), edge), 100);
        assert_eq!(size(&two_bins(), u64::MAX), 199);
    }

    #[test]
    fn a_size_of_zero_becomes_one_byte() {
        assert_eq!(size(&two_bins(), 0), 1);
    }

    #[test]
    fn many_bins_are_bisected_to_the_same_answer() {
        // Forty bins [i, i + 1) of one file each: word w chooses bin floor(40 w / 2^64), and the size is the bin.
        let bins: Vec<Bin> = (1..=40).map(|i| Bin { min: i, max: i + 1, count: 1 }).collect();
        let histogram = Histogram::new(&bins).unwrap();
        for i in 0..40u64 {
            let word = (u64::MAX / 40) * i + u64::MAX / 80;
            assert_eq!(size(&histogram, word), i + 1);
        }
    }

    #[test]
    fn a_wide_bin_and_a_rare_one_draw_a_further_word() {
        // A bin of 2^40 sizes, and one of ten sizes that 2^32 of 2^64 words choose less one: half of a further word is half
        // of the bin.
        let wide = Histogram::new(&[Bin { min: 0, max: 1 << 40, count: 1 }]).unwrap();
        assert_eq!(wide.file_size(5, || 1 << 63).get(), 1 << 39);
        let rare = Histogram::new(&[
            Bin { min: 0, max: 1, count: u64::MAX - (1 << 32) },
            Bin { min: 10, max: 20, count: (1 << 32) - 1 },
        ]);
        assert_eq!(rare.unwrap().file_size(u64::MAX, || 1 << 63).get(), 15);
    }

    #[test]
    fn a_narrow_bin_s_sizes_are_equally_likely() {
        // Of words of a share at even steps, each of w sizes gets its share to within one part in 2^14 and one word: the
        // offsets of 32 bits leave 2^15 values a size at least, of which the rounded factor may give one more or less.
        for (width, count) in [(1u64 << 16, 1), (50_000, 2), (4096, 97), (1000, 999), (3, 1)] {
            let bins = [Bin { min: 1, max: 1 + width, count }, Bin { min: 1 << 40, max: 1 << 41, count: 1 }];
            let histogram = Histogram::new(&bins).unwrap();
            let share = histogram.shares[0];
            let edge = |at: u64| share.start + (u128::from(share.last) * u128::from(at) / u128::from(width)) as u64;
            for at in 0..width {
                // The word in the middle of a size's part of the share has that size; those a sixteenth of the part inside
                // of its ends have it too.
                let part = edge(at + 1) - edge(at);
                for word in [edge(at) + part / 16, edge(at) + part / 2, edge(at + 1) - part / 16] {
                    assert_eq!(size(&histogram, word), 1 + at, "width {width}");
                }
            }
        }
    }

    #[test]
    fn the_mean_is_the_bins_mean() {
        // The sizes 0 to 9 are drawn as 1, 1, 2 ... 9, whose mean is 4.6: (3 x 4.6 + 1 x 149.5) / 4 = 40.825.
        assert!((two_bins().mean_bytes() - 40.825).abs() < 1e-12);
        // Empty files only: each is drawn as one byte.
        assert_eq!(Histogram::new(&[Bin { min: 0, max: 1, count: 3 }]).unwrap().mean_bytes(), 1.0);
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
