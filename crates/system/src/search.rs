//! From a population and a failure to the work there is, whatever the kind of population and of placement.

use resilver_placement::inverse::{FailedSet, GroupInverse, Inverse, RehashInverse, SuccessorInverse};
use resilver_placement::layout::GroupTable;
use resilver_placement::ring::RingWalk;
use resilver_population::{FILE_INDEX_LIMIT, Files, RangeTotals, Words};
use resilver_units::DeviceId;

use crate::SystemError;
use crate::checker::check_domains;
use crate::file_words::FileWords;
use crate::forward::ForwardInverse;
use crate::groups::place_in_parallel;
use crate::recovery::{Homes, PoolHomes, RecoveryWork};
use crate::scan::{AffectedObject, FileScan, Scanned};
use crate::scenario::{Algorithm, Contents, PlaceScratch, Placement, SystemConfig};

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

impl GroupOutcome {
    /// The outcome of both pools' groups.
    fn with(mut self, other: GroupOutcome) -> GroupOutcome {
        self.groups += other.groups;
        self.affected += other.affected;
        self.gained.iter_mut().zip(other.gained).for_each(|(sum, gained)| *sum += gained);
        self
    }
}

/// What the scan of a pool found.
pub(crate) struct FoundPool {
    homes: Homes,
    groups: Option<GroupOutcome>,
    /// The affected objects.
    scanned: Scanned,
}

/// What the scans of all pools found.
pub(crate) struct Found {
    /// What failures ask for.
    pub work: RecoveryWork,
    /// What each pool's population adds up to.
    pub populations: Vec<RangeTotals>,
    pub groups: Option<GroupOutcome>,
}

impl Found {
    /// The work that there is in all pools.
    ///
    /// # Errors
    /// When too many pieces would move.
    pub fn of(config: &SystemConfig, pools: Vec<FoundPool>) -> Result<Self, SystemError> {
        let mut populations = Vec::new();
        let (mut lists, mut homes, mut groups) = (Vec::new(), Vec::new(), None::<GroupOutcome>);
        for found in pools {
            populations.push(found.scanned.totals);
            lists.push(found.scanned.affected);
            homes.push(found.homes);
            groups = match (groups, found.groups) {
                (Some(before), Some(of_pool)) => Some(before.with(of_pool)),
                (before, of_pool) => before.or(of_pool),
            };
        }
        let work =
            RecoveryWork::build(config, PoolHomes::new(config.numbering(), homes).awaiting(config), merged(lists))?;
        Ok(Found { work, populations, groups })
    }
}

/// Several lists in one: each is spread over the whole, and keeps its order.
fn merged(mut lists: Vec<Vec<AffectedObject>>) -> Vec<AffectedObject> {
    lists.retain(|list| !list.is_empty());
    if lists.len() < 2 {
        return lists.pop().unwrap_or_default();
    }
    let mut taken = vec![0; lists.len()];
    let total = lists.iter().map(Vec::len).sum();
    let mut all = Vec::with_capacity(total);
    while all.len() < total {
        // The list of which the smallest share is behind the middle of its next object.
        let left = (0..lists.len()).filter(|&list| taken[list] < lists[list].len());
        let next = left
            .min_by(|&one, &other| {
                let side = |of: usize, by: usize| (2 * taken[of] as u128 + 1) * lists[by].len() as u128;
                side(one, other).cmp(&side(other, one))
            })
            .expect("not all are taken");
        all.push(lists[next][taken[next]]);
        taken[next] += 1;
    }
    all
}

/// A scan over one kind of population with one kind of inverse.
pub(crate) trait Scan: Send + Sync {
    fn advance(&mut self);
    fn fraction(&self) -> f64;
    fn is_complete(&self) -> bool;
    /// Takes what scans of parts have found, and is complete.
    fn complete_with(&mut self, found: Scanned) -> Result<(), SystemError>;
    fn finish(self: Box<Self>, config: &SystemConfig, pool: usize) -> Result<FoundPool, SystemError>;
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

    fn finish(self: Box<Self>, config: &SystemConfig, pool: usize) -> Result<FoundPool, SystemError> {
        let (inverse, scanned) = FileScan::finish(*self);
        let groups = inverse.as_groups().map(|groups| group_outcome(groups, config.endpoint_of.len()));
        let homes = match inverse.as_groups() {
            Some(groups) => {
                let touched = groups.affected_groups().iter().map(|(group, _)| *group);
                Homes::of_groups(config, pool, touched.collect())?
            }
            None => Homes::of_objects(config, pool),
        };
        Ok(FoundPool { homes, groups, scanned })
    }
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
    for (_, relocation) in inverse.affected_groups() {
        for home in &relocation.homes {
            gained[home.index()] += 1;
        }
    }
    GroupOutcome { groups: inverse.group_count(), affected: inverse.affected_groups().len() as u32, gained }
}

