//! A map as read, before its parts are checked against each other.
//!
//! Every source (JSON, text, a few numbers) produces a [`Draft`]; [`Draft::finish`] is the one gate through which a
//! [`CrushMap`] comes, so placement never meets a missing bucket, a cycle or an endless retry.

use std::collections::{BTreeMap, BTreeSet};

use super::bucket::{Bucket, BucketKind, Straw2Weights};
use super::error::MapError;
use super::map::CrushMap;
use super::msr::check_msr;
use super::rule::{Rule, Step};
use super::tunables::Tunables;
use super::vring::check_points;
use super::weight_set::{BucketArguments, WeightSets};

/// Device ids stay below this: memory that grows with the largest id stays small.
pub(crate) const DEVICE_LIMIT: i32 = 1 << 24;
/// Bucket ids stay above minus this, for the same reason.
pub(crate) const BUCKET_LIMIT: i32 = 1 << 20;
/// Retries, counts and tunables stay at or below this, so that a placement that cannot succeed ends in reasonable time.
const TRIES_LIMIT: u32 = 10_000;
/// `chooseleaf_vary_r` shifts a 32-bit number by one less.
const VARY_R_LIMIT: u32 = 32;

/// A device as declared.
#[derive(Debug, Clone)]
pub(crate) struct DraftDevice {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) class: Option<String>,
}

/// A bucket as declared, its items resolved to ids.
#[derive(Debug, Clone)]
pub(crate) struct DraftBucket {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) type_id: i32,
    pub(crate) kind: BucketKind,
    pub(crate) items: Vec<(i32, u32)>,
}

/// Stand-ins for one bucket, as declared.
#[derive(Debug, Clone)]
pub(crate) struct DraftArguments {
    pub(crate) bucket: i32,
    pub(crate) weights: Vec<Vec<u32>>,
    pub(crate) ids: Option<Vec<i32>>,
}

/// A map as read.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) devices: Vec<DraftDevice>,
    pub(crate) types: Vec<(i32, String)>,
    pub(crate) buckets: Vec<DraftBucket>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) tunables: Tunables,
    pub(crate) choose_args: Vec<(i64, Vec<DraftArguments>)>,
}

impl Draft {
    /// An empty map with the tunables that a map without any means.
    pub(crate) fn new() -> Self {
        let (devices, types, buckets, rules) = Default::default();
        Self { devices, types, buckets, rules, tunables: Tunables::ARGONAUT, choose_args: Vec::new() }
    }

    /// Checks everything against everything and precomputes what placement needs.
    ///
    /// # Errors
    /// The first rule broken, with the field that breaks it.
    pub(crate) fn finish(mut self) -> Result<CrushMap, MapError> {
        self.check_tunables()?;
        self.check_names()?;
        let device_limit = self.check_devices()?;
        self.buckets.sort_by_key(|bucket| std::cmp::Reverse(bucket.id));
        let slots = self.check_buckets()?;
        self.check_acyclic(&slots)?;
        self.check_rules(&slots, device_limit)?;
        check_points(&self.buckets)?;
        let weight_sets = self.weight_sets(&slots)?;
        let version = self.tunables.straw_calc_version;
        let build = |bucket: DraftBucket| {
            Bucket::new(bucket.id, bucket.name, bucket.type_id, bucket.kind, &bucket.items, version)
        };
        let buckets = self.buckets.into_iter().map(build).collect::<Result<Vec<_>, _>>()?;
        let mut device_names = BTreeMap::new();
        let mut device_classes = BTreeMap::new();
        for device in self.devices {
            if let Some(class) = device.class {
                device_classes.insert(device.id, class);
            }
            device_names.insert(device.id, device.name);
        }
        Ok(CrushMap::assemble(
            buckets,
            slots,
            device_limit,
            (device_names, device_classes),
            self.types.into_iter().collect(),
            self.rules,
            self.tunables,
            weight_sets,
        ))
    }

    fn check_tunables(&self) -> Result<(), MapError> {
        for (name, value) in self.tunables.named() {
            let limit = match name {
                "chooseleaf_vary_r" => VARY_R_LIMIT,
                "allowed_bucket_algs" => u32::MAX,
                _ => TRIES_LIMIT,
            };
            if value > limit {
                return Err(over_limit(format!("tunable {name}"), value, limit));
            }
        }
        Ok(())
    }

