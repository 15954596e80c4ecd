//! Questions about where things are: which rack a device is in, how many failure domains a rule has.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::map::CrushMap;
use crate::map::rule::{Rule, Step};

impl CrushMap {
    /// The ancestor of an item that has the named type.
    ///
    /// # Arguments
    /// * `item` - a device or bucket.
    /// * `type_name` - `host`, `rack`, ...
    ///
    /// # Returns
    /// The bucket's id; the item itself if it has that type; `None` if nothing above it has.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap, Level, Tunables};
    /// let map =
    ///     CrushMap::hierarchical(8, 4, None, BucketKind::Straw2, Tunables::JEWEL, Level::Rack).unwrap();
    /// let rack = map.ancestor(7, "rack").unwrap();
    /// assert_eq!(map.item_name(rack), "rack.3");
    /// ```
    #[must_use]
    pub fn ancestor(&self, item: i32, type_name: &str) -> Option<i32> {
        let wanted = self.type_id(type_name)?;
        let mut item = item;
        loop {
            let type_id = self.bucket(item).map_or(0, |bucket| bucket.type_id());
            if type_id == wanted {
                return Some(item);
            }
            item = self.parent_of(item)?;
        }
    }

    /// The failure domains among which a rule spreads copies, for telling why a placement must come up short.
    ///
    /// The type is that of the first choose step that asks for as many items as there are copies, else of the last.
    ///
    /// # Arguments
    /// * `rule` - a rule of this map.
    ///
    /// # Returns
    /// The type's name and the number of such domains with a device of weight above zero.
    #[must_use]
    pub fn domains_of(&self, rule: &Rule) -> (String, usize) {
        let mut chooses = rule.steps.iter().filter_map(|step| match step {
            Step::Choose(choose) => Some(choose),
            _ => None,
        });
        let open = chooses.clone().find(|choose| choose.count <= 0);
        let type_id = open.or_else(|| chooses.next_back()).map_or(0, |choose| choose.type_id);
        let mut domains = BTreeSet::new();
        for step in &rule.steps {
            let Step::Take(root) = *step else { continue };
            for item in self.below(root, true) {
                let of_type = self.bucket(item).map_or(0, |bucket| bucket.type_id()) == type_id;
                if of_type && self.below(item, true).iter().any(|&inner| inner >= 0) {
                    domains.insert(item);
                }
            }
        }
        (self.type_name(type_id).to_owned(), domains.len())
    }

    /// The share that each device has of what a rule takes, by its weight: those below each bucket that it takes add up to one.
    ///
    /// They are Ceph's own, in its precision (`CrushWrapper::get_rule_weight_osd_map`).
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap, Tunables};
    /// let map = CrushMap::flat(4, BucketKind::Straw2, Tunables::JEWEL);
    /// let shares = map.shares_of(map.rule_by_id(0).unwrap());
    /// assert_eq!(shares.into_iter().collect::<Vec<_>>(), [(0, 0.25), (1, 0.25), (2, 0.25), (3, 0.25)]);
    /// ```
    #[must_use]
    pub fn shares_of(&self, rule: &Rule) -> BTreeMap<i32, f32> {
        let mut shares: BTreeMap<i32, f32> = BTreeMap::new();
        for step in &rule.steps {
            let Step::Take(root) = *step else { continue };
            // In the order of Ceph's sum, so that what is compared with a share falls on the same side.
            let (mut own, mut sum) = (BTreeMap::new(), 0.0f32);
            if root >= 0 {
                (own, sum) = (BTreeMap::from([(root, 1.0)]), 1.0);
            }
            let (mut open, mut seen) = (VecDeque::from([root]), BTreeSet::new());
            while let Some(next) = open.pop_front() {
                let Some(bucket) = self.bucket(next).filter(|_| seen.insert(next)) else { continue };
                for (&item, &weight) in bucket.items().iter().zip(bucket.weights()) {
                    if item >= 0 {
                        own.insert(item, weight as f32);
                        sum += weight as f32;
                    } else {
                        open.push_back(item);
                    }
                }
            }
            for (device, weight) in own {
                *shares.entry(device).or_insert(0.0) += if sum > 0.0 { weight / sum } else { 0.0 };
            }
        }
        shares
    }

    /// Everything at or below an item, each once; with `weighted`, only along weights above zero.
    pub(crate) fn below(&self, item: i32, weighted: bool) -> BTreeSet<i32> {
        let mut found = BTreeSet::from([item]);
        let mut open = vec![item];
        while let Some(next) = open.pop() {
            let Some(bucket) = self.bucket(next) else { continue };
            for (&inner, &weight) in bucket.items().iter().zip(bucket.weights()) {
                if (weight > 0 || !weighted) && found.insert(inner) {
                    open.push(inner);
                }
            }
        }
        found
    }
}
