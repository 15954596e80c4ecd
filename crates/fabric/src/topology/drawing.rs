//! Where nodes are drawn, so that a picture shows the structure: x to the right and y up, both from 0 to 1.

use std::f64::consts::TAU;
use std::ops::Range;

use super::{Cartesian, RimWiring, Shape, Topology};

impl Topology {
    /// Where a node is drawn: x to the right and y up, both from 0 to 1.
    ///
    /// Meshes and tori are grids, those of more dimensions their planes side by side, as are hypercubes; trees are rows with the
    /// hosts at the bottom, butterflies columns from the routers to the hosts, dragonflies circles of circles, and graphs as
    /// they say, or a circle.
    pub fn position(&self, node: u32) -> [f64; 2] {
        match &self.shape {
            Shape::Cartesian(shape) => on_grid(shape, node),
            Shape::Hypercube(shape) => {
                let low = shape.dimensions() / 2;
                let (columns, rows) = (1u32 << low, 1u32 << (shape.dimensions() - low));
                [middle(node & (columns - 1), columns), 1.0 - middle(node >> low, rows)]
            }
            Shape::Rim(shape) => {
                let places = self.hosts.len() as u32;
                if node < places {
                    return on_grid(shape.grid(), node).map(|at| 0.12 + 0.76 * at);
                }
                outside(shape.wiring(), node - places, self.routers.len() as u32)
            }
            Shape::Butterfly(shape) => {
                // The levels run from the hosts back to the routers.
                let [along, across] = in_levels(&shape.levels(), node);
                [1.0 - across, 1.0 - along]
            }
            Shape::Tree(shape) => in_levels(&shape.levels(), node),
            Shape::Entries(shape) => {
                let [x, y] = match shape.drawn_at(node) {
                    None => in_levels(&shape.levels(), node),
                    Some((place, places)) => [middle(place, places), 7.0 / 6.0],
                };
                // Three rows of the tree and one of the entries above them.
                [x, y * 0.75]
            }
            Shape::Clos(shape) => in_levels(&shape.levels(), node),
            Shape::Dragonfly(shape) => {
                let ([group, switch], host, [groups, switches, hosts]) = shape.ring(node);
                let room = (1.6 / f64::from(groups)).min(0.22);
                let outward = f64::from(group) / f64::from(groups);
                let around = outward + f64::from(switch) / f64::from(switches);
                let [x, y] = on_circle([0.5, 0.5], 0.5 - room, outward);
                match host {
                    None => on_circle([x, y], 0.55 * room, around),
                    Some(host) => {
                        let spread = (middle(host, hosts) - 0.5) * 0.8 / f64::from(switches);
                        on_circle([x, y], room, around + spread)
                    }
                }
            }
            Shape::Graph(shape) => match &shape.positions {
                Some(positions) => positions[node as usize],
                None => on_circle([0.5, 0.5], 0.5, f64::from(node) / f64::from(self.nodes())),
            },
        }
    }
}

/// The middle of the i-th of n equal parts of the unit length.
fn middle(index: u32, parts: u32) -> f64 {
    (f64::from(index) + 0.5) / f64::from(parts)
}

/// The point on a circle after this part of a turn, clockwise from the top.
fn on_circle([x, y]: [f64; 2], radius: f64, turn: f64) -> [f64; 2] {
    [x + radius * (TAU * turn).sin(), y + radius * (TAU * turn).cos()]
}

/// Rows from the bottom, one a level.
fn in_levels(levels: &[Range<u32>], node: u32) -> [f64; 2] {
    let level = levels.iter().position(|level| level.contains(&node)).unwrap_or(0);
    let Range { start, end } = levels[level];
    [middle(node - start, end - start), middle(level as u32, levels.len() as u32)]
}

/// Columns and rows by the last two sides, with a plane for each value of the sides before them.
fn on_grid(grid: &Cartesian, node: u32) -> [f64; 2] {
    let (sides, at) = (grid.sides(), grid.at(node));
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
