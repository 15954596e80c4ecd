//! What breaks, by name, and whether it can be detected.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use resilver_detection::Detection;
use resilver_system::{StudyFaults, read};

use crate::errors::{detection_error, system_error};
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

/// Messages that the detection of a failure among so many members is expected to take.
#[pyfunction]
pub fn check_detection(text: &str, members: usize) -> PyResult<f64> {
    read::<Detection>(text).map_err(system_error)?.check(members).map_err(detection_error)
}
