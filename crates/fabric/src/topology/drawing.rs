//! Where nodes are drawn, so that a picture shows the structure: x to the right and y up, both from 0 to 1.

use std::f64::consts::TAU;
use std::ops::Range;

/// The middle of the i-th of n equal parts of the unit length.
pub(super) fn middle(index: u32, parts: u32) -> f64 {
    (f64::from(index) + 0.5) / f64::from(parts)
}

/// The point on a circle after this part of a turn, clockwise from the top.
pub(super) fn on_circle([x, y]: [f64; 2], radius: f64, turn: f64) -> [f64; 2] {
    [x + radius * (TAU * turn).sin(), y + radius * (TAU * turn).cos()]
}

/// Rows from the bottom, one a level.
pub(super) fn in_levels(levels: &[Range<u32>], node: u32) -> [f64; 2] {
    let level = levels.iter().position(|level| level.contains(&node)).unwrap_or(0);
    let Range { start, end } = levels[level];
    [middle(node - start, end - start), middle(level as u32, levels.len() as u32)]
}
