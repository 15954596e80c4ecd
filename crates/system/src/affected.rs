//! Which objects a failure touches, in batches, without a simulation: sizes, survivors and new homes.
//!
//! The population is scanned block after block and never held; what is held is one block's affected objects. Blocks are
//! scanned, and their objects relocated, by all threads, and merged in order.

use resilver_placement::inverse::Inverse;
use resilver_placement::layout::Relocation;
use resilver_population::Words;
use resilver_units::ObjectId;

use crate::SystemError;
use crate::parallel::in_parts;
use crate::scan::{AffectedObject, FileScan};
use crate::scenario::SystemConfig;
use crate::search::{Visitor, visit_scan};

/// Most objects in a batch: a few ten megabytes.
const BATCH_OBJECTS: usize = 1 << 20;
/// Objects that one thread relocates at a time.
const PART_OBJECTS: usize = 1 << 13;

/// Affected objects, column by column; row i's survivors are `survivors[survivor_ends[i - 1]..survivor_ends[i]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AffectedBatch {
    /// Identifiers of the objects.
    pub objects: Vec<u64>,
    /// Sizes in bytes.
    pub sizes: Vec<u64>,
    /// Devices that keep a copy, in placement order, of all rows.
    pub survivors: Vec<u32>,
    /// Where each row's survivors end.
    pub survivor_ends: Vec<u32>,
    /// Devices that the objects' sets gain, of all rows.
    pub homes: Vec<u32>,
    /// Where each row's homes end.
    pub home_ends: Vec<u32>,
    /// Copies lost.
    pub lost: Vec<u32>,
}

impl AffectedBatch {
    fn push(&mut self, affected: AffectedObject, relocation: &Relocation) {
        self.objects.push(affected.object.get());
        self.sizes.push(affected.size.get());
        self.survivors.extend(relocation.survivors.iter().map(|device| device.get()));
        self.survivor_ends.push(self.survivors.len() as u32);
        self.homes.extend(relocation.homes.iter().map(|device| device.get()));
        self.home_ends.push(self.homes.len() as u32);
        self.lost.push(relocation.lost);
    }

    fn append(&mut self, part: &AffectedBatch) {
        let (survivors, homes) = (self.survivors.len() as u32, self.homes.len() as u32);
        self.objects.extend_from_slice(&part.objects);
        self.sizes.extend_from_slice(&part.sizes);
        self.survivors.extend_from_slice(&part.survivors);
        self.survivor_ends.extend(part.survivor_ends.iter().map(|end| end + survivors));
        self.homes.extend_from_slice(&part.homes);
        self.home_ends.extend(part.home_ends.iter().map(|end| end + homes));
        self.lost.extend_from_slice(&part.lost);
    }
}

/// A source of affected objects, a step at a time.
trait Search: Send + Sync {
    /// The affected objects of the next stretch of the population.
    fn advance(&mut self) -> Vec<AffectedObject>;
    fn is_complete(&self) -> bool;
    fn fraction(&self) -> f64;
    /// Where the copies of affected objects go.
    fn relocate(&self, affected: &[AffectedObject]) -> AffectedBatch;
}

impl<W, I> Search for FileScan<W, I>
where
    W: Words + Send + Sync,
    I: Inverse + Send,
{
    fn advance(&mut self) -> Vec<AffectedObject> {
        FileScan::advance(self);
        self.take_affected()
    }

    fn is_complete(&self) -> bool {
        FileScan::is_complete(self)
    }

    fn fraction(&self) -> f64 {
        FileScan::fraction(self)
    }

    fn relocate(&self, affected: &[AffectedObject]) -> AffectedBatch {
        relocate_in_parallel(affected, |object, scratch, relocation| {
            self.inverse().relocate(object, scratch, relocation);
        })
    }
}

fn relocate_in_parallel<S: Default>(
    affected: &[AffectedObject],
    relocate: impl Fn(ObjectId, &mut S, &mut Relocation) + Sync,
) -> AffectedBatch {
    let chunks: Vec<&[AffectedObject]> = affected.chunks(PART_OBJECTS).collect();
    let parts = in_parts(chunks.len(), &|part| {
        let (mut scratch, mut relocation) = (S::default(), Relocation::default());
        let mut batch = AffectedBatch::default();
        for &affected in chunks[part] {
            relocate(affected.object, &mut scratch, &mut relocation);
            batch.push(affected, &relocation);
        }
        batch
    });
    let mut batch = AffectedBatch::default();
    for part in &parts {
        batch.append(part);
    }
    batch
}

/// Boxes whichever scan a system needs.
struct Boxed;

impl Visitor for Boxed {
    type Result = Box<dyn Search>;

    fn files<W, I>(self, scan: FileScan<W, I>) -> Box<dyn Search>
    where
        W: Words + Send + Sync + 'static,
        I: Inverse + crate::search::AsGroups + Send + 'static,
    {
        Box::new(scan)
    }
}

/// A search for the objects that the failure of a system touches, under way: in one pool after another.
pub struct AffectedSearch {
    searches: Vec<Box<dyn Search>>,
    /// Which of them is under way.
    present: usize,
    /// Found and not handed out yet, from `next` on.
    pending: Vec<AffectedObject>,
    next: usize,
}

impl AffectedSearch {
    /// A search that has not begun; where objects share placement groups, those are placed here.
    ///
    /// # Errors
    /// When the population cannot be built, or the placement breaks a law.
    pub fn new(config: SystemConfig) -> Result<Self, SystemError> {
        let failed = config.failed();
        let searches = (0..config.pools.len()).map(|pool| visit_scan(&config, pool, &failed, Boxed));
        Ok(AffectedSearch { searches: searches.collect::<Result<_, _>>()?, present: 0, pending: Vec::new(), next: 0 })
    }

    /// Whether every affected object was handed out.
    pub fn is_complete(&self) -> bool {
        self.next == self.pending.len() && self.searches[self.present..].iter().all(|search| search.is_complete())
    }

    /// About how much of the population has been searched, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        self.searches.iter().map(|search| search.fraction()).sum::<f64>() / self.searches.len() as f64
    }

    /// Works on for a fraction of a second; gives the objects found, at most 2^20, often none.
    pub fn advance(&mut self) -> AffectedBatch {
        if self.next == self.pending.len() {
            let is_last = |present: usize| present + 1 == self.searches.len();
            while self.searches[self.present].is_complete() && !is_last(self.present) {
                self.present += 1;
            }
            if !self.searches[self.present].is_complete() {
                self.pending = self.searches[self.present].advance();
                self.next = 0;
            }
        }
        let end = self.pending.len().min(self.next + BATCH_OBJECTS);
        let batch = self.searches[self.present].relocate(&self.pending[self.next..end]);
        self.next = end;
        batch
    }
}
