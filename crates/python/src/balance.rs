//! Upmap entries that even a cluster out, for Python.

use pyo3::prelude::*;
use rayon::prelude::*;
use resilver_crush::MapError;
use resilver_crush::balance::{ByteLimits, CountLimits, Entry, PoolBytes, RawSets, calc_pg_upmaps, plan_by_bytes};
use resilver_crush::pool::{Osds, Pool};
use resilver_system::read;

use crate::crush::CrushMap;
use crate::errors::{placement_error, system_error};

/// An entry as Python gets it: pool, group, pairs.
type EntryRow = (i64, u32, Vec<(i32, i32)>);

/// The entries by which Ceph's balancer would even out some pools together: (pool, group, pairs), no pairs for a removal.
///
/// `pools` is the JSON of a list of pools; `reweight` (16.16) and `is_up` have an entry a device.
#[pyfunction]
pub fn upmaps_by_groups(
    py: Python<'_>,
    map: &CrushMap,
    pools: &str,
    reweight: Vec<u32>,
    is_up: Vec<bool>,
    steps: usize,
    deviation: u32,
) -> PyResult<Vec<EntryRow>> {
    let map = map.shared();
    let pools: Vec<Pool> = read(pools).map_err(system_error)?;
    let osds = Osds { reweight: &reweight, is_up: &is_up, affinity: &[] };
    let entries = py.detach(|| {
        let raw = raw_sets(&map, &pools, osds)?;
        let placed: Vec<(&Pool, &RawSets)> = pools.iter().zip(&raw).collect();
        Ok(calc_pg_upmaps(&placed, osds, CountLimits { steps, deviation }, None).0)
    });
    Ok(entries.map_err(|error: MapError| placement_error(error))?.into_iter().map(row).collect())
}

/// The entries that even out bytes, with the loads as they are: (pool, group, pairs), no pairs for a removal.
///
/// `piece_bytes` has a list a pool, of an entry a group; `capacity` and `used` are bytes and have, like `reweight` (16.16) and
/// `is_up`, an entry a device; `limits` is how many pieces move, how many bytes, and by how much of its capacity an OSD must be
/// fuller than another to give it a piece.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a row of columns, as Python has them")]
pub fn upmaps_by_bytes(
    py: Python<'_>,
    map: &CrushMap,
    pools: &str,
    piece_bytes: Vec<Vec<u64>>,
    reweight: Vec<u32>,
    is_up: Vec<bool>,
    capacity: Vec<u64>,
    used: Vec<u64>,
    limits: (usize, u64, f64),
) -> PyResult<Vec<EntryRow>> {
    let map = map.shared();
    let pools: Vec<Pool> = read(pools).map_err(system_error)?;
    let osds = Osds { reweight: &reweight, is_up: &is_up, affinity: &[] };
    let limits = ByteLimits { pieces: limits.0, moved_bytes: limits.1, within: limits.2 };
    let entries = py.detach(|| {
        let raw = raw_sets(&map, &pools, osds)?;
        let placed = pools.iter().zip(&raw).zip(&piece_bytes);
        let placed: Vec<PoolBytes<'_>> =
            placed.map(|((pool, raw), piece_bytes)| PoolBytes { pool, raw, piece_bytes }).collect();
        Ok(plan_by_bytes(&placed, osds, &capacity, &used, limits))
    });
    Ok(entries.map_err(|error: MapError| placement_error(error))?.into_iter().map(row).collect())
}

fn raw_sets(map: &resilver_crush::CrushMap, pools: &[Pool], osds: Osds<'_>) -> Result<Vec<RawSets>, MapError> {
    pools.par_iter().map(|pool| RawSets::place(map, pool, osds)).collect()
}

fn row(entry: Entry) -> EntryRow {
    (entry.pool, entry.group, entry.pairs)
}
