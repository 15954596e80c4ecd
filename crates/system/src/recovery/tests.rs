//! Recoveries looked at while they go on, and one held to its closed form.

use std::sync::Arc;

use resilver_device::Service;
use resilver_fabric::{LogGp, LogGpRow, LogGpTable};
use resilver_kernel::{Limit, Schedule, run};
use resilver_placement::layouts::{Domains, Layout, Rendezvous};
use resilver_population::{Bin, Decomposition, Extent, Histogram};
use resilver_redundancy::{Code, Pieces};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, SimDuration, SimTime};

use super::places::{device_at, is_there};
use super::{Recovery, RecoveryPolicy};
use crate::event::EventOf;
use crate::plant::Plant;
use crate::scenario::faults::Fault;
use crate::scenario::{
    Algorithm, CodeConfig, Contents, Devices, Discipline, Driver, FabricConfig, Placement, RetryPolicy, StoredPool,
    SystemConfig,
};
use crate::search::{Found, scan_of_objects};
use crate::storage::Storage;
use crate::{ObjectOrder, SourceChoice};

const SERVERS: u32 = 20;
/// The network: latency of any message; gap and gap per byte of requests, and of data of up to 128 KiB.
const LATENCY: u64 = 6_782_182;
const REQUEST_ROW: (u64, i64, u64) = (128, 1_094_414, 852);
const DATA_ROW: (u64, i64, u64) = (131_072, 1_856_250, 609);
const MILLISECOND: u64 = 1_000_000_000;
const DRIVERS: [Driver; 3] = [Driver::Destination, Driver::Source, Driver::Managers(3)];

/// Files of `size` bytes, or up to twice as many, on rendezvous hashing; requests to a disk take 1 ms to read and 2 ms to
/// write.
fn system(code: &str, files: u64, sizes: (u64, u64), failures: &[(u64, u32)]) -> SystemConfig {
    let code = Arc::new(Code::parse(code).unwrap());
    let row = |(size, gap_picoseconds, gap_per_byte_picoseconds): (u64, i64, u64)| LogGpRow {
        size: Bytes::new(size),
        latency: SimDuration::from_picoseconds(LATENCY),
        gap_picoseconds,
        gap_per_byte_picoseconds,
    };
    let large = (1 << 26, 1_856_250, 609);
    let milliseconds = |count| SimDuration::from_picoseconds(count * MILLISECOND);
    let layout = Arc::new(Layout::Rendezvous(Rendezvous::new(Domains::each_its_own(SERVERS))));
    let copies = code.pieces() as usize;
    SystemConfig {
        seed: 5,
        endpoint_of: (0..SERVERS).map(EndpointId::new).collect(),
        devices: Devices::alike(Service::Fixed { read: milliseconds(1), write: milliseconds(2) }, Discipline::Fifo),
        fabric: FabricConfig::LogGp {
            table: Arc::new(LogGpTable::new([REQUEST_ROW, DATA_ROW, large].map(row).to_vec()).unwrap()),
        },
        lanes: None,
        frames: 0,
        ports_of: vec![],
        traffic: Vec::new(),
        streams: None,
        corruptions: vec![],
        detected: vec![],
        faults: failures
            .iter()
            .map(|&(time, server)| Fault::told(SimTime::from_picoseconds(time), vec![DeviceId::new(server)]))
            .collect(),
        policy: RecoveryPolicy {
            pipeline_buffer: Bytes::kibibytes(64),
            receive_memory: Bytes::mebibytes(1),
            send_memory: Bytes::mebibytes(1),
            ..RecoveryPolicy::default()
        },
        retry: RetryPolicy { after: milliseconds(1), attempts: 3 },
        source: SourceChoice::Primary,
        order: ObjectOrder::Population,
        pools: vec![StoredPool {
            placement: Placement {
                groups: None,
                algorithm: Algorithm::Layout { layout, copies, is_out: vec![false; SERVERS as usize] },
                domain_of: None,
            },
            code: Some(CodeConfig { code, strip: None, coding: BytesPerSecond::new(1e9) }),
            contents: Contents {
                histogram: Histogram::new(&[Bin { min: sizes.0, max: sizes.1, count: 1 }]).unwrap(),
                decomposition: Decomposition::Whole,
                extent: Extent::Files(files),
            },
        }],
    }
}

