//! Counts, means and cuts known from elsewhere: the table of a study of eight networks, closed forms, large networks.

use resilver_fabric::topology::{Bisection, GraphLinks};
use resilver_fabric::topology::{
    RimWiring, Topology, TopologyError, butterfly, butterfly_with_spares, clos_sizes, dragonfly, dragonfly_hosts,
    draw_routers, fat_tree, folded_clos, graph, hypercube, leaf_spine, leaf_spine_with_entries, mesh, mesh_with_rim,
    torus, torus_of_trees,
};

fn torus_of(sides: &[u32], routers: u32) -> Topology {
    torus(sides, &draw_routers(sides.iter().product(), routers, 1).unwrap()).unwrap()
}

/// Mehech, "The impact of failures on large distributed storage systems" (UCSC-SSRC-07-10, 2007), table 1: disks, routers, ports
/// and links of each network.
#[test]
fn the_eight_networks_of_the_study_have_the_counts_of_its_table() {
    let eight = [
        (butterfly(4, 4, 16).unwrap(), 4096, 256, 16_384, 8192),
        (fat_tree(&[4096, 128, 64, 32], &[1, 32, 64], Some(1)).unwrap(), 4096, 128, 24_576, 12_288),
        (hypercube(12, &draw_routers(4096, 128, 1).unwrap()).unwrap(), 3968, 128, 49_152, 24_576),
        (mesh_with_rim(&[64, 64], RimWiring::CornerSides, 8).unwrap(), 4096, 8, 18_160, 9080),
        (torus_of(&[64, 64], 128), 3968, 128, 16_384, 8192),
        (torus_of(&[16, 16, 16], 128), 3968, 128, 24_576, 12_288),
        (torus_of(&[8, 8, 8, 8], 128), 3968, 128, 32_768, 16_384),
        (torus_of(&[4, 8, 4, 8, 4], 128), 3968, 128, 40_960, 20_480),
    ];
    for (topology, hosts, routers, ports, links) in eight {
        let counts = (topology.hosts().len(), topology.routers().len(), topology.ports(), topology.links());
        assert_eq!(counts, (hosts, routers, ports, links));
    }
    // Each router of the mesh: two sides of 64 nodes that share one, 64 + 64 - 1 links.
    let mesh = mesh_with_rim(&[64, 64], RimWiring::CornerSides, 8).unwrap();
    assert!(mesh.routers().iter().all(|&router| mesh.channels_from(router).len() == 127));
    // Two whole sides: 2 x 64 links a router. The rim of 4 x 63 nodes dealt out to 8: 31 or 32 each.
    let opposite = mesh_with_rim(&[64, 64], RimWiring::OppositeSides, 8).unwrap();
    assert!(opposite.routers().iter().all(|&router| opposite.channels_from(router).len() == 128));
    let perimeter = mesh_with_rim(&[64, 64], RimWiring::Perimeter, 8).unwrap();
    assert_eq!(perimeter.links(), 2 * 64 * 63 + 252);
    assert!(perimeter.routers().iter().all(|&router| (31..=32).contains(&perimeter.channels_from(router).len())));
    // All switches of the butterfly but the last column's have eight ports, and 1,024 are no routers.
    let butterfly = butterfly(4, 4, 16).unwrap();
    assert_eq!(butterfly.switches().len(), 1024);
    let eight_ports = |&&node: &&u32| butterfly.channels_from(node).len() == 8;
    assert_eq!(butterfly.switches().iter().filter(eight_ports).count(), 768);
}

/// Hosts of one switch are 2 hops apart, of one tree of two levels 4, of two trees 4 and what their roots are. On a ring of k
/// roots, k even, these are k / 4 apart on average over all pairs.
#[test]
fn hops_between_trees_are_two_climbs_and_the_torus_between() {
    for (sides, down) in [(&[4][..], [2, 3]), (&[6, 4], [3, 2]), (&[8, 2, 4], [4, 5])] {
        let (roots, [switches, hosts]) = (sides.iter().product::<u32>(), down);
        let network = torus_of_trees(sides, &down, &[]).unwrap();
        let grid = torus(sides, &[]).unwrap();
        assert_eq!(network.links(), grid.links() + roots * switches * (1 + hosts));
        assert_eq!(network.diameter(), 4 + grid.diameter());
        let mean_of = |part: u32, hops: f64| f64::from(part) * hops;
        let all = roots * switches * hosts - 1;
        let beside = mean_of(hosts - 1, 2.0) + mean_of((switches - 1) * hosts, 4.0);
        let along: f64 = sides.iter().map(|&side| f64::from(side) / 4.0).sum();
        let others = mean_of((roots - 1) * switches * hosts, 4.0) + mean_of(roots * switches * hosts, along);
        let expected = (beside + others) / f64::from(all);
        assert!((network.mean_hops().unwrap() / expected - 1.0).abs() < 1e-12, "{sides:?} {down:?}");
    }
}

