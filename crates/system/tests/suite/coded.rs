//! Coded objects: what must hold of their reconstruction whatever the code, the placement, the fabric and the devices.

use crate::common;

use common::coded::{CODES, SERVERS, code_of, crush, finish, rendezvous, ring, switched, system};
use common::qdr;
use resilver_crush::pool::PoolKind;
use resilver_kernel::lanes::Lanes;
use resilver_placement::inverse::FailedSet;
use resilver_population::{Bin, Decomposition, Extent, Histogram};
use resilver_redundancy::{Code, Pieces};
use resilver_system::{
    Algorithm, Contents, Discipline, FabricConfig, Fault, LanesConfig, Outcome, Phase, PlaceScratch, RecoveryPolicy,
    Simulation, SourceChoice, SystemConfig,
};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, ObjectId};

/// The size of a file's pieces, file by file, with the pieces that `failed` servers held.
fn lost_pieces(config: &SystemConfig, files: u64, failed: &[u32]) -> Vec<Pieces> {
    let mut scratch = PlaceScratch::default();
    (0..files)
        .map(|file| {
            let mut row = Vec::new();
            config.pools[0].placement.algorithm.place_object_positions(
                ObjectId::new(file << 28),
                &mut scratch,
                &mut row,
            );
            let is_lost = |device: &Option<DeviceId>| device.is_some_and(|device| failed.contains(&device.get()));
            Pieces::of((0..).zip(&row).filter(|(_, device)| is_lost(device)).map(|(position, _)| position))
        })
        .collect()
}

#[test]
fn every_code_conserves_over_every_placement_fabric_and_device() {
    for code in CODES {
        let parsed = Code::parse(code).unwrap();
        let (pieces, data) = (parsed.pieces() as usize, u64::from(parsed.data()));
        let algorithms =
            [ring(pieces), rendezvous(pieces), crush(pieces, PoolKind::Erasure), crush(pieces, PoolKind::Replicated)];
        let variants = (0..algorithms.len()).flat_map(|algorithm| [(algorithm, false), (algorithm, true)]);
        for (algorithm, is_switched) in variants {
            for failed in [vec![(0.0, 3)], vec![(0.0, 3), (0.0, 9), (0.0, 11), (0.0, 12)]] {
                let mut config = system(code, 24, &failed);
                config.pools[0].placement.algorithm = algorithms[algorithm].clone();
                config.devices.kinds[0].discipline =
                    if is_switched { Discipline::ReadsFirst } else { Discipline::Fifo };
                config.source = [SourceChoice::Primary, SourceChoice::Random, SourceChoice::LeastLoaded][algorithm % 3];
                config.pools[0].code.as_mut().unwrap().coding = BytesPerSecond::new(1e9);
                if is_switched {
                    config.fabric = switched();
                    config.pools[0].contents = Contents {
                        histogram: Histogram::new(&[Bin { min: 0, max: 1 << 24, count: 1 }]).unwrap(),
                        decomposition: Decomposition::Whole,
                        extent: Extent::Files(24),
                    };
                }
                let outcome = finish(&config).conclusion.outcome;
                let coded = outcome.coded.unwrap();
                let gone: Vec<u32> = failed.iter().map(|&(_, server)| server).collect();
                let lost = lost_pieces(&config, 24, &gone);
                let of_all = lost.iter().map(|lost| u64::from(lost.len())).sum::<u64>();
                let dead = lost.iter().filter(|&&lost| !parsed.is_survivable(lost)).count() as u64;
                assert_eq!(
                    (outcome.losses.lost_pieces, outcome.losses.unrecoverable_objects),
                    (of_all, dead),
                    "{code}"
                );
                if failed.len() == 1 && code == "rs 8+3" && outcome.remapped_bytes.is_zero() {
                    // One lost piece of each object is made of eight.
                    assert_eq!(coded.gathered_bytes.get(), 8 * outcome.rebuilt_bytes.get());
                }
                let decoded = if data == 1 { 0 } else { outcome.rebuilt_bytes.get() };
                // Where placement came short before, what it finds now is made by decoding, too, though nobody lost it.
                let filled = if data == 1 { 0 } else { outcome.remapped_bytes.get() };
                assert!((decoded..=decoded + filled).contains(&coded.decoded_bytes.get()), "{code}");
                assert_eq!(outcome.wasted, resilver_system::Wasted::default());
                assert!(outcome.rebuilt_pieces > 0 && outcome.half_rebuilt_at <= outcome.nearly_rebuilt_at);
            }
        }
    }
}

