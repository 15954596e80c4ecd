//! What has to be moved: the pulls of every destination, in order.

use rayon::prelude::*;
use resilver_placement::layout::Relocation;
use resilver_redundancy::{Repair, Replicas};
use resilver_units::{Bytes, DeviceId, ObjectId};

use crate::SystemError;
use crate::choice::{ObjectOrder, SourceChoice};
use crate::restores::Restores;
use crate::scan::AffectedObject;

/// Objects that one thread relocates at a time.
pub(crate) const PART_OBJECTS: usize = 1 << 13;

/// One object that one new home has to fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pull {
    /// Which object.
    pub object: ObjectId,
    /// Its size.
    pub size: Bytes,
    /// The new home.
    pub destination: DeviceId,
    /// The only holder that may serve as the source, or where several begin in the list of holders.
    pub(crate) holders: u32,
    /// Which of the affected objects it is.
    pub(crate) subject: u32,
    /// How many holders may serve as the source: one when it was chosen beforehand.
    pub(crate) holder_count: u16,
    /// What the pull does for its object's redundancy.
    pub(crate) restores: Restores,
    /// Whether the pull replaces a lost copy, rather than moving one because the map changed.
    pub is_rebuild: bool,
}

/// How many copies an object has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Copies {
    /// How many it had before anything failed; zero once it is lost for good.
    pub full: u16,
    /// How many are not missing. A copy is missing from its loss until another is complete in its place; one that moves
    /// is not.
    pub left: u16,
}

/// What failures ask for, object by object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Objects that had a copy on a failed device.
    pub affected_objects: u64,
    /// Copies lost.
    pub lost_replicas: u64,
    /// Lost copies that were rebuilt or have a new home.
    pub replicas_to_rebuild: u64,
    /// Objects of which every copy was lost.
    pub unrecoverable_objects: u64,
    /// Data of those objects, each counted once.
    pub unrecoverable_bytes: Bytes,
    /// Lost copies of those objects that had not been rebuilt.
    pub unrecoverable_replicas: u64,
    /// Lost copies that a survivor could restore but for which the placement finds no device.
    pub undersized_replicas: u64,
    /// Lost copies in whose place one stands that had moved though it was not lost.
    pub replaced_replicas: u64,
    /// Copies that moved or are to move though they were not lost.
    pub remapped_replicas: u64,
}

/// The pulls of all destinations.
#[derive(Clone, Debug, Default)]
pub struct WorkList {
    /// Sorted by destination; within a destination in the order asked for.
    pub(crate) pulls: Vec<Pull>,
    /// For each device, where its pulls begin, and at last where the last ones end.
    pub(crate) starts: Vec<u32>,
    /// The holders of objects that may be pulled from one of several, one behind another.
    pub(crate) holders: Vec<DeviceId>,
    /// The copies of every affected object.
    pub(crate) copies: Vec<Copies>,
    /// What the failure asks for.
    pub losses: Losses,
}

/// A pull before its place in the list is known.
#[derive(Clone, Copy)]
struct Draft {
    destination: DeviceId,
    /// Which of the part's objects.
    place: u16,
    holder_count: u16,
    /// The only holder, or where several begin among the part's.
    holders: u32,
    restores: Restores,
    is_rebuild: bool,
}

/// What one thread makes of a stretch of the affected objects.
#[derive(Default)]
struct Part {
    drafts: Vec<Draft>,
    holders: Vec<DeviceId>,
    copies: Vec<Copies>,
    losses: Losses,
}

impl Part {
    fn add(&mut self, seed: u64, source: SourceChoice, affected: AffectedObject, relocation: &Relocation) {
        let AffectedObject { object, size } = affected;
        let repair = repair_of(relocation);
        self.losses.count(relocation, repair, size);
        let place = self.copies.len() as u16;
        self.copies.push(copies_of(relocation, repair));
        let moved = (repair.rebuilt + repair.remapped) as usize;
        if moved == 0 {
            return;
        }
        let candidates = source.candidates(seed, object, &relocation.survivors);
        // The one holder that there is mostly is kept with the pull, where no search of the list has to fetch it.
        let (holders, holder_count) = match *candidates {
            [only] => (only.get(), 1),
            _ => (self.holders.len() as u32, candidates.len() as u16),
        };
        if holder_count > 1 {
            self.holders.extend_from_slice(candidates);
        }
        let restores = Restores::of(relocation, repair);
        for (rank, &destination) in relocation.homes[..moved].iter().enumerate() {
            let is_rebuild = rank < repair.rebuilt as usize;
            self.drafts.push(Draft { destination, place, holder_count, holders, restores, is_rebuild });
        }
    }
}

