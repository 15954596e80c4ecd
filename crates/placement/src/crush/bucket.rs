//! Buckets: the inner nodes of a CRUSH map, with what each kind precomputes from its weights.

use super::error::MapError;
use super::straw::straw_lengths;
use super::vring::Ring;

/// How a bucket chooses among its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BucketKind {
    /// Items of one weight, chosen by a pseudo-random permutation.
    Uniform,
    /// A linked list, newest item first: adding an item moves the least data.
    List,
    /// A binary tree of weights.
    Tree,
    /// The longest straw wins, straws scaled by weight (approximately fair).
    Straw,
    /// The longest straw wins, straws drawn from an exponential distribution (exactly fair).
    Straw2,
    /// A hash ring with 1,024 virtual nodes a weight of one; no release of Ceph knows it.
    Vring,
}

impl BucketKind {
    /// The kind of this name.
    ///
    /// # Arguments
    /// * `name` - `uniform`, `list`, `tree`, `straw`, `straw2` or `vring`.
    ///
    /// # Returns
    /// The kind, or `None` for any other name.
    ///
    /// # Examples
    /// ```
    /// use resilver_placement::crush::BucketKind;
    /// assert_eq!(BucketKind::from_name("straw2"), Some(BucketKind::Straw2));
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "uniform" => Some(Self::Uniform),
            "list" => Some(Self::List),
            "tree" => Some(Self::Tree),
            "straw" => Some(Self::Straw),
            "straw2" => Some(Self::Straw2),
            "vring" => Some(Self::Vring),
            _ => None,
        }
    }

    /// The name that CRUSH maps use for this kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::List => "list",
            Self::Tree => "tree",
            Self::Straw => "straw",
            Self::Straw2 => "straw2",
            Self::Vring => "vring",
        }
    }
}

/// Weights of a straw2 bucket and what its fast path derives from them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Straw2Weights {
    /// 16.16 fixed-point weight of each item.
    pub(crate) weights: Vec<u32>,
    /// Reciprocal of each weight; infinite for weight zero, so that such an item draws the longest distance.
    pub(crate) inverses: Vec<f64>,
    /// Whether all weights are the same and not zero.
    pub(crate) equal: bool,
}

impl Straw2Weights {
    /// Precomputes the reciprocals of `weights` (16.16 fixed point).
    pub(crate) fn new(weights: Vec<u32>) -> Self {
        let inverses = weights.iter().map(|&weight| 1.0 / f64::from(weight)).collect();
        let equal = weights.first().is_some_and(|&first| first > 0 && weights.iter().all(|&weight| weight == first));
        Self { weights, inverses, equal }
    }
}

/// What a bucket's kind needs beside the items.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// Nothing: the permutation depends on the bucket's id and size only.
    Uniform,
    /// Sum of the weights up to and including each item.
    List { sums: Vec<u32> },
    /// Weight of each node of the binary tree; items stand at the odd nodes.
    Tree { nodes: Vec<u32> },
    /// Straw length of each item, and whether all are equal and not zero.
    Straw { straws: Vec<u32>, equal: bool },
    /// Weights and reciprocals.
    Straw2(Straw2Weights),
    /// The items' points on a ring.
    Vring(Ring),
}

/// One bucket of a CRUSH map: a host, a rack, a root.
#[derive(Debug, Clone, PartialEq)]
pub struct Bucket {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) type_id: i32,
    pub(crate) kind: BucketKind,
    pub(crate) items: Vec<i32>,
    pub(crate) weights: Vec<u32>,
    pub(crate) total: u32,
    pub(crate) shape: Shape,
}

