//! Topologies for Python: from their JSON, with measures, names and drawings.

use pyo3::prelude::*;
use resilver_fabric::topology::Structure;
use resilver_system::read;

use crate::arrays::{array, rows};
use crate::errors::{config_error, system_error};

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
        let structure: Structure = read(json).map_err(system_error)?;
        Ok(Topology { inner: py.detach(|| structure.build(seed)).map_err(config_error)? })
    }

    #[getter]
    fn nodes(&self) -> u32 {
        self.inner.nodes()
    }

    #[getter]
    fn links(&self) -> u32 {
        self.inner.links()
    }

    /// The links, of all, that carry nothing but packets that have met a failure.
    #[getter]
    fn spare_links(&self) -> u32 {
        self.inner.spare_links()
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
    fn mean_hops(&self, py: Python<'_>) -> Option<f64> {
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
    fn ends<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let ends = (0..self.inner.links()).map(|link| self.inner.ends(link));
        let (from, to): (Vec<i32>, Vec<i32>) = ends.map(|[a, b]| (a as i32, b as i32)).unzip();
        Ok((array(py, &from)?, array(py, &to)?))
    }

    /// Where every node is drawn: an array of shape (nodes, 2), x to the right and y up, both from 0 to 1.
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let nodes = self.inner.nodes();
        let positions: Vec<f64> = py.detach(|| (0..nodes).flat_map(|node| self.inner.position(node)).collect());
        rows(py, &positions, nodes as usize, 2)
    }

    /// The name of every node.
    fn node_names(&self) -> Vec<String> {
        (0..self.inner.nodes()).map(|node| self.inner.node_name(node)).collect()
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
