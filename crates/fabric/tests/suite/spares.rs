//! Spare links of butterflies: idle while all works, and one hop for two where one link has failed.

use std::sync::Arc;

use resilver_fabric::topology::{Topology, butterfly, butterfly_with_spares};
use resilver_fabric::{Component, Dropped, SwitchedParameters};

use crate::harness::{Play, gigabit};

const SIZES: [(u32, u32, u32, u32); 7] =
    [(2, 3, 2, 1), (3, 3, 1, 2), (4, 2, 3, 1), (4, 2, 1, 2), (4, 3, 1, 3), (6, 2, 1, 4), (4, 1, 8, 2)];

fn all() -> impl Iterator<Item = Topology> {
    SIZES.into_iter().map(|(radix, levels, hosts, spares)| butterfly_with_spares(radix, levels, hosts, spares).unwrap())
}

/// Hops from a node to all others over the links that serve, by breadth-first search.
fn searched(topology: &Topology, from: u32, serves: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut hops = vec![u32::MAX; topology.nodes() as usize];
    hops[from as usize] = 0;
    let mut reached = vec![from];
    let mut next = 0;
    while let Some(&here) = reached.get(next) {
        next += 1;
        for channel in topology.channels_from(here).filter(|&channel| serves(topology.link_of(channel))) {
            let other = topology.peer(channel) as usize;
            if hops[other] == u32::MAX {
                hops[other] = hops[here as usize] + 1;
                reached.push(other as u32);
            }
        }
    }
    hops
}

#[test]
fn hops_with_and_without_spares_are_those_of_a_search() {
    for topology in all() {
        for from in 0..topology.nodes() {
            let without = searched(&topology, from, |link| !topology.is_spare(link));
            let with = searched(&topology, from, |_| true);
            for to in 0..topology.nodes() {
                let hops = (topology.distance(from, to), topology.distance_with_spares(from, to));
                assert_eq!(hops, (without[to as usize], with[to as usize]), "{from} to {to}");
            }
        }
    }
}

#[test]
fn all_but_the_spares_is_the_butterfly_without() {
    for ((radix, levels, hosts, spares), topology) in SIZES.into_iter().zip(all()) {
        let plain = butterfly(radix, levels, hosts).unwrap();
        let ends = |of: &Topology| (0..plain.links()).map(|link| of.ends(link)).collect::<Vec<_>>();
        assert_eq!(ends(&topology), ends(&plain));
        assert_eq!(topology.spare_links(), levels * radix.pow(levels) * spares / 2);
        assert_eq!(topology.links(), plain.links() + topology.spare_links());
        assert_eq!(topology.bisection_links(), plain.bisection_links());
        assert_eq!((topology.diameter(), topology.mean_hops()), (plain.diameter(), plain.mean_hops()));
        for link in plain.links()..topology.links() {
            let [a, b] = topology.ends(link).map(|node| topology.node_name(node));
            assert!(a.starts_with("switch") && b.starts_with("switch"), "{a} {b}");
        }
    }
}

/// Messages of a packet each from every router to every host and back, far apart.
fn play(topology: &Arc<Topology>, broken: &[u32]) -> Play {
    let mut play = Play::new(topology, SwitchedParameters { hop_limit: 1000, ..gigabit() });
    broken.iter().for_each(|&link| _ = play.fail(0, Component::Link(link)));
    let (hosts, routers) = (topology.hosts().len() as u32, topology.routers().len() as u32);
    for (host, router) in (0..hosts).flat_map(|host| (hosts..hosts + routers).map(move |router| (host, router))) {
        let at = 1_000_000_000_000 * play.diary.messages.len() as u64;
        play.send(at, host, router, 1).send(at + 500_000_000_000, router, host, 1);
    }
    play.run();
    play
}

#[test]
fn a_failed_link_costs_one_hop_and_spares_are_idle_without() {
    for topology in all().map(Arc::new) {
        let straight = topology.distance(topology.routers()[0], topology.hosts()[0]);
        let idle = play(&topology, &[]);
        for channel in idle.diary.fabric.report(idle.schedule.now()).channels {
            assert_eq!(channel.packets == 0, topology.is_spare(channel.link), "{} to {}", channel.from, channel.to);
        }
        for link in topology.links_between_switching_nodes().into_iter().step_by(5) {
            let report = {
                let play = play(&topology, &[link]);
                play.diary.fabric.report(play.schedule.now())
            };
            // By a search over what works, and as packets go that know of their own node's ports alone.
            let mut expected = vec![0; straight as usize + 2];
            for &router in topology.routers() {
                let hops = searched(&topology, router, |other| other != link && !topology.is_spare(other));
                let with = searched(&topology, router, |other| other != link);
                for &host in topology.hosts() {
                    expected[with[host as usize] as usize] += 2;
                    let is_cut = hops[host as usize] > straight;
                    assert_eq!(with[host as usize], straight + u32::from(is_cut));
                }
            }
            assert_eq!(report.packets_dropped, Dropped::default(), "link {link}");
            assert_eq!(report.deviated, expected[straight as usize + 1]);
            expected.truncate(report.hops.len());
            assert_eq!(report.hops, expected, "link {link}");
        }
    }
}
