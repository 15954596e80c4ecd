//! Fat trees whose subtrees nest: levels of nodes in groups, each group joined to all nodes above it.
//!
//! With u uplinks a node below a level of n nodes: where u is n or more, every node is joined to all n, by u / n links each;
//! otherwise the lower level is cut into n / u groups of neighbours, and each group is joined to u nodes of its own. Two-level
//! fabrics of leaves and spines are the case of two such gaps.

use serde::Deserialize;

use super::clos::{clos_sizes, folded_clos};
use super::drawing::in_levels;
use super::error::{check_size, joined, refuse};
use super::places::{draw_routers, hosts_beside};
use super::structure::Build;
use super::wiring::{PortLists, Wiring};
use super::{Bisection, NextHops, Topology, TopologyError};

/// What joins one level to the next: groups in which every lower node is joined to every upper one.
#[derive(Clone, Copy, Debug)]
struct Gap {
    groups: u32,
    /// Nodes of a group below and above.
    lower: u32,
    upper: u32,
    /// Links between a lower and an upper node.
    copies: u32,
}

/// Ports that lead the same way: `width` in a row, and again `copies` - 1 times at every `pitch`.
#[derive(Clone, Copy, Debug, Default)]
struct Ports {
    start: u32,
    width: u32,
    copies: u32,
    pitch: u32,
}

impl Ports {
    fn count(self) -> u32 {
        self.width * self.copies
    }

    fn at(self, index: u32) -> u32 {
        self.start + index / self.width * self.pitch + index % self.width
    }
}

/// The levels of a fat tree.
///
/// Nodes are numbered level by level from the hosts up. Ports of a node lead first up, in the order of the nodes there, one
/// copy of parallel links behind another's, then down likewise.
#[derive(Clone, Debug)]
pub struct Tree {
    gaps: Vec<Gap>,
    uplinks: Vec<u32>,
    /// The first node of each level, and the end.
    first: Vec<u32>,
    /// The level of each node.
    level: Vec<u8>,
    /// The group that each node, or what is above it, belongs to in each gap, one node's behind another's; in the gap below
    /// a node the group it is above of; nothing in gaps further below.
    groups: Vec<u32>,
    /// The uplinks of the levels below each level multiplied: a number is divided by it before the next uplink is chosen.
    divisor: Vec<u32>,
}

const NO_GROUP: u32 = u32::MAX;

/// The gaps between levels of these sizes, after all rules that they must keep.
fn gaps_between(sizes: &[u32], uplinks: &[u32]) -> Result<Vec<Gap>, TopologyError> {
    if !(2..=8).contains(&sizes.len()) || sizes.contains(&0) {
        let rule = "a fat tree has 2 to 8 levels of a node or more";
        return refuse("sizes", joined(sizes), rule, "give the sizes from the hosts up, such as [4096, 128, 64, 32]");
    }
    if uplinks.len() + 1 != sizes.len() || uplinks.contains(&0) {
        let rule = format!("each of the {} levels below the top has uplinks", sizes.len() - 1);
        return refuse("uplinks", joined(uplinks), rule, "give one number, 1 or more, for each of them");
    }
    let mut gaps: Vec<Gap> = Vec::new();
    for (pair, &up) in sizes.windows(2).zip(uplinks) {
        let (below, above) = (pair[0], pair[1]);
        let groups = if up >= above { 1 } else { above / up };
        if if up >= above { up % above != 0 } else { above % up != 0 || below % groups != 0 } {
            let rule = format!(
                "{up} uplinks from {below} nodes to {above}: uplinks are a multiple of the nodes above, or divide them into \
                 groups that divide the nodes below"
            );
            return refuse("uplinks", joined(uplinks), rule, "choose sizes and uplinks that divide");
        }
        if gaps.last().is_some_and(|gap| !gap.groups.is_multiple_of(groups)) {
            let rule = format!("{groups} groups do not each hold whole groups of the gap below: subtrees nest");
            return refuse(
                "uplinks",
                joined(uplinks),
                rule,
                "let the groups of each gap divide those of the gap below it",
            );
        }
        gaps.push(Gap { groups, lower: below / groups, upper: above / groups, copies: (up / above).max(1) });
    }
    if gaps.last().is_some_and(|gap| gap.groups > 1) {
        let rule = "the nodes below the top are joined to all of its nodes, or the tree falls apart";
        return refuse(
            "uplinks",
            joined(uplinks),
            rule,
            "give the last level below the top an uplink to each top node",
        );
    }
    Ok(gaps)
}

