//! The speeds that devices draw, for Python.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::system_error;

/// The speeds of devices of one spread, by number, each after so many replacements.
#[pyfunction]
pub fn drawn_speeds<'py>(
    py: Python<'py>,
    seed: u64,
    spread: f64,
    devices: PyReadonlyArray1<'py, u32>,
    replacements: PyReadonlyArray1<'py, u32>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let pairs: Vec<(u32, u32)> =
        devices.as_slice()?.iter().copied().zip(replacements.as_slice()?.iter().copied()).collect();
    Ok(resilver_system::drawn_speeds(seed, spread, &pairs).map_err(system_error)?.into_pyarray(py))
}
