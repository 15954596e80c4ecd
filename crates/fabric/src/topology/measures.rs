//! Measures of a topology: how far its nodes are apart, and how many parts it takes.
//!
//! Hops are those of the shortest ways that [`Topology::distance`] counts. All are exact: in closed form where distances add
//! up over dimensions, and as a sum over one node of each kind that looks at the network alike elsewhere.

use rayon::prelude::*;

use super::{NextHops, NodeKind, Topology};

impl Topology {
    /// The most hops that a shortest way between two nodes has.
    pub fn diameter(&self) -> u32 {
        if let Some(hops) = self.shape.diameter() {
            return hops;
        }
        let Some(alike) = self.shape.representatives() else {
            let farthest = self.over_all_nodes(|_, hops| hops.iter().copied().max().unwrap_or(0).into());
            return farthest.max().unwrap_or(0) as u32;
        };
        let farthest = |(from, _)| (0..self.nodes()).map(|to| self.distance(from, to)).max().unwrap_or(0);
        alike.into_iter().map(farthest).max().unwrap_or(0)
    }

    /// The mean hops of a shortest path between two distinct hosts, over all pairs; nothing where there are fewer than two.
    ///
    /// Switches are no ends: a network gets no shorter paths by more of them.
    ///
    /// ```
    /// // A ring of five: 1, 2, 2 and 1 hops to the others.
    /// let ring = resilver_fabric::topology::torus(&[5], &[])?;
    /// assert_eq!(ring.mean_hops(), Some(1.5));
    /// # Ok::<(), resilver_fabric::topology::TopologyError>(())
    /// ```
    pub fn mean_hops(&self) -> Option<f64> {
        let hosts = &self.hosts;
        if hosts.len() < 2 {
            return None;
        }
        let in_closed_form = self.shape.sum_of_distances(&self.wiring, hosts, hosts);
        let sum =
            in_closed_form.or_else(|| self.sum_between_leaf_hosts()).unwrap_or_else(|| self.sum_between(hosts, hosts));
        Some(sum as f64 / (hosts.len() as f64 * (hosts.len() - 1) as f64))
    }

    /// The sum of hops between all hosts where these are leaves of a network of alike nodes.
    ///
    /// Routers that stand at places of hosts are the only leaves that are no hosts: of the sum over all leaves, which needs one
    /// leaf of each kind, their part is taken away.
    fn sum_between_leaf_hosts(&self) -> Option<u128> {
        let is_leaf = |&node: &u32| self.wiring.radix(node) == 1;
        if !self.hosts.iter().all(is_leaf) {
            return None;
        }
        let is_end = |&(node, _): &(u32, u64)| is_leaf(&node) && self.node_kind(node).0 != NodeKind::Switch;
        let alike: Vec<(u32, u64)> = self.shape.representatives()?.into_iter().filter(is_end).collect();
        let routers: Vec<u32> = self.routers.iter().copied().filter(is_leaf).collect();
        let leaves = [self.hosts.as_slice(), &routers].concat();
        if alike.iter().map(|&(_, nodes)| nodes).sum::<u64>() != leaves.len() as u64 {
            return None;
        }
        let of_kind = |(from, nodes): (u32, u64)| u128::from(nodes) * self.sum_between(&[from], &leaves);
        let all: u128 = alike.into_iter().map(of_kind).sum();
        Some(all + self.sum_between(&routers, &routers) - 2 * self.sum_between(&routers, &leaves))
    }

    /// The sum of hops from each of some nodes to each of others.
    fn sum_between(&self, from: &[u32], to: &[u32]) -> u128 {
        from.par_iter().map(|&node| to.iter().map(|&end| u128::from(self.distance(node, end))).sum::<u128>()).sum()
    }

    /// The mean hops of a shortest way between a router and a host, over all pairs; nothing where there are no routers.
    pub fn mean_router_host_hops(&self) -> Option<f64> {
        let (routers, hosts) = (&self.routers, &self.hosts);
        if routers.is_empty() || hosts.is_empty() {
            return None;
        }
        let in_closed_form = self.shape.sum_of_distances(&self.wiring, routers, hosts);
        let sum = in_closed_form.unwrap_or_else(|| self.sum_between(routers, hosts));
        Some(sum as f64 / (routers.len() as f64 * hosts.len() as f64))
    }

    /// Ports of all nodes: two a link.
    pub fn ports(&self) -> u64 {
        2 * u64::from(self.links())
    }

    /// The most links that one node has.
    pub fn max_radix(&self) -> u32 {
        (0..self.nodes()).map(|node| self.wiring.radix(node)).max().unwrap_or(0)
    }

    /// The nodes that forward packets and are not routers: those with more than one link.
    pub fn switches(&self) -> Vec<u32> {
        let is_switch = |&node: &u32| self.node_kind(node).0 != NodeKind::Router && self.wiring.radix(node) > 1;
        (0..self.nodes()).filter(is_switch).collect()
    }

    /// The links between nodes that forward packets: those none of whose ends has only one link.
    pub fn links_between_switching_nodes(&self) -> Vec<u32> {
        let forwards = |node: u32| self.wiring.radix(node) > 1;
        (0..self.links()).filter(|&link| self.ends(link).into_iter().all(forwards)).collect()
    }

    /// The nodes of the way between two nodes that deterministic routing takes, both ends among them.
    pub fn route(&self, from: u32, to: u32) -> Vec<u32> {
        let mut route = vec![from];
        let mut here = from;
        while here != to {
            here = self.peer(self.deterministic(here, to));
            route.push(here);
        }
        route
    }

    /// What `measure` makes of the hops from each node to all, in parallel.
    fn over_all_nodes<'a>(
        &'a self,
        measure: impl Fn(u32, &[u32]) -> u128 + Sync + Send + 'a,
    ) -> impl ParallelIterator<Item = u128> + 'a {
        (0..self.nodes()).into_par_iter().map(move |node| measure(node, &self.wiring.hops_from(node)))
    }
}
