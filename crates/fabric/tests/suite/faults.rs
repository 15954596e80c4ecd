//! What becomes of packets when links and nodes fail and are repaired: each is delivered or dropped, with its cause.

use crate::harness;

use harness::{Entry, Play, gigabit, mesh, torus};
use proptest::prelude::*;
use resilver_fabric::{Component, Conservation, Dropped, Forwarding, NetworkUse, Queues, Routing, SwitchedParameters};
use resilver_kernel::lanes::{LaneOrder, Lanes};
use resilver_kernel::{ExitReason, Purpose, Stream};

/// A packet of 64 KiB and 38 B at 8,000 ps a byte.
const FULL: u64 = 65_574 * 8000;
const SWITCH: u64 = 6_000_000;

/// The link between two nodes that are neighbours.
fn link_between(play: &Play, one: u32, other: u32) -> Component {
    let topology = play.diary.fabric.topology();
    let channel = topology.channels_from(one).find(|&channel| topology.peer(channel) == other).unwrap();
    Component::Link(topology.link_of(channel))
}

fn report(play: &Play) -> NetworkUse {
    play.diary.fabric.report(play.schedule.now())
}

fn both_paths() -> [SwitchedParameters; 2] {
    [Queues::Implicit, Queues::Explicit].map(|queues| SwitchedParameters { queues, ..gigabit() })
}

#[test]
fn a_link_that_fails_cuts_what_it_sends_and_what_waits_goes_round() {
    // A ring of four, 0 to 1: two packets, of which both take the direct link if its rival's way is longer. The first is
    // being sent at 1,000 ps and is cut; the second waits, and goes round over 3 and 2: three hops from 1,000 ps on.
    for parameters in both_paths() {
        let mut play = Play::new(&torus(&[4], &[]), parameters);
        let link = link_between(&play, 0, 1);
        play.send(0, 0, 1, 65_536).send(0, 0, 1, 65_536).fail(1000, link).run();
        assert_eq!(play.delivered_at(), [None, Some(1000 + 3 * FULL + 2 * SWITCH)]);
        assert!(play.diary.entries.contains(&Entry::Lost(1000, 0)));
        let report = report(&play);
        assert_eq!(report.packets_dropped, Dropped { cut: 1, ..Dropped::default() });
        assert_eq!((report.deviated, report.hops), (1, vec![0, 0, 0, 1]));
        // The failed channel was busy until it failed, and the three others for a packet each.
        let busy: u64 = report.channels.iter().map(|channel| channel.busy.picoseconds()).sum();
        assert_eq!(busy, 1000 + 3 * FULL);
        assert_eq!(report.channels.iter().filter(|channel| channel.is_failed).count(), 2);
    }
}

#[test]
fn what_has_left_a_link_before_it_fails_arrives() {
    // At FULL + 1 the packet is in the switch at node 1; the link behind it fails, the one ahead works.
    let mut play = Play::new(&mesh(&[3], &[]), gigabit());
    let link = link_between(&play, 0, 1);
    play.send(0, 0, 2, 65_536).fail(FULL + 1, link).run();
    assert_eq!(play.delivered_at(), [Some(2 * FULL + SWITCH)]);
}

#[test]
fn a_node_that_dies_cuts_all_that_is_in_it_or_on_its_way_to_it() {
    // A line of five, of which node 2 dies as message 0, sent at 0, has come in there (at 2 FULL + 6 us) and is being passed
    // on.
    let at = 2 * FULL + SWITCH + 1;
    for parameters in both_paths() {
        let mut play = Play::new(&mesh(&[5], &[]), parameters);
        // Message 1 is being sent to it from 3. Message 2 left it for 4 a while ago and is in 3; message 3 is being sent by it,
        // and message 4 waits at it. Message 5 is being sent to it from 1, and message 6 waits there: no other way is left.
        play.send(0, 0, 3, 65_536).send(at - 1000, 3, 2, 65_536).send(at - FULL - 500, 2, 4, 65_536);
        play.send(at - FULL - 400, 2, 3, 65_536).send(at - FULL - 300, 2, 3, 65_536);
        play.send(at - 900, 1, 2, 65_536).send(at - 800, 1, 2, 65_536);
        play.fail(at, Component::Node(2)).run();
        let delivered: Vec<bool> = play.delivered_at().iter().map(Option::is_some).collect();
        assert_eq!(delivered, [false, false, true, false, false, false, false]);
        let report = report(&play);
        // Cut are messages 0, 1, 3, 4 and 5.
        assert_eq!(report.packets_dropped, Dropped { cut: 5, no_link: 1, hop_limit: 0 });
        let lost: Vec<&Entry> = play.diary.entries.iter().filter(|entry| matches!(entry, Entry::Lost(..))).collect();
        assert_eq!(lost.len(), 6, "{lost:?}");
    }
}

