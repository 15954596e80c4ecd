//! The road for a rule that chooses devices straight from one vring bucket.
//!
//! An attempt there is one hash and one lookup, so what counts is that hashes are made of vectors and that the cache misses of
//! many lookups overlap. Each position's first attempt has the position's own number, whatever the tunables; where the
//! devices of these attempts are all different and none is turned away, they are the answer, firstn or indep. All other
//! inputs take the plain road.

use super::{SHORT, Single};
use crate::choosing::choose::is_turned_away;
use crate::lanes::{Lanes, multiversion};
use crate::map::CrushMap;
use crate::map::bucket::Shape;
use crate::map::vring::{Ring, position};

/// Inputs placed together: with three copies their positions and owners take 6 KiB of the first-level cache.
const BLOCK: usize = 256;

/// One vring bucket of devices, from which a rule chooses.
#[derive(Debug)]
pub(super) struct FlatRing<'m> {
    bucket: i32,
    ring: &'m Ring,
    /// How many devices an input gets.
    positions: usize,
}

/// Working memory of [`FlatRing::place`].
#[derive(Debug, Default)]
pub(super) struct RingBlock {
    /// Where the attempts stand on the ring, [`BLOCK`] inputs an attempt.
    positions: Vec<u32>,
    /// The owners of those positions, by their rank among the bucket's items.
    owners: Vec<u32>,
}

impl<'m> FlatRing<'m> {
    /// The road of a step, where it chooses devices from a vring bucket of nothing else.
    pub(super) fn new(map: &'m CrushMap, single: &Single) -> Option<Self> {
        let bucket = map.bucket(single.root)?;
        let Shape::Vring(ring) = &bucket.shape else { return None };
        let is_flat = single.choose.type_id == 0 && bucket.items.iter().all(|&item| item >= 0);
        let is_served = is_flat && !ring.is_empty() && single.tries.total > 0;
        is_served.then_some(FlatRing { bucket: bucket.id, ring, positions: single.positions })
    }

    /// Places inputs, each into its row of `copies` devices; `plainly` places those whose first attempts do not serve.
    pub(super) fn place(
        &self,
        (lanes, block): (Lanes, &mut RingBlock),
        (inputs, copies, reweight): (&[u32], usize, &[u32]),
        out: &mut [i32],
        mut plainly: impl FnMut(u32, &mut [i32]),
    ) {
        block.positions.resize(self.positions * BLOCK, 0);
        block.owners.resize(self.positions * BLOCK, 0);
        let ids = self.ring.items();
        for (inputs, rows) in inputs.chunks(BLOCK).zip(out.chunks_mut(BLOCK * copies)) {
            let mut clashes = [0u32; BLOCK];
            let mut attempts = block.positions.chunks_exact_mut(BLOCK).zip(block.owners.chunks_exact_mut(BLOCK));
            for (r, (positions, owners)) in (0..).zip(&mut attempts) {
                fill_positions(lanes, inputs, r, self.bucket, &mut positions[..inputs.len()]);
                self.ring.owners(&positions[..inputs.len()], &mut owners[..inputs.len()]);
            }
            for (r, owners) in block.owners.chunks_exact(BLOCK).enumerate() {
                for before in block.owners.chunks_exact(BLOCK).take(r) {
                    mark_equal(lanes, owners, before, &mut clashes);
                }
            }
            for (index, (&x, row)) in inputs.iter().zip(rows.chunks_exact_mut(copies)).enumerate() {
                for (slot, owners) in row.iter_mut().zip(block.owners.chunks_exact(BLOCK)) {
                    *slot = ids[owners[index] as usize];
                }
                row[self.positions..].fill(SHORT);
                let taken = &row[..self.positions];
                let is_out = !reweight.is_empty() && taken.iter().any(|&id| is_turned_away(reweight, x, id));
                if clashes[index] != 0 || is_out {
                    plainly(x, row);
                }
            }
        }
    }
}

/// Where attempt `r` at each input stands on a bucket's ring.
#[inline(always)]
fn fill_positions_body(inputs: &[u32], r: u32, bucket: i32, positions: &mut [u32]) {
    for (at, &x) in positions.iter_mut().zip(inputs) {
        *at = position(bucket, x, r);
    }
}

/// Marks the inputs of which two attempts have one owner.
#[inline(always)]
fn mark_equal_body(one: &[u32], other: &[u32], marks: &mut [u32; BLOCK]) {
    for ((mark, one), other) in marks.iter_mut().zip(one).zip(other) {
        *mark |= u32::from(one == other);
    }
}

multiversion!(fill_positions, fill_positions_body, (inputs: &[u32], r: u32, bucket: i32, positions: &mut [u32]), ());
multiversion!(mark_equal, mark_equal_body, (one: &[u32], other: &[u32], marks: &mut [u32; BLOCK]), ());
