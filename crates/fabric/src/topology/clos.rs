//! Folded Clos networks of equal switches, the fat trees of data centres: hosts, edge switches, two levels of pods, cores.
//!
//! A pod is p / 2 edge switches, each joined to all of the pod's aggregation switches. Aggregation switch j of every pod is
//! joined to the same p / 2 cores, those of plane j, so subtrees do not nest: pods cross planes (Al-Fares, Loukissas, Vahdat,
//! "A scalable, commodity data center network architecture", 2008).

use super::drawing::in_levels;
use super::error::{check_size, refuse};
use super::places::hosts_beside;
use super::tree::tree_of_places;
use super::wiring::{PortLists, Wiring};
use super::{Bisection, NextHops, Topology, TopologyError};

const HOST: u8 = 0;
const EDGE: u8 = 1;
const AGGREGATION: u8 = 2;
const CORE: u8 = 3;

/// Where a node is.
#[derive(Clone, Copy, Debug)]
struct Place {
    level: u8,
    /// The pod of a host, an edge or an aggregation switch; nothing for a core.
    pod: u16,
    /// A host's or edge switch's number of the edge switch in the pod; the plane of an aggregation switch or core.
    unit: u16,
    /// A host's number at its edge switch, a core's in its plane.
    slot: u16,
}

/// A folded Clos network of three levels of switches.
///
/// Nodes are numbered level by level from the hosts up, pod by pod, cores plane by plane. Ports of a switch lead first up, then
/// down, each in the order of the nodes there.
#[derive(Clone, Debug)]
pub struct Clos {
    /// Ports of half a switch: edge switches of a pod, cores of a plane.
    half: u32,
    /// Uplinks of an edge switch: aggregation switches of a pod, planes of cores.
    planes: u32,
    /// The first node of each level, and the end.
    first: [u32; 5],
    places: Vec<Place>,
}

impl Clos {
    #[inline]
    fn place(&self, node: u32) -> Place {
        self.places[node as usize]
    }

    /// The ports of all shortest ways: the first and how many, and which other ports besides.
    #[inline]
    fn ways(&self, node: u32, to: u32) -> (u32, u32) {
        let (here, there) = (self.place(node), self.place(to));
        let is_same_pod = here.pod == there.pod && here.level != CORE && there.level != CORE;
        let is_same_plane = here.unit == there.unit;
        match (here.level, there.level) {
            (HOST, _) => (0, 1),
            (EDGE, HOST) if is_same_pod && here.unit == there.unit => (self.planes + u32::from(there.slot), 1),
            (EDGE, HOST | EDGE) => (0, self.planes),
            // Only one plane has the destination.
            (EDGE, _) => (u32::from(there.unit), 1),
            (AGGREGATION, HOST | EDGE) if is_same_pod => (self.half + u32::from(there.unit), 1),
            (AGGREGATION, HOST | EDGE) => (0, self.half),
            // Another plane of the pod is two hops away, by any edge switch.
            (AGGREGATION, AGGREGATION) if is_same_pod => (self.half, self.half),
            (AGGREGATION, AGGREGATION) if is_same_plane => (0, self.half),
            // The plane is changed in this pod or in that one.
            (AGGREGATION, AGGREGATION) => (0, 2 * self.half),
            (AGGREGATION, _) if is_same_plane => (u32::from(there.slot), 1),
            (AGGREGATION, _) => (self.half, self.half),
            (_, CORE) => (0, 2 * self.half),
            _ => (u32::from(there.pod), 1),
        }
    }

    /// The nodes of each level, from the hosts up.
    pub(super) fn levels(&self) -> Vec<std::ops::Range<u32>> {
        self.first.windows(2).map(|pair| pair[0]..pair[1]).collect()
    }
}

impl NextHops for Clos {
    #[inline]
    fn shortest(&self, _: &Wiring, node: u32, to: u32, visit: impl FnMut(u32)) {
        let (start, count) = self.ways(node, to);
        (start..start + count).for_each(visit);
    }

    /// D-mod-K: the destination's number in its level, divided by the uplinks of all levels below this one, chooses among the
    /// ports that begin a shortest way by its remainder.
    #[inline]
    fn deterministic(&self, _: &Wiring, node: u32, to: u32) -> u32 {
        let (start, count) = self.ways(node, to);
        let number = to - self.first[usize::from(self.place(to).level)];
        let divisor = match self.place(node).level {
            HOST | EDGE => 1,
            AGGREGATION => self.planes,
            _ => self.planes * self.half,
        };
        start + number / divisor % count
    }

    fn distance(&self, _: &Wiring, from: u32, to: u32) -> u32 {
        if from == to {
            return 0;
        }
        // A host is one hop from its edge switch.
        let [a, b] = [from, to].map(|node| self.place(node));
        let leaves = u32::from(a.level == HOST) + u32::from(b.level == HOST);
        let (low, high) = (a.level.min(b.level).max(EDGE), a.level.max(b.level).max(EDGE));
        let (is_same_pod, is_same_unit) = (a.pod == b.pod, a.unit == b.unit);
        leaves
            + match (low, high) {
                (EDGE, EDGE) if is_same_pod && is_same_unit => 0,
                (EDGE, EDGE) if is_same_pod => 2,
                (EDGE, EDGE) => 4,
                (EDGE, AGGREGATION) if is_same_pod => 1,
                (EDGE, AGGREGATION) => 3,
                (EDGE, _) => 2,
                (AGGREGATION, AGGREGATION) if is_same_pod || is_same_unit => 2,
                (AGGREGATION, AGGREGATION) => 4,
                (AGGREGATION, _) if is_same_unit => 1,
                (AGGREGATION, _) => 3,
                _ if is_same_unit => 2,
                _ => 4,
            }
    }

