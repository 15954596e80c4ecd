//! The levels of a cluster, from the JSON that `resilver.simulate` writes: its parts, what requests pass, and its CRUSH map.

use pyo3::prelude::*;
use resilver_parts::{Declaration, Made, PartId, PartService, Parts};
use resilver_placement::crush::{BucketKind, CrushMap, TreeRule, Tunables};
use resilver_system::{Passing, Slowdown};
use resilver_units::{BytesPerSecond, SimTime};
use serde::Deserialize;

use crate::errors::{config_error, placement_error};
use crate::traffic::duration;

/// One declaration of a level.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelJson {
    level: String,
    r#in: Option<String>,
    count: u32,
    class: Option<String>,
    ports: u32,
    service: Option<ServiceJson>,
    carries: Option<String>,
    partner: bool,
    of: Option<MadeJson>,
}

/// What it takes to pass a part.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServiceJson {
    rate_bytes_per_second: Option<f64>,
    per_request_seconds: f64,
}

/// What a level is made of.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MadeJson {
    level: String,
    size: u32,
    across: Option<String>,
    spares: u32,
}

/// The parts that requests pass, and what becomes of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassingJson {
    levels: Vec<LevelJson>,
    /// The names of parts that go, and when.
    gone: Vec<(String, f64)>,
    slow: Vec<SlowPartJson>,
}

#[derive(Deserialize)]
struct SlowPartJson {
    part: String,
    #[serde(flatten)]
    slow: SlowJson,
}

/// How something is slow for a while.
#[derive(Deserialize)]
pub struct SlowJson {
    at_seconds: f64,
    until_seconds: Option<f64>,
    health: f64,
}

impl SlowJson {
    /// The same in the core's words.
    pub fn slowdown(&self) -> PyResult<Slowdown> {
        let time = |field, seconds| duration(field, seconds).map(|after| SimTime::ZERO + after);
        let at = time("faults.at", self.at_seconds)?;
        let until = self.until_seconds.map(|seconds| time("faults.until", seconds)).transpose()?;
        if !(self.health > 0.0 && self.health < 1.0) || until.is_some_and(|until| until <= at) {
            let rule = "a slow part has a health above 0 and below 1, and is slow until a later time";
            return Err(config_error(format!("faults.health = {}: {rule}", self.health)));
        }
        Ok(Slowdown { at, until, health: self.health })
    }
}

/// The parts that the JSON's levels declare.
pub fn parts(levels: Vec<LevelJson>) -> PyResult<Parts> {
    let declarations: Vec<Declaration> = levels.into_iter().map(declaration).collect::<PyResult<_>>()?;
    Parts::new(&declarations).map_err(config_error)
}

fn declaration(json: LevelJson) -> PyResult<Declaration> {
    let service = |service: ServiceJson| -> PyResult<PartService> {
        let rate = |rate| {
            let rule = "it must be finite and above zero";
            BytesPerSecond::new(rate).ok_or_else(|| config_error(format!("cluster.parts.service = {rate} B/s: {rule}")))
        };
        Ok(PartService {
            time: duration("cluster.parts.service.per_request", service.per_request_seconds)?,
            rate: service.rate_bytes_per_second.map(rate).transpose()?,
        })
    };
    let made = |made: MadeJson| {
        let MadeJson { level, size, across, spares } = made;
        Made { level, size, across, spares, code: None }
    };
    Ok(Declaration {
        level: json.level,
        within: json.r#in,
        count: json.count,
        class: json.class,
        ports: json.ports,
        service: json.service.map(service).transpose()?,
        carries: json.carries,
        has_partner: json.partner,
        of: json.of.map(made),
    })
}

/// What requests pass, as the JSON says it.
pub fn passing(json: PassingJson) -> PyResult<Passing> {
    let parts = parts(json.levels)?;
    let find = |name: &str| -> PyResult<PartId> {
        parts.find(name).ok_or_else(|| config_error(format!("faults: the cluster has no part '{name}'")))
    };
    let gone = |(name, at): &(String, f64)| Ok((SimTime::ZERO + duration("faults.at", *at)?, find(name)?));
    let slow = |json: &SlowPartJson| Ok((find(&json.part)?, json.slow.slowdown()?));
    let gone = json.gone.iter().map(gone).collect::<PyResult<_>>()?;
    let slow = json.slow.iter().map(slow).collect::<PyResult<_>>()?;
    Ok(Passing { parts, gone, slow })
}

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
        Ok(ClusterParts { parts: parts(serde_json::from_str(levels).map_err(config_error)?)? })
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
        let members = self.parts.made_of(self.find(part)?).map_or(&[][..], |(_, members)| members);
        Ok(self.names(members.iter().copied()))
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
