//! A system under way, whatever its fabric and its devices: stepped through one interface, which costs a call a step.

use resilver_fabric::{LogGp, Switched};
use resilver_kernel::lanes::Lanes;
use resilver_kernel::{Digest, ExitReason, Limit, Schedule, run};
use resilver_units::{Bytes, EndpointId, SimTime};

use crate::SystemError;
use crate::clients::Workload;
use crate::conclusion::Conclusion;
use crate::event::EventOf;
use crate::plant::{Network, Plant};
use crate::ports::Ports;
use crate::recovery::Recovery;
use crate::scenario::{FabricConfig, SystemConfig, TrafficClass};
use crate::storage::{Storage, Used};

/// Events that one step executes; fewer in a page, which goes at half the speed and is to hear of a run before a tenth of a second.
const EVENTS_A_STEP: u64 = if cfg!(target_family = "wasm") { 1 << 17 } else { 1 << 20 };

/// How far the data movement of a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Events executed.
    pub events: u64,
    /// Simulated time.
    pub simulated: SimTime,
    /// Lost copies that are whole again.
    pub rebuilt_pieces: u64,
    /// Lost copies that are to be rebuilt, as far as that is known; zero before the scan's end.
    pub pieces_to_rebuild: u64,
}

/// A system under way.
pub(crate) trait Run: Send + Sync {
    /// Works on for a fraction of a second; returns whether the run is over.
    fn advance(&mut self) -> Result<bool, SystemError>;

    /// Works on up to a time, and tells what clients used by then.
    fn used_by(&mut self, time: SimTime) -> Result<Option<Used>, SystemError> {
        let _ = time;
        Ok(None)
    }

    /// How much of the run is done, from 0 to 1.
    fn fraction(&self) -> f64;

    /// How far the data movement has come.
    fn moved(&self) -> Moved;

    /// What the finished run has to tell, and the digest and the number of its events.
    fn conclude(self: Box<Self>) -> Result<(Conclusion, Digest, u64), SystemError>;
}

struct Running<F: Network> {
    storage: Storage<F>,
    schedule: Schedule<EventOf<F>>,
    /// The data that recovery is to move.
    bytes: Bytes,
}

impl<F: Network + Send + Sync> Run for Running<F> {
    fn advance(&mut self) -> Result<bool, SystemError> {
        let reason = run(&mut self.storage, &mut self.schedule, Limit::events(EVENTS_A_STEP))?;
        match self.storage.problem() {
            Some(problem) => Err(problem),
            None => Ok(reason == ExitReason::Drained),
        }
    }

    fn used_by(&mut self, time: SimTime) -> Result<Option<Used>, SystemError> {
        run(&mut self.storage, &mut self.schedule, Limit::until(time))?;
        match self.storage.problem() {
            Some(problem) => Err(problem),
            None => self.storage.used(time),
        }
    }

    fn fraction(&self) -> f64 {
        let written = self.storage.recovery().bytes_written().get() as f64;
        let moved = if self.bytes.is_zero() { 1.0 } else { written / self.bytes.get() as f64 };
        let served = self.storage.clients_end().map_or(1.0, |end| self.schedule.now().seconds() / end.seconds());
        // What was written in vain may be more than all that was to be, and the last events may be after the end.
        moved.min(served).min(1.0)
    }

    fn moved(&self) -> Moved {
        Moved {
            events: self.schedule.executed(),
            simulated: self.schedule.now(),
            rebuilt_pieces: self.storage.recovery().rebuilt_pieces(),
            pieces_to_rebuild: self.storage.recovery().losses().pieces_to_rebuild,
        }
    }

    fn conclude(self: Box<Self>) -> Result<(Conclusion, Digest, u64), SystemError> {
        let Running { storage, schedule, .. } = *self;
        Ok((storage.conclude(schedule.now())?, schedule.digest(), schedule.executed()))
    }
}

/// Begins recovery and what else there is, over the fabric and the devices of the system.
///
/// # Errors
/// When the system cannot be simulated.
pub(crate) fn begin(config: &SystemConfig, recovery: Recovery, bytes: Bytes) -> Result<Box<dyn Run>, SystemError> {
    check_numbers(config)?;
    let workload = Workload::of(config, Ports::new(&config.endpoint_of, &config.ports_of).sides())?;
    begin_with(config, recovery, bytes, workload)
}

