//! A tree of straw and straw2 buckets laid out for draws in lockstep.
//!
//! The map's buckets are boxes within boxes; here all items of all buckets lie behind one another in a few flat arrays, so
//! that draws in different buckets are one loop. What the arrays cannot express has no plan, and is placed by the plain road.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::choosing::draw::{self, DrawBuffers};
use crate::choosing::ln::{DRAWS, Distances, LAST_ORDERED};
use crate::map::bucket::{Bucket, Shape, Straw2Weights};
use crate::{CrushMap, Lanes, WeightSets};

/// Largest bucket of a plan: an item's place in its bucket shares a 32-bit word with its 16-bit draw.
const SIZE_MAX: usize = 1 << 16;

/// Where the values of straw2 begin in [`scales`].
const STRAW2_SCALE: u32 = 0;
/// Where the values of straw begin in [`scales`].
pub(super) const STRAW_SCALE: u32 = DRAWS as u32;

/// For each draw its straw2 distance, then for each draw itself: the value that an item's factor multiplies.
///
/// The least product wins: a distance times the reciprocal of a weight, or a draw times a straw length below zero. Single
/// precision keeps 24 bits, enough to tell all but near ties apart, in half the cache that doubles take.
static SCALES: LazyLock<Box<[f32]>> = LazyLock::new(|| {
    let distances = (0..DRAWS as u32).map(|draw| Distances::shared().exact(draw) as f32);
    distances.chain((0..DRAWS as u32).map(|draw| draw as f32)).collect()
});

/// Both tables of values by draw.
pub(super) fn scales() -> &'static [f32; 2 * DRAWS] {
    SCALES.as_ref().try_into().expect("two values a draw")
}

/// Most draws below another that [`tie_window`] tells apart.
const WINDOW_MAX: usize = 32;

/// For k = 1, 2, ...: the least difference of distance between a draw and the one k below it, in the ordered part.
static LEAST_DIFFERENCES: LazyLock<[u64; WINDOW_MAX]> = LazyLock::new(|| {
    let distances = Distances::shared();
    std::array::from_fn(|index| {
        let below = index as u32 + 1;
        (below..=LAST_ORDERED)
            .map(|draw| distances.exact(draw - below) - distances.exact(draw))
            .min()
            .expect("there are draws")
    })
});

/// How far below a draw another may lie that ties with it once distances are divided by `weight`, or `None` if farther
/// than the table tells.
///
/// Quotients can be equal only where distances differ by less than the divisor.
fn tie_window(weight: u32) -> Option<u32> {
    LEAST_DIFFERENCES.iter().position(|&least| least >= u64::from(weight)).map(|index| index as u32)
}

/// One bucket of a plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// Index of its first item.
    pub(super) start: u32,
    /// Number of its items.
    pub(super) size: u32,
    /// Where its values begin in [`scales`].
    pub(super) scale: u32,
    /// Whether the largest draw wins, near ties apart.
    pub(super) equal: bool,
}

/// What an item of a plan is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    /// Its id.
    pub(super) id: i32,
    /// Its node if it is a bucket that holds something.
    pub(super) node: Option<u32>,
    /// Whether it has the type that the rule chooses.
    pub(super) is_target: bool,
}

/// The buckets of one plan, the first of them the root, and their items.
#[derive(Debug)]
pub(super) struct Plan<'m> {
    pub(super) nodes: Vec<Node>,
    pub(super) items: Vec<Item>,
    /// What is hashed for each item.
    pub(super) ids: Vec<u32>,
    /// What each item's values are multiplied by.
    pub(super) factors: Vec<f32>,
    /// The largest difference of draws that may be a tie, in buckets of equal weights; zero where only equal draws tie.
    pub(super) window: u32,
    sources: Vec<Source<'m>>,
}

/// What a node was made of, for draws that need the last bit.
#[derive(Debug)]
struct Source<'m> {
    ids: &'m [i32],
    shape: &'m Shape,
    weights: Option<&'m Straw2Weights>,
}

