//! Edits: another map with an item added, removed, moved or reweighted, exactly as `crushtool` and clusters do it.
//!
//! An edit changes the weights of all ancestors, recalculates straws, rebuilds the shadows of device classes and keeps
//! choose_args in step, each as Ceph's `CrushWrapper` does, since placement depends on every one of these numbers. A weight
//! is taken by way of single precision and truncated to 16.16 fixed point, as `crushtool` takes it from its command line.

mod arguments;
mod bucket;
mod location;
mod map;
mod reclassify;
mod recompute;
mod shadows;

use crate::map::CrushMap;
use crate::map::error::MapError;
use map::EditMap;

/// An item's location: pairs of a type's name and a bucket's name, in any order.
pub type Location<'l> = [(&'l str, &'l str)];

impl CrushMap {
    /// The map with a new device or bucket at a location, like `crushtool --add-item`.
    ///
    /// The item goes into the bucket of the lowest type that the location names. Buckets that do not exist yet are made on
    /// the way up, until one that exists takes the topmost of them; what the location names above that is not looked at.
    ///
    /// # Arguments
    /// * `id` - the device, from 0.
    /// * `weight` - its weight, usually its size in TiB; from 0 to below 32768.
    /// * `name` - its name.
    /// * `location` - where it goes.
    ///
    /// # Returns
    /// The other map.
    ///
    /// # Errors
    /// The name belongs to something else, the item is already there, or the location fits nothing.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap};
    /// let map = CrushMap::build(4, &[("host", BucketKind::Straw2, 2), ("root", BucketKind::Straw2, 0)]).unwrap();
    /// let more = map.with_item(4, 2.0, "osd.4", &[("host", "host2"), ("root", "root")]).unwrap();
    /// assert_eq!(more.ancestor(4, "host").map(|host| more.item_name(host)), Some("host2".to_owned()));
    /// assert_eq!(more.bucket(more.ancestor(4, "root").unwrap()).unwrap().weight(), 6 << 16);
    /// ```
    pub fn with_item(&self, id: i32, weight: f64, name: &str, location: &Location<'_>) -> Result<Self, MapError> {
        if id < 0 {
            let rule = "an item that is added is a device, whose id is zero or above";
            return Err(MapError::invalid("id", id, rule, "number it from 0"));
        }
        let mut map = EditMap::new(self);
        map.insert(id, fixed(name, weight)?, name, location, true)?;
        map.finish()
    }

    /// The map with a device at a location with a weight and a name, wherever it was before: `crushtool --update-item`.
    ///
    /// # Arguments
    /// As for [`CrushMap::with_item`].
    ///
    /// # Errors
    /// As for [`CrushMap::with_item`].
    pub fn with_item_updated(
        &self,
        id: i32,
        weight: f64,
        name: &str,
        location: &Location<'_>,
    ) -> Result<Self, MapError> {
        let mut map = EditMap::new(self);
        map.update(id, fixed(name, weight)?, name, location)?;
        map.finish()
    }

    /// The map without an item, like `crushtool --remove-item`.
    ///
    /// # Arguments
    /// * `name` - a device, or a bucket that is empty and that no rule takes.
    ///
    /// # Returns
    /// The other map. In a tree bucket device 0 takes the place of an item from the middle, with weight zero, as in Ceph.
    ///
    /// # Errors
    /// There is no such item, or the bucket is in use.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap};
    /// let map = CrushMap::build(4, &[("host", BucketKind::Straw2, 2), ("root", BucketKind::Straw2, 0)]).unwrap();
    /// assert_eq!(map.without_item("osd.3").unwrap().devices(), [0, 1, 2]);
    /// assert!(map.without_item("host0").unwrap_err().to_string().contains("2 items"));
    /// ```
    pub fn without_item(&self, name: &str) -> Result<Self, MapError> {
        let mut map = EditMap::new(self);
        let id = map.id_of(name)?;
        map.remove(id, false)?;
        map.finish()
    }

    /// The map with a device or bucket at another location, with all it holds and its weight: `crushtool --move`.
    ///
    /// # Arguments
    /// * `name` - the device or bucket.
    /// * `location` - where it goes, as in [`CrushMap::with_item`].
    ///
    /// # Errors
    /// There is no such item, the location fits nothing, or a bucket would come to contain itself.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap};
    /// let map = CrushMap::build(4, &[("host", BucketKind::Straw2, 2), ("root", BucketKind::Straw2, 0)]).unwrap();
    /// let moved = map.moved("osd.0", &[("host", "host1")]).unwrap();
    /// assert_eq!(moved.bucket(-2).unwrap().items(), [2, 3, 0]);
    /// ```
    pub fn moved(&self, name: &str, location: &Location<'_>) -> Result<Self, MapError> {
        let mut map = EditMap::new(self);
        let id = map.id_of(name)?;
        map.relocate(id, name, location)?;
        map.finish()
    }

