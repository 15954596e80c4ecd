//! Random plans on small clusters, with everyone who changes the map.

use proptest::prelude::*;
use resilver_ceph::agents::{Balancer, Manager, Monitor, SiteWatch};
use resilver_ceph::{Add, Change, ClusterInput, EventPlane, Flag, FlowPlane, OsdInput, PoolLoad, Stretch, StretchMode};

use super::steady::SteadyPlane;
use super::{Agents, Outcome, Plane, at, filled, outcome_of};
use crate::common::{ONE, cluster, coded, osd, replicated};

const MIB: u64 = 1 << 20;

/// Monitors, manager and balancer.
pub fn everyone() -> Agents {
    let watch = Box::new(SiteWatch::default());
    vec![Box::new(Monitor::new()), watch, Box::new(Manager::new()), Box::new(Balancer::new(1))]
}

/// A run with everyone who changes the map by himself.
pub fn run_with(input: &ClusterInput, plane: Plane) -> Outcome {
    outcome_of(input, plane, everyone()).unwrap()
}

/// Eighteen OSDs with copies and codes.
pub fn small() -> ClusterInput {
    let mut input = cluster(3, 3, 2);
    input.pools = vec![replicated(1, 24, 3), coded(5, 16, 4, 2)];
    filled(&mut input, 40, 160 * MIB);
    input.horizon_seconds = 2e5;
    input
}

fn some_osds() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::btree_set(0..18_u32, 1..4).prop_map(|osds| osds.into_iter().collect())
}

fn added() -> Change {
    let (name, class) = ("osd.18".to_owned(), String::new());
    let location = vec![("host".to_owned(), "host.new".to_owned()), ("rack".to_owned(), "rack.0".to_owned())];
    Change::Add { osds: vec![Add { osd: osd(18, -1), name, weight: 1.0, class, location }] }
}

/// OSDs stop, get devices of half the size, and start; the size is that of the tightest of the runs below.
pub fn replace(osds: Vec<u32>) -> [Change; 3] {
    let devices = osds.iter().map(|&id| OsdInput { capacity_bytes: 1 << 29, ..osd(id, -1) }).collect();
    [Change::Stop { osds: osds.clone() }, Change::Replace { osds: devices }, Change::Start { osds }]
}

