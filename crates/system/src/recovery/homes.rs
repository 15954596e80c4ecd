//! Where the pieces of objects are to be before anything fails and after each failure, position by position.

use rayon::prelude::*;
use resilver_placement::inverse::FailedSet;
use resilver_placement::layout::object_group;
use resilver_units::{DeviceId, GroupId, ObjectId, SimTime};

use crate::SystemError;
use crate::checker::check_set;
use crate::scenario::{Algorithm, Numbering, PlaceScratch, SystemConfig};

use super::places::NOBODY;

/// Where pieces are to be: of each object, a row of devices for each stage. Stage 0 is before anything fails.
#[derive(Clone, Debug)]
pub(crate) enum Homes {
    /// Each object is placed on its own, by the algorithm of the stage.
    Objects(Vec<Algorithm>),
    /// Objects are where their groups are.
    Groups {
        /// How many groups objects share.
        groups: u32,
        /// The groups that are ever touched, in rising order, and the rows of all stages, one behind another.
        rows: Vec<(GroupId, Vec<u32>)>,
    },
    /// Every place is said, object by object, which are numbered from zero.
    Listed {
        /// How many stages each object's places are said for.
        stages: usize,
        /// Object by object, stage by stage.
        rows: Vec<u32>,
    },
}

/// Working memory of one thread.
#[derive(Default)]
pub(super) struct HomesScratch {
    place: PlaceScratch,
    positions: Vec<Option<DeviceId>>,
}

fn number(device: &Option<DeviceId>) -> u32 {
    device.map_or(NOBODY, DeviceId::get)
}

fn algorithms(config: &SystemConfig, pool: usize) -> Vec<Algorithm> {
    let before = &config.pools[pool].placement.algorithm;
    let after = |(_, failed): (SimTime, FailedSet)| before.without(&config.abandoned(&failed));
    std::iter::once(before.clone()).chain(config.stages().into_iter().map(after)).collect()
}

impl Homes {
    /// The homes of a pool whose objects are placed each on its own.
    pub fn of_objects(config: &SystemConfig, pool: usize) -> Self {
        Homes::Objects(algorithms(config, pool))
    }

    /// The homes of a pool with groups, of which `asked` are those that may be touched.
    ///
    /// # Errors
    /// When two pieces of a group lie in one failure domain.
    pub fn of_groups(config: &SystemConfig, pool: usize, mut asked: Vec<GroupId>) -> Result<Self, SystemError> {
        asked.sort_unstable_by_key(|group| group.get());
        asked.dedup();
        let stages = algorithms(config, pool);
        let failed = config.failed();
        let row = |(scratch, positions): &mut (PlaceScratch, Vec<Option<DeviceId>>), group: GroupId| {
            positions.clear();
            stages.iter().for_each(|algorithm| algorithm.place_group_positions(group, scratch, positions));
            (group, positions.iter().map(number).collect::<Vec<u32>>())
        };
        let is_touched = |(_, row): &(GroupId, Vec<u32>)| {
            let width = row.len() / stages.len();
            let before = &row[..width];
            let is_lost = |&device: &u32| device != NOBODY && failed.contains(DeviceId::new(device));
            before.iter().any(is_lost) || row.chunks(width.max(1)).any(|after| after != before)
        };
        let rows: Vec<(GroupId, Vec<u32>)> = asked
            .into_par_iter()
            .map_init(Default::default, |scratch, group| row(scratch, group))
            .filter(is_touched)
            .collect();
        let placement = &config.pools[pool].placement;
        if let Some(domain_of) = &placement.domain_of {
            for (_, row) in &rows {
                for set in row.chunks((row.len() / stages.len()).max(1)) {
                    let devices: Vec<DeviceId> =
                        set.iter().filter(|&&device| device != NOBODY).map(|&device| DeviceId::new(device)).collect();
                    check_set(devices.iter(), domain_of)?;
                }
            }
        }
        Ok(Homes::Groups { groups: placement.groups.unwrap_or(0), rows })
    }

