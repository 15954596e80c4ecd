//! The storage system as a whole: devices behind a fabric, the rebuild of what is lost, and the clients beside it.

use resilver_device::{Device, Finished};
use resilver_fabric::{Fabric, InterfaceUse, Message, NetworkUse, Notice};
use resilver_kernel::{Model, Schedule};
use resilver_parts::Parts;
use resilver_units::{Bytes, EndpointId, SimTime};

use crate::SystemError;
use crate::actors::Workload;
use crate::event::{EventOf, Owner, StorageEvent};
use crate::faults::{Change, Fault, changes_of};
use crate::flows::FlowOutcome;
use crate::lanes::LaneReport;
use crate::limits::Limits;
use crate::measures::{ClientOutcome, Period, StreamOutcome};
use crate::network::{Network, check_network};
use crate::outcome::Outcome;
use crate::ports::Ports;
use crate::recovery::Recovery;
use crate::ways::{PartUse, Ways};

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
}

impl<F> Plant<F> {
    /// A fabric with the devices behind it, and the endpoint of each.
    pub fn new(fabric: F, disks: Vec<Device>, endpoint_of: Vec<EndpointId>) -> Self {
        let (ports, outages) = (Ports::new(&endpoint_of, &[]), vec![0; disks.len()]);
        Plant { ports, fabric, disks, endpoint_of, ways: None, outages, sent: Bytes::ZERO }
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
    pub fn send(&mut self, message: Message) -> Option<SimTime> {
        self.plant.sent += message.bytes;
        let (now, schedule) = (self.schedule.now(), &mut *self.schedule);
        let queue = |time, event| schedule.at(time, EventOf::new(StorageEvent::Fabric(event)));
        self.plant.fabric.send(now, message, queue)
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

/// What a finished run of a system has to tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    /// What recovery did.
    pub outcome: Outcome,
    /// What clients got, where there are any.
    pub clients: Option<ClientOutcome>,
    /// What streams did beside, where clients stream.
    pub streams: Option<StreamOutcome>,
    /// What each endpoint's interface did, where the fabric is one of interfaces.
    pub interfaces: Vec<InterfaceUse>,
    /// What links and packets did, where the fabric has them.
    pub network: Option<NetworkUse>,
    /// What each lane did, where there are several.
    pub lanes: LaneReport,
    /// What each part did that requests pass on their way, where there are such parts.
    pub parts: Vec<PartUse>,
    /// What limited the rebuild.
    pub limits: Limits,
    /// Data handed to the fabric by all parts of the system, control messages included.
    pub network_bytes: Bytes,
    /// What flows came to, where clients are flows.
    pub flows: Option<FlowOutcome>,
}

/// A storage system under way.
pub struct Storage<F> {
    pub(crate) plant: Plant<F>,
    pub(crate) recovery: Recovery,
    /// What clients and others ask of the system, where anything is.
    pub(crate) workload: Option<Box<Workload>>,
    /// What breaks with nobody told, and nodes that break.
    pub(crate) faults: Vec<Fault>,
    pub(crate) changes: Vec<Change>,
    /// How many of them have come.
    pub(crate) changes_done: usize,
    /// How many of those that nobody is told of have taken each device away.
    pub(crate) gone: Vec<u32>,
    /// Whether clients are served beside faults that are not over.
    pub(crate) is_faulty: bool,
    /// When the run was over; nothing happens any more from then on.
    ended_at: Option<SimTime>,
}

impl<F: Network> Storage<F> {
    /// A system with this recovery to do.
    pub fn new(plant: Plant<F>, recovery: Recovery) -> Self {
        Storage::serving(plant, recovery, None, Vec::new())
    }

    /// A system with this recovery to do, a workload beside it, and faults that messages and devices meet.
    ///
    /// With a workload, the run is over when both the recovery and its time are.
    pub fn serving(plant: Plant<F>, recovery: Recovery, workload: Option<Workload>, faults: Vec<Fault>) -> Self {
        let (changes, gone) = (changes_of(&faults), vec![0; plant.disks.len()]);
        Storage {
            plant,
            recovery,
            workload: workload.map(Box::new),
            faults,
            changes,
            changes_done: 0,
            gone,
            is_faulty: false,
            ended_at: None,
        }
    }

    /// Begins all that begins by itself: faults come before all else at their time.
    pub fn start(&mut self, schedule: &mut Schedule<EventOf<F>>) {
        // Who is told that a part is gone does not send it anything more, and does so again only when its ports work.
        let is_after =
            |change: &Change| self.faults[change.fault].is_told && !change.is_end && change.at > SimTime::ZERO;
        let (after, before): (Vec<u32>, Vec<u32>) =
            (0..self.changes.len() as u32).partition(|&index| is_after(&self.changes[index as usize]));
        for index in before {
            match self.changes[index as usize].at {
                SimTime::ZERO => self.change(index, schedule),
                at => schedule.at(at, EventOf::new(StorageEvent::Network(index))),
            }
        }
        let goes: Vec<(SimTime, u64)> = self.plant.ways.iter().flat_map(|ways| ways.events()).collect();
        for (at, event) in goes {
            let event = EventOf::new(StorageEvent::Way(event));
            match at {
                SimTime::ZERO => self.execute_own(event, schedule),
                at => schedule.at(at, event),
            }
        }
        if self.recovery.begins_at() == SimTime::ZERO {
            self.take_out(0, schedule);
        }
        let mut site = Site { plant: &mut self.plant, schedule };
        self.recovery.start(&mut site);
        for index in after {
            site.schedule.at(self.changes[index as usize].at, EventOf::new(StorageEvent::Network(index)));
        }
        if let Some(workload) = &mut self.workload {
            workload.start(&mut site);
        }
    }

    /// The fabric.
    pub fn fabric(&self) -> &F {
        &self.plant.fabric
    }

    /// When the time that clients are to be served is over, where that is given.
    pub fn clients_end(&self) -> Option<SimTime> {
        self.workload.as_ref().and_then(|workload| workload.end())
    }

    /// Why the run cannot go on, if it cannot.
    pub fn problem(&self) -> Option<SystemError> {
        self.recovery.problem().or_else(|| self.workload.as_ref().and_then(|workload| workload.problem()))
    }

    /// What the recovery has to tell, held to the conservation laws.
    ///
    /// # Errors
    /// When a law is broken, which is a bug.
    pub fn finish(self, ended_at: SimTime) -> Result<Outcome, SystemError> {
        self.conclude(ended_at).map(|conclusion| conclusion.outcome)
    }

    /// What the run has to tell, held to the conservation laws; `now` is the time of its last event.
    ///
    /// # Errors
    /// When a law is broken, which is a bug.
    pub fn conclude(self, now: SimTime) -> Result<Conclusion, SystemError> {
        let Plant { fabric, disks, ways, .. } = &self.plant;
        let ended_at = self.ended_at.unwrap_or(now);
        let mut workload = self.workload;
        let (served, streamed) = match &mut workload {
            Some(workload) => {
                workload.dropped(ended_at, fabric.packets_dropped());
                let (served, streamed) = workload.finish(ended_at, disks, &self.plant.ports)?;
                (Some(served), streamed)
            }
            None => (None, None),
        };
        let network = fabric.network(ended_at);
        let window = served.as_ref().map_or(ended_at.since(SimTime::ZERO), |served| served.window);
        if let Some(network) = &network {
            check_network(network, window.picoseconds())?;
        }
        let parts = ways.as_ref().map_or(Ok(Vec::new()), |ways| ways.uses(ended_at, window))?;
        let links = network.as_ref().map_or(&[][..], |network| &network.lanes);
        let asked = workload.as_ref().map(|workload| workload.asked()).unwrap_or_default();
        let limits = self.recovery.limits(&self.plant, ended_at);
        let outcome = self.recovery.finish(&self.plant, asked, ended_at)?;
        Ok(Conclusion {
            lanes: LaneReport::of(&self.plant, links, ended_at),
            interfaces: fabric.interfaces(ended_at),
            parts,
            outcome,
            limits,
            network_bytes: self.plant.sent,
            clients: served,
            streams: streamed,
            flows: None,
            network,
        })
    }

    /// The recovery.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Whether a message of recovery is not to go any further.
    #[inline]
    fn is_void(&mut self, token: u64, schedule: &mut Schedule<EventOf<F>>) -> bool {
        Owner::of(token) == Owner::Recovery
            && self.recovery.has_vanished(token, &mut Site { plant: &mut self.plant, schedule })
    }

    /// Whether there is a workload, and its time is over; without any, a run is over when nothing is left to happen.
    #[inline]
    fn is_traffic_over(&self) -> bool {
        self.workload.as_ref().is_some_and(|workload| workload.is_over())
    }

    /// An event of the fabric, which may mean something for whose message it is about.
    #[inline]
    fn execute_fabric(&mut self, event: F::Event, schedule: &mut Schedule<EventOf<F>>) {
        if F::token(event).is_some_and(|token| self.is_void(token, schedule)) {
            return;
        }
        let Plant { fabric, ports, .. } = &mut self.plant;
        let (recovery, workload) = (&self.recovery, &self.workload);
        let message_of = |token| match (Owner::of(token), workload) {
            (Owner::Operations, Some(workload)) => workload.message_of(token, ports),
            _ => recovery.message_of(token, ports),
        };
        let notice = fabric.execute(schedule.now(), event, message_of, |time, next| {
            schedule.at(time, EventOf::new(StorageEvent::Fabric(next)));
        });
        if let Some(notice) = notice {
            self.tell(notice, schedule);
        }
    }

    /// Tells the owner of a message what becomes of it.
    #[inline]
    pub(crate) fn tell(&mut self, notice: Notice, schedule: &mut Schedule<EventOf<F>>) {
        let (Notice::Delivered(token) | Notice::Lost(token) | Notice::Sent(token)) = notice;
        if let Some(workload) = self.workload.as_mut().filter(|workload| workload.asks_what_is_rebuilt()) {
            workload.set_share_rebuilt(self.recovery.share_rebuilt());
        }
        let mut site = Site { plant: &mut self.plant, schedule };
        match (Owner::of(token), &mut self.workload) {
            (Owner::Operations, Some(workload)) => workload.notice(notice, &mut site),
            _ => self.recovery.notice(notice, &mut site),
        }
        if let Notice::Lost(_) = notice {
            let (now, dropped) = (schedule.now(), self.plant.fabric.packets_dropped());
            if let Some(workload) = &mut self.workload {
                workload.dropped(now, dropped);
            }
        }
    }

    /// Executes an event that is not the fabric's.
    #[inline]
    fn execute_own(&mut self, event: EventOf<F>, schedule: &mut Schedule<EventOf<F>>) {
        match event.get() {
            StorageEvent::Recovery(number) => {
                self.recovery.execute(number, &mut Site { plant: &mut self.plant, schedule });
            }
            StorageEvent::Operation(number) => {
                if let Some(workload) = &mut self.workload {
                    if workload.asks_what_is_rebuilt() {
                        workload.set_share_rebuilt(self.recovery.share_rebuilt());
                    }
                    workload.execute(number, &mut Site { plant: &mut self.plant, schedule });
                    // Soft errors are faults that the workload itself has come.
                    self.is_faulty = workload.period() == Period::During;
                }
            }
            StorageEvent::Network(change) => self.change(change, schedule),
            StorageEvent::Fail(stage) => self.learn(stage, schedule),
            StorageEvent::Way(event) => {
                if let Some(over) = (Site { plant: &mut self.plant, schedule }).execute_way(event) {
                    self.execute_own(over, schedule);
                }
            }
            // Each is executed where it is told from these.
            StorageEvent::Fabric(_) | StorageEvent::Device(_) => {}
        }
    }
}

impl<F: Network> Model for Storage<F> {
    type Event = EventOf<F>;

    /// Fetches what the event is about.
    #[inline]
    fn announce(&self, event: EventOf<F>) {
        match event.get() {
            StorageEvent::Fabric(event) => match F::token(event) {
                Some(token) if Owner::of(token) == Owner::Recovery => self.recovery.announce(token),
                _ => self.plant.fabric.announce(event),
            },
            StorageEvent::Recovery(number) => self.recovery.announce_event(number),
            _ => {}
        }
    }

    /// Fetches what is told of the event.
    #[inline]
    fn approach(&self, event: EventOf<F>) {
        match event.get() {
            StorageEvent::Fabric(of_fabric) => match F::delivered(of_fabric) {
                Some(token) if Owner::of(token) == Owner::Recovery => self.recovery.approach(token, &self.plant.disks),
                _ => Model::announce(self, event),
            },
            StorageEvent::Recovery(number) => self.recovery.approach_event(number),
            _ => {}
        }
    }

    #[inline]
    fn execute(&mut self, event: EventOf<F>, schedule: &mut Schedule<EventOf<F>>) {
        if self.ended_at.is_some() {
            return;
        }
        match event.get() {
            StorageEvent::Fabric(event) => self.execute_fabric(event, schedule),
            StorageEvent::Device(device) => {
                let Finished { tag, next } = self.plant.disks[device.index()].finish(schedule.now());
                if let Some(end) = next {
                    schedule.at(end, EventOf::new(StorageEvent::Device(device)));
                }
                self.execute_own(EventOf::of_word(tag), schedule);
            }
            _ => self.execute_own(event, schedule),
        }
        self.note_recovery(schedule.now());
        if self.is_traffic_over() && self.recovery.is_over() {
            self.ended_at = Some(schedule.now());
        }
    }
}
