//! The firstn mode of a choose step: results are compacted, as replicas want.

use crate::choosing::choose::{Ask, Placement};
use crate::map::bucket::Bucket;

/// What became of one draw.
enum Outcome<'m> {
    Accepted(i32),
    Descend(&'m Bucket),
    Collided,
    Rejected,
    Abandoned,
}

impl<'m> Placement<'m, '_> {
    /// Fills `out` from the front with up to `wanted` different items; returns how many.
    pub(crate) fn firstn(
        &mut self,
        bucket: &'m Bucket,
        ask: Ask,
        wanted: u32,
        out: &mut [i32],
        leaves: &mut [i32],
        room: usize,
    ) -> usize {
        let mut placed = 0;
        for copy in 0..wanted {
            if placed == room {
                break;
            }
            if let Some(item) = self.firstn_copy(bucket, ask, copy, &out[..placed], leaves) {
                out[placed] = item;
                placed += 1;
            }
        }
        placed
    }

    /// Finds one copy that differs from those `taken`, retrying as the tunables say.
    ///
    /// `leaves` holds the devices below the copies taken; a chooseleaf step adds the new copy's.
    fn firstn_copy(&mut self, root: &'m Bucket, ask: Ask, copy: u32, taken: &[i32], leaves: &mut [i32]) -> Option<i32> {
        let mut failures = 0;
        loop {
            let mut bucket = root;
            let mut local_failures = 0;
            let retry_from_root = loop {
                let attempt = copy.wrapping_add(ask.parent_r).wrapping_add(failures);
                let outcome = self.firstn_draw(bucket, ask, attempt, local_failures, taken, leaves);
                let collided = match outcome {
                    Outcome::Accepted(item) => return Some(item),
                    Outcome::Abandoned => return None,
                    Outcome::Descend(child) => {
                        bucket = child;
                        continue;
                    }
                    Outcome::Collided => true,
                    Outcome::Rejected => false,
                };
                failures += 1;
                local_failures += 1;
                let size = bucket.items.len() as u32;
                let permuting = self.tries.fallback > 0 && local_failures <= size + self.tries.fallback;
                if (collided && local_failures <= self.tries.local) || permuting {
                    continue;
                }
                break failures < ask.total;
            };
            if !retry_from_root {
                return None;
            }
        }
    }

    /// One draw from one bucket on the way of a firstn step.
    fn firstn_draw(
        &mut self,
        bucket: &'m Bucket,
        ask: Ask,
        attempt: u32,
        local_failures: u32,
        taken: &[i32],
        leaves: &mut [i32],
    ) -> Outcome<'m> {
        if bucket.items.is_empty() {
            return Outcome::Rejected;
        }
        let fallback = self.tries.fallback;
        let permute = fallback > 0 && local_failures >= bucket.items.len() as u32 / 2 && local_failures > fallback;
        let item = if permute { self.permuted(bucket, attempt) } else { self.draw(bucket, attempt, taken.len()) };
        let child = self.map.bucket(item);
        if child.map_or(0, |child| child.type_id) != ask.type_id {
            return child.map_or(Outcome::Abandoned, Outcome::Descend);
        }
        if taken.contains(&item) {
            return Outcome::Collided;
        }
        if ask.leaf {
            match child {
                None => leaves[taken.len()] = item,
                Some(child) => {
                    let vary_r = self.tries.vary_r;
                    let parent_r = if vary_r == 0 { 0 } else { attempt >> (vary_r - 1) };
                    let below = Ask { type_id: 0, leaf: false, total: ask.leaf_total, leaf_total: 0, parent_r };
                    let copy = if self.tries.stable { 0 } else { taken.len() as u32 };
                    let (before, rest) = leaves.split_at_mut(taken.len());
                    match self.firstn_copy(child, below, copy, before, &mut []) {
                        Some(device) => rest[0] = device,
                        None => return Outcome::Rejected,
                    }
                }
            }
        }
        if child.is_none() && self.is_out(item) {
            return Outcome::Rejected;
        }
        Outcome::Accepted(item)
    }
}