/// The mean over all pairs of distinct nodes: a ring of k nodes has a mean of k / 4 over all pairs where k is even and of
/// (k^2 - 1) / (4 k) where it is odd; a line one of (k^2 - 1) / (3 k). These add up over sides, and N / (N - 1) leaves out the
/// pairs of a node with itself.
#[test]
fn mean_hops_of_tori_and_meshes_are_the_closed_forms() {
    for sides in [&[16, 16, 16][..], &[64, 64], &[5, 7], &[8, 9, 10], &[4, 8, 4, 8, 4], &[3, 3, 3], &[15, 16]] {
        let nodes: f64 = sides.iter().map(|&side| f64::from(side)).product();
        let ring = |&side: &u32| {
            let k = f64::from(side);
            if side % 2 == 0 { k / 4.0 } else { (k * k - 1.0) / (4.0 * k) }
        };
        let line = |&side: &u32| (f64::from(side).powi(2) - 1.0) / (3.0 * f64::from(side));
        let expected = |means: f64| means * nodes / (nodes - 1.0);
        let close = |found: f64, means: f64| (found / expected(means) - 1.0).abs() < 1e-12;
        assert!(close(torus(sides, &[]).unwrap().mean_hops().unwrap(), sides.iter().map(ring).sum()), "{sides:?}");
        assert!(close(mesh(sides, &[]).unwrap().mean_hops().unwrap(), sides.iter().map(line).sum()), "{sides:?}");
    }
}

/// A router sees hosts at every place but those of routers, so its mean is that of all pairs to within what 127 others, of
/// means within the spread of all, can shift it: 16^3 has a standard deviation of hops of 4, so 128 x 127 pairs of 12 +- 4 hops
/// shift the mean over 128 x 3,968 by 0.01 or so.
#[test]
fn routers_at_random_places_see_the_mean_of_all_pairs() {
    for (sides, expected) in
        [(&[64, 64][..], 32.0), (&[16, 16, 16], 12.0), (&[8, 8, 8, 8], 8.0), (&[4, 8, 4, 8, 4], 7.0)]
    {
        let mean = torus_of(sides, 128).mean_router_host_hops().unwrap();
        assert!((mean / (expected * 4096.0 / 4095.0) - 1.0).abs() < 0.005, "{sides:?}: {mean}");
    }
}

/// From a router at the corner of rows and columns a node is one hop behind the nearer of the two sides: min(row, column) + 1.
/// The sum of min(i, j) over a square of side n is (n - 1) n (2 n - 1) / 6, so the mean of 64 x 64 is 63 x 127 / (6 x 64) + 1.
/// In the fat tree of the study a host is at its own router, 1 hop, for 32 of 4,096; among the other 2,016 of the router's
/// group of 64 routers 3 hops; 5 hops for the other half. A butterfly's hosts are all five hops behind its routers.
#[test]
fn mean_hops_from_routers_are_the_closed_forms() {
    let mesh = mesh_with_rim(&[64, 64], RimWiring::CornerSides, 8).unwrap();
    assert!((mesh.mean_router_host_hops().unwrap() - (63.0 * 127.0 / 384.0 + 1.0)).abs() < 1e-12);
    let tree = fat_tree(&[4096, 128, 64, 32], &[1, 32, 64], Some(1)).unwrap();
    let expected = (32.0 + 3.0 * 2016.0 + 5.0 * 2048.0) / 4096.0;
    assert_eq!(tree.mean_router_host_hops(), Some(expected));
    assert_eq!(butterfly(4, 4, 16).unwrap().mean_router_host_hops(), Some(5.0));
}

