//! Devices that come back with what they held.
//!
//! A piece that is still missing is there again as soon as a device that held it is back, and nothing more is done about its rebuild.
//! One that was made anew meanwhile stays where it is, and what came back of it is not needed. Nothing else moves because
//! devices come back. What was asked of a device, or by it, before it failed means nothing any more when it is back: each part
//! that is asked for remembers the stage at which it was, and each device the last at which it failed.

use std::collections::BTreeMap;

use rayon::prelude::*;
use resilver_placement::inverse::FailedSet;
use resilver_redundancy::Pieces;
use resilver_units::{DeviceId, SimTime};

use super::Recovery;
use super::gathers::Leg;
use super::homes::HomesScratch;
use super::places::{LOST, NOBODY, device_at, is_there};
use super::work::PART_OBJECTS;

/// A piece that a device held when it failed: its object, its position, and its place as it was.
pub(super) type Held = (u32, u8, u32);

/// What is known of devices that come back.
#[derive(Clone, Debug)]
pub(super) struct Returns {
    /// Pieces of the widest code.
    stride: usize,
    /// How many stages had come when each device had failed last; zero while it never did.
    failed_at: Vec<u32>,
    /// How many had come when each part of each buffer under way was asked for, and each buffer taken up.
    asked_at: Vec<u32>,
    opened_at: Vec<u32>,
    /// What each device that is gone, and that comes back, held.
    pub shelves: BTreeMap<u32, Vec<Held>>,
    /// Of each object, the pieces that stay where they are whatever placement says, and those that have just come back.
    pub stays: Vec<u64>,
    pub back: Vec<u64>,
    /// Lost pieces that came back, and pieces that came back and had been made anew.
    pub pieces: u64,
    pub surplus: u64,
}

impl Returns {
    /// What is known of the devices and `objects` objects of a run at its beginning, where devices ever come back.
    pub fn of(failures: &[(SimTime, FailedSet)], devices: usize, objects: usize, stride: usize) -> Option<Self> {
        let comes_back = |pair: &[(SimTime, FailedSet)]| pair[0].1.devices().any(|device| !pair[1].1.contains(device));
        failures.windows(2).any(comes_back).then(|| Returns {
            stride,
            failed_at: vec![0; devices],
            asked_at: Vec::new(),
            opened_at: Vec::new(),
            shelves: BTreeMap::new(),
            stays: vec![0; objects],
            back: vec![0; objects],
            pieces: 0,
            surplus: 0,
        })
    }

    /// How many stages there are behind which devices only come back.
    pub fn at_end(failures: &[(SimTime, FailedSet)]) -> usize {
        let fails = |pair: &[(SimTime, FailedSet)]| pair[1].1.devices().any(|device| !pair[0].1.contains(device));
        failures.windows(2).rev().take_while(|pair| !fails(pair)).count()
    }

    /// A part of a buffer is asked for, when so many stages have come.
    pub fn asked(&mut self, leg: Leg, stages: u32) {
        let place = leg.slot as usize * self.stride + leg.position as usize;
        if self.asked_at.len() <= place {
            self.asked_at.resize(place + self.stride, 0);
        }
        self.asked_at[place] = stages;
    }

    /// A buffer is taken up, when so many stages have come.
    pub fn opened(&mut self, slot: u32, stages: u32) {
        if self.opened_at.len() <= slot as usize {
            self.opened_at.resize(slot as usize + 1, 0);
        }
        self.opened_at[slot as usize] = stages;
    }

    /// Whether a device has failed since a part was asked of it.
    pub fn is_stale_leg(&self, leg: Leg, source: u32) -> bool {
        self.failed_at[source as usize] > self.asked_at[leg.slot as usize * self.stride + leg.position as usize]
    }

    /// Whether a device has failed since it took a buffer up.
    pub fn is_stale_buffer(&self, slot: u32, destination: u32) -> bool {
        self.failed_at[destination as usize] > self.opened_at[slot as usize]
    }

    /// Devices have failed at the last of so many stages.
    pub fn failed(&mut self, devices: &[DeviceId], stages: u32) {
        devices.iter().for_each(|device| self.failed_at[device.index()] = stages);
    }
}