#[test]
fn a_locally_repairable_code_gathers_a_group_for_one_lost_piece() {
    // The locality says how many pieces are gathered for one: 4 for lrc 8+5 local 4 at most, and rs 8+3 takes 8.
    for (code, most) in [("lrc 8+5 local 4", 4), ("rs 8+3", 8)] {
        let outcome = finish(&system(code, 60, &[(0.0, 3)])).conclusion.outcome;
        let gathered = outcome.coded.unwrap().gathered_bytes.get();
        assert_eq!(Code::parse(code).unwrap().locality(), most);
        assert!(gathered <= u64::from(most) * outcome.rebuilt_bytes.get() && gathered > 0, "{code}");
    }
}

#[test]
fn copies_as_a_code_and_as_a_number_are_one() {
    for failures in [vec![(0.0, 3)], vec![(0.0, 3), (0.0, 9)], vec![(7.5, 3), (7.8, 9)]] {
        for fabric in [FabricConfig::LogGp { table: qdr() }, switched()] {
            let coded = SystemConfig { fabric, ..system("copies 3", 120, &failures) };
            let mut plain = coded.clone();
            plain.pools[0].code = None;
            let (coded, plain) = (finish(&coded), finish(&plain));
            assert_eq!((coded.events, coded.network_bytes), (plain.events, plain.network_bytes));
            assert_eq!(Outcome { coded: None, ..coded.outcome.clone() }, plain.outcome);
            assert_eq!(coded.outcome.coded.unwrap().decoded_bytes, Bytes::ZERO);
            assert!(plain.outcome.rebuilt_pieces > 0);
        }
    }
}

#[test]
fn failures_before_anything_is_rebuilt_lose_what_the_code_does_not_survive() {
    // Servers that fail within 5 ms, in which no whole file of half a gibibyte on average is rebuilt: an object is lost where
    // the pieces on them are more than its code survives, which the placement before the failures tells.
    for code in CODES {
        for placement in [ring, rendezvous, |pieces| crush(pieces, PoolKind::Erasure)] {
            let failures: Vec<(f64, u32)> = (0..6).map(|server| (0.001 * f64::from(server), server)).collect();
            let mut config = system(code, 150, &failures);
            config.pools[0].contents = Contents {
                histogram: Histogram::new(&[Bin { min: 1 << 29, max: 1 << 30, count: 1 }]).unwrap(),
                decomposition: Decomposition::Whole,
                extent: Extent::Files(150),
            };
            config.pools[0].placement.algorithm = placement(code_of(&config).pieces() as usize);
            let lost = lost_pieces(&config, 150, &[0, 1, 2, 3, 4, 5]);
            let expected = lost.iter().filter(|&&lost| !code_of(&config).is_survivable(lost)).count() as u64;
            let report = finish(&config);
            assert_eq!(report.outcome.losses.unrecoverable_objects, expected, "{code}");
            assert_eq!(report.outcome.losses.lost_pieces, lost.iter().map(|lost| u64::from(lost.len())).sum::<u64>());
            assert!(code == "copies 3" || expected > 0, "{code}");
        }
    }
}

#[test]
fn failures_after_the_rebuild_of_others_lose_what_is_on_them_by_then() {
    // Five servers at once, and five others when all pieces of the first have been rebuilt. Rendezvous hashing keeps survivors
    // where they are, and its new members take the lost positions in order; so much for the places in between.
    let (first, second): ([u32; 5], [u32; 5]) = ([0, 1, 2, 3, 4], [5, 6, 7, 8, 9]);
    for code in CODES {
        let failures: Vec<(f64, u32)> =
            first.iter().map(|&s| (0.0, s)).chain(second.iter().map(|&s| (4000.0, s))).collect();
        let mut config = system(code, 150, &failures);
        config.pools[0].placement.algorithm = rendezvous(code_of(&config).pieces() as usize);
        let after =
            config.pools[0].placement.algorithm.without(&FailedSet::new(SERVERS as usize, &first.map(DeviceId::new)));
        let (mut expected, mut scratch) = (0, PlaceScratch::default());
        for (file, gone) in (0..150u64).zip(lost_pieces(&config, 150, &first)) {
            if !code_of(&config).is_survivable(gone) {
                expected += 1;
                continue;
            }
            let place = |algorithm: &Algorithm, scratch: &mut PlaceScratch| {
                let mut set = Vec::new();
                algorithm.place_object(ObjectId::new(file << 28), scratch, &mut set);
                set
            };
            let old = place(&config.pools[0].placement.algorithm, &mut scratch);
            let members = place(&after, &mut scratch);
            let mut new = members.iter().filter(|device| !old.contains(device));
            let now: Vec<DeviceId> = (0u32..)
                .zip(&old)
                .map(|(position, &device)| if gone.contains(position) { *new.next().unwrap() } else { device })
                .collect();
            let on_second = |&(_, device): &(u32, &DeviceId)| second.contains(&device.get());
            let lost = Pieces::of((0..).zip(&now).filter(on_second).map(|(position, _)| position));
            expected += u64::from(!code_of(&config).is_survivable(lost));
        }
        let outcome = finish(&config).conclusion.outcome;
        assert_eq!(outcome.losses.unrecoverable_objects, expected, "{code}");
        assert!(expected > 0 && outcome.wasted == resilver_system::Wasted::default(), "{code}");
    }
}

