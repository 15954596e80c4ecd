//! How many links part a network into two halves.

use std::ops::Range;

use super::cut::best_cut;
use super::{Cartesian, Shape, Topology};

/// Links whose removal parts a network into two halves.
///
/// The halves hold equally many places where packets enter or leave, to within one: all nodes of a torus, mesh or hypercube,
/// the mesh's nodes where its routers are outside, the nodes of the lowest level of trees, butterflies and dragonflies, and
/// the hosts and routers of a graph. All other nodes, such as entries at spines, are on whichever side is best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bisection {
    /// How many links.
    pub links: u64,
    /// Whether no fewer will do; otherwise this many do, and fewer may.
    pub is_exact: bool,
}

impl Topology {
    /// The fewest links known that part the network into halves, and whether it is known that there are no fewer.
    ///
    /// Tori and meshes: Aroca and Fernandez Anta, "Bisection (band)width of product networks", 2014. Trees: spread evenly over
    /// all uplinks, every permutation of hosts loads no link of a level more than hosts / links there, so halves that send to
    /// each other must be joined by half the links of the thinnest level, or half the hosts; where a cut has no more, it is the
    /// bisection.
    pub fn bisection_links(&self) -> Bisection {
        match &self.shape {
            Shape::Cartesian(shape) => of_grid(shape),
            Shape::Hypercube(_) => Bisection { links: u64::from(self.nodes() / 2), is_exact: true },
            Shape::Rim(shape) => self.of_rim(shape.grid()),
            Shape::Butterfly(shape) => self.of_levels(&shape.levels(), false),
            Shape::Dragonfly(shape) => self.of_levels(&shape.levels(), false),
            Shape::Tree(shape) => self.of_levels(&shape.levels(), true),
            Shape::Entries(shape) => self.of_levels(&shape.levels(), true),
            Shape::Clos(shape) => self.of_levels(&shape.levels(), true),
            Shape::Graph(_) => {
                let mut is_endpoint = vec![false; self.nodes() as usize];
                self.hosts.iter().chain(&self.routers).for_each(|&node| is_endpoint[node as usize] = true);
                Bisection { links: best_cut(&self.wiring, &is_endpoint), is_exact: false }
            }
        }
    }

    /// The links whose ends are on different sides.
    fn links_across(&self, side: impl Fn(u32) -> bool) -> u64 {
        (0..self.links())
            .filter(|&link| self.ends(link).map(&side).into_iter().reduce(|a, b| a != b) == Some(true))
            .count() as u64
    }

    /// Halves of the levels up to each in turn, with all nodes above on one side.
    fn of_levels(&self, levels: &[Range<u32>], has_bound: bool) -> Bisection {
        // What hangs above the levels, such as entries, is on the side of the nodes above.
        let level_of = |node: u32| levels.iter().position(|level| level.contains(&node)).unwrap_or(levels.len());
        let cut = |halved: usize| {
            let side = |node: u32| {
                let level = level_of(node);
                level > halved || 2 * (node - levels[level].start) >= levels[level].end - levels[level].start
            };
            self.links_across(side)
        };
        let links = (0..levels.len()).map(cut).min().unwrap_or(0);
        let places = levels[0].end - levels[0].start;
        let mut links_above = vec![0u64; levels.len()];
        for link in 0..self.links() {
            let lower = self.ends(link).map(level_of).into_iter().min().unwrap_or(0);
            links_above[lower] += 1;
        }
        links_above.pop();
        let thinnest = links_above.into_iter().chain([u64::from(places)]).min().unwrap_or(0);
        Bisection { links, is_exact: has_bound && places.is_multiple_of(2) && 2 * links == thinnest }
    }

    /// Halves of a mesh, by rows or by columns, with each outside router on the side where it has more links.
    fn of_rim(&self, grid: &Cartesian) -> Bisection {
        let (rows, columns) = (grid.sides()[0], grid.sides()[1]);
        let places = rows * columns;
        let cut = |by_rows: bool| {
            let side = |node: u32| {
                let (row, column) = (u32::from(grid.at(node)[0]), u32::from(grid.at(node)[1]));
                2 * (if by_rows { row * columns + column } else { column * rows + row }) >= places
            };
            let inside = self.links_between(places, side);
            let of_router = |&router: &u32| {
                let around = self.wiring.neighbours(router);
                let far = around.iter().filter(|&&node| side(node)).count();
                far.min(around.len() - far) as u64
            };
            inside + self.routers.iter().map(of_router).sum::<u64>()
        };
        Bisection { links: cut(true).min(cut(false)), is_exact: false }
    }

    /// The links whose ends are both below `places` and on different sides.
    fn links_between(&self, places: u32, side: impl Fn(u32) -> bool) -> u64 {
        let is_across = |&link: &u32| {
            let [a, b] = self.ends(link);
            a < places && b < places && side(a) != side(b)
        };
        (0..self.links()).filter(is_across).count() as u64
    }
}

/// The sum of the products of the sides behind each of the sides, in descending order, up to the first even one; twice that on
/// a torus.
fn of_grid(grid: &Cartesian) -> Bisection {
    let mut sides: Vec<u64> = grid.sides().iter().map(|&side| u64::from(side)).collect();
    sides.sort_unstable_by(|a, b| b.cmp(a));
    let even = sides.iter().position(|side| side % 2 == 0).unwrap_or(sides.len() - 1);
    let sum: u64 = (0..=even).map(|i| sides[i + 1..].iter().product::<u64>()).sum();
    let nodes: u64 = sides.iter().product();
    if !grid.wraps() || sides[0] == 2 {
        // Sides of two nodes are not joined twice, so such a torus is a mesh.
        return Bisection { links: sum, is_exact: true };
    }
    // A side of two nodes has one link across where others have two; the law does not know of such sides.
    let has_two = sides.contains(&2);
    let links = if has_two { (2 * sum).min(nodes / 2) } else { 2 * sum };
    Bisection { links, is_exact: !has_two || even == 0 }
}
