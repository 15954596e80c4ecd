//! The structures of networks by their names, each with what it needs to be built.

use serde::Deserialize;

use super::error::refuse;
use super::{
    GraphLinks, NODES_MAX, RimWiring, Topology, TopologyError, butterfly, clos_sizes, dragonfly, dragonfly_hosts,
    draw_routers, fat_tree, folded_clos, graph, hypercube, leaf_spine, leaf_spine_with_entries, mesh, mesh_with_rim,
    torus,
};

/// A network that is not built yet: its kind with what that kind needs. Routers, unless they are wired otherwise, take places
/// that are drawn.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the fields are the arguments of the functions that build each kind")]
pub enum Structure {
    Torus {
        sides: Vec<u32>,
        #[serde(default)]
        routers: u32,
        #[serde(default)]
        wiring: RouterPlaces,
    },
    Mesh {
        sides: Vec<u32>,
        #[serde(default)]
        routers: u32,
        #[serde(default)]
        wiring: RouterPlaces,
    },
    Hypercube {
        dimensions: u32,
        #[serde(default)]
        routers: u32,
    },
    Butterfly {
        radix: u32,
        levels: u32,
        hosts_per_switch: u32,
    },
    /// By the sizes of its levels, or by the ports of its switches.
    FatTree {
        sizes: Option<Vec<u32>>,
        uplinks: Option<Vec<u32>>,
        routers_at: Option<u32>,
        levels: Option<u32>,
        ports: Option<u32>,
        taper: Option<u32>,
        routers: Option<u32>,
    },
    /// With routers at places of hosts, or some at each spine.
    LeafSpine {
        leaves: u32,
        spines: u32,
        hosts_per_leaf: u32,
        #[serde(default = "one")]
        links: u32,
        #[serde(default)]
        routers: u32,
        #[serde(default)]
        entries_per_spine: u32,
    },
    Dragonfly {
        groups: u32,
        routers_per_group: u32,
        hosts_per_router: u32,
        global_links: u32,
        #[serde(default)]
        routers: u32,
    },
    Graph {
        nodes: u32,
        links: Vec<[u32; 2]>,
        hosts: Vec<u32>,
        #[serde(default)]
        routers: Vec<u32>,
        positions: Option<Vec<[f64; 2]>>,
    },
}

/// Where the routers of a grid are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RouterPlaces {
    /// At nodes of the grid, drawn.
    #[default]
    Inside,
    /// Outside of a mesh.
    #[serde(untagged)]
    Rim(RimWiring),
}

fn one() -> u32 {
    1
}

/// Routers at random places of a grid of these sides; none where the grid is not one that can be built, which it then says
/// itself.
fn inside(sides: &[u32], routers: u32, seed: u64) -> Result<Vec<u32>, TopologyError> {
    let nodes = sides.iter().try_fold(1u32, |nodes, &side| nodes.checked_mul(side));
    match nodes.filter(|&nodes| nodes > 1 && u64::from(nodes) <= NODES_MAX) {
        Some(places) => draw_routers(places, routers, seed),
        None => Ok(Vec::new()),
    }
}

impl Structure {
    /// The network; `seed` decides where routers are that take places at random.
    ///
    /// # Errors
    /// When a number is out of its range, or the parts do not go together.
    pub fn build(&self, seed: u64) -> Result<Topology, TopologyError> {
        match self {
            Structure::Torus { sides, routers, wiring: RouterPlaces::Inside } => {
                torus(sides, &inside(sides, *routers, seed)?)
            }
            Structure::Torus { .. } => refuse(
                "wiring",
                "of a torus",
                "a torus has no sides at which routers could be joined",
                "take the wiring \"inside\", or a mesh",
            ),
            Structure::Mesh { sides, routers, wiring: RouterPlaces::Inside } => {
                mesh(sides, &inside(sides, *routers, seed)?)
            }
            Structure::Mesh { sides, routers, wiring: RouterPlaces::Rim(rim) } => mesh_with_rim(sides, *rim, *routers),
            Structure::Hypercube { dimensions, routers } => {
                let places = if *dimensions <= 24 { 1 << dimensions } else { 0 };
                hypercube(*dimensions, &inside(&[places], *routers, seed)?)
            }
            &Structure::Butterfly { radix, levels, hosts_per_switch } => butterfly(radix, levels, hosts_per_switch),
            Structure::FatTree { .. } => self.fat_tree(seed),
            &Structure::LeafSpine { leaves, spines, hosts_per_leaf, links, routers, entries_per_spine } => {
                match (routers, entries_per_spine) {
                    (routers, 0) => leaf_spine(leaves, spines, hosts_per_leaf, links, routers),
                    (0, entries) => leaf_spine_with_entries(leaves, spines, hosts_per_leaf, links, entries),
                    (routers, _) => refuse(
                        "routers",
                        routers,
                        "clients enter at spines, or at places of hosts",
                        "leave out routers or entries_per_spine",
                    ),
                }
            }
            &Structure::Dragonfly { groups, routers_per_group, hosts_per_router, global_links, routers } => {
                let places = dragonfly_hosts(groups, routers_per_group, hosts_per_router, global_links)?;
                let drawn = draw_routers(places, routers, seed)?;
                dragonfly(groups, routers_per_group, hosts_per_router, global_links, &drawn)
            }
            Structure::Graph { nodes, links, hosts, routers, positions } => graph(GraphLinks {
                nodes: *nodes,
                links: links.clone(),
                hosts: hosts.clone(),
                routers: routers.clone(),
                positions: positions.clone(),
            }),
        }
    }

    fn fat_tree(&self, seed: u64) -> Result<Topology, TopologyError> {
        match self {
            Structure::FatTree {
                sizes: Some(sizes),
                uplinks: Some(uplinks),
                routers_at,
                levels: None,
                ports: None,
                taper: None,
                routers: None,
            } => fat_tree(sizes, uplinks, *routers_at),
            &Structure::FatTree {
                sizes: None,
                uplinks: None,
                routers_at: None,
                levels: Some(levels),
                ports: Some(ports),
                taper,
                routers,
            } => {
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
