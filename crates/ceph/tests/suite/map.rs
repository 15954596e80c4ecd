//! The map: what each change does to it, and that what it says it touched holds all that moved.

use std::collections::BTreeSet;

use proptest::prelude::*;
use resilver_ceph::map::{MapChange, OsdMap, Touched, UpScratch, UpSets, parent_of};
use resilver_ceph::{Add, Change, ClusterInput, Flag};
use resilver_crush::NONE;

use crate::common::{ONE, cluster, coded, of_classes, osd, replicated};

/// Three racks of four hosts of three OSDs; three copies in 100 groups, 4+2 in 64.
fn small() -> ClusterInput {
    let mut input = cluster(3, 4, 3);
    input.pools = vec![replicated(1, 100, 3), coded(5, 64, 4, 2)];
    input
}

fn all_sets(map: &OsdMap) -> Vec<UpSets> {
    let mut sets = vec![UpSets::default(); map.pools().len()];
    for (pool, sets) in sets.iter_mut().enumerate() {
        map.up_sets(pool, sets);
    }
    sets
}

/// The groups whose up set or primary is another; groups that one of the two does not have are left out.
fn moved(before: &[UpSets], after: &[UpSets]) -> BTreeSet<(usize, u32)> {
    let mut moved = BTreeSet::new();
    for (pool, (before, after)) in before.iter().zip(after).enumerate() {
        for group in 0..before.groups().min(after.groups()) {
            if before.set(group) != after.set(group) || before.primary(group) != after.primary(group) {
                moved.insert((pool, group));
            }
        }
    }
    moved
}

/// Whether a change names a group.
fn names(map: &OsdMap, touched: &Touched, before: &[UpSets], (pool, group): (usize, u32)) -> bool {
    match touched {
        Touched::Nothing => false,
        Touched::Groups(groups) => groups.contains(&(pool, group)),
        Touched::Holders(osds) => before[pool].set(group).iter().any(|&one| osds.contains(&(one as u32))),
        Touched::Takers { pools, osds, groups } => {
            groups.contains(&(pool, group))
                || (pools.contains(&pool) && map.may_be_served_by(pool, before[pool].set(group), osds))
        }
        Touched::Pools(pools) => pools.contains(&pool),
        Touched::Everything => true,
    }
}

// Rule: the sets of all groups together are those of each group alone.
#[test]
fn sets_together_are_sets_alone() {
    let mut input = small();
    input.osds[7].up = false;
    input.osds[20].reweight = ONE / 2;
    let map = OsdMap::new(&input).unwrap();
    let mut scratch = UpScratch::default();
    for (pool, sets) in all_sets(&map).iter().enumerate() {
        assert_eq!(sets.groups(), map.pools()[pool].pool.pg_num);
        for group in 0..sets.groups() {
            let up = map.up_of(pool, group, &mut scratch);
            assert_eq!((up.set, up.primary), (sets.set(group), sets.primary(group)));
        }
    }
}

// Rule: what dies stays up in the map; what is stopped is down at once; out and in again gives the same sets.
#[test]
fn states_follow_changes() {
    let mut map = OsdMap::new(&small()).unwrap();
    let whole = all_sets(&map);
    assert_eq!(map.apply(&Change::Fail { osds: vec![4] }), Ok(Touched::Nothing));
    assert!(!map.runs(4) && map.is_up(4));
    assert_eq!(map.apply(&Change::Stop { osds: vec![5] }), Ok(Touched::Holders(vec![5])));
    assert!(!map.runs(5) && !map.is_up(5) && !map.is_out(5));
    map.apply(&Change::Start { osds: vec![4, 5] }).unwrap();
    assert_eq!(all_sets(&map), whole);
    map.apply(&Change::Out { osds: vec![4] }).unwrap();
    assert!(map.is_out(4) && map.is_up(4));
    assert!(!moved(&whole, &all_sets(&map)).is_empty());
    map.apply(&Change::In { osds: vec![4] }).unwrap();
    assert_eq!(all_sets(&map), whole);
    assert_eq!(map.epoch(), 6);
}

