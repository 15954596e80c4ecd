//! Which way packets take, the lanes in which they wait, and a star of links beside the interfaces that it is a model of.

use crate::harness;

use std::sync::Arc;

use harness::{Hop, Play, gigabit, mesh, rate, torus};
use resilver_fabric::topology::{Topology, leaf_spine};
use resilver_fabric::{
    Component, Fabric, FabricEvent, LogGp, LogGpRow, LogGpTable, Message, Notice, Queues, Routing, Switched,
    SwitchedParameters,
};
use resilver_kernel::lanes::Lanes;
use resilver_kernel::{Event, Limit, Model, Purpose, Schedule, Stream, run};
use resilver_units::{Bytes, EndpointId, SimDuration, SimTime};

/// A packet of 64 KiB and 38 B at 8,000 ps a byte.
const FULL: u64 = 65_574 * 8000;

/// Messages of random pairs on a 4 x 4 x 4 torus, with its hops.
fn random_traffic(routing: Routing) -> (Play, Arc<Topology>) {
    let topology = torus(&[4, 4, 4], &[]);
    let mut play = Play::new(&topology, SwitchedParameters { routing, ..gigabit() });
    play.diary.notes_hops = true;
    let mut draws = Stream::new(7, 0, Purpose::named("routing"));
    for _ in 0..5000 {
        let (at, from) = (draws.below(60 * FULL), draws.below(64) as u32);
        play.send(at, from, (from + 1 + draws.below(63) as u32) % 64, 1 + draws.below(65_536));
    }
    play.run();
    (play, topology)
}

#[test]
fn every_packet_takes_a_shortest_way_while_all_works() {
    for routing in [Routing::Adaptive, Routing::Deterministic] {
        let (play, topology) = random_traffic(routing);
        let report = play.diary.fabric.report(play.schedule.now());
        let distance =
            |message: &Message| topology.distance(topology.node_of(message.from), topology.node_of(message.to));
        let mut expected = vec![0; report.hops.len()];
        play.diary.messages.iter().for_each(|message| expected[distance(message) as usize] += 1);
        assert_eq!((report.hops, report.deviated, report.packets_delivered), (expected, 0, 5000));
    }
}

#[test]
fn deterministic_routing_takes_dimensions_in_order() {
    let (play, _) = random_traffic(Routing::Deterministic);
    // A hop's channel is that of dimension order towards some destination; and no way turns back to an earlier dimension:
    // along a node's 16 x first + 4 x second + third coordinate, the packets of one message change first, second, third.
    let dimension = |hop: &Hop| match (hop.from / 16 == hop.to / 16, hop.from / 4 == hop.to / 4) {
        (false, _) => 0,
        (true, false) => 1,
        _ => 2,
    };
    let mut turns = [[0; 3]; 3];
    let mut by_arrival = std::collections::BTreeMap::new();
    for hop in &play.diary.hops {
        // A packet goes on in the moment it has come in and been switched: 6 us after it left the channel before.
        by_arrival.insert((hop.to, hop.left + 6_000_000), dimension(hop));
    }
    for hop in &play.diary.hops {
        if let Some(&before) = by_arrival.get(&(hop.from, hop.came)) {
            turns[before][dimension(hop)] += 1;
        }
    }
    assert!(turns[0][1] > 100 && turns[1][2] > 100 && turns[0][2] > 100, "{turns:?}");
    assert_eq!((turns[1][0], turns[2][0], turns[2][1]), (0, 0, 0), "{turns:?}");
}

/// The neighbours by which packets left `node`, in the order of their leaving.
fn ways_from(play: &Play, node: u32) -> Vec<u32> {
    play.diary.hops.iter().filter(|hop| hop.from == node).map(|hop| hop.to).collect()
}

#[test]
fn the_channel_that_is_free_first_is_taken_and_then_the_least_used() {
    // From 0 to 4 on a mesh of 3 x 3 the ways begin over 1 or 3. A long packet to 1 keeps that channel busy: the way is 3.
    // When all is over, 1 has been used for longer than 3 (a short packet): 3 again. Then a long packet to 3 makes 3 the
    // channel used for longer: 1.
    let mut play = Play::new(&mesh(&[3, 3], &[]), gigabit());
    play.diary.notes_hops = true;
    play.send(0, 0, 1, 65_536).send(1, 0, 4, 64);
    play.send(10 * FULL, 0, 4, 64);
    play.send(20 * FULL, 0, 3, 65_536).send(30 * FULL, 0, 4, 64);
    play.run();
    assert_eq!(ways_from(&play, 0), [1, 3, 3, 3, 1]);
}

