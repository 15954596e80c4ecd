//! The manager's steps to another number of groups.

use resilver_ceph::Change;
use resilver_ceph::agents::{Agent, Health, Manager};
use resilver_ceph::map::{MapChange, OsdMap, parent_of};

use super::{at, map_of, run, whole};
use crate::common::{cluster, replicated};

fn pool_of(pg_num: u32) -> OsdMap {
    let mut input = cluster(1, 4, 3);
    input.pools = vec![replicated(1, pg_num, 3)];
    map_of(&input)
}

fn pg_num(pg_num: u32) -> Change {
    Change::PgNum { pool: 1, pg_num }
}

/// What a manager does at its first look.
fn first_look(map: &OsdMap, health: &Health) -> Vec<MapChange> {
    let mut manager = Manager::new();
    manager.saw(at(0.0), map);
    manager.act(at(0.0), map, health)
}

// Rule: all groups are made at once where 1,024 suffice, and placements follow in steps of half of 5 %: of 400 groups 10 a look, from
// 100 to 400 in 30 looks of 2 s, the first after the split. Set at 7 s, the first look is at 8 s.
#[test]
fn placements_follow_groups_in_steps() {
    let mut map = pool_of(100);
    let log = run(&mut map, &mut Manager::new(), &[(7.0, pg_num(400))], 1000.0, &|_, map| whole(map));
    let step = |look: u32| (8.0 + 2.0 * f64::from(look), MapChange::PgpNum { pool: 0, pgp_num: 100 + 10 * look });
    let expected: Vec<(f64, MapChange)> =
        [(8.0, MapChange::Split { pool: 0, pg_num: 400 })].into_iter().chain((1..=30).map(step)).collect();
    assert_eq!(log, expected);
}

// Rule: no more than 1,024 groups are under creation at a time, and none are made while a group has not peered.
#[test]
fn groups_are_made_a_thousand_at_a_time() {
    let mut map = pool_of(4096);
    map.apply(&pg_num(8192)).unwrap();
    let making = |creating_groups| Health { creating_groups, ..whole(&map) };
    assert_eq!(first_look(&map, &making(0)), [MapChange::Split { pool: 0, pg_num: 5120 }]);
    assert_eq!(first_look(&map, &making(1000)), [MapChange::Split { pool: 0, pg_num: 4120 }]);
    assert_eq!(first_look(&map, &making(1024)), []);
    let mut peering = whole(&map);
    peering.pools[0].unpeered_groups = 1;
    assert_eq!(first_look(&map, &peering), []);
}

// Rule: placements wait while pieces are missing, groups are inactive or being made, or more than 5 % is misplaced; at 4 % the step is
// the 1 % that is left, 4 of 400, and at 5 % it is one.
#[test]
fn placements_wait_for_health() {
    let mut map = pool_of(100);
    map.apply(&pg_num(400)).unwrap();
    map.act(&MapChange::Split { pool: 0, pg_num: 400 });
    let with = |change: &dyn Fn(&mut Health)| {
        let mut health = whole(&map);
        change(&mut health);
        first_look(&map, &health)
    };
    let to = |pgp_num| [MapChange::PgpNum { pool: 0, pgp_num }];
    assert_eq!(with(&|_| {}), to(110));
    assert_eq!(with(&|health| health.misplaced_pieces = 40_000), to(104));
    assert_eq!(with(&|health| health.misplaced_pieces = 50_000), to(101));
    assert_eq!(with(&|health| health.misplaced_pieces = 50_001), []);
    assert_eq!(with(&|health| health.degraded_pieces = 1), []);
    assert_eq!(with(&|health| health.inactive_groups = 1), []);
    assert_eq!(with(&|health| health.creating_groups = 1), []);
}

// Rule: a pool of no more than an object a group goes to its end at once.
#[test]
fn an_empty_pool_jumps() {
    let mut map = pool_of(100);
    let empty = |_: f64, map: &OsdMap| {
        let mut health = whole(map);
        health.pools[0].objects = 400;
        health
    };
    let log = run(&mut map, &mut Manager::new(), &[(0.0, pg_num(400))], 100.0, &empty);
    assert_eq!(
        log,
        [(0.0, MapChange::Split { pool: 0, pg_num: 400 }), (2.0, MapChange::PgpNum { pool: 0, pgp_num: 400 })]
    );
}

