//! Upmap entries of a large cluster: seconds on one core, with the goal beside them.

use std::time::Instant;

use resilver_crush::balance::{ByteLimits, CountLimits, PoolBytes, RawSets, calc_pg_upmaps, plan_by_bytes};
use resilver_crush::pool::{Exceptions, Osds, Pool, PoolKind};
use resilver_crush::{BucketKind, CrushMap, TreeRule, Tunables};

const OSDS: u32 = 2000;
const GROUPS: u32 = 100_000;
const ENTRIES: usize = 1000;

/// The best of three runs, in seconds, and how many entries each found.
fn measured(mut run: impl FnMut() -> usize) -> (f64, usize) {
    let mut best = (f64::INFINITY, 0);
    for _ in 0..3 {
        let begin = Instant::now();
        let count = run();
        best = (best.0.min(begin.elapsed().as_secs_f64()), count);
    }
    best
}

fn main() {
    println!("{ENTRIES} upmap entries, {GROUPS} groups of 3 copies on {OSDS} OSDs of 100 hosts, best of 3 runs");
    let levels = [("osd", OSDS), ("host", 100), ("rack", 10)];
    let rule = TreeRule { domains: &[("host", 0)], class: None };
    let map = CrushMap::tree(&levels, &[], BucketKind::Straw2, Tunables::JEWEL, rule).unwrap();
    let (kind, exceptions) = (PoolKind::Replicated, Exceptions::default());
    let pool = Pool { id: 1, pg_num: GROUPS, pgp_num: GROUPS, size: 3, rule: 0, hashpspool: true, kind, exceptions };
    let (reweight, is_up) = (vec![0x10000; OSDS as usize], vec![true; OSDS as usize]);
    let osds = Osds { reweight: &reweight, is_up: &is_up, affinity: &[] };
    let raw = RawSets::place(&map, &pool, osds).unwrap();
    // Groups of 16 to 24 GB, and OSDs of 4 TB that they fill to about three quarters.
    let piece_bytes: Vec<u64> =
        (0..u64::from(GROUPS)).map(|group| (16_000 + group * 7919 % 8000) * 1_000_000).collect();
    let mut used = vec![0; OSDS as usize];
    for (group, bytes) in (0..GROUPS).zip(&piece_bytes) {
        raw.of(group).iter().for_each(|&osd| used[osd as usize] += bytes);
    }
    let capacity = vec![4_000_000_000_000; OSDS as usize];
    let pools = [PoolBytes { pool: &pool, raw: &raw, piece_bytes: &piece_bytes }];
    for (pieces, goal) in [(ENTRIES, "3"), (usize::MAX, "none")] {
        let limits = ByteLimits { pieces, moved_bytes: u64::MAX, within: 0.0 };
        let (seconds, count) = measured(|| plan_by_bytes(&pools, osds, &capacity, &used, limits).len());
        println!("{:>30}  {seconds:.2} s  goal {goal}", format!("by bytes, {count} entries"));
    }
    let limits = CountLimits { steps: ENTRIES, deviation: 1 };
    let (seconds, count) = measured(|| calc_pg_upmaps(&[(&pool, &raw)], osds, limits, None).0.len());
    println!("{:>30}  {seconds:.2} s  goal 3", format!("by groups, {count} entries"));
}
