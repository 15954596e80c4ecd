//! Failures one after another: what must hold whatever the system.

use crate::common;

use common::{files_on_ring, finish};
use resilver_system::{Fault, ObjectOrder, PlaceScratch, RecoveryPolicy, RetryPolicy, SystemConfig};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, ObjectId, SimDuration, SimTime};

const SERVERS: u32 = 16;

fn seconds(seconds: f64) -> SimTime {
    SimTime::ZERO + SimDuration::from_seconds(seconds).unwrap()
}

/// Whole files of up to 1 GiB on a ring, and servers that fail at given seconds.
fn system(files: u64, failures: &[(f64, u32)]) -> SystemConfig {
    let fault = |&(time, server): &(f64, u32)| Fault::told(seconds(time), vec![DeviceId::new(server)]);
    SystemConfig {
        faults: failures.iter().map(fault).collect(),
        retry: RetryPolicy { after: SimDuration::from_picoseconds(1_000_000_000), attempts: 3 },
        ..files_on_ring(SERVERS, files, 1 << 30)
    }
}

#[test]
fn two_failures_at_one_time_are_one_failure_of_both() {
    let both = system(400, &[(0.0, 3), (0.0, 9)]);
    let plain = SystemConfig {
        faults: vec![Fault::told(SimTime::ZERO, vec![DeviceId::new(3), DeviceId::new(9)])],
        ..both.clone()
    };
    assert_eq!(finish(&both), finish(&plain));
}

#[test]
fn a_first_failure_that_is_late_is_the_same_later() {
    let (early, late) = (finish(&system(400, &[(0.0, 3)])), finish(&system(400, &[(90.0, 3)])));
    // The beginning itself is an event where it is not at time zero.
    assert_eq!(late.events, early.events + 1);
    assert_eq!(late.outcome.rebuilt_at.since(late.outcome.begins_at), early.outcome.rebuilt_at.since(SimTime::ZERO));
    assert_eq!(late.outcome.transfers, early.outcome.transfers);
    assert_eq!(late.outcome.losses, early.outcome.losses);
    // Nothing is degraded before: the first intervals of the timeline are empty.
    assert!(late.outcome.timeline[0].degraded_objects == 0.0 && early.outcome.timeline[0].degraded_objects > 0.0);
}

#[test]
fn a_failure_after_the_rebuild_leaves_the_first_one_as_it_was() {
    let (alone, both) = (finish(&system(400, &[(0.0, 3)])), finish(&system(400, &[(0.0, 3), (5000.0, 9)])));
    assert!(alone.outcome.ended_at < seconds(5000.0));
    let first_transfers: u64 = alone.outcome.transfers.iter().map(|transfer| transfer.pieces).sum();
    assert_eq!(first_transfers, alone.outcome.rebuilt_pieces);
    assert_eq!(both.outcome.first_redundant_at, alone.outcome.first_redundant_at);
    // Server 9 held what it held from the start and what it rebuilt, all of which is lost and rebuilt once more.
    let held = finish(&system(400, &[(0.0, 9)])).outcome.losses.lost_pieces;
    let regained = alone.outcome.devices[9].rebuilt_pieces;
    assert_eq!(both.outcome.losses.lost_pieces, alone.outcome.losses.lost_pieces + held + regained);
    assert_eq!(both.outcome.rebuilt_pieces, both.outcome.losses.lost_pieces);
    assert_eq!(both.outcome.wasted, resilver_system::Wasted::default());
    assert!(both.outcome.devices[9].disk.requests > 0 && both.outcome.devices[9].is_failed);
}

#[test]
fn a_failure_of_a_server_that_holds_nothing_changes_nothing() {
    // Six files in three copies are on at most 18 of 16 servers, and in fact leave some of them empty.
    let alone = system(6, &[(0.0, 3)]);
    let report = finish(&alone);
    let mut holders = Vec::new();
    for file in 0..6 {
        let mut set = Vec::new();
        alone.pools[0].placement.algorithm.place_object(
            ObjectId::new(file << 28),
            &mut PlaceScratch::default(),
            &mut set,
        );
        holders.extend(set);
    }
    assert!(report.outcome.rebuilt_pieces > 0);
    let is_idle = |server: &u32| {
        !holders.contains(&DeviceId::new(*server)) && report.outcome.devices[*server as usize].received_bytes.is_zero()
    };
    let idle = (0..SERVERS).find(is_idle).expect("a server that holds nothing");
    let both = finish(&system(6, &[(0.0, 3), (0.05, idle)]));
    assert_eq!(both.outcome.transfers, report.outcome.transfers);
    assert_eq!(both.outcome.rebuilt_at, report.outcome.rebuilt_at);
    assert_eq!(both.outcome.losses, report.outcome.losses);
    assert_eq!(both.events, report.events + 1);
}

