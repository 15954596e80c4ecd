//! A map as read, before its parts are checked against each other.
//!
//! Every source (text, JSON, binary, an edit, a few numbers) produces a [`Draft`]; [`Draft::finish`] is the one gate
//! through which a [`CrushMap`] comes, so placement never meets a missing bucket, a cycle or an endless retry.

use std::collections::{BTreeMap, BTreeSet};

use crate::map::bucket::{Bucket, BucketKind, Stored, Straw2Weights};
use crate::map::class::Classes;
use crate::map::error::MapError;
use crate::map::place::{Fault, Place};
use crate::map::rule::Rule;
use crate::map::tunables::Tunables;
use crate::map::vring::check_points;
use crate::map::weight_set::{BucketArguments, WeightSets};
use crate::map::{CrushMap, Parts};

/// Device ids stay below this: what lists all ids up to the largest, as `ceph osd crush dump` does, then takes less than 1 GB.
pub(crate) const DEVICE_LIMIT: i32 = 1 << 20;
/// Bucket ids stay above minus this, for the same reason.
pub(crate) const BUCKET_LIMIT: i32 = 1 << 20;

/// A device as declared.
#[derive(Debug, Clone)]
pub(crate) struct DraftDevice {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) place: Place,
}

/// A type as declared.
#[derive(Debug, Clone)]
pub(crate) struct DraftType {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) place: Place,
}

/// A bucket as declared, its items resolved to ids.
#[derive(Debug, Clone)]
pub(crate) struct DraftBucket {
    pub(crate) id: i32,
    /// Empty where the map gives the bucket no name.
    pub(crate) name: String,
    pub(crate) type_id: i32,
    pub(crate) kind: BucketKind,
    pub(crate) items: Vec<(i32, u32)>,
    /// What the source keeps beside the weights; without it everything follows from them.
    pub(crate) stored: Option<Stored>,
    pub(crate) place: Place,
    /// The place of each item; empty where the bucket's own place serves.
    pub(crate) item_places: Vec<Place>,
}

impl DraftBucket {
    /// The place of an item.
    pub(crate) fn item_place(&self, item: usize) -> Place {
        self.item_places.get(item).copied().unwrap_or(self.place)
    }
}

/// A rule as declared; without a name where the map gives it none.
#[derive(Debug, Clone)]
pub(crate) struct DraftRule {
    pub(crate) rule: Rule,
    pub(crate) place: Place,
    /// The place of each step; empty where the rule's own place serves.
    pub(crate) step_places: Vec<Place>,
}

/// Stand-ins for one bucket, as declared.
#[derive(Debug, Clone)]
pub(crate) struct DraftArguments {
    pub(crate) bucket: i32,
    pub(crate) weights: Vec<Vec<u32>>,
    pub(crate) ids: Option<Vec<i32>>,
    pub(crate) place: Place,
}

/// What only the binary form tells: how far its arrays and its optional parts reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Slots for buckets, rules and devices, used or not; zero where the source does not say.
    pub(crate) max_buckets: u32,
    pub(crate) max_rules: u32,
    pub(crate) max_devices: i32,
    /// How many of the optional parts at the end a binary source has; see `binary::Part`.
    pub(crate) parts: Option<u8>,
    /// Whether the number of choose_args takes eight bytes, as in the versions that led to Ceph 12.
    pub(crate) has_wide_count: bool,
    /// Names of buckets that the map does not have.
    pub(crate) strays: BTreeMap<i32, String>,
    /// Bytes after the last part known here.
    pub(crate) trailing: Vec<u8>,
}

/// A map as read.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) devices: Vec<DraftDevice>,
    pub(crate) classes: Classes,
    pub(crate) types: Vec<DraftType>,
    pub(crate) buckets: Vec<DraftBucket>,
    pub(crate) rules: Vec<DraftRule>,
    pub(crate) tunables: Tunables,
    /// Where each tunable was set.
    pub(crate) tunable_places: Vec<(String, Place)>,
    pub(crate) choose_args: Vec<(i64, Vec<DraftArguments>)>,
    pub(crate) extent: Extent,
}

impl Draft {
    /// An empty map with the tunables that a map without any means.
    pub(crate) fn new() -> Self {
        Self {
            devices: Vec::new(),
            classes: Classes::default(),
            types: Vec::new(),
            buckets: Vec::new(),
            rules: Vec::new(),
            tunables: Tunables::ARGONAUT,
            tunable_places: Vec::new(),
            choose_args: Vec::new(),
            extent: Extent::default(),
        }
    }

    /// Adds a device without a place.
    pub(crate) fn add_device(&mut self, id: i32, name: String) {
        self.devices.push(DraftDevice { id, name, place: Place::Unknown });
    }

    /// Adds a type without a place.
    pub(crate) fn add_type(&mut self, id: i32, name: &str) {
        self.types.push(DraftType { id, name: name.to_owned(), place: Place::Unknown });
    }

    /// Adds a bucket of which only the items are known.
    pub(crate) fn add_bucket(&mut self, id: i32, name: String, type_id: i32, kind: BucketKind, items: Vec<(i32, u32)>) {
        let (stored, place, item_places) = Default::default();
        self.buckets.push(DraftBucket { id, name, type_id, kind, items, stored, place, item_places });
    }

