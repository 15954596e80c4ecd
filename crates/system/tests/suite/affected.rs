//! The search for affected objects: every algorithm equals placing each object before and after, in batches of any cut.

use crate::common;

use std::sync::Arc;

use common::{crush_copies, files_on_ring};
use resilver_crush::{BucketKind, CrushMap, Tunables};
use resilver_placement::inverse::FailedSet;
use resilver_placement::ring::{HashRing, RingWalk};
use resilver_population::{Bin, Decomposition, Extent, Histogram};
use resilver_system::{
    AffectedBatch, AffectedSearch, Algorithm, Contents, Fault, PlaceScratch, Placement, SourceChoice, StoredPool,
    SystemConfig,
};
use resilver_units::{DeviceId, ObjectId, SimTime};

const SERVERS: u32 = 120;
/// Objects of 1 B; a file is one.
const FILES: u64 = 40_000;

fn crush() -> Algorithm {
    let map = CrushMap::flat(SERVERS, BucketKind::Straw, Tunables::JEWEL);
    Algorithm::Crush(Box::new(crush_copies(map, SERVERS, 1, 3)))
}

fn ring(walk: RingWalk) -> Algorithm {
    let ring = Arc::new(HashRing::new((0..SERVERS).map(|server| server / 4).collect(), 64, walk));
    Algorithm::Ring { ring, copies: 3, is_out: vec![false; SERVERS as usize] }
}

fn search(algorithm: Algorithm, failed: &[u32], files: u64) -> AffectedSearch {
    let config = SystemConfig {
        pools: vec![StoredPool {
            placement: Placement { groups: None, algorithm, domain_of: None },
            code: None,
            contents: Contents {
                histogram: Histogram::new(&[Bin { min: 1, max: 2, count: 1 }]).unwrap(),
                decomposition: Decomposition::Whole,
                extent: Extent::Files(files),
            },
        }],
        faults: vec![Fault::told(SimTime::ZERO, failed.iter().copied().map(DeviceId::new).collect())],
        source: SourceChoice::Primary,
        ..files_on_ring(SERVERS, files, 2)
    };
    AffectedSearch::new(config).unwrap()
}

fn batches(mut search: AffectedSearch) -> Vec<AffectedBatch> {
    let mut batches = Vec::new();
    while !search.is_complete() {
        batches.push(search.advance());
    }
    batches
}

/// Survivors, homes and lost copies of every affected object, by placing all.
fn forward(algorithm: &Algorithm, failed: &[u32]) -> Vec<(u64, Vec<u32>, Vec<u32>, u32)> {
    let lost: Vec<DeviceId> = failed.iter().copied().map(DeviceId::new).collect();
    let after = algorithm.without(&FailedSet::new(SERVERS as usize, &lost));
    let mut scratch = PlaceScratch::default();
    let mut place = |algorithm: &Algorithm, object: ObjectId| {
        let mut set = Vec::new();
        algorithm.place_object(object, &mut scratch, &mut set);
        set.iter().map(|device| device.get()).collect::<Vec<u32>>()
    };
    let mut rows = Vec::new();
    for object in (0..FILES).map(|file| ObjectId::new(file << 28)) {
        let old = place(algorithm, object);
        let survivors: Vec<u32> = old.iter().copied().filter(|device| !failed.contains(device)).collect();
        if survivors.len() < old.len() {
            let homes = place(&after, object).into_iter().filter(|device| !old.contains(device)).collect();
            let lost = (old.len() - survivors.len()) as u32;
            rows.push((object.get(), survivors, homes, lost));
        }
    }
    rows
}

#[test]
fn every_algorithm_equals_the_forward_answer_for_any_failed_set() {
    let rack: Vec<u32> = (8..12).collect();
    let most: Vec<u32> = (0..SERVERS).filter(|server| server % 3 != 0).collect();
    let all: Vec<u32> = (0..SERVERS).collect();
    for algorithm in [ring(RingWalk::Rehash), ring(RingWalk::Successors), crush()] {
        let sets: &[&[u32]] = if matches!(algorithm, Algorithm::Crush(_)) {
            // Placing every object by CRUSH takes a while: one set is enough, since the screen is what is tried.
            &[&rack]
        } else {
            &[&[], &[77], &rack, &most, &all]
        };
        for failed in sets {
            let mut rows = Vec::new();
            for batch in batches(search(algorithm.clone(), failed, FILES)) {
                let (mut survivor, mut home) = (0, 0);
                for (row, &object) in batch.objects.iter().enumerate() {
                    let (survivor_end, home_end) = (batch.survivor_ends[row] as usize, batch.home_ends[row] as usize);
                    let (survivors, homes) = (&batch.survivors[survivor..survivor_end], &batch.homes[home..home_end]);
                    rows.push((object, survivors.to_vec(), homes.to_vec(), batch.lost[row]));
                    (survivor, home) = (survivor_end, home_end);
                    assert_eq!(batch.sizes[row], 1);
                }
            }
            assert!(rows == forward(&algorithm, failed), "{} rows with {failed:?} failed", rows.len());
        }
    }
}

#[test]
fn a_batch_never_has_more_than_a_million_rows() {
    // All servers fail, so every one of 1.2 million files of four blocks and a part is affected, in the files' order.
    let all: Vec<u32> = (0..SERVERS).collect();
    let files = 1_200_000;
    let batches = batches(search(ring(RingWalk::Successors), &all, files));
    assert!(batches.iter().all(|batch| batch.objects.len() <= 1 << 20));
    let objects: Vec<u64> = batches.iter().flat_map(|batch| batch.objects.iter().copied()).collect();
    assert!(objects.iter().copied().eq((0..files).map(|file| file << 28)));
    assert!(batches.iter().all(|batch| batch.survivors.is_empty() && batch.homes.is_empty()));
}

#[test]
fn threads_change_nothing() {
    let found = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| batches(search(ring(RingWalk::Rehash), &[3, 50], FILES)))
    };
    let one = found(1);
    assert!(one.iter().any(|batch| !batch.objects.is_empty()));
    assert_eq!(one, found(3));
}
