//! Central managers: some devices take one piece after another from a queue of all, gather its parts, make it, and send it on.
//!
//! So the directors of Panasas rebuild (Welch et al. 2008). All data passes their ports, and a manager that is done takes more.

use resilver_units::DeviceId;

use super::super::Recovery;

impl Recovery {
    /// Says which devices are managers from now on.
    pub(super) fn seat_managers(&mut self, count: u32) {
        let is_away = |device: u32| self.failed.contains(DeviceId::new(device));
        let seats = seats(count, self.devices.len() as u32, is_away);
        let Some(drivers) = &mut self.drivers else { return };
        drivers.is_manager.fill(false);
        seats.into_iter().for_each(|device| drivers.is_manager[device as usize] = true);
    }

    /// How many of the pieces in the queue come to each manager.
    pub(in crate::recovery) fn pieces_a_manager(&self) -> u64 {
        let Some(drivers) = &self.drivers else { return 0 };
        let managers = drivers.is_manager.iter().filter(|&&is_manager| is_manager).count() as u64;
        (drivers.queue.len() as u64).div_ceil(managers.max(1))
    }

    /// What stands in the queue is out of reach where none of the managers answers.
    pub(in crate::recovery) fn lose_queue_of_nobody(&mut self) {
        let Some(drivers) = &self.drivers else { return };
        let mut managers = (0u32..).zip(&drivers.is_manager).filter(|(_, is_one)| **is_one).map(|(device, _)| device);
        if managers.any(|device| !self.is_dead(device)) {
            return;
        }
        for place in drivers.queue.clone() {
            let task = self.listed[place as usize];
            if !self.work.tasks[task as usize].is_given_up {
                self.lose_task(task);
            }
        }
    }

    /// A manager takes the next task that is still wanted from the queue; false where there is none, or it is no manager, or answers
    /// nobody.
    pub(super) fn take_from_queue(&mut self, driver: u32) -> bool {
        if self.is_dead(driver) {
            return false;
        }
        let is_manager = |drivers: &&mut Box<super::Drivers>| drivers.is_manager[driver as usize];
        let Some(drivers) = self.drivers.as_mut().filter(is_manager) else { return false };
        for place in drivers.queue.by_ref() {
            let task = self.listed[place as usize];
            if self.work.tasks[task as usize].is_given_up {
                continue;
            }
            drivers.of[task as usize] = driver;
            let receiver = &mut self.receivers[driver as usize];
            (receiver.place, receiver.end) = (place, place + 1);
            receiver.plan.clear();
            return true;
        }
        false
    }
}

/// So many of `devices` devices, spread evenly, each the next that is there where one is away; all that are there where they are fewer.
fn seats(count: u32, devices: u32, is_away: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut seats = Vec::new();
    for seat in 0..count.min(devices) {
        let first = (u64::from(seat) * u64::from(devices) / u64::from(count.min(devices))) as u32;
        let mut from_there = (0..devices).map(|step| (first + step) % devices);
        seats.extend(from_there.find(|device| !is_away(*device) && !seats.contains(device)));
    }
    seats
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn managers_are_spread_and_others_stand_in_for_those_that_are_away() {
        assert_eq!(seats(3, 9, |_| false), [0, 3, 6]);
        assert_eq!(seats(3, 9, |device| device == 3), [0, 4, 6]);
        assert_eq!(seats(2, 4, |device| device >= 2), [0, 1]);
        assert_eq!(seats(7, 3, |device| device == 1), [0, 2]);
    }
}
