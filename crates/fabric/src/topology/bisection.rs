//! How many links part a network into two halves.

use std::ops::Range;

use super::{NextHops, Topology};

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
    pub fn bisection_links(&self) -> Bisection {
        self.shape.bisection(self)
    }

    /// The links, but for spares, whose ends are on different sides.
    fn links_across(&self, side: impl Fn(u32) -> bool) -> u64 {
        (0..self.wiring.first_spare)
            .filter(|&link| self.ends(link).map(&side).into_iter().reduce(|a, b| a != b) == Some(true))
            .count() as u64
    }

    /// Halves of the levels up to each in turn, with all nodes above on one side.
    ///
    /// Of trees, which have a bound: spread evenly over all uplinks, every permutation of hosts loads no link of a level more
    /// than hosts / links there, so halves that send to each other must be joined by half the links of the thinnest level, or
    /// half the hosts; where a cut has no more, it is the bisection.
    pub(super) fn halves_of_levels(&self, levels: &[Range<u32>], has_bound: bool) -> Bisection {
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

    /// The links whose ends are both below `places` and on different sides.
    pub(super) fn links_between(&self, places: u32, side: impl Fn(u32) -> bool) -> u64 {
        let is_across = |&link: &u32| {
            let [a, b] = self.ends(link);
            a < places && b < places && side(a) != side(b)
        };
        (0..self.links()).filter(is_across).count() as u64
    }
}
