//! Questions to a code a second on one core, asked for millions of stripes: what is survived, and what a repair gathers.

use std::hint::black_box;
use std::time::Instant;

use resilver_redundancy::{Code, Pieces};

/// Runs of which the median counts.
const RUNS: usize = 7;
/// Questions of a run.
const QUESTIONS: usize = 200_000;
/// The goal of every question of a code whose repairs are listed, so that a million stripes take less than a second.
const GOAL_NANOSECONDS: f64 = 1000.0;

/// Sets of `losses` lost pieces without an order.
fn lost_sets(code: &Code, losses: u32) -> Vec<Pieces> {
    let mut state = 1u64;
    let mut draw = || {
        // Multiples of an odd number spread evenly in their upper bits.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 40) as u32 % code.pieces()
    };
    (0..1024)
        .map(|_| {
            let mut lost = Pieces::new();
            while lost.len() < losses {
                lost.insert(draw());
            }
            lost
        })
        .collect()
}

/// The median time of a question in nanoseconds.
fn nanoseconds(mut ask: impl FnMut(usize)) -> f64 {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            for question in 0..QUESTIONS {
                ask(question);
            }
            start.elapsed().as_secs_f64() * 1e9 / QUESTIONS as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

fn main() {
    println!(
        "goal: {GOAL_NANOSECONDS:.0} ns a question, but for repairs of several losses of the two longest codes and of products"
    );
    for name in [
        "rs 8+3",
        "lrc 8+5 local 4",
        "lrc 12+4 local 6",
        "lrc 20+9 local 4",
        "lrc 40+12 local 10",
        "product rs 4+2 x rs 3+1",
    ] {
        let code = Code::parse(name).unwrap();
        for losses in 1..=code.fault_tolerance() + 1 {
            let sets = lost_sets(&code, losses);
            let set_of = |question: usize| sets[question % sets.len()];
            let survivable = nanoseconds(|question| {
                black_box(code.is_survivable(black_box(set_of(question))));
            });
            let (mut gathered, prefer) = (Vec::new(), (0..code.pieces()).rev().collect::<Vec<_>>());
            let repair = nanoseconds(|question| {
                let lost = set_of(question);
                let piece = lost.iter().next().unwrap();
                black_box(code.repair(black_box(lost), piece, &prefer, &mut gathered));
            });
            println!("{name:<24} {losses:>2} lost: survivable {survivable:8.1} ns, repair {repair:8.1} ns");
        }
    }
}
