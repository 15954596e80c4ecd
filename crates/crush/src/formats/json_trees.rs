//! Maps in the JSON of python-crush, which writes every hierarchy out as a tree of children.
//!
//! Source of the form: `tests/ceph/crushmap-from-ceph-report.json` of the public python-crush repository, the map of a cluster
//! whose `ceph report` is public too. Weights are 16.16 fixed point.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::formats::json::{JsonBucket, JsonDevice, JsonItem, JsonMap, JsonRule, JsonStep, JsonType};
use crate::map::error::MapError;

/// A map as python-crush writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TreeMap {
    trees: Vec<Node>,
    types: Vec<JsonType>,
    /// By name, in the order of their ids.
    #[serde(default)]
    rules: serde_json::Map<String, Value>,
    #[serde(default)]
    tunables: BTreeMap<String, Value>,
    #[serde(default)]
    private: Private,
    #[serde(default)]
    choose_args: BTreeMap<String, Value>,
}

/// What python-crush keeps of the report it read.
#[derive(Deserialize, Default)]
struct Private {
    #[serde(default)]
    rules: Vec<JsonRule>,
}

/// A bucket with its children, or a device.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Node {
    id: i32,
    name: String,
    weight: i64,
    #[serde(rename = "type", default)]
    type_name: Option<String>,
    #[serde(default)]
    algorithm: Option<String>,
    #[serde(default)]
    children: Vec<Node>,
}

impl TreeMap {
    /// The same map as Ceph dumps it.
    ///
    /// # Errors
    /// A bucket lacks its type or algorithm, or a rule's step is none.
    pub(crate) fn flattened(self) -> Result<JsonMap, MapError> {
        if let Some(key) = self.choose_args.keys().next() {
            let rule = "stand-in weights are read in the form of Ceph, and python-crush has another";
            let remedy = "give the map as `ceph osd crush dump` prints it, or remove them";
            return Err(MapError::invalid("choose_args", key, rule, remedy));
        }
        let types = self.types.iter().map(|entry| (entry.name.clone(), entry.type_id)).collect();
        let mut flat = Flat { types, ids: BTreeMap::new(), devices: BTreeMap::new(), buckets: Vec::new() };
        for tree in self.trees {
            flat.add(tree)?;
        }
        let rules = if self.private.rules.is_empty() { flat.rules(self.rules)? } else { self.private.rules };
        let devices = flat.devices.into_iter().map(|(id, name)| JsonDevice { id, name, class: None }).collect();
        let (tunables, choose_args) = (self.tunables, BTreeMap::new());
        Ok(JsonMap { devices, types: self.types, buckets: flat.buckets, rules, tunables, choose_args })
    }
}

/// What the trees hold, listed.
struct Flat {
    types: BTreeMap<String, i32>,
    ids: BTreeMap<String, i32>,
    devices: BTreeMap<i32, String>,
    buckets: Vec<JsonBucket>,
}

impl Flat {
    /// Lists a node and all below it. The depth is bounded by what the JSON reader nests.
    fn add(&mut self, node: Node) -> Result<(), MapError> {
        let Node { id, name, weight, type_name, algorithm, children } = node;
        self.ids.insert(name.clone(), id);
        if id >= 0 {
            if !children.is_empty() {
                let rule = "a device has no children";
                return Err(MapError::invalid(format!("{name}: id"), id, rule, "give a bucket an id below zero"));
            }
            self.devices.insert(id, name);
            return Ok(());
        }
        let missing = |what: &str| {
            let rule = format!("a bucket has its {what}");
            MapError::invalid(format!("bucket {name}: {what}"), "nothing", rule, format!("add \"{what}\""))
        };
        let type_name = type_name.ok_or_else(|| missing("type"))?;
        let alg = algorithm.ok_or_else(|| missing("algorithm"))?;
        let Some(&type_id) = self.types.get(&type_name) else {
            let rule = "a bucket's type is one that \"types\" lists";
            return Err(MapError::invalid(format!("bucket {name}: type"), type_name, rule, "add it to \"types\""));
        };
        let items = children.iter().map(|child| JsonItem { id: child.id, weight: child.weight, pos: None }).collect();
        self.buckets.push(JsonBucket { id, name, weight: Some(weight), type_id, alg, hash: None, items });
        children.into_iter().try_for_each(|child| self.add(child))
    }

