//! Faults and what they may be of, from the JSON that `resilver.simulate` writes: the core names and draws.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use resilver_fabric::topology::Topology as Network;
use resilver_system::{
    Ask, Fault, FaultError, LevelNames, Named, Names, PartsOfLevel, Wanted, choose_failed, named_faults,
};
use resilver_units::{EndpointId, SimTime};
use serde::Deserialize;

use crate::errors::{CoreFaultError, config_error};
use crate::topology::Topology;
use crate::traffic::duration;

/// The faults of a study, and the names of what they may be of.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultsJson {
    faults: Vec<FaultJson>,
    /// The levels of parts that faults are of.
    levels: Vec<LevelJson>,
    /// What nodes are called where a file says it.
    node_names: Vec<String>,
    /// How many devices there are, and what several are called.
    devices: (u32, String),
}

/// A fault as the study has it, with the place where it stands there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultJson {
    key: String,
    at: f64,
    part: Option<BTreeMap<String, WantedJson>>,
    #[serde(default)]
    health: f64,
    #[serde(default)]
    told: bool,
    until: Option<f64>,
    corrupt: Option<CorruptJson>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WantedJson {
    Count(u32),
    Devices(Vec<u32>),
    Names(Vec<String>),
}

/// Soft errors: the groups that rebuild in place.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorruptJson {
    groups: WantedGroups,
    pub strips: Option<u64>,
    pub code: Option<String>,
    pub window: u32,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum WantedGroups {
    Count(u32),
    Numbers(Vec<u32>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelJson {
    level: String,
    has_ports: bool,
    /// How many there are, and the word before their numbers; or each with its name and devices.
    even: Option<(u32, String)>,
    #[serde(default)]
    listed: Vec<(String, Vec<u32>)>,
}

fn time(field: &str, seconds: f64) -> PyResult<SimTime> {
    duration(field, seconds).map(|after| SimTime::ZERO + after)
}

fn ask(index: usize, json: &FaultJson) -> PyResult<Option<Ask>> {
    let Some((level, wanted)) = json.part.as_ref().and_then(BTreeMap::first_key_value) else { return Ok(None) };
    let fault = Fault {
        at: time("faults.at", json.at)?,
        until: json.until.map(|until| time("faults.until", until)).transpose()?,
        health: json.health,
        is_told: json.told,
        ..Fault::default()
    };
    if !(0.0..1.0).contains(&fault.health) || fault.until.is_some_and(|until| until <= fault.at) {
        let rule = "it is from 0 to below 1, until a later time";
        return Err(config_error(format!("faults.{index}.health = {}: {rule}", json.health)));
    }
    if fault.is_told && (fault.is_slow() || fault.until.is_some() || ["link", "switch"].contains(&level.as_str())) {
        let rule = "the system is told of parts that are gone for good";
        return Err(config_error(format!("faults.{index}.told = true: {rule}")));
    }
    let wanted = match wanted {
        WantedJson::Count(count) => Wanted::Count(*count),
        WantedJson::Names(names) => Wanted::Names(names.clone()),
        WantedJson::Devices(devices) => Wanted::Devices(devices.clone()),
    };
    Ok(Some(Ask { index: index as u64, key: json.key.clone(), fault, level: level.clone(), wanted }))
}

/// The faults with their parts, of which `seed` draws those that are not named; `endpoints_of` says those of each device.
pub fn faults(
    json: &FaultsJson,
    seed: u64,
    topology: Option<&Network>,
    endpoints_of: BTreeMap<u32, Vec<EndpointId>>,
) -> PyResult<Vec<Named>> {
    let asks = json.faults.iter().enumerate().map(|(index, fault)| ask(index, fault));
    let asks: Vec<Ask> = asks.collect::<PyResult<Vec<_>>>()?.into_iter().flatten().collect();
    let parts = |level: &LevelJson| match &level.even {
        Some((count, word)) => PartsOfLevel::Even(*count, word.clone()),
        None => PartsOfLevel::Listed(level.listed.clone()),
    };
    let level = |of: &LevelJson| LevelNames { level: of.level.clone(), has_ports: of.has_ports, parts: parts(of) };
    let names = Names {
        devices: json.devices.clone(),
        levels: json.levels.iter().map(level).collect(),
        topology,
        node_names: json.node_names.clone(),
        endpoints_of,
    };
    named_faults(&asks, &names, seed).map_err(fault_errors)
}

/// The soft errors in the order of the study, each with its time and its groups.
pub fn corruptions(json: &FaultsJson, seed: u64, groups: u32) -> PyResult<Vec<(SimTime, Vec<u32>, CorruptJson)>> {
    let corrupt = |(index, fault): (usize, &FaultJson)| {
        fault.corrupt.as_ref().map(|corrupt| Ok((index, time("faults.at", fault.at)?, corrupt.clone())))
    };
    let all: Vec<(usize, SimTime, CorruptJson)> =
        json.faults.iter().enumerate().filter_map(corrupt).collect::<PyResult<_>>()?;
    let named = |corrupt: &CorruptJson| match &corrupt.groups {
        WantedGroups::Numbers(numbers) => numbers.clone(),
        WantedGroups::Count(_) => Vec::new(),
    };
    let mut chosen: Vec<Vec<u32>> = all.iter().map(|(.., corrupt)| named(corrupt)).collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&at| all[at].1);
    for at in order {
        let (index, _, CorruptJson { groups: WantedGroups::Count(count), .. }) = &all[at] else { continue };
        let left: Vec<u32> = (0..groups).filter(|group| !chosen.iter().flatten().any(|one| one == group)).collect();
        if *count as usize > left.len() {
            return Err(fault_errors(vec![FaultError {
                key: format!("faults.{index}.corrupt.groups"),
                count: Some(*count),
                rule: format!("{} groups are left when this happens", left.len()),
                remedy: "let fewer rebuild, or name them".to_owned(),
                ..FaultError::default()
            }]));
        }
        let drawn = choose_failed(seed, *index as u64, left.len() as u32, *count);
        chosen[at] = drawn.into_iter().map(|number| left[number as usize]).collect();
    }
    Ok(all.into_iter().zip(chosen).map(|((_, at, corrupt), groups)| (at, groups, corrupt)).collect())
}

/// Errors for Python: (key, number, name, rule, remedy, names that there are) each.
fn fault_errors(errors: Vec<FaultError>) -> PyErr {
    let tuple = |error: FaultError| {
        let FaultError { key, count, name, rule, remedy, known } = error;
        (key, count, name, rule, remedy, known)
    };
    CoreFaultError::new_err((errors.into_iter().map(tuple).collect::<Vec<_>>(),))
}

/// Names and draws the parts of faults: the names of each fault's parts, in the order of the study.
#[pyfunction]
#[pyo3(signature = (text, seed, topology=None))]
pub fn name_faults(text: &str, seed: u64, topology: Option<&Topology>) -> PyResult<Vec<Vec<String>>> {
    let json: FaultsJson = serde_json::from_str(text).map_err(config_error)?;
    let named = faults(&json, seed, topology.map(|topology| topology.network()), BTreeMap::new())?;
    Ok(named.into_iter().map(|named| named.parts.into_iter().map(|(_, name)| name).collect()).collect())
}

/// Sets what broke, by name: what nobody was told of, each once and in the order of its numbers, and what was slow.
pub fn set_names(dict: &Bound<'_, PyDict>, faults: &[Named]) -> PyResult<()> {
    let mut gone: BTreeMap<&str, BTreeMap<(&str, u32), &str>> = BTreeMap::new();
    let mut slow: Vec<&str> = Vec::new();
    for Named { fault, level, parts } in faults.iter().filter(|named| !named.fault.is_told) {
        let column = match level.as_str() {
            "disk" => "failed_disks",
            "link" => "failed_links",
            "switch" => "failed_switches",
            _ => "failed_parts",
        };
        for (number, name) in parts {
            if !fault.is_slow() {
                gone.entry(column).or_default().insert((level, *number), name);
            } else if !slow.contains(&name.as_str()) {
                slow.push(name);
            }
        }
    }
    for (column, names) in gone {
        dict.set_item(column, names.into_values().collect::<Vec<_>>().join(","))?;
    }
    dict.set_item("slow_parts", (!slow.is_empty()).then(|| slow.join(",")))
}
