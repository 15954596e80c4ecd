//! Streams and corruptions, from the JSON that `resilver.simulate` writes, and what a finished run tells of them.

use std::sync::Arc;

use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use resilver_redundancy::Code;
use resilver_system::{Bursts, CodeConfig, Corruption, Pairing, Report, StreamTraffic, StripeGroup, StripesOf};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, SimTime};
use serde::Deserialize;

use crate::errors::config_error;
use crate::faults::CorruptJson;
use crate::traffic::duration;

/// How objects are coded.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedundancyJson {
    code: String,
    strip_bytes: Option<u64>,
    coding_bytes_per_second: Option<f64>,
}

/// Clients that stream whole stripes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamsJson {
    over: String,
    #[serde(default)]
    groups: Option<Vec<Vec<u32>>>,
    entries: Vec<u32>,
    #[serde(default = "paired")]
    pairing: String,
    window: u32,
    #[serde(default)]
    rate_bytes_per_second: Option<f64>,
    read_share: f64,
    control_bytes: u64,
    #[serde(default)]
    bursts: Option<BurstsJson>,
    warm_up_seconds: f64,
    duration_seconds: Option<f64>,
}

fn paired() -> String {
    "paired".to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BurstsJson {
    first_seconds: f64,
    every_seconds: f64,
    bytes: u64,
}

/// The code that a text names.
pub fn code(field: &str, text: &str) -> PyResult<Arc<Code>> {
    Code::parse(text).map(Arc::new).map_err(|error| config_error(format!("{field} = '{text}': {error}")))
}

/// The code that the JSON describes.
pub fn redundancy(json: RedundancyJson) -> PyResult<CodeConfig> {
    let rate = |rate: f64| {
        BytesPerSecond::new(rate)
            .ok_or_else(|| config_error(format!("redundancy.coding = {rate} B/s: it must be finite and above zero")))
    };
    Ok(CodeConfig {
        code: code("redundancy.code", &json.code)?,
        strip: json.strip_bytes.map(Bytes::new),
        coding: json.coding_bytes_per_second.map(rate).transpose()?,
    })
}

/// The streams that the JSON describes.
pub fn streams(json: StreamsJson) -> PyResult<StreamTraffic> {
    let over = match (json.over.as_str(), json.groups) {
        ("groups", Some(groups)) => {
            let devices = |group: Vec<u32>| group.into_iter().map(DeviceId::new).collect();
            StripesOf::Groups(groups.into_iter().map(devices).collect())
        }
        ("placement", None) => StripesOf::Placement,
        (over, groups) => {
            let given = if groups.is_some() { "given" } else { "left out" };
            return Err(config_error(format!(
                "streams.over = '{over}' with groups {given}: name 'groups' and give them, or 'placement' without"
            )));
        }
    };
    let pairing = match json.pairing.as_str() {
        "paired" => Pairing::Paired,
        "random" => Pairing::Random,
        name => {
            return Err(config_error(format!("streams.pairing = '{name}' is not known: choose 'paired' or 'random'")));
        }
    };
    let bursts = |bursts: BurstsJson| -> PyResult<Bursts> {
        Ok(Bursts {
            first: duration("streams.bursts.first", bursts.first_seconds)?,
            every: duration("streams.bursts.every", bursts.every_seconds)?,
            volume: Bytes::new(bursts.bytes),
        })
    };
    Ok(StreamTraffic {
        over,
        entries: json.entries.into_iter().map(EndpointId::new).collect(),
        pairing,
        window: json.window,
        rate: json.rate_bytes_per_second,
        read_share: json.read_share,
        control: Bytes::new(json.control_bytes),
        bursts: json.bursts.map(bursts).transpose()?,
        warm_up: duration("traffic.warm_up", json.warm_up_seconds)?,
        duration: json.duration_seconds.map(|seconds| duration("traffic.duration", seconds)).transpose()?,
    })
}

/// The corruption that the JSON describes.
pub fn corruption((at, groups, json): (SimTime, Vec<u32>, CorruptJson)) -> PyResult<Corruption> {
    let CorruptJson { strips, window, code: text, .. } = json;
    let code = text.map(|text| code("corrupt.code", &text)).transpose()?;
    Ok(Corruption { at, groups, strips_per_server: strips, window, code })
}

/// Sets the numbers of streams, `None` where there is no such part.
pub fn set_totals(dict: &Bound<'_, PyDict>, report: &Report) -> PyResult<()> {
    let streams = report.streams.as_ref();
    let of_bursts = streams.filter(|streams| streams.has_bursts);
    let of_rebuild = streams.filter(|streams| streams.has_corruption);
    let bursts = of_bursts.and_then(|streams| streams.per_second(streams.all.bursts));
    dict.set_item("burst_bytes_per_second", bursts)?;
    dict.set_item("mean_burst_delay_seconds", of_bursts.and_then(|streams| streams.mean_burst_seconds))?;
    let rebuilt = of_rebuild.and_then(|streams| streams.per_second(streams.all.rebuilt));
    dict.set_item("rebuild_bytes_per_second", rebuilt)?;
    dict.set_item("strips_rebuilt", of_rebuild.map(|streams| streams.strips_rebuilt))?;
    // A rebuild in place takes the place of one after a failure, where nothing has failed.
    match of_rebuild.and_then(|streams| streams.rebuild_seconds) {
        Some(seconds) if report.outcome.losses.lost_pieces == 0 => dict.set_item("rebuild_seconds", seconds),
        _ => Ok(()),
    }
}

/// A row a group of servers.
pub fn stripe_groups<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let Some(streams) = &report.streams else { return Ok(columns) };
    let groups = &streams.groups;
    let rate = |bytes: fn(&StripeGroup) -> Bytes| {
        groups.iter().map(move |group| streams.per_second(bytes(group)).unwrap_or(f64::NAN))
    };
    set(&columns, "group", 0..groups.len() as i32)?;
    set(&columns, "is_rebuilding", groups.iter().map(|group| group.is_rebuilding))?;
    set(&columns, "servers", groups.iter().map(|group| group.servers as i32))?;
    set(&columns, "ports_working", groups.iter().map(|group| group.ports_working as i32))?;
    set(&columns, "read_bytes_per_second", rate(|group| group.rates.read))?;
    set(&columns, "write_bytes_per_second", rate(|group| group.rates.written))?;
    set(&columns, "burst_bytes_per_second", rate(|group| group.rates.bursts))?;
    set(&columns, "rebuild_bytes_per_second", rate(|group| group.rates.rebuilt))?;
    let delays = groups.iter().map(|group| group.rates.mean_delay_seconds().unwrap_or(f64::NAN));
    set(&columns, "mean_delay_seconds", delays)?;
    Ok(columns)
}

fn set<'py, T: Element>(columns: &Bound<'py, PyDict>, name: &str, values: impl Iterator<Item = T>) -> PyResult<()> {
    columns.set_item(name, values.collect::<Vec<T>>().into_pyarray(columns.py()))
}
