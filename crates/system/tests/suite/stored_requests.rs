//! Requests to what a system stores: what clients get before, during and after a failure, and what a code asks of devices.

use crate::common;

use std::sync::Arc;

use common::streaming::{coded, run, seconds, streams, system};
use resilver_device::Service;
use resilver_kernel::lanes::Lanes;
use resilver_placement::ring::{HashRing, RingWalk};
use resilver_population::{Bin, Decomposition, Extent, Histogram};
use resilver_system::{
    Algorithm, Arrivals, ClientOutcome, Contents, Devices, Discipline, Fault, LanesConfig, PeriodOutcome, Placement,
    Report, RequestClass, SystemConfig, Targets, Traffic,
};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, SimDuration, SimTime};

const SERVERS: u32 = 12;
/// What a device takes for a request of any size, of which so many are done a second.
const SERVICE: f64 = 1e-3;
const MEBIBYTE: f64 = (1u64 << 20) as f64;

/// Reads and writes of 1 MiB in a closed loop, so many that no device is ever without one.
fn traffic(read_share: f64, duration: f64) -> Traffic {
    Traffic {
        pool: None,
        requesters: (SERVERS..2 * SERVERS).map(EndpointId::new).collect(),
        servers: (0..SERVERS).map(DeviceId::new).collect(),
        arrivals: Arrivals::Closed { outstanding: 600, interval: SimDuration::ZERO },
        classes: vec![RequestClass { share: 1.0, read_share, size: Bytes::mebibytes(1), operation: None }],
        control: Bytes::new(64),
        targets: Targets::Uniform,
        directories: Vec::new(),
        gap: SimDuration::ZERO,
        timeout: None,
        warm_up: seconds(0.5),
        duration: Some(seconds(duration)),
    }
}

/// Twelve servers with objects of 1 MiB under a code, over a network that does not count; none of them has failed.
fn storing(code: &str, traffic: Traffic) -> SystemConfig {
    let coded = coded(code).unwrap();
    let copies = coded.code.pieces() as usize;
    let ring = Arc::new(HashRing::new((0..SERVERS).collect(), 1024, RingWalk::Rehash));
    let mut config = system(SERVERS, code, streams(SERVERS, 1, 1.0));
    config.streams = None;
    config.traffic = vec![traffic];
    config.pools[0].code = if coded.code.data() > 1 { Some(coded) } else { None };
    config.fabric = common::streaming::loggp(1000, 0, 0);
    let service = Service::Fixed { read: seconds(SERVICE), write: seconds(SERVICE) };
    config.devices = Devices::alike(service, Discipline::Fifo);
    config.pools[0].placement = Placement {
        groups: None,
        algorithm: Algorithm::Ring { ring, copies, is_out: vec![false; SERVERS as usize] },
        domain_of: Some((0..SERVERS).collect()),
    };
    config.pools[0].contents = Contents {
        histogram: Histogram::new(&[Bin { min: 1 << 20, max: (1 << 20) + 1, count: 1 }]).unwrap(),
        decomposition: Decomposition::Whole,
        extent: Extent::Files(12_000),
    };
    config.policy.pipeline_buffer = Bytes::mebibytes(1);
    config
}

/// The same system, of which server 4 is known to fail at 2.5 s.
fn failing(config: SystemConfig) -> SystemConfig {
    SystemConfig { faults: vec![Fault::told(SimTime::ZERO + seconds(2.5), vec![DeviceId::new(4)])], ..config }
}

fn clients(report: &Report) -> &ClientOutcome {
    report.clients.as_ref().unwrap()
}

/// Requests completed a second.
fn rate(period: &PeriodOutcome) -> f64 {
    period.counts.completed as f64 / period.window.seconds()
}

