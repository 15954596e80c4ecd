//! CRUSH maps for Python.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;
use resilver_crush::balance;
use resilver_crush::{Batch, BatchScratch, BucketKind, TreeRule, Tunables};
use resilver_system::read;

use crate::arrays::rows;
use crate::errors::{placement_error, system_error};
use crate::levels::crush_map;

/// Inputs that one task places: some milliseconds of work, so that tasks are few and every thread has some.
const INPUTS_A_TASK: usize = 8192;

/// A CRUSH map.
#[pyclass(frozen, module = "resilver._core")]
pub struct CrushMap {
    map: Arc<resilver_crush::CrushMap>,
}

impl CrushMap {
    /// The map, shared with the core.
    pub fn shared(&self) -> Arc<resilver_crush::CrushMap> {
        Arc::clone(&self.map)
    }
}

fn wrap(map: resilver_crush::CrushMap) -> CrushMap {
    CrushMap { map: Arc::new(map) }
}

fn bucket_kind(name: &str) -> PyResult<BucketKind> {
    BucketKind::from_name(name)
        .ok_or_else(|| placement_error(format!("placement.bucket = '{name}' is not a bucket kind")))
}

fn tunables(name: &str) -> PyResult<Tunables> {
    Tunables::profile(name).ok_or_else(|| placement_error(format!("placement.tunables = '{name}' is not a profile")))
}

/// Pairs, borrowed.
fn pairs(location: &[(String, String)]) -> Vec<(&str, &str)> {
    location.iter().map(|(type_name, bucket)| (type_name.as_str(), bucket.as_str())).collect()
}

