//! Draws that one input made, kept while it is placed again under other reweights: what it draws does not depend on them.

use crate::choosing::choose::{Placement, Scratch};
use crate::map::CrushMap;
use crate::map::bucket::Bucket;
use crate::map::rule::Rule;
use crate::map::weight_set::WeightSets;

/// Items of the smallest bucket whose draws are kept: a draw from a smaller one costs no more than to look for it.
const KEPT_FROM: usize = 24;

/// The draws of one input.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    is_kept: bool,
    draws: Vec<Draw>,
}

#[derive(Debug)]
struct Draw {
    bucket: i32,
    attempt: u32,
    position: usize,
    item: i32,
}

impl CrushMap {
    /// [`place_with`](Self::place_with) under each of several reweights, for little more than under one.
    ///
    /// # Arguments
    /// * `(rule, x, copies)`, `weight_sets`, `scratch` - as there.
    /// * `reweights` - 16.16 reweights of each device by id, a list each.
    /// * `out` - working memory.
    /// * `each` - receives the devices under each of the reweights, in their order.
    pub fn place_under_each<'r>(
        &self,
        (rule, x, copies): (&Rule, u32, usize),
        weight_sets: Option<&WeightSets>,
        reweights: impl Iterator<Item = &'r [u32]>,
        (scratch, out): (&mut Scratch, &mut Vec<i32>),
        mut each: impl FnMut(&[i32]),
    ) {
        scratch.inner.drawn.is_kept = true;
        for reweight in reweights {
            self.place_with(rule, x, copies, reweight, weight_sets, scratch, out);
            each(out);
        }
        scratch.inner.drawn.is_kept = false;
        scratch.inner.drawn.draws.clear();
    }
}

impl Placement<'_, '_> {
    /// Draws an item of a bucket, or finds what was drawn before.
    #[inline]
    pub(crate) fn draw(&mut self, bucket: &Bucket, r: u32, position: usize) -> i32 {
        if !self.inner.drawn.is_kept || bucket.items.len() < KEPT_FROM {
            return self.draw_anew(bucket, r, position);
        }
        // Without weight sets a draw is the same for each position.
        let position = if self.weight_sets.is_some() { position } else { 0 };
        let is_it = |draw: &&Draw| (draw.bucket, draw.attempt, draw.position) == (bucket.id, r, position);
        if let Some(drawn) = self.inner.drawn.draws.iter().find(is_it) {
            return drawn.item;
        }
        let item = self.draw_anew(bucket, r, position);
        self.inner.drawn.draws.push(Draw { bucket: bucket.id, attempt: r, position, item });
        item
    }
}
