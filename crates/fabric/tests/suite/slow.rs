//! Channels that work at a share of their rate for a while: closed forms, and both kinds of queues against each other.

use crate::harness;

use std::collections::BTreeMap;

use harness::{Entry, Play, gigabit, mesh, torus};
use proptest::prelude::*;
use resilver_fabric::{Component, Forwarding, Queues, SwitchedParameters};
use resilver_kernel::lanes::Lanes;
use resilver_kernel::{Pace, Purpose, Stream};
use resilver_units::SimTime;

/// A byte takes 8,000 ps, and each packet has 38 B more than its payload.
const BYTE: u64 = 8000;

fn slow(health: &[(u64, f64)]) -> Pace {
    let at = |&(time, health): &(u64, f64)| (SimTime::from_picoseconds(time), health);
    Pace::default().with_health(&health.iter().map(at).collect::<Vec<_>>())
}

/// Two nodes of which the channel from the first to the second has this pace; on the plain path with two lanes.
fn pair(pace: &Pace, queues: Queues, forwarding: Forwarding) -> Play {
    let lanes = if queues == Queues::Explicit { Lanes::in_turns(2) } else { Lanes::single() };
    let mut play = Play::new(&mesh(&[2], &[]), SwitchedParameters { queues, lanes, forwarding, ..gigabit() });
    let channel = play.diary.fabric.topology().channels_from(0).start;
    play.diary.fabric = play.diary.fabric.clone().with_paces(&BTreeMap::from([(channel, pace.clone())]));
    play
}

#[test]
fn a_link_at_health_h_serialises_a_packet_in_a_time_over_h() {
    for queues in [Queues::Implicit, Queues::Explicit] {
        for forwarding in [Forwarding::StoreAndForward, Forwarding::CutThrough] {
            for (health, times) in [(0.5, 2), (0.25, 4), (0.1, 10)] {
                let mut play = pair(&slow(&[(0, health)]), queues, forwarding);
                play.send(0, 0, 1, 962).send(0, 1, 0, 962).run();
                // The other direction is another channel, which is as fast as ever.
                assert_eq!(play.delivered_at(), [Some(1000 * BYTE * times), Some(1000 * BYTE)], "{health}");
            }
        }
    }
}

#[test]
fn a_change_while_a_packet_is_sent_counts_from_then_on() {
    // 1,000 B are 8 us. Half of it is sent by 4 us; in the 10 us at a tenth another eighth; the rest takes 3 us. The next is
    // sent at the whole rate, and the third begins at 25 us and ends before the link is at half its rate.
    let pace = slow(&[(4_000_000, 0.1), (14_000_000, 1.0), (33_000_000, 0.5)]);
    for queues in [Queues::Implicit, Queues::Explicit] {
        let mut play = pair(&pace, queues, Forwarding::StoreAndForward);
        play.send(0, 0, 1, 962).send(1, 0, 1, 962).send(2, 0, 1, 962).send(3, 0, 1, 962).run();
        let at = [17_000_000, 25_000_000, 33_000_000, 49_000_000];
        assert_eq!(play.delivered_at(), at.map(Some));
        let report = play.diary.fabric.report(play.schedule.now());
        let busy = report.channels.iter().map(|channel| channel.busy.picoseconds());
        assert_eq!(busy.max(), Some(49_000_000));
    }
}

#[test]
fn what_comes_over_a_slow_link_is_passed_on_no_faster() {
    // Nodes 0, 1 and 2 in a row, and the first link at a quarter. Under cut-through the head of 64 B and 38 B comes in 102 B x
    // 4, and then the second link, though fast, is held for all that the first takes: 1,000 B x 4.
    let parameters = SwitchedParameters { forwarding: Forwarding::CutThrough, ..gigabit() };
    let passing = parameters.switch_latency.picoseconds();
    let mut play = Play::new(&mesh(&[3], &[]), parameters);
    let channel = play.diary.fabric.topology().channels_from(0).start;
    play.diary.fabric = play.diary.fabric.clone().with_paces(&BTreeMap::from([(channel, slow(&[(0, 0.25)]))]));
    play.send(0, 0, 2, 962).run();
    assert_eq!(play.delivered_at(), [Some(102 * BYTE * 4 + passing + 1000 * BYTE * 4)]);
}

