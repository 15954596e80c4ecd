//! From a population and a failure to the work there is, whatever the kind of population and of placement.

use resilver_placement::inverse::{FailedSet, GroupInverse, Inverse, RehashInverse, SuccessorInverse};
use resilver_placement::layout::GroupTable;
use resilver_placement::ring::RingWalk;
use resilver_population::{Files, RangeTotals, Words};
use resilver_units::{DeviceId, GroupId};

use crate::SystemError;
use crate::checker::check_domains;
use crate::config::{Algorithm, Contents, PlaceScratch, SystemConfig};
use crate::file_words::FileWords;
use crate::forward::ForwardInverse;
use crate::group_contents::scan_groups;
use crate::groups::place_in_parallel;
use crate::recovery::{Homes, RecoveryWork};
use crate::scan::{FileScan, Scanned};

/// What the groups of a system went through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupOutcome {
    /// How many groups there are.
    pub groups: u32,
    /// How many had a failed device.
    pub affected: u32,
    /// How many groups each device gained.
    pub gained: Vec<u32>,
}

/// What a scan found.
pub(crate) struct Found {
    /// What failures ask for.
    pub work: RecoveryWork,
    pub population: RangeTotals,
    pub groups: Option<GroupOutcome>,
}

/// A scan over one kind of population with one kind of inverse.
pub(crate) trait Scan: Send + Sync {
    fn advance(&mut self);
    fn fraction(&self) -> f64;
    fn is_complete(&self) -> bool;
    /// Takes what scans of parts have found, and is complete.
    fn complete_with(&mut self, found: Scanned) -> Result<(), SystemError>;
    fn finish(self: Box<Self>, config: &SystemConfig) -> Result<Found, SystemError>;
}

impl<W, I> Scan for FileScan<W, I>
where
    W: Words + Send + Sync,
    I: Inverse + AsGroups + Send,
{
    fn advance(&mut self) {
        FileScan::advance(self);
    }

    fn fraction(&self) -> f64 {
        FileScan::fraction(self)
    }

    fn is_complete(&self) -> bool {
        FileScan::is_complete(self)
    }

    fn complete_with(&mut self, found: Scanned) -> Result<(), SystemError> {
        FileScan::complete_with(self, found)
    }

    fn finish(self: Box<Self>, config: &SystemConfig) -> Result<Found, SystemError> {
        let (inverse, scanned) = FileScan::finish(*self);
        found_in_files(config, &inverse, scanned)
    }
}

/// The work there is for the affected objects of a population of files, which `inverse` found.
///
/// # Errors
/// When too many pieces would move, or the placement breaks a law.
pub(crate) fn found_in_files<I: Inverse + AsGroups>(
    config: &SystemConfig,
    inverse: &I,
    scanned: Scanned,
) -> Result<Found, SystemError> {
    let Scanned { totals, affected } = scanned;
    let groups = inverse.as_groups().map(|groups| group_outcome(groups, config.endpoint_of.len()));
    let homes = match inverse.as_groups() {
        Some(groups) => Homes::of_groups(config, groups.affected_groups().iter().map(|(group, _)| *group).collect())?,
        None => Homes::of_objects(config),
    };
    Ok(Found { work: RecoveryWork::build(config, homes, affected)?, population: totals, groups })
}

/// Whether an inverse knows of placement groups.
pub(crate) trait AsGroups {
    fn as_groups(&self) -> Option<&GroupInverse> {
        None
    }
}

impl AsGroups for GroupInverse {
    fn as_groups(&self) -> Option<&GroupInverse> {
        Some(self)
    }
}

impl AsGroups for RehashInverse {}
impl AsGroups for SuccessorInverse {}
impl AsGroups for ForwardInverse {}

fn group_outcome(inverse: &GroupInverse, devices: usize) -> GroupOutcome {
    let mut gained = vec![0; devices];
    for (_, relocation) in inverse.affected_groups().iter().chain(inverse.moved_groups()) {
        for home in &relocation.homes {
            gained[home.index()] += 1;
        }
    }
    GroupOutcome { groups: inverse.group_count(), affected: inverse.affected_groups().len() as u32, gained }
}

/// A population of known groups needs no scan: the affected groups' objects are all there is to list.
pub(crate) struct GroupScan {
    inverse: GroupInverse,
    is_complete: bool,
}

impl Scan for GroupScan {
    fn advance(&mut self) {
        self.is_complete = true;
    }

