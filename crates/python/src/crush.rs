//! CRUSH maps for Python.

use std::sync::Arc;

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use resilver_placement::crush::{self, BucketKind, Level, Scratch, Tunables};

use crate::errors::placement_error;

/// A CRUSH map.
#[pyclass(frozen, module = "resilver._core")]
pub struct CrushMap {
    map: Arc<crush::CrushMap>,
}

impl CrushMap {
    /// The map, shared with the core.
    pub fn shared(&self) -> Arc<crush::CrushMap> {
        Arc::clone(&self.map)
    }
}

fn wrap(map: crush::CrushMap) -> CrushMap {
    CrushMap { map: Arc::new(map) }
}

fn bucket_kind(name: &str) -> PyResult<BucketKind> {
    BucketKind::from_name(name)
        .ok_or_else(|| placement_error(format!("placement.bucket = '{name}' is not a bucket kind")))
}

fn tunables(name: &str) -> PyResult<Tunables> {
    Tunables::profile(name).ok_or_else(|| placement_error(format!("placement.tunables = '{name}' is not a profile")))
}

#[pymethods]
impl CrushMap {
    /// Reads Ceph's JSON: `ceph osd crush dump`, or the `crushmap` of `ceph report`.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        py.detach(|| crush::CrushMap::from_json(text)).map(wrap).map_err(placement_error)
    }

    /// Reads the text that `crushtool -d` writes.
    #[staticmethod]
    fn from_text(py: Python<'_>, text: &str) -> PyResult<Self> {
        py.detach(|| crush::CrushMap::from_text(text)).map(wrap).map_err(placement_error)
    }

    /// A map with all servers in one bucket of equal weights.
    #[staticmethod]
    fn flat(servers: u32, bucket: &str, profile: &str) -> PyResult<Self> {
        Ok(wrap(crush::CrushMap::flat(servers, bucket_kind(bucket)?, tunables(profile)?)))
    }

    /// A map of servers in racks, and racks in rows where `rows` is given, with copies in different domains of a level.
    #[staticmethod]
    #[pyo3(signature = (servers, racks, rows, bucket, profile, failure_domain))]
    fn hierarchical(
        servers: u32,
        racks: u32,
        rows: Option<u32>,
        bucket: &str,
        profile: &str,
        failure_domain: &str,
    ) -> PyResult<Self> {
        let level = Level::from_name(failure_domain)
            .ok_or_else(|| placement_error(format!("placement.failure_domain = '{failure_domain}' is not a level")))?;
        crush::CrushMap::hierarchical(servers, racks, rows, bucket_kind(bucket)?, tunables(profile)?, level)
            .map(wrap)
            .map_err(placement_error)
    }

    /// The rules, as (id, name).
    fn rules(&self) -> Vec<(u32, String)> {
        self.map.rules().iter().map(|rule| (rule.id, rule.name.clone())).collect()
    }

    /// A device's name.
    fn device_name(&self, device: i32) -> String {
        self.map.device_name(device)
    }

    /// The type of the failure domains of a rule, and how many of them it can reach.
    fn failure_domains(&self, rule: u32) -> PyResult<(String, usize)> {
        let rule = self.map.rule_by_id(rule).ok_or_else(|| placement_error(format!("the map has no rule {rule}")))?;
        Ok(self.map.domains_of(rule))
    }

    /// Maps inputs by a rule: an array of shape (inputs, copies).
    ///
    /// A hole that an indep rule leaves is 2147483647, as Ceph writes it; after the end of a short mapping comes -1.
    #[pyo3(signature = (rule, inputs, copies, reweight=None))]
    fn map_rule<'py>(
        &self,
        py: Python<'py>,
        rule: u32,
        inputs: PyReadonlyArray1<'py, u32>,
        copies: usize,
        reweight: Option<PyReadonlyArray1<'py, u32>>,
    ) -> PyResult<Bound<'py, PyArray2<i32>>> {
        let rule = self.map.rule_by_id(rule).ok_or_else(|| placement_error(format!("the map has no rule {rule}")))?;
        let inputs = inputs.as_slice()?;
        let reweight = match &reweight {
            Some(reweight) => reweight.as_slice()?.to_vec(),
            None => Vec::new(),
        };
        let mut sets = Array2::from_elem((inputs.len(), copies), -1);
        py.detach(|| {
            // Without a pool, crushtool takes the weights of pool 0 where the map has them.
            let weight_sets = self.map.weight_sets_for(0);
            let (mut scratch, mut found) = (Scratch::default(), Vec::new());
            for (&input, mut row) in inputs.iter().zip(sets.rows_mut()) {
                self.map.place_with(rule, input, copies, &reweight, weight_sets, &mut scratch, &mut found);
                for (slot, &device) in row.iter_mut().zip(&found) {
                    *slot = device;
                }
            }
        });
        Ok(sets.into_pyarray(py))
    }
}
