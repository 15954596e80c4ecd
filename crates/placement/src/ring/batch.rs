//! Placing many objects at once: hashes made of vectors, lookups whose cache misses overlap, and the plain road for the
//! few objects whose copies meet.

use std::ops::Range;

use resilver_units::ObjectId;

use super::{HashRing, RingWalk, draw_word};

/// What stands in a row of a batch after the end of a placement that comes up short.
pub const NO_DEVICE: u32 = u32::MAX;

/// Lookups made at once, about: their positions stay in the first-level cache.
const LOOKUPS: usize = 768;

pub(super) fn place_batch(ring: &HashRing, objects: Range<u64>, copies: usize, rows: &mut [u32]) {
    let count = objects.end.saturating_sub(objects.start);
    assert_eq!(
        count.checked_mul(copies as u64),
        Some(rows.len() as u64),
        "there is room for `copies` devices an object"
    );
    if copies == 0 {
        return;
    }
    if ring.walk == RingWalk::Successors || ring.table.is_empty() {
        for (object, row) in objects.zip(rows.chunks_exact_mut(copies)) {
            place_plainly(ring, object, row);
        }
        return;
    }
    let block = (LOOKUPS / copies).max(1);
    let mut positions = vec![0u32; block * copies];
    let mut first = objects.start;
    for rows in rows.chunks_mut(block * copies) {
        let positions = &mut positions[..rows.len()];
        fill_positions(first, copies, positions);
        ring.table.owners(positions, rows);
        for (object, row) in (first..).zip(rows.chunks_exact_mut(copies)) {
            if !is_apart(ring, row) {
                place_plainly(ring, object, row);
            }
        }
        first += block as u64;
    }
}

/// The positions of the draws of consecutive objects, `copies` each.
fn fill_positions(first: u64, copies: usize, positions: &mut [u32]) {
    for (object, row) in (first..).zip(positions.chunks_exact_mut(copies)) {
        for (word, pair) in row.chunks_mut(2).enumerate() {
            let drawn = draw_word(object, word);
            pair[0] = (drawn >> 32) as u32;
            if let Some(second) = pair.get_mut(1) {
                *second = drawn as u32;
            }
        }
    }
}

/// Whether the devices of a row all lie in different failure domains.
#[inline(always)]
fn is_apart(ring: &HashRing, row: &[u32]) -> bool {
    let domain = |device: u32| if ring.is_flat { device } else { ring.domain_of[device as usize] };
    if let &[first, second, third] = row {
        let (first, second, third) = (domain(first), domain(second), domain(third));
        return (first != second) & (first != third) & (second != third);
    }
    row.iter().enumerate().all(|(rank, &device)| row[..rank].iter().all(|&other| domain(other) != domain(device)))
}

#[cold]
fn place_plainly(ring: &HashRing, object: u64, row: &mut [u32]) {
    let mut found = Vec::with_capacity(row.len());
    ring.place(ObjectId::new(object), row.len(), |_| false, &mut found);
    row.fill(NO_DEVICE);
    for (slot, device) in row.iter_mut().zip(&found) {
        *slot = device.get();
    }
}
