//! Rates of rings on one core: lookups, placements, and the inverse; each with the goal beside it.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use resilver_placement::inverse::{FailedSet, GroupInverse, Inverse, RehashInverse, SuccessorInverse};
use resilver_placement::layout::{GroupTable, mix};
use resilver_placement::ring::{HashRing, RingWalk};
use resilver_units::{DeviceId, GroupId, ObjectId};

const DEVICES: u32 = 1024;
const POINTS: u32 = 1024;
const COPIES: usize = 3;

fn ring(walk: RingWalk) -> Arc<HashRing> {
    Arc::new(HashRing::new((0..DEVICES).collect(), POINTS, walk))
}

fn lookups(criterion: &mut Criterion) {
    println!("lookups in a table of 1,024 x 1,024 points: goal 45 million/s, three a placement");
    let ring = ring(RingWalk::Rehash);
    let positions: Vec<u32> = (0..1 << 16).map(|number| mix(number) as u32).collect();
    let mut items = vec![0; positions.len()];
    let mut group = criterion.benchmark_group("ring lookups");
    group.throughput(Throughput::Elements(positions.len() as u64));
    group.bench_function("owners, a batch", |bencher| {
        bencher.iter(|| ring.table().owners(black_box(&positions), &mut items));
    });
    group.bench_function("owner, one by one", |bencher| {
        bencher.iter(|| positions.iter().map(|&position| u64::from(ring.table().owner(position))).sum::<u64>());
    });
    group.finish();
}

fn placements(criterion: &mut Criterion) {
    println!("placements of 3 copies on 1,024 x 1,024 points: goal 15 million/s (the paper: 597,000)");
    let count = 1u64 << 16;
    let mut rows = vec![0; count as usize * COPIES];
    let mut group = criterion.benchmark_group("ring placements");
    group.throughput(Throughput::Elements(count));
    for walk in [RingWalk::Rehash, RingWalk::Successors] {
        let ring = ring(walk);
        let mut first = 0;
        group.bench_function(format!("{walk:?}, a batch"), |bencher| {
            bencher.iter(|| {
                first += count;
                ring.place_batch(first..first + count, COPIES, black_box(&mut rows));
            });
        });
        let mut found = Vec::new();
        group.bench_function(format!("{walk:?}, one by one"), |bencher| {
            bencher.iter(|| {
                first += count;
                for object in first..first + count {
                    ring.place(ObjectId::new(object), COPIES, |_| false, &mut found);
                    black_box(&found);
                }
            });
        });
    }
    group.finish();
}

/// Objects as a population numbers them: files of one to eight objects.
fn listed(blocks: u64) -> Vec<u64> {
    (0..blocks).flat_map(|file| (0..1 + file % 8).map(move |index| (file << 28) + index)).collect()
}

fn scans<I: Inverse>(criterion: &mut Criterion, name: &str, goal: &str, inverse: &I) {
    println!("inverse scan, {name}: goal {goal}");
    let objects = listed(1 << 18);
    let mut group = criterion.benchmark_group("inverse scan");
    group.throughput(Throughput::Elements(objects.len() as u64));
    let (mut scratch, mut found) = (I::Scratch::default(), Vec::new());
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            found.clear();
            for objects in objects.chunks(1024) {
                inverse.affected_among(black_box(objects), &mut scratch, &mut found);
            }
            black_box(found.len())
        });
    });
    group.finish();
}

fn inverses(criterion: &mut Criterion) {
    let failed = FailedSet::new(DEVICES as usize, &[DeviceId::new(77)]);
    let successors = SuccessorInverse::new(ring(RingWalk::Successors), COPIES, failed.clone());
    scans(criterion, "successors", "800 million/s", &successors);
    let rehash = RehashInverse::new(ring(RingWalk::Rehash), COPIES, failed.clone());
    scans(criterion, "rehash", "800 million/s", &rehash);
    let ring = ring(RingWalk::Rehash);
    let (mut table, mut set) = (GroupTable::new(), Vec::new());
    for group in 0..32_768 {
        ring.place(ObjectId::new(group), COPIES, |_| false, &mut set);
        table.push(&set);
    }
    let groups = GroupInverse::new(&table, &failed, |group: GroupId, after| {
        ring.place(ObjectId::new(u64::from(group.get())), COPIES, |device| failed.contains(device), after);
    });
    scans(criterion, "groups", "none", &groups);
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(std::time::Duration::from_millis(500))
        .measurement_time(std::time::Duration::from_secs(2));
    targets = lookups, placements, inverses
}
criterion_main!(benches);
