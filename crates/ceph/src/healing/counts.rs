//! Counts over all groups, kept as groups change.

use resilver_units::SimTime;

use crate::agents::{Health, PoolHealth};
use crate::groups::{Group, Moving, Protection, Tally};

/// Groups and objects of a kind, over all groups.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) degraded_objects: u64,
    pub(crate) misplaced_objects: u64,
    pub(crate) degraded: u64,
    pub(crate) undersized: u64,
    pub(crate) at_risk: u64,
    pub(crate) inactive: u64,
    pub(crate) backfilling: u64,
    pub(crate) recovering: u64,
    pub(crate) waiting: u64,
    pub(crate) toofull: u64,
    pub(crate) deleting: u64,
}

/// What a pool's groups came to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PoolCounts {
    pub(crate) groups: u64,
    pub(crate) degraded: u64,
    pub(crate) at_risk: u64,
    pub(crate) inactive: u64,
    pub(crate) unclean: u64,
    pub(crate) unpeered: u64,
    /// When each of these last fell to none.
    pub(crate) degraded_until: SimTime,
    pub(crate) at_risk_until: SimTime,
    pub(crate) inactive_until: SimTime,
    pub(crate) unclean_until: SimTime,
}

/// The counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    pub(crate) totals: Totals,
    pub(crate) pools: Vec<PoolCounts>,
    /// How often a group came to be clean that had not been.
    pub(crate) cleaned: u64,
    /// Objects of each pool.
    objects: Vec<u64>,
    /// Pieces of all objects, as many as there should be.
    pieces: u64,
}

fn step(count: &mut u64, holds: bool, enters: bool) {
    if holds {
        if enters { *count += 1 } else { *count -= 1 }
    }
}

impl Counts {
    /// No groups of so many pools.
    pub(crate) fn new(pools: usize) -> Self {
        Counts { pools: vec![PoolCounts::default(); pools], ..Counts::default() }
    }

    /// Counts a group in, or out.
    pub(crate) fn count(&mut self, pool: usize, tally: &Tally, moving: Moving, enters: bool) {
        let totals = &mut self.totals;
        if enters {
            totals.degraded_objects += tally.degraded;
            totals.misplaced_objects += tally.misplaced;
        } else {
            totals.degraded_objects -= tally.degraded;
            totals.misplaced_objects -= tally.misplaced;
        }
        step(&mut totals.degraded, is_degraded(tally), enters);
        step(&mut totals.undersized, tally.is_undersized, enters);
        step(&mut totals.at_risk, tally.is_at_risk, enters);
        step(&mut totals.inactive, tally.is_inactive, enters);
        step(&mut totals.backfilling, moving == Moving::Backfilling, enters);
        step(&mut totals.recovering, moving == Moving::Recovering, enters);
        step(&mut totals.waiting, matches!(moving, Moving::BackfillWait | Moving::RecoveryWait), enters);
        step(&mut totals.toofull, matches!(moving, Moving::BackfillToofull | Moving::RecoveryToofull), enters);
        let pool = &mut self.pools[pool];
        step(&mut pool.groups, true, enters);
        step(&mut pool.degraded, is_degraded(tally), enters);
        step(&mut pool.at_risk, tally.is_at_risk, enters);
        step(&mut pool.inactive, tally.is_inactive, enters);
        step(&mut pool.unclean, !tally.is_clean(), enters);
        step(&mut pool.unpeered, tally.is_down, enters);
    }

    /// Notes when a pool's last group of a kind ceased to be one, after a group went from one count to another.
    pub(crate) fn note(&mut self, now: SimTime, pool: usize, was: &Tally) {
        let pool = &mut self.pools[pool];
        if is_degraded(was) && pool.degraded == 0 {
            pool.degraded_until = now;
        }
        if was.is_at_risk && pool.at_risk == 0 {
            pool.at_risk_until = now;
        }
        if was.is_inactive && pool.inactive == 0 {
            pool.inactive_until = now;
        }
        if !was.is_clean() && pool.unclean == 0 {
            pool.unclean_until = now;
        }
    }

    /// Adds up what the groups hold: it changes only where groups are split or merged, or a pool has another size.
    pub(crate) fn measure(&mut self, groups: &[Group], protections: &[Protection]) {
        self.pieces = 0;
        self.objects = vec![0; protections.len()];
        for group in groups.iter().filter(|group| group.exists) {
            self.objects[group.pool] += group.contents.objects;
            self.pieces += group.contents.objects * u64::from(protections[group.pool].size);
        }
    }

    /// What the monitors and the manager see.
    pub(crate) fn health(&self) -> Health {
        let pool = |(counts, &objects): (&PoolCounts, &u64)| PoolHealth {
            objects,
            clean_groups: (counts.groups - counts.unclean) as u32,
            unpeered_groups: counts.unpeered as u32,
            mergeable: false,
        };
        Health {
            pieces: self.pieces,
            degraded_pieces: self.totals.degraded_objects,
            misplaced_pieces: self.totals.misplaced_objects,
            inactive_groups: self.totals.inactive as u32,
            creating_groups: 0,
            pools: self.pools.iter().zip(&self.objects).map(pool).collect(),
        }
    }
}

/// Ceph calls a group degraded where it lacks objects; one that has none, and lacks an OSD, is undersized alone.
pub(crate) fn is_degraded(tally: &Tally) -> bool {
    tally.degraded > 0
}