#[test]
fn channels_that_are_equal_are_taken_in_turn() {
    // Six packets of one size from 0 to 4, far apart: both channels are free, and equally used before each odd one. The node
    // takes them in turn, and each even packet goes by the one less used.
    let mut play = Play::new(&mesh(&[3, 3], &[]), gigabit());
    play.diary.notes_hops = true;
    (0..6).for_each(|number| {
        play.send(number * 10 * FULL, 0, 4, 64);
    });
    play.run();
    let ways = ways_from(&play, 0);
    assert!(ways.chunks(2).all(|pair| pair[0] != pair[1]), "{ways:?}");
    assert_ne!(ways[0], ways[2], "{ways:?}");
    assert_ne!(ways[2], ways[4], "{ways:?}");
}

#[test]
fn a_turn_passes_only_where_channels_are_equal() {
    // Without the link 0-1 a packet from 0 to 1 has one way, over 3. Once the link is back and has sent as much, the first turn
    // of the node is still to come: the next packet to 4 goes as that of a node that has sent nothing.
    let topology = mesh(&[3, 3], &[]);
    let channel = topology.channels_from(0).find(|&channel| topology.peer(channel) == 1).unwrap();
    let link = Component::Link(topology.link_of(channel));
    let ways = [true, false].map(|has_failed| {
        let mut play = Play::new(&topology, gigabit());
        play.diary.notes_hops = true;
        if has_failed {
            play.fail(0, link).send(1, 0, 1, 64).repair(10 * FULL, link).send(20 * FULL, 0, 1, 64);
        }
        play.send(30 * FULL, 0, 4, 64).run();
        ways_from(&play, 0)
    });
    assert_eq!((&ways[0][..2], ways[0][2]), (&[3, 1][..], ways[1][0]));
}

#[test]
fn a_packet_never_goes_straight_back() {
    // A line 0-1-2-3 with its last link dead: a packet from 0 to 3 stands before it in 2 and may not turn to 1.
    let topology = mesh(&[4], &[]);
    let mut play = Play::new(&topology, gigabit());
    let link = topology.link_of(topology.channels_from(3).start);
    play.fail(0, Component::Link(link)).send(1, 0, 3, 64).run();
    let report = play.diary.fabric.report(play.schedule.now());
    assert_eq!((report.packets_forwarded, report.packets_dropped.no_link), (2, 1));
}

#[test]
fn a_deviating_packet_does_not_return_over_a_shorter_way() {
    // A 3 x 3 mesh without the links 1-2 and 4-5: from 1 to 2 the packet goes to 0 or 4. From 4 its shortest ways are over 5
    // (dead) and 1 (where it came from), so it goes on over 3 or 7; all ways lead over 7, 8 and 5 in the end.
    let topology = mesh(&[3, 3], &[]);
    let mut play = Play::new(&topology, gigabit());
    play.diary.notes_hops = true;
    for (from, to) in [(1, 2), (4, 5)] {
        let channel = topology.channels_from(from).find(|&channel| topology.peer(channel) == to).unwrap();
        play.fail(0, Component::Link(topology.link_of(channel)));
    }
    for number in 0..8 {
        play.send(1 + number * 40 * FULL, 1, 2, 64);
    }
    play.run();
    let report = play.diary.fabric.report(play.schedule.now());
    assert_eq!(report.packets_delivered + report.packets_dropped.total(), 8);
    assert!(report.packets_delivered > 0);
    assert_eq!(report.deviated, report.packets_delivered);
    for pair in
        play.diary.hops.windows(2).filter(|pair| pair[0].to == pair[1].from && pair[0].left + 6_000_000 == pair[1].came)
    {
        assert_ne!(pair[0].from, pair[1].to, "{pair:?}");
    }
}

#[test]
fn a_port_serves_its_lanes_in_turn() {
    // Three packets in lane 0 and one in lane 1 behind them: with one lane it is the fourth, with two the second after the
    // one that is being sent.
    for (lanes, place) in [(1, 4), (2, 2)] {
        let mut play = Play::new(&mesh(&[2], &[]), SwitchedParameters { lanes: Lanes::in_turns(lanes), ..gigabit() });
        for lane in [0, 0, 0, 1] {
            play.send_in_lane(0, 0, 1, 65_536, lane);
        }
        play.run();
        assert_eq!(play.delivered_at()[3], Some(place * FULL), "{lanes} lanes");
    }
}