impl Tree {
    pub(super) fn new(sizes: &[u32], uplinks: &[u32]) -> Result<(Self, PortLists), TopologyError> {
        let gaps = gaps_between(sizes, uplinks)?;
        let nodes = sizes.iter().map(|&size| u64::from(size)).sum();
        let mut below = sizes.iter().zip(uplinks);
        let links = below.try_fold(0u64, |links, (&size, &up)| links.checked_add(u64::from(size) * u64::from(up)));
        check_size("sizes", joined(sizes), Some(nodes), links)?;
        let mut first = vec![0u32];
        let mut divisor = vec![1u32];
        for (level, &size) in sizes.iter().enumerate() {
            first.push(first[level] + size);
            divisor.push(divisor[level].saturating_mul(uplinks.get(level).copied().unwrap_or(1)));
        }
        let (mut level_of, mut groups) = (Vec::new(), Vec::new());
        let mut ports = PortLists::default();
        for (level, &size) in sizes.iter().enumerate() {
            for index in 0..size {
                level_of.push(level as u8);
                let start = groups.len();
                groups.resize(start + gaps.len(), NO_GROUP);
                let mut around = Vec::new();
                let mut at = index;
                for (number, gap) in gaps.iter().enumerate().skip(level) {
                    let group = at / gap.lower;
                    groups[start + number] = group;
                    // Any node above stands for all of its group: subtrees nest.
                    at = group * gap.upper;
                    if number == level {
                        let above = first[level + 1] + group * gap.upper;
                        (0..gap.copies).for_each(|_| around.extend(above..above + gap.upper));
                    }
                }
                if level > 0 {
                    let gap = gaps[level - 1];
                    let group = index / gap.upper;
                    groups[start + level - 1] = group;
                    let below = first[level - 1] + group * gap.lower;
                    (0..gap.copies).for_each(|_| around.extend(below..below + gap.lower));
                }
                ports.add(around);
            }
        }
        Ok((Tree { gaps, uplinks: uplinks.to_vec(), first, level: level_of, groups, divisor }, ports))
    }

    #[inline]
    fn group(&self, node: u32, gap: usize) -> u32 {
        self.groups[node as usize * self.gaps.len() + gap]
    }

    /// Ports up from a node of a level.
    #[inline]
    fn ups(&self, level: usize) -> u32 {
        self.uplinks.get(level).copied().unwrap_or(0)
    }

    /// The ports that begin a shortest way: of one direction, and of the other where both do.
    ///
    /// A way climbs to the lowest group that is above both ends and descends from it. Two nodes above the same group are also
    /// joined by every node below.
    #[inline]
    fn ways(&self, node: u32, to: u32) -> [Ports; 2] {
        let (level, end) = (usize::from(self.level[node as usize]), usize::from(self.level[to as usize]));
        let none = Ports::default();
        let up = Ports { start: 0, width: self.ups(level), copies: 1, pitch: 0 };
        if level > 0 && level >= end && self.group(node, level - 1) == self.group(to, level - 1) {
            let (gap, group) = (self.gaps[level - 1], self.group(node, level - 1));
            let (start, pitch) = (up.width, gap.lower);
            if level == end {
                return [up, Ports { start, width: gap.lower * gap.copies, copies: 1, pitch: 0 }];
            }
            if level == end + 1 {
                let index = to - self.first[end] - group * gap.lower;
                return [Ports { start: start + index, width: 1, copies: gap.copies, pitch }, none];
            }
            let upper = self.gaps[level - 2].upper;
            let index = self.group(to, level - 2) * upper - group * gap.lower;
            return [Ports { start: start + index, width: upper, copies: gap.copies, pitch }, none];
        }
        if level + 1 == end && self.group(node, level) == self.group(to, level) {
            let gap = self.gaps[level];
            let index = to - self.first[end] - self.group(to, level) * gap.upper;
            return [Ports { start: index, width: 1, copies: gap.copies, pitch: gap.upper }, none];
        }
        [up, none]
    }

    /// The nodes of each level, from the hosts up.
    pub(super) fn levels(&self) -> Vec<std::ops::Range<u32>> {
        self.first.windows(2).map(|pair| pair[0]..pair[1]).collect()
    }
}

impl NextHops for Tree {
    #[inline]
    fn shortest(&self, _: &Wiring, node: u32, to: u32, mut visit: impl FnMut(u32)) {
        for ports in self.ways(node, to) {
            for copy in 0..ports.copies {
                let start = ports.start + copy * ports.pitch;
                (start..start + ports.width).for_each(&mut visit);
            }
        }
    }

    /// D-mod-K: the destination's number in its level, divided by the uplinks of all levels below this one, chooses among the
    /// ports that begin a shortest way by its remainder.
    ///
    /// Going up from level l of u(0), u(1), ... uplinks to host d that is port (d / (u(0) ... u(l - 1))) mod u(l), so that all
    /// packets to one host meet at one top node and hosts share the top nodes evenly (Zahavi, "Fat-tree routing and node
    /// ordering providing contention free traffic for MPI global collectives", 2012).
    #[inline]
    fn deterministic(&self, _: &Wiring, node: u32, to: u32) -> u32 {
        let (level, end) = (usize::from(self.level[node as usize]), usize::from(self.level[to as usize]));
        let ways = self.ways(node, to);
        let number = (to - self.first[end]) / self.divisor[level] % (ways[0].count() + ways[1].count());
        if number < ways[0].count() { ways[0].at(number) } else { ways[1].at(number - ways[0].count()) }
    }

