//! What faults do to a system under way.

use resilver_fabric::{Component, Notice};
use resilver_kernel::Schedule;
use resilver_units::{DeviceId, EndpointId, SimTime};

use super::Storage;
use crate::clients::measures::Period;
use crate::event::{EventOf, StorageEvent};
use crate::plant::{Network, Plant, Site};
use crate::scenario::faults::Change;

impl<F: Network> Storage<F> {
    /// A fault begins or ends; of one that the system is told of, this is what it does to the network.
    #[cold]
    pub(crate) fn change(&mut self, change: u32, schedule: &mut Schedule<EventOf<F>>) {
        let Change { fault, is_end, .. } = self.changes[change as usize];
        self.changes_done = self.changes_done.max(change as usize + 1);
        if !is_end {
            self.note_fault(schedule.now());
        }
        let fault = self.faults[fault].clone();
        if fault.is_slow() {
            // Devices and channels know beforehand when they are.
            return;
        }
        let links = fault.links.iter().map(|&link| Component::Link(link));
        let components: Vec<Component> = links.chain(fault.nodes.iter().map(|&node| Component::Node(node))).collect();
        let Plant { fabric, ports, disks, .. } = &self.plant;
        // What is known of devices, recovery begins with.
        let mut devices = if fault.is_told {
            Vec::new()
        } else {
            fault.devices_gone(disks.len(), ports, |endpoint| fabric.node_of(endpoint))
        };
        // What several faults have taken away is there again when the last of them ends.
        devices.retain(|device| {
            let faults = &mut self.gone[device.index()];
            *faults = if is_end { *faults - 1 } else { *faults + 1 };
            *faults == u32::from(!is_end)
        });
        if is_end {
            self.repair(&components, &devices, schedule);
            if let Some(workload) = self.workload.as_mut().filter(|_| fault.is_resent) {
                workload.resend(&devices, &mut Site { plant: &mut self.plant, schedule });
            }
        } else {
            self.break_down(&components, &devices, schedule);
        }
    }

    fn break_down(&mut self, components: &[Component], devices: &[DeviceId], schedule: &mut Schedule<EventOf<F>>) {
        let now = schedule.now();
        if let Some(workload) = &mut self.workload {
            let mut site = Site { plant: &mut self.plant, schedule };
            devices.iter().for_each(|&device| workload.fail_device(device, &mut site));
        }
        for device in devices {
            self.plant.fail_disk(now, *device);
        }
        for &device in devices {
            let mut site = Site { plant: &mut self.plant, schedule };
            self.recovery.lose_device(device, &mut site);
        }
        self.recovery.lose_undetected(now);
        let Plant { fabric, .. } = &mut self.plant;
        if let Some(workload) = &mut self.workload {
            let is_in =
                |endpoint| fabric.node_of(endpoint).is_some_and(|node| components.contains(&Component::Node(node)));
            workload.fail_requesters(now, is_in);
        }
        // All that fails together has failed before anyone is told.
        let mut lost: Vec<u64> = Vec::new();
        for &component in components {
            let queue = |time, event| schedule.at(time, EventOf::new(StorageEvent::Fabric(event)));
            fabric.fail(now, component, queue, |token| lost.push(token));
        }
        let Plant { fabric, ports, .. } = &mut self.plant;
        ports.learn(|endpoint| fabric.works(endpoint));
        lost.into_iter().for_each(|token| self.tell(Notice::Lost(token), schedule));
    }

