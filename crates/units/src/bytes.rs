//! Amounts of data.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use serde::Deserialize;

/// An amount of data in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct Bytes(u64);

impl Bytes {
    /// No data.
    pub const ZERO: Bytes = Bytes(0);

    /// `count` bytes.
    pub const fn new(count: u64) -> Self {
        Bytes(count)
    }

    /// `count` times 1024 bytes.
    pub const fn kibibytes(count: u64) -> Self {
        Bytes(count << 10)
    }

    /// `count` times 1024^2 bytes.
    pub const fn mebibytes(count: u64) -> Self {
        Bytes(count << 20)
    }

    /// `count` times 1024^3 bytes.
    pub const fn gibibytes(count: u64) -> Self {
        Bytes(count << 30)
    }

    /// `count` times 1024^4 bytes.
    pub const fn tebibytes(count: u64) -> Self {
        Bytes(count << 40)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whether there is no data.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// How many pieces of at most `piece` bytes this divides into; zero bytes divide into none.
    pub const fn pieces_of(self, piece: Bytes) -> u64 {
        self.0.div_ceil(piece.0)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(items: I) -> Bytes {
        Bytes(items.map(Bytes::get).sum())
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_round_up() {
        // 64 MiB + 1 B in 16 MiB buffers: four full ones and one of a single byte.
        let object = Bytes::mebibytes(64) + Bytes::new(1);
        assert_eq!(object.pieces_of(Bytes::mebibytes(16)), 5);
        assert_eq!(Bytes::ZERO.pieces_of(Bytes::mebibytes(16)), 0);
    }
}
