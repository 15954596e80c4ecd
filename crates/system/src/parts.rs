//! The scan of a population in parts: any range of files alone, in any order, by any worker.
//!
//! What parts have found is added up by their order and handed to a run (`Simulation::with_found`), which then equals the
//! run that scans by itself.

use std::ops::Range;

use resilver_placement::inverse::Inverse;
use resilver_population::{FILE_INDEX_LIMIT, LARGEST_VOLUME, RangeTotals, Words};
use resilver_units::Bytes;

use crate::SystemError;
use crate::scan::{FileScan, Scanned};
use crate::scenario::SystemConfig;
use crate::search::{AsGroups, Visitor, visit_scan};

/// What a scan found in one part of a population.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What the part adds up to, and its affected objects.
    pub scanned: Scanned,
    /// Whether the population ends in it.
    pub is_last: bool,
}

/// A scan whose parts are asked for one by one.
trait PartScan: Send + Sync {
    fn expected_files(&self) -> u64;
    /// The volume that a number of files is expected to hold, in bytes.
    fn expected_bytes(&self, files: u64) -> f64;
    /// The files of a range that exist as far as the number of files tells, and whether they are the last ones.
    fn counted(&self, range: Range<u64>) -> (Range<u64>, bool);
    fn scan(&self, range: Range<u64>) -> Scanned;
    fn scan_to_end(&self, range: Range<u64>, before: RangeTotals) -> (Scanned, bool);
}

impl<W, I> PartScan for FileScan<W, I>
where
    W: Words + Send + Sync,
    I: Inverse + Send,
{
    fn expected_files(&self) -> u64 {
        self.files().expected_files()
    }

    fn expected_bytes(&self, files: u64) -> f64 {
        files as f64 * self.files().mean_bytes()
    }

    fn counted(&self, range: Range<u64>) -> (Range<u64>, bool) {
        self.files().counted(range)
    }

    fn scan(&self, range: Range<u64>) -> Scanned {
        FileScan::scan(self, range)
    }

    fn scan_to_end(&self, range: Range<u64>, before: RangeTotals) -> (Scanned, bool) {
        FileScan::scan_to_end(self, range, before)
    }
}

/// Boxes the scan.
struct Boxed;

impl Visitor for Boxed {
    type Result = Box<dyn PartScan>;

    fn files<W, I>(self, scan: FileScan<W, I>) -> Self::Result
    where
        W: Words + Send + Sync + 'static,
        I: Inverse + AsGroups + Send + 'static,
    {
        Box::new(scan)
    }
}

/// The scan of a system's population, part by part.
pub struct PopulationScan {
    /// None for several pools.
    scan: Option<Box<dyn PartScan>>,
}

impl PopulationScan {
    /// The scan of a system's population for what its failed devices held; places the groups, where there are any.
    ///
    /// # Errors
    /// When the population cannot be built, or the placement breaks a law.
    pub fn new(config: &SystemConfig) -> Result<Self, SystemError> {
        let failed = config.failed();
        let scan = (config.pools.len() == 1).then(|| visit_scan(config, 0, &failed, Boxed)).transpose()?;
        Ok(PopulationScan { scan })
    }

    /// Whether there are files to scan in parts; several pools are searched as a whole.
    pub fn can_split(&self) -> bool {
        self.expected_files() > 0
    }

    /// About how many files there are; exact where a number of files was asked for.
    pub fn expected_files(&self) -> u64 {
        self.scan.as_ref().map_or(0, |scan| scan.expected_files())
    }

    /// Scans `files` files from `first` on, as if there were no end to the volume.
    ///
    /// # Errors
    /// When there are no files to scan, or the range is too large.
    pub fn scan(&self, first: u64, files: u64) -> Result<Part, SystemError> {
        let (scan, range) = self.checked(first, files)?;
        let (range, is_last) = scan.counted(range);
        Ok(Part { scanned: scan.scan(range), is_last })
    }

    /// Scans `files` files from `first` on, up to the population's end, where the files before them hold `bytes_before`.
    ///
    /// # Errors
    /// When there are no files to scan, or the range is too large.
    pub fn scan_to_end(&self, first: u64, files: u64, bytes_before: Bytes) -> Result<Part, SystemError> {
        let (scan, range) = self.checked(first, files)?;
        // No more can lie before than a population holds, so that sums stay within their word.
        let before = RangeTotals { bytes: bytes_before.min(LARGEST_VOLUME), ..RangeTotals::default() };
        let (range, is_last) = scan.counted(range);
        let (scanned, is_end_met) = scan.scan_to_end(range, before);
        Ok(Part { scanned, is_last: is_last || is_end_met })
    }

    fn checked(&self, first: u64, files: u64) -> Result<(&dyn PartScan, Range<u64>), SystemError> {
        let scan = self.scan.as_deref().ok_or(SystemError::NothingToScan)?;
        match first.checked_add(files) {
            Some(end) if end <= FILE_INDEX_LIMIT && scan.expected_bytes(files) <= LARGEST_VOLUME.get() as f64 => {
                Ok((scan, first..end))
            }
            _ => Err(SystemError::PartTooLarge { first, files }),
        }
    }
}
