//! What software lets begin: so many pieces at a time that a server drives, reads or receives, and in all, with pauses between them;
//! and how fast a driver asks for what has begun.
//!
//! A driver takes its pieces in their order. One that may not begin waits in the queue of the first of its places that is taken, and
//! asks again when one of those is free; it then chooses its sources anew. A piece keeps its places until it is complete or
//! given up, also where it is made of others meanwhile than of those that it began with.

use std::collections::{BTreeMap, VecDeque};

use resilver_fabric::Fabric;
use resilver_units::{Bytes, DeviceId, SimDuration, SimTime};

use super::Recovery;
use super::events::RecoveryEvent;
use super::gathers::Gather;
use super::places::{device_at, is_there};
use super::protocol::event;
use super::tasks::buffers_of;
use crate::event::EventOf;
use crate::plant::Site;
use crate::scenario::SoftwareLimits;
use crate::trace::Held;

/// Something that so many pieces at a time may have; servers are told by the first of their ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    All,
    Driver(u32),
    Source(u32),
    Target(u32),
}

/// Who has each place, and who waits for it.
#[derive(Clone, Debug, Default)]
struct Taken {
    pieces: u32,
    waiting: VecDeque<u32>,
}

/// What is under way, and what waits.
#[derive(Clone, Debug)]
pub(super) struct Admission {
    limits: SoftwareLimits,
    places: BTreeMap<Place, Taken>,
    /// The driver of each piece under way, and what it takes.
    under_way: BTreeMap<u32, (u32, Vec<Place>)>,
    /// Which place each device waits for as a driver.
    waits_for: Vec<Option<Place>>,
    /// Places that have become free.
    freed: Vec<Place>,
    /// From when on each device may begin a piece.
    begins_from: Vec<SimTime>,
    /// When all that was asked for in all is paid for, and when each driver's turn comes that waits for its own.
    paid_at: SimTime,
    turns: Vec<Option<SimTime>>,
}

/// When more may be asked for, where all that was asked for is paid for at `paid_at` and so much may be owed.
pub(super) fn within_burst(paid_at: SimTime, burst: SimDuration) -> SimTime {
    SimTime::from_picoseconds(paid_at.picoseconds().saturating_sub(burst.picoseconds()))
}

impl Admission {
    /// Of nothing under way; none where software limits nothing of it.
    pub fn of(limits: SoftwareLimits, devices: usize) -> Option<Box<Self>> {
        limits.holds_pieces().then(|| {
            Box::new(Admission {
                limits,
                places: BTreeMap::new(),
                under_way: BTreeMap::new(),
                waits_for: vec![None; devices],
                freed: Vec::new(),
                begins_from: vec![SimTime::ZERO; devices],
                paid_at: SimTime::ZERO,
                turns: vec![None; devices],
            })
        })
    }

    fn limit(&self, place: Place) -> Option<u32> {
        match place {
            Place::All => self.limits.in_all,
            Place::Driver(_) => self.limits.per_driver,
            Place::Source(_) => self.limits.per_source,
            Place::Target(_) => self.limits.per_target,
        }
    }

    fn is_full(&self, place: Place) -> bool {
        let pieces = self.places.get(&place).map_or(0, |taken| taken.pieces);
        self.limit(place).is_some_and(|limit| pieces >= limit)
    }

    /// Gives a piece its places, or has its driver wait for the first that is taken; whether it got them.
    fn take(&mut self, (driver, task): (u32, u32), places: impl Iterator<Item = Place>) -> bool {
        let mut places: Vec<Place> = places.filter(|&place| self.limit(place).is_some()).collect();
        places.sort_unstable();
        places.dedup();
        if let Some(&full) = places.iter().find(|&&place| self.is_full(place)) {
            if self.waits_for[driver as usize] != Some(full) {
                self.waits_for[driver as usize] = Some(full);
                self.places.entry(full).or_default().waiting.push_back(driver);
            }
            return false;
        }
        self.waits_for[driver as usize] = None;
        places.iter().for_each(|&place| self.places.entry(place).or_default().pieces += 1);
        self.under_way.insert(task, (driver, places));
        true
    }

