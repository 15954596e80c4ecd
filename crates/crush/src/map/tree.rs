//! Maps of a tree with levels of the user's own, and with device classes.

use crate::map::CrushMap;
use crate::map::bucket::BucketKind;
use crate::map::build::{ONE, even, grouped};
use crate::map::class::add_shadows;
use crate::map::draft::{BUCKET_LIMIT, DEVICE_LIMIT, Draft};
use crate::map::error::MapError;
use crate::map::rule::{Choose, Rule, SIZES, Step};
use crate::map::tunables::Tunables;
use crate::map::vring::{POINTS, POINTS_LIMIT};

/// What the one rule of a tree's map does.
#[derive(Debug, Clone, Copy)]
pub struct TreeRule<'a> {
    /// The levels that share the copies out, from the top: so many parts of each, and in each of them the next. Copies of one part
    /// stand together. The last level separates copies; zero is as many as are asked for.
    pub domains: &'a [(&'a str, u32)],
    /// The class of the devices that it takes; `None` for all.
    pub class: Option<&'a str>,
}

impl CrushMap {
    /// A tree of levels, each with equally many of the level below, and a rule that spreads copies over one level.
    ///
    /// The lowest level's items are the devices. An item is named by its level and its number there, such as `osd.0`; those of
    /// a lower level fill `host.0` first. All devices weigh the same. The root is `default`, id -1; the rule `replicated`, id 0.
    ///
    /// # Arguments
    /// * `levels` - name and number of items of each level, from the devices up.
    /// * `classes` - the classes of the devices in turn, over and over; none where there are no classes.
    /// * `kind` - how every bucket chooses.
    /// * `tunables` - the map's tunables.
    /// * `rule` - what separates copies, and which class they take.
    ///
    /// # Returns
    /// The map.
    ///
    /// # Errors
    /// There is no such level or class, a level does not divide evenly, or there are more items than a map holds.
    ///
    /// # Examples
    /// ```
    /// use resilver_crush::{BucketKind, CrushMap, TreeRule, Tunables};
    /// let rule = TreeRule { domains: &[("host", 0)], class: Some("ssd") };
    /// let classes = [Some("hdd"), Some("hdd"), Some("ssd")];
    /// let levels = [("osd", 60), ("host", 20), ("rack", 4)];
    /// let map = CrushMap::tree(&levels, &classes, BucketKind::Straw2, Tunables::JEWEL, rule).unwrap();
    /// assert_eq!(map.domains_of(map.rule_by_id(0).unwrap()), ("host".to_owned(), 20));
    /// assert_eq!(map.item_name(map.ancestor(59, "rack").unwrap()), "rack.3");
    /// ```
    pub fn tree(
        levels: &[(&str, u32)],
        classes: &[Option<&str>],
        kind: BucketKind,
        tunables: Tunables,
        rule: TreeRule,
    ) -> Result<Self, MapError> {
        let Some(&(device, count)) = levels.first() else {
            return Err(MapError::invalid("levels", "none", "the lowest level is the devices'", "give one"));
        };
        if count >= DEVICE_LIMIT as u32 {
            let rule = format!("a map holds fewer than {DEVICE_LIMIT} devices");
            return Err(MapError::invalid(device, count, rule, "lower it"));
        }
        let buckets = levels[1..].iter().fold(1u32, |sum, level| sum.saturating_add(level.1));
        if buckets >= BUCKET_LIMIT as u32 {
            let rule = format!("a map holds fewer than {BUCKET_LIMIT} buckets");
            return Err(MapError::invalid("levels", buckets, rule, "use fewer parts above the devices"));
        }
        for pair in levels.windows(2) {
            even(pair[0].0, pair[0].1, pair[1].0, pair[1].1)?;
        }
        let mut draft = Draft::new();
        draft.tunables = tunables;
        let weight = weight_of(count, levels.len() as u32, kind);
        let mut items: Vec<(i32, u32)> = Vec::with_capacity(count as usize);
        for id in 0..count as i32 {
            draft.add_device(id, format!("{device}.{id}"));
            if let Some(class) = classes.get(id as usize % classes.len().max(1)).copied().flatten() {
                let class = draft.classes.number(class);
                draft.classes.of_item.insert(id, class);
            }
            items.push((id, weight));
        }
        for (type_id, &(name, count)) in (0..).zip(levels) {
            draft.add_type(type_id, name);
            if type_id > 0 {
                items = grouped(&mut draft, kind, (name, type_id), count, items);
            }
        }
        let root_type = levels.len() as i32;
        draft.add_type(root_type, "root");
        draft.add_bucket(-1, "default".to_owned(), root_type, kind, items);
        add_shadows(&mut draft);
        add_rule(&mut draft, levels, rule)?;
        Ok(draft.finish()?)
    }
}

