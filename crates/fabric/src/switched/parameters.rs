//! What a switched fabric's links, switches and packets are like.

use resilver_kernel::lanes::{Lanes, LanesError};
use resilver_units::{Bytes, BytesPerSecond, SimDuration};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use super::event::NODE_LIMIT;
use super::packet::HOP_LIMIT;
use crate::topology::Topology;

/// When a node passes a packet on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forwarding {
    /// When all of it has come in.
    StoreAndForward,
    /// When its head has come in.
    CutThrough,
}

/// How a node chooses a packet's next channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Routing {
    /// Among the channels of the shortest ways that work: the one that is free first, of these the one least used, of these
    /// each in turn. Where none works, the same among all others. Never back to the node that the packet came from.
    Adaptive,
    /// The one channel that the topology names; a packet whose channel has failed is dropped.
    Deterministic,
}

/// How the ports' queues are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queues {
    /// As the time at which each port has sent all that waits: the fast path, for ports of one lane.
    Implicit,
    /// As lists of packets: the plain path, which several lanes need.
    Explicit,
}

/// What a switched fabric's links, switches and packets are like.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchedParameters {
    /// The rate of each link, one way.
    #[serde(rename = "link_rate")]
    pub rate: BytesPerSecond,
    /// The rate of each link by its number; empty where all have `rate`.
    pub link_rates: Vec<BytesPerSecond>,
    /// The time that a bit takes from one end of a link to the other.
    #[serde(rename = "link_latency")]
    pub latency: SimDuration,
    /// The time that a node takes before it passes on what has come in; sources and destinations take none.
    pub switch_latency: SimDuration,
    /// What each packet takes on a link beside its payload.
    pub overhead: Bytes,
    /// The most payload that a packet has.
    pub packet: Bytes,
    /// When a node passes a packet on.
    pub forwarding: Forwarding,
    /// How a node chooses a packet's next channel.
    pub routing: Routing,
    /// Most hops of a packet.
    #[serde(deserialize_with = "or_zero")]
    pub hop_limit: u32,
    /// The lanes of each port.
    #[serde(skip, default = "Lanes::single")]
    pub lanes: Lanes,
    /// How the queues are kept; those of more than one lane are explicit.
    #[serde(skip, default = "implicit")]
    pub queues: Queues,
}

fn implicit() -> Queues {
    Queues::Implicit
}

/// No number is zero.
fn or_zero<'de, D: Deserializer<'de>>(json: D) -> Result<u32, D::Error> {
    Option::<u32>::deserialize(json).map(Option::unwrap_or_default)
}

/// A packet may take this many times the hops of the longest of the shortest ways, and at least as many as an IP packet's
/// time to live can count: one that goes round a failed link may turn for long before it finds its way.
const DIAMETERS: u32 = 4;
const HOPS_MIN: u32 = 255;

impl SwitchedParameters {
    /// The same with a limit of hops that follows from the topology where none is given.
    #[must_use]
    pub fn over(mut self, topology: &Topology) -> Self {
        if self.hop_limit == 0 {
            self.hop_limit = topology.diameter().saturating_mul(DIAMETERS).max(HOPS_MIN);
        }
        self
    }
}

/// Parameters that no fabric has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SwitchedError {
    /// A packet without payload, or with more than can be counted.
    #[error("cluster.fabric.packet = {packet} B: it must be at least 1 B and below 2 GiB")]
    Packet {
        /// The most payload that a packet has, in bytes.
        packet: u64,
    },
    /// Too much beside the payload.
    #[error("cluster.fabric.overhead = {overhead} B: it must be below 2 GiB")]
    Overhead {
        /// What a packet has beside its payload, in bytes.
        overhead: u64,
    },
    /// Lanes that no port has.
    #[error(transparent)]
    Lanes(#[from] LanesError),
    /// Packets that may not move, or move for ever.
    #[error("cluster.fabric.hop_limit = {hop_limit}: it must be from 1 to 16777215")]
    HopLimit {
        /// Most hops of a packet.
        hop_limit: u32,
    },
    /// Rates that are not those of the links.
    #[error("cluster.fabric.link_rates has {rates} rates for {links} links: give one for each link, or none")]
    LinkRates {
        /// Rates given.
        rates: usize,
        /// Links of the topology.
        links: u32,
    },
    /// More nodes than events can name.
    #[error("the topology has {nodes} nodes: a fabric of packets has 268435456 at the most")]
    Nodes {
        /// Nodes of the topology.
        nodes: u32,
    },
}

impl SwitchedParameters {
    /// Whether a fabric of this topology can have these parameters.
    ///
    /// # Errors
    /// When a packet's size, the lanes, the hop limit, the number of rates or of nodes is out of its range.
    pub fn check(&self, topology: &Topology) -> Result<(), SwitchedError> {
        let (packet, overhead) = (self.packet.get(), self.overhead.get());
        if !(1..1 << 31).contains(&packet) {
            return Err(SwitchedError::Packet { packet });
        }
        if overhead >= 1 << 31 {
            return Err(SwitchedError::Overhead { overhead });
        }
        self.lanes.check()?;
        if !(1..=HOP_LIMIT).contains(&self.hop_limit) {
            return Err(SwitchedError::HopLimit { hop_limit: self.hop_limit });
        }
        let (rates, links) = (self.link_rates.len(), topology.links());
        if rates > 0 && rates != links as usize {
            return Err(SwitchedError::LinkRates { rates, links });
        }
        if topology.nodes() > NODE_LIMIT {
            return Err(SwitchedError::Nodes { nodes: topology.nodes() });
        }
        Ok(())
    }
}
