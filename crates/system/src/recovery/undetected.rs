//! Devices that are gone, or answer again, without anyone being told.

use resilver_fabric::Fabric;
use resilver_units::DeviceId;

use super::Recovery;
use super::tasks::Task;
use crate::plant::Site;

impl Recovery {
    /// A device answers nobody any more: what waits at it is lost, and what it was to receive is out of lost.
    #[cold]
    pub(crate) fn lose_device<F: Fabric>(&mut self, device: DeviceId, site: &mut Site<'_, F>) {
        let Some(lost) = &mut self.lost_messages else { return };
        // What is to come to a device is given up when recovery asks for it: until then the device may be back.
        if std::mem::replace(&mut lost.dead[device.index()], true) || self.stages_passed() == 0 {
            return;
        }
        self.lose_tasks_of(device, site);
        for leg in std::mem::take(&mut self.senders[device.index()].waiting) {
            self.waits.note(|trace| trace.unwanted((leg.slot, leg.position), site.schedule.now()));
            self.senders[device.index()].bytes_asked -= self.gathers.get(leg.slot).bytes;
            self.leg_lost(leg, site);
        }
        if self.drivers.is_some() {
            // Others may have had to do with what is given up.
            self.lose_queue_of_nobody();
            self.ask_all(site);
        }
        self.ask_admitted(site);
    }

    /// What is to come to a device that answers nobody, or is driven by it, is out of reach.
    fn lose_tasks_of<F: Fabric>(&mut self, device: DeviceId, site: &mut Site<'_, F>) {
        for task in 0..self.work.tasks.len() as u32 {
            let Task { destination, is_given_up, buffers_left, .. } = self.work.tasks[task as usize];
            let is_its = [destination, self.driver_of(task)].contains(&device.get());
            if is_its && !is_given_up && buffers_left > 0 {
                self.lose_task(task);
            }
        }
        let receiver = &mut self.receivers[device.index()];
        receiver.place = receiver.end;
        receiver.plan.clear();
        self.waits.note(|trace| trace.released(device.get(), site.schedule.now()));
        self.void_given_up(site);
    }

    /// Recovery begins: what is to come to devices that answer nobody is out of reach.
    pub(super) fn lose_tasks_of_dead<F: Fabric>(&mut self, site: &mut Site<'_, F>) {
        let dead = |device: &DeviceId| self.is_dead(device.get());
        let dead: Vec<DeviceId> = (0..self.devices.len() as u32).map(DeviceId::new).filter(dead).collect();
        dead.into_iter().for_each(|device| self.lose_tasks_of(device, site));
    }

    /// A device answers again, and may drive what nobody has taken yet.
    pub(crate) fn regain_device<F: Fabric>(&mut self, device: DeviceId, site: &mut Site<'_, F>) {
        if let Some(lost) = &mut self.lost_messages {
            lost.dead[device.index()] = false;
        }
        if self.drivers.is_some() && self.stages_passed() > 0 {
            self.ask(device.get(), site);
        }
    }
}
