//! Topologies for Python: from their JSON, with measures, names and drawings.

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use resilver_fabric::topology::{
    GraphLinks, RimWiring, TopologyError, butterfly, clos_sizes, dragonfly, dragonfly_hosts, draw_routers, fat_tree,
    folded_clos, graph, hypercube, leaf_spine, leaf_spine_with_entries, mesh, mesh_with_rim, torus,
};
use serde::Deserialize;

use crate::errors::config_error;

/// A topology: its kind with what that kind needs.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
pub enum TopologyJson {
    Torus {
        sides: Vec<u32>,
        #[serde(default)]
        routers: u32,
        #[serde(default)]
        wiring: WiringJson,
    },
    Mesh {
        sides: Vec<u32>,
        #[serde(default)]
        routers: u32,
        #[serde(default)]
        wiring: WiringJson,
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
    LeafSpine {
        leaves: u32,
        spines: u32,
        hosts_per_leaf: u32,
        #[serde(default = "one")]
        links: u32,
        #[serde(default)]
        routers: u32,
        /// Routers at each spine, in place of such that take places of hosts.
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
#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum WiringJson {
    #[default]
    Inside,
    CornerSides,
    OppositeSides,
    Perimeter,
}

fn one() -> u32 {
    1
}

/// The product of a grid's sides, for drawing places; what is too large or too small the grid itself refuses.
fn places_of(sides: &[u32]) -> u32 {
    let nodes = sides.iter().try_fold(1u32, |nodes, &side| nodes.checked_mul(side));
    nodes.filter(|&nodes| u64::from(nodes) <= resilver_fabric::topology::NODES_MAX).unwrap_or(0)
}

/// Routers at random places of a grid; none where the grid is not one that can be built, which it then says itself.
fn inside(places: u32, routers: u32, seed: u64) -> Result<Vec<u32>, TopologyError> {
    if places < 2 { Ok(Vec::new()) } else { draw_routers(places, routers, seed) }
}

/// Leaves and spines of these sizes, with routers at places of hosts or at the spines.
fn leaves_and_spines(
    [leaves, spines, hosts, links]: [u32; 4],
    routers: u32,
    entries: u32,
) -> Result<resilver_fabric::topology::Topology, TopologyError> {
    match (routers, entries) {
        (routers, 0) => leaf_spine(leaves, spines, hosts, links, routers),
        (0, entries) => leaf_spine_with_entries(leaves, spines, hosts, links, entries),
        (routers, _) => Err(TopologyError::Value {
            field: "routers",
            value: routers.to_string(),
            rule: "clients enter at spines, or at places of hosts".to_string(),
            remedy: "leave out routers or entries_per_spine".to_string(),
        }),
    }
}

fn built(json: &TopologyJson, seed: u64) -> Result<resilver_fabric::topology::Topology, TopologyError> {
    match json {
        TopologyJson::Torus { sides, routers, wiring: WiringJson::Inside } => {
            torus(sides, &inside(places_of(sides), *routers, seed)?)
        }
        TopologyJson::Torus { .. } => Err(TopologyError::Value {
            field: "wiring",
            value: "of a torus".to_string(),
            rule: "a torus has no sides at which routers could be joined".to_string(),
            remedy: "take the wiring \"inside\", or a mesh".to_string(),
        }),
        TopologyJson::Mesh { sides, routers, wiring } => {
            let rim = match wiring {
                WiringJson::Inside => return mesh(sides, &inside(places_of(sides), *routers, seed)?),
                WiringJson::CornerSides => RimWiring::CornerSides,
                WiringJson::OppositeSides => RimWiring::OppositeSides,
                WiringJson::Perimeter => RimWiring::Perimeter,
            };
            mesh_with_rim(sides, rim, *routers)
        }
        TopologyJson::Hypercube { dimensions, routers } => {
            let places = if *dimensions <= 24 { 1 << dimensions } else { 0 };
            hypercube(*dimensions, &inside(places, *routers, seed)?)
        }
        TopologyJson::Butterfly { radix, levels, hosts_per_switch } => butterfly(*radix, *levels, *hosts_per_switch),
        TopologyJson::FatTree { sizes, uplinks, routers_at, levels, ports, taper, routers } => {
            match (sizes, uplinks, levels, ports) {
                (Some(sizes), Some(uplinks), None, None) if taper.is_none() && routers.is_none() => {
                    fat_tree(sizes, uplinks, *routers_at)
                }
                (None, None, Some(levels), Some(ports)) if routers_at.is_none() => {
                    let taper = taper.unwrap_or(1);
                    let (places, _) = clos_sizes(*levels, *ports, taper)?;
                    folded_clos(*levels, *ports, taper, &draw_routers(places, routers.unwrap_or(0), seed)?)
                }
                _ => Err(TopologyError::Value {
                    field: "kind",
                    value: "fat_tree".to_string(),
                    rule:
                        "a fat tree has sizes and uplinks, with routers_at, or levels and ports, with taper and routers"
                            .to_string(),
                    remedy: "give the keys of one of the two forms alone".to_string(),
                }),
            }
        }
        TopologyJson::LeafSpine { leaves, spines, hosts_per_leaf, links, routers, entries_per_spine } => {
            let sizes = [*leaves, *spines, *hosts_per_leaf, *links];
            leaves_and_spines(sizes, *routers, *entries_per_spine)
        }
        TopologyJson::Dragonfly { groups, routers_per_group, hosts_per_router, global_links, routers } => {
            let sizes = (*groups, *routers_per_group, *hosts_per_router, *global_links);
            let places = dragonfly_hosts(sizes.0, sizes.1, sizes.2, sizes.3)?;
            dragonfly(sizes.0, sizes.1, sizes.2, sizes.3, &draw_routers(places, *routers, seed)?)
        }
        TopologyJson::Graph { nodes, links, hosts, routers, positions } => graph(GraphLinks {
            nodes: *nodes,
            links: links.clone(),
            hosts: hosts.clone(),
            routers: routers.clone(),
            positions: positions.clone(),
        }),
    }
}

/// The topology that the JSON describes; `seed` decides where routers are that take places at random.
pub fn topology_of(json: &TopologyJson, seed: u64) -> Result<resilver_fabric::topology::Topology, PyErr> {
    built(json, seed).map_err(config_error)
}

/// A network's nodes and links, with its measures.
#[pyclass(frozen)]
pub struct Topology {
    inner: resilver_fabric::topology::Topology,
}

impl Topology {
    /// The nodes and links.
    pub fn network(&self) -> &resilver_fabric::topology::Topology {
        &self.inner
    }

    /// That a node is one of the topology's.
    fn check(&self, node: u32) -> PyResult<u32> {
        if node < self.inner.nodes() {
            return Ok(node);
        }
        let last = self.inner.nodes() - 1;
        Err(config_error(format!("topology.node={node}: nodes are numbered from 0 to {last}; name one of these")))
    }
}

#[pymethods]
impl Topology {
    #[new]
    fn new(py: Python<'_>, json: &str, seed: u64) -> PyResult<Self> {
        let json: TopologyJson = serde_json::from_str(json).map_err(config_error)?;
        Ok(Topology { inner: py.detach(|| topology_of(&json, seed))? })
    }

    #[getter]
    fn nodes(&self) -> u32 {
        self.inner.nodes()
    }

    #[getter]
    fn links(&self) -> u32 {
        self.inner.links()
    }

    #[getter]
    fn ports(&self) -> u64 {
        self.inner.ports()
    }

    /// The nodes with devices, in the order of their servers.
    #[getter]
    fn hosts(&self) -> Vec<u32> {
        self.inner.hosts().to_vec()
    }

    /// The nodes where clients enter.
    #[getter]
    fn routers(&self) -> Vec<u32> {
        self.inner.routers().to_vec()
    }

    /// The nodes that forward packets and are not routers.
    #[getter]
    fn switches(&self) -> Vec<u32> {
        self.inner.switches()
    }

    #[getter]
    fn diameter(&self, py: Python<'_>) -> u32 {
        py.detach(|| self.inner.diameter())
    }

    #[getter]
    fn mean_hops(&self, py: Python<'_>) -> f64 {
        py.detach(|| self.inner.mean_hops())
    }

    #[getter]
    fn mean_router_disk_hops(&self, py: Python<'_>) -> Option<f64> {
        py.detach(|| self.inner.mean_router_host_hops())
    }

    #[getter]
    fn bisection_links(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.inner.bisection_links().links)
    }

    #[getter]
    fn bisection_is_exact(&self, py: Python<'_>) -> bool {
        py.detach(|| self.inner.bisection_links().is_exact)
    }

    #[getter]
    fn max_radix(&self) -> u32 {
        self.inner.max_radix()
    }

    /// The two ends of every link.
    fn ends<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i32>>) {
        let ends = (0..self.inner.links()).map(|link| self.inner.ends(link));
        let (from, to): (Vec<i32>, Vec<i32>) = ends.map(|[a, b]| (a as i32, b as i32)).unzip();
        (from.into_pyarray(py), to.into_pyarray(py))
    }