impl Bucket {
    /// Builds a bucket and what its kind derives from the weights.
    ///
    /// # Arguments
    /// * `id` - negative id.
    /// * `name`, `type_id`, `kind` - as the map declares them.
    /// * `items` - id and 16.16 weight of each item, in order.
    /// * `straw_calc_version` - which straw lengths a straw bucket gets (0, or 1 and above).
    ///
    /// # Errors
    /// The weights sum to more than 32 bits hold, or a uniform bucket has unequal weights.
    pub(crate) fn new(
        id: i32,
        name: String,
        type_id: i32,
        kind: BucketKind,
        items: &[(i32, u32)],
        straw_calc_version: u32,
    ) -> Result<Self, MapError> {
        let weights: Vec<u32> = items.iter().map(|&(_, weight)| weight).collect();
        let total: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
        let total = u32::try_from(total).map_err(|_| {
            MapError::invalid(
                format!("bucket {name}: weight"),
                format!("{:.3}", total as f64 / 65536.0),
                "the weights of a bucket's items must sum to less than 65536",
                "give weights in a larger unit (Ceph's own is TiB)",
            )
        })?;
        let shape = match kind {
            BucketKind::Uniform => {
                if let Some(odd) = weights.iter().find(|&&weight| weight != weights[0]) {
                    return Err(MapError::invalid(
                        format!("bucket {name}: item weight"),
                        f64::from(*odd) / 65536.0,
                        "a uniform bucket has items of one weight",
                        "make the weights equal or choose straw2",
                    ));
                }
                Shape::Uniform
            }
            BucketKind::List => {
                let running = |sum: &mut u32, &weight: &u32| {
                    *sum += weight;
                    Some(*sum)
                };
                Shape::List { sums: weights.iter().scan(0u32, running).collect() }
            }
            BucketKind::Tree => Shape::Tree { nodes: tree_nodes(&weights) },
            BucketKind::Straw => {
                let straws = straw_lengths(&weights, straw_calc_version);
                let equal =
                    straws.first().is_some_and(|&first| first > 0 && straws.iter().all(|&straw| straw == first));
                Shape::Straw { straws, equal }
            }
            BucketKind::Straw2 => Shape::Straw2(Straw2Weights::new(weights.clone())),
            BucketKind::Vring => Shape::Vring(Ring::new(items)),
        };
        let items = items.iter().map(|&(item, _)| item).collect();
        Ok(Self { id, name, type_id, kind, items, weights, total, shape })
    }

    /// The bucket's id, below zero.
    #[must_use]
    pub fn id(&self) -> i32 {
        self.id
    }

    /// The bucket's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The id of the bucket's type (host, rack, ...).
    #[must_use]
    pub fn type_id(&self) -> i32 {
        self.type_id
    }

    /// How the bucket chooses among its items.
    #[must_use]
    pub fn kind(&self) -> BucketKind {
        self.kind
    }

    /// Ids of the items: devices from zero up, buckets below zero.
    #[must_use]
    pub fn items(&self) -> &[i32] {
        &self.items
    }

    /// Weight of each item, 16.16 fixed point.
    #[must_use]
    pub fn weights(&self) -> &[u32] {
        &self.weights
    }

    /// Sum of the items' weights, 16.16 fixed point.
    #[must_use]
    pub fn weight(&self) -> u32 {
        self.total
    }
}

/// Weight of every node of a tree bucket.
///
/// Node numbers are in order: item `i` is node `2i + 1`, and the height of a node is the number of its trailing zeros.
fn tree_nodes(weights: &[u32]) -> Vec<u32> {
    let Some(last) = weights.len().checked_sub(1) else { return Vec::new() };
    let depth = 1 + (usize::BITS - last.leading_zeros()) as usize;
    let mut nodes = vec![0u32; 1 << depth];
    for (index, &weight) in weights.iter().enumerate() {
        let mut node = 2 * index + 1;
        nodes[node] = weight;
        for _ in 1..depth {
            let step = 1 << node.trailing_zeros();
            node = if node & (step << 1) != 0 { node - step } else { node + step };
            nodes[node] += weight;
        }
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rule: every inner node of a tree bucket weighs what its items weigh. Items 1, 2, 4 stand at nodes 1, 3, 5 of an
    // 8-node tree; node 2 joins 1 and 3, node 6 joins 5 and 7, node 4 is the root.
    #[test]
    fn tree_nodes_sum_their_items() {
        assert_eq!(tree_nodes(&[1, 2, 4]), vec![0, 1, 3, 2, 7, 4, 4, 0]);
    }

    // Rule: sums that leave 32 bits are refused, naming the bucket.
    #[test]
    fn overflowing_weights_are_an_error() {
        let error = Bucket::new(-1, "big".into(), 1, BucketKind::Straw2, &[(0, u32::MAX), (1, 1)], 1).unwrap_err();
        assert!(error.to_string().contains("bucket big"), "{error}");
    }
}
