//! Writing a map as text that `crushtool --compile` reads.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::bucket::Bucket;
use super::map::CrushMap;
use super::rule::{Rule, Step};

impl CrushMap {
    /// Writes the map in the text form of `crushtool --decompile`, with weights in full.
    ///
    /// The text form rounds weights of 256 and above to single precision; all others read back as they are.
    ///
    /// # Returns
    /// The text.
    ///
    /// # Examples
    /// ```
    /// use resilver_placement::crush::{BucketKind, CrushMap, Tunables};
    /// let text = CrushMap::flat(3, BucketKind::Straw2, Tunables::JEWEL).to_text();
    /// assert_eq!(CrushMap::from_text(&text).unwrap().to_text(), text);
    /// ```
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::from("# begin crush map\n");
        // Writing to a string does not fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        for (name, value) in self.tunables().named() {
            writeln!(text, "tunable {name} {value}")?;
        }
        writeln!(text, "\n# devices")?;
        for device in self.devices() {
            write!(text, "device {device} {}", self.device_name(device))?;
            match self.device_class(device) {
                Some(class) => writeln!(text, " class {class}")?,
                None => writeln!(text)?,
            }
        }
        writeln!(text, "\n# types")?;
        for (id, name) in self.types() {
            writeln!(text, "type {id} {name}")?;
        }
        writeln!(text, "\n# buckets")?;
        let mut shadows: BTreeMap<&str, Vec<(&str, i32)>> = BTreeMap::new();
        for bucket in self.buckets() {
            if let Some((original, class)) = bucket.name().split_once('~') {
                shadows.entry(original).or_default().push((class, bucket.id()));
            }
        }
        // A bucket must follow its items; the order below a bucket is by depth.
        let mut ordered: Vec<&Bucket> = self.buckets().iter().filter(|bucket| !bucket.name().contains('~')).collect();
        let heights = self.heights();
        ordered.sort_by_key(|bucket| heights.get(&bucket.id()));
        for bucket in ordered {
            self.write_bucket(text, bucket, shadows.get(bucket.name()).map_or(&[], Vec::as_slice))?;
        }
        writeln!(text, "\n# rules")?;
        for rule in self.rules() {
            self.write_rule(text, rule)?;
        }
        self.write_choose_args(text)?;
        writeln!(text, "\n# end crush map")
    }

    /// The longest way down from each bucket.
    fn heights(&self) -> BTreeMap<i32, usize> {
        let mut heights: BTreeMap<i32, usize> = self.buckets().iter().map(|bucket| (bucket.id(), 0)).collect();
        // A map without cycles settles after as many rounds as it is deep.
        loop {
            let mut changed = false;
            for bucket in self.buckets() {
                let below = bucket.items().iter().filter_map(|item| heights.get(item)).max();
                let height = below.map_or(0, |below| below + 1);
                changed |= heights.insert(bucket.id(), height) != Some(height);
            }
            if !changed {
                return heights;
            }
        }
    }

    fn write_bucket(&self, text: &mut String, bucket: &Bucket, shadows: &[(&str, i32)]) -> std::fmt::Result {
        writeln!(text, "{} {} {{\n\tid {}", self.type_name(bucket.type_id()), bucket.name(), bucket.id())?;
        for (class, id) in shadows {
            writeln!(text, "\tid {id} class {class}")?;
        }
        writeln!(text, "\talg {}\n\thash 0\t# rjenkins1", bucket.kind().name())?;
        for (&item, &weight) in bucket.items().iter().zip(bucket.weights()) {
            writeln!(text, "\titem {} weight {}", self.item_name(item), f64::from(weight) / 65536.0)?;
        }
        writeln!(text, "}}")
    }

    fn write_rule(&self, text: &mut String, rule: &Rule) -> std::fmt::Result {
        writeln!(text, "rule {} {{\n\tid {}", rule.name, rule.id)?;
        match rule.pool_kind {
            1 => writeln!(text, "\ttype replicated")?,
            3 => writeln!(text, "\ttype erasure")?,
            other => writeln!(text, "\ttype {other}")?,
        }
        // A rule's sizes are bytes in Ceph's own form.
        writeln!(text, "\tmin_size {}\n\tmax_size {}", rule.min_size, rule.max_size.min(255))?;
        for &step in &rule.steps {
            match step {
                Step::Take(item) => match self.item_name(item).split_once('~') {
                    Some((root, class)) => writeln!(text, "\tstep take {root} class {class}")?,
                    None => writeln!(text, "\tstep take {}", self.item_name(item))?,
                },
                Step::Choose(choose) => {
                    let leaf = if choose.leaf { "chooseleaf" } else { "choose" };
                    let mode = if choose.firstn { "firstn" } else { "indep" };
                    let type_name = self.type_name(choose.type_id);
                    writeln!(text, "\tstep {leaf} {mode} {} type {type_name}", choose.count)?;
                }
                Step::ChooseMsr { count, type_id } => {
                    writeln!(text, "\tstep choosemsr {count} type {}", self.type_name(type_id))?;
                }
                Step::Emit => writeln!(text, "\tstep emit")?,
                Step::Noop => writeln!(text, "\tstep noop")?,
                _ => {
                    if let Some((name, value)) = step.as_setting() {
                        writeln!(text, "\tstep {name} {value}")?;
                    }
                }
            }
        }
        writeln!(text, "}}")
    }

    fn write_choose_args(&self, text: &mut String) -> std::fmt::Result {
        for (key, sets) in self.weight_sets() {
            writeln!(text, "\n# choose_args\nchoose_args {key} {{")?;
            for (bucket, arguments) in sets.iter() {
                writeln!(text, "  {{\n    bucket_id {bucket}")?;
                if !arguments.weights.is_empty() {
                    writeln!(text, "    weight_set [")?;
                    for set in &arguments.weights {
                        let row = set.weights.iter().map(|&weight| format!(" {}", f64::from(weight) / 65536.0));
                        writeln!(text, "      [{} ]", row.collect::<String>())?;
                    }
                    writeln!(text, "    ]")?;
                }
                if let Some(ids) = &arguments.ids {
                    writeln!(text, "    ids [{} ]", ids.iter().map(|id| format!(" {id}")).collect::<String>())?;
                }
                writeln!(text, "  }}")?;
            }
            writeln!(text, "}}")?;
        }
        Ok(())
    }
}