/// The pieces that want to go elsewhere because devices came back, and stay: but for those on their way, where they still belong
/// where they go.
pub(super) fn refusing(
    keeps_positions: bool,
    (places, after): (&[u32], &[u32]),
    under_way: &[(u8, u32)],
    back: Pieces,
) -> Pieces {
    let refuses = |&position: &u32| {
        let (place, home) = (places[position as usize], after[position as usize]);
        let leaves = if keeps_positions { home != NOBODY && home != place } else { !after.contains(&place) };
        let goes_on = |&(piece, to): &(u8, u32)| {
            u32::from(piece) == position && if keeps_positions { to == home } else { after.contains(&to) }
        };
        place != NOBODY && leaves && (back.contains(position) || !under_way.iter().any(goes_on))
    };
    Pieces::of((0..places.len() as u32).filter(refuses))
}
impl Recovery {
    /// Lost pieces that came back with their devices.
    pub(super) fn returned_pieces(&self) -> u64 {
        self.returns.as_ref().map_or(0, |returns| returns.pieces)
    }

    /// Notes what devices that come back later hold, before they fail: of the first to fail, what placement gave them.
    pub(super) fn shelve(&mut self, failing: &[DeviceId]) {
        let passed = self.stages_passed();
        let Some(returns) = &mut self.returns else { return };
        let mut shelves = std::mem::take(&mut returns.shelves);
        let later = self.failures.get(passed as usize..).unwrap_or_default();
        let mut comes_back = vec![false; self.devices.len()];
        for &device in failing {
            let is_back = later.iter().any(|(_, failed)| !failed.contains(device));
            comes_back[device.index()] = is_back && !self.work.homes.is_replaced(device);
        }
        let (stride, work) = (self.stride, &self.work);
        let held_of = |(chunk, rows): (usize, &[u32])| {
            let (mut scratch, mut row) = (HomesScratch::default(), vec![NOBODY; stride]);
            let (mut held, first) = (Vec::new(), chunk * PART_OBJECTS);
            for (subject, places) in (first as u32..).zip(rows.chunks(stride)) {
                row.copy_from_slice(places);
                if passed == 1 && places.contains(&LOST) {
                    let width = work.pool(subject).width();
                    work.homes.fill(0, work.objects[subject as usize].object, &mut scratch, &mut row[..width]);
                }
                let is_held = |place: u32| is_there(place) && comes_back[device_at(place) as usize];
                let of_row = (0u8..).zip(&row).filter(|&(_, &place)| is_held(place));
                held.extend(of_row.map(|(position, &place)| (subject, position, place)));
            }
            held
        };
        let chunks = work.places.par_chunks(PART_OBJECTS * stride).enumerate();
        let parts: Vec<Vec<Held>> = chunks.map(held_of).collect();
        for held in parts.into_iter().flatten() {
            shelves.entry(device_at(held.2)).or_default().push(held);
        }
        returns.shelves = shelves;
        if passed == 1 {
            returns.failed(failing, passed);
        }
    }

    /// Devices are back: of what they held, what is still missing is there again.
    pub(super) fn give_back(&mut self, now: SimTime, returning: &[DeviceId]) {
        let Some(returns) = &mut self.returns else { return };
        returns.back.fill(0);
        for device in returning {
            for (subject, position, place) in returns.shelves.remove(&device.get()).unwrap_or_default() {
                let present = &mut self.work.places[subject as usize * self.stride + usize::from(position)];
                if *present == LOST {
                    *present = place;
                    self.rebuilt_at = now;
                    self.rebuilt_of[self.work.number_of_pool(subject)].last_at = now;
                    returns.back[subject as usize] |= 1 << position;
                    self.histories[subject as usize].returned += 1;
                    returns.pieces += 1;
                } else {
                    returns.surplus += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_on_its_way_goes_on_when_devices_come_back() {
        let of = |keeps, places: &[u32], after: &[u32], under_way: &[(u8, u32)], back: u64| {
            let back = Pieces::of((0..64).filter(|bit| back >> bit & 1 == 1));
            refusing(keeps, (places, after), under_way, back).iter().collect::<Vec<u32>>()
        };
        // Position 0 is where it belongs; 1 was made at 8 and belongs at 1; 2 goes to 9, where it belongs.
        assert_eq!(of(true, &[4, 8, 2], &[4, 1, 9], &[(2, 9)], 0), [1]);
        assert_eq!(of(true, &[4, 8, 2], &[4, 1, 9], &[(2, 7)], 0), [1, 2]);
        // What has come back stays though its rebuild elsewhere is under way.
        assert_eq!(of(true, &[4, 8, 2], &[4, 8, 9], &[(2, 9)], 0b100), [2]);
        assert_eq!(of(false, &[4, 8, 2], &[2, 4, 1], &[], 0), [1]);
        assert_eq!(of(false, &[4, 8, 2], &[2, 4, 1], &[(1, 1)], 0), [] as [u32; 0]);
        assert_eq!(of(false, &[4, NOBODY, 2], &[2, 4, 1], &[], 0), [] as [u32; 0]);
    }
}