/// A torus is cut across its longest side, at two places; a hypercube across any dimension; a folded Clos network without
/// taper and the study's fat tree join halves by half as many links as there are hosts.
#[test]
fn bisections_are_the_known_widths() {
    let exact = |links| Bisection { links, is_exact: true };
    assert_eq!(torus(&[16, 16, 16], &[]).unwrap().bisection_links(), exact(2 * 256));
    assert_eq!(mesh(&[64, 64], &[]).unwrap().bisection_links(), exact(64));
    // Odd sides: 5 x 5 is cut by a line with a step, 5 + 1.
    assert_eq!(mesh(&[5, 5], &[]).unwrap().bisection_links(), exact(6));
    assert_eq!(hypercube(12, &[]).unwrap().bisection_links(), exact(2048));
    assert_eq!(folded_clos(3, 8, 1, &[]).unwrap().bisection_links(), exact(64));
    assert_eq!(fat_tree(&[4096, 128, 64, 32], &[1, 32, 64], Some(1)).unwrap().bisection_links(), exact(2048));
    // Sixteen leaves of four uplinks: half of 64; eight links among 24 hosts of a leaf would not do.
    assert_eq!(leaf_spine(16, 4, 20, 1, 0).unwrap().bisection_links(), exact(32));
    // Half of the words' first digits: 256 switches, of whose four links across the first gap two cross.
    assert_eq!(butterfly(4, 4, 16).unwrap().bisection_links(), Bisection { links: 512, is_exact: false });
}

/// The improved cut of a graph finds the known width of a torus whose structure it does not know.
#[test]
fn the_cut_of_a_graph_finds_the_width_of_a_grid() {
    for structured in [torus(&[8, 6], &[]).unwrap(), mesh(&[9, 8], &[]).unwrap(), torus(&[16, 16, 4], &[]).unwrap()] {
        let links = (0..structured.links()).map(|link| structured.ends(link)).collect();
        let hosts = (0..structured.nodes()).collect();
        let nodes = structured.nodes();
        let given = GraphLinks { nodes, links, hosts, ..GraphLinks::default() };
        let found = graph(given).unwrap().bisection_links();
        assert_eq!(found, Bisection { links: structured.bisection_links().links, is_exact: false });
    }
}

/// Next hops take tables of a few entries a node, where all pairs of 65,536 nodes would take 4,295 million.
#[test]
fn large_networks_have_small_tables() {
    // Three coordinates a node and its places in two spans: the ways of 127 x 63 and of 63 differences, the hops of 127 + 63 + 63.
    let torus = torus_of(&[64, 32, 32], 128);
    assert_eq!((torus.nodes(), torus.links()), (65_536, 196_608));
    assert!(torus.table_entries() < 6 * 65_536);
    // 64 pods of 32 x 32 hosts, 64 x 64 switches in pods, 1,024 cores; a place a node.
    let clos = folded_clos(3, 64, 1, &draw_routers(clos_sizes(3, 64, 1).unwrap().0, 128, 1).unwrap()).unwrap();
    assert_eq!((clos.nodes(), clos.links()), (65_536 + 4096 + 1024, 3 * 65_536));
    assert!(clos.table_entries() <= clos.nodes() as usize);
    // A level and three groups a node.
    let tree = fat_tree(&[65_536, 2048, 1024, 512], &[1, 32, 64], None);
    assert!(tree.is_err(), "64 uplinks join no 512 nodes in groups of which each holds whole groups of the gap below");
    let tree = fat_tree(&[65_536, 2048, 1024, 1024], &[1, 32, 1024], None).unwrap();
    assert!(tree.table_entries() < 5 * tree.nodes() as usize);
    // (32 / 4 + 32 / 4 + 64 / 4) N / (N - 1), but for the routers, which are no hosts.
    assert!((torus.mean_hops().unwrap() - 32.0 * 65_536.0 / 65_535.0).abs() < 1e-3);
    assert_eq!((torus.diameter(), clos.diameter()), (64, 6));
    // From a host of the Clos network: 31 places at 2 hops, 31 x 32 at 4, the other 64,512 at 6.
    let host = clos.hosts()[0];
    let hops = |hops| clos.hosts().iter().chain(clos.routers()).filter(|&&to| clos.distance(host, to) == hops).count();
    assert_eq!([hops(2), hops(4), hops(6)], [31, 992, 64_512]);
}

#[test]
fn routers_are_drawn_as_the_seed_says() {
    let drawn = draw_routers(4096, 128, 1).unwrap();
    assert_eq!(drawn, draw_routers(4096, 128, 1).unwrap());
    assert_ne!(drawn, draw_routers(4096, 128, 2).unwrap());
    assert!(drawn.is_sorted_by(|a, b| a < b) && drawn.iter().all(|&router| router < 4096));
    assert_eq!(draw_routers(5, 0, 1).unwrap(), Vec::<u32>::new());
    // Each of six pairs of four places in 1/6 of 6,000 seeds: 1,000 +- 29, so 6 standard deviations fail once in 10^8 runs.
    let mut seen = [0; 16];
    for seed in 0..6000 {
        let pair = draw_routers(4, 2, seed).unwrap();
        seen[(1usize << pair[0]) | (1 << pair[1])] += 1;
    }
    assert_eq!(seen.iter().filter(|&&count| count > 0).count(), 6);
    assert!(seen.iter().filter(|&&count| count > 0).all(|count| (827..=1173).contains(count)), "{seen:?}");
}

