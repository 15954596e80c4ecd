//! The event loop of a rebuild on one core: events a second, and what a rebuilt object costs as the system grows.
//!
//! The work is like that of a server of 1,024 that held files like Mira's: of the objects, 85 % are below 4 KiB and
//! the others 4 MiB to 1 GiB, each magnitude as likely as the others, which makes 11.5 buffers of 16 MiB on average.
//! Homes and holders are drawn evenly.

use std::sync::Arc;
use std::time::Instant;

use resilver_device::{Device, DirectionFigures, Discipline, DiskTable, DiskTableRow, Service};
use resilver_fabric::{LogGp, LogGpRow, LogGpTable};
use resilver_kernel::{Limit, Purpose, Schedule, Stream, run};
use resilver_placement::inverse::FailedSet;
use resilver_redundancy::Code;
use resilver_system::{
    AffectedObject, EventOf, ObjectOrder, Plant, Recovery, RecoveryChoices, RecoveryPolicy, RecoveryWork, Storage,
};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, ObjectId, SimDuration, SimTime};

/// Devices, one of which failed, of the case whose rate is stated.
const DEVICES: u32 = 1024;
/// Objects that each device restores: a million over 1,023 devices.
const OBJECTS_A_DEVICE: u64 = 978;
/// Goal of the rate, in million events a second: 30 ns an event.
const GOAL_RATE: f64 = 33.0;
/// Goal of the growth: the dearest object over the cheapest.
const GOAL_GROWTH: f64 = 1.5;

/// The volume of the catalog's jbod10-sata.
fn disk_table() -> Arc<DiskTable> {
    let microseconds = |us: f64| SimDuration::from_seconds(us * 1e-6).expect("a short time");
    let figures = |rate: f64, overhead: f64| DirectionFigures {
        rate: BytesPerSecond::new(rate * 1_048_576.0).expect("a rate"),
        overhead: microseconds(overhead),
    };
    let read = [3475.6, 3470.0, 3486.2, 3531.2, 3608.6, 3741.0, 3988.9, 4530.2, 5644.2, 7922.0, 11700.3];
    let write = [499.5, 509.0, 514.7, 525.9, 546.4, 588.3, 663.1, 621.8, 539.1, 3179.5, 6108.8];
    let row = |index: usize| DiskTableRow {
        request: Bytes::kibibytes(4 << index),
        read_seek: microseconds(read[index]),
        write_seek: microseconds(write[index]),
    };
    let rows = (0..11).map(row).collect();
    let table = DiskTable::new(figures(1542.1, 23.67), figures(1511.7, 29.67), Bytes::new(512), rows);
    Arc::new(table.expect("sizes rise"))
}

/// The catalog's qdr-infiniband, with as many rows.
fn fabric_table() -> Arc<LogGpTable> {
    let row = |(size, gap_picoseconds, gap_per_byte_picoseconds)| LogGpRow {
        size: Bytes::new(size),
        latency: SimDuration::from_picoseconds(6_782_182),
        gap_picoseconds,
        gap_per_byte_picoseconds,
    };
    let small = (0..12).map(|bits| (1 << bits, 1_086_758, 852));
    let large = [
        (4096, 1_070_237, 324),
        (8192, 1_014_836, 446),
        (16_384, 510_600, 1046),
        (131_072, 1_856_250, 609),
        (262_144, 1_014_836, 446),
        (262_144, 12_367_868, 497),
        (4_194_304, 12_487_616, 497),
        (8_388_608, 13_069_435, 497),
        (16_777_216, -9_934_403, 513),
        (33_554_432, -17_247_905, 516),
        (67_108_864, -17_796_392, 516),
    ];
    Arc::new(LogGpTable::new(small.chain(large).map(row).collect()).expect("a table that serves"))
}

