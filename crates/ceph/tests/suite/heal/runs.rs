//! Whole runs, of works at a constant rate.

use resilver_ceph::{Change, ClusterInput, Flag, PoolLoad};

use super::{at, filled, healed};
use crate::common::{cluster, coded, replicated};

const MIB: u64 = 1 << 20;

/// Three racks of four hosts of three OSDs; three copies in 64 groups, 4+2 in 32; 100 objects of 4 MiB a group.
fn small() -> ClusterInput {
    let mut input = cluster(3, 4, 3);
    input.pools = vec![replicated(1, 64, 3), coded(5, 32, 4, 2)];
    filled(&mut input, 100, 400 * MIB);
    input
}

// Rule: a cluster to which nothing happens stays as it is, and nothing moves.
#[test]
fn nothing_comes_of_nothing() {
    let outcome = healed(&small(), 1e8).unwrap();
    assert_eq!(outcome.counts("pools", "recovered_bytes"), [0, 0]);
    assert_eq!(outcome.reals("pools", "whole_seconds"), [Some(0.0); 2]);
    assert!(outcome.texts("stuck", "pgid").is_empty());
    // 64 groups of 3 copies of 400 MiB; 32 of 6 pieces of a quarter of that.
    let used: i64 = outcome.counts("osds", "used_end_bytes").iter().sum();
    assert_eq!(used as u64, 64 * 3 * 400 * MIB + 32 * 6 * 100 * MIB);
}

// Rule: an OSD that is stopped and marked out is made whole again elsewhere; what moves is at least what must, all laws hold (the run
// checks them), and the same input gives the same bytes.
#[test]
fn a_lost_osd_is_made_anew() {
    let mut input = small();
    input.plan = vec![at(10.0, Change::Stop { osds: vec![5] }), at(610.0, Change::Out { osds: vec![5] })];
    let outcome = healed(&input, 1e8).unwrap();
    assert!(outcome.texts("stuck", "pgid").is_empty());
    let degraded: Vec<i64> = outcome.counts("timeline", "degraded_objects").to_vec();
    assert_eq!((degraded[0], *degraded.last().unwrap()), (0, 0));
    let lost = outcome.counts("osds", "groups_start")[5];
    // Nothing moves before the OSD is out, so that its groups lack their 100 objects until then.
    assert_eq!(*degraded.iter().max().unwrap(), lost * 100);
    for pool in 0..2 {
        assert!(outcome.reals("pools", "degraded_seconds")[pool].unwrap() > 610.0);
        let moved = outcome.counts("pools", "recovered_bytes")[pool] + outcome.counts("pools", "moved_bytes")[pool];
        assert!(moved >= outcome.counts("pools", "least_bytes")[pool]);
    }
    assert_eq!(outcome.counts("osds", "groups_end")[5], 0);
    assert_eq!(outcome, healed(&input, 1e8).unwrap());
}

// Rule: an OSD that comes back before it is out has what it had; without writes nothing moves, with a few its log tells what it
// lacks, and after more than the log holds it is filled.
#[test]
fn a_returning_osd_lacks_what_was_written() {
    let mut input = small();
    input.pools.truncate(1);
    filled(&mut input, 10_000, 400 * MIB);
    input.plan = vec![at(10.0, Change::Stop { osds: vec![5] }), at(310.0, Change::Start { osds: vec![5] })];
    let still = healed(&input, 1e8).unwrap();
    assert_eq!(still.counts("pools", "recovered_bytes"), [0]);
    assert_eq!(still.reals("pools", "degraded_seconds"), [Some(310.0)]);
    let groups = still.counts("osds", "groups_start")[5] as u64;
    // 64 writes a second on 64 groups: 300 to each in 300 s, below the 10,000 entries of a log.
    let writes = |rate: f64| vec![PoolLoad { writes_per_second: rate, write_bytes: 4096, ..PoolLoad::default() }];
    input.load = writes(64.0);
    let few = healed(&input, 1e8).unwrap();
    // 10,000 (1 - (1 - 1/10,000)^300) = 295.5.
    let recovered = few.counts("pools", "recovered_bytes")[0] as u64;
    assert_eq!(recovered, groups * 296 * (400 * MIB).div_ceil(10_000));
    assert!(few.counts("timeline", "recovering_groups").iter().any(|&groups| groups > 0));
    assert!(few.counts("timeline", "backfilling_groups").iter().all(|&groups| groups == 0));
    // 64,000 a second are 300,000 to each group: no log holds them, and every object is written.
    input.load = writes(64_000.0);
    let many = healed(&input, 1e8).unwrap();
    assert_eq!(many.counts("pools", "recovered_bytes")[0] as u64, groups * 10_000 * (400 * MIB).div_ceil(10_000));
    assert!(many.counts("timeline", "backfilling_groups").iter().any(|&groups| groups > 0));
}

