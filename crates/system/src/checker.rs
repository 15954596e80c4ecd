//! The conservation laws that every finished run is held to.

use resilver_placement::inverse::GroupInverse;
use resilver_placement::layout::GroupTable;
use resilver_units::{DeviceId, GroupId};
use thiserror::Error;

use crate::outcome::Outcome;

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

/// Holds a finished run to the conservation laws.
///
/// # Errors
/// The first law that is broken.
pub fn check(outcome: &Outcome) -> Result<(), ConservationError> {
    let devices = &outcome.devices;
    let total = |amount: fn(&crate::DeviceOutcome) -> u64| devices.iter().map(amount).sum::<u64>();
    let losses = outcome.losses;
    let moved = outcome.moved_bytes.get();
    let laws = [
        ("every byte to move is read", moved, total(|d| d.disk.bytes_read.get())),
        ("every byte read is sent", total(|d| d.disk.bytes_read.get()), total(|d| d.sent_bytes.get())),
        ("every byte sent is received", total(|d| d.sent_bytes.get()), total(|d| d.received_bytes.get())),
        ("every byte received is written", total(|d| d.received_bytes.get()), total(|d| d.disk.bytes_written.get())),
        (
            "every byte received is of a copy rebuilt or remapped",
            total(|d| d.received_bytes.get()),
            total(|d| d.rebuilt_bytes.get() + d.remapped_bytes.get()),
        ),
        ("what the transfers add up to was received", moved, outcome.transfers.iter().map(|t| t.bytes.get()).sum()),
        ("every copy to rebuild was rebuilt", losses.replicas_to_rebuild, outcome.rebuilt_replicas),
        ("every copy that moves has moved", losses.remapped_replicas, outcome.remapped_replicas),
        (
            "lost copies are rebuilt, unrecoverable or undersized",
            losses.lost_replicas,
            outcome.rebuilt_replicas + losses.unrecoverable_replicas + losses.undersized_replicas,
        ),
        ("no failed device serves", 0, devices.iter().filter(|d| d.is_failed).map(|d| d.disk.requests).sum()),
        ("every buffer of memory was given back", 0, outcome.memory_held_at_end.get()),
    ];
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
    let domains = |set: &mut dyn Iterator<Item = DeviceId>| {
        let mut domains: Vec<u32> = set.map(|device| domain_of[device.index()]).collect();
        let copies = domains.len();
        domains.sort_unstable();
        domains.dedup();
        (domains.len(), copies)
    };
    let sets_before = (0..before.len()).map(|group| domains(&mut before.set(GroupId::new(group)).iter().copied()));
    let sets_after = inverse.affected_groups().iter().map(|(_, relocation)| {
        let staying = relocation.survivors.iter().filter(|device| !relocation.leaving.contains(device));
        domains(&mut staying.chain(&relocation.homes).copied())
    });
    match sets_before.chain(sets_after).find(|(domains, copies)| domains != copies) {
        Some((domains, copies)) => Err(ConservationError {
            law: "the copies of a group lie in different failure domains",
            left: copies as u64,
            right: domains as u64,
        }),
        None => Ok(()),
    }
}
