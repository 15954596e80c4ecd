//! Finding the affected objects of a population that is never held in memory.
//!
//! Files are generated in blocks, block after block; the parts of a block are worked on by all threads and merged in
//! order, so that the answer does not depend on their number.

use std::ops::Range;

use rayon::prelude::*;
use resilver_placement::inverse::Inverse;
use resilver_population::{Files, RangeTotals, file_of, first_object};
use resilver_units::{Bytes, ObjectId};

/// Files in a part, the piece of work of one thread.
const PART_FILES: u64 = 4096;
/// Parts in a block, after which the caller gets a chance to show progress or to stop.
const BLOCK_PARTS: u64 = 64;

/// An object that had a copy on a failed device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AffectedObject {
    /// Which object.
    pub object: ObjectId,
    /// Its size.
    pub size: Bytes,
}

/// What a scan found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// What the population adds up to.
    pub totals: RangeTotals,
    /// The affected objects, in the order of the population.
    pub affected: Vec<AffectedObject>,
}

/// A scan of a population of files, under way.
pub struct FileScan<D, I> {
    files: Files<D>,
    inverse: I,
    next_file: u64,
    scanned: Scanned,
    is_complete: bool,
}

impl<D, I> FileScan<D, I>
where
    D: Fn(u64) -> [u64; 4] + Sync,
    I: Inverse,
{
    /// A scan of `files` for the objects that `inverse` finds affected.
    pub fn new(files: Files<D>, inverse: I) -> Self {
        FileScan { files, inverse, next_file: 0, scanned: Scanned::default(), is_complete: false }
    }

    /// Whether the end of the population was reached.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// About how much of the population has been scanned, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        if self.is_complete {
            return 1.0;
        }
        (self.next_file as f64 / (self.files.expected_files().max(1)) as f64).min(0.999)
    }

    /// Scans the next block of files.
    pub fn advance(&mut self) {
        if self.is_complete {
            return;
        }
        let block_start = self.next_file;
        let parts: Vec<Scanned> = (0..BLOCK_PARTS)
            .into_par_iter()
            .map(|part| {
                let start = block_start + part * PART_FILES;
                self.scan_range(start..start + PART_FILES)
            })
            .collect();
        for (part, scanned) in (0..BLOCK_PARTS).zip(parts) {
            let start = block_start + part * PART_FILES;
            let range = start..start + PART_FILES;
            if let Some(end) = self.files.end_within(range, self.scanned.totals, scanned.totals) {
                self.merge(self.scan_range(start..end));
                self.is_complete = true;
                return;
            }
            self.merge(scanned);
        }
        self.next_file = block_start + BLOCK_PARTS * PART_FILES;
    }

    /// The inverse.
    pub fn inverse(&self) -> &I {
        &self.inverse
    }

    /// The affected objects found since they were last taken, in the order of the population.
    pub fn take_affected(&mut self) -> Vec<AffectedObject> {
        std::mem::take(&mut self.scanned.affected)
    }

    /// The inverse, and what was found and not taken.
    pub fn finish(self) -> (I, Scanned) {
        (self.inverse, self.scanned)
    }

    fn merge(&mut self, part: Scanned) {
        self.scanned.totals.add(part.totals);
        self.scanned.affected.extend(part.affected);
    }

    fn scan_range(&self, range: Range<u64>) -> Scanned {
        let decomposition = self.files.decomposition();
        let mut listed = Listed::new(&self.inverse);
        let totals = self.files.visit(range, |file, size| {
            listed.add(first_object(file).get(), decomposition.object_count(size));
        });
        // Few objects are affected, so their files' sizes are drawn again rather than kept.
        let mut drawn = None;
        let sized = |object: ObjectId| {
            let file = file_of(object);
            let size = match drawn {
                Some((last, size)) if last == file => size,
                _ => self.files.size(file),
            };
            drawn = Some((file, size));
            let index = object.get() - first_object(file).get();
            AffectedObject { object, size: decomposition.object_size(size, index) }
        };
        Scanned { totals, affected: listed.finish().into_iter().map(sized).collect() }
    }
}

/// Objects whose inverse is asked together: enough for its wide loops, few enough for the first-level cache.
const LISTED: usize = 1024;

/// Objects on their way through an inverse: those of several files are asked together, since most files have few.
struct Listed<'a, I: Inverse> {
    inverse: &'a I,
    scratch: I::Scratch,
    objects: Vec<u64>,
    found: Vec<ObjectId>,
}

impl<'a, I: Inverse> Listed<'a, I> {
    fn new(inverse: &'a I) -> Self {
        Listed { inverse, scratch: I::Scratch::default(), objects: Vec::with_capacity(LISTED), found: Vec::new() }
    }

    /// Adds the `count` objects from `first`.
    #[inline]
    fn add(&mut self, first: u64, count: u64) {
        let end = first + count;
        let mut next = first;
        while next < end {
            let stop = end.min(next + (LISTED - self.objects.len()) as u64);
            self.objects.extend(next..stop);
            next = stop;
            if self.objects.len() == LISTED {
                self.ask();
            }
        }
    }

