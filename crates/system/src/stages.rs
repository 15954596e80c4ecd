//! Failures one after another: where the copies of an object are to be after each of them.
//!
//! Which devices fail, and when, is known from the study. One scan for all that ever fail therefore finds every object that
//! is ever touched, and what each failure asks for is then worked out for those alone.

use rayon::prelude::*;
use resilver_placement::inverse::{FailedSet, Inverse};
use resilver_placement::layout::{Relocation, object_group};
use resilver_population::file_of;
use resilver_units::{DeviceId, GroupId, ObjectId, SimTime};

use crate::SystemError;
use crate::checker::check_relocated;
use crate::choice::{ObjectOrder, SourceChoice};
use crate::config::{Algorithm, Contents, PlaceScratch, SystemConfig};
use crate::forward::{ForwardInverse, ForwardScratch};
use crate::scan::AffectedObject;
use crate::work::WorkList;

/// Where the copies of affected objects go, failure by failure.
pub(crate) enum Stages {
    /// Each object is placed on its own.
    Objects(Vec<ForwardInverse>),
    /// Objects are where their groups are.
    Groups {
        /// How many groups objects share, or `None` where an object's number says its group.
        hashed: Option<u32>,
        /// The groups that are ever touched, in rising order, and where each goes at each stage.
        rows: Vec<(GroupId, Vec<Relocation>)>,
    },
}

impl Stages {
    /// The stages of a system whose objects are placed each on its own.
    pub fn of_objects(config: &SystemConfig) -> Self {
        let stage =
            |(_, failed): (SimTime, FailedSet)| ForwardInverse::plain(config.placement.algorithm.clone(), failed);
        Stages::Objects(config.stages().into_iter().map(stage).collect())
    }

    /// The stages of a system with groups, of which `asked` are those that may be touched.
    ///
    /// # Errors
    /// When two copies of a group lie in one failure domain.
    pub fn of_groups(config: &SystemConfig, mut asked: Vec<GroupId>) -> Result<Self, SystemError> {
        asked.sort_unstable_by_key(|group| group.get());
        asked.dedup();
        let before = &config.placement.algorithm;
        let stages: Vec<(Algorithm, FailedSet)> =
            config.stages().into_iter().map(|(_, failed)| (before.without(&failed), failed)).collect();
        let rows: Vec<(GroupId, Vec<Relocation>)> = asked
            .into_par_iter()
            .map_init(PlaceScratch::default, |scratch, group| {
                let mut place = |algorithm: &Algorithm| {
                    let mut set: Vec<DeviceId> = Vec::new();
                    algorithm.place_group(group, scratch, &mut set);
                    set
                };
                let old = place(before);
                let relocate = |(after, failed): &(Algorithm, FailedSet)| {
                    let mut relocation = Relocation::default();
                    relocation.set(&old, &place(after), |device| failed.contains(device));
                    relocation
                };
                (group, stages.iter().map(relocate).collect())
            })
            .filter(|(_, relocations): &(GroupId, Vec<Relocation>)| relocations.iter().any(is_touched))
            .collect();
        if let Some(domain_of) = &config.placement.domain_of {
            check_relocated(rows.iter().flat_map(|(_, relocations)| relocations), domain_of)?;
        }
        let hashed = config.placement.groups.filter(|_| matches!(config.contents, Contents::Files { .. }));
        Ok(Stages::Groups { hashed, rows })
    }

    /// The groups that are ever touched, in rising order; none where objects are placed each on its own.
    pub fn groups(&self) -> impl Iterator<Item = GroupId> + Clone + '_ {
        let rows: &[(GroupId, Vec<Relocation>)] = match self {
            Stages::Objects(_) => &[],
            Stages::Groups { rows, .. } => rows,
        };
        rows.iter().map(|(group, _)| *group)
    }

    /// Where the copies of an object go at a stage, compared with where they were before anything failed.
    pub fn relocate(&self, stage: usize, object: ObjectId, scratch: &mut ForwardScratch, relocation: &mut Relocation) {
        match self {
            Stages::Objects(stages) => stages[stage].relocate(object, scratch, relocation),
            Stages::Groups { hashed, rows } => {
                let group = match hashed {
                    Some(groups) => object_group(object, *groups),
                    None => GroupId::new(file_of(object) as u32),
                };
                let row = rows.binary_search_by_key(&group.get(), |(group, _)| group.get());
                relocation.clone_from(&rows[row.expect("the group is touched")].1[stage]);
            }
        }
    }
}

/// Whether a group lost a copy, or is to move one that it has.
fn is_touched(relocation: &Relocation) -> bool {
    relocation.lost > 0 || (!relocation.homes.is_empty() && !relocation.survivors.is_empty())
}

/// What it takes to say what failures after the first ask for.
pub(crate) struct Later {
    /// The objects that any failure touches, in the order of the population.
    pub objects: Vec<AffectedObject>,
    pub stages: Stages,
    /// When devices fail, and all that have failed by then.
    pub failures: Vec<(SimTime, FailedSet)>,
    pub seed: u64,
    pub source: SourceChoice,
    pub order: ObjectOrder,
}

impl Later {
    /// The work of the first failure, and what there is to say of the later ones.
    ///
    /// # Errors
    /// When too many copies would move.
    pub fn begin(
        config: &SystemConfig,
        objects: Vec<AffectedObject>,
        stages: Stages,
    ) -> Result<(WorkList, Later), SystemError> {
        let &SystemConfig { seed, source, order, .. } = config;
        let devices = config.endpoint_of.len();
        let work = WorkList::build(seed, devices, (source, order), &objects, |object, scratch, relocation| {
            stages.relocate(0, object, scratch, relocation);
        })?;
        Ok((work, Later { objects, stages, failures: config.stages(), seed, source, order }))
    }
}
