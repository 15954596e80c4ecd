//! What clients got and what they kept busy, of a system under way.

use resilver_fabric::{InterfaceUse, NetworkUse};
use resilver_units::{Bytes, SimTime};

use super::Storage;
use crate::SystemError;
use crate::clients::measures::ClientOutcome;
use crate::plant::ways::PartUse;
use crate::plant::{Network, Plant};

/// What clients got so far, and what of the system they kept busy.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    pub clients: ClientOutcome,
    pub parts: Vec<PartUse>,
    pub interfaces: Vec<InterfaceUse>,
    pub network: Option<NetworkUse>,
    pub network_bytes: Bytes,
}

impl<F: Network> Storage<F> {
    /// What clients got by now, and what of the system they kept busy; `None` where there are none.
    ///
    /// # Errors
    /// When a law is broken, which is a bug.
    pub(crate) fn used(&self, now: SimTime) -> Result<Option<Used>, SystemError> {
        let Plant { fabric, disks, ways, .. } = &self.plant;
        let Some(workload) = &self.workload else { return Ok(None) };
        let (clients, _) = workload.finish(now, disks, &self.plant.ports)?;
        let parts = ways.as_ref().map_or(Ok(Vec::new()), |ways| ways.uses(now, clients.window))?;
        let (interfaces, network) = (fabric.interfaces(now), fabric.network(now));
        Ok(Some(Used { clients, parts, interfaces, network, network_bytes: self.plant.sent }))
    }
}
