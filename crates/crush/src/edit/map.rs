//! A map open for edits, and the way back to a checked one.

use std::collections::BTreeMap;

use super::bucket::EditBucket;
use crate::map::CrushMap;
use crate::map::bucket::BucketKind;
use crate::map::draft::{Draft, DraftArguments, DraftBucket, DraftRule};
use crate::map::error::MapError;
use crate::map::place::Place;
use crate::map::rule::Step;
use crate::map::weight_set::{BucketArguments, WeightSets};

/// Stand-ins of some buckets.
pub(super) type Sets = BTreeMap<i32, DraftArguments>;

/// A map open for edits.
pub(super) struct EditMap {
    /// Devices' names, classes, types, rules, tunables and extent; buckets and choose_args stand below.
    pub(super) draft: Draft,
    pub(super) buckets: BTreeMap<i32, EditBucket>,
    pub(super) choose_args: BTreeMap<i64, Sets>,
    pub(super) ids: BTreeMap<String, i32>,
    /// One more than the highest slot any bucket ever had, since removing one gives no slot back.
    slots: u32,
}

impl EditMap {
    /// Opens a map.
    pub(super) fn new(map: &CrushMap) -> Self {
        let parts = map.parts();
        let mut draft = Draft::new();
        draft.classes = parts.classes.clone();
        draft.tunables = parts.tunables;
        draft.extent = parts.extent.clone();
        for (&id, name) in &parts.types {
            draft.add_type(id, name);
        }
        for rule in &parts.rules {
            let mut rule = rule.clone();
            if parts.nameless.contains(&rule.id) {
                rule.name = String::new();
            }
            draft.rules.push(DraftRule { rule, place: Place::Unknown, step_places: Vec::new() });
        }
        let mut ids = BTreeMap::new();
        for (&id, name) in &parts.names {
            ids.insert(name.clone(), id);
            if id >= 0 {
                draft.add_device(id, name.clone());
            } else if map.bucket(id).is_none() {
                draft.extent.strays.insert(id, name.clone());
            }
        }
        let buckets = parts.buckets.iter().map(|bucket| {
            let named = parts.names.contains_key(&bucket.id());
            (bucket.id(), EditBucket::new(bucket, named))
        });
        let buckets = buckets.collect();
        let set = |(bucket, arguments): (i32, &BucketArguments)| {
            let weights = arguments.weights.iter().map(|set| set.weights.clone()).collect();
            (bucket, DraftArguments { bucket, weights, ids: arguments.ids.clone(), place: Place::Unknown })
        };
        // Ceph forgets the stand-ins of other kinds than straw2 when it reads a map.
        let straw2 = |id| map.bucket(id).is_some_and(|bucket| bucket.kind() == BucketKind::Straw2);
        let kept = |sets: &WeightSets| sets.iter().filter(|entry| straw2(entry.0)).map(set).collect();
        let choose_args = parts.weight_sets.iter().map(|(&key, sets)| (key, kept(sets))).collect();
        Self { draft, buckets, choose_args, ids, slots: parts.slots.len() as u32 }
    }

    /// Checks the edited map.
    pub(super) fn finish(mut self) -> Result<CrushMap, MapError> {
        let largest = self.draft.devices.iter().map(|device| device.id).max();
        // Ceph keeps no room for devices that have neither a name nor a bucket.
        self.draft.extent.max_devices = largest.map_or(0, |id| id.saturating_add(1)).max(0);
        self.double_slots();
        self.draft.buckets = self.buckets.into_values().map(EditBucket::close).collect::<Vec<DraftBucket>>();
        let list = |sets: Sets| sets.into_values().filter(|set| !set.weights.is_empty() || set.ids.is_some()).collect();
        self.draft.choose_args = self.choose_args.into_iter().map(|(key, sets)| (key, list(sets))).collect();
        Ok(self.draft.finish()?)
    }

    /// Ceph doubles the room for buckets whenever one has none.
    fn double_slots(&mut self) {
        let slots = &mut self.draft.extent.max_buckets;
        while *slots < self.slots {
            *slots = if *slots == 0 { 8 } else { *slots * 2 };
        }
    }

    /// The first free id of a bucket.
    pub(super) fn free_id(&self) -> i32 {
        (1..).map(|number| -number).find(|id| !self.buckets.contains_key(id)).unwrap_or(-1)
    }

    /// The same, with room for it alone, as `CrushWrapper::get_new_bucket_id` makes room.
    pub(super) fn new_id(&mut self) -> i32 {
        self.double_slots();
        let id = self.free_id();
        self.draft.extent.max_buckets = self.draft.extent.max_buckets.max(!id as u32 + 1);
        id
    }

