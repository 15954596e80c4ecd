//! The monitors: who is down, who goes out, and who boots.
//!
//! Source: Ceph's `OSDMonitor::tick`, `can_mark_down`, `can_mark_out` and `prepare_boot`, and `OSDMap::containing_subtree_is_down`.
//! They look every `mon_tick_interval` (5 s); here they act on the second.

use std::collections::{BTreeMap, BTreeSet};

use resilver_crush::CrushMap;
use resilver_units::SimTime;

use super::{Agent, Health, length};
use crate::input::Flag;
use crate::map::{MapChange, OsdMap};

/// Since when an OSD is down and in.
#[derive(Debug, Clone, Copy)]
struct Timer {
    since: SimTime,
    /// Whether the bucket that the subtree limit names is down as a whole, which stops the clock at its start.
    is_held: bool,
}

/// The monitors.
///
/// An OSD whose process has ended is down after `osd_heartbeat_grace`, while `nodown` is not set and enough are up. One that is down and
/// in is out after `mon_osd_down_out_interval`, while `noout` is not set and enough are in, unless a whole bucket of the type
/// `mon_osd_down_out_subtree_limit` or above is down with it. An OSD that starts under `noup` boots when that goes.
#[derive(Debug, Default)]
pub struct Monitor {
    /// OSDs whose process has ended but that are up in the map, and since when.
    deaths: BTreeMap<u32, SimTime>,
    /// OSDs that are down and in.
    timers: BTreeMap<u32, Timer>,
    /// OSDs that run but are down in the map.
    boots: Vec<u32>,
    next: Option<SimTime>,
}

impl Monitor {
    /// Monitors that have seen nothing yet. OSDs that are down when they first see the map count as down from then on.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// When an OSD that is down goes out, if no clock is stopped.
    fn out_at(map: &OsdMap, timer: Timer) -> Option<SimTime> {
        let interval = map.settings.mon_osd_down_out_interval;
        (interval > 0.0 && !timer.is_held).then(|| timer.since + length(interval))
    }
}

/// Keeps a time for each of these OSDs, that of now for those that are new.
fn keep<T: Copy>(times: &mut BTreeMap<u32, T>, osds: &BTreeSet<u32>, fresh: T) {
    times.retain(|osd, _| osds.contains(osd));
    for &osd in osds {
        times.entry(osd).or_insert(fresh);
    }
}

/// Which buckets are down as a whole.
struct DownBuckets<'m> {
    map: &'m OsdMap,
    known: BTreeMap<i32, bool>,
}

impl DownBuckets<'_> {
    fn is_down(&mut self, item: i32) -> bool {
        let map = self.map;
        if let Ok(osd) = u32::try_from(item) {
            return !map.is_up(osd);
        }
        if let Some(&known) = self.known.get(&item) {
            return known;
        }
        let items = map.crush.bucket(item).map_or(&[][..], |bucket| bucket.items());
        let down = items.iter().all(|&inner| self.is_down(inner));
        self.known.insert(item, down);
        down
    }

    /// Whether the bucket of a type or above that holds an OSD is down as a whole.
    fn holds(&mut self, osd: u32, limit: i32) -> bool {
        let crush: &CrushMap = &self.map.crush;
        let mut above = std::iter::successors(Some(osd as i32), |&item| crush.parent_of(item));
        let type_of = |item: i32| crush.bucket(item).map_or(0, |bucket| bucket.type_id());
        above.find(|&item| type_of(item) >= limit).is_some_and(|item| self.is_down(item))
    }
}

impl Agent for Monitor {
    fn saw(&mut self, now: SimTime, map: &OsdMap) {
        let of = |wanted: &dyn Fn(u32) -> bool| -> BTreeSet<u32> {
            map.osds().map(|osd| osd.id).filter(|&osd| wanted(osd)).collect()
        };
        keep(&mut self.deaths, &of(&|osd| !map.runs(osd) && map.is_up(osd)), now);
        let down = of(&|osd| !map.is_up(osd) && !map.is_out(osd));
        keep(&mut self.timers, &down, Timer { since: now, is_held: false });
        let booting = of(&|osd| map.runs(osd) && !map.is_up(osd));
        self.boots = if map.has(Flag::NoUp) { Vec::new() } else { booting.into_iter().collect() };
        // A limit that names no type of the map, or its devices, limits nothing.
        let limit = map.crush.type_id(&map.settings.mon_osd_down_out_subtree_limit).filter(|&limit| limit > 0);
        let mut buckets = DownBuckets { map, known: BTreeMap::new() };
        for (&osd, timer) in &mut self.timers {
            let is_held = limit.is_some_and(|limit| buckets.holds(osd, limit));
            if timer.is_held && !is_held {
                timer.since = now;
            }
            timer.is_held = is_held;
        }
        let grace = length(map.settings.osd_heartbeat_grace);
        let down_at = self.deaths.values().map(|&since| since + grace).min().filter(|_| map.can_mark_down());
        let out_at = self.timers.values().filter_map(|&timer| Self::out_at(map, timer)).min();
        let out_at = out_at.filter(|_| map.can_mark_out(0));
        let boot_at = (!self.boots.is_empty()).then_some(now);
        self.next = [down_at, out_at, boot_at].into_iter().flatten().min().map(|time| time.max(now));
    }

    fn next(&self) -> Option<SimTime> {
        self.next
    }

    fn act(&mut self, now: SimTime, map: &OsdMap, _health: &Health) -> Vec<MapChange> {
        let mut changes = Vec::new();
        if !self.boots.is_empty() {
            changes.push(MapChange::Up(std::mem::take(&mut self.boots)));
        }
        let grace = length(map.settings.osd_heartbeat_grace);
        let dead: Vec<u32> = self.deaths.iter().filter(|death| *death.1 + grace <= now).map(|(&osd, _)| osd).collect();
        if !dead.is_empty() && map.can_mark_down() {
            changes.push(MapChange::Down(dead));
        }
        let mut out = Vec::new();
        if map.can_mark_out(0) {
            for (&osd, timer) in &mut self.timers {
                if Self::out_at(map, *timer).is_none_or(|time| time > now) {
                    continue;
                }
                if map.can_mark_out(out.len()) {
                    out.push(osd);
                } else {
                    // Too few would be in. Ceph forgets the OSD and comes upon it anew with the next map.
                    timer.since = now;
                }
            }
        }
        if !out.is_empty() {
            changes.push(MapChange::Out(out));
        }
        changes
    }
}
