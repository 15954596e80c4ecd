//! The conservation laws of recovery.

use resilver_units::Bytes;

use super::outcome::{DeviceOutcome, Outcome};
use super::places::{NOBODY, device_or_nobody};
use crate::checker::{ConservationError, hold};

/// What recovery counts for its laws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Data that arrived and was wanted.
    pub received: Bytes,
    /// Data that drivers read themselves, and that was wanted.
    pub local: Bytes,
    /// Data that drivers received or read and made pieces of.
    pub gathered: Bytes,
    /// Data that drivers handed over, that came to where it is to be, and that was not written since its device failed.
    pub handed_over: Bytes,
    pub handed_in: Bytes,
    pub handed_in_vain: Bytes,
    /// Data that was handed over and written.
    pub handed_written: Bytes,
    /// Data that plans asked for, less what was not wanted any more.
    pub planned: Bytes,
    /// Data of pieces that were made by decoding.
    pub decoded: Bytes,
    /// Data of pieces that were copied from another device.
    pub copied: Bytes,
    /// Requests, not bytes, that devices were given while they were known to have failed.
    pub served_after_failure: u64,
    /// Pieces, not bytes, that software still counts as under way at the end, and the places that they have.
    pub left_in_admission: u64,
}

/// What all devices did, in bytes.
struct Totals {
    read: u64,
    sent: u64,
    written: u64,
    /// Of pieces that were rebuilt or moved.
    completed: u64,
    /// What the transfers add up to.
    transferred: u64,
}

impl Totals {
    fn of(outcome: &Outcome) -> Self {
        let devices = &outcome.devices;
        let total = |amount: fn(&DeviceOutcome) -> u64| devices.iter().map(amount).sum::<u64>();
        Totals {
            read: total(|d| d.disk.bytes_read.get()),
            sent: total(|d| d.sent_bytes.get()),
            written: total(|d| d.disk.bytes_written.get()),
            completed: total(|d| d.rebuilt_bytes.get() + d.remapped_bytes.get()),
            transferred: outcome.transfers.iter().map(|t| t.bytes.get()).sum(),
        }
    }
}

/// Holds a finished recovery to its laws; `asked` is what others read from disks and wrote.
///
/// # Errors
/// The first law that is broken.
pub(super) fn check(outcome: &Outcome, tally: &Tally, asked: (Bytes, Bytes)) -> Result<(), ConservationError> {
    let (losses, wasted) = (outcome.losses, outcome.wasted);
    let Totals { read, sent, written, completed, transferred } = Totals::of(outcome);
    let received = tally.received.get() + tally.handed_in.get();
    hold([
        (
            "every byte read or handed over is sent, kept or wasted, or read for clients",
            read + tally.handed_over.get(),
            sent + tally.local.get() + wasted.read.get() + asked.0.get(),
        ),
        ("every byte sent is received or wasted", sent, received + wasted.sent.get()),
        (
            "every byte received or kept is gathered into a piece or wasted",
            tally.received.get() + tally.local.get(),
            tally.gathered.get() + wasted.received.get(),
        ),
        (
            "every byte handed in is written, or its device failed before",
            tally.handed_in.get(),
            tally.handed_written.get() + tally.handed_in_vain.get(),
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
            losses.pieces_to_rebuild,
            outcome.rebuilt_pieces + outcome.unreachable_pieces,
        ),
        (
            "every piece that moves has moved, or was out of reach",
            losses.moved_pieces,
            outcome.moved_pieces + outcome.unreachable_moves,
        ),
        (
            "lost pieces are rebuilt, come back, are out of reach, unrecoverable or undersized",
            losses.lost_pieces,
            outcome.rebuilt_pieces
                + outcome.returned_pieces
                + outcome.unreachable_pieces
                + losses.unrecoverable_pieces
                + losses.undersized_pieces,
        ),
        ("no failed device serves", 0, tally.served_after_failure),
        ("software has nothing under way at the end", 0, tally.left_in_admission),
        ("every buffer of memory was given back", 0, outcome.memory_held_at_end.get()),
    ])
}

/// Holds every object to have its pieces on different devices; `places` are those of `width` pieces an object.
///
/// # Errors
/// The first object with two pieces on one device.
pub(super) fn check_places(places: &[u32], width: usize) -> Result<(), ConservationError> {
    for row in places.chunks(width.max(1)) {
        let device = |position: usize| device_or_nobody(row[position]);
        let is_twice = |&position: &usize| {
            device(position) != NOBODY && (0..position).any(|other| device(other) == device(position))
        };
        let twice = (0..row.len()).filter(is_twice).count() as u64;
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
    use crate::recovery::places::made_at;

    #[test]
    fn two_pieces_on_one_device_are_noticed() {
        assert_eq!(check_places(&[1, 2, NOBODY, NOBODY, 1, 2], 3), Ok(()));
        assert!(check_places(&[1, 2, NOBODY, 4, 1, made_at(4)], 3).is_err());
    }
}
