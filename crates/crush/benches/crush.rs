//! Placements a second on one core, with the goal and the rate of Ceph's own `crushtool` beside ours.
//!
//! Where `crushtool` (Debian: ceph-base) is installed it places on the same maps, right after ours; the rate is taken from
//! the difference of two runs of different length, so its start and the reading of the map do not count.

mod common;
#[path = "common/maps.rs"]
mod maps;

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use common::{median_seconds, rounded};
use maps::{four_levels, unequal};
use resilver_crush::{Batch, BatchScratch, BucketKind, CrushMap, Lanes, Scratch, Tunables};

/// Copies of each placement.
const COPIES: usize = 3;
/// Runs of which the median counts.
const RUNS: usize = 7;
/// Seconds that a run of ours takes, about.
const RUN_SECONDS: f64 = 0.3;

/// One case: what is placed, and the placements a second to reach on one core.
struct Case {
    name: &'static str,
    map: CrushMap,
    goal: Option<f64>,
}

fn cases() -> Vec<Case> {
    let flat = CrushMap::flat;
    let case = |name, map, goal| Case { name, map, goal };
    vec![
        case("flat straw", flat(1024, BucketKind::Straw, Tunables::HAMMER), Some(150_000.0)),
        case("flat straw2", flat(1024, BucketKind::Straw2, Tunables::JEWEL), Some(120_000.0)),
        case("flat straw, unequal weights", unequal(BucketKind::Straw), None),
        case("flat straw2, unequal weights", unequal(BucketKind::Straw2), None),
        case("straw2 in four levels, by host", four_levels("host", false), Some(2_000_000.0)),
        case("straw2 in four levels, by rack", four_levels("rack", false), Some(2_000_000.0)),
        case("straw2 in four levels, unequal, by host", four_levels("host", true), Some(2_000_000.0)),
        case("vring of 1,024 x 1,024 points", flat(1024, BucketKind::Vring, Tunables::JEWEL), Some(15_000_000.0)),
    ]
}

/// Inputs without an order: multiples of an odd number.
fn inputs(count: usize) -> Vec<u32> {
    (0..count as u32).map(|index| index.wrapping_mul(0x9e37_79b9)).collect()
}

/// Placements a second in batches.
fn batch_rate(map: &CrushMap, lanes: Lanes, count: usize) -> f64 {
    let batch = Batch::new(map, map.rule_by_id(0).unwrap(), COPIES, None);
    let (inputs, mut devices) = (inputs(count), vec![0; count * COPIES]);
    let mut scratch = BatchScratch::with_lanes(lanes);
    let seconds = median_seconds(RUNS, || {
        batch.place(black_box(&inputs), &[], &mut scratch, &mut devices);
        black_box(&devices);
    });
    count as f64 / seconds
}

/// Inputs that take about so many seconds one at a time. By the clock on the wall: processor time advances in steps that are
/// too coarse for so short a probe.
fn inputs_for(map: &CrushMap, lanes: Lanes, seconds: f64) -> usize {
    const PROBE: u32 = 1_000;
    let rule = map.rule_by_id(0).unwrap();
    let (mut scratch, mut devices) = (Scratch::with_lanes(lanes), Vec::new());
    let begin = Instant::now();
    for x in 0..PROBE {
        map.place(rule, black_box(x), COPIES, &[], &mut scratch, &mut devices);
    }
    let rate = f64::from(PROBE) / begin.elapsed().as_secs_f64();
    ((rate * seconds) as usize).clamp(1_000, 1_000_000)
}

/// Placements a second, one input at a time.
fn single_rate(map: &CrushMap, lanes: Lanes, count: usize) -> f64 {
    let rule = map.rule_by_id(0).unwrap();
    let (mut scratch, mut devices) = (Scratch::with_lanes(lanes), Vec::new());
    let inputs = inputs(count);
    let seconds = median_seconds(RUNS, || {
        for &x in &inputs {
            map.place(rule, black_box(x), COPIES, &[], &mut scratch, &mut devices);
            black_box(&devices);
        }
    });
    count as f64 / seconds
}

/// Seconds of processor time that programs started from here have used, where the system tells (Linux): the fields `cutime`
/// and `cstime` of its table of processes, in ticks of 10 ms.
fn children_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in brackets, and may hold spaces; 14 fields lie between it and `cutime`.
    let ticks = text.rsplit_once(')')?.1.split_whitespace().skip(13).take(2);
    Some(ticks.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>() as f64 / 100.0)
}

/// Placements a second of `crushtool`, if it is installed.
fn ceph_rate(map: &CrushMap, folder: &Path) -> Option<f64> {
    let (text, binary) = (folder.join("bench-crush.txt"), folder.join("bench-crush.bin"));
    std::fs::write(&text, map.to_text()).ok()?;
    let mut compile = Command::new("crushtool");
    compile.arg("-c").arg(&text).arg("-o").arg(&binary).stdout(Stdio::null()).stderr(Stdio::null());
    compile.status().ok().filter(std::process::ExitStatus::success)?;
    let run = |count: u32| {
        let (copies, last) = (COPIES.to_string(), (count - 1).to_string());
        let mut command = Command::new("crushtool");
        command.arg("-i").arg(&binary).args(["--test", "--rule", "0", "--num-rep", &copies, "--min-x", "0"]);
        command.args(["--max-x", &last]).stdout(Stdio::null()).stderr(Stdio::null());
        let begin = Instant::now();
        let spent = children_seconds();
        let _ = command.status();
        match (spent, children_seconds()) {
            (Some(before), Some(after)) => after - before,
            _ => begin.elapsed().as_secs_f64(),
        }
    };
    // Long enough that the difference is a second, about.
    let probe = 4_000;
    let count = (f64::from(probe) / (run(probe) - run(1)).max(0.01)).clamp(20_000.0, 400_000.0) as u32;
    let mut rates: Vec<f64> = (0..3).map(|_| f64::from(count - probe) / (run(count) - run(probe))).collect();
    rates.sort_by(f64::total_cmp);
    Some(rates[1])
}

fn main() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    println!("placements a second, 1,024 devices, {COPIES} copies, one core, medians of {RUNS} runs");
    // Words on the command line choose the cases whose names contain one of them.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |case: &Case| words.is_empty() || words.iter().any(|word| case.name.contains(word.as_str()));
    for Case { name, map, goal } in cases().into_iter().filter(is_wanted) {
        let best = Lanes::available()[0];
        let count = inputs_for(&map, best, RUN_SECONDS);
        let ours = batch_rate(&map, best, count);
        let goal = goal.map_or("none".to_owned(), rounded);
        let ceph = ceph_rate(&map, folder)
            .map_or("crushtool is not installed or has no such bucket".to_owned(), |ceph| {
                format!("crushtool {}, ratio {:.1}", rounded(ceph), ours / ceph)
            });
        println!("{name}: {} (goal {goal}; {ceph})", rounded(ours));
        for lanes in Lanes::available() {
            let count = inputs_for(&map, lanes, RUN_SECONDS / 3.0);
            let (batch, single) = (batch_rate(&map, lanes, count), single_rate(&map, lanes, count));
            println!("    {lanes:?}: {} in batches, {} one by one", rounded(batch), rounded(single));
        }
    }
}
