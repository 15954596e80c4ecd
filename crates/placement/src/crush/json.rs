//! CRUSH maps in JSON: `ceph osd crush dump`, `crushtool --dump`, and the `crushmap` of `ceph report`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::bucket::BucketKind;
use super::draft::{Draft, DraftArguments, DraftBucket, DraftDevice};
use super::error::MapError;
use super::map::CrushMap;
use super::rule::{Choose, Rule, Step};

#[derive(Deserialize)]
struct Report {
    crushmap: JsonMap,
}

#[derive(Deserialize)]
struct JsonMap {
    #[serde(default)]
    devices: Vec<JsonDevice>,
    types: Vec<JsonType>,
    buckets: Vec<JsonBucket>,
    rules: Vec<JsonRule>,
    #[serde(default)]
    tunables: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    choose_args: BTreeMap<String, Vec<JsonArguments>>,
}

#[derive(Deserialize)]
struct JsonDevice {
    id: i32,
    name: String,
    #[serde(default)]
    class: Option<String>,
}

#[derive(Deserialize)]
struct JsonType {
    type_id: i32,
    name: String,
}

#[derive(Deserialize)]
struct JsonBucket {
    id: i32,
    name: String,
    type_id: i32,
    alg: String,
    #[serde(default)]
    hash: Option<serde_json::Value>,
    #[serde(default)]
    items: Vec<JsonItem>,
}

#[derive(Deserialize)]
struct JsonItem {
    id: i32,
    weight: u32,
    #[serde(default)]
    pos: Option<usize>,
}

#[derive(Deserialize)]
struct JsonRule {
    rule_id: u32,
    rule_name: String,
    #[serde(default)]
    ruleset: Option<u32>,
    #[serde(rename = "type", default = "replicated")]
    pool_kind: u8,
    #[serde(default)]
    min_size: u32,
    #[serde(default = "any_size")]
    max_size: u32,
    steps: Vec<JsonStep>,
}

#[derive(Deserialize)]
struct JsonStep {
    #[serde(default)]
    op: Option<String>,
    #[serde(default)]
    item: Option<i32>,
    #[serde(default)]
    num: Option<i32>,
    #[serde(rename = "type", default)]
    type_name: Option<String>,
    #[serde(default)]
    opcode: Option<u32>,
    #[serde(default)]
    arg1: Option<i32>,
}

#[derive(Deserialize)]
struct JsonArguments {
    bucket_id: i32,
    #[serde(default)]
    weight_set: Vec<Vec<f64>>,
    #[serde(default)]
    ids: Option<Vec<i32>>,
}

fn replicated() -> u8 {
    1
}

/// Later clusters dropped the size limits of rules.
fn any_size() -> u32 {
    u32::MAX
}

impl CrushMap {
    /// Reads a map from JSON.
    ///
    /// # Arguments
    /// * `text` - the output of `ceph osd crush dump -f json`, the `crushmap` object of `ceph report`, or a whole report.
    ///
    /// # Returns
    /// The map, checked.
    ///
    /// # Errors
    /// The text is not such JSON, or a value breaks a rule of CRUSH maps.
    ///
    /// # Examples
    /// ```
    /// use resilver_placement::crush::CrushMap;
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
        }
        let report = serde_json::from_str::<Probe>(text).map_err(json_error)?.crushmap.is_some();
        let map = if report {
            serde_json::from_str::<Report>(text).map(|report| report.crushmap)
        } else {
            serde_json::from_str(text)
        };
        draft(map.map_err(json_error)?)?.finish()
    }
}

pub(crate) fn json_error(error: serde_json::Error) -> MapError {
    MapError::Json { message: error.to_string() }
}

fn draft(map: JsonMap) -> Result<Draft, MapError> {
    let mut draft = Draft::new();
    draft.types = map.types.into_iter().map(|entry| (entry.type_id, entry.name)).collect();
    let device = |device: JsonDevice| DraftDevice { id: device.id, name: device.name, class: device.class };
    draft.devices = map.devices.into_iter().map(device).collect();
    for (name, value) in &map.tunables {
        // The dump adds facts about the tunables (`profile`, `has_v2_rules`), which are no tunables.
        let Some(target) = draft.tunables.field_mut(name) else { continue };
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        *target = number.ok_or_else(|| {
            MapError::invalid(format!("tunables: {name}"), value, "a tunable is a small whole number", "correct it")
        })?;
    }
    for entry in map.buckets {
        draft.buckets.push(bucket(entry)?);
    }
    for entry in map.rules {
        let rule = rule(entry, &draft)?;
        draft.rules.push(rule);
    }
    for (key, list) in map.choose_args {
        let number = key.parse().map_err(|_| {
            MapError::invalid("choose_args", &key, "a key is a pool's id, or -1 for all pools", "rename the entry")
        })?;
        let list = list.into_iter().map(|entry| arguments(&key, entry)).collect::<Result<_, _>>()?;
        draft.choose_args.push((number, list));
    }
    Ok(draft)
}

