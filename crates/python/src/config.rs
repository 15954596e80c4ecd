//! From the JSON that `resilver.simulate` writes to the core's configuration.

use std::sync::Arc;

use pyo3::PyErr;
use resilver_placement::crush::CrushMap;
use resilver_placement::ring::{HashRing, RingWalk};
use resilver_population::{Bin, Decomposition, Extent, Histogram};
use resilver_system::{
    Algorithm, Contents, CrushPlacement, FabricConfig, GroupContents, Named, ObjectOrder, Placement, RecoveryPolicy,
    RetryPolicy, SourceChoice, StripesOf, SystemConfig,
};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, SimTime};
use serde::Deserialize;

use crate::devices::{DevicesJson, devices};
use crate::errors::config_error;
use crate::fabric::{FabricJson, fabric};
use crate::faults::{FaultsJson, corruptions, faults};
use crate::lanes::{LanesJson, lanes};
use crate::layouts::{LayoutJson, layout_algorithm};
use crate::pools::{PoolJson, placed_pool};
use crate::streams::{RedundancyJson, StreamsJson, corruption, redundancy, streams};
use crate::traffic::{TrafficJson, duration, traffic};

/// One system, as `resilver.simulate` describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemJson {
    seed: u64,
    endpoint_of: Vec<u32>,
    devices: DevicesJson,
    fabric: FabricJson,
    recovery: RecoveryJson,
    placement: Option<PlacementJson>,
    population: Option<PopulationJson>,
    #[serde(default)]
    traffic: Option<TrafficJson>,
    faults: FaultsJson,
    #[serde(default)]
    lanes: Option<LanesJson>,
    /// The code that objects are stored under, in place of copies.
    #[serde(default)]
    redundancy: Option<RedundancyJson>,
    /// All endpoints of each server; empty where each has one.
    #[serde(default)]
    ports_of: Vec<Vec<u32>>,
    #[serde(default)]
    streams: Option<StreamsJson>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecoveryJson {
    pipeline_buffer: u64,
    pipelining: bool,
    receive_memory: u64,
    send_memory: u64,
    control_message: u64,
    source: String,
    order: String,
    bandwidth_bytes_per_second: Option<f64>,
    retry_seconds: f64,
    attempts: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlacementJson {
    groups: Option<u32>,
    domain_of: Option<Vec<u32>>,
    ring: Option<RingJson>,
    crush: Option<CrushJson>,
    layout: Option<LayoutJson>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RingJson {
    domain_of: Vec<u32>,
    points: u32,
    copies: usize,
    successors: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CrushJson {
    reweight: Vec<u32>,
    is_up: Vec<bool>,
    affinity: Vec<u32>,
    pools: Vec<PoolJson>,
}

/// What is stored, as `resilver.simulate` describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
pub enum PopulationJson {
    Files { bins: Vec<(u64, u64, u64)>, objects: ObjectsJson, extent: ExtentJson },
    Groups { objects: Vec<u64>, bytes: Vec<u64> },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
pub enum ObjectsJson {
    Whole {},
    Chunked { chunk: u64 },
    Striped { unit: u64, width: u64 },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum ExtentJson {
    Files(u64),
    Bytes(u64),
}

/// Builds the core's configuration.
pub fn system_config(json: &str, map: Option<Arc<CrushMap>>) -> Result<SystemConfig, PyErr> {
    named_config(json, map).map(|(config, _)| config)
}

/// The same with the names of what breaks.
pub fn named_config(json: &str, map: Option<Arc<CrushMap>>) -> Result<(SystemConfig, Vec<Named>), PyErr> {
    let system: SystemJson = serde_json::from_str(json).map_err(config_error)?;
    let fabric = fabric(system.fabric, system.seed)?;
    let topology = match &fabric {
        FabricConfig::LogGp { .. } => None,
        FabricConfig::Switched { topology, .. } => Some(topology.as_ref()),
    };
    let ends = |number: usize| match system.ports_of.get(number) {
        Some(ports) => ports.iter().copied().map(EndpointId::new).collect(),
        None => vec![EndpointId::new(system.endpoint_of[number])],
    };
    let servers = system.endpoint_of.len();
    let named = faults(&system.faults, system.seed, topology, (0..).zip((0..servers).map(ends)).collect())?;
    let mut failing: Vec<(SimTime, DeviceId)> = named
        .iter()
        .filter(|named| named.fault.is_told)
        .flat_map(|Named { fault, .. }| fault.devices.iter().map(|&device| (fault.at, device)))
        .collect();
    if let Some((_, device)) = failing.iter().find(|(_, device)| device.index() >= servers) {
        let device = device.get();
        return Err(config_error(format!("failed = {device}: the system has {servers} servers, numbered from 0")));
    }
    // Each fails once, at the earliest time; those of one time are in the order of their numbers, or as they are listed.
    if named.iter().all(|named| !named.parts.is_empty()) {
        failing.sort_unstable();
    }
    let mut seen = vec![false; servers];
    failing.retain(|(_, device)| !std::mem::replace(&mut seen[device.index()], true));
    let failing: Vec<DeviceId> = failing.into_iter().map(|(_, device)| device).collect();
    let streams = system.streams.map(streams).transpose()?;
    let groups = match streams.as_ref().map(|streams| &streams.over) {
        Some(StripesOf::Groups(groups)) => groups.len() as u32,
        _ => 0,
    };
    let corruptions = corruptions(&system.faults, system.seed, groups)?;
    let config = SystemConfig {
        seed: system.seed,
        endpoint_of: system.endpoint_of.into_iter().map(EndpointId::new).collect(),
        devices: devices(system.devices, system.seed)?,
        fabric,
        retry: retry(&system.recovery)?,
        source: source_choice(&system.recovery.source)?,
        order: object_order(&system.recovery.order)?,
        policy: RecoveryPolicy {
            pipeline_buffer: Bytes::new(system.recovery.pipeline_buffer),
            pipelining: system.recovery.pipelining,
            receive_memory: Bytes::new(system.recovery.receive_memory),
            send_memory: Bytes::new(system.recovery.send_memory),
            control_message: Bytes::new(system.recovery.control_message),
            bandwidth: system.recovery.bandwidth_bytes_per_second.map(bandwidth).transpose()?,
        },
        placement: match system.placement {
            Some(json) => placement(json, map, system.seed, &failing)?,
            None => placement_of_nothing(),
        },
        contents: system.population.map_or(Ok(Contents::Groups(Vec::new())), contents)?,
        code: system.redundancy.map(redundancy).transpose()?,
        ports_of: system.ports_of.into_iter().map(|ports| ports.into_iter().map(EndpointId::new).collect()).collect(),
        traffic: system.traffic.map(traffic).transpose()?,
        lanes: system.lanes.map(lanes).transpose()?,
        streams,
        corruptions: corruptions.into_iter().map(corruption).collect::<Result<_, PyErr>>()?,
        faults: named.iter().map(|named| named.fault.clone()).collect(),
    };
    Ok((config, named))
}

fn retry(recovery: &RecoveryJson) -> Result<RetryPolicy, PyErr> {
    if recovery.attempts == 0 {
        return Err(config_error("recovery.attempts = 0: it must be at least 1"));
    }
    Ok(RetryPolicy { after: duration("recovery.retry", recovery.retry_seconds)?, attempts: recovery.attempts })
}

fn source_choice(name: &str) -> Result<SourceChoice, PyErr> {
    match name {
        "primary" => Ok(SourceChoice::Primary),
        "random" => Ok(SourceChoice::Random),
        "least_loaded" => Ok(SourceChoice::LeastLoaded),
        _ => Err(config_error(format!(
            "recovery.source = '{name}' is not known: choose 'primary', 'random' or 'least_loaded'"
        ))),
    }
}

fn object_order(name: &str) -> Result<ObjectOrder, PyErr> {
    match name {
        "population" => Ok(ObjectOrder::Population),
        "smallest" => Ok(ObjectOrder::Smallest),
        "largest" => Ok(ObjectOrder::Largest),
        "risk" => Ok(ObjectOrder::Risk),
        _ => Err(config_error(format!(
            "recovery.order = '{name}' is not known: choose 'population', 'smallest', 'largest' or 'risk'"
        ))),
    }
}

fn bandwidth(bytes_per_second: f64) -> Result<BytesPerSecond, PyErr> {
    BytesPerSecond::new(bytes_per_second).ok_or_else(|| {
        config_error(format!("recovery.bandwidth = {bytes_per_second} B/s: it must be finite and above zero"))
    })
}

/// How a system without contents places them: in no group, by a ring that nobody asks.
fn placement_of_nothing() -> Placement {
    let ring = Arc::new(HashRing::new(vec![0], 1, RingWalk::Successors));
    Placement { groups: Some(0), algorithm: Algorithm::Ring { ring, copies: 1, is_out: vec![false] }, domain_of: None }
}

fn placement(
    placement: PlacementJson,
    map: Option<Arc<CrushMap>>,
    seed: u64,
    failing: &[DeviceId],
) -> Result<Placement, PyErr> {
    let algorithm = match (placement.ring, placement.crush, placement.layout, map) {
        (Some(ring), None, None, None) => Algorithm::Ring {
            is_out: vec![false; ring.domain_of.len()],
            ring: Arc::new(HashRing::new(
                ring.domain_of,
                ring.points,
                if ring.successors { RingWalk::Successors } else { RingWalk::Rehash },
            )),
            copies: ring.copies,
        },
        (None, Some(crush), None, Some(map)) => {
            let pools = crush.pools.iter().map(|pool| placed_pool(pool, &map)).collect::<Result<_, PyErr>>()?;
            let CrushJson { reweight, mut is_up, affinity, .. } = crush;
            // A device whose failure is studied held its data until then, also where a report has it down already: what it
            // takes to mark it out is asked.
            failing.iter().for_each(|device| is_up[device.index()] = true);
            Algorithm::Crush(CrushPlacement { map, pools, reweight, is_up, affinity })
        }
        (None, None, Some(layout), None) => layout_algorithm(layout, seed, failing)?,
        _ => return Err(config_error("placement needs a ring, another layout, or CRUSH with a map")),
    };
    Ok(Placement { groups: placement.groups, algorithm, domain_of: placement.domain_of })
}

/// What is stored.
pub fn contents(population: PopulationJson) -> Result<Contents, PyErr> {
    match population {
        PopulationJson::Groups { objects, bytes } => Ok(Contents::Groups(
            objects
                .into_iter()
                .zip(bytes)
                .map(|(objects, bytes)| GroupContents { objects, bytes: Bytes::new(bytes) })
                .collect(),
        )),
        PopulationJson::Files { bins, objects, extent } => {
            let bins: Vec<Bin> = bins.into_iter().map(|(min, max, count)| Bin { min, max, count }).collect();
            Ok(Contents::Files {
                histogram: Histogram::new(&bins).map_err(config_error)?,
                decomposition: match objects {
                    ObjectsJson::Whole {} => Decomposition::Whole,
                    ObjectsJson::Chunked { chunk } => Decomposition::Chunked { chunk: Bytes::new(chunk) },
                    ObjectsJson::Striped { unit, width } => Decomposition::Striped { unit: Bytes::new(unit), width },
                },
                extent: match extent {
                    ExtentJson::Files(files) => Extent::Files(files),
                    ExtentJson::Bytes(bytes) => Extent::Volume(Bytes::new(bytes)),
                },
            })
        }
    }
}
