//! Where a piece is, in one word: a device, and whether the piece was made anew there; or why it is nowhere.

use resilver_redundancy::Pieces;

/// A piece that placement gave no device, and that never was.
pub(super) const NOBODY: u32 = u32::MAX;
/// A piece that was stored, on a device that has failed.
pub(super) const LOST: u32 = u32::MAX - 1;
/// Marks the device of a piece that was made anew or has moved there: there are fewer than 2^31 devices.
const MADE: u32 = 1 << 31;

/// The place of a piece that has come to a device.
#[inline]
pub(super) fn made_at(device: u32) -> u32 {
    device | MADE
}

/// Whether a piece is at a device.
#[inline]
pub(super) fn is_there(place: u32) -> bool {
    place < LOST
}

/// Whether a piece that is there was made anew or has moved.
#[inline]
pub(super) fn is_made(place: u32) -> bool {
    place & MADE != 0
}

/// The device of a piece that is there.
#[inline]
pub(super) fn device_at(place: u32) -> u32 {
    place & !MADE
}

/// The device of a piece, or [`NOBODY`] where it is nowhere.
#[inline]
pub(super) fn device_or_nobody(place: u32) -> u32 {
    if is_there(place) { device_at(place) } else { NOBODY }
}

/// The pieces of a row that were stored at any time.
pub(super) fn stored_in(row: &[u32]) -> Pieces {
    Pieces::of((0..).zip(row).filter(|&(_, &place)| place != NOBODY).map(|(position, _)| position))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_tell_devices_from_pieces_that_are_nowhere() {
        let largest = (1 << 31) - 3;
        for device in [0, 7, largest] {
            assert!(is_there(device) && is_there(made_at(device)));
            assert_eq!((is_made(device), is_made(made_at(device))), (false, true));
            assert_eq!((device_at(device), device_at(made_at(device))), (device, device));
        }
        assert!(!is_there(LOST) && !is_there(NOBODY));
        assert_eq!([LOST, NOBODY, made_at(4)].map(device_or_nobody), [NOBODY, NOBODY, 4]);
        assert_eq!(stored_in(&[3, NOBODY, LOST, made_at(1)]), Pieces::of([0, 2, 3]));
    }
}
