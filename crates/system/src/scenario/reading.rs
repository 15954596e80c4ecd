//! A system as JSON says it: the one form in which a border hands systems to the core.
//!
//! What a system is made of is read as it is, in SI units; what is drawn, named or built from it is drawn, named and built here.
//! CRUSH maps come beside the JSON, which says their numbers.

use std::sync::Arc;

use resilver_crush::CrushMap;
use resilver_crush::pool::Pool;
use resilver_detection::Detection;
use resilver_device::Service;
use resilver_fabric::topology::Structure;
use resilver_fabric::{LogGpTable, SwitchedParameters};
use resilver_placement::layouts::{Domains, LayoutKind, ObjectLayout};
use resilver_placement::ring::{HashRing, RingWalk};
use resilver_units::{DeviceId, EndpointId, SimDuration, SimTime, json_path};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::faults::Named;
use super::{
    Algorithm, CodeConfig, Contents, CrushPlacement, Devices, FabricConfig, LanesConfig, ObjectOrder, Placement,
    REWEIGHT_FULL, RecoveryPolicy, RetryPolicy, SourceChoice, StoredPool, StreamTraffic, StripesOf, SystemConfig,
    Traffic, spread_in_range,
};
use crate::{SystemError, TrafficClass};

use super::carried;
use super::detecting;
use super::study_faults::StudyFaults;

/// One system, as JSON says it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    seed: u64,
    endpoint_of: Vec<EndpointId>,
    /// All endpoints of each device; empty where each has one.
    ports_of: Vec<Vec<EndpointId>>,
    devices: Devices,
    fabric: Fabric,
    policy: RecoveryPolicy,
    retry: RetryPolicy,
    source: SourceChoice,
    order: ObjectOrder,
    /// What is stored; nothing where there is only traffic.
    pools: Vec<DescribedPool>,
    traffic: Vec<Traffic>,
    streams: Option<StreamTraffic>,
    /// The code of streams over groups of servers, where nothing is stored.
    redundancy: Option<CodeConfig>,
    faults: StudyFaults,
    /// How devices find out what is gone, where faults do not say when that is known.
    #[serde(default)]
    detection: Option<Detection>,
    lanes: Option<LanesConfig>,
    #[serde(default)]
    frames: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Fabric {
    #[serde(rename = "loggp")]
    LogGp(LogGpTable),
    Switched {
        topology: Structure,
        parameters: SwitchedParameters,
    },
}

/// One population under one placement and one redundancy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DescribedPool {
    /// How many placement groups there are; `None` where each object is placed on its own.
    groups: Option<u32>,
    /// How many failure domains there are, each of as many neighbours; `None` where each device is its own.
    domains: Option<u32>,
    placement: Where,
    population: Contents,
    /// The code that objects are stored under, in place of copies.
    redundancy: Option<CodeConfig>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Where {
    Ring {
        points: u32,
        copies: usize,
        walk: RingWalk,
    },
    Layout {
        copies: usize,
        kind: LayoutKind,
    },
    /// `by_group` says whether the rule's devices are group by group of a code of several levels.
    Crush {
        map: usize,
        pool: Pool,
        by_group: bool,
    },
}

/// What a pool's placement is built from, beside what the pool says.
struct Surroundings<'a> {
    seed: u64,
    maps: &'a [Arc<CrushMap>],
    servers: usize,
    /// The devices that fail and that the system is told of, in the order in which they do.
    failing: Vec<DeviceId>,
}

/// What a JSON text says.
///
/// # Errors
/// When it says something else: where, and what.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, SystemError> {
    serde_json::from_str(text).map_err(|error| {
        let (place, why) = (json_path(text, error.line(), error.column()), error.to_string());
        // The place in the text tells nobody anything.
        let why = why.rsplit_once(" at line ").map_or(why.as_str(), |(why, _)| why);
        SystemError::Described(format!("{place}{why}"))
    })
}

