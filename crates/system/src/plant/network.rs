//! What a system has to know of its fabric beyond carrying messages.

use resilver_fabric::{Fabric, InterfaceUse, LogGp, NetworkUse, Switched};
use resilver_kernel::lanes::LaneUse;
use resilver_units::{EndpointId, SimTime};

use crate::checker::{ConservationError, hold};

/// A fabric that tells what it did.
pub trait Network: Fabric {
    /// The node of an endpoint, where the fabric has nodes.
    fn node_of(&self, endpoint: EndpointId) -> Option<u32>;

    /// Whether an endpoint can send and receive: its node and one of its links at least work.
    fn works(&self, endpoint: EndpointId) -> bool;

    /// Whether a node has not failed, whatever became of its links.
    fn is_up(&self, node: u32) -> bool {
        let _ = node;
        true
    }

    /// What each endpoint's interface did from the beginning of statistics to `now`, where the fabric is one of interfaces.
    fn interfaces(&self, now: SimTime) -> Vec<InterfaceUse>;

    /// What the lanes of interfaces did from the beginning of statistics to `now`, where there are several.
    fn interface_lanes(&self, now: SimTime) -> Vec<LaneUse> {
        let _ = now;
        Vec::new()
    }

    /// What links and packets did from the beginning of statistics to `now`, where the fabric has them.
    fn network(&self, now: SimTime) -> Option<NetworkUse>;

    /// Packets dropped since time zero.
    fn packets_dropped(&self) -> u64;
}

impl Network for LogGp {
    fn node_of(&self, _: EndpointId) -> Option<u32> {
        None
    }

    fn works(&self, _: EndpointId) -> bool {
        true
    }

    fn interfaces(&self, now: SimTime) -> Vec<InterfaceUse> {
        self.uses(now)
    }

    fn interface_lanes(&self, now: SimTime) -> Vec<LaneUse> {
        self.lane_uses(now)
    }

    fn network(&self, _: SimTime) -> Option<NetworkUse> {
        None
    }

    fn packets_dropped(&self) -> u64 {
        0
    }
}

impl Network for Switched {
    fn node_of(&self, endpoint: EndpointId) -> Option<u32> {
        Some(self.topology().node_of(endpoint))
    }

    fn works(&self, endpoint: EndpointId) -> bool {
        self.is_linked(self.topology().node_of(endpoint))
    }

    fn is_up(&self, node: u32) -> bool {
        Switched::is_up(self, node)
    }

    fn interfaces(&self, _: SimTime) -> Vec<InterfaceUse> {
        Vec::new()
    }

    fn network(&self, now: SimTime) -> Option<NetworkUse> {
        Some(self.report(now))
    }

    fn packets_dropped(&self) -> u64 {
        self.conservation().dropped
    }
}

/// Holds what the network did to the laws of conservation.
///
/// # Errors
/// When a law is broken, which is a bug.
pub(crate) fn check_network(network: &NetworkUse, window: u64) -> Result<(), ConservationError> {
    let total = network.total;
    let busiest = network.channels.iter().map(|channel| channel.busy.picoseconds()).max().unwrap_or(0);
    hold([
        (
            "every packet sent is delivered, dropped or under way",
            total.sent,
            total.delivered + total.dropped + total.under_way,
        ),
        ("every packet delivered has taken some number of hops", network.packets_delivered, network.hops.iter().sum()),
        ("no channel is busier than the time allows", busiest.max(window), window),
    ])
}
