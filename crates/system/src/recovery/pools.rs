//! How the objects of each pool are kept.

use resilver_units::{Bytes, SimTime};

use super::Recovery;
use super::outcome::PoolOutcome;
use super::work::Losses;

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