#[test]
fn what_loses_its_copies_faster_than_they_are_rebuilt_is_lost_for_good() {
    // Fourteen of sixteen servers within 14 ms, in which no whole file of 512 MB on average is rebuilt: two servers are left,
    // and an object survives where one of its three copies is on them.
    let failures: Vec<(f64, u32)> = (0..14).map(|server| (0.001 * f64::from(server), server)).collect();
    let config = system(400, &failures);
    let report = finish(&config);
    let (mut lost, mut scratch) = (0, PlaceScratch::default());
    for file in 0..400 {
        let mut set = Vec::new();
        config.pools[0].placement.algorithm.place_object(ObjectId::new(file << 28), &mut scratch, &mut set);
        lost += u64::from(set.iter().all(|device| device.get() < 14));
    }
    let losses = report.outcome.losses;
    assert_eq!(losses.unrecoverable_objects, lost);
    assert!(lost > 200 && losses.unrecoverable_bytes > Bytes::gibibytes(90));
    assert!(report.outcome.wasted.sent > Bytes::ZERO || report.outcome.wasted.read > Bytes::ZERO);
    // Two copies at most are on two servers, so all that survive stay short of one.
    assert_eq!(report.outcome.last_redundant_at, None);
    let last = report.outcome.timeline.last().unwrap();
    assert_eq!(last.degraded_objects, (report.population.objects - lost) as f64);
}

#[test]
fn a_run_with_later_failures_does_not_depend_on_the_number_of_threads() {
    let config = system(30_000, &[(0.0, 3), (2.0, 9), (4.0, 11)]);
    let with_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| finish(&config))
    };
    let (one, three) = (with_threads(1), with_threads(3));
    assert!(one.outcome.wasted.read > Bytes::ZERO);
    assert_eq!(one, three);
}

#[test]
fn a_server_never_takes_more_than_its_bandwidth() {
    // 20 MB/s is far below what disks and network take, so writes come as requests do: in any time, at most what the rate
    // allows and the buffer that is under way at either end.
    let rate = 20e6;
    let config = system(60, &[(0.0, 3)]);
    let capped = RecoveryPolicy { bandwidth: BytesPerSecond::new(rate), ..config.policy };
    let report = finish(&SystemConfig { policy: capped, ..config });
    let busiest = report.outcome.devices.iter().max_by_key(|device| device.received_bytes).unwrap();
    let most = report.outcome.devices.iter().filter(|device| !device.received_bytes.is_zero()).count() as f64;
    for interval in &report.outcome.timeline {
        let allowed = most * (rate * interval.duration.seconds() + 2.0 * f64::from(16 << 20));
        assert!(interval.rebuilt_bytes as f64 <= allowed, "{interval:?}");
    }
    // The one with the most to fetch has its last buffer when the others' bytes are through, and a service time later.
    let least = (busiest.received_bytes.get() as f64 - f64::from(16 << 20)) / rate;
    let finished = busiest.finished_at.unwrap().seconds();
    assert!((least..least + 16.8e6 / rate + 0.2).contains(&finished), "{finished} against {least}");
}

#[test]
fn risk_first_shortens_the_time_at_risk() {
    // Two servers fail at once: objects with one copy left come first, and are at risk for a shorter time altogether.
    let at_risk = |order| {
        let report = finish(&SystemConfig { order, ..system(3000, &[(0.0, 3), (0.0, 9)]) });
        let levels = report.outcome.timeline.iter();
        levels.map(|level| level.at_risk_objects * level.duration.seconds()).sum::<f64>()
    };
    let (population, risk) = (at_risk(ObjectOrder::Population), at_risk(ObjectOrder::Risk));
    assert!(risk < 0.5 * population, "{risk} against {population}");
}
