//! Dragonflies: groups whose routers are all joined to each other, and global links between every two groups.
//!
//! Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", 2008. Here the nodes that the paper calls
//! routers are switches, as everywhere in this crate.
//!
//! Wiring of global links: the a switches of a group have h global ports each, numbered q = h * switch + port. Port q of group
//! G leads to group (G + 1 + q mod (g - 1)) mod g. With o = 1 + q mod (g - 1), its other end is the port of that group with the
//! same q / (g - 1) and the remainder g - 1 - o. So every two groups are joined by a h / (g - 1) links, and turning all groups
//! round by one moves the network onto itself.

use serde::Deserialize;

use super::drawing::{middle, on_circle};
use super::error::{check_size, refuse};
use super::places::{draw_routers, hosts_beside};
use super::structure::Build;
use super::wiring::{PortLists, Wiring};
use super::{Bisection, NextHops, Topology, TopologyError};

/// A dragonfly with minimal routing: to a switch with a link to the destination's group, over it, to the destination's switch.
///
/// The shortest way is the shortest of this form, over one global link at most, as dragonflies are routed; a way over two
/// global links is not taken, though some are a hop shorter.
///
/// Nodes are numbered host by host, then switch by switch, group by group. Ports of a switch lead to the other switches of its
/// group, then to other groups, then to its hosts.
#[derive(Clone, Debug)]
pub struct Dragonfly {
    groups: u32,
    switches: u32,
    hosts_per_switch: u32,
    global_ports: u32,
    hosts: u32,
    /// The group of each node and its switch's number there.
    place: Vec<(u32, u32)>,
    /// The switch of each global port of a group.
    switch_of: Vec<u32>,
}

impl Dragonfly {
    /// Switches of a group.
    pub fn switches_per_group(&self) -> u32 {
        self.switches
    }

    /// Calls `visit` with the switch where each direct link between two groups leaves the one, its port there, and the switch
    /// where it enters the other.
    #[inline]
    fn direct(&self, from: u32, to: u32, mut visit: impl FnMut(u32, u32, u32)) {
        let around = self.groups - 1;
        let ahead = (if to > from { to - from } else { to + self.groups - from }) - 1;
        let (mut leaves, mut enters) = (ahead, around - 1 - ahead);
        while (leaves as usize) < self.switch_of.len() {
            let (switch, other) = (self.switch_of[leaves as usize], self.switch_of[enters as usize]);
            visit(switch, leaves - switch * self.global_ports, other);
            leaves += around;
            enters += around;
        }
    }

    /// Hops between a switch of one group and a switch of another.
    #[inline]
    fn hops_between(&self, (group, switch): (u32, u32), (to_group, to_switch): (u32, u32)) -> u32 {
        let mut least = u32::MAX;
        self.direct(group, to_group, |leaves, _, enters| {
            least = least.min(1 + u32::from(leaves != switch) + u32::from(enters != to_switch));
        });
        least
    }

    /// The port from a switch to another of its group.
    #[inline]
    fn local_port(switch: u32, to: u32) -> u32 {
        if to < switch { to } else { to - 1 }
    }

    /// The nodes of each level: hosts, then switches.
    pub(super) fn levels(&self) -> Vec<std::ops::Range<u32>> {
        vec![0..self.hosts, self.hosts..self.place.len() as u32]
    }
}

impl NextHops for Dragonfly {
    #[inline]
    fn shortest(&self, _: &Wiring, node: u32, to: u32, mut visit: impl FnMut(u32)) {
        if node < self.hosts {
            return visit(0);
        }
        let (here, there) = (self.place[node as usize], self.place[to as usize]);
        let (group, switch) = here;
        if here == there {
            let first_host = (group * self.switches + switch) * self.hosts_per_switch;
            return visit(self.switches - 1 + self.global_ports + to - first_host);
        }
        if group == there.0 {
            return visit(Self::local_port(switch, there.1));
        }
        let least = self.hops_between(here, there);
        // Links of one switch follow one another, so a switch to go to is one that was not the last.
        let mut last = u32::MAX;
        self.direct(group, there.0, |leaves, port, enters| {
            if 1 + u32::from(leaves != switch) + u32::from(enters != there.1) != least {
                return;
            }
            if leaves == switch {
                visit(self.switches - 1 + port);
            } else if leaves != last {
                last = leaves;
                visit(Self::local_port(switch, leaves));
            }
        });
    }

    /// The destination's number chooses among the ports of the shortest ways by its remainder.
    #[inline]
    fn deterministic(&self, wiring: &Wiring, node: u32, to: u32) -> u32 {
        let mut count = 0;
        self.shortest(wiring, node, to, |_| count += 1);
        let chosen = to % count;
        let (mut seen, mut found) = (0, 0);
        self.shortest(wiring, node, to, |port| {
            if seen == chosen {
                found = port;
            }
            seen += 1;
        });
        found
    }

    #[inline]
    fn distance(&self, _: &Wiring, from: u32, to: u32) -> u32 {
        if from == to {
            return 0;
        }
        let (here, there) = (self.place[from as usize], self.place[to as usize]);
        let leaves = u32::from(from < self.hosts) + u32::from(to < self.hosts);
        if here.0 == there.0 {
            return leaves + u32::from(here.1 != there.1);
        }
        leaves + self.hops_between(here, there)
    }

    /// The nodes of one group, which stand for those of all others, with how many they are.
    fn representatives(&self) -> Option<Vec<(u32, u64)>> {
        let switches = (0..self.switches).map(|switch| (self.hosts + switch, u64::from(self.groups)));
        let alike = u64::from(self.groups) * u64::from(self.hosts_per_switch);
        let hosts = (0..self.switches).map(|switch| (switch * self.hosts_per_switch, alike));
        Some(hosts.chain(switches).collect())
    }