    /// A piece is complete or given up; returns who drove it.
    fn leave(&mut self, task: u32) -> Option<u32> {
        let (driver, places) = self.under_way.remove(&task)?;
        for &place in &places {
            self.places.entry(place).or_default().pieces -= 1;
        }
        self.freed.extend(places);
        Some(driver)
    }

    /// The next driver that waits for a place that has become free.
    fn next_waiting(&mut self) -> Option<u32> {
        while let Some(&place) = self.freed.last() {
            let is_full = self.is_full(place);
            match self.places.get_mut(&place).filter(|_| !is_full).and_then(|taken| taken.waiting.pop_front()) {
                None => drop(self.freed.pop()),
                // It may wait for another place by now, or for none.
                Some(driver) if self.waits_for[driver as usize] == Some(place) => {
                    self.waits_for[driver as usize] = None;
                    return Some(driver);
                }
                Some(_) => {}
            }
        }
        None
    }

    /// When a driver's turn comes to ask for `bytes` of what all may ask for; `None` where that is now.
    pub fn time_in_all(&mut self, driver: u32, bytes: Bytes, now: SimTime) -> Option<SimTime> {
        let rate = self.limits.rate_in_all?;
        let turn = match self.turns[driver as usize] {
            Some(turn) => turn,
            None => {
                let turn = within_burst(self.paid_at, rate.time_for(self.limits.burst));
                self.paid_at = self.paid_at.max(now) + rate.time_for(bytes);
                turn
            }
        };
        self.turns[driver as usize] = (turn > now).then_some(turn);
        self.turns[driver as usize]
    }

    /// Pieces under way, and the places that any has.
    pub fn left(&self) -> u64 {
        self.under_way.len() as u64 + self.places.values().map(|taken| u64::from(taken.pieces)).sum::<u64>()
    }
}

impl Recovery {
    /// Whether software lets a driver begin the piece that it has turned to; otherwise it asks again when it may.
    pub(super) fn is_admitted<F: Fabric>(&mut self, driver: u32, task: u32, site: &mut Site<'_, F>) -> bool {
        let Some(admission) = &mut self.admission else { return true };
        if admission.under_way.contains_key(&task) {
            return true;
        }
        let now = site.schedule.now();
        let begins_from = admission.begins_from[driver as usize];
        if now < begins_from {
            self.wait_until(begins_from, driver, site);
            self.waits.note(|trace| trace.held_back(driver, Held::Software, Bytes::ZERO, now));
            return false;
        }
        let server = |device: u32| site.plant.ports.endpoint(DeviceId::new(device), 0).get();
        let receiver = &mut self.receivers[driver as usize];
        let first = self.work.tasks[task as usize].subject as usize * self.stride;
        let sources = receiver.plan.positions().iter().map(|&position| self.work.places[first + usize::from(position)]);
        let sources = sources.filter(|&place| is_there(place)).map(device_at);
        let target = self.work.tasks[task as usize].destination;
        let ends = [Place::All, Place::Driver(server(driver)), Place::Target(server(target))];
        let was_waiting = admission.waits_for[driver as usize].is_some();
        let places = ends.into_iter().chain(sources.map(|source| Place::Source(server(source))));
        let is_admitted = admission.take((driver, task), places);
        if is_admitted {
            // What it waited before it was asked again was added then.
            if was_waiting {
                receiver.queued += now.since(receiver.queued_since);
            }
        } else {
            receiver.plan.clear();
            if !was_waiting {
                receiver.queued_since = now;
            }
            self.waits.note(|trace| trace.held_back(driver, Held::Software, Bytes::ZERO, now));
        }
        is_admitted
    }

    /// The pieces of a task's object that software does not let be read now, as a set.
    #[inline]
    pub(super) fn taken_sources<F: Fabric>(&self, task: u32, site: &Site<'_, F>) -> u64 {
        let Some(admission) = self.admission.as_ref().filter(|admission| admission.limits.per_source.is_some()) else {
            return 0;
        };
        let row = self.row(self.work.tasks[task as usize].subject);
        let is_taken = |&(_, &place): &(usize, &u32)| {
            is_there(place) && {
                let device = DeviceId::new(device_at(place));
                admission.is_full(Place::Source(site.plant.ports.endpoint(device, 0).get()))
            }
        };
        row.iter().enumerate().filter(is_taken).fold(0, |set, (position, _)| set | 1 << position)
    }

