//! Meshes of two dimensions with routers outside, each joined to nodes at the rim.
//!
//! These routers are where packets enter and leave; no way between two other nodes leads through one, though one that has strayed
//! there finds out again.

use serde::Deserialize;

use super::cartesian::Cartesian;
use super::drawing::middle;
use super::error::refuse;
use super::wiring::{PortLists, Wiring};
use super::{Bisection, NextHops, Topology, TopologyError};

/// Which nodes of a mesh its outside routers are joined to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RimWiring {
    /// A quarter of the routers at each corner, each joined to all nodes of the two sides that share the corner. Router i is at
    /// corner i mod 4, in the order of nodes.
    CornerSides,
    /// Even routers are joined to all nodes of the first and last row, odd ones to those of the first and last column.
    OppositeSides,
    /// The nodes of the rim are dealt out to the routers in turn, clockwise from node 0.
    Perimeter,
}

/// A mesh with outside routers.
///
/// Nodes of the mesh come first, then the routers. The ports of a node of the mesh lead to its neighbours there, then to
/// routers.
#[derive(Clone, Debug)]
pub struct Rim {
    grid: Cartesian,
    /// Nodes of the mesh.
    places: u32,
    /// Hops between each router and each node of the mesh, a router's behind another's.
    reach: Vec<u16>,
    /// Which of `near` are a router's first ports to a node of the mesh: the first and how many; like `reach`.
    near_of: Vec<[u32; 2]>,
    near: Vec<u32>,
    /// Hops between two routers, likewise.
    between: Vec<u16>,
    /// Ports of each node of the mesh that lead to others there.
    inner_ports: Vec<u8>,
    wiring: RimWiring,
}

/// Routers by nodes at most.
const REACH_MAX: u64 = 1 << 26;

impl Rim {
    fn index(&self, router: u32, node: u32) -> usize {
        (router - self.places) as usize * self.places as usize + node as usize
    }

    /// Hops between a node of the mesh and a router.
    #[inline]
    fn reach(&self, router: u32, node: u32) -> u32 {
        u32::from(self.reach[self.index(router, node)])
    }

    #[inline]
    fn between(&self, a: u32, b: u32) -> u32 {
        let routers = self.reach.len() / self.places as usize;
        u32::from(self.between[(a - self.places) as usize * routers + (b - self.places) as usize])
    }

    /// Hops and first ports from a router, of these neighbours, to all nodes of the mesh.
    fn look_out_from(&mut self, inner: &[Vec<u32>], neighbours: &[u32]) {
        let start = self.reach.len();
        self.reach.resize(start + inner.len(), 0);
        self.near_of.resize(start + inner.len(), [0; 2]);
        let mut reached = neighbours.to_vec();
        for (port, &node) in (0..).zip(neighbours) {
            self.reach[start + node as usize] = 1;
            self.near_of[start + node as usize] = [self.near.len() as u32, 1];
            self.near.push(port);
        }
        let mut next = 0;
        while let Some(&here) = reached.get(next) {
            next += 1;
            let hops = self.reach[start + here as usize];
            if hops > 1 {
                // The first ports to a node are those to all of its neighbours that are nearer.
                let nearer = inner[here as usize].iter().filter(|&&other| {
                    let other = self.reach[start + other as usize];
                    other > 0 && other < hops
                });
                let mut ports: Vec<u32> = nearer
                    .flat_map(|&other| {
                        let [first, count] = self.near_of[start + other as usize];
                        self.near[first as usize..][..count as usize].iter().copied()
                    })
                    .collect();
                ports.sort_unstable();
                ports.dedup();
                self.near_of[start + here as usize] = [self.near.len() as u32, ports.len() as u32];
                self.near.extend(ports);
            }
            for &other in &inner[here as usize] {
                if self.reach[start + other as usize] == 0 {
                    self.reach[start + other as usize] = hops + 1;
                    reached.push(other);
                }
            }
        }
    }
}

impl NextHops for Rim {
    #[inline]
    fn shortest(&self, wiring: &Wiring, node: u32, to: u32, mut visit: impl FnMut(u32)) {
        let around = wiring.neighbours(node);
        match (node < self.places, to < self.places) {
            (true, true) => self.grid.shortest(wiring, node, to, visit),
            (false, true) => {
                let [first, count] = self.near_of[self.index(node, to)];
                self.near[first as usize..][..count as usize].iter().copied().for_each(visit);
            }
            (true, false) => {
                let inner = usize::from(self.inner_ports[node as usize]);
                let hops = self.reach(to, node);
                if hops == 1 {
                    let out = (inner..around.len()).find(|&port| around[port] == to);
                    return out.into_iter().for_each(|port| visit(port as u32));
                }
                for (port, &other) in (0..).zip(&around[..inner]) {
                    if self.reach(to, other) < hops {
                        visit(port);
                    }
                }
            }
            (false, false) => {
                let hops = self.between(node, to);
                for (port, &other) in (0..).zip(around) {
                    if self.reach(to, other) < hops {
                        visit(port);
                    }
                }
            }
        }
    }

