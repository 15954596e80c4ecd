//! What breaks, by name.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use resilver_system::{StudyFaults, read};

use crate::errors::system_error;
use crate::topology::Topology;

/// Names and draws the parts of faults: the names of each fault's parts, in the order of the study.
#[pyfunction]
#[pyo3(signature = (text, seed, topology=None))]
pub fn name_faults(text: &str, seed: u64, topology: Option<&Topology>) -> PyResult<Vec<Vec<String>>> {
    let faults: StudyFaults = read(text).map_err(system_error)?;
    let named = faults.named(seed, topology.map(|topology| topology.network()), BTreeMap::new());
    let names = |parts: Vec<(u32, String)>| parts.into_iter().map(|(_, name)| name).collect();
    Ok(named.map_err(system_error)?.into_iter().map(|named| names(named.parts)).collect())
}
