//! What upmap entries may not do, on random clusters; whether they are Ceph's own, the Python oracle tests ask.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use resilver_crush::balance::{
    ByteLimits, CountLimits, Entry, PoolBytes, RawSets, Retries, calc_pg_upmaps, plan_by_bytes,
};
use resilver_crush::pool::{Exceptions, Osds, Pool, PoolKind};
use resilver_crush::{BucketKind, CrushMap, Scratch, TreeRule, Tunables};

const ONE: u32 = 0x10000;

/// A cluster of one pool, drawn.
#[derive(Debug, Clone)]
struct Drawn {
    osds: u32,
    map: CrushMap,
    pool: Pool,
    /// The level that separates copies, and the copies that one rack may hold.
    domain: &'static str,
    rack_most: usize,
    reweight: Vec<u32>,
    is_up: Vec<bool>,
    capacity: Vec<u64>,
    piece_bytes: Vec<u64>,
}

impl Drawn {
    fn osds(&self) -> Osds<'_> {
        Osds { reweight: &self.reweight, is_up: &self.is_up, affinity: &[] }
    }

    /// The up set of each group, with the entries of `pool`.
    fn sets(&self, pool: &Pool) -> Vec<Vec<i32>> {
        let (mut scratch, rule) = (Scratch::new(), pool.rule_of(&self.map).unwrap());
        let up = |ps| {
            let mut set = Vec::new();
            pool.up_set(&self.map, rule, ps, self.osds(), &mut scratch, &mut set);
            set
        };
        (0..pool.pg_num).map(up).collect()
    }

    fn used(&self, sets: &[Vec<i32>]) -> Vec<u64> {
        let mut used = vec![0; self.osds as usize];
        for (set, bytes) in sets.iter().zip(&self.piece_bytes) {
            set.iter().for_each(|&osd| used[osd as usize] += bytes);
        }
        used
    }

    /// The sum over OSDs of used^2 / capacity, which is least where all are equally full.
    fn unevenness(&self, used: &[u64]) -> f64 {
        used.iter().zip(&self.capacity).map(|(&used, &capacity)| (used as f64).powi(2) / capacity as f64).sum()
    }

    fn fullest(&self, used: &[u64]) -> f64 {
        let fills = used.iter().zip(&self.capacity).map(|(&used, &capacity)| used as f64 / capacity as f64);
        fills.fold(0.0, f64::max)
    }

    /// How many pieces of a set each part of a level has.
    fn by_part(&self, set: &[i32], level: &str) -> BTreeMap<i32, usize> {
        let mut counts = BTreeMap::new();
        for &osd in set {
            *counts.entry(self.map.ancestor(osd, level).unwrap()).or_insert(0) += 1;
        }
        counts
    }

    fn plan(&self, pool: &Pool, limits: ByteLimits) -> Vec<Entry> {
        let raw = RawSets::place(&self.map, pool, self.osds()).unwrap();
        let used = self.used(&self.sets(pool));
        let pools = [PoolBytes { pool, raw: &raw, piece_bytes: &self.piece_bytes }];
        plan_by_bytes(&pools, self.osds(), &self.capacity, &used, limits)
    }

    fn counted(&self, pool: &Pool, limits: CountLimits, retries: Option<Retries<'_>>) -> Vec<Entry> {
        let raw = RawSets::place(&self.map, pool, self.osds()).unwrap();
        calc_pg_upmaps(&[(pool, &raw)], self.osds(), limits, retries).0
    }
}

fn with_entries(pool: &Pool, entries: &[Entry]) -> Pool {
    let mut pool = pool.clone();
    for entry in entries {
        if entry.pairs.is_empty() {
            assert!(pool.exceptions.upmap_items.remove(&entry.group).is_some(), "only an entry that there is goes");
        } else {
            pool.exceptions.upmap_items.insert(entry.group, entry.pairs.clone());
        }
    }
    pool
}

