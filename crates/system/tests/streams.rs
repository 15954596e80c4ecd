//! Streams of whole stripes: closed forms of single operations, saturation, laws of counting, and what faults do to them.

mod common;

use std::sync::Arc;

use common::policy;
use resilver_device::Service;
use resilver_fabric::topology::leaf_spine;
use resilver_fabric::{Forwarding, LogGpRow, LogGpTable, Queues, Routing, SwitchedParameters};
use resilver_kernel::lanes::Lanes;
use resilver_placement::ring::{HashRing, RingWalk};
use resilver_population::{Bin, Decomposition, Extent, Histogram};
use resilver_redundancy::Code;
use resilver_system::{
    Algorithm, Bursts, CodeConfig, Contents, Corruption, Discipline, FabricConfig, NetworkFault, ObjectOrder, Pairing,
    Patience, Phase, Placement, Report, Simulation, SourceChoice, StreamOutcome, StreamTraffic, StripesOf,
    SystemConfig,
};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, SimDuration, SimTime};

/// A picosecond's share of a second.
const PICOSECOND: f64 = 1e-12;
/// One device's part of a stripe.
const STRIP: u64 = 65_536;

fn seconds(seconds: f64) -> SimDuration {
    SimDuration::from_seconds(seconds).unwrap()
}

/// Interfaces of latency L, gap g and gap per byte G in picoseconds, for messages of every size.
fn loggp(latency: u64, gap: i64, gap_per_byte: u64) -> FabricConfig {
    let row = LogGpRow {
        size: Bytes::gibibytes(1),
        latency: SimDuration::from_picoseconds(latency),
        gap_picoseconds: gap,
        gap_per_byte_picoseconds: gap_per_byte,
    };
    FabricConfig::LogGp { table: Arc::new(LogGpTable::new(vec![row]).unwrap()) }
}

fn coded(code: &str) -> Option<CodeConfig> {
    let code = Arc::new(Code::parse(code).unwrap());
    Some(CodeConfig { code, strip: Some(Bytes::new(STRIP)), coding: None })
}

/// Streams over one group of `servers` servers, whose endpoints are followed by as many entries.
fn streams(servers: u32, window: u32, read_share: f64) -> StreamTraffic {
    StreamTraffic {
        over: StripesOf::Groups(vec![(0..servers).map(DeviceId::new).collect()]),
        entries: (servers..2 * servers).map(EndpointId::new).collect(),
        pairing: Pairing::Paired,
        window,
        rate: None,
        read_share,
        control: Bytes::new(64),
        bursts: None,
        warm_up: seconds(0.1),
        duration: Some(seconds(0.3)),
    }
}

/// A system of `servers` servers that store nothing but what is streamed.
fn system(servers: u32, code: &str, streams: StreamTraffic) -> SystemConfig {
    let ring = Arc::new(HashRing::new(vec![0], 1, RingWalk::Successors));
    SystemConfig {
        seed: 11,
        endpoint_of: (0..servers).map(EndpointId::new).collect(),
        ports_of: vec![],
        failed: vec![],
        fails_at: vec![],
        service: Service::Fixed { read: SimDuration::from_picoseconds(1), write: SimDuration::from_picoseconds(1) },
        discipline: Discipline::Fifo,
        fabric: loggp(1000, 0, 1000),
        code: coded(code),
        traffic: None,
        streams: Some(streams),
        corruptions: vec![],
        faults: vec![],
        lanes: None,
        policy: policy(),
        patience: Patience { retry: seconds(0.01), attempts: 3 },
        source: SourceChoice::Primary,
        order: ObjectOrder::Population,
        placement: Placement {
            groups: Some(0),
            algorithm: Algorithm::Ring { ring, copies: 1, is_out: vec![false] },
            domain_of: None,
        },
        contents: Contents::Groups(vec![]),
    }
}

fn run(config: SystemConfig) -> Result<Report, resilver_system::SystemError> {
    let mut simulation = Simulation::new(config)?;
    while simulation.phase() != Phase::Done {
        simulation.advance()?;
    }
    Ok(simulation.report().unwrap().clone())
}

fn streamed(report: &Report) -> &StreamOutcome {
    report.streams.as_ref().unwrap()
}