#[pymethods]
impl CrushMap {
    /// Reads Ceph's JSON: `ceph osd crush dump`, or the `crushmap` of `ceph report`.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        py.detach(|| resilver_crush::CrushMap::from_json(text)).map(wrap).map_err(placement_error)
    }

    /// Reads the text that `crushtool -d` writes.
    #[staticmethod]
    fn from_text(py: Python<'_>, text: &str) -> PyResult<Self> {
        py.detach(|| resilver_crush::CrushMap::from_text(text)).map(wrap).map_err(placement_error)
    }

    /// Reads the binary form that clusters keep.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        py.detach(|| resilver_crush::CrushMap::from_bytes(data)).map(wrap).map_err(placement_error)
    }

    /// Builds a map from layers: name, bucket kind and items a bucket, 0 for all.
    #[staticmethod]
    fn build(devices: u32, layers: Vec<(String, String, u32)>) -> PyResult<Self> {
        let mut kinds = Vec::with_capacity(layers.len());
        for (name, kind, size) in &layers {
            let known = BucketKind::from_name(kind);
            let kind = known.ok_or_else(|| placement_error(format!("layer {name}: '{kind}' is not a bucket kind")))?;
            kinds.push((name.as_str(), kind, *size));
        }
        resilver_crush::CrushMap::build(devices, &kinds).map(wrap).map_err(placement_error)
    }

    /// Builds the map of a tree of parts, from the JSON of its levels, with a rule over one or several of them, from the top and
    /// each with how many parts it chooses (0: as many as there are copies), and, perhaps, one class.
    #[staticmethod]
    #[pyo3(signature = (levels, bucket, tunables_profile, failure_domains, class=None))]
    fn of_parts(
        levels: &str,
        bucket: &str,
        tunables_profile: &str,
        failure_domains: Vec<(String, u32)>,
        class: Option<&str>,
    ) -> PyResult<Self> {
        let parts = read(levels).map_err(system_error)?;
        let domains: Vec<(&str, u32)> = failure_domains.iter().map(|(level, count)| (level.as_str(), *count)).collect();
        let rule = TreeRule { domains: &domains, class };
        crush_map(&parts, bucket_kind(bucket)?, tunables(tunables_profile)?, rule).map(wrap)
    }

    /// The text that `crushtool -d` writes.
    fn to_text(&self, py: Python<'_>) -> String {
        py.detach(|| self.map.to_text())
    }

    /// The JSON that `crushtool --dump` writes.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| self.map.to_json())
    }

    /// The binary form that clusters keep.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let data = py.detach(|| self.map.to_bytes()).map_err(placement_error)?;
        Ok(PyBytes::new(py, &data))
    }

    /// Another map with a new device at a location.
    fn with_item(&self, id: i32, weight: f64, name: &str, location: Vec<(String, String)>) -> PyResult<Self> {
        self.map.with_item(id, weight, name, &pairs(&location)).map(wrap).map_err(placement_error)
    }

    /// Another map with a device at a location, wherever it was.
    fn with_item_updated(&self, id: i32, weight: f64, name: &str, location: Vec<(String, String)>) -> PyResult<Self> {
        self.map.with_item_updated(id, weight, name, &pairs(&location)).map(wrap).map_err(placement_error)
    }

    /// Another map without an item.
    fn without_item(&self, name: &str) -> PyResult<Self> {
        self.map.without_item(name).map(wrap).map_err(placement_error)
    }

    /// Another map with an item at another location.
    fn moved(&self, name: &str, location: Vec<(String, String)>) -> PyResult<Self> {
        self.map.moved(name, &pairs(&location)).map(wrap).map_err(placement_error)
    }

    /// Another map with another weight of an item.
    fn reweighted(&self, name: &str, weight: f64) -> PyResult<Self> {
        self.map.reweighted(name, weight).map(wrap).map_err(placement_error)
    }

    /// Another map with trees turned into device classes.
    fn reclassified(
        &self,
        classes: Vec<(String, String)>,
        roots: Vec<(String, String)>,
        buckets: Vec<(String, String, String)>,
    ) -> PyResult<Self> {
        let buckets: Vec<_> = buckets.iter().map(|row| (row.0.as_str(), row.1.as_str(), row.2.as_str())).collect();
        self.map.reclassified(&pairs(&classes), &pairs(&roots), &buckets).map(wrap).map_err(placement_error)
    }

    /// Another map with every bucket's weight summed anew.
    fn recomputed(&self) -> PyResult<Self> {
        self.map.recomputed().map(wrap).map_err(placement_error)
    }

    /// One more than the largest device id.
    fn max_device(&self) -> i32 {
        self.map.max_device()
    }

    /// The id of the device of this name, if the map has it.
    fn device_id(&self, name: &str) -> Option<i32> {
        self.map.device_id(name)
    }

    /// A map with all servers in one bucket of equal weights.
    #[staticmethod]
    fn flat(servers: u32, bucket: &str, profile: &str) -> PyResult<Self> {
        Ok(wrap(resilver_crush::CrushMap::flat(servers, bucket_kind(bucket)?, tunables(profile)?)))
    }

    /// The same map with rules for erasure codes, whose pieces keep their positions.
    fn for_codes(&self) -> Self {
        wrap(self.map.for_codes())
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

    /// The share that each device has of what a rule takes.
    fn shares_of_rule(&self, rule: u32) -> PyResult<BTreeMap<i32, f32>> {
        let rule = self.map.rule_by_id(rule).ok_or_else(|| placement_error(format!("the map has no rule {rule}")))?;
        Ok(self.map.shares_of(rule))
    }

    /// The devices that a rule reaches, by weights above zero.
    fn devices_of_rule(&self, rule: u32) -> PyResult<Vec<i32>> {
        let rule = self.map.rule_by_id(rule).ok_or_else(|| placement_error(format!("the map has no rule {rule}")))?;
        Ok(balance::devices_of(&self.map, rule))
    }

    /// Maps inputs by a rule: an array of shape (inputs, copies).
    ///
    /// A hole that an indep rule leaves is 2147483647, as Ceph writes it; after the end of a short mapping comes -1.
    ///
    /// `choose_args` is the key of the stand-in weights to draw by, as a pool's id is; without it, and without that key, the
    /// map's default serves.
    #[pyo3(signature = (rule, inputs, copies, reweight=None, choose_args=None))]
    fn map_rule<'py>(
        &self,
        py: Python<'py>,
        rule: u32,
        inputs: PyBuffer<u32>,
        copies: usize,
        reweight: Option<PyBuffer<u32>>,
        choose_args: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rule = self.map.rule_by_id(rule).ok_or_else(|| placement_error(format!("the map has no rule {rule}")))?;
        let inputs = inputs.to_vec(py)?;
        let reweight = match &reweight {
            Some(reweight) => reweight.to_vec(py)?,
            None => Vec::new(),
        };
        let mut sets = vec![-1; inputs.len() * copies];
        py.detach(|| {
            // Without a pool, crushtool takes the weights of pool 0 where the map has them.
            let batch = Batch::new(&self.map, rule, copies, self.map.weight_sets_for(choose_args.unwrap_or(0)));
            let rows = sets.par_chunks_mut(INPUTS_A_TASK * copies.max(1));
            rows.zip(inputs.par_chunks(INPUTS_A_TASK)).for_each_init(BatchScratch::new, |scratch, (rows, inputs)| {
                batch.place(inputs, &reweight, scratch, rows);
            });
        });
        rows(py, &sets, inputs.len(), copies)
    }
}
