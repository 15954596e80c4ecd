//! One recovery: pools of unlike codes on the same devices, servers of several ports, and every kind of fault at once.

use crate::common;

use std::sync::Arc;

use common::coded::{SERVERS, crush_pool, finish, lost_in_group, rendezvous, ring, seconds, switched, system};
use resilver_crush::pool::PoolKind;
use resilver_device::Service;
use resilver_placement::layout::object_group;
use resilver_population::{Bin, Decomposition, Extent, FILE_INDEX_LIMIT, Histogram, first_object};
use resilver_redundancy::Code;
use resilver_system::{
    CodeConfig, Contents, Devices, Discipline, FabricConfig, Fault, Placement, Report, StoredPool, SystemConfig,
};
use resilver_units::{DeviceId, EndpointId, SimDuration};

/// Groups of each pool, and what all of them hold.
const GROUPS: u32 = 64;
const OBJECTS: u64 = 192;
const OBJECT_BYTES: u64 = 40_000_001;

/// A pool of three copies and one of rs 4+2 on the same servers, of which those named fail.
fn two_pools(failures: &[(f64, u32)]) -> SystemConfig {
    let contents = Contents {
        histogram: Histogram::new(&[Bin { min: OBJECT_BYTES, max: OBJECT_BYTES + 1, count: 1 }]).unwrap(),
        decomposition: Decomposition::Whole,
        extent: Extent::Files(OBJECTS),
    };
    let pool = |id, code: Option<&str>, pieces, kind| StoredPool {
        placement: Placement { groups: Some(GROUPS), algorithm: crush_pool(id, pieces, kind), domain_of: None },
        code: code.map(coded),
        contents: contents.clone(),
    };
    let copies = pool(1, None, 3, PoolKind::Replicated);
    let pools = vec![copies, pool(2, Some("rs 4+2"), 6, PoolKind::Erasure)];
    SystemConfig { pools, ..system("copies 3", 0, failures) }
}

/// How many pieces of each object of a pool are on `failed` servers; the pool's files are numbered from its first one on.
fn lost_of_objects(config: &SystemConfig, pool: usize, failed: &[u32]) -> Vec<usize> {
    let first = pool as u64 * (FILE_INDEX_LIMIT / 2);
    let group = |file| object_group(first_object(first + file), GROUPS).get();
    (0..OBJECTS).map(|file| lost_in_group(config, pool, group(file), failed)).collect()
}

fn coded(code: &str) -> CodeConfig {
    CodeConfig { code: Arc::new(Code::parse(code).unwrap()), strip: None, coding: None }
}

#[test]
fn pools_of_copies_and_of_a_code_are_recovered_together() {
    // Each group that server 3 was in lost one piece of each of its objects of 40,000,001 bytes: a whole copy in the first
    // pool, a quarter rounded up in the other, which takes four such quarters to make.
    let config = two_pools(&[(0.0, 3)]);
    let lost = |pool| lost_of_objects(&config, pool, &[3]).iter().sum::<usize>() as u64;
    let (copies, pieces) = (lost(0), lost(1));
    assert!(copies > 10 && pieces > 20, "{copies} and {pieces}");
    let outcome = finish(&config).conclusion.outcome;
    let (whole, quarter) = (OBJECT_BYTES, OBJECT_BYTES.div_ceil(4));
    assert_eq!(outcome.rebuilt_pieces, copies + pieces);
    assert_eq!(outcome.rebuilt_bytes.get(), copies * whole + pieces * quarter);
    let coded = outcome.coded.unwrap();
    let moved = outcome.remapped_bytes.get();
    assert_eq!(coded.gathered_bytes.get(), copies * whole + pieces * 4 * quarter + moved);
    assert_eq!(coded.decoded_bytes.get(), pieces * quarter);
}

#[test]
fn each_pool_survives_what_its_own_code_does() {
    // Five servers fail at once: an object in copies is lost where it had all three of them there, an object of rs 4+2 where
    // it had three of its pieces there or more.
    let gone = [3, 9, 11, 12, 15];
    let config = two_pools(&gone.map(|server| (0.0, server)));
    let pieces = (0..2).flat_map(|pool| lost_of_objects(&config, pool, &gone));
    let lost = pieces.filter(|&pieces| pieces >= 3).count() as u64;
    let outcome = finish(&config).conclusion.outcome;
    assert!(lost > 0);
    assert_eq!(outcome.losses.unrecoverable_objects, lost);
    assert_eq!(outcome.losses.unrecoverable_bytes.get(), lost * OBJECT_BYTES);
}

