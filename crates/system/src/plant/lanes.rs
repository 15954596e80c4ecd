//! What the lanes of a plant did.

use resilver_kernel::lanes::LaneUse;
use resilver_units::SimTime;

use super::{Network, Plant};

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