    /// Ids and names are unique, names across devices and buckets together.
    fn check_names(&self) -> Result<(), MapError> {
        let mut names = BTreeSet::new();
        let mut ids = BTreeSet::new();
        let devices = self.devices.iter().map(|device| ("device", device.id, &device.name));
        let buckets = self.buckets.iter().map(|bucket| ("bucket", bucket.id, &bucket.name));
        for (what, id, name) in devices.chain(buckets) {
            if !ids.insert(id) {
                return Err(duplicate(format!("{what} {name}: id"), id));
            }
            if !names.insert(name) {
                return Err(duplicate(format!("{what} {id}: name"), name));
            }
        }
        let mut types = BTreeSet::new();
        for (id, name) in &self.types {
            if !types.insert(*id) {
                return Err(duplicate(format!("type {name}: id"), id));
            }
        }
        let mut rules = BTreeSet::new();
        for rule in &self.rules {
            if !rules.insert(rule.id) {
                return Err(duplicate(format!("rule {}: id", rule.name), rule.id));
            }
        }
        Ok(())
    }

    /// Device ids are in range; returns one more than the largest, declared or used.
    fn check_devices(&self) -> Result<i32, MapError> {
        let used = self.buckets.iter().flat_map(|bucket| bucket.items.iter().map(|&(item, _)| item));
        let declared = self.devices.iter().map(|device| device.id);
        if let Some(device) = self.devices.iter().find(|device| device.id < 0) {
            let field = format!("device {}: id", device.name);
            return Err(MapError::invalid(field, device.id, "a device's id is zero or above", "number devices from 0"));
        }
        let largest = used.chain(declared).max().unwrap_or(-1).max(-1);
        if largest >= DEVICE_LIMIT {
            let rule = format!("device ids stay below {DEVICE_LIMIT}");
            return Err(MapError::invalid("device id", largest, rule, "number devices from 0 without large gaps"));
        }
        Ok(largest + 1)
    }

    /// Bucket ids and types are in range and all items exist; returns the index of each bucket at `-1 - id`.
    fn check_buckets(&self) -> Result<Vec<u32>, MapError> {
        let mut slots = Vec::new();
        for (index, bucket) in self.buckets.iter().enumerate() {
            let name = &bucket.name;
            if bucket.id >= 0 || bucket.id < -BUCKET_LIMIT {
                let rule = format!("a bucket's id is from -1 down to -{BUCKET_LIMIT}");
                return Err(MapError::invalid(format!("bucket {name}: id"), bucket.id, rule, "renumber the buckets"));
            }
            if bucket.type_id <= 0 || !self.types.iter().any(|&(id, _)| id == bucket.type_id) {
                return Err(MapError::invalid(
                    format!("bucket {name}: type"),
                    bucket.type_id,
                    "a bucket's type is declared in the map and is not 0, the type of devices",
                    "declare the type",
                ));
            }
            let slot = !bucket.id as usize;
            slots.resize(slots.len().max(slot + 1), u32::MAX);
            slots[slot] = index as u32;
        }
        for bucket in &self.buckets {
            for &(item, _) in &bucket.items {
                if item < 0 && slot_of(&slots, item).is_none() {
                    return Err(MapError::invalid(
                        format!("bucket {}: item", bucket.name),
                        item,
                        "an item is a device or a bucket of the map",
                        "add the bucket or remove the item",
                    ));
                }
            }
        }
        Ok(slots)
    }

