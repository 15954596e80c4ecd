//! The published tables, and a way to run a rebuild from a list of (object, size, sources, home).

pub mod coded;
pub mod streaming;

use std::sync::Arc;

use resilver_crush::CrushMap;
use resilver_crush::pool::{Exceptions, Pool, PoolKind};
use resilver_device::{Device, DirectionFigures, DiskTable, DiskTableRow, Service};
use resilver_fabric::{LogGp, LogGpRow, LogGpTable};
use resilver_kernel::{Digest, ExitReason, Limit, Schedule, run};
use resilver_placement::inverse::FailedSet;
use resilver_placement::ring::{HashRing, RingWalk};
use resilver_population::{Bin, Decomposition, Extent, Histogram};
use resilver_redundancy::Code;
use resilver_system::{
    AffectedObject, Algorithm, Contents, CrushPlacement, Devices, Discipline, EventOf, FabricConfig, ObjectOrder,
    Outcome, Phase, Placement, Plant, Recovery, RecoveryChoices, RecoveryPolicy, RecoveryWork, Report, RetryPolicy,
    Simulation, SourceChoice, Storage, StoredPool, SystemConfig,
};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, ObjectId, SimDuration, SimTime};

/// A pool of copies by the first rule of a map, on as many servers, all in.
pub fn crush_copies(map: CrushMap, servers: u32, groups: u32, size: u32) -> CrushPlacement {
    CrushPlacement {
        rule: map.rule_by_id(0).unwrap().clone(),
        map: Arc::new(map),
        pool: Pool {
            id: 1,
            pg_num: groups,
            pgp_num: groups,
            size,
            rule: 0,
            hashpspool: true,
            kind: PoolKind::Replicated,
            exceptions: Exceptions::default(),
        },
        order: vec![],
        reweight: vec![0x10000; servers as usize],
    }
}

/// Seeks of the catalog's jbod10-sata, to read and to write, in microseconds; of requests of 4 KiB and each twice the last.
pub const SEEKS: [(f64, f64); 11] = [
    (3475.6, 499.5),
    (3470.0, 509.0),
    (3486.2, 514.7),
    (3531.2, 525.9),
    (3608.6, 546.4),
    (3741.0, 588.3),
    (3988.9, 663.1),
    (4530.2, 621.8),
    (5644.2, 539.1),
    (7922.0, 3179.5),
    (11700.3, 6108.8),
];

/// Rows of the catalog's qdr-infiniband that serve control messages and buffers of 64 KiB and more: size in bytes, gap and gap
/// per byte in picoseconds.
pub const LOGGP: [(u64, i64, u64); 9] = [
    (128, 1_094_414, 852),
    (256, 1_114_874, 8),
    (131_072, 1_856_250, 609),
    (262_144, 1_014_836, 446),
    (262_144, 12_367_868, 497),
    (8_388_608, 13_069_435, 497),
    (16_777_216, -9_934_403, 513),
    (33_554_432, -17_247_905, 516),
    (67_108_864, -17_796_392, 516),
];

/// The volume of the catalog's jbod10-sata, with its seeks multiplied by `seek_factor`.
pub fn jbod(seek_factor: f64) -> Arc<DiskTable> {
    let microseconds = |us: f64| SimDuration::from_seconds(us * 1e-6).unwrap();
    let figures = |rate: f64, overhead: f64| DirectionFigures {
        rate: BytesPerSecond::new(rate * 1_048_576.0).unwrap(),
        overhead: microseconds(overhead),
    };
    let rows = (0..11)
        .map(|i| DiskTableRow {
            request: Bytes::kibibytes(4 << i),
            read_seek: microseconds(SEEKS[i].0 * seek_factor),
            write_seek: microseconds(SEEKS[i].1 * seek_factor),
        })
        .collect();
    Arc::new(DiskTable::new(figures(1542.1, 23.67), figures(1511.7, 29.67), Bytes::new(512), rows).unwrap())
}

/// Interfaces of these rows.
pub fn qdr() -> Arc<LogGpTable> {
    let row = |(size, gap_picoseconds, gap_per_byte_picoseconds)| LogGpRow {
        size: Bytes::new(size),
        latency: SimDuration::from_picoseconds(6_782_182),
        gap_picoseconds,
        gap_per_byte_picoseconds,
    };
    Arc::new(LogGpTable::new(LOGGP.map(row).to_vec()).unwrap())
}

/// The paper's protocol: 16 MiB buffers, pipelined, 1 GiB of memory each way.
pub fn policy() -> RecoveryPolicy {
    RecoveryPolicy::default()
}

/// One object to restore: its size, the devices that hold it beside the failed one, and its new home.
#[derive(Clone, Debug)]
pub struct Task {
    pub bytes: u64,
    pub holders: Vec<u32>,
    pub home: u32,
}