/// Anything that a plan may hold, of the OSDs and pools of [`small`].
pub fn change() -> impl Strategy<Value = Change> {
    let flag =
        prop::sample::select(vec![Flag::NoOut, Flag::NoBackfill, Flag::NoRecover, Flag::NoRebalance, Flag::NoUp]);
    prop_oneof![
        3 => some_osds().prop_map(|osds| Change::Fail { osds }),
        2 => some_osds().prop_map(|osds| Change::Stop { osds }),
        4 => some_osds().prop_map(|osds| Change::Start { osds }),
        2 => some_osds().prop_map(|osds| Change::Out { osds }),
        2 => some_osds().prop_map(|osds| Change::In { osds }),
        2 => (some_osds(), 1..=4_u32).prop_map(|(osds, part)| Change::Reweight { osds, weight: ONE * part / 4 }),
        2 => (prop::sample::select(vec![1_i64, 5]), 9..40_u32).prop_map(|(pool, pg_num)| Change::PgNum { pool, pg_num }),
        1 => (2..=4_u32).prop_map(|size| Change::PoolSize { pool: 1, size, min_size: size - 1 }),
        1 => any::<bool>().prop_map(|on| Change::Balance { on }),
        1 => flag.clone().prop_map(|flag| Change::Flags { set: vec![flag], unset: vec![] }),
        1 => flag.prop_map(|flag| Change::Flags { set: vec![], unset: vec![flag] }),
        1 => prop::sample::select(vec![1_i64, 5]).prop_map(|pool| Change::Force { pool, groups: vec![] }),
        1 => (some_osds(), 1..=4_u32).prop_map(|(osds, part)| Change::Slow { osds, share: f64::from(part) / 4.0 }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    // Rule: whatever happens, the laws hold (the run checks them), a run repeats to the byte, and groups that are not stuck have all
    // their data where it should be.
    #[test]
    fn laws_hold_whatever_happens(
        changes in prop::collection::vec((0..3000_u32, change()), 1..8),
        adds in prop::option::of(0..3000_u32),
        replaced in prop::option::of((0..3000_u32, some_osds())),
        slots in 1..3_u32,
        writes in prop::sample::select(vec![0.0, 50.0, 50_000.0]),
        capacity in prop::sample::select(vec![1000, 3, 2]),
        // Nine groups an OSD; it takes on three times as many as this.
        most in prop::sample::select(vec![250, 4, 3]),
        needed in 0..3_u32,
    ) {
        let mut input = small();
        input.osd_settings[0].osd_max_backfills = slots;
        input.osd_settings[0].mon_max_pg_per_osd = most;
        if needed > 0 {
            // Hosts are of type 1; as sites they are too many for a degraded mode, which is then never entered.
            let stretch = Stretch { count: needed, target: 3, barrier: 1, mandatory_member: None };
            input.pools[0].stretch = Some(stretch);
            let mode = StretchMode { bucket_count: 2, bucket: 1, is_degraded: needed == 1, is_recovering: false };
            input.stretch_mode = Some(mode);
        }
        input.plan = changes.into_iter().map(|(time, change)| at(f64::from(time), change)).collect();
        input.plan.extend(adds.map(|time| at(f64::from(time), added())));
        let replaced = replaced.map(|(time, osds)| replace(osds).map(|change| at(f64::from(time), change)));
        input.plan.extend(replaced.into_iter().flatten());
        input.plan.sort_by(|one, other| one.at_seconds.total_cmp(&other.at_seconds));
        if writes > 0.0 {
            input.load = vec![PoolLoad { writes_per_second: writes, write_bytes: 4096, ..PoolLoad::default() }; 2];
        }
        // What the pools hold is some 0.9 GiB an OSD: large, tight and too small OSDs.
        input.osds.iter_mut().for_each(|osd| osd.capacity_bytes = capacity << 29);
        let plane = || Box::new(SteadyPlane::new(2e6));
        let outcome = run_with(&input, plane());
        if outcome.texts("stuck", "pgid").is_empty() {
            for until in ["degraded_seconds", "at_risk_seconds", "inactive_seconds", "whole_seconds"] {
                prop_assert!(outcome.reals("pools", until).iter().all(Option::is_some), "{until}");
            }
            for column in ["degraded_objects", "misplaced_objects", "toofull_groups", "deleting_groups"] {
                prop_assert_eq!(outcome.counts("timeline", column).last(), Some(&0), "{}", column);
            }
        }
        prop_assert_eq!(outcome, run_with(&input, plane()));
    }
}

// Rule: the same laws hold with the planes that move real objects, and both come to the same sets.
#[test]
fn laws_hold_with_both_planes() {
    let mut input = small();
    input.plan = vec![at(0.0, Change::Fail { osds: vec![3, 11] }), at(30.0, Change::PgNum { pool: 1, pg_num: 32 })];
    input.load = vec![PoolLoad { reads_per_second: 20.0, read_bytes: 4096, ..PoolLoad::default() }; 2];
    let events = run_with(&input, Box::new(EventPlane::new(input.network, 1)));
    let flows = run_with(&input, Box::new(FlowPlane::new(input.network)));
    for outcome in [&events, &flows] {
        assert!(outcome.texts("stuck", "pgid").is_empty());
        assert!(outcome.reals("clients", "mean_seconds").last().unwrap().is_some_and(|seconds| seconds > 0.0));
    }
    assert_eq!(events.counts("osds", "used_end_bytes"), flows.counts("osds", "used_end_bytes"));
    assert_eq!(events.counts("osds", "groups_end"), flows.counts("osds", "groups_end"));
}
