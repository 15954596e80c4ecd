//! The scan of a population for what one of 1,024 devices held on a ring: files a second on one core, goals beside the rates.

#[path = "../../crush/benches/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::sync::Arc;

use common::{median_seconds, rounded};
use rayon::ThreadPoolBuilder;
use resilver_kernel::{Purpose, Stream};
use resilver_placement::inverse::{FailedSet, RehashInverse};
use resilver_placement::ring::{HashRing, RingWalk};
use resilver_population::{Bin, Decomposition, Extent, Files, Histogram, Words};
use resilver_system::FileScan;
use resilver_units::{Bytes, DeviceId};

const RUNS: usize = 7;

/// A word a file from one stream, further words from another.
struct StreamWords(Stream, Stream);

impl Words for StreamWords {
    fn fill(&self, first: u64, words: &mut [u64]) {
        self.0.fill(first, words);
    }

    fn further(&self, file: u64) -> u64 {
        self.1.block(file / 4)[(file % 4) as usize]
    }
}

/// `small` of 10,000 files below 4 KiB, the others of 4 MiB to 4 GiB.
fn files(small: u64, count: u64) -> Files<StreamWords> {
    let large = (22..32).map(|bits| Bin { min: 1 << bits, max: 2 << bits, count: (10_000 - small).div_ceil(10) });
    let bins: Vec<Bin> = [Bin { min: 0, max: 4096, count: small }].into_iter().chain(large).collect();
    let histogram = Histogram::new(&bins).expect("the bins count files");
    let decomposition = Decomposition::Striped { unit: Bytes::mebibytes(4), width: 341 };
    let stream = |entity| Stream::new(1, entity, Purpose::named("bench"));
    Files::new(histogram, decomposition, Extent::Files(count), StreamWords(stream(0), stream(1))).expect("files fit")
}

fn main() {
    println!("scans of files, one core, medians of {RUNS} runs");
    let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().expect("a pool of this thread");
    // Processor time is counted in steps of some milliseconds, so a run takes many of them.
    for (name, small, count, goals) in [
        ("nearly all small", 9996, 1 << 26, ["900,000,000", "450,000,000"]),
        ("half small", 5000, 1 << 20, ["none", "none"]),
    ] {
        let population = files(small, count);
        let mut objects = 0;
        let seconds = median_seconds(RUNS, || objects = black_box(population.survey(0..count, |_, _| {}).objects));
        println!("{name}, {objects} objects");
        println!("    survey: {} files/s (goal {})", rounded(count as f64 / seconds), goals[0]);
        let ring = Arc::new(HashRing::new((0..1024).collect(), 1024, RingWalk::Rehash));
        let failed = FailedSet::new(1024, &[DeviceId::new(600)]);
        let scan = FileScan::new(population, 0, RehashInverse::new(ring, 3, failed));
        let seconds = median_seconds(RUNS, || {
            black_box(pool.install(|| scan.scan(0..count)));
        });
        println!("    scan: {} objects/s (goal {})", rounded(objects as f64 / seconds), goals[1]);
    }
}