#[test]
fn a_second_failure_at_any_time_keeps_the_laws() {
    for code in CODES {
        for placement in [ring, rendezvous, |pieces| crush(pieces, PoolKind::Erasure)] {
            for time in [0.0005, 0.02, 0.3, 1.1, 2.7, 6.0] {
                for source in [SourceChoice::Primary, SourceChoice::LeastLoaded] {
                    let failures = [(0.0, 3), (time, 9), (1.5 * time, 11), (1.6 * time, 4)];
                    let mut config = SystemConfig { source, ..system(code, 60, &failures) };
                    if source == SourceChoice::LeastLoaded {
                        config.lanes =
                            Some(LanesConfig { lanes: Lanes::of_shares(&[0.5, 0.3, 0.2]).unwrap(), devices: true });
                    }
                    config.pools[0].placement.algorithm = placement(code_of(&config).pieces() as usize);
                    config.pools[0].code.as_mut().unwrap().coding = BytesPerSecond::new(2e9);
                    let outcome = finish(&config).conclusion.outcome;
                    assert!(outcome.losses.lost_pieces > 0, "{code}");
                }
            }
        }
    }
}

#[test]
fn dead_disks_are_made_up_for_as_far_as_the_code_allows() {
    // Nobody is told of the dead disks. A lost piece of an object is out of reach where fewer than four of the others are on
    // disks that answer, or where its new home is one that does not.
    for (dead, fabric) in [(vec![5], 0), (vec![5, 12, 14], 0), (vec![5, 12, 14], 1)] {
        let mut config = system("rs 4+2", 60, &[(0.0, 3)]);
        config.pools[0].contents = Contents {
            histogram: Histogram::new(&[Bin { min: 0, max: 1 << 26, count: 1 }]).unwrap(),
            decomposition: Decomposition::Whole,
            extent: Extent::Files(60),
        };
        if fabric == 1 {
            config.fabric = switched();
        }
        config.pools[0].placement.algorithm = rendezvous(6);
        config.faults.push(Fault { devices: dead.iter().copied().map(DeviceId::new).collect(), ..Fault::default() });
        let (before, mut scratch) = (&config.pools[0].placement.algorithm, PlaceScratch::default());
        let after = before.without(&FailedSet::new(SERVERS as usize, &[DeviceId::new(3)]));
        let (mut lost, mut unreachable) = (0, 0);
        for file in 0..60u64 {
            let (mut old, mut new) = (Vec::new(), Vec::new());
            before.place_object(ObjectId::new(file << 28), &mut scratch, &mut old);
            after.place_object(ObjectId::new(file << 28), &mut scratch, &mut new);
            if old.contains(&DeviceId::new(3)) {
                let home = new.iter().find(|device| !old.contains(device)).unwrap();
                let answering = old.iter().filter(|device| device.get() != 3 && !dead.contains(&device.get())).count();
                lost += 1;
                unreachable += u64::from(answering < 4 || dead.contains(&home.get()));
            }
        }
        let outcome = finish(&config).conclusion.outcome;
        assert_eq!((outcome.losses.lost_pieces, outcome.unreachable_pieces), (lost, unreachable), "{dead:?}");
        assert_eq!(outcome.rebuilt_pieces, lost - unreachable);
        assert!(unreachable > 0 && unreachable < lost, "{dead:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    // Eight sources' buffers of 16 MiB are 128 MiB.
    let config = system("rs 8+3", 5, &[(0.0, 3)]);
    let refused = |config: SystemConfig| {
        let mut simulation = Simulation::new(config).unwrap();
        loop {
            match simulation.advance() {
                Err(error) => return error.to_string(),
                Ok(()) => assert!(simulation.phase() != Phase::Done, "it is not refused"),
            }
        }
    };
    let policy = RecoveryPolicy { receive_memory: Bytes::mebibytes(127), ..config.policy };
    let error = refused(SystemConfig { policy, ..config.clone() });
    assert!(error.contains("from each of 8 sources") && error.contains("133169152"), "{error}");
    let mut config = config;
    config.pools[0].placement.algorithm = ring(6);
    let error = refused(config);
    assert!(error.contains("11 pieces") && error.contains("devices for 6"), "{error}");
}

#[test]
fn a_coded_run_does_not_depend_on_the_number_of_threads() {
    let config = system("lrc 8+5 local 4", 20_000, &[(0.0, 3), (2.0, 9), (4.0, 11)]);
    let with_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| finish(&config))
    };
    let (one, three) = (with_threads(1), with_threads(3));
    assert!(one.outcome.wasted.sent > Bytes::ZERO);
    assert_eq!(one, three);
}
