//! Finding the affected objects of a population that is never held in memory.
//!
//! Files are generated in blocks, block after block; the parts of a block are worked on by all threads and merged in
//! order, so that the answer does not depend on their number.

use std::ops::Range;

use resilver_placement::inverse::{Inverse, Run};
use resilver_population::{Files, RangeTotals, Words, file_of, first_object};
use resilver_units::{Bytes, ObjectId};

use crate::SystemError;
use crate::parallel::in_parts;

/// Most files in a part, the piece of work of one thread.
const PART_FILES: u64 = 1 << 14;
/// Parts in a block, after which the caller gets a chance to show progress or to stop; where files have many objects, parts
/// are smaller. A page has one thread, of half the speed.
const BLOCK_PARTS: u64 = if cfg!(target_family = "wasm") { 8 } else { 256 };
/// Files in the first block, while it is not known how many objects a file has.
const FIRST_BLOCK_FILES: u64 = 1 << 12;
/// What a block may grow by from one to the next.
const BLOCK_GROWTH: u64 = 16;

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

impl Scanned {
    /// Adds what the files behind these hold.
    pub fn append(&mut self, next: Scanned) {
        self.totals.add(next.totals);
        self.affected.extend(next.affected);
    }
}

/// A scan of a population of files, under way.
pub struct FileScan<W, I> {
    files: Files<W>,
    /// What the first of them has for a number among all pools' files.
    first_file: u64,
    inverse: I,
    next_file: u64,
    scanned: Scanned,
    is_complete: bool,
}