    /// Dimension order in the mesh; from and to a router, the first port of the shortest ways.
    #[inline]
    fn deterministic(&self, wiring: &Wiring, node: u32, to: u32) -> u32 {
        if node < self.places && to < self.places {
            return self.grid.deterministic(wiring, node, to);
        }
        let mut first = None;
        self.shortest(wiring, node, to, |port| {
            first.get_or_insert(port);
        });
        first.unwrap_or(0)
    }

    #[inline]
    fn distance(&self, wiring: &Wiring, from: u32, to: u32) -> u32 {
        match (from < self.places, to < self.places) {
            (true, true) => self.grid.distance(wiring, from, to),
            (true, false) => self.reach(to, from),
            (false, true) => self.reach(from, to),
            (false, false) => self.between(from, to),
        }
    }

    /// The sum of distances over all pairs of one of `from` and one of `to`.
    fn sum_of_distances(&self, wiring: &Wiring, from: &[u32], to: &[u32]) -> Option<u128> {
        let part = |nodes: &[u32]| -> (Vec<u32>, Vec<u32>) { nodes.iter().partition(|&&node| node < self.places) };
        let ((from, from_routers), (to, to_routers)) = (part(from), part(to));
        let one_by_one = |from: &[u32], to: &[u32]| {
            let pairs = from.iter().flat_map(|&a| to.iter().map(move |&b| (a, b)));
            pairs.map(|(a, b)| u128::from(self.distance(wiring, a, b))).sum::<u128>()
        };
        let outside = one_by_one(&from_routers, &to) + one_by_one(&from_routers, &to_routers);
        let inside = self.grid.sum_of_distances(wiring, &from, &to)?;
        Some(inside + one_by_one(&from, &to_routers) + outside)
    }

    /// The most hops between two nodes.
    fn diameter(&self) -> Option<u32> {
        let outside = self.reach.iter().chain(&self.between).copied().max().unwrap_or(0);
        Some(self.grid.diameter()?.max(u32::from(outside)))
    }

    fn table_entries(&self) -> usize {
        let reach = self.reach.len() + 2 * self.near_of.len() + self.near.len() + self.between.len();
        self.grid.table_entries() + reach + self.inner_ports.len()
    }

    /// Halves of the mesh, by rows or by columns, with each router on the side where it has more links.
    fn bisection(&self, topology: &Topology) -> Bisection {
        let grid = &self.grid;
        let (rows, columns) = (grid.sides()[0], grid.sides()[1]);
        let places = rows * columns;
        let cut = |by_rows: bool| {
            let side = |node: u32| {
                let (row, column) = (u32::from(grid.at(node)[0]), u32::from(grid.at(node)[1]));
                2 * (if by_rows { row * columns + column } else { column * rows + row }) >= places
            };
            let inside = topology.links_between(places, side);
            let of_router = |&router: &u32| {
                let around = topology.wiring.neighbours(router);
                let far = around.iter().filter(|&&node| side(node)).count();
                far.min(around.len() - far) as u64
            };
            inside + topology.routers.iter().map(of_router).sum::<u64>()
        };
        Bisection { links: cut(true).min(cut(false)), is_exact: false }
    }

    fn position(&self, topology: &Topology, node: u32) -> [f64; 2] {
        match node.checked_sub(self.places) {
            None => self.grid.position(topology, node).map(|at| 0.12 + 0.76 * at),
            Some(router) => outside(self.wiring, router, topology.routers.len() as u32),
        }
    }
}