    /// Adds a rule without a place.
    pub(crate) fn add_rule(&mut self, rule: Rule) {
        self.rules.push(DraftRule { rule, place: Place::Unknown, step_places: Vec::new() });
    }

    /// Checks everything against everything and precomputes what placement needs.
    ///
    /// # Errors
    /// The first rule broken, with the field that breaks it and the place of what declares it.
    pub(crate) fn finish(mut self) -> Result<CrushMap, Fault> {
        self.check_tunables()?;
        self.check_names()?;
        let device_limit = self.check_devices()?;
        self.buckets.sort_by_key(|bucket| std::cmp::Reverse(bucket.id));
        let slots = self.check_buckets()?;
        self.check_acyclic(&slots)?;
        self.check_rules(&slots, device_limit)?;
        check_points(&self.buckets)?;
        let weight_sets = self.weight_sets(&slots)?;
        let mut names = std::mem::take(&mut self.extent.strays);
        let mut nameless = BTreeSet::new();
        for device in self.devices {
            names.insert(device.id, device.name);
        }
        let mut buckets = Vec::with_capacity(self.buckets.len());
        for bucket in self.buckets {
            if !bucket.name.is_empty() {
                names.insert(bucket.id, bucket.name.clone());
            }
            buckets.push(built(bucket, self.tunables.straw_calc_version)?);
        }
        let mut rules = Vec::with_capacity(self.rules.len());
        for DraftRule { mut rule, .. } in self.rules {
            if rule.name.is_empty() {
                rule.name = format!("rule{}", rule.id);
                nameless.insert(rule.id);
            }
            rules.push(rule);
        }
        Ok(CrushMap::assemble(Parts {
            buckets,
            slots,
            device_limit,
            names,
            classes: self.classes,
            types: self.types.into_iter().map(|entry| (entry.id, entry.name)).collect(),
            rules,
            nameless,
            tunables: self.tunables,
            weight_sets,
            extent: self.extent,
        }))
    }

    /// Checks choose_args against the buckets they stand in for.
    fn weight_sets(&self, slots: &[u32]) -> Result<BTreeMap<i64, WeightSets>, Fault> {
        let mut all = BTreeMap::new();
        for (key, list) in &self.choose_args {
            let mut entries = Vec::with_capacity(list.len());
            let mut seen = BTreeSet::new();
            for arguments in list {
                let field = |what: &str| format!("choose_args {key}: bucket_id {}{what}", arguments.bucket);
                let Some(index) = slot_of(slots, arguments.bucket) else {
                    let rule = "choose_args stand in for a bucket of the map";
                    let error = MapError::invalid(field(""), arguments.bucket, rule, "remove the entry");
                    return Err(Fault { place: arguments.place, error });
                };
                if !seen.insert(arguments.bucket) {
                    let error = duplicate(format!("choose_args {key}: bucket_id"), arguments.bucket);
                    return Err(Fault { place: arguments.place, error });
                }
                let size = self.buckets[index].items.len();
                let counts = arguments.weights.iter().map(|set| (": weight_set", set.len()));
                let counts = counts.chain(arguments.ids.iter().map(|ids| (": ids", ids.len())));
                // Only straw2 draws by stand-ins. Ceph keeps those of other kinds too, and lets their number go wrong: it
                // leaves the place of an item removed from a tree, but not that of the item's stand-in.
                let is_drawn_by = self.buckets[index].kind == BucketKind::Straw2;
                if let Some((what, count)) = counts.into_iter().find(|&(_, count)| is_drawn_by && count != size) {
                    let rule = format!("there is one entry an item, and the bucket has {size}");
                    let error = MapError::invalid(field(what), format!("{count} entries"), rule, "list every item");
                    return Err(Fault { place: arguments.place, error });
                }
                let weights = arguments.weights.iter().cloned().map(Straw2Weights::new).collect();
                entries.push((arguments.bucket, BucketArguments { weights, ids: arguments.ids.clone() }));
            }
            if all.insert(*key, WeightSets::new(entries)).is_some() {
                let place = list.first().map_or(Place::Unknown, |arguments| arguments.place);
                return Err(Fault { place, error: duplicate("choose_args".to_owned(), key) });
            }
        }
        Ok(all)
    }
}

/// The bucket with what its kind needs.
fn built(bucket: DraftBucket, straw_calc_version: u32) -> Result<Bucket, Fault> {
    let DraftBucket { id, name, type_id, kind, items, stored, place, .. } = bucket;
    let name = if name.is_empty() { nameless_bucket(id) } else { name };
    let mut built = Bucket::new(id, name, type_id, kind, &items, straw_calc_version).map_err(Fault::at(place))?;
    if let Some(stored) = stored {
        built.restore(stored).map_err(Fault::at(place))?;
    }
    Ok(built)
}

/// What Ceph calls a bucket without a name.
pub(crate) fn nameless_bucket(id: i32) -> String {
    format!("bucket{}", !id)
}

/// The index of a bucket by id, if the map has it.
#[inline]
pub(crate) fn slot_of(slots: &[u32], id: i32) -> Option<usize> {
    if id >= 0 {
        return None;
    }
    slots.get(!id as usize).filter(|&&index| index != u32::MAX).map(|&index| index as usize)
}

/// The error of something declared twice.
pub(crate) fn duplicate(field: String, value: impl ToString) -> MapError {
    MapError::invalid(field, value, "it must be unique in the map", "rename or renumber one of them")
}
