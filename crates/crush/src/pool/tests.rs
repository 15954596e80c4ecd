use super::*;
use crate::{BatchScratch, CrushMap, Scratch};

/// Four OSDs under one root, and a rule of each mode that places on all of them.
const MAP: &str = "
    device 0 osd.0  device 1 osd.1  device 2 osd.2  device 3 osd.3
    type 0 osd  type 1 root
    root default { id -1 alg straw2 hash 0
        item osd.0 weight 1.0  item osd.1 weight 1.0  item osd.2 weight 1.0  item osd.3 weight 1.0 }
    rule copies { id 0 type replicated step take default step choose firstn 0 type osd step emit }
    rule strips { id 1 type erasure step take default step choose indep 0 type osd step emit }";

const GROUPS: u32 = 32;

fn pool(kind: PoolKind, rule: u32, size: u32) -> Pool {
    let exceptions = Exceptions::default();
    Pool { id: 1, pg_num: GROUPS, pgp_num: GROUPS, size, rule, hashpspool: true, kind, exceptions }
}

/// All groups of a pool, on four OSDs that are all in.
fn sets(pool: &Pool, is_up: [bool; 4], affinity: &[u32]) -> Vec<GroupSets> {
    let map = CrushMap::from_text(MAP).unwrap();
    let osds = Osds { reweight: &[0x10000; 4], is_up: &is_up, affinity };
    let mut scratch = Scratch::new();
    let mut one = |ps| {
        let mut sets = GroupSets::default();
        pool.group_sets(&map, pool.rule_of(&map).unwrap(), ps, osds, &mut scratch, &mut sets);
        sets
    };
    (0..GROUPS).map(&mut one).collect()
}

/// The up sets of all groups, with all OSDs running and with osd.2 down.
fn up_sets(kind: PoolKind, rule: u32, size: u32) -> Vec<(Vec<i32>, Vec<i32>)> {
    let pool = pool(kind, rule, size);
    let before = sets(&pool, [true; 4], &[]).into_iter().map(|sets| sets.up);
    let after = sets(&pool, [true, true, false, true], &[]).into_iter().map(|sets| sets.up);
    before.zip(after).collect()
}

// Rule: the strips of an erasure pool keep their positions, with a hole where the device is down.
#[test]
fn a_device_that_is_down_leaves_a_hole_in_an_erasure_pool() {
    for (before, after) in up_sets(PoolKind::Erasure, 1, 4) {
        // Four strips on four devices: osd.2 holds one in every group.
        assert!(before.contains(&2));
        let holes: Vec<i32> = before.iter().map(|&device| if device == 2 { NONE } else { device }).collect();
        assert_eq!(after, holes);
    }
}

// Rule: a position for which CRUSH finds no device is a hole too. Five strips on four devices leave exactly one.
#[test]
fn an_erasure_pool_wider_than_the_cluster_has_a_hole() {
    for (before, _) in up_sets(PoolKind::Erasure, 1, 5) {
        assert_eq!(before.len(), 5);
        assert_eq!(before.iter().filter(|&&device| device == NONE).count(), 1);
    }
}

// Rule: the copies of a replicated pool move up, also where the rule is one that leaves holes.
#[test]
fn a_device_that_is_down_shortens_the_set_of_a_replicated_pool() {
    for rule in [0, 1] {
        for (before, after) in up_sets(PoolKind::Replicated, rule, 5) {
            assert_eq!(before.len(), 4);
            let rest: Vec<i32> = before.into_iter().filter(|&device| device != 2).collect();
            assert_eq!(after, rest);
        }
    }
}

// Rule: without affinities the first device is primary, and without temporary sets the acting set is the up set.
#[test]
fn the_first_device_is_primary() {
    for kind in [PoolKind::Replicated, PoolKind::Erasure] {
        for one in sets(&pool(kind, 1, 3), [true; 4], &[]) {
            assert_eq!((one.up_primary, one.acting_primary), (one.up[0], one.up[0]));
            assert_eq!(one.acting, one.up);
        }
    }
    for one in sets(&pool(PoolKind::Replicated, 0, 3), [false; 4], &[]) {
        assert_eq!((one.up, one.up_primary, one.acting_primary), (vec![], NO_PRIMARY, NO_PRIMARY));
    }
}

// Rule: a device of affinity zero is primary only where no other device is; copies make room for another at their front in
// the order they have, strips stay.
#[test]
fn a_device_of_no_affinity_is_primary_only_alone() {
    let none_for_2 = [0x10000, 0x10000, 0, 0x10000];
    let copies = pool(PoolKind::Replicated, 0, 3);
    let mut passed_over = 0;
    for (plain, one) in sets(&copies, [true; 4], &[]).into_iter().zip(sets(&copies, [true; 4], &none_for_2)) {
        assert_ne!(one.up_primary, 2);
        assert_eq!(one.up_primary, one.up[0]);
        let swapped = vec![plain.up[1], plain.up[0], plain.up[2]];
        assert_eq!(one.up, if plain.up[0] == 2 { swapped } else { plain.up.clone() });
        passed_over += u32::from(plain.up[0] == 2);
    }
    // Of 32 groups a quarter begin with osd.2; that none does has probability 0.75^32, one in ten thousand.
    assert!(passed_over > 0);
    // Four copies on four devices: osd.2 is in every group.
    for one in sets(&pool(PoolKind::Replicated, 0, 4), [false, false, true, false], &none_for_2) {
        assert_eq!((one.up, one.up_primary), (vec![2], 2));
    }
    let strips = pool(PoolKind::Erasure, 1, 4);
    for (plain, one) in sets(&strips, [true; 4], &[]).into_iter().zip(sets(&strips, [true; 4], &none_for_2)) {
        assert_eq!(one.up, plain.up);
        assert_eq!(one.up_primary, if plain.up[0] == 2 { plain.up[1] } else { plain.up[0] });
    }
}

