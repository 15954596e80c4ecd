//! Small topologies of every kind, and hops found without their structure.

use std::collections::VecDeque;

use resilver_fabric::topology::{
    GraphLinks, RimWiring, Shape, Topology, butterfly, dragonfly, draw_routers, fat_tree, folded_clos, graph,
    hypercube, leaf_spine, leaf_spine_with_entries, mesh, mesh_with_rim, torus, torus_of_trees,
};

/// Small topologies of every kind: odd and even sides, sides of two, parallel links, hosts with several links, deep trees.
pub fn small() -> Vec<(String, Topology)> {
    let mut all: Vec<(String, Topology)> = Vec::new();
    let mut add = |name: String, topology| all.push((name, topology));
    for sides in [&[5][..], &[6], &[2], &[4, 3, 2], &[5, 6], &[2, 2, 3], &[3, 3, 3], &[4, 2, 5], &[4, 4]] {
        add(format!("torus {sides:?}"), torus(sides, &[1]).unwrap());
        add(format!("mesh {sides:?}"), mesh(sides, &[0]).unwrap());
    }
    for dimensions in 1..=5 {
        add(format!("hypercube {dimensions}"), hypercube(dimensions, &[1]).unwrap());
    }
    for (wiring, routers) in [
        (RimWiring::CornerSides, 4),
        (RimWiring::CornerSides, 8),
        (RimWiring::OppositeSides, 2),
        (RimWiring::OppositeSides, 6),
        (RimWiring::Perimeter, 3),
        (RimWiring::Perimeter, 1),
    ] {
        for sides in [[5, 5], [4, 7], [6, 3]] {
            add(format!("{wiring:?} {sides:?} {routers}"), mesh_with_rim(&sides, wiring, routers).unwrap());
        }
    }
    for (radix, levels, hosts) in
        [(2, 1, 2), (2, 2, 1), (2, 3, 2), (3, 2, 2), (3, 3, 1), (4, 2, 3), (2, 5, 1), (5, 2, 1)]
    {
        add(format!("butterfly {radix} {levels} {hosts}"), butterfly(radix, levels, hosts).unwrap());
    }
    for (sizes, uplinks, routers_at) in [
        (&[16, 4, 2][..], &[1, 2][..], None),
        (&[16, 4, 2], &[1, 4], Some(1)),
        (&[16, 8, 4, 2], &[1, 2, 4], Some(1)),
        (&[16, 8, 4], &[2, 4], Some(2)),
        (&[24, 12, 6, 3, 2], &[1, 2, 1, 2], None),
        (&[6, 3], &[3], None),
        (&[12, 6, 6, 3], &[2, 2, 3], Some(3)),
    ] {
        add(format!("tree {sizes:?} {uplinks:?}"), fat_tree(sizes, uplinks, routers_at).unwrap());
    }
    for (levels, ports, taper) in [(2, 4, 1), (2, 6, 2), (3, 2, 1), (3, 4, 1), (3, 6, 1), (3, 6, 2), (3, 4, 3)] {
        add(format!("clos {levels} {ports} {taper}"), folded_clos(levels, ports, taper, &[0]).unwrap());
    }
    for (leaves, spines, hosts, links, routers) in [(4, 2, 5, 1, 3), (3, 2, 2, 3, 1), (1, 1, 4, 1, 0), (5, 1, 2, 1, 7)]
    {
        add(format!("leaves {leaves} {spines} {links}"), leaf_spine(leaves, spines, hosts, links, routers).unwrap());
    }
    for (leaves, spines, hosts, links, each) in [(4, 2, 3, 1, 2), (3, 3, 2, 2, 1), (1, 2, 4, 1, 3), (4, 1, 2, 3, 5)] {
        let topology = leaf_spine_with_entries(leaves, spines, hosts, links, each).unwrap();
        add(format!("entries {leaves} {spines} {links} {each}"), topology);
    }
    for (groups, switches, hosts, links) in
        [(9, 4, 2, 2), (3, 2, 1, 1), (2, 3, 2, 2), (5, 4, 1, 2), (4, 3, 2, 2), (2, 1, 2, 1)]
    {
        add(format!("dragonfly {groups} {switches}"), dragonfly(groups, switches, hosts, links, &[1]).unwrap());
    }
    for (sides, down) in [(&[4][..], &[2, 3][..]), (&[2, 2], &[1]), (&[3, 4], &[2, 1]), (&[5], &[1, 2, 2])] {
        add(format!("torus {sides:?} of trees {down:?}"), torus_of_trees(sides, down, &[1]).unwrap());
    }
    // A ring with a chord, a leaf, and two links between 0 and 1; node 5 is a switch without an endpoint.
    let links = vec![[0, 1], [1, 2], [2, 3], [4, 3], [4, 0], [1, 0], [5, 1], [5, 3], [6, 5]];
    let hosts = vec![6, 0, 1, 3];
    add("graph".to_string(), graph(GraphLinks { nodes: 7, links, hosts, routers: vec![4], positions: None }).unwrap());
    let drawn = draw_routers(64, 7, 5).unwrap();
    add("torus with routers".to_string(), torus(&[4, 4, 4], &drawn).unwrap());
    all
}

/// Hops to `to` from every node, by ways over no global link of a dragonfly and over one, by breadth-first search; no way leads
/// through an outside router of a mesh.
pub fn searched(topology: &Topology, to: u32) -> Vec<[u32; 2]> {
    let mut hops = vec![[u32::MAX; 2]; topology.nodes() as usize];
    hops[to as usize][0] = 0;
    let mut queue = VecDeque::from([(to, 0)]);
    while let Some((here, used)) = queue.pop_front() {
        if is_outside(topology, here) && here != to {
            continue;
        }
        for channel in topology.channels_from(here) {
            let other = topology.peer(channel);
            let used_there = used + usize::from(is_global(topology, here, other));
            if used_there <= 1 && hops[other as usize][used_there] == u32::MAX {
                hops[other as usize][used_there] = hops[here as usize][used] + 1;
                queue.push_back((other, used_there));
            }
        }
    }
    hops
}

/// Whether a node is a router outside of a mesh.
pub fn is_outside(topology: &Topology, node: u32) -> bool {
    matches!(topology.shape(), Shape::Rim(_)) && topology.routers().contains(&node)
}

/// Whether two neighbours are switches of different groups of a dragonfly, by how many there are of each.
pub fn is_global(topology: &Topology, a: u32, b: u32) -> bool {
    let Shape::Dragonfly(shape) = topology.shape() else { return false };
    let places = (topology.hosts().len() + topology.routers().len()) as u32;
    let group = |switch: u32| (switch - places) / shape.switches_per_group();
    a >= places && b >= places && group(a) != group(b)
}