    fn fraction(&self) -> f64 {
        f64::from(u8::from(self.is_complete))
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn complete_with(&mut self, _: Scanned) -> Result<(), SystemError> {
        Err(SystemError::NothingToScan)
    }

    fn finish(self: Box<Self>, config: &SystemConfig) -> Result<Found, SystemError> {
        let Contents::Groups(contents) = &config.contents else {
            unreachable!("a scan of groups is made for contents in groups only");
        };
        let groups = Some(group_outcome(&self.inverse, config.endpoint_of.len()));
        // Groups that only move come where their numbers are, so that destinations take all in the order of the population.
        let homes = Homes::of_groups(config, self.asked(config))?;
        let Scanned { totals, affected } = scan_groups(contents, homes.groups());
        Ok(Found { work: RecoveryWork::build(config, homes, affected)?, population: totals, groups })
    }
}

impl GroupScan {
    /// The groups that may be touched.
    fn asked(&self, config: &SystemConfig) -> Vec<GroupId> {
        let affected = self.inverse.affected_groups().iter().map(|(group, _)| *group);
        affected.chain(config.placement.algorithm.excepted_groups()).collect()
    }
}

/// The files of a population.
fn files(config: &SystemConfig) -> Result<Files<FileWords>, SystemError> {
    let Contents::Files { histogram, decomposition, extent } = &config.contents else {
        unreachable!("files are asked for only where the contents are files");
    };
    Ok(Files::new(histogram.clone(), *decomposition, *extent, FileWords::new(config.seed))?)
}

/// Takes whichever scan a system needs, by its own type.
pub(crate) trait Visitor {
    /// What becomes of the scan.
    type Result;

    /// A scan of files.
    fn files<W, I>(self, scan: FileScan<W, I>) -> Self::Result
    where
        W: Words + Send + Sync + 'static,
        I: Inverse + AsGroups + Send + 'static;

    /// A search of groups of known contents.
    fn groups(self, inverse: GroupInverse, config: &SystemConfig) -> Self::Result;
}

/// Boxes a scan for a simulation.
struct Boxed;

impl Visitor for Boxed {
    type Result = Box<dyn Scan>;

    fn files<W, I>(self, scan: FileScan<W, I>) -> Box<dyn Scan>
    where
        W: Words + Send + Sync + 'static,
        I: Inverse + AsGroups + Send + 'static,
    {
        Box::new(scan)
    }

    fn groups(self, inverse: GroupInverse, _: &SystemConfig) -> Box<dyn Scan> {
        Box::new(GroupScan { inverse, is_complete: false })
    }
}

/// The scan of a system whose objects are placed each on its own.
pub(crate) fn scan_of_objects(config: &SystemConfig, failed: &FailedSet) -> Result<Box<dyn Scan>, SystemError> {
    visit_objects(config, failed, Boxed)
}

/// The scan of a system whose groups stand in `table`.
///
/// # Errors
/// When the placement breaks a law, or the population cannot be built.
pub(crate) fn scan_of_groups(
    config: &SystemConfig,
    failed: &FailedSet,
    table: &GroupTable,
) -> Result<Box<dyn Scan>, SystemError> {
    visit_groups(config, failed, table, Boxed)
}

/// Places the groups of a system, where it has any, and hands its scan to a visitor.
pub(crate) fn visit_scan<V: Visitor>(
    config: &SystemConfig,
    failed: &FailedSet,
    visitor: V,
) -> Result<V::Result, SystemError> {
    let Some(groups) = config.placement.groups else {
        return visit_objects(config, failed, visitor);
    };
    let algorithm = &config.placement.algorithm;
    let table = place_in_parallel(groups, PlaceScratch::default, |group, scratch, set| {
        algorithm.place_group(group, scratch, set);
    });
    visit_groups(config, failed, &table, visitor)
}

fn visit_objects<V: Visitor>(config: &SystemConfig, failed: &FailedSet, visitor: V) -> Result<V::Result, SystemError> {
    let files = files(config)?;
    Ok(match &config.placement.algorithm {
        Algorithm::Ring { ring, copies, is_out } if !is_out.contains(&true) => {
            let (ring, failed) = (ring.clone(), failed.clone());
            match ring.walk() {
                RingWalk::Rehash => visitor.files(FileScan::new(files, RehashInverse::new(ring, *copies, failed))),
                RingWalk::Successors => {
                    visitor.files(FileScan::new(files, SuccessorInverse::new(ring, *copies, failed)))
                }
            }
        }
        algorithm => visitor.files(FileScan::new(files, ForwardInverse::new(algorithm.clone(), failed.clone()))),
    })
}

fn visit_groups<V: Visitor>(
    config: &SystemConfig,
    failed: &FailedSet,
    table: &GroupTable,
    visitor: V,
) -> Result<V::Result, SystemError> {
    let after = config.placement.algorithm.without(failed);
    let mut scratch = PlaceScratch::default();
    let mut place = |group, set: &mut Vec<DeviceId>| after.place_group(group, &mut scratch, set);
    let excepted = config.placement.algorithm.excepted_groups();
    let inverse = GroupInverse::new(table, failed, &mut place).with_moved(table, excepted, &mut place);
    if let Some(domain_of) = &config.placement.domain_of {
        check_domains(table, &inverse, domain_of)?;
    }
    Ok(match &config.contents {
        Contents::Groups(_) => visitor.groups(inverse, config),
        Contents::Files { .. } => visitor.files(FileScan::new(files(config)?, inverse)),
    })
}
