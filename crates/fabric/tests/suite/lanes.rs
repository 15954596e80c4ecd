//! Lanes at the ports of links: shares while all wait, lending while some do not, priorities, and rates that hold.

use crate::harness;

use std::collections::BTreeMap;

use harness::{Play, gigabit, mesh, torus};
use proptest::prelude::*;
use resilver_fabric::{Fabric, NetworkUse, Queues, Routing, SwitchedParameters};
use resilver_kernel::lanes::{LaneUse, Lanes};
use resilver_kernel::{Purpose, Stream};
use resilver_units::{Bytes, SimTime};

/// A byte takes 8,000 ps on a gigabit link.
const BYTE: u64 = 8000;
const PACKET: u64 = 65_536;
const OVERHEAD: u64 = 38;
/// A full packet on a link.
const FULL: u64 = (PACKET + OVERHEAD) * BYTE;

fn with_lanes(lanes: Lanes) -> SwitchedParameters {
    SwitchedParameters { lanes, routing: Routing::Deterministic, ..gigabit() }
}

fn shares(fractions: &[f64]) -> Lanes {
    Lanes::of_shares(fractions).unwrap()
}

fn report(play: &Play, at: u64) -> NetworkUse {
    play.diary.fabric.report(SimTime::from_picoseconds(at))
}

#[test]
fn each_lane_gets_its_share_of_a_port_while_all_wait() {
    let cases = [vec![0.9, 0.1], vec![0.95, 0.05], vec![0.25, 0.75], vec![0.6, 0.3, 0.1], vec![0.5, 0.2, 0.3]];
    // Messages of full packets in all lanes, and of 4 KiB and of 24 KiB beside them.
    for (fractions, sizes) in cases.iter().flat_map(|each| [(each, [PACKET; 3]), (each, [PACKET, 4096, 24 << 10])]) {
        let lanes = shares(fractions);
        // From node 0 to node 1, at a host's port, or on to node 2 from both, at the port of the node between.
        for from_both in [false, true] {
            let mut play = Play::new(&mesh(&[3], &[]), with_lanes(lanes.clone()));
            for (lane, &bytes) in (0..).zip(&sizes[..fractions.len()]) {
                let (from, to) = if from_both { (u32::from(lane) % 2, 2) } else { (0, 1) };
                for _ in 0..4000 * PACKET / (bytes + OVERHEAD) {
                    play.send_in_lane(0, from, to, bytes, lane);
                }
            }
            // Each lane has 4,000 full packets' worth: the one of the largest share lasts for 4,000 at the least. Behind two
            // ports, the second one's queues fill over the first tenth.
            let begin = 400 * FULL;
            play.until(begin).diary.fabric.begin_statistics(SimTime::from_picoseconds(begin));
            play.until(3600 * FULL);
            if !from_both {
                // All of it is at the one port: what it sent is what the lanes did.
                let sent: Vec<u64> = report(&play, 3600 * FULL).lanes.iter().map(|lane| lane.bytes.get()).collect();
                hold_to_shares(&sent, &lanes);
            }
            hold_to_shares(&delivered_bytes(&play, begin), &lanes);
        }
    }
}

/// Holds what each lane got of 3,200 full packets' time to its share.
///
/// Tags of 95 and 5 hundredths come round after 20 packets, so a lane may lack a packet of its 160: 0.6 %.
fn hold_to_shares(bytes: &[u64], lanes: &Lanes) {
    let all: u64 = bytes.iter().sum();
    for (lane, &of_lane) in bytes.iter().enumerate() {
        let error = of_lane as f64 / all as f64 / lanes.share(lane) - 1.0;
        assert!(error.abs() < 0.01, "{lanes:?}: lane {lane} is off by {error}");
    }
}

/// What was delivered of each lane after `begin`, with its overhead; messages are of one packet.
fn delivered_bytes(play: &Play, begin: u64) -> Vec<u64> {
    let lanes = 1 + play.diary.messages.iter().map(|message| message.lane).max().unwrap();
    let mut bytes = vec![0; usize::from(lanes)];
    for (message, at) in play.diary.messages.iter().zip(play.delivered_at()) {
        if at.is_some_and(|at| at > begin) {
            bytes[usize::from(message.lane)] += message.bytes.get() + OVERHEAD;
        }
    }
    bytes
}

