//! The fast path and the plain path of a switched fabric do the same, packet by packet.
//!
//! Events of one picosecond may come in another order on the other path, since each schedules the arrival of a packet that
//! waited at another time. So no two packets are to meet in one picosecond: every link has a rate of its own, none a multiple
//! of another, and messages are sent at random picoseconds. Under cut-through, packets that one slow link held up may still
//! reach different nodes in one picosecond, where they do not touch each other.

use crate::harness;

use std::sync::Arc;

use harness::{Play, gigabit, mesh, rate, torus};
use proptest::prelude::*;
use resilver_fabric::topology::Topology;
use resilver_fabric::{Component, Forwarding, NetworkUse, Queues, Routing, SwitchedEvent, SwitchedParameters};
use resilver_kernel::{Purpose, Stream};

const MILLISECOND: u64 = 1_000_000_000;

/// What is drawn of a run.
#[derive(Clone, Copy, Debug)]
struct Case {
    seed: u64,
    shape: usize,
    cuts_through: bool,
    is_deterministic: bool,
    faults: u64,
}

/// When each message was delivered, when it had left its sender, and what the network did in all and from a moment on.
type Account = (Vec<Option<u64>>, Vec<Option<u64>>, NetworkUse);

fn play(case: Case, queues: Queues) -> (Account, Play) {
    let topology: Arc<Topology> =
        [torus(&[4, 4, 2], &[0, 9]), torus(&[3, 5], &[]), mesh(&[3, 4], &[0])][case.shape].clone();
    let mut draws = Stream::new(case.seed, 0, Purpose::named("twin"));
    let parameters = SwitchedParameters {
        link_rates: (0..topology.links()).map(|_| rate(1e8 * (1.0 + draws.uniform()))).collect(),
        forwarding: if case.cuts_through { Forwarding::CutThrough } else { Forwarding::StoreAndForward },
        routing: if case.is_deterministic { Routing::Deterministic } else { Routing::Adaptive },
        queues,
        ..gigabit()
    };
    let mut play = Play::new(&topology, parameters);
    let endpoints = u64::from(topology.nodes());
    // Up to half a megabyte every 50 us over some hundred links of 0.1 to 0.2 GB/s: many packets wait at some link.
    for _ in 0..800 {
        let [from, to] = [(); 2].map(|()| draws.below(endpoints) as u32);
        let bytes = [64, 65_536, 1 + draws.below(500_000)][draws.below(3) as usize];
        play.send(draws.below(30 * MILLISECOND), from, to, bytes);
    }
    for _ in 0..case.faults {
        let component = match draws.below(3) {
            0 => Component::Node(draws.below(u64::from(topology.nodes())) as u32),
            _ => Component::Link(draws.below(u64::from(topology.links())) as u32),
        };
        let at = draws.below(40 * MILLISECOND);
        play.fail(at, component).repair(at + draws.below(20 * MILLISECOND), component);
    }
    play.run();
    let mut left_at = play.diary.left_at.clone();
    for entry in &play.diary.entries {
        if let harness::Entry::Sent(at, token) = *entry {
            left_at[token as usize] = Some(at);
        }
    }
    ((play.delivered_at(), left_at, play.diary.fabric.report(play.schedule.now())), play)
}

/// Every arrival of a packet at a node, those of one time in the order of nodes.
fn arrivals(play: &Play) -> Vec<(u64, u32)> {
    let node = |&(at, event): &(u64, SwitchedEvent)| match event {
        SwitchedEvent::Arrive { node, .. } => Some((at, node)),
        _ => None,
    };
    let mut arrivals: Vec<(u64, u32)> = play.diary.events.iter().filter_map(node).collect();
    arrivals.sort_unstable();
    arrivals
}

fn case() -> impl Strategy<Value = Case> {
    (any::<u64>(), 0_usize..3, any::<bool>(), any::<bool>(), 0_u64..6).prop_map(
        |(seed, shape, cuts_through, is_deterministic, faults)| Case {
            seed,
            shape,
            cuts_through,
            is_deterministic,
            faults,
        },
    )
}

proptest! {
    #[test]
    fn implicit_and_explicit_queues_carry_every_packet_alike(case in case()) {
        let (fast, plain) = (play(case, Queues::Implicit), play(case, Queues::Explicit));
        prop_assert!(fast.0.0 == plain.0.0, "other delivery times");
        prop_assert!(fast.0.2 == plain.0.2, "other reports");
        if case.faults == 0 {
            // Faults leave stale arrivals behind, and what chose again left its sender later than was foreseen.
            prop_assert!(arrivals(&fast.1) == arrivals(&plain.1), "other arrivals");
            prop_assert!(fast.0.1 == plain.0.1, "other times of leaving");
        }
    }
}

#[test]
fn the_cases_are_hard_enough() {
    // Without faults packets must wait on a third of their hops, and with them some must have been cut, gone round or been lost.
    let calm = Case { seed: 1, shape: 0, cuts_through: false, is_deterministic: false, faults: 0 };
    let report = play(calm, Queues::Implicit).0.2;
    assert!(
        report.packets_queued * 3 > report.packets_forwarded,
        "{} of {}",
        report.packets_queued,
        report.packets_forwarded
    );
    let (mut cut, mut deviated, mut no_link) = (0, 0, 0);
    for seed in 0..20 {
        let report = play(Case { seed, faults: 5, ..calm }, Queues::Implicit).0.2;
        cut += report.packets_dropped.cut;
        deviated += report.deviated;
        no_link += play(Case { seed, faults: 5, is_deterministic: true, ..calm }, Queues::Implicit)
            .0
            .2
            .packets_dropped
            .no_link;
    }
    assert!(cut > 20 && deviated > 20 && no_link > 20, "{cut} cut, {deviated} deviated, {no_link} without a link");
}