    #[inline]
    fn distance(&self, _: &Wiring, from: u32, to: u32) -> u32 {
        if from == to {
            return 0;
        }
        let (a, b) = (usize::from(self.level[from as usize]), usize::from(self.level[to as usize]));
        let (low, high) = (a.min(b), a.max(b));
        if high > 0 && self.group(from, high - 1) == self.group(to, high - 1) {
            return if low == high { 2 } else { (high - low) as u32 };
        }
        let meets = |&gap: &usize| self.group(from, gap) == self.group(to, gap);
        // The last gap has one group.
        let turn = (high..self.gaps.len()).find(meets).map_or(high, |gap| gap + 1);
        (2 * turn - low - high) as u32
    }

    /// One node of each level, which all look alike, with how many they are.
    fn representatives(&self) -> Option<Vec<(u32, u64)>> {
        Some(self.levels().into_iter().map(|level| (level.start, u64::from(level.end - level.start))).collect())
    }

    fn table_entries(&self) -> usize {
        self.level.len() + self.groups.len() + self.first.len() + self.divisor.len() + 4 * self.gaps.len()
    }

    fn bisection(&self, topology: &Topology) -> Bisection {
        topology.halves_of_levels(&self.levels(), true)
    }

    /// Rows with the hosts at the bottom.
    fn position(&self, _: &Topology, node: u32) -> [f64; 2] {
        in_levels(&self.levels(), node)
    }
}

/// A fat tree by its keys: the sizes of its levels, or the ports of its switches.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FatTreeKeys {
    sizes: Option<Vec<u32>>,
    uplinks: Option<Vec<u32>>,
    routers_at: Option<u32>,
    levels: Option<u32>,
    ports: Option<u32>,
    taper: Option<u32>,
    routers: Option<u32>,
}

impl Build for FatTreeKeys {
    fn build(&self, seed: u64) -> Result<Topology, TopologyError> {
        let Self { routers_at, levels, ports, taper, routers, .. } = *self;
        match (&self.sizes, &self.uplinks, levels, ports) {
            (Some(sizes), Some(uplinks), None, None) if taper.is_none() && routers.is_none() => {
                fat_tree(sizes, uplinks, routers_at)
            }
            (None, None, Some(levels), Some(ports)) if routers_at.is_none() => {
                let taper = taper.unwrap_or(1);
                let (places, _) = clos_sizes(levels, ports, taper)?;
                folded_clos(levels, ports, taper, &draw_routers(places, routers.unwrap_or(0), seed)?)
            }
            _ => refuse(
                "kind",
                "fat_tree",
                "a fat tree has sizes and uplinks, with routers_at, or levels and ports, with taper and routers",
                "give the keys of one of the two forms alone",
            ),
        }
    }
}

/// A fat tree of levels of these sizes from the hosts up, with these uplinks a node; the nodes of level `routers_at` are
/// where clients enter, the nodes of level 0 have devices.
///
/// # Errors
/// When sizes and uplinks do not divide, subtrees do not nest, the top does not join all, or level `routers_at` is none.
pub fn fat_tree(sizes: &[u32], uplinks: &[u32], routers_at: Option<u32>) -> Result<Topology, TopologyError> {
    let (tree, ports) = Tree::new(sizes, uplinks)?;
    let levels = tree.levels();
    let routers = match routers_at.map(|level| (level, levels.get(level as usize))) {
        None => Vec::new(),
        Some((1.., Some(level))) => level.clone().collect(),
        Some((level, _)) => {
            let rule = format!("the tree has levels 1 to {} above its hosts", levels.len() - 1);
            return refuse("routers_at", level, rule, "name one of them, or leave it out for none");
        }
    };
    let hosts = levels[0].clone().collect();
    Ok(Topology::new(tree, ports, hosts, routers))
}

/// A fat tree of levels of these sizes from the hosts up, in which the places of level 0 in `routers` are where clients enter
/// and all others have a device.
///
/// # Errors
/// When sizes and uplinks do not divide, subtrees do not nest, the top does not join all, or no place is left for a device.
pub(super) fn tree_of_places(sizes: &[u32], uplinks: &[u32], routers: &[u32]) -> Result<Topology, TopologyError> {
    let (tree, ports) = Tree::new(sizes, uplinks)?;
    let hosts = hosts_beside(sizes[0], routers)?;
    Ok(Topology::new(tree, ports, hosts, routers.to_vec()))
}
