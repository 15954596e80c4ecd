//! What clients ask of pools.

use serde::Deserialize;

/// What clients ask of a pool, evenly over its bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolLoad {
    /// Reads a second.
    pub reads_per_second: f64,
    /// Bytes of a read.
    pub read_bytes: u64,
    /// Writes a second.
    pub writes_per_second: f64,
    /// Bytes of a write.
    pub write_bytes: u64,
}