/// The same with another workload than that of the configuration, of numbers that are checked.
///
/// # Errors
/// When the system cannot be simulated.
pub(crate) fn begin_with(
    config: &SystemConfig,
    recovery: Recovery,
    bytes: Bytes,
    workload: Option<Workload>,
) -> Result<Box<dyn Run>, SystemError> {
    let lanes = config.lanes.as_ref().map(|config| &config.lanes);
    if let Some(lanes) = lanes {
        lanes.check().map_err(|error| SystemError::Fabric(error.to_string()))?;
    }
    let endpoints = endpoints_of(config).map(|endpoint| endpoint.index() + 1).max().unwrap_or(0);
    match &config.fabric {
        FabricConfig::LogGp { table } => {
            let lanes = lanes.cloned().unwrap_or_else(Lanes::single);
            Ok(over(config, LogGp::with_lanes(table.clone(), endpoints, &lanes), recovery, bytes, workload))
        }
        FabricConfig::Switched { topology, parameters } => {
            let mut parameters = parameters.clone();
            parameters.lanes = lanes.cloned().unwrap_or(parameters.lanes);
            parameters.check(topology).map_err(|error| SystemError::Fabric(error.to_string()))?;
            let fabric = Switched::new(topology.clone(), parameters).with_paces(&config.slow_channels(topology));
            Ok(over(config, fabric, recovery, bytes, workload))
        }
    }
}

/// All endpoints that a system names.
fn endpoints_of(config: &SystemConfig) -> impl Iterator<Item = EndpointId> {
    let requesters = config.traffic.iter().flat_map(|traffic| &traffic.requesters);
    let entries = config.streams.iter().flat_map(|streams| &streams.entries);
    let servers = config.endpoint_of.iter().chain(config.ports_of.iter().flatten());
    servers.chain(requesters).chain(entries).copied()
}

/// Checks that faults and clients are of parts that the system has.
///
/// # Errors
/// The first number that is too large.
pub(crate) fn check_numbers(config: &SystemConfig) -> Result<(), SystemError> {
    let (links, nodes, endpoints) = match &config.fabric {
        FabricConfig::LogGp { .. } => (0, 0, u32::MAX),
        FabricConfig::Switched { topology, .. } => {
            (topology.links(), topology.nodes(), (topology.hosts().len() + topology.routers().len()) as u32)
        }
    };
    let disks = config.endpoint_of.len() as u32;
    config.devices.check(config.endpoint_of.len())?;
    let (ports_of, rows) = (&config.ports_of, config.endpoint_of.len());
    if !ports_of.is_empty() && (ports_of.len() != rows || ports_of.iter().any(Vec::is_empty)) {
        let (part, number, count) = ("server of ports_of", ports_of.len() as u32, disks);
        return Err(SystemError::NoSuchPart { part, number, count });
    }
    let used = endpoints_of(config).map(EndpointId::get);
    let of_faults = config.faults.iter().flat_map(|fault| {
        let of_links = fault.links.iter().map(move |&link| ("link of faults", link, links));
        let of_nodes = fault.nodes.iter().map(move |&node| ("node of faults", node, nodes));
        let of_devices = fault.devices.iter().map(move |device| ("device of faults", device.get(), disks));
        of_links.chain(of_nodes).chain(of_devices)
    });
    let mut all = of_faults.chain(used.map(|endpoint| ("endpoint", endpoint, endpoints)));
    match all.find(|&(_, number, count)| number >= count) {
        Some((part, number, count)) => Err(SystemError::NoSuchPart { part, number, count }),
        None => Ok(()),
    }
}

fn over<F>(
    config: &SystemConfig,
    fabric: F,
    recovery: Recovery,
    bytes: Bytes,
    workload: Option<Workload>,
) -> Box<dyn Run>
where
    F: Network + Send + Sync + 'static,
    F::Event: Send + Sync,
{
    let lanes = config.lanes.as_ref().filter(|config| config.devices).map(|config| &config.lanes);
    let mut disks = config.devices.build(config.seed, config.endpoint_of.len(), &config.slow_devices(), lanes);
    disks.iter_mut().for_each(|disk| disk.watch(TrafficClass::Rebuild.lane()));
    let plant = Plant::new(fabric, disks, config.endpoint_of.clone())
        .with_ports(&config.ports_of)
        .with_ways(config.devices.passing.as_ref(), &config.faults);
    let faults = config.breaking(workload.is_some());
    let mut storage = Storage::serving(plant, recovery, workload, faults);
    let mut schedule = Schedule::new();
    storage.start(&mut schedule);
    Box::new(Running { storage, schedule, bytes })
}