#[test]
fn a_message_is_lost_once_and_its_other_packets_travel_on() {
    // Two packets over one link of a line: the first is cut on the second link, the second has no way left.
    let mut play = Play::new(&mesh(&[3], &[]), gigabit());
    let link = link_between(&play, 1, 2);
    play.send(0, 0, 2, 131_072).fail(FULL + SWITCH + 1, link).run();
    assert_eq!(play.diary.entries, [Entry::Lost(FULL + SWITCH + 1, 0)]);
    assert_eq!(report(&play).packets_dropped, Dropped { cut: 1, no_link: 1, hop_limit: 0 });
    // The link recovers before the second packet comes: it is delivered, the message stays lost.
    let mut play = Play::new(&mesh(&[3], &[]), gigabit());
    play.send(0, 0, 2, 131_072).fail(FULL + SWITCH + 1, link).repair(FULL + SWITCH + 2, link).run();
    assert_eq!(play.diary.entries, [Entry::Lost(FULL + SWITCH + 1, 0)]);
    assert_eq!((report(&play).packets_delivered, report(&play).packets_dropped.total()), (1, 1));
}

#[test]
fn a_packet_without_a_way_is_lost_as_it_is_sent() {
    for parameters in both_paths() {
        let mut play = Play::new(&mesh(&[2], &[]), parameters);
        let link = link_between(&play, 0, 1);
        play.fail(0, link).send(5, 0, 1, 200_000).run();
        assert!(play.diary.entries.contains(&Entry::Lost(5, 0)));
        assert_eq!(report(&play).packets_dropped, Dropped { no_link: 4, ..Dropped::default() });
    }
}

#[test]
fn a_packet_that_cannot_reach_its_destination_stops_at_the_hop_limit() {
    // All four links of the destination are dead, the node itself is alive: the packet wanders until its 20th hop.
    let topology = torus(&[4, 4], &[]);
    let mut play = Play::new(&topology, SwitchedParameters { hop_limit: 20, ..gigabit() });
    for channel in topology.channels_from(10) {
        play.fail(0, Component::Link(topology.link_of(channel)));
    }
    play.send(5, 0, 10, 64).run();
    let report = report(&play);
    assert_eq!(report.packets_dropped, Dropped { hop_limit: 1, ..Dropped::default() });
    assert_eq!(report.packets_forwarded, 20);
}

#[test]
fn deterministic_routing_drops_rather_than_deviates() {
    let mut play = Play::new(&torus(&[4, 4], &[]), SwitchedParameters { routing: Routing::Deterministic, ..gigabit() });
    // From 0 = (0, 0) to 5 = (1, 1) dimension order goes over 4 = (1, 0).
    let link = link_between(&play, 0, 4);
    play.fail(0, link).send(1, 0, 5, 64).repair(2, link).send(3, 0, 5, 64).run();
    assert_eq!(play.delivered_at()[0], None);
    assert!(play.delivered_at()[1].is_some());
    assert_eq!(report(&play).packets_dropped, Dropped { no_link: 1, ..Dropped::default() });
}

#[test]
fn a_link_works_again_when_each_of_its_faults_is_repaired() {
    // It fails by itself at 10 and by its node at 20, which is repaired at 30; by itself it is until 40.
    let mut play = Play::new(&mesh(&[2], &[]), gigabit());
    let (link, node) = (Component::Link(0), Component::Node(1));
    play.fail(10, link).fail(20, node).repair(30, node).repair(40, link);
    // A repair of what has not failed changes nothing.
    play.repair(41, node).repair(41, link);
    play.send(15, 0, 1, 0).send(25, 0, 1, 0).send(35, 0, 1, 0).send(45, 0, 1, 0).run();
    assert_eq!(play.delivered_at(), [None, None, None, Some(45 + 38 * 8000)]);
}

#[test]
fn a_dead_node_answers_nobody_not_even_itself() {
    let mut play = Play::new(&mesh(&[2], &[]), gigabit());
    play.fail(0, Component::Node(1)).send(1, 1, 1, 64).send(2, 0, 1, 64).send(3, 1, 0, 64).run();
    assert_eq!(play.diary.entries, [Entry::Lost(1, 0), Entry::Lost(2, 1), Entry::Lost(3, 2)]);
}