#[test]
fn clients_get_what_devices_leave_beside_a_rebuild() {
    // Twelve devices of 1,000 requests a second, none of them idle: 12,000 a second before the failure. Three copies of 12,000
    // objects lie 3,000 on each server. Eleven new homes take 5 MiB/s each, a read and a write of 1 ms for each MiB: 110 of the
    // 11,000 requests a second of those that are left. A server has some 50 requests waiting, and fewer where chance gives
    // it fewer objects to serve, whence up to 4 % are idle.
    let mut config = failing(storing("copies 3", traffic(1.0, 10.0)));
    config.policy.bandwidth = BytesPerSecond::new(5.0 * MEBIBYTE);
    let report = run(config).unwrap();
    let [before, during, _] = &clients(&report).periods;
    assert!((rate(before) / 12_000.0 - 1.0).abs() < 0.04, "{}", rate(before));
    let rebuilt = report.outcome.rebuilt_bytes.get() as f64 / MEBIBYTE;
    let left = 11_000.0 - 2.0 * rebuilt / during.window.seconds();
    assert!(left > 10_700.0 && left < 10_950.0, "{left}");
    assert!((rate(during) / left - 1.0).abs() < 0.04, "{} for {left}", rate(during));
    // Nothing is lost: what waited for the server that failed was asked again elsewhere, once each.
    let counts = clients(&report).counts;
    assert!(counts.lost == 0 && counts.retried > 0 && counts.retried <= 600, "{counts:?}");
    assert_eq!(clients(&report).hanging, 0);
}

#[test]
fn periods_begin_with_the_fault_and_end_with_the_last_piece() {
    let mut config = failing(storing("copies 3", traffic(0.5, 10.0)));
    config.policy.bandwidth = BytesPerSecond::new(100.0 * MEBIBYTE);
    let report = run(config).unwrap();
    let windows = clients(&report).periods.clone().map(|period| period.window.seconds());
    // Statistics begin at 0.5 s and end with the run at 10.5 s; the server fails at 2.5 s.
    let healed = report.outcome.rebuilt_at.seconds();
    assert!((windows[0] - 2.0).abs() < 1e-9, "{windows:?}");
    assert!((windows[1] - (healed - 2.5)).abs() < 0.01 && windows[1] > 0.1, "{windows:?} {healed}");
    assert!((windows.iter().sum::<f64>() - 10.0).abs() < 1e-9, "{windows:?}");
    let [before, during, after] = &clients(&report).periods;
    let sum = before.counts.completed + during.counts.completed + after.counts.completed;
    assert_eq!(sum, clients(&report).counts.completed);
    assert!(rate(during) < rate(after) && rate(after) < rate(before), "{windows:?}");
}

#[test]
fn a_slower_rebuild_never_leaves_clients_less() {
    let during = |bandwidth: Option<f64>| {
        let mut config = failing(storing("copies 3", traffic(1.0, 4.0)));
        config.policy.bandwidth = bandwidth.and_then(|rate| BytesPerSecond::new(rate * MEBIBYTE));
        rate(&clients(&run(config).unwrap()).periods[1])
    };
    let rates = [None, Some(100.0), Some(30.0), Some(10.0)].map(during);
    assert!(rates.is_sorted_by(|faster, slower| faster < slower), "{rates:?}");
}

#[test]
fn a_lane_of_three_quarters_gives_clients_three_quarters() {
    // Both classes ask for 1 MiB at a time, and neither is ever without a request at a device, so that clients get 75 % of the
    // 11,000 requests a second; where the rebuild has none for a moment they get more.
    let mut config = failing(storing("copies 3", traffic(1.0, 4.0)));
    let lanes = Lanes::of_shares(&[0.75, 0.25, 0.0]).unwrap();
    config.lanes = Some(LanesConfig { lanes, devices: true });
    let report = run(config).unwrap();
    let got = rate(&clients(&report).periods[1]) / 11_000.0;
    assert!((0.74..0.80).contains(&got), "{got}");
}

