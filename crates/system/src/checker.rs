//! The conservation laws that every finished run is held to.

use resilver_placement::inverse::GroupInverse;
use resilver_placement::layout::{GroupTable, Relocation};
use resilver_units::{Bytes, DeviceId, GroupId};
use thiserror::Error;

use crate::outcome::{DeviceOutcome, Outcome};

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

/// What all devices did, in bytes.
pub(crate) struct Totals {
    pub read: u64,
    pub sent: u64,
    pub received: u64,
    pub written: u64,
    /// Of copies or pieces that were rebuilt or moved.
    pub completed: u64,
    /// What the transfers add up to.
    pub transferred: u64,
    /// Requests, not bytes, that failed devices served after their failure.
    pub served_after_failure: u64,
}

impl Totals {
    pub fn of(outcome: &Outcome) -> Self {
        let devices = &outcome.devices;
        let total = |amount: fn(&DeviceOutcome) -> u64| devices.iter().map(amount).sum::<u64>();
        let served_after = |d: &DeviceOutcome| d.disk.requests - d.requests_before_failure;
        Totals {
            read: total(|d| d.disk.bytes_read.get()),
            sent: total(|d| d.sent_bytes.get()),
            received: total(|d| d.received_bytes.get()),
            written: total(|d| d.disk.bytes_written.get()),
            completed: total(|d| d.rebuilt_bytes.get() + d.remapped_bytes.get()),
            transferred: outcome.transfers.iter().map(|t| t.bytes.get()).sum(),
            served_after_failure: devices.iter().filter(|d| d.is_failed).map(served_after).sum(),
        }
    }
}

/// Holds a finished run to the conservation laws; `asked` is what others than the rebuild read from disks and wrote.
///
/// # Errors
/// The first law that is broken.
pub fn check(outcome: &Outcome, asked: (Bytes, Bytes)) -> Result<(), ConservationError> {
    let (losses, wasted) = (outcome.losses, outcome.wasted);
    let Totals { read, sent, received, written, completed, transferred, served_after_failure } = Totals::of(outcome);
    hold([
        ("every byte read is sent or wasted, or read for clients", read, sent + wasted.read.get() + asked.0.get()),
        ("every byte sent is received or wasted", sent, received + wasted.sent.get()),
        ("every byte received is written or wasted", received + asked.1.get(), written + wasted.received.get()),
        (
            "every byte written is of a copy rebuilt or remapped, wasted, or written for clients",
            written,
            completed + wasted.written.get() + asked.1.get(),
        ),
        ("every byte of a copy that moves has moved", outcome.moved_bytes.get(), completed),
        ("what the transfers add up to was received", received, transferred),
        (
            "every copy to rebuild was rebuilt, or was out of reach",
            losses.replicas_to_rebuild,
            outcome.rebuilt_replicas + outcome.unreachable_replicas,
        ),
        (
            "every copy that moves has moved, or was out of reach",
            losses.remapped_replicas,
            outcome.remapped_replicas + outcome.unreachable_moves,
        ),
        (
            "lost copies are rebuilt, out of reach, unrecoverable, undersized or replaced by copies that moved",
            losses.lost_replicas,
            outcome.rebuilt_replicas
                + outcome.unreachable_replicas
                + losses.unrecoverable_replicas
                + losses.undersized_replicas
                + losses.replaced_replicas,
        ),
        ("no failed device serves", 0, served_after_failure),
        ("every buffer of memory was given back", 0, outcome.memory_held_at_end.get()),
    ])
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
