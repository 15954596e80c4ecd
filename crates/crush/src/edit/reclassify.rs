//! Legacy trees of one kind of device each turned into device classes, as `crushtool --reclassify` does it.
//!
//! A rule that took a tree takes a shadow afterwards, under the tree's own ids: straw2 hashes ids, so what the rule places stays.

use std::collections::BTreeMap;

use super::bucket::EditBucket;
use super::location::{check_name, single};
use super::map::EditMap;
use crate::map::CrushMap;
use crate::map::error::MapError;
use crate::map::rule::Step;

impl CrushMap {
    /// The map with trees turned into classes: `crushtool --reclassify`, which goes by classes, roots and buckets, each by name.
    ///
    /// # Arguments
    /// * `classes` - buckets, each with the class that all devices below it get first (`--set-subtree-class`).
    /// * `roots` - buckets, each with the class that rules take of it from now on (`--reclassify-root`).
    /// * `buckets` - patterns such as `%-ssd`, `ssd-%` or a whole name; the class; and the bucket that the whole name is merged into,
    ///   and that gets those buckets that have no other place (`--reclassify-bucket`).
    ///
    /// # Errors
    /// A name or a pattern fits nothing, two patterns fit one bucket, or a rule takes a class of such a root already.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap};
    /// let map = CrushMap::build(4, &[("host", BucketKind::Straw2, 2), ("root", BucketKind::Straw2, 0)]).unwrap();
    /// let classes = map.reclassified(&[("root", "hdd")], &[("root", "hdd")], &[]).unwrap();
    /// assert_eq!(classes.item_name(map.ancestor(0, "root").unwrap()), "root~hdd");
    /// ```
    pub fn reclassified(
        &self,
        classes: &[(&str, &str)],
        roots: &[(&str, &str)],
        buckets: &[(&str, &str, &str)],
    ) -> Result<Self, MapError> {
        let mut map = EditMap::new(self);
        let (mut classes, mut roots, mut buckets) = (classes.to_vec(), roots.to_vec(), buckets.to_vec());
        classes.sort_unstable();
        roots.sort_unstable();
        buckets.sort_unstable();
        if let Some(pair) = classes.windows(2).chain(roots.windows(2)).find(|pair| pair[0].0 == pair[1].0) {
            let rule = format!("it is to have the classes {} and {}", pair[0].1, pair[1].1);
            return refuse("reclassify", pair[0].0, rule, "give it one class");
        }
        for (name, class) in classes {
            check_name("class", class)?;
            let id = map.bucket_named(name)?;
            let number = map.draft.classes.number(class);
            let below = self.below(id, false).into_iter().filter(|&item| item >= 0);
            map.draft.classes.of_item.extend(below.map(|device| (device, number)));
        }
        for (root, class) in roots {
            map.reclassify_root(root, class)?;
        }
        map.merge_buckets(&buckets)?;
        map.rebuild_shadows();
        map.finish()
    }
}

/// A bucket that becomes a shadow.
struct Merged {
    base: i32,
    class: i32,
    name: String,
}

fn refuse<T>(field: &str, value: &str, rule: impl Into<String>, remedy: &str) -> Result<T, MapError> {
    Err(MapError::invalid(field, value, rule, remedy))
}

impl EditMap {
    /// Gives every bucket of a tree another id, and its own to its shadow of a class.
    fn reclassify_root(&mut self, root: &str, class: &str) -> Result<(), MapError> {
        check_name("class", class)?;
        let mut open = vec![self.bucket_named(root)?];
        for rule in &self.draft.rules {
            for step in &rule.rule.steps {
                let Step::Take(item) = *step else { continue };
                if self.draft.classes.original(item).is_some_and(|(original, _)| self.contains(open[0], original)) {
                    let rule = format!("rule {} takes a class of it, so that it is no legacy tree", rule.rule.name);
                    return refuse("reclassify-root", root, rule, "leave this root out");
                }
            }
        }
        let number = self.draft.classes.number(class);
        let mut renumbered = BTreeMap::new();
        while let Some(id) = open.pop() {
            let Some(mut bucket) = self.buckets.remove(&id) else { continue };
            if bucket.name.is_empty() || bucket.name.contains('~') {
                let rule = "each bucket of the tree has a name and stands in one place";
                return refuse("reclassify-root", root, rule, "correct the map first");
            }
            let shadow = EditBucket::made(id, format!("{}~{class}", bucket.name), bucket.type_id, bucket.kind, &[]);
            self.put(shadow);
            bucket.id = self.new_id();
            renumbered.insert(id, bucket.id);
            for sets in self.choose_args.values_mut() {
                if let Some(mut set) = sets.remove(&id) {
                    set.bucket = bucket.id;
                    sets.insert(bucket.id, set);
                }
            }
            self.draft.classes.shadows.remove(&id);
            self.draft.classes.shadows.insert(bucket.id, BTreeMap::from([(number, id)]));
            self.draft.classes.of_item.insert(id, number);
            open.extend(bucket.items.iter().map(|item| item.0).filter(|&item| item < 0));
            self.put(bucket);
        }
        for item in self.buckets.values_mut().flat_map(|bucket| &mut bucket.items) {
            item.0 = renumbered.get(&item.0).copied().unwrap_or(item.0);
        }
        self.rebuild_shadows();
        Ok(())
    }

