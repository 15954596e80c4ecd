//! CRUSH maps in JSON: `ceph osd crush dump`, `crushtool --dump`, and the `crushmap` of `ceph report`.

use std::collections::BTreeMap;

use resilver_units::json_path;
use serde::Deserialize;

use crate::formats::json_trees::TreeMap;
use crate::map::CrushMap;
use crate::map::bucket::{BucketKind, Stored};
use crate::map::draft::{Draft, DraftArguments, DraftBucket, DraftDevice, DraftRule, DraftType};
use crate::map::error::MapError;
use crate::map::place::{Fault, Place};
use crate::map::rule::{Choose, Rule, SIZES, Step};

#[derive(Deserialize)]
struct Report {
    crushmap: JsonMap,
}

#[derive(Deserialize)]
pub(crate) struct JsonMap {
    #[serde(default)]
    pub(crate) devices: Vec<JsonDevice>,
    pub(crate) types: Vec<JsonType>,
    pub(crate) buckets: Vec<JsonBucket>,
    pub(crate) rules: Vec<JsonRule>,
    #[serde(default)]
    pub(crate) tunables: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    pub(crate) choose_args: BTreeMap<String, Vec<JsonArguments>>,
}

#[derive(Deserialize)]
pub(crate) struct JsonDevice {
    pub(crate) id: i32,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) class: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct JsonType {
    pub(crate) type_id: i32,
    pub(crate) name: String,
}

#[derive(Deserialize)]
pub(crate) struct JsonBucket {
    pub(crate) id: i32,
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) weight: Option<i64>,
    pub(crate) type_id: i32,
    pub(crate) alg: String,
    #[serde(default)]
    pub(crate) hash: Option<serde_json::Value>,
    #[serde(default)]
    pub(crate) items: Vec<JsonItem>,
}

#[derive(Deserialize)]
pub(crate) struct JsonItem {
    pub(crate) id: i32,
    pub(crate) weight: i64,
    #[serde(default)]
    pub(crate) pos: Option<usize>,
}

#[derive(Deserialize)]
pub(crate) struct JsonRule {
    pub(crate) rule_id: u32,
    #[serde(default)]
    pub(crate) rule_name: String,
    #[serde(default)]
    pub(crate) ruleset: Option<u32>,
    #[serde(rename = "type", default = "replicated")]
    pub(crate) pool_kind: u8,
    #[serde(default)]
    pub(crate) min_size: Option<u32>,
    #[serde(default)]
    pub(crate) max_size: Option<u32>,
    pub(crate) steps: Vec<JsonStep>,
}

#[derive(Default, Deserialize)]
pub(crate) struct JsonStep {
    #[serde(default)]
    pub(crate) op: Option<String>,
    #[serde(default)]
    pub(crate) item: Option<i32>,
    #[serde(default)]
    pub(crate) num: Option<i32>,
    #[serde(rename = "type", default)]
    pub(crate) type_name: Option<String>,
    #[serde(default)]
    pub(crate) opcode: Option<u32>,
    #[serde(default)]
    pub(crate) arg1: Option<i32>,
    #[serde(default)]
    pub(crate) arg2: Option<i32>,
}

#[derive(Deserialize)]
pub(crate) struct JsonArguments {
    bucket_id: i32,
    #[serde(default)]
    weight_set: Vec<Vec<f64>>,
    #[serde(default)]
    ids: Option<Vec<i32>>,
}

fn replicated() -> u8 {
    1
}

impl CrushMap {
    /// Reads a map from JSON.
    ///
    /// # Arguments
    /// * `text` - the output of `ceph osd crush dump -f json`, the `crushmap` object of `ceph report`, a whole report, or a
    ///   map of python-crush.
    ///
    /// # Returns
    /// The map, checked.
    ///
    /// # Errors
    /// The text is not such JSON, or a value breaks a rule of CRUSH maps.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::CrushMap;
    /// let map = CrushMap::from_json(r#"{
    ///     "types": [{"type_id": 0, "name": "osd"}, {"type_id": 1, "name": "root"}],
    ///     "buckets": [{"id": -1, "name": "default", "type_id": 1, "alg": "straw2", "hash": "rjenkins1",
    ///                  "items": [{"id": 0, "weight": 65536, "pos": 0}]}],
    ///     "rules": []}"#).unwrap();
    /// assert_eq!(map.max_device(), 1);
    /// ```
    pub fn from_json(text: &str) -> Result<Self, MapError> {
        #[derive(Deserialize)]
        struct Probe {
            crushmap: Option<serde::de::IgnoredAny>,
            trees: Option<serde::de::IgnoredAny>,
        }
        let probe = parsed::<Probe>(text)?;
        if probe.trees.is_some() {
            let map = parsed::<TreeMap>(text)?.flattened()?;
            return Ok(draft(map)?.finish()?);
        }
        let report = probe.crushmap.is_some();
        let map = if report { parsed::<Report>(text)?.crushmap } else { parsed(text)? };
        let prefix = if report { "crushmap." } else { "" };
        let located = |Fault { place, error }| match path(place) {
            Some(path) => error.located(format!("{prefix}{path}")),
            None => error,
        };
        draft(map).map_err(located)?.finish().map_err(located)
    }
}

