//! The storage system as a whole: devices behind a fabric, the rebuild of what is lost, and the clients beside it.

mod breaking;

use resilver_device::Finished;
use resilver_fabric::{InterfaceUse, NetworkUse, Notice};
use resilver_kernel::{Model, Schedule};
use resilver_units::{Bytes, SimTime};

use crate::SystemError;
use crate::clients::Workload;
use crate::clients::measures::{ClientOutcome, Period};
use crate::conclusion::Conclusion;
use crate::event::{EventOf, Owner, StorageEvent};
use crate::plant::ways::PartUse;
use crate::plant::{LaneReport, Network, Plant, Site, check_network};
use crate::recovery::Recovery;
use crate::recovery::outcome::Outcome;
use crate::scenario::faults::{Change, Fault, changes_of};
use crate::trace::Trace;

/// What clients got so far, and what of the system they kept busy.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    pub clients: ClientOutcome,
    pub parts: Vec<PartUse>,
    pub interfaces: Vec<InterfaceUse>,
    pub network: Option<NetworkUse>,
    pub network_bytes: Bytes,
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
    /// Whether clients keep a rebuild that the run waits for from being served.
    is_starved: bool,
}

/// After how many requests of clients in a row at one device a rebuild that waits there is taken to starve. Of a device that
/// serves at random what comes at random, and is busy 99.5 % of the time, one busy period in 10^7 is so long.
pub(crate) const STARVED_AFTER: u64 = 1 << 20;

impl<F: Network> Storage<F> {
    /// A system with this recovery to do.
    pub fn new(plant: Plant<F>, recovery: Recovery) -> Self {
        Storage::serving(plant, recovery, None, Vec::new())
    }

    /// A system with this recovery to do, a workload beside it, and faults that messages and devices meet.
    ///
    /// With a workload, the run is over when both the recovery and its time are.
    pub fn serving(mut plant: Plant<F>, recovery: Recovery, workload: Option<Workload>, faults: Vec<Fault>) -> Self {
        let (changes, gone) = (changes_of(&faults), vec![0; plant.disks.len()]);
        plant.trace = recovery.trace_window().map(|window| Box::new(Trace::new(window)));
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
            is_starved: false,
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
        let of_trace = || self.plant.trace.as_ref().and_then(|trace| trace.problem());
        let of_workload = || self.workload.as_ref().and_then(|workload| workload.problem());
        let starved = self.is_starved.then_some(SystemError::Starved);
        self.recovery.problem().or_else(of_workload).or_else(of_trace).or(starved)
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
    pub fn conclude(mut self, now: SimTime) -> Result<Conclusion, SystemError> {
        let trace = self.plant.trace.take().map(|trace| Box::new(trace.rows(self.recovery.take_trace())));
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
            trace,
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

    /// Notes that an event is executed, and what a device has done by it that knew when it would.
    #[cold]
    fn note_event(&mut self, event: EventOf<F>, schedule: &Schedule<EventOf<F>>) {
        let Some(trace) = &mut self.plant.trace else { return };
        let (now, is_over) = (schedule.now(), self.ended_at.is_some());
        let kind = match event.get() {
            StorageEvent::Fabric(_) => 0,
            StorageEvent::Recovery(_) => 1,
            StorageEvent::Operation(_) => 2,
            StorageEvent::Device(_) => 3,
            StorageEvent::Way(_) => 4,
            StorageEvent::Fail(_) | StorageEvent::Network(_) => 5,
        };
        trace.event(now, kind, schedule.pending());
        if kind > 0 && !is_over {
            trace.done(now, event.word());
        }
    }

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
        if self.plant.trace.is_some() {
            self.note_event(event, schedule);
        }
        if self.ended_at.is_some() {
            return;
        }
        match event.get() {
            StorageEvent::Fabric(event) => self.execute_fabric(event, schedule),
            StorageEvent::Device(device) => {
                let disk = &mut self.plant.disks[device.index()];
                let Finished { tag, next } = disk.finish(schedule.now());
                if disk.passed() >= STARVED_AFTER {
                    // Until the clients' own time is over the run does not wait for the rebuild.
                    self.is_starved |= self.clients_end().is_none_or(|end| schedule.now() >= end);
                }
                if let Some(end) = next {
                    schedule.at(end, EventOf::new(StorageEvent::Device(device)));
                }
                if let Some(trace) = &mut self.plant.trace {
                    trace.done(schedule.now(), tag);
                    let begun = self.plant.disks[device.index()].serving();
                    begun.into_iter().for_each(|tag| trace.begun(schedule.now(), tag));
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