impl WorkList {
    /// Lists the pulls that `affected` objects need on `devices` devices, by destination and in the order asked for.
    ///
    /// `relocate` says for each object where its copies go. All threads work on the list, which does not depend on their
    /// number.
    ///
    /// # Errors
    /// When there are more than 2^32 pulls or holders.
    pub fn build<S: Default>(
        seed: u64,
        devices: usize,
        (source, order): (SourceChoice, ObjectOrder),
        affected: &[AffectedObject],
        relocate: impl Fn(ObjectId, &mut S, &mut Relocation) + Sync,
    ) -> Result<Self, SystemError> {
        let parts: Vec<Part> = affected
            .par_chunks(PART_OBJECTS)
            .map(|chunk| {
                let (mut scratch, mut relocation) = (S::default(), Relocation::default());
                let mut part = Part::default();
                for &affected in chunk {
                    relocate(affected.object, &mut scratch, &mut relocation);
                    part.add(seed, source, affected, &relocation);
                }
                part
            })
            .collect();
        let pulls = parts.iter().map(|part| part.drafts.len()).sum::<usize>();
        let holders = parts.iter().map(|part| part.holders.len()).sum::<usize>();
        if pulls.max(holders).max(affected.len()) >= u32::MAX as usize {
            return Err(SystemError::TooManyPulls);
        }
        let mut list = WorkList { starts: starts_of(devices, &parts), ..WorkList::default() };
        list.holders.reserve_exact(holders);
        list.copies.reserve_exact(affected.len());
        list.gather(affected, parts, pulls);
        list.sort(order);
        Ok(list)
    }

    /// The data to be moved.
    pub fn bytes(&self) -> Bytes {
        self.pulls.iter().map(|pull| pull.size).sum()
    }

    /// A counting sort by destination, which keeps the order of each destination's pulls; parts are freed on the way.
    fn gather(&mut self, affected: &[AffectedObject], parts: Vec<Part>, pulls: usize) {
        let nothing = Pull {
            object: ObjectId::new(0),
            size: Bytes::ZERO,
            destination: DeviceId::new(0),
            holders: 0,
            subject: 0,
            holder_count: 0,
            restores: Restores::Counted,
            is_rebuild: false,
        };
        self.pulls = vec![nothing; pulls];
        let mut next = self.starts.clone();
        for (chunk, part) in parts.into_iter().enumerate() {
            let first_holder = self.holders.len() as u32;
            for draft in &part.drafts {
                let subject = chunk * PART_OBJECTS + usize::from(draft.place);
                let AffectedObject { object, size } = affected[subject];
                let slot = &mut next[draft.destination.index()];
                self.pulls[*slot as usize] = Pull {
                    object,
                    size,
                    destination: draft.destination,
                    holders: draft.holders + if draft.holder_count > 1 { first_holder } else { 0 },
                    subject: subject as u32,
                    holder_count: draft.holder_count,
                    restores: draft.restores,
                    is_rebuild: draft.is_rebuild,
                };
                *slot += 1;
            }
            self.holders.extend_from_slice(&part.holders);
            self.copies.extend_from_slice(&part.copies);
            self.losses.add(part.losses);
        }
    }

    fn sort(&mut self, order: ObjectOrder) {
        if order == ObjectOrder::Population {
            return;
        }
        for bounds in self.starts.windows(2) {
            let copies = &self.copies;
            self.pulls[bounds[0] as usize..bounds[1] as usize]
                .sort_by_key(|pull| order.key(pull.size, copies[pull.subject as usize]));
        }
    }
}

/// Where each device's pulls begin, and at last where the last ones end.
fn starts_of(devices: usize, parts: &[Part]) -> Vec<u32> {
    let mut starts = vec![0u32; devices + 1];
    for draft in parts.iter().flat_map(|part| &part.drafts) {
        starts[draft.destination.index() + 1] += 1;
    }
    for device in 0..devices {
        starts[device + 1] += starts[device];
    }
    starts
}

impl Losses {
    fn count(&mut self, relocation: &Relocation, repair: Repair, size: Bytes) {
        self.affected_objects += u64::from(relocation.lost > 0);
        self.lost_replicas += u64::from(relocation.lost);
        self.replicas_to_rebuild += u64::from(repair.rebuilt);
        self.undersized_replicas += u64::from(repair.undersized);
        self.remapped_replicas += u64::from(repair.remapped);
        if repair.unrecoverable > 0 {
            self.unrecoverable_replicas += u64::from(repair.unrecoverable);
            self.unrecoverable_objects += 1;
            self.unrecoverable_bytes += size;
        }
    }

    /// Adds what other objects lost.
    pub(crate) fn add(&mut self, other: Losses) {
        self.affected_objects += other.affected_objects;
        self.lost_replicas += other.lost_replicas;
        self.replicas_to_rebuild += other.replicas_to_rebuild;
        self.unrecoverable_objects += other.unrecoverable_objects;
        self.unrecoverable_bytes += other.unrecoverable_bytes;
        self.unrecoverable_replicas += other.unrecoverable_replicas;
        self.undersized_replicas += other.undersized_replicas;
        self.replaced_replicas += other.replaced_replicas;
        self.remapped_replicas += other.remapped_replicas;
    }
}