// Rule: an OSD that the monitors marked out is in again with its old reweight when it starts; one that an operator marked out is
// not, and stays out until `in` gives it its old reweight.
#[test]
fn only_what_went_out_by_itself_comes_in_by_itself() {
    let mut map = OsdMap::new(&small()).unwrap();
    map.apply(&Change::Reweight { osds: vec![1, 2], weight: ONE / 2 }).unwrap();
    map.apply(&Change::Stop { osds: vec![1, 2] }).unwrap();
    map.act(&MapChange::Out(vec![1]));
    map.apply(&Change::Out { osds: vec![2] }).unwrap();
    // Whoever marks it out once more changes nothing.
    map.apply(&Change::Out { osds: vec![1] }).unwrap();
    map.apply(&Change::Start { osds: vec![1, 2] }).unwrap();
    assert_eq!(map.reweights()[1..3], [ONE / 2, 0]);
    map.apply(&Change::In { osds: vec![2] }).unwrap();
    assert_eq!(map.reweights()[1..3], [ONE / 2, ONE / 2]);
}

// Rule: nodown keeps what is stopped up in the map, noup keeps what starts down, noin keeps it out.
#[test]
fn flags_hold_states() {
    let flags = |set: &[Flag], unset: &[Flag]| Change::Flags { set: set.to_vec(), unset: unset.to_vec() };
    let mut map = OsdMap::new(&small()).unwrap();
    map.apply(&flags(&[Flag::NoDown], &[])).unwrap();
    map.apply(&Change::Stop { osds: vec![3] }).unwrap();
    assert!(map.is_up(3) && !map.runs(3));
    map.apply(&flags(&[Flag::NoUp, Flag::NoIn], &[Flag::NoDown])).unwrap();
    map.act(&MapChange::Down(vec![3]));
    map.act(&MapChange::Out(vec![3]));
    map.apply(&Change::Start { osds: vec![3] }).unwrap();
    assert!(!map.is_up(3) && map.runs(3));
    map.apply(&flags(&[], &[Flag::NoUp])).unwrap();
    map.act(&MapChange::Up(vec![3]));
    assert!(map.is_up(3) && map.is_out(3));
}

// Rule: a group of the highest number is split from the group that its bits without the highest name, and starts where that is.
#[test]
fn children_start_where_their_parents_are() {
    let mut map = OsdMap::new(&small()).unwrap();
    let before = all_sets(&map);
    let touched = map.act(&MapChange::Split { pool: 0, pg_num: 230 });
    assert_eq!(touched, Touched::Groups((100..230).map(|group| (0, group)).collect()));
    let after = all_sets(&map);
    assert!(moved(&before, &after).is_empty());
    for group in 100..230 {
        assert_eq!(after[0].set(group), before[0].set(parent_of(group, 100)));
    }
    // And back: each goes to its parent, which may itself have come by the split.
    map.act(&MapChange::PgpNum { pool: 0, pgp_num: 230 });
    for last in (100..230).rev() {
        map.act(&MapChange::PgpNum { pool: 0, pgp_num: last });
        let mut scratch = UpScratch::default();
        let child = map.up_of(0, last, &mut scratch).set.to_vec();
        assert_eq!(map.up_of(0, parent_of(last, last), &mut scratch).set, child);
        map.act(&MapChange::Merge { pool: 0 });
    }
    assert_eq!(all_sets(&map), before);
}

fn add(id: u32, class: &str, location: &[(&str, &str)]) -> Add {
    let location = location.iter().map(|(kind, name)| ((*kind).to_owned(), (*name).to_owned())).collect();
    Add { osd: osd(id, -1), name: format!("osd.{id}"), weight: 1.0, class: class.to_owned(), location }
}

