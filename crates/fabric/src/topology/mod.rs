//! Which nodes there are, which links join them, and which ways between them are the shortest.
//!
//! A *link* joins two nodes and is full duplex: it has two *channels*, one a direction, each with a sender's port of its own.
//! Channels are numbered node by node, in the order of each node's ports, so those of one node are a range.

mod cartesian;

pub use cartesian::{Cartesian, mesh, torus};

use std::ops::Range;

use resilver_units::EndpointId;

/// The structure that a topology's next hops follow from.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A torus, a mesh, or a hypercube.
    Cartesian(Cartesian),
}

/// A network's nodes, links and endpoints.
#[derive(Clone, Debug)]
pub struct Topology {
    shape: Shape,
    /// The first channel of each node, and the end.
    first_channel: Vec<u32>,
    /// Where each channel leads.
    peer: Vec<u32>,
    /// The opposite direction of each channel.
    reverse: Vec<u32>,
    /// The link that each channel is a direction of.
    link: Vec<u32>,
    /// The two channels of each link.
    channels_of: Vec<[u32; 2]>,
    /// The nodes with devices, in the order of their servers.
    hosts: Vec<u32>,
    /// The nodes where clients enter.
    routers: Vec<u32>,
}

impl Topology {
    /// A topology of `shape`, of which node u has a port to each of `neighbours[u]`, in that order.
    ///
    /// A neighbour that stands k times is joined by k links; the i-th port to it is the other end of its i-th port back.
    pub(crate) fn new(shape: Shape, neighbours: &[Vec<u32>], hosts: Vec<u32>, routers: Vec<u32>) -> Self {
        let mut first_channel = Vec::with_capacity(neighbours.len() + 1);
        let mut peer = Vec::new();
        for ports in neighbours {
            first_channel.push(peer.len() as u32);
            peer.extend_from_slice(ports);
        }
        first_channel.push(peer.len() as u32);
        let (mut reverse, mut link) = (vec![u32::MAX; peer.len()], vec![u32::MAX; peer.len()]);
        let mut channels_of = Vec::with_capacity(peer.len() / 2);
        for (node, ports) in (0u32..).zip(neighbours) {
            for (port, &other) in (0u32..).zip(ports) {
                let channel = first_channel[node as usize] + port;
                if reverse[channel as usize] != u32::MAX {
                    continue;
                }
                // The first port back that has no other end yet.
                let back = (first_channel[other as usize]..first_channel[other as usize + 1])
                    .find(|&back| peer[back as usize] == node && reverse[back as usize] == u32::MAX && back != channel)
                    .expect("every link has two ends");
                (reverse[channel as usize], reverse[back as usize]) = (back, channel);
                (link[channel as usize], link[back as usize]) = (channels_of.len() as u32, channels_of.len() as u32);
                channels_of.push([channel, back]);
            }
        }
        Topology { shape, first_channel, peer, reverse, link, channels_of, hosts, routers }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        (self.first_channel.len() - 1) as u32
    }

    /// How many links there are.
    pub fn links(&self) -> u32 {
        self.channels_of.len() as u32
    }

    /// How many channels there are: two a link.
    pub fn channels(&self) -> u32 {
        self.peer.len() as u32
    }

    /// The channels that leave a node.
    #[inline]
    pub fn channels_from(&self, node: u32) -> Range<u32> {
        self.first_channel[node as usize]..self.first_channel[node as usize + 1]
    }

    /// The node that a channel leads to.
    #[inline]
    pub fn peer(&self, channel: u32) -> u32 {
        self.peer[channel as usize]
    }

    /// The other direction of a channel's link.
    #[inline]
    pub fn reverse(&self, channel: u32) -> u32 {
        self.reverse[channel as usize]
    }

    /// The link that a channel is a direction of.
    #[inline]
    pub fn link_of(&self, channel: u32) -> u32 {
        self.link[channel as usize]
    }

    /// The two channels of a link.
    #[inline]
    pub fn channels_of(&self, link: u32) -> [u32; 2] {
        self.channels_of[link as usize]
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
        let first = self.first_channel[node as usize];
        match &self.shape {
            Shape::Cartesian(cartesian) => cartesian.shortest(node, to, |port| visit(first + port)),
        }
    }

    /// The one channel from `node` to another node `to` by the topology's deterministic routing.
    #[inline]
    pub fn deterministic(&self, node: u32, to: u32) -> u32 {
        let first = self.first_channel[node as usize];
        first
            + match &self.shape {
                Shape::Cartesian(cartesian) => cartesian.deterministic(node, to),
            }
    }

    /// The hops of a shortest way between two nodes.
    pub fn distance(&self, from: u32, to: u32) -> u32 {
        match &self.shape {
            Shape::Cartesian(cartesian) => cartesian.distance(from, to),
        }
    }
}
