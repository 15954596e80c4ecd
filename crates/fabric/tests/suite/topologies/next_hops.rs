//! Shortest ways, distances and deterministic routing of every kind, between all pairs of nodes.

use resilver_fabric::topology::{GraphLinks, Shape, Topology, graph};

use super::instances::{is_global, is_outside, searched, small};

/// The same network without its structure.
fn as_graph(topology: &Topology) -> Topology {
    let links = (0..topology.links()).map(|link| topology.ends(link)).collect();
    let (hosts, routers) = (topology.hosts().to_vec(), topology.routers().to_vec());
    graph(GraphLinks { nodes: topology.nodes(), links, hosts, routers, positions: None }).unwrap()
}

#[test]
fn distances_and_shortest_channels_are_those_of_a_search() {
    for (name, topology) in small() {
        for to in 0..topology.nodes() {
            let hops = searched(&topology, to);
            for from in 0..topology.nodes() {
                let least = hops[from as usize].into_iter().min().unwrap();
                assert_eq!(topology.distance(from, to), least, "{name}: {from} to {to}");
                if from == to {
                    continue;
                }
                let mut shortest = Vec::new();
                topology.shortest(from, to, |channel| shortest.push(channel));
                assert!(shortest.contains(&topology.deterministic(from, to)), "{name}: {from} to {to}");
                shortest.sort_unstable();
                assert_eq!(shortest, nearer(&topology, from, to, &hops), "{name}: {from} to {to}");
            }
        }
    }
}

/// The channels that lead one hop nearer and are the beginning of a way that may be taken.
fn nearer(topology: &Topology, from: u32, to: u32, hops: &[[u32; 2]]) -> Vec<u32> {
    let least = hops[from as usize].into_iter().min().unwrap();
    let leads = |&channel: &u32| {
        let next = topology.peer(channel);
        // Behind a global link none may follow.
        let [without, with] = hops[next as usize];
        let rest = if is_global(topology, from, next) { without } else { without.min(with) };
        (next == to || !is_outside(topology, next)) && rest == least - 1
    };
    topology.channels_from(from).filter(leads).collect()
}

#[test]
fn deterministic_ways_are_the_shortest() {
    for (name, topology) in small() {
        for from in 0..topology.nodes() {
            for to in 0..topology.nodes() {
                let route = topology.route(from, to);
                assert_eq!(route.len() as u32, topology.distance(from, to) + 1, "{name}: {from} to {to}");
            }
        }
    }
}

#[test]
fn every_structure_is_the_graph_of_its_links() {
    for (name, topology) in small() {
        if matches!(topology.shape(), Shape::Rim(_) | Shape::Dragonfly(_)) {
            continue;
        }
        let graph = as_graph(&topology);
        for to in 0..topology.nodes() {
            for from in 0..topology.nodes() {
                assert_eq!(topology.distance(from, to), graph.distance(from, to), "{name}: {from} to {to}");
            }
        }
    }
}

#[test]
fn every_channel_has_its_other_direction() {
    for (name, topology) in small() {
        assert_eq!(topology.channels(), 2 * topology.links(), "{name}");
        for node in 0..topology.nodes() {
            for channel in topology.channels_from(node) {
                let back = topology.reverse(channel);
                assert_eq!((topology.peer(back), topology.reverse(back)), (node, channel), "{name}");
                let link = topology.link_of(channel);
                assert_eq!(link, topology.link_of(back), "{name}");
                assert!(topology.channels_of(link).contains(&channel) && back != channel, "{name}");
            }
        }
    }
}

#[test]
fn links_of_a_graph_keep_their_numbers() {
    let links = vec![[2, 0], [0, 1], [1, 0], [1, 2]];
    let given = GraphLinks { nodes: 3, links: links.clone(), hosts: vec![0, 1, 2], ..GraphLinks::default() };
    let topology = graph(given).unwrap();
    assert_eq!((0..4).map(|link| topology.ends(link)).collect::<Vec<_>>(), links);
}

#[test]
fn positions_lie_in_the_unit_square_and_apart() {
    for (name, topology) in small() {
        let positions: Vec<[f64; 2]> = (0..topology.nodes()).map(|node| topology.position(node)).collect();
        for (node, at) in positions.iter().enumerate() {
            assert!(at.iter().all(|at| (0.0..=1.0).contains(at)), "{name}: node {node} at {at:?}");
            let is_apart = |other: &[f64; 2]| (other[0] - at[0]).abs() + (other[1] - at[1]).abs() > 1e-9;
            assert!(positions[..node].iter().all(is_apart), "{name}: node {node} at {at:?}");
        }
    }
}
