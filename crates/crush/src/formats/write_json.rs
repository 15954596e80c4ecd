//! Writing a map as JSON, value for value as `crushtool --dump` does.

use serde_json::{Map, Value, json};

use crate::map::CrushMap;
use crate::map::bucket::{Bucket, BucketKind};
use crate::map::rule::{Choose, Rule, Step};
use crate::map::tunables::Tunables;

impl CrushMap {
    /// Writes the map in the JSON of `crushtool --dump` and `ceph osd crush dump`.
    ///
    /// Keys and values are Ceph's own; a bucket's weight of 32768 or above is written as it is, which Ceph shows as negative.
    ///
    /// # Returns
    /// The text of the JSON, indented by four.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap, Tunables};
    /// let map = CrushMap::flat(3, BucketKind::Straw2, Tunables::JEWEL);
    /// assert!(map.to_json().contains("\"alg\": \"straw2\""));
    /// assert_eq!(CrushMap::from_json(&map.to_json()).unwrap().to_text(), map.to_text());
    /// ```
    #[must_use]
    pub fn to_json(&self) -> String {
        let devices = (0..self.max_device()).map(|device| self.device_json(device)).collect::<Vec<_>>();
        let mut types = Vec::new();
        if !self.types().is_empty() && !self.types().contains_key(&0) {
            types.push(object([("type_id", json!(0)), ("name", json!("device"))]));
        }
        types.extend(self.types().iter().map(|(id, name)| object([("type_id", json!(id)), ("name", json!(name))])));
        let buckets = self.buckets().iter().map(|bucket| self.bucket_json(bucket)).collect::<Vec<_>>();
        let rules = self.rules_by_id().into_iter().map(|rule| self.rule_json(rule)).collect::<Vec<_>>();
        let map = object([
            ("devices", devices.into()),
            ("types", types.into()),
            ("buckets", buckets.into()),
            ("rules", rules.into()),
            ("tunables", self.tunables_json()),
            ("choose_args", self.choose_args_json()),
        ]);
        let mut text = Vec::new();
        let layout = serde_json::ser::PrettyFormatter::with_indent(b"    ");
        let mut writer = serde_json::Serializer::with_formatter(&mut text, layout);
        // Writing to memory does not fail, and what is written is UTF-8.
        let _ = serde::Serialize::serialize(&map, &mut writer);
        text.push(b'\n');
        String::from_utf8(text).unwrap_or_default()
    }

    fn device_json(&self, device: i32) -> Value {
        let mut entry = json!({"id": device, "name": self.device_name(device)});
        if let Some(class) = self.device_class(device) {
            entry["class"] = class.into();
        }
        entry
    }

    fn bucket_json(&self, bucket: &Bucket) -> Value {
        let items = bucket.items().iter().zip(bucket.weights()).enumerate();
        let items = items.map(|(pos, (id, weight))| json!({"id": id, "weight": weight, "pos": pos}));
        let mut fields = vec![("id", json!(bucket.id()))];
        if self.parts().names.contains_key(&bucket.id()) {
            fields.push(("name", bucket.name().into()));
        }
        fields.extend([
            ("type_id", bucket.type_id().into()),
            ("type_name", self.type_name(bucket.type_id()).into()),
            ("weight", bucket.weight().into()),
            ("alg", bucket.kind().name().into()),
            ("hash", "rjenkins1".into()),
            ("items", items.collect::<Vec<_>>().into()),
        ]);
        object(fields)
    }

    fn rule_json(&self, rule: &Rule) -> Value {
        let mut fields = vec![("rule_id", json!(rule.id))];
        if !self.parts().nameless.contains(&rule.id) {
            fields.push(("rule_name", rule.name.as_str().into()));
        }
        fields.extend([
            ("ruleset", rule.ruleset.into()),
            ("type", rule.pool_kind.into()),
            ("min_size", rule.min_size.into()),
            ("max_size", rule.max_size.into()),
            ("steps", rule.steps.iter().map(|&step| self.step_json(step)).collect::<Vec<_>>().into()),
        ]);
        object(fields)
    }

    fn step_json(&self, step: Step) -> Value {
        match step {
            Step::Noop => json!({"op": "noop"}),
            Step::Emit => json!({"op": "emit"}),
            Step::Take(item) => {
                let name = self.parts().names.get(&item).map_or("", String::as_str);
                object([("op", "take".into()), ("item", item.into()), ("item_name", name.into())])
            }
            Step::Choose(Choose { firstn, leaf, count, type_id }) => {
                let leaf = if leaf { "chooseleaf" } else { "choose" };
                let op = format!("{leaf}_{}", if firstn { "firstn" } else { "indep" });
                object([("op", op.into()), ("num", count.into()), ("type", self.type_name(type_id).into())])
            }
            Step::ChooseMsr { count, type_id } => {
                object([("op", "choosemsr".into()), ("num", count.into()), ("type", self.type_name(type_id).into())])
            }
            Step::SetChooseTries(_)
            | Step::SetChooseleafTries(_)
            | Step::SetMsrDescents(_)
            | Step::SetMsrCollisionTries(_) => {
                let (op, num) = step.as_setting().unwrap_or_default();
                json!({"op": op, "num": num})
            }
            // Ceph's dump has no word for the remaining ones.
            _ => {
                let (opcode, first, second) = step.number();
                json!({"opcode": opcode, "arg1": first, "arg2": second})
            }
        }
    }

