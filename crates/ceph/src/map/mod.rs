//! The OSD map as it stands: CRUSH map, pools and their exceptions, OSDs, flags and settings; and how each change alters it.
//!
//! It holds what the monitors hold, and one thing more: whether an OSD runs, which the monitors learn late.

mod apply;
mod change;
mod check;
mod reach;
mod sets;
mod stretch;
mod structure;
mod upmaps;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use resilver_crush::CrushMap;
use resilver_crush::pool::Osds;

use crate::error::CephError;
use crate::input::{ClusterInput, Flag, OsdInput, PoolInput, Ratios, StretchMode};
use crate::settings::{ClusterSettings, OsdSettings};

pub use change::{MapChange, StretchChange, Touched};
pub use sets::{Up, UpScratch, UpSets};
pub use stretch::Barrier;
pub use structure::parent_of;
use upmaps::Demands;

/// A 16.16 weight of one.
pub const WEIGHT_ONE: u32 = 0x10000;

/// The OSD map.
///
/// Pools are told by their place in `pools`, which never changes; [`pool_index`](Self::pool_index) finds it by the pool's number.
/// Arrays by OSD reach to the highest number that the CRUSH map or the list of OSDs has; numbers without an OSD are neither up nor in.
#[derive(Debug, Clone)]
pub struct OsdMap {
    pub(crate) crush: CrushMap,
    /// By rising number.
    pub(crate) pools: Vec<PoolInput>,
    /// By number.
    pub(crate) osds: Vec<Option<OsdInput>>,
    /// Whether the OSD's process runs. The monitors learn of its end after the grace.
    pub(crate) runs: Vec<bool>,
    /// Whether the monitors hold it for up.
    pub(crate) is_up: Vec<bool>,
    /// 16.16; 0 is out.
    pub(crate) reweight: Vec<u32>,
    /// What an OSD that is out was before; 0 where that is not known.
    pub(crate) old_reweight: Vec<u32>,
    /// Whether the monitors marked it out by themselves.
    pub(crate) auto_out: Vec<bool>,
    /// The share of its rates that its device works at.
    pub(crate) speed: Vec<f64>,
    /// 16.16 primary affinity.
    pub(crate) affinity: Vec<u32>,
    pub(crate) flags: BTreeSet<Flag>,
    pub(crate) stretch_mode: Option<StretchMode>,
    pub(crate) ratios: Ratios,
    pub(crate) settings: ClusterSettings,
    pub(crate) osd_settings: Vec<OsdSettings>,
    /// Which of `osd_settings` each OSD has.
    pub(crate) osd_setting: Vec<u32>,
    /// Whether the manager's balancer is on.
    pub(crate) balancer: bool,
    pub(crate) epoch: u64,
    /// How often what CRUSH alone gives a group may have changed.
    pub(crate) layout: u64,
    /// What rules demand of sets, by the place of the pool: balancers write entry after entry.
    demands: BTreeMap<usize, Arc<Demands>>,
}

impl OsdMap {
    /// The map of a cluster.
    ///
    /// # Errors
    /// The CRUSH map cannot be read, OSDs or pools are not in order or are listed twice, a pool's rule or a number of settings does
    /// not exist, or a number cannot be.
    pub fn new(input: &ClusterInput) -> Result<Self, CephError> {
        let crush = CrushMap::from_json(&input.crushmap).map_err(CephError::crush("crushmap"))?;
        check::check_input(input, &crush)?;
        let mut map = Self {
            crush,
            pools: input.pools.clone(),
            osds: Vec::new(),
            runs: Vec::new(),
            is_up: Vec::new(),
            reweight: Vec::new(),
            old_reweight: Vec::new(),
            auto_out: Vec::new(),
            speed: Vec::new(),
            affinity: Vec::new(),
            flags: input.flags.iter().copied().collect(),
            stretch_mode: input.stretch_mode,
            ratios: input.ratios,
            settings: input.settings.clone(),
            osd_settings: input.osd_settings.clone(),
            osd_setting: Vec::new(),
            balancer: input.balancer,
            epoch: 1,
            layout: 1,
            demands: BTreeMap::new(),
        };
        map.resize(map.crush.max_device().unsigned_abs() as usize);
        for osd in &input.osds {
            map.put_osd(osd);
        }
        Ok(map)
    }

