//! The files of a population, and where it ends.

use std::ops::Range;

use resilver_units::Bytes;
use serde::Deserialize;

use crate::histogram::Share;
use crate::objects::FILE_INDEX_LIMIT;
use crate::tally::{LISTED_VECTOR, Road, tally};
use crate::{Decomposition, Histogram, LARGEST_FILE, LARGEST_VOLUME, PopulationError};

/// How much is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
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

    /// This range and another.
    #[must_use]
    pub fn and(mut self, other: RangeTotals) -> RangeTotals {
        self.add(other);
        self
    }
}

/// The random words that files are drawn from: a pure function of the file's index.
pub trait Words {
    /// Fills `words` with one word for each of the files from number `first` on.
    fn fill(&self, first: u64, words: &mut [u64]);

    /// A further word of a file, for sizes that one word cannot settle.
    fn further(&self, file: u64) -> u64;
}

/// Files whose words are drawn together: they stay in the first-level cache.
const BATCH: usize = 512;
/// Of the files that are expected up to the end, one in so many more is looked at with them, and some more of few.
const END_MARGIN: u64 = 64;
const END_FILES: u64 = 64;

/// The files of a population, each a pure function of its index.
#[derive(Clone, Debug)]
pub struct Files<W> {
    histogram: Histogram,
    decomposition: Decomposition,
    extent: Extent,
    words: W,
    /// The bin that most files fall into, where they are one object each.
    common: Option<Share>,
}

