//! From the JSON that `resilver.simulate` writes to the core's configuration.

use std::sync::Arc;

use pyo3::{PyErr, PyRef};
use resilver_placement::ring::{HashRing, RingWalk};
use resilver_population::{Bin, Decomposition, Extent, Histogram};
use resilver_system::{
    Algorithm, CodeConfig, Contents, CrushPlacement, FabricConfig, GroupContents, Named, ObjectOrder, Placement,
    RecoveryPolicy, RetryPolicy, SourceChoice, StoredPool, StripesOf, SystemConfig,
};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, SimTime};
use serde::Deserialize;

use crate::devices::{DevicesJson, devices};
use crate::errors::config_error;
use crate::fabric::{FabricJson, fabric};
use crate::faults::{FaultsJson, corruptions, faults};
use crate::lanes::{LanesJson, lanes};
use crate::layouts::{LayoutJson, layout_algorithm};
use crate::levels::carry;
use crate::pools::{PoolJson, pool_of, rule_of};
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
    /// What is stored; nothing where there is only traffic.
    pools: Vec<StoredPoolJson>,
    /// The state of a real cluster's OSDs; all are in and up where it is not given.
    #[serde(default)]
    osds: Option<OsdsJson>,
    #[serde(default)]
    traffic: Vec<TrafficJson>,
    faults: FaultsJson,
    #[serde(default)]
    lanes: Option<LanesJson>,
    /// The code of streams over groups of servers, where nothing is stored.
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

/// One population under one placement and one redundancy.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredPoolJson {
    placement: PlacementJson,
    population: PopulationJson,
    /// The code that objects are stored under, in place of copies.
    #[serde(default)]
    redundancy: Option<RedundancyJson>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct OsdsJson {
    reweight: Vec<u32>,
    is_up: Vec<bool>,
    affinity: Vec<u32>,
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
    /// Which of the maps that come with the JSON.
    map: usize,
    pool: PoolJson,
    /// Whether the rule's devices are group by group of a code of several levels.
    #[serde(default)]
    by_group: bool,
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
pub fn system_config(json: &str, maps: &[PyRef<'_, crate::crush::CrushMap>]) -> Result<SystemConfig, PyErr> {
    named_config(json, maps).map(|(config, _)| config)
}

/// The same with the names of what breaks.
pub fn named_config(
    json: &str,
    maps: &[PyRef<'_, crate::crush::CrushMap>],
) -> Result<(SystemConfig, Vec<Named>), PyErr> {
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
    let devices = devices(system.devices, system.seed)?;
    let mut named = faults(&system.faults, system.seed, topology, (0..).zip((0..servers).map(ends)).collect())?;
    if let Some(parts) = &devices.passing {
        carry(parts, &mut named)?;
    }
    let failing = failing_of(&named, servers)?;
    let streams = system.streams.map(streams).transpose()?;
    let groups = match streams.as_ref().map(|streams| &streams.over) {
        Some(StripesOf::Groups(groups)) => groups.len() as u32,
        _ => 0,
    };
    let corruptions = corruptions(&system.faults, system.seed, groups)?;
    let everywhere = || OsdsJson { reweight: vec![0x10000; servers], is_up: vec![true; servers], affinity: Vec::new() };
    let mut osds = system.osds.unwrap_or_else(everywhere);
    // A device whose failure is studied held its data until then, also where a report has it down already: what it takes to
    // mark it out is asked.
    failing.iter().for_each(|device| osds.is_up[device.index()] = true);
    let stored = |pool: StoredPoolJson| -> Result<StoredPool, PyErr> {
        let code = pool.redundancy.map(redundancy).transpose()?;
        Ok(StoredPool {
            placement: placement((pool.placement, code.as_ref()), (maps, &osds), system.seed, &failing)?,
            code,
            contents: contents(pool.population)?,
        })
    };
    let mut pools: Vec<StoredPool> = system.pools.into_iter().map(stored).collect::<Result<_, PyErr>>()?;
    if pools.is_empty() {
        pools.push(StoredPool { code: system.redundancy.map(redundancy).transpose()?, ..pool_of_nothing() });
    }
    let config = SystemConfig {
        pools,
        seed: system.seed,
        endpoint_of: system.endpoint_of.into_iter().map(EndpointId::new).collect(),
        devices,
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
        ports_of: system.ports_of.into_iter().map(|ports| ports.into_iter().map(EndpointId::new).collect()).collect(),
        traffic: system.traffic.into_iter().map(traffic).collect::<Result<_, PyErr>>()?,
        lanes: system.lanes.map(lanes).transpose()?,
        streams,
        corruptions: corruptions.into_iter().map(corruption).collect::<Result<_, PyErr>>()?,
        faults: named.iter().map(|named| named.fault.clone()).collect(),
    };
    Ok((config, named))
}

/// The devices that fail and that the system is told of, in the order in which they do.
fn failing_of(named: &[Named], servers: usize) -> Result<Vec<DeviceId>, PyErr> {
    let told = named.iter().filter(|named| named.fault.is_told);
    let mut failing: Vec<(SimTime, DeviceId)> =
        told.flat_map(|Named { fault, .. }| fault.devices.iter().map(|&device| (fault.at, device))).collect();
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
    Ok(failing.into_iter().map(|(_, device)| device).collect())
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

/// What a system without contents stores: nothing, in no group, by a ring that nobody asks.
fn pool_of_nothing() -> StoredPool {
    let ring = Arc::new(HashRing::new(vec![0], 1, RingWalk::Successors));
    let algorithm = Algorithm::Ring { ring, copies: 1, is_out: vec![false] };
    let placement = Placement { groups: Some(0), algorithm, domain_of: None };
    StoredPool { placement, code: None, contents: Contents::Groups(Vec::new()) }
}

fn placement(
    (placement, code): (PlacementJson, Option<&CodeConfig>),
    (maps, osds): (&[PyRef<'_, crate::crush::CrushMap>], &OsdsJson),
    seed: u64,
    failing: &[DeviceId],
) -> Result<Placement, PyErr> {
    let algorithm = match (placement.ring, placement.crush, placement.layout) {
        (Some(ring), None, None) => Algorithm::Ring {
            is_out: vec![false; ring.domain_of.len()],
            ring: Arc::new(HashRing::new(
                ring.domain_of,
                ring.points,
                if ring.successors { RingWalk::Successors } else { RingWalk::Rehash },
            )),
            copies: ring.copies,
        },
        (None, Some(CrushJson { map, pool, by_group }), None) => {
            let map = maps.get(map).ok_or_else(|| config_error(format!("crush.map = {map}: there is no such map")))?;
            let (map, OsdsJson { reweight, is_up, affinity }) = (map.shared(), osds.clone());
            let rule = rule_of(&pool, &map)?;
            let order = code.filter(|_| by_group).map(|code| code.code.group_places()).unwrap_or_default();
            Algorithm::Crush(Box::new(CrushPlacement {
                map,
                pool: pool_of(&pool),
                rule,
                order,
                reweight,
                is_up,
                affinity,
            }))
        }
        (None, None, Some(layout)) => layout_algorithm(layout, seed, failing)?,
        _ => return Err(config_error("placement needs one of a ring, another layout, and CRUSH with a map")),
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
