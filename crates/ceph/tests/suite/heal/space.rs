//! Space: the exact rule of toofull, what fills on the way, and what waits for ever.

use resilver_ceph::fill::{Fill, Fullness};
use resilver_ceph::{Add, Change, ClusterInput, Healing, OsdInput, Ratios};
use resilver_units::SimTime;

use super::random::run_with;
use super::steady::SteadyPlane;
use super::{Outcome, at, filled};
use crate::common::{cluster, coded, osd, replicated};

const MIB: u64 = 1 << 20;
const RATIOS: Ratios = Ratios { nearfull: 0.85, backfillfull: 0.9, full: 0.95, failsafe: 0.97 };

fn healed(input: &ClusterInput) -> Outcome {
    run_with(input, Box::new(SteadyPlane::new(1e8)))
}

/// An OSD of 1,000 bytes of which so many are used.
fn of_1000(used: u64) -> Fill {
    let mut fill = Fill::new(RATIOS);
    let mut osd = osd(0, 0);
    (osd.capacity_bytes, osd.min_alloc_bytes) = (1000, 1);
    fill.add_osd(&osd);
    fill.begin(SimTime::ZERO, 0, Some(used));
    fill
}

// Rule: a backfill is refused where (used + promised + max(0, primary - local)) / total is above 0.90, and not where it is 0.90.
#[test]
fn toofull_is_above_the_ratio_with_what_is_promised() {
    let mut fill = of_1000(700);
    // 700 + 150 = 850; + 50 = 900, which is not above 0.90; one byte more is.
    assert!(fill.promise(SimTime::ZERO, 0, 1, 150, 0));
    assert!(!fill.promise(SimTime::ZERO, 0, 2, 51, 0));
    assert!(fill.promise(SimTime::ZERO, 0, 2, 50, 0));
    // What the target has of the group counts off; more than the primary has is no gain.
    assert!(fill.promise(SimTime::ZERO, 0, 3, 400, 400));
    assert!(fill.promise(SimTime::ZERO, 0, 4, 400, 500));
    assert!(!fill.promise(SimTime::ZERO, 0, 5, 401, 400));
    // A promise that is taken back, or that has come, makes place for as much.
    fill.forget(SimTime::ZERO, 0, 2);
    assert!(fill.promise(SimTime::ZERO, 0, 5, 401, 351));
    assert_eq!(fill.space(0).unwrap().pending(), 200);
    fill.came(0, 1, 100);
    assert_eq!(fill.space(0).unwrap().pending(), 100);
}

// Rule: nearfull and failsafe are of used bytes; backfillfull and full of those and what is promised.
#[test]
fn states_count_promises_where_ceph_does() {
    let judged = |used, more| of_1000(used).judge(0, more);
    assert_eq!(judged(850, 0), Fullness::Free);
    assert_eq!(judged(851, 0), Fullness::Nearfull);
    assert_eq!(judged(800, 100), Fullness::Free);
    assert_eq!(judged(800, 101), Fullness::Backfillfull);
    assert_eq!(judged(800, 151), Fullness::Full);
    assert_eq!(judged(800, 400), Fullness::Full);
    assert_eq!(judged(971, 0), Fullness::Failsafe);
}

/// Three racks of four hosts of two OSDs that are so full, with 64 groups of three copies and 32 of 4+2.
fn loaded(fill: f64) -> ClusterInput {
    let mut input = cluster(3, 4, 2);
    input.pools = vec![replicated(1, 256, 3), coded(5, 128, 4, 2)];
    filled(&mut input, 100, 400 * MIB);
    // 256 x 3 x 400 MiB and 128 x 6 x 100 MiB on 24 OSDs.
    let bytes = (256 * 3 * 400 + 128 * 6 * 100) * MIB / 24;
    input.osds.iter_mut().for_each(|osd| osd.capacity_bytes = (bytes as f64 / fill) as u64);
    input
}

// Rule: an OSD that would be above backfillfull gets nothing, none ends above it but by what allocation adds, and the groups
// that find no space wait for ever and say for whom.
#[test]
fn a_host_lost_where_there_is_no_space_leaves_groups_that_wait() {
    let mut input = loaded(0.8);
    input.plan = vec![at(0.0, Change::Fail { osds: vec![0, 1, 2, 3] })];
    let outcome = healed(&input);
    let states = outcome.texts("stuck", "state");
    let toofull = states.iter().filter(|state| state.contains("backfill_toofull")).count();
    assert!(toofull > 0);
    assert_eq!(outcome.counts("timeline", "toofull_groups").last(), Some(&(toofull as i64)));
    let reasons = outcome.texts("stuck", "reason");
    assert!(
        reasons.iter().zip(states).all(|(reason, state)| !state.contains("toofull") || reason.contains("no space"))
    );
    // Refused first long before the last of many tries.
    let since = outcome.reals("stuck", "since_seconds");
    assert!(since.iter().all(|since| since.unwrap() < outcome.seconds - 60.0));
    let (peaks, sizes) = (outcome.counts("osds", "peak_used_bytes"), outcome.counts("osds", "capacity_bytes"));
    let grew: Vec<usize> = (4..24).filter(|&osd| outcome.counts("osds", "received_bytes")[osd] > 0).collect();
    assert!(grew.iter().all(|&osd| peaks[osd] as f64 <= 0.9 * sizes[osd] as f64));
    // Some pass nearfull on the way, at a time after the OSDs are out (20 s and 600 s).
    let near = outcome.reals("osds", "nearfull_seconds");
    assert!(grew.iter().filter_map(|&osd| near[osd]).any(|seconds| seconds > 620.0));
    // At half the fill all find a place.
    let half = loaded(0.4);
    assert!(healed(&ClusterInput { plan: input.plan, ..half }).texts("stuck", "pgid").is_empty());
}

