//! The storage system as a whole: devices behind a fabric, the rebuild of what is lost, and the clients beside it.

use resilver_device::{Device, Finished, Io, Queued};
use resilver_fabric::{Fabric, Message, Notice};
use resilver_kernel::queue::QueueKind;
use resilver_kernel::{Model, Schedule};
use resilver_units::{DeviceId, EndpointId, SimTime};

use crate::SystemError;
use crate::event::{EventOf, StorageEvent, untoken};
use crate::outcome::Outcome;
use crate::rebuild::Rebuild;

/// What the parts of a system share: the fabric, and the devices behind it.
#[derive(Clone, Debug)]
pub struct Plant<F, D> {
    /// The fabric.
    pub fabric: F,
    /// The devices.
    pub disks: Vec<D>,
    /// The endpoint of each device.
    pub endpoint_of: Vec<EndpointId>,
}

/// Where a part of the system acts: on what all share, at the present time.
pub(crate) struct Site<'a, F: Fabric, D, K: QueueKind> {
    pub plant: &'a mut Plant<F, D>,
    pub schedule: &'a mut Schedule<EventOf<F>, K>,
}

impl<F: Fabric, D: Device, K: QueueKind> Site<'_, F, D, K> {
    /// Hands a message to the fabric; returns when its sender is done with it, where that is known.
    #[inline]
    pub fn send(&mut self, message: Message) -> Option<SimTime> {
        let (now, schedule) = (self.schedule.now(), &mut *self.schedule);
        let queue = |time, event| schedule.at(time, EventOf::new(StorageEvent::Fabric(event)));
        self.plant.fabric.send(now, message, queue)
    }

    /// Queues a request at a device; `event` happens when it completes.
    #[inline]
    pub fn submit(&mut self, device: DeviceId, io: Io, event: StorageEvent<F::Event>) {
        let event = EventOf::new(event);
        match self.plant.disks[device.index()].submit(self.schedule.now(), io, event.word()) {
            Queued::Completes(time) => self.schedule.at(time, event),
            Queued::Begins(end) => self.schedule.at(end, EventOf::new(StorageEvent::Device(device))),
            Queued::Waits => {}
        }
    }
}

/// A storage system under way.
pub struct Storage<F, D> {
    plant: Plant<F, D>,
    rebuild: Rebuild,
}

impl<F: Fabric, D: Device> Storage<F, D> {
    /// A system with this rebuild to do.
    pub fn new(plant: Plant<F, D>, rebuild: Rebuild) -> Self {
        Storage { plant, rebuild }
    }

    /// Begins all that begins by itself.
    pub fn start<K: QueueKind>(&mut self, schedule: &mut Schedule<EventOf<F>, K>) {
        self.rebuild.start(&mut Site { plant: &mut self.plant, schedule });
    }

    /// The fabric.
    pub fn fabric(&self) -> &F {
        &self.plant.fabric
    }

    /// The rebuild.
    pub fn rebuild(&self) -> &Rebuild {
        &self.rebuild
    }

    /// What the run has to tell, held to the conservation laws.
    ///
    /// # Errors
    /// When a law is broken, which is a bug.
    pub fn finish(self, ended_at: SimTime) -> Result<Outcome, SystemError> {
        self.rebuild.finish(&self.plant.disks, ended_at)
    }

    /// An event of the fabric, which may mean something for whose message it is about.
    #[inline]
    fn execute_fabric<K: QueueKind>(&mut self, event: F::Event, schedule: &mut Schedule<EventOf<F>, K>) {
        let Plant { fabric, endpoint_of, .. } = &mut self.plant;
        if F::token(event).is_some_and(|token| self.rebuild.is_void(token)) {
            return;
        }
        let rebuild = &self.rebuild;
        let notice = fabric.execute(
            schedule.now(),
            event,
            |token| rebuild.message_of(token, endpoint_of),
            |time, next| schedule.at(time, EventOf::new(StorageEvent::Fabric(next))),
        );
        if let Some(notice) = notice {
            self.tell(notice, schedule);
        }
    }

    /// Tells the owner of a message what becomes of it.
    #[inline]
    fn tell<K: QueueKind>(&mut self, notice: Notice, schedule: &mut Schedule<EventOf<F>, K>) {
        self.rebuild.notice(notice, &mut Site { plant: &mut self.plant, schedule });
    }
}

impl<F: Fabric, D: Device, K: QueueKind> Model<K> for Storage<F, D> {
    type Event = EventOf<F>;

    /// Fetches what the event is about.
    #[inline]
    fn announce(&self, event: EventOf<F>) {
        match event.get() {
            StorageEvent::Fabric(event) => {
                if let Some(token) = F::token(event) {
                    self.rebuild.announce(untoken(token).0);
                }
            }
            StorageEvent::ReadDone(buffer) | StorageEvent::SendDone(buffer) | StorageEvent::WriteDone(buffer) => {
                self.rebuild.announce(buffer);
            }
            _ => {}
        }
    }

    #[inline]
    fn execute(&mut self, event: EventOf<F>, schedule: &mut Schedule<EventOf<F>, K>) {
        match event.get() {
            StorageEvent::Fabric(event) => self.execute_fabric(event, schedule),
            StorageEvent::Device(device) => {
                let Finished { tag, next } = self.plant.disks[device.index()].finish(schedule.now());
                if let Some(end) = next {
                    schedule.at(end, EventOf::new(StorageEvent::Device(device)));
                }
                self.rebuild.execute(EventOf::<F>::of_word(tag).get(), &mut Site { plant: &mut self.plant, schedule });
            }
            event => self.rebuild.execute(event, &mut Site { plant: &mut self.plant, schedule }),
        }
    }
}
