//! Works by flows, held to what a pencil gives.

use resilver_kernel::{Purpose, Stream};
use resilver_units::SimTime;

use super::FlowPlane;
use super::chains::{Chain, Way};
use super::path::Visit;
use crate::plane::testing::{Case, HDD, MIB, NETWORK, SSD, free, mclock, near, osd, profile, push, settings, wpq};
use crate::plane::{ClientLoad, DataPlane, Limit, OpClass, WorkKind};

/// Seconds of the only work of a case, and what kept it from going faster.
fn alone(case: &Case) -> (f64, Option<Limit>) {
    let mut plane = FlowPlane::new(case.network);
    case.set_up(&mut plane);
    plane.start(SimTime::ZERO, 0, case.works[0].clone());
    let limit = plane.limit(0);
    (case.ends(&mut FlowPlane::new(case.network))[0], limit)
}

#[test]
fn one_work_alone_goes_at_its_window_or_at_its_slowest_station() {
    for bytes in [64_u64 << 10, 4 << 20] {
        // Of three objects under way one waits at a disk: 1 / S.
        let case = Case::of(2, HDD, &free(true), vec![push(0, 1, 3000, bytes)]);
        let (seconds, limit) = alone(&case);
        near(seconds, 3000.0 * HDD.read(bytes as f64), 0.01);
        assert!(matches!(limit, Some(Limit::Device { .. })), "{limit:?}");
        // On flash ten objects a round trip, or two threads that read, or two that write.
        let (read, write) = (SSD.read(bytes as f64), SSD.write(bytes as f64));
        let wire = 1e-4 + bytes as f64 / 1.25e9;
        let rate = (10.0 / (read + write + wire + 1e-4)).min(2.0 / read).min(2.0 / write);
        near(alone(&Case::of(2, SSD, &free(false), vec![push(0, 1, 3000, bytes)])).0, 3000.0 / rate, 0.01);
    }
    // Over a network of 50 ms each way an object takes at least 0.1 s, and three of them are under way.
    let mut case = Case::of(2, HDD, &free(true), vec![push(0, 1, 900, 65_536)]);
    case.network.latency_seconds = 0.05;
    let (seconds, limit) = alone(&case);
    near(seconds, 300.0 * (0.1 + HDD.read(65_536.0) + HDD.write(65_536.0) + 65_536.0 / 1.25e9), 0.01);
    assert_eq!(limit, Some(Limit::Window { osd: 0 }));
}

#[test]
fn an_idle_clusters_best_effort_takes_the_inverse_of_its_limits() {
    // 1 : 1 / 0.9 : 1 / 0.7 where the limit binds: a device that could do more, and a limit of the whole capacity for the first.
    let mut fast = HDD;
    (fast.read_seconds, fast.write_seconds) = (1e-4, 1e-4);
    (fast.read_bytes_per_second, fast.write_bytes_per_second) = (2e9, 2e9);
    let mut whole = profile("balanced");
    whole.best_effort.limit = Some(1.0);
    let seconds = [whole, profile("balanced"), profile("high_client_ops")].map(|shares| {
        let mut work = push(0, 1, 2000, 1 << 20);
        work.class = OpClass::BestEffort;
        let (seconds, limit) = alone(&Case::of(2, fast, &settings(true, mclock(true, shares)), vec![work]));
        assert_eq!(limit, Some(Limit::MclockLimit { osd: 0 }));
        seconds
    });
    // The primary pays 1 MiB for the item and the floor for the reply.
    near(seconds[0], 2000.0 * (MIB + 150.0 * MIB / 315.0) / (150.0 * MIB), 0.01);
    near(seconds[1] / seconds[0], 1.0 / 0.9, 0.005);
    near(seconds[2] / seconds[0], 1.0 / 0.7, 0.005);
}

#[test]
fn the_first_profiles_of_quincy_take_times_in_the_ratio_of_their_limits() {
    // Limits of 100 %, 150 % and 200 % of the capacity in requests: times as 6 : 4 : 3.
    let mut fast = SSD;
    (fast.read_seconds, fast.write_seconds) = (1e-5, 1e-5);
    (fast.read_bytes_per_second, fast.write_bytes_per_second) = (4e9, 4e9);
    let seconds = [1.0, 1.5, 2.0].map(|limit| {
        let mut shares = profile("balanced");
        shares.recovery.limit = Some(limit);
        let crate::settings::OpQueue::Mclock(mut queue) = mclock(false, shares) else { unreachable!("made so") };
        queue.cost =
            crate::settings::CostModel::Iops { per_io: 1.0, per_byte: 1.0 / 65_536.0, osd_recovery_cost: 4 << 20 };
        let settings = settings(false, crate::settings::OpQueue::Mclock(queue));
        alone(&Case::of(2, fast, &settings, vec![push(0, 1, 5000, 4 << 20)])).0
    });
    near(seconds[0] / seconds[1], 1.5, 0.01);
    near(seconds[0] / seconds[2], 2.0, 0.01);
}

#[test]
fn a_disk_under_wpq_starts_no_more_than_ten_objects_a_second() {
    let case = Case::of(2, HDD, &settings(true, wpq()), vec![push(0, 1, 500, 65_536)]);
    let (seconds, limit) = alone(&case);
    near(seconds, 50.0, 0.01);
    assert_eq!(limit, Some(Limit::Sleep { osd: 0 }));
}

