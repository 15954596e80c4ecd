//! The tree of a burst buffer: entries at its spines, D-mod-K, and traffic of groups that no channel carries too much of.

use resilver_fabric::topology::{Bisection, NodeKind, Topology, leaf_spine_with_entries};

const LEAVES: u32 = 24;
const SLOTS: u32 = 24;
const PORTS: u32 = 2;
const SETS: u32 = LEAVES / PORTS;
const MEMBERS: u32 = 24;
const GROUPS: u32 = 12;

/// The tree with all of its 24 spines, or half of them.
fn tree(spines: u32) -> Topology {
    leaf_spine_with_entries(LEAVES, spines, SLOTS, 1, 24).unwrap()
}

/// 576 links between the levels, half of them and of the spines dropped at half bisection; each spine has 24 entries.
#[test]
fn counts_and_measures_are_those_of_the_study() {
    for (spines, switches, bisection) in [(24, 48, 288), (12, 36, 144)] {
        let tree = tree(spines);
        assert_eq!((tree.hosts().len(), tree.routers().len()), (576, 24 * spines as usize));
        assert_eq!(tree.switches().len(), switches);
        assert_eq!(tree.links_between_switching_nodes().len() as u32, 24 * spines);
        assert_eq!((tree.links(), tree.max_radix()), (576 + 2 * 24 * spines, 48));
        assert_eq!(tree.bisection_links(), Bisection { links: bisection, is_exact: true });
        // Up to the leaf, up to the spine, out to the entry; entries of two spines are four hops apart, by way of a leaf.
        assert_eq!(tree.mean_router_host_hops(), Some(3.0));
        assert_eq!(tree.diameter(), 4);
    }
}

/// From a host 23 others are 2 hops away, below the same leaf, and 552 are 4; switches and entries are no ends.
#[test]
fn mean_hops_are_the_closed_form() {
    let expected = (23.0 * 2.0 + 552.0 * 4.0) / 575.0;
    assert!((tree(24).mean_hops().unwrap() - expected).abs() < 1e-12);
}

#[test]
fn entries_in_a_row_are_at_different_spines() {
    for spines in [24, 12] {
        let tree = tree(spines);
        for (number, &entry) in tree.routers().iter().enumerate() {
            assert_eq!(tree.node_kind(entry), (NodeKind::Router, number as u32));
            let [channel] = tree.channels_from(entry).collect::<Vec<_>>()[..] else { panic!("an entry has one link") };
            let spine = LEAVES * SLOTS + LEAVES + number as u32 % spines;
            assert_eq!(tree.peer(channel), spine);
        }
    }
}

/// D-mod-K: up from a leaf by the destination's slot mod the spines; to an entry over the spine that it hangs at.
#[test]
fn ways_up_are_chosen_by_the_destination() {
    for spines in [24, 12, 8] {
        let tree = tree(spines);
        let first_spine = LEAVES * SLOTS + LEAVES;
        for from in [0, 5, 100, 575] {
            for (slot, to) in
                (0..LEAVES * SLOTS).map(|host| (host % SLOTS, host)).filter(|&(_, to)| to / 24 != from / 24)
            {
                let way = [from, 576 + from / 24, first_spine + slot % spines, 576 + to / 24, to];
                assert_eq!(tree.route(from, to), way);
            }
            for (number, &entry) in tree.routers().iter().enumerate() {
                let up = [from, 576 + from / 24, first_spine + number as u32 % spines, entry];
                assert_eq!(tree.route(from, entry), up);
                assert_eq!(tree.route(entry, from), up.iter().rev().copied().collect::<Vec<_>>());
            }
        }
    }
}

/// The host that a port of a server is, by the definition of both attachments: sets of two switches, a server at the same slot
/// of both; a local group fills a set, a distributed one has two servers at every set.
fn host(is_local: bool, server: u32, port: u32) -> u32 {
    let (group, member) = (server / MEMBERS, server % MEMBERS);
    let each = MEMBERS / SETS;
    let (set, slot) =
        if is_local { (server / SLOTS, server % SLOTS) } else { (member / each, group * each + member % each) };
    (set * PORTS + port) * SLOTS + slot
}

/// How often each channel is on the way between two ports of one side, over all ordered pairs of servers of a group.
fn loads_in_groups(tree: &Topology, is_local: bool) -> Vec<u32> {
    let mut loads = vec![0; tree.channels() as usize];
    for group in 0..GROUPS {
        for (a, b) in (0..MEMBERS).flat_map(|a| (0..MEMBERS).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            for port in 0..PORTS {
                let [from, to] = [a, b].map(|member| host(is_local, group * MEMBERS + member, port));
                let mut here = from;
                while here != to {
                    let channel = tree.deterministic(here, to);
                    loads[channel as usize] += 1;
                    here = tree.peer(channel);
                }
            }
        }
    }
    loads
}

/// Every member sends each of its 23 peers one unit from each port, so a host's link carries 23 each way. Local groups cross no
/// spine. Of a distributed group, two are at each switch: an uplink carries what both send to the one slot of 11 other switches
/// that its spine serves, 22 units, and so does a downlink to that slot. With half of the spines two slots share a link: 44.
#[test]
fn traffic_in_groups_loads_no_channel_above_the_hosts() {
    for (spines, is_local, between) in [(24, true, 0), (24, false, 22), (12, true, 0), (12, false, 44)] {
        let tree = tree(spines);
        let loads = loads_in_groups(&tree, is_local);
        for (channel, &load) in loads.iter().enumerate() {
            let channel = channel as u32;
            let [near, far] = [tree.peer(tree.reverse(channel)), tree.peer(channel)].map(|node| tree.node_kind(node).0);
            let expected = match (near, far) {
                (NodeKind::Host, _) | (_, NodeKind::Host) => 23,
                (NodeKind::Router, _) | (_, NodeKind::Router) => 0,
                _ => between,
            };
            assert_eq!(load, expected, "spines {spines}, local {is_local}, channel {channel}");
        }
    }
}

/// Paired with entry e mod R, hosts share entries, and links to spines, evenly: one host each, or two with half of the spines,
/// whether there are 24 entries at each of the 12 left or 48.
#[test]
fn paired_entries_load_all_links_alike() {
    for (spines, each, of_link, of_entry) in [(24, 24, 1, 1), (12, 24, 2, 2), (12, 48, 2, 1)] {
        let tree = leaf_spine_with_entries(LEAVES, spines, SLOTS, 1, each).unwrap();
        let mut loads = vec![0; tree.channels() as usize];
        for &host in tree.hosts() {
            let entry = tree.routers()[host as usize % tree.routers().len()];
            for (from, to) in [(host, entry), (entry, host)] {
                let mut here = from;
                while here != to {
                    let channel = tree.deterministic(here, to);
                    loads[channel as usize] += 1;
                    here = tree.peer(channel);
                }
            }
        }
        for link in 0..tree.links() {
            let ends = tree.ends(link).map(|node| tree.node_kind(node).0);
            let expected = match ends {
                [NodeKind::Host, _] => 1,
                [NodeKind::Switch, NodeKind::Switch] => of_link,
                _ => of_entry,
            };
            assert_eq!(tree.channels_of(link).map(|channel| loads[channel as usize]), [expected; 2], "{ends:?}");
        }
    }
}
