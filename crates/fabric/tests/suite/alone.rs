//! A packet alone in a network takes exactly the sum of its hops, on any topology and however it is forwarded.

use crate::harness;

use std::sync::Arc;

use harness::{Entry, Play, gigabit, mesh, rate, torus};
use proptest::prelude::*;
use resilver_fabric::topology::{
    RimWiring, Topology, butterfly, dragonfly, fat_tree, folded_clos, hypercube, leaf_spine, mesh_with_rim,
};
use resilver_fabric::{Forwarding, Queues, Routing, SwitchedParameters};
use resilver_kernel::lanes::Lanes;
use resilver_units::{Bytes, SimDuration};

fn topologies() -> Vec<Arc<Topology>> {
    vec![
        torus(&[4, 4], &[5]),
        torus(&[5, 3, 2], &[]),
        torus(&[2, 2, 2, 2], &[3, 12]),
        torus(&[9], &[]),
        mesh(&[4, 6], &[0, 23]),
        mesh(&[2], &[]),
        Arc::new(butterfly(2, 3, 2).unwrap()),
        Arc::new(hypercube(4, &[6]).unwrap()),
        Arc::new(fat_tree(&[16, 8, 4, 2], &[1, 2, 2], Some(1)).unwrap()),
        Arc::new(folded_clos(3, 4, 1, &[0]).unwrap()),
        Arc::new(leaf_spine(3, 2, 4, 2, 3).unwrap()),
        Arc::new(dragonfly(5, 4, 2, 1, &[]).unwrap()),
        Arc::new(mesh_with_rim(&[4, 4], RimWiring::Perimeter, 4).unwrap()),
    ]
}

fn picoseconds(nanoseconds: u64) -> SimDuration {
    SimDuration::from_picoseconds(1000 * nanoseconds)
}

proptest! {
    /// h (t + latency) + (h - 1) switch latency; under cut-through all hops but the last take the head's time for t.
    #[test]
    fn a_packet_alone_takes_the_sum_of_its_hops(
        shape in 0_usize..13,
        (from, to) in (0_u32..1000, 0_u32..1000),
        // A whole number of picoseconds a byte, so that all products are exact.
        time_per_byte in 1_u64..10_000,
        (latency, switch_latency) in (0_u64..100_000, 0_u64..100_000),
        (overhead, payload) in (0_u64..200, 0_u64..100_000),
        (cuts_through, is_deterministic, is_explicit, lanes) in (any::<bool>(), any::<bool>(), any::<bool>(), 1_u8..4),
    ) {
        let topology = &topologies()[shape];
        let endpoints = (topology.hosts().len() + topology.routers().len()) as u32;
        let (from, to) = (from % endpoints, to % endpoints);
        let parameters = SwitchedParameters {
            rate: rate(1e12 / time_per_byte as f64),
            latency: picoseconds(latency),
            switch_latency: picoseconds(switch_latency),
            overhead: Bytes::new(overhead),
            packet: Bytes::new(100_000),
            forwarding: if cuts_through { Forwarding::CutThrough } else { Forwarding::StoreAndForward },
            routing: if is_deterministic { Routing::Deterministic } else { Routing::Adaptive },
            queues: if is_explicit { Queues::Explicit } else { Queues::Implicit },
            lanes: Lanes::in_turns(lanes),
            ..gigabit()
        };
        let nodes = [from, to].map(|endpoint| topology.node_of(resilver_units::EndpointId::new(endpoint)));
        let hops = u64::from(topology.distance(nodes[0], nodes[1]));
        let time = |bytes: u64| (bytes * time_per_byte).max(1);
        let (whole, head) = (time(payload + overhead), time(payload.min(64) + overhead));
        let passed_on = if cuts_through { head } else { whole };
        let expected = match hops {
            0 => 0,
            _ => (hops - 1) * (passed_on + 1000 * (latency + switch_latency)) + whole + 1000 * latency,
        };
        let mut play = Play::new(topology, parameters);
        play.send(77, from, to, payload).run();
        prop_assert_eq!(play.delivered_at(), vec![Some(77 + expected)]);
        // The sender learns when its own channel has sent all, either way.
        let left_at = play.diary.left_at[0].or_else(|| play.diary.entries.iter().find_map(|entry| match entry {
            Entry::Sent(at, _) => Some(*at),
            _ => None,
        }));
        prop_assert_eq!(left_at, Some(77 + if hops == 0 { 0 } else { whole }));
        let report = play.diary.fabric.report(play.schedule.now());
        prop_assert_eq!(report.packets_forwarded, hops);
        prop_assert_eq!((report.packets_queued, report.deviated, report.packets_under_way), (0, 0, 0));
        if hops > 0 {
            prop_assert_eq!(report.hops[hops as usize], 1);
        }
    }
}

