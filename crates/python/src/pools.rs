//! Pools and their groups for Python.

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2};
use pyo3::prelude::*;
use resilver_placement::crush::{self, Scratch};
use resilver_placement::pool::{Pool, PoolKind};
use resilver_system::PlacedPool;
use serde::Deserialize;

use crate::crush::CrushMap;
use crate::errors::{config_error, placement_error};

/// A pool of a cluster.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolJson {
    id: i64,
    pg_num: u32,
    pgp_num: u32,
    size: u32,
    rule: u32,
    hashpspool: bool,
    erasure: bool,
}

/// A pool with the rule of the map that places it.
pub fn placed_pool(json: &PoolJson, map: &crush::CrushMap) -> Result<PlacedPool, PyErr> {
    let rule = map.rule_by_id(json.rule).cloned().ok_or_else(|| {
        let known: Vec<String> = map.rules().iter().map(|rule| rule.id.to_string()).collect();
        placement_error(format!(
            "pool {} uses rule {}, which the map does not have; its rules are {}",
            json.id,
            json.rule,
            known.join(", ")
        ))
    })?;
    Ok(PlacedPool { pool: pool_of(json), rule })
}

/// A pool.
pub fn pool_of(json: &PoolJson) -> Pool {
    Pool {
        id: json.id,
        pg_num: json.pg_num,
        pgp_num: json.pgp_num,
        size: json.size,
        rule: json.rule,
        hashpspool: json.hashpspool,
        kind: if json.erasure { PoolKind::Erasure } else { PoolKind::Replicated },
    }
}

/// The up sets of all groups of a pool: an array of shape (pg_num, size).
///
/// A hole in the set of an erasure pool is 2147483647, as Ceph writes it; after the end of a short set comes -1.
/// `pool` is the JSON of one pool; `reweight` (16.16) and `is_up` have an entry a device.
#[pyfunction]
pub fn group_up_sets<'py>(
    py: Python<'py>,
    map: &CrushMap,
    pool: &str,
    reweight: Vec<u32>,
    is_up: Vec<bool>,
) -> PyResult<Bound<'py, PyArray2<i32>>> {
    let map = map.shared();
    let pool: PoolJson = serde_json::from_str(pool).map_err(config_error)?;
    let pool = placed_pool(&pool, &map)?.pool;
    let is_up = |device: i32| usize::try_from(device).is_ok_and(|device| is_up.get(device) == Some(&true));
    let mut sets = Array2::from_elem((pool.pg_num as usize, pool.size as usize), -1);
    py.detach(|| {
        let (mut scratch, mut up) = (Scratch::default(), Vec::new());
        for (ps, mut row) in (0..pool.pg_num).zip(sets.rows_mut()) {
            pool.up_set(&map, ps, &reweight, is_up, &mut scratch, &mut up)?;
            for (slot, &device) in row.iter_mut().zip(&up) {
                *slot = device;
            }
        }
        Ok(())
    })
    .map_err(|error: crush::MapError| placement_error(error))?;
    Ok(sets.into_pyarray(py))
}

/// The number, within its pool, of the group that an object of this name belongs to; `pool` is the JSON of a pool.
#[pyfunction]
pub fn group_of_name(pool: &str, name: &[u8]) -> PyResult<u32> {
    let json: PoolJson = serde_json::from_str(pool).map_err(config_error)?;
    Ok(pool_of(&json).group_of_object(name))
}
