//! Hypercubes: 2^d nodes, joined where their numbers differ in one binary digit.

use serde::Deserialize;

use super::drawing::middle;
use super::error::{check_size, refuse};
use super::places::hosts_beside;
use super::structure::{Build, inside};
use super::wiring::{PortLists, Wiring};
use super::{Bisection, NextHops, Topology, TopologyError};

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
}

impl NextHops for Hypercube {
    #[inline]
    fn shortest(&self, _: &Wiring, node: u32, to: u32, mut visit: impl FnMut(u32)) {
        let mut differ = node ^ to;
        while differ != 0 {
            visit(differ.trailing_zeros());
            differ &= differ - 1;
        }
    }

    /// Dimension order, from the lowest binary digit up.
    #[inline]
    fn deterministic(&self, _: &Wiring, node: u32, to: u32) -> u32 {
        (node ^ to).trailing_zeros()
    }

    #[inline]
    fn distance(&self, _: &Wiring, from: u32, to: u32) -> u32 {
        (from ^ to).count_ones()
    }

    /// The sum of distances over all pairs of one of `from` and one of `to`, a binary digit at a time.
    fn sum_of_distances(&self, _: &Wiring, from: &[u32], to: &[u32]) -> Option<u128> {
        let with = |nodes: &[u32], digit: u32| nodes.iter().filter(|&&node| node >> digit & 1 == 1).count() as u128;
        let differ = |digit: u32| {
            let (a, b) = (with(from, digit), with(to, digit));
            a * (to.len() as u128 - b) + (from.len() as u128 - a) * b
        };
        Some((0..self.dimensions).map(differ).sum())
    }

    fn diameter(&self) -> Option<u32> {
        Some(self.dimensions)
    }

    fn bisection(&self, topology: &Topology) -> Bisection {
        Bisection { links: u64::from(topology.nodes() / 2), is_exact: true }
    }

    /// The planes of the last dimensions side by side.
    fn position(&self, _: &Topology, node: u32) -> [f64; 2] {
        let low = self.dimensions / 2;
        let (columns, rows) = (1u32 << low, 1u32 << (self.dimensions - low));
        [middle(node & (columns - 1), columns), 1.0 - middle(node >> low, rows)]
    }
}

/// A hypercube by its keys, its routers at places that are drawn.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HypercubeKeys {
    dimensions: u32,
    #[serde(default)]
    routers: u32,
}

impl Build for HypercubeKeys {
    fn build(&self, seed: u64) -> Result<Topology, TopologyError> {
        let places = if self.dimensions <= 24 { 1 << self.dimensions } else { 0 };
        hypercube(self.dimensions, &inside(&[places], self.routers, seed)?)
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
    Ok(Topology::new(Hypercube { dimensions }, ports, hosts, routers.to_vec()))
}
