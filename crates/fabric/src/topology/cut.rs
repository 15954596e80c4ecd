//! A good cut of any graph into halves: the order of the second eigenvector, of a search, and of the numbers, each improved by
//! moving nodes.
//!
//! Fiedler, "Algebraic connectivity of graphs", 1973; Fiduccia and Mattheyses, "A linear-time heuristic for improving network
//! partitions", 1982.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use resilver_kernel::{Purpose, Stream};

use super::wiring::Wiring;

const BISECTION: Purpose = Purpose::named("bisect");
/// Steps towards the eigenvector, and passes of improvement, at most.
const STEPS: usize = 300;
const PASSES: usize = 24;

/// The fewest links found that part the endpoints into halves, equal to within one.
pub(super) fn best_cut(wiring: &Wiring, is_endpoint: &[bool]) -> u64 {
    let nodes = wiring.nodes();
    let by_value = |values: Vec<f64>| {
        let mut order: Vec<u32> = (0..nodes).collect();
        order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]).then(a.cmp(&b)));
        order
    };
    let searched = |from: u32| by_value(wiring.hops_from(from).into_iter().map(f64::from).collect());
    let farthest = searched(0).last().copied().unwrap_or(0);
    let orders = [by_value(second_eigenvector(wiring)), searched(farthest), (0..nodes).collect()];
    orders.into_iter().map(|order| Halves::new(wiring, is_endpoint, &order).improve()).min().unwrap_or(0)
}

/// The eigenvector of the Laplacian's second smallest eigenvalue, roughly, by power iteration on what it leaves of its bound.
fn second_eigenvector(wiring: &Wiring) -> Vec<f64> {
    let nodes = wiring.nodes();
    let bound = 2.0 * f64::from((0..nodes).map(|node| wiring.radix(node)).max().unwrap_or(0));
    let mut stream = Stream::new(0, 0, BISECTION);
    let mut values: Vec<f64> = (0..nodes).map(|_| stream.uniform()).collect();
    for _ in 0..STEPS {
        let mean = values.iter().sum::<f64>() / f64::from(nodes);
        values.iter_mut().for_each(|value| *value -= mean);
        let length = values.iter().map(|value| value * value).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        values.iter_mut().for_each(|value| *value /= length);
        let step = |node: u32| {
            let around = wiring.neighbours(node);
            let joined: f64 = around.iter().map(|&other| values[other as usize]).sum();
            (bound - around.len() as f64) * values[node as usize] + joined
        };
        values = (0..nodes).map(step).collect();
    }
    values
}

/// Two sides of a graph, in the course of improvement.
struct Halves<'a> {
    wiring: &'a Wiring,
    is_endpoint: &'a [bool],
    is_far: Vec<bool>,
    /// Endpoints on the far side less those on the near.
    excess: i64,
    /// Links that moving each node would take out of the cut.
    gain: Vec<i64>,
    cut: i64,
    /// The most that the halves may differ by.
    tolerance: i64,
}

impl<'a> Halves<'a> {
    /// The first half of the endpoints in this order, and the nodes up to there, on one side.
    fn new(wiring: &'a Wiring, is_endpoint: &'a [bool], order: &[u32]) -> Self {
        let endpoints = is_endpoint.iter().filter(|&&is_endpoint| is_endpoint).count();
        let mut is_far = vec![true; is_endpoint.len()];
        let mut near = 0;
        for &node in order {
            if near == endpoints / 2 {
                break;
            }
            near += usize::from(is_endpoint[node as usize]);
            is_far[node as usize] = false;
        }
        let excess = (endpoints - near) as i64 - near as i64;
        let tolerance = (endpoints % 2) as i64;
        let mut halves = Halves { wiring, is_endpoint, is_far, excess, gain: Vec::new(), cut: 0, tolerance };
        for node in 0..wiring.nodes() {
            let other_side = |&&other: &&u32| halves.is_far[other as usize] != halves.is_far[node as usize];
            let across = wiring.neighbours(node).iter().filter(other_side).count() as i64;
            halves.gain.push(2 * across - i64::from(wiring.radix(node)));
            halves.cut += across;
        }
        halves.cut /= 2;
        halves
    }

    /// Moves a node to the other side; tells whose gain has changed.
    fn shift(&mut self, node: u32, mut changed: impl FnMut(u32, i64)) {
        let is_far = !self.is_far[node as usize];
        self.is_far[node as usize] = is_far;
        if self.is_endpoint[node as usize] {
            self.excess += if is_far { 2 } else { -2 };
        }
        self.cut -= self.gain[node as usize];
        self.gain[node as usize] = -self.gain[node as usize];
        for &other in self.wiring.neighbours(node) {
            self.gain[other as usize] += if self.is_far[other as usize] == is_far { -2 } else { 2 };
            changed(other, self.gain[other as usize]);
        }
    }

    /// Moves every node once, the best that keeps the balance first, and goes back to the best halves met; whether they are
    /// better than those before.
    fn pass(&mut self) -> bool {
        // What may move, by side and whether it counts; entries that are out of date are skipped.
        let mut heaps: [BinaryHeap<(i64, Reverse<u32>)>; 4] = Default::default();
        let heap_of = |halves: &Halves, node: u32| {
            2 * usize::from(halves.is_far[node as usize]) + usize::from(halves.is_endpoint[node as usize])
        };
        for node in 0..self.wiring.nodes() {
            heaps[heap_of(self, node)].push((self.gain[node as usize], Reverse(node)));
        }
        let mut is_moved = vec![false; self.is_far.len()];
        let mut moved = Vec::new();
        let (start, mut best, mut kept) = (self.cut, self.cut, 0);
        loop {
            for heap in &mut heaps {
                let is_stale = |&(gain, Reverse(node)): &(i64, Reverse<u32>)| {
                    is_moved[node as usize] || self.gain[node as usize] != gain
                };
                while heap.peek().is_some_and(is_stale) {
                    heap.pop();
                }
            }
            let allowed = |&heap: &usize| match heap {
                1 => self.excess <= 0,
                3 => self.excess >= 0,
                _ => true,
            };
            let best_heap = (0..4).filter(allowed).max_by_key(|&heap| heaps[heap].peek().copied());
            let Some((_, Reverse(node))) = best_heap.and_then(|heap| heaps[heap].pop()) else { break };
            is_moved[node as usize] = true;
            moved.push(node);
            let mut changed = Vec::new();
            self.shift(node, |other, gain| changed.push((other, gain)));
            for (other, gain) in changed {
                if !is_moved[other as usize] {
                    heaps[heap_of(self, other)].push((gain, Reverse(other)));
                }
            }
            if self.excess.abs() <= self.tolerance && self.cut < best {
                (best, kept) = (self.cut, moved.len());
            }
        }
        for &node in moved[kept..].iter().rev() {
            self.shift(node, |_, _| {});
        }
        best < start
    }

    /// The links across once no pass makes them fewer.
    fn improve(mut self) -> u64 {
        for _ in 0..PASSES {
            if !self.pass() {
                break;
            }
        }
        self.cut as u64
    }
}
