//! Max-min fair rates of a whole center, and of flows that begin and end.
//!
//! The center has the size of Titan with Spider II (`papers/002`): 18,688 clients on a torus of 25 x 16 x 24, two on each router
//! chip; 36 leaf switches behind 12 I/O routers each, 288 servers and 2,016 targets. Every client writes over every leaf: 672,768
//! flows over 13 to 14 resources in the mean. Routers stand where a stream of random numbers says, and rates of links are
//! assumed, because a bench asks only for the size. It is solved twice: with links and targets that are alike, where two
//! clients of a chip are one row, and with capacities and weights that all differ, where no two flows are equal and rates fall into as many levels as
//! there are resources that bind.

use std::time::Instant;

use resilver_flow::{Flow, Flows, RunningFlows, fair_rates};

const SIDES: [usize; 3] = [25, 16, 24];
const CLIENTS: usize = 18_688;
const LEAVES: usize = 36;
const ROUTERS: usize = 12 * LEAVES;
const SERVERS: usize = 8 * LEAVES;
const TARGETS: usize = 7 * SERVERS;
const CHIPS: usize = SIDES[0] * SIDES[1] * SIDES[2];

/// Numbers that look drawn: a step of the multiplier of Steele and Vigna's SplitMix64.
fn drawn(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// A number in [1 - width, 1 + width).
fn around_one(state: &mut u64, width: f64) -> f64 {
    1.0 + width * (2.0 * (drawn(state) >> 11) as f64 / (1_u64 << 53) as f64 - 1.0)
}

/// Where a chip stands.
fn place(chip: usize) -> [usize; 3] {
    [chip % SIDES[0], chip / SIDES[0] % SIDES[1], chip / SIDES[0] / SIDES[1]]
}

/// The links from a chip to another, dimension by dimension, the shorter way round: the resource of a link is six times its chip, and its
/// direction.
fn torus_way(from: usize, to: usize, way: &mut Vec<(u32, f64)>) {
    let (mut at, end) = (place(from), place(to));
    for axis in 0..3 {
        let side = SIDES[axis];
        let ahead = (end[axis] + side - at[axis]) % side;
        let (hops, is_up) = if 2 * ahead <= side { (ahead, true) } else { (side - ahead, false) };
        for _ in 0..hops {
            let chip = at[0] + SIDES[0] * (at[1] + SIDES[1] * at[2]);
            way.push((6 * chip as u32 + 2 * axis as u32 + u32::from(is_up), 1.0));
            at[axis] = (at[axis] + if is_up { 1 } else { side - 1 }) % side;
        }
    }
}

/// How many links lie between two chips.
fn hops(from: usize, to: usize) -> usize {
    let apart = |axis: usize| (place(from)[axis] + SIDES[axis] - place(to)[axis]) % SIDES[axis];
    (0..3).map(|axis| apart(axis).min(SIDES[axis] - apart(axis))).sum()
}

/// The whole center; capacities and weights differ by up to `width`.
fn center(width: f64) -> (Flows, usize) {
    let mut state = 1;
    let routers: Vec<usize> = (0..ROUTERS).map(|_| drawn(&mut state) as usize % CHIPS).collect();
    let count = [(6 * CHIPS, 4.7e9), (ROUTERS, 2.6e9), (LEAVES, 60e9), (SERVERS, 3.5e9), (TARGETS, 0.5e9)];
    let firsts: Vec<u32> =
        count.iter().scan(0, |sum, &(one, _)| Some(std::mem::replace(sum, *sum + one as u32))).collect();
    let mut capacities = Vec::new();
    for (count, rate) in count {
        capacities.extend((0..count).map(|_| rate * around_one(&mut state, width)));
    }
    let mut flows = Flows::new(capacities).expect("the capacities are above zero");
    let (mut way, mut incidences) = (Vec::new(), 0);
    for client in 0..CLIENTS {
        let chip = client / 2;
        for leaf in 0..LEAVES {
            // The nearest of six of the leaf's twelve routers, which makes ways as long as those of the published routing.
            let near = (0..6).map(|other| 12 * leaf + (chip + leaf + other) % 12);
            let router = near.min_by_key(|&router| hops(chip, routers[router])).expect("there are six");
            // One server and one target of the leaf: each client of a chip writes to the same.
            let server = 8 * leaf + chip % 8;
            way.clear();
            torus_way(chip, routers[router], &mut way);
            let ends = [(1, router), (2, leaf), (3, server), (4, 7 * server + chip / 8 % 7)];
            way.extend(ends.map(|(kind, number)| (firsts[kind] + number as u32, 1.0)));
            incidences += way.len();
            let weight = around_one(&mut state, width);
            let weight = if width > 0.0 { weight } else { 1.0 };
            flows.add(&way, Flow { weight, ..Flow::default() }).expect("the flow is over resources that there are");
        }
    }
    (flows, incidences)
}

/// The seconds that the process has computed so far, where the system tells, so that what else runs on a machine does not count.
fn computed(start: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// The most memory that the process has had so far, in MiB, where the system tells.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kibibytes| kibibytes / 1024.0)
}

fn time_center(name: &str, width: f64) {
    let start = Instant::now();
    let before = computed(start);
    let (flows, incidences) = center(width);
    let built = computed(start) - before;
    let rates = fair_rates(&flows).expect("the center has rates");
    let total = computed(start) - before;
    let mut binding = rates.binding.clone();
    binding.sort_unstable();
    binding.dedup();
    let memory = peak().map_or(String::from("-"), |peak| format!("{peak:.0}"));
    println!(
        "{name:<22} {:>8} {incidences:>11} {:>8} {:>8} {:>6.2} {:>9.2} {total:>8.2} {memory:>10}",
        CLIENTS * LEAVES,
        flows.flows().len(),
        binding.len(),
        1.0,
        built,
    );
}

/// Events a second where one of 2,000 flows to the first targets ends and another begins, each settled by itself.
fn time_events(targets: usize) {
    let (width, running, events) = (0.2, 2_000, 40_000);
    let mut state = 2;
    let sizes = [(CLIENTS, 1.2e9), (ROUTERS, 2.6e9), (LEAVES, 60e9), (SERVERS, 3.5e9), (TARGETS, 0.5e9)];
    let mut capacities = Vec::new();
    for (count, rate) in sizes {
        capacities.extend((0..count).map(|_| rate * around_one(&mut state, width)));
    }
    let firsts: Vec<u32> =
        sizes.iter().scan(0, |sum, &(one, _)| Some(std::mem::replace(sum, *sum + one as u32))).collect();
    let begin = |flows: &mut RunningFlows, state: &mut u64| {
        let client = drawn(state) as usize % CLIENTS;
        let target = drawn(state) as usize % targets;
        let (server, leaf) = (target / 7, target / 56);
        let numbers = [client, 12 * leaf + drawn(state) as usize % 12, leaf, server, target];
        let way: Vec<(u32, f64)> =
            firsts.iter().zip(numbers).map(|(first, number)| (first + number as u32, 1.0)).collect();
        flows.begin(&way, Flow::default()).expect("the flow is over resources that there are")
    };
    let mut flows = RunningFlows::new(capacities).expect("the capacities are above zero");
    let mut numbers: Vec<u32> = (0..running).map(|_| begin(&mut flows, &mut state)).collect();
    flows.settle().expect("the flows have rates");
    let (start, mut solved) = (Instant::now(), 0);
    let before = computed(start);
    for _ in 0..events / 2 {
        let which = drawn(&mut state) as usize % running;
        flows.end(numbers[which]);
        solved += flows.settle().expect("the flows have rates").len();
        numbers[which] = begin(&mut flows, &mut state);
        solved += flows.settle().expect("the flows have rates").len();
    }
    let (rate, solved) = (events as f64 / (computed(start) - before), solved as f64 / events as f64);
    println!("{targets:>7} {:>10} {rate:>10.0} {solved:>20.1}", 20_000);
}

fn main() {
    println!("rates of a center; the goal in s holds for building and solving together, within 400 MiB on one core");
    println!(
        "{:<22} {:>8} {:>11} {:>8} {:>8} {:>6} {:>9} {:>8} {:>10}",
        "case", "flows", "incidences", "rows", "binding", "goal s", "built s", "all s", "peak MiB"
    );
    time_center("alike", 0.0);
    time_center("all different", 0.2);
    println!("flow events a second at 2,000 flows, to all targets and to those of two leaves");
    println!("{:>7} {:>10} {:>10} {:>20}", "targets", "goal", "rate", "solved again, flows");
    [TARGETS, 112].into_iter().for_each(time_events);
}
