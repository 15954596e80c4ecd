//! What nodes are called: `host.12`, `router.3`, `switch.7`.

use std::fmt;

use super::Topology;

/// What a node is called after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A node with a device; its number is its server's.
    Host,
    /// A node where clients enter; its number counts these.
    Router,
    /// Any other node; its number counts these.
    Switch,
}

impl fmt::Display for NodeKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            NodeKind::Host => "host",
            NodeKind::Router => "router",
            NodeKind::Switch => "switch",
        })
    }
}

/// What each node is, and its number among those of its kind.
pub(super) fn kinds(nodes: u32, hosts: &[u32], routers: &[u32]) -> Vec<(NodeKind, u32)> {
    let mut kinds = vec![(NodeKind::Switch, 0); nodes as usize];
    (0..).zip(hosts).for_each(|(number, &node)| kinds[node as usize] = (NodeKind::Host, number));
    (0..).zip(routers).for_each(|(number, &node)| kinds[node as usize] = (NodeKind::Router, number));
    let others = kinds.iter_mut().filter(|(kind, _)| *kind == NodeKind::Switch);
    (0..).zip(others).for_each(|(number, node)| node.1 = number);
    kinds
}

impl Topology {
    /// What a node is, and its number among those of its kind.
    pub fn node_kind(&self, node: u32) -> (NodeKind, u32) {
        self.kinds[node as usize]
    }

    /// A node's name: its kind and its number among those of its kind, such as `switch.7`.
    pub fn node_name(&self, node: u32) -> String {
        let (kind, number) = self.node_kind(node);
        format!("{kind}.{number}")
    }
}
