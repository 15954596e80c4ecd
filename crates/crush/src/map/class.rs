//! Device classes: for each class, a shadow of each tree that holds only the devices of that class.
//!
//! `step take default class ssd` starts from the shadow `default~ssd`. JSON and binary maps list shadows among their
//! buckets; text maps leave them out and give their ids (`id -9 class ssd`) or nothing. Ids matter, since straw2 hashes
//! them, so those left out are numbered as `crushtool` numbers them: roots from the most negative id up, classes in order
//! of appearance, children before their parent, each the first free id from -1 down.

use std::collections::{BTreeMap, BTreeSet};

use crate::map::draft::{Draft, DraftBucket};
use crate::map::place::Place;

/// The classes of a map: their names by number, which item has which, and each bucket's shadow by class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Classes {
    pub(crate) names: BTreeMap<i32, String>,
    /// Devices, and the shadows of buckets.
    pub(crate) of_item: BTreeMap<i32, i32>,
    /// Shadow by bucket and class.
    pub(crate) shadows: BTreeMap<i32, BTreeMap<i32, i32>>,
}

impl Classes {
    /// The number of the class of this name, which gets the next free number if the map has none such.
    pub(crate) fn number(&mut self, name: &str) -> i32 {
        if let Some((&number, _)) = self.names.iter().find(|entry| entry.1 == name) {
            return number;
        }
        let number = self.names.last_key_value().map_or(0, |(&last, _)| last.saturating_add(1));
        self.names.insert(number, name.to_owned());
        number
    }

    /// The name of an item's class.
    pub(crate) fn name_of(&self, item: i32) -> Option<&str> {
        self.names.get(self.of_item.get(&item)?).map(String::as_str)
    }

    /// The shadow of a bucket by the class's name.
    pub(crate) fn shadow(&self, bucket: i32, class: &str) -> Option<i32> {
        let shadows = self.shadows.get(&bucket)?;
        shadows.iter().find(|entry| self.names.get(entry.0).is_some_and(|name| name == class)).map(|entry| *entry.1)
    }

    /// The bucket whose shadow this is, and its class.
    pub(crate) fn original(&self, shadow: i32) -> Option<(i32, i32)> {
        let class = *self.of_item.get(&shadow).filter(|_| shadow < 0)?;
        let holds = |entry: &(&i32, &BTreeMap<i32, i32>)| entry.1.get(&class) == Some(&shadow);
        self.shadows.iter().find(holds).map(|(&original, _)| (original, class))
    }
}

/// One bucket on the way down: what it has become so far.
struct Open {
    original: i32,
    next: usize,
    items: Vec<(i32, u32)>,
    /// The item of the original that each item stands for.
    sources: Vec<usize>,
}

/// Builds shadow trees.
struct Builder<'d> {
    originals: BTreeMap<i32, &'d DraftBucket>,
    /// Ids that shadows had before.
    kept: BTreeMap<i32, BTreeMap<i32, i32>>,
    used: BTreeSet<i32>,
    /// Every id above this is used.
    free: i32,
    shadows: Vec<Shadow>,
    /// Index into `shadows` by original and class.
    built: BTreeMap<(i32, i32), usize>,
}

/// A shadow, and which item of the original each of its items stands for.
pub(crate) struct Shadow {
    pub(crate) bucket: DraftBucket,
    pub(crate) original: i32,
    pub(crate) class: i32,
    pub(crate) sources: Vec<usize>,
}

/// Adds the shadows of every class to a map that has none yet.
///
/// # Arguments
/// * `draft` - the map; its buckets must be free of cycles. `classes.shadows` holds the ids that shadows should get.
///
/// # Returns
/// The shadows in the order of building: children before parents.
pub(crate) fn add_shadows(draft: &mut Draft) -> Vec<Shadow> {
    let held: BTreeSet<i32> = draft.buckets.iter().flat_map(|bucket| bucket.items.iter().map(|item| item.0)).collect();
    let originals: BTreeMap<i32, &DraftBucket> = draft.buckets.iter().map(|bucket| (bucket.id, bucket)).collect();
    let roots: Vec<i32> = originals.keys().copied().filter(|id| !held.contains(id)).collect();
    let kept = std::mem::take(&mut draft.classes.shadows);
    let used = originals.keys().copied().chain(kept.values().flat_map(|ids| ids.values().copied())).collect();
    let mut builder = Builder { originals, kept, used, free: -1, shadows: Vec::new(), built: BTreeMap::new() };
    for root in roots {
        for (&class, name) in &draft.classes.names {
            builder.shadow(root, class, name, &draft.classes.of_item);
        }
    }
    let shadows = builder.shadows;
    for shadow in &shadows {
        draft.classes.of_item.insert(shadow.bucket.id, shadow.class);
        draft.classes.shadows.entry(shadow.original).or_default().insert(shadow.class, shadow.bucket.id);
        draft.buckets.push(shadow.bucket.clone());
    }
    shadows
}

impl Builder<'_> {
    /// Builds the shadows of one root and all below it, without recursion, since a map may be deep.
    fn shadow(&mut self, root: i32, class: i32, class_name: &str, classes: &BTreeMap<i32, i32>) {
        let open = |original| Open { original, next: 0, items: Vec::new(), sources: Vec::new() };
        let mut path = if self.built.contains_key(&(root, class)) { Vec::new() } else { vec![open(root)] };
        while let Some(top) = path.last_mut() {
            let original = self.originals[&top.original];
            let Some(&(item, weight)) = original.items.get(top.next) else {
                if let Some(done) = path.pop() {
                    self.close(done, class, class_name);
                }
                continue;
            };
            if item < 0 {
                let Some(&child) = self.built.get(&(item, class)) else {
                    path.push(open(item));
                    continue;
                };
                let child = &self.shadows[child].bucket;
                let total = child.items.iter().fold(0u32, |sum, item| sum.saturating_add(item.1));
                top.items.push((child.id, total));
                top.sources.push(top.next);
            } else if classes.get(&item) == Some(&class) {
                top.items.push((item, weight));
                top.sources.push(top.next);
            }
            top.next += 1;
        }
    }

    /// Gives a shadow its id, now that all below it have theirs.
    fn close(&mut self, done: Open, class: i32, class_name: &str) {
        let original = self.originals[&done.original];
        let kept = self.kept.get(&done.original).and_then(|ids| ids.get(&class)).copied();
        let id = kept.unwrap_or_else(|| {
            while self.used.contains(&self.free) {
                self.free -= 1;
            }
            self.free
        });
        self.used.insert(id);
        self.built.insert((done.original, class), self.shadows.len());
        let bucket = DraftBucket {
            id,
            name: format!("{}~{class_name}", original.name),
            type_id: original.type_id,
            kind: original.kind,
            items: done.items,
            stored: None,
            place: original.place,
            item_places: Vec::<Place>::new(),
        };
        self.shadows.push(Shadow { bucket, original: done.original, class, sources: done.sources });
    }
}
