//! The levels of a cluster, from the JSON that `resilver.simulate` writes: its parts, and its CRUSH map.

use pyo3::prelude::*;
use resilver_crush::{BucketKind, CrushMap, TreeRule, Tunables};
use resilver_parts::{Declaration, PartId, Parts, Shape};
use resilver_system::read;

use crate::errors::{config_error, placement_error, refused, system_error};

/// The CRUSH map of the tree that the devices are in.
pub fn crush_map(parts: &Parts, kind: BucketKind, tunables: Tunables, rule: TreeRule) -> PyResult<CrushMap> {
    let devices = parts.devices();
    let mut levels: Vec<(&str, u32)> = Vec::new();
    let mut part = devices.first().copied();
    while let Some(of_level) = part {
        let name = parts.level(of_level);
        levels.push((name, parts.of_level(name).len() as u32));
        part = parts.parent(of_level);
    }
    let classes: Vec<Option<&str>> = devices.iter().map(|&device| parts.class(device)).collect();
    CrushMap::tree(&levels, &classes, kind, tunables, rule).map_err(placement_error)
}

/// What follows from the levels of a cluster, as JSON, or all that is wrong with them.
#[pyfunction]
pub fn parts_shape(levels: &str) -> PyResult<String> {
    let declarations: Vec<Declaration> = read(levels).map_err(system_error)?;
    serde_json::to_string(&Shape::of(&declarations).map_err(refused)?).map_err(config_error)
}

/// The parts of a cluster, for what is asked of them without a run.
#[pyclass(frozen)]
pub struct ClusterParts {
    parts: Parts,
}

impl ClusterParts {
    fn find(&self, name: &str) -> PyResult<PartId> {
        self.parts.find(name).ok_or_else(|| config_error(format!("part = '{name}': the cluster has no such part")))
    }

    fn names(&self, parts: impl IntoIterator<Item = PartId>) -> Vec<String> {
        parts.into_iter().map(|part| self.parts.name(part)).collect()
    }
}

#[pymethods]
impl ClusterParts {
    #[new]
    fn new(levels: &str) -> PyResult<Self> {
        Ok(ClusterParts { parts: read(levels).map_err(system_error)? })
    }

    /// How many parts a level has.
    fn count(&self, level: &str) -> usize {
        self.parts.of_level(level).len()
    }

    /// The numbers of the devices in a part or of it: those that its failure takes away.
    fn devices_below(&self, part: &str) -> PyResult<Vec<u32>> {
        Ok(self.parts.devices_below(self.find(part)?).iter().map(|device| device.get()).collect())
    }

    /// How many devices of each part of a level, by number, are in each part of another: a row for each of the other.
    fn members_within(&self, level: &str, other: &str) -> Vec<Vec<u32>> {
        self.parts.members_within(level, other)
    }

    /// The names of the members of a part that is made of others, in their order.
    fn members(&self, part: &str) -> PyResult<Vec<String>> {
        Ok(self.names(self.parts.members(self.find(part)?).iter().copied()))
    }

    /// The names of the parts that carry a device's bytes, from the device up, and those of them that take time.
    fn ways(&self, device: u32) -> PyResult<(Vec<String>, Vec<String>)> {
        if device as usize >= self.parts.devices().len() {
            return Err(config_error(format!("device = {device}: the cluster has {}", self.parts.devices().len())));
        }
        let device = resilver_units::DeviceId::new(device);
        let carriers = self.names(self.parts.carriers(device));
        Ok((carriers, self.names(self.parts.way(device).unwrap_or_default())))
    }
}