/// The system that a JSON text says, and what breaks in it, by name; `maps` are those of the pools that are placed by CRUSH.
///
/// # Errors
/// When the text says no system, a part cannot be built as it says, or faults are of what the system has not.
pub fn system_of(text: &str, maps: &[Arc<CrushMap>]) -> Result<(SystemConfig, Vec<Named>), SystemError> {
    read::<Described>(text)?.system(maps)
}

impl Described {
    fn system(self, maps: &[Arc<CrushMap>]) -> Result<(SystemConfig, Vec<Named>), SystemError> {
        let (seed, servers) = (self.seed, self.endpoint_of.len());
        let fabric = self.fabric.build(seed)?;
        let devices = with_seed(self.devices, seed)?;
        let topology = match &fabric {
            FabricConfig::LogGp { .. } => None,
            FabricConfig::Switched { topology, .. } => Some(topology.as_ref()),
        };
        let ends = |number: usize| match self.ports_of.get(number) {
            Some(ports) => ports.clone(),
            None => vec![self.endpoint_of[number]],
        };
        let ends: Vec<Vec<EndpointId>> = (0..servers).map(ends).collect();
        let watched = detecting::Watching { seed, fabric: &fabric, ends: &ends };
        let detect = |named: &[Named], waits: &[bool]| match &self.detection {
            Some(detection) => watched.detect(detection, named, |index| waits[index]),
            None => Ok(Vec::new()),
        };
        let endpoints_of = (0..).zip(ends.iter().cloned()).collect();
        let (mut named, detected) = self.faults.named_and_detected(seed, topology, endpoints_of, detect)?;
        if let Some(parts) = &devices.passing {
            carried::carry(parts, &mut named)?;
        }
        let groups = match self.streams.as_ref().map(|streams| &streams.over) {
            Some(StripesOf::Groups(groups)) => groups.len() as u32,
            _ => 0,
        };
        let corruptions = self.faults.corruptions(seed, groups)?;
        let around = Surroundings { seed, maps, servers, failing: failing_of(&named, servers)? };
        let mut pools: Vec<StoredPool> =
            self.pools.into_iter().map(|pool| pool.build(&around)).collect::<Result<_, _>>()?;
        if pools.is_empty() {
            pools.push(pool_of_nothing(servers, self.redundancy));
        }
        if let Some(given) = self.lanes.as_ref().map(|config| config.lanes.count())
            && given != TrafficClass::ALL.len()
        {
            let classes = TrafficClass::ALL.len();
            return Err(SystemError::Described(format!(
                "lanes.shares = {given} shares: give one for each of {classes} classes"
            )));
        }
        let config = SystemConfig {
            pools,
            seed,
            endpoint_of: self.endpoint_of,
            ports_of: self.ports_of,
            devices,
            fabric,
            policy: self.policy,
            retry: self.retry,
            source: self.source,
            order: self.order,
            traffic: self.traffic,
            lanes: self.lanes,
            frames: self.frames,
            streams: self.streams,
            corruptions,
            detected,
            faults: named.iter().map(|named| named.fault.clone()).collect(),
        };
        Ok((config, named))
    }
}

impl Fabric {
    /// The network; `seed` draws what its topology leaves to chance.
    fn build(self, seed: u64) -> Result<FabricConfig, SystemError> {
        match self {
            Fabric::LogGp(table) => Ok(FabricConfig::LogGp { table: Arc::new(table) }),
            Fabric::Switched { topology, parameters } => {
                let topology = topology.build(seed).map_err(|error| SystemError::Described(error.to_string()))?;
                let parameters = parameters.over(&topology);
                parameters.check(&topology).map_err(|error| SystemError::Described(error.to_string()))?;
                Ok(FabricConfig::Switched { topology: Arc::new(topology), parameters })
            }
        }
    }
}

/// Devices that draw their service times by the key of the system.
fn with_seed(mut devices: Devices, seed: u64) -> Result<Devices, SystemError> {
    for kind in &mut devices.kinds {
        spread_in_range(kind.spread)?;
        match &mut kind.service {
            Service::Exponential { read, write, .. } if [*read, *write].contains(&SimDuration::ZERO) => {
                let rule = "an exponential time must have a mean above 0 s";
                return Err(SystemError::Described(format!("cluster.device.service: {rule}")));
            }
            Service::Exponential { seed: key, .. } | Service::Operations { seed: key, .. } => *key = seed,
            Service::Table(_) | Service::Fixed { .. } => {}
        }
    }
    Ok(devices)
}

