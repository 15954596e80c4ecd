//! Writing a map in binary, byte for byte as `crushtool` does.

use crate::formats::binary::{MAGIC, Part};
use crate::map::CrushMap;
use crate::map::bucket::{Bucket, BucketKind};
use crate::map::error::MapError;
use crate::map::rule::{Rule, Step};
use crate::map::tunables::Tunables;

/// How far a map goes that did not come in binary: all that Ceph 16 writes.
const DEFAULT_PARTS: u8 = Part::ChooseArgs as u8;

impl CrushMap {
    /// Writes the map in the binary form that clusters keep and `crushtool` reads.
    ///
    /// A map read from binary goes as far as its source did, or further if it has since come to hold more.
    ///
    /// # Returns
    /// The bytes.
    ///
    /// # Errors
    /// The map holds what the form cannot: a tree of more than 64 items.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap, Tunables};
    /// let map = CrushMap::flat(3, BucketKind::Straw2, Tunables::JEWEL);
    /// let again = CrushMap::from_bytes(&map.to_bytes().unwrap()).unwrap();
    /// assert_eq!(again.to_text(), map.to_text());
    /// ```
    pub fn to_bytes(&self) -> Result<Vec<u8>, MapError> {
        let mut out = Vec::new();
        put(&mut out, MAGIC);
        let extent = &self.parts().extent;
        let slots = slots_for(self.parts().slots.len() as u32, extent.max_buckets);
        let rules = self.rules_by_id();
        let rule_slots = rules.last().map_or(0, |rule| rule.id + 1).max(extent.max_rules);
        put(&mut out, slots);
        put(&mut out, rule_slots);
        put(&mut out, self.max_device() as u32);
        for slot in 0..slots {
            match self.bucket(!(slot as i32)) {
                Some(bucket) => put_bucket(&mut out, bucket)?,
                None => put(&mut out, 0),
            }
        }
        let mut next = rules.iter().peekable();
        for slot in 0..rule_slots {
            match next.next_if(|rule| rule.id == slot) {
                Some(rule) => put_rule(&mut out, rule),
                None => put(&mut out, 0),
            }
        }
        put_names(&mut out, self.types().iter().map(|(&id, name)| (id, name.as_str())));
        put_names(&mut out, self.parts().names.iter().map(|(&id, name)| (id, name.as_str())));
        let named = rules.iter().filter(|rule| !self.parts().nameless.contains(&rule.id));
        let named: Vec<_> = named.map(|rule| (rule.id as i32, rule.name.as_str())).collect();
        put_names(&mut out, named.into_iter());
        let parts = extent.parts.unwrap_or(DEFAULT_PARTS);
        self.put_parts(&mut out, parts.max(self.needed_parts()));
        out.extend_from_slice(&extent.trailing);
        Ok(out)
    }

    /// The last optional part that says something else than its absence would.
    fn needed_parts(&self) -> u8 {
        let (now, absent) = (self.tunables(), Tunables::ARGONAUT);
        let is_msr = |step: &Step| {
            matches!(step, Step::ChooseMsr { .. } | Step::SetMsrDescents(_) | Step::SetMsrCollisionTries(_))
        };
        let msr = now.msr_descents != absent.msr_descents || now.msr_collision_tries != absent.msr_collision_tries;
        let tries = |tunables: &Tunables| {
            let Tunables { choose_local_tries, choose_local_fallback_tries, choose_total_tries, .. } = *tunables;
            (choose_local_tries, choose_local_fallback_tries, choose_total_tries)
        };
        let differs = [
            (Part::Msr, msr || self.rules().iter().any(|rule| rule.steps.iter().any(is_msr))),
            (Part::ChooseArgs, !self.weight_sets().is_empty()),
            (Part::Classes, self.parts().classes != crate::map::class::Classes::default()),
            (Part::Stable, now.chooseleaf_stable != absent.chooseleaf_stable),
            (Part::AllowedAlgs, now.allowed_bucket_algs != absent.allowed_bucket_algs),
            (Part::StrawCalc, now.straw_calc_version != absent.straw_calc_version),
            (Part::VaryR, now.chooseleaf_vary_r != absent.chooseleaf_vary_r),
            (Part::DescendOnce, now.chooseleaf_descend_once != absent.chooseleaf_descend_once),
            (Part::Tries, tries(now) != tries(&absent)),
        ];
        differs.into_iter().find(|entry| entry.1).map_or(0, |entry| entry.0 as u8)
    }

