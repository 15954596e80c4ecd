//! The plant: devices behind a fabric, and what lies between them and takes time.

mod lanes;
mod network;
pub(crate) mod ways;

use resilver_device::Device;
use resilver_fabric::{Fabric, Message, Notice};
use resilver_kernel::Schedule;
use resilver_parts::Parts;
use resilver_units::{Bytes, EndpointId, SimTime};

pub use lanes::LaneReport;
pub use network::Network;
pub(crate) use network::check_network;
pub use ways::PartUse;
use ways::Ways;

use crate::event::{EventOf, StorageEvent};
use crate::ports::Ports;
use crate::scenario::faults::Fault;
use crate::trace::{About, Trace};

/// What the parts of a system share: the fabric, and the devices behind it.
#[derive(Clone, Debug)]
pub struct Plant<F> {
    /// The fabric.
    pub fabric: F,
    /// The devices.
    pub disks: Vec<Device>,
    /// The endpoint of each device.
    pub endpoint_of: Vec<EndpointId>,
    /// All endpoints of each device.
    pub ports: Ports,
    /// What lies between devices and ports and takes time, where anything does.
    pub(crate) ways: Option<Box<Ways>>,
    /// How many faults hold that have taken each device away.
    pub(crate) outages: Vec<u32>,
    /// What was handed to the fabric so far.
    pub sent: Bytes,
    /// What is noted of each message and request, where the run is traced.
    pub(crate) trace: Option<Box<Trace>>,
}

impl<F> Plant<F> {
    /// A fabric with the devices behind it, and the endpoint of each.
    pub fn new(fabric: F, disks: Vec<Device>, endpoint_of: Vec<EndpointId>) -> Self {
        let (ports, outages) = (Ports::new(&endpoint_of, &[]), vec![0; disks.len()]);
        Plant { ports, fabric, disks, endpoint_of, ways: None, outages, sent: Bytes::ZERO, trace: None }
    }

    /// The same devices with several endpoints each, where `ports_of` names them.
    pub fn with_ports(mut self, ports_of: &[Vec<EndpointId>]) -> Self {
        self.ports = Ports::new(&self.endpoint_of, ports_of);
        self
    }

    /// The same devices behind parts that their requests pass.
    pub fn with_ways(mut self, parts: Option<&Parts>, faults: &[Fault]) -> Self {
        self.ways = parts.and_then(|parts| Ways::of(parts, faults)).map(Box::new);
        self
    }
}

/// Where a part of the system acts: on what all share, at the present time.
pub(crate) struct Site<'a, F: Fabric> {
    pub plant: &'a mut Plant<F>,
    pub schedule: &'a mut Schedule<EventOf<F>>,
}

impl<F: Fabric> Site<'_, F> {
    /// Hands a message to the fabric; returns when its sender is done with it, where that is known.
    #[inline]
    pub fn send(&mut self, message: Message, about: impl FnOnce() -> About) -> Option<SimTime> {
        self.plant.sent += message.bytes;
        let (now, schedule) = (self.schedule.now(), &mut *self.schedule);
        let queue = |time, event| schedule.at(time, EventOf::new(StorageEvent::Fabric(event)));
        let left = self.plant.fabric.send(now, message, queue);
        if let Some(trace) = &mut self.plant.trace {
            trace.sent(now, message, left, about());
        }
        left
    }

    /// Notes what became of a message, where the run is traced.
    #[inline]
    pub fn note(&mut self, notice: Notice) {
        if let Some(trace) = &mut self.plant.trace {
            trace.notice(self.schedule.now(), notice);
        }
    }

    /// Statistics of the fabric, and of the lanes of devices, begin anew.
    pub fn begin_statistics(&mut self) {
        let now = self.schedule.now();
        self.plant.fabric.begin_statistics(now);
        self.plant.disks.iter_mut().for_each(|disk| disk.begin_statistics(now));
        if let Some(ways) = &mut self.plant.ways {
            ways.begin_statistics(now);
        }
    }
}
