//! The speeds that devices draw, for Python.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::arrays::array;
use crate::errors::system_error;

/// The speeds of devices of one spread, by number, each after so many replacements.
#[pyfunction]
pub fn drawn_speeds<'py>(
    py: Python<'py>,
    seed: u64,
    spread: f64,
    devices: PyBuffer<u32>,
    replacements: PyBuffer<u32>,
) -> PyResult<Bound<'py, PyAny>> {
    let pairs: Vec<(u32, u32)> = devices.to_vec(py)?.into_iter().zip(replacements.to_vec(py)?).collect();
    array(py, &resilver_system::drawn_speeds(seed, spread, &pairs).map_err(system_error)?)
}
