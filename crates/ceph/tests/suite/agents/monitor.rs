//! The monitors.

use resilver_ceph::agents::Monitor;
use resilver_ceph::map::{MapChange, OsdMap};
use resilver_ceph::{Change, ClusterInput, Flag};

use super::{map_of, run, whole};
use crate::common::cluster;

/// Ten days.
const LONG: f64 = 864_000.0;

/// What the monitors of 3 racks of 4 hosts of 3 OSDs do after a plan; OSDs 0 to 2 are a host, 0 to 11 a rack.
fn monitors(plan: &[(f64, Change)], change: impl Fn(&mut ClusterInput)) -> (OsdMap, Vec<(f64, MapChange)>) {
    let mut input = cluster(3, 4, 3);
    change(&mut input);
    let mut map = map_of(&input);
    let log = run(&mut map, &mut Monitor::new(), plan, LONG, &|_, map| whole(map));
    (map, log)
}

fn fail(osds: impl Iterator<Item = u32>) -> Change {
    Change::Fail { osds: osds.collect() }
}

fn flags(set: &[Flag], unset: &[Flag]) -> Change {
    Change::Flags { set: set.to_vec(), unset: unset.to_vec() }
}

// Rule: an OSD that dies at 5 s is down after 20 s of grace and out 600 s later; its host, which dies as a whole, as well.
#[test]
fn a_host_goes_out_after_ten_minutes() {
    for count in [1, 3] {
        let dead: Vec<u32> = (0..count).collect();
        let (_, log) = monitors(&[(5.0, fail(0..count))], |_| {});
        assert_eq!(log, [(25.0, MapChange::Down(dead.clone())), (625.0, MapChange::Out(dead))]);
    }
}

// Rule: a rack that dies is never marked out by itself; when one of its OSDs runs again, the others' ten minutes begin.
#[test]
fn a_rack_never_goes_out_by_itself() {
    let rack = || (0..12).collect::<Vec<u32>>();
    let (map, log) = monitors(&[(0.0, fail(0..12))], |_| {});
    assert_eq!(log, [(20.0, MapChange::Down(rack()))]);
    assert!((0..12).all(|osd| !map.is_up(osd) && !map.is_out(osd)));
    let back = Change::Start { osds: vec![7] };
    let (map, log) = monitors(&[(0.0, fail(0..12)), (7000.0, back)], |_| {});
    let others: Vec<u32> = rack().into_iter().filter(|&osd| osd != 7).collect();
    // 36 OSDs, of which 27 are three quarters: with 27 in one more may go out, so ten of the eleven do. The last one's clock
    // begins anew, and then too few are in for good.
    assert_eq!(log[1..], [(7600.0, MapChange::Out(others[..10].to_vec()))]);
    assert!(map.is_up(7) && !map.is_out(11));
}

// Rule: the limit is a type of bucket; `host` keeps whole hosts in, and none keeps nothing in.
#[test]
fn the_subtree_limit_is_a_setting() {
    let limit = |name: &'static str| {
        move |input: &mut ClusterInput| {
            input.settings.mon_osd_down_out_subtree_limit = name.to_owned();
            input.settings.mon_osd_min_in_ratio = 0.0;
        }
    };
    let plan = [(0.0, fail(0..4))];
    let (_, log) = monitors(&plan, limit("host"));
    assert_eq!(log[1..], [(620.0, MapChange::Out(vec![3]))]);
    let (_, log) = monitors(&[(0.0, fail(0..12))], limit(""));
    assert_eq!(log[1..], [(620.0, MapChange::Out((0..12).collect()))]);
}

// Rule: noout holds, and the clock goes on under it: after an hour without the flag an OSD is out at once.
#[test]
fn noout_holds() {
    let (_, log) = monitors(&[(0.0, flags(&[Flag::NoOut], &[])), (0.0, fail(0..3))], |_| {});
    assert_eq!(log, [(20.0, MapChange::Down(vec![0, 1, 2]))]);
    let unset = (3600.0, flags(&[], &[Flag::NoOut]));
    let (_, log) = monitors(&[(0.0, flags(&[Flag::NoOut], &[])), (0.0, fail(0..3)), unset], |_| {});
    assert_eq!(log[1..], [(3600.0, MapChange::Out(vec![0, 1, 2]))]);
}

// Rule: an interval of 0 never marks out.
#[test]
fn an_interval_of_nothing_is_for_ever() {
    let (_, log) = monitors(&[(0.0, fail(0..3))], |input| input.settings.mon_osd_down_out_interval = 0.0);
    assert_eq!(log, [(20.0, MapChange::Down(vec![0, 1, 2]))]);
}

// Rule: below 75 % of OSDs in, nothing more goes out, and below 30 % up, nothing more is down. Of 36 OSDs, ten of each rack die. Down:
// with 11 up (0.306) one more may go, with 10 (0.278) none, so 26 of the 30. Out: with 27 in (0.75) one more may, so ten.
#[test]
fn ratios_hold() {
    let dead: Vec<u32> = (0..36).filter(|osd| osd % 12 < 10).collect();
    let (map, log) = monitors(&[(0.0, Change::Fail { osds: dead.clone() })], |_| {});
    assert_eq!(log, [(20.0, MapChange::Down(dead.clone())), (620.0, MapChange::Out(dead[..10].to_vec()))]);
    assert_eq!((0..36).filter(|&osd| map.is_up(osd)).count(), 10);
    assert!(dead[26..].iter().all(|&osd| map.is_up(osd)));
}

// Rule: nodown keeps the dead up until it goes; noup keeps what starts down until it goes.
#[test]
fn flags_wait() {
    let plan = [
        (0.0, flags(&[Flag::NoDown], &[])),
        (0.0, fail(0..1)),
        (500.0, flags(&[Flag::NoUp], &[Flag::NoDown])),
        (700.0, Change::Start { osds: vec![0] }),
        (900.0, flags(&[], &[Flag::NoUp])),
    ];
    let (map, log) = monitors(&plan, |_| {});
    assert_eq!(log, [(500.0, MapChange::Down(vec![0])), (900.0, MapChange::Up(vec![0]))]);
    assert!(map.is_up(0) && !map.is_out(0));
}

// Rule: what starts within the grace was never down, and what the monitors marked out is in again when it starts.
#[test]
fn who_returns_is_in_again() {
    let start = |seconds| (seconds, Change::Start { osds: vec![4] });
    let (_, log) = monitors(&[(0.0, fail(4..5)), start(19.0)], |_| {});
    assert_eq!(log, []);
    let (map, log) = monitors(&[(0.0, fail(4..5)), start(1000.0)], |_| {});
    assert_eq!(log.last(), Some(&(620.0, MapChange::Out(vec![4]))));
    assert!(map.is_up(4) && !map.is_out(4));
}

// Rule: an OSD that is down in the input counts as down from the start, and one that is stopped from then.
#[test]
fn clocks_begin_when_they_must() {
    let (_, log) = monitors(&[(100.0, Change::Stop { osds: vec![20] })], |input| input.osds[5].up = false);
    assert_eq!(log, [(600.0, MapChange::Out(vec![5])), (700.0, MapChange::Out(vec![20]))]);
}