#[test]
fn what_a_lane_leaves_is_lent_at_once_and_returned_within_a_packet() {
    let mut play = Play::new(&mesh(&[2], &[]), with_lanes(shares(&[0.9, 0.1])));
    for _ in 0..40 {
        play.send_in_lane(0, 0, 1, PACKET, 1);
    }
    // Two packets of lane 0 come while the fourth packet of lane 1 is half sent: they are the fifth and the sixth.
    play.send_in_lane(7 * FULL / 2, 0, 1, 2 * PACKET, 0).run();
    let delivered = play.delivered_at();
    assert_eq!(delivered[40], Some(6 * FULL));
    // All others follow without a gap, as if lane 0 were not there but for its two packets.
    let rank = |packet: u64| (packet + if packet > 4 { 2 } else { 0 }) * FULL;
    let expected: Vec<Option<u64>> = (1..=40).map(|packet| Some(rank(packet))).collect();
    assert_eq!(delivered[..40], expected);
    // Lane 0 waited with something only when the fifth of all began: it lent 0.9 of the 40 packets of lane 1.
    let [lane_0, lane_1] = &report(&play, 42 * FULL).lanes[..] else { panic!("two lanes") };
    assert_eq!(lane_0.lent_bytes[1].get(), 40 * (PACKET + OVERHEAD) * 9 / 10);
    // Lane 1 waited all the while that lane 0 was served.
    assert_eq!(lane_1.lent_bytes[0].get(), 0);
    // Its packets waited for the half, and for the half and one more.
    assert_eq!(lane_0.waited_picoseconds, u128::from(FULL / 2 + FULL / 2 + FULL));
}

#[test]
fn a_lane_alone_has_all_of_the_port() {
    // 1 % of the port is guaranteed, and all of it is had: 50 packets take the time of 50.
    let mut play = Play::new(&mesh(&[2], &[]), with_lanes(shares(&[0.99, 0.01])));
    play.send_in_lane(0, 0, 1, 50 * PACKET, 1).run();
    assert_eq!(play.delivered_at(), [Some(50 * FULL)]);
}

/// What is drawn of random traffic.
#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    lanes: Lanes,
}

fn case() -> impl Strategy<Value = Case> {
    let lanes = [
        Lanes::in_turns(2),
        Lanes::in_turns(3),
        shares(&[0.9, 0.1]),
        shares(&[0.5, 0.3, 0.2]),
        shares(&[0.7, 0.3, 0.0]),
        shares(&[0.8, 0.1, 0.1]).by_priority(vec![2, 0, 1]),
    ];
    (any::<u64>(), 0..lanes.len()).prop_map(move |(seed, which)| Case { seed, lanes: lanes[which].clone() })
}

/// Messages of up to `most` bytes among nine nodes, more than the links around some of them can carry at once.
fn storm(case: &Case, most: u64, to_neighbours: bool) -> Play {
    let mut draws = Stream::new(case.seed, 0, Purpose::named("storm"));
    let mut play = Play::new(&torus(&[3, 3], &[]), with_lanes(case.lanes.clone()));
    for _ in 0..400 {
        let from = draws.below(9) as u32;
        let along = 3 * (from / 3) + (from + 1) % 3;
        let to = if to_neighbours { [along, (from + 3) % 9][draws.below(2) as usize] } else { draws.below(9) as u32 };
        let (at, bytes, lane) = (draws.below(20) * FULL / 2, 1 + draws.below(most), draws.below(4) as u8);
        play.send_in_lane(at, from, to, bytes, lane);
    }
    play
}