/// The devices that fail and that the system is told of, in the order in which they do.
fn failing_of(named: &[Named], servers: usize) -> Result<Vec<DeviceId>, SystemError> {
    let told = named.iter().filter(|named| named.fault.is_told);
    let mut failing: Vec<(SimTime, DeviceId)> =
        told.flat_map(|Named { fault, .. }| fault.devices.iter().map(|&device| (fault.at, device))).collect();
    if let Some((_, device)) = failing.iter().find(|(_, device)| device.index() >= servers) {
        let device = device.get();
        let rule = format!("the system has {servers} servers, numbered from 0");
        return Err(SystemError::Described(format!("failed = {device}: {rule}")));
    }
    // Each fails once, at the earliest time; those of one time are in the order of their numbers, or as they are listed.
    if named.iter().all(|named| !named.parts.is_empty()) {
        failing.sort_unstable();
    }
    let mut seen = vec![false; servers];
    failing.retain(|(_, device)| !std::mem::replace(&mut seen[device.index()], true));
    Ok(failing.into_iter().map(|(_, device)| device).collect())
}

impl DescribedPool {
    fn build(self, around: &Surroundings<'_>) -> Result<StoredPool, SystemError> {
        let DescribedPool { groups, domains, placement, population: contents, redundancy: code } = self;
        let servers = around.servers as u32;
        let each = domains.map_or(1, |domains| (servers / domains.max(1)).max(1));
        let domain_of: Vec<u32> = (0..servers).map(|device| device / each).collect();
        let algorithm = placement.build(code.as_ref(), domain_of.clone(), around)?;
        let domain_of = domains.map(|_| domain_of);
        Ok(StoredPool { placement: Placement { groups, algorithm, domain_of }, code, contents })
    }
}

impl Where {
    fn build(
        self,
        code: Option<&CodeConfig>,
        domain_of: Vec<u32>,
        around: &Surroundings<'_>,
    ) -> Result<Algorithm, SystemError> {
        Ok(match self {
            Where::Ring { points, copies, walk } => {
                let is_out = vec![false; domain_of.len()];
                Algorithm::Ring { ring: Arc::new(HashRing::new(domain_of, points, walk)), copies, is_out }
            }
            Where::Layout { copies, kind } => {
                let layout = kind.build(Domains::new(domain_of), copies, around.seed, &around.failing);
                let layout = layout.map_err(|error| SystemError::Placement(error.to_string()))?;
                Algorithm::Layout { is_out: vec![false; layout.devices()], layout: Arc::new(layout), copies }
            }
            Where::Crush { map, pool, by_group } => {
                let no_map = || SystemError::Described(format!("crush.map = {map}: there is no such map"));
                let map = around.maps.get(map).ok_or_else(no_map)?.clone();
                let rule = pool.rule_of(&map).map_err(|error| SystemError::Placement(error.to_string()))?.clone();
                let order = code.filter(|_| by_group).map(|code| code.code.group_places()).unwrap_or_default();
                let reweight = vec![REWEIGHT_FULL; around.servers];
                Algorithm::Crush(Box::new(CrushPlacement { map, pool, rule, order, reweight }))
            }
        })
    }
}

/// What a system without contents stores: no files, in no group, by a ring that nobody asks; any of its devices may fail.
fn pool_of_nothing(servers: usize, code: Option<CodeConfig>) -> StoredPool {
    let ring = Arc::new(HashRing::new(vec![0], 1, RingWalk::Successors));
    let algorithm = Algorithm::Ring { ring, copies: 1, is_out: vec![false; servers] };
    let placement = Placement { groups: Some(0), algorithm, domain_of: None };
    StoredPool { placement, code, contents: Contents::nothing() }
}
