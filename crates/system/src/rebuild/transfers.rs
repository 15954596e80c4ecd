//! Who sent how much to whom.

use resilver_units::{Bytes, DeviceId};

use super::PullState;
use super::tracking::Progress;
use crate::outcome::Transfer;
use crate::work::Pull;

/// Adds up the pulls by source and destination; `progress` is of each, where pulls may have been given up.
pub(super) fn add_up_transfers(
    pulls: &[Pull],
    states: &[PullState],
    progress: &[Progress],
    buffer: Bytes,
) -> Vec<Transfer> {
    let received = |index: usize, pull: &Pull| match progress.get(index) {
        Some(progress) => (u64::from(!progress.is_given_up), progress.received_bytes(pull.size, buffer)),
        None => (1, pull.size),
    };
    let mut each: Vec<Transfer> = pulls
        .iter()
        .zip(states)
        .enumerate()
        .filter(|(_, (_, state))| state.source != super::NO_SOURCE)
        .map(|(index, (pull, state))| {
            let (replicas, bytes) = received(index, pull);
            Transfer { source: DeviceId::new(state.source), destination: pull.destination, replicas, bytes }
        })
        .filter(|transfer| transfer.replicas > 0 || transfer.bytes > Bytes::ZERO)
        .collect();
    each.sort_unstable_by_key(|transfer| (transfer.source, transfer.destination));
    let mut sums: Vec<Transfer> = Vec::new();
    for transfer in each {
        match sums.last_mut() {
            Some(last) if (last.source, last.destination) == (transfer.source, transfer.destination) => {
                last.replicas += transfer.replicas;
                last.bytes += transfer.bytes;
            }
            _ => sums.push(transfer),
        }
    }
    sums
}
