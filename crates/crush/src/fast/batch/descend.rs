//! Descents: from the root of a plan to an item of the chosen type, and on to a device.

use super::lockstep::{self, BLOCK, Block, UNSURE};
use super::plan::Plan;
use crate::choosing::draw::DrawBuffers;
use crate::{Lanes, NONE};

/// A larger bucket fills the vectors with its own items, for less than draws of several inputs cost (measured: from about 80
/// items on); its draws go one by one.
const LARGE: u32 = 128;

/// One descent that is wanted or under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descent {
    /// The input.
    pub(super) x: u32,
    /// The attempt by which the items down to the chosen type draw.
    pub(super) r: u32,
    /// The attempt by which those below it draw.
    pub(super) leaf_r: u32,
    /// Where the answer goes.
    pub(super) slot: u32,
    /// The bucket it has come to.
    node: u32,
}

impl Descent {
    /// A descent from the root.
    pub(super) fn new(x: u32, r: u32, leaf_r: u32, slot: usize) -> Self {
        Descent { x, r, leaf_r, slot: slot as u32, node: 0 }
    }
}

/// What a descent found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Landing {
    /// The item of the chosen type; [`NONE`] where the descent met a device before, or an empty bucket.
    pub(super) item: i32,
    /// The device at or below it; -1 where none was looked for.
    pub(super) device: i32,
}

/// Working memory of descents.
#[derive(Debug, Default)]
pub(super) struct Descents {
    /// The descents that are wanted.
    pub(super) open: Vec<Descent>,
    block: Block,
    buffers: DrawBuffers,
}

impl Descents {
    /// Makes all open descents, and puts each landing into its slot.
    ///
    /// With `leaf`, descents go on from the chosen type to a device.
    pub(super) fn run(&mut self, plan: &Plan, leaf: bool, lanes: Lanes, landings: &mut [Landing]) {
        while !self.open.is_empty() {
            let mut kept = 0;
            for first in (0..self.open.len()).step_by(BLOCK) {
                let end = self.open.len().min(first + BLOCK);
                self.draw(plan, first..end, lanes);
                for index in 0..end - first {
                    let mut descent = self.open[first + index];
                    let is_large = plan.nodes[descent.node as usize].size > LARGE;
                    let place = if is_large || self.block.place[index] == UNSURE {
                        plan.draw_exactly(descent.node, descent.x, descent.r, lanes, &mut self.buffers)
                    } else {
                        self.block.place[index]
                    };
                    if descent.step(plan, place, leaf, &mut landings[descent.slot as usize]) {
                        self.open[kept] = descent;
                        kept += 1;
                    }
                }
            }
            self.open.truncate(kept);
        }
    }

    /// One draw of each of these descents.
    fn draw(&mut self, plan: &Plan, descents: std::ops::Range<usize>, lanes: Lanes) {
        let block = &mut self.block;
        block.count = descents.len();
        let mut equal = true;
        for (index, descent) in self.open[descents].iter().enumerate() {
            let node = plan.nodes[descent.node as usize];
            (block.x[index], block.r[index]) = (descent.x, descent.r);
            (block.start[index], block.size[index]) = (node.start, node.size);
            block.scale[index] = node.scale;
            equal &= node.equal;
            if node.size > LARGE {
                block.size[index] = 1;
            }
        }
        block.pad();
        lockstep::draw(lanes, block, plan, equal);
    }
}

impl Descent {
    /// Steps to the item at `place` of its bucket; whether there is further to go.
    #[inline]
    fn step(&mut self, plan: &Plan, place: u32, leaf: bool, landing: &mut Landing) -> bool {
        let item = plan.items[(plan.nodes[self.node as usize].start + place) as usize];
        // Below the chosen type only devices count. The landing knows whether that type was reached.
        let is_below = landing.device == BELOW;
        match item.node {
            None if item.id < 0 => {
                *landing = Landing::OPEN;
                false
            }
            None => {
                let found = if is_below { landing.item } else { item.id };
                let is_right = is_below || item.is_target;
                *landing = Landing { item: if is_right { found } else { NONE }, device: item.id };
                false
            }
            Some(_) if item.is_target && !is_below && !leaf => {
                *landing = Landing { item: item.id, device: -1 };
                false
            }
            Some(node) => {
                self.node = node;
                if item.is_target && !is_below {
                    *landing = Landing { item: item.id, device: BELOW };
                    self.r = self.leaf_r;
                }
                true
            }
        }
    }
}

/// Marks a landing whose descent is on its way from the chosen item to a device.
const BELOW: i32 = -2;

impl Landing {
    /// Where no descent has been yet.
    pub(super) const OPEN: Landing = Landing { item: NONE, device: -1 };
}
