//! Many draws at once: each loop goes over the draws under way, and the buckets' items are its outer loop.
//!
//! A draw in one bucket is a chain of some 90 dependent instructions an item, which leaves a processor idle; draws of
//! different inputs do not depend on each other and fill its vectors whatever the size of the buckets. The kernels name the
//! winner of each draw, or say that the runner-up was too near to be sure.

use super::plan::{Plan, scales};
#[cfg(target_arch = "x86_64")]
use super::wide;
use crate::Lanes;
use crate::choosing::ln::DRAWS;
use crate::hash::rjenkins1_3;
use crate::lanes::multiversion;

/// Draws of one block: enough for eight vectors under way at once, few enough that their state stays in the first cache.
pub(super) const BLOCK: usize = 128;

/// The place of a winner of whom the kernel is not sure.
pub(super) const UNSURE: u32 = u32::MAX;

/// The draws of one block, each in a bucket of its own.
#[derive(Debug)]
pub(super) struct Block {
    /// How many draws there are.
    pub(super) count: usize,
    /// Input and attempt.
    pub(super) x: [u32; BLOCK],
    pub(super) r: [u32; BLOCK],
    /// The bucket: index of its first item, number of items, and where its values begin in the table of scales.
    pub(super) start: [u32; BLOCK],
    pub(super) size: [u32; BLOCK],
    pub(super) scale: [u32; BLOCK],
    /// The answer: the winner's place in its bucket, or [`UNSURE`] where another may have won.
    pub(super) place: [u32; BLOCK],
    index: [u32; BLOCK],
    id: [u32; BLOCK],
    draw: [u32; BLOCK],
    key: [u32; BLOCK],
    second_key: [u32; BLOCK],
    factor: [f32; BLOCK],
    value: [f32; BLOCK],
    second_value: [f32; BLOCK],
}

impl Default for Block {
    fn default() -> Self {
        let (zeros, values) = ([0; BLOCK], [0.0; BLOCK]);
        Block {
            count: 0,
            x: zeros,
            r: zeros,
            start: zeros,
            size: zeros,
            scale: zeros,
            place: zeros,
            index: zeros,
            id: zeros,
            draw: zeros,
            key: zeros,
            second_key: zeros,
            factor: values,
            value: values,
            second_value: values,
        }
    }
}

/// Draws of the widest vector; a loop over fewer goes one by one, at the price of a vector each.
const VECTOR: usize = 16;

impl Block {
    /// Fills the last vector with repetitions of the last draw, whose answers nobody reads.
    pub(super) fn pad(&mut self) {
        let Some(last) = self.count.checked_sub(1) else { return };
        let padded = self.count.next_multiple_of(VECTOR);
        for column in [&mut self.x, &mut self.r, &mut self.start, &mut self.size, &mut self.scale] {
            let value = column[last];
            column[self.count..padded].fill(value);
        }
        self.count = padded;
    }
}

/// The id of item `place` of each draw's bucket, or of the last item where the bucket is shorter.
#[inline(always)]
fn gather_ids(place: u32, ids: &[u32], start: &[u32], size: &[u32], index: &mut [u32], id: &mut [u32]) {
    for (((index, id), &start), &size) in index.iter_mut().zip(id).zip(start).zip(size) {
        *index = start + place.min(size - 1);
        *id = ids[*index as usize];
    }
}

/// The 16-bit draw of each hash.
#[inline(always)]
fn hash_draws(x: &[u32], id: &[u32], r: &[u32], draw: &mut [u32]) {
    for (((draw, &x), &id), &r) in draw.iter_mut().zip(x).zip(id).zip(r) {
        *draw = rjenkins1_3(x, id, r) & (DRAWS as u32 - 1);
    }
}

/// Keeps the two largest keys.
#[inline(always)]
fn keep_largest(of_item: u32, (key, second_key): (&mut u32, &mut u32)) {
    *second_key = (*second_key).max(of_item.min(*key));
    *key = (*key).max(of_item);
}