    /// Merges the buckets that patterns fit into those of their base names, of which they become shadows.
    fn merge_buckets(&mut self, patterns: &[(&str, &str, &str)]) -> Result<(), MapError> {
        let (mut merged, mut created) = (BTreeMap::new(), BTreeMap::new());
        for &(pattern, class, parent) in patterns {
            self.match_buckets((pattern, class, parent), &mut merged, &mut created)?;
        }
        for holder in self.buckets.values().filter(|holder| !merged.contains_key(&holder.id)) {
            if let Some(item) = holder.items.iter().find(|item| merged.contains_key(&item.0)) {
                let inner = self.buckets.get(&item.0).map_or("", |bucket| bucket.name.as_str());
                let rule = format!("bucket {} holds it and is not reclassified", holder.name);
                return refuse("reclassify-bucket", inner, rule, "reclassify that bucket too");
            }
        }
        for (&id, Merged { base, .. }) in &merged {
            let items = self.buckets.get(&id).map(|bucket| bucket.items.clone()).unwrap_or_default();
            for (item, weight) in items {
                let Some(item) = (if item >= 0 { Some(item) } else { merged.get(&item).map(|inner| inner.base) })
                else {
                    let rule = "what it holds is reclassified with it";
                    return refuse("reclassify-bucket", &self.name_of(id), rule, "reclassify the buckets below it too");
                };
                if !self.contains(*base, item) {
                    let weight = self.buckets.get(&item).map_or(weight, |bucket| bucket.weight);
                    self.put_into(item, weight, *base)?;
                }
            }
        }
        for (id, parent) in created {
            if self.holders(id).into_iter().all(|holder| self.is_shadow(holder)) {
                let weight = self.buckets.get(&id).map_or(0, |bucket| bucket.weight);
                self.put_into(id, weight, parent)?;
            }
        }
        for (id, Merged { base, class, name }) in merged {
            self.draft.classes.shadows.entry(base).or_default().insert(class, id);
            self.draft.classes.of_item.insert(id, class);
            self.set_name(id, &name);
        }
        Ok(())
    }

    /// Finds the buckets that a pattern fits, and the buckets of their base names, which are made where there are none.
    fn match_buckets(
        &mut self,
        (pattern, class, parent): (&str, &str, &str),
        merged: &mut BTreeMap<i32, Merged>,
        created: &mut BTreeMap<i32, i32>,
    ) -> Result<(), MapError> {
        const FIELD: &str = "reclassify-bucket";
        check_name("class", class)?;
        let parent_id = self.bucket_named(parent)?;
        let number = self.draft.classes.number(class);
        let (mut next, mut count) = (-1, 0);
        // Buckets that are made on the way come into the range too, as in Ceph.
        while let Some((&id, bucket)) = self.buckets.range(..=next).next_back() {
            next = id - 1;
            let base = match (pattern.strip_prefix('%'), pattern.strip_suffix('%')) {
                (Some(suffix), _) => bucket.name.strip_suffix(suffix),
                (None, Some(prefix)) => bucket.name.strip_prefix(prefix),
                (None, None) => (pattern == bucket.name).then_some(parent),
            };
            let Some(base) = base.filter(|base| !base.is_empty() && !self.is_shadow(id)).map(str::to_owned) else {
                continue;
            };
            let bucket = bucket.clone();
            if merged.contains_key(&id) {
                return refuse(FIELD, &bucket.name, "one pattern fits it, and not another too", "correct the patterns");
            }
            let known = self.ids.get(&base).copied();
            if known == Some(id) || known.is_some_and(|known| !self.buckets.contains_key(&known)) {
                let rule = format!("it is merged into a bucket other than itself, and not into {base}");
                return refuse(FIELD, &bucket.name, rule, "correct the pattern");
            }
            let base_id = known.unwrap_or_else(|| {
                let made = self.new_id();
                self.put(EditBucket::made(made, base.clone(), bucket.type_id, bucket.kind, &[]));
                created.insert(made, parent_id);
                made
            });
            merged.insert(id, Merged { base: base_id, class: number, name: format!("{base}~{class}") });
            count += 1;
            let devices = bucket.items.iter().map(|item| item.0).filter(|&item| item >= 0);
            self.draft.classes.of_item.extend(devices.map(|device| (device, number)));
        }
        if count == 0 {
            let remedy = "correct it: %-ssd fits node1-ssd, ssd-% fits ssd-node1, and a name without % itself";
            return refuse(FIELD, pattern, "the pattern fits a bucket of the map", remedy);
        }
        Ok(())
    }

    /// Puts an item into a bucket too, whatever else holds it.
    fn put_into(&mut self, item: i32, weight: u32, bucket: i32) -> Result<(), MapError> {
        let type_id = self.buckets.get(&bucket).map_or(0, |bucket| bucket.type_id);
        let types = &self.draft.types;
        let type_name =
            types.iter().find(|entry| entry.id == type_id).map_or(String::new(), |entry| entry.name.clone());
        let (name, into) = (self.name_of(item), self.name_of(bucket));
        self.insert(item, single(weight), &name, &[(&type_name, &into)], true)
    }

    fn name_of(&self, item: i32) -> String {
        let named = |entry: &(&String, &i32)| *entry.1 == item;
        self.ids.iter().find(named).map_or(String::new(), |entry| entry.0.clone())
    }
}
