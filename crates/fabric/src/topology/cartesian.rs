//! Tori and meshes of any dimensions: nodes at the points of a grid, each joined to the next along every side.

use super::{Shape, Topology};

/// The grid of a torus or mesh.
///
/// Nodes are numbered with the last side's coordinate varying fastest. In each dimension a node has one port to the next
/// and one to the previous node, in this order; at the rim of a mesh, and where a side has two nodes, only one of them.
#[derive(Clone, Debug)]
pub struct Cartesian {
    sides: Vec<u32>,
    wraps: bool,
    /// The coordinates of each node, one node's behind another's.
    coordinates: Vec<u16>,
    /// The ports to the next and to the previous node in each dimension, one node's behind another's.
    ports: Vec<[u8; 2]>,
}

/// No port leads that way.
const NO_PORT: u8 = u8::MAX;

impl Cartesian {
    /// The grid of these sides, with the port lists of its nodes.
    fn new(sides: &[u32], wraps: bool) -> (Self, Vec<Vec<u32>>) {
        let nodes: u32 = sides.iter().product();
        let (mut coordinates, mut ports) = (Vec::new(), Vec::new());
        let mut neighbours = Vec::with_capacity(nodes as usize);
        for node in 0..nodes {
            let mut around = Vec::new();
            let (mut stride, mut left) = (nodes, node);
            for &side in sides {
                stride /= side;
                let at = left / stride;
                left %= stride;
                let next = if at + 1 < side { Some(node + stride) } else { wraps.then(|| node - at * stride) };
                let previous = if at > 0 { Some(node - stride) } else { wraps.then(|| node + (side - 1) * stride) };
                let mut port = |other: Option<u32>| match other {
                    Some(other) if other != node => {
                        around.push(other);
                        around.len() as u8 - 1
                    }
                    _ => NO_PORT,
                };
                let up = port(next);
                // With two nodes on a side, next and previous are one.
                let down = if wraps && side == 2 { up } else { port(previous) };
                coordinates.push(at as u16);
                ports.push([up, down]);
            }
            neighbours.push(around);
        }
        (Cartesian { sides: sides.to_vec(), wraps, coordinates, ports }, neighbours)
    }

    /// How far, and which way (0 next, 1 previous, 2 either), in dimension `d` from one coordinate to another.
    #[inline]
    fn offset(&self, d: usize, from: u16, to: u16) -> (u32, usize) {
        let (side, from, to) = (self.sides[d], u32::from(from), u32::from(to));
        if !self.wraps {
            return if to >= from { (to - from, 0) } else { (from - to, 1) };
        }
        let ahead = if to >= from { to - from } else { to + side - from };
        match (2 * ahead).cmp(&side) {
            std::cmp::Ordering::Less => (ahead, 0),
            std::cmp::Ordering::Greater => (side - ahead, 1),
            std::cmp::Ordering::Equal => (ahead, if side == 2 { 0 } else { 2 }),
        }
    }

    #[inline]
    fn at(&self, node: u32) -> &[u16] {
        let sides = self.sides.len();
        &self.coordinates[node as usize * sides..][..sides]
    }

    #[inline]
    pub(super) fn shortest(&self, node: u32, to: u32, mut visit: impl FnMut(u32)) {
        let sides = self.sides.len();
        let ports = &self.ports[node as usize * sides..][..sides];
        for (d, (&here, &there)) in self.at(node).iter().zip(self.at(to)).enumerate() {
            if here != there {
                match self.offset(d, here, there).1 {
                    2 => {
                        visit(u32::from(ports[d][0]));
                        visit(u32::from(ports[d][1]));
                    }
                    way => visit(u32::from(ports[d][way])),
                }
            }
        }
    }

    /// Dimension order: the first dimension that differs, the next node rather than the previous where both are as near.
    #[inline]
    pub(super) fn deterministic(&self, node: u32, to: u32) -> u32 {
        let d = self.at(node).iter().zip(self.at(to)).position(|(here, there)| here != there).unwrap_or(0);
        let way = self.offset(d, self.at(node)[d], self.at(to)[d]).1;
        u32::from(self.ports[node as usize * self.sides.len() + d][if way == 2 { 0 } else { way }])
    }

    pub(super) fn distance(&self, from: u32, to: u32) -> u32 {
        let pairs = self.at(from).iter().zip(self.at(to)).enumerate();
        pairs.map(|(d, (&here, &there))| self.offset(d, here, there).0).sum()
    }
}

/// A torus with these sides, of which the nodes in `routers` are where clients enter and all others have a device.
pub fn torus(sides: &[u32], routers: Vec<u32>) -> Topology {
    grid(sides, true, routers)
}

/// A mesh with these sides, of which the nodes in `routers` are where clients enter and all others have a device.
pub fn mesh(sides: &[u32], routers: Vec<u32>) -> Topology {
    grid(sides, false, routers)
}

fn grid(sides: &[u32], wraps: bool, routers: Vec<u32>) -> Topology {
    let (cartesian, neighbours) = Cartesian::new(sides, wraps);
    let hosts = (0..neighbours.len() as u32).filter(|node| !routers.contains(node)).collect();
    Topology::new(Shape::Cartesian(cartesian), &neighbours, hosts, routers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shortest_channel_leads_one_hop_nearer() {
        for topology in [torus(&[4, 3, 2], vec![5]), mesh(&[4, 3], Vec::new()), torus(&[5, 6], Vec::new())] {
            for from in 0..topology.nodes() {
                for to in (0..topology.nodes()).filter(|&to| to != from) {
                    let mut nearer: Vec<u32> = topology
                        .channels_from(from)
                        .filter(|&channel| {
                            topology.distance(topology.peer(channel), to) + 1 == topology.distance(from, to)
                        })
                        .collect();
                    let mut visited = Vec::new();
                    topology.shortest(from, to, |channel| visited.push(channel));
                    assert!(visited.contains(&topology.deterministic(from, to)));
                    visited.sort_unstable();
                    nearer.sort_unstable();
                    assert_eq!(visited, nearer, "{from} to {to}");
                }
            }
        }
    }
}