    #[inline(never)]
    fn ask(&mut self) {
        self.inverse.affected_among(&self.objects, &mut self.scratch, &mut self.found);
        self.objects.clear();
    }

    /// The affected ones of all objects, in the order they were added.
    fn finish(mut self) -> Vec<ObjectId> {
        self.ask();
        self.found
    }
}

/// What one placement group of a real cluster holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupContents {
    /// Objects in the group.
    pub objects: u64,
    /// Their volume, before replication.
    pub bytes: Bytes,
}

/// The objects of the `affected` groups, given what every group holds.
///
/// Only a group's count and volume are known, so its objects share the volume evenly, to the byte. Objects are numbered
/// as if each group were a file, and come in rounds of one object from each group: recovery, as in the other
/// populations, does not go group by group.
pub fn scan_groups(contents: &[GroupContents], affected: impl Iterator<Item = u32> + Clone) -> Scanned {
    let mut scanned = Scanned::default();
    for group in contents {
        scanned.totals.objects += group.objects;
        scanned.totals.bytes += group.bytes;
    }
    let rounds = affected.clone().map(|group| contents[group as usize].objects).max().unwrap_or(0);
    group_rounds(contents, affected, 0..rounds, &mut scanned.affected);
    scanned
}

/// Appends the objects of a range of the rounds of [`scan_groups`].
pub(crate) fn group_rounds(
    contents: &[GroupContents],
    affected: impl Iterator<Item = u32> + Clone,
    rounds: Range<u64>,
    objects_found: &mut Vec<AffectedObject>,
) {
    for round in rounds {
        for group in affected.clone() {
            let GroupContents { objects, bytes } = contents[group as usize];
            if round < objects {
                let size = bytes.get() / objects + u64::from(round < bytes.get() % objects);
                let object = ObjectId::new(first_object(u64::from(group)).get() + round);
                objects_found.push(AffectedObject { object, size: Bytes::new(size) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use resilver_placement::layout::Relocation;
    use resilver_population::{Bin, Decomposition, Extent, Histogram};

    /// Every object whose number is a multiple of seven is affected.
    struct Sevenths;
    impl Inverse for Sevenths {
        type Scratch = ();
        fn affected_among(&self, objects: &[u64], _: &mut (), found: &mut Vec<ObjectId>) {
            found.extend(objects.iter().copied().filter(|o| o % 7 == 0).map(ObjectId::new));
        }
        fn relocate(&self, _: ObjectId, _: &mut (), _: &mut Relocation) {}
    }

    fn words(index: u64) -> [u64; 4] {
        [0, index.wrapping_mul(0x9e37_79b9_7f4a_7c15), 0, 0]
    }

    fn scan(extent: Extent) -> Scanned {
        let histogram = Histogram::new(&[Bin { min: 1, max: 1000, count: 1 }]).unwrap();
        let decomposition = Decomposition::Chunked { chunk: Bytes::new(64) };
        let files = Files::new(histogram, decomposition, extent, words as fn(u64) -> [u64; 4]).unwrap();
        let mut scan = FileScan::new(files, Sevenths);
        while !scan.is_complete() {
            scan.advance();
        }
        scan.finish().1
    }

    #[test]
    fn the_parallel_scan_equals_one_plain_loop() {
        // 200 MB of files of 500 B on average are 400,000 files: more than one block of 262,144.
        let volume = 200_000_000;
        let scanned = scan(Extent::Volume(Bytes::new(volume)));
        let mut plain = Scanned::default();
        for file in 0.. {
            let size = 1 + ((u128::from(words(file)[1]) * 999) >> 64) as u64;
            if plain.totals.bytes.get() + size > volume {
                break;
            }
            plain.totals.files += 1;
            plain.totals.bytes += Bytes::new(size);
            for index in 0..size.div_ceil(64) {
                plain.totals.objects += 1;
                let object = (file << 28) + index;
                if object % 7 == 0 {
                    let size = Bytes::new(64.min(size - 64 * index));
                    plain.affected.push(AffectedObject { object: ObjectId::new(object), size });
                }
            }
        }
        assert!(plain.totals.files > BLOCK_PARTS * PART_FILES);
        assert_eq!(scanned, plain);
    }

    #[test]
    fn no_files_are_a_population_too() {
        assert_eq!(scan(Extent::Files(0)), Scanned::default());
        assert_eq!(scan(Extent::Volume(Bytes::ZERO)), Scanned::default());
    }

    #[test]
    fn a_group_s_volume_is_shared_to_the_byte() {
        let group = |objects, bytes| GroupContents { objects, bytes: Bytes::new(bytes) };
        let contents = [group(3, 11), group(5, 100), group(1, 7), group(0, 0)];
        let scanned = scan_groups(&contents, [0, 2, 3].into_iter());
        // 11 bytes over three objects: 4, 4, 3; one object of group 2 comes in the first round.
        let sizes: Vec<(u64, u64)> = scanned.affected.iter().map(|a| (file_of(a.object), a.size.get())).collect();
        assert_eq!(sizes, [(0, 4), (2, 7), (0, 4), (0, 3)]);
        assert_eq!(scanned.totals.bytes.get(), 118);
        assert_eq!(scanned.totals.objects, 9);
    }
}
