//! Buckets: the inner nodes of a CRUSH map, with what each kind precomputes from its weights.

use crate::map::error::MapError;
use crate::map::straw::straw_lengths;
use crate::map::vring::Ring;

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
    /// use resilver_crush::BucketKind;
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

    /// The kind that a binary map calls by this number.
    ///
    /// # Arguments
    /// * `number` - 1 uniform, 2 list, 3 tree, 4 straw, 5 straw2, 6 vring.
    ///
    /// # Returns
    /// The kind, or `None` for any other number.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::BucketKind;
    /// assert_eq!(BucketKind::from_number(5).map(BucketKind::number), Some(5));
    /// ```
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Uniform),
            2 => Some(Self::List),
            3 => Some(Self::Tree),
            4 => Some(Self::Straw),
            5 => Some(Self::Straw2),
            6 => Some(Self::Vring),
            _ => None,
        }
    }

    /// The number that binary maps use for this kind, and the bit of `allowed_bucket_algs`.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::Uniform => 1,
            Self::List => 2,
            Self::Tree => 3,
            Self::Straw => 4,
            Self::Straw2 => 5,
            Self::Vring => 6,
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
    /// What each item of a uniform bucket weighs, also while it has none; zero for other kinds.
    pub(crate) unit: u32,
}

/// What a binary map or an edited one keeps of a bucket beside its items' weights.
///
/// A cluster keeps these as they were last calculated, by whichever release did it, and places data by them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    /// The bucket's own weight, which need not be the sum of its items'.
    pub(crate) weight: u32,
    /// Straw lengths, list sums, tree nodes, or the one weight of a uniform bucket; empty for straw2 and vring. What follows from the
    /// items' weights where the source does not say.
    pub(crate) numbers: Option<Vec<u32>>,
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
        let unit = if kind == BucketKind::Uniform { weights.first().copied().unwrap_or(0) } else { 0 };
        let items = items.iter().map(|&(item, _)| item).collect();
        Ok(Self { id, name, type_id, kind, items, weights, total, shape, unit })
    }

    /// Puts back what was stored, in place of what follows from the items.
    ///
    /// # Errors
    /// There are more or fewer numbers than the kind and the items call for.
    pub(crate) fn restore(&mut self, stored: Stored) -> Result<(), MapError> {
        let Stored { weight, numbers } = stored;
        self.total = weight;
        let Some(numbers) = numbers else { return Ok(()) };
        let wanted = match &self.shape {
            Shape::Uniform => 1,
            Shape::List { sums } => sums.len(),
            // Taking the last items off a tree may leave more nodes than the rest needs.
            Shape::Tree { nodes } if numbers.len().is_power_of_two() && numbers.len() > nodes.len() => numbers.len(),
            Shape::Tree { nodes } => nodes.len(),
            Shape::Straw { straws, .. } => straws.len(),
            _ => 0,
        };
        if numbers.len() != wanted {
            let field = format!("bucket {}: stored {} numbers", self.name, self.kind.name());
            let rule = format!("a bucket of this kind and size has {wanted}");
            return Err(MapError::invalid(field, numbers.len(), rule, "read the map from its cluster again"));
        }
        match &mut self.shape {
            Shape::Uniform => self.unit = numbers[0],
            Shape::List { sums } => *sums = numbers,
            Shape::Tree { nodes } => *nodes = numbers,
            Shape::Straw { straws, equal } => {
                *equal = numbers.first().is_some_and(|&first| first > 0 && numbers.iter().all(|&straw| straw == first));
                *straws = numbers;
            }
            _ => {}
        }
        Ok(())
    }

    /// What [`Bucket::restore`] puts back.
    pub(crate) fn stored(&self) -> Stored {
        let numbers = match &self.shape {
            Shape::Uniform => vec![self.unit],
            Shape::List { sums } => sums.clone(),
            Shape::Tree { nodes } => nodes.clone(),
            Shape::Straw { straws, .. } => straws.clone(),
            _ => Vec::new(),
        };
        Stored { weight: self.total, numbers: Some(numbers) }
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

    /// The bucket's own weight, 16.16 fixed point: the sum of its items', except in a map that stored another.
    #[must_use]
    pub fn weight(&self) -> u32 {
        self.total
    }
}

/// Weight of every node of a tree bucket.
///
/// Node numbers are in order: item `i` is node `2i + 1`, and the height of a node is the number of its trailing zeros.
pub(crate) fn tree_nodes(weights: &[u32]) -> Vec<u32> {
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
