//! Where the pieces of given objects are, for Python.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::arrays::rows;
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