// Rule: new OSDs of a class stand in the shadows of that class, only the pools whose rule takes it move, and they get their share:
// 9 new OSDs beside 36 of the same weight get 1/5 of the copies, here 19,200; binomial with sd 55, and six of them are 330.
#[test]
fn new_osds_get_their_share() {
    let mut input = of_classes(3, 4, 4, &[Some("hdd"), Some("hdd"), Some("hdd"), Some("ssd")]);
    input.pools = vec![replicated(1, 6400, 3)];
    let mut map = OsdMap::new(&input).unwrap();
    let before = all_sets(&map);
    let adds = |class: &str, from: u32| {
        let host = |id: u32| format!("new-{class}.{}", id % 3);
        let one = |id: u32| add(id, class, &[("host", &host(id)), ("rack", "rack.1"), ("root", "default")]);
        Change::Add { osds: (from..from + 9).map(one).collect() }
    };
    assert_eq!(map.apply(&adds("ssd", 60)), Ok(Touched::Nothing));
    assert_eq!(all_sets(&map), before);
    assert_eq!(map.apply(&adds("hdd", 48)), Ok(Touched::Pools(vec![0])));
    assert_eq!(map.crush().device_class(50), Some("hdd"));
    let mut sets = UpSets::default();
    map.up_sets(0, &mut sets);
    let new = |group: u32| sets.set(group).iter().filter(|&&one| (48..57).contains(&one)).count();
    let got: usize = (0..6400).map(new).sum();
    assert!(got.abs_diff(3840) < 330, "{got} of 19,200");
}

// Rule: a new map takes the place of the old one if it has the pools' rules, and what it does not have is not placed on.
#[test]
fn a_new_map_takes_over() {
    let mut map = OsdMap::new(&small()).unwrap();
    let without = map.crush().without_item("osd.35").unwrap();
    assert_eq!(map.apply(&Change::Crush { crushmap: without.to_json() }), Ok(Touched::Everything));
    for sets in all_sets(&map) {
        assert!((0..sets.groups()).all(|group| !sets.set(group).contains(&35)));
    }
    assert!(map.exists(35));
}

// Rule: names place nothing, and an OSD that moves is placed by the weight of its new host.
#[test]
fn a_renamed_host_keeps_its_groups_and_gets_those_of_an_osd_that_moves_in() {
    let mut map = OsdMap::new(&small()).unwrap();
    let before = all_sets(&map);
    let rename = Change::CrushRename { item: "host.1".into(), name: "other".into() };
    assert_eq!(map.apply(&rename), Ok(Touched::Nothing));
    assert_eq!(all_sets(&map), before);
    let moves = Change::CrushMove { item: "osd.35".into(), location: vec![("host".into(), "other".into())] };
    assert_eq!(map.apply(&moves), Ok(Touched::Everything));
    assert_eq!(map.crush().ancestor(35, "host"), map.crush().ancestor(3, "host"));
    assert_ne!(all_sets(&map), before);
}

/// A map whose rule has another number than those of the pools.
fn ruleless() -> String {
    let mut dump: serde_json::Value = serde_json::from_str(&small().crushmap).unwrap();
    dump["rules"][0]["rule_id"] = 5.into();
    dump.to_string()
}

/// A map with a device whose number is too large to have an array reach to it.
fn far_device() -> String {
    let map = OsdMap::new(&small()).unwrap();
    map.crush().with_item(1 << 18, 1.0, "osd.far", &[("host", "host.1")]).unwrap().to_json()
}

// Rule: a pool of fewer domains than copies is no error: its sets are short, or have holes.
#[test]
fn too_few_domains_make_short_sets() {
    let mut map = OsdMap::new(&small()).unwrap();
    map.apply(&Change::PoolSize { pool: 1, size: 13, min_size: 2 }).unwrap();
    map.apply(&Change::Out { osds: (0..24).collect() }).unwrap();
    let sets = all_sets(&map);
    // Of the 12 hosts only the last four are in.
    assert!((0..100).all(|group| sets[0].set(group).len() <= 4));
    assert!((0..64).all(|group| sets[1].set(group).iter().filter(|&&one| one == NONE).count() >= 2));
}

