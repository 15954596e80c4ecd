//! Block designs: sets of equal size in which every pair of points occurs equally often, or nearly.
//!
//! In a balanced incomplete block design of b blocks of g among n points, every point is in r = b g / n blocks and every pair
//! in lambda = r (g - 1) / (n - 1) of them. Holland and Gibson (ASPLOS 1992) and Muntz and Lui (VLDB 1990) lay out
//! parity groups by such designs, so that what a failed device held is read evenly from all others.

mod cyclic;
pub(crate) mod field;
mod triples;

use field::{Field, prime_power};

/// The most blocks that are built for a design that the caller gave no number for.
pub const BLOCKS_MAX: u64 = 1 << 21;

/// The order from which on projective planes are not built.
const PLANE_ORDER_MAX: u32 = 64;

/// How often a pair should occur on average where no exact design fits, so that one more or less matters little.
const CYCLIC_PAIRS: u64 = 4;

/// Blocks of equal width, one behind another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    width: usize,
    points: Vec<u32>,
    construction: Construction,
}

/// Where a design comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Construction {
    /// Every set of points once.
    Complete,
    /// The lines of an affine space over a field of as many elements as a block has.
    AffineLines,
    /// A subgroup of a field's units, its cosets, and all their translates (Netto 1893, Bose 1939); where the width allows
    /// no subgroup, one set and its images under all affine maps, as in PRIME (Alvarez et al. 1998).
    FieldTranslates,
    /// The lines of a projective plane over a prime field.
    ProjectivePlane,
    /// Bose's triples over a cyclic group of odd order and three levels.
    BoseTriples,
    /// Cyclic translates of blocks chosen one by one for the rarest differences: every point occurs equally often, pairs
    /// nearly.
    Cyclic,
}

impl Design {
    /// The smallest design that is exactly balanced among those known here, or a cyclic one where all are too large.
    ///
    /// # Arguments
    /// * `points` - how many points there are.
    /// * `width` - points in a block, from 1 to `points`.
    ///
    /// # Returns
    /// At most about [`BLOCKS_MAX`] blocks, or one for each point where there are more points.
    ///
    /// # Panics
    /// When the width is zero or greater than the number of points.
    ///
    /// # Examples
    /// ```
    /// use resilver_placement::layouts::design::Design;
    /// // The seven lines of the Fano plane.
    /// assert_eq!(Design::balanced(7, 3).block_count(), 7);
    /// ```
    #[must_use]
    pub fn balanced(points: u32, width: usize) -> Self {
        assert!((1..=points as usize).contains(&width), "a block has from one to all of the points");
        let mut known: Vec<(u64, Construction)> = Vec::new();
        known.extend(complete_count(points, width).map(|count| (count, Construction::Complete)));
        known.extend(field::counts(points, width));
        known.extend(plane_order(points, width).map(|_| (u64::from(points), Construction::ProjectivePlane)));
        known.extend(triples::bose_count(points, width).map(|count| (count, Construction::BoseTriples)));
        known.sort_by_key(|&(count, _)| count);
        match known.first() {
            Some(&(count, construction)) if count <= BLOCKS_MAX => Design::build(points, width, construction),
            _ => {
                let pairs = (width as u64 * (width as u64 - 1)).max(1);
                let wanted = (CYCLIC_PAIRS * u64::from(points - 1)).div_ceil(pairs);
                let fitting = (BLOCKS_MAX / u64::from(points)).max(1);
                Design::cyclic(points, width, wanted.clamp(1, fitting) as usize)
            }
        }
    }

    /// All translates of `bases` blocks: `points` x `bases` blocks, of which every point is in `width` x `bases`.
    ///
    /// # Arguments
    /// * `points`, `width` - as for [`Design::balanced`].
    /// * `bases` - blocks to choose; each adds a block for every point.
    ///
    /// # Returns
    /// The design; pairs occur nearly equally often.
    ///
    /// # Examples
    /// ```
    /// use resilver_placement::layouts::design::Design;
    /// assert_eq!(Design::cyclic(10, 3, 2).block_count(), 20);
    /// ```
    #[must_use]
    pub fn cyclic(points: u32, width: usize, bases: usize) -> Self {
        let blocks = cyclic::translates(points, width, bases);
        Design { width, points: blocks, construction: Construction::Cyclic }
    }

    fn build(points: u32, width: usize, construction: Construction) -> Self {
        let blocks = match construction {
            Construction::Complete => complete(points, width),
            Construction::AffineLines => Field::new(points).affine_lines(width as u32),
            Construction::FieldTranslates => Field::new(points).translates(width as u32),
            Construction::ProjectivePlane => projective_plane(width as u32 - 1),
            Construction::BoseTriples => triples::bose(points),
            Construction::Cyclic => unreachable!("a cyclic design is not among the exact ones"),
        };
        Design { width, points: blocks, construction }
    }

    /// Where the design comes from.
    #[must_use]
    pub fn construction(&self) -> Construction {
        self.construction
    }

    /// The number of blocks.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.points.len() / self.width
    }

    /// The blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = &[u32]> {
        self.points.chunks_exact(self.width)
    }

    /// A block.
    #[must_use]
    pub fn block(&self, number: usize) -> &[u32] {
        &self.points[number * self.width..(number + 1) * self.width]
    }
}

/// The number of sets of `width` among `points`, where it is not above [`BLOCKS_MAX`].
fn complete_count(points: u32, width: usize) -> Option<u64> {
    let width = width.min(points as usize - width) as u64;
    let mut count = 1u64;
    for taken in 0..width {
        // Each product is a binomial coefficient times the next divisor, so the division leaves nothing over.
        count = count * (u64::from(points) - taken) / (taken + 1);
        if count > BLOCKS_MAX {
            return None;
        }
    }
    Some(count)
}

/// Every set of `width` among `points`, in lexicographic order.
fn complete(points: u32, width: usize) -> Vec<u32> {
    let mut block: Vec<u32> = (0..width as u32).collect();
    let mut blocks = Vec::new();
    loop {
        blocks.extend_from_slice(&block);
        // The last place that can still be raised; those behind it follow on.
        let Some(place) = (0..width).rev().find(|&place| block[place] < points - (width - place) as u32) else {
            return blocks;
        };
        block[place] += 1;
        for next in place + 1..width {
            block[next] = block[next - 1] + 1;
        }
    }
}

/// The prime order of the projective plane with this many points and points on a line, if there is one.
fn plane_order(points: u32, width: usize) -> Option<u32> {
    let order = u32::try_from(width).ok()?.checked_sub(1)?;
    // All points are tried on all lines, which bounds the order.
    let is_prime = order < PLANE_ORDER_MAX && matches!(prime_power(order), Some((_, 1)));
    (is_prime && u64::from(order) * (u64::from(order) + 1) + 1 == u64::from(points)).then_some(order)
}

/// The lines of the projective plane over the integers modulo a prime: those points whose product with the line is zero.
fn projective_plane(prime: u32) -> Vec<u32> {
    let mut points = vec![[0, 0, 1]];
    points.extend((0..prime).map(|z| [0, 1, z]));
    points.extend((0..prime).flat_map(|y| (0..prime).map(move |z| [1, y, z])));
    let mut blocks = Vec::with_capacity(points.len() * (prime as usize + 1));
    for line in &points {
        for (number, point) in points.iter().enumerate() {
            let product: u32 = line.iter().zip(point).map(|(a, b)| a * b).sum();
            if product.is_multiple_of(prime) {
                blocks.push(number as u32);
            }
        }
    }
    blocks
}

#[cfg(test)]
mod tests;