impl<W, I> FileScan<W, I>
where
    W: Words + Sync,
    I: Inverse,
{
    /// A scan of `files`, whose objects are numbered from `first_file` on, for those that `inverse` finds affected.
    pub fn new(files: Files<W>, first_file: u64, inverse: I) -> Self {
        let is_complete = files.counted(0..1).0.is_empty();
        FileScan { files, first_file, inverse, next_file: 0, scanned: Scanned::default(), is_complete }
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
        let totals = self.scanned.totals;
        let block = self.next_file..self.next_file + self.block_files(totals, Some(totals));
        let (scanned, is_last) = self.scan_block(block.clone(), Some(self.scanned.totals));
        self.scanned.append(scanned);
        self.is_complete = is_last;
        self.next_file = block.end;
    }

    /// Scans a range of files by all threads, as if the population had no end.
    pub fn scan(&self, range: Range<u64>) -> Scanned {
        self.scan_range(range, None).0
    }

    /// Scans a range of files by all threads up to the population's end, when `before` lies in front of the range.
    ///
    /// Says whether the end was met.
    pub fn scan_to_end(&self, range: Range<u64>, before: RangeTotals) -> (Scanned, bool) {
        self.scan_range(range, Some(before))
    }

    fn scan_range(&self, range: Range<u64>, before: Option<RangeTotals>) -> (Scanned, bool) {
        let mut found = Scanned::default();
        let mut next = range.start;
        while next < range.end {
            let so_far = before.map(|before| before.and(found.totals));
            let block = next..range.end.min(next + self.block_files(found.totals, so_far));
            next = block.end;
            let (scanned, is_last) = self.scan_block(block, so_far);
            found.append(scanned);
            if is_last {
                return (found, true);
            }
        }
        (found, false)
    }

    /// How many files to scan in a step, behind `totals`: few lie beyond the population's end, where `before` adds up all in front.
    fn block_files(&self, totals: RangeTotals, before: Option<RangeTotals>) -> u64 {
        let objects = u128::from(self.inverse.objects_a_step());
        let files = objects * u128::from(totals.files) / u128::from(totals.objects.max(1));
        let grown = files.min(u128::from(BLOCK_GROWTH * totals.files)) as u64;
        let to_end = before.map_or(u64::MAX, |before| self.files.files_to_end(before));
        grown.clamp(FIRST_BLOCK_FILES, BLOCK_PARTS * PART_FILES).min(to_end)
    }

    /// Takes what scans of parts have found for the scan itself.
    ///
    /// # Errors
    /// When an object is not one that this scan would have found.
    pub fn complete_with(&mut self, found: Scanned) -> Result<(), SystemError> {
        let foreign_of = |affected: &[AffectedObject]| {
            let objects: Vec<u64> = affected.iter().map(|one| one.object.get()).collect();
            let mut expected = Vec::with_capacity(objects.len());
            self.inverse.affected_among(&objects, &mut I::Scratch::default(), &mut expected);
            let mut expected = self.with_sizes(expected).into_iter();
            affected.iter().copied().find(|&one| expected.next() != Some(one))
        };
        let parts: Vec<&[AffectedObject]> = found.affected.chunks(PART_FILES as usize).collect();
        if let Some(foreign) = in_parts(parts.len(), &|part| foreign_of(parts[part])).into_iter().flatten().next() {
            return Err(SystemError::ForeignObject { object: foreign.object.get() });
        }
        self.scanned = found;
        self.is_complete = true;
        Ok(())
    }

    /// The files that are scanned.
    pub fn files(&self) -> &Files<W> {
        &self.files
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

    /// Scans a block, its parts in parallel and merged in order; cut at the population's end, if it is known what lies before
    /// the block.
    ///
    /// Says whether the end was met.
    fn scan_block(&self, block: Range<u64>, before: Option<RangeTotals>) -> (Scanned, bool) {
        let parts: Vec<Range<u64>> = pieces(block.clone(), (block.end - block.start).div_ceil(BLOCK_PARTS)).collect();
        let scanned = in_parts(parts.len(), &|part| self.scan_part(parts[part].clone()));
        let mut found = Scanned::default();
        for (range, part) in parts.into_iter().zip(scanned) {
            let so_far = before.map(|before| before.and(found.totals));
            if let Some(end) = so_far.and_then(|so_far| self.files.end_within(range.clone(), so_far, part.totals)) {
                found.append(self.scan_part(range.start..end));
                return (found, true);
            }
            found.append(part);
        }
        (found, false)
    }

    fn scan_part(&self, range: Range<u64>) -> Scanned {
        let mut listed = Listed::new(&self.inverse);
        // Every file has a first object. Further ones are few where files are small; as objects are numbered file by file,
        // sorting what is found puts them where they belong.
        let first = |file: u64| first_object(self.first_file + file).get();
        listed.add(Run { first: first(range.start), count: range.end - range.start, step: first_object(1).get() });
        let first_found = listed.found_so_far();
        let totals = self.files.survey(range, |file, objects| {
            listed.add(Run { first: first(file) + 1, count: objects - 1, step: 1 });
        });
        let mut found = listed.finish();
        if found.len() > first_found {
            found.sort_unstable_by_key(|object| object.get());
        }
        Scanned { totals, affected: self.with_sizes(found) }
    }

    /// Objects with their sizes.
    ///
    /// Few objects are affected, so their files' sizes are drawn again rather than kept.
    fn with_sizes(&self, objects: Vec<ObjectId>) -> Vec<AffectedObject> {
        let decomposition = self.files.decomposition();
        let mut drawn = None;
        let sized = |object: ObjectId| {
            let file = file_of(object);
            let size = match drawn {
                Some((last, size)) if last == file => size,
                _ => self.files.size(file - self.first_file),
            };
            drawn = Some((file, size));
            let index = object.get() - first_object(file).get();
            // A file's objects are numbered from zero; what lies beyond them is not one.
            let is_object = index < decomposition.object_count(size);
            let size = if is_object { decomposition.object_size(size, index) } else { Bytes::ZERO };
            AffectedObject { object, size }
        };
        objects.into_iter().map(sized).collect()
    }
}

/// The pieces of `length` files that a range falls into; the last is shorter where need be.
fn pieces(range: Range<u64>, length: u64) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    range.step_by(length as usize).map(move |start| start..end.min(start + length))
}

/// Objects on their way through an inverse: those of files that have few are listed and asked together.
struct Listed<'a, I: Inverse> {
    inverse: &'a I,
    scratch: I::Scratch,
    objects: Vec<u64>,
    found: Vec<ObjectId>,
}

impl<'a, I: Inverse> Listed<'a, I> {
    fn new(inverse: &'a I) -> Self {
        Listed { inverse, scratch: I::Scratch::default(), objects: Vec::new(), found: Vec::new() }
    }