#[test]
fn a_ports_bytes_are_shared_by_all_that_pass_it() {
    let works: Vec<_> = (0..4).map(|id| push(id, id + 4, 200, 4 << 20)).collect();
    let mut case = Case::of(8, SSD, &free(false), works);
    case.osds = (0..8).map(|id| osd(id, (id / 4) as i32, SSD)).collect();
    case.network.host_bytes_per_second = 1e8;
    let last = case.ends(&mut FlowPlane::new(case.network)).into_iter().fold(0.0, f64::max);
    near(last, 800.0 * 4.0 * MIB / 1e8, 0.01);
}

#[test]
fn a_stopped_work_says_what_is_done_and_the_others_go_faster() {
    // Two works of one primary take turns; when one stops half way, the other has the disk alone.
    let both = vec![push(0, 1, 1000, 1 << 20), push(0, 2, 1000, 1 << 20)];
    let case = Case::of(3, HDD, &free(true), both.clone());
    let mut plane = FlowPlane::new(NETWORK);
    case.set_up(&mut plane);
    for (id, work) in both.into_iter().enumerate() {
        plane.start(SimTime::ZERO, id as u32, work);
    }
    let one = HDD.read(MIB);
    let half = SimTime::try_from(1000.0 * one).unwrap();
    assert!(plane.next().unwrap() > half);
    plane.advance(half, &mut vec![]);
    near(plane.stop(half, 0).objects as f64, 500.0, 0.01);
    let mut ended = vec![];
    let end = plane.next().unwrap();
    plane.advance(end, &mut ended);
    assert_eq!(ended, [1]);
    near(end.seconds(), 1500.0 * one, 0.01);
    // What the disk read for both is what both were given.
    let (read, written, busy) = plane.used(end, 0);
    near(read as f64, 1500.0 * MIB, 0.01);
    assert_eq!(written, 0);
    near(busy, 1500.0 * one, 0.01);
}

#[test]
fn a_deletion_sleeps_before_each_transaction() {
    let mut work = push(0, 0, 301, 1 << 20);
    (work.kind, work.targets, work.class) = (WorkKind::Delete, vec![], OpClass::BestEffort);
    let case = Case::of(1, HDD, &settings(true, wpq()), vec![work]);
    near(alone(&case).0, 11.0 * (5.0 + 0.008), 0.001);
}

#[test]
fn clients_alone_see_a_queue_of_random_arrivals_and_more_than_a_device_can_is_not_served() {
    let service = HDD.read(4096.0);
    let case = Case::of(1, HDD, &free(true), vec![]);
    let ask = |share: f64| {
        let mut plane = FlowPlane::new(NETWORK);
        case.set_up(&mut plane);
        let load = ClientLoad { reads_per_second: share / service, read_bytes: 4096.0, ..ClientLoad::default() };
        plane.set_clients(SimTime::ZERO, 0, load);
        plane.clients(SimTime::ZERO, 0)
    };
    // M/D/1 at 60 %: S + rho S / (2 (1 - rho)).
    let state = ask(0.6);
    near(state.mean_seconds, service * (1.0 + 0.6 / 0.8), 0.01);
    near(state.busy, 0.6, 0.001);
    assert_eq!(state.served, 1.0);
    near(ask(2.0).served, 0.5, 0.001);
}

#[test]
fn works_go_on_by_other_settings_from_their_change_on() {
    // Two works of one primary at 50 ms each way: three objects under way, then six from half way on.
    let both = vec![push(0, 1, 900, 65_536), push(0, 2, 900, 65_536)];
    let mut case = Case::of(3, HDD, &free(true), both.clone());
    case.network.latency_seconds = 0.05;
    let mut plane = FlowPlane::new(case.network);
    case.set_up(&mut plane);
    for (id, work) in both.into_iter().enumerate() {
        plane.start(SimTime::ZERO, id as u32, work);
    }
    let end = plane.next().unwrap().seconds();
    let half = SimTime::try_from(end / 2.0).unwrap();
    plane.advance(half, &mut vec![]);
    let mut settings = case.settings[0].clone();
    settings.osd_recovery_max_active = 6;
    plane.set_osd(half, &case.osds[0], &settings);
    near(plane.next().unwrap().seconds(), 0.75 * end, 0.01);
}

#[test]
fn a_chain_of_one_work_has_the_very_rate_that_the_road_for_several_finds() {
    let mut draws = Stream::new(1, 0, Purpose::named("onework"));
    let (mut held, mut found) = (0, Vec::new());
    for _ in 0..500 {
        let visit = |draws: &mut Stream, item| {
            let (seconds, wait) = (draws.uniform(), draws.uniform() * draws.uniform());
            Visit { times: 1.0, seconds, wait, item, passes: true, ..Visit::default() }
        };
        let visits: Vec<_> = (0..6).map(|at| visit(&mut draws, at < 2)).collect();
        let (rate, window) = (draws.below(3) as f64 * draws.uniform(), 1.0 + draws.below(10) as f64);
        let mut chains = [0, 1].map(|_| {
            let way = Way { id: 0, path: visits.clone(), rate, held: false };
            Chain { window, ways: vec![way], ..Chain::default() }
        });
        let part = 0.1 + 0.7 * draws.uniform();
        let [one, several] = &mut chains;
        let rates = [one.find_rates(part, &mut found), several.find_rates_of_several(part, &mut found)];
        assert_eq!(rates[0].to_bits(), rates[1].to_bits());
        assert_eq!([one.rate.to_bits(), one.round.to_bits()], [several.rate.to_bits(), several.round.to_bits()]);
        assert_eq!(one.ways[0].held, several.ways[0].held);
        held += u32::from(one.ways[0].held);
    }
    assert!((50..450).contains(&held), "{held} of 500 wait for their items");
}