/// The files of a pool's population.
///
/// # Errors
/// When the population cannot be built, or has more files than can be numbered beside those of the other pools.
pub(crate) fn files_of(config: &SystemConfig, pool: usize) -> Result<Files<FileWords>, SystemError> {
    let Contents { histogram, decomposition, extent } = &config.pools[pool].contents;
    let words = FileWords::new(config.seed, config.numbering().first_file(pool));
    let files = Files::new(histogram.clone(), *decomposition, *extent, words)?;
    // A volume may take more files than are expected.
    let most = FILE_INDEX_LIMIT / config.pools.len() as u64 / 2;
    if config.pools.len() > 1 && files.expected_files() > most {
        return Err(SystemError::TooManyFilesOfPool { pool, files: files.expected_files(), most });
    }
    Ok(files)
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
}

/// The scan of a pool whose objects are placed each on its own.
pub(crate) fn scan_of_objects(
    config: &SystemConfig,
    pool: usize,
    failed: &FailedSet,
) -> Result<Box<dyn Scan>, SystemError> {
    visit_objects(config, pool, failed, Boxed)
}

/// The scan of a pool whose groups stand in `table`.
///
/// # Errors
/// When the placement breaks a law, or the population cannot be built.
pub(crate) fn scan_of_groups(
    config: &SystemConfig,
    pool: usize,
    failed: &FailedSet,
    table: &GroupTable,
) -> Result<Box<dyn Scan>, SystemError> {
    visit_groups(config, pool, failed, table, Boxed)
}

/// Places the groups of a pool, where it has any, and hands its scan to a visitor.
pub(crate) fn visit_scan<V: Visitor>(
    config: &SystemConfig,
    pool: usize,
    failed: &FailedSet,
    visitor: V,
) -> Result<V::Result, SystemError> {
    let Placement { groups, algorithm, .. } = &config.pools[pool].placement;
    let Some(groups) = *groups else {
        return visit_objects(config, pool, failed, visitor);
    };
    let table = place_in_parallel(groups, PlaceScratch::default, |group, scratch, set| {
        algorithm.place_group(group, scratch, set);
    });
    visit_groups(config, pool, failed, &table, visitor)
}

fn visit_objects<V: Visitor>(
    config: &SystemConfig,
    pool: usize,
    failed: &FailedSet,
    visitor: V,
) -> Result<V::Result, SystemError> {
    let (files, first) = (files_of(config, pool)?, config.numbering().first_file(pool));
    Ok(match &config.pools[pool].placement.algorithm {
        Algorithm::Ring { ring, copies, is_out } if !is_out.contains(&true) => {
            let (ring, failed) = (ring.clone(), failed.clone());
            match ring.walk() {
                RingWalk::Rehash => {
                    visitor.files(FileScan::new(files, first, RehashInverse::new(ring, *copies, failed)))
                }
                RingWalk::Successors => {
                    visitor.files(FileScan::new(files, first, SuccessorInverse::new(ring, *copies, failed)))
                }
            }
        }
        algorithm => visitor.files(FileScan::new(files, first, ForwardInverse::new(algorithm.clone(), failed.clone()))),
    })
}

fn visit_groups<V: Visitor>(
    config: &SystemConfig,
    pool: usize,
    failed: &FailedSet,
    table: &GroupTable,
    visitor: V,
) -> Result<V::Result, SystemError> {
    let placement = &config.pools[pool].placement;
    let first = config.numbering().first_file(pool);
    let after = placement.algorithm.without(failed);
    let mut scratch = PlaceScratch::default();
    let place = |group, set: &mut Vec<DeviceId>| after.place_group(group, &mut scratch, set);
    let inverse = GroupInverse::new(table, failed, place);
    if let Some(domain_of) = &placement.domain_of {
        check_domains(table, &inverse, domain_of)?;
    }
    Ok(visitor.files(FileScan::new(files_of(config, pool)?, first, inverse)))
}

#[cfg(test)]
mod tests {
    use resilver_units::{Bytes, ObjectId};

    use super::*;

    #[test]
    fn pools_are_spread_over_the_whole_and_keep_their_order() {
        let list = |first: u64, count: u64| {
            let one = |number| AffectedObject { object: ObjectId::new(number), size: Bytes::new(1) };
            (first..first + count).map(one).collect::<Vec<_>>()
        };
        let numbers = |lists| merged(lists).iter().map(|one| one.object.get()).collect::<Vec<u64>>();
        // Middles of thirds 1/6, 3/6, 5/6 and of sixths 1/12, 3/12, ...: at equal shares the first list goes first.
        assert_eq!(numbers(vec![list(0, 3), list(10, 6)]), [10, 0, 11, 12, 1, 13, 14, 2, 15]);
        assert_eq!(numbers(vec![list(0, 0), list(10, 2), list(20, 0)]), [10, 11]);
        assert_eq!(numbers(vec![]), [0u64; 0]);
    }
}
