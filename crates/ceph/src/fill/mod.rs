//! How full OSDs are: what groups take there, what backfills were promised, and the ratios.
//!
//! Source: `OSDService::compute_adjusted_ratio`, `recalc_full_state` and `PG::try_reserve_recovery_space` of Ceph 19. nearfull and
//! failsafe are judged on the bytes that are used; backfillfull and full on those and on what is promised to backfills under way.

mod room;
mod watch;

pub(crate) use room::{Fits, PoolRoom, STATES, room_of_pools};
pub use watch::{Crossings, Watch};

use std::collections::BTreeMap;

use resilver_units::SimTime;

use crate::input::{OsdInput, Ratios};
use crate::reserve::Claimant;

/// What a backfill was promised on one OSD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Promise {
    /// Bytes that the group's primary has.
    primary: u64,
    /// Bytes that the target has of it.
    local: u64,
}

impl Promise {
    fn pending(self) -> u64 {
        self.primary.saturating_sub(self.local)
    }
}

/// An OSD's space.
#[derive(Debug, Clone)]
pub struct Space {
    /// Bytes it has.
    pub capacity: u64,
    /// The unit that it allocates.
    pub min_alloc: u64,
    /// Bytes that its groups take.
    pub held: u64,
    /// Groups that it has something of, also of those that it deletes.
    pub groups: u32,
    /// What is used beyond them: metadata, logs, and what sizes of objects do not tell. Negative where data is compressed.
    pub overhead: i64,
    /// What is promised, by claimant.
    promises: BTreeMap<Claimant, Promise>,
    /// The sum of what is promised and has not come.
    pending: u64,
    /// Its course so far.
    pub watch: Watch,
    /// Bytes that were written to it by healing.
    pub received: u64,
    /// Bytes that were read of it for others.
    pub sent: u64,
}

impl Space {
    /// Bytes that are used.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.held.saturating_add_signed(self.overhead)
    }

    /// Bytes that are promised and have not come.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.pending
    }

    fn ratio(&self, bytes: u64) -> f64 {
        if self.capacity == 0 { 1.0 } else { bytes as f64 / self.capacity as f64 }
    }
}

/// How Ceph judges an OSD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fullness {
    /// Below every ratio.
    Free,
    /// A warning.
    Nearfull,
    /// No new backfill comes.
    Backfillfull,
    /// Clients' writes to its pools stop.
    Full,
    /// It drops writes.
    Failsafe,
}

/// The space of all OSDs, by number.
#[derive(Debug)]
pub struct Fill {
    spaces: Vec<Option<Space>>,
    ratios: Ratios,
}

impl Fill {
    /// No OSDs.
    #[must_use]
    pub fn new(ratios: Ratios) -> Self {
        Fill { spaces: Vec::new(), ratios }
    }

    /// An OSD appears; its groups take nothing yet.
    pub fn add_osd(&mut self, osd: &OsdInput) {
        let at = osd.id as usize;
        if self.spaces.len() <= at {
            self.spaces.resize_with(at + 1, || None);
        }
        self.spaces[at] = Some(Space {
            capacity: osd.capacity_bytes,
            min_alloc: osd.min_alloc_bytes,
            held: 0,
            groups: 0,
            overhead: 0,
            promises: BTreeMap::new(),
            pending: 0,
            watch: Watch::default(),
            received: 0,
            sent: 0,
        });
    }

    /// An OSD without data gets another device. Its course is that of the new one, but for the ratios that it has crossed already.
    pub fn replace(&mut self, now: SimTime, osd: &OsdInput) {
        let before = self.space(osd.id).map(|space| (space.received, space.sent, space.watch.crossings));
        self.add_osd(osd);
        if let (Some(space), Some(before)) = (self.space_mut(osd.id), before) {
            (space.received, space.sent, space.watch.crossings) = before;
        }
        self.begin(now, osd.id, osd.used_bytes);
    }

    /// Sets what is used beyond what groups take, from what is used in all, and begins its course.
    pub fn begin(&mut self, now: SimTime, osd: u32, used: Option<u64>) {
        let Some(space) = self.space_mut(osd) else { return };
        space.overhead = used.map_or(0, |used| used as i64 - space.held as i64);
        self.note(now, osd);
    }

    /// The space of an OSD; nothing of one that there is not.
    #[must_use]
    pub fn space(&self, osd: u32) -> Option<&Space> {
        self.spaces.get(osd as usize)?.as_ref()
    }

    /// The same, to be changed. What is used is noted by [`note`](Self::note) afterwards.
    pub fn space_mut(&mut self, osd: u32) -> Option<&mut Space> {
        self.spaces.get_mut(osd as usize)?.as_mut()
    }

    /// Every OSD with its space, by rising number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Space)> {
        self.spaces.iter().enumerate().filter_map(|(osd, space)| Some((osd as u32, space.as_ref()?)))
    }

    /// Follows an OSD's course: since the last note its bytes changed evenly.
    pub fn note(&mut self, now: SimTime, osd: u32) {
        let ratios = self.ratios;
        if let Some(space) = self.space_mut(osd) {
            let (used, promised, capacity) = (space.used(), space.used() + space.pending, space.capacity);
            space.watch.note(now, used, promised, capacity, ratios);
        }
    }

    /// How Ceph judges an OSD, were so many bytes more promised there.
    #[must_use]
    pub fn judge(&self, osd: u32, more: u64) -> Fullness {
        let Some(space) = self.space(osd) else { return Fullness::Free };
        let physical = space.ratio(space.used());
        let promised = space.ratio(space.used() + space.pending + more);
        if physical > self.ratios.failsafe {
            Fullness::Failsafe
        } else if promised > self.ratios.full {
            Fullness::Full
        } else if promised > self.ratios.backfillfull {
            Fullness::Backfillfull
        } else if physical > self.ratios.nearfull {
            Fullness::Nearfull
        } else {
            Fullness::Free
        }
    }

    /// Promises space to a backfill, unless the OSD would be backfillfull with it.
    ///
    /// # Arguments
    /// * `primary`, `local` - the group's bytes, as pieces of it: what its primary has, and what the target has.
    pub fn promise(&mut self, now: SimTime, osd: u32, claimant: Claimant, primary: u64, local: u64) -> bool {
        let promise = Promise { primary, local };
        if self.judge(osd, promise.pending()) >= Fullness::Backfillfull {
            return false;
        }
        if let Some(space) = self.space_mut(osd) {
            space.pending += promise.pending();
            space.promises.insert(claimant, promise);
        }
        self.note(now, osd);
        true
    }

    /// Counts what came of a promise.
    pub fn came(&mut self, osd: u32, claimant: Claimant, local: u64) {
        if let Some(space) = self.space_mut(osd)
            && let Some(promise) = space.promises.get_mut(&claimant)
        {
            let before = promise.pending();
            promise.local = local;
            space.pending = space.pending - before + promise.pending();
        }
    }

    /// Takes a promise back.
    pub fn forget(&mut self, now: SimTime, osd: u32, claimant: Claimant) {
        if let Some(space) = self.space_mut(osd)
            && let Some(promise) = space.promises.remove(&claimant)
        {
            space.pending -= promise.pending();
            self.note(now, osd);
        }
    }

    /// Who was promised space on an OSD.
    #[must_use]
    pub fn promised(&self, osd: u32) -> Vec<Claimant> {
        self.space(osd).map_or_else(Vec::new, |space| space.promises.keys().copied().collect())
    }
}
