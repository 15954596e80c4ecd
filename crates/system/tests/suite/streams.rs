//! Streams of whole stripes: closed forms of single operations, saturation, shares and laws of counting.

use crate::common;

use common::streaming::{STRIP, coded, corruption, loggp, run, seconds, star, streamed, streams, system};
use resilver_device::Service;
use resilver_kernel::lanes::{LaneOrder, Lanes};
use resilver_system::{Bursts, Devices, Discipline, FabricConfig, LanesConfig, StreamTraffic, SystemConfig};
use resilver_units::{Bytes, BytesPerSecond, SimDuration};

/// A picosecond's share of a second.
const PICOSECOND: f64 = 1e-12;

/// Streams of no steady operation, but with bursts of one volume.
fn burst_of(servers: u32, volume: u64) -> StreamTraffic {
    let bursts =
        Some(Bursts { first: SimDuration::ZERO, every: seconds(100.0), volume: Bytes::new(volume), drain: None });
    StreamTraffic { rate: Some(0.0), bursts, warm_up: SimDuration::ZERO, ..streams(servers, 4, 0.0) }
}

/// The service times of the closed forms: 7 us to read a strip, 11 us to write one.
fn slow_devices(config: SystemConfig) -> SystemConfig {
    let (read, write) = (SimDuration::from_picoseconds(7_000_000), SimDuration::from_picoseconds(11_000_000));
    SystemConfig { devices: Devices::alike(Service::Fixed { read, write }, Discipline::Fifo), ..config }
}

/// L, g and G of the closed forms, in picoseconds.
const LATENCY: u64 = 1_000_000;
const GAP: u64 = 300_000;
const GAP_PER_BYTE: u64 = 500;
/// What a strip and a control message keep an interface busy for, and what they take to the other end alone.
const STRIP_BUSY: u64 = GAP + (STRIP - 1) * GAP_PER_BYTE;
const STRIP_ALONE: u64 = LATENCY + (STRIP - 1) * GAP_PER_BYTE;
const CONTROL_ALONE: u64 = LATENCY + 63 * GAP_PER_BYTE;

fn with_interfaces(config: SystemConfig) -> SystemConfig {
    SystemConfig { fabric: loggp(LATENCY, GAP as i64, GAP_PER_BYTE), ..slow_devices(config) }
}

#[test]
fn a_write_alone_takes_the_sum_of_its_steps() {
    // Under rs 2+1, one stripe of two strips, from one entry: both come one behind the other (a busy interface, then a strip
    // alone); both others are sent likewise, written in 11 us, and acknowledged, the second at last; then the entry is told.
    let expected = 2 * (STRIP_BUSY + STRIP_ALONE) + 11_000_000 + 2 * CONTROL_ALONE;
    let report = run(with_interfaces(system(3, "rs 2+1", burst_of(3, 2 * STRIP)))).unwrap();
    let outcome = streamed(&report);
    assert_eq!(outcome.all.bursts, Bytes::new(2 * STRIP));
    let got = (outcome.mean_burst_seconds.unwrap() / PICOSECOND).round() as u64;
    assert_eq!(got, expected);
    // Coding at 1 GB/s of user data adds 2 x 65,536 B at 1,000 ps each.
    let mut config = with_interfaces(system(3, "rs 2+1", burst_of(3, 2 * STRIP)));
    config.pools[0].code.as_mut().unwrap().coding = BytesPerSecond::new(1e9);
    let got = streamed(&run(config).unwrap()).mean_burst_seconds.unwrap() / PICOSECOND;
    assert_eq!(got.round() as u64, expected + 2 * STRIP * 1000);
}

#[test]
fn a_read_alone_takes_the_sum_of_its_steps() {
    // Each of three servers reads a stripe every second, at a phase of its own, and an operation takes a fraction of a
    // millisecond: each is alone. Asked for; the peer is asked, reads in 7 us and sends (the coordinator's own read is over
    // by then); two strips go to the entry one behind the other.
    let expected = CONTROL_ALONE + (CONTROL_ALONE + 7_000_000 + STRIP_ALONE) + (STRIP_BUSY + STRIP_ALONE);
    let paced = StreamTraffic {
        rate: Some(2.0 * STRIP as f64),
        warm_up: SimDuration::ZERO,
        duration: Some(seconds(10.0)),
        ..streams(3, 4, 1.0)
    };
    let report = run(with_interfaces(system(3, "rs 2+1", paced))).unwrap();
    let reads = &report.clients.as_ref().unwrap().reads;
    // Ten seconds at a stripe a second and server.
    assert_eq!(reads.completed, 30);
    assert_eq!(reads.sum_picoseconds, 30 * u128::from(expected));
}

