//! How a model is held to laws, and the laws of placement.

use resilver_placement::inverse::GroupInverse;
use resilver_placement::layout::{GroupTable, Relocation};
use resilver_units::{DeviceId, GroupId};
use thiserror::Error;

/// A conservation law that a run broke. It is a bug of the model, never of the study.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "conservation: {law}, but {left} is not {right}; this is a bug of resilver, please report it with the study and the seed"
)]
pub struct ConservationError {
    /// The law in words.
    pub law: &'static str,
    /// Its left side.
    pub left: u64,
    /// Its right side.
    pub right: u64,
}

/// A law in words, and its two sides.
pub(crate) type Law = (&'static str, u64, u64);

/// Holds what was counted to laws.
///
/// # Errors
/// The first law that is broken.
pub(crate) fn hold(laws: impl IntoIterator<Item = Law>) -> Result<(), ConservationError> {
    match laws.into_iter().find(|(_, left, right)| left != right) {
        Some((law, left, right)) => Err(ConservationError { law, left, right }),
        None => Ok(()),
    }
}

/// Holds the sets of all groups, before the failure and after it, to lie in different failure domains.
///
/// `domain_of` gives the failure domain of each device.
///
/// # Errors
/// The first group with two copies in one domain.
pub fn check_domains(before: &GroupTable, inverse: &GroupInverse, domain_of: &[u32]) -> Result<(), ConservationError> {
    let mut sets = (0..before.len()).map(|group| before.set(GroupId::new(group)));
    sets.try_for_each(|set| check_set(set.iter(), domain_of))?;
    check_relocated(inverse.affected_groups().iter().map(|(_, relocation)| relocation), domain_of)
}

/// Holds the sets that relocated copies are in afterwards to lie in different failure domains.
///
/// # Errors
/// The first set with two copies in one domain.
pub fn check_relocated<'a>(
    relocations: impl Iterator<Item = &'a Relocation>,
    domain_of: &[u32],
) -> Result<(), ConservationError> {
    for relocation in relocations {
        let staying = relocation.survivors.iter().filter(|device| !relocation.leaving.contains(device));
        check_set(staying.chain(&relocation.homes), domain_of)?;
    }
    Ok(())
}

pub(crate) fn check_set<'a>(
    set: impl Iterator<Item = &'a DeviceId>,
    domain_of: &[u32],
) -> Result<(), ConservationError> {
    let mut domains: Vec<u32> = set.map(|device| domain_of[device.index()]).collect();
    let copies = domains.len();
    domains.sort_unstable();
    domains.dedup();
    if domains.len() == copies {
        return Ok(());
    }
    Err(ConservationError {
        law: "the copies of a group lie in different failure domains",
        left: copies as u64,
        right: domains.len() as u64,
    })
}