/// The recovery of `tasks` on `devices` devices, the last of which failed at time zero.
pub fn recovery(devices: u32, tasks: &[Task], policy: RecoveryPolicy, source: SourceChoice) -> Recovery {
    let last = DeviceId::new(devices - 1);
    let failed = FailedSet::new(devices as usize, &[last]);
    let objects: Vec<AffectedObject> = (0u64..)
        .zip(tasks)
        .map(|(number, task)| AffectedObject { object: ObjectId::new(number), size: Bytes::new(task.bytes) })
        .collect();
    let copies = tasks.iter().map(|task| task.holders.len() as u32 + 1).max().unwrap_or(1);
    let places = |object: ObjectId| {
        let task = &tasks[object.get() as usize];
        let holders: Vec<DeviceId> = task.holders.iter().copied().map(DeviceId::new).collect();
        let [mut before, mut after] = [holders.clone(), holders];
        before.push(last);
        after.push(DeviceId::new(task.home));
        (before, after)
    };
    let (code, order) = (Code::replication(copies).unwrap(), ObjectOrder::Population);
    let parts = ((devices as usize, &failed), (policy.pipeline_buffer, order));
    let work = RecoveryWork::of_places(code, objects, parts.0, parts.1, places).unwrap();
    let choices = RecoveryChoices { seed: 1, source, order };
    Recovery::new(policy, choices, vec![(SimTime::ZERO, failed)], work).unwrap()
}

/// Restores `tasks` on `devices` devices, the last of which failed, in steps of `step` events.
pub fn restore(
    devices: u32,
    tasks: &[Task],
    policy: RecoveryPolicy,
    source: SourceChoice,
    disk: Arc<DiskTable>,
    step: u64,
) -> (Outcome, Digest) {
    let recovery = recovery(devices, tasks, policy, source);
    let service = Service::Table(disk.clone());
    let disk = |number| Device::new(&service, number, Discipline::Fifo, None);
    let disks = (0..u64::from(devices)).map(disk).collect();
    let fabric = LogGp::new(qdr(), devices as usize);
    let plant = Plant::new(fabric, disks, (0..devices).map(EndpointId::new).collect());
    let mut storage = Storage::new(plant, recovery);
    let mut schedule: Schedule<EventOf<LogGp>> = Schedule::new();
    storage.start(&mut schedule);
    while run(&mut storage, &mut schedule, Limit::events(step)).unwrap() != ExitReason::Drained {}
    let digest = schedule.digest();
    (storage.finish(schedule.now()).unwrap(), digest)
}

/// Rebuilt data over rebuild time, in GiB/s.
pub fn gibibytes_per_second(outcome: &Outcome) -> f64 {
    outcome.rebuilt_bytes.get() as f64 / outcome.rebuilt_at.seconds() / (1u64 << 30) as f64
}

/// Three copies of so many whole files of up to `largest` bytes on a ring of servers that are interfaces and disks; nothing
/// fails.
pub fn files_on_ring(servers: u32, files: u64, largest: u64) -> SystemConfig {
    let ring = Arc::new(HashRing::new((0..servers).collect(), 128, RingWalk::Rehash));
    SystemConfig {
        seed: 5,
        endpoint_of: (0..servers).map(EndpointId::new).collect(),
        devices: Devices::alike(Service::Table(jbod(1.0)), Discipline::Fifo),
        fabric: FabricConfig::LogGp { table: qdr() },
        pools: vec![StoredPool {
            placement: Placement {
                groups: None,
                algorithm: Algorithm::Ring { ring, copies: 3, is_out: vec![false; servers as usize] },
                domain_of: Some((0..servers).collect()),
            },
            code: None,
            contents: Contents {
                histogram: Histogram::new(&[Bin { min: 0, max: largest, count: 1 }]).unwrap(),
                decomposition: Decomposition::Whole,
                extent: Extent::Files(files),
            },
        }],
        ports_of: vec![],
        traffic: Vec::new(),
        streams: None,
        corruptions: vec![],
        detected: vec![],
        faults: vec![],
        lanes: None,
        frames: 0,
        policy: policy(),
        retry: RetryPolicy { after: SimDuration::from_seconds(1.0).unwrap(), attempts: 3 },
        source: SourceChoice::LeastLoaded,
        order: ObjectOrder::Population,
    }
}

/// Runs a system to its end; the run itself holds it to the conservation laws.
pub fn finish(config: &SystemConfig) -> Report {
    let mut simulation = Simulation::new(config.clone()).unwrap();
    while simulation.phase() != Phase::Done {
        simulation.advance().unwrap();
    }
    simulation.report().unwrap().clone()
}
