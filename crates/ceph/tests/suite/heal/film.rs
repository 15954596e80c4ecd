//! The film of a run: who reads, who writes, and who waits for whom.

use proptest::prelude::*;
use resilver_ceph::{Change, ClusterInput, DataPlane, EventPlane, FlowPlane, HealError, Healing, PoolLoad};

use super::random::{change, run_with, small};
use super::steady::SteadyPlane;
use super::{Outcome, at, filled, healed};
use crate::common::{cluster, replicated};

/// A row: (time, since, OSD, bytes read a second, bytes written a second, groups that wait, for whom).
type Row = (f64, f64, usize, f64, f64, i64, Option<f64>);

fn rows(outcome: &Outcome) -> Vec<Row> {
    let real = |name: &str| outcome.reals("film", name).iter().map(|value| value.unwrap()).collect::<Vec<_>>();
    let (time, since) = (real("time_seconds"), real("since_seconds"));
    let (read, written) = (real("read_bytes_per_second"), real("written_bytes_per_second"));
    let (osd, waiting) = (outcome.counts("film", "osd"), outcome.counts("film", "waiting_groups"));
    let waits_for = outcome.reals("film", "waits_for");
    (0..time.len())
        .map(|at| (time[at], since[at], osd[at] as usize, read[at], written[at], waiting[at], waits_for[at]))
        .collect()
}

/// That a run is the same with a film and without, and that what the film shows adds up to what the OSDs sent and received.
fn check_film(input: &ClusterInput, most: u32, plane: impl Fn() -> Box<dyn DataPlane + Send + Sync>) -> Vec<Row> {
    let plain = run_with(input, plane());
    let filmed = run_with(&ClusterInput { frames: most, ..input.clone() }, plane());
    let (film, others) = filmed.tables.split_last().unwrap();
    assert_eq!(film.name, "film");
    assert_eq!((others, filmed.digest, filmed.seconds), (&plain.tables[..], plain.digest, plain.seconds));
    let rows = rows(&filmed);
    let mut times: Vec<f64> = rows.iter().map(|row| row.0).collect();
    assert!(times.is_sorted() && times.last().is_none_or(|&last| last <= filmed.seconds));
    times.dedup();
    assert!(times.len() <= most as usize);
    for (column, is_read) in [("sent_bytes", true), ("received_bytes", false)] {
        let mut sums = vec![0.0; filmed.counts("osds", column).len()];
        for &(time, since, osd, read, written, ..) in &rows {
            sums[osd] += if is_read { read } else { written } * (time - since);
        }
        for (osd, (sum, &bytes)) in sums.iter().zip(filmed.counts("osds", column)).enumerate() {
            assert!((sum - bytes as f64).abs() <= 1e-9 * bytes as f64 + 1e-3, "{column} of osd.{osd}: {sum}, {bytes}");
        }
    }
    rows
}

