//! Gossip beside heartbeats to all, which it is where each tells each, and beside a plain simulation without a network.

use resilver_detection::{Detection, Protocol};
use resilver_kernel::{Purpose, Stream};

use crate::{detect, detection, group, mean, seconds};

#[test]
fn gossip_to_all_is_heartbeats_to_all() {
    let times = |protocol| {
        let config = Detection { timeout: seconds(3.5), ..detection(protocol) };
        (0..50).map(|seed| detect(&config, &group(12, &[4]), seed).failures).collect::<Vec<_>>()
    };
    assert_eq!(times(Protocol::Gossip { fanout: 11 }), times(Protocol::AllToAll {}));
}

#[test]
fn gossip_of_two_is_heartbeats_with_its_false_alarms() {
    let outcome = |protocol| {
        let config = Detection { timeout: seconds(3.5), warm_up: seconds(2000.0), loss: 0.3, ..detection(protocol) };
        let outcome = detect(&config, &group(2, &[1]), 1);
        (outcome.false_alarms, outcome.messages, outcome.failures)
    };
    let gossip = outcome(Protocol::Gossip { fanout: 1 });
    assert!(gossip.0 > 50, "{}", gossip.0);
    assert_eq!(gossip, outcome(Protocol::AllToAll {}));
}

/// Gossip in which each in turn tells some others at once: the mean age of the freshest news of the failed member when the rest
/// hear it last, in periods after its last heartbeat, and the greatest.
fn plain_gossip(members: usize, fanout: usize, seed: u64) -> (f64, f64) {
    let mut draws = Stream::new(seed, 0, Purpose::named("plain"));
    let phases: Vec<f64> = (0..members).map(|_| draws.uniform()).collect();
    let mut order: Vec<usize> = (0..members).collect();
    order.sort_by(|&a, &b| phases[a].total_cmp(&phases[b]));
    let mut newest = vec![0_u32; members];
    let mut heard = vec![0.0_f64; members];
    let fails_at = 40.0;
    for period in 0..80 {
        for &member in &order {
            let now = f64::from(period) + phases[member];
            if member == 0 {
                if now >= fails_at {
                    continue;
                }
                newest[0] += 1;
            }
            let mut told: Vec<usize> = Vec::new();
            while told.len() < fanout {
                let other = draws.below(members as u64) as usize;
                if other != member && !told.contains(&other) {
                    told.push(other);
                }
            }
            for other in told {
                if newest[member] > newest[other] && other != 0 {
                    newest[other] = newest[member];
                    heard[other] = now;
                }
            }
        }
    }
    let since: Vec<f64> = heard[1..].iter().map(|&time| time - fails_at).collect();
    (since.iter().copied().fold(f64::INFINITY, f64::min), since.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

#[test]
fn gossip_is_known_as_late_as_in_a_plain_simulation() {
    let (members, fanout, timeout) = (30, 2, 12.0);
    let config = Detection {
        timeout: seconds(timeout),
        warm_up: seconds(40.0),
        ..detection(Protocol::Gossip { fanout: fanout as u32 })
    };
    let group = group(members as u32, &[0]);
    let seeds = 0..400;
    let mut firsts = Vec::new();
    let mut lasts = Vec::new();
    for seed in seeds.clone() {
        let known = detect(&config, &group, seed).failures.remove(0);
        firsts.push(known.first.expect("somebody knows").0.seconds() - timeout);
        lasts.push(known.all.expect("all know").seconds() - timeout);
    }
    let (first, last): (Vec<f64>, Vec<f64>) = seeds.map(|seed| plain_gossip(members, fanout, seed + 1_000_000)).unzip();
    for (what, ours, plain) in [("first", firsts, first), ("last", lasts, last)] {
        let ((ours, error), (plain, other)) = (mean(&ours), mean(&plain));
        // A message takes a thousandth of a period here and nothing there, over some ten hops.
        let allowed = 5.0 * error.hypot(other) + 0.01;
        assert!((ours - plain).abs() < allowed, "{what}: {ours} +- {error}, plainly {plain} +- {other}");
    }
}