    /// The id of a name.
    pub(super) fn id_of(&self, name: &str) -> Result<i32, MapError> {
        let none =
            || MapError::invalid("item", name, "an edit is of a device or bucket that the map has", "correct the name");
        self.ids.get(name).copied().ok_or_else(none)
    }

    /// The id of a bucket that is no shadow.
    pub(super) fn bucket_named(&self, name: &str) -> Result<i32, MapError> {
        let id = self.id_of(name)?;
        if self.buckets.contains_key(&id) && !self.is_shadow(id) {
            return Ok(id);
        }
        Err(MapError::invalid("item", name, "this edit is of a bucket, and this is none", "name a bucket"))
    }

    /// Gives a bucket another name.
    pub(super) fn set_name(&mut self, id: i32, name: &str) {
        if let Some(mut bucket) = self.buckets.remove(&id) {
            self.ids.remove(&bucket.name);
            bucket.name = name.to_owned();
            self.put(bucket);
        }
    }

    /// Every bucket's id, from -1 down: the order in which Ceph goes through them.
    pub(super) fn bucket_ids(&self) -> Vec<i32> {
        self.buckets.keys().rev().copied().collect()
    }

    /// The buckets that hold an item, from -1 down.
    pub(super) fn holders(&self, item: i32) -> Vec<i32> {
        let holds = |entry: &(&i32, &EditBucket)| entry.1.position(item).is_some();
        self.buckets.iter().rev().filter(holds).map(|(&id, _)| id).collect()
    }

    /// Whether a bucket is, or however far down holds, an item.
    pub(super) fn contains(&self, root: i32, item: i32) -> bool {
        let (mut open, mut seen) = (vec![root], std::collections::BTreeSet::new());
        while let Some(next) = open.pop() {
            if next == item {
                return true;
            }
            if let Some(bucket) = self.buckets.get(&next).filter(|_| seen.insert(next)) {
                open.extend(bucket.items.iter().map(|entry| entry.0));
            }
        }
        false
    }

    /// Whether a bucket is a class's shadow of another, which its name tells.
    pub(super) fn is_shadow(&self, bucket: i32) -> bool {
        self.buckets.get(&bucket).is_some_and(|bucket| bucket.name.contains('~'))
    }

    /// Takes a bucket in; its slot stays for good.
    pub(super) fn put(&mut self, bucket: EditBucket) {
        self.slots = self.slots.max(!bucket.id as u32 + 1);
        if !bucket.name.is_empty() {
            self.ids.insert(bucket.name.clone(), bucket.id);
        }
        self.buckets.insert(bucket.id, bucket);
    }

    /// Takes a bucket out, with its name, its class and its stand-ins.
    pub(super) fn drop_bucket(&mut self, id: i32) {
        if let Some(bucket) = self.buckets.remove(&id) {
            self.ids.remove(&bucket.name);
        }
        self.draft.classes.shadows.remove(&id);
        self.draft.classes.of_item.remove(&id);
        for sets in self.choose_args.values_mut() {
            sets.remove(&id);
        }
    }

    /// Forgets the stand-ins of other kinds than straw2, as Ceph does whenever it takes a bucket out.
    pub(super) fn forget_other_kinds(&mut self) {
        let buckets = &self.buckets;
        for sets in self.choose_args.values_mut() {
            sets.retain(|id, _| buckets.get(id).is_some_and(|bucket| bucket.kind == BucketKind::Straw2));
        }
    }

    /// Names a device, which may have had another name.
    pub(super) fn name_device(&mut self, id: i32, name: &str) {
        self.unname_device(id);
        self.ids.insert(name.to_owned(), id);
        self.draft.add_device(id, name.to_owned());
    }

    /// Takes a device's name away.
    pub(super) fn unname_device(&mut self, id: i32) {
        let ids = &mut self.ids;
        self.draft.devices.retain(|device| {
            if device.id == id {
                ids.remove(&device.name);
            }
            device.id != id
        });
    }

    /// Whether a rule takes a bucket or a shadow of it, or the bucket is a shadow.
    pub(super) fn is_in_use(&self, bucket: i32) -> bool {
        let classes = &self.draft.classes;
        if classes.shadows.values().any(|shadows| shadows.values().any(|&shadow| shadow == bucket)) {
            return true;
        }
        let taken = self.draft.rules.iter().flat_map(|rule| &rule.rule.steps).filter_map(|step| match step {
            Step::Take(item) => Some(*item),
            _ => None,
        });
        taken.into_iter().any(|item| item == bucket || classes.original(item).is_some_and(|found| found.0 == bucket))
    }
}