/// Reads JSON; where it does not fit, the error has the way to what does not.
fn parsed<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, MapError> {
    serde_json::from_str(text).map_err(|error| {
        let place = json_path(text, error.line(), error.column());
        MapError::Json { message: format!("{place}{error}") }
    })
}

/// The way down to a place.
fn path(place: Place) -> Option<String> {
    Some(match place {
        Place::Unknown | Place::Offset(_) => return None,
        Place::Device(index) => format!("devices[{index}]"),
        Place::Type(index) => format!("types[{index}]"),
        Place::Bucket(index) => format!("buckets[{index}]"),
        Place::Item(bucket, index) => format!("buckets[{bucket}].items[{index}]"),
        Place::Rule(index) => format!("rules[{index}]"),
        Place::Step(rule, index) => format!("rules[{rule}].steps[{index}]"),
        Place::Arguments(key, index) => format!("choose_args.{key}[{index}]"),
    })
}

fn draft(map: JsonMap) -> Result<Draft, Fault> {
    let mut draft = Draft::new();
    for (index, JsonType { type_id: id, name }) in map.types.into_iter().enumerate() {
        draft.types.push(DraftType { id, name, place: Place::Type(index) });
    }
    for (index, JsonDevice { id, name, class }) in map.devices.into_iter().enumerate() {
        if let Some(class) = class {
            let class = draft.classes.number(&class);
            draft.classes.of_item.insert(id, class);
        }
        // Ceph lists every number below its largest device's and makes up a name for those without.
        if name == format!("device{id}") {
            draft.extent.max_devices = draft.extent.max_devices.max(id.saturating_add(1));
        } else {
            draft.devices.push(DraftDevice { id, name, place: Place::Device(index) });
        }
    }
    for (name, value) in &map.tunables {
        // The dump adds facts about the tunables (`profile`, `has_v2_rules`), which are no tunables.
        let Some(target) = draft.tunables.field_mut(name) else { continue };
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        *target = number.ok_or_else(|| {
            MapError::invalid(format!("tunables: {name}"), value, "a tunable is a small whole number", "correct it")
        })?;
    }
    for (index, entry) in map.buckets.into_iter().enumerate() {
        draft.buckets.push(bucket(entry, index)?);
    }
    shadows(&mut draft);
    let types: BTreeMap<&str, i32> = draft.types.iter().rev().map(|entry| (entry.name.as_str(), entry.id)).collect();
    for (index, entry) in map.rules.into_iter().enumerate() {
        draft.rules.push(rule(entry, index, &types)?);
    }
    for (key, list) in map.choose_args {
        let number = key.parse().map_err(|_| {
            MapError::invalid("choose_args", &key, "a key is a pool's id, or -1 for all pools", "rename the entry")
        })?;
        let list = list.into_iter().enumerate().map(|(index, entry)| {
            let place = Place::Arguments(number, index);
            arguments(&key, entry, place).map_err(Fault::at(place))
        });
        let list = list.collect::<Result<_, _>>()?;
        draft.choose_args.push((number, list));
    }
    Ok(draft)
}

/// Learns from the buckets' names which are shadows: `default~ssd` is that of `default` for the class `ssd`.
fn shadows(draft: &mut Draft) {
    let ids: BTreeMap<&str, i32> = draft.buckets.iter().map(|bucket| (bucket.name.as_str(), bucket.id)).collect();
    for bucket in &draft.buckets {
        let Some((original, class)) = bucket.name.split_once('~') else { continue };
        let Some(&original) = ids.get(original) else { continue };
        let class = draft.classes.number(class);
        draft.classes.of_item.insert(bucket.id, class);
        draft.classes.shadows.entry(original).or_default().insert(class, bucket.id);
    }
}

/// A weight as the dump prints it: Ceph prints those from 32768 up, which only buckets have, as if they were negative.
fn weight(id: i32, weight: i64, field: impl Fn() -> String) -> Result<u32, MapError> {
    let wrapped = if id < 0 { i32::try_from(weight).ok().map(|weight| weight as u32) } else { None };
    u32::try_from(weight).ok().or(wrapped).ok_or_else(|| {
        let rule = "a weight is a whole number of 1/65536, from 0 to below 2^32";
        MapError::invalid(field(), weight, rule, "correct it")
    })
}

