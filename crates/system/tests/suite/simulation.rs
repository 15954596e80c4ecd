//! Whole runs: determinism, conservation on the edges, and what a failure may leave behind.

use crate::common;

use std::sync::Arc;

use common::{crush_copies, jbod, policy, qdr};
use resilver_crush::{BucketKind, CrushMap, Tunables};
use resilver_device::Service;
use resilver_placement::ring::{HashRing, RingWalk};
use resilver_population::{Bin, Decomposition, Extent, Histogram};
use resilver_system::{
    Algorithm, Contents, Devices, Discipline, FabricConfig, Fault, ObjectOrder, Phase, Placement, Report, RetryPolicy,
    Simulation, SourceChoice, StoredPool, SystemConfig, choose_failed,
};
use resilver_units::{Bytes, DeviceId, EndpointId, SimDuration, SimTime};

const SERVERS: u32 = 12;
const GROUPS: u32 = 128;

fn crush(servers: u32, copies: u32) -> Algorithm {
    let map = CrushMap::flat(servers, BucketKind::Straw, Tunables::JEWEL);
    Algorithm::Crush(Box::new(crush_copies(map, servers, GROUPS, copies)))
}

fn ring(servers: u32, walk: RingWalk) -> Algorithm {
    let ring = Arc::new(HashRing::new((0..servers).collect(), 128, walk));
    Algorithm::Ring { ring, copies: 3, is_out: vec![false; servers as usize] }
}

/// Files of up to 200 MiB in chunks of 64 MiB, up to a volume of `gibibytes`.
fn system(algorithm: Algorithm, groups: Option<u32>, servers: u32, gibibytes: u64, failed: &[u32]) -> SystemConfig {
    SystemConfig {
        seed: 7,
        endpoint_of: (0..servers).map(EndpointId::new).collect(),
        devices: Devices::alike(Service::Table(jbod(1.0)), Discipline::Fifo),
        fabric: FabricConfig::LogGp { table: qdr() },
        pools: vec![StoredPool {
            placement: Placement { groups, algorithm, domain_of: Some((0..servers).collect()) },
            code: None,
            contents: Contents {
                histogram: Histogram::new(&[Bin { min: 0, max: 200 << 20, count: 1 }]).unwrap(),
                decomposition: Decomposition::Chunked { chunk: Bytes::mebibytes(64) },
                extent: Extent::Volume(Bytes::gibibytes(gibibytes)),
            },
        }],
        ports_of: vec![],
        traffic: Vec::new(),
        streams: None,
        corruptions: vec![],
        detected: vec![],
        faults: vec![Fault::told(SimTime::ZERO, failed.iter().copied().map(DeviceId::new).collect())],
        lanes: None,
        frames: 0,
        policy: policy(),
        retry: RetryPolicy { after: SimDuration::from_picoseconds(1_000_000_000), attempts: 3 },
        source: SourceChoice::Primary,
        order: ObjectOrder::Population,
    }
}

/// Runs a system to its end; the run itself holds it to the conservation laws.
fn finish(config: SystemConfig) -> Report {
    let mut simulation = Simulation::new(config).unwrap();
    while simulation.phase() != Phase::Done {
        simulation.advance().unwrap();
    }
    simulation.report().unwrap().clone()
}

// Rule: a film changes nothing, its rows add up to what devices sent and wrote, and it has no more frames than asked for.
#[test]
fn a_film_is_a_look_at_the_same_run() {
    for (frames, failed) in [(1, vec![3]), (7, vec![3]), (120, vec![3]), (120, vec![3, 8]), (5000, vec![0])] {
        let config = system(ring(SERVERS, RingWalk::Rehash), None, SERVERS, 500, &failed);
        let plain = finish(config.clone());
        let mut filmed = finish(SystemConfig { frames, ..config });
        assert_eq!((filmed.digest, filmed.events), (plain.digest, plain.events));
        let film = filmed.conclusion.outcome.film.take().unwrap();
        assert_eq!(filmed.outcome, plain.outcome);
        let (mut read, mut written) = (vec![0.0; SERVERS as usize], vec![0.0; SERVERS as usize]);
        let mut times = Vec::new();
        for row in film.rows() {
            read[row.unit as usize] += row.read * (row.seconds - row.since);
            written[row.unit as usize] += row.written * (row.seconds - row.since);
            times.push(row.seconds);
        }
        times.dedup();
        assert!(times.len() <= frames.max(2) as usize);
        for (number, device) in plain.outcome.devices.iter().enumerate() {
            let made = (device.rebuilt_bytes + device.remapped_bytes).get() as f64;
            assert!((read[number] - device.sent_bytes.get() as f64).abs() < 1.0);
            assert!((written[number] - made).abs() < 1.0);
        }
    }
}

