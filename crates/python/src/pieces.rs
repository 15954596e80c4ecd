//! Where the pieces of given objects are, for Python.

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::crush::CrushMap;
use crate::errors::config_error;
use crate::simulation::system_config;

/// The devices of given objects of a system, position by position, before anything fails: an array of shape (objects, pieces),
/// in which -1 stands where a position has no device.
#[pyfunction]
#[pyo3(signature = (system, maps, objects, pieces))]
pub fn place_pieces<'py>(
    py: Python<'py>,
    system: &str,
    maps: Vec<PyRef<'_, CrushMap>>,
    objects: PyReadonlyArray1<'py, u64>,
    pieces: usize,
) -> PyResult<Bound<'py, PyArray2<i32>>> {
    let placement = system_config(system, &maps)?.pools.swap_remove(0).placement;
    let objects = objects.as_slice()?;
    if pieces == 0 {
        return Err(config_error("pieces = 0: an object has at least one"));
    }
    let rows = py.detach(|| {
        let mut rows = vec![-1; objects.len() * pieces];
        placement.place_listed(objects, pieces, &mut rows);
        rows
    });
    Ok(Array2::from_shape_vec((objects.len(), pieces), rows).map_err(config_error)?.into_pyarray(py))
}
