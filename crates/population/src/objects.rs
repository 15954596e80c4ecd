//! How files divide into objects, and how objects are numbered.

use resilver_units::{Bytes, ObjectId};
use serde::Deserialize;

use crate::PopulationError;

/// Bits of an object's identifier that number it within its file.
const OBJECT_INDEX_BITS: u32 = 28;
/// Objects that one file can have.
pub const OBJECT_INDEX_LIMIT: u64 = 1 << OBJECT_INDEX_BITS;
/// Files that a population can have.
pub const FILE_INDEX_LIMIT: u64 = 1 << (64 - OBJECT_INDEX_BITS);

/// The identifier of a file's first object; the file's further objects follow it one by one.
#[inline]
pub const fn first_object(file: u64) -> ObjectId {
    ObjectId::new(file << OBJECT_INDEX_BITS)
}

/// The file that an object belongs to.
#[inline]
pub const fn file_of(object: ObjectId) -> u64 {
    object.get() >> OBJECT_INDEX_BITS
}

/// How a file divides into objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Decomposition {
    /// A file is one object.
    Whole,
    /// A file is cut into chunks of this size, the last one shorter (the Hadoop File System's way).
    Chunked {
        /// Size of a chunk.
        chunk: Bytes,
    },
    /// A file is dealt round robin, one unit at a time, over up to `width` objects (the parallel file systems' way).
    Striped {
        /// Size of a stripe unit.
        unit: Bytes,
        /// Most objects that one file is dealt over.
        width: u64,
    },
}

impl Decomposition {
    /// Checks that pieces are not empty and that the largest file's objects can be numbered.
    ///
    /// # Errors
    /// When a piece is empty or the largest file has too many objects.
    pub fn check(self, largest_file: Bytes) -> Result<(), PopulationError> {
        match self {
            Decomposition::Chunked { chunk } if chunk.is_zero() => Err(PopulationError::ZeroPiece { field: "chunk" }),
            Decomposition::Striped { unit, .. } if unit.is_zero() => {
                Err(PopulationError::ZeroPiece { field: "stripe_unit" })
            }
            Decomposition::Striped { width: 0, .. } => Err(PopulationError::ZeroWidth),
            _ => {
                let objects = self.object_count(largest_file);
                if objects > OBJECT_INDEX_LIMIT {
                    return Err(PopulationError::TooManyObjects { file_bytes: largest_file.get(), objects });
                }
                Ok(())
            }
        }
    }

    /// The largest file that is one object.
    pub(crate) fn largest_undivided(self) -> Bytes {
        match self {
            Decomposition::Whole | Decomposition::Striped { width: 1, .. } => Bytes::new(u64::MAX),
            Decomposition::Chunked { chunk } => chunk,
            Decomposition::Striped { unit, .. } => unit,
        }
    }

    /// How many objects a file of `size` bytes (at least one) divides into.
    #[inline]
    pub fn object_count(self, size: Bytes) -> u64 {
        match self {
            Decomposition::Whole => 1,
            Decomposition::Chunked { chunk } => size.pieces_of(chunk),
            Decomposition::Striped { unit, width } => size.pieces_of(unit).min(width),
        }
    }

    /// The size of object number `index` of a file of `size` bytes; `index` is below [`Self::object_count`].
    #[inline]
    pub fn object_size(self, size: Bytes, index: u64) -> Bytes {
        match self {
            Decomposition::Whole => size,
            Decomposition::Chunked { chunk } => Bytes::new(chunk.get().min(size.get() - index * chunk.get())),
            Decomposition::Striped { unit, width } => {
                let full_units = size.get() / unit.get();
                let remainder = size.get() % unit.get();
                // Full units are dealt in turn; what is left over goes to the object whose turn is next.
                let dealt = full_units / width + u64::from(index < full_units % width);
                let tail = if index == full_units % width { remainder } else { 0 };
                Bytes::new(dealt * unit.get() + tail)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn chunks_are_full_but_the_last() {
        let chunked = Decomposition::Chunked { chunk: Bytes::new(64) };
        // 200 = 64 + 64 + 64 + 8.
        assert_eq!(chunked.object_count(Bytes::new(200)), 4);
        let sizes: Vec<u64> = (0..4).map(|i| chunked.object_size(Bytes::new(200), i).get()).collect();
        assert_eq!(sizes, [64, 64, 64, 8]);
    }

    #[test]
    fn stripes_are_dealt_in_turn() {
        let striped = Decomposition::Striped { unit: Bytes::new(4), width: 3 };
        // 30 bytes are seven units of 4 and one of 2: objects 0, 1, 2, 0, 1, 2, 0 take the full ones, object 1 the rest.
        let sizes: Vec<u64> = (0..3).map(|i| striped.object_size(Bytes::new(30), i).get()).collect();
        assert_eq!(sizes, [12, 10, 8]);
        // A file of five bytes touches two objects only.
        assert_eq!(striped.object_count(Bytes::new(5)), 2);
    }

    #[test]
    fn impossible_pieces_are_refused() {
        let big = Bytes::tebibytes(1);
        assert!(Decomposition::Chunked { chunk: Bytes::ZERO }.check(big).is_err());
        assert!(Decomposition::Striped { unit: Bytes::ZERO, width: 2 }.check(big).is_err());
        assert!(Decomposition::Striped { unit: Bytes::new(1), width: 0 }.check(big).is_err());
        // 2^40 bytes in pieces of 2^11 are 2^29 objects, one bit too many.
        assert!(Decomposition::Chunked { chunk: Bytes::kibibytes(2) }.check(big).is_err());
        assert!(Decomposition::Chunked { chunk: Bytes::kibibytes(4) }.check(big).is_ok());
    }

    proptest! {
        /// Nothing of a file is lost or doubled by dividing it, and no object is empty.
        #[test]
        fn objects_add_up_to_their_file(size in 1u64..1_000_000, piece in 1u64..10_000, width in 1u64..50) {
            for way in [
                Decomposition::Whole,
                Decomposition::Chunked { chunk: Bytes::new(piece) },
                Decomposition::Striped { unit: Bytes::new(piece), width },
            ] {
                let count = way.object_count(Bytes::new(size));
                let sizes: Vec<u64> = (0..count).map(|i| way.object_size(Bytes::new(size), i).get()).collect();
                prop_assert_eq!(sizes.iter().sum::<u64>(), size);
                prop_assert!(sizes.iter().all(|&s| s > 0));
                prop_assert_eq!(count == 1, Bytes::new(size) <= way.largest_undivided());
            }
        }
    }
}
