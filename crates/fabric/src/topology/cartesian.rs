//! Tori and meshes of any dimensions: nodes at the points of a grid, each joined to the next along every side.

use serde::Deserialize;

use super::drawing::middle;
use super::error::{check_size, joined, refuse};
use super::places::hosts_beside;
use super::rim::{RimWiring, mesh_with_rim};
use super::structure::{Build, inside};
use super::wiring::{PortLists, Wiring};
use super::{Bisection, NextHops, Topology, TopologyError};

/// The grid of a torus or mesh.
///
/// Nodes are numbered with the last side's coordinate varying fastest. In each dimension a node has one port to the next
/// and one to the previous node, in this order; at the rim of a mesh, and where a side has two nodes, only one of them.
///
/// Which steps gain is looked up by the differences of the two nodes' coordinates, those of a few dimensions at a time: no
/// division, no comparison of ways.
#[derive(Clone, Debug)]
pub struct Cartesian {
    sides: Vec<u32>,
    wraps: bool,
    /// The coordinates of each node, one node's behind another's.
    coordinates: Vec<u16>,
    /// The ports to the next and to the previous node in each dimension, one node's behind another's; empty where every node
    /// has both in every dimension, so that the port to the next node in dimension d is 2d and that to the previous 2d + 1.
    ports: Vec<u8>,
    spans: Vec<Span>,
    /// The place of each node in each span, one node's behind another's.
    positions: Vec<u32>,
    /// Which ways are the shortest by the difference of the two nodes' positions, a span's behind another's: two bits for each
    /// of its dimensions (1: next, 2: previous, 3: either).
    ways: Vec<u8>,
    /// Hops in one dimension by the difference of coordinates there, a dimension's behind another's, of which the zero is at
    /// `zero[d]`.
    hops: Vec<u16>,
    zero: Vec<u32>,
}

/// Dimensions whose ways are looked up at once.
///
/// Along a side of s nodes there are 2 s - 1 differences. A number with a digit in that base for each dimension is a position, and
/// as digits add up without a carry, the difference of two positions tells the differences in all of them.
#[derive(Clone, Debug)]
struct Span {
    /// Where the table has the ways from a node to itself.
    zero: u32,
    /// Twice the number of the first dimension: the bit at which its ways go.
    shift: u32,
}

/// Most dimensions of a span: their ways fit into a byte.
const SPAN_MAX: usize = 4;
/// Most ways that the table of a span of several dimensions has: it is to stay in a processor's nearest caches.
const SPAN_WAYS_MAX: u64 = 1 << 15;

/// No port leads that way.
const NO_PORT: u8 = u8::MAX;
const NEXT: u8 = 1;
const PREVIOUS: u8 = 2;
/// A coordinate is kept in 16 bits.
const SIDE_MAX: u32 = 1 << 16;

/// Ways and hops for one difference of coordinates (to - from) on a side.
fn offset(side: u32, wraps: bool, difference: i64) -> (u8, u16) {
    let side = i64::from(side);
    let (ways, hops) = if !wraps {
        (if difference > 0 { NEXT } else { PREVIOUS }, difference.abs())
    } else {
        let ahead = difference.rem_euclid(side);
        match (2 * ahead).cmp(&side) {
            std::cmp::Ordering::Less => (NEXT, ahead),
            std::cmp::Ordering::Greater => (PREVIOUS, side - ahead),
            // With two nodes on a side, next and previous are one.
            std::cmp::Ordering::Equal => (if side == 2 { NEXT } else { NEXT | PREVIOUS }, ahead),
        }
    };
    (if hops == 0 { 0 } else { ways }, hops as u16)
}