// Rule: with one slot an OSD, a primary has one group under way and a target one; more slots are not slower.
#[test]
fn slots_limit_what_moves_at_a_time() {
    let mut input = small();
    input.plan = vec![at(0.0, Change::Out { osds: vec![0, 1, 2] })];
    let one = healed(&input, 1e8).unwrap();
    // 33 OSDs that stay in, one local slot each; the three that drain are primaries as well.
    assert!(one.counts("timeline", "backfilling_groups").iter().all(|&groups| groups <= 36));
    input.osd_settings[0].osd_max_backfills = 4;
    let four = healed(&input, 1e8).unwrap();
    assert!(four.reals("pools", "whole_seconds")[0] < one.reals("pools", "whole_seconds")[0]);
    // A drain leaves no copy behind, and nothing was degraded.
    for outcome in [&one, &four] {
        assert_eq!(outcome.counts("timeline", "degraded_objects").iter().max(), Some(&0));
        assert_eq!(outcome.counts("osds", "used_end_bytes")[..3], [0, 0, 0]);
        assert_eq!(outcome.counts("pools", "recovered_bytes"), [0, 0]);
    }
}

// Rule: noout and its like: under nobackfill and norecover nothing moves until they are unset; under norebalance what is degraded
// moves, and what is misplaced does not.
#[test]
fn flags_hold_what_they_name() {
    let flags = |set: &[Flag], unset: &[Flag]| Change::Flags { set: set.to_vec(), unset: unset.to_vec() };
    for flag in [Flag::NoBackfill, Flag::NoRecover, Flag::NoRebalance] {
        let mut input = small();
        input.flags = vec![flag];
        input.plan = vec![at(0.0, Change::Out { osds: vec![7] })];
        input.horizon_seconds = 5000.0;
        let held = healed(&input, 1e8).unwrap();
        assert_eq!(held.counts("pools", "moved_bytes"), [0, 0], "{flag:?}");
        assert!(held.texts("stuck", "reason").iter().any(|reason| reason.contains("flag")));
        input.plan.push(at(1000.0, flags(&[], &[flag])));
        let freed = healed(&input, 1e8).unwrap();
        assert!(freed.texts("stuck", "pgid").is_empty());
        assert!(freed.reals("pools", "whole_seconds")[0].unwrap() > 1000.0);
    }
    let mut input = small();
    input.flags = vec![Flag::NoRebalance];
    input.plan = vec![at(0.0, Change::Stop { osds: vec![7] }), at(0.0, Change::Out { osds: vec![7] })];
    let repaired = healed(&input, 1e8).unwrap();
    assert!(repaired.counts("pools", "recovered_bytes").iter().all(|&bytes| bytes > 0));
}

// Rule: a backfill that a more urgent one preempts goes on from where it was: no object moves twice.
#[test]
fn a_preempted_backfill_resumes() {
    let mut input = small();
    input.pools.truncate(1);
    filled(&mut input, 1000, 4000 * MIB);
    // A drain begins, and an OSD dies in the midst of it.
    input.plan = vec![at(0.0, Change::Out { osds: vec![0] })];
    let drain = healed(&input, 1e7).unwrap();
    input.plan.push(at(100.0, Change::Stop { osds: vec![20] }));
    input.plan.push(at(150.0, Change::Out { osds: vec![20] }));
    let both = healed(&input, 1e7).unwrap();
    assert!(both.texts("stuck", "pgid").is_empty());
    assert!(both.reals("pools", "whole_seconds")[0] > drain.reals("pools", "whole_seconds")[0]);
    let moved = both.counts("pools", "recovered_bytes")[0] + both.counts("pools", "moved_bytes")[0];
    let least = both.counts("pools", "least_bytes")[0];
    // The second change of the map may move a group's target once more, and only what had come there by then is moved in vain: 50 s
    // of 10 MB/s of at most 36 backfills under way.
    assert!(moved >= least && moved - least <= 36 * 150 * 10_000_000, "{moved} of {least}");
}

// Rule: groups of which fewer copies than min_size are up serve nobody, and those whose data is nowhere up wait for who has it.
#[test]
fn too_few_copies_serve_nobody() {
    let mut input = small();
    input.pools.truncate(1);
    // Hosts 0 to 3 are a rack; the rule spreads over hosts, so that some groups lose two or three copies with it.
    input.plan = vec![at(5.0, Change::Stop { osds: (0..12).collect() })];
    let stopped = healed(&input, 1e8).unwrap();
    let inactive = *stopped.counts("timeline", "inactive_groups").last().unwrap();
    let states = stopped.texts("stuck", "state");
    let is_inactive = |state: &&String| state.contains("peered") || *state == "down";
    assert!(inactive > 0);
    assert_eq!(states.iter().filter(is_inactive).count() as i64, inactive);
    assert!(states.iter().any(|state| state == "active+undersized+degraded"));
    // Stopped in order, so that nothing is lost; who dies takes its data along.
    assert_eq!(stopped.counts("pools", "lost_groups"), [0]);
    let down = states.iter().filter(|&state| state == "down").count() as i64;
    assert!(down > 0);
    let reasons = stopped.texts("stuck", "reason");
    assert!(reasons.iter().any(|reason| reason.contains("it waits for osd.")));
}
