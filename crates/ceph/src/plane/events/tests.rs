//! Works by events, held to what a pencil gives.

use super::EventPlane;
use crate::plane::testing::{
    Case, HDD, MIB, NETWORK, SSD, free, mclock, near, osd, profile, push, settings, share, wpq,
};
use resilver_units::SimTime;

use crate::plane::{ClientLoad, DataPlane, OpClass, WorkKind};
use crate::settings::Shares;

fn plane() -> EventPlane {
    EventPlane::new(NETWORK, 1)
}

#[test]
fn one_work_alone_goes_at_its_window_or_at_its_slowest_station() {
    for bytes in [64_u64 << 10, 4 << 20] {
        // On a disk the read and the write take S each, so of three objects under way one always waits: 1 / S.
        let disk = HDD.read(bytes as f64);
        let case = Case::of(2, HDD, &free(true), vec![push(0, 1, 3000, bytes)]);
        near(case.ends(&mut plane())[0], 3000.0 * disk, 0.01);
        // With eight channels, but two threads that read for the group: ten objects a round trip, or two a read, or two a write.
        let (read, write) = (SSD.read(bytes as f64), SSD.write(bytes as f64));
        let wire = 1e-4 + bytes as f64 / 1.25e9;
        let rate = (10.0 / (read + write + wire + 1e-4)).min(2.0 / read).min(2.0 / write);
        let case = Case::of(2, SSD, &free(false), vec![push(0, 1, 3000, bytes)]);
        near(case.ends(&mut plane())[0], 3000.0 / rate, 0.01);
    }
}

#[test]
fn a_disk_under_wpq_starts_no_more_than_ten_objects_a_second() {
    // A sleep of 0.1 s before each item; an object of 64 KiB takes far less.
    let case = Case::of(2, HDD, &settings(true, wpq()), vec![push(0, 1, 500, 65_536)]);
    near(case.ends(&mut plane())[0], 50.0, 0.01);
    // The sleep is one for all works of the primary.
    let case = Case::of(3, HDD, &settings(true, wpq()), vec![push(0, 1, 250, 65_536), push(0, 2, 250, 65_536)]);
    near(case.ends(&mut plane())[1], 50.0, 0.01);
}

#[test]
fn a_limit_holds_an_idle_clusters_best_effort() {
    // A primary that pushes 1 MiB pays 1 MiB for the item and the floor of 499,321 B for the reply, of 70 %, 90 % or no share of
    // 150 MiB/s; a device that is fast enough leaves the limit to bind.
    let mut fast = HDD;
    (fast.read_seconds, fast.write_seconds) = (1e-4, 1e-4);
    (fast.read_bytes_per_second, fast.write_bytes_per_second) = (2e9, 2e9);
    let paid = MIB + 150.0 * MIB / 315.0;
    for (name, limit) in [("high_client_ops", 0.7), ("balanced", 0.9)] {
        let mut work = push(0, 1, 2000, 1 << 20);
        work.class = OpClass::BestEffort;
        let case = Case::of(2, fast, &settings(true, mclock(true, profile(name))), vec![work]);
        near(case.ends(&mut plane())[0], 2000.0 * paid / (limit * 150.0 * MIB), 0.01);
    }
}

#[test]
fn what_is_spread_over_hosts_waits_for_their_ports() {
    // Four primaries of one host push 4 MiB each to another host over 100 MB/s: the port takes one message after the other.
    let works: Vec<_> = (0..4).map(|id| push(id, id + 4, 200, 4 << 20)).collect();
    let mut case = Case::of(8, SSD, &free(false), works);
    case.osds = (0..8).map(|id| osd(id, (id / 4) as i32, SSD)).collect();
    case.network.host_bytes_per_second = 1e8;
    let mut plane = EventPlane::new(case.network, 1);
    let last = case.ends(&mut plane).into_iter().fold(0.0, f64::max);
    near(last, 800.0 * 4.0 * MIB / 1e8, 0.01);
    // Within a host the network is free.
    case.osds.iter_mut().for_each(|osd| osd.host = 0);
    assert!(case.ends(&mut EventPlane::new(case.network, 1)).into_iter().fold(0.0, f64::max) < 20.0);
}

#[test]
fn a_decoding_primary_reads_every_source_and_counts_its_bytes() {
    // RS 2+1 of 2 MiB objects: two reads and one write of 1 MiB an object.
    let mut work = push(0, 3, 100, 1 << 20);
    (work.kind, work.data_pieces, work.sources) = (WorkKind::Decode, 2, vec![0, 1]);
    let case = Case::of(4, HDD, &free(true), vec![work.clone()]);
    let mut plane = plane();
    let end = case.ends(&mut plane)[0];
    // Reads of the two disks and the write of the third overlap: the window of three keeps each busy.
    near(end, 100.0 * HDD.read(MIB), 0.03);
    let now = resilver_units::SimTime::try_from(end).unwrap();
    let bytes = 100 << 20;
    assert_eq!([0, 1, 2, 3].map(|osd| plane.used(now, osd).0), [bytes, bytes, 0, 0]);
    assert_eq!([0, 1, 2, 3].map(|osd| plane.used(now, osd).1), [0, 0, 0, bytes]);
    // An object of 40 MiB goes in chunks of 8 MiB, of which a piece has half: five rounds, 20 MiB a piece, with five delays each.
    (work.piece_bytes, work.objects) = (20 << 20, 1);
    let case = Case::of(4, HDD, &free(true), vec![work]);
    let round = HDD.read(4.0 * MIB) + HDD.write(4.0 * MIB) + 2.0 * (4.0 * MIB / 1.25e9) + 4e-4;
    near(case.ends(&mut EventPlane::new(NETWORK, 1))[0], 5.0 * round, 0.001);
}