fn bucket(entry: JsonBucket) -> Result<DraftBucket, MapError> {
    let field = |what: &str| format!("bucket {}: {what}", entry.name);
    let Some(kind) = BucketKind::from_name(&entry.alg) else {
        let rule = "a bucket's alg is uniform, list, tree, straw or straw2";
        return Err(MapError::invalid(field("alg"), &entry.alg, rule, "convert the bucket to straw2"));
    };
    let hash = entry.hash.unwrap_or_else(|| "rjenkins1".into());
    if hash != "rjenkins1" && hash != 0 {
        let rule = "the only hash of CRUSH buckets is rjenkins1 (0)";
        return Err(MapError::invalid(field("hash"), hash, rule, "set it to rjenkins1"));
    }
    let mut items = entry.items;
    // Items are listed by position; a dump that was sorted otherwise still says where each belongs.
    if items.iter().all(|item| item.pos.is_some()) {
        items.sort_by_key(|item| item.pos);
    }
    let items = items.into_iter().map(|item| (item.id, item.weight)).collect();
    Ok(DraftBucket { id: entry.id, name: entry.name, type_id: entry.type_id, kind, items })
}

fn rule(entry: JsonRule, draft: &Draft) -> Result<Rule, MapError> {
    let mut steps = Vec::new();
    for (position, step) in entry.steps.into_iter().enumerate() {
        let field = format!("rule {}: step {}", entry.rule_name, position + 1);
        steps.push(self::step(step, &field, draft)?);
    }
    Ok(Rule {
        id: entry.rule_id,
        name: entry.rule_name,
        ruleset: entry.ruleset.unwrap_or(entry.rule_id),
        pool_kind: entry.pool_kind,
        min_size: entry.min_size,
        max_size: entry.max_size,
        steps,
    })
}

fn step(step: JsonStep, field: &str, draft: &Draft) -> Result<Step, MapError> {
    // Dumps name the common steps; the others appear as the numbers of Ceph's on-disk form.
    let (op, number) = match (&step.op, step.opcode) {
        (Some(op), _) => (op.as_str(), step.num),
        (None, Some(10)) => ("set_choose_local_tries", step.arg1),
        (None, Some(11)) => ("set_choose_local_fallback_tries", step.arg1),
        (None, Some(12)) => ("set_chooseleaf_vary_r", step.arg1),
        (None, Some(13)) => ("set_chooseleaf_stable", step.arg1),
        (None, opcode) => {
            let value = opcode.map_or("nothing".to_owned(), |opcode| format!("opcode {opcode}"));
            return Err(MapError::invalid(field, value, "a step has an `op` that is known here", "rewrite the rule"));
        }
    };
    let missing = |what: &str| {
        MapError::invalid(format!("{field}: {what}"), "nothing", format!("`{op}` needs `{what}`"), "add it")
    };
    match op {
        "noop" => Ok(Step::Noop),
        "emit" => Ok(Step::Emit),
        "take" => step.item.map(Step::Take).ok_or_else(|| missing("item")),
        "choose_firstn" | "choose_indep" | "chooseleaf_firstn" | "chooseleaf_indep" => {
            let name = step.type_name.as_deref().ok_or_else(|| missing("type"))?;
            let known = draft.types.iter().find(|entry| entry.1 == name).map(|entry| entry.0);
            let type_id = known.or_else(|| name.parse().ok()).ok_or_else(|| {
                MapError::invalid(
                    format!("{field}: type"),
                    name,
                    "a rule chooses a type of the map",
                    "declare the type",
                )
            })?;
            Ok(Step::Choose(Choose {
                firstn: op.ends_with("firstn"),
                leaf: op.starts_with("chooseleaf"),
                count: step.num.ok_or_else(|| missing("num"))?,
                type_id,
            }))
        }
        _ => {
            let value = number.ok_or_else(|| missing("num"))?;
            let unknown = || MapError::invalid(field, op, "the step must be one of CRUSH's", "rewrite the rule");
            Step::setting(op, value).ok_or_else(unknown)
        }
    }
}

fn arguments(key: &str, entry: JsonArguments) -> Result<DraftArguments, MapError> {
    let fixed = |&weight: &f64| {
        let scaled = (weight * 65536.0).round();
        if (0.0..=f64::from(u32::MAX)).contains(&scaled) {
            return Ok(scaled as u32);
        }
        let field = format!("choose_args {key}: bucket_id {}: weight_set", entry.bucket_id);
        Err(MapError::invalid(field, weight, "a weight is from 0 to below 65536", "correct it"))
    };
    let weights = entry.weight_set.iter().map(|set| set.iter().map(fixed).collect()).collect::<Result<_, _>>()?;
    Ok(DraftArguments { bucket: entry.bucket_id, weights, ids: entry.ids })
}
