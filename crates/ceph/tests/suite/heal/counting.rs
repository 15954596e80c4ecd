//! Runs that are counted from a later time on.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use resilver_ceph::{Change, ClusterInput};

use super::at;
use super::random::{change, run_with, small};
use super::steady::SteadyPlane;

// Rule: counting from later on changes nothing that happens. It begins with what is there then; what moves later is what moves in
// all less what moved before, and once all is over nothing is left to count.
fn is_the_same_from(from: f64, changes: Vec<(u32, Change)>) -> Result<(), TestCaseError> {
    let mut input = small();
    input.plan = changes.into_iter().map(|(time, change)| at(f64::from(time), change)).collect();
    let run = |input: &ClusterInput| run_with(input, Box::new(SteadyPlane::new(2e6)));
    let plain = run(&input);
    let counted = run(&ClusterInput { counted_from_seconds: from, ..input.clone() });
    prop_assert_eq!(counted.digest, plain.digest);
    for column in ["pgid", "state", "reason", "osds"] {
        prop_assert_eq!(counted.texts("stuck", column), plain.texts("stuck", column));
    }
    for column in ["used_end_bytes", "received_bytes", "sent_bytes", "groups_end"] {
        prop_assert_eq!(counted.counts("osds", column), plain.counts("osds", column));
    }
    for column in ["recovered_bytes", "moved_bytes"] {
        for (later, all) in counted.counts("pools", column).iter().zip(plain.counts("pools", column)) {
            prop_assert!(later <= all && (plain.seconds > from || *later == 0), "{column}: {later} of {all}");
        }
    }
    let first = counted.reals("timeline", "time_seconds")[0].unwrap();
    prop_assert!(first == from.min(counted.seconds));
    let (start, peak) = (counted.counts("osds", "used_start_bytes"), counted.counts("osds", "peak_used_bytes"));
    let end = counted.counts("osds", "used_end_bytes");
    prop_assert!(start.iter().zip(peak).all(|(start, peak)| start <= peak));
    prop_assert!(plain.seconds > from || start == end, "{start:?}, {end:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_run_is_the_same_from_wherever_it_is_counted(
        changes in prop::collection::vec((0..3000_u32, change()), 1..6),
        from in prop::sample::select(vec![0.5, 40.0, 1000.0, 1500.5, 4000.0, 199_000.0]),
    ) {
        is_the_same_from(from, changes)?;
    }
}

// What comes to an OSD until it is marked out is recovered: by the sets behind that change it would have moved.
#[test]
fn what_came_before_a_change_is_counted_by_the_sets_before_it() {
    let changes = vec![(581, Change::Fail { osds: vec![6] }), (1241, Change::Out { osds: vec![7] })];
    is_the_same_from(1000.0, changes).unwrap();
}