    /// Writes the devices of the `row.len()` positions of an object at a stage.
    fn fill(&self, stage: usize, object: ObjectId, scratch: &mut HomesScratch, row: &mut [u32]) {
        match self {
            Homes::Objects(algorithms) => {
                scratch.positions.clear();
                algorithms[stage].place_object_positions(object, &mut scratch.place, &mut scratch.positions);
                write(row, &scratch.positions);
            }
            Homes::Listed { stages, rows } => {
                let first = (object.get() as usize * stages + stage) * row.len();
                row.copy_from_slice(&rows[first..first + row.len()]);
            }
            Homes::Groups { groups, rows } => {
                let group = object_group(object, *groups);
                let found = rows.binary_search_by_key(&group.get(), |(group, _)| group.get());
                let all = &rows[found.expect("the group is touched")].1;
                row.copy_from_slice(&all[stage * row.len()..][..row.len()]);
            }
        }
    }

    /// [`Self::fill`] of a row at each of the first two stages, for less than of each by itself.
    fn fill_both(&self, object: ObjectId, scratch: &mut HomesScratch, [before, after]: [&mut [u32]; 2]) {
        let Homes::Objects(algorithms) = self else {
            self.fill(0, object, scratch, before);
            self.fill(1, object, scratch, after);
            return;
        };
        let HomesScratch { place, positions } = scratch;
        positions.clear();
        Algorithm::place_object_in_stages(&algorithms[..2], object, place, positions);
        let (first, second) = positions.split_at(positions.len() / 2);
        write(before, first);
        write(after, second);
    }
}

/// Writes the device of each of a row's positions.
fn write(row: &mut [u32], positions: &[Option<DeviceId>]) {
    row.iter_mut().zip(positions).for_each(|(place, device)| *place = number(device));
}

/// Where the pieces of all pools' objects are to be.
#[derive(Clone, Debug)]
pub(crate) struct PoolHomes {
    numbering: Numbering,
    pools: Vec<Homes>,
    /// The devices that are gone and to be replaced at each stage, behind the first: until then nothing has its home there.
    awaited: Vec<Vec<u32>>,
}

impl PoolHomes {
    /// The homes of each pool.
    pub fn new(numbering: Numbering, pools: Vec<Homes>) -> Self {
        PoolHomes { numbering, pools, awaited: Vec::new() }
    }

    /// The same where devices of the system are replaced.
    pub fn awaiting(mut self, config: &SystemConfig) -> Self {
        let is_replaced = config.replaced();
        if is_replaced.contains(&true) {
            let awaited = |failed: &FailedSet| {
                let awaited = failed.devices().filter(|device| is_replaced[device.index()]);
                awaited.map(DeviceId::get).collect::<Vec<u32>>()
            };
            let stages = config.stages().into_iter().map(|(_, failed)| awaited(&failed));
            self.awaited = std::iter::once(Vec::new()).chain(stages).collect();
        }
        self
    }

    /// Whether a device is replaced where it is.
    pub fn is_replaced(&self, device: DeviceId) -> bool {
        self.awaited.iter().any(|awaited| awaited.contains(&device.get()))
    }

    /// Leaves a row without the homes that are still to be replaced at a stage.
    fn without_awaited(&self, stage: usize, row: &mut [u32]) {
        if let Some(awaited) = self.awaited.get(stage) {
            row.iter_mut().filter(|place| awaited.contains(place)).for_each(|place| *place = NOBODY);
        }
    }

    /// The pool of an object.
    #[inline]
    pub(super) fn pool_of(&self, object: ObjectId) -> usize {
        self.numbering.pool_of(object)
    }

    /// Writes the devices of an object's `row.len()` positions at a stage.
    pub(super) fn fill(&self, stage: usize, object: ObjectId, scratch: &mut HomesScratch, row: &mut [u32]) {
        self.pools[self.pool_of(object)].fill(stage, object, scratch, row);
        self.without_awaited(stage, row);
    }

    /// Writes the devices of an object's positions before anything fails and after the first failure.
    pub(super) fn fill_both(&self, object: ObjectId, scratch: &mut HomesScratch, [before, after]: [&mut [u32]; 2]) {
        self.pools[self.pool_of(object)].fill_both(object, scratch, [before, &mut *after]);
        self.without_awaited(1, after);
    }
}
