//! Streams of whole stripes while switches, disks and servers fail.

use crate::common;

use std::sync::Arc;

use common::streaming::{coded, corruption, run, seconds, star, streamed, streams, system};
use resilver_fabric::topology::leaf_spine;
use resilver_placement::ring::{HashRing, RingWalk};
use resilver_population::{Bin, Decomposition, Extent, Histogram};
use resilver_system::{
    Algorithm, Contents, FabricConfig, Fault, Placement, Report, StreamTraffic, StripesOf, SystemConfig,
};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, SimDuration, SimTime};

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
    let fault = |at: f64, repair: Option<f64>| Fault {
        at: SimTime::ZERO + seconds(at),
        until: repair.map(|repair| SimTime::ZERO + seconds(repair)),
        links: vec![],
        nodes: vec![leaves(servers)[1]],
        ..Fault::default()
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
    config.faults = vec![Fault { at: SimTime::ZERO, devices: vec![DeviceId::new(5)], ..Fault::default() }];
    let report = run(config).unwrap();
    let clients = report.clients.as_ref().unwrap();
    // Nearly every stripe of eleven of twelve servers touches the disk; the others are read, without it.
    assert!(clients.counts.lost > clients.counts.completed, "{:?}", clients.counts);
    assert!(clients.counts.completed > 0);
    assert_eq!(report.outcome.devices[5].disk.requests, 0);
}

#[test]
fn a_rebuild_in_place_does_not_wait_for_a_server_that_fails() {
    // Each of twelve servers makes 200 strips, one at a time; one stops at 1 ms, long before it is through.
    let traffic = StreamTraffic { rate: Some(0.0), duration: None, ..streams(12, 1, 1.0) };
    let mut config = system(12, "rs 8+3", traffic);
    config.corruptions = vec![corruption(Some(200), 1)];
    config.streams.as_mut().unwrap().warm_up = SimDuration::ZERO;
    let whole = run(config.clone()).unwrap();
    assert_eq!(streamed(&whole).strips_rebuilt, 12 * 200);
    let at = SimTime::ZERO + seconds(1e-3);
    config.faults = vec![Fault { at, devices: vec![DeviceId::new(5)], ..Fault::default() }];
    // Its peers need it for 8 of 11 strips, and lose as many until the end; all others are made.
    let report = run(config).unwrap();
    assert!(streamed(&report).rebuild_seconds.unwrap() > streamed(&whole).rebuild_seconds.unwrap());
}

#[test]
fn a_rebuild_in_place_ends_where_too_few_peers_are_left() {
    // Five of twelve servers answer nobody, and a strip takes eight others: none is ever made.
    let traffic = StreamTraffic { rate: Some(0.0), duration: None, warm_up: SimDuration::ZERO, ..streams(12, 1, 1.0) };
    let mut config = system(12, "rs 8+3", traffic);
    config.corruptions = vec![corruption(Some(200), 1)];
    let dead = (0..5).map(DeviceId::new).collect();
    config.faults = vec![Fault { at: SimTime::ZERO, devices: dead, ..Fault::default() }];
    let report = run(config).unwrap();
    // Of the seven that are left each gives up after three times as many losses in a row as the group has members, between
    // which it pauses for 10 ms; the five others stop at once.
    assert_eq!(streamed(&report).strips_rebuilt, 0);
    let ended_at = report.outcome.ended_at.seconds();
    assert!((0.35..0.40).contains(&ended_at), "{ended_at}");
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
    config.pools[0].code = None;
    config.pools[0].placement = Placement {
        groups: None,
        algorithm: Algorithm::Ring { ring, copies: 3, is_out: vec![false; servers as usize] },
        domain_of: Some((0..servers).collect()),
    };
    config.pools[0].contents = Contents {
        histogram: Histogram::new(&[Bin { min: 1 << 16, max: 1 << 20, count: 1 }]).unwrap(),
        decomposition: Decomposition::Whole,
        extent: Extent::Files(2000),
    };
    // A twelfth of 2,000 x 3 copies of 0.5 MB goes to eleven servers, at 50 MB/s each at most: half a second.
    config.policy.bandwidth = BytesPerSecond::new(5e7);
    config.policy.pipeline_buffer = Bytes::mebibytes(1);
    if fails {
        config.faults = vec![Fault::told(SimTime::ZERO + seconds(0.1), vec![DeviceId::new(4)])];
    }
    config
}

#[test]
fn objects_are_read_from_another_copy_until_they_are_rebuilt() {
    let whole = run(replicated(false)).unwrap();
    assert_eq!(whole.clients.as_ref().unwrap().pieces.unwrap().degraded_reads, 0);
    assert!(streamed(&whole).groups.is_empty());
    let report = run(replicated(true)).unwrap();
    let clients = report.clients.as_ref().unwrap();
    // A read counts as degraded when the object's first copy is lost: a twelfth of them, from the failure to the end of the
    // rebuild, fewer and fewer as that goes on. Eleven servers of 50 MB/s each share the work, so that they are at it for
    // (bytes / 11) / 50 MB/s on average, and half of that time counts.
    let rebuild = report.outcome.rebuilt_bytes.get() as f64 / 11.0 / 5e7;
    assert!(rebuild > 0.3 && rebuild < 0.9, "{rebuild}");
    let expected = clients.reads.completed as f64 * rebuild / 24.0;
    let got = clients.pieces.unwrap().degraded_reads as f64;
    assert!((got / expected - 1.0).abs() < 0.25, "{got} for {expected}");
    // What was under way at the server that failed is lost, and no more.
    assert!(clients.counts.lost > 0 && clients.counts.lost < 2 * 12, "{:?}", clients.counts);
    assert_eq!(report.outcome.rebuilt_pieces, report.outcome.losses.pieces_to_rebuild);
}

#[test]
fn coded_objects_are_decoded_until_they_are_rebuilt() {
    let mut config = replicated(true);
    config.pools[0].code = coded("rs 4+2");
    let Algorithm::Ring { copies, .. } = &mut config.pools[0].placement.algorithm else { unreachable!() };
    *copies = 6;
    let report = run(config).unwrap();
    // Of six pieces on twelve servers, a third of the objects have a piece of data on the one that fails.
    assert!(report.clients.as_ref().unwrap().pieces.unwrap().degraded_reads > 0);
    assert_eq!(report.outcome.losses.unrecoverable_objects, 0);
    assert!(report.outcome.rebuilt_pieces > 0);
    let clients = report.clients.as_ref().unwrap();
    assert!(clients.reads.completed > 0 && clients.writes.completed > 0);
}