fn copies_of(relocation: &Relocation, repair: Repair) -> Copies {
    let survivors = relocation.survivors.len() as u16;
    if repair.unrecoverable > 0 {
        return Copies::default();
    }
    Copies { full: survivors + relocation.lost as u16, left: survivors }
}

/// What becomes of the copies of an object that goes from one set of devices to another.
pub(crate) fn repair_of(relocation: &Relocation) -> Repair {
    let Relocation { survivors, homes, leaving, lost } = relocation;
    Replicas.repair(survivors.len() as u32, leaving.len() as u32, *lost, homes.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(numbers: &[u32]) -> Vec<DeviceId> {
        numbers.iter().copied().map(DeviceId::new).collect()
    }

    /// Object i loses device 0; its copies were on 0, 1, 2 and its new home is 3 + i mod 2.
    fn build(source: SourceChoice) -> WorkList {
        ordered(source, ObjectOrder::Population)
    }

    fn ordered(source: SourceChoice, order: ObjectOrder) -> WorkList {
        let affected: Vec<AffectedObject> =
            (0..100).map(|i| AffectedObject { object: ObjectId::new(i), size: Bytes::new(10 + i) }).collect();
        WorkList::build(1, 5, (source, order), &affected, |object, (): &mut (), relocation| {
            let home = 3 + (object.get() % 2) as u32;
            relocation.set(&devices(&[0, 1, 2]), &devices(&[1, 2, home]), |device| device.get() == 0);
        })
        .unwrap()
    }

    #[test]
    fn pulls_are_listed_by_destination_in_the_order_of_the_population() {
        let list = build(SourceChoice::Primary);
        assert_eq!(list.starts, [0, 0, 0, 0, 50, 100]);
        let objects: Vec<u64> = list.pulls.iter().map(|pull| pull.object.get()).collect();
        let expected: Vec<u64> = (0..50).map(|i| 2 * i).chain((0..50).map(|i| 2 * i + 1)).collect();
        assert_eq!(objects, expected);
        assert_eq!(list.losses.lost_replicas, 100);
        // 10 to 109 bytes: 100 x 59.5.
        assert_eq!(list.bytes().get(), 5950);
    }

    #[test]
    fn pulls_come_in_the_order_asked_for() {
        // Object i has 10 + i bytes, and its even ones go to device 3.
        let first = |order| ordered(SourceChoice::Primary, order).pulls[..2].to_vec();
        assert_eq!(first(ObjectOrder::Smallest), first(ObjectOrder::Population));
        let largest: Vec<u64> = first(ObjectOrder::Largest).iter().map(|pull| pull.object.get()).collect();
        assert_eq!(largest, [98, 96]);
    }

    #[test]
    fn objects_with_the_fewest_copies_left_come_first_where_risk_is_the_order() {
        // Every third object loses two of its three copies; the others lose one.
        let affected: Vec<AffectedObject> =
            (0..9).map(|i| AffectedObject { object: ObjectId::new(i), size: Bytes::new(1) }).collect();
        let choices = (SourceChoice::Primary, ObjectOrder::Risk);
        let list = WorkList::build(1, 5, choices, &affected, |object, (): &mut (), relocation| {
            let failed = if object.get() % 3 == 2 { 2 } else { 1 };
            let after: Vec<u32> = (failed..3).chain([4]).collect();
            relocation.set(&devices(&[0, 1, 2]), &devices(&after), |device| device.get() < failed);
        })
        .unwrap();
        let objects: Vec<u64> = list.pulls.iter().map(|pull| pull.object.get()).collect();
        assert_eq!(objects, [2, 5, 8, 0, 1, 3, 4, 6, 7]);
        assert_eq!(list.losses.undersized_replicas, 3);
    }

    #[test]
    fn the_primary_is_the_first_survivor() {
        let list = build(SourceChoice::Primary);
        assert!(list.pulls.iter().all(|pull| (pull.holder_count, pull.holders) == (1, 1)));
    }

    #[test]
    fn a_random_source_is_any_survivor() {
        // 100 fair choices between two: 50 each with a standard deviation of 5; five of them.
        let list = build(SourceChoice::Random);
        let first = list.pulls.iter().filter(|pull| (pull.holder_count, pull.holders) == (1, 1)).count();
        assert!((25..=75).contains(&first), "{first}");
    }

    #[test]
    fn the_least_loaded_is_chosen_later_among_all_survivors() {
        let list = build(SourceChoice::LeastLoaded);
        assert_eq!(list.pulls[0].holder_count, 2);
        assert_eq!(list.holders[..2], devices(&[1, 2]));
    }
}
