//! The manager: from the number of groups that a pool has to the number that it is to have.
//!
//! Source: Ceph's `DaemonServer::adjust_pgs`. Its statistics are some seconds old (`mgr_stats_period`, 5 s), ours are not; and a merge,
//! which in Ceph waits for both groups to stand still, takes one look here.

use std::collections::BTreeMap;

use resilver_units::{SimDuration, SimTime};

use super::{Agent, Health, PoolHealth, length, tick};
use crate::input::PoolInput;
use crate::map::{MapChange, OsdMap, parent_of};

/// Objects a group up to which a pool counts as empty, so that its placements change at once.
const OBJECTS_OF_AN_EMPTY_GROUP: u64 = 1;

/// The most groups by which placements run ahead of merges, where the share that may be misplaced is less.
const MERGES_AHEAD: f64 = 8.0;

/// The longest time between two looks while too much is misplaced.
const LONGEST_WAIT: SimDuration = SimDuration::from_picoseconds(300_000_000_000_000);

/// Looks that change nothing come after this part of the time since the map changed, where that is longer than the period: a merge that
/// waits for a day of backfill is noticed half an hour late at most, and not asked for 43,200 times.
const PART_OF_WAIT: u64 = 50;

/// The manager, as far as it changes numbers of groups.
///
/// It looks every `mgr_tick_period`. Groups are split as soon as all of a pool's groups have peered; placements (`pgp_num`) follow in
/// steps of at most half of `target_max_misplaced_ratio`, while nothing is degraded, inactive or being made and no more than that is
/// misplaced. Groups are merged one at a look, when the last and its parent are clean in the same place; placements go ahead of that.
/// An operator (`pg_num_by_operator`) splits all groups at once, and then moves all placements.
#[derive(Debug, Default)]
pub struct Manager {
    next: Option<SimTime>,
    /// When it last looked, and when it last saw the map change.
    looked: Option<SimTime>,
    changed: SimTime,
    /// When it last found too much misplaced, and how much.
    found: Option<(SimTime, f64)>,
    /// Whether only placements are left to change, and no groups.
    has_placements_only: bool,
}

impl Manager {
    /// A manager that has seen nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// When to look again while too much is misplaced: after half of the time that the rest takes at the pace so far, so that looks
    /// come closer as the limit does.
    fn after_wait(&mut self, now: SimTime, ratio: f64, most: f64, period: SimDuration) -> SimTime {
        let before = self.found.replace((now, ratio));
        let pace = before.map_or(0.0, |(time, before)| (before - ratio) / now.since(time).seconds().max(1e-9));
        let wait = if pace > 0.0 { length(((ratio - most) / pace / 2.0).min(LONGEST_WAIT.seconds())) } else { period };
        tick(now + SimDuration::from_picoseconds(wait.picoseconds().saturating_sub(1)), period, false)
    }
}

/// Where the placements of a pool should come to, as long as it has the groups that it has.
fn placements(pool: &PoolInput) -> u32 {
    pool.pool.pg_num.min(pool.pg_num_target)
}

fn has_work(pool: &PoolInput) -> bool {
    pool.pool.pg_num != pool.pg_num_target || pool.pool.pgp_num != placements(pool)
}

/// The next number of placements of a pool, at a share that is misplaced and the most that may be.
fn next_placements(pool: &PoolInput, health: &PoolHealth, misplaced: f64, most: f64) -> u32 {
    let (pg_num, pgp_num, target) = (pool.pool.pg_num, pool.pool.pgp_num, placements(pool));
    let final_target = pool.pg_num_target;
    if final_target > pgp_num && health.objects <= OBJECTS_OF_AN_EMPTY_GROUP * u64::from(final_target) {
        return target;
    }
    let room = (most - misplaced).min(most / 2.0);
    let step = ((f64::from(pg_num) * room) as u32).max(1);
    let next = target.clamp(pgp_num.saturating_sub(step), pgp_num.saturating_add(step));
    if final_target >= pg_num {
        return next;
    }
    let ahead = MERGES_AHEAD.max(f64::from(pg_num) * most) as u32;
    next.max(pg_num.saturating_sub(ahead))
}