/// What `devices` devices have to restore when the last of them fails.
fn work_of(devices: u32) -> RecoveryWork {
    let survivors = u64::from(devices - 1);
    let mut stream = Stream::new(1, 0, Purpose::named("bench"));
    let mut size = || {
        if stream.below(100) < 85 {
            return Bytes::new(1 + stream.below(4096));
        }
        let exponent = 22.0 + 8.0 * (stream.below(1 << 32) as f64 / (1u64 << 32) as f64);
        Bytes::new(exponent.exp2() as u64)
    };
    let affected: Vec<AffectedObject> = (0..survivors * OBJECTS_A_DEVICE)
        .map(|number| AffectedObject { object: ObjectId::new(number), size: size() })
        .collect();
    let failed = DeviceId::new(devices - 1);
    let places = |object: ObjectId| {
        let mut stream = Stream::new(1, object.get(), Purpose::named("bench"));
        // Three different devices: the first anywhere, each further one at a distance from it that is not taken.
        let first = stream.below(survivors);
        let near = 1 + stream.below(survivors / 2 - 1);
        let far = survivors / 2 + stream.below(survivors - survivors / 2);
        let [holder, other, home] =
            [0, near, far].map(|distance| DeviceId::new(((first + distance) % survivors) as u32));
        (vec![holder, other, failed], vec![holder, other, home])
    };
    let (code, failed) = (Code::replication(3).expect("a code"), failed_of(devices));
    let how = (RecoveryPolicy::default().pipeline_buffer, ObjectOrder::Population);
    RecoveryWork::of_places(code, affected, (devices as usize, &failed), how, places).expect("few pieces")
}

/// The last of `devices` devices.
fn failed_of(devices: u32) -> FailedSet {
    FailedSet::new(devices as usize, &[DeviceId::new(devices - 1)])
}

/// Restores everything; returns the events and the seconds that they took.
fn restore(devices: u32, work: RecoveryWork) -> (u64, f64) {
    let table = disk_table();
    let service = Service::Table(table);
    let disks = (0..u64::from(devices)).map(|number| Device::new(&service, number, Discipline::Fifo, None)).collect();
    let fabric = LogGp::new(fabric_table(), devices as usize);
    let plant = Plant::new(fabric, disks, (0..devices).map(EndpointId::new).collect());
    let begin = Instant::now();
    let (choices, failures) =
        (RecoveryChoices { seed: 1, ..Default::default() }, vec![(SimTime::ZERO, failed_of(devices))]);
    let recovery = Recovery::new(RecoveryPolicy::default(), choices, failures, work).expect("buffers fit into memory");
    let mut storage = Storage::new(plant, recovery);
    let mut schedule: Schedule<EventOf<LogGp>> = Schedule::new();
    storage.start(&mut schedule);
    run(&mut storage, &mut schedule, Limit::none()).expect("no event is out of time");
    let seconds = begin.elapsed().as_secs_f64();
    storage.finish(schedule.now()).expect("the laws of conservation hold");
    (schedule.executed(), seconds)
}

/// The run of median length of `times`.
fn median_run(devices: u32, times: usize) -> (u64, f64) {
    let work = work_of(devices);
    let mut runs: Vec<(u64, f64)> = (0..times).map(|_| restore(devices, work.clone())).collect();
    runs.sort_by(|left, right| left.1.total_cmp(&right.1));
    runs[times / 2]
}

fn main() {
    // `cargo bench` asks for measurements; `cargo test --benches` only for a run that works.
    let measure = std::env::args().any(|argument| argument == "--bench");
    let times = if measure { 5 } else { 1 };
    let (events, seconds) = median_run(DEVICES, times);
    println!("{DEVICES} devices, {} objects, {events} events", u64::from(DEVICES - 1) * OBJECTS_A_DEVICE);
    println!("goal {GOAL_RATE:.1} million events/s, rate {:.1}", events as f64 / seconds / 1e6);
    if !measure {
        return;
    }
    let mut costs = Vec::new();
    for devices in [64, 256, 1024, 4096] {
        let (_, seconds) = median_run(devices, if devices > 1000 { 3 } else { 15 });
        let cost = seconds / (f64::from(devices - 1) * OBJECTS_A_DEVICE as f64);
        println!("{devices:>6} devices: {:.3} us a rebuilt object", cost * 1e6);
        costs.push(cost);
    }
    costs.sort_by(f64::total_cmp);
    println!("goal {GOAL_GROWTH:.1} between the dearest and the cheapest, ratio {:.2}", costs[3] / costs[0]);
}