    /// The map with another name of a bucket, which places nothing elsewhere: `ceph osd crush rename-bucket`.
    ///
    /// # Errors
    /// There is no such bucket, or the name is taken or no name.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap};
    /// let map = CrushMap::build(4, &[("host", BucketKind::Straw2, 2), ("root", BucketKind::Straw2, 0)]).unwrap();
    /// let renamed = map.renamed("host1", "node1").unwrap();
    /// assert_eq!(renamed.ancestor(3, "host").map(|host| renamed.item_name(host)), Some("node1".to_owned()));
    /// ```
    pub fn renamed(&self, bucket: &str, name: &str) -> Result<Self, MapError> {
        let mut map = EditMap::new(self);
        map.rename(bucket, name)?;
        map.finish()
    }

    /// The map with another weight of an item wherever it stands, and of all above it: `crushtool --reweight-item`.
    ///
    /// # Arguments
    /// * `name` - a device or bucket that some bucket holds.
    /// * `weight` - its weight, from 0 to below 32768.
    ///
    /// # Errors
    /// No bucket holds such an item.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap};
    /// let map = CrushMap::build(4, &[("host", BucketKind::Straw2, 2), ("root", BucketKind::Straw2, 0)]).unwrap();
    /// let heavier = map.reweighted("osd.0", 2.5).unwrap();
    /// assert_eq!(heavier.bucket(-1).unwrap().weights(), [5 << 15, 1 << 16]);
    /// ```
    pub fn reweighted(&self, name: &str, weight: f64) -> Result<Self, MapError> {
        let mut map = EditMap::new(self);
        let id = map.id_of(name)?;
        if map.set_weight(id, fixed(name, weight)?, true)? == 0 {
            let rule = "an item with a weight stands in some bucket";
            return Err(MapError::invalid("item", name, rule, "add the item first"));
        }
        map.finish()
    }

    /// The map with one weight of every device below a bucket, and the weights of all above: `ceph osd crush reweight-subtree`.
    ///
    /// # Arguments
    /// * `name` - the bucket.
    /// * `weight` - the weight of each device, from 0 to below 32768.
    ///
    /// # Errors
    /// There is no such bucket.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap};
    /// let map = CrushMap::build(4, &[("host", BucketKind::Straw2, 2), ("root", BucketKind::Straw2, 0)]).unwrap();
    /// let heavier = map.subtree_reweighted("host1", 2.5).unwrap();
    /// assert_eq!(heavier.bucket(heavier.ancestor(0, "root").unwrap()).unwrap().weight(), 7 << 16);
    /// ```
    pub fn subtree_reweighted(&self, name: &str, weight: f64) -> Result<Self, MapError> {
        let mut map = EditMap::new(self);
        let id = map.id_of(name)?;
        if self.bucket(id).is_none() {
            let rule = "a bucket's devices are reweighted together";
            return Err(MapError::invalid("item", name, rule, "name a bucket, or reweight the device"));
        }
        let weight = fixed(name, weight)?;
        for device in self.below(id, false).into_iter().filter(|&item| item >= 0) {
            map.set_weight(device, weight, true)?;
        }
        map.rebuild_shadows();
        map.finish()
    }

    /// The map with another class of a device, and the shadows of that class: `ceph osd crush set-device-class`.
    ///
    /// # Arguments
    /// * `name` - the device.
    /// * `class` - its class; one that the map does not have yet is made.
    ///
    /// # Errors
    /// There is no such device, or a class cannot have such a name.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap};
    /// let map = CrushMap::build(4, &[("host", BucketKind::Straw2, 2), ("root", BucketKind::Straw2, 0)]).unwrap();
    /// let fast = map.with_device_class("osd.3", "ssd").unwrap();
    /// assert_eq!(fast.device_class(3), Some("ssd"));
    /// assert!(fast.buckets().iter().any(|bucket| bucket.name() == "host1~ssd" && bucket.items() == [3]));
    /// ```
    pub fn with_device_class(&self, name: &str, class: &str) -> Result<Self, MapError> {
        location::check_name("class", class)?;
        let mut map = EditMap::new(self);
        let id = map.id_of(name)?;
        if id < 0 {
            let rule = "devices have classes, and buckets have those of their devices";
            return Err(MapError::invalid("item", name, rule, "name a device"));
        }
        let number = map.draft.classes.number(class);
        map.draft.classes.of_item.insert(id, number);
        map.rebuild_shadows();
        map.finish()
    }

    /// The map with every bucket's weight summed anew from the devices up, like `crushtool --reweight`.
    ///
    /// # Errors
    /// A sum leaves 32 bits.
    pub fn recomputed(&self) -> Result<Self, MapError> {
        let mut map = EditMap::new(self);
        map.recompute()?;
        map.finish()
    }
}

/// A weight as 16.16 fixed point.
fn fixed(name: &str, weight: f64) -> Result<u32, MapError> {
    // Ceph keeps a weight given on the command line in a signed number of 32 bits.
    let single = weight as f32;
    if (0.0..32768.0).contains(&single) {
        return Ok((single * 65536.0) as u32);
    }
    let rule = "a weight is from 0 to below 32768";
    let remedy = if single >= 32768.0 { "give weights in a larger unit" } else { "give 0 or more" };
    Err(MapError::invalid(format!("item {name}: weight"), weight, rule, remedy))
}
