//! Writing a map as text, line for line as `crushtool --decompile` does.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use crate::formats::lexer::weight_of;
use crate::map::CrushMap;
use crate::map::bucket::{Bucket, BucketKind};
use crate::map::rule::{Rule, Step};
use crate::map::tunables::Tunables;

/// A weight, 16.16 fixed point, with three digits as `crushtool` rounds it: by way of single precision, halves to even.
struct Rounded(u32);

impl fmt::Display for Rounded {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Up to 2^32, which single precision rounds the largest weights to, fits 64 bits.
        let single = f64::from(self.0 as f32) as u64;
        let (whole, rest) = (single * 1000 / 65536, single * 1000 % 65536);
        let thousandths = whole + u64::from(rest > 32768 || (rest == 32768 && whole % 2 == 1));
        write!(out, "{}.{:03}", thousandths / 1000, thousandths % 1000)
    }
}

/// A weight with `crushtool`'s three digits where they read back as it is, else with all its digits.
struct Exact(u32);

impl fmt::Display for Exact {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounded = Rounded(self.0).to_string();
        if weight_of(&rounded) == Some(self.0) {
            return out.write_str(&rounded);
        }
        write!(out, "{}", f64::from(self.0) / 65536.0)
    }
}

impl CrushMap {
    /// Writes the map in the text form of `crushtool --decompile`.
    ///
    /// The text is `crushtool`'s own, byte for byte, except that a weight that three digits would change gets all its digits:
    /// the text reads back as the same map. What the text form has no words for is left out: stored straw lengths and bucket
    /// weights, the numbers of classes, and unused slots.
    ///
    /// # Returns
    /// The text.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap, Tunables};
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

    fn write(&self, text: &mut String) -> fmt::Result {
        // A tunable that a text leaves out has the value of the oldest release.
        for ((name, value), (_, oldest)) in self.tunables().named().into_iter().zip(Tunables::ARGONAUT.named()) {
            if value != oldest {
                writeln!(text, "tunable {name} {value}")?;
            }
        }
        writeln!(text, "\n# devices")?;
        self.write_devices(text)?;
        writeln!(text, "\n# types")?;
        if !self.types().is_empty() && !self.types().contains_key(&0) {
            writeln!(text, "type 0 osd")?;
        }
        for (id, name) in self.types() {
            writeln!(text, "type {id} {name}")?;
        }
        writeln!(text, "\n# buckets")?;
        for bucket in self.children_first() {
            if !bucket.name().contains('~') {
                self.write_bucket(text, bucket)?;
            }
        }
        writeln!(text, "\n# rules")?;
        for rule in self.rules_by_id() {
            self.write_rule(text, rule)?;
        }
        if !self.weight_sets().is_empty() {
            writeln!(text, "\n# choose_args")?;
            self.write_choose_args(text)?;
        }
        writeln!(text, "\n# end crush map")
    }

    /// Every device that has a name or that a bucket holds, since an item must be declared to be read.
    fn write_devices(&self, text: &mut String) -> fmt::Result {
        let named = self.parts().names.range(0..).map(|(&device, _)| device);
        let devices: BTreeSet<i32> = named.chain(self.devices()).collect();
        for device in devices {
            write!(text, "device {device} {}", self.device_name(device))?;
            match self.device_class(device) {
                Some(class) => writeln!(text, " class {class}")?,
                None => writeln!(text)?,
            }
        }
        Ok(())
    }

    /// Every bucket after those it holds, from id -1 down.
    fn children_first(&self) -> Vec<&Bucket> {
        let mut ordered = Vec::with_capacity(self.buckets().len());
        let mut seen = BTreeSet::new();
        for root in self.buckets() {
            // Not by recursion: a map may be deeper than the call stack.
            let mut path = if seen.insert(root.id()) { vec![(root, 0)] } else { Vec::new() };
            while let Some((bucket, next)) = path.last_mut() {
                match bucket.items().get(*next) {
                    Some(&item) => {
                        *next += 1;
                        if let Some(child) = self.bucket(item).filter(|child| seen.insert(child.id())) {
                            path.push((child, 0));
                        }
                    }
                    None => {
                        ordered.push(*bucket);
                        path.pop();
                    }
                }
            }
        }
        ordered
    }

    /// The rules by id, which is the order of the slots they have in a cluster.
    pub(crate) fn rules_by_id(&self) -> Vec<&Rule> {
        let mut rules: Vec<&Rule> = self.rules().iter().collect();
        rules.sort_by_key(|rule| rule.id);
        rules
    }

    fn write_bucket(&self, text: &mut String, bucket: &Bucket) -> fmt::Result {
        let warning = "\t\t# do not change unnecessarily";
        let (id, size) = (bucket.id(), bucket.items().len());
        writeln!(text, "{} {} {{\n\tid {id}{warning}", self.type_name(bucket.type_id()), bucket.name())?;
        let classes = &self.parts().classes;
        for (class, shadow) in classes.shadows.get(&id).into_iter().flatten() {
            if let Some(class) = classes.names.get(class) {
                writeln!(text, "\tid {shadow} class {class}{warning}")?;
            }
        }
        let (note, positions) = match bucket.kind() {
            BucketKind::Uniform => (format!("\t# do not change bucket size ({size}) unnecessarily"), true),
            BucketKind::List => ("\t# add new items at the end; do not change order unnecessarily".to_owned(), false),
            BucketKind::Tree => ("\t# do not change pos for existing items unnecessarily".to_owned(), true),
            _ => (String::new(), false),
        };
        writeln!(text, "\t# weight {}\n\talg {}{note}", Rounded(bucket.weight()), bucket.kind().name())?;
        writeln!(text, "\thash 0\t# rjenkins1")?;
        for (position, (&item, &weight)) in bucket.items().iter().zip(bucket.weights()).enumerate() {
            write!(text, "\titem {} weight {}", self.item_name(item), Exact(weight))?;
            if positions {
                write!(text, " pos {position}")?;
            }
            writeln!(text)?;
        }
        writeln!(text, "}}")
    }