#[test]
fn a_slow_link_that_is_cut_loses_what_it_sends_and_no_more() {
    for queues in [Queues::Implicit, Queues::Explicit] {
        // At a tenth, 1,000 B take 80 us: the first is cut at 50 us, and the second finds no way.
        let mut play = pair(&slow(&[(0, 0.1)]), queues, Forwarding::StoreAndForward);
        play.send(0, 0, 1, 962).send(0, 0, 1, 962).fail(50_000_000, Component::Link(0));
        play.repair(60_000_000, Component::Link(0)).send(61_000_000, 0, 1, 962).run();
        assert_eq!(play.delivered_at(), [None, None, Some(61_000_000 + 80_000_000)]);
        let lost = play.diary.entries.iter().filter(|entry| matches!(entry, Entry::Lost(50_000_000, _)));
        assert_eq!(lost.count(), 2);
    }
}

/// Random messages over channels that are slow at random times, and links that fail.
fn storm(seed: u64, faults: u64, lanes: Lanes, (queues, forwarding): (Queues, Forwarding)) -> Play {
    let topology = torus(&[3, 3], &[2]);
    let mut draws = Stream::new(seed, 0, Purpose::named("slow"));
    let mut play = Play::new(&topology, SwitchedParameters { lanes, queues, forwarding, hop_limit: 16, ..gigabit() });
    let mut paces = BTreeMap::new();
    for channel in 0..topology.channels() {
        let first = draws.below(400_000_000);
        let until = first + 1 + draws.below(800_000_000);
        let health = (1 + draws.below(99)) as f64 / 100.0;
        if draws.below(3) > 0 {
            paces.insert(channel, slow(&[(first, health), (until, 1.0)]));
        }
    }
    play.diary.fabric = play.diary.fabric.clone().with_paces(&paces);
    for _ in 0..100 {
        let [from, to] = [(); 2].map(|()| draws.below(9) as u32);
        let (at, bytes, lane) = (draws.below(900_000_000), draws.below(200_000), draws.below(3) as u8);
        play.send_in_lane(at, from, to, bytes, lane);
    }
    for _ in 0..faults {
        let (at, link) = (draws.below(900_000_000), Component::Link(draws.below(u64::from(topology.links())) as u32));
        play.fail(at, link).repair(at + draws.below(300_000_000), link);
    }
    play
}

proptest! {
    /// In ports of one lane both kinds of queues send the same packets at the same times, while nothing fails.
    #[test]
    fn lists_and_times_give_the_same(seed in any::<u64>(), cuts_through in any::<bool>()) {
        let forwarding = if cuts_through { Forwarding::CutThrough } else { Forwarding::StoreAndForward };
        let of = |queues| {
            let mut play = storm(seed, 0, Lanes::single(), (queues, forwarding));
            play.run();
            play
        };
        let (implicit, explicit) = (of(Queues::Implicit), of(Queues::Explicit));
        prop_assert_eq!(implicit.delivered_at(), explicit.delivered_at());
        let [one, other] = [&implicit, &explicit].map(|play| {
            let report = play.diary.fabric.report(SimTime::from_picoseconds(u64::MAX / 2));
            report.channels.iter().map(|channel| channel.busy).collect::<Vec<_>>()
        });
        prop_assert_eq!(one, other);
    }

    /// In ports of several lanes nothing is left behind, however the channels change; the harness holds what is under way.
    #[test]
    fn every_message_comes_to_an_end(seed in any::<u64>(), lanes in 2_u8..4, cuts_through in any::<bool>()) {
        let forwarding = if cuts_through { Forwarding::CutThrough } else { Forwarding::StoreAndForward };
        let mut play = storm(seed, seed % 4, Lanes::in_turns(lanes), (Queues::Explicit, forwarding));
        play.run();
        let ends = play.diary.entries.iter().filter(|entry| !matches!(entry, Entry::Sent(..))).count();
        prop_assert_eq!(ends, play.diary.messages.len());
        let elapsed = play.schedule.now().picoseconds();
        let report = play.diary.fabric.report(play.schedule.now());
        prop_assert_eq!(report.total.under_way, 0);
        prop_assert!(report.channels.iter().all(|channel| channel.busy.picoseconds() <= elapsed));
    }
}
