//! What nodes and links are called: `host.12`, `router.3`, `switch.7`, `host.12-switch.3`.

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

    /// A link's name: those of its ends, such as `host.12-switch.3`; parallel links share it.
    pub fn link_name(&self, link: u32) -> String {
        let [a, b] = self.ends(link);
        format!("{}-{}", self.node_name(a), self.node_name(b))
    }

    /// The node of a name, or nothing where none is called so.
    pub fn node_named(&self, name: &str) -> Option<u32> {
        let (kind, digits) = name.split_once('.')?;
        let number: u32 = digits.parse().ok()?;
        let node = match kind {
            "host" => *self.hosts.get(number as usize)?,
            "router" => *self.routers.get(number as usize)?,
            "switch" => (0..self.nodes()).find(|&node| self.node_kind(node) == (NodeKind::Switch, number))?,
            _ => return None,
        };
        // Numbers are written without signs and leading zeros.
        (self.node_name(node) == name).then_some(node)
    }

    /// The links of a name, its two ends in either order: none, one, or parallel ones in the order of their numbers.
    pub fn links_named(&self, name: &str) -> Vec<u32> {
        let ends = name.split_once('-').and_then(|(a, b)| self.node_named(a).zip(self.node_named(b)));
        let Some((a, b)) = ends else { return Vec::new() };
        let mut links: Vec<u32> = self
            .channels_from(a)
            .filter(|&channel| self.peer(channel) == b)
            .map(|channel| self.link_of(channel))
            .collect();
        links.sort_unstable();
        links
    }
}