    fn write_rule(&self, text: &mut String, rule: &Rule) -> fmt::Result {
        let name = if self.parts().nameless.contains(&rule.id) { "" } else { &rule.name };
        writeln!(text, "rule {name} {{\n\tid {}", rule.id)?;
        if rule.ruleset != rule.id {
            let warning = "this will not recompile to the same map";
            writeln!(text, "\t# WARNING: ruleset {} != id {}; {warning}", rule.ruleset, rule.id)?;
        }
        match rule.pool_kind {
            1 => writeln!(text, "\ttype replicated")?,
            3 => writeln!(text, "\ttype erasure")?,
            4 => writeln!(text, "\ttype msr_firstn")?,
            5 => writeln!(text, "\ttype msr_indep")?,
            other => writeln!(text, "\ttype {other}")?,
        }
        writeln!(text, "\tmin_size {}\n\tmax_size {}", rule.min_size, rule.max_size)?;
        for &step in &rule.steps {
            self.write_step(text, step)?;
        }
        writeln!(text, "}}")
    }

    fn write_step(&self, text: &mut String, step: Step) -> fmt::Result {
        match step {
            Step::Take(item) => {
                let classes = &self.parts().classes;
                let original = classes.original(item);
                match original.and_then(|(bucket, class)| Some((bucket, classes.names.get(&class)?))) {
                    Some((bucket, class)) => {
                        writeln!(text, "\tstep take {} class {class}", self.item_name(bucket))
                    }
                    None => writeln!(text, "\tstep take {}", self.item_name(item)),
                }
            }
            Step::Choose(choose) => {
                let leaf = if choose.leaf { "chooseleaf" } else { "choose" };
                let mode = if choose.firstn { "firstn" } else { "indep" };
                let type_name = self.type_name(choose.type_id);
                writeln!(text, "\tstep {leaf} {mode} {} type {type_name}", choose.count)
            }
            Step::ChooseMsr { count, type_id } => {
                writeln!(text, "\tstep choosemsr {count} type {}", self.type_name(type_id))
            }
            Step::Emit => writeln!(text, "\tstep emit"),
            Step::Noop => writeln!(text, "\tstep noop"),
            _ => match step.as_setting() {
                Some((name, value)) => writeln!(text, "\tstep {name} {value}"),
                None => Ok(()),
            },
        }
    }

    fn write_choose_args(&self, text: &mut String) -> fmt::Result {
        for (&key, sets) in self.weight_sets() {
            writeln!(text, "choose_args {} {{", key as u64)?;
            for (bucket, arguments) in sets.iter() {
                let straw2 = self.bucket(bucket).is_some_and(|bucket| bucket.kind() == BucketKind::Straw2);
                // Ceph forgets the stand-ins of other kinds as soon as it reads them; nothing draws by them.
                if !straw2 || (arguments.weights.is_empty() && arguments.ids.as_ref().is_none_or(Vec::is_empty)) {
                    continue;
                }
                writeln!(text, "  {{\n    bucket_id {bucket}")?;
                if !arguments.weights.is_empty() {
                    writeln!(text, "    weight_set [")?;
                    for set in &arguments.weights {
                        write!(text, "      [ ")?;
                        for &weight in &set.weights {
                            write!(text, "{} ", Exact(weight))?;
                        }
                        writeln!(text, "]")?;
                    }
                    writeln!(text, "    ]")?;
                }
                if let Some(ids) = arguments.ids.as_ref().filter(|ids| !ids.is_empty()) {
                    write!(text, "    ids [ ")?;
                    for id in ids {
                        write!(text, "{id} ")?;
                    }
                    writeln!(text, "]")?;
                }
                writeln!(text, "  }}")?;
            }
            writeln!(text, "}}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rule: a weight that three digits give back is written with three, any other in full, and both read as they were.
    // 0.1 is 6553.6 in 16.16, so 6553 reads back from 0.100 (6553.6 truncated) and 6554 does not.
    #[test]
    fn weights_read_back() {
        assert_eq!(Exact(6553).to_string(), "0.100");
        assert_eq!(Exact(6554).to_string(), "0.100006103515625");
        for weight in (0..u32::MAX).step_by(99_991).chain([u32::MAX, u32::MAX - 1, 1, 65535, 1 << 24, (1 << 24) + 1]) {
            assert_eq!(weight_of(&Exact(weight).to_string()), Some(weight));
        }
    }

    // Rule: three digits round halves to even, as the C library does: 0.0625 is 62.5 thousandths, 0.1875 is 187.5.
    #[test]
    fn halves_go_to_even() {
        assert_eq!(Rounded(65536 / 16).to_string(), "0.062");
        assert_eq!(Rounded(3 * 65536 / 16).to_string(), "0.188");
    }
}
