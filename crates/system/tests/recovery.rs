//! One recovery: pools of unlike codes on the same devices, servers of several ports, and every kind of fault at once.

mod common;

use std::sync::Arc;

use common::coded::{SERVERS, crush_pools, finish, lost_in_group, placed_pool, rendezvous, seconds, switched, system};
use resilver_device::Service;
use resilver_placement::pool::PoolKind;
use resilver_redundancy::Code;
use resilver_system::{Contents, Devices, Discipline, FabricConfig, Fault, GroupContents, Placement, SystemConfig};
use resilver_units::{Bytes, DeviceId, EndpointId, SimDuration};

/// Groups of each pool, and what each of them holds.
const GROUPS: u32 = 64;
const OBJECTS: u64 = 3;
const GROUP_BYTES: u64 = 3 * 40_000_001;

/// A pool of three copies and one of rs 4+2 on the same servers, of which those named fail.
fn two_pools(failures: &[(f64, u32)]) -> SystemConfig {
    let code = || Some(Arc::new(Code::parse("rs 4+2").unwrap()));
    let algorithm = crush_pools(|map| {
        let copies = placed_pool(map, 1, 3, PoolKind::Replicated, None);
        vec![copies, placed_pool(map, 2, 6, PoolKind::Erasure, code())]
    });
    let contents = GroupContents { objects: OBJECTS, bytes: Bytes::new(GROUP_BYTES) };
    SystemConfig {
        code: None,
        placement: Placement { groups: Some(2 * GROUPS), algorithm, domain_of: None },
        contents: Contents::Groups(vec![contents; 2 * GROUPS as usize]),
        ..system("copies 3", 0, failures)
    }
}

#[test]
fn pools_of_copies_and_of_a_code_are_recovered_together() {
    // Each group that server 3 was in lost one piece of each of its three objects of 40,000,001 bytes: a whole copy in the
    // first 64 groups, a quarter rounded up in the others, which takes four such quarters to make.
    let config = two_pools(&[(0.0, 3)]);
    let lost = |groups: std::ops::Range<u32>| {
        groups.filter(|&group| lost_in_group(&config, group, &[3]) > 0).count() as u64 * OBJECTS
    };
    let (copies, pieces) = (lost(0..GROUPS), lost(GROUPS..2 * GROUPS));
    assert!(copies > 10 && pieces > 20, "{copies} and {pieces}");
    let outcome = finish(&config).outcome;
    let (whole, quarter) = (GROUP_BYTES / OBJECTS, (GROUP_BYTES / OBJECTS).div_ceil(4));
    assert_eq!(outcome.rebuilt_pieces, copies + pieces);
    assert_eq!(outcome.rebuilt_bytes.get(), copies * whole + pieces * quarter);
    let coded = outcome.coded.unwrap();
    let moved = outcome.remapped_bytes.get();
    assert_eq!(coded.gathered_bytes.get(), copies * whole + pieces * 4 * quarter + moved);
    assert_eq!(coded.decoded_bytes.get(), pieces * quarter);
}

#[test]
fn each_pool_survives_what_its_own_code_does() {
    // Five servers fail at once: a group of copies is lost where it had all three of its copies there, a group of rs 4+2
    // where it had three of its pieces there or more.
    let gone = [3, 9, 11, 12, 15];
    let config = two_pools(&gone.map(|server| (0.0, server)));
    let lost = (0..2 * GROUPS).filter(|&group| lost_in_group(&config, group, &gone) >= 3).count() as u64;
    let outcome = finish(&config).outcome;
    assert!(lost > 0);
    assert_eq!(outcome.losses.unrecoverable_objects, lost * OBJECTS);
    assert_eq!(outcome.losses.unrecoverable_bytes.get(), lost * GROUP_BYTES);
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
            config.placement.algorithm = rendezvous(Code::parse(code).unwrap().pieces() as usize);
            config.fabric = fabric;
            let links: &[u32] = if is_switched { &[0, 7, 12] } else { &[] };
            config.faults.extend([fault(0.7, Some(3.0), links, &[5]), fault(1.0, None, &[], &[9])]);
            let outcome = finish(&config).outcome;
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
