//! How busy the parts of a system have been by a time.

use resilver_device::Device;
use resilver_fabric::{Fabric, PortUse};
use resilver_units::{Bytes, SimDuration, SimTime};

use super::outcome::DeviceOutcome;
use crate::plant::Plant;

/// How long each part of a system has been busy by a time, and what it has passed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    pub at: SimTime,
    pub disks: Vec<SimDuration>,
    /// What each device was asked to read and write, by anyone.
    pub disk_bytes: Vec<Bytes>,
    /// What recovery read from each device and sent.
    pub sent_bytes: Vec<Bytes>,
    pub ports: Vec<PortUse>,
    /// Of the parts between devices and ports.
    pub stations: Vec<PortUse>,
}

impl Snapshot {
    /// As it stands now.
    pub fn of<F: Fabric>(now: SimTime, plant: &Plant<F>, devices: &[DeviceOutcome]) -> Self {
        let usage = || plant.disks.iter().map(Device::usage);
        Snapshot {
            at: now,
            disks: plant.disks.iter().map(|disk| disk.busy_until(now)).collect(),
            disk_bytes: usage().map(|disk| disk.bytes_read + disk.bytes_written).collect(),
            sent_bytes: devices.iter().map(|device| device.sent_bytes).collect(),
            ports: plant.fabric.ports(now),
            stations: plant.ways.as_ref().map(|ways| ways.uses_so_far(now)).unwrap_or_default(),
        }
    }
}
