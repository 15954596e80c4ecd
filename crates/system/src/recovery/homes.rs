//! Where the pieces of objects are to be before anything fails and after each failure, position by position.

use rayon::prelude::*;
use resilver_placement::inverse::FailedSet;
use resilver_placement::layout::object_group;
use resilver_population::file_of;
use resilver_units::{DeviceId, GroupId, ObjectId, SimTime};

use crate::SystemError;
use crate::checker::check_set;
use crate::config::{Algorithm, Contents, PlaceScratch, SystemConfig};

use super::places::NOBODY;

/// Where pieces are to be: of each object, a row of devices for each stage. Stage 0 is before anything fails.
#[derive(Clone, Debug)]
pub(crate) enum Homes {
    /// Each object is placed on its own, by the algorithm of the stage.
    Objects(Vec<Algorithm>),
    /// Objects are where their groups are.
    Groups {
        /// How many groups objects share, or `None` where an object's number says its group.
        hashed: Option<u32>,
        /// The groups that are ever touched, in rising order, and the rows of all stages, one behind another.
        rows: Vec<(GroupId, Vec<u32>)>,
        /// Where each pool's groups end, of which there are several.
        pool_ends: Vec<u32>,
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

fn algorithms(config: &SystemConfig) -> Vec<Algorithm> {
    let before = &config.placement.algorithm;
    let after = |(_, failed): (SimTime, FailedSet)| before.without(&failed);
    std::iter::once(before.clone()).chain(config.stages().into_iter().map(after)).collect()
}

impl Homes {
    /// The homes of a system whose objects are placed each on its own.
    pub fn of_objects(config: &SystemConfig) -> Self {
        Homes::Objects(algorithms(config))
    }

    /// The homes of a system with groups, of which `asked` are those that may be touched.
    ///
    /// # Errors
    /// When two pieces of a group lie in one failure domain.
    pub fn of_groups(config: &SystemConfig, mut asked: Vec<GroupId>) -> Result<Self, SystemError> {
        asked.sort_unstable_by_key(|group| group.get());
        asked.dedup();
        let stages = algorithms(config);
        let failed = config.stages().pop().map(|(_, failed)| failed).unwrap_or_default();
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
        if let Some(domain_of) = &config.placement.domain_of {
            for (_, row) in &rows {
                for set in row.chunks((row.len() / stages.len()).max(1)) {
                    let devices: Vec<DeviceId> =
                        set.iter().filter(|&&device| device != NOBODY).map(|&device| DeviceId::new(device)).collect();
                    check_set(devices.iter(), domain_of)?;
                }
            }
        }
        let hashed = config.placement.groups.filter(|_| matches!(config.contents, Contents::Files { .. }));
        Ok(Homes::Groups { hashed, rows, pool_ends: config.placement.algorithm.pool_ends() })
    }

    /// The pool of an object.
    pub(super) fn pool_of(&self, object: ObjectId) -> usize {
        match self {
            Homes::Groups { hashed: None, pool_ends, .. } if pool_ends.len() > 1 => {
                let group = file_of(object) as u32;
                pool_ends.partition_point(|&end| end <= group)
            }
            _ => 0,
        }
    }

    /// The groups that are ever touched, in rising order; none where objects are placed each on its own.
    pub fn groups(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        let rows: &[(GroupId, Vec<u32>)] = match self {
            Homes::Objects(_) | Homes::Listed { .. } => &[],
            Homes::Groups { rows, .. } => rows,
        };
        rows.iter().map(|(group, _)| group.get())
    }

    /// Writes the devices of an object's `row.len()` positions at a stage.
    pub(super) fn fill(&self, stage: usize, object: ObjectId, scratch: &mut HomesScratch, row: &mut [u32]) {
        match self {
            Homes::Objects(algorithms) => {
                scratch.positions.clear();
                algorithms[stage].place_object_positions(object, &mut scratch.place, &mut scratch.positions);
                row.iter_mut().zip(&scratch.positions).for_each(|(place, device)| *place = number(device));
            }
            Homes::Listed { stages, rows } => {
                let first = (object.get() as usize * stages + stage) * row.len();
                row.copy_from_slice(&rows[first..first + row.len()]);
            }
            Homes::Groups { hashed, rows, .. } => {
                let group = match hashed {
                    Some(groups) => object_group(object, *groups),
                    None => GroupId::new(file_of(object) as u32),
                };
                let found = rows.binary_search_by_key(&group.get(), |(group, _)| group.get());
                let all = &rows[found.expect("the group is touched")].1;
                row.copy_from_slice(&all[stage * row.len()..][..row.len()]);
            }
        }
    }
}