/// A run of random messages with random faults, of which some are never repaired.
fn storm(seed: u64, lanes: u8, queues: Queues, forwarding: Forwarding) -> Play {
    let topology = [torus(&[3, 4], &[2]), torus(&[2, 2, 3], &[]), mesh(&[4, 3], &[0, 11])][(seed % 3) as usize].clone();
    let mut draws = Stream::new(seed, 0, Purpose::named("storm"));
    let order = match seed / 3 % 3 {
        0 => LaneOrder::Turns,
        1 => LaneOrder::Shares,
        _ => LaneOrder::Priority((0..lanes).rev().collect()),
    };
    let lanes = Lanes { shares: [700_000, 0, 300_000][..usize::from(lanes)].to_vec(), order };
    let mut play = Play::new(&topology, SwitchedParameters { lanes, queues, forwarding, hop_limit: 16, ..gigabit() });
    for _ in 0..120 {
        let [from, to] = [(); 2].map(|()| draws.below(u64::from(topology.nodes())) as u32);
        let (at, bytes, lane) = (draws.below(20) * FULL / 3, draws.below(300_000), draws.below(4) as u8);
        play.send_in_lane(at, from, to, bytes, lane);
    }
    for _ in 0..draws.below(12) {
        let component = match draws.below(2) {
            0 => Component::Node(draws.below(u64::from(topology.nodes())) as u32),
            _ => Component::Link(draws.below(u64::from(topology.links())) as u32),
        };
        // Times in step with those of the packets, so that much happens in one picosecond.
        let at = draws.below(30) * FULL / 3;
        play.fail(at, component);
        if draws.below(2) == 0 {
            play.repair(at + draws.below(20) * FULL / 3, component);
        }
    }
    play
}

proptest! {
    /// The harness checks after each event that sent = delivered + dropped + under way; here all comes to an end.
    #[test]
    fn every_packet_and_every_message_is_accounted_for(
        seed in any::<u64>(), lanes in 1_u8..4, is_explicit in any::<bool>(), cuts_through in any::<bool>(),
    ) {
        let queues = if is_explicit { Queues::Explicit } else { Queues::Implicit };
        let forwarding = if cuts_through { Forwarding::CutThrough } else { Forwarding::StoreAndForward };
        let mut play = storm(seed, lanes, queues, forwarding);
        play.run();
        let report = report(&play);
        let Conservation { sent, delivered, dropped, under_way } = report.total;
        prop_assert_eq!(sent, delivered + dropped);
        prop_assert_eq!(under_way, 0);
        prop_assert_eq!(report.hops.iter().sum::<u64>(), report.packets_delivered);
        // Each message is told of once, and each sender once that it may reuse its buffer.
        let mut told = vec![0; play.diary.messages.len()];
        let mut sent = vec![0; play.diary.messages.len()];
        for entry in &play.diary.entries {
            match *entry {
                Entry::Delivered(_, token) | Entry::Lost(_, token) => told[token as usize] += 1,
                Entry::Sent(_, token) => sent[token as usize] += 1,
            }
        }
        for (sent, left_at) in sent.iter_mut().zip(&play.diary.left_at) {
            *sent += i32::from(left_at.is_some());
        }
        prop_assert!(told.iter().chain(&sent).all(|&count| count == 1), "{told:?} {sent:?}");
        let elapsed = play.schedule.now().picoseconds();
        prop_assert!(report.channels.iter().all(|channel| channel.busy.picoseconds() <= elapsed));
        // What was cut on the way counts for as long as it was sent, in its lane as on its channel.
        let busy: u128 = report.channels.iter().map(|channel| u128::from(channel.busy.picoseconds())).sum();
        prop_assert_eq!(report.lanes.iter().map(|lane| lane.busy_picoseconds).sum::<u128>(), if lanes > 1 { busy } else { 0 });
    }

    /// The digest is that of the uncut run, however a run is cut into steps.
    #[test]
    fn a_run_is_the_same_however_it_is_cut(seed in any::<u64>(), step in 1_u64..50, lanes in 1_u8..3) {
        let mut whole = storm(seed, lanes, Queues::Implicit, Forwarding::StoreAndForward);
        whole.run();
        let mut cut = storm(seed, lanes, Queues::Implicit, Forwarding::StoreAndForward);
        while cut.events(step) == ExitReason::EventLimit {}
        prop_assert_eq!(whole.digest(), cut.digest());
        prop_assert!(whole.diary.entries == cut.diary.entries && report(&whole) == report(&cut));
    }
}