// Rule: groups are merged one a look, the highest first; placements go ahead one a look (2.5 % of 64 is 1.6), never by more than 8;
// upmap entries of a group and its parent go first.
#[test]
fn merges_follow_placements() {
    let mut map = pool_of(64);
    let entry = |map: &OsdMap, group: u32| {
        let mut scratch = resilver_ceph::map::UpScratch::default();
        let from = map.up_of(0, group, &mut scratch).set[0];
        // Another OSD of the same host.
        Change::Upmap { pool: 1, group, pairs: vec![(from, from / 3 * 3 + (from + 1) % 3)] }
    };
    let child = entry(&map, 62);
    let parent = entry(&map, parent_of(61, 61));
    let plan = [(0.0, child), (0.0, parent), (0.0, pg_num(56))];
    let log = run(&mut map, &mut Manager::new(), &plan, 1000.0, &|_, map| whole(map));
    let removed: Vec<u32> = log
        .iter()
        .filter_map(|(_, change)| match change {
            MapChange::Upmap { group, pairs, .. } if pairs.is_empty() => Some(*group),
            _ => None,
        })
        .collect();
    assert_eq!(removed, [62, parent_of(61, 61)]);
    let merges: Vec<f64> = log.iter().filter(|one| matches!(one.1, MapChange::Merge { .. })).map(|one| one.0).collect();
    // A look that merges leaves placements alone, so the two take turns: placements to 63 at 0 s, group 63 goes at 2 s. At 4 s and 8 s
    // the entries of 62 and of 61's parent go beside the placements' step.
    assert_eq!(merges, [2.0, 6.0, 10.0, 14.0, 18.0, 22.0, 26.0, 30.0]);
    assert_eq!((map.pools()[0].pool.pg_num, map.pools()[0].pool.pgp_num), (56, 56));
    // Where no group merges, placements stop 8 ahead.
    let mut map = pool_of(64);
    let still = |_: f64, map: &OsdMap| {
        let mut health = whole(map);
        health.pools[0].mergeable = false;
        health
    };
    run(&mut map, &mut Manager::new(), &[(0.0, pg_num(32))], 1000.0, &still);
    assert_eq!((map.pools()[0].pool.pg_num, map.pools()[0].pool.pgp_num), (64, 56));
}

// Rule: while too much is misplaced it looks less often, but not late: where the share falls steadily from 30 % by 1 % in 1,000 s, it is
// at 5 % after 25,000 s; the step then comes within a look or two (2 s each), after fewer than 150 looks instead of 12,500.
#[test]
fn it_waits_without_looking_all_the_time() {
    let mut map = pool_of(100);
    map.apply(&pg_num(400)).unwrap();
    map.act(&MapChange::Split { pool: 0, pg_num: 400 });
    let looks = std::cell::Cell::new(0);
    let falling = |seconds: f64, map: &OsdMap| {
        looks.set(looks.get() + 1);
        Health { misplaced_pieces: (300_000.0 - 10.0 * seconds).max(0.0) as u64, ..whole(map) }
    };
    let log = run(&mut map, &mut Manager::new(), &[], 25_010.0, &falling);
    assert!((25_000.0..=25_004.0).contains(&log[0].0), "{log:?}");
    assert!(looks.get() < 150, "{} looks", looks.get());
}

// Rule: a merge that waits for its groups is looked for every 2 s at first, then after 1/50 of the wait so far. Of a wait of a day that
// is 50 looks in the first 100 s and about ln(864) / ln(1.02) = 341 after it, and the merge is at most 1/50 of the day late.
#[test]
fn merges_wait_without_looking_all_the_time() {
    let mut map = pool_of(64);
    map.act(&MapChange::PgpNum { pool: 0, pgp_num: 56 });
    let looks = std::cell::Cell::new(0);
    let clean_after_a_day = |seconds: f64, map: &OsdMap| {
        looks.set(looks.get() + 1);
        let mut health = whole(map);
        health.pools[0].mergeable = seconds >= 86_400.0;
        health
    };
    let log = run(&mut map, &mut Manager::new(), &[(0.0, pg_num(56))], 90_000.0, &clean_after_a_day);
    assert!((86_400.0..86_400.0 * 1.02 + 2.0).contains(&log[0].0), "{log:?}");
    // The eight merges follow each other every 2 s.
    assert_eq!(log.len(), 8);
    assert!((log[7].0 - log[0].0 - 14.0).abs() < 1e-9, "{log:?}");
    assert!(looks.get() < 450, "{} looks", looks.get());
}

// Rule: what no look can change is no reason to look: a degraded cluster makes it wait, unless groups are still to be made.
#[test]
fn it_says_when_it_waits() {
    let mut map = pool_of(100);
    let mut manager = Manager::new();
    manager.saw(at(0.0), &map);
    assert_eq!(manager.next(), None);
    map.apply(&pg_num(400)).unwrap();
    manager.saw(at(0.0), &map);
    let hurt = Health { degraded_pieces: 1, ..whole(&map) };
    assert!(manager.next() == Some(at(0.0)) && !manager.waits(&hurt));
    map.act(&MapChange::Split { pool: 0, pg_num: 400 });
    manager.saw(at(0.0), &map);
    assert!(manager.waits(&hurt) && !manager.waits(&whole(&map)));
}
