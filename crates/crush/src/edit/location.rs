//! Where items go, and how they leave.

use super::Location;
use super::arguments::positions;
use super::bucket::EditBucket;
use super::map::EditMap;
use crate::map::bucket::BucketKind;
use crate::map::draft::DraftArguments;
use crate::map::error::MapError;
use crate::map::place::Place;

/// A weight as it comes back from single precision, in which Ceph hands weights on when it moves items.
pub(super) fn single(weight: u32) -> u32 {
    (weight as f32) as u32
}

/// Names of items, types and buckets that Ceph accepts.
pub(super) fn check_name(field: &str, name: &str) -> Result<(), MapError> {
    let valid = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !name.is_empty() && name.chars().all(valid) {
        return Ok(());
    }
    let rule = "a name is made of letters, digits, '-', '_' and '.'";
    Err(MapError::invalid(field, format!("'{name}'"), rule, "rename it"))
}

impl EditMap {
    /// The types that a location names, lowest first, each with the name of the bucket.
    fn levels<'l>(&self, location: &Location<'l>) -> Result<Vec<(i32, &'l str)>, MapError> {
        let mut levels = Vec::new();
        for &(type_name, bucket) in location {
            check_name("location", bucket)?;
            let known = self.draft.types.iter().find(|entry| entry.name == type_name && entry.id > 0);
            let Some(known) = known else {
                let rule = "a location names types of the map";
                return Err(MapError::invalid("location", type_name, rule, "correct the type or declare it"));
            };
            if levels.iter().any(|level: &(i32, &str)| level.0 == known.id) {
                let rule = "a location names each type once";
                return Err(MapError::invalid("location", type_name, rule, "leave one of them out"));
            }
            levels.push((known.id, bucket));
        }
        levels.sort_unstable();
        if levels.is_empty() {
            let remedy = "say in which bucket, such as host=node1";
            return Err(MapError::invalid("location", "nothing", "an item stands somewhere", remedy));
        }
        Ok(levels)
    }

    /// Whether the bucket of the lowest type that a location names holds the item; its weight there.
    fn weight_at(&self, item: i32, levels: &[(i32, &str)]) -> Option<u32> {
        let bucket = self.buckets.get(self.ids.get(levels.first()?.1)?)?;
        bucket.position(item).map(|position| bucket.items[position].1)
    }

    /// Puts an item at a location, as `CrushWrapper::insert_item` does.
    ///
    /// # Arguments
    /// * `init_sets` - whether a device's stand-in weights begin as its weight.
    pub(super) fn insert(
        &mut self,
        item: i32,
        weight: u32,
        name: &str,
        location: &Location<'_>,
        init_sets: bool,
    ) -> Result<(), MapError> {
        check_name("item", name)?;
        let levels = self.levels(location)?;
        match self.ids.get(name) {
            Some(&id) if id != item => {
                let rule = format!("the name belongs to item {id}");
                return Err(MapError::invalid("item", name, rule, "choose another name"));
            }
            Some(_) => {}
            None => self.name_device(item, name),
        }
        let mut current = item;
        for &(type_id, bucket_name) in &levels {
            let Some(&bucket) = self.ids.get(bucket_name) else {
                current = self.make_bucket(type_id, bucket_name, current)?;
                continue;
            };
            self.check_target(bucket, bucket_name, type_id, current)?;
            // An item begins with weight zero and gets its own below. Ceph's tool fails where a uniform bucket's items weigh
            // something; here an item of that same weight may join them.
            let weighty = self.buckets.get(&bucket).is_some_and(EditBucket::is_uniform_with_weight);
            self.bucket_add(bucket, current, if weighty && current == item { weight } else { 0 })?;
            break;
        }
        let mut named: Vec<(&str, &str)> = location.to_vec();
        named.sort_unstable();
        let mut found = false;
        for (_, bucket_name) in named {
            if let Some(&bucket) = self.ids.get(bucket_name) {
                found |= self.set_weight_in(bucket, item, weight, item >= 0 && init_sets)?;
            }
        }
        if !found {
            let rule = "the location leads to a bucket of the map or to a new one";
            return Err(MapError::invalid("location", levels[0].1, rule, "name a bucket that can hold the item"));
        }
        self.rebuild_shadows();
        Ok(())
    }

    /// Makes a bucket of one item; returns its id.
    fn make_bucket(&mut self, type_id: i32, name: &str, item: i32) -> Result<i32, MapError> {
        let allowed = self.draft.tunables.allowed_bucket_algs;
        let kinds = [BucketKind::Straw2, BucketKind::Straw, BucketKind::Tree, BucketKind::List, BucketKind::Uniform];
        let Some(kind) = kinds.into_iter().find(|kind| allowed & (1 << kind.number()) != 0) else {
            let rule = "the map allows a kind of bucket for the one to be made";
            return Err(MapError::invalid("tunable allowed_bucket_algs", allowed, rule, "set it to 54"));
        };
        let id = self.free_id();
        self.put(EditBucket::made(id, name.to_owned(), type_id, kind, &[(item, 0)]));
        for sets in self.choose_args.values_mut() {
            let weights = vec![vec![0]; positions(sets)];
            sets.insert(id, DraftArguments { bucket: id, weights, ids: None, place: Place::Unknown });
        }
        Ok(id)
    }

    /// That an item can go into a bucket.
    fn check_target(&self, bucket: i32, name: &str, type_id: i32, item: i32) -> Result<(), MapError> {
        let refuse = |rule: &str, remedy: &str| Err(MapError::invalid("location", name, rule, remedy));
        let Some(target) = self.buckets.get(&bucket) else {
            return refuse("it is a device, and only buckets hold items", "name a bucket");
        };
        if self.contains(bucket, item) {
            return refuse("the item is in it already", "move the item, or update it, instead of adding it");
        }
        if target.type_id != type_id {
            return refuse("the bucket has another type", "name it with its own type");
        }
        if self.contains(item, bucket) {
            return refuse("a bucket must not contain itself, directly or through others", "choose another location");
        }
        Ok(())
    }

    /// Puts a device at a location with a weight and name, wherever it was: `CrushWrapper::update_item`.
    pub(super) fn update(
        &mut self,
        item: i32,
        weight: u32,
        name: &str,
        location: &Location<'_>,
    ) -> Result<(), MapError> {
        check_name("item", name)?;
        let levels = self.levels(location)?;
        let Some(old) = self.weight_at(item, &levels) else {
            if self.draft.devices.iter().any(|device| device.id == item) {
                self.remove(item, true)?;
            }
            return self.insert(item, weight, name, location, true);
        };
        if old != weight {
            for (_, bucket_name) in levels {
                if let Some(&bucket) = self.ids.get(bucket_name) {
                    self.set_weight_in(bucket, item, weight, true)?;
                }
            }
            self.rebuild_shadows();
        }
        match self.ids.get(name) {
            Some(&id) if id != item => {
                let rule = format!("the name belongs to item {id}");
                Err(MapError::invalid("item", name, rule, "choose another name"))
            }
            Some(_) => Ok(()),
            None => {
                self.name_device(item, name);
                Ok(())
            }
        }
    }

    /// Moves a device or a bucket.
    pub(super) fn relocate(&mut self, item: i32, name: &str, location: &Location<'_>) -> Result<(), MapError> {
        let levels = self.levels(location)?;
        if self.weight_at(item, &levels).is_some() {
            return Ok(());
        }
        if item >= 0 {
            let held = self.holders(item).first().and_then(|holder| self.buckets.get(holder));
            let weight = held.and_then(|bucket| Some(bucket.items[bucket.position(item)?].1));
            if weight.is_some() {
                self.remove(item, true)?;
            }
            return self.insert(item, single(weight.unwrap_or(0)), name, location, true);
        }
        let weight = self.buckets.get(&item).map_or(0, |bucket| bucket.weight);
        if let Some(parent) = self.holders(item).into_iter().find(|&holder| !self.is_shadow(holder)) {
            self.set_weight_in(parent, item, 0, true)?;
            if let Some(position) = self.buckets.get(&parent).and_then(|bucket| bucket.position(item)) {
                self.bucket_remove(parent, position);
            }
        }
        self.insert(item, single(weight), name, location, false)
    }

    /// Gives a bucket another name, and its shadows theirs.
    pub(super) fn rename(&mut self, bucket: &str, name: &str) -> Result<(), MapError> {
        check_name("bucket", name)?;
        let id = self.bucket_named(bucket)?;
        if self.ids.contains_key(name) {
            return Err(MapError::invalid("bucket", name, "an item has this name already", "choose another name"));
        }
        self.set_name(id, name);
        self.rebuild_shadows();
        Ok(())
    }

    /// Takes an item out of every bucket, and out of the map with its name: `CrushWrapper::remove_item`.
    ///
    /// # Arguments
    /// * `unlink_only` - whether a device keeps its class.
    pub(super) fn remove(&mut self, item: i32, unlink_only: bool) -> Result<(), MapError> {
        if let Some(bucket) = self.buckets.get(&item) {
            let field = format!("bucket {}", bucket.name);
            if !bucket.items.is_empty() {
                let held = format!("{} items", bucket.items.len());
                let rule = "only an empty bucket can be removed";
                return Err(MapError::invalid(field, held, rule, "remove or move its items first"));
            }
            if self.is_in_use(item) {
                let rule = "a bucket can be removed that no rule takes and that is no shadow of a class";
                return Err(MapError::invalid(field, "in use", rule, "change the rules first"));
            }
        }
        for holder in self.bucket_ids() {
            let mut position = 0;
            while let Some(entry) = self.buckets.get(&holder).and_then(|bucket| bucket.items.get(position)) {
                if entry.0 == item {
                    self.set_weight_in(holder, item, 0, true)?;
                    self.bucket_remove(holder, position);
                }
                position += 1;
            }
        }
        if !self.holders(item).is_empty() {
            return Ok(());
        }
        if item < 0 {
            self.drop_bucket(item);
            self.forget_other_kinds();
        } else {
            self.unname_device(item);
            if !unlink_only {
                self.draft.classes.of_item.remove(&item);
            }
        }
        self.rebuild_shadows();
        Ok(())
    }
}