impl<W: Words> Files<W> {
    /// The population of `extent` drawn from `histogram`.
    ///
    /// # Errors
    /// When files divide into empty or too many objects, or too many files are asked for.
    pub fn new(
        histogram: Histogram,
        decomposition: Decomposition,
        extent: Extent,
        words: W,
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
        let common = histogram.common_share(decomposition.largest_undivided());
        Ok(Files { histogram, decomposition, extent, words, common })
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

    /// How many files to look at behind those that `before` adds up, so that the end is mostly met and little lies beyond it.
    ///
    /// Where a number of files was asked for, the end is met for certain.
    pub fn files_to_end(&self, before: RangeTotals) -> u64 {
        match self.extent {
            Extent::Files(files) => files.saturating_sub(before.files) + 1,
            Extent::Volume(volume) => {
                let left = volume.get().saturating_sub(before.bytes.get());
                let expected = (left as f64 / self.histogram.mean_bytes()).ceil() as u64;
                expected + expected / END_MARGIN + END_FILES
            }
        }
    }

    /// The expected size of a file, in bytes.
    pub fn mean_bytes(&self) -> f64 {
        self.histogram.mean_bytes()
    }

    /// The files of a range that exist as far as a number of files tells, and whether the last of all is reached.
    pub fn counted(&self, range: Range<u64>) -> (Range<u64>, bool) {
        match self.extent {
            Extent::Files(files) => (range.start.min(files)..range.end.min(files), files <= range.end),
            Extent::Volume(_) => (range, false),
        }
    }

    /// The size of file number `index`.
    #[inline]
    pub fn size(&self, index: u64) -> Bytes {
        let mut word = [0];
        self.words.fill(index, &mut word);
        self.histogram.file_size(word[0], || self.words.further(index))
    }

    /// Visits the files of a range in order with (index, size), as if the population had no end.
    pub fn visit(&self, range: Range<u64>, mut visitor: impl FnMut(u64, Bytes)) -> RangeTotals {
        let mut totals = RangeTotals::default();
        self.visit_words(range, |first, words| {
            for (index, &word) in (first..).zip(words) {
                let size = self.histogram.file_size(word, || self.words.further(index));
                totals.files += 1;
                totals.objects += self.decomposition.object_count(size);
                totals.bytes += size;
                visitor(index, size);
            }
        });
        totals
    }

    /// Adds up the files of a range, and visits in order those of several objects with (index, objects), as if the
    /// population had no end.
    ///
    /// Where most files are small, it looks at eight of them at a time.
    pub fn survey(&self, range: Range<u64>, mut visitor: impl FnMut(u64, u64)) -> RangeTotals {
        let mut totals = RangeTotals { files: range.end.saturating_sub(range.start), ..RangeTotals::default() };
        let mut others = [0; BATCH + LISTED_VECTOR];
        self.visit_words(range, |first, words| {
            let (bytes, count) = tally(Road::best(), self.common.as_ref(), words, &mut others);
            totals.bytes += bytes;
            totals.objects += (words.len() - count) as u64;
            for &place in &others[..count] {
                let index = first + u64::from(place);
                let size = self.histogram.file_size(words[place as usize], || self.words.further(index));
                let objects = self.decomposition.object_count(size);
                totals.objects += objects;
                totals.bytes += size;
                if objects > 1 {
                    visitor(index, objects);
                }
            }
        });
        totals
    }

    /// Draws the words of a range, batch by batch: the first file's index, and a word a file.
    #[inline]
    fn visit_words(&self, range: Range<u64>, mut visitor: impl FnMut(u64, &[u64])) {
        let mut words = [0; BATCH];
        let mut first = range.start;
        while first < range.end {
            // Batches begin at multiples of their length, so that whole blocks of random words are asked for.
            let stop = range.end.min((first / BATCH as u64 + 1) * BATCH as u64);
            let words = &mut words[..(stop - first) as usize];
            self.words.fill(first, words);
            visitor(first, words);
            first = stop;
        }
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
    use proptest::prelude::*;

    /// Words that walk evenly through a single bin, so that sizes are known: file i has 1 + (i mod 4) bytes.
    #[derive(Debug)]
    struct Steps;

    impl Words for Steps {
        fn fill(&self, first: u64, words: &mut [u64]) {
            (first..).zip(words).for_each(|(index, word)| *word = (index % 4) << 62);
        }

        fn further(&self, _: u64) -> u64 {
            unreachable!("a bin of four sizes needs one word")
        }
    }

    fn files(extent: Extent) -> Files<Steps> {
        let histogram = Histogram::new(&[Bin { min: 1, max: 5, count: 1 }]).unwrap();
        Files::new(histogram, Decomposition::Whole, extent, Steps).unwrap()
    }

    /// Words without an order.
    struct Scrambled;

    impl Words for Scrambled {
        fn fill(&self, first: u64, words: &mut [u64]) {
            (first..).zip(words).for_each(|(index, word)| *word = index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }

        fn further(&self, file: u64) -> u64 {
            file.wrapping_mul(0xd6e8_feb8_6659_fd93)
        }
    }

    proptest! {
        /// A survey adds up to what a visit does, and names the files of several objects.
        #[test]
        fn a_survey_equals_a_visit(
            bins in prop::collection::vec((0u64..10_000, 1u64..100_000, 1u64..1000), 1..30), common in 0u64..1_000_000,
            piece in 1u64..100_000, start in 0u64..1 << 35, count in 0u64..2000
        ) {
            let mut bins: Vec<Bin> = bins.iter().map(|&(min, width, count)| Bin { min, max: min + width, count }).collect();
            bins[0].count += common;
            let histogram = Histogram::new(&bins).unwrap();
            for way in [Decomposition::Whole, Decomposition::Chunked { chunk: Bytes::new(piece) },
                        Decomposition::Striped { unit: Bytes::new(piece), width: 5 }] {
                let population = Files::new(histogram.clone(), way, Extent::Files(1 << 36), Scrambled).unwrap();
                let (mut divided, mut surveyed) = (Vec::new(), Vec::new());
                let totals = population.visit(start..start + count, |index, size| {
                    if way.object_count(size) > 1 {
                        divided.push((index, way.object_count(size)));
                    }
                });
                let survey = population.survey(start..start + count, |index, objects| surveyed.push((index, objects)));
                prop_assert_eq!(totals, survey);
                prop_assert_eq!(&divided, &surveyed);
            }
        }
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