    /// Gives arrays by OSD at least a length.
    fn resize(&mut self, length: usize) {
        if length <= self.osds.len() {
            return;
        }
        self.osds.resize(length, None);
        self.runs.resize(length, false);
        self.is_up.resize(length, false);
        self.reweight.resize(length, 0);
        self.old_reweight.resize(length, 0);
        self.auto_out.resize(length, false);
        self.speed.resize(length, 1.0);
        self.affinity.resize(length, WEIGHT_ONE);
        self.osd_setting.resize(length, 0);
    }

    /// Enters an OSD.
    fn put_osd(&mut self, osd: &OsdInput) {
        let index = osd.id as usize;
        self.resize(index + 1);
        self.runs[index] = osd.up;
        self.is_up[index] = osd.up;
        self.reweight[index] = osd.reweight;
        self.affinity[index] = osd.affinity;
        self.osd_setting[index] = osd.settings;
        self.osds[index] = Some(osd.clone());
    }

    /// The place of a pool in `pools`.
    #[must_use]
    pub fn pool_index(&self, pool: i64) -> Option<usize> {
        self.pools.binary_search_by_key(&pool, |pool| pool.pool.id).ok()
    }

    /// The pools, by rising number.
    #[must_use]
    pub fn pools(&self) -> &[PoolInput] {
        &self.pools
    }

    /// Every OSD, by rising number.
    pub fn osds(&self) -> impl Iterator<Item = &OsdInput> {
        self.osds.iter().flatten()
    }

    /// Whether there is such an OSD.
    #[must_use]
    pub fn exists(&self, osd: u32) -> bool {
        self.osds.get(osd as usize).is_some_and(Option::is_some)
    }

    /// Whether the process of an OSD runs, whatever the monitors hold.
    #[must_use]
    pub fn runs(&self, osd: u32) -> bool {
        self.runs.get(osd as usize) == Some(&true)
    }

    /// Whether the monitors hold an OSD for up.
    #[must_use]
    pub fn is_up(&self, osd: u32) -> bool {
        self.is_up.get(osd as usize) == Some(&true)
    }

    /// The share of its rates that an OSD's device works at.
    #[must_use]
    pub fn speed(&self, osd: u32) -> f64 {
        self.speed.get(osd as usize).copied().unwrap_or(1.0)
    }

    /// An OSD with its device as it works now; nothing of one that there is not.
    #[must_use]
    pub fn at_work(&self, osd: u32) -> Option<OsdInput> {
        let input = self.osds.get(osd as usize)?.as_ref()?;
        Some(OsdInput { device: input.device.slowed(self.speed(osd)), ..input.clone() })
    }

    /// Whether there is such an OSD and it is out.
    #[must_use]
    pub fn is_out(&self, osd: u32) -> bool {
        self.exists(osd) && self.reweight[osd as usize] == 0
    }

    /// 16.16 reweight of each OSD, by number.
    #[must_use]
    pub fn reweights(&self) -> &[u32] {
        &self.reweight
    }

    /// The OSDs as the placement crate takes them.
    #[must_use]
    pub fn states(&self) -> Osds<'_> {
        Osds { reweight: &self.reweight, is_up: &self.is_up, affinity: &self.affinity }
    }

    /// What an OSD goes by.
    ///
    /// # Panics
    /// There is no such OSD.
    #[must_use]
    pub fn settings_of(&self, osd: u32) -> &OsdSettings {
        &self.osd_settings[self.osd_setting[osd as usize] as usize]
    }

    /// Whether a flag is set.
    #[must_use]
    pub fn has(&self, flag: Flag) -> bool {
        self.flags.contains(&flag)
    }

    /// The ratios at which OSDs are full.
    #[must_use]
    pub fn ratios(&self) -> &Ratios {
        &self.ratios
    }

    /// The CRUSH map.
    #[must_use]
    pub fn crush(&self) -> &CrushMap {
        &self.crush
    }

    /// How many changes the map has seen; 1 at first.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }
}
