//! Next hops a second on one core: every shortest channel from random nodes that forward to random endpoints, goals beside
//! the rates.

#[path = "../../crush/benches/common/mod.rs"]
mod common;

use std::hint::black_box;

use common::{median_seconds, rounded};
use resilver_fabric::topology::{
    Topology, TopologyError, butterfly, clos_sizes, dragonfly, dragonfly_hosts, draw_routers, fat_tree, folded_clos,
    hypercube, torus,
};
use resilver_kernel::{Purpose, Stream};

/// Pairs of nodes, and how often a run asks about each: long enough for a clock that ticks every few milliseconds.
const PAIRS: usize = 1 << 18;
const ROUNDS: usize = 64;
const RUNS: usize = 7;

/// Topologies with the goal for each: a packet simulator of 15 million packet-hops a second asks once a hop.
fn topologies() -> Result<Vec<(&'static str, &'static str, Topology)>, TopologyError> {
    let torus_of = |sides: &[u32]| torus(sides, &draw_routers(sides.iter().product(), 128, 1)?);
    let clos = folded_clos(3, 64, 1, &draw_routers(clos_sizes(3, 64, 1)?.0, 128, 1)?)?;
    let dragonfly = dragonfly(33, 8, 4, 4, &draw_routers(dragonfly_hosts(33, 8, 4, 4)?, 32, 1)?)?;
    Ok(vec![
        ("torus 64x64", "none", torus_of(&[64, 64])?),
        ("torus 16x16x16", "60,000,000", torus_of(&[16, 16, 16])?),
        ("torus 4x8x4x8x4", "none", torus_of(&[4, 8, 4, 8, 4])?),
        ("torus 64x32x32", "none", torus_of(&[64, 32, 32])?),
        ("hypercube 12", "none", hypercube(12, &draw_routers(4096, 128, 1)?)?),
        ("butterfly of radix 4, 4 levels", "none", butterfly(4, 4, 16)?),
        ("fat tree 4096-128-64-32", "none", fat_tree(&[4096, 128, 64, 32], &[1, 32, 64], Some(1))?),
        ("folded Clos of 65,536 hosts", "none", clos),
        ("dragonfly of 33 groups", "none", dragonfly),
    ])
}

fn main() {
    println!("next hops: {PAIRS} random pairs of nodes, {ROUNDS} times each, one core, medians of {RUNS} runs");
    for (name, goal, topology) in topologies().expect("sizes of the bench are those that topologies have") {
        let mut stream = Stream::new(1, 0, Purpose::named("bench"));
        // Packets ask on their way: at nodes that forward them, for hosts and routers.
        let forwarding: Vec<u32> =
            (0..topology.nodes()).filter(|&node| topology.channels_from(node).len() > 1).collect();
        let endpoints = [topology.hosts(), topology.routers()].concat();
        let mut draw = |among: &[u32]| among[stream.below(among.len() as u64) as usize];
        let drawn = std::iter::repeat_with(|| (draw(&forwarding), draw(&endpoints)));
        let pairs: Vec<(u32, u32)> = drawn.filter(|(from, to)| from != to).take(PAIRS).collect();
        let mut sum = 0u64;
        let seconds = median_seconds(RUNS, || {
            for &(from, to) in (0..ROUNDS).flat_map(|_| &pairs) {
                topology.shortest(from, to, |channel| sum = sum.wrapping_add(u64::from(channel)));
            }
            black_box(sum);
        });
        println!("{name}: {} calls/s (goal {goal})", rounded((PAIRS * ROUNDS) as f64 / seconds));
        let seconds = median_seconds(RUNS, || {
            for &(from, to) in (0..ROUNDS).flat_map(|_| &pairs) {
                sum = sum.wrapping_add(u64::from(topology.deterministic(from, to)));
            }
            black_box(sum);
        });
        println!("    deterministic: {} calls/s (goal none)", rounded((PAIRS * ROUNDS) as f64 / seconds));
    }
}