#[test]
fn pools_of_files_lose_together_what_each_loses_alone() {
    // Files in copies on a ring, and whole files under a code by rendezvous in groups: what each pool loses depends on where
    // its objects are, and those of the later pool have other numbers than alone. Of 400 objects a piece of a code
    // of 6 is on one of 24 servers with 6/24: on two they are 200, standard deviation 12.
    let failures = [(0.0, 3), (2.0, 11)];
    let files = |code: &str, files, groups, algorithm| {
        let pool = system(code, files, &failures).pools.remove(0);
        StoredPool { placement: Placement { groups, algorithm, domain_of: None }, ..pool }
    };
    let on_ring = StoredPool { code: None, ..files("copies 3", 300, None, ring(3)) };
    let in_groups = files("rs 4+2", 400, Some(512), rendezvous(6));
    let of = |pools: &[&StoredPool]| {
        let pools = pools.iter().map(|&pool| pool.clone()).collect();
        finish(&SystemConfig { pools, ..system("copies 3", 0, &failures) })
    };
    let together = of(&[&on_ring, &in_groups]);
    let first = of(&[&on_ring]);
    assert_eq!(together.population.files, 700);
    assert_eq!(together.groups.as_ref().unwrap().groups, 512);
    let lost = |report: &Report| report.outcome.losses.lost_pieces;
    let [on_ring_lost, of_code] = [0, 1].map(|pool| together.outcome.pools[pool].losses.lost_pieces);
    assert_eq!(on_ring_lost, lost(&first));
    assert!(of_code.abs_diff(200) < 60, "{of_code}");
    assert!(lost(&first) > 30);
    // Behind others they are other files of the same law: of 900 copies on 24 servers two hold 75, standard deviation 8.
    let behind = lost(&of(&[&in_groups, &on_ring])) - lost(&of(&[&in_groups]));
    assert!(behind != lost(&first) && behind.abs_diff(75) < 40, "{behind}");
    // The second failure finds pieces under way in all pools, and every law holds.
    assert_eq!(together.outcome.losses.lost_pieces, together.outcome.rebuilt_pieces);
}

#[test]
fn a_coded_rebuild_uses_every_port() {
    // Devices that take a microsecond leave the interfaces as what binds: two of them a server pass twice as much. One buffer
    // a message keeps both sides equally busy, but for the parts of a buffer that fall on the same one.
    let service = Service::Fixed { read: SimDuration::from_picoseconds(1_000_000), write: SimDuration::ZERO };
    let devices = Devices::alike(service, Discipline::Fifo);
    let one = SystemConfig { devices, ..system("rs 4+2", 60, &[(0.0, 3)]) };
    let ports_of = (0..SERVERS).map(|server| vec![EndpointId::new(server), EndpointId::new(server + SERVERS)]);
    let two = SystemConfig { ports_of: ports_of.collect(), ..one.clone() };
    let (one, two) = (finish(&one), finish(&two));
    assert_eq!(one.outcome.rebuilt_bytes, two.outcome.rebuilt_bytes);
    let ratio = two.outcome.rebuilt_at.seconds() / one.outcome.rebuilt_at.seconds();
    assert!((0.45..0.65).contains(&ratio), "{ratio}");
    let sent = |side: u32| -> u64 {
        let of_side = &two.interfaces[(side * SERVERS) as usize..][..SERVERS as usize];
        of_side.iter().map(|interface| interface.bytes_sent.get()).sum()
    };
    let (first, second) = (sent(0) as f64, sent(1) as f64);
    assert!((first / second - 1.0).abs() < 0.05, "{first} and {second}");
    let all: u64 = one.interfaces.iter().map(|interface| interface.bytes_sent.get()).sum();
    assert_eq!(sent(0) + sent(1), all);
}

#[test]
fn failures_in_sequence_meet_lost_messages_and_silent_faults() {
    // Whatever happens at once, the run ends and keeps every law; of each lost piece it says what became of it.
    let fault = |at: f64, repair: Option<f64>, links: &[u32], disks: &[u32]| Fault {
        at: seconds(at),
        until: repair.map(seconds),
        links: links.to_vec(),
        devices: disks.iter().copied().map(DeviceId::new).collect(),
        ..Fault::default()
    };
    for code in ["copies 3", "rs 4+2", "lrc 8+5 local 4"] {
        for fabric in [switched(), FabricConfig::LogGp { table: common::qdr() }] {
            let is_switched = matches!(fabric, FabricConfig::Switched { .. });
            let mut config = system(code, 40, &[(0.0, 3), (1.5, 9), (2.5, 14)]);
            config.pools[0].placement.algorithm = rendezvous(Code::parse(code).unwrap().pieces() as usize);
            config.fabric = fabric;
            let links: &[u32] = if is_switched { &[0, 7, 12] } else { &[] };
            config.faults.extend([fault(0.7, Some(3.0), links, &[5]), fault(1.0, None, &[], &[9])]);
            let outcome = finish(&config).conclusion.outcome;
            let losses = outcome.losses;
            assert!(outcome.rebuilt_pieces > 0 && losses.lost_pieces > 15, "{code}: {losses:?}");
            assert_eq!(
                losses.lost_pieces,
                outcome.rebuilt_pieces
                    + outcome.unreachable_pieces
                    + losses.unrecoverable_pieces
                    + losses.undersized_pieces,
                "{code}"
            );
        }
    }
}
