//! Changes of what there is: new OSDs, rules, pools' sizes and groups, another CRUSH map.

use std::collections::BTreeSet;

use resilver_crush::CrushMap;
use resilver_crush::pool::PoolKind;

use super::reach::{item_of, top_of};
use super::{OsdMap, Touched, check};
use crate::error::CephError;
use crate::input::{Add, Change, OsdInput};

/// Kinds of rules for replicated pools and for coded ones; the second are those of multi-step retries.
const REPLICATED_RULES: [u8; 2] = [1, 4];
const ERASURE_RULES: [u8; 2] = [3, 5];

/// The group that a group was split from, or is merged into.
///
/// # Arguments
/// * `group` - the group's number in the pool, not below `bins`.
/// * `bins` - the groups of the pool without it, above zero.
///
/// # Examples
/// ```
/// use resilver_ceph::map::parent_of;
/// // 8 groups become 12: 8 to 11 come from 0 to 3.
/// assert_eq!([8, 9, 10, 11].map(|group| parent_of(group, 8)), [0, 1, 2, 3]);
/// // 12 groups become 13: the bits of 12 are 1100, and 100 is 4.
/// assert_eq!(parent_of(12, 12), 4);
/// // 8 groups become 32: 24 comes from 0 as well, by way of groups that did not exist before.
/// assert_eq!(parent_of(24, 8), 0);
/// ```
#[must_use]
pub fn parent_of(group: u32, bins: u32) -> u32 {
    let mut parent = group;
    // Ceph's groups are split by the bits of a hash: the highest bit goes until there is such a group.
    while parent >= bins {
        parent &= !(1 << (31 - parent.leading_zeros()));
    }
    parent
}

impl OsdMap {
    pub(super) fn apply_structure(&mut self, change: &Change) -> Result<Touched, CephError> {
        Ok(match change {
            Change::SetRule { pool, rule } => {
                let place = self.known_pool("set-rule", *pool)?;
                self.check_rule(place, *rule)?;
                self.pools[place].pool.rule = *rule;
                Touched::Pools(vec![place])
            }
            Change::PgNum { pool, pg_num } => {
                let place = self.known_pool("pg-num", *pool)?;
                check::check_pg_num("pg-num", *pg_num)?;
                self.pools[place].pg_num_target = *pg_num;
                Touched::Nothing
            }
            Change::PoolSize { pool, size, min_size } => {
                let place = self.known_pool("pool-size", *pool)?;
                let pool = &self.pools[place];
                if pool.pool.kind == PoolKind::Erasure && *size != pool.pool.size {
                    let rule = format!("the size of a coded pool, {}, stays as its profile made it", pool.pool.size);
                    return Err(CephError::invalid("pool-size", size, rule, "change min_size alone, or copy the pool"));
                }
                check::check_sizes(pool, *size, *min_size)?;
                self.pools[place].pool.size = *size;
                self.pools[place].min_size = *min_size;
                Touched::Pools(vec![place])
            }
            // What a group is asked for by force is the groups' matter, and the map stays.
            Change::Force { pool, groups } => {
                let place = self.known_pool("force", *pool)?;
                let pg_num = self.pools[place].pool.pg_num;
                if let Some(group) = groups.iter().find(|&&group| group >= pg_num) {
                    let rule = format!("the pool has {pg_num} groups, numbered from 0");
                    return Err(CephError::invalid("force: group", group, rule, "name groups of the pool"));
                }
                Touched::Nothing
            }
            Change::Add { osds } => self.add(osds)?,
            Change::Replace { osds } => self.replace(osds)?,
            Change::Crush { crushmap } => self.set_crush(crushmap)?,
            Change::CrushMove { item, location } => {
                let field = CephError::crush(format!("crush-move {item}"));
                self.crush = self.crush.moved(item, &borrowed(location)).map_err(field)?;
                Touched::Everything
            }
            // Nothing is placed by names.
            Change::CrushRename { item, name } => {
                let field = CephError::crush(format!("crush-rename {item}"));
                self.crush = self.crush.renamed(item, name).map_err(field)?;
                Touched::Nothing
            }
            // Every other change is made where states are.
            _ => Touched::Nothing,
        })
    }

    /// That a pool may have a rule: the map has it, and it is for pools of its kind.
    fn check_rule(&self, place: usize, rule: u32) -> Result<(), CephError> {
        let mut pool = self.pools[place].pool.clone();
        pool.rule = rule;
        let found = pool.rule_of(&self.crush).map_err(CephError::crush("set-rule"))?;
        let kinds = match pool.kind {
            PoolKind::Replicated => REPLICATED_RULES,
            PoolKind::Erasure => ERASURE_RULES,
        };
        if kinds.contains(&found.pool_kind) {
            return Ok(());
        }
        let value = format!("{rule} ({})", found.name);
        let said = "a rule of copies is for replicated pools and one of codes for coded pools";
        Err(CephError::invalid("set-rule", value, said, "choose a rule of the pool's kind"))
    }

