//! The map itself: what exists, under which name, and where.

pub(crate) mod bucket;
pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod class;
pub(crate) mod draft;
pub(crate) mod error;
pub(crate) mod generate;
pub(crate) mod place;
pub(crate) mod rule;
pub(crate) mod straw;
pub(crate) mod topology;
pub(crate) mod tree;
pub(crate) mod tunables;
pub(crate) mod vring;
pub(crate) mod weight_set;

use std::collections::{BTreeMap, BTreeSet};

use crate::map::bucket::Bucket;
use crate::map::class::Classes;
use crate::map::draft::{Extent, slot_of};
use crate::map::rule::Rule;
use crate::map::tunables::Tunables;
use crate::map::weight_set::WeightSets;

/// The key of the choose_args that serve every pool without its own.
const DEFAULT_CHOOSE_ARGS: i64 = -1;

/// A CRUSH map: devices, the buckets that hold them, and the rules that choose among them.
///
/// Devices have ids from zero up, buckets below zero. Weights are 16.16 fixed point: 0x10000 is 1.
#[derive(Debug, Clone)]
pub struct CrushMap {
    parts: Parts,
    parents: BTreeMap<i32, i32>,
}

/// The checked parts of a map.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    /// By descending id, -1 first.
    pub(crate) buckets: Vec<Bucket>,
    /// Index into `buckets` at `-1 - id`.
    pub(crate) slots: Vec<u32>,
    pub(crate) device_limit: i32,
    /// Names of devices and buckets, as far as the map gives them any.
    pub(crate) names: BTreeMap<i32, String>,
    pub(crate) classes: Classes,
    pub(crate) types: BTreeMap<i32, String>,
    pub(crate) rules: Vec<Rule>,
    /// Rules that the map gives no name.
    pub(crate) nameless: BTreeSet<u32>,
    pub(crate) tunables: Tunables,
    pub(crate) weight_sets: BTreeMap<i64, WeightSets>,
    pub(crate) extent: Extent,
}

impl CrushMap {
    /// Takes checked parts; only `Draft::finish` calls it.
    pub(crate) fn assemble(parts: Parts) -> Self {
        let mut parents = BTreeMap::new();
        // A device of a map with classes has several parents; where it *is* is the one that is no copy of another.
        for copies in [false, true] {
            for bucket in parts.buckets.iter().filter(|bucket| is_copy(&bucket.name) == copies) {
                for &item in &bucket.items {
                    parents.entry(item).or_insert(bucket.id);
                }
            }
        }
        Self { parts, parents }
    }

    /// Everything the map was made of.
    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The bucket of this id, if the map has it; `None` for devices.
    #[inline]
    #[must_use]
    pub fn bucket(&self, id: i32) -> Option<&Bucket> {
        slot_of(&self.parts.slots, id).map(|index| &self.parts.buckets[index])
    }

    /// Every bucket, by descending id.
    #[must_use]
    pub fn buckets(&self) -> &[Bucket] {
        &self.parts.buckets
    }

    /// The rule of this id, if the map has it.
    #[must_use]
    pub fn rule_by_id(&self, id: u32) -> Option<&Rule> {
        self.parts.rules.iter().find(|rule| rule.id == id)
    }

    /// Every rule, in the map's order.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.parts.rules
    }

    /// The map's tunables.
    #[must_use]
    pub fn tunables(&self) -> &Tunables {
        &self.parts.tunables
    }

    /// One more than the largest device id, declared or used: the length of an array by device id.
    #[must_use]
    pub fn max_device(&self) -> i32 {
        self.parts.device_limit
    }

    /// Ids of the devices that some bucket holds, ascending.
    #[must_use]
    pub fn devices(&self) -> Vec<i32> {
        self.parents.range(0..).map(|(&device, _)| device).collect()
    }

    /// The name of a device: as declared, else `deviceN`, as Ceph calls it.
    #[must_use]
    pub fn device_name(&self, device: i32) -> String {
        self.parts.names.get(&device).cloned().unwrap_or_else(|| format!("device{device}"))
    }

    /// The device of this name, if the map names one so.
    #[must_use]
    pub fn device_id(&self, name: &str) -> Option<i32> {
        self.parts.names.range(0..).find(|entry| entry.1 == name).map(|entry| *entry.0)
    }

    /// The class of a device (`hdd`, `ssd`), if it has one.
    #[must_use]
    pub fn device_class(&self, device: i32) -> Option<&str> {
        self.parts.classes.name_of(device)
    }

    /// The name of a device or bucket.
    #[must_use]
    pub fn item_name(&self, item: i32) -> String {
        self.bucket(item).map_or_else(|| self.device_name(item), |bucket| bucket.name.clone())
    }

    /// The name of a type; `device` for type 0 where the map declares none.
    #[must_use]
    pub fn type_name(&self, type_id: i32) -> &str {
        self.parts.types.get(&type_id).map_or(if type_id == 0 { "device" } else { "unknown" }, String::as_str)
    }

    /// The id of a type by name; `device` and `osd` mean type 0 where the map declares no such name.
    #[must_use]
    pub fn type_id(&self, name: &str) -> Option<i32> {
        let declared = self.parts.types.iter().find(|&(_, declared)| declared == name).map(|(&id, _)| id);
        declared.or_else(|| matches!(name, "device" | "osd").then_some(0))
    }

    /// Every declared type by id.
    #[must_use]
    pub fn types(&self) -> &BTreeMap<i32, String> {
        &self.parts.types
    }

    /// The bucket that holds an item. Copies that a map keeps for device classes (`host1~ssd`) or for compatible weight
    /// sets (`host1-target-weight`) count only where nothing else holds the item.
    #[must_use]
    pub fn parent_of(&self, item: i32) -> Option<i32> {
        self.parents.get(&item).copied()
    }

    /// The choose_args that serve every pool without its own, if the map has them.
    #[must_use]
    pub fn default_weight_sets(&self) -> Option<&WeightSets> {
        self.parts.weight_sets.get(&DEFAULT_CHOOSE_ARGS)
    }

    /// The choose_args that serve a pool: its own, else the default.
    #[must_use]
    pub fn weight_sets_for(&self, pool: i64) -> Option<&WeightSets> {
        self.parts.weight_sets.get(&pool).or_else(|| self.default_weight_sets())
    }

    /// Every set of choose_args by key.
    pub(crate) fn weight_sets(&self) -> &BTreeMap<i64, WeightSets> {
        &self.parts.weight_sets
    }
}

/// Whether a bucket is kept beside another of the same items: a class's shadow or a compatible weight set's target.
pub(crate) fn is_copy(name: &str) -> bool {
    name.contains('~') || name.ends_with("-target-weight")
}
