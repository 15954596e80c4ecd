//! Maps from layers, like `crushtool --build`.

use crate::map::CrushMap;
use crate::map::bucket::BucketKind;
use crate::map::draft::{BUCKET_LIMIT, DEVICE_LIMIT, Draft};
use crate::map::error::MapError;
use crate::map::rule::{Choose, Rule, Step};
use crate::map::tunables::Tunables;

/// A weight of 1.
const ONE: u32 = 0x1_0000;

impl CrushMap {
    /// The map that `crushtool --build --num_osds N name kind size ...` makes.
    ///
    /// Devices `osd.0` on weigh 1 each. The first layer's buckets `host0` on hold `size` devices each, the next layer's hold
    /// `size` of those, and so on; a layer of size 0 is one bucket of everything, named as its layer. The rule
    /// `replicated_rule` takes the last layer's first bucket and spreads copies over buckets of the first layer.
    ///
    /// # Arguments
    /// * `devices` - how many devices, below 2^24.
    /// * `layers` - name, kind and size of each layer, from the devices up.
    ///
    /// # Returns
    /// The map, with tunables of the jewel profile.
    ///
    /// # Errors
    /// There are no devices or no layers, names clash, or weights or counts leave what a map can hold.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap};
    /// let straw2 = BucketKind::Straw2;
    /// let map = CrushMap::build(1024, &[("host", straw2, 16), ("rack", straw2, 8), ("row", straw2, 0)]).unwrap();
    /// assert_eq!(map.domains_of(map.rule_by_id(0).unwrap()), ("host".to_owned(), 64));
    /// ```
    pub fn build(devices: u32, layers: &[(&str, BucketKind, u32)]) -> Result<Self, MapError> {
        if devices == 0 || devices >= DEVICE_LIMIT as u32 {
            let rule = format!("a map that is built has from 1 to {} devices", DEVICE_LIMIT - 1);
            return Err(MapError::invalid("devices", devices, rule, "give another number"));
        }
        let Some(&(top, _, top_size)) = layers.last() else {
            let rule = "a map that is built has one layer or more";
            return Err(MapError::invalid("layers", "none", rule, "give a layer, such as root straw2 0"));
        };
        let mut draft = Draft::new();
        draft.tunables = Tunables::JEWEL;
        draft.add_type(0, "osd");
        let mut lower: Vec<(i32, u32)> = Vec::new();
        for id in 0..devices as i32 {
            draft.add_device(id, format!("osd.{id}"));
            lower.push((id, ONE));
        }
        for (&(name, kind, size), type_id) in layers.iter().zip(1..) {
            draft.add_type(type_id, name);
            let share = if size == 0 { lower.len() } else { size as usize };
            let mut upper = Vec::new();
            for (index, items) in lower.chunks(share).enumerate() {
                let id = -1 - draft.buckets.len() as i32;
                if id < -BUCKET_LIMIT {
                    let rule = format!("a map holds at most {BUCKET_LIMIT} buckets");
                    return Err(MapError::invalid(format!("layer {name}: size"), size, rule, "make it larger"));
                }
                let weight = items.iter().fold(0u32, |sum, item| sum.saturating_add(item.1));
                let bucket = if size == 0 { name.to_owned() } else { format!("{name}{index}") };
                draft.add_bucket(id, bucket, type_id, kind, items.to_vec());
                upper.push((id, weight));
            }
            lower = upper;
        }
        let root = if top_size == 0 { top.to_owned() } else { format!("{top}0") };
        let root = draft.buckets.iter().find(|bucket| bucket.name == root).map_or(-1, |bucket| bucket.id);
        draft.add_rule(replicated(root));
        Ok(draft.finish()?)
    }
}

/// The rule that Ceph gives a new cluster: copies in different buckets of the first type above devices.
fn replicated(root: i32) -> Rule {
    let choose = Choose { firstn: true, leaf: true, count: 0, type_id: 1 };
    Rule {
        id: 0,
        name: "replicated_rule".to_owned(),
        ruleset: 0,
        pool_kind: 1,
        min_size: 1,
        max_size: 10,
        steps: vec![Step::Take(root), Step::Choose(choose), Step::Emit],
    }
}
