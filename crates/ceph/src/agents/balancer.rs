//! The manager's balancer: rounds of upmap entries.
//!
//! Source: `do_upmap` and `optimize` of Ceph's balancer module; the entries are those of [`calc_pg_upmaps`].

use resilver_crush::balance::{CountLimits, RawSets, Retries, calc_pg_upmaps};
use resilver_kernel::{Purpose, Stream};
use resilver_units::SimTime;

use super::{Agent, Health, length, tick};
use crate::map::{MapChange, OsdMap};

/// Pools and groups in an order that is drawn.
const ORDER: Purpose = Purpose::named("balancer");

/// Steps that did not help before one turns to the other side (`osd_calc_pg_upmaps_local_fallback_retries`).
const FALLBACK_RETRIES: u32 = 100;

/// Turns in a row that find nothing after which a pool is let be until the map changes. Each draws other orders, so Ceph's, which
/// never gives up, may find an entry later yet.
const BARREN_TURNS: u32 = 10;

/// The balancer, in mode upmap.
///
/// Every `balancer_sleep_interval`, while it is on, nothing is degraded, inactive or being made and less than
/// `target_max_misplaced_ratio` is misplaced, it goes through the pools in an order that is drawn, those that are being merged left out, and
/// writes at most `upmap_max_optimizations` entries, of a pool no more than it has clean groups.
#[derive(Debug)]
pub struct Balancer {
    next: Option<SimTime>,
    draws: Stream,
    /// Sets of CRUSH alone, by pool, and of which layout of the map.
    raw: Vec<Option<RawSets>>,
    layout: u64,
    /// Entries that each pool still takes, about, as its last turn left it.
    left: Vec<u64>,
    /// Turns in a row that found nothing, by pool, and the epoch of the map for which they are counted.
    barren: Vec<u32>,
    epoch: u64,
}

impl Balancer {
    /// A balancer that has seen nothing yet.
    ///
    /// # Arguments
    /// * `seed` - of the run.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            next: None,
            draws: Stream::new(seed, 0, ORDER),
            raw: Vec::new(),
            layout: 0,
            left: Vec::new(),
            barren: Vec::new(),
            epoch: 0,
        }
    }

    /// Forgets what was of another map.
    fn forget(&mut self, map: &OsdMap) {
        if self.raw.is_empty() || self.layout != map.layout {
            self.raw = map.pools.iter().map(|_| None).collect();
            self.layout = map.layout;
            self.left = vec![0; map.pools.len()];
        }
        if self.epoch != map.epoch {
            self.barren = vec![0; map.pools.len()];
            self.epoch = map.epoch;
        }
    }

    /// The entries of one pool's turn.
    fn turn(&mut self, map: &OsdMap, place: usize, steps: usize) -> Vec<MapChange> {
        let pool = &map.pools[place].pool;
        if self.raw[place].is_none() {
            self.raw[place] = RawSets::place(&map.crush, pool, map.states()).ok();
        }
        // A pool without a rule cannot be placed, and so has nothing to even out.
        let Some(raw) = &self.raw[place] else { return Vec::new() };
        let limits = CountLimits { steps, deviation: map.settings.upmap_max_deviation };
        let draws = &mut self.draws;
        let mut shuffle = |groups: &mut [u32]| shuffle(draws, groups);
        let retries = Retries { most: FALLBACK_RETRIES, shuffle: &mut shuffle };
        let (entries, left) = calc_pg_upmaps(&[(pool, raw)], map.states(), limits, Some(retries));
        self.left[place] = if entries.is_empty() { 0 } else { left };
        entries
            .into_iter()
            .map(|entry| MapChange::Upmap { pool: place, group: entry.group, pairs: entry.pairs })
            .collect()
    }
}

/// Puts things into an order that is drawn (Fisher and Yates).
fn shuffle<T>(draws: &mut Stream, things: &mut [T]) {
    for last in (1..things.len()).rev() {
        things.swap(last, draws.below(last as u64 + 1) as usize);
    }
}

impl Agent for Balancer {
    fn saw(&mut self, now: SimTime, map: &OsdMap) {
        self.forget(map);
        if !map.balancer || map.pools.is_empty() {
            self.next = None;
            return;
        }
        let interval = length(map.settings.balancer_sleep_interval);
        self.next = Some(self.next.filter(|&next| next >= now).unwrap_or_else(|| tick(now, interval, true)));
    }

    fn next(&self) -> Option<SimTime> {
        self.next
    }

    fn waits(&self, health: &Health) -> bool {
        health.is_hurt()
    }

    fn to_move(&self) -> u64 {
        if self.next.is_none() { 0 } else { self.left.iter().sum() }
    }

    fn act(&mut self, now: SimTime, map: &OsdMap, health: &Health) -> Vec<MapChange> {
        // Another agent may have changed the map at this very time, which is seen by all only afterwards.
        self.forget(map);
        let settings = &map.settings;
        self.next = Some(tick(now, length(settings.balancer_sleep_interval), false));
        if health.is_hurt() || health.misplaced_ratio() >= settings.target_max_misplaced_ratio {
            return Vec::new();
        }
        let merges = |place: &usize| map.pools[*place].pool.pg_num > map.pools[*place].pg_num_target;
        let mut order: Vec<usize> = (0..map.pools.len()).filter(|place| !merges(place)).collect();
        shuffle(&mut self.draws, &mut order);
        let (mut changes, mut left) = (Vec::new(), settings.upmap_max_optimizations as usize);
        for place in order {
            let clean = health.pools.get(place).map_or(0, |pool| pool.clean_groups);
            let steps = left.min(clean as usize);
            if steps == 0 || self.barren[place] >= BARREN_TURNS {
                continue;
            }
            let entries = self.turn(map, place, steps);
            if entries.is_empty() {
                self.barren[place] += 1;
            }
            left = left.saturating_sub(entries.len());
            changes.extend(entries);
        }
        let is_done = |place: usize| merges(&place) || self.barren[place] >= BARREN_TURNS;
        if (0..map.pools.len()).all(is_done) {
            self.next = None;
        }
        changes
    }
}