/// The spans of a grid, the positions of its nodes, and the ways by their differences.
fn spans_of(sides: &[u32], wraps: bool, coordinates: &[u16]) -> (Vec<Span>, Vec<u32>, Vec<u8>) {
    let differences = |side: u32| 2 * u64::from(side) - 1;
    let mut ends: Vec<usize> = Vec::new();
    let (mut first, mut size) = (0, 1);
    for (d, &side) in sides.iter().enumerate() {
        size *= differences(side);
        if d > first && (d - first == SPAN_MAX || size > SPAN_WAYS_MAX) {
            ends.push(d);
            (first, size) = (d, differences(side));
        }
    }
    ends.push(sides.len());

    let (mut spans, mut ways, mut strides) = (Vec::new(), Vec::new(), vec![0; sides.len()]);
    let mut first = 0;
    for &end in &ends {
        let offset_of_span = ways.len() as u32;
        let (mut zero, mut table) = (0, vec![0u8]);
        for d in (first..end).rev() {
            // The digit of a dimension stands above those of the later ones, its ways below theirs.
            strides[d] = table.len() as u32;
            zero += (sides[d] - 1) * strides[d];
            let side = i64::from(sides[d]);
            let of_side = (1 - side..side).map(|difference| offset(sides[d], wraps, difference).0);
            table = of_side.flat_map(|way| table.iter().map(move |&rest| rest << 2 | way)).collect();
        }
        spans.push(Span { zero: offset_of_span + zero, shift: 2 * first as u32 });
        ways.append(&mut table);
        first = end;
    }

    let mut positions = Vec::with_capacity(coordinates.len() / sides.len() * ends.len());
    for at in coordinates.chunks_exact(sides.len()) {
        let mut first = 0;
        for &end in &ends {
            positions.push((first..end).map(|d| u32::from(at[d]) * strides[d]).sum());
            first = end;
        }
    }
    (spans, positions, ways)
}

impl Cartesian {
    /// The grid of these sides, with the port lists of its nodes.
    pub(super) fn new(sides: &[u32], wraps: bool) -> Result<(Self, Vec<Vec<u32>>), TopologyError> {
        if sides.is_empty() {
            return refuse(
                "sides",
                "[]",
                "a grid has one side or more",
                "give each side's nodes, such as [16, 16, 16]",
            );
        }
        if let Some(&side) = sides.iter().find(|&&side| !(2..=SIDE_MAX).contains(&side)) {
            let rule = format!("each side has 2 to {SIDE_MAX} nodes");
            return refuse("sides", format!("{} (side {side})", joined(sides)), rule, "leave sides of one node out");
        }
        let nodes = sides.iter().try_fold(1u64, |nodes, &side| nodes.checked_mul(u64::from(side)));
        let links = nodes.and_then(|nodes| nodes.checked_mul(sides.len() as u64));
        let nodes = check_size("sides", joined(sides), nodes, links)?;

        let (mut hops, mut zero) = (Vec::new(), Vec::new());
        for &side in sides {
            zero.push(hops.len() as u32 + side - 1);
            hops.extend((1 - i64::from(side)..i64::from(side)).map(|difference| offset(side, wraps, difference).1));
        }
        let is_regular = wraps && sides.iter().all(|&side| side > 2);
        let (mut coordinates, mut ports) = (Vec::with_capacity(nodes as usize * sides.len()), Vec::new());
        let mut neighbours = Vec::with_capacity(nodes as usize);
        for node in 0..nodes {
            let mut around = Vec::with_capacity(2 * sides.len());
            let (mut stride, mut left) = (nodes, node);
            for &side in sides {
                stride /= side;
                let at = left / stride;
                left %= stride;
                let next = if at + 1 < side { Some(node + stride) } else { wraps.then(|| node - at * stride) };
                let previous = if at > 0 { Some(node - stride) } else { wraps.then(|| node + (side - 1) * stride) };
                for other in [next, previous.filter(|_| !(wraps && side == 2))] {
                    if !is_regular {
                        ports.push(if other.is_some() { around.len() as u8 } else { NO_PORT });
                    }
                    around.extend(other);
                }
                coordinates.push(at as u16);
            }
            neighbours.push(around);
        }
        let (spans, positions, ways) = spans_of(sides, wraps, &coordinates);
        let sides = sides.to_vec();
        Ok((Cartesian { sides, wraps, coordinates, ports, spans, positions, ways, hops, zero }, neighbours))
    }

    /// The sides.
    pub fn sides(&self) -> &[u32] {
        &self.sides
    }

    /// Whether the ends of a side are joined: a torus rather than a mesh.
    pub fn wraps(&self) -> bool {
        self.wraps
    }

    /// A node's coordinates.
    #[inline]
    pub fn at(&self, node: u32) -> &[u16] {
        let sides = self.sides.len();
        &self.coordinates[node as usize * sides..][..sides]
    }

    /// Where the hops have the difference from one coordinate to another in dimension `d`.
    #[inline]
    fn entry(&self, d: usize, from: u16, to: u16) -> usize {
        self.zero[d] as usize + to as usize - from as usize
    }