// Rule: the balancer places a pool's groups anew where the manager has split it at the very time of its turn.
#[test]
fn a_pool_is_split_in_the_moment_of_the_balancers_turn() {
    let mut input = small();
    // The pool of 16 groups is found to be split at 900 s, when the balancer has a turn.
    input.plan = vec![at(899.0, Change::PgNum { pool: 5, pg_num: 17 }), at(0.0, Change::Balance { on: true })];
    let outcome = run_with(&input, Box::new(SteadyPlane::new(2e6)));
    assert!(outcome.seconds >= 900.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    // Rule: looking changes nothing, bytes add up, and there are no more frames than were asked for, whatever happens.
    #[test]
    fn a_film_is_of_the_run_that_there_would_be_without_it(
        changes in prop::collection::vec((0..3000_u32, change()), 1..6),
        most in prop::sample::select(vec![2, 5, 40, 1000]),
        writes in prop::sample::select(vec![0.0, 50.0]),
    ) {
        let mut input = small();
        input.plan = changes.into_iter().map(|(time, change)| at(f64::from(time), change)).collect();
        if writes > 0.0 {
            input.load = vec![PoolLoad { writes_per_second: writes, write_bytes: 4096, ..PoolLoad::default() }; 2];
        }
        check_film(&input, most, || Box::new(SteadyPlane::new(2e6)));
        check_film(&input, most, || Box::new(FlowPlane::new(input.network)));
    }
}

// Rule: the same with every object and every client's request an event.
#[test]
fn a_film_by_events_adds_up() {
    let mut input = small();
    input.plan = vec![at(5.0, Change::Fail { osds: vec![3] }), at(30.0, Change::Out { osds: vec![9] })];
    input.load = vec![PoolLoad { reads_per_second: 20.0, read_bytes: 4096, ..PoolLoad::default() }; 2];
    for most in [3, 60] {
        let rows = check_film(&input, most, || Box::new(EventPlane::new(input.network, 1)));
        assert!(rows.iter().any(|row| row.3 > 0.0));
        if most == 60 {
            assert!(rows.iter().any(|row| row.5 > 0));
            let last = rows.last().unwrap().0;
            assert!(rows.iter().filter(|row| row.0 == last).all(|row| row.5 == 0));
        }
    }
}

// Rule: groups wait for the OSD that has no slot for them. Two copies on two of three OSDs; when the third comes in, its one slot takes
// one group after the other, while the others have slots for all: at first all but one wait for it, and never more than before.
#[test]
fn groups_wait_for_the_osd_whose_slot_they_lack() {
    let mut input = cluster(1, 3, 1);
    input.pools = vec![replicated(1, 32, 2)];
    filled(&mut input, 100, 100 << 20);
    let mut many = input.osd_settings[0].clone();
    many.osd_max_backfills = 100;
    input.osd_settings.push(many);
    (input.osds[0].settings, input.osds[1].settings) = (1, 1);
    input.osds[2].reweight = 0;
    input.plan = vec![at(10.0, Change::In { osds: vec![2] })];
    input.frames = 50;
    let outcome = healed(&input, 1e7).unwrap();
    let rows = rows(&outcome);
    let waiting = |time: f64| rows.iter().filter(|row| row.0 == time).map(|row| row.5).sum::<i64>();
    let mut times: Vec<f64> = rows.iter().map(|row| row.0).collect();
    times.dedup();
    let counts: Vec<i64> = times.iter().map(|&time| waiting(time)).collect();
    assert_eq!(counts[0], outcome.counts("osds", "groups_end")[2] - 1);
    assert!(counts.is_sorted_by(|before, after| before >= after) && counts.last() == Some(&0));
    for &(time, _, osd, read, written, waiting, waits_for) in &rows {
        assert!(osd == 2 || written == 0.0, "osd.{osd} writes at {time} s");
        assert!(osd != 2 || read == 0.0, "osd.2 reads at {time} s");
        assert_eq!(waits_for, (waiting > 0).then_some(2.0), "osd.{osd} at {time} s");
    }
    // What has ended is told once, as zeros.
    assert_eq!(rows.last().map(|row| (row.2, row.3, row.4, row.5)), Some((2, 0.0, 0.0, 0)));
    // By hand: a work goes at 10 MB/s, and one goes at a time.
    let writes = |row: &&Row| row.2 == 2 && row.4 > 0.0;
    assert!(rows.iter().filter(writes).all(|row| row.4 <= 1.05e7 && (row.4 >= 0.9e7 || row.0 - row.1 < 1.0)));
}

#[test]
fn a_film_of_one_frame_or_of_too_many_is_refused() {
    for frames in [1, 1001] {
        let Err(error) = Healing::of(&ClusterInput { frames, ..small() }) else { panic!("{frames} frames") };
        assert!(matches!(error, HealError::Cluster(_)));
        let sentence = error.to_string();
        let words = ["frames", &frames.to_string(), "2 to 1000", "give a number"];
        assert!(words.iter().all(|word| sentence.contains(word)), "{sentence}");
    }
}