    fn repair(&mut self, components: &[Component], devices: &[DeviceId], schedule: &mut Schedule<EventOf<F>>) {
        let now = schedule.now();
        for &component in components {
            self.plant.fabric.repair(now, component);
        }
        for &device in devices {
            self.repair_disk(now, device);
            self.recovery.regain_device(device, &mut Site { plant: &mut self.plant, schedule });
        }
        let Plant { fabric, ports, .. } = &mut self.plant;
        ports.learn(|endpoint| fabric.works(endpoint));
        if let Some(workload) = &mut self.workload {
            let Plant { fabric, .. } = &self.plant;
            let at: Vec<EndpointId> = workload
                .requesters()
                .filter(|&endpoint| {
                    let is_of_it = |node| components.contains(&Component::Node(node)) && fabric.is_up(node);
                    fabric.node_of(endpoint).is_some_and(is_of_it)
                })
                .collect();
            let mut site = Site { plant: &mut self.plant, schedule };
            workload.repair_requesters(|endpoint| at.contains(&endpoint), &mut site);
        }
    }

    /// A fault of a device is over: it works again where no other holds.
    fn repair_disk(&mut self, now: SimTime, device: DeviceId) {
        if self.plant.repair_disk(now, device)
            && let Some(workload) = &mut self.workload
        {
            workload.repair_device(device);
        }
    }

    /// Devices fail or come back, and the system is told: recovery begins or changes course.
    #[cold]
    pub(crate) fn learn(&mut self, stage: u32, schedule: &mut Schedule<EventOf<F>>) {
        self.take_out(stage, schedule);
        let returning = if stage > 0 { self.recovery.returning_at(stage) } else { Vec::new() };
        let share = self.recovery.share_rebuilt();
        for &device in &returning {
            let requests = self.plant.disks[device.index()].usage().requests;
            self.recovery.end_without(device, requests);
            self.repair_disk(schedule.now(), device);
        }
        let mut site = Site { plant: &mut self.plant, schedule };
        self.recovery.fail(stage, &mut site);
        if let Some(workload) = self.workload.as_mut().filter(|_| !returning.is_empty()) {
            workload.regain_devices(&returning, stage, share);
        }
    }

    /// Devices that are known to fail at a stage answer clients and others no more.
    pub(crate) fn take_out(&mut self, stage: u32, schedule: &mut Schedule<EventOf<F>>) {
        let (now, failing) = (schedule.now(), self.recovery.failing_at(stage));
        if failing.is_empty() {
            return;
        }
        self.note_fault(now);
        if let Some(workload) = &mut self.workload {
            workload.lose_devices(&failing, stage, &mut Site { plant: &mut self.plant, schedule });
        }
        for &device in &failing {
            let requests = self.plant.disks[device.index()].usage().requests;
            self.recovery.begin_without(device, requests);
            self.plant.fail_disk(now, device);
        }
    }

    /// A fault happens: from the first one on, clients are served beside it.
    pub(crate) fn note_fault(&mut self, now: SimTime) {
        if let Some(workload) = &mut self.workload
            && workload.period() == Period::Before
        {
            workload.enter(now, Period::During);
            self.is_faulty = true;
        }
    }

    /// Notes that faults are over, once they are: when all that can be recovered is, and with nothing to recover when all is
    /// repaired.
    #[inline]
    pub(crate) fn note_recovery(&mut self, now: SimTime) {
        if self.is_faulty && self.recovery.is_over() && self.is_whole() {
            self.is_faulty = false;
            if let Some(workload) = &mut self.workload {
                workload.enter(now, Period::After);
            }
        }
    }

    /// Whether there was something to recover and it is, or nothing and all faults are repaired.
    #[cold]
    fn is_whole(&self) -> bool {
        let Some(workload) = &self.workload else { return false };
        let (makes_anew, is_made) = workload.repair_in_place();
        if self.recovery.losses().pieces_to_rebuild > 0 || makes_anew {
            return is_made || !makes_anew;
        }
        // What is known to have failed is never repaired, and of the others each has its own time.
        let is_repaired = |fault: usize| {
            self.changes[..self.changes_done].iter().any(|change| change.is_end && change.fault == fault)
        };
        // This is asked at every event while a fault lasts: faults are few, and devices are many.
        (0..self.faults.len()).all(is_repaired) && !workload.knows_of_failures()
    }
}