// Rule: what cannot be is refused, and named with a remedy.
#[test]
fn refusals() {
    let mut map = OsdMap::new(&small()).unwrap();
    let upmap = |group, pairs: &[(i32, i32)]| Change::Upmap { pool: 5, group, pairs: pairs.to_vec() };
    let moved =
        |item: &str, host: &str| Change::CrushMove { item: item.into(), location: vec![("host".into(), host.into())] };
    let renamed = |item: &str, name: &str| Change::CrushRename { item: item.into(), name: name.into() };
    for (change, said) in [
        (
            Change::Out { osds: vec![3, 36] },
            "out = osd.36: a change is of OSDs that the cluster has; name one of its OSDs",
        ),
        (
            Change::PgNum { pool: 2, pg_num: 8 },
            "pg-num: pool = 2: a change is of a pool that the cluster has; the pools are 1, 5",
        ),
        (Change::PgNum { pool: 5, pg_num: 0 }, "a pool comes to have 1 to 16777216 groups"),
        (upmap(64, &[(0, 1)]), "upmap of group 5.40 = 64: the pool has 64 groups"),
        (upmap(63, &[(0, -1)]), "upmap of group 5.3f = osd.-1"),
        (Change::CrushReweight { item: "osd.99".into(), weight: 1.0 }, "crush-reweight = osd.99"),
        (Change::CrushReweight { item: "osd.9".into(), weight: -1.0 }, "a weight is from 0 to below 32768"),
        (moved("host.1", "osd.9"), "crush-move host.1: location = osd.9: it is a device"),
        (moved("host.99", "host.1"), "crush-move host.99: item = host.99"),
        (renamed("osd.1", "osd.99"), "crush-rename osd.1: item = osd.1: this edit is of a bucket"),
        (renamed("host.1", "host.2"), "crush-rename host.1: bucket = host.2: an item has this name already"),
        (Change::Reweight { osds: vec![1], weight: ONE + 1 }, "it is from 0 to 1"),
        (
            Change::Add { osds: vec![add(36, "", &[("host", "nowhere")])] },
            "add osd.36: location = nowhere: the topmost bucket",
        ),
        (Change::Add { osds: vec![add(36, "", &[])] }, "add osd.36: location = nothing"),
        (
            Change::Add { osds: vec![add(35, "", &[("host", "host.1")])] },
            "add = osd.35: a new OSD has a number that no other has",
        ),
        (Change::Add { osds: vec![add(36, "s d", &[("host", "host.1")])] }, "a name is made of letters"),
        (
            Change::Add { osds: vec![add(1 << 18, "", &[("host", "host.1")])] },
            "osds = 262144: numbers of OSDs are below",
        ),
        (Change::Crush { crushmap: "{}".into() }, "map: "),
        (Change::Crush { crushmap: far_device() }, "map: devices = 262144: numbers of devices are below 262144"),
        (Change::Crush { crushmap: ruleless() }, "map: rule of pool 1 (pool1)"),
        (Change::SetRule { pool: 1, rule: 7 }, "the map has no such rule"),
        (Change::PoolSize { pool: 5, size: 3, min_size: 2 }, "the size of a coded pool, 6, stays"),
        (Change::PoolSize { pool: 5, size: 6, min_size: 7 }, "pool 5 (pool5): min_size = 7"),
        (Change::SetRule { pool: 5, rule: 0 }, "set-rule = 0 (replicated): a rule of copies is for replicated pools"),
    ] {
        let (epoch, message) = (map.epoch(), map.apply(&change).unwrap_err().to_string());
        assert!(message.contains(said), "{message}");
        assert_eq!(map.epoch(), epoch);
    }
}

// Rule: an input whose parts do not fit is refused by field.
#[test]
fn inputs_that_do_not_fit() {
    type Break = fn(&mut ClusterInput);
    let broken: [(Break, &str); 8] = [
        (|input| input.osds.swap(0, 1), "osds = 0: each number stands once, in rising order"),
        (|input| input.pools[1].pool.id = 1, "pools = 1: each number stands once"),
        (|input| input.osds[3].capacity_bytes = 0, "osd.3: capacity_bytes = 0"),
        (|input| input.osds[3].settings = 1, "osd.3: settings = 1"),
        (|input| input.pools[0].pool.rule = 3, "pool 1 (pool1): rule"),
        (|input| input.pools[0].pool.pgp_num = 101, "pool 1 (pool1): pgp_num = 101"),
        (|input| input.ratios.full = 0.8, "ratios: full = 0.8: it is not below backfillfull = 0.9"),
        (|input| input.settings.mgr_tick_period = 0.0, "mgr_tick_period = 0"),
    ];
    for (change, said) in broken {
        let mut input = small();
        change(&mut input);
        let message = OsdMap::new(&input).unwrap_err().to_string();
        assert!(message.contains(said), "{message}");
    }
}

