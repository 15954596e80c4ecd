//! Any graph: hops to every endpoint are tabled, found by breadth-first search.

use rayon::prelude::*;

use serde::Deserialize;

use super::cut::best_cut;
use super::drawing::on_circle;
use super::error::{check_size, refuse};
use super::structure::Build;
use super::wiring::{PortLists, Wiring};
use super::{Bisection, NextHops, Topology, TopologyError};

/// Nodes by endpoints at most: the table has an entry for each.
const ENTRIES_MAX: u64 = 1 << 30;

/// Hops in as few bytes as hold them.
#[derive(Clone, Debug)]
enum Rows {
    Narrow(Vec<u8>),
    Wide(Vec<u16>),
}

/// A graph's distances to its endpoints.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The row of each endpoint: hops to it from every node.
    row_of: Vec<u32>,
    rows: Rows,
    /// Where each node is drawn, where the graph says so.
    positions: Option<Vec<[f64; 2]>>,
}

const NO_ROW: u32 = u32::MAX;

/// A graph as it is given: nodes by number, links by their ends, parallel ones as often as there are.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphLinks {
    /// How many nodes there are.
    pub nodes: u32,
    /// The two ends of each link; link i of the topology is link i here.
    pub links: Vec<[u32; 2]>,
    /// The nodes with devices, in the order of their servers.
    pub hosts: Vec<u32>,
    /// The nodes where clients enter.
    #[serde(default)]
    pub routers: Vec<u32>,
    /// Where each node is drawn, x and y from 0 to 1, where this is known.
    pub positions: Option<Vec<[f64; 2]>>,
}

impl Graph {
    /// Hops from `node` to the endpoint of `row`.
    #[inline]
    fn hops(&self, row: u32, node: u32) -> u32 {
        let index = row as usize * self.row_of.len() + node as usize;
        match &self.rows {
            Rows::Narrow(rows) => u32::from(rows[index]),
            Rows::Wide(rows) => u32::from(rows[index]),
        }
    }
}

impl NextHops for Graph {
    #[inline]
    fn shortest(&self, wiring: &Wiring, node: u32, to: u32, mut visit: impl FnMut(u32)) {
        let row = self.row_of[to as usize];
        if row == NO_ROW {
            // No packet is sent to a switch; measures and drawings may still ask.
            let hops = wiring.hops_from(to);
            for (port, &other) in (0..).zip(wiring.neighbours(node)) {
                if hops[other as usize] < hops[node as usize] {
                    visit(port);
                }
            }
            return;
        }
        let hops = self.hops(row, node);
        for (port, &other) in (0..).zip(wiring.neighbours(node)) {
            if self.hops(row, other) < hops {
                visit(port);
            }
        }
    }

    /// The destination's number chooses among the ports of the shortest ways by its remainder.
    #[inline]
    fn deterministic(&self, wiring: &Wiring, node: u32, to: u32) -> u32 {
        let mut count = 0;
        self.shortest(wiring, node, to, |_| count += 1);
        let chosen = to % count.max(1);
        let (mut seen, mut found) = (0, 0);
        self.shortest(wiring, node, to, |port| {
            if seen == chosen {
                found = port;
            }
            seen += 1;
        });
        found
    }

    fn distance(&self, wiring: &Wiring, from: u32, to: u32) -> u32 {
        match (self.row_of[to as usize], self.row_of[from as usize]) {
            (NO_ROW, NO_ROW) => wiring.hops_from(to)[from as usize],
            (NO_ROW, row) => self.hops(row, to),
            (row, _) => self.hops(row, from),
        }
    }

    fn table_entries(&self) -> usize {
        self.row_of.len()
            + match &self.rows {
                Rows::Narrow(rows) => rows.len(),
                Rows::Wide(rows) => rows.len(),
            }
    }

    fn bisection(&self, topology: &Topology) -> Bisection {
        let mut is_endpoint = vec![false; topology.nodes() as usize];
        topology.hosts.iter().chain(&topology.routers).for_each(|&node| is_endpoint[node as usize] = true);
        Bisection { links: best_cut(&topology.wiring, &is_endpoint), is_exact: false }
    }

    /// As the graph says, or around a circle.
    fn position(&self, topology: &Topology, node: u32) -> [f64; 2] {
        match &self.positions {
            Some(positions) => positions[node as usize],
            None => on_circle([0.5, 0.5], 0.5, f64::from(node) / f64::from(topology.nodes())),
        }
    }
}

