//! Who sent how much to whom.

use rayon::prelude::*;
use resilver_units::{Bytes, DeviceId};

use super::reach::Reach;
use super::tracking::Progress;
use super::{NO_SOURCE, PullState};
use crate::outcome::Transfer;
use crate::work::Pull;

/// Adds up the pulls by source and destination; `progress` is of each where devices fail one after
/// another, and `reach` where messages may be lost: pulls may have been given up there.
///
/// A counting sort brings the pulls of each source together, in their own order; that is mostly the order of destinations,
/// which is fast to sort.
pub(super) fn add_up_transfers(
    pulls: &[Pull],
    states: &[PullState],
    (progress, reach): (&[Progress], Option<&Reach>),
    buffer: Bytes,
) -> Vec<Transfer> {
    let sources = states.iter().map(|state| state.source).filter(|&source| source != NO_SOURCE);
    let devices = sources.clone().max().map_or(0, |source| source as usize + 1);
    let mut starts = vec![0usize; devices + 1];
    for source in sources {
        starts[source as usize + 1] += 1;
    }
    for device in 0..devices {
        starts[device + 1] += starts[device];
    }
    let mut next = starts.clone();
    let mut by_source = vec![0u32; starts[devices]];
    for (index, state) in (0..).zip(states).filter(|(_, state)| state.source != NO_SOURCE) {
        let slot = &mut next[state.source as usize];
        by_source[*slot] = index;
        *slot += 1;
    }
    let transfer_of = |&index: &u32| {
        let pull = &pulls[index as usize];
        let of_reach = reach.map(|reach| (reach.given_up[index as usize], reach.received[index as usize]));
        let (replicas, bytes) = match progress.get(index as usize) {
            None if of_reach.is_some_and(|(is_given_up, _)| is_given_up) => {
                (0, Bytes::new(of_reach.map_or(0, |(_, received)| received)))
            }
            Some(progress) => (u64::from(!progress.is_given_up), progress.received_bytes(pull.size, buffer)),
            None => (1, pull.size),
        };
        let source = DeviceId::new(states[index as usize].source);
        Transfer { source, destination: pull.destination, replicas, bytes }
    };
    let of_sources: Vec<Vec<Transfer>> = starts
        .par_windows(2)
        .map(|bounds| {
            let transfers = by_source[bounds[0]..bounds[1]].iter().map(transfer_of);
            add_up(transfers.filter(|transfer| transfer.replicas > 0 || transfer.bytes > Bytes::ZERO).collect())
        })
        .collect();
    of_sources.concat()
}

/// One transfer for each destination, of those of one source.
fn add_up(mut each: Vec<Transfer>) -> Vec<Transfer> {
    each.sort_by_key(|transfer| transfer.destination);
    let mut sums: Vec<Transfer> = Vec::new();
    for transfer in each {
        match sums.last_mut() {
            Some(last) if last.destination == transfer.destination => {
                last.replicas += transfer.replicas;
                last.bytes += transfer.bytes;
            }
            _ => sums.push(transfer),
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use resilver_units::ObjectId;

    use super::*;
    use crate::restores::Restores;

    #[test]
    fn transfers_are_added_up_by_source_and_destination() {
        // Pull i takes 2^i bytes, so each sum tells its pulls. The last one has no source, as it never began.
        let ends = [(3, 1), (0, 2), (3, 0), (0, 2), (3, 1), (NO_SOURCE, 1)];
        let pull = |(index, (_, destination)): (usize, (u32, u32))| Pull {
            object: ObjectId::new(index as u64),
            size: Bytes::new(1 << index),
            destination: DeviceId::new(destination),
            holders: 0,
            subject: 0,
            holder_count: 1,
            restores: Restores::Counted,
            is_rebuild: true,
        };
        let pulls: Vec<Pull> = ends.into_iter().enumerate().map(pull).collect();
        let states: Vec<PullState> =
            ends.into_iter().map(|(source, _)| PullState { source, buffers_left: 0 }).collect();
        let sums: Vec<(u32, u32, u64, u64)> = add_up_transfers(&pulls, &states, (&[], None), Bytes::new(1 << 20))
            .into_iter()
            .map(|sum| (sum.source.get(), sum.destination.get(), sum.replicas, sum.bytes.get()))
            .collect();
        assert_eq!(sums, [(0, 2, 2, 2 + 8), (3, 0, 1, 4), (3, 1, 2, 1 + 16)]);
        assert_eq!(add_up_transfers(&[], &[], (&[], None), Bytes::new(1)), []);
    }
}