/// The nodes of the mesh that each router is joined to.
fn attached(rows: u32, columns: u32, wiring: RimWiring, routers: u32) -> Result<Vec<Vec<u32>>, TopologyError> {
    let row = |row: u32| (0..columns).map(move |column| row * columns + column);
    let column = |column: u32| (0..rows).map(move |row| row * columns + column);
    let sorted = |nodes: Vec<u32>| {
        let mut nodes = nodes;
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    };
    let (multiple, most, remedy) = match wiring {
        RimWiring::CornerSides => (4, u32::MAX, "give a multiple of 4"),
        RimWiring::OppositeSides => (2, u32::MAX, "give an even number"),
        RimWiring::Perimeter => (1, 2 * (rows + columns) - 4, "give one or more, and no more than that"),
    };
    if routers == 0 || !routers.is_multiple_of(multiple) || routers > most {
        let rule = match wiring {
            RimWiring::CornerSides => "as many routers are at each of the four corners".to_string(),
            RimWiring::OppositeSides => "as many routers are at the rows as at the columns".to_string(),
            RimWiring::Perimeter => format!("each router has one or more of the {most} nodes at the rim"),
        };
        return refuse("routers", routers, rule, remedy);
    }
    let of_router = |router: u32| match wiring {
        RimWiring::CornerSides => {
            let (at_row, at_column) =
                (if router & 2 == 0 { 0 } else { rows - 1 }, if router & 1 == 0 { 0 } else { columns - 1 });
            row(at_row).chain(column(at_column)).collect()
        }
        RimWiring::OppositeSides if router & 1 == 0 => row(0).chain(row(rows - 1)).collect(),
        RimWiring::OppositeSides => column(0).chain(column(columns - 1)).collect(),
        RimWiring::Perimeter => {
            let right = column(columns - 1).skip(1).take(rows as usize - 2);
            let left = column(0).skip(1).take(rows as usize - 2).collect::<Vec<u32>>().into_iter().rev();
            let bottom = row(rows - 1).collect::<Vec<u32>>().into_iter().rev();
            let around = row(0).chain(right).chain(bottom).chain(left);
            around.skip(router as usize).step_by(routers as usize).collect()
        }
    };
    Ok((0..routers).map(|router| sorted(of_router(router))).collect())
}

/// A mesh of two sides, all of whose nodes have devices, with `routers` outside.
///
/// # Errors
/// When there are not two sides, the routers cannot be shared out as the wiring wants it, or the tables would be too large.
pub fn mesh_with_rim(sides: &[u32], wiring: RimWiring, routers: u32) -> Result<Topology, TopologyError> {
    let &[rows, columns] = sides else {
        let rule = "routers stand outside of a mesh of two dimensions";
        return refuse("sides", super::error::joined(sides), rule, "give two sides, or take the wiring \"inside\"");
    };
    let (grid, mut inner) = Cartesian::new(sides, false)?;
    let places = inner.len() as u32;
    if u64::from(places) * u64::from(routers) > REACH_MAX {
        let rule = format!("routers times nodes are at most {REACH_MAX}");
        return refuse("routers", routers, rule, "choose fewer routers or shorter sides");
    }
    let joined = attached(rows, columns, wiring, routers)?;
    let mut rim = Rim {
        grid,
        places,
        reach: Vec::new(),
        near_of: Vec::new(),
        near: Vec::new(),
        between: Vec::new(),
        inner_ports: inner.iter().map(|around| around.len() as u8).collect(),
        wiring,
    };
    for neighbours in &joined {
        rim.look_out_from(&inner, neighbours);
    }
    for a in 0..routers {
        for b in 0..routers {
            let nearest = joined[a as usize].iter().map(|&node| rim.reach(places + b, node) as u16 + 1).min();
            rim.between.push(if a == b { 0 } else { nearest.unwrap_or(0) });
        }
    }
    for (router, neighbours) in (places..).zip(&joined) {
        neighbours.iter().for_each(|&node| inner[node as usize].push(router));
    }
    let mut ports = PortLists::default();
    inner.into_iter().chain(joined).for_each(|around| ports.add(around));
    let hosts = (0..places).collect();
    Ok(Topology::new(rim, ports, hosts, (places..places + routers).collect()))
}

/// Outside of a mesh: at the corners, beside the sides that a router is joined to, or around.
fn outside(wiring: RimWiring, router: u32, routers: u32) -> [f64; 2] {
    match wiring {
        RimWiring::CornerSides => {
            let inward = 0.1 * middle(router / 4, routers / 4);
            let x = if router & 1 == 0 { inward } else { 1.0 - inward };
            [x, if router & 2 == 0 { 1.0 - inward } else { inward }]
        }
        RimWiring::OppositeSides => {
            let along = 0.12 + 0.76 * middle(router / 2, routers / 2);
            if router & 1 == 0 { [along, 0.97] } else { [0.03, along] }
        }
        RimWiring::Perimeter => {
            // Clockwise from the corner of node 0, as the rim is dealt out.
            let turn = 4.0 * f64::from(router) / f64::from(routers);
            let (side, along) = (turn as u32, 0.04 + 0.92 * turn.fract());
            match side {
                0 => [along, 0.96],
                1 => [0.96, 1.0 - along],
                2 => [1.0 - along, 0.04],
                _ => [0.04, along],
            }
        }
    }
}
