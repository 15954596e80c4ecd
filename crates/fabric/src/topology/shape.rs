//! What a topology's next hops follow from, and the one place that tells the structures apart.

use super::wiring::Wiring;
use super::{Butterfly, Cartesian, Clos, Dragonfly, EntryTree, Graph, Hypercube, Rim, Tree};

/// The structure that a topology's next hops follow from.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A torus or a mesh.
    Cartesian(Cartesian),
    /// A hypercube.
    Hypercube(Hypercube),
    /// A mesh with routers outside.
    Rim(Rim),
    /// A butterfly.
    Butterfly(Butterfly),
    /// A fat tree whose subtrees nest, or leaves and spines.
    Tree(Tree),
    /// Leaves and spines, with entries at the spines.
    Entries(EntryTree),
    /// A folded Clos network of three levels.
    Clos(Clos),
    /// A dragonfly.
    Dragonfly(Dragonfly),
    /// Any graph.
    Graph(Graph),
}

impl Shape {
    /// Calls `visit` with every port of `node` that begins a shortest way to another node `to`.
    #[inline]
    pub(super) fn shortest(&self, wiring: &Wiring, node: u32, to: u32, visit: impl FnMut(u32)) {
        match self {
            Shape::Cartesian(shape) => shape.shortest(node, to, visit),
            Shape::Hypercube(shape) => shape.shortest(node, to, visit),
            Shape::Rim(shape) => shape.shortest(wiring, node, to, visit),
            Shape::Butterfly(shape) => shape.shortest(node, to, visit),
            Shape::Tree(shape) => shape.shortest(node, to, visit),
            Shape::Entries(shape) => shape.shortest(node, to, visit),
            Shape::Clos(shape) => shape.shortest(node, to, visit),
            Shape::Dragonfly(shape) => shape.shortest(node, to, visit),
            Shape::Graph(shape) => shape.shortest(wiring, node, to, visit),
        }
    }

    /// The one port of `node` to another node `to` by deterministic routing.
    #[inline]
    pub(super) fn deterministic(&self, wiring: &Wiring, node: u32, to: u32) -> u32 {
        match self {
            Shape::Cartesian(shape) => shape.deterministic(node, to),
            Shape::Hypercube(shape) => shape.deterministic(node, to),
            Shape::Rim(shape) => shape.deterministic(wiring, node, to),
            Shape::Butterfly(shape) => shape.deterministic(node, to),
            Shape::Tree(shape) => shape.deterministic(node, to),
            Shape::Entries(shape) => shape.deterministic(node, to),
            Shape::Clos(shape) => shape.deterministic(node, to),
            Shape::Dragonfly(shape) => shape.deterministic(node, to),
            Shape::Graph(shape) => shape.deterministic(wiring, node, to),
        }
    }

    /// Hops of the shortest ways between two nodes.
    #[inline]
    pub(super) fn distance(&self, wiring: &Wiring, from: u32, to: u32) -> u32 {
        match self {
            Shape::Cartesian(shape) => shape.distance(from, to),
            Shape::Hypercube(shape) => shape.distance(from, to),
            Shape::Rim(shape) => shape.distance(from, to),
            Shape::Butterfly(shape) => shape.distance(from, to),
            Shape::Tree(shape) => shape.distance(from, to),
            Shape::Entries(shape) => shape.distance(from, to),
            Shape::Clos(shape) => shape.distance(from, to),
            Shape::Dragonfly(shape) => shape.distance(from, to),
            Shape::Graph(shape) => shape.distance(wiring, from, to),
        }
    }

    /// Entries of all tables that routing looks up: what it takes beside the ports and links themselves.
    pub fn table_entries(&self) -> usize {
        match self {
            Shape::Cartesian(shape) => shape.table_entries(),
            Shape::Hypercube(_) => 0,
            Shape::Rim(shape) => shape.table_entries(),
            Shape::Butterfly(shape) => shape.table_entries(),
            Shape::Tree(shape) => shape.table_entries(),
            Shape::Entries(shape) => shape.table_entries(),
            Shape::Clos(shape) => shape.table_entries(),
            Shape::Dragonfly(shape) => shape.table_entries(),
            Shape::Graph(shape) => shape.table_entries(),
        }
    }
}
