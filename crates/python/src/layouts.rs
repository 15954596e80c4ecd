//! Layouts beside CRUSH and the ring, and where objects and groups are, for Python.

use std::sync::Arc;

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use resilver_placement::layouts::groups::{Groups, Spare};
use resilver_placement::layouts::{
    Copysets, Declustered, Domains, Jump, Layout, Modulo, MultiRing, ObjectLayout, Rendezvous, Sets, Xor,
};
use resilver_system::{Algorithm, Placement, SystemConfig};
use resilver_units::{DeviceId, ObjectId};
use serde::Deserialize;

use crate::config::system_config;
use crate::crush::CrushMap;
use crate::errors::{config_error, placement_error};

/// A layout: its kind with what that kind needs, over devices in failure domains.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayoutJson {
    domain_of: Vec<u32>,
    copies: usize,
    kind: KindJson,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum KindJson {
    MultiRing { rings: u32, points: u32 },
    Rendezvous {},
    Xor { points: u32 },
    Modulo {},
    Jump {},
    Declustered { groups: Option<u64> },
    Copysets { scatter_width: u32 },
    Groups { group_size: usize, spare: String, spares: usize },
    Sets { sets: Vec<Vec<u32>>, pool_of: Vec<u32> },
}

/// The algorithm that places by a layout; `seed` decides what a layout draws at random, and `failing` who fails before whom.
pub fn layout_algorithm(json: LayoutJson, seed: u64, failing: &[DeviceId]) -> Result<Algorithm, PyErr> {
    let LayoutJson { domain_of, copies, kind } = json;
    let domains = Domains::new(domain_of);
    let layout = match kind {
        KindJson::MultiRing { rings, points } => {
            let points = vec![points; domains.devices()];
            Layout::MultiRing(MultiRing::new(domains, &points, rings))
        }
        KindJson::Rendezvous {} => Layout::Rendezvous(Rendezvous::new(domains)),
        KindJson::Xor { points } => Layout::Xor(Xor::new(domains, points)),
        KindJson::Modulo {} => Layout::Modulo(Modulo::new(domains)),
        KindJson::Jump {} => Layout::Jump(Jump::new(domains)),
        KindJson::Declustered { groups } => {
            Layout::Declustered(Declustered::new(domains, copies, groups).map_err(placement_error)?)
        }
        KindJson::Copysets { scatter_width } => {
            Layout::Copysets(Copysets::new(domains, copies, scatter_width, seed).map_err(placement_error)?)
        }
        KindJson::Groups { group_size, spare, spares } => {
            let spare = spare_of(&spare, spares)?;
            Layout::Groups(Groups::new(domains, group_size, copies, spare, failing).map_err(placement_error)?)
        }
        KindJson::Sets { sets, pool_of } => {
            let is_known =
                |set: &Vec<u32>| set.len() == copies && set.iter().all(|&one| (one as usize) < pool_of.len());
            if sets.is_empty() || pool_of.len() != domains.devices() || !sets.iter().all(is_known) {
                let rule = "every set has as many members as an object has pieces, and they are devices";
                return Err(config_error(format!("placement.level: {rule}")));
            }
            let devices = |set: Vec<u32>| set.into_iter().map(DeviceId::new).collect();
            Layout::Sets(Sets::new(&sets.into_iter().map(devices).collect::<Vec<_>>(), &pool_of, failing))
        }
    };
    Ok(Algorithm::Layout { is_out: vec![false; layout.devices()], layout: Arc::new(layout), copies })
}

fn spare_of(name: &str, spares: usize) -> Result<Spare, PyErr> {
    match name {
        "distributed" => Ok(Spare::Distributed),
        "dedicated" => Ok(Spare::Dedicated(spares)),
        _ => {
            let rule = "it is not known: choose 'distributed' or 'dedicated'";
            Err(config_error(format!("placement.spare = '{name}': {rule}")))
        }
    }
}

/// The placement of a system's first pool once its failed devices are out.
fn placement_after(mut config: SystemConfig) -> Placement {
    let failed = config.failed();
    let placement = config.pools.swap_remove(0).placement;
    Placement { algorithm: placement.algorithm.without(&failed), ..placement }
}

/// The devices of objects `first` to `first + count - 1` of a system, whose failed devices are out: an array of shape (count,
/// copies), in which -1 stands behind the end of a set that is short.
#[pyfunction]
#[pyo3(signature = (system, maps, first, count, copies))]
pub fn place_objects<'py>(
    py: Python<'py>,
    system: &str,
    maps: Vec<PyRef<'_, CrushMap>>,
    first: u64,
    count: usize,
    copies: usize,
) -> PyResult<Bound<'py, PyArray2<i32>>> {
    let config = system_config(system, &maps)?;
    let rows = py.detach(|| {
        let mut rows = vec![-1; count * copies];
        placement_after(config).place_objects(ObjectId::new(first), copies, &mut rows);
        rows
    });
    Ok(Array2::from_shape_vec((count, copies), rows).map_err(config_error)?.into_pyarray(py))
}

/// The devices of all placement groups of a system, whose failed devices are out: an array of shape (groups, copies), in which
/// -1 stands behind the end of a set that is short.
#[pyfunction]
#[pyo3(signature = (system, maps, copies))]
pub fn system_group_sets<'py>(
    py: Python<'py>,
    system: &str,
    maps: Vec<PyRef<'_, CrushMap>>,
    copies: usize,
) -> PyResult<Bound<'py, PyArray2<i32>>> {
    let config = system_config(system, &maps)?;
    let groups = config.pools[0].placement.groups.unwrap_or(0) as usize;
    let rows = py.detach(|| {
        let mut rows = vec![-1; groups * copies];
        placement_after(config).place_groups(copies, &mut rows);
        rows
    });
    Ok(Array2::from_shape_vec((groups, copies), rows).map_err(config_error)?.into_pyarray(py))
}

/// How even the declustered groups of a system are: their number, and the least and greatest number that a device is in and that
/// two devices of different domains share; `None` where its layout is another.
#[pyfunction]
pub fn parity_group_balance<'py>(py: Python<'py>, system: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
    let config = system_config(system, &[])?;
    let Algorithm::Layout { layout, .. } = &config.pools[0].placement.algorithm else {
        return Ok(None);
    };
    let Layout::Declustered(declustered) = layout.as_ref() else {
        return Ok(None);
    };
    let balance = py.detach(|| declustered.balance());
    let dict = PyDict::new(py);
    dict.set_item("groups", balance.groups)?;
    dict.set_item("load_min", balance.load_min)?;
    dict.set_item("load_max", balance.load_max)?;
    dict.set_item("pairs_min", balance.pairs_min)?;
    dict.set_item("pairs_max", balance.pairs_max)?;
    Ok(Some(dict))
}