#[test]
fn a_device_that_nobody_is_told_of_costs_timeouts_or_requests() {
    let silent = |timeout: Option<f64>, until: Option<f64>| {
        let mut config = storing("copies 3", Traffic { timeout: timeout.map(seconds), ..traffic(1.0, 10.0) });
        let (at, devices) = (SimTime::ZERO + seconds(2.5), vec![DeviceId::new(4)]);
        let until = until.map(|at| SimTime::ZERO + seconds(at));
        config.faults = vec![Fault { at, until, devices, ..Fault::default() }];
        run(config).unwrap()
    };
    // A request in twelve waits for the dead device: 1 s, and then it is asked of another server. With 1/12 s of that and a
    // millisecond at a device each, 600 requests complete 600 / 0.0843 = 7,100 times a second at most, of 12,000 before.
    let report = silent(Some(1.0), None);
    let [before, during, after] = &clients(&report).periods;
    assert!(during.counts.lost > 1000 && before.counts.lost == 0, "{:?}", during.counts);
    assert!(rate(during) < 7200.0, "{} {}", rate(during), rate(before));
    // Nothing is recovered, so that the fault lasts until the end.
    assert!(after.window == SimDuration::ZERO && clients(&report).hanging == 0);
    // Repaired after 2 s, it lasts until then, and 6 s are left.
    let report = silent(Some(1.0), Some(4.5));
    let windows = clients(&report).periods.clone().map(|period| period.window.seconds());
    assert!((windows[1] - 2.0).abs() < 1e-9 && (windows[2] - 6.0).abs() < 1e-9, "{windows:?}");
    // Without a timeout, each of the 600 comes to the dead device in time, and hangs there.
    let report = silent(None, None);
    assert_eq!((clients(&report).hanging, clients(&report).outstanding), (600, 600));
    assert_eq!((clients(&report).counts.lost, clients(&report).counts.retried), (0, 0));
}

#[test]
fn a_write_under_a_code_moves_parity_too() {
    // Under rs 4+2 a write of 1 MiB is six pieces of 256 KiB: 1.5 MiB at devices. All that is completed was written, and of
    // the 600 under way at the beginning and at the end some part.
    let report = run(storing("rs 4+2", traffic(0.0, 4.0))).unwrap();
    let completed = clients(&report).writes.bytes.get() as f64;
    let written = clients(&report).pieces.unwrap().written.get() as f64;
    assert!((written / completed - 1.5).abs() * completed < 2.0 * 600.0 * 1.5 * MEBIBYTE, "{written} {completed}");
    // Six requests of a device for each: 12,000 / 6 writes a second.
    let got = rate(&clients(&report).periods[0]);
    assert!((got / 2000.0 - 1.0).abs() < 0.04, "{got}");
}

#[test]
fn a_degraded_read_gathers_as_many_pieces_as_hold_data() {
    // One server of twelve holds one of an object's four pieces of data with a probability of 4/12. From the failure on, reads
    // of such objects gather four pieces, one of them parity, until their objects are rebuilt. The rebuild goes on evenly, so
    // that half of them are on average: 1/6 of the reads of its time.
    let mut config = failing(storing("rs 4+2", traffic(1.0, 4.0)));
    config.policy.bandwidth = BytesPerSecond::new(20.0 * MEBIBYTE);
    let report = run(config).unwrap();
    let pieces = clients(&report).pieces.unwrap();
    assert_eq!(pieces.degraded_bytes.get(), pieces.degraded_reads * 4 * (1 << 18));
    let during = clients(&report).periods[1].counts.completed as f64;
    let share = pieces.degraded_reads as f64 / during;
    assert!((share * 6.0 - 1.0).abs() < 0.1, "{share}");
}

#[test]
fn targets_name_the_primaries_of_what_is_asked() {
    // One hot server in twelve gets 90 % of the requests: it has them as the first copy of its objects, and the others share
    // the rest. When it is known to have failed, its objects stay as hot, and are read where their second copies are.
    let targets = Targets::Hot { servers: 1.0 / 12.0, requests: 0.9 };
    let report = run(storing("copies 3", Traffic { targets, ..traffic(1.0, 4.0) })).unwrap();
    let mut completed: Vec<u64> = clients(&report).servers.iter().map(|server| server.completed).collect();
    completed.sort_unstable();
    let hottest = completed[11] as f64 / completed.iter().sum::<u64>() as f64;
    assert!((hottest - 0.9).abs() < 0.02, "{hottest}");
}
