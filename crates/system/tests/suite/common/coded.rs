//! Systems of coded objects on twenty servers, and ways to run them.

use std::sync::Arc;

use resilver_crush::pool::PoolKind;
use resilver_crush::{BucketKind, CrushMap, Rule, Step, Tunables};
use resilver_device::Service;
use resilver_fabric::topology::torus;
use resilver_fabric::{Forwarding, Queues, Routing, SwitchedParameters};
use resilver_kernel::lanes::Lanes;
use resilver_placement::layouts::{Domains, Layout, Rendezvous};
use resilver_placement::ring::{HashRing, RingWalk};
use resilver_population::{Bin, Decomposition, Extent, Histogram};
use resilver_redundancy::Code;
use resilver_system::{
    Algorithm, CodeConfig, Contents, Devices, Discipline, FabricConfig, Fault, ObjectOrder, Phase, PlaceScratch,
    Placement, Report, RetryPolicy, Simulation, SourceChoice, StoredPool, SystemConfig,
};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, GroupId, SimDuration, SimTime};

use super::{jbod, policy, qdr};

pub const SERVERS: u32 = 20;
pub const CODES: [&str; 4] = ["rs 4+2", "rs 8+3", "lrc 8+5 local 4", "copies 3"];

pub fn seconds(seconds: f64) -> SimTime {
    SimTime::ZERO + SimDuration::from_seconds(seconds).unwrap()
}

pub fn ring(copies: usize) -> Algorithm {
    let ring = Arc::new(HashRing::new((0..SERVERS).collect(), 128, RingWalk::Rehash));
    Algorithm::Ring { ring, copies, is_out: vec![false; SERVERS as usize] }
}

pub fn rendezvous(copies: usize) -> Algorithm {
    let layout = Arc::new(Layout::Rendezvous(Rendezvous::new(Domains::each_its_own(SERVERS))));
    Algorithm::Layout { layout, copies, is_out: vec![false; SERVERS as usize] }
}

/// A pool of 64 groups on a flat map, with the rule of an erasure-coded pool or of a replicated one.
pub fn crush(pieces: usize, kind: PoolKind) -> Algorithm {
    crush_pool(1, pieces, kind)
}

/// The pool of this number.
pub fn crush_pool(id: i64, pieces: usize, kind: PoolKind) -> Algorithm {
    let map = CrushMap::flat(SERVERS, BucketKind::Straw2, Tunables::JEWEL);
    let mut rule: Rule = map.rule_by_id(0).unwrap().clone();
    if kind == PoolKind::Erasure {
        for step in &mut rule.steps {
            if let Step::Choose(choose) = step {
                choose.firstn = false;
            }
        }
        rule.steps.insert(0, Step::SetChooseTries(100));
    }
    let mut placement = super::crush_copies(map, SERVERS, 64, pieces as u32);
    placement.rule = rule;
    (placement.pool.id, placement.pool.kind) = (id, kind);
    Algorithm::Crush(Box::new(placement))
}

/// Whole files of up to 1 GiB under a code on a ring, and servers that fail at given seconds.
pub fn system(code: &str, files: u64, failures: &[(f64, u32)]) -> SystemConfig {
    let code = Arc::new(Code::parse(code).unwrap());
    SystemConfig {
        seed: 5,
        lanes: None,
        frames: 0,
        endpoint_of: (0..SERVERS).map(EndpointId::new).collect(),
        devices: Devices::alike(Service::Table(jbod(1.0)), Discipline::Fifo),
        fabric: FabricConfig::LogGp { table: qdr() },
        ports_of: vec![],
        traffic: Vec::new(),
        streams: None,
        corruptions: vec![],
        detected: vec![],
        faults: failures
            .iter()
            .map(|&(time, server)| Fault::told(seconds(time), vec![DeviceId::new(server)]))
            .collect(),
        policy: policy(),
        retry: RetryPolicy { after: SimDuration::from_picoseconds(1_000_000_000), attempts: 3 },
        source: SourceChoice::Primary,
        order: ObjectOrder::Population,
        pools: vec![StoredPool {
            placement: Placement { groups: None, algorithm: ring(code.pieces() as usize), domain_of: None },
            code: Some(CodeConfig { code, strip: None, coding: None }),
            contents: Contents {
                histogram: Histogram::new(&[Bin { min: 0, max: 1 << 30, count: 1 }]).unwrap(),
                decomposition: Decomposition::Whole,
                extent: Extent::Files(files),
            },
        }],
    }
}

pub fn code_of(config: &SystemConfig) -> &Code {
    &config.pools[0].code.as_ref().unwrap().code
}

/// Runs a system to its end; the run itself holds it to the conservation laws.
pub fn finish(config: &SystemConfig) -> Report {
    let mut simulation = Simulation::new(config.clone()).unwrap();
    while simulation.phase() != Phase::Done {
        simulation.advance().unwrap();
    }
    simulation.report().unwrap().clone()
}

pub fn switched() -> FabricConfig {
    FabricConfig::Switched {
        topology: Arc::new(torus(&[5, 4], &[]).unwrap()),
        parameters: SwitchedParameters {
            rate: BytesPerSecond::new(1.25e9).unwrap(),
            link_rates: vec![],
            latency: SimDuration::ZERO,
            switch_latency: SimDuration::from_picoseconds(1_000_000),
            overhead: Bytes::new(38),
            packet: Bytes::kibibytes(64),
            forwarding: Forwarding::StoreAndForward,
            routing: Routing::Adaptive,
            hop_limit: 64,
            lanes: Lanes::single(),
            queues: Queues::Implicit,
        },
    }
}

/// How many pieces of a group `failed` servers hold.
pub fn lost_in_group(config: &SystemConfig, pool: usize, group: u32, failed: &[u32]) -> usize {
    let mut row = Vec::new();
    let (group, mut scratch) = (GroupId::new(group), PlaceScratch::default());
    config.pools[pool].placement.algorithm.place_group_positions(group, &mut scratch, &mut row);
    row.iter().flatten().filter(|device| failed.contains(&device.get())).count()
}
