//! One bucket open for edits: items come and go, and the numbers its kind keeps follow as Ceph's builder makes them follow.

use crate::map::bucket::{Bucket, BucketKind, Stored, tree_nodes};
use crate::map::draft::DraftBucket;
use crate::map::error::MapError;
use crate::map::place::Place;

/// A bucket open for edits.
#[derive(Debug, Clone)]
pub(super) struct EditBucket {
    pub(super) id: i32,
    /// Empty for a bucket without a name.
    pub(super) name: String,
    pub(super) type_id: i32,
    pub(super) kind: BucketKind,
    pub(super) items: Vec<(i32, u32)>,
    pub(super) weight: u32,
    /// List sums, tree nodes, or the one weight of a uniform bucket; straws are recalculated whenever anything changes.
    numbers: Vec<u32>,
    changed: bool,
}

impl EditBucket {
    /// Opens a bucket.
    pub(super) fn new(bucket: &Bucket, named: bool) -> Self {
        let Stored { weight, numbers } = bucket.stored();
        Self {
            id: bucket.id(),
            name: if named { bucket.name().to_owned() } else { String::new() },
            type_id: bucket.type_id(),
            kind: bucket.kind(),
            items: bucket.items().iter().copied().zip(bucket.weights().iter().copied()).collect(),
            weight,
            numbers: numbers.unwrap_or_default(),
            changed: false,
        }
    }

    /// A bucket of these items.
    pub(super) fn made(id: i32, name: String, type_id: i32, kind: BucketKind, items: &[(i32, u32)]) -> Self {
        let weight = items.iter().fold(0u32, |sum, item| sum.saturating_add(item.1));
        let weights: Vec<u32> = items.iter().map(|item| item.1).collect();
        let numbers = match kind {
            BucketKind::Uniform => vec![weights.first().copied().unwrap_or(0)],
            BucketKind::List => weights.iter().scan(0u32, |sum, &weight| Some(step(sum, weight))).collect(),
            BucketKind::Tree => tree_nodes(&weights),
            _ => Vec::new(),
        };
        Self { id, name, type_id, kind, items: items.to_vec(), weight, numbers, changed: true }
    }

    /// Closes the bucket.
    pub(super) fn close(self) -> DraftBucket {
        let recalculated = self.kind == BucketKind::Straw && self.changed;
        let numbers = if recalculated { None } else { Some(self.numbers) };
        DraftBucket {
            id: self.id,
            name: self.name,
            type_id: self.type_id,
            kind: self.kind,
            items: self.items,
            stored: Some(Stored { weight: self.weight, numbers }),
            place: Place::Unknown,
            item_places: Vec::new(),
        }
    }

    /// Where an item stands.
    pub(super) fn position(&self, item: i32) -> Option<usize> {
        self.items.iter().position(|entry| entry.0 == item)
    }

    /// Whether all items must have one weight that is not zero.
    pub(super) fn is_uniform_with_weight(&self) -> bool {
        self.kind == BucketKind::Uniform && self.numbers != [0]
    }

    /// Appends an item.
    ///
    /// # Errors
    /// The bucket's weight leaves 32 bits, or a uniform bucket would get an item of another weight.
    pub(super) fn add(&mut self, item: i32, weight: u32) -> Result<(), MapError> {
        self.changed = true;
        let total = self.weight.checked_add(weight).ok_or_else(|| self.overflow())?;
        match self.kind {
            BucketKind::Uniform => {
                if self.items.is_empty() {
                    self.numbers = vec![weight];
                }
                if self.numbers != [weight] {
                    let field = format!("bucket {}: item weight", self.name);
                    let rule = "a uniform bucket has items of one weight";
                    let remedy = "give the item the weight of the others, or convert the bucket to straw2";
                    return Err(MapError::invalid(field, f64::from(weight) / 65536.0, rule, remedy));
                }
            }
            BucketKind::List => {
                let sum = self.numbers.last().copied().unwrap_or(0);
                self.numbers.push(sum.checked_add(weight).ok_or_else(|| self.overflow())?);
            }
            _ => {}
        }
        self.items.push((item, weight));
        if self.kind == BucketKind::Tree {
            // Ceph leaves the new inner nodes of a grown tree to chance; here they are the sums they stand for.
            self.numbers = tree_nodes(&self.weights());
        }
        self.weight = total;
        Ok(())
    }

