//! A tree of leaves and spines at whose spines clients enter.
//!
//! The network of a storage system stands below that of its clients: each link from there ends at a router of its own, an
//! *entry*, which hangs at a spine as a host hangs at a leaf. Entry r hangs at spine r mod spines, so entries in a row are at
//! different spines.

use super::drawing::{in_levels, middle};
use super::wiring::{PortLists, Wiring};
use super::{Bisection, NextHops, Topology, Tree};

/// A tree of hosts, leaves and spines, with entries behind the spines.
///
/// Nodes are numbered as the tree's, entries after them. A spine's ports lead to its leaves first, then to its entries.
#[derive(Clone, Debug)]
pub struct EntryTree {
    tree: Tree,
    /// The first leaf, the first spine and the first entry.
    first_leaf: u32,
    first_spine: u32,
    first_entry: u32,
    entries: u32,
    /// Links between a leaf and a spine.
    links: u32,
}

impl EntryTree {
    fn leaves(&self) -> u32 {
        self.first_spine - self.first_leaf
    }

    fn spines(&self) -> u32 {
        self.first_entry - self.first_spine
    }

    /// The entry's number, or nothing for a node of the tree.
    #[inline]
    fn entry(&self, node: u32) -> Option<u32> {
        node.checked_sub(self.first_entry)
    }

    /// The spine that an entry is at; a node of the tree is its own.
    #[inline]
    fn in_tree(&self, node: u32) -> u32 {
        self.entry(node).map_or(node, |entry| self.first_spine + entry % self.spines())
    }

    /// A spine's port to one of its entries.
    #[inline]
    fn port_of_entry(&self, entry: u32) -> u32 {
        self.leaves() * self.links + entry / self.spines()
    }
}

impl NextHops for EntryTree {
    #[inline]
    fn shortest(&self, wiring: &Wiring, node: u32, to: u32, mut visit: impl FnMut(u32)) {
        let (here, there) = (self.in_tree(node), self.in_tree(to));
        if here != node {
            visit(0);
        } else if here != there {
            self.tree.shortest(wiring, here, there, visit);
        } else if let Some(entry) = self.entry(to) {
            visit(self.port_of_entry(entry));
        }
    }

    /// D-mod-K to hosts, leaves and spines; to an entry the way is that to its spine.
    ///
    /// Among parallel links to that spine the entry's number at the spine chooses by its remainder, so that the entries of a
    /// spine share them; from another spine, whose ways are over all leaves, the entry's number does.
    #[inline]
    fn deterministic(&self, wiring: &Wiring, node: u32, to: u32) -> u32 {
        let (here, there) = (self.in_tree(node), self.in_tree(to));
        if here != node {
            return 0;
        }
        let Some(entry) = self.entry(to) else { return self.tree.deterministic(wiring, here, there) };
        if here == there {
            self.port_of_entry(entry)
        } else if here < self.first_leaf {
            0
        } else if here < self.first_spine {
            there - self.first_spine + entry / self.spines() % self.links * self.spines()
        } else {
            entry % (self.leaves() * self.links)
        }
    }

    #[inline]
    fn distance(&self, wiring: &Wiring, from: u32, to: u32) -> u32 {
        if from == to {
            return 0;
        }
        let beside = u32::from(self.entry(from).is_some()) + u32::from(self.entry(to).is_some());
        beside + self.tree.distance(wiring, self.in_tree(from), self.in_tree(to))
    }

    /// One node of each level and an entry, with how many are alike.
    fn representatives(&self) -> Option<Vec<(u32, u64)>> {
        let mut alike = self.tree.representatives()?;
        alike.push((self.first_entry, u64::from(self.entries)));
        Some(alike)
    }

    fn table_entries(&self) -> usize {
        self.tree.table_entries()
    }

    fn bisection(&self, topology: &Topology) -> Bisection {
        topology.halves_of_levels(&self.tree.levels(), true)
    }

    /// Three rows of the tree and one of the entries above them, those of one spine beside each other.
    fn position(&self, _: &Topology, node: u32) -> [f64; 2] {
        let [x, y] = match self.entry(node) {
            None => in_levels(&self.tree.levels(), node),
            Some(entry) => {
                let each = self.entries / self.spines();
                [middle(entry % self.spines() * each + entry / self.spines(), self.entries), 7.0 / 6.0]
            }
        };
        [x, y * 0.75]
    }
}

/// The topology of a tree of leaves and spines, given with its ports and with `links` between a leaf and a spine, at each of
/// whose spines there are `entries_per_spine` routers.
pub(super) fn with_entries(tree: Tree, ports: PortLists, links: u32, entries_per_spine: u32) -> Topology {
    let levels = tree.levels();
    let [hosts, leaves, spines] = [0, 1, 2].map(|level: usize| levels[level].clone());
    let (first_entry, width) = (spines.end, spines.end - spines.start);
    let entries = width * entries_per_spine;
    let mut ports = ports.with_more(|node| {
        let at = if spines.contains(&node) { node - spines.start..entries } else { 0..0 };
        at.step_by(width as usize).map(|entry| first_entry + entry)
    });
    (0..entries).for_each(|entry| ports.add([spines.start + entry % width]));
    let shape = EntryTree { tree, first_leaf: leaves.start, first_spine: spines.start, first_entry, entries, links };
    let routers = (first_entry..first_entry + entries).collect();
    Topology::new(shape, ports, hosts.collect(), routers)
}