    /// The rules, numbered as they stand.
    fn rules(&self, rules: serde_json::Map<String, Value>) -> Result<Vec<JsonRule>, MapError> {
        (0..)
            .zip(rules)
            .map(|(rule_id, (rule_name, steps))| {
                let steps: Vec<Vec<Value>> = serde_json::from_value(steps).map_err(|error| MapError::Json {
                    message: format!("rules.{rule_name}: {error}: a rule is a list of steps, each a list of words"),
                })?;
                let steps = steps.iter().enumerate().map(|(index, words)| {
                    self.step(words).ok_or_else(|| {
                        let field = format!("rules.{rule_name}[{index}]");
                        let rule = "a step is [take, NAME], [choose or chooseleaf, firstn or indep, N, type, NAME], \
                                    [set_..., N] or [emit]";
                        MapError::invalid(field, Value::from(words.clone()), rule, "correct it")
                    })
                });
                let (min_size, max_size) = (None, None);
                let steps = steps.collect::<Result<_, _>>()?;
                Ok(JsonRule { rule_id, rule_name, ruleset: None, pool_kind: 1, min_size, max_size, steps })
            })
            .collect()
    }

    /// One step; `None` where the words are none.
    fn step(&self, words: &[Value]) -> Option<JsonStep> {
        let number = |value: &Value| value.as_i64().and_then(|number| i32::try_from(number).ok());
        let op = words.first()?.as_str()?.to_owned();
        Some(match &words[1..] {
            [] if op == "emit" => JsonStep { op: Some(op), ..JsonStep::default() },
            [name] if op == "take" => {
                JsonStep { op: Some(op), item: Some(*self.ids.get(name.as_str()?)?), ..JsonStep::default() }
            }
            [count] if op.starts_with("set_") => JsonStep { op: Some(op), num: number(count), ..JsonStep::default() },
            [mode, count, word, name] if word == "type" && (op == "choose" || op == "chooseleaf") => JsonStep {
                op: Some(format!("{op}_{}", mode.as_str()?)),
                num: Some(number(count)?),
                type_name: Some(name.as_str().map_or_else(|| name.to_string(), str::to_owned)),
                ..JsonStep::default()
            },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{CrushMap, Scratch};

    const TREES: &str = r#"{
        "types": [{"type_id": 0, "name": "osd"}, {"type_id": 1, "name": "host"}, {"type_id": 2, "name": "root"}],
        "trees": [{"id": -1, "name": "top", "type": "root", "algorithm": "straw2", "weight": 131072, "children": [
            {"id": -2, "name": "a", "type": "host", "algorithm": "straw2", "weight": 65536,
             "children": [{"id": 0, "name": "osd.0", "weight": 65536}]},
            {"id": -3, "name": "b", "type": "host", "algorithm": "straw2", "weight": 65536,
             "children": [{"id": 1, "name": "osd.1", "weight": 65536}]}]}],
        "rules": {"one": [["take", "b"], ["set_choose_tries", 9], ["choose", "firstn", 0, "type", 0], ["emit"]],
                  "two": [["take", "top"], ["chooseleaf", "firstn", 0, "type", "host"], ["emit"]]}}"#;

    // Rule: rules are numbered as they stand and mean what their words say: the first finds the one device of host b.
    #[test]
    fn rules_are_read_from_their_words() {
        let map = CrushMap::from_json(TREES).unwrap();
        let (mut scratch, mut found) = (Scratch::new(), Vec::new());
        map.place(map.rule_by_id(0).unwrap(), 5, 2, &[], &mut scratch, &mut found);
        assert_eq!(found, [1]);
        map.place(map.rule_by_id(1).unwrap(), 5, 2, &[], &mut scratch, &mut found);
        found.sort_unstable();
        assert_eq!(found, [0, 1]);
    }

    // Rule: what is missing or unknown is named.
    #[test]
    fn errors_name_what_is_wrong() {
        for (old, new, message) in [
            ("\"algorithm\": \"straw2\", \"weight\": 131072", "\"weight\": 131072", "bucket top: algorithm"),
            ("\"type\": \"root\"", "\"type\": \"rooot\"", "bucket top: type = rooot"),
            ("[\"take\", \"b\"]", "[\"take\", \"c\"]", "rules.one[0]"),
            ("[\"take\", \"b\"]", "\"take\"", "rules.one: invalid type"),
            ("\"trees\"", "\"choose_args\": {\"-1\": []}, \"trees\"", "choose_args = -1"),
            ("osd.1", "\\u001b[31mosd.1", "name = \\u{1b}[31mosd.1: a name has printable"),
            ("osd.1", "\\u202eosd.1", "name = \\u{202e}osd.1: a name has printable"),
        ] {
            let error = CrushMap::from_json(&TREES.replacen(old, new, 1)).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        // No stand-in weights are none.
        assert!(CrushMap::from_json(&TREES.replacen("\"trees\"", "\"choose_args\": {}, \"trees\"", 1)).is_ok());
    }
}