    /// Adds OSDs, and the buckets above them that are not there yet.
    fn add(&mut self, osds: &[Add]) -> Result<Touched, CephError> {
        let mut crush = self.crush.clone();
        let mut added = BTreeSet::new();
        for Add { osd, name, weight, class, location } in osds {
            check::check_osd(osd, self.osd_settings.len())?;
            if self.exists(osd.id) || !added.insert(osd.id) {
                let rule = "a new OSD has a number that no other has";
                return Err(CephError::invalid("add", format!("osd.{}", osd.id), rule, "number it higher"));
            }
            let refuse = || CephError::crush(format!("add {name}"));
            crush = crush.with_item(osd.id as i32, *weight, name, &borrowed(location)).map_err(refuse())?;
            let top = top_of(&crush, osd.id as i32);
            if item_of(&self.crush, &crush.item_name(top)).is_none() {
                let rule = "the topmost bucket of a location is one that the map has";
                let remedy = "name the buckets above it up to the root, such as root=default";
                let field = format!("add {name}: location");
                return Err(CephError::invalid(field, crush.item_name(top), rule, remedy));
            }
            if !class.is_empty() {
                crush = crush.with_device_class(name, class).map_err(refuse())?;
            }
        }
        self.crush = crush;
        for add in osds {
            self.put_osd(&add.osd);
        }
        self.resize(self.crush.max_device().unsigned_abs() as usize);
        Ok(self.touched_by(&added))
    }

    /// Other devices of OSDs that are stopped.
    fn replace(&mut self, osds: &[OsdInput]) -> Result<Touched, CephError> {
        for osd in osds {
            self.check_osds("replace", &[osd.id])?;
            check::check_osd(osd, self.osd_settings.len())?;
            if self.runs(osd.id) {
                let rule = "the device of an OSD that runs cannot be replaced";
                return Err(CephError::invalid("replace", format!("osd.{}", osd.id), rule, "stop it first"));
            }
        }
        for osd in osds {
            self.osds[osd.id as usize] = Some(osd.clone());
            // What was slow was the old device.
            self.speed[osd.id as usize] = 1.0;
        }
        Ok(Touched::Nothing)
    }

    /// Another CRUSH map. Every pool's rule is in it, as the monitors demand.
    fn set_crush(&mut self, text: &str) -> Result<Touched, CephError> {
        let crush = CrushMap::from_json(text).map_err(CephError::crush("map"))?;
        check::check_devices("map", &crush)?;
        for pool in &self.pools {
            let field = format!("map: rule of pool {} ({})", pool.pool.id, pool.name);
            pool.pool.rule_of(&crush).map_err(CephError::crush(field))?;
        }
        self.crush = crush;
        self.resize(self.crush.max_device().unsigned_abs() as usize);
        Ok(Touched::Everything)
    }

    /// Gives a pool more groups, each where its parent is.
    pub(super) fn split(&mut self, place: usize, pg_num: u32) -> Touched {
        let pool = &mut self.pools[place].pool;
        let before = pool.pg_num;
        pool.pg_num = pg_num;
        Touched::Groups((before..pg_num).map(|group| (place, group)).collect())
    }

    /// Takes the last group away, with what names it.
    pub(super) fn merge(&mut self, place: usize) -> Touched {
        let pool = &mut self.pools[place].pool;
        let last = pool.pg_num - 1;
        pool.pg_num = last;
        pool.pgp_num = pool.pgp_num.min(last);
        pool.exceptions.upmap.remove(&last);
        pool.exceptions.upmap_items.remove(&last);
        pool.exceptions.upmap_primaries.remove(&last);
        Touched::Groups(vec![(place, parent_of(last, last))])
    }

    /// Places the groups of a pool as so many.
    pub(super) fn set_pgp_num(&mut self, place: usize, pgp_num: u32) -> Touched {
        let pool = &mut self.pools[place].pool;
        let before: Vec<u32> = (0..pool.pg_num).map(|group| pool.placement_seed(group)).collect();
        pool.pgp_num = pgp_num;
        let moved = |&group: &u32| pool.placement_seed(group) != before[group as usize];
        Touched::Groups((0..pool.pg_num).filter(moved).map(|group| (place, group)).collect())
    }
}

fn borrowed(location: &[(String, String)]) -> Vec<(&str, &str)> {
    location.iter().map(|(kind, bucket)| (&kind[..], &bucket[..])).collect()
}