    /// Gives an item another weight; a uniform bucket gives it to all.
    ///
    /// # Errors
    /// The bucket's weight leaves 32 bits.
    pub(super) fn set_weight(&mut self, position: usize, weight: u32) -> Result<(), MapError> {
        self.changed = true;
        if self.kind == BucketKind::Uniform {
            let total = weight.checked_mul(self.items.len() as u32).ok_or_else(|| self.overflow())?;
            self.weight = total;
            self.numbers = vec![weight];
            for item in &mut self.items {
                item.1 = weight;
            }
            return Ok(());
        }
        let old = self.items[position].1;
        let total = i64::from(self.weight) + i64::from(weight) - i64::from(old);
        // A stored weight below that of the items wraps in Ceph; what it wraps to means nothing, so it becomes their sum.
        let sum = || self.items.iter().map(|item| u64::from(item.1)).sum::<u64>() + u64::from(weight) - u64::from(old);
        let total = if total < 0 { sum() } else { total as u64 };
        self.weight = u32::try_from(total).map_err(|_| self.overflow())?;
        self.items[position].1 = weight;
        let difference = weight.wrapping_sub(old);
        match self.kind {
            BucketKind::List => {
                for sum in &mut self.numbers[position..] {
                    *sum = sum.wrapping_add(difference);
                }
            }
            BucketKind::Tree => self.shift_nodes(position, difference),
            _ => {}
        }
        Ok(())
    }

    /// Takes an item out. A tree keeps the place of an item that others follow, since their places must not change; Ceph 16
    /// puts device 0 there, with weight zero, which is never chosen.
    pub(super) fn remove(&mut self, position: usize) {
        self.changed = true;
        let weight = self.items[position].1;
        self.weight = self.weight.saturating_sub(weight);
        if self.kind == BucketKind::Tree {
            self.shift_nodes(position, 0u32.wrapping_sub(weight));
            self.items[position] = (0, 0);
            let last = self.items.iter().rposition(|item| item.1 > 0);
            self.items.truncate(last.map_or(0, |last| last + 1));
            let depth = self.items.len().checked_sub(1).map_or(0, |last| 1 + (usize::BITS - last.leading_zeros()));
            self.numbers.truncate(1 << depth);
            return;
        }
        if self.kind == BucketKind::List {
            self.numbers.remove(position);
            for sum in &mut self.numbers[position..] {
                *sum = sum.wrapping_sub(weight);
            }
        }
        self.items.remove(position);
    }

    /// Sums the weight anew after some items' weights were set; lists and trees keep what they stored, as in Ceph.
    ///
    /// # Errors
    /// The sum leaves 32 bits.
    pub(super) fn sum_items(&mut self, weights: &[u32]) -> Result<(), MapError> {
        self.changed = true;
        for (item, &weight) in self.items.iter_mut().zip(weights) {
            item.1 = weight;
        }
        if self.kind == BucketKind::Tree {
            for (item, &weight) in weights.iter().enumerate() {
                self.numbers[2 * item + 1] = weight;
            }
        }
        if self.kind == BucketKind::Uniform {
            self.numbers = vec![weights.first().copied().unwrap_or(self.numbers[0])];
        }
        let total: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
        self.weight = u32::try_from(total).map_err(|_| self.overflow())?;
        Ok(())
    }

    /// The weight of each item.
    pub(super) fn weights(&self) -> Vec<u32> {
        self.items.iter().map(|item| item.1).collect()
    }

    /// Adds a difference to the node of an item and to every node above it.
    fn shift_nodes(&mut self, position: usize, difference: u32) {
        let mut node = 2 * position + 1;
        loop {
            self.numbers[node] = self.numbers[node].wrapping_add(difference);
            if node == self.numbers.len() / 2 {
                return;
            }
            let step = 1 << node.trailing_zeros();
            node = if node & (step << 1) != 0 { node - step } else { node + step };
        }
    }

    fn overflow(&self) -> MapError {
        MapError::invalid(
            format!("bucket {}: weight", self.name),
            "65536 or more",
            "the weights of a bucket's items must sum to less than 65536",
            "give weights in a larger unit (Ceph's own is TiB)",
        )
    }
}

/// A running sum.
fn step(sum: &mut u32, weight: u32) -> u32 {
    *sum = sum.saturating_add(weight);
    *sum
}
