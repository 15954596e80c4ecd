//! What every structure of a network answers, and the one place that tells the structures apart.

use super::wiring::Wiring;
use super::{Bisection, Topology};

/// A structure: its next hops and what else follows from it. Each is a file of its own.
pub(super) trait NextHops {
    /// Calls `visit` with every port of `node` that begins a shortest way to another node `to`.
    fn shortest(&self, wiring: &Wiring, node: u32, to: u32, visit: impl FnMut(u32));

    /// The one port of `node` to another node `to` by deterministic routing.
    fn deterministic(&self, wiring: &Wiring, node: u32, to: u32) -> u32;

    /// Hops of the shortest ways between two nodes.
    fn distance(&self, wiring: &Wiring, from: u32, to: u32) -> u32;

    /// Hops of the shortest ways between two nodes where spare links serve as all others do.
    fn distance_with_spares(&self, wiring: &Wiring, from: u32, to: u32) -> u32 {
        self.distance(wiring, from, to)
    }

    /// The sum of distances over all pairs of one of `from` and one of `to`, where it has a closed form.
    fn sum_of_distances(&self, _wiring: &Wiring, _from: &[u32], _to: &[u32]) -> Option<u128> {
        None
    }

    /// The most hops between two nodes, where it has a closed form.
    fn diameter(&self) -> Option<u32> {
        None
    }

    /// Nodes that stand for all that look at the network as they do, with how many these are; nothing where no two are known
    /// to be alike.
    fn representatives(&self) -> Option<Vec<(u32, u64)>> {
        None
    }

    /// Links that part the network into halves.
    fn bisection(&self, topology: &Topology) -> Bisection;

    /// Where a node is drawn: x to the right and y up, both from 0 to 1.
    fn position(&self, topology: &Topology, node: u32) -> [f64; 2];

    /// Entries of all tables that routing looks up: what it takes beside the ports and links themselves.
    fn table_entries(&self) -> usize {
        0
    }
}

/// Makes the type that is any one of these structures.
macro_rules! shape_of {
    ($($structure:ident),+ $(,)?) => {
        /// The structure that a topology's next hops follow from.
        #[derive(Clone, Debug)]
        pub enum Shape {
            $(#[doc = concat!("[`", stringify!($structure), "`].")] $structure($structure)),+
        }

        $(impl From<$structure> for Shape {
            fn from(structure: $structure) -> Self {
                Shape::$structure(structure)
            }
        })+

        impl NextHops for Shape {
            #[inline]
            fn shortest(&self, wiring: &Wiring, node: u32, to: u32, visit: impl FnMut(u32)) {
                match self { $(Shape::$structure(shape) => shape.shortest(wiring, node, to, visit)),+ }
            }

            #[inline]
            fn deterministic(&self, wiring: &Wiring, node: u32, to: u32) -> u32 {
                match self { $(Shape::$structure(shape) => shape.deterministic(wiring, node, to)),+ }
            }

            #[inline]
            fn distance(&self, wiring: &Wiring, from: u32, to: u32) -> u32 {
                match self { $(Shape::$structure(shape) => shape.distance(wiring, from, to)),+ }
            }

            fn distance_with_spares(&self, wiring: &Wiring, from: u32, to: u32) -> u32 {
                match self { $(Shape::$structure(shape) => shape.distance_with_spares(wiring, from, to)),+ }
            }

            fn sum_of_distances(&self, wiring: &Wiring, from: &[u32], to: &[u32]) -> Option<u128> {
                match self { $(Shape::$structure(shape) => shape.sum_of_distances(wiring, from, to)),+ }
            }

            fn diameter(&self) -> Option<u32> {
                match self { $(Shape::$structure(shape) => shape.diameter()),+ }
            }

            fn representatives(&self) -> Option<Vec<(u32, u64)>> {
                match self { $(Shape::$structure(shape) => shape.representatives()),+ }
            }

            fn bisection(&self, topology: &Topology) -> Bisection {
                match self { $(Shape::$structure(shape) => shape.bisection(topology)),+ }
            }

            fn position(&self, topology: &Topology, node: u32) -> [f64; 2] {
                match self { $(Shape::$structure(shape) => shape.position(topology, node)),+ }
            }

            fn table_entries(&self) -> usize {
                match self { $(Shape::$structure(shape) => shape.table_entries()),+ }
            }
        }
    };
}

pub(super) use shape_of;
