//! How the objects of each pool are kept.

use std::sync::Arc;

use resilver_redundancy::Code;
use resilver_units::BytesPerSecond;

use crate::SystemError;

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
    pub(crate) fn width(&self) -> usize {
        self.code.pieces() as usize
    }
}
