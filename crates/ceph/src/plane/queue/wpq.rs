//! Weighted priorities (`osd_op_queue = wpq`): a priority is drawn by its weight, and what it has first goes the less likely the more it
//! costs. Recovery and best effort have one priority.

use std::collections::VecDeque;

use resilver_kernel::Stream;

use super::super::OpClass;
use super::Next;

#[derive(Debug)]
struct Line {
    weight: u64,
    waiting: VecDeque<(OpClass, u32, f64)>,
}

/// The two priorities of one shard: clients, then recovery.
#[derive(Debug)]
pub(super) struct Weights {
    lines: [Line; 2],
    /// The most that any item has cost.
    dearest: f64,
}

impl Weights {
    pub fn new(client: u32, recovery: u32) -> Self {
        let line = |weight: u32| Line { weight: u64::from(weight.max(1)), waiting: VecDeque::new() };
        Weights { lines: [line(client), line(recovery)], dearest: 0.0 }
    }

    /// Takes out all that waits.
    pub fn drain(&mut self) -> Vec<(OpClass, u32, f64)> {
        self.lines.iter_mut().flat_map(|line| line.waiting.drain(..)).collect()
    }

    pub fn push(&mut self, class: OpClass, token: u32, cost: f64) {
        self.dearest = self.dearest.max(cost);
        self.lines[usize::from(class != OpClass::Client)].waiting.push_back((class, token, cost));
    }

    pub fn pop(&mut self, draws: &mut Stream) -> Next {
        let [clients, recovery] = &self.lines;
        let chosen = match (clients.waiting.front(), recovery.waiting.front()) {
            (None, None) => return Next::Empty,
            (Some(_), None) => 0,
            (None, Some(_)) => 1,
            (Some(client), Some(repair)) => loop {
                let line = usize::from(draws.below(clients.weight + recovery.weight) >= clients.weight);
                let cost = [client, repair][line].2;
                if draws.uniform() * self.dearest <= self.dearest - 0.9 * cost {
                    break line;
                }
            },
        };
        self.lines[chosen].waiting.pop_front().map_or(Next::Empty, |(_, token, _)| Next::Item(token))
    }
}