    /// One node of each level, which all look alike, with how many they are.
    fn representatives(&self) -> Option<Vec<(u32, u64)>> {
        Some(self.levels().into_iter().map(|level| (level.start, u64::from(level.end - level.start))).collect())
    }

    fn table_entries(&self) -> usize {
        self.places.len()
    }

    fn bisection(&self, topology: &Topology) -> Bisection {
        topology.halves_of_levels(&self.levels(), true)
    }

    /// Rows with the hosts at the bottom.
    fn position(&self, _: &Topology, node: u32) -> [f64; 2] {
        in_levels(&self.levels(), node)
    }
}

/// The folded Clos network of `levels` levels of switches of `switch_ports` ports, whose edge switches have `taper` times as
/// many hosts as uplinks; the places of hosts in `routers` are where clients enter.
///
/// With p ports and a taper of t an edge switch has p t / (t + 1) hosts and p / (t + 1) uplinks. Two levels are p edge switches
/// under p / (t + 1) others; three are p pods of p / 2 edge and p / (t + 1) aggregation switches, under as many planes of p / 2
/// cores. A taper of 1 is the full tree of p^3 / 4 hosts.
///
/// # Errors
/// When there are other than 2 or 3 levels, the ports do not divide, or the routers leave no place for a device.
pub fn folded_clos(levels: u32, switch_ports: u32, taper: u32, routers: &[u32]) -> Result<Topology, TopologyError> {
    let (hosts, uplinks) = clos_sizes(levels, switch_ports, taper)?;
    if levels == 2 {
        return tree_of_places(&[hosts, switch_ports, uplinks], &[1, uplinks], routers);
    }
    let (pods, half, down) = (switch_ports, switch_ports / 2, switch_ports - uplinks);
    let mut first = [0; 5];
    for (level, size) in [hosts, pods * half, pods * uplinks, uplinks * half].into_iter().enumerate() {
        first[level + 1] = first[level] + size;
    }
    let mut places = Vec::with_capacity(first[4] as usize);
    let mut ports = PortLists::default();
    let mut add = |level, pod: u32, unit: u32, slot: u32, around: Vec<u32>| {
        places.push(Place { level, pod: pod as u16, unit: unit as u16, slot: slot as u16 });
        ports.add(around);
    };
    let edge = |pod: u32, unit: u32| first[1] + pod * half + unit;
    let aggregation = |pod: u32, plane: u32| first[2] + pod * uplinks + plane;
    let in_all = |units: u32, slots: u32| (0..units).flat_map(move |unit| (0..slots).map(move |slot| (unit, slot)));
    for pod in 0..pods {
        for (unit, slot) in in_all(half, down) {
            add(HOST, pod, unit, slot, vec![edge(pod, unit)]);
        }
    }
    for (pod, unit) in in_all(pods, half) {
        let below = (edge(pod, unit) - first[1]) * down;
        let above = (0..uplinks).map(|plane| aggregation(pod, plane));
        add(EDGE, pod, unit, 0, above.chain(below..below + down).collect());
    }
    for (pod, plane) in in_all(pods, uplinks) {
        let cores = first[3] + plane * half;
        let below = (0..half).map(|unit| edge(pod, unit));
        add(AGGREGATION, pod, plane, 0, (cores..cores + half).chain(below).collect());
    }
    for (plane, slot) in in_all(uplinks, half) {
        add(CORE, 0, plane, slot, (0..pods).map(|pod| aggregation(pod, plane)).collect());
    }
    let shape = Clos { half, planes: uplinks, first, places };
    let hosts = hosts_beside(hosts, routers)?;
    Ok(Topology::new(shape, ports, hosts, routers.to_vec()))
}

/// Places of hosts, and uplinks of an edge switch, of a folded Clos network that [`folded_clos`] can build.
///
/// # Errors
/// As those of [`folded_clos`].
pub fn clos_sizes(levels: u32, switch_ports: u32, taper: u32) -> Result<(u32, u32), TopologyError> {
    if !(2..=3).contains(&levels) {
        let remedy = "choose 2 or 3, or give the sizes and uplinks of other levels";
        return refuse("levels", levels, "a folded Clos network has 2 or 3 levels of switches", remedy);
    }
    if taper == 0 || taper == u32::MAX {
        return refuse("taper", taper, "the taper is hosts for each uplink of an edge switch", "give 1 or more");
    }
    let is_divided = switch_ports.is_multiple_of(taper + 1) && (levels == 2 || switch_ports.is_multiple_of(2));
    if switch_ports < 2 || !is_divided {
        let rule = format!(
            "ports of a switch are a multiple of {}, so that {taper} in {} lead to hosts, and even with 3 levels",
            taper + 1,
            taper + 1
        );
        return refuse("ports", switch_ports, rule, "choose ports, or a taper, that divide");
    }
    let (ports, uplinks) = (u64::from(switch_ports), u64::from(switch_ports / (taper + 1)));
    let edges = if levels == 2 { Some(ports) } else { ports.checked_mul(ports / 2) };
    let hosts = edges.and_then(|edges| edges.checked_mul(ports - uplinks));
    let nodes =
        hosts.and_then(|hosts| hosts.checked_add(edges?)?.checked_add(ports.checked_mul(uplinks)?.checked_mul(2)?));
    let links = hosts.and_then(|hosts| edges?.checked_mul(uplinks)?.checked_mul(2)?.checked_add(hosts));
    check_size("ports", switch_ports, nodes, links)?;
    Ok((hosts.unwrap_or_default() as u32, uplinks as u32))
}