/// Four racks of three hosts of some OSDs, of which some are out, down or in by part.
fn clusters() -> impl Strategy<Value = Drawn> {
    let rules = prop::sample::select(vec![("host", 12, 3), ("rack", 1, 3), ("rack-host", 2, 4), ("osd", 12, 3)]);
    (1..5u32, rules, 16..97u32).prop_flat_map(|(each, (shape, rack_most, size), pg_num)| {
        let osds = 12 * each;
        let count = osds as usize;
        let domains: &[(&str, u32)] = match shape {
            "rack-host" => &[("rack", 2), ("host", 2)],
            "host" => &[("host", 0)],
            "rack" => &[("rack", 0)],
            _ => &[("osd", 0)],
        };
        let levels = [("osd", osds), ("host", 12), ("rack", 4)];
        let rule = TreeRule { domains, class: None };
        let map = CrushMap::tree(&levels, &[], BucketKind::Straw2, Tunables::JEWEL, rule).unwrap();
        let pool = Pool {
            id: 3,
            pg_num,
            pgp_num: pg_num,
            size,
            rule: 0,
            hashpspool: true,
            kind: PoolKind::Replicated,
            exceptions: Exceptions::default(),
        };
        let domain = if shape == "rack-host" { "host" } else { shape };
        (
            prop::collection::vec(prop::sample::select(vec![ONE, ONE, ONE, ONE, ONE, ONE, 0, ONE / 2]), count),
            prop::collection::vec(prop::sample::select(vec![true, true, true, true, true, true, true, false]), count),
            prop::collection::vec(1_000_000..4_000_000u64, count),
            prop::collection::vec(1_000..20_000u64, pg_num as usize),
        )
            .prop_map(move |(reweight, is_up, capacity, piece_bytes)| Drawn {
                osds,
                map: map.clone(),
                pool: pool.clone(),
                domain,
                rack_most,
                reweight,
                is_up,
                capacity,
                piece_bytes,
            })
    })
}

const ALL: ByteLimits = ByteLimits { pieces: usize::MAX, moved_bytes: u64::MAX, within: 0.0 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // Rule: entries by bytes never put two pieces of a group into one failure domain, nor more into a rack than the rule does,
    // nor anything onto an OSD that is out or down; and no group loses a piece.
    #[test]
    fn plans_by_bytes_keep_to_the_rule(drawn in clusters()) {
        let before = drawn.sets(&drawn.pool);
        let after = with_entries(&drawn.pool, &drawn.plan(&drawn.pool, ALL));
        for (old, new) in before.iter().zip(drawn.sets(&after)) {
            prop_assert_eq!(old.len(), new.len());
            for osd in new.iter().filter(|osd| !old.contains(osd)) {
                prop_assert!(drawn.is_up[*osd as usize] && drawn.reweight[*osd as usize] > 0, "osd.{}", osd);
            }
            if drawn.domain != "osd" {
                prop_assert!(drawn.by_part(&new, drawn.domain).values().all(|&count| count == 1), "{:?} -> {:?}", old, new);
            }
            prop_assert_eq!(new.iter().collect::<BTreeSet<_>>().len(), new.len());
            prop_assert!(drawn.by_part(&new, "rack").values().all(|&count| count <= drawn.rack_most), "{:?} -> {:?}", old, new);
            if drawn.rack_most == 2 {
                // Pieces that the rule keeps together in two racks stay in as many.
                let racks = |set| drawn.by_part(set, "rack").len();
                prop_assert!(racks(&new) <= racks(old), "{:?} -> {:?}", old, new);
            }
        }
    }

    // Rule: a plan by bytes leaves no cluster less even nor its fullest OSD fuller, moves no more than it may, and a plan on top
    // of a plan finds nothing.
    #[test]
    fn plans_by_bytes_are_never_worse(drawn in clusters(), pieces in 0..40usize, share in 0.0..0.3f64) {
        let before = drawn.sets(&drawn.pool);
        let used = drawn.used(&before);
        let limits = ByteLimits { pieces, moved_bytes: (used.iter().sum::<u64>() as f64 * share) as u64, within: 0.0 };
        for limits in [limits, ALL] {
            let after = with_entries(&drawn.pool, &drawn.plan(&drawn.pool, limits));
            let sets = drawn.sets(&after);
            let then = drawn.used(&sets);
            prop_assert!(drawn.unevenness(&then) <= drawn.unevenness(&used) * (1.0 + 1e-12));
            prop_assert!(drawn.fullest(&then) <= drawn.fullest(&used));
            let came = |(old, new): (&Vec<i32>, &Vec<i32>)| new.iter().filter(|osd| !old.contains(osd)).count();
            let moved: Vec<usize> = before.iter().zip(&sets).map(came).collect();
            prop_assert!(moved.iter().sum::<usize>() <= limits.pieces);
            let bytes: u64 = moved.iter().zip(&drawn.piece_bytes).map(|(&count, bytes)| count as u64 * bytes).sum();
            prop_assert!(bytes <= limits.moved_bytes);
            if limits == ALL {
                prop_assert_eq!(drawn.plan(&after, limits), Vec::new());
            }
        }
    }

    // Rule: entries by groups lower the sum of squared deviations from equal shares (all weights are equal here where all OSDs
    // are in), at most one group a step, with the draws as without.
    #[test]
    fn steps_by_groups_are_never_worse(drawn in clusters(), steps in 1..30usize, seed in any::<u64>()) {
        let drawn = Drawn { reweight: vec![ONE; drawn.osds as usize], is_up: vec![true; drawn.osds as usize], ..drawn };
        let squares = |sets: &[Vec<i32>]| {
            let mut counts = vec![0i64; drawn.osds as usize];
            sets.iter().flatten().for_each(|&osd| counts[osd as usize] += 1);
            // The sum of the counts is the same for any sets, so that of their squares tells deviations apart.
            counts.iter().map(|count| count * count).sum::<i64>()
        };
        let limits = CountLimits { steps, deviation: 1 };
        let before = drawn.sets(&drawn.pool);
        let mut random = crate::common::Random::new(seed);
        let mut shuffle = |groups: &mut [u32]| {
            (1..groups.len()).rev().for_each(|last| groups.swap(last, random.below(last as u64 + 1) as usize));
        };
        let retries = Retries { most: 100, shuffle: &mut shuffle };
        for entries in [drawn.counted(&drawn.pool, limits, None), drawn.counted(&drawn.pool, limits, Some(retries))] {
            let sets = drawn.sets(&with_entries(&drawn.pool, &entries));
            prop_assert!(entries.len() <= steps);
            prop_assert!(entries.is_empty() || squares(&sets) < squares(&before));
        }
    }
}

