//! Rates of rings on one core: lookups, placements, and the inverse; each with the goal beside it.

#[path = "../../crush/benches/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;

use common::{median_seconds, rounded};
use resilver_placement::inverse::{FailedSet, GroupInverse, Inverse, RehashInverse, Run, SuccessorInverse};
use resilver_placement::layout::{GroupTable, mix};
use resilver_placement::ring::{HashRing, RingWalk};
use resilver_units::{DeviceId, GroupId, ObjectId};

const DEVICES: u32 = 1024;
const POINTS: u32 = 1024;
const COPIES: usize = 3;
const RUNS: usize = 7;

fn ring(walk: RingWalk) -> Arc<HashRing> {
    Arc::new(HashRing::new((0..DEVICES).collect(), POINTS, walk))
}

/// Prints the rate of a run of so many lookups, placements or objects.
fn print_rate(name: &str, count: u64, run: impl FnMut()) {
    println!("    {name}: {}/s", rounded(count as f64 / median_seconds(RUNS, run)));
}

fn lookups() {
    println!("lookups in a table of 1,024 x 1,024 points: goal 45 million/s, three a placement");
    let ring = ring(RingWalk::Rehash);
    let positions: Vec<u32> = (0..1 << 20).map(|number| mix(number) as u32).collect();
    let count = positions.len() as u64;
    let mut items = vec![0; positions.len()];
    print_rate("owners, a batch", count, || {
        ring.table().owners(black_box(&positions), &mut items);
        black_box(&items);
    });
    print_rate("owner, one by one", count, || {
        black_box(positions.iter().map(|&position| u64::from(ring.table().owner(position))).sum::<u64>());
    });
}

fn placements() {
    println!("placements of 3 copies on 1,024 x 1,024 points: goal 15 million/s (the paper: 597,000)");
    let count = 1u64 << 18;
    let mut rows = vec![0; count as usize * COPIES];
    for walk in [RingWalk::Rehash, RingWalk::Successors] {
        let ring = ring(walk);
        let mut first = 0;
        print_rate(&format!("{walk:?}, a batch"), count, || {
            first += count;
            ring.place_batch(first..first + count, COPIES, black_box(&mut rows));
        });
        let mut found = Vec::new();
        print_rate(&format!("{walk:?}, one by one"), count, || {
            first += count;
            for object in first..first + count {
                ring.place(ObjectId::new(object), COPIES, |_| false, &mut found);
                black_box(&found);
            }
        });
    }
}

/// Objects as a population numbers them: files of one to eight objects.
fn listed(files: Range<u64>) -> Vec<u64> {
    files.flat_map(|file| (0..1 + file % 8).map(move |index| (file << 28) + index)).collect()
}

fn scans<I: Inverse>(name: &str, goal: &str, inverse: &I) {
    println!("inverse scan: goal {goal}");
    let (mut scratch, mut found) = (I::Scratch::default(), Vec::new());
    // Processor time is counted in steps of some milliseconds, so a run takes many of them.
    let lists: Vec<Vec<u64>> = (0..16).map(|list| listed(list << 11..(list + 1) << 11)).collect();
    let rounds = 1u64 << 10;
    let count: usize = lists.iter().map(Vec::len).sum();
    print_rate(&format!("{name}, lists"), rounds * count as u64, || {
        found.clear();
        for list in (0..rounds).flat_map(|_| &lists) {
            inverse.affected_among(black_box(list), &mut scratch, &mut found);
        }
        black_box(found.len());
    });
    let (runs, count) = (1u64 << 13, 1u64 << 14);
    print_rate(&format!("{name}, first objects of consecutive files"), runs * count, || {
        found.clear();
        for run in 0..runs {
            let run = Run { first: (run * count) << 28, count, step: 1 << 28 };
            inverse.affected_in(black_box(run), &mut scratch, &mut found);
        }
        black_box(found.len());
    });
}

fn inverses() {
    let failed = FailedSet::new(DEVICES as usize, &[DeviceId::new(77)]);
    let successors = SuccessorInverse::new(ring(RingWalk::Successors), COPIES, failed.clone());
    scans("successors", "800 million/s", &successors);
    let rehash = RehashInverse::new(ring(RingWalk::Rehash), COPIES, failed.clone());
    scans("rehash", "800 million/s", &rehash);
    let ring = ring(RingWalk::Rehash);
    let (mut table, mut set) = (GroupTable::new(), Vec::new());
    for group in 0..32_768 {
        ring.place(ObjectId::new(group), COPIES, |_| false, &mut set);
        table.push(&set);
    }
    let groups = GroupInverse::new(&table, &failed, |group: GroupId, after| {
        ring.place(ObjectId::new(u64::from(group.get())), COPIES, |device| failed.contains(device), after);
    });
    scans("groups", "none", &groups);
}

fn main() {
    println!("rings on one core, medians of {RUNS} runs");
    lookups();
    placements();
    inverses();
}