#[test]
fn a_rebuild_alone_takes_the_sum_of_its_steps() {
    // Under rs 1+1, two servers make a strip anew from each other's, and both directions are full duplex: a request, a read,
    // a strip, a write.
    let traffic = StreamTraffic { rate: Some(0.0), duration: None, ..streams(2, 4, 1.0) };
    let mut config = with_interfaces(system(2, "rs 1+1", traffic));
    config.corruptions = vec![corruption(Some(1), 1)];
    let expected = CONTROL_ALONE + 7_000_000 + STRIP_ALONE + 11_000_000;
    let report = run(config.clone()).unwrap();
    let got = streamed(&report).rebuild_seconds.unwrap() / PICOSECOND;
    assert_eq!(got.round() as u64, expected);
    // One after another, five take five times as long, but that the writes of one and the reads of the other wait for each
    // other at neither: each server reads for its peer while it waits for its own.
    config.corruptions = vec![corruption(Some(5), 1)];
    let report = run(config).unwrap();
    assert_eq!((streamed(&report).rebuild_seconds.unwrap() / PICOSECOND).round() as u64, 5 * expected);
}

#[test]
fn operations_alone_on_packets_take_the_sum_of_their_hops() {
    // Over two hops at 1 GB/s, a packet of s bytes takes 2 (1,000 s + 100,000) + 200,000 ps, and one that follows another of
    // its size on the way 1,000 s more. Under rs 2+1 a write is two strips forth, two on, a write, two acknowledgements.
    let alone = |bytes: u64| 2 * (1000 * bytes + 100_000) + 200_000;
    let both = alone(STRIP) + 1000 * STRIP;
    let expected = 2 * both + 11_000_000 + 2 * alone(64);
    let config = SystemConfig { fabric: star(3, 1e9), ..slow_devices(system(3, "rs 2+1", burst_of(3, 2 * STRIP))) };
    let got = streamed(&run(config).unwrap()).mean_burst_seconds.unwrap() / PICOSECOND;
    assert_eq!(got.round() as u64, expected);
}

/// What servers of a group of 24 with 1 GB/s each way get, each, in B/s: read, written and made anew.
fn saturated(code: &str, fabric: FabricConfig, read_share: f64, rebuild: bool) -> [f64; 3] {
    let mut config = system(24, code, streams(24, 24, read_share));
    config.fabric = fabric;
    if rebuild {
        config.corruptions = vec![corruption(None, 128)];
        config.streams.as_mut().unwrap().rate = Some(0.0);
    }
    let report = run(config).unwrap();
    let outcome = streamed(&report);
    let all = outcome.all;
    [all.read, all.written, all.rebuilt].map(|bytes| bytes.get() as f64 / outcome.window.seconds() / 24.0)
}

#[test]
fn a_saturated_group_has_the_rates_of_its_closed_forms() {
    // Of a server's B = 1 GB/s to send: a read of k strips sends k - 1 to the coordinator and k on to the entry; a write
    // sends the k + p - 1 others and lets k come, which is less; a strip made anew is one of the y that each server sends.
    let bandwidth = 1e9;
    let cases = [
        ("rs 8+3", 1.0, false, 0, 8.0 / 15.0),
        ("rs 8+3", 0.0, false, 1, 8.0 / 18.0),
        ("lrc 8+5 local 4", 0.0, false, 1, 8.0 / 20.0),
        ("rs 8+3", 1.0, true, 2, 1.0 / 8.0),
        ("lrc 8+5 local 4", 1.0, true, 2, 1.0 / 4.0),
    ];
    for (code, read_share, rebuild, what, share) in cases {
        for (name, fabric) in [("LogGP", loggp(1000, 0, 1000)), ("packets", star(24, bandwidth))] {
            // A coordinator that receives what a write's servers send it all at once: receiving is as busy as sending.
            let got = saturated(code, fabric, read_share, rebuild)[what] / bandwidth;
            assert!((got / share - 1.0).abs() < 0.03, "{name}, {code}: {got} for {share}");
        }
    }
}

#[test]
fn beside_a_rebuild_each_class_gets_its_share() {
    // Three quarters of every port are the clients', a quarter the rebuild's: reads of 8/15 B become 0.4 B, and strips of B/8
    // become B/32. A port of which one class has nothing to send for a while lends to the other, so that both are met within
    // some percent, and together they fill the ports.
    let mut config = system(24, "rs 8+3", streams(24, 24, 1.0));
    let lanes = Lanes { shares: vec![750_000, 250_000, 0], order: LaneOrder::Shares };
    config.lanes = Some(LanesConfig { lanes, devices: true });
    config.corruptions = vec![corruption(None, 64)];
    let report = run(config).unwrap();
    let outcome = streamed(&report);
    let share = |bytes: Bytes| bytes.get() as f64 / outcome.window.seconds() / 24e9;
    let (read, rebuilt) = (share(outcome.all.read), share(outcome.all.rebuilt));
    assert!((read / 0.4 - 1.0).abs() < 0.06, "{read}");
    assert!((rebuilt * 32.0 - 1.0).abs() < 0.06, "{rebuilt}");
    let used = read * 15.0 / 8.0 + rebuilt * 8.0;
    assert!(used > 0.97 && used < 1.005, "{used}");
}