/// That the graph names nodes which there are, and each endpoint once.
fn check(graph: &GraphLinks) -> Result<(), TopologyError> {
    let nodes = graph.nodes;
    check_size("nodes", nodes, Some(u64::from(nodes)), Some(graph.links.len() as u64))?;
    if nodes < 2 {
        return refuse("nodes", nodes, "a network has two nodes or more", "give the nodes and the links between them");
    }
    for (number, &[a, b]) in graph.links.iter().enumerate() {
        if a >= nodes || b >= nodes || a == b {
            let rule = format!("a link joins two different nodes from 0 to {}", nodes - 1);
            return refuse("links", format!("[{a}, {b}] (link {number})"), rule, "correct the link or leave it out");
        }
    }
    if graph.hosts.is_empty() {
        return refuse("hosts", "[]", "a node or more has a device", "name the nodes with devices");
    }
    let mut is_endpoint = vec![false; nodes as usize];
    for (field, endpoints) in [("hosts", &graph.hosts), ("routers", &graph.routers)] {
        for &node in endpoints {
            match is_endpoint.get_mut(node as usize) {
                Some(taken) if !*taken => *taken = true,
                Some(_) => return refuse(field, node, "a node is host or router, and once", "name it in one place"),
                None => {
                    let rule = format!("nodes are numbered from 0 to {}", nodes - 1);
                    return refuse(field, node, rule, "correct the number");
                }
            }
        }
    }
    let drawn = graph.positions.as_ref().map_or(nodes as usize, Vec::len);
    if drawn != nodes as usize {
        return refuse("positions", drawn, format!("each of {nodes} nodes has one"), "give as many, or none");
    }
    let entries = u64::from(nodes) * (graph.hosts.len() + graph.routers.len()) as u64;
    if entries > ENTRIES_MAX {
        let rule = format!("nodes times endpoints are at most {ENTRIES_MAX}, for a table of distances");
        return refuse("nodes", nodes, rule, "name fewer hosts and routers, or a topology with a structure");
    }
    Ok(())
}

impl Build for GraphLinks {
    fn build(&self, _seed: u64) -> Result<Topology, TopologyError> {
        graph(self.clone())
    }
}

/// Any graph.
///
/// # Errors
/// When it names what is not there, does not hang together, or would need too large a table.
pub fn graph(graph: GraphLinks) -> Result<Topology, TopologyError> {
    check(&graph)?;
    let GraphLinks { nodes, links, hosts, routers, positions } = graph;
    let mut neighbours = vec![Vec::new(); nodes as usize];
    for &[a, b] in &links {
        neighbours[a as usize].push(b);
        neighbours[b as usize].push(a);
    }
    let mut ports = PortLists::default();
    neighbours.into_iter().for_each(|around| ports.add(around));
    let mut wiring = Wiring::new(ports);
    wiring.number_links(&links);
    if let Some(node) = wiring.hops_from(0).iter().position(|&hops| hops == u32::MAX) {
        return Err(TopologyError::Disconnected { links: links.len(), node: node as u32 });
    }

    let endpoints: Vec<u32> = hosts.iter().chain(&routers).copied().collect();
    let mut row_of = vec![NO_ROW; nodes as usize];
    (0..).zip(&endpoints).for_each(|(row, &node)| row_of[node as usize] = row);
    let mut wide = vec![0u16; nodes as usize * endpoints.len()];
    let rows = wide.par_chunks_mut(nodes as usize).zip(&endpoints);
    let longest = rows.map(|(row, &node)| {
        let hops = wiring.hops_from(node);
        row.iter_mut().zip(&hops).for_each(|(entry, &hops)| *entry = hops.min(u32::from(u16::MAX)) as u16);
        hops.into_iter().max().unwrap_or(0)
    });
    let longest = longest.max().unwrap_or(0);
    if longest >= u32::from(u16::MAX) {
        return refuse(
            "links",
            links.len(),
            format!("the longest way has {longest} hops, of at most 65534"),
            "add links",
        );
    }
    let rows = if longest <= u32::from(u8::MAX) {
        Rows::Narrow(wide.into_iter().map(|hops| hops as u8).collect())
    } else {
        Rows::Wide(wide)
    };
    Ok(Topology::of_wiring(Graph { row_of, rows, positions }, wiring, hosts, routers))
}