/// Draws in buckets of equal weights. A draw's key is its 16 bits above the item's place counted down, so that the largest
/// key is the largest draw and, of equals, the first.
#[inline(always)]
fn draw_equal_body(block: &mut Block, ids: &[u32], window: u32) {
    let count = block.count.min(BLOCK);
    let (x, r) = (&block.x[..count], &block.r[..count]);
    let (start, size) = (&block.start[..count], &block.size[..count]);
    let (index, id) = (&mut block.index[..count], &mut block.id[..count]);
    let (key, second_key) = (&mut block.key[..count], &mut block.second_key[..count]);
    key.fill(0);
    second_key.fill(0);
    let shared = start.iter().all(|&one| one == start[0]);
    for place in 0..size.iter().copied().max().unwrap_or(0) {
        let down = DRAWS as u32 - 1 - place;
        let keys = key.iter_mut().zip(second_key.iter_mut());
        if shared {
            let id = ids[(start[0] + place) as usize];
            for ((&x, &r), keys) in x.iter().zip(r).zip(keys) {
                keep_largest(rjenkins1_3(x, id, r) << 16 | down, keys);
            }
        } else {
            gather_ids(place, ids, start, size, index, id);
            for ((((&x, &r), &id), &size), keys) in x.iter().zip(r).zip(&*id).zip(size).zip(keys) {
                let of_item = if place < size { rjenkins1_3(x, id, r) << 16 | down } else { 0 };
                keep_largest(of_item, keys);
            }
        }
    }
    for ((place, &key), &second_key) in block.place[..count].iter_mut().zip(&*key).zip(&*second_key) {
        let (largest, second) = (key >> 16, second_key >> 16);
        let is_unsure = window > 0 && (largest - second <= window || largest == DRAWS as u32 - 1);
        *place = if is_unsure { UNSURE } else { DRAWS as u32 - 1 - (key & 0xffff) };
    }
}

/// Draws in buckets of any weights: the least product of value and factor wins.
#[inline(always)]
fn draw_weighted_body(block: &mut Block, ids: &[u32], factors: &[f32]) {
    let scales = scales();
    let count = block.count.min(BLOCK);
    let (x, r, scale) = (&block.x[..count], &block.r[..count], &block.scale[..count]);
    let (start, size) = (&block.start[..count], &block.size[..count]);
    let (index, id, draw) = (&mut block.index[..count], &mut block.id[..count], &mut block.draw[..count]);
    let (factor, best) = (&mut block.factor[..count], &mut block.place[..count]);
    let (value, second_value) = (&mut block.value[..count], &mut block.second_value[..count]);
    best.fill(0);
    value.fill(f32::INFINITY);
    second_value.fill(f32::INFINITY);
    for place in 0..size.iter().copied().max().unwrap_or(0) {
        gather_ids(place, ids, start, size, index, id);
        hash_draws(x, id, r, draw);
        for ((factor, &index), &size) in factor.iter_mut().zip(&*index).zip(size) {
            *factor = if place < size { factors[index as usize] } else { f32::NAN };
        }
        let products = factor.iter().zip(&*draw).zip(scale);
        let leaders = value.iter_mut().zip(second_value.iter_mut()).zip(best.iter_mut());
        for (((&factor, &draw), &scale), ((value, second_value), best)) in products.zip(leaders) {
            // Past the end of a bucket the product is no number, which is less than nothing.
            let of_item = scales[(scale | draw) as usize & (2 * DRAWS - 1)] * factor;
            let is_less = of_item < *value;
            let loser = if is_less { *value } else { of_item };
            *second_value = if loser < *second_value { loser } else { *second_value };
            *value = if is_less { of_item } else { *value };
            *best = if is_less { place } else { *best };
        }
    }
    for ((best, &value), &second) in best.iter_mut().zip(&*value).zip(&*second_value) {
        // Value, factor and product are each rounded by less than 2^-24 of themselves, so a value is off by less than
        // 2^-22 and two by 2^-21 of the larger; and quotients, which are whole, may tie where values differ by one.
        let bound = value.abs() * (1.0 / (1 << 20) as f32) + 2.0;
        // Where all weights are zero the values are infinite, and their difference is no number.
        *best = if second - value > bound { *best } else { UNSURE };
    }
}

multiversion!(draw_equal_compiled, draw_equal_body, (block: &mut Block, ids: &[u32], window: u32), ());
multiversion!(draw_weighted_compiled, draw_weighted_body, (block: &mut Block, ids: &[u32], factors: &[f32]), ());

/// Names the winners of a block whose buckets are of a plan; with `equal`, each bucket's weights are.
pub(super) fn draw(lanes: Lanes, block: &mut Block, plan: &Plan, equal: bool) {
    #[cfg(target_arch = "x86_64")]
    if lanes == Lanes::Avx512 {
        // SAFETY: these lanes are in use only where the processor has them, and the items of a plan's nodes are the plan's.
        return unsafe {
            match equal {
                true => wide::draw_equal(block, &plan.ids, plan.window),
                false => wide::draw_weighted(block, &plan.ids, &plan.factors),
            }
        };
    }
    match equal {
        true => draw_equal_compiled(lanes, block, &plan.ids, plan.window),
        false => draw_weighted_compiled(lanes, block, &plan.ids, &plan.factors),
    }
}
