//! Who sent how much to whom.

use resilver_units::DeviceId;

use super::PullState;
use crate::outcome::Transfer;
use crate::work::Pull;

/// Adds up the pulls by source and destination.
pub(super) fn add_up_transfers(pulls: &[Pull], states: &[PullState]) -> Vec<Transfer> {
    let mut each: Vec<Transfer> = pulls
        .iter()
        .zip(states)
        .filter(|(_, state)| state.source != super::NO_SOURCE)
        .map(|(pull, state)| Transfer {
            source: DeviceId::new(state.source),
            destination: pull.destination,
            replicas: 1,
            bytes: pull.size,
        })
        .collect();
    each.sort_unstable_by_key(|transfer| (transfer.source, transfer.destination));
    let mut sums: Vec<Transfer> = Vec::new();
    for transfer in each {
        match sums.last_mut() {
            Some(last) if (last.source, last.destination) == (transfer.source, transfer.destination) => {
                last.replicas += 1;
                last.bytes += transfer.bytes;
            }
            _ => sums.push(transfer),
        }
    }
    sums
}