    /// The port of a node for a way: 2d to the next, 2d + 1 to the previous node in dimension d.
    #[inline]
    fn port(&self, node: u32, way: u32) -> u32 {
        if self.ports.is_empty() {
            way
        } else {
            u32::from(self.ports[node as usize * 2 * self.sides.len() + way as usize])
        }
    }

    /// The ways from a node that are the shortest: bit 2d for that to the next, bit 2d + 1 for that to the previous node in
    /// dimension d.
    #[inline(always)]
    fn ways(&self, node: u32, to: u32) -> u64 {
        if let [span] = &self.spans[..] {
            let difference = self.positions[to as usize].wrapping_sub(self.positions[node as usize]);
            return u64::from(self.ways[span.zero.wrapping_add(difference) as usize]);
        }
        let spans = self.spans.len();
        let from = &self.positions[node as usize * spans..][..spans];
        let to = &self.positions[to as usize * spans..][..spans];
        let mut ways = 0;
        for (span, (&here, &there)) in self.spans.iter().zip(from.iter().zip(to)) {
            ways |= u64::from(self.ways[(span.zero + there - here) as usize]) << span.shift;
        }
        ways
    }
}

impl NextHops for Cartesian {
    #[inline(always)]
    fn shortest(&self, _: &Wiring, node: u32, to: u32, mut visit: impl FnMut(u32)) {
        let mut ways = self.ways(node, to);
        while ways != 0 {
            visit(self.port(node, ways.trailing_zeros()));
            ways &= ways - 1;
        }
    }

    /// Dimension order: the first dimension that differs, the next node rather than the previous where both are as near.
    #[inline]
    fn deterministic(&self, _: &Wiring, node: u32, to: u32) -> u32 {
        let ways = self.ways(node, to);
        if ways == 0 { 0 } else { self.port(node, ways.trailing_zeros()) }
    }

    #[inline]
    fn distance(&self, _: &Wiring, from: u32, to: u32) -> u32 {
        let pairs = self.at(from).iter().zip(self.at(to)).enumerate();
        pairs.map(|(d, (&here, &there))| u32::from(self.hops[self.entry(d, here, there)])).sum()
    }

    /// The sum of distances over all pairs of one of `from` and one of `to`.
    ///
    /// Distances add up over dimensions, so the sum needs only how many nodes of each set have each coordinate.
    fn sum_of_distances(&self, _: &Wiring, from: &[u32], to: &[u32]) -> Option<u128> {
        let count = |nodes: &[u32], d: usize| {
            let mut counts = vec![0u64; self.sides[d] as usize];
            for &node in nodes {
                counts[self.at(node)[d] as usize] += 1;
            }
            counts
        };
        let mut sum = 0;
        for d in 0..self.sides.len() {
            let (from, to) = (count(from, d), count(to, d));
            for (here, &from) in (0..).zip(&from) {
                let hops = &self.hops[self.entry(d, here, 0)..][..to.len()];
                let row: u64 = hops.iter().zip(&to).map(|(&hops, &to)| u64::from(hops) * to).sum();
                sum += u128::from(row) * u128::from(from);
            }
        }
        Some(sum)
    }

    /// The most hops between two nodes.
    fn diameter(&self) -> Option<u32> {
        Some(self.sides.iter().map(|&side| if self.wraps { side / 2 } else { side - 1 }).sum())
    }

    fn table_entries(&self) -> usize {
        let ways = self.spans.len() + self.positions.len() + self.ways.len();
        self.coordinates.len() + self.ports.len() + ways + self.hops.len() + self.zero.len()
    }

    /// The sum of the products of the sides behind each of the sides, in descending order, up to the first even one; twice that
    /// on a torus.
    ///
    /// Aroca and Fernandez Anta, "Bisection (band)width of product networks", 2014.
    fn bisection(&self, _: &Topology) -> Bisection {
        let mut sides: Vec<u64> = self.sides.iter().map(|&side| u64::from(side)).collect();
        sides.sort_unstable_by(|a, b| b.cmp(a));
        let even = sides.iter().position(|side| side % 2 == 0).unwrap_or(sides.len() - 1);
        let sum: u64 = (0..=even).map(|i| sides[i + 1..].iter().product::<u64>()).sum();
        let nodes: u64 = sides.iter().product();
        if !self.wraps || sides[0] == 2 {
            // Sides of two nodes are not joined twice, so such a torus is a mesh.
            return Bisection { links: sum, is_exact: true };
        }
        // A side of two nodes has one link across where others have two; the law does not know of such sides.
        let has_two = sides.contains(&2);
        let links = if has_two { (2 * sum).min(nodes / 2) } else { 2 * sum };
        Bisection { links, is_exact: !has_two || even == 0 }
    }

