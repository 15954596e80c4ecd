//! Upmap entries that even a cluster out, for Python.

use pyo3::prelude::*;
use rayon::prelude::*;
use resilver_placement::balance::{CountLimits, Entry, RawSets, calc_pg_upmaps};
use resilver_placement::pool::{Osds, Pool};
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
        let raw: Vec<RawSets> =
            pools.par_iter().map(|pool| RawSets::place(&map, pool, osds)).collect::<Result<_, _>>()?;
        let placed: Vec<(&Pool, &RawSets)> = pools.iter().zip(&raw).collect();
        calc_pg_upmaps(&map, &placed, osds, CountLimits { steps, deviation }, None)
    });
    Ok(entries.map_err(placement_error)?.into_iter().map(row).collect())
}

fn row(entry: Entry) -> EntryRow {
    (entry.pool, entry.group, entry.pairs)
}