// Rule: an OSD that is replaced by one of twice the size under the same number and weight gets just what it had, from the others; half of
// its weight more, and it gets more. Nothing is written but what belongs there.
#[test]
fn a_replaced_osd_gets_what_it_had() {
    let mut input = loaded(0.4);
    let device = OsdInput { capacity_bytes: 2 * input.osds[7].capacity_bytes, ..input.osds[7].clone() };
    let changes =
        [Change::Stop { osds: vec![7] }, Change::Replace { osds: vec![device] }, Change::Start { osds: vec![7] }];
    input.plan = changes.map(|change| at(10.0, change)).to_vec();
    let same = healed(&input);
    assert!(same.texts("stuck", "pgid").is_empty());
    let whole = healed(&ClusterInput { plan: Vec::new(), ..input.clone() });
    assert_eq!(same.counts("osds", "used_end_bytes"), whole.counts("osds", "used_end_bytes"));
    let held = whole.counts("osds", "used_start_bytes")[7];
    assert_eq!(same.counts("osds", "received_bytes")[7], held);
    assert_eq!(same.counts("osds", "used_start_bytes")[7], 0);
    assert_eq!(same.counts("osds", "capacity_bytes")[7], 2 * whole.counts("osds", "capacity_bytes")[7]);
    let sums = |column| same.counts("pools", column).iter().sum::<i64>();
    assert_eq!((sums("recovered_bytes") + sums("moved_bytes"), sums("least_bytes")), (held, held));
    input.plan.insert(2, at(10.0, Change::CrushReweight { item: "osd.7".to_owned(), weight: 1.5 }));
    assert!(healed(&input).counts("osds", "used_end_bytes")[7] > held);
    // What runs is not replaced.
    input.plan.remove(0);
    let error = Healing::of(&input).unwrap().run().unwrap_err().to_string();
    assert!(
        error.contains("replace = osd.7: the device of an OSD that runs cannot be replaced; stop it first"),
        "{error}"
    );
}

// Rule: an expansion needs space before it gives any: copies are in two places until their groups are clean, and the most bytes of
// all OSDs are above those of the start and of the end, which are equal.
#[test]
fn an_expansion_takes_space_before_it_gives_any() {
    let mut input = loaded(0.6);
    let adds = (24..28).map(|id| Add {
        osd: resilver_ceph::OsdInput { capacity_bytes: input.osds[0].capacity_bytes, ..osd(id, -1) },
        name: format!("osd.{id}"),
        weight: 1.0,
        class: String::new(),
        location: vec![("host".to_owned(), format!("new.{}", id / 2)), ("rack".to_owned(), "rack.0".to_owned())],
    });
    input.plan = vec![at(10.0, Change::Add { osds: adds.collect() })];
    let outcome = healed(&input);
    assert!(outcome.texts("stuck", "pgid").is_empty());
    assert!(outcome.counts("osds", "received_bytes")[24..].iter().all(|&bytes| bytes > 0));
    let (times, used) = (outcome.reals("fill", "time_seconds"), outcome.counts("fill", "used_bytes"));
    let mut sums: Vec<(f64, i64)> = Vec::new();
    for (time, used) in times.iter().zip(used) {
        match sums.last_mut() {
            Some((last, sum)) if Some(*last) == *time => *sum += used,
            _ => sums.push((time.unwrap(), *used)),
        }
    }
    let (first, last) = (sums[0].1, sums[sums.len() - 1].1);
    assert_eq!(first, last);
    assert!(sums.iter().map(|&(_, sum)| sum).max().unwrap() > first);
}

// Rule: a rack that dies is never out by itself; a host is after the grace and the interval, 20 + 600 s, and noout holds it.
#[test]
fn racks_stay_in_and_hosts_go_out() {
    let out_at = |osds: Vec<u32>, noout: bool| {
        let mut input = loaded(0.4);
        if noout {
            input.flags = vec![resilver_ceph::Flag::NoOut];
        }
        input.plan = vec![at(100.0, Change::Fail { osds })];
        let outcome = healed(&input);
        let what = outcome.texts("history", "what");
        what.iter()
            .position(|what| what.ends_with("out"))
            .map(|row| outcome.reals("history", "time_seconds")[row].unwrap())
    };
    assert_eq!(out_at(vec![0, 1], false), Some(720.0));
    assert_eq!(out_at((0..8).collect(), false), None);
    assert_eq!(out_at(vec![0, 1], true), None);
}
