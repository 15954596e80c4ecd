//! Topologies from their JSON.

use pyo3::PyErr;
use resilver_fabric::topology::{Topology, draw_routers, mesh, torus};
use serde::Deserialize;

use crate::errors::config_error;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum TopologyJson {
    Torus { sides: Vec<u32>, routers: u32 },
    Mesh { sides: Vec<u32>, routers: u32 },
}

/// The topology that `json` describes; `seed` places its routers.
pub fn topology_of(json: serde_json::Value, seed: u64) -> Result<Topology, PyErr> {
    let topology: TopologyJson = serde_json::from_value(json).map_err(config_error)?;
    match topology {
        TopologyJson::Torus { sides, routers } => {
            let places = draw_routers(sides.iter().product(), routers, seed).map_err(config_error)?;
            torus(&sides, &places).map_err(config_error)
        }
        TopologyJson::Mesh { sides, routers } => {
            let places = draw_routers(sides.iter().product(), routers, seed).map_err(config_error)?;
            mesh(&sides, &places).map_err(config_error)
        }
    }
}
