//! What is stored: a histogram of file sizes, the files drawn from it, and the objects that files divide into.
//!
//! Files and objects are a pure function of (seed, file index). The random words of a file come from outside, as a
//! function of the file's index, so any range of files can be generated alone, in any order, on any worker.

mod census;
mod files;
mod histogram;
mod objects;
mod tally;

pub use census::{Census, SizeClass};
pub use files::{Extent, Files, RangeTotals, Words};
pub use histogram::{Bin, Histogram};
pub use objects::{Decomposition, FILE_INDEX_LIMIT, OBJECT_INDEX_LIMIT, file_of, first_object};

use resilver_units::Bytes;
use thiserror::Error;

/// Why a population cannot be built.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PopulationError {
    /// The histogram has no bin that counts a file.
    #[error("population.histogram counts no file: give at least one bin `min max count` with a count above zero")]
    EmptyHistogram,
    /// A bin's upper edge is not above its lower edge.
    #[error("population.histogram bin {index} spans [{min}, {max}): the upper edge must lie above the lower one")]
    EmptyBin {
        /// Position of the bin, from 0.
        index: usize,
        /// Lower edge in bytes.
        min: u64,
        /// Upper edge in bytes.
        max: u64,
    },
    /// The counts add up to more than 64 bits hold.
    #[error("population.histogram counts more than 2^64 files: scale the counts down")]
    CountOverflow,
    /// A size of zero where pieces are cut.
    #[error("population.objects.{field} = 0 B: it must be at least 1 B")]
    ZeroPiece {
        /// Which key of `population.objects`.
        field: &'static str,
    },
    /// A stripe over no objects.
    #[error("population.objects.stripe_width = 0: a file must be striped over at least 1 object")]
    ZeroWidth,
    /// A file would divide into more objects than an object's identifier can number.
    #[error(
        "population: a file of {file_bytes} B divides into {objects} objects; at most {OBJECT_INDEX_LIMIT} a file can be \
         numbered: enlarge population.objects.chunk"
    )]
    TooManyObjects {
        /// Largest file of the histogram in bytes.
        file_bytes: u64,
        /// Objects it divides into.
        objects: u64,
    },
    /// More files than an object's identifier can number.
    #[error("population: {files} files are asked for; at most {FILE_INDEX_LIMIT} can be numbered: ask for fewer")]
    TooManyFiles {
        /// Files asked for.
        files: u64,
    },
    /// A file larger than sums of many files can be trusted with.
    #[error("population: the largest file has {bytes} B; at most {} B (1 PiB) are supported: split such files", LARGEST_FILE.get())]
    FileTooLarge {
        /// Largest file of the histogram in bytes.
        bytes: u64,
    },
    /// More data than 64-bit sums hold.
    #[error("population: about {bytes:.3e} B are asked for; at most {} B (4 EiB) are supported: ask for less", LARGEST_VOLUME.get())]
    VolumeTooLarge {
        /// Volume asked for, in bytes.
        bytes: f64,
    },
}

/// The largest file a population may contain: 1 PiB, so that a few thousand of them still add up within 64 bits.
pub const LARGEST_FILE: Bytes = Bytes::tebibytes(1 << 10);
/// The largest volume a population may have: 4 EiB.
pub const LARGEST_VOLUME: Bytes = Bytes::tebibytes(4 << 20);