#[test]
fn a_run_does_not_depend_on_the_number_of_threads() {
    for (algorithm, groups) in [
        (crush(SERVERS, 3), Some(GROUPS)),
        (crush(SERVERS, 3), None),
        (ring(SERVERS, RingWalk::Rehash), None),
        (ring(SERVERS, RingWalk::Successors), None),
        (ring(SERVERS, RingWalk::Rehash), Some(GROUPS)),
    ] {
        let config = system(algorithm, groups, SERVERS, 500, &[3]);
        let with_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| finish(config.clone()))
        };
        let (one, three) = (with_threads(1), with_threads(3));
        assert_eq!(one, three);
        assert!(one.outcome.rebuilt_pieces > 1000);
    }
}

#[test]
fn another_seed_is_another_run() {
    let config = system(crush(SERVERS, 3), Some(GROUPS), SERVERS, 50, &[3]);
    let other = SystemConfig { seed: 8, ..config.clone() };
    assert_ne!(finish(config).digest, finish(other).digest);
}

#[test]
fn every_source_choice_moves_the_same_data() {
    let rebuilt: Vec<Bytes> = [SourceChoice::Primary, SourceChoice::Random, SourceChoice::LeastLoaded]
        .map(|source| {
            let config = system(crush(SERVERS, 3), Some(GROUPS), SERVERS, 50, &[3]);
            finish(SystemConfig { source, ..config }).outcome.rebuilt_bytes
        })
        .to_vec();
    assert!(rebuilt[0] > Bytes::ZERO && rebuilt.iter().all(|&bytes| bytes == rebuilt[0]), "{rebuilt:?}");
}

#[test]
fn an_empty_system_is_a_result() {
    let report = finish(system(crush(SERVERS, 3), Some(GROUPS), SERVERS, 0, &[3]));
    assert_eq!((report.population.objects, report.outcome.rebuilt_pieces, report.events), (0, 0, 0));
    assert!(report.groups.unwrap().affected > 0);
}

#[test]
fn nothing_fails_and_nothing_is_rebuilt() {
    let report = finish(system(crush(SERVERS, 3), Some(GROUPS), SERVERS, 50, &[]));
    assert!(report.population.objects > 0);
    assert_eq!(report.outcome.losses.affected_objects, 0);
}

#[test]
fn single_copies_are_lost_for_good() {
    let report = finish(system(crush(SERVERS, 1), Some(GROUPS), SERVERS, 50, &[3]));
    let losses = report.outcome.losses;
    assert!(losses.unrecoverable_objects > 0);
    assert_eq!(losses.unrecoverable_objects, losses.affected_objects);
    assert_eq!(report.outcome.rebuilt_pieces, 0);
}

#[test]
fn without_a_spare_server_objects_stay_undersized() {
    // Three copies on three servers, of which one fails: every object keeps two and there is nowhere for a third.
    let report = finish(system(crush(3, 3), Some(GROUPS), 3, 50, &[1]));
    let losses = report.outcome.losses;
    assert_eq!(losses.undersized_pieces, report.population.objects);
    assert_eq!(report.outcome.rebuilt_pieces, 0);
}

#[test]
fn three_servers_at_once_lose_some_objects_for_good_and_the_others_recover() {
    let report = finish(system(crush(SERVERS, 3), Some(GROUPS), SERVERS, 200, &[2, 5, 9]));
    let losses = report.outcome.losses;
    // Three given servers of twelve hold all copies of one in C(12, 3) = 220 groups; 128 groups may have none, so only the
    // balance is certain: every lost copy is rebuilt or gone with its object.
    assert_eq!(losses.undersized_pieces, 0);
    assert_eq!(losses.lost_pieces, report.outcome.rebuilt_pieces + losses.unrecoverable_pieces);
    let lost_servers: Vec<_> = report.outcome.devices.iter().filter(|device| device.is_failed).collect();
    assert!(lost_servers.len() == 3 && lost_servers.iter().all(|device| device.disk.requests == 0));
}

#[test]
fn which_server_fails_is_drawn_from_the_seed() {
    // 200 draws of one of twelve servers miss a given one with (11/12)^200 = 3e-8.
    let mut drawn: Vec<u32> = (0..200).flat_map(|seed| choose_failed(seed, 0, SERVERS, 1)).collect();
    drawn.sort_unstable();
    drawn.dedup();
    assert_eq!(drawn.len(), SERVERS as usize);
}
