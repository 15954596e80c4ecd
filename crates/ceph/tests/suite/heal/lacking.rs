//! Who holds what is left of a group, and until when.

use resilver_ceph::{Change, ClusterInput, Healing, tables};
use resilver_redundancy::Code;

use super::{Outcome, at, filled};
use crate::common::{cluster, coded, replicated};

/// Three racks of four hosts of three OSDs; three copies in 64 groups, 4+2 in 32; monitors, manager and balancer are there.
fn small(plan: Vec<resilver_ceph::Step>) -> ClusterInput {
    let mut input = cluster(3, 4, 3);
    input.pools = vec![replicated(1, 64, 3), coded(5, 32, 4, 2)];
    filled(&mut input, 100, 400 << 20);
    input.plan = plan;
    input
}

fn run(input: &ClusterInput) -> Outcome {
    let mut healing = Healing::of(input).unwrap();
    healing.run().unwrap();
    let digest = healing.digest().value();
    Outcome { tables: tables(&mut healing), digest, seconds: healing.now().seconds() }
}

// Rule: groups of an OSD that died lack its piece from when it is down until it is made anew; the other members of their sets hold what
// is left, and both three copies and 4+2 survive one loss more. The last of a pool ends when nothing of the pool is degraded.
#[test]
fn a_dead_osd_leaves_its_groups_with_the_rest_of_their_sets() {
    let outcome = run(&small(vec![at(10.0, Change::Fail { osds: vec![5] })]));
    let osds = outcome.texts("lacking", "osds");
    assert_eq!(osds.len() as i64, outcome.counts("osds", "groups_start")[5]);
    for (pool, left) in [(1, 2), (5, 5)] {
        let rows: Vec<usize> = (0..osds.len()).filter(|&row| outcome.counts("lacking", "pool")[row] == pool).collect();
        assert!(!rows.is_empty());
        let mut last = 0.0_f64;
        for row in rows {
            let holders: Vec<u32> = osds[row].split(' ').map(|osd| osd.parse().unwrap()).collect();
            assert!(holders.len() == left && !holders.contains(&5), "{holders:?}");
            assert_eq!(outcome.counts("lacking", "survives")[row], 1);
            // Heartbeats find it after the grace of 20 s, looked at every few seconds.
            let from = outcome.reals("lacking", "from_seconds")[row].unwrap();
            assert!((30.0..=40.0).contains(&from), "{from}");
            last = last.max(outcome.reals("lacking", "until_seconds")[row].unwrap());
        }
        let place = usize::from(pool == 5);
        assert_eq!(outcome.reals("pools", "degraded_seconds")[place], Some(last));
    }
}

// Rule: two that die together leave groups of both with one loss less to survive, and a group of three copies on all three OSDs that
// died has lost its data.
#[test]
fn each_further_death_is_survived_by_one_less() {
    let two = run(&small(vec![at(10.0, Change::Fail { osds: vec![5, 10] })]));
    let found = two.counts("lacking", "survives");
    assert!(found.contains(&0) && found.iter().all(|left| (0..=1).contains(left)), "{found:?}");
    let whole = run(&small(Vec::new()));
    assert!(whole.texts("lacking", "osds").is_empty());
}

// Rule: of 4 + 4 pieces any 4 are enough, of an lrc by the layers DDc_DDc_, DDDc____ and ____DDDc not: where a shard is lost and then its
// group's parity, the layers do not restore both.
#[test]
fn a_code_says_how_many_more_a_group_survives() {
    for (code, survives) in [(None, 3), (Some("ceph lrc 4+2 local 3"), 0)] {
        let mut input = small(vec![at(10.0, Change::Fail { osds: vec![5] })]);
        input.pools = vec![coded(5, 32, 4, 4)];
        input.pools[0].code = code.map(|code| Code::parse(code).unwrap());
        filled(&mut input, 100, 400 << 20);
        let outcome = run(&input);
        let found = outcome.counts("lacking", "survives");
        assert!(!found.is_empty() && found.iter().all(|&left| left == survives), "{found:?}");
        assert_eq!(outcome.counts("timeline", "at_risk_groups").iter().any(|&groups| groups > 0), survives == 0);
    }
}

// Rule: what an OSD holds that is stopped in order is away and not lost, whether it comes back or not.
#[test]
fn a_stopped_osd_takes_nothing() {
    let stopped = vec![at(10.0, Change::Stop { osds: vec![5] }), at(310.0, Change::Start { osds: vec![5] })];
    let outcome = run(&small(stopped));
    assert!(outcome.counts("timeline", "degraded_groups").iter().any(|&groups| groups > 0));
    assert!(outcome.texts("lacking", "osds").is_empty());
}
