//! The devices of a system, from the JSON that `resilver.simulate` writes.

use std::sync::Arc;

use pyo3::PyErr;
use resilver_device::{DirectionFigures, DiskTable, DiskTableRow, Pace, Service};
use resilver_system::{DeviceKind, Devices, Discipline};
use resilver_units::{Bytes, BytesPerSecond, SimDuration};
use serde::Deserialize;

use crate::errors::config_error;
use crate::levels::{LevelJson, parts};
use crate::traffic::duration;

/// The kinds of devices, and which of them each device is of.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DevicesJson {
    kinds: Vec<KindJson>,
    /// Empty where all are of the first.
    kind_of: Vec<u8>,
    /// The parts, where requests pass any of them or faults are of what carries others.
    passing: Option<Vec<LevelJson>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KindJson {
    read_bytes_per_second: f64,
    write_bytes_per_second: f64,
    read_overhead_seconds: f64,
    write_overhead_seconds: f64,
    sequential_gap_bytes: u64,
    request_bytes: Vec<u64>,
    read_seek_seconds: Vec<f64>,
    write_seek_seconds: Vec<f64>,
    /// A time of its own for each request, in place of the table.
    service: Option<ServiceJson>,
    discipline: String,
    spread: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServiceJson {
    read_seconds: f64,
    write_seconds: f64,
    distribution: String,
}

/// The devices that the JSON describes.
pub fn devices(json: DevicesJson, seed: u64) -> Result<Devices, PyErr> {
    let kind = |kind: KindJson| -> Result<DeviceKind, PyErr> {
        if !(0.0..=Pace::SPREAD_MAX).contains(&kind.spread) {
            let most = Pace::SPREAD_MAX;
            return Err(config_error(format!("cluster.parts.spread = {}: it is from 0 to {most}", kind.spread)));
        }
        let (service, discipline) = (service(&kind, seed)?, discipline(&kind.discipline)?);
        Ok(DeviceKind { service, discipline, spread: kind.spread })
    };
    Ok(Devices {
        kinds: json.kinds.into_iter().map(kind).collect::<Result<_, PyErr>>()?,
        kind_of: json.kind_of,
        passing: json.passing.map(parts).transpose()?,
    })
}

fn discipline(name: &str) -> Result<Discipline, PyErr> {
    match name {
        "fifo" => Ok(Discipline::Fifo),
        "reads_first" => Ok(Discipline::ReadsFirst),
        _ => Err(config_error(format!(
            "cluster.device.discipline = '{name}' is not known: choose 'fifo' or 'reads_first'"
        ))),
    }
}

/// How long requests take at a device.
fn service(disk: &KindJson, seed: u64) -> Result<Service, PyErr> {
    let Some(service) = &disk.service else { return Ok(Service::Table(Arc::new(disk_table(disk)?))) };
    let read = duration("cluster.device.service.read", service.read_seconds)?;
    let write = duration("cluster.device.service.write", service.write_seconds)?;
    match service.distribution.as_str() {
        "fixed" => Ok(Service::Fixed { read, write }),
        "exponential" if read > SimDuration::ZERO && write > SimDuration::ZERO => {
            Ok(Service::Exponential { read, write, seed })
        }
        "exponential" => Err(config_error("cluster.device.service: an exponential time must have a mean above 0 s")),
        name => Err(config_error(format!(
            "cluster.device.service.distribution = '{name}' is not known: choose 'fixed' or 'exponential'"
        ))),
    }
}

fn disk_table(disk: &KindJson) -> Result<DiskTable, PyErr> {
    let figures = |rate, overhead| -> Result<DirectionFigures, PyErr> {
        let rate = BytesPerSecond::new(rate).ok_or_else(|| {
            config_error(format!("cluster.device rate = {rate} B/s: it must be finite and above zero"))
        })?;
        Ok(DirectionFigures { rate, overhead: SimDuration::from_seconds(overhead).map_err(config_error)? })
    };
    let seeks = disk.read_seek_seconds.iter().zip(&disk.write_seek_seconds);
    let rows = disk.request_bytes.iter().zip(seeks).map(|(&request, (&read, &write))| {
        Ok(DiskTableRow {
            request: Bytes::new(request),
            read_seek: SimDuration::from_seconds(read).map_err(config_error)?,
            write_seek: SimDuration::from_seconds(write).map_err(config_error)?,
        })
    });
    DiskTable::new(
        figures(disk.read_bytes_per_second, disk.read_overhead_seconds)?,
        figures(disk.write_bytes_per_second, disk.write_overhead_seconds)?,
        Bytes::new(disk.sequential_gap_bytes),
        rows.collect::<Result<_, PyErr>>()?,
    )
    .map_err(config_error)
}
