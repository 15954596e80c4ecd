//! Near-balanced designs for any number of points: translates of blocks modulo that number.
//!
//! Points x and y lie together in as many translates as the blocks have the difference y - x. So the pairs are as even as the
//! differences, of which there are fewer by a factor of the number of points, and blocks are chosen point by point for
//! the rarest. (A cyclic difference family is the case in which all differences come out equal.)

/// All translates of `bases` blocks of `width` modulo `points`, one base behind another.
pub(super) fn translates(points: u32, width: usize, bases: usize) -> Vec<u32> {
    let mut counts = vec![0u32; points as usize];
    let mut blocks = Vec::with_capacity(points as usize * width * bases);
    for _ in 0..bases {
        let base = next_base(points, width, &mut counts);
        for shift in 0..points {
            blocks.extend(base.iter().map(|&point| (point + shift) % points));
        }
    }
    blocks
}

/// A block with zero in it, whose differences so far occur rarely; counts them.
fn next_base(points: u32, width: usize, counts: &mut [u32]) -> Vec<u32> {
    let mut base = vec![0];
    while base.len() < width {
        let mut best = (u64::MAX, 0);
        for candidate in 1..points {
            if base.contains(&candidate) {
                continue;
            }
            let cost = cost(candidate, &base, points, counts);
            if cost < best.0 {
                best = (cost, candidate);
            }
        }
        for &point in &base {
            count_both(best.1, point, points, counts, 1);
        }
        base.push(best.1);
    }
    base
}

/// By how much the squares of the counts grow with a candidate: least where its differences are rare and distinct.
fn cost(candidate: u32, base: &[u32], points: u32, counts: &mut [u32]) -> u64 {
    let mut cost = 0;
    for &point in base {
        cost += 2 * u64::from(counts[difference(candidate, point, points)]) + 1;
        count_both(candidate, point, points, counts, 1);
    }
    for &point in base {
        count_both(candidate, point, points, counts, u32::MAX);
    }
    cost
}

fn difference(a: u32, b: u32, points: u32) -> usize {
    (if a >= b { a - b } else { a + points - b }) as usize
}

/// Adds to the count of a difference and of its negative; `by` = 2^32 - 1 takes one away.
fn count_both(a: u32, b: u32, points: u32, counts: &mut [u32], by: u32) {
    for difference in [difference(a, b, points), difference(b, a, points)] {
        counts[difference] = counts[difference].wrapping_add(by);
    }
}
