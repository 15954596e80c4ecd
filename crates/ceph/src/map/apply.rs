//! How a change of a plan, or one that an agent makes, alters the map.

use std::collections::BTreeSet;

use super::reach::{devices_below, item_of};
use super::{MapChange, OsdMap, Touched, WEIGHT_ONE, check};
use crate::error::CephError;
use crate::input::{Change, Flag};

/// A share as the monitors count it, in single precision.
fn share(some: usize, all: usize) -> f64 {
    f64::from(some as f32 / all as f32)
}

impl OsdMap {
    /// Makes a change of a plan.
    ///
    /// What fails is still up until the monitors say otherwise, and a new `pg_num` is only what the manager is on the way to. Upmap
    /// entries that no longer hold go in the same change.
    ///
    /// # Returns
    /// Which groups' up sets may be others now.
    ///
    /// # Errors
    /// The change names what there is not, or a value that cannot be; the map is as it was.
    pub fn apply(&mut self, change: &Change) -> Result<Touched, CephError> {
        let touched = match change {
            Change::Fail { osds } => {
                self.check_osds("fail", osds)?;
                self.set_runs(osds, false);
                Touched::Nothing
            }
            Change::Stop { osds } => {
                self.check_osds("stop", osds)?;
                self.set_runs(osds, false);
                // An OSD that is stopped tells the monitors, who believe it where they may.
                self.mark_down(osds)
            }
            Change::Start { osds } => {
                self.check_osds("start", osds)?;
                self.set_runs(osds, true);
                self.mark_up(osds)
            }
            Change::Out { osds } => {
                self.check_osds("out", osds)?;
                self.mark_out(osds, false)
            }
            Change::In { osds } => {
                self.check_osds("in", osds)?;
                let out: Vec<u32> = osds.iter().copied().filter(|&osd| self.is_out(osd)).collect();
                self.mark_in(&out);
                self.touched_by(&out.into_iter().collect())
            }
            Change::Reweight { osds, weight } => self.set_reweight(osds, *weight)?,
            Change::Slow { osds, share } => {
                self.check_osds("slow", osds)?;
                check::check_speed(*share)?;
                osds.iter().for_each(|&osd| self.speed[osd as usize] = *share);
                // The monitors know nothing of it: their map has no new epoch.
                return Ok(Touched::Nothing);
            }
            Change::CrushReweight { item, weight } => self.crush_reweight(item, *weight)?,
            Change::Upmap { pool, group, pairs } => {
                let pool = self.known_pool("upmap", *pool)?;
                self.check_upmap(pool, *group, pairs)?;
                self.set_upmap(pool, *group, pairs)
            }
            Change::Flags { set, unset } => {
                self.flags.extend(set.iter().copied());
                for flag in unset {
                    self.flags.remove(flag);
                }
                Touched::Nothing
            }
            Change::Settings { settings, osd_settings, of_osd } => {
                check::check_settings(settings, osd_settings)?;
                for &(osd, own) in of_osd {
                    self.check_osds("settings", &[osd])?;
                    check::check_own_settings(osd, own, osd_settings.len())?;
                }
                self.settings = settings.clone();
                self.osd_settings = osd_settings.clone();
                for &(osd, own) in of_osd {
                    self.osd_setting[osd as usize] = own;
                }
                Touched::Nothing
            }
            Change::Balance { on } => {
                self.balancer = *on;
                Touched::Nothing
            }
            other => self.apply_structure(other)?,
        };
        Ok(self.changed(touched, matches!(change, Change::Upmap { .. })))
    }