#[test]
fn what_cannot_be_built_is_refused_with_its_field_and_a_remedy() {
    let ring = |links: Vec<[u32; 2]>, hosts: Vec<u32>| {
        graph(GraphLinks { nodes: 4, links, hosts, routers: vec![0], positions: None })
    };
    let refused: [(Result<Topology, TopologyError>, &str); 31] = [
        (torus(&[], &[]), "topology.sides=[]"),
        (torus(&[4, 1], &[]), "topology.sides=4x1 (side 1)"),
        (mesh(&[1 << 13, 1 << 12], &[]), "topology.sides=8192x4096: it would have more than 16777216 nodes"),
        (torus(&[65_536; 5], &[]), "more than 16777216 nodes"),
        (torus(&[2], &[0, 1]), "topology.routers=2"),
        (torus_of_trees(&[4], &[], &[]), "topology.down="),
        (torus_of_trees(&[4], &[2, 0], &[]), "topology.down=2x0: each level"),
        (torus_of_trees(&[1], &[2], &[]), "topology.sides=1"),
        (torus_of_trees(&[4096; 2], &[2], &[]), "more than 16777216 nodes"),
        (torus_of_trees(&[4], &[2], &[8]), "topology.routers=8: a router takes one of 8 places"),
        (torus(&[4], &[4]), "topology.routers=4: a router takes one of 4 places"),
        (torus(&[4], &[1, 1]), "topology.routers=1"),
        (hypercube(25, &[]), "topology.dimensions=25"),
        (mesh_with_rim(&[4, 4, 4], RimWiring::Perimeter, 1), "topology.sides=4x4x4"),
        (mesh_with_rim(&[4, 4], RimWiring::CornerSides, 6), "topology.routers=6: as many routers"),
        (
            mesh_with_rim(&[4, 4], RimWiring::Perimeter, 13),
            "topology.routers=13: each router has one or more of the 12",
        ),
        (butterfly(1, 4, 1), "topology.radix=1"),
        (butterfly(256, 8, 1), "more than 16777216 nodes"),
        (butterfly_with_spares(4, 4, 16, 4), "topology.spares_per_switch=4: a switch has 3 others"),
        (butterfly_with_spares(3, 2, 1, 1), "topology.spares_per_switch=1: 3 switches in a ring"),
        (fat_tree(&[16, 4, 2], &[1, 3], None), "topology.uplinks=1x3"),
        (fat_tree(&[16, 4, 2], &[1, 1], None), "the tree falls apart"),
        (fat_tree(&[16, 4, 2], &[1, 2], Some(3)), "topology.routers_at=3"),
        (folded_clos(3, 7, 1, &[]), "topology.ports=7"),
        (leaf_spine(2, 0, 2, 1, 0), "topology.spines=0"),
        (leaf_spine(u32::MAX, 1, u32::MAX, 1, 0), "more than 16777216 nodes"),
        (leaf_spine_with_entries(2, 2, 2, 1, 0), "topology.entries_per_spine=0"),
        (leaf_spine_with_entries(2, 1 << 20, 2, 1, 1 << 12), "more than 16777216 nodes"),
        (dragonfly(5, 3, 1, 1, &[]), "topology.groups=5: the 3 global links"),
        (ring(vec![[0, 1], [2, 3]], vec![1]), "topology.links=2: node 2 cannot be reached"),
        (ring(vec![[0, 4]], vec![1]), "topology.links=[0, 4] (link 0)"),
    ];
    for (result, expected) in refused {
        let message = result.map(|topology| topology.nodes()).unwrap_err().to_string();
        assert!(message.contains(expected), "{message:?} does not say {expected:?}");
        assert!(message.contains("; "), "{message:?} has no remedy");
    }
    assert_eq!(draw_routers(4, 4, 1).unwrap_err(), TopologyError::TooManyRouters { routers: 4, places: 4 });
    assert_eq!(dragonfly_hosts(9, 4, 2, 2), Ok(72));
}