/// The system whose rebuild another drives.
fn driven(driver: Driver, config: SystemConfig) -> SystemConfig {
    SystemConfig { policy: RecoveryPolicy { driver, ..config.policy }, ..config }
}

/// Each code under each driver.
fn all_driven<const N: usize>(codes: [&'static str; N]) -> impl Iterator<Item = (&'static str, Driver)> {
    codes.into_iter().flat_map(|code| DRIVERS.map(|driver| (code, driver)))
}

/// The system under way, and its events.
fn begin(config: &SystemConfig) -> (Storage<LogGp>, Schedule<EventOf<LogGp>>) {
    let failed = config.failed();
    let mut scan = scan_of_objects(config, 0, &failed).unwrap();
    while !scan.is_complete() {
        scan.advance();
    }
    let recovery =
        Recovery::of_system(config, Found::of(config, vec![scan.finish(config, 0).unwrap()]).unwrap().work).unwrap();
    let FabricConfig::LogGp { table } = &config.fabric else { unreachable!("the fabric is one of interfaces") };
    let disks = config.devices.build(config.seed, SERVERS as usize, &config.slow_devices(), None);
    let plant = Plant::new(LogGp::new(table.clone(), SERVERS as usize), disks, config.endpoint_of.clone());
    let mut storage = Storage::new(plant, recovery);
    let mut schedule = Schedule::new();
    storage.start(&mut schedule);
    (storage, schedule)
}

#[test]
fn one_piece_takes_what_its_closed_form_says() {
    // Four parts of 64 KiB make one lost piece of rs 4+2. The requests leave one after another, g + 63 G apart, and take
    // L + 63 G each; each source reads for 1 ms and sends; the destination receives in the order of arrival, g + 65,535 G apart,
    // and has each (s - 1) G after its turn. Decoding 4 x 64 KiB at 1 GB/s takes 262,144 ns, and writing 2 ms.
    // A source that drives reads its own part meanwhile and asks for three. Who is not the destination sends on what it made.
    for driver in DRIVERS {
        let one = driven(driver, system("rs 4+2", 1, (4 << 16, (4 << 16) + 1), &[]));
        let mut set = Vec::new();
        let mut scratch = crate::scenario::PlaceScratch::default();
        one.pools[0].placement.algorithm.place_object(resilver_units::ObjectId::new(0), &mut scratch, &mut set);
        let manager = DeviceId::new(0);
        assert!(!set.contains(&manager));
        let config = SystemConfig { faults: vec![Fault::told(SimTime::ZERO, vec![set[1]])], ..one };
        let (request, data) = (63 * REQUEST_ROW.2, 65_535 * DATA_ROW.2);
        let (mut idle_from, mut last) = (0, 0);
        for source in 0..if driver == Driver::Source { 3 } else { 4 } {
            let asked = source * (REQUEST_ROW.1 as u64 + request) + LATENCY + request;
            let arrives = asked + MILLISECOND + LATENCY;
            let turn = arrives.max(idle_from);
            idle_from = turn + DATA_ROW.1 as u64 + data;
            last = turn + data;
        }
        let on = if driver == Driver::Destination { 0 } else { data + LATENCY };
        let expected = last + 262_144_000 + on + 2 * MILLISECOND;
        let (mut storage, mut schedule) = begin(&config);
        run(&mut storage, &mut schedule, Limit::none()).unwrap();
        let outcome = storage.finish(schedule.now()).unwrap();
        assert_eq!(outcome.rebuilt_at.picoseconds(), expected, "{driver:?}");
        let coded = outcome.coded.unwrap();
        assert_eq!((coded.gathered_bytes.get(), coded.decoded_bytes.get()), (4 << 16, 1 << 16));
        assert_eq!(
            (outcome.half_rebuilt_at, outcome.nearly_rebuilt_at),
            (Some(outcome.rebuilt_at), Some(outcome.rebuilt_at))
        );
        // What nobody asked for was one buffer, and came from who made it.
        let backlogs = outcome.devices.iter().filter_map(|device| device.most_unwritten).max();
        assert_eq!(backlogs, (driver != Driver::Destination).then_some(Bytes::kibibytes(64)));
        let first = match driver {
            Driver::Source => set[0],
            _ => manager,
        };
        let handed =
            outcome.transfers.iter().filter(|transfer| transfer.source == first && driver != Driver::Destination);
        assert_eq!(handed.map(|transfer| transfer.bytes.get()).sum::<u64>(), u64::from(on > 0) << 16, "{driver:?}");
    }
}

#[test]
fn failures_in_the_midst_of_a_rebuild_lose_what_is_not_there_by_then() {
    // Servers 0 to 2 fail, and 3 to 5 while what was on the first is being rebuilt. Just before, the places of all pieces are
    // looked up; what of them is on the second three is gone, and the code says which objects that is too much for.
    for (code, driver) in all_driven(["rs 4+2", "rs 8+3", "lrc 8+5 local 4", "copies 3"]) {
        let mut partly = 0;
        for time in [1, 40, 90, 150, 220, 300].map(|count| count * MILLISECOND) {
            let failures: Vec<(u64, u32)> = (0..6).map(|server| (if server < 3 { 0 } else { time }, server)).collect();
            let config = driven(driver, system(code, 300, (1 << 20, 1 << 21), &failures));
            let (mut storage, mut schedule) = begin(&config);
            run(&mut storage, &mut schedule, Limit::until(SimTime::from_picoseconds(time - 1))).unwrap();
            let recovery = storage.recovery();
            let code = recovery.work.pools[0].code.clone();
            let is_gone = |place: u32| !is_there(place) || (3..6).contains(&device_at(place));
            let expected = recovery.work.places.chunks(code.pieces() as usize).filter(|row| {
                let gone = (0..).zip(row.iter()).filter(|(_, place)| is_gone(**place));
                !code.is_survivable(Pieces::of(gone.map(|(position, _)| position)))
            });
            let expected = expected.count() as u64;
            partly += u32::from(recovery.rebuilt_pieces > 0 && recovery.open_tasks > 0);
            run(&mut storage, &mut schedule, Limit::none()).unwrap();
            // What is left has all its pieces again: twenty servers are enough for every code when six have failed.
            let recovery = storage.recovery();
            let copies = (0..recovery.work.objects.len() as u32).map(|subject| recovery.health.copies(subject));
            assert!(copies.into_iter().all(|copies| copies.left == copies.full));
            let outcome = storage.finish(schedule.now()).unwrap();
            assert_eq!(outcome.losses.unrecoverable_objects, expected, "{} {driver:?} at {time} ps", code.name());
            assert_eq!(outcome.losses.undersized_pieces, 0);
        }
        assert!(partly >= 2, "{code} {driver:?}: {partly}");
    }
}

/// The system with servers that are gone from one time to another, in picoseconds.
fn with_outages(code: &str, outages: &[(u64, Option<u64>, u32)]) -> SystemConfig {
    let at = SimTime::from_picoseconds;
    let fault = |&(begin, end, server): &(u64, Option<u64>, u32)| Fault {
        until: end.map(at),
        ..Fault::told(at(begin), vec![DeviceId::new(server)])
    };
    SystemConfig { faults: outages.iter().map(fault).collect(), ..system(code, 300, (1 << 20, 1 << 21), &[]) }
}

#[test]
fn what_is_not_rebuilt_when_its_server_is_back_is_whole_again_and_the_rest_stays() {
    for (code, driver) in all_driven(["rs 4+2", "copies 3"]) {
        let with_outages = |outages: &[_]| driven(driver, with_outages(code, outages));
        let alone = with_outages(&[(0, None, 0)]);
        for time in [0, 1, 40, 90, 150, 5000].map(|count| count * MILLISECOND + 1) {
            // Just before, so many pieces are rebuilt of all; without a failure after it, the run is the same until then.
            let (mut storage, mut schedule) = begin(&alone);
            run(&mut storage, &mut schedule, Limit::until(SimTime::from_picoseconds(time - 1))).unwrap();
            let recovery = storage.recovery();
            let (rebuilt, lost) = (recovery.rebuilt_pieces, recovery.work.losses.lost_pieces);
            let mut expected = recovery.work.places.clone();
            let (mut storage, mut schedule) = begin(&with_outages(&[(0, Some(time), 0)]));
            run(&mut storage, &mut schedule, Limit::until(SimTime::from_picoseconds(time))).unwrap();
            let recovery = storage.recovery();
            assert!(recovery.is_whole() && recovery.open_tasks == 0, "{code} at {time} ps");
            // What was lost is at server 0 again, and nothing else is elsewhere than it was.
            expected.iter_mut().filter(|place| **place == super::places::LOST).for_each(|place| *place = 0);
            assert_eq!(recovery.work.places, expected);
            run(&mut storage, &mut schedule, Limit::none()).unwrap();
            let outcome = storage.finish(schedule.now()).unwrap();
            assert_eq!(
                (outcome.returned_pieces, outcome.surplus_pieces),
                (lost - rebuilt, rebuilt),
                "{code} at {time} ps"
            );
            assert_eq!(outcome.returned_objects, outcome.returned_pieces);
            assert_eq!((outcome.rebuilt_pieces, outcome.moved_pieces), (rebuilt, 0));
            let is_early = rebuilt < lost;
            assert_eq!(outcome.rebuilt_at == SimTime::from_picoseconds(time), is_early);
        }
    }
}

#[test]
fn servers_may_go_and_come_back_any_number_of_times() {
    // The laws are held at the end of each run: of what is counted, and that no two pieces of an object are on one server.
    let mut seen = (0, 0, 0);
    for number in 0..24u64 {
        let mut draws = resilver_kernel::Stream::new(number, 0, resilver_kernel::Purpose::named("outages"));
        let mut outages = Vec::new();
        for server in 0..draws.below(8) as u32 {
            let mut time = draws.below(60) * MILLISECOND;
            for _ in 0..=draws.below(3) {
                let end = time + 1 + draws.below(90) * MILLISECOND;
                let stays_away = draws.below(5) == 0;
                outages.push((time, (!stays_away).then_some(end), server));
                if stays_away {
                    break;
                }
                // At times it is gone again at the moment in which it is back.
                time = end + draws.below(3) * 7 * MILLISECOND;
            }
        }
        for (code, driver) in all_driven(["rs 4+2", "lrc 8+5 local 4", "copies 3"]) {
            let (mut storage, mut schedule) = begin(&driven(driver, with_outages(code, &outages)));
            run(&mut storage, &mut schedule, Limit::none()).unwrap();
            let outcome = storage.finish(schedule.now()).unwrap();
            let gone = outages.iter().filter(|(_, end, _)| end.is_none()).count();
            if gone <= 2 {
                assert_eq!(outcome.losses.unrecoverable_objects, 0, "{code} {driver:?} {outages:?}");
            }
            seen.0 += outcome.returned_pieces;
            seen.1 += outcome.surplus_pieces;
            seen.2 += outcome.wasted.written.get();
        }
    }
    assert!(seen.0 > 1000 && seen.1 > 100 && seen.2 > 0, "{seen:?}");
}
