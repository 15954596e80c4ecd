//! The network, from the JSON that `resilver.simulate` writes.

use std::sync::Arc;

use pyo3::PyErr;
use resilver_fabric::{Forwarding, LogGpRow, LogGpTable, Queues, Routing, SwitchedParameters};
use resilver_kernel::lanes::Lanes;
use resilver_system::FabricConfig;
use resilver_units::{Bytes, BytesPerSecond};
use serde::Deserialize;

use crate::errors::config_error;
use crate::topology::{TopologyJson, topology_of};
use crate::traffic::duration;

/// A packet may take this many times the hops of the longest of the shortest ways, and at least as many as an IP packet's
/// time to live can count: one that goes round a failed link may turn for long before it finds its way.
const DIAMETERS: u32 = 4;
const HOPS_MIN: u32 = 255;

/// The network.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
pub enum FabricJson {
    #[serde(rename = "loggp")]
    LogGp {
        /// Endpoints where clients enter, beside the servers'.
        #[serde(rename = "routers")]
        _routers: u32,
        rows: Vec<LogGpRowJson>,
    },
    Switched(Box<SwitchedJson>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogGpRowJson {
    size_bytes: u64,
    latency_seconds: f64,
    gap_seconds: f64,
    gap_per_byte_seconds: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchedJson {
    topology: TopologyJson,
    link_bytes_per_second: f64,
    link_rates: Vec<f64>,
    link_latency_seconds: f64,
    switch_latency_seconds: f64,
    overhead_bytes: u64,
    packet_bytes: u64,
    forwarding: String,
    routing: String,
    hop_limit: Option<u32>,
}

/// The network that the JSON describes; `seed` draws what its topology leaves to chance.
pub fn fabric(json: FabricJson, seed: u64) -> Result<FabricConfig, PyErr> {
    match json {
        FabricJson::LogGp { rows, .. } => Ok(FabricConfig::LogGp { table: Arc::new(loggp_table(&rows)?) }),
        FabricJson::Switched(json) => switched(*json, seed),
    }
}

fn loggp_table(rows: &[LogGpRowJson]) -> Result<LogGpTable, PyErr> {
    let rows = rows.iter().map(|row| {
        Ok(LogGpRow {
            size: Bytes::new(row.size_bytes),
            latency: duration("cluster.fabric.latency", row.latency_seconds)?,
            gap_picoseconds: (row.gap_seconds * 1e12).round() as i64,
            gap_per_byte_picoseconds: duration("cluster.fabric.gap_per_byte", row.gap_per_byte_seconds)?.picoseconds(),
        })
    });
    LogGpTable::new(rows.collect::<Result<_, PyErr>>()?).map_err(config_error)
}

fn switched(json: SwitchedJson, seed: u64) -> Result<FabricConfig, PyErr> {
    let topology = topology_of(&json.topology, seed)?;
    let rate = |field: &str, rate: f64| {
        BytesPerSecond::new(rate).ok_or_else(|| {
            config_error(format!("cluster.fabric.{field} = {rate} B/s: it must be finite and above zero"))
        })
    };
    let parameters = SwitchedParameters {
        rate: rate("link_rate", json.link_bytes_per_second)?,
        link_rates: json.link_rates.iter().map(|&each| rate("link_rates", each)).collect::<Result<_, PyErr>>()?,
        latency: duration("cluster.fabric.link_latency", json.link_latency_seconds)?,
        switch_latency: duration("cluster.fabric.switch_latency", json.switch_latency_seconds)?,
        overhead: Bytes::new(json.overhead_bytes),
        packet: Bytes::new(json.packet_bytes),
        forwarding: match json.forwarding.as_str() {
            "store_and_forward" => Forwarding::StoreAndForward,
            "cut_through" => Forwarding::CutThrough,
            name => {
                return Err(config_error(format!(
                    "cluster.fabric.forwarding = '{name}' is not known: choose 'store_and_forward' or 'cut_through'"
                )));
            }
        },
        routing: match json.routing.as_str() {
            "adaptive" => Routing::Adaptive,
            "deterministic" => Routing::Deterministic,
            name => {
                return Err(config_error(format!(
                    "cluster.fabric.routing = '{name}' is not known: choose 'adaptive' or 'deterministic'"
                )));
            }
        },
        hop_limit: json.hop_limit.unwrap_or_else(|| topology.diameter().saturating_mul(DIAMETERS).max(HOPS_MIN)),
        // A system's lanes are those of its devices as well, and take the place of these.
        lanes: Lanes::single(),
        queues: Queues::Implicit,
    };
    parameters.check(&topology).map_err(config_error)?;
    Ok(FabricConfig::Switched { topology: Arc::new(topology), parameters })
}