// Rule: whatever a map's rules are, steps that end at buckets and rules that name more than there is included, both ways end,
// and give pairs of devices that are in.
#[test]
fn any_rule_has_an_answer() {
    let mut found = 0;
    for seed in 0..60 {
        let drawn = crate::common::random_map(seed);
        let map = CrushMap::from_text(&drawn.text).unwrap();
        let devices = map.max_device() as usize;
        let (reweight, is_up) = (vec![ONE; devices], vec![true; devices]);
        let osds = Osds { reweight: &reweight, is_up: &is_up, affinity: &[] };
        for rule in 0..drawn.rules {
            let kind = if seed % 2 == 0 { PoolKind::Replicated } else { PoolKind::Erasure };
            let (size, exceptions) = (drawn.copies as u32, Exceptions::default());
            let pool = Pool { id: 1, pg_num: 64, pgp_num: 64, size, rule, hashpspool: true, kind, exceptions };
            let raw = RawSets::place(&map, &pool, osds).unwrap();
            let limits = CountLimits { steps: 30, deviation: 1 };
            let (mut entries, _) = calc_pg_upmaps(&[(&pool, &raw)], osds, limits, None);
            let pools = [PoolBytes { pool: &pool, raw: &raw, piece_bytes: &[1 << 20; 64] }];
            let (capacity, mut used) = (vec![1u64 << 30; devices], vec![0; devices]);
            for group in 0..64 {
                for &device in raw.of(group).iter().filter(|&&device| (0..devices as i32).contains(&device)) {
                    used[device as usize] += 1 << 20;
                }
            }
            entries.extend(plan_by_bytes(&pools, osds, &capacity, &used, ALL));
            for pair in entries.iter().flat_map(|entry| &entry.pairs) {
                assert!([pair.0, pair.1].iter().all(|osd| (0..devices as i32).contains(osd)), "map {seed}: {pair:?}");
                found += 1;
            }
        }
    }
    assert!(found > 100, "{found} pairs");
}

// Rule: without a failure domain in the way, draws end where no OSD misses its target by more than the bound: 12 OSDs, 256
// groups of 3 copies, 64 pieces each, within 1.
#[test]
fn draws_reach_the_bound() {
    let map = CrushMap::flat(12, BucketKind::Straw2, Tunables::JEWEL);
    let (kind, exceptions) = (PoolKind::Replicated, Exceptions::default());
    let pool = Pool { id: 1, pg_num: 256, pgp_num: 256, size: 3, rule: 0, hashpspool: true, kind, exceptions };
    let osds = Osds { reweight: &[ONE; 12], is_up: &[true; 12], affinity: &[] };
    let raw = RawSets::place(&map, &pool, osds).unwrap();
    let mut random = crate::common::Random::new(7);
    let mut shuffle = |groups: &mut [u32]| {
        (1..groups.len()).rev().for_each(|last| groups.swap(last, random.below(last as u64 + 1) as usize));
    };
    let retries = Some(Retries { most: 100, shuffle: &mut shuffle });
    let limits = CountLimits { steps: 1000, deviation: 1 };
    let (entries, left) = calc_pg_upmaps(&[(&pool, &raw)], osds, limits, retries);
    assert_eq!(left, 0);
    let pool = with_entries(&pool, &entries);
    let (mut scratch, mut set, mut counts) = (Scratch::new(), Vec::new(), [0; 12]);
    for ps in 0..256 {
        pool.up_set(&map, pool.rule_of(&map).unwrap(), ps, osds, &mut scratch, &mut set);
        set.iter().for_each(|&osd| counts[osd as usize] += 1);
    }
    assert!(counts.iter().all(|count| (63..=65).contains(count)), "{counts:?}");
}
