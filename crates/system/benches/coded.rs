//! The event loop of a coded rebuild on one core: events a second, and what a rebuilt piece costs, code by code.
//!
//! One of 1,024 servers fails. Objects are in 65,536 placement groups by CRUSH's rule for erasure-coded pools; 85 % are below
//! 4 KiB and the others 4 MiB to 1 GiB, each magnitude as likely as the others. A first argument says how many million files
//! there are: of each, 11 of 1,024 have a piece of rs 8+3 on the server, so 335 make 3.6 million.

use std::sync::Arc;
use std::time::Instant;

use resilver_crush::pool::{Exceptions, Pool, PoolKind};
use resilver_crush::{BucketKind, CrushMap, Step, Tunables};
use resilver_device::{DirectionFigures, DiskTable, DiskTableRow, Service};
use resilver_fabric::{LogGpRow, LogGpTable};
use resilver_population::{Bin, Decomposition, Extent, Histogram};
use resilver_redundancy::Code;
use resilver_system::{
    Algorithm, CodeConfig, Contents, CrushPlacement, Devices, Discipline, FabricConfig, Fault, ObjectOrder, Phase,
    Placement, RecoveryPolicy, RetryPolicy, Simulation, SourceChoice, StoredPool, SystemConfig,
};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, SimDuration, SimTime};

const SERVERS: u32 = 1024;
const GROUPS: u32 = 1 << 16;
/// Goal of the rate, in million events a second.
const GOAL_RATE: f64 = 10.0;

/// A volume of 1.5 GB/s that seeks in 4 to 11 ms to read and in 0.5 to 6 ms to write.
fn disk_table() -> Arc<DiskTable> {
    let seconds = |seconds: f64| SimDuration::from_seconds(seconds).expect("a short time");
    let figures =
        |rate: f64| DirectionFigures { rate: BytesPerSecond::new(rate).expect("a rate"), overhead: seconds(25e-6) };
    let row = |(size, read, write): (u64, f64, f64)| DiskTableRow {
        request: Bytes::new(size),
        read_seek: seconds(read),
        write_seek: seconds(write),
    };
    let rows = [(4096, 3.5e-3, 0.5e-3), (1 << 20, 5e-3, 0.6e-3), (1 << 24, 11e-3, 6e-3)].map(row).to_vec();
    Arc::new(DiskTable::new(figures(1.6e9), figures(1.5e9), Bytes::new(512), rows).expect("sizes rise"))
}

fn fabric_table() -> Arc<LogGpTable> {
    let row = |(size, gap_picoseconds, gap_per_byte_picoseconds)| LogGpRow {
        size: Bytes::new(size),
        latency: SimDuration::from_picoseconds(6_782_182),
        gap_picoseconds,
        gap_per_byte_picoseconds,
    };
    let rows = [(256, 1_086_758, 852), (131_072, 1_856_250, 609), (67_108_864, 12_487_616, 497)];
    Arc::new(LogGpTable::new(rows.map(row).to_vec()).expect("a table that serves"))
}

fn placement(pieces: u32) -> Placement {
    let map = CrushMap::flat(SERVERS, BucketKind::Straw2, Tunables::JEWEL);
    let mut rule = map.rule_by_id(0).expect("a flat map has a rule").clone();
    for step in &mut rule.steps {
        if let Step::Choose(choose) = step {
            choose.firstn = false;
        }
    }
    rule.steps.insert(0, Step::SetChooseTries(100));
    let (kind, exceptions) = (PoolKind::Erasure, Exceptions::default());
    let pool =
        Pool { id: 1, pg_num: GROUPS, pgp_num: GROUPS, size: pieces, rule: 0, hashpspool: true, kind, exceptions };
    let algorithm = Algorithm::Crush(Box::new(CrushPlacement {
        map: Arc::new(map),
        pool,
        rule,
        order: vec![],
        reweight: vec![0x10000; SERVERS as usize],
    }));
    Placement { groups: Some(GROUPS), algorithm, domain_of: None }
}

fn system(code: &str, files: u64) -> SystemConfig {
    let code = Arc::new(Code::parse(code).expect("a code"));
    let mut bins = vec![Bin { min: 1, max: 4096, count: 85 * 8 }];
    bins.extend((22..30).map(|bits| Bin { min: 1 << bits, max: 1 << (bits + 1), count: 15 }));
    SystemConfig {
        seed: 1,
        endpoint_of: (0..SERVERS).map(EndpointId::new).collect(),
        devices: Devices::alike(Service::Table(disk_table()), Discipline::Fifo),
        fabric: FabricConfig::LogGp { table: fabric_table() },
        policy: RecoveryPolicy::default(),
        retry: RetryPolicy { after: SimDuration::from_picoseconds(1_000_000_000_000), attempts: 3 },
        source: SourceChoice::Primary,
        order: ObjectOrder::Population,
        pools: vec![StoredPool {
            placement: placement(code.pieces()),
            code: Some(CodeConfig { code, strip: None, coding: None }),
            contents: Contents {
                histogram: Histogram::new(&bins).expect("bins that follow one another"),
                decomposition: Decomposition::Whole,
                extent: Extent::Files(files),
            },
        }],
        lanes: None,
        frames: 0,
        ports_of: vec![],
        traffic: Vec::new(),
        streams: None,
        corruptions: vec![],
        detected: vec![],
        faults: vec![Fault::told(SimTime::ZERO, vec![DeviceId::new(7)])],
    }
}

fn main() {
    // `cargo bench` asks for measurements; `cargo test --benches` only for a run that works.
    let usual = if std::env::args().any(|argument| argument == "--bench") { 10 } else { 1 };
    let millions = std::env::args().skip(1).find_map(|argument| argument.parse::<u64>().ok()).unwrap_or(usual);
    for code in ["rs 8+3", "lrc 8+5 local 4", "copies 3"] {
        let mut simulation = Simulation::new(system(code, millions * 1_000_000)).expect("a population");
        while !matches!(simulation.phase(), Phase::Rebuilding | Phase::Done) {
            simulation.advance().expect("a placement that keeps the laws");
        }
        let begin = Instant::now();
        while simulation.phase() != Phase::Done {
            simulation.advance().expect("the laws of conservation hold");
        }
        let seconds = begin.elapsed().as_secs_f64();
        let report = simulation.report().expect("the run is done");
        let (events, pieces) = (report.events as f64, report.outcome.rebuilt_pieces as f64);
        println!(
            "{code}: {pieces} pieces, {:.1} million events, {:.2} s, {:.1} million events/s (goal {GOAL_RATE}), {:.0} ns a piece",
            events / 1e6,
            seconds,
            events / seconds / 1e6,
            seconds * 1e9 / pieces,
        );
    }
}