impl<'m> Plan<'m> {
    /// Lays out what lies below `root`, for a step that chooses items of `type_id`.
    ///
    /// `None` where the root is empty, or a bucket is of another kind than straw and straw2 or draws by position (several weight sets).
    /// An empty bucket, such as a host's share of a device class that it has none of, has no node: who comes there leaves this road.
    pub(super) fn new(map: &'m CrushMap, root: i32, type_id: i32, weight_sets: Option<&'m WeightSets>) -> Option<Self> {
        let mut plan = Plan {
            nodes: Vec::new(),
            items: Vec::new(),
            ids: Vec::new(),
            factors: Vec::new(),
            window: 0,
            sources: Vec::new(),
        };
        let mut numbers = BTreeMap::from([(root, 0)]);
        let mut open = vec![map.bucket(root)?];
        // Buckets are numbered when they are first met and laid out in that order, so `open` is never emptied.
        let mut next = 0;
        while next < open.len() {
            let bucket = open[next];
            next += 1;
            plan.add_node(bucket, weight_sets)?;
            for &item in &bucket.items {
                let below = map.bucket(item);
                let node = below.filter(|below| !below.items.is_empty()).map(|below| {
                    *numbers.entry(item).or_insert_with(|| {
                        open.push(below);
                        open.len() as u32 - 1
                    })
                });
                let item_type = below.map_or(0, |below| below.type_id);
                if node.is_some() && item_type == 0 {
                    return None;
                }
                plan.items.push(Item { id: item, node, is_target: item_type == type_id });
            }
        }
        Some(plan)
    }

    /// Adds a bucket's node and what its items are hashed and weighed by.
    fn add_node(&mut self, bucket: &'m Bucket, weight_sets: Option<&'m WeightSets>) -> Option<()> {
        let size = bucket.items.len();
        if size == 0 || size > SIZE_MAX {
            return None;
        }
        let mut source = Source { ids: &bucket.items, shape: &bucket.shape, weights: None };
        let (scale, equal) = match &bucket.shape {
            Shape::Straw { straws, equal } => {
                self.factors.extend(straws.iter().map(|&straw| -(straw as f32)));
                (STRAW_SCALE, *equal)
            }
            Shape::Straw2(own) => {
                let arguments = weight_sets.and_then(|sets| sets.bucket(bucket.id));
                if arguments.is_some_and(|arguments| arguments.weights.len() > 1) {
                    return None;
                }
                source.ids = arguments.and_then(|arguments| arguments.ids()).unwrap_or(&bucket.items);
                let weights = arguments.and_then(|arguments| arguments.weights(0)).unwrap_or(own);
                source.weights = Some(weights);
                self.factors.extend(weights.inverses.iter().map(|&inverse| inverse as f32));
                let window = if weights.equal { tie_window(weights.weights[0]) } else { None };
                self.window = self.window.max(window.unwrap_or(0));
                (STRAW2_SCALE, window.is_some())
            }
            _ => return None,
        };
        let start = self.ids.len() as u32;
        self.ids.extend(source.ids.iter().map(|&id| id as u32));
        self.nodes.push(Node { start, size: size as u32, scale, equal });
        self.sources.push(source);
        Some(())
    }

    /// The place, in its bucket, of the item that wins a draw, to the last bit.
    pub(super) fn draw_exactly(&self, node: u32, x: u32, r: u32, lanes: Lanes, buffers: &mut DrawBuffers) -> u32 {
        let Source { ids, shape, weights } = &self.sources[node as usize];
        let place = match (shape, weights) {
            (_, Some(weights)) => draw::straw2(lanes, buffers, Distances::shared(), (x, r), ids, weights),
            (Shape::Straw { straws, equal }, None) => draw::straw(lanes, buffers, x, r, ids, straws, *equal),
            _ => unreachable!("a plan has straw and straw2 buckets only"),
        };
        place as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rule: no draw farther below another than the window ties with it, for any weight; and the window of weight one is
    // small, since the distances of neighbouring draws differ by 2^44 log2(65535/65534) / 2^16 > 5,000 quotients there,
    // save where the logarithm's tables are odd.
    #[test]
    fn ties_lie_within_the_window() {
        let distances = Distances::shared();
        for weight in [1, 0x100, 0x1_0000, 0x1a_3d70, 0x1000_0000] {
            let window = tie_window(weight).unwrap();
            for draw in 0..=LAST_ORDERED {
                assert!(draw - distances.smallest_equal(draw, weight) <= window, "weight {weight}, draw {draw}");
            }
        }
        assert!((1..4).contains(&tie_window(0x1_0000).unwrap()));
    }
}
