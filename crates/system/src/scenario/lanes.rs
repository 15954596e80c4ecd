//! Lanes of the whole system: a guaranteed share of every port, and of every device, for each class of traffic.

use resilver_kernel::lanes::Lanes;
use serde::Deserialize;

/// The lanes of a system, one a class of traffic in the order of [`TrafficClass::ALL`](crate::TrafficClass::ALL).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanesConfig {
    /// The lanes.
    pub lanes: Lanes,
    /// Whether devices have them as well as ports.
    pub devices: bool,
}
