//! Clients, from the JSON that `resilver.simulate` writes.

use std::sync::Arc;

use pyo3::PyErr;
use resilver_system::{Arrivals, Targets, TraceRequest, Traffic};
use resilver_units::{Bytes, DeviceId, EndpointId, SimDuration, SimTime};
use serde::Deserialize;

use crate::errors::config_error;

/// The clients of a system.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrafficJson {
    /// The pool whose objects are asked for; those of all where none is given.
    #[serde(default)]
    pool: Option<usize>,
    requesters: Vec<u32>,
    servers: Vec<u32>,
    arrivals: ArrivalsJson,
    read_share: f64,
    size_bytes: u64,
    control_bytes: u64,
    targets: TargetsJson,
    timeout_seconds: Option<f64>,
    warm_up_seconds: f64,
    duration_seconds: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
enum ArrivalsJson {
    Closed { outstanding: u64, interval_seconds: f64 },
    Poisson { requests_per_second: f64 },
    Pareto { requests_per_second: f64, shape: f64 },
    Trace { seconds: Vec<f64>, is_read: Vec<bool>, bytes: Vec<u64>, target: Vec<i64> },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
enum TargetsJson {
    Uniform {},
    Zipf { exponent: f64 },
    Hot { servers: f64, requests: f64 },
}

/// A length of time, of which `field` says what it is.
pub fn duration(field: &str, seconds: f64) -> Result<SimDuration, PyErr> {
    SimDuration::from_seconds(seconds).map_err(|error| config_error(format!("{field}: {error}")))
}

/// The clients that the JSON describes.
pub fn traffic(json: TrafficJson) -> Result<Traffic, PyErr> {
    Ok(Traffic {
        pool: json.pool,
        requesters: json.requesters.into_iter().map(EndpointId::new).collect(),
        servers: json.servers.into_iter().map(DeviceId::new).collect(),
        arrivals: arrivals(json.arrivals)?,
        read_share: json.read_share,
        size: Bytes::new(json.size_bytes),
        control: Bytes::new(json.control_bytes),
        targets: match json.targets {
            TargetsJson::Uniform {} => Targets::Uniform,
            TargetsJson::Zipf { exponent } => Targets::Zipf { exponent },
            TargetsJson::Hot { servers, requests } => Targets::Hot { servers, requests },
        },
        timeout: json.timeout_seconds.map(|seconds| duration("traffic.timeout", seconds)).transpose()?,
        warm_up: duration("traffic.warm_up", json.warm_up_seconds)?,
        duration: json.duration_seconds.map(|seconds| duration("traffic.duration", seconds)).transpose()?,
    })
}

fn arrivals(json: ArrivalsJson) -> Result<Arrivals, PyErr> {
    Ok(match json {
        ArrivalsJson::Closed { outstanding, interval_seconds } => {
            Arrivals::Closed { outstanding, interval: duration("traffic.arrivals.interval", interval_seconds)? }
        }
        ArrivalsJson::Poisson { requests_per_second } => Arrivals::Poisson { rate: requests_per_second },
        ArrivalsJson::Pareto { requests_per_second, shape } => Arrivals::Pareto { rate: requests_per_second, shape },
        ArrivalsJson::Trace { seconds, is_read, bytes, target } => {
            let rows = seconds.len();
            if [is_read.len(), bytes.len(), target.len()] != [rows; 3] {
                return Err(config_error(format!(
                    "traffic.arrivals: seconds has {rows} rows, is_read {}, bytes {} and target {}: give each as many",
                    is_read.len(),
                    bytes.len(),
                    target.len()
                )));
            }
            let request = |row: usize| -> Result<TraceRequest, PyErr> {
                let target = match target[row] {
                    -1 => None,
                    device => Some(DeviceId::new(u32::try_from(device).map_err(|_| {
                        config_error(format!("traffic.arrivals.target = {device} in row {row}: name a device, or -1"))
                    })?)),
                };
                let at = SimTime::ZERO + duration("traffic.arrivals.seconds", seconds[row])?;
                Ok(TraceRequest { at, is_read: is_read[row], bytes: Bytes::new(bytes[row]), target })
            };
            Arrivals::Trace(Arc::new((0..rows).map(request).collect::<Result<_, PyErr>>()?))
        }
    })
}