#[test]
fn a_packet_of_64_kib_takes_524_6_microseconds_a_hop_of_a_gigabit() {
    // (65,536 + 38) B at 8,000 ps = 524,592,000 ps; two hops and one switch of 6 us make 1,055,184,000 ps.
    let topology = mesh(&[3], &[]);
    let mut play = Play::new(&topology, gigabit());
    play.send(0, 0, 2, 65_536).run();
    assert_eq!(play.delivered_at(), [Some(1_055_184_000)]);
}

#[test]
fn a_message_is_cut_into_packets_that_follow_each_other() {
    // 150,000 B: two packets of 65,536 B and one of 18,928 B. The last is sent on the first link from 2 x 524,592,000 ps
    // on, for 18,966 x 8,000 = 151,728,000 ps; the second link is busy with the second packet from
    // 2 x 524,592,000 + 6,000,000 until 3 x 524,592,000 + 6,000,000, and only then sends the last.
    let topology = mesh(&[3], &[]);
    let mut play = Play::new(&topology, gigabit());
    play.send(0, 0, 2, 150_000).run();
    let left = 2 * 524_592_000 + 151_728_000;
    assert_eq!(play.diary.left_at, [Some(left)]);
    assert_eq!(play.delivered_at(), [Some(3 * 524_592_000 + 6_000_000 + 151_728_000)]);
    let report = play.diary.fabric.report(play.schedule.now());
    assert_eq!((report.packets_sent, report.packets_delivered, report.packets_forwarded), (3, 3, 6));
    // The second and third packet wait at the source. The switch is still sending the second as the third comes in, but is
    // free of the first just as the second comes.
    assert_eq!(report.packets_queued, 3);
    assert_eq!(report.channels.iter().map(|channel| channel.bytes.get()).sum::<u64>(), 2 * (150_000 + 3 * 38));
}

#[test]
fn an_empty_message_is_one_packet() {
    let topology = mesh(&[2], &[]);
    let mut play = Play::new(&topology, gigabit());
    play.send(0, 0, 1, 0).run();
    assert_eq!(play.delivered_at(), [Some(38 * 8000)]);
}

#[test]
fn a_message_within_one_endpoint_is_delivered_at_once() {
    let topology = mesh(&[2], &[]);
    let mut play = Play::new(&topology, gigabit());
    play.send(9, 1, 1, 1 << 30).run();
    assert_eq!(play.delivered_at(), [Some(9)]);
    assert_eq!(play.diary.fabric.report(play.schedule.now()).packets_sent, 0);
}

#[test]
fn slow_links_hold_up_fast_ones_under_cut_through() {
    // A slow link of 80,000 ps a byte, then one of 8,000: 100 KB + 38 B take 80,000 ps each to come in, and the last byte
    // cannot leave before. The head is 102 B: 8,160,000 ps on the first link. The second is held as long as the first was:
    // 100,038 x 80,000 ps.
    let topology = mesh(&[3], &[]);
    let parameters = SwitchedParameters {
        link_rates: vec![rate(12.5e6), rate(125e6)],
        packet: Bytes::new(100_000),
        forwarding: Forwarding::CutThrough,
        ..gigabit()
    };
    let mut play = Play::new(&topology, parameters);
    play.send(0, 0, 2, 100_000).run();
    assert_eq!(play.delivered_at(), [Some(102 * 80_000 + 6_000_000 + 100_038 * 80_000)]);
}