#[test]
fn pulled_objects_are_written_before_they_are_pushed_on() {
    // One object: read at the source, written at the primary, read there, written at the other target.
    let mut work = push(0, 0, 1, 1 << 20);
    (work.kind, work.sources, work.targets) = (WorkKind::Pull, vec![1], vec![0, 2]);
    let case = Case::of(3, HDD, &free(true), vec![work]);
    let wire = 1e-4 + MIB / 1.25e9;
    near(case.ends(&mut plane())[0], 4.0 * HDD.read(MIB) + 2.0 * wire + 2e-4, 0.001);
}

#[test]
fn a_deletion_takes_thirty_objects_a_transaction_and_sleeps_before_each() {
    let mut work = push(0, 0, 301, 1 << 20);
    (work.kind, work.targets, work.class) = (WorkKind::Delete, vec![], OpClass::BestEffort);
    let case = Case::of(1, HDD, &settings(true, wpq()), vec![work]);
    // 301 objects are eleven transactions.
    near(case.ends(&mut plane())[0], 11.0 * (5.0 + 0.008), 0.001);
}

#[test]
fn clients_alone_see_a_queue_of_random_arrivals() {
    // One disk serves Poisson arrivals of 8.02 ms at 60 %: M/D/1, mean = S + rho S / (2 (1 - rho)).
    let service = HDD.read(4096.0);
    let mut case = Case::of(1, HDD, &free(true), vec![]);
    case.clients[0] = ClientLoad { reads_per_second: 0.6 / service, read_bytes: 4096.0, ..ClientLoad::default() };
    let mut plane = plane();
    case.set_up(&mut plane);
    let now = resilver_units::SimTime::try_from(2000.0).unwrap();
    let state = plane.clients(now, 0);
    // 150,000 arrivals: the mean's standard error is below 1 %.
    near(state.mean_seconds, service * (1.0 + 0.6 / 0.8), 0.03);
    near(state.busy, 0.6, 0.02);
    near(state.served, 1.0, 0.001);
}

#[test]
fn clients_and_recovery_that_both_wait_get_what_their_weights_say() {
    // Clients ask for more reads of 500 KB than the disk has; recovery of as large objects, 3 under way, weight 2 : 1 against it. Its
    // primary pays the item and the reply, so its two requests an object weigh as much as two reads.
    let shares =
        Shares { client: share(0.0, 1.0, None), recovery: share(0.0, 2.0, None), best_effort: share(0.0, 1.0, None) };
    let mut slow = HDD;
    slow.read_seconds = 0.02;
    let settings = settings(true, mclock(true, shares));
    let mut case = Case::of(2, slow, &settings, vec![push(0, 1, 100_000, 500_000)]);
    case.clients[0] = ClientLoad { reads_per_second: 100.0, read_bytes: 500_000.0, ..ClientLoad::default() };
    case.set_up(&mut plane());
    let mut plane = plane();
    case.set_up(&mut plane);
    plane.start(resilver_units::SimTime::ZERO, 0, case.works[0].clone());
    let seconds = 1000.0;
    let now = resilver_units::SimTime::try_from(seconds).unwrap();
    let objects = plane.progress(now, 0).objects as f64;
    let served = plane.clients(now, 0).served * 100.0 * seconds;
    // The disk does 1 / 22.5 ms = 44.4 reads a second: objects + reads = 44.4, and 2 objects : reads = 2 : 1 in cost.
    near(objects / served, 1.0, 0.02);
    near(objects + served, seconds / slow.read(500_000.0), 0.02);
}

#[test]
fn what_starts_after_an_idle_time_ends_after_it() {
    let case = Case::of(2, HDD, &free(true), vec![push(0, 1, 100, 1 << 20)]);
    let took = case.ends(&mut plane())[0];
    let mut plane = plane();
    case.set_up(&mut plane);
    let mut ended = Vec::new();
    // The same work again an hour after it ended: it takes as long, from then on.
    for (id, start) in [(0, 0), (1, 3600)] {
        plane.start(SimTime::from_picoseconds(start * 1_000_000_000_000), id, case.works[0].clone());
        while ended.len() == id as usize {
            let next = plane.next().expect("a work under way ends");
            plane.advance(next, &mut ended);
            if ended.len() > id as usize {
                near(next.seconds(), start as f64 + took, 0.01);
            }
        }
    }
    assert_eq!(ended, [0, 1]);
}