    /// Makes a change that an agent asks for. An agent knows the map, so nothing can be wrong with it.
    ///
    /// # Returns
    /// Which groups' up sets may be others now; after a split, the new groups.
    pub fn act(&mut self, change: &MapChange) -> Touched {
        let touched = match change {
            MapChange::Down(osds) => self.mark_down(osds),
            MapChange::Up(osds) => self.mark_up(osds),
            MapChange::Out(osds) => self.mark_out(osds, true),
            MapChange::Upmap { pool, group, pairs } => self.set_upmap(*pool, *group, pairs),
            MapChange::DropUpmap { pool, group, primary } => {
                let exceptions = &mut self.pools[*pool].pool.exceptions;
                if *primary {
                    exceptions.upmap_primaries.remove(group);
                } else {
                    exceptions.upmap.remove(group);
                }
                Touched::Groups(vec![(*pool, *group)])
            }
            MapChange::Split { pool, pg_num } => self.split(*pool, *pg_num),
            MapChange::Merge { pool } => self.merge(*pool),
            MapChange::PgpNum { pool, pgp_num } => self.set_pgp_num(*pool, *pgp_num),
            MapChange::Stretch(change) => self.set_stretch(*change),
        };
        self.changed(touched, matches!(change, MapChange::Upmap { .. } | MapChange::DropUpmap { .. }))
    }

    /// What follows any change.
    ///
    /// # Arguments
    /// * `is_entry` - whether only an entry changed, which is no matter of CRUSH.
    fn changed(&mut self, touched: Touched, is_entry: bool) -> Touched {
        self.epoch += 1;
        if !is_entry && !matches!(touched, Touched::Nothing | Touched::Holders(_)) {
            self.layout += 1;
        }
        self.clean_upmaps(touched)
    }

    fn set_runs(&mut self, osds: &[u32], runs: bool) {
        for &osd in osds {
            self.runs[osd as usize] = runs;
        }
    }

    /// Whether the monitors hold another OSD for down: not under `nodown`, and not below `mon_osd_min_up_ratio`.
    #[must_use]
    pub fn can_mark_down(&self) -> bool {
        let all = self.osds.iter().flatten().count();
        let up = self.is_up.iter().filter(|&&up| up).count();
        !self.has(Flag::NoDown) && share(up, all) >= self.settings.mon_osd_min_up_ratio
    }

    /// OSDs that are dead, and that the monitors go on holding for up.
    #[must_use]
    pub fn dead_and_up(&self) -> BTreeSet<u32> {
        let dead = self.osds.iter().flatten().map(|osd| osd.id).filter(|&osd| !self.runs(osd) && self.is_up(osd));
        if self.can_mark_down() { BTreeSet::new() } else { dead.collect() }
    }

    /// Whether the monitors mark another OSD out: not under `noout`, and not below `mon_osd_min_in_ratio`.
    ///
    /// # Arguments
    /// * `already` - OSDs that they are about to mark out.
    #[must_use]
    pub fn can_mark_out(&self, already: usize) -> bool {
        let all = self.osds.iter().flatten().count();
        let inside = self.reweight.iter().filter(|&&weight| weight > 0).count().saturating_sub(already);
        !self.has(Flag::NoOut) && share(inside, all) >= self.settings.mon_osd_min_in_ratio
    }

    /// Those of these OSDs that are up are down, one after the other as long as the monitors may.
    fn mark_down(&mut self, osds: &[u32]) -> Touched {
        let mut down = Vec::new();
        for &osd in osds {
            if self.is_up(osd) && self.can_mark_down() {
                self.is_up[osd as usize] = false;
                down.push(osd);
            }
        }
        if down.is_empty() { Touched::Nothing } else { Touched::Holders(down) }
    }

    /// OSDs that run boot: they are up, and in again where the monitors had marked them out by themselves.
    fn mark_up(&mut self, osds: &[u32]) -> Touched {
        if self.has(Flag::NoUp) {
            return Touched::Nothing;
        }
        let booted: Vec<u32> = osds.iter().copied().filter(|&osd| !self.is_up(osd)).collect();
        for &osd in &booted {
            self.is_up[osd as usize] = true;
            if self.auto_out[osd as usize] && !self.has(Flag::NoIn) {
                self.mark_in(&[osd]);
            }
        }
        self.touched_by(&booted.into_iter().collect())
    }

    /// OSDs that are out are in, with the weight that they had.
    fn mark_in(&mut self, osds: &[u32]) {
        for index in osds.iter().map(|&osd| osd as usize) {
            let old = self.old_reweight[index];
            self.reweight[index] = if old > 0 { old } else { WEIGHT_ONE };
            self.old_reweight[index] = 0;
            self.auto_out[index] = false;
        }
    }