    /// A piece is complete: its places are free, and its driver pauses.
    #[inline]
    pub(super) fn leave_admission(&mut self, task: u32, now: SimTime) {
        if let Some(admission) = &mut self.admission
            && let Some(driver) = admission.leave(task)
        {
            admission.begins_from[driver as usize] = now + admission.limits.pause;
        }
    }

    /// A piece is given up: its places are free.
    pub(super) fn drop_admission(&mut self, task: u32) {
        if let Some(admission) = &mut self.admission {
            admission.leave(task);
        }
    }

    /// Pieces that were let begin and have not begun give their places back: drivers may turn to others first.
    pub(super) fn drop_unbegun(&mut self) {
        let Some(admission) = &mut self.admission else { return };
        let tasks = &self.work.tasks;
        let unbegun: Vec<u32> =
            admission.under_way.keys().copied().filter(|&task| tasks[task as usize].number == 0).collect();
        for task in unbegun {
            admission.leave(task);
        }
    }

    /// Lets those ask again that waited for places that have become free.
    #[inline]
    pub(super) fn ask_admitted<F: Fabric>(&mut self, site: &mut Site<'_, F>) {
        while let Some(driver) = self.admission.as_mut().and_then(|admission| admission.next_waiting()) {
            let receiver = &mut self.receivers[driver as usize];
            let now = site.schedule.now();
            receiver.queued += now.since(receiver.queued_since);
            receiver.queued_since = now;
            self.ask(driver, site);
        }
    }

    /// Drivers scan what they are to rebuild before they begin; managers share what is in their queue.
    pub(super) fn scan_first(&mut self, now: SimTime) {
        let scan_per_piece = self.policy.software.scan_per_piece;
        let shared = self.pieces_a_manager();
        let Some(admission) = self.admission.as_mut().filter(|_| scan_per_piece > SimDuration::ZERO) else { return };
        for (begins_from, receiver) in admission.begins_from.iter_mut().zip(&self.receivers) {
            let pieces = u64::from(receiver.end - receiver.place).max(shared);
            *begins_from = now + SimDuration::from_picoseconds(scan_per_piece.picoseconds().saturating_mul(pieces));
        }
    }

    /// What software takes for a buffer beside its data, and for a piece, which its last buffer waits for.
    #[inline]
    pub(super) fn software_time(&self, gather: &Gather) -> SimDuration {
        let SoftwareLimits { time_per_buffer, time_per_piece, .. } = self.policy.software;
        if time_per_piece == SimDuration::ZERO {
            return time_per_buffer;
        }
        let size = self.work.tasks[gather.task() as usize].size;
        let is_last = gather.number() + 1 == buffers_of(size, self.policy.pipeline_buffer);
        if is_last { time_per_buffer + time_per_piece } else { time_per_buffer }
    }

    /// Whether a driver may ask for `bytes` by now, which counts as asked; otherwise it is woken when it may.
    #[inline]
    pub(super) fn is_on_pace<F: Fabric>(&mut self, driver: u32, bytes: Bytes, site: &mut Site<'_, F>) -> bool {
        let now = site.schedule.now();
        if let Some(rate) = self.policy.bandwidth {
            let burst = rate.time_for(self.policy.software.burst);
            let next_at = within_burst(self.receivers[driver as usize].paid_at, burst);
            if now < next_at {
                self.wait_until(next_at, driver, site);
                return false;
            }
        }
        if let Some(at) = self.admission.as_mut().and_then(|admission| admission.time_in_all(driver, bytes, now)) {
            self.wait_until(at, driver, site);
            return false;
        }
        if let Some(rate) = self.policy.bandwidth {
            let receiver = &mut self.receivers[driver as usize];
            receiver.paid_at = receiver.paid_at.max(now) + rate.time_for(bytes);
        }
        true
    }

    /// Has a driver ask again at a time, unless it is to be woken already.
    pub(super) fn wait_until<F: Fabric>(&mut self, at: SimTime, driver: u32, site: &mut Site<'_, F>) {
        let receiver = &mut self.receivers[driver as usize];
        if !receiver.is_waiting {
            receiver.is_waiting = true;
            receiver.paced_since = site.schedule.now();
            site.schedule.at(at, EventOf::new(event(RecoveryEvent::Wake(driver))));
        }
    }
}
