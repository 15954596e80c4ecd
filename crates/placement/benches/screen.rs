//! The inverse scan of a flat bucket: ids a second on one core, with the goal beside the rate.

mod common;

use std::hint::black_box;

use common::{median_seconds, rounded};
use resilver_placement::crush::{BucketKind, Candidate, CrushMap, FlatScreen, Lanes, Scratch, ScreenScratch, Tunables};
use resilver_placement::layout::object_position;
use resilver_units::ObjectId;

/// Ids of one run, and how many are listed at a time.
const IDS: u64 = 1 << 20;
const LISTED: usize = 1 << 15;
const COPIES: usize = 3;
const RUNS: usize = 7;

/// Which of the ids had a copy on a target: screened, and the rest placed in full.
fn scan(map: &CrushMap, screen: &FlatScreen, targets: &[i32], scratch: &mut (Scratch, ScreenScratch)) -> usize {
    let rule = map.rule_by_id(0).unwrap();
    let (mut inputs, mut candidates, mut devices) = (Vec::new(), Vec::new(), Vec::new());
    let mut hits = 0;
    for first in (0..IDS).step_by(LISTED) {
        inputs.clear();
        inputs.extend((first..first + LISTED as u64).map(|id| object_position(ObjectId::new(id))));
        candidates.clear();
        screen.candidates(&inputs, &mut scratch.1, &mut candidates);
        for &Candidate { index, is_certain } in &candidates {
            if is_certain {
                hits += 1;
                continue;
            }
            map.place(rule, inputs[index as usize], COPIES, &[], &mut scratch.0, &mut devices);
            hits += usize::from(devices.iter().any(|device| targets.contains(device)));
        }
    }
    hits
}

fn main() {
    println!("inverse scan of 1,024 devices in one bucket, {COPIES} copies, one core, medians of {RUNS} runs");
    for (name, kind, targets, goal) in [
        ("flat straw, one device failed", BucketKind::Straw, &[600][..], "20,000,000"),
        ("flat straw2, one device failed", BucketKind::Straw2, &[600][..], "none"),
        ("flat straw, four devices failed", BucketKind::Straw, &[3, 200, 600, 1000][..], "none"),
    ] {
        let map = CrushMap::flat(1024, kind, Tunables::JEWEL);
        let screen = FlatScreen::new(&map, map.rule_by_id(0).unwrap(), COPIES, targets.to_vec()).unwrap();
        println!("{name}: goal {goal} ids/s");
        for lanes in Lanes::available() {
            let mut scratch = (Scratch::with_lanes(lanes), ScreenScratch::with_lanes(lanes));
            if lanes == Lanes::Plain {
                continue;
            }
            let seconds = median_seconds(RUNS, || {
                black_box(scan(&map, &screen, targets, &mut scratch));
            });
            println!("    {lanes:?}: {} ids/s", rounded(IDS as f64 / seconds));
        }
    }
}
