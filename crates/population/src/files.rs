//! The files of a population, and where it ends.

use std::ops::Range;

use resilver_units::Bytes;

use crate::objects::FILE_INDEX_LIMIT;
use crate::{Decomposition, Histogram, LARGEST_FILE, LARGEST_VOLUME, PopulationError};

/// How much is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// This many files.
    Files(u64),
    /// Files up to this volume: drawing stops before a file would take the total past it.
    Volume(Bytes),
}

/// What a range of files adds up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeTotals {
    /// Files in the range.
    pub files: u64,
    /// Objects those files divide into.
    pub objects: u64,
    /// Volume of those files, before replication.
    pub bytes: Bytes,
}

impl RangeTotals {
    /// Adds another range.
    pub fn add(&mut self, other: RangeTotals) {
        self.files += other.files;
        self.objects += other.objects;
        self.bytes += other.bytes;
    }
}

/// The files of a population, each a pure function of its index.
///
/// `draws` gives four uniform random words for a file index; the first chooses the bin, the second the size.
#[derive(Clone, Debug)]
pub struct Files<D> {
    histogram: Histogram,
    decomposition: Decomposition,
    extent: Extent,
    draws: D,
}

impl<D: Fn(u64) -> [u64; 4]> Files<D> {
    /// The population of `extent` drawn from `histogram`.
    ///
    /// # Errors
    /// When files divide into empty or too many objects, or too many files are asked for.
    pub fn new(
        histogram: Histogram,
        decomposition: Decomposition,
        extent: Extent,
        draws: D,
    ) -> Result<Self, PopulationError> {
        decomposition.check(histogram.largest())?;
        if histogram.largest() > LARGEST_FILE {
            return Err(PopulationError::FileTooLarge { bytes: histogram.largest().get() });
        }
        let (files, volume) = match extent {
            Extent::Files(files) => (files, files as f64 * histogram.largest().get() as f64),
            Extent::Volume(volume) => ((volume.get() as f64 / histogram.mean_bytes()) as u64, volume.get() as f64),
        };
        if volume > LARGEST_VOLUME.get() as f64 {
            return Err(PopulationError::VolumeTooLarge { bytes: volume });
        }
        if files > FILE_INDEX_LIMIT {
            return Err(PopulationError::TooManyFiles { files });
        }
        Ok(Files { histogram, decomposition, extent, draws })
    }

    /// How files divide into objects.
    pub fn decomposition(&self) -> Decomposition {
        self.decomposition
    }

    /// About how many files there are, to show progress against; exact where a number of files was asked for.
    pub fn expected_files(&self) -> u64 {
        match self.extent {
            Extent::Files(files) => files,
            Extent::Volume(volume) => (volume.get() as f64 / self.histogram.mean_bytes()).ceil() as u64,
        }
    }

    /// The size of file number `index`.
    #[inline]
    pub fn size(&self, index: u64) -> Bytes {
        let [bin_word, size_word, _, _] = (self.draws)(index);
        self.histogram.file_size(bin_word, size_word)
    }

    /// Visits the files of a range in order with (index, size), as if the population had no end.
    #[inline]
    pub fn visit(&self, range: Range<u64>, mut visitor: impl FnMut(u64, Bytes)) -> RangeTotals {
        let mut totals = RangeTotals::default();
        for index in range {
            let size = self.size(index);
            totals.files += 1;
            totals.objects += self.decomposition.object_count(size);
            totals.bytes += size;
            visitor(index, size);
        }
        totals
    }

    /// Where the population ends inside a range, when `before` lies in front of it: the first file left out, if any.
    ///
    /// `range_totals` is what [`Self::visit`] returned for the range, so that only the last range is drawn again.
    pub fn end_within(&self, range: Range<u64>, before: RangeTotals, range_totals: RangeTotals) -> Option<u64> {
        match self.extent {
            Extent::Files(files) => (files < range.end).then_some(files.max(range.start)),
            Extent::Volume(volume) => {
                if before.bytes + range_totals.bytes <= volume {
                    return None;
                }
                let mut total = before.bytes;
                for index in range {
                    let size = self.size(index);
                    if total + size > volume {
                        return Some(index);
                    }
                    total += size;
                }
                unreachable!("the range's total passes the volume, so one of its files does")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bin;

    /// Words that walk evenly through a single bin, so that sizes are known: file i has 1 + (i mod 4) bytes.
    fn steps(index: u64) -> [u64; 4] {
        [0, (index % 4) << 62, 0, 0]
    }

    fn files(extent: Extent) -> Files<fn(u64) -> [u64; 4]> {
        let histogram = Histogram::new(&[Bin { min: 1, max: 5, count: 1 }]).unwrap();
        Files::new(histogram, Decomposition::Whole, extent, steps as fn(u64) -> [u64; 4]).unwrap()
    }

    #[test]
    fn drawing_stops_before_the_volume_is_passed() {
        // Sizes 1 2 3 4 1 2 3 4: the first six files hold 13 bytes, a seventh would make 16.
        let population = files(Extent::Volume(Bytes::new(15)));
        let totals = population.visit(0..8, |_, _| {});
        assert_eq!(population.end_within(0..8, RangeTotals::default(), totals), Some(6));
        // 13 bytes are met exactly by six files: the sixth is still stored.
        let exact = files(Extent::Volume(Bytes::new(13)));
        assert_eq!(exact.end_within(0..8, RangeTotals::default(), totals), Some(6));
    }

    #[test]
    fn a_range_generates_alone_what_it_generates_in_company() {
        let population = files(Extent::Files(100));
        let mut whole = Vec::new();
        population.visit(0..100, |index, size| whole.push((index, size)));
        let mut parts = Vec::new();
        for range in [60..100, 0..30, 30..60] {
            population.visit(range, |index, size| parts.push((index, size)));
        }
        parts.sort();
        assert_eq!(whole, parts);
    }

    #[test]
    fn a_count_of_files_is_met_exactly() {
        let population = files(Extent::Files(5));
        let totals = population.visit(0..8, |_, _| {});
        assert_eq!(population.end_within(0..8, RangeTotals::default(), totals), Some(5));
        assert_eq!(population.end_within(0..5, RangeTotals::default(), totals), None);
    }
}
