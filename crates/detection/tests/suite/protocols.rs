//! Each protocol against its closed forms.

use resilver_detection::{Detection, Protocol};
use resilver_units::SimDuration;

use crate::{LATENCY, detect, detection, group, hold_mean, seconds};

/// When a failure was known first, and to all, over seeds.
fn times(config: &Detection, members: u32, failing: u32, seeds: u64) -> (Vec<f64>, Vec<f64>) {
    let group = group(members, &[failing]);
    (0..seeds)
        .map(|seed| {
            let outcome = detect(config, &group, seed);
            let known = &outcome.failures[0];
            let first = known.first.expect("somebody knows").0.seconds();
            (first, known.all.expect("all know").seconds())
        })
        .unzip()
}

#[test]
fn heartbeats_to_all_are_missed_a_timeout_after_the_last_one() {
    // The last heartbeat left up to a period before the failure, alike, and arrived a latency later.
    let config = detection(Protocol::AllToAll {});
    let (first, all) = times(&config, 8, 3, 2000);
    assert!(first.iter().all(|&time| time > 2.5 - 1e-9 && time < 3.5 + LATENCY + 1e-9));
    hold_mean(&first, 3.5 - 0.5 + LATENCY, "first");
    // All got the last one at a time.
    assert_eq!(first, all);
}

#[test]
fn a_monitor_tells_all_a_latency_later() {
    let config = detection(Protocol::Monitor { monitors: 1 });
    let (first, all) = times(&config, 8, 3, 500);
    hold_mean(&first, 3.5 - 0.5 + LATENCY, "first");
    for (first, all) in first.iter().zip(&all) {
        assert!((all - first - LATENCY).abs() < 1e-9, "{first} {all}");
    }
}

#[test]
fn a_map_that_is_lost_goes_again_with_the_next_heartbeat() {
    // The one other member has the monitor's map a latency after it is sent, or in the period of the first heartbeat that comes
    // and whose answer comes.
    let loss: f64 = 0.3;
    let config = Detection { loss, timeout: seconds(20.5), ..detection(Protocol::Monitor { monitors: 1 }) };
    let periods: Vec<f64> = (0..400)
        .map(|seed| {
            let known = detect(&config, &group(3, &[1]), seed).failures.remove(0);
            let (first, all) = (known.first.expect("the monitor knows").0, known.all.expect("all know"));
            ((all - first).seconds() - 1.5 * LATENCY).ceil()
        })
        .collect();
    hold_mean(&periods, loss / (1.0 - loss).powi(2), "periods until the map comes");
}

/// When the first of the others probes the dead on average, and in which period: nobody of n - 1 does so in a period with
/// q = (1 - 1/(n-1))^(n-1), so that the first period in which somebody does is 1/(1 - q), e/(e - 1) of many (Das et al., 2002,
/// section 3); within a period a share x of the others has probed by its part x.
fn first_probe(members: u32) -> (f64, f64) {
    let others = f64::from(members - 1);
    let missed = |part: f64| (1.0 - part / others).powf(others);
    let steps = 10_000;
    let within: f64 = (0..steps).map(|step| missed((f64::from(step) + 0.5) / f64::from(steps))).sum();
    (within / f64::from(steps) / (1.0 - missed(1.0)), 1.0 / (1.0 - missed(1.0)))
}

#[test]
fn swim_finds_a_failure_in_the_expected_number_of_periods() {
    for members in [4, 40] {
        let config = detection(Protocol::Swim { fanout: 2, suspicion: SimDuration::ZERO });
        // A probe counts as missed a period after it was sent.
        let probed: Vec<f64> = times(&config, members, 1, 3000).0.iter().map(|time| time - 1.0).collect();
        let periods: Vec<f64> = probed.iter().map(|time| time.ceil().max(1.0)).collect();
        let (time, period) = first_probe(members);
        hold_mean(&probed, time, "probe");
        hold_mean(&periods, period, "periods");
    }
}

#[test]
fn suspicion_delays_what_swim_says_by_its_time() {
    let config = detection(Protocol::Swim { fanout: 2, suspicion: seconds(4.0) });
    let (first, _) = times(&config, 20, 1, 1000);
    hold_mean(&first, first_probe(20).0 + 1.0 + 4.0, "first");
}

