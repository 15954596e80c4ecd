//! Requests at devices: they come and go by the ways where there are some, and devices take part in that while they work.

use resilver_device::{Direction, Io, Queued};
use resilver_fabric::Fabric;
use resilver_units::{DeviceId, SimTime};

use super::{GOES, Next, Passage};
use crate::event::{EventOf, StorageEvent};
use crate::plant::{Plant, Site};

impl<F> Plant<F> {
    /// One more fault has taken a device away.
    pub(crate) fn fail_disk(&mut self, now: SimTime, device: DeviceId) {
        let faults = &mut self.outages[device.index()];
        *faults += 1;
        if *faults > 1 {
            return;
        }
        self.disks[device.index()].fail(now);
        if let Some(trace) = &mut self.trace {
            trace.gone(now, device.get());
        }
        if let Some(ways) = &mut self.ways {
            ways.set_down(device, true);
        }
    }

    /// A fault that has taken a device away is over; returns whether the device works again, as no other holds.
    pub(crate) fn repair_disk(&mut self, now: SimTime, device: DeviceId) -> bool {
        let faults = &mut self.outages[device.index()];
        *faults -= 1;
        if *faults > 0 {
            return false;
        }
        self.disks[device.index()].repair(now);
        if let Some(ways) = &mut self.ways {
            ways.set_down(device, false);
        }
        true
    }
}

impl<F: Fabric> Site<'_, F> {
    /// Queues a request at a device; `event` happens when it completes.
    #[inline]
    pub fn submit(&mut self, device: DeviceId, io: Io, event: StorageEvent<F::Event>) {
        let event = EventOf::new(event);
        if self.plant.ways.is_some() {
            self.submit_by_way(device, io, event);
        } else {
            self.submit_to_disk(device, io, event);
        }
    }

    #[inline]
    fn submit_to_disk(&mut self, device: DeviceId, io: Io, event: EventOf<F>) {
        let (now, idle_from) = (self.schedule.now(), self.plant.disks[device.index()].idle_from());
        let queued = self.plant.disks[device.index()].submit(now, io, event.word());
        if let Some(trace) = &mut self.plant.trace {
            let begun = match queued {
                Queued::Completes(_) => Some(idle_from.max(now)),
                Queued::Begins(_) => Some(now),
                Queued::Waits => None,
            };
            trace.queued(now, (device.get(), io, event.word()), begun, self.plant.outages[device.index()] > 0);
        }
        match queued {
            Queued::Completes(time) => self.schedule.at(time, event),
            Queued::Begins(end) => self.schedule.at(end, EventOf::new(StorageEvent::Device(device))),
            Queued::Waits => {}
        }
    }

    fn submit_by_way(&mut self, device: DeviceId, io: Io, event: EventOf<F>) {
        let Some(ways) = self.plant.ways.as_mut().filter(|ways| ways.length(device.get()) > 0) else {
            return self.submit_to_disk(device, io, event);
        };
        let place = ways.enter(device.get(), io, event.word());
        if io.direction == Direction::Read {
            let event = EventOf::new(StorageEvent::Way(ways.event(place)));
            return self.submit_to_disk(device, io, event);
        }
        ways.unwritten[device.index()] += io.bytes;
        if let Some(event) = self.go(place) {
            self.schedule.at(self.schedule.now(), event);
        }
    }

    /// Something happens on the ways; returns the owner's event of a request that is over with it.
    pub fn execute_way(&mut self, event: u64) -> Option<EventOf<F>> {
        let ways = self.plant.ways.as_mut()?;
        if event & GOES != 0 {
            for place in ways.change(self.schedule.now(), (event % GOES) as usize) {
                // What nobody takes over is lost with its device, whose failure is an event of this time.
                if let Some(over) = self.go(place) {
                    self.schedule.at(self.schedule.now(), over);
                }
            }
            return None;
        }
        let place = ways.place_of(event)?;
        ways.pass(place);
        self.go(place)
    }

    /// Sends a request on; returns its owner's event where it is over.
    fn go(&mut self, place: u32) -> Option<EventOf<F>> {
        let now = self.schedule.now();
        let ways = self.plant.ways.as_mut()?;
        match ways.go(now, place) {
            Next::Passes(end) => {
                let event = EventOf::new(StorageEvent::Way(ways.event(place)));
                self.schedule.at(end, event);
                None
            }
            Next::Device => {
                let Passage { io, device, event, .. } = ways.leave(place);
                ways.unwritten[device as usize] -= io.bytes;
                self.submit_to_disk(DeviceId::new(device), io, EventOf::of_word(event));
                None
            }
            Next::Over => Some(EventOf::of_word(ways.leave(place).event)),
        }
    }
}
