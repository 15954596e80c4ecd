//! What monitors, manager and balancer do by themselves, driven by a loop that has nothing but a map and a clock.

mod balancer;
mod manager;
mod monitor;

use resilver_ceph::agents::{Agent, Health, PoolHealth};
use resilver_ceph::map::{MapChange, OsdMap};
use resilver_ceph::{Change, ClusterInput};
use resilver_units::SimTime;

/// The time of so many seconds.
fn at(seconds: f64) -> SimTime {
    SimTime::from_picoseconds((seconds * 1e12) as u64)
}

/// A cluster that is whole: all groups active and clean, nothing misplaced.
fn whole(map: &OsdMap) -> Health {
    let pool = |pool: &resilver_ceph::PoolInput| PoolHealth {
        objects: 1_000_000,
        clean_groups: pool.pool.pg_num,
        unpeered_groups: 0,
        mergeable: true,
    };
    Health { pieces: 1_000_000, pools: map.pools().iter().map(pool).collect(), ..Health::default() }
}

/// Runs an agent over the steps of a plan.
///
/// # Arguments
/// * `plan` - (seconds, change), by rising time.
/// * `seconds` - when it ends.
/// * `health` - how the cluster is at a time, given the map.
///
/// # Returns
/// What the agent changed, and when.
fn run(
    map: &mut OsdMap,
    agent: &mut dyn Agent,
    plan: &[(f64, Change)],
    seconds: f64,
    health: &dyn Fn(f64, &OsdMap) -> Health,
) -> Vec<(f64, MapChange)> {
    let (mut log, mut now) = (Vec::new(), SimTime::ZERO);
    let mut plan = plan.iter().peekable();
    agent.saw(now, map);
    loop {
        let step = plan.peek().map(|step| at(step.0));
        let looks = agent.next().filter(|&next| step.is_none_or(|step| next < step));
        let Some(next) = looks.or(step).filter(|&next| next <= at(seconds)) else { return log };
        assert!(next >= now, "time goes back from {now:?} to {next:?}");
        now = next;
        if looks.is_none() {
            map.apply(&plan.next().unwrap().1).unwrap();
            agent.saw(now, map);
            continue;
        }
        let health = health(now.seconds(), map);
        let changes = agent.act(now, map, &health);
        for change in &changes {
            map.act(change);
            log.push((now.seconds(), change.clone()));
        }
        if !changes.is_empty() {
            agent.saw(now, map);
        } else {
            assert!(agent.next() != Some(now), "the agent looks for ever at {now:?}");
        }
    }
}

fn map_of(input: &ClusterInput) -> OsdMap {
    OsdMap::new(input).unwrap()
}
