//! The conservation laws of a reconstruction.

use resilver_units::Bytes;

use super::homes::NOBODY;
use crate::checker::{ConservationError, Totals, hold};
use crate::outcome::Outcome;

/// What a reconstruction counts for its laws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Data that new homes received and made pieces of.
    pub gathered: Bytes,
    /// Data that plans asked for, less what was not wanted any more.
    pub planned: Bytes,
    /// Data of pieces that were made by decoding.
    pub decoded: Bytes,
    /// Data of pieces that were copied from another device.
    pub copied: Bytes,
}

/// Holds a finished reconstruction to its laws; `asked` is what others read from disks and wrote.
///
/// # Errors
/// The first law that is broken.
pub(super) fn check(outcome: &Outcome, tally: &Tally, asked: (Bytes, Bytes)) -> Result<(), ConservationError> {
    let (losses, wasted) = (outcome.losses, outcome.wasted);
    let Totals { read, sent, received, written, completed, transferred, served_after_failure } = Totals::of(outcome);
    hold([
        ("every byte read is sent or wasted, or read for clients", read, sent + wasted.read.get() + asked.0.get()),
        ("every byte sent is received or wasted", sent, received + wasted.sent.get()),
        (
            "every byte received is gathered into a piece or wasted",
            received,
            tally.gathered.get() + wasted.received.get(),
        ),
        ("what was gathered is what the code asked for", tally.gathered.get(), tally.planned.get()),
        (
            "every byte written was decoded or copied, or written for clients",
            written,
            tally.decoded.get() + tally.copied.get() + asked.1.get(),
        ),
        (
            "every byte written is of a piece rebuilt or moved, wasted, or written for clients",
            written,
            completed + wasted.written.get() + asked.1.get(),
        ),
        ("every byte of a piece that is to come has come", outcome.moved_bytes.get(), completed),
        ("what the transfers add up to was received", received, transferred),
        (
            "every piece to rebuild was rebuilt, or was out of reach",
            losses.replicas_to_rebuild,
            outcome.rebuilt_replicas + outcome.unreachable_replicas,
        ),
        (
            "every piece that moves has moved, or was out of reach",
            losses.remapped_replicas,
            outcome.remapped_replicas + outcome.unreachable_moves,
        ),
        (
            "lost pieces are rebuilt, out of reach, unrecoverable or undersized",
            losses.lost_replicas,
            outcome.rebuilt_replicas
                + outcome.unreachable_replicas
                + losses.unrecoverable_replicas
                + losses.undersized_replicas,
        ),
        ("no failed device serves", 0, served_after_failure),
        ("every buffer of memory was given back", 0, outcome.memory_held_at_end.get()),
    ])
}

/// Holds every object to have its pieces on different devices; `places` are those of `width` pieces an object.
///
/// # Errors
/// The first object with two pieces on one device.
pub(super) fn check_places(places: &[u32], width: usize) -> Result<(), ConservationError> {
    for row in places.chunks(width.max(1)) {
        let is_twice = |(position, device): (usize, &u32)| *device != NOBODY && row[..position].contains(device);
        let twice = row.iter().enumerate().filter(|&piece| is_twice(piece)).count() as u64;
        if twice > 0 {
            return Err(ConservationError {
                law: "no two pieces of an object lie on one device",
                left: twice,
                right: 0,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_pieces_on_one_device_are_noticed() {
        assert_eq!(check_places(&[1, 2, NOBODY, NOBODY, 1, 2], 3), Ok(()));
        assert!(check_places(&[1, 2, NOBODY, 4, 1, 4], 3).is_err());
    }
}
