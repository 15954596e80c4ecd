//! Pools and their groups for Python.

use pyo3::prelude::*;
use rayon::prelude::*;
use resilver_crush::pool::{ObjectHash, Osds, Pool};
use resilver_crush::{BatchScratch, Rule};
use resilver_system::read;

use crate::arrays::{array, rows};
use crate::crush::CrushMap;
use crate::errors::{placement_error, system_error};

/// Groups that one task places: some milliseconds of work, so that tasks are few and every thread has some.
const GROUPS_A_TASK: usize = 1024;

/// The sets of all groups of a pool in rows, and their primaries: up and acting.
struct SetColumns {
    rows: [Vec<i32>; 2],
    primaries: [Vec<i32>; 2],
}

/// What Python gets of [`SetColumns`]: up, acting, up primary, acting primary.
type SetArrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The up and acting sets of all groups of a pool, of shape (pg_num, size) or wider where an exception's set is longer, and
/// the primaries of both, of shape (pg_num,).
///
/// A hole in the set of an erasure pool is 2147483647, as Ceph writes it; after the end of a short set comes -1, which also
/// is the primary of a group without one. `pool` is the JSON of one pool; `reweight`, `affinity` (16.16) and `is_up` have an
/// entry a device.
#[pyfunction]
pub fn group_sets<'py>(
    py: Python<'py>,
    map: &CrushMap,
    pool: &str,
    reweight: Vec<u32>,
    is_up: Vec<bool>,
    affinity: Vec<u32>,
) -> PyResult<SetArrays<'py>> {
    let map = map.shared();
    let pool: Pool = read(pool).map_err(system_error)?;
    let rule = pool.rule_of(&map).map_err(placement_error)?;
    let osds = Osds { reweight: &reweight, is_up: &is_up, affinity: &affinity };
    let SetColumns { rows: [up, acting], primaries } = py.detach(|| set_columns(&map, &pool, rule, osds));
    let groups = primaries[0].len();
    let table = |cells: &[i32]| rows(py, cells, groups, cells.len() / groups.max(1));
    Ok((table(&up)?, table(&acting)?, array(py, &primaries[0])?, array(py, &primaries[1])?))
}

/// Places all groups, each thread some of them; a group's answer depends on nothing but itself.
fn set_columns(map: &resilver_crush::CrushMap, pool: &Pool, rule: &Rule, osds: Osds<'_>) -> SetColumns {
    let groups = pool.pg_num as usize;
    // A pool of no copies has sets of no places, and rows still need a width to be told apart.
    let size = pool.size.max(1) as usize;
    let up_width = pool.exceptions.longest_up().max(size);
    let acting_width = pool.exceptions.longest_acting().max(size);
    let (mut up, mut acting) = (vec![-1; groups * up_width], vec![-1; groups * acting_width]);
    let (mut up_primary, mut acting_primary) = (vec![-1; groups], vec![-1; groups]);
    let batch = pool.batch(map, rule);
    up.par_chunks_mut(GROUPS_A_TASK * up_width)
        .zip(acting.par_chunks_mut(GROUPS_A_TASK * acting_width))
        .zip(up_primary.par_chunks_mut(GROUPS_A_TASK).zip(acting_primary.par_chunks_mut(GROUPS_A_TASK)))
        .enumerate()
        .for_each_init(BatchScratch::new, |scratch, (task, ((up, acting), (up_primary, acting_primary)))| {
            let first = (task * GROUPS_A_TASK) as u32;
            let groups = first..first + up_primary.len() as u32;
            pool.group_sets_in(&batch, groups, osds, scratch, |ps, sets| {
                let row = (ps - first) as usize;
                up[row * up_width..][..sets.up.len()].copy_from_slice(&sets.up);
                acting[row * acting_width..][..sets.acting.len()].copy_from_slice(&sets.acting);
                (up_primary[row], acting_primary[row]) = (sets.up_primary, sets.acting_primary);
            });
        });
    SetColumns { rows: [up, acting], primaries: [up_primary, acting_primary] }
}

/// The number, within its pool, of the group of an object; `pool` is the JSON of a pool, `object_hash` its number for the hash of
/// names, and `key` the object's locator key, which is its name where it has none of its own.
#[pyfunction]
pub fn group_of_name(pool: &str, object_hash: u32, namespace: &[u8], key: &[u8]) -> PyResult<u32> {
    let pool: Pool = read(pool).map_err(system_error)?;
    let hash = match object_hash {
        1 => ObjectHash::Linux,
        2 => ObjectHash::Rjenkins,
        other => {
            return Err(placement_error(format!(
                "pool {}: object_hash = {other}: 1 (linux) and 2 (rjenkins) are known; ask for groups instead of objects",
                pool.id
            )));
        }
    };
    Ok(pool.group_of_locator(hash, namespace, key))
}