    /// Writes the optional parts up to the last that is wanted.
    fn put_parts(&self, out: &mut Vec<u8>, last: u8) {
        let tunables = self.tunables();
        for part in 1..=last {
            match part {
                1 => {
                    put(out, tunables.choose_local_tries);
                    put(out, tunables.choose_local_fallback_tries);
                    put(out, tunables.choose_total_tries);
                }
                2 => put(out, tunables.chooseleaf_descend_once),
                3 => out.push(tunables.chooseleaf_vary_r as u8),
                4 => out.push(tunables.straw_calc_version as u8),
                5 => put(out, tunables.allowed_bucket_algs),
                6 => out.push(tunables.chooseleaf_stable as u8),
                7 => {
                    let classes = &self.parts().classes;
                    put_pairs(out, classes.of_item.len(), classes.of_item.iter());
                    put_names(out, classes.names.iter().map(|(&id, name)| (id, name.as_str())));
                    put(out, classes.shadows.len() as u32);
                    for (&bucket, shadows) in &classes.shadows {
                        put(out, bucket as u32);
                        put_pairs(out, shadows.len(), shadows.iter());
                    }
                }
                8 => self.put_choose_args(out),
                _ => {
                    put(out, tunables.msr_descents);
                    put(out, tunables.msr_collision_tries);
                }
            }
        }
    }

    fn put_choose_args(&self, out: &mut Vec<u8>) {
        put(out, self.weight_sets().len() as u32);
        if self.parts().extent.has_wide_count {
            put(out, 0);
        }
        for (key, sets) in self.weight_sets() {
            out.extend_from_slice(&key.to_le_bytes());
            put(out, sets.iter().count() as u32);
            for (bucket, arguments) in sets.iter() {
                put(out, !bucket as u32);
                put(out, arguments.weights.len() as u32);
                for set in &arguments.weights {
                    put_all(out, &set.weights);
                }
                let ids = arguments.ids.as_deref().unwrap_or_default();
                put(out, ids.len() as u32);
                for &id in ids {
                    put(out, id as u32);
                }
            }
        }
    }
}

/// The slots for buckets: as many as the source has, doubled from eight until all ids fit, as Ceph's builder grows them.
fn slots_for(used: u32, source: u32) -> u32 {
    let mut slots = source;
    while slots < used {
        slots = if slots == 0 { 8 } else { slots * 2 };
    }
    slots
}

fn put(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// A count, then the numbers.
fn put_all(out: &mut Vec<u8>, numbers: &[u32]) {
    put(out, numbers.len() as u32);
    put_each(out, numbers);
}

fn put_each(out: &mut Vec<u8>, numbers: &[u32]) {
    for &number in numbers {
        put(out, number);
    }
}

fn put_pairs<'a>(out: &mut Vec<u8>, count: usize, pairs: impl Iterator<Item = (&'a i32, &'a i32)>) {
    put(out, count as u32);
    for (&key, &value) in pairs {
        put(out, key as u32);
        put(out, value as u32);
    }
}

fn put_names<'a>(out: &mut Vec<u8>, names: impl Iterator<Item = (i32, &'a str)>) {
    let start = out.len();
    put(out, 0);
    let mut count = 0u32;
    for (id, name) in names {
        put(out, id as u32);
        put(out, name.len() as u32);
        out.extend_from_slice(name.as_bytes());
        count += 1;
    }
    out[start..start + 4].copy_from_slice(&count.to_le_bytes());
}

fn put_bucket(out: &mut Vec<u8>, bucket: &Bucket) -> Result<(), MapError> {
    let alg = bucket.kind().number();
    put(out, alg);
    put(out, bucket.id() as u32);
    out.extend_from_slice(&(bucket.type_id() as u16).to_le_bytes());
    out.push(alg as u8);
    // The hash: rjenkins1.
    out.push(0);
    put(out, bucket.weight());
    put(out, bucket.items().len() as u32);
    for &item in bucket.items() {
        put(out, item as u32);
    }
    let numbers = bucket.stored().numbers.unwrap_or_default();
    match bucket.kind() {
        BucketKind::Uniform => put_each(out, &numbers),
        BucketKind::List | BucketKind::Straw => {
            for (&weight, &number) in bucket.weights().iter().zip(&numbers) {
                put(out, weight);
                put(out, number);
            }
        }
        BucketKind::Tree => {
            let Ok(count) = u8::try_from(numbers.len()) else {
                let field = format!("bucket {}: items", bucket.name());
                let rule = "a tree in a binary map has 64 items at most, since the number of its nodes is one byte";
                let remedy = "convert the bucket to straw2, or write the map as text or JSON";
                return Err(MapError::invalid(field, bucket.items().len(), rule, remedy));
            };
            out.push(count);
            put_each(out, &numbers);
        }
        BucketKind::Straw2 | BucketKind::Vring => put_each(out, bucket.weights()),
    }
    Ok(())
}

fn put_rule(out: &mut Vec<u8>, rule: &Rule) {
    put(out, 1);
    put(out, rule.steps.len() as u32);
    out.extend_from_slice(&[rule.ruleset as u8, rule.pool_kind, rule.min_size as u8, rule.max_size as u8]);
    for step in &rule.steps {
        let (number, first, second) = step.number();
        put(out, number);
        put(out, first as u32);
        put(out, second as u32);
    }
}
