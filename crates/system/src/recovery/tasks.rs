//! A piece that is to come to a device, and how far it has come.

use resilver_units::Bytes;

use super::needs::Want;

/// What a completed piece does for its object's redundancy, where that is known beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restores {
    /// The object's pieces are to be counted: several are missing, or another failure may change them.
    Counted,
    /// It was the only one missing.
    All,
    /// It was the only one missing of an object that was at risk.
    AllOfOneAtRisk,
}

/// One piece that one device is to get, and how far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    /// Which of the affected objects.
    pub subject: u32,
    pub destination: u32,
    /// Its data.
    pub size: Bytes,
    /// Buffers that are not written yet.
    pub buffers_left: u32,
    /// The next buffer to be asked for.
    pub number: u32,
    /// Which piece.
    pub position: u8,
    /// Whether it replaces a lost one.
    pub is_rebuild: bool,
    /// Whether nothing of it is wanted any more, or it cannot be had.
    pub is_given_up: bool,
    /// What its completion does for its object.
    pub restores: Restores,
    /// Whether its last buffer, which may be smaller than the others, is written.
    pub last_is_written: bool,
}

impl Task {
    /// A piece of `size` bytes that is wanted, in buffers of `buffer` bytes.
    pub fn new(subject: u32, want: Want, size: Bytes, buffer: Bytes) -> Self {
        let Want { position, destination, is_rebuild } = want;
        Task {
            subject,
            destination,
            size,
            restores: Restores::Counted,
            buffers_left: buffers_of(size, buffer),
            number: 0,
            position,
            is_rebuild,
            is_given_up: false,
            last_is_written: false,
        }
    }
}

/// How many buffers a piece takes: one where it is empty.
#[inline]
pub(super) fn buffers_of(size: Bytes, buffer: Bytes) -> u32 {
    size.pieces_of(buffer).max(1) as u32
}

/// The size of each of `data` parts of an object.
#[inline]
pub(super) fn piece_bytes(size: Bytes, data: u32) -> Bytes {
    if data == 1 { size } else { Bytes::new(size.get().div_ceil(u64::from(data))) }
}
