//! Which nodes there are, which links join them, and which ways between them are the shortest.
//!
//! A *link* joins two nodes and is full duplex: it has two *channels*, one a direction, each with a sender's port of its own.
//! Channels are numbered node by node, in the order of each node's ports, so those of one node are a range.
//!
//! Every structure is a file of its own, and next hops are computed from it; only a graph without structure has a table of
//! distances. The *shortest ways* are those that minimal routing takes: those of the graph, except that no way leads through a
//! router outside of a mesh, and that a way through a dragonfly crosses one global link at most.

mod bisection;
mod butterfly;
mod cartesian;
mod clos;
mod cut;
mod dragonfly;
mod drawing;
mod entries;
mod error;
mod graph;
mod hypercube;
mod leaf_spine;
mod measures;
mod names;
mod places;
mod rim;
mod shape;
mod structure;
mod torus_of_trees;
mod tree;
mod wiring;

pub use bisection::Bisection;
pub use butterfly::{Butterfly, ButterflyKeys, butterfly, butterfly_with_spares};
pub use cartesian::{Cartesian, MeshKeys, TorusKeys, mesh, torus};
pub use clos::{Clos, clos_sizes, folded_clos};
pub use dragonfly::{Dragonfly, DragonflyKeys, dragonfly, dragonfly_hosts};
pub use entries::EntryTree;
pub use error::{LINKS_MAX, NODES_MAX, TopologyError};
pub use graph::{Graph, GraphLinks, graph};
pub use hypercube::{Hypercube, HypercubeKeys, hypercube};
pub use leaf_spine::{LeafSpineKeys, leaf_spine, leaf_spine_with_entries};
pub use names::NodeKind;
pub use places::draw_routers;
pub use rim::{Rim, RimWiring, mesh_with_rim};
pub use torus_of_trees::{TorusOfTreesKeys, torus_of_trees};
pub use tree::{FatTreeKeys, Tree, fat_tree};

use std::ops::Range;

use resilver_units::EndpointId;
use serde::Deserialize;

use shape::NextHops;
use structure::Build;
use wiring::{PortLists, Wiring};

shape::shape_of! { Cartesian, Hypercube, Rim, Butterfly, Tree, EntryTree, Clos, Dragonfly, Graph }

structure::structure_of! {
    Torus: TorusKeys,
    TorusOfTrees: TorusOfTreesKeys,
    Mesh: MeshKeys,
    Hypercube: HypercubeKeys,
    Butterfly: ButterflyKeys,
    FatTree: FatTreeKeys,
    LeafSpine: LeafSpineKeys,
    Dragonfly: DragonflyKeys,
    Graph: GraphLinks,
}

/// A network's nodes, links and endpoints.
#[derive(Clone, Debug)]
pub struct Topology {
    shape: Shape,
    wiring: Wiring,
    /// The nodes with devices, in the order of their servers.
    hosts: Vec<u32>,
    /// The nodes where clients enter.
    routers: Vec<u32>,
    /// What each node is, and its number among those of its kind.
    kinds: Vec<(NodeKind, u32)>,
}

impl Topology {
    /// A topology of `shape`, of which each node has the ports in `ports`.
    fn new(shape: impl Into<Shape>, ports: PortLists, hosts: Vec<u32>, routers: Vec<u32>) -> Self {
        Topology::of_wiring(shape, Wiring::new(ports), hosts, routers)
    }

    fn of_wiring(shape: impl Into<Shape>, wiring: Wiring, hosts: Vec<u32>, routers: Vec<u32>) -> Self {
        let kinds = names::kinds(wiring.nodes(), &hosts, &routers);
        Topology { shape: shape.into(), wiring, hosts, routers, kinds }
    }

    /// Where a node is drawn, so that a picture shows the structure: x to the right and y up, both from 0 to 1.
    pub fn position(&self, node: u32) -> [f64; 2] {
        self.shape.position(self, node)
    }

    /// Entries of all tables that routing looks up: what it takes beside the ports and links themselves.
    pub fn table_entries(&self) -> usize {
        self.shape.table_entries()
    }

    /// The structure.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.wiring.nodes()
    }

    /// How many links there are.
    pub fn links(&self) -> u32 {
        self.wiring.channels_of.len() as u32
    }

    /// How many channels there are: two a link.
    pub fn channels(&self) -> u32 {
        self.wiring.peer.len() as u32
    }

    /// The channels that leave a node.
    #[inline]
    pub fn channels_from(&self, node: u32) -> Range<u32> {
        self.wiring.first_channel[node as usize]..self.wiring.first_channel[node as usize + 1]
    }

    /// The node that a channel leads to.
    #[inline]
    pub fn peer(&self, channel: u32) -> u32 {
        self.wiring.peer[channel as usize]
    }

    /// The other direction of a channel's link.
    #[inline]
    pub fn reverse(&self, channel: u32) -> u32 {
        self.wiring.reverse[channel as usize]
    }

    /// The link that a channel is a direction of.
    #[inline]
    pub fn link_of(&self, channel: u32) -> u32 {
        self.wiring.link[channel as usize]
    }

    /// The two channels of a link; the first leaves the end that [`Topology::ends`] names first.
    #[inline]
    pub fn channels_of(&self, link: u32) -> [u32; 2] {
        self.wiring.channels_of[link as usize]
    }

    /// The two nodes that a link joins.
    pub fn ends(&self, link: u32) -> [u32; 2] {
        let [there, back] = self.channels_of(link);
        [self.peer(back), self.peer(there)]
    }

    /// How many links are spares: nothing takes them but packets that have met a failure.
    pub fn spare_links(&self) -> u32 {
        self.links() - self.wiring.first_spare
    }

    /// Whether a link is a spare: these have the highest numbers.
    pub fn is_spare(&self, link: u32) -> bool {
        link >= self.wiring.first_spare
    }

    /// The nodes with devices, in the order of their servers.
    pub fn hosts(&self) -> &[u32] {
        &self.hosts
    }

    /// The nodes where clients enter.
    pub fn routers(&self) -> &[u32] {
        &self.routers
    }

    /// The node of an endpoint: hosts come first, then routers.
    #[inline]
    pub fn node_of(&self, endpoint: EndpointId) -> u32 {
        let index = endpoint.index();
        if index < self.hosts.len() { self.hosts[index] } else { self.routers[index - self.hosts.len()] }
    }

    /// Calls `visit` with every channel from `node` that begins a shortest way to the node `to`, another one.
    #[inline]
    pub fn shortest(&self, node: u32, to: u32, mut visit: impl FnMut(u32)) {
        let first = self.wiring.first_channel[node as usize];
        self.shape.shortest(&self.wiring, node, to, |port| visit(first + port));
    }

    /// The one channel from `node` to another node `to` by the topology's deterministic routing.
    #[inline]
    pub fn deterministic(&self, node: u32, to: u32) -> u32 {
        self.wiring.first_channel[node as usize] + self.shape.deterministic(&self.wiring, node, to)
    }

    /// The hops of a shortest way between two nodes.
    #[inline]
    pub fn distance(&self, from: u32, to: u32) -> u32 {
        self.shape.distance(&self.wiring, from, to)
    }

    /// The hops of a shortest way between two nodes where spare links serve as all others do.
    pub fn distance_with_spares(&self, from: u32, to: u32) -> u32 {
        self.shape.distance_with_spares(&self.wiring, from, to)
    }
}