#[test]
fn lanes_change_the_order_and_not_the_sum() {
    let topology = torus(&[4, 4], &[]);
    let reports = [1, 3].map(|lanes| {
        // Deterministic ways, so that all packets cross the same channels.
        let parameters = SwitchedParameters {
            lanes: Lanes::in_turns(lanes),
            routing: Routing::Deterministic,
            queues: Queues::Explicit,
            ..gigabit()
        };
        let mut play = Play::new(&topology, parameters);
        let mut draws = Stream::new(9, 0, Purpose::named("lanes"));
        for number in 0..500 {
            let [from, to] = [(); 2].map(|()| draws.below(16) as u32);
            play.send_in_lane(draws.below(20 * FULL), from, to, draws.below(200_000), (number % 3) as u8);
        }
        play.run();
        play.diary.fabric.report(play.schedule.now())
    });
    let sums = reports.map(|report| {
        let channels: Vec<_> =
            report.channels.iter().map(|channel| (channel.busy, channel.packets, channel.bytes)).collect();
        (channels, report.hops, report.packets_delivered)
    });
    assert_eq!(sums[0], sums[1]);
}

#[derive(Clone, Copy)]
struct Number(u64);

impl Event for Number {
    fn code(&self) -> u64 {
        self.0
    }
}

/// Messages that are all sent at the start, through any fabric.
struct Burst<F> {
    fabric: F,
    messages: Vec<Message>,
    last_at: Vec<SimTime>,
}

impl<F: Fabric> Model for Burst<F> {
    type Event = Number;

    fn execute(&mut self, Number(number): Number, schedule: &mut Schedule<Number>) {
        let messages = &self.messages;
        let (event, now) = (F::Event::of_number(number), schedule.now());
        let notice = self.fabric.execute(
            now,
            event,
            |token| messages[token as usize],
            |time, event| {
                schedule.at(time, Number(event.number()));
            },
        );
        if let Some(Notice::Delivered(token)) = notice {
            self.last_at[self.messages[token as usize].to.index()] = now;
        }
    }
}

/// When each endpoint has received its last message.
fn last_receptions<F: Fabric>(fabric: F, messages: &[Message], endpoints: usize) -> Vec<f64> {
    let mut burst = Burst { fabric, messages: messages.to_vec(), last_at: vec![SimTime::ZERO; endpoints] };
    let mut schedule = Schedule::new();
    for &message in messages {
        burst.fabric.send(SimTime::ZERO, message, |time, event| schedule.at(time, Number(event.number())));
    }
    run(&mut burst, &mut schedule, Limit::none()).unwrap();
    burst.last_at.into_iter().map(SimTime::seconds).collect()
}

/// A star around one switch that only its links limit does what LogGP's interfaces around a switch that never fills do.
#[test]
fn a_star_takes_as_long_as_log_gp_of_the_same_rates() {
    const ENDPOINTS: u32 = 8;
    // 12 messages of 8 MiB from each to all others at random: 128 packets each, so that cutting into packets adds 1 % to
    // the first message alone.
    let mut draws = Stream::new(4, 0, Purpose::named("star"));
    let mut messages = Vec::new();
    for number in 0..12 * ENDPOINTS {
        let from = number % ENDPOINTS;
        let to = (from + 1 + draws.below(u64::from(ENDPOINTS) - 1) as u32) % ENDPOINTS;
        let (from, to) = (EndpointId::new(from), EndpointId::new(to));
        messages.push(Message { from, to, bytes: Bytes::mebibytes(8), lane: 0, token: u64::from(number) });
    }
    let topology = Arc::new(leaf_spine(1, 1, ENDPOINTS, 1, 0).unwrap());
    let parameters = SwitchedParameters { overhead: Bytes::ZERO, rate: rate(125e6), ..gigabit() };
    // L is the switch's latency; G = 8,000 ps a byte is also what the last byte takes, so g = G.
    let row = LogGpRow {
        size: Bytes::new(1),
        latency: SimDuration::from_picoseconds(6_000_000),
        gap_picoseconds: 8000,
        gap_per_byte_picoseconds: 8000,
    };
    let table = Arc::new(LogGpTable::new(vec![row]).unwrap());
    let star = last_receptions(Switched::new(topology, parameters), &messages, ENDPOINTS as usize);
    let interfaces = last_receptions(LogGp::new(table, ENDPOINTS as usize), &messages, ENDPOINTS as usize);
    let longest = |times: &[f64]| times.iter().copied().fold(0.0, f64::max);
    let ratio = longest(&star) / longest(&interfaces);
    assert!((ratio - 1.0).abs() < 0.03, "{ratio}: {star:?} and {interfaces:?}");
    // The most that one endpoint sends or receives is a bound of both: within it, no time is lost.
    let received = |to: usize| messages.iter().filter(|message| message.to.index() == to).count() as f64;
    let bound = (0..ENDPOINTS as usize).map(received).fold(12.0, f64::max) * (8 << 20) as f64 / 125e6;
    assert!(longest(&star) >= bound && longest(&interfaces) >= bound, "{bound}");
}
