//! Layouts beside CRUSH and the ring, and where objects, their pieces and groups are, for Python.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use resilver_placement::layouts::Layout;
use resilver_system::{Algorithm, Placement, SystemConfig};
use resilver_units::ObjectId;

use crate::arrays::rows;
use crate::crush::CrushMap;
use crate::errors::config_error;
use crate::simulation::system_config;

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
) -> PyResult<Bound<'py, PyAny>> {
    let config = system_config(system, &maps)?;
    let cells = py.detach(|| {
        let mut rows = vec![-1; count * copies];
        placement_after(config).place_objects(ObjectId::new(first), copies, &mut rows);
        rows
    });
    rows(py, &cells, count, copies)
}

/// The devices of given objects of a system, position by position, before anything fails: an array of shape (objects, pieces),
/// in which -1 stands where a position has no device.
#[pyfunction]
#[pyo3(signature = (system, maps, objects, pieces))]
pub fn place_pieces<'py>(
    py: Python<'py>,
    system: &str,
    maps: Vec<PyRef<'_, CrushMap>>,
    objects: PyBuffer<u64>,
    pieces: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let placement = system_config(system, &maps)?.pools.swap_remove(0).placement;
    let objects = objects.to_vec(py)?;
    if pieces == 0 {
        return Err(config_error("pieces = 0: an object has at least one"));
    }
    let cells = py.detach(|| {
        let mut rows = vec![-1; objects.len() * pieces];
        placement.place_listed(&objects, pieces, &mut rows);
        rows
    });
    rows(py, &cells, objects.len(), pieces)
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
) -> PyResult<Bound<'py, PyAny>> {
    let config = system_config(system, &maps)?;
    let groups = config.pools[0].placement.groups.unwrap_or(0) as usize;
    let cells = py.detach(|| {
        let mut rows = vec![-1; groups * copies];
        placement_after(config).place_groups(copies, &mut rows);
        rows
    });
    rows(py, &cells, groups, copies)
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
