//! The inverse scan of a flat bucket: ids a second on one core, with the goal beside the rate.

#[path = "../../crush/benches/common/mod.rs"]
mod common;

use std::hint::black_box;

use common::{median_seconds, rounded};
use resilver_crush::{BucketKind, Candidate, CrushMap, FlatScreen, Lanes, Scratch, ScreenScratch, Tunables};
use resilver_placement::layout::object_position;
use resilver_units::ObjectId;

/// Ids of one run, and how many are listed at a time.
const IDS: u64 = 1 << 20;
const LISTED: usize = 1 << 15;
const RUNS: usize = 7;

/// What is failed, and how many pieces are asked for under which kind of rule.
struct Case {
    name: &'static str,
    kind: BucketKind,
    devices: u32,
    pieces: usize,
    targets: &'static [i32],
    goal: &'static str,
}

/// Which of the ids had a copy on a target: screened, and the rest placed in full.
fn scan(map: &CrushMap, screen: &FlatScreen, case: &Case, scratch: &mut (Scratch, ScreenScratch)) -> usize {
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
            map.place(rule, inputs[index as usize], case.pieces, &[], &mut scratch.0, &mut devices);
            hits += usize::from(devices.iter().any(|device| case.targets.contains(device)));
        }
    }
    hits
}

fn main() {
    println!("inverse scan of one bucket, 1,024 devices unless said otherwise, one core, medians of {RUNS} runs");
    let (straw, straw2) = (BucketKind::Straw, BucketKind::Straw2);
    let case = |name, kind, pieces, targets, goal| Case { name, kind, devices: 1024, pieces, targets, goal };
    let (few, four): (&[i32], &[i32]) = (&[600], &[3, 200, 600, 1000]);
    let cases = [
        case("flat straw, 3 copies, one device failed", straw, 3, few, "25,000,000"),
        case("flat straw2, 3 copies, one device failed", straw2, 3, few, "25,000,000"),
        case("flat straw, 3 copies, four devices failed", straw, 3, four, "none"),
        Case { devices: 256, ..case("flat straw of 256 devices, 3 copies, one failed", straw, 3, &[60], "none") },
        Case { devices: 64, ..case("flat straw of 64 devices, 3 copies, one failed", straw, 3, &[60], "none") },
        case("flat straw2, 11 pieces of a code, one device failed", straw2, 11, few, "3,000,000"),
        case("flat straw2, 13 pieces of a code, four devices failed", straw2, 13, four, "none"),
    ];
    // Words on the command line choose the cases whose names contain one of them.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |case: &Case| words.is_empty() || words.iter().any(|word| case.name.contains(word.as_str()));
    for case in cases.into_iter().filter(is_wanted) {
        let map = CrushMap::flat(case.devices, case.kind, Tunables::JEWEL);
        let map = if case.pieces == 3 { map } else { map.for_codes() };
        let rule = map.rule_by_id(0).unwrap();
        let screen = FlatScreen::new(&map, rule, case.pieces, case.targets.to_vec()).unwrap();
        println!("{}: goal {} ids/s", case.name, case.goal);
        for lanes in Lanes::available() {
            let mut scratch = (Scratch::with_lanes(lanes), ScreenScratch::with_lanes(lanes));
            if lanes == Lanes::Plain {
                continue;
            }
            let seconds = median_seconds(RUNS, || {
                black_box(scan(&map, &screen, &case, &mut scratch));
            });
            println!("    {lanes:?}: {} ids/s", rounded(IDS as f64 / seconds));
        }
    }
}