proptest! {
    #[test]
    fn no_link_carries_above_its_rate_in_any_window(case in case()) {
        // Messages of one packet over one hop: each occupied its link for (payload + overhead) x 8,000 ps up to its delivery.
        // Where these times do not overlap, no window, however short, holds more than it has room for.
        let mut play = storm(&case, PACKET, true);
        play.run();
        let mut sendings: BTreeMap<(u32, u32), Vec<(u64, u64)>> = BTreeMap::new();
        for (message, at) in play.diary.messages.iter().zip(play.delivered_at()) {
            let left = at.expect("nothing fails");
            let start = left - (message.bytes.get() + OVERHEAD) * BYTE;
            sendings.entry((message.from.get(), message.to.get())).or_default().push((start, left));
        }
        let mut met = 0;
        for sendings in sendings.values_mut() {
            sendings.sort_unstable();
            for pair in sendings.windows(2) {
                prop_assert!(pair[0].1 <= pair[1].0, "{:?}", pair);
                met += usize::from(pair[0].1 == pair[1].0);
            }
        }
        prop_assert!(met > 50, "only {} packets waited for another: the test is too easy", met);
    }

    #[test]
    fn what_lanes_did_adds_up_to_what_channels_did(case in case(), cuts in proptest::collection::vec(1..40 * FULL, 3)) {
        let mut play = storm(&case, 3 * PACKET, false);
        let mut cuts = cuts;
        cuts.sort_unstable();
        play.until(cuts[0]).diary.fabric.begin_statistics(SimTime::from_picoseconds(cuts[0]));
        for &at in &cuts[1..] {
            play.until(at);
            let report = report(&play, at);
            // Channels say when they will be free of what has come, lanes what each packet took: both to the picosecond.
            let of_channels: u128 = report.channels.iter().map(|channel| u128::from(channel.busy.picoseconds())).sum();
            prop_assert_eq!(report.lanes.iter().map(|lane| lane.busy_picoseconds).sum::<u128>(), of_channels);
        }
    }

    #[test]
    fn every_lane_sends_all_that_came_in_it(case in case()) {
        let mut play = storm(&case, 3 * PACKET, false);
        play.run();
        let report = report(&play, play.schedule.now().picoseconds());
        // On a torus of three a side each dimension is one hop at the most.
        let hops = |from: u32, to: u32| u64::from(from % 3 != to % 3) + u64::from(from / 3 != to / 3);
        let mut expected = vec![(0, 0); case.lanes.count()];
        for message in &play.diary.messages {
            let (packets, hops) = (message.bytes.pieces_of(Bytes::new(PACKET)), hops(message.from.get(), message.to.get()));
            let (units, bytes) = &mut expected[usize::from(message.lane) % case.lanes.count()];
            *units += packets * hops;
            *bytes += (message.bytes.get() + packets * OVERHEAD) * hops;
        }
        let sent: Vec<(u64, u64)> = report.lanes.iter().map(|lane| (lane.units, lane.bytes.get())).collect();
        prop_assert_eq!(&sent, &expected);
        prop_assert_eq!(sent.iter().map(|lane| lane.1).sum::<u64>(), report.channels.iter().map(|c| c.bytes.get()).sum());
        prop_assert_eq!(sent.iter().map(|lane| lane.0).sum::<u64>(), report.packets_forwarded);
        let lent = |uses: &[LaneUse]| uses.iter().flat_map(|lane| lane.lent_bytes.clone()).map(Bytes::get).sum::<u64>();
        let most = |lane: usize| report.lanes[lane].bytes.get() as f64 * (1.0 - case.lanes.share(lane));
        let bound: f64 = (0..case.lanes.count()).map(most).sum();
        prop_assert!(lent(&report.lanes) > 0 && lent(&report.lanes) as f64 <= bound);
    }

    #[test]
    fn a_higher_priority_waits_for_one_packet_in_service_at_most(seed in any::<u64>()) {
        let play = |with_low: bool| {
            let lanes = Lanes::in_turns(2).by_priority(vec![1, 0]);
            let mut play = Play::new(&mesh(&[2], &[]), with_lanes(lanes));
            let mut draws = Stream::new(seed, 0, Purpose::named("priority"));
            for _ in 0..100 {
                play.send_in_lane(draws.below(120 * FULL), 0, 1, 1 + draws.below(2 * PACKET), 1);
            }
            for _ in 0..200 * u64::from(with_low) {
                play.send_in_lane(0, 0, 1, PACKET, 0);
            }
            play.run();
            play.delivered_at()[..100].iter().map(|at| at.unwrap()).collect::<Vec<u64>>()
        };
        let (alone, beside) = (play(false), play(true));
        let late: Vec<u64> = beside.iter().zip(&alone).map(|(beside, alone)| beside - alone).collect();
        prop_assert!(late.iter().all(|&late| late <= FULL));
        prop_assert!(late.iter().any(|&late| late > 0), "the lower lane was never in the way");
    }

    #[test]
    fn lanes_of_which_one_is_used_do_as_one_lane_does(seed in any::<u64>(), lane in 0_u8..3) {
        let play = |lanes: Lanes, queues: Queues| {
            let mut draws = Stream::new(seed, 0, Purpose::named("used"));
            let mut play = Play::new(&torus(&[3, 3], &[]), SwitchedParameters { queues, ..with_lanes(lanes) });
            for _ in 0..200 {
                let [from, to] = [(); 2].map(|()| draws.below(9) as u32);
                // Both are paths of explicit queues, so that even events of one time come in one order.
                play.send_in_lane(draws.below(20 * FULL), from, to, 1 + draws.below(200_000), lane);
            }
            play.run();
            (play.delivered_at(), report(&play, play.schedule.now().picoseconds()).channels)
        };
        let single = play(Lanes::single(), Queues::Explicit);
        prop_assert_eq!(&single, &play(shares(&[0.2, 0.5, 0.3]), Queues::Implicit));
        prop_assert_eq!(&single, &play(shares(&[0.2, 0.5, 0.3]).by_priority(vec![2, 1, 0]), Queues::Implicit));
    }
}
