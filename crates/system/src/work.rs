//! What has to be moved: the pulls of every destination, in order.

use resilver_kernel::{Purpose, Stream};
use resilver_placement::layout::Relocation;
use resilver_redundancy::{Repair, Replicas};
use resilver_units::{Bytes, DeviceId, ObjectId};

use crate::SystemError;
use crate::scan::AffectedObject;

/// Which surviving holder a new home pulls an object from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceChoice {
    /// The first survivor in placement order.
    #[default]
    Primary,
    /// Any survivor, each as likely as the others.
    Random,
    /// The survivor with the least data assigned to it and not sent yet, when the pull begins.
    LeastLoaded,
}

const SOURCE_CHOICE: Purpose = Purpose::named("source");

/// One object that one new home has to fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pull {
    /// Which object.
    pub object: ObjectId,
    /// Its size.
    pub size: Bytes,
    /// The new home.
    pub destination: DeviceId,
    /// Where the object's holders begin in the list of holders.
    pub(crate) holders_start: u32,
    /// How many holders may serve as the source: one when it was chosen beforehand.
    pub(crate) holder_count: u16,
    /// Whether the pull replaces a lost copy, rather than moving one because the map changed.
    pub is_rebuild: bool,
}

/// What a failure asks for, object by object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Objects that had a copy on a failed device.
    pub affected_objects: u64,
    /// Copies lost.
    pub lost_replicas: u64,
    /// Lost copies that have a new home.
    pub replicas_to_rebuild: u64,
    /// Objects of which every copy was lost.
    pub unrecoverable_objects: u64,
    /// Copies of those objects.
    pub unrecoverable_replicas: u64,
    /// Lost copies that a survivor could restore but for which the placement finds no device.
    pub undersized_replicas: u64,
    /// Copies that move though they were not lost.
    pub remapped_replicas: u64,
}

/// The pulls of all destinations.
#[derive(Clone, Debug, Default)]
pub struct WorkList {
    /// Sorted by destination; within a destination in the order of the population.
    pub(crate) pulls: Vec<Pull>,
    /// For each device, where its pulls begin, and at last where the last ones end.
    pub(crate) starts: Vec<u32>,
    /// The holders of all objects, one behind another.
    pub(crate) holders: Vec<DeviceId>,
    /// What the failure asks for.
    pub losses: Losses,
}

impl WorkList {
    /// Lists the pulls that `affected` objects need on `devices` devices, in their order.
    ///
    /// `relocate` says for each object where its copies go.
    ///
    /// # Errors
    /// When there are more than 2^32 pulls or holders.
    pub fn build(
        seed: u64,
        devices: usize,
        source: SourceChoice,
        affected: &[AffectedObject],
        mut relocate: impl FnMut(ObjectId, &mut Relocation),
    ) -> Result<Self, SystemError> {
        let mut list = WorkList::default();
        let mut relocation = Relocation::default();
        for &AffectedObject { object, size } in affected {
            relocate(object, &mut relocation);
            let repair = repair_of(&relocation);
            list.losses.count(&relocation, repair);
            let moved = (repair.rebuilt + repair.remapped) as usize;
            if moved == 0 {
                continue;
            }
            let holders_start = list.holders.len() as u32;
            match source {
                SourceChoice::Primary => list.holders.push(relocation.survivors[0]),
                SourceChoice::Random => {
                    let mut stream = Stream::new(seed, object.get(), SOURCE_CHOICE);
                    let choice = stream.below(relocation.survivors.len() as u64);
                    list.holders.push(relocation.survivors[choice as usize]);
                }
                SourceChoice::LeastLoaded => list.holders.extend_from_slice(&relocation.survivors),
            }
            let holder_count = (list.holders.len() - holders_start as usize) as u16;
            for (rank, &destination) in relocation.homes[..moved].iter().enumerate() {
                let is_rebuild = rank < repair.rebuilt as usize;
                list.pulls.push(Pull { object, size, destination, holders_start, holder_count, is_rebuild });
            }
            if list.pulls.len() > u32::MAX as usize || list.holders.len() > u32::MAX as usize {
                return Err(SystemError::TooManyPulls);
            }
        }
        list.sort_by_destination(devices);
        Ok(list)
    }

    /// The data to be moved.
    pub fn bytes(&self) -> Bytes {
        self.pulls.iter().map(|pull| pull.size).sum()
    }

    /// A counting sort, which keeps the order of each destination's pulls.
    fn sort_by_destination(&mut self, devices: usize) {
        let mut starts = vec![0u32; devices + 1];
        for pull in &self.pulls {
            starts[pull.destination.index() + 1] += 1;
        }
        for device in 0..devices {
            starts[device + 1] += starts[device];
        }
        let mut next = starts.clone();
        let mut sorted = self.pulls.clone();
        for &pull in &self.pulls {
            let slot = &mut next[pull.destination.index()];
            sorted[*slot as usize] = pull;
            *slot += 1;
        }
        self.pulls = sorted;
        self.starts = starts;
    }
}

impl Losses {
    fn count(&mut self, relocation: &Relocation, repair: Repair) {
        self.affected_objects += u64::from(relocation.lost > 0);
        self.lost_replicas += u64::from(relocation.lost);
        self.replicas_to_rebuild += u64::from(repair.rebuilt);
        self.undersized_replicas += u64::from(repair.undersized);
        self.remapped_replicas += u64::from(repair.remapped);
        self.unrecoverable_replicas += u64::from(repair.unrecoverable);
        self.unrecoverable_objects += u64::from(repair.unrecoverable > 0);
    }
}

/// What becomes of the copies of an object, or of a group, that goes from one set of devices to another.
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
        let affected: Vec<AffectedObject> =
            (0..100).map(|i| AffectedObject { object: ObjectId::new(i), size: Bytes::new(10 + i) }).collect();
        WorkList::build(1, 5, source, &affected, |object, relocation| {
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
    fn the_primary_is_the_first_survivor() {
        assert!(build(SourceChoice::Primary).holders.iter().all(|&device| device == DeviceId::new(1)));
    }

    #[test]
    fn a_random_source_is_any_survivor() {
        // 100 fair choices between two: 50 each with a standard deviation of 5; five of them.
        let first = build(SourceChoice::Random).holders.iter().filter(|&&d| d == DeviceId::new(1)).count();
        assert!((25..=75).contains(&first), "{first}");
    }

    #[test]
    fn the_least_loaded_is_chosen_later_among_all_survivors() {
        let list = build(SourceChoice::LeastLoaded);
        assert_eq!(list.pulls[0].holder_count, 2);
        assert_eq!(list.holders[..2], devices(&[1, 2]));
    }
}