    fn table_entries(&self) -> usize {
        self.place.len() + self.switch_of.len()
    }

    fn bisection(&self, topology: &Topology) -> Bisection {
        topology.halves_of_levels(&self.levels(), false)
    }

    /// Circles of circles.
    fn position(&self, _: &Topology, node: u32) -> [f64; 2] {
        let (group, switch) = self.place[node as usize];
        let room = (1.6 / f64::from(self.groups)).min(0.22);
        let outward = f64::from(group) / f64::from(self.groups);
        let around = outward + f64::from(switch) / f64::from(self.switches);
        let center = on_circle([0.5, 0.5], 0.5 - room, outward);
        if node >= self.hosts {
            return on_circle(center, 0.55 * room, around);
        }
        let first_host = (group * self.switches + switch) * self.hosts_per_switch;
        let spread = (middle(node - first_host, self.hosts_per_switch) - 0.5) * 0.8 / f64::from(self.switches);
        on_circle(center, room, around + spread)
    }
}

/// A dragonfly by its keys, its routers at places of hosts that are drawn.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DragonflyKeys {
    groups: u32,
    routers_per_group: u32,
    hosts_per_router: u32,
    global_links: u32,
    #[serde(default)]
    routers: u32,
}

impl Build for DragonflyKeys {
    fn build(&self, seed: u64) -> Result<Topology, TopologyError> {
        let &Self { groups, routers_per_group, hosts_per_router, global_links, routers } = self;
        let places = dragonfly_hosts(groups, routers_per_group, hosts_per_router, global_links)?;
        dragonfly(groups, routers_per_group, hosts_per_router, global_links, &draw_routers(places, routers, seed)?)
    }
}

/// A dragonfly of `groups` groups of `switches` switches, each with `hosts_per_switch` hosts and `global_links` links to other
/// groups; the places of hosts in `routers` are where clients enter.
///
/// # Errors
/// When the global links of a group cannot be shared out evenly to the other groups, there are more nodes than numbers are kept
/// for, or the routers leave no place for a device.
pub fn dragonfly(
    groups: u32,
    switches: u32,
    hosts_per_switch: u32,
    global_links: u32,
    routers: &[u32],
) -> Result<Topology, TopologyError> {
    let hosts = dragonfly_hosts(groups, switches, hosts_per_switch, global_links)?;
    let ends = switches * global_links;
    let place = |switch: u32| (switch / switches, switch % switches);
    let all = groups * switches;
    let shape = Dragonfly {
        groups,
        switches,
        hosts_per_switch,
        global_ports: global_links,
        hosts,
        place: (0..hosts).map(|host| place(host / hosts_per_switch)).chain((0..all).map(place)).collect(),
        switch_of: (0..ends).map(|port| port / global_links).collect(),
    };
    let mut ports = PortLists::default();
    for host in 0..hosts {
        ports.add([hosts + host / hosts_per_switch]);
    }
    for (group, switch) in (0..all).map(place) {
        let first = hosts + group * switches;
        let mut around: Vec<u32> = (0..switches).filter(|&other| other != switch).map(|other| first + other).collect();
        for port in switch * global_links..(switch + 1) * global_links {
            let (round, remainder) = (port / (groups - 1), port % (groups - 1));
            let to = (group + 1 + remainder) % groups;
            let enters = round * (groups - 1) + groups - 2 - remainder;
            around.push(hosts + to * switches + shape.switch_of[enters as usize]);
        }
        let first_host = (group * switches + switch) * hosts_per_switch;
        around.extend(first_host..first_host + hosts_per_switch);
        ports.add(around);
    }
    let hosts = hosts_beside(hosts, routers)?;
    Ok(Topology::new(shape, ports, hosts, routers.to_vec()))
}

/// Places of hosts of a dragonfly that [`dragonfly`] can build.
///
/// # Errors
/// As those of [`dragonfly`].
pub fn dragonfly_hosts(
    groups: u32,
    switches: u32,
    hosts_per_switch: u32,
    global_links: u32,
) -> Result<u32, TopologyError> {
    let sizes =
        [("routers_per_group", switches), ("hosts_per_router", hosts_per_switch), ("global_links", global_links)];
    if let Some((field, _)) = sizes.iter().find(|(_, size)| *size == 0) {
        return refuse(field, 0, "a dragonfly has one or more of each", "give at least 1");
    }
    if groups < 2 {
        return refuse("groups", groups, "a dragonfly has two groups or more", "give at least 2");
    }
    let ends = u64::from(switches) * u64::from(global_links);
    if !ends.is_multiple_of(u64::from(groups - 1)) {
        let rule = format!("the {ends} global links of a group are shared out evenly to the {} others", groups - 1);
        let remedy = format!("choose {} groups, or one more than another divisor of {ends}", ends + 1);
        return refuse("groups", groups, rule, remedy);
    }
    let all = u64::from(groups).checked_mul(u64::from(switches));
    let hosts = all.and_then(|all| all.checked_mul(u64::from(hosts_per_switch)));
    let nodes = hosts.and_then(|hosts| hosts.checked_add(all?));
    let degree = u64::from(switches) + u64::from(global_links);
    let links = hosts.and_then(|hosts| all?.checked_mul(degree)?.checked_add(hosts));
    check_size("groups", groups, nodes, links)?;
    Ok(hosts.unwrap_or_default() as u32)
}