    /// Columns and rows by the last two sides, with a plane for each value of the sides before them.
    fn position(&self, _: &Topology, node: u32) -> [f64; 2] {
        let (sides, at) = (self.sides(), self.at(node));
        let [.., rows, columns] = sides else { return [middle(u32::from(at[0]), sides[0]), 0.5] };
        let before = sides.len() - 2;
        let planes: u32 = sides[..before].iter().product();
        let plane = at[..before].iter().zip(sides).fold(0, |plane, (&at, &side)| plane * side + u32::from(at));
        let across = (1..=planes).find(|&across| across * across >= planes).unwrap_or(1);
        let down = planes.div_ceil(across);
        let (row, column) = (u32::from(at[before]), u32::from(at[before + 1]));
        // A tenth of a plane's room is the space between planes.
        let room = if planes == 1 { 1.0 } else { 0.9 };
        let x = (f64::from(plane % across) + 0.5 + room * (middle(column, *columns) - 0.5)) / f64::from(across);
        let y = (f64::from(plane / across) + 0.5 + room * (middle(row, *rows) - 0.5)) / f64::from(down);
        [x, 1.0 - y]
    }
}

/// A torus or a mesh by its keys; routers, unless they are wired otherwise, take places that are drawn.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridKeys {
    sides: Vec<u32>,
    #[serde(default)]
    routers: u32,
    #[serde(default)]
    wiring: RouterPlaces,
}

/// Where the routers of a grid are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RouterPlaces {
    /// At nodes of the grid.
    #[default]
    Inside,
    /// Outside of a mesh.
    #[serde(untagged)]
    Rim(RimWiring),
}

/// A torus by its keys.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct TorusKeys(GridKeys);

impl Build for TorusKeys {
    fn build(&self, seed: u64) -> Result<Topology, TopologyError> {
        let GridKeys { sides, routers, wiring } = &self.0;
        if *wiring != RouterPlaces::Inside {
            let rule = "a torus has no sides at which routers could be joined";
            return refuse("wiring", "of a torus", rule, "take the wiring \"inside\", or a mesh");
        }
        torus(sides, &inside(sides, *routers, seed)?)
    }
}

/// A mesh by its keys.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct MeshKeys(GridKeys);

impl Build for MeshKeys {
    fn build(&self, seed: u64) -> Result<Topology, TopologyError> {
        let GridKeys { sides, routers, wiring } = &self.0;
        match wiring {
            RouterPlaces::Inside => mesh(sides, &inside(sides, *routers, seed)?),
            RouterPlaces::Rim(rim) => mesh_with_rim(sides, *rim, *routers),
        }
    }
}

/// A torus with these sides, of which the nodes in `routers` are where clients enter and all others have a device.
///
/// # Errors
/// When a side is below 2, there are more nodes than numbers are kept for, or the routers leave no node for a device.
pub fn torus(sides: &[u32], routers: &[u32]) -> Result<Topology, TopologyError> {
    grid(sides, true, routers)
}

/// A mesh with these sides, of which the nodes in `routers` are where clients enter and all others have a device.
///
/// # Errors
/// When a side is below 2, there are more nodes than numbers are kept for, or the routers leave no node for a device.
pub fn mesh(sides: &[u32], routers: &[u32]) -> Result<Topology, TopologyError> {
    grid(sides, false, routers)
}

fn grid(sides: &[u32], wraps: bool, routers: &[u32]) -> Result<Topology, TopologyError> {
    let (cartesian, neighbours) = Cartesian::new(sides, wraps)?;
    let hosts = hosts_beside(neighbours.len() as u32, routers)?;
    let mut ports = PortLists::default();
    neighbours.into_iter().for_each(|around| ports.add(around));
    Ok(Topology::new(cartesian, ports, hosts, routers.to_vec()))
}
