//! The levels of a cluster, from the JSON that `resilver.simulate` writes, and the CRUSH map of their tree.

use pyo3::PyErr;
use resilver_parts::{Declaration, Parts};
use resilver_placement::crush::{BucketKind, CrushMap, TreeRule, Tunables};
use serde::Deserialize;

use crate::errors::{config_error, placement_error};

/// One declaration of a level.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelJson {
    level: String,
    r#in: Option<String>,
    count: u32,
    class: Option<String>,
    ports: u32,
}

/// The parts that the JSON's levels declare.
pub fn parts(levels: Vec<LevelJson>) -> Result<Parts, PyErr> {
    let declaration = |json: LevelJson| {
        let plain = Declaration::new(&json.level, json.r#in.as_deref(), json.count);
        Declaration { class: json.class, ports: json.ports, ..plain }
    };
    Parts::new(&levels.into_iter().map(declaration).collect::<Vec<_>>()).map_err(config_error)
}

/// The CRUSH map of the tree that the devices are in.
pub fn crush_map(parts: &Parts, kind: BucketKind, tunables: Tunables, rule: TreeRule) -> Result<CrushMap, PyErr> {
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
