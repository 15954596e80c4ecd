//! Systems whose clients stream whole stripes.

use std::sync::Arc;

use resilver_device::Service;
use resilver_fabric::topology::leaf_spine;
use resilver_fabric::{Forwarding, LogGpRow, LogGpTable, Queues, Routing, SwitchedParameters};
use resilver_kernel::lanes::Lanes;
use resilver_placement::ring::{HashRing, RingWalk};
use resilver_redundancy::Code;
use resilver_system::{
    Algorithm, CodeConfig, Contents, Corruption, Devices, Discipline, FabricConfig, ObjectOrder, Pairing, Phase,
    Placement, Report, RetryPolicy, Simulation, SourceChoice, StoredPool, StreamOutcome, StreamTraffic, StripesOf,
    SystemConfig, SystemError,
};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, SimDuration, SimTime};

use super::policy;

/// One device's part of a stripe.
pub const STRIP: u64 = 65_536;

pub fn seconds(seconds: f64) -> SimDuration {
    SimDuration::from_seconds(seconds).unwrap()
}

/// Interfaces of latency L, gap g and gap per byte G in picoseconds, for messages of every size.
pub fn loggp(latency: u64, gap: i64, gap_per_byte: u64) -> FabricConfig {
    let row = LogGpRow {
        size: Bytes::gibibytes(1),
        latency: SimDuration::from_picoseconds(latency),
        gap_picoseconds: gap,
        gap_per_byte_picoseconds: gap_per_byte,
    };
    FabricConfig::LogGp { table: Arc::new(LogGpTable::new(vec![row]).unwrap()) }
}

pub fn coded(code: &str) -> Option<CodeConfig> {
    let code = Arc::new(Code::parse(code).unwrap());
    Some(CodeConfig { code, strip: Some(Bytes::new(STRIP)), coding: None })
}

/// Streams over one group of `servers` servers, whose endpoints are followed by as many entries.
pub fn streams(servers: u32, window: u32, read_share: f64) -> StreamTraffic {
    StreamTraffic {
        over: StripesOf::Groups(vec![(0..servers).map(DeviceId::new).collect()]),
        entries: (servers..2 * servers).map(EndpointId::new).collect(),
        pairing: Pairing::Paired,
        window,
        rate: None,
        read_share,
        control: Bytes::new(64),
        bursts: None,
        jobs: vec![],
        is_flow: false,
        warm_up: seconds(0.1),
        duration: Some(seconds(0.3)),
    }
}

/// A system of `servers` servers that store nothing but what is streamed.
pub fn system(servers: u32, code: &str, streams: StreamTraffic) -> SystemConfig {
    let ring = Arc::new(HashRing::new(vec![0], 1, RingWalk::Successors));
    SystemConfig {
        seed: 11,
        endpoint_of: (0..servers).map(EndpointId::new).collect(),
        ports_of: vec![],
        devices: Devices::alike(
            Service::Fixed { read: SimDuration::from_picoseconds(1), write: SimDuration::from_picoseconds(1) },
            Discipline::Fifo,
        ),
        fabric: loggp(1000, 0, 1000),
        pools: vec![StoredPool {
            placement: Placement {
                groups: Some(0),
                algorithm: Algorithm::Ring { ring, copies: 1, is_out: vec![false] },
                domain_of: None,
            },
            code: coded(code),
            contents: Contents::nothing(),
        }],
        traffic: Vec::new(),
        streams: Some(streams),
        corruptions: vec![],
        detected: vec![],
        faults: vec![],
        lanes: None,
        frames: 0,
        policy: policy(),
        retry: RetryPolicy { after: seconds(0.01), attempts: 3 },
        source: SourceChoice::Primary,
        order: ObjectOrder::Population,
    }
}

pub fn run(config: SystemConfig) -> Result<Report, SystemError> {
    let mut simulation = Simulation::new(config)?;
    while simulation.phase() != Phase::Done {
        simulation.advance()?;
    }
    Ok(simulation.report().unwrap().clone())
}

pub fn streamed(report: &Report) -> &StreamOutcome {
    report.streams.as_ref().unwrap()
}

/// A corruption of group 0 from the beginning.
pub fn corruption(strips_per_server: Option<u64>, window: u32) -> Corruption {
    Corruption { at: SimTime::ZERO, groups: vec![0], strips_per_server, window, code: None }
}

/// A star of one leaf with `servers` servers and as many entries.
pub fn star(servers: u32, rate: f64) -> FabricConfig {
    FabricConfig::Switched {
        topology: Arc::new(leaf_spine(1, 1, 2 * servers, 1, servers).unwrap()),
        parameters: SwitchedParameters {
            rate: BytesPerSecond::new(rate).unwrap(),
            link_rates: vec![],
            latency: SimDuration::from_picoseconds(100_000),
            switch_latency: SimDuration::from_picoseconds(200_000),
            overhead: Bytes::ZERO,
            packet: Bytes::new(STRIP),
            forwarding: Forwarding::StoreAndForward,
            routing: Routing::Deterministic,
            hop_limit: 16,
            lanes: Lanes::single(),
            queues: Queues::Implicit,
        },
    }
}
