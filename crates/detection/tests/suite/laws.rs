//! What holds of every protocol, and what is refused.

use resilver_detection::{Background, Detection, DetectionError, Known, KnownBy, Protocol};
use resilver_fabric::{LogGp, LogGpRow, LogGpTable};
use resilver_units::{Bytes, EndpointId, SimDuration};
use std::sync::Arc;

use crate::{all_protocols, detect, detection, group, network, seconds};

#[test]
fn all_who_are_left_know_of_all_who_fail_and_two_runs_are_equal() {
    for protocol in all_protocols() {
        for loss in [0.0, 0.2] {
            let mut group = group(15, &[2, 9, 10]);
            group.absent = vec![5];
            let config = Detection { loss, ..detection(protocol.clone()) };
            for seed in 0..20 {
                let outcome = detect(&config, &group, seed);
                assert_eq!(outcome, detect(&config, &group, seed));
                assert_eq!(outcome.others, 11);
                let slowest = |of: fn(&Known) -> Option<SimDuration>| outcome.failures.iter().filter_map(of).max();
                assert_eq!(outcome.delay(KnownBy::All), slowest(|known| known.all));
                assert_eq!(outcome.delay(KnownBy::First), slowest(|known| known.first.map(|(delay, _)| delay)));
                for known in &outcome.failures {
                    let (first, by) = known.first.expect("somebody knows");
                    assert!(!group.failing.contains(&by) && by != 5);
                    assert_eq!(known.informed, 11, "{protocol:?} {known:?}");
                    let (half, all) = (known.half.expect("half know"), known.all.expect("all know"));
                    assert!(first <= half && half <= all, "{known:?}");
                }
            }
        }
    }
}

#[test]
fn what_is_counted_while_all_are_healthy_knows_nothing_of_the_failure() {
    for protocol in all_protocols() {
        let config = Detection { loss: 0.1, warm_up: seconds(100.0), ..detection(protocol.clone()) };
        let counts = |failing: &[u32]| {
            let outcome = detect(&config, &group(12, failing), 4);
            (outcome.healthy, outcome.false_alarms, outcome.messages, outcome.bytes, outcome.most_messages)
        };
        assert_eq!(counts(&[1]), counts(&[7, 9]), "{protocol:?}");
    }
}

#[test]
fn other_traffic_delays_heartbeats_until_they_are_missed() {
    // A message of other traffic keeps an interface busy for a second: at three quarters of what it carries, heartbeats wait for
    // some seconds now and then, and at a tenth hardly ever.
    let row = LogGpRow {
        size: Bytes::new(1),
        latency: seconds(1e-3),
        gap_picoseconds: 0,
        gap_per_byte_picoseconds: 1_000_000,
    };
    let table = Arc::new(LogGpTable::new(vec![row]).expect("a table"));
    let alarms = |share: f64| -> u64 {
        let background = Some(Background { bytes_per_second: 1e6 * share, message: Bytes::new(1_000_000) });
        let config = Detection { background, warm_up: seconds(500.0), ..detection(Protocol::AllToAll {}) };
        let outcome = config.detect(&group(10, &[3]), LogGp::new(table.clone(), 10), 1, 0).expect("it runs");
        assert!(outcome.failures[0].all.is_some());
        outcome.false_alarms
    };
    let (much, little) = (alarms(0.75), alarms(0.1));
    assert!(much > 20 * (little + 1), "{much} {little}");
}

#[test]
fn an_answer_of_the_last_period_is_none_of_this_one() {
    let row = LogGpRow { size: Bytes::new(1), latency: seconds(0.6), gap_picoseconds: 0, gap_per_byte_picoseconds: 0 };
    let slow = LogGp::new(Arc::new(LogGpTable::new(vec![row]).expect("a table")), 5);
    let config = detection(Protocol::Swim { fanout: 1, suspicion: SimDuration::ZERO });
    let outcome = config.detect(&group(5, &[3]), slow, 1, 0).expect("it runs");
    // Each of five members misses every answer.
    assert!(outcome.false_alarms > 5, "{}", outcome.false_alarms);
}

#[test]
fn what_cannot_be_is_refused() {
    let swim = || Protocol::Swim { fanout: 3, suspicion: SimDuration::ZERO };
    let of = |protocol: Protocol| detection(protocol);
    let other = |bytes_per_second| Some(Background { bytes_per_second, message: Bytes::new(1) });
    let wrong = [
        ("period", Detection { period: SimDuration::ZERO, ..of(swim()) }),
        ("loss", Detection { loss: 1.0, ..of(swim()) }),
        ("loss", Detection { loss: f64::NAN, ..of(swim()) }),
        ("timeout", Detection { timeout: seconds(1.0), ..of(swim()) }),
        ("timeout", Detection { timeout: SimDuration::ZERO, ..of(swim()) }),
        ("timeout", Detection { timeout: seconds(1.0), ..of(Protocol::AllToAll {}) }),
        ("background", Detection { background: other(0.0), ..of(swim()) }),
        ("background", Detection { background: other(f64::INFINITY), ..of(swim()) }),
        ("fanout", of(Protocol::Gossip { fanout: 0 })),
        ("monitors", of(Protocol::Monitor { monitors: 0 })),
        ("warm_up", Detection { warm_up: seconds(1e7), ..of(Protocol::AllToAll {}) }),
    ];
    for (field, config) in wrong {
        match config.detect(&group(10, &[0]), network(10), 1, 0) {
            Err(DetectionError::Refused(refusal)) => assert_eq!(refusal.key, field),
            other => panic!("{field}: {other:?}"),
        }
    }
}

#[test]
fn a_failure_that_nobody_watches_is_never_known() {
    // Of ten members the first is the one monitor, and it is the one that fails.
    let outcome = detect(&detection(Protocol::Monitor { monitors: 1 }), &group(10, &[0]), 1);
    assert_eq!((outcome.delay(KnownBy::First), outcome.failures[0].informed), (None, 0));
    // Two members have no more than two monitors.
    let outcome = detect(&detection(Protocol::Monitor { monitors: 3 }), &group(2, &[0]), 1);
    assert_eq!(outcome.failures[0].informed, 1);
}

#[test]
fn nobody_is_left_where_all_fail() {
    let outcome = detect(&detection(Protocol::AllToAll {}), &group(3, &[0, 1, 2]), 1);
    assert_eq!(outcome.others, 0);
    assert!(outcome.failures.iter().all(|known| known.first.is_none() && known.informed == 0));
    assert_eq!((outcome.delay(KnownBy::All), outcome.delay(KnownBy::First)), (None, None));
}

#[test]
fn members_of_one_host_hear_each_other() {
    let mut group = group(8, &[1]);
    group.endpoints = (0..8).map(|member| EndpointId::new(member / 4)).collect();
    for protocol in all_protocols() {
        assert!(detect(&detection(protocol.clone()), &group, 3).failures[0].all.is_some(), "{protocol:?}");
    }
}
