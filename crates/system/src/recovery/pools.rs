//! How the objects of each pool are kept.

use std::sync::Arc;

use resilver_redundancy::Code;
use resilver_units::{Bytes, BytesPerSecond, SimTime};

use super::Recovery;
use super::work::Losses;
use crate::SystemError;
use crate::outcome::PoolOutcome;

/// How the objects of a pool are kept.
#[derive(Clone, Debug)]
pub struct PoolCode {
    /// The code; copies are one of which each piece is the whole object.
    pub code: Arc<Code>,
    /// How fast one server decodes, in user data; `None` where that takes no time.
    pub coding: Option<BytesPerSecond>,
    /// Whether a device that stays in a set keeps its position in it when others leave.
    pub keeps_positions: bool,
}

/// The codes of a system's pools: many pools of a cluster share few.
#[derive(Clone, Debug, Default)]
pub(crate) struct PoolCodes {
    /// Each that is used, once.
    pub distinct: Vec<PoolCode>,
    /// Which of them each pool has.
    pub of_pool: Vec<u8>,
}

impl PoolCodes {
    /// The codes of pools, one after another.
    ///
    /// # Errors
    /// The first pool's that has none, and when there are more than 256.
    pub fn of(pools: impl IntoIterator<Item = Result<PoolCode, SystemError>>) -> Result<Self, SystemError> {
        let mut codes = PoolCodes::default();
        for pool in pools {
            let pool = pool?;
            let is_same = |other: &PoolCode| {
                (other.keeps_positions, other.coding) == (pool.keeps_positions, pool.coding) && other.code == pool.code
            };
            let place = codes.distinct.iter().position(is_same).unwrap_or_else(|| {
                codes.distinct.push(pool);
                codes.distinct.len() - 1
            });
            codes.of_pool.push(u8::try_from(place).map_err(|_| SystemError::TooManyCodes)?);
        }
        Ok(codes)
    }
}

impl PoolCode {
    /// How many pieces an object has.
    #[inline]
    pub(super) fn width(&self) -> usize {
        self.code.pieces() as usize
    }
}

/// What was rebuilt of a pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rebuilt {
    pieces: u64,
    bytes: Bytes,
    /// When the last piece was there again, made anew or back with its device.
    pub last_at: SimTime,
}

impl Rebuilt {
    /// Nothing, since the first loss.
    pub fn since(begins_at: SimTime) -> Self {
        Rebuilt { pieces: 0, bytes: Bytes::ZERO, last_at: begins_at }
    }

    /// A piece of this size is rebuilt.
    #[inline]
    pub fn add(&mut self, size: Bytes, now: SimTime) {
        self.pieces += 1;
        self.bytes += size;
        self.last_at = now;
    }
}

impl Recovery {
    /// What became of each pool's objects, of which so many were rebuilt.
    pub(super) fn pools(&self, rebuilt_objects: &[u64]) -> Vec<PoolOutcome> {
        let all = Rebuilt { pieces: self.rebuilt_pieces, bytes: self.rebuilt_bytes, last_at: self.rebuilt_at };
        let of_pool = |(pool, &losses): (usize, &Losses)| {
            // Of one pool it is all that is counted.
            let Rebuilt { pieces, bytes, last_at } =
                if self.rebuilt_of.len() > 1 { self.rebuilt_of[pool] } else { all };
            PoolOutcome {
                losses,
                rebuilt_objects: rebuilt_objects[pool],
                rebuilt_pieces: pieces,
                rebuilt_bytes: bytes,
                rebuilt_at: last_at,
            }
        };
        self.work.losses_of.iter().enumerate().map(of_pool).collect()
    }
}
