//! The levels of a cluster, from the JSON that `resilver.simulate` writes: its parts, what requests pass, and its CRUSH map.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use resilver_parts::{Declaration, Made, PartId, PartService, Parts};
use resilver_placement::crush::{BucketKind, CrushMap, TreeRule, Tunables};
use resilver_system::{Fault, Named};
use resilver_units::{BytesPerSecond, DeviceId, SimTime};
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

/// Numbers the parts that faults are of, where requests pass them, and adds the devices that nothing carries any more: of each
/// that the system is told of.
///
/// What carries others has no device in it. While it is gone its partner takes over; who has none, or one that is gone, too,
/// takes along what it carries.
pub fn carry(parts: &Parts, named: &mut Vec<Named>) -> PyResult<()> {
    let mut gone_at: BTreeMap<PartId, SimTime> = BTreeMap::new();
    for Named { fault, level, parts: of } in named.iter_mut() {
        let ids: Vec<PartId> = of.iter().filter_map(|(_, name)| parts.find(name)).collect();
        // What carries others has a number behind all devices in place of devices.
        let held = fault.devices.len();
        fault.devices.retain(|device| device.index() < parts.devices().len());
        let is_carrier = fault.devices.len() < held;
        if is_carrier && !fault.is_slow() {
            if !fault.is_told {
                return Err(config_error(format!(
                    "faults: {level}: the system knows of what carries others: leave told out"
                )));
            }
            // Of devices nobody is to be told: who is there to take over is.
            fault.is_told = false;
            for &part in &ids {
                let at = gone_at.entry(part).or_insert(fault.at);
                *at = fault.at.min(*at);
            }
        }
        if is_carrier || fault.is_slow() {
            fault.parts = ids.iter().map(|part| part.index() as u32).collect();
        }
    }
    let is_cut_off_at = |part: PartId| {
        let at = gone_at.get(&part).copied()?;
        match parts.partner(part) {
            Some(partner) => gone_at.get(&partner).map(|&other| other.max(at)),
            None => Some(at),
        }
    };
    let mut cut_off: BTreeMap<SimTime, Vec<DeviceId>> = BTreeMap::new();
    for device in (0..parts.devices().len() as u32).map(DeviceId::new).filter(|_| !gone_at.is_empty()) {
        if let Some(at) = parts.carriers(device).into_iter().filter_map(is_cut_off_at).min() {
            cut_off.entry(at).or_default().push(device);
        }
    }
    if cut_off.values().map(Vec::len).sum::<usize>() == parts.devices().len() {
        return Err(config_error("faults: no device is left that anything carries; let fewer fail"));
    }
    // They count as named, so that the devices of one time still fail in the order of their numbers.
    named.extend(cut_off.into_iter().map(|(at, devices)| Named {
        fault: Fault::told(at, devices),
        level: String::new(),
        parts: vec![(0, String::new())],
    }));
    Ok(())
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