#[test]
fn operations_under_way_are_their_rate_times_their_delay() {
    // 24 servers keep 8 operations under way each, so 192 = rate x delay. Those under way at the ends of the window, of some
    // 4,000, are what it is off by.
    let report = run(system(24, "rs 8+3", streams(24, 8, 0.5))).unwrap();
    let clients = report.clients.as_ref().unwrap();
    let rate = clients.counts.completed as f64 / clients.window.seconds();
    let little = rate * clients.all.mean_seconds().unwrap();
    assert!((little / 192.0 - 1.0).abs() < 0.03, "{little}");
    assert_eq!(clients.outstanding, 192);
    assert!(clients.reads.completed > 0 && clients.writes.completed > 0);
}

#[test]
fn a_stream_below_what_there_can_be_has_the_rate_that_is_asked_for() {
    // 200 MB/s a server are below 533 MB/s: 24 x 200 MB/s x 0.3 s = 2,746 stripes of 512 KiB, one more or less a server.
    let paced = StreamTraffic { rate: Some(2e8), ..streams(24, 16, 1.0) };
    let clients = run(system(24, "rs 8+3", paced)).unwrap().conclusion.clients.unwrap();
    let expected = 24.0 * 2e8 * 0.3 / (8.0 * STRIP as f64);
    assert!((clients.reads.completed as f64 - expected).abs() < 24.0, "{}", clients.reads.completed);
}

#[test]
fn bursts_are_written_whole_and_again() {
    // 24 MiB every 50 ms from 100 ms on: six bursts before the end at 400 ms, 24 MiB / 512 KiB = 48 stripes each.
    let volume = 24 << 20;
    let mut traffic = burst_of(24, volume);
    traffic.warm_up = seconds(0.1);
    traffic.bursts =
        Some(Bursts { first: seconds(0.1), every: seconds(0.05), volume: Bytes::new(volume), drain: None });
    let report = run(system(24, "rs 8+3", traffic)).unwrap();
    let outcome = streamed(&report);
    assert_eq!(outcome.all.bursts, Bytes::new(6 * volume));
    // Two stripes a server take at least the time that their 2 x 18 / 8 x 512 KiB take at 1 GB/s on average.
    let least = 2.0 * 18.0 * STRIP as f64 / 1e9;
    let mean = outcome.mean_burst_seconds.unwrap();
    assert!(mean > least && mean < 3.0 * least, "{mean} for {least}");
}

#[test]
fn a_run_repeats_itself() {
    let mut config = system(24, "lrc 8+5 local 4", streams(24, 4, 0.5));
    config.corruptions = vec![corruption(Some(20), 2)];
    let first = run(config.clone()).unwrap();
    assert_eq!(first.digest, run(config.clone()).unwrap().digest);
    assert_ne!(first.digest, run(SystemConfig { seed: 12, ..config }).unwrap().digest);
    // 24 servers made 20 strips each; those before statistics began are not counted among those since.
    assert!(streamed(&first).rebuild_seconds.is_some());
}

#[test]
fn what_cannot_be_streamed_is_refused_by_name() {
    type Change = fn(&mut SystemConfig);
    let cases: [(&str, Change); 9] = [
        ("streams.entries", |config| config.streams.as_mut().unwrap().entries.clear()),
        ("streams.window", |config| config.streams.as_mut().unwrap().window = 0),
        ("reads", |config| config.streams.as_mut().unwrap().read_share = 1.5),
        ("streams.rate", |config| config.streams.as_mut().unwrap().rate = Some(-1.0)),
        ("duration", |config| config.streams.as_mut().unwrap().duration = None),
        ("redundancy.code", |config| config.pools[0].code = None),
        ("redundancy.strip", |config| config.pools[0].code.as_mut().unwrap().strip = None),
        ("streams.groups", |config| config.pools[0].code = coded("rs 8+5")),
        ("faults.corrupt", |config| {
            config.streams = None;
            config.corruptions = vec![corruption(Some(1), 1)];
        }),
    ];
    for (field, change) in cases {
        let mut config = system(12, "rs 8+3", streams(12, 2, 1.0));
        change(&mut config);
        let error = run(config).unwrap_err().to_string();
        assert!(error.contains(field), "{field}: {error}");
    }
}