    /// The tunables, with what Ceph adds to help a reader.
    fn tunables_json(&self) -> Value {
        let tunables = *self.tunables();
        let mut fields = Map::new();
        let msr = [tunables.msr_descents, tunables.msr_collision_tries] != [Tunables::ARGONAUT.msr_descents; 2];
        for (name, value) in tunables.named() {
            if msr || !name.starts_with("msr_") {
                fields.insert(name.to_owned(), value.into());
            }
        }
        let plain = Tunables { msr_descents: 100, msr_collision_tries: 100, ..tunables };
        let profiles = ["jewel", "hammer", "firefly", "bobtail", "argonaut"];
        let profile = profiles.into_iter().find(|name| Tunables::profile(name) == Some(plain)).unwrap_or("unknown");
        let steps = || self.rules().iter().flat_map(|rule| &rule.steps);
        let tries = [tunables.choose_local_tries, tunables.choose_local_fallback_tries, tunables.choose_total_tries];
        let tunables1 = tries != [2, 5, 19];
        let tunables2 = tunables.chooseleaf_descend_once != 0;
        let tunables3 = tunables.chooseleaf_vary_r != 0;
        let tunables5 = tunables.chooseleaf_stable != 0;
        let rules2 = steps().any(|step| {
            let indep = matches!(step, Step::Choose(Choose { firstn: false, .. }));
            indep || matches!(step, Step::SetChooseTries(_) | Step::SetChooseleafTries(_))
        });
        let rules3 = steps().any(|step| matches!(step, Step::SetChooseleafVaryR(_)));
        let rules5 = steps().any(|step| matches!(step, Step::SetChooseleafStable(_)));
        let buckets4 = self.buckets().iter().any(|bucket| bucket.kind() == BucketKind::Straw2);
        let version = match () {
            () if rules5 || tunables5 => "jewel",
            () if buckets4 => "hammer",
            () if tunables3 => "firefly",
            () if tunables2 || tunables1 => "bobtail",
            () => "argonaut",
        };
        fields.insert("profile".to_owned(), profile.into());
        fields.insert("optimal_tunables".to_owned(), u8::from(profile == "jewel").into());
        fields.insert("legacy_tunables".to_owned(), u8::from(profile == "argonaut").into());
        fields.insert("minimum_required_version".to_owned(), version.into());
        for (name, value) in [
            ("require_feature_tunables", tunables1),
            ("require_feature_tunables2", tunables2),
            ("has_v2_rules", rules2),
            ("require_feature_tunables3", tunables3),
            ("has_v3_rules", rules3),
            ("has_v4_buckets", buckets4),
            ("require_feature_tunables5", tunables5),
            ("has_v5_rules", rules5),
        ] {
            fields.insert(name.to_owned(), u8::from(value).into());
        }
        fields.into()
    }

    fn choose_args_json(&self) -> Value {
        let mut all = Map::new();
        for (key, sets) in self.weight_sets() {
            let mut list = Vec::new();
            for (bucket, arguments) in sets.iter() {
                let straw2 = self.bucket(bucket).is_some_and(|bucket| bucket.kind() == BucketKind::Straw2);
                let ids = arguments.ids.as_deref().unwrap_or_default();
                if !straw2 || (arguments.weights.is_empty() && ids.is_empty()) {
                    continue;
                }
                let mut fields = vec![("bucket_id", json!(bucket))];
                if !arguments.weights.is_empty() {
                    let row = |set: &crate::map::bucket::Straw2Weights| -> Value {
                        set.weights.iter().map(|&weight| decimal(weight)).collect::<Vec<_>>().into()
                    };
                    fields.push(("weight_set", arguments.weights.iter().map(row).collect::<Vec<_>>().into()));
                }
                if !ids.is_empty() {
                    fields.push(("ids", json!(ids)));
                }
                list.push(object(fields));
            }
            all.insert(key.to_string(), list.into());
        }
        all.into()
    }
}

/// A weight as a decimal that reads back exactly.
fn decimal(weight: u32) -> Value {
    let exact = f64::from(weight) / 65536.0;
    if exact.fract() == 0.0 { (exact as u64).into() } else { exact.into() }
}

/// An object of these fields.
fn object<'f>(fields: impl IntoIterator<Item = (&'f str, Value)>) -> Value {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}