#[test]
fn protocols_send_what_they_are_known_to() {
    // In each period of ten: of n members each one heartbeat to each monitor that it is not itself, to each other, gossip to
    // two, or a probe and its answer. A probe whose answer comes after the failure is not counted.
    let members = 20;
    let wanted = [
        (Protocol::Monitor { monitors: 1 }, 19, 64),
        (Protocol::Monitor { monitors: 3 }, 3 * 19, 64),
        (Protocol::AllToAll {}, 20 * 19, 64),
        (Protocol::Gossip { fanout: 2 }, 20 * 2, 64 + 8 * 20),
        (Protocol::Swim { fanout: 3, suspicion: SimDuration::ZERO }, 20 * 2, 64),
    ];
    for (protocol, a_period, size) in wanted {
        let outcome = detect(&detection(protocol.clone()), &group(members, &[7]), 5);
        let lacking = a_period * 10 - outcome.messages;
        assert!(lacking <= 1, "{protocol:?}: {}", outcome.messages);
        assert_eq!(outcome.bytes.get(), outcome.messages * size, "{protocol:?}");
        assert_eq!((outcome.false_alarms, outcome.others), (0, 19), "{protocol:?}");
    }
    // A monitor hears all and says nothing while all are healthy.
    let outcome = detect(&detection(Protocol::Monitor { monitors: 1 }), &group(members, &[7]), 5);
    assert!(outcome.most_messages >= 189, "{}", outcome.most_messages);
}

#[test]
fn heartbeats_that_are_lost_in_a_row_are_false_alarms() {
    // A timeout of 3.5 periods passes when three heartbeats in a row are lost; each such run begins behind one that came.
    let (loss, periods, members) = (0.1, 2000.0, 8.0);
    for (protocol, pairs) in
        [(Protocol::AllToAll {}, members * (members - 1.0)), (Protocol::Monitor { monitors: 1 }, members - 1.0)]
    {
        let config = Detection { loss, warm_up: seconds(periods), ..detection(protocol.clone()) };
        let alarms: Vec<f64> = (0..20).map(|seed| detect(&config, &group(8, &[7]), seed).false_alarms as f64).collect();
        hold_mean(&alarms, pairs * periods * (1.0 - loss) * f64::powi(loss, 3), "false alarms");
    }
}

#[test]
fn a_probe_of_swim_fails_when_it_and_all_that_help_do() {
    // Two messages of the probe itself, four of each that helps. One that is wrongly taken for failed is not probed until it
    // has objected, a few periods of thousands.
    let (loss, periods, helpers) = (0.1, 2000.0, 3);
    let config = Detection {
        loss,
        warm_up: seconds(periods),
        ..detection(Protocol::Swim { fanout: helpers, suspicion: SimDuration::ZERO })
    };
    let kept: f64 = 1.0 - loss;
    let fails = (1.0 - kept.powi(2)) * (1.0 - kept.powi(4)).powi(helpers as i32);
    let alarms: Vec<f64> = (0..16).map(|seed| detect(&config, &group(20, &[7]), seed).false_alarms as f64).collect();
    let mean = alarms.iter().sum::<f64>() / 16.0;
    let expected = 20.0 * periods * fails;
    assert!((mean / expected - 1.0).abs() < 0.05, "{mean}, expected {expected}");
    // Who may object within ten periods mostly does.
    let suspicion = seconds(10.0);
    let config = Detection { protocol: Protocol::Swim { fanout: helpers, suspicion }, ..config };
    let outcome = detect(&config, &group(20, &[7]), 1);
    assert!((outcome.false_alarms as f64) < 0.05 * expected, "{}", outcome.false_alarms);
    // News die out: some false suspicions in a period of twenty members are less than an entry a message.
    let entries = (outcome.bytes.get() as f64 / outcome.messages as f64 - 64.0) / 8.0;
    assert!(entries > 0.0 && entries < 1.0, "{entries}");
    assert!(outcome.failures[0].all.is_some());
}

#[test]
fn swim_goes_on_under_losses() {
    // Who is wrongly taken for failed hears of it when it probes, and objects: four times the time has four times the alarms.
    let alarms = |time| {
        let swim = Protocol::Swim { fanout: 3, suspicion: SimDuration::ZERO };
        let config = Detection { loss: 0.2, warm_up: seconds(time), ..detection(swim) };
        let outcome = detect(&config, &group(24, &[7]), 1);
        assert!(outcome.failures[0].all.is_some());
        outcome.false_alarms as f64
    };
    let ratio = alarms(4000.0) / alarms(1000.0);
    assert!((ratio / 4.0 - 1.0).abs() < 0.15, "{ratio}");
}