    /// No bucket contains itself, however far down.
    fn check_acyclic(&self, slots: &[u32]) -> Result<(), MapError> {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            No,
            Open,
            Done,
        }
        let mut seen = vec![Seen::No; self.buckets.len()];
        for start in 0..self.buckets.len() {
            // An explicit stack of (bucket, next item), so that deep maps do not exhaust the call stack.
            let mut path = vec![(start, 0)];
            while let Some(&mut (index, ref mut next)) = path.last_mut() {
                if *next == 0 && seen[index] == Seen::Done {
                    path.pop();
                    continue;
                }
                seen[index] = Seen::Open;
                let Some(&(item, _)) = self.buckets[index].items.get(*next) else {
                    seen[index] = Seen::Done;
                    path.pop();
                    continue;
                };
                *next += 1;
                let Some(child) = slot_of(slots, item) else { continue };
                match seen[child] {
                    Seen::Open => {
                        return Err(MapError::invalid(
                            format!("bucket {}: item", self.buckets[index].name),
                            &self.buckets[child].name,
                            "a bucket must not contain itself, directly or through others",
                            "remove the item",
                        ));
                    }
                    Seen::No => path.push((child, 0)),
                    Seen::Done => {}
                }
            }
        }
        Ok(())
    }

    /// Rules take what exists, choose types that exist, and retry a bounded number of times.
    fn check_rules(&self, slots: &[u32], device_limit: i32) -> Result<(), MapError> {
        for rule in &self.rules {
            check_msr(rule)?;
            let name = &rule.name;
            for (position, &step) in rule.steps.iter().enumerate() {
                let field = |what: &str| format!("rule {name}: step {}: {what}", position + 1);
                match step {
                    Step::Take(item) => {
                        let exists = if item >= 0 { item < device_limit } else { slot_of(slots, item).is_some() };
                        if !exists {
                            let rule = "a rule takes a bucket or device of the map";
                            return Err(MapError::invalid(field("take"), item, rule, "name one that exists"));
                        }
                    }
                    Step::Choose(choose) => {
                        let known = |&(id, _): &(i32, String)| id == choose.type_id;
                        if choose.type_id != 0 && !self.types.iter().any(known) {
                            let rule = "a rule chooses a type of the map";
                            return Err(MapError::invalid(field("type"), choose.type_id, rule, "declare the type"));
                        }
                        if choose.count.unsigned_abs() > TRIES_LIMIT {
                            return Err(over_limit(field("count"), choose.count, TRIES_LIMIT));
                        }
                    }
                    Step::ChooseMsr { count, type_id } => {
                        if type_id != 0 && !self.types.iter().any(|&(id, _)| id == type_id) {
                            let rule = "a rule chooses a type of the map";
                            return Err(MapError::invalid(field("type"), type_id, rule, "declare the type"));
                        }
                        if count.unsigned_abs() > TRIES_LIMIT {
                            return Err(over_limit(field("count"), count, TRIES_LIMIT));
                        }
                    }
                    _ => {
                        if let Some((setting, value)) = step.as_setting() {
                            let limit = if setting == "set_chooseleaf_vary_r" { VARY_R_LIMIT } else { TRIES_LIMIT };
                            if value > limit as i32 {
                                return Err(over_limit(field(setting), value, limit));
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks choose_args against the buckets they stand in for.
    fn weight_sets(&self, slots: &[u32]) -> Result<BTreeMap<i64, WeightSets>, MapError> {
        let mut all = BTreeMap::new();
        for (key, list) in &self.choose_args {
            let mut sets = WeightSets::default();
            for arguments in list {
                let field = |what: &str| format!("choose_args {key}: bucket_id {}{what}", arguments.bucket);
                let Some(index) = slot_of(slots, arguments.bucket) else {
                    let rule = "choose_args stand in for buckets of the map";
                    return Err(MapError::invalid(field(""), arguments.bucket, rule, "remove the entry"));
                };
                let size = self.buckets[index].items.len();
                let counts = arguments.weights.iter().map(|set| (": weight_set", set.len()));
                let counts = counts.chain(arguments.ids.iter().map(|ids| (": ids", ids.len())));
                if let Some((what, count)) = counts.into_iter().find(|&(_, count)| count != size) {
                    let rule = format!("there is one entry an item, and the bucket has {size}");
                    return Err(MapError::invalid(field(what), format!("{count} entries"), rule, "list every item"));
                }
                let weights = arguments.weights.iter().cloned().map(Straw2Weights::new).collect();
                sets.insert(arguments.bucket, BucketArguments { weights, ids: arguments.ids.clone() });
            }
            if all.insert(*key, sets).is_some() {
                return Err(duplicate("choose_args".to_owned(), key));
            }
        }
        Ok(all)
    }
}

/// The index of a bucket by id, if the map has it.
#[inline]
pub(crate) fn slot_of(slots: &[u32], id: i32) -> Option<usize> {
    if id >= 0 {
        return None;
    }
    slots.get(!id as usize).filter(|&&index| index != u32::MAX).map(|&index| index as usize)
}

fn duplicate(field: String, value: impl ToString) -> MapError {
    MapError::invalid(field, value, "it must be unique in the map", "rename or renumber one of them")
}

fn over_limit(field: String, value: impl ToString, limit: u32) -> MapError {
    let rule = format!("it must be at most {limit}, so that a placement ends in reasonable time");
    MapError::invalid(field, value, rule, "lower it (Ceph's own values are 100 or less)")
}
