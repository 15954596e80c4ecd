//! Lanes of classes of traffic: from the JSON that `resilver.simulate` writes, and as columns of what they did.

use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use resilver_kernel::lanes::{LaneOrder, LaneUse, Lanes};
use resilver_system::{LaneReport, LanesConfig, Report, TrafficClass};
use serde::Deserialize;

use crate::errors::config_error;

/// The lanes, one a class of traffic.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanesJson {
    shares: Vec<f64>,
    order: String,
    #[serde(default)]
    priority: Vec<u8>,
    devices: bool,
}

/// The lanes that the JSON describes.
pub fn lanes(json: LanesJson) -> Result<LanesConfig, PyErr> {
    let classes = TrafficClass::ALL.len();
    if json.shares.len() != classes {
        let given = json.shares.len();
        return Err(config_error(format!("lanes.shares = {given} shares: give one for each of {classes} classes")));
    }
    let lanes = Lanes::of_shares(&json.shares).map_err(config_error)?;
    let lanes = match json.order.as_str() {
        "shares" => lanes,
        "priority" => lanes.by_priority(json.priority),
        "turns" => Lanes { order: LaneOrder::Turns, ..lanes },
        name => {
            return Err(config_error(format!(
                "lanes.order = '{name}' is not known: choose 'shares', 'priority' or 'turns'"
            )));
        }
    };
    lanes.check().map_err(config_error)?;
    Ok(LanesConfig { lanes, devices: json.devices })
}

/// The name of a lane's class.
fn class_name(lane: usize) -> &'static str {
    match TrafficClass::ALL.get(lane) {
        Some(TrafficClass::Clients) => "clients",
        Some(TrafficClass::Rebuild) => "rebuild",
        Some(TrafficClass::Bursts) => "bursts",
        None => "other",
    }
}

/// Every lane of every kind of part that has lanes: the part's name, the lane, all lanes of the part.
fn rows(report: &LaneReport) -> impl Iterator<Item = (&'static str, usize, &[LaneUse])> {
    let parts = [("links", &report.links), ("interfaces", &report.interfaces), ("devices", &report.devices)];
    parts.into_iter().flat_map(|(part, uses)| (0..uses.len()).map(move |lane| (part, lane, &uses[..])))
}

fn set<'py, T: Element>(columns: &Bound<'py, PyDict>, name: &str, values: impl Iterator<Item = T>) -> PyResult<()> {
    columns.set_item(name, values.collect::<Vec<T>>().into_pyarray(columns.py()))
}

/// A row a class of traffic at each kind of part.
pub fn lane_columns<'py>(py: Python<'py>, report: &Report, lanes: Option<&Lanes>) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let rows = || rows(&report.lanes);
    columns.set_item("part", rows().map(|(part, ..)| part).collect::<Vec<_>>())?;
    columns.set_item("class", rows().map(|(_, lane, _)| class_name(lane)).collect::<Vec<_>>())?;
    set(&columns, "share", rows().map(|(_, lane, _)| lanes.map_or(f64::NAN, |lanes| lanes.share(lane))))?;
    set(&columns, "units", rows().map(|(_, lane, uses)| uses[lane].units as i64))?;
    set(&columns, "bytes", rows().map(|(_, lane, uses)| uses[lane].bytes.get() as i64))?;
    set(&columns, "busy_seconds", rows().map(|(_, lane, uses)| uses[lane].busy_seconds()))?;
    let waits = rows().map(|(_, lane, uses)| uses[lane].mean_wait_seconds().unwrap_or(f64::NAN));
    set(&columns, "mean_wait_seconds", waits)?;
    let lent = |uses: &[LaneUse], lender: usize| -> u64 { uses[lender].lent_bytes.iter().map(|b| b.get()).sum() };
    set(&columns, "lent_bytes", rows().map(|(_, lane, uses)| lent(uses, lane) as i64))?;
    let borrowed =
        |uses: &[LaneUse], lane: usize| -> u64 { uses.iter().map(|lender| lender.lent_bytes[lane].get()).sum() };
    set(&columns, "borrowed_bytes", rows().map(|(_, lane, uses)| borrowed(uses, lane) as i64))?;
    Ok(columns)
}

/// A row a pair of classes at each kind of part, where one lent to the other.
pub fn lending_columns<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let pairs = rows(&report.lanes).flat_map(|(part, lender, uses)| {
        let lent = uses[lender].lent_bytes.iter().enumerate();
        lent.map(move |(borrower, bytes)| (part, lender, borrower, bytes.get()))
    });
    let pairs: Vec<_> = pairs.filter(|&(.., bytes)| bytes > 0).collect();
    let columns = PyDict::new(py);
    columns.set_item("part", pairs.iter().map(|pair| pair.0).collect::<Vec<_>>())?;
    columns.set_item("lender", pairs.iter().map(|pair| class_name(pair.1)).collect::<Vec<_>>())?;
    columns.set_item("borrower", pairs.iter().map(|pair| class_name(pair.2)).collect::<Vec<_>>())?;
    set(&columns, "bytes", pairs.iter().map(|pair| pair.3 as i64))?;
    Ok(columns)
}