fn any_change() -> impl Strategy<Value = Change> {
    let osds = || prop::collection::vec(0u32..36, 1..4);
    let item =
        prop_oneof![(0u32..36).prop_map(|id| format!("osd.{id}")), (0u32..12).prop_map(|id| format!("host.{id}"))];
    let pairs = prop::collection::vec((0i32..36, 0i32..35).prop_map(|(from, by)| (from, (from + by + 1) % 36)), 0..3);
    prop_oneof![
        osds().prop_map(|osds| Change::Fail { osds }),
        osds().prop_map(|osds| Change::Stop { osds }),
        osds().prop_map(|osds| Change::Start { osds }),
        osds().prop_map(|osds| Change::Out { osds }),
        osds().prop_map(|osds| Change::In { osds }),
        (osds(), 0..=ONE).prop_map(|(osds, weight)| Change::Reweight { osds, weight }),
        (item, 0.0..3.0f64).prop_map(|(item, weight)| Change::CrushReweight { item, weight }),
        (0u32..60, pairs, any::<bool>()).prop_map(|(group, pairs, one)| Change::Upmap {
            pool: if one { 1 } else { 5 },
            group,
            pairs
        }),
        (2u32..5).prop_map(|size| Change::PoolSize { pool: 1, size, min_size: 1 }),
    ]
}

fn any_act() -> impl Strategy<Value = MapChange> {
    let osds = || prop::collection::vec(0u32..36, 1..4);
    let pool = || 0usize..2;
    prop_oneof![
        osds().prop_map(MapChange::Down),
        osds().prop_map(MapChange::Up),
        osds().prop_map(MapChange::Out),
        (pool(), 0u32..60).prop_map(|(pool, group)| MapChange::DropUpmap { pool, group, primary: false }),
        (pool(), 100u32..200).prop_map(|(pool, pg_num)| MapChange::Split { pool, pg_num }),
        (pool(), 20u32..64).prop_map(|(pool, pgp_num)| MapChange::PgpNum { pool, pgp_num }),
    ]
}

/// What a step does to a map; groups never get fewer, so that a split is one.
fn make(map: &mut OsdMap, step: &Result<Change, MapChange>) -> Touched {
    match step {
        Ok(change) => map.apply(change).unwrap(),
        Err(MapChange::Split { pool, pg_num }) => {
            let pg_num = map.pools()[*pool].pool.pg_num.max(*pg_num);
            map.act(&MapChange::Split { pool: *pool, pg_num })
        }
        Err(change) => map.act(change),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // Rule: after any sequence of changes, of operators and of agents, every group that moved is among those that the change says it
    // touched, a new group among the groups that it names; and a change that is made twice does nothing the second time.
    #[test]
    fn what_moved_was_touched(steps in prop::collection::vec(
        prop_oneof![any_change().prop_map(Ok), any_act().prop_map(Err)], 1..12,
    )) {
        let mut map = OsdMap::new(&small()).unwrap();
        let mut before = all_sets(&map);
        for step in &steps {
            let touched = make(&mut map, step);
            let after = all_sets(&map);
            for group in moved(&before, &after) {
                prop_assert!(names(&map, &touched, &before, group), "{step:?} moved {group:?} and touched {touched:?}");
            }
            for (pool, sets) in after.iter().enumerate() {
                for group in before[pool].groups()..sets.groups() {
                    prop_assert!(matches!(&touched, Touched::Groups(groups) if groups.contains(&(pool, group))));
                }
            }
            make(&mut map, step);
            prop_assert_eq!(&all_sets(&map), &after);
            before = after;
        }
    }
}
