//! Push: of the devices that a piece is made of the first one drives, reads its own part where it is, and sends on what it makes.
//!
//! Of copies that is the copy's way from its holder to its new home, with nobody asking. Of a code it gathers the other parts first.

use resilver_units::Bytes;

use super::super::Recovery;
use super::super::places::NOBODY;
use super::super::tasks::Task;

impl Recovery {
    /// The first piece that a task is made of says who drives it; where too few are left, it cannot be had.
    pub(super) fn drive_from_sources(&mut self) {
        for task in 0..self.work.tasks.len() as u32 {
            let Task { subject, size, is_given_up, buffers_left, .. } = self.work.tasks[task as usize];
            if is_given_up || buffers_left == 0 || self.driver_of(task) != NOBODY {
                continue;
            }
            if !self.choose(task, self.shunned(task), (0, 0)) {
                self.lose_task(task);
                continue;
            }
            let driver = self.device_of(subject, self.planned[0]);
            if let Some(drivers) = &mut self.drivers {
                drivers.of[task as usize] = driver;
                drivers.given[driver as usize] += size;
            }
        }
    }

    /// Data that a device is asked for, or is given to send where sources drive.
    #[inline]
    pub(in crate::recovery) fn load_of(&self, device: u32) -> Option<Bytes> {
        match self.drivers.as_ref().filter(|drivers| drivers.are_sources()) {
            Some(drivers) => drivers.given.get(device as usize).copied(),
            None => self.senders.get(device as usize).map(|sender| sender.bytes_asked),
        }
    }
}
