//! The indep mode of a choose step: every result keeps its position, as the strips of an erasure code want.

use crate::choosing::choose::{Ask, Placement, UNDECIDED};
use crate::map::bucket::{Bucket, Shape};
use crate::map::rule::NONE;

/// What became of one attempt at a position of an indep step.
enum Attempt {
    /// The item for the position, and the device below it.
    Found { item: i32, leaf: i32 },
    /// No attempt can fill the position.
    Never,
    /// Another attempt may do better.
    Again,
    /// As `Again`, but a chooseleaf step that names devices as its failure domain keeps the device that was turned away if no
    /// later attempt succeeds: Ceph's answer, which its clusters share.
    TurnedAway { leaf: i32 },
}

impl<'m> Placement<'m, '_> {
    /// Fills every position of `out`, with [`NONE`] where no item is found; positions do not depend on each other.
    pub(crate) fn indep(&mut self, root: &'m Bucket, ask: Ask, wanted: u32, out: &mut [i32], leaves: &mut [i32]) {
        for failures in 0..ask.total {
            let mut undecided = false;
            for position in 0..out.len() {
                if out[position] == UNDECIDED {
                    match self.indep_draw(root, ask, wanted, (position, failures), 0, out) {
                        Attempt::Found { item, leaf } => (out[position], leaves[position]) = (item, leaf),
                        Attempt::Never => (out[position], leaves[position]) = (NONE, NONE),
                        Attempt::Again => undecided = true,
                        Attempt::TurnedAway { leaf } => {
                            undecided = true;
                            leaves[position] = leaf;
                        }
                    }
                }
            }
            if !undecided {
                break;
            }
        }
        for slot in out.iter_mut().chain(leaves) {
            if *slot == UNDECIDED {
                *slot = NONE;
            }
        }
    }

    /// One attempt at one position of an indep step.
    ///
    /// `offset` is the number of the first position in `taken`, so that the descent below a failure domain, which sees one
    /// position alone, still draws by its number.
    fn indep_draw(
        &mut self,
        root: &'m Bucket,
        ask: Ask,
        wanted: u32,
        (position, failures): (usize, u32),
        offset: usize,
        taken: &[i32],
    ) -> Attempt {
        let mut bucket = root;
        loop {
            let size = bucket.items.len() as u32;
            // A uniform bucket whose size the copies divide would repeat the same items; one more step avoids that.
            let exact_fit = bucket.shape == Shape::Uniform && size.is_multiple_of(wanted);
            let stride = if exact_fit { wanted + 1 } else { wanted };
            let attempt =
                ((offset + position) as u32).wrapping_add(ask.parent_r).wrapping_add(stride.wrapping_mul(failures));
            if size == 0 {
                return Attempt::Again;
            }
            let item = self.draw(bucket, attempt, offset);
            let child = self.map.bucket(item);
            if child.map_or(0, |child| child.type_id) != ask.type_id {
                match child {
                    None => return Attempt::Never,
                    Some(child) => bucket = child,
                }
                continue;
            }
            if taken.contains(&item) {
                return Attempt::Again;
            }
            let leaf = match child {
                Some(child) if ask.leaf => match self.indep_leaf(child, ask, wanted, position, attempt) {
                    Some(device) => device,
                    None => return Attempt::Again,
                },
                _ => item,
            };
            if child.is_none() && self.is_out(item) {
                return if ask.leaf { Attempt::TurnedAway { leaf } } else { Attempt::Again };
            }
            return Attempt::Found { item, leaf };
        }
    }

    /// A device below the failure domain that an indep step chose for `position` at `attempt`.
    fn indep_leaf(&mut self, domain: &'m Bucket, ask: Ask, wanted: u32, position: usize, attempt: u32) -> Option<i32> {
        let below = Ask { type_id: 0, leaf: false, total: ask.leaf_total, leaf_total: 0, parent_r: attempt };
        for failures in 0..below.total {
            match self.indep_draw(domain, below, wanted, (0, failures), position, &[]) {
                Attempt::Found { item, .. } => return Some(item),
                Attempt::Never => return None,
                Attempt::Again | Attempt::TurnedAway { .. } => {}
            }
        }
        None
    }
}
