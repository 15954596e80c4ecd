//! Device classes: for each class, a shadow of each tree that holds only the devices of that class.
//!
//! `step take default class ssd` starts from the shadow `default~ssd`. JSON maps list shadows among their buckets; text maps
//! leave them out and give their ids (`id -9 class ssd`) or nothing. Ids matter, since straw2 hashes them, so those left
//! out are numbered as `crushtool` numbers them: roots from the most negative id up, classes in order of appearance,
//! children before their parent, each the first free id from -1 down.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::{Draft, DraftBucket};

/// Shadow id by original bucket id and class.
pub(crate) type ShadowIds = BTreeMap<(i32, String), i32>;

/// Builds the shadow trees of a text map.
struct Builder<'d> {
    originals: BTreeMap<i32, &'d DraftBucket>,
    classes: BTreeMap<i32, &'d str>,
    declared: &'d ShadowIds,
    used: BTreeSet<i32>,
    shadows: Vec<DraftBucket>,
    ids: ShadowIds,
}

/// Adds the shadows of every class that a device of the map has.
///
/// # Arguments
/// * `draft` - the map; its buckets must be free of cycles.
/// * `declared` - the ids that the text gives.
///
/// # Returns
/// The id of every shadow.
pub(crate) fn add_shadows(draft: &mut Draft, declared: &ShadowIds) -> ShadowIds {
    let mut order: Vec<String> = Vec::new();
    for class in draft.devices.iter().filter_map(|device| device.class.as_ref()) {
        if !order.contains(class) {
            order.push(class.clone());
        }
    }
    let held: BTreeSet<i32> = draft.buckets.iter().flat_map(|bucket| bucket.items.iter().map(|item| item.0)).collect();
    let originals: BTreeMap<i32, &DraftBucket> = draft.buckets.iter().map(|bucket| (bucket.id, bucket)).collect();
    let roots: Vec<i32> = originals.keys().copied().filter(|id| !held.contains(id)).collect();
    let classes = draft.devices.iter().filter_map(|device| Some((device.id, device.class.as_deref()?))).collect();
    let used = originals.keys().chain(declared.values()).copied().collect();
    let mut builder = Builder { originals, classes, declared, used, shadows: Vec::new(), ids: ShadowIds::new() };
    for root in roots {
        for class in &order {
            builder.shadow(root, class);
        }
    }
    let Builder { shadows, ids, .. } = builder;
    draft.buckets.extend(shadows);
    ids
}

impl Builder<'_> {
    /// Builds the shadow of one bucket and all below it; returns its id and weight.
    fn shadow(&mut self, id: i32, class: &str) -> (i32, u32) {
        let key = (id, class.to_owned());
        if let Some(&shadow) = self.ids.get(&key) {
            let known = self.shadows.iter().find(|bucket| bucket.id == shadow);
            return (shadow, known.map_or(0, total));
        }
        let original = self.originals[&id];
        let mut items = Vec::new();
        for &(item, weight) in &original.items {
            if item < 0 {
                items.push(self.shadow(item, class));
            } else if self.classes.get(&item) == Some(&class) {
                items.push((item, weight));
            }
        }
        let shadow = match self.declared.get(&key) {
            Some(&shadow) => shadow,
            None => (1..).map(|number| -number).find(|number| !self.used.contains(number)).unwrap_or(i32::MIN),
        };
        self.used.insert(shadow);
        self.ids.insert(key, shadow);
        let bucket = DraftBucket {
            id: shadow,
            name: format!("{}~{class}", original.name),
            type_id: original.type_id,
            kind: original.kind,
            items,
        };
        let weight = total(&bucket);
        self.shadows.push(bucket);
        (shadow, weight)
    }
}

/// The sum of a bucket's item weights; sums beyond 32 bits are refused when the bucket is built.
fn total(bucket: &DraftBucket) -> u32 {
    bucket.items.iter().fold(0u32, |sum, item| sum.saturating_add(item.1))
}