    /// Adds a run of objects.
    #[inline]
    fn add(&mut self, run: Run) {
        if run.count >= I::LONG_RUN {
            self.inverse.affected_in(run, &mut self.scratch, &mut self.found);
            return;
        }
        let mut done = 0;
        while done < run.count {
            let stop = run.count.min(done + (I::LISTED - self.objects.len()) as u64);
            self.objects.extend((done..stop).map(|index| run.first + index * run.step));
            done = stop;
            if self.objects.len() == I::LISTED {
                self.ask();
            }
        }
    }

    #[inline(never)]
    fn ask(&mut self) {
        self.inverse.affected_among(&self.objects, &mut self.scratch, &mut self.found);
        self.objects.clear();
    }

    /// How many of the objects added are affected.
    fn found_so_far(&mut self) -> usize {
        self.ask();
        self.found.len()
    }

    /// The affected ones of all objects: of runs, and of listed objects, in the order they were added.
    fn finish(mut self) -> Vec<ObjectId> {
        self.ask();
        self.found
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

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

    /// Words without an order.
    struct Scrambled;

    fn word(file: u64) -> u64 {
        file.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    impl Words for Scrambled {
        fn fill(&self, first: u64, words: &mut [u64]) {
            (first..).zip(words).for_each(|(file, one)| *one = word(file));
        }

        fn further(&self, _: u64) -> u64 {
            unreachable!("a bin of 999 sizes needs one word")
        }
    }

    fn scan(extent: Extent) -> Scanned {
        let histogram = Histogram::new(&[Bin { min: 1, max: 1000, count: 1 }]).unwrap();
        let decomposition = Decomposition::Chunked { chunk: Bytes::new(64) };
        let files = Files::new(histogram, decomposition, extent, Scrambled).unwrap();
        let mut scan = FileScan::new(files, 0, Sevenths);
        while !scan.is_complete() {
            scan.advance();
        }
        scan.finish().1
    }

    #[test]
    fn the_parallel_scan_equals_one_plain_loop() {
        // 400 MB of files of 500 B on average are 800,000 files: blocks of 4,096, 65,536 and some 520,000, and more.
        let volume = 400_000_000;
        let scanned = scan(Extent::Volume(Bytes::new(volume)));
        let mut plain = Scanned::default();
        for file in 0.. {
            let size = 1 + (((word(file) >> 32) * 999) >> 32);
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
        assert!(plain.totals.files > 600_000);
        assert_eq!(scanned, plain);
    }

    /// Counts the objects that it is asked for, of which none is affected, and takes any number in a step.
    #[derive(Default)]
    struct Counting(AtomicU64);
    impl Inverse for Counting {
        type Scratch = ();
        fn objects_a_step(&self) -> u64 {
            1 << 40
        }
        fn affected_among(&self, objects: &[u64], _: &mut (), _: &mut Vec<ObjectId>) {
            self.0.fetch_add(objects.len() as u64, Ordering::Relaxed);
        }
        fn relocate(&self, _: ObjectId, _: &mut (), _: &mut Relocation) {}
    }

    #[test]
    fn few_objects_are_looked_at_beyond_the_end() {
        // Besides what exists: the margin of a 64th, 64 files more of 8 to 9 objects, and again the part that the end lies in.
        for extent in [Extent::Volume(Bytes::new(400_000_000)), Extent::Files(800_000), Extent::Files(3)] {
            let histogram = Histogram::new(&[Bin { min: 1, max: 1000, count: 1 }]).unwrap();
            let decomposition = Decomposition::Chunked { chunk: Bytes::new(64) };
            let files = Files::new(histogram, decomposition, extent, Scrambled).unwrap();
            let mut scan = FileScan::new(files, 0, Counting::default());
            while !scan.is_complete() {
                scan.advance();
            }
            let (asked, scanned) = scan.finish();
            let (asked, objects) = (asked.0.into_inner(), scanned.totals.objects);
            assert!(asked >= objects && asked <= objects + objects / 32 + 2000, "{asked} of {objects} of {extent:?}");
        }
    }

    #[test]
    fn no_files_are_a_population_too() {
        assert_eq!(scan(Extent::Files(0)), Scanned::default());
        assert_eq!(scan(Extent::Volume(Bytes::ZERO)), Scanned::default());
    }
}