/// What must happen for the last group of a pool to be merged: upmap entries of the two go first.
fn merge(map: &OsdMap, place: usize, health: &PoolHealth) -> Vec<MapChange> {
    let pool = &map.pools[place].pool;
    let exceptions = &pool.exceptions;
    let last = pool.pg_num - 1;
    let mut changes = Vec::new();
    for group in [last, parent_of(last, last.max(1))] {
        if exceptions.upmap.contains_key(&group) {
            changes.push(MapChange::DropUpmap { pool: place, group, primary: false });
        }
        if exceptions.upmap_items.contains_key(&group) {
            changes.push(MapChange::Upmap { pool: place, group, pairs: Vec::new() });
        }
    }
    if changes.is_empty() && pool.pgp_num < pool.pg_num && health.mergeable {
        changes.push(MapChange::Merge { pool: place });
    }
    changes
}

impl Agent for Manager {
    fn saw(&mut self, now: SimTime, map: &OsdMap) {
        let mut at_work = map.pools.iter().filter(|pool| has_work(pool)).peekable();
        if at_work.peek().is_none() {
            *self = Self::default();
            return;
        }
        self.has_placements_only = at_work.all(|pool| pool.pool.pg_num == pool.pg_num_target);
        self.changed = now;
        self.next = Some(tick(now, length(map.settings.mgr_tick_period), self.looked != Some(now)));
    }

    fn next(&self) -> Option<SimTime> {
        self.next
    }

    fn waits(&self, health: &Health) -> bool {
        self.has_placements_only && health.is_hurt()
    }

    fn act(&mut self, now: SimTime, map: &OsdMap, health: &Health) -> Vec<MapChange> {
        let (settings, mut changes) = (&map.settings, Vec::new());
        let period = length(settings.mgr_tick_period);
        self.looked = Some(now);
        let by_operator = settings.pg_num_by_operator;
        let most = if by_operator { f64::INFINITY } else { settings.target_max_misplaced_ratio };
        let misplaced = health.misplaced_ratio();
        let at_a_time = if by_operator { u32::MAX } else { settings.mon_osd_max_creating_pgs.max(1) };
        let mut left = at_a_time.saturating_sub(health.creating_groups);
        let mut placements_of = BTreeMap::new();
        for (place, pool) in map.pools.iter().enumerate().filter(|(_, pool)| has_work(pool)) {
            if left == 0 {
                break;
            }
            let own = health.pools.get(place).copied().unwrap_or_default();
            let pg_num = pool.pool.pg_num;
            if pool.pg_num_target > pg_num && own.unpeered_groups == 0 {
                let more = left.min(pool.pg_num_target - pg_num);
                left -= more;
                changes.push(MapChange::Split { pool: place, pg_num: pg_num + more });
            } else if pool.pg_num_target < pg_num {
                let steps = merge(map, place, &own);
                let is_merge = matches!(steps.last(), Some(MapChange::Merge { .. }));
                changes.extend(steps);
                if is_merge {
                    continue;
                }
            }
            let waits_for_groups = pool.pool.pgp_num == pg_num && pool.pg_num_target > pg_num;
            if placements(pool) != pool.pool.pgp_num && !waits_for_groups && !health.is_hurt() && misplaced <= most {
                placements_of.insert(place, next_placements(pool, &own, misplaced, most));
            }
        }
        // The commands for placements follow those for groups.
        let differs = |entry: &(usize, u32)| map.pools[entry.0].pool.pgp_num != entry.1;
        let steps = placements_of.into_iter().filter(differs);
        changes.extend(steps.map(|(pool, pgp_num)| MapChange::PgpNum { pool, pgp_num }));
        self.next = Some(if misplaced > most && self.has_placements_only {
            self.after_wait(now, misplaced, most, period)
        } else {
            self.found = None;
            let waited = now.since(self.changed).picoseconds() / PART_OF_WAIT;
            tick(now + SimDuration::from_picoseconds(waited), period, waited > 0)
        });
        changes
    }
}