    /// OSDs that are in are out; one that is out already stays what it is, even where the monitors marked it out.
    fn mark_out(&mut self, osds: &[u32], by_itself: bool) -> Touched {
        let mut out = BTreeSet::new();
        for &osd in osds {
            let index = osd as usize;
            if self.reweight[index] > 0 {
                self.old_reweight[index] = self.reweight[index];
                self.reweight[index] = 0;
                self.auto_out[index] = by_itself;
                out.insert(osd);
            }
        }
        self.touched_by_rejecting(out)
    }

    fn set_reweight(&mut self, osds: &[u32], weight: u32) -> Result<Touched, CephError> {
        self.check_osds("reweight", osds)?;
        check::check_weight("reweight: weight", weight)?;
        let (mut other, mut takes_less) = (BTreeSet::new(), true);
        for &osd in osds {
            let index = osd as usize;
            if self.reweight[index] != weight {
                takes_less &= weight < self.reweight[index];
                self.reweight[index] = weight;
                if weight > 0 {
                    self.old_reweight[index] = 0;
                    self.auto_out[index] = false;
                }
                other.insert(osd);
            }
        }
        Ok(if takes_less { self.touched_by_rejecting(other) } else { self.touched_by(&other) })
    }

    fn crush_reweight(&mut self, item: &str, weight: f64) -> Result<Touched, CephError> {
        let Some(id) = item_of(&self.crush, item) else {
            let rule = "an item is a device or bucket of the CRUSH map";
            return Err(CephError::invalid("crush-reweight", item, rule, "correct the name"));
        };
        let field = CephError::crush(format!("crush-reweight {item}"));
        let reweighted =
            if id < 0 { self.crush.subtree_reweighted(item, weight) } else { self.crush.reweighted(item, weight) };
        self.crush = reweighted.map_err(field)?;
        let devices = devices_below(&self.crush, id);
        Ok(self.touched_by(&devices))
    }

    /// Replaces the pairs of a group; none of them removes the entry.
    fn set_upmap(&mut self, pool: usize, group: u32, pairs: &[(i32, i32)]) -> Touched {
        let items = &mut self.pools[pool].pool.exceptions.upmap_items;
        if pairs.is_empty() {
            items.remove(&group);
        } else {
            items.insert(group, pairs.to_vec());
        }
        Touched::Groups(vec![(pool, group)])
    }

    fn check_upmap(&self, pool: usize, group: u32, pairs: &[(i32, i32)]) -> Result<(), CephError> {
        let pool = &self.pools[pool].pool;
        let field = || format!("upmap of group {}.{group:x}", pool.id);
        if group >= pool.pg_num {
            let rule = format!("the pool has {} groups, numbered from 0", pool.pg_num);
            return Err(CephError::invalid(field(), group, rule, "name a group of the pool"));
        }
        for &(from, to) in pairs {
            for osd in [from, to] {
                if !u32::try_from(osd).is_ok_and(|osd| self.exists(osd)) {
                    let rule = "an entry leads from an OSD of the cluster to another";
                    return Err(CephError::invalid(field(), format!("osd.{osd}"), rule, "name OSDs that exist"));
                }
            }
            if from == to {
                let rule = "an entry leads from one OSD to another";
                return Err(CephError::invalid(field(), format!("osd.{to}"), rule, "leave the pair out"));
            }
        }
        Ok(())
    }

    /// That there are such OSDs.
    pub(super) fn check_osds(&self, what: &str, osds: &[u32]) -> Result<(), CephError> {
        match osds.iter().find(|&&osd| !self.exists(osd)) {
            None => Ok(()),
            Some(osd) => {
                let rule = "a change is of OSDs that the cluster has";
                Err(CephError::invalid(what, format!("osd.{osd}"), rule, "name one of its OSDs"))
            }
        }
    }

    /// The place of a pool of a number.
    pub(super) fn known_pool(&self, what: &str, pool: i64) -> Result<usize, CephError> {
        self.pool_index(pool).ok_or_else(|| {
            let known: Vec<String> = self.pools.iter().map(|pool| pool.pool.id.to_string()).collect();
            let remedy = format!("the pools are {}", known.join(", "));
            CephError::invalid(format!("{what}: pool"), pool, "a change is of a pool that the cluster has", remedy)
        })
    }
}
