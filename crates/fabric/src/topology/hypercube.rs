//! Hypercubes: 2^d nodes, joined where their numbers differ in one binary digit.

use super::error::{check_size, refuse};
use super::places::hosts_beside;
use super::wiring::PortLists;
use super::{Shape, Topology, TopologyError};

/// A hypercube; port i of a node leads across dimension i, to the node whose number differs in binary digit i.
#[derive(Clone, Copy, Debug)]
pub struct Hypercube {
    dimensions: u32,
}

impl Hypercube {
    /// How many dimensions there are.
    pub fn dimensions(&self) -> u32 {
        self.dimensions
    }

    #[inline]
    pub(super) fn shortest(&self, node: u32, to: u32, mut visit: impl FnMut(u32)) {
        let mut differ = node ^ to;
        while differ != 0 {
            visit(differ.trailing_zeros());
            differ &= differ - 1;
        }
    }

    /// Dimension order, from the lowest binary digit up.
    #[inline]
    pub(super) fn deterministic(&self, node: u32, to: u32) -> u32 {
        (node ^ to).trailing_zeros()
    }

    #[inline]
    pub(super) fn distance(&self, from: u32, to: u32) -> u32 {
        (from ^ to).count_ones()
    }

    /// The sum of distances over all pairs of one of `from` and one of `to`, a binary digit at a time.
    pub(super) fn sum_of_distances(&self, from: &[u32], to: &[u32]) -> u128 {
        let with = |nodes: &[u32], digit: u32| nodes.iter().filter(|&&node| node >> digit & 1 == 1).count() as u128;
        let differ = |digit: u32| {
            let (a, b) = (with(from, digit), with(to, digit));
            a * (to.len() as u128 - b) + (from.len() as u128 - a) * b
        };
        (0..self.dimensions).map(differ).sum()
    }
}

/// A hypercube, of which the nodes in `routers` are where clients enter and all others have a device.
///
/// # Errors
/// When there are no dimensions or more than 24, or the routers leave no node for a device.
pub fn hypercube(dimensions: u32, routers: &[u32]) -> Result<Topology, TopologyError> {
    if !(1..=24).contains(&dimensions) {
        return refuse("dimensions", dimensions, "a hypercube has 1 to 24 dimensions", "choose a number in this range");
    }
    let links = u64::from(dimensions) << (dimensions - 1);
    let nodes = check_size("dimensions", dimensions, Some(1 << dimensions), Some(links))?;
    let hosts = hosts_beside(nodes, routers)?;
    let mut ports = PortLists::default();
    for node in 0..nodes {
        ports.add((0..dimensions).map(|dimension| node ^ 1 << dimension));
    }
    Ok(Topology::new(Shape::Hypercube(Hypercube { dimensions }), ports, hosts, routers.to_vec()))
}
