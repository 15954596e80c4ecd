//! Lanes of the whole system: a guaranteed share of every port, and of every device, for each class of traffic.

use resilver_kernel::lanes::{LaneUse, Lanes};
use resilver_units::SimTime;
use serde::Deserialize;

use crate::network::Network;
use crate::storage::Plant;

/// The lanes of a system, one a class of traffic in the order of [`TrafficClass::ALL`](crate::TrafficClass::ALL).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanesConfig {
    /// The lanes.
    pub lanes: Lanes,
    /// Whether devices have them as well as ports.
    pub devices: bool,
}

/// What each lane did at all ports and at all devices; nothing where there are no lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneReport {
    /// At the ports of links.
    pub links: Vec<LaneUse>,
    /// At both sides of interfaces.
    pub interfaces: Vec<LaneUse>,
    /// At devices.
    pub devices: Vec<LaneUse>,
}

impl LaneReport {
    /// What a plant's lanes did from the beginning of statistics to `now`.
    pub(crate) fn of<F: Network>(plant: &Plant<F>, links: &[LaneUse], now: SimTime) -> Self {
        let mut devices = Vec::new();
        for disk in &plant.disks {
            LaneUse::add_all(&mut devices, &disk.lane_uses(now));
        }
        LaneReport { links: links.to_vec(), interfaces: plant.fabric.interface_lanes(now), devices }
    }
}