/// A corruption of group 0 from the beginning.
fn corruption(strips_per_server: Option<u64>, window: u32) -> Corruption {
    Corruption { at: SimTime::ZERO, groups: vec![0], strips_per_server, window, code: None }
}

/// Streams of no steady operation, but with bursts of one volume.
fn burst_of(servers: u32, volume: u64) -> StreamTraffic {
    let bursts = Some(Bursts { first: SimDuration::ZERO, every: seconds(100.0), volume: Bytes::new(volume) });
    StreamTraffic { rate: Some(0.0), bursts, warm_up: SimDuration::ZERO, ..streams(servers, 4, 0.0) }
}

/// The service times of the closed forms: 7 us to read a strip, 11 us to write one.
fn slow_devices(config: SystemConfig) -> SystemConfig {
    let (read, write) = (SimDuration::from_picoseconds(7_000_000), SimDuration::from_picoseconds(11_000_000));
    SystemConfig { service: Service::Fixed { read, write }, ..config }
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
    config.code.as_mut().unwrap().coding = BytesPerSecond::new(1e9);
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

/// A star of one leaf with `servers` servers and as many entries.
fn star(servers: u32, rate: f64) -> FabricConfig {
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
    let clients = run(system(24, "rs 8+3", paced)).unwrap().clients.unwrap();
    let expected = 24.0 * 2e8 * 0.3 / (8.0 * STRIP as f64);
    assert!((clients.reads.completed as f64 - expected).abs() < 24.0, "{}", clients.reads.completed);
}

#[test]
fn bursts_are_written_whole_and_again() {
    // 24 MiB every 50 ms from 100 ms on: six bursts before the end at 400 ms, 24 MiB / 512 KiB = 48 stripes each.
    let volume = 24 << 20;
    let mut traffic = burst_of(24, volume);
    traffic.warm_up = seconds(0.1);
    traffic.bursts = Some(Bursts { first: seconds(0.1), every: seconds(0.05), volume: Bytes::new(volume) });
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

/// Servers of two ports, one at each of two leaves; the entries are at both.
fn two_leaves(servers: u32) -> SystemConfig {
    let mut config = system(servers, "rs 4+2", streams(servers, 16, 0.5));
    let FabricConfig::Switched { mut parameters, .. } = star(servers, 1e9) else { unreachable!() };
    parameters.packet = Bytes::new(16_384);
    // Hosts are numbered leaf by leaf, each of which has the servers' ports of one side and half of the entries.
    let topology = Arc::new(leaf_spine(2, 1, 2 * servers, servers, 2 * servers).unwrap());
    config.fabric = FabricConfig::Switched { topology, parameters };
    config.ports_of =
        (0..servers).map(|server| vec![EndpointId::new(server), EndpointId::new(servers + server)]).collect();
    config.streams.as_mut().unwrap().entries = (2 * servers..4 * servers).map(EndpointId::new).collect();
    config
}

/// The numbers of the leaves of [`two_leaves`]: nodes are numbered places first.
fn leaves(servers: u32) -> [u32; 2] {
    [4 * servers, 4 * servers + 1]
}

#[test]
fn servers_of_two_ports_go_on_by_the_one_whose_switch_works() {
    let servers = 8;
    let whole = run(two_leaves(servers)).unwrap();
    assert_eq!(streamed(&whole).groups[0].ports_working, 16);
    let mut config = two_leaves(servers);
    // Paired entries of the ports left are those at the leaf that works, but for the entries that are at the other.
    let fault = |at: f64, repair: Option<f64>| NetworkFault {
        at: SimTime::ZERO + seconds(at),
        repair_at: repair.map(|repair| SimTime::ZERO + seconds(repair)),
        links: vec![],
        nodes: vec![leaves(servers)[1]],
        disks: vec![],
    };
    config.faults = vec![fault(0.0, None)];
    let broken = run(config.clone()).unwrap();
    assert_eq!(streamed(&broken).groups[0].ports_working, 8);
    // Half of the ports carry at most half of what all did, and no operation is lost by ports that are known to be gone.
    let rate = |report: &Report| report.clients.as_ref().unwrap().all.bytes.get() as f64;
    let share = rate(&broken) / rate(&whole);
    assert!(share > 0.4 && share < 0.55, "{share}");
    assert_eq!(broken.clients.as_ref().unwrap().counts.lost, 0);
    // A fault that comes and goes loses what is under way, and the streams recover.
    config.faults = vec![fault(0.15, Some(0.2))];
    let passing = run(config).unwrap();
    assert!(passing.clients.as_ref().unwrap().counts.lost > 0);
    assert_eq!(streamed(&passing).groups[0].ports_working, 16);
    assert!(rate(&passing) > rate(&broken));
}

#[test]
fn a_disk_that_fails_in_silence_costs_what_it_takes_part_in() {
    let mut config = system(12, "rs 8+3", streams(12, 2, 0.5));
    config.faults = vec![NetworkFault { at: SimTime::ZERO, disks: vec![DeviceId::new(5)], ..NetworkFault::default() }];
    let report = run(config).unwrap();
    let clients = report.clients.as_ref().unwrap();
    // Nearly every stripe of eleven of twelve servers touches the disk; the others are read, without it.
    assert!(clients.counts.lost > clients.counts.completed, "{:?}", clients.counts);
    assert!(clients.counts.completed > 0);
    assert_eq!(report.outcome.devices[5].disk.requests, 0);
}

/// Servers of a ring with three copies of each file, one of which fails at 0.1 s.
fn replicated(fails: bool) -> SystemConfig {
    let servers = 12;
    let traffic = StreamTraffic {
        over: StripesOf::Placement,
        warm_up: SimDuration::ZERO,
        duration: Some(seconds(1.0)),
        ..streams(servers, 2, 0.8)
    };
    let ring = Arc::new(HashRing::new((0..servers).collect(), 128, RingWalk::Rehash));
    let mut config = system(servers, "copies 3", traffic);
    config.code = None;
    config.placement = Placement {
        groups: None,
        algorithm: Algorithm::Ring { ring, copies: 3, is_out: vec![false; servers as usize] },
        domain_of: Some((0..servers).collect()),
    };
    config.contents = Contents::Files {
        histogram: Histogram::new(&[Bin { min: 1 << 16, max: 1 << 20, count: 1 }]).unwrap(),
        decomposition: Decomposition::Whole,
        extent: Extent::Files(2000),
    };
    // A twelfth of 2,000 x 3 copies of 0.5 MB goes to eleven servers, at 50 MB/s each at most: half a second.
    config.policy.bandwidth = BytesPerSecond::new(5e7);
    config.policy.pipeline_buffer = Bytes::mebibytes(1);
    if fails {
        config.failed = vec![DeviceId::new(4)];
        config.fails_at = vec![SimTime::ZERO + seconds(0.1)];
    }
    config
}

#[test]
fn objects_are_read_from_another_copy_until_they_are_rebuilt() {
    let whole = run(replicated(false)).unwrap();
    assert_eq!(streamed(&whole).degraded_reads, 0);
    assert!(streamed(&whole).groups.is_empty());
    let report = run(replicated(true)).unwrap();
    let (outcome, clients) = (streamed(&report), report.clients.as_ref().unwrap());
    // A read counts as degraded when the object's first copy is lost: a twelfth of them, from the failure to the end of the
    // rebuild, fewer and fewer as that goes on: half a twelfth on average.
    let rebuild = (report.outcome.rebuilt_at.seconds() - 0.1).max(0.0);
    assert!(rebuild > 0.3 && rebuild < 0.9, "{rebuild}");
    let expected = clients.reads.completed as f64 * rebuild / 24.0;
    let got = outcome.degraded_reads as f64;
    assert!((got / expected - 1.0).abs() < 0.25, "{got} for {expected}");
    // What was under way at the server that failed is lost, and no more.
    assert!(clients.counts.lost > 0 && clients.counts.lost < 2 * 12, "{:?}", clients.counts);
    assert_eq!(report.outcome.rebuilt_replicas, report.outcome.losses.replicas_to_rebuild);
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
        ("redundancy.code", |config| config.code = None),
        ("redundancy.strip", |config| config.code.as_mut().unwrap().strip = None),
        ("streams.groups", |config| config.code = coded("rs 8+5")),
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
