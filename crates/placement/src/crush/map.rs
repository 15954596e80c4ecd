//! The map itself: what exists, under which name, and where.

use std::collections::BTreeMap;

use super::bucket::Bucket;
use super::draft::slot_of;
use super::rule::Rule;
use super::tunables::Tunables;
use super::weight_set::WeightSets;

/// The key of the choose_args that serve every pool without its own.
const DEFAULT_CHOOSE_ARGS: i64 = -1;

/// A CRUSH map: devices, the buckets that hold them, and the rules that choose among them.
///
/// Devices have ids from zero up, buckets below zero. Weights are 16.16 fixed point: 0x10000 is 1.
#[derive(Debug, Clone)]
pub struct CrushMap {
    /// By descending id, -1 first.
    buckets: Vec<Bucket>,
    /// Index into `buckets` at `-1 - id`.
    slots: Vec<u32>,
    device_limit: i32,
    device_names: BTreeMap<i32, String>,
    device_classes: BTreeMap<i32, String>,
    types: BTreeMap<i32, String>,
    rules: Vec<Rule>,
    tunables: Tunables,
    weight_sets: BTreeMap<i64, WeightSets>,
    parents: BTreeMap<i32, i32>,
}

impl CrushMap {
    /// Puts checked parts together; only `Draft::finish` calls it.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn assemble(
        buckets: Vec<Bucket>,
        slots: Vec<u32>,
        device_limit: i32,
        (device_names, device_classes): (BTreeMap<i32, String>, BTreeMap<i32, String>),
        types: BTreeMap<i32, String>,
        rules: Vec<Rule>,
        tunables: Tunables,
        weight_sets: BTreeMap<i64, WeightSets>,
    ) -> Self {
        let mut parents = BTreeMap::new();
        // A device of a map with classes has several parents; where it *is* is the one that is no copy of another.
        for copies in [false, true] {
            for bucket in buckets.iter().filter(|bucket| is_copy(&bucket.name) == copies) {
                for &item in &bucket.items {
                    parents.entry(item).or_insert(bucket.id);
                }
            }
        }
        Self {
            buckets,
            slots,
            device_limit,
            device_names,
            device_classes,
            types,
            rules,
            tunables,
            weight_sets,
            parents,
        }
    }

    /// The bucket of this id, if the map has it; `None` for devices.
    #[inline]
    #[must_use]
    pub fn bucket(&self, id: i32) -> Option<&Bucket> {
        slot_of(&self.slots, id).map(|index| &self.buckets[index])
    }

    /// Every bucket, by descending id.
    #[must_use]
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// The rule of this id, if the map has it.
    #[must_use]
    pub fn rule_by_id(&self, id: u32) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// Every rule, in the map's order.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The map's tunables.
    #[must_use]
    pub fn tunables(&self) -> &Tunables {
        &self.tunables
    }

    /// One more than the largest device id, declared or used: the length of an array by device id.
    #[must_use]
    pub fn max_device(&self) -> i32 {
        self.device_limit
    }

    /// Ids of the devices that some bucket holds, ascending.
    #[must_use]
    pub fn devices(&self) -> Vec<i32> {
        self.parents.range(0..).map(|(&device, _)| device).collect()
    }

    /// The name of a device: as declared, else `osd.N`.
    #[must_use]
    pub fn device_name(&self, device: i32) -> String {
        self.device_names.get(&device).cloned().unwrap_or_else(|| format!("osd.{device}"))
    }

    /// The class of a device (`hdd`, `ssd`), if it has one.
    #[must_use]
    pub fn device_class(&self, device: i32) -> Option<&str> {
        self.device_classes.get(&device).map(String::as_str)
    }

    /// The name of a device or bucket.
    #[must_use]
    pub fn item_name(&self, item: i32) -> String {
        self.bucket(item).map_or_else(|| self.device_name(item), |bucket| bucket.name.clone())
    }

    /// The name of a type; `device` for type 0 where the map declares none.
    #[must_use]
    pub fn type_name(&self, type_id: i32) -> &str {
        self.types.get(&type_id).map_or(if type_id == 0 { "device" } else { "unknown" }, String::as_str)
    }

    /// The id of a type by name; `device` and `osd` mean type 0 where the map declares no such name.
    #[must_use]
    pub fn type_id(&self, name: &str) -> Option<i32> {
        let declared = self.types.iter().find(|&(_, declared)| declared == name).map(|(&id, _)| id);
        declared.or_else(|| matches!(name, "device" | "osd").then_some(0))
    }

    /// Every declared type by id.
    #[must_use]
    pub fn types(&self) -> &BTreeMap<i32, String> {
        &self.types
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
        self.weight_sets.get(&DEFAULT_CHOOSE_ARGS)
    }

    /// The choose_args that serve a pool: its own, else the default.
    #[must_use]
    pub fn weight_sets_for(&self, pool: i64) -> Option<&WeightSets> {
        self.weight_sets.get(&pool).or_else(|| self.default_weight_sets())
    }

    /// Every set of choose_args by key.
    pub(crate) fn weight_sets(&self) -> &BTreeMap<i64, WeightSets> {
        &self.weight_sets
    }
}

/// Whether a bucket is kept beside another of the same items: a class's shadow or a compatible weight set's target.
pub(crate) fn is_copy(name: &str) -> bool {
    name.contains('~') || name.ends_with("-target-weight")
}
