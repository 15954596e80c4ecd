//! Inputs whose screened device drew high, on their way past the other items.

use super::draw::list_at_least;
use super::hashing::raise_draws;
use super::lanes::Lanes;

/// Pairs of input and attempt in which a target's draw is high.
#[derive(Debug)]
pub(super) struct Contenders {
    pub(super) count: usize,
    pub(super) index: Vec<u32>,
    pub(super) x: Vec<u32>,
    pub(super) attempt: Vec<u32>,
    /// The target's draw.
    pub(super) draw: Vec<u32>,
    /// The largest draw that another item has had.
    pub(super) largest: Vec<u32>,
}

/// Contenders that are held at once; where there are more, some are decided before.
pub(super) const HELD: usize = 6 << 10;
/// Room for a vector of indices beyond the contenders.
const SPARE: usize = 16;

impl Contenders {
    pub(super) fn new() -> Self {
        let column = || vec![0; HELD + SPARE];
        Contenders { count: 0, index: column(), x: column(), attempt: column(), draw: column(), largest: column() }
    }

    /// Adds the inputs whose draw is not below `least`; `place` is the index of the first input.
    pub(super) fn add(&mut self, lanes: Lanes, place: u32, inputs: &[u32], draws: &[u32], attempt: u32, least: u32) {
        let first = self.count;
        self.count += list_at_least(lanes, draws, least, &mut self.index[first..]);
        for one in first..self.count {
            let index = self.index[one] as usize;
            (self.x[one], self.draw[one]) = (inputs[index], draws[index]);
            (self.attempt[one], self.largest[one], self.index[one]) = (attempt, 0, place + index as u32);
        }
    }

    /// Lets the items draw, and strikes out those whom one of them beats.
    pub(super) fn strike(&mut self, lanes: Lanes, items: &[i32], window: u32) {
        let count = self.count;
        raise_draws(lanes, &self.x[..count], &self.attempt[..count], items, &mut self.largest[..count]);
        let mut left = 0;
        for one in 0..count {
            let (draw, largest) = (self.draw[one], self.largest[one]);
            (self.index[left], self.x[left], self.attempt[left]) = (self.index[one], self.x[one], self.attempt[one]);
            (self.draw[left], self.largest[left]) = (draw, largest);
            left += usize::from(largest <= draw + window);
        }
        self.count = left;
    }
}