// Rule: half an affinity keeps a device from about half the groups that it comes first in.
#[test]
fn half_an_affinity_halves_the_primaries() {
    let mut copies = pool(PoolKind::Replicated, 0, 4);
    copies.pg_num = 4096;
    copies.pgp_num = 4096;
    let map = CrushMap::from_text(MAP).unwrap();
    let affinity = [0x10000, 0x10000, 0x8000, 0x10000];
    let osds = Osds { reweight: &[0x10000; 4], is_up: &[true; 4], affinity: &affinity };
    let (mut scratch, mut up) = (Scratch::new(), Vec::new());
    let rule = copies.rule_of(&map).unwrap();
    let of_2 = (0..4096).filter(|&ps| copies.up_set(&map, rule, ps, osds, &mut scratch, &mut up) == 2).count();
    // It comes first in 4096 / 4 = 1024 and keeps 512: binomial with p = 1/8, standard deviation 21; five of them are a
    // false alarm in two million.
    assert!((of_2 as i64 - 512).abs() < 5 * 21, "{of_2}");
}

// Rule: a temporary set serves while it has a device that runs; a temporary primary is taken at its word.
#[test]
fn temporary_sets_serve_meanwhile() {
    let mut copies = pool(PoolKind::Replicated, 0, 2);
    copies.exceptions.pg_temp = [(0, vec![2, 3, 1]), (1, vec![2])].into();
    copies.exceptions.primary_temp = [(0, 1), (2, 3)].into();
    let found = sets(&copies, [true, true, false, true], &[]);
    assert_eq!((&found[0].acting[..], found[0].acting_primary), (&[3, 1][..], 1));
    // What is left of group 1's temporary set is nothing, so its up set serves.
    assert_eq!((&found[1].acting, found[1].acting_primary), (&found[1].up, found[1].up_primary));
    assert_eq!((&found[2].acting, found[2].acting_primary), (&found[2].up, 3));
    let mut strips = pool(PoolKind::Erasure, 1, 2);
    strips.exceptions.pg_temp = [(0, vec![2, 3]), (1, vec![2, NONE])].into();
    let found = sets(&strips, [true, true, false, true], &[]);
    assert_eq!((&found[0].acting[..], found[0].acting_primary), (&[NONE, 3][..], 3));
    assert_eq!((&found[1].acting[..], found[1].acting_primary), (&[NONE, NONE][..], NO_PRIMARY));
}

// Rule: a namespace goes before the name, with one byte between; without one the name stands alone.
#[test]
fn namespaces_are_part_of_the_hashed_name() {
    let copies = pool(PoolKind::Replicated, 0, 2);
    let hash = ObjectHash::Rjenkins;
    let joined = copies.group_of_locator(hash, b"", b"images\x1fdisk-1");
    assert_eq!(copies.group_of_locator(hash, b"images", b"disk-1"), joined);
    // 17138 modulo 32 groups is 18.
    assert_eq!(copies.group_of_locator(ObjectHash::Linux, b"", b"a"), 18);
}

// Rule: groups placed together have the sets they have one by one: in both modes, with sets shorter than the pool's size,
// devices down or out, exceptions, affinity, and a rule whose answers are buckets.
#[test]
fn many_groups_together_are_as_one_by_one() {
    let chooses_root = "\nrule roots { id 2 type replicated step take default step emit }";
    let map = CrushMap::from_text(&format!("{MAP}{chooses_root}")).unwrap();
    let affinity = [0x10000, 0, 0x8000, 0x10000];
    for (kind, rule, size) in [
        (PoolKind::Replicated, 0, 3),
        (PoolKind::Replicated, 0, 6),
        (PoolKind::Replicated, 1, 5),
        (PoolKind::Erasure, 1, 5),
        (PoolKind::Erasure, 0, 6),
        (PoolKind::Erasure, 2, 2),
        (PoolKind::Replicated, 0, 0),
    ] {
        let mut pool = pool(kind, rule, size);
        pool.exceptions.upmap_items.insert(3, vec![(0, 1), (1, 0)]);
        pool.exceptions.pg_temp.insert(4, vec![2, 3]);
        let osds =
            Osds { reweight: &[0x10000, 0x8000, 0x10000, 0], is_up: &[true, true, false, true], affinity: &affinity };
        let rule = pool.rule_of(&map).unwrap();
        let (mut scratch, mut one, mut next) = (Scratch::new(), GroupSets::default(), 2);
        pool.group_sets_in(&pool.batch(&map, rule), 2..GROUPS, osds, &mut BatchScratch::new(), |ps, sets| {
            pool.group_sets(&map, rule, ps, osds, &mut scratch, &mut one);
            assert_eq!((ps, sets), (next, &one));
            next += 1;
        });
        assert_eq!(next, GROUPS);
    }
}
