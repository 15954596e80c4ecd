//! How many files and objects there are of each size, and how much they hold.

use resilver_units::Bytes;

use crate::Decomposition;

/// Size classes: class *k* holds sizes from 2^k up to, and not including, 2^(k+1).
const CLASSES: usize = u64::BITS as usize;

/// What one class of sizes holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeClass {
    /// Files of such a size.
    pub files: u64,
    /// What those files add up to.
    pub file_bytes: Bytes,
    /// Objects of such a size.
    pub objects: u64,
    /// What those objects add up to.
    pub object_bytes: Bytes,
}

/// Files and objects counted by size, in classes of powers of two.
///
/// Censuses of the parts of a population add up to the census of the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    classes: [SizeClass; CLASSES],
}

impl Default for Census {
    fn default() -> Self {
        Census { classes: [SizeClass::default(); CLASSES] }
    }
}

impl Census {
    /// Counts a file of `size` bytes, at least one, and the objects it divides into.
    #[inline]
    pub fn add_file(&mut self, size: Bytes, decomposition: Decomposition) {
        let class = &mut self.classes[class_of(size)];
        class.files += 1;
        class.file_bytes += size;
        for (object_size, count) in decomposition.object_sizes(size) {
            if count > 0 {
                let class = &mut self.classes[class_of(object_size)];
                class.objects += count;
                class.object_bytes += Bytes::new(object_size.get() * count);
            }
        }
    }

    /// Adds the census of other files.
    pub fn add(&mut self, other: &Census) {
        for (sum, part) in self.classes.iter_mut().zip(&other.classes) {
            sum.files += part.files;
            sum.file_bytes += part.file_bytes;
            sum.objects += part.objects;
            sum.object_bytes += part.object_bytes;
        }
    }

    /// The classes by rising size: class *k* holds sizes from 2^k up to, and not including, 2^(k+1).
    pub fn classes(&self) -> &[SizeClass] {
        &self.classes
    }
}

impl Decomposition {
    /// The sizes of all objects of a file of `size` bytes, each with how many there are of it.
    ///
    /// There are at most three: chunks are full but the last, and units that are dealt out leave objects with one unit more,
    /// objects with one less, and the one in between that takes the rest. Entries that count no object say nothing.
    #[inline]
    pub fn object_sizes(self, size: Bytes) -> [(Bytes, u64); 3] {
        let none = (Bytes::ZERO, 0);
        match self {
            Decomposition::Whole => [(size, 1), none, none],
            Decomposition::Chunked { chunk } => {
                let (full, rest) = (size.get() / chunk.get(), size.get() % chunk.get());
                [(chunk, full), (Bytes::new(rest), u64::from(rest > 0)), none]
            }
            Decomposition::Striped { unit, width } => {
                let (units, rest) = (size.get() / unit.get(), size.get() % unit.get());
                let (rounds, ahead) = (units / width, units % width);
                let with_rest = u64::from(rest > 0);
                // Where there was no full round, the objects whose turn did not come do not exist.
                let behind = if rounds > 0 { width - ahead - with_rest } else { 0 };
                let dealt = rounds * unit.get();
                [
                    (Bytes::new(dealt + unit.get()), ahead),
                    (Bytes::new(dealt + rest), with_rest),
                    (Bytes::new(dealt), behind),
                ]
            }
        }
    }
}

/// The class of a size of at least one byte.
#[inline]
fn class_of(size: Bytes) -> usize {
    size.get().ilog2() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_and_its_chunks_fall_into_their_classes() {
        // 200 bytes in chunks of 64 are three of 64, in class 6, and one of 8, in class 3; 200 itself is in class 7.
        let mut census = Census::default();
        census.add_file(Bytes::new(200), Decomposition::Chunked { chunk: Bytes::new(64) });
        let of = |files, file_bytes, objects, object_bytes| SizeClass {
            files,
            file_bytes: Bytes::new(file_bytes),
            objects,
            object_bytes: Bytes::new(object_bytes),
        };
        assert_eq!(census.classes()[3], of(0, 0, 1, 8));
        assert_eq!(census.classes()[6], of(0, 0, 3, 192));
        assert_eq!(census.classes()[7], of(1, 200, 0, 0));
    }

    proptest! {
        /// The census equals the one that asks for the size of every single object.
        #[test]
        fn objects_are_counted_as_one_by_one(
            sizes in prop::collection::vec(1u64..1_000_000, 1..20), piece in 1u64..10_000, width in 1u64..50,
        ) {
            for way in [
                Decomposition::Whole,
                Decomposition::Chunked { chunk: Bytes::new(piece) },
                Decomposition::Striped { unit: Bytes::new(piece), width },
            ] {
                let (mut counted, mut plain) = (Census::default(), Census::default());
                for size in sizes.iter().copied().map(Bytes::new) {
                    let mut part = Census::default();
                    part.add_file(size, way);
                    counted.add(&part);
                    let file = &mut plain.classes[class_of(size)];
                    file.files += 1;
                    file.file_bytes += size;
                    for index in 0..way.object_count(size) {
                        let object_size = way.object_size(size, index);
                        let class = &mut plain.classes[class_of(object_size)];
                        class.objects += 1;
                        class.object_bytes += object_size;
                    }
                }
                prop_assert_eq!(counted, plain);
            }
        }
    }
}