/// Weight of one device, such that all together stay below what a bucket of this kind may weigh.
fn weight_of(devices: u32, levels: u32, kind: BucketKind) -> u32 {
    let weight = ONE.min(u32::MAX / devices.max(1)).max(1);
    match kind {
        // Every level's buckets and their shadows have points by weight, and so has the root.
        BucketKind::Vring => weight.min((POINTS_LIMIT / (2 * levels + 2) / POINTS * ONE / devices.max(1)).max(1)),
        _ => weight,
    }
}

/// Adds the rule, which starts from the shadow of the root where it takes one class.
fn add_rule(draft: &mut Draft, levels: &[(&str, u32)], rule: TreeRule) -> Result<(), MapError> {
    let type_of = |domain: &str| {
        levels.iter().position(|level| level.0 == domain).ok_or_else(|| {
            let names = levels.iter().map(|level| level.0).collect::<Vec<_>>().join(", ");
            let rules = format!("copies are separated by one of {names}");
            MapError::invalid("failure_domain", domain, rules, "choose one of these")
        })
    };
    let root = match rule.class {
        None => -1,
        Some(class) => draft.classes.shadow(-1, class).ok_or_else(|| {
            MapError::invalid("class", class, "some device must have the class", "name a class that there is")
        })?,
    };
    let mut steps = vec![Step::Take(root)];
    let mut within = levels.len();
    for (place, &(domain, count)) in rule.domains.iter().enumerate() {
        let type_id = type_of(domain)?;
        if type_id >= within {
            let rules = "each of several failure domains lies in the one before it";
            return Err(MapError::invalid("failure_domain", domain, rules, "write them from the top"));
        }
        within = type_id;
        let leaf = place + 1 == rule.domains.len() && type_id != 0;
        steps.push(Step::Choose(Choose { firstn: true, leaf, count: count as i32, type_id: type_id as i32 }));
    }
    steps.push(Step::Emit);
    draft.add_rule(Rule {
        id: 0,
        name: "replicated".to_owned(),
        ruleset: 0,
        pool_kind: 1,
        min_size: SIZES.0,
        max_size: SIZES.1,
        steps,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Level, Scratch};

    #[test]
    fn a_tree_of_racks_and_servers_places_as_the_hierarchy_does() {
        let (kind, tunables) = (BucketKind::Straw2, Tunables::JEWEL);
        let old = CrushMap::hierarchical(64, 8, Some(2), kind, tunables, Level::Rack).unwrap();
        let rule = TreeRule { domains: &[("rack", 0)], class: None };
        let new = CrushMap::tree(&[("server", 64), ("rack", 8), ("row", 2)], &[], kind, tunables, rule).unwrap();
        assert_eq!(old.to_text(), new.to_text());
    }

    #[test]
    fn a_rule_of_one_class_takes_its_devices_alone() {
        let levels = [("osd", 100), ("host", 20), ("rack", 4)];
        let classes = [Some("hdd"), Some("hdd"), Some("hdd"), Some("hdd"), Some("ssd")];
        for kind in [BucketKind::Straw2, BucketKind::Straw, BucketKind::List, BucketKind::Tree, BucketKind::Vring] {
            let rule = TreeRule { domains: &[("rack", 0)], class: Some("ssd") };
            let map = CrushMap::tree(&levels, &classes, kind, Tunables::JEWEL, rule).unwrap();
            let (mut scratch, mut set) = (Scratch::new(), Vec::new());
            for input in 0..500 {
                map.place(map.rule_by_id(0).unwrap(), input, 3, &[], &mut scratch, &mut set);
                let mut racks: Vec<i32> = set.iter().map(|osd| osd / 25).collect();
                racks.sort_unstable();
                racks.dedup();
                assert_eq!(racks.len(), 3, "{kind:?} {set:?}");
                assert!(set.iter().all(|osd| osd % 5 == 4), "{kind:?} {set:?}");
            }
        }
    }

    #[test]
    fn what_makes_no_map_is_refused() {
        let refused = |levels: &[(&str, u32)], failure_domain, class| {
            let rule = TreeRule { domains: &[(failure_domain, 0)], class };
            CrushMap::tree(levels, &[Some("hdd")], BucketKind::Straw2, Tunables::JEWEL, rule).unwrap_err().to_string()
        };
        assert!(refused(&[], "osd", None).contains("levels = none"));
        assert!(refused(&[("osd", 7), ("host", 2)], "osd", None).contains("osd = 7"));
        assert!(refused(&[("osd", 8), ("host", 2)], "rack", None).contains("failure_domain = rack"));
        assert!(refused(&[("osd", 8), ("host", 2)], "osd", Some("ssd")).contains("class = ssd"));
        assert!(refused(&[("osd", 1 << 20)], "osd", None).contains("osd = 1048576"));
        let deep = [("osd", 1 << 19), ("host", 1 << 19), ("rack", 1 << 19)];
        assert!(refused(&deep, "osd", None).contains("levels = 1048577"));
    }
}