    /// Where every node is drawn: an array of shape (nodes, 2), x to the right and y up, both from 0 to 1.
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let positions = py.detach(|| (0..self.inner.nodes()).flat_map(|node| self.inner.position(node)).collect());
        let shape = (self.inner.nodes() as usize, 2);
        Ok(Array2::from_shape_vec(shape, positions).map_err(config_error)?.into_pyarray(py))
    }

    /// The name of every node.
    fn node_names(&self) -> Vec<String> {
        (0..self.inner.nodes()).map(|node| self.inner.node_name(node)).collect()
    }

    /// The links that a fault may draw: those between nodes that forward packets.
    fn failing_links<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i32>> {
        let links = self.inner.links_between_switching_nodes();
        links.into_iter().map(|link| link as i32).collect::<Vec<_>>().into_pyarray(py)
    }

    /// The nodes that a fault may draw: those that forward packets and are not routers.
    fn failing_switches<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i32>> {
        self.inner.switches().into_iter().map(|node| node as i32).collect::<Vec<_>>().into_pyarray(py)
    }

    /// Hops of a shortest way between two nodes.
    fn distance(&self, from: u32, to: u32) -> PyResult<u32> {
        Ok(self.inner.distance(self.check(from)?, self.check(to)?))
    }

    /// The nodes of the way between two nodes that deterministic routing takes.
    fn route(&self, from: u32, to: u32) -> PyResult<Vec<u32>> {
        Ok(self.inner.route(self.check(from)?, self.check(to)?))
    }
}
