//! Measures against brute force on small topologies.

use resilver_fabric::topology::Topology;

use super::instances::small;

/// The mean of all distances between two sets of nodes, those of a node to itself left out.
fn mean(topology: &Topology, from: &[u32], to: &[u32]) -> f64 {
    let pairs = from.iter().flat_map(|&a| to.iter().map(move |&b| (a, b))).filter(|(a, b)| a != b);
    let hops: Vec<f64> = pairs.map(|(a, b)| f64::from(topology.distance(a, b))).collect();
    hops.iter().sum::<f64>() / hops.len() as f64
}

#[test]
fn means_and_diameters_are_those_of_all_pairs() {
    for (name, topology) in small() {
        let all: Vec<u32> = (0..topology.nodes()).collect();
        let farthest =
            all.iter().flat_map(|&a| all.iter().map(move |&b| (a, b))).map(|(a, b)| topology.distance(a, b)).max();
        assert_eq!(topology.diameter(), farthest.unwrap(), "{name}");
        // Sums of whole numbers and one division are the same to the last bit.
        let hosts = topology.hosts();
        let between = (hosts.len() > 1).then(|| mean(&topology, hosts, hosts));
        assert_eq!(topology.mean_hops(), between, "{name}");
        let expected = (!topology.routers().is_empty()).then(|| mean(&topology, topology.routers(), topology.hosts()));
        assert_eq!(topology.mean_router_host_hops(), expected, "{name}");
    }
}

#[test]
fn switches_and_failing_links_are_those_that_forward() {
    for (name, topology) in small() {
        let radix = |node: u32| topology.channels_from(node).len();
        let switches = topology.switches();
        for node in 0..topology.nodes() {
            let forwards = radix(node) > 1 && !topology.routers().contains(&node);
            assert_eq!(switches.contains(&node), forwards, "{name}: {node}");
        }
        let failing = topology.links_between_switching_nodes();
        for link in 0..topology.links() {
            let is_between = topology.ends(link).iter().all(|&node| radix(node) > 1);
            assert_eq!(failing.contains(&link), is_between, "{name}: {link}");
        }
        assert_eq!(topology.max_radix() as usize, (0..topology.nodes()).map(radix).max().unwrap(), "{name}");
        assert_eq!(topology.ports(), 2 * u64::from(topology.links()), "{name}");
    }
}

/// The fewest links over all halves of `places`, every other node on either side, by trying all.
fn fewest(topology: &Topology, places: &[u32]) -> u64 {
    let nodes = topology.nodes();
    let is_place: u32 = places.iter().map(|place| 1 << place).sum();
    let across = |set: u32| {
        let side = |node: u32| set >> node & 1;
        (0..topology.links()).filter(|&link| side(topology.ends(link)[0]) != side(topology.ends(link)[1])).count()
            as u64
    };
    let is_half = |set: &u32| (set & is_place).count_ones() as usize == places.len() / 2;
    (0..1u32 << nodes).filter(is_half).map(across).min().unwrap()
}

#[test]
fn an_exact_bisection_is_the_fewest_of_all_halves_and_no_other_is_fewer() {
    let mut exact = 0;
    for (name, topology) in small().into_iter().filter(|(_, topology)| topology.nodes() <= 18) {
        let places: Vec<u32> = match name.split(' ').next() {
            Some("torus" | "mesh" | "hypercube") => (0..topology.nodes()).collect(),
            Some("CornerSides" | "OppositeSides" | "Perimeter") => topology.hosts().to_vec(),
            Some("graph") => topology.hosts().iter().chain(topology.routers()).copied().collect(),
            // The halves are of the lowest level; entries are on either side.
            Some("tree" | "entries") => topology.hosts().to_vec(),
            // Places of hosts are the first nodes, whether or not routers take some.
            _ => {
                let forwards = |&node: &u32| topology.channels_from(node).len() == 1;
                (0..topology.nodes()).filter(forwards).collect()
            }
        };
        let (found, fewest) = (topology.bisection_links(), fewest(&topology, &places));
        assert!(
            if found.is_exact { found.links == fewest } else { found.links >= fewest },
            "{name}: {found:?}, {fewest}"
        );
        exact += usize::from(found.is_exact);
    }
    // Tori, meshes and hypercubes of up to 18 nodes alone are more than these.
    assert!(exact >= 10, "{exact}");
}