fn bucket(entry: JsonBucket, index: usize) -> Result<DraftBucket, Fault> {
    let place = Place::Bucket(index);
    let field = |what: &str| format!("bucket {}: {what}", entry.name);
    let Some(kind) = BucketKind::from_name(&entry.alg) else {
        let rule = "a bucket's alg is uniform, list, tree, straw, straw2 or vring";
        let error = MapError::invalid(field("alg"), &entry.alg, rule, "convert the bucket to straw2");
        return Err(Fault { place, error });
    };
    if let Some(hash) = entry.hash.filter(|hash| *hash != "rjenkins1" && *hash != 0) {
        let rule = "the only hash of CRUSH buckets is rjenkins1 (0)";
        let error = MapError::invalid(field("hash"), hash, rule, "set it to rjenkins1");
        return Err(Fault { place, error });
    }
    let mut listed = Vec::with_capacity(entry.items.len());
    for (item_index, item) in entry.items.iter().enumerate() {
        let place = Place::Item(index, item_index);
        let weight = weight(item.id, item.weight, || format!("bucket {}: item {}: weight", entry.name, item.id));
        listed.push((item.pos, (item.id, weight.map_err(Fault::at(place))?), place));
    }
    // Items are listed by position; a dump that was sorted otherwise still says where each belongs.
    if listed.iter().all(|item| item.0.is_some()) {
        listed.sort_by_key(|item| item.0);
    }
    let (items, item_places): (Vec<_>, Vec<_>) = listed.into_iter().map(|(_, item, place)| (item, place)).unzip();
    // The dump tells a bucket's own weight and not what its kind stores beside it.
    let own = entry.weight.map(|own| weight(-1, own, || field("weight"))).transpose().map_err(Fault::at(place))?;
    let stored = own.map(|weight| Stored { weight, numbers: None });
    Ok(DraftBucket { id: entry.id, name: entry.name, type_id: entry.type_id, kind, items, stored, place, item_places })
}

fn rule(entry: JsonRule, index: usize, types: &BTreeMap<&str, i32>) -> Result<DraftRule, Fault> {
    let (mut steps, mut step_places) = (Vec::new(), Vec::new());
    for (position, step) in entry.steps.into_iter().enumerate() {
        let field = format!("rule {}: step {}", entry.rule_name, position + 1);
        let place = Place::Step(index, position);
        steps.push(self::step(step, &field, types).map_err(Fault::at(place))?);
        step_places.push(place);
    }
    let rule = Rule {
        id: entry.rule_id,
        name: entry.rule_name,
        ruleset: entry.ruleset.unwrap_or(entry.rule_id),
        pool_kind: entry.pool_kind,
        min_size: entry.min_size.unwrap_or(SIZES.0),
        max_size: entry.max_size.unwrap_or(SIZES.1),
        steps,
    };
    Ok(DraftRule { rule, place: Place::Rule(index), step_places })
}

fn step(step: JsonStep, field: &str, types: &BTreeMap<&str, i32>) -> Result<Step, MapError> {
    // Dumps name the common steps; the others appear as the numbers of Ceph's on-disk form.
    let Some(op) = step.op.as_deref() else {
        let value = step.opcode.map_or("nothing".to_owned(), |opcode| format!("opcode {opcode}"));
        let known = step
            .opcode
            .and_then(|number| Step::from_number(number, step.arg1.unwrap_or_default(), step.arg2.unwrap_or_default()));
        let rule = "a step has an `op` that is known here";
        return known.ok_or_else(|| MapError::invalid(field, value, rule, "rewrite the rule"));
    };
    let missing = |what: &str| {
        MapError::invalid(format!("{field}: {what}"), "nothing", format!("`{op}` needs `{what}`"), "add it")
    };
    let count = || step.num.ok_or_else(|| missing("num"));
    let type_id = || {
        let name = step.type_name.as_deref().ok_or_else(|| missing("type"))?;
        let known = types.get(name).copied().or_else(|| name.parse().ok());
        known.ok_or_else(|| {
            let rule = "a rule chooses a type of the map";
            MapError::invalid(format!("{field}: type"), name, rule, "declare the type")
        })
    };
    match op {
        "noop" => Ok(Step::Noop),
        "emit" => Ok(Step::Emit),
        "take" => step.item.map(Step::Take).ok_or_else(|| missing("item")),
        "choose_firstn" | "choose_indep" | "chooseleaf_firstn" | "chooseleaf_indep" => {
            let (firstn, leaf) = (op.ends_with("firstn"), op.starts_with("chooseleaf"));
            Ok(Step::Choose(Choose { firstn, leaf, type_id: type_id()?, count: count()? }))
        }
        "choosemsr" => Ok(Step::ChooseMsr { type_id: type_id()?, count: count()? }),
        _ => {
            let unknown = || MapError::invalid(field, op, "the step must be one of CRUSH's", "rewrite the rule");
            Step::setting(op, count()?).ok_or_else(unknown)
        }
    }
}

fn arguments(key: &str, entry: JsonArguments, place: Place) -> Result<DraftArguments, MapError> {
    // A decimal of a fixed-point number, in six digits or in all, lies nearer to it than to its neighbours.
    let fixed = |&weight: &f64| {
        let scaled = (weight * 65536.0).round();
        if (0.0..=f64::from(u32::MAX)).contains(&scaled) {
            return Ok(scaled as u32);
        }
        let field = format!("choose_args {key}: bucket_id {}: weight_set", entry.bucket_id);
        Err(MapError::invalid(field, weight, "a weight is from 0 to below 65536", "correct it"))
    };
    let weights = entry.weight_set.iter().map(|set| set.iter().map(fixed).collect()).collect::<Result<_, _>>()?;
    Ok(DraftArguments { bucket: entry.bucket_id, weights, ids: entry.ids.filter(|ids| !ids.is_empty()), place })
}
