//! The ways between devices and their ports: the parts with a service that each request passes.
//!
//! Such a part serves one request at a time, in the order in which they come to it, and hands on what it has taken in whole.
//! What is read passes from the device upwards, what is written from the port downwards. A part that is gone is passed by its
//! partner, which what waited at it joins, until it is back. A system whose parts have no service has no ways, and pays one test a request.

mod passing;
mod station;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use resilver_device::{Direction, Io, Pace};
use resilver_fabric::PortUse;
use resilver_parts::{PartId, Parts};
use resilver_units::{Bytes, DeviceId, SimDuration, SimTime};

use crate::checker::{ConservationError, hold};
use crate::scenario::faults::{Fault, Span, merged, paces, span_of};

pub use station::PartUse;
use station::Station;

/// No station, in place of the number of one.
const NOBODY: u32 = u32::MAX;
/// Bits of a passage's place in an event, and of how often the passage was put elsewhere.
const PLACE_BITS: u32 = 32;
const TURN_BITS: u32 = 26;
/// Marks the event of a part that goes or comes back.
const GOES: u64 = 1 << (PLACE_BITS + TURN_BITS);

/// A request on its way.
#[derive(Clone, Copy, Debug)]
struct Passage {
    io: Io,
    device: u32,
    /// The owner's event, which happens when the request is over.
    event: u64,
    /// How many parts of the way it has passed.
    passed: u32,
    /// The station it is at; nobody where it is at its device.
    at: u32,
    /// How many requests had come to any station before it came to this one.
    order: u64,
    /// Tells the events of this passage at this station from older ones.
    turn: u32,
    is_open: bool,
}

/// Where a request goes next.
enum Next {
    /// It is at a station, until then.
    Passes(SimTime),
    /// It is written to its device.
    Device,
    /// It is where it was to go, or lost with its device.
    Over,
}

/// The ways of a system, and what is on them.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    parts: Parts,
    stations: Vec<Station>,
    /// The station that each part is, or nobody.
    number_of: Vec<u32>,
    /// The stations of each device's way, from the device up, one device behind another, and where each begins.
    of_devices: Vec<u32>,
    first: Vec<u32>,
    /// When which stations go, and come back: at one time those that come back first.
    changes: Vec<(SimTime, bool, u32)>,
    /// Whether each device has failed.
    is_down: Vec<bool>,
    /// What is written to each device and has not come to it.
    unwritten: Vec<Bytes>,
    passages: Vec<Passage>,
    free: Vec<u32>,
    orders: u64,
}

impl Ways {
    /// The ways of a system with these faults; none where no part has a service on the way of any device.
    pub fn of(parts: &Parts, faults: &[Fault]) -> Option<Self> {
        let parts = parts.clone();
        let mut number_of = vec![NOBODY; parts.len()];
        let (mut stations, mut of_devices, mut first): (Vec<Station>, _, _) = (Vec::new(), Vec::new(), vec![0]);
        let mut station = |part: PartId, stations: &mut Vec<Station>| {
            let number = &mut number_of[part.index()];
            if *number == NOBODY {
                *number = stations.len() as u32;
                stations.push(Station::new(part, parts.service(part).unwrap_or_default(), *number));
            }
            *number
        };
        for device in 0..parts.devices().len() as u32 {
            let way = parts.way(DeviceId::new(device)).unwrap_or_default();
            of_devices.extend(way.into_iter().map(|part| station(part, &mut stations)));
            first.push(of_devices.len() as u32);
        }
        if stations.is_empty() {
            return None;
        }
        // A partner may carry nothing of its own and stand by.
        for number in 0..stations.len() {
            if let Some(partner) = parts.partner(stations[number].part) {
                station(partner, &mut stations);
            }
        }
        for (part, health) in paces(faults, |fault| fault.parts.clone()) {
            if let Some(slow) = stations.get_mut(number_of[part as usize] as usize) {
                slow.pace = Pace::default().with_health(&health);
            }
        }
        let mut gone: BTreeMap<u32, Vec<Span>> = BTreeMap::new();
        for fault in faults.iter().filter(|fault| !fault.is_slow()) {
            let numbers = fault.parts.iter().map(|&part| number_of[part as usize]).filter(|&number| number != NOBODY);
            numbers.for_each(|number| gone.entry(number).or_default().push(span_of(fault)));
        }
        let ends = |(number, spans): (u32, Vec<Span>)| {
            merged(spans).into_iter().flat_map(move |(at, until)| [(at, true, number), (until, false, number)])
        };
        let mut changes: Vec<(SimTime, bool, u32)> = gone.into_iter().flat_map(ends).collect();
        changes.retain(|&(at, ..)| at < SimTime::MAX);
        changes.sort_unstable();
        let devices = parts.devices().len();
        Some(Ways {
            stations,
            number_of,
            of_devices,
            first,
            changes,
            is_down: vec![false; devices],
            unwritten: vec![Bytes::ZERO; devices],
            passages: Vec::new(),
            free: Vec::new(),
            orders: 0,
            parts,
        })
    }

    /// When parts go or come back, by the number of their event.
    pub fn events(&self) -> impl Iterator<Item = (SimTime, u64)> + '_ {
        (0..).zip(&self.changes).map(|(index, &(at, ..))| (at, GOES | index))
    }

    /// Whether a device has failed from now on.
    pub fn set_down(&mut self, device: DeviceId, is_down: bool) {
        self.is_down[device.index()] = is_down;
    }

    /// What is written to a device and has not come to it.
    pub fn unwritten(&self, device: usize) -> Bytes {
        self.unwritten[device]
    }

    /// Statistics begin anew.
    pub fn begin_statistics(&mut self, now: SimTime) {
        for station in &mut self.stations {
            station.before = (station.passed.0, station.passed.1, station.busy_until(now));
        }
    }

    /// What each part with a service did from the beginning of statistics to `now`, in the order of the parts.
    ///
    /// # Errors
    /// When a law of conservation is broken, which is a bug; `window` is the time of the statistics.
    pub fn uses(&self, now: SimTime, window: SimDuration) -> Result<Vec<PartUse>, ConservationError> {
        let at = |number: u32| self.passages.iter().filter(|one| one.is_open && one.at == number).count() as u64;
        let mut uses = Vec::with_capacity(self.stations.len());
        for (number, station) in (0..).zip(&self.stations) {
            let (requests, bytes, busy) = station.before;
            let busy = station.busy_until(now) - busy;
            let most = busy.max(window).picoseconds();
            hold([
                ("what comes to a part passes it, waits there or is taken over", station.came, {
                    station.passed.0 + station.moved + at(number)
                }),
                ("no part is busier than the time allows", most, window.picoseconds()),
            ])?;
            let (requests, bytes) = (station.passed.0 - requests, station.passed.1 - bytes);
            let (level, name) = (self.parts.level(station.part).to_owned(), self.parts.name(station.part));
            uses.push((station.part, PartUse { level, name, requests, bytes, busy }));
        }
        uses.sort_unstable_by_key(|&(part, _)| part);
        Ok(uses.into_iter().map(|(_, of_part)| of_part).collect())
    }

    /// What each station did by now, whenever statistics began, in the order of their numbers.
    pub fn uses_so_far(&self, now: SimTime) -> Vec<PortUse> {
        let so_far = |station: &Station| PortUse { busy: station.busy_until(now), bytes: station.passed.1 };
        self.stations.iter().map(so_far).collect()
    }

    /// The stations that what is read from or written to a device passes.
    pub fn of_device(&self, device: u32) -> &[u32] {
        &self.of_devices[self.first[device as usize] as usize..self.first[device as usize + 1] as usize]
    }

    /// The level and the name of a station's part.
    pub fn named(&self, station: u32) -> (String, String) {
        let part = self.stations[station as usize].part;
        (self.parts.level(part).to_owned(), self.parts.name(part))
    }

    /// How many parts lie on a device's way.
    fn length(&self, device: u32) -> u32 {
        self.first[device as usize + 1] - self.first[device as usize]
    }

    /// Puts a request on its way; returns its place.
    fn enter(&mut self, device: u32, io: Io, event: u64) -> u32 {
        let passage = Passage { io, device, event, passed: 0, at: NOBODY, order: 0, turn: 0, is_open: true };
        let Some(place) = self.free.pop() else {
            self.passages.push(passage);
            return u32::try_from(self.passages.len() - 1).expect("2^32 requests exceed any memory");
        };
        let turn = self.passages[place as usize].turn;
        self.passages[place as usize] = Passage { turn, ..passage };
        place
    }

    /// A request is over: its place is free, and events of it mean nothing any more.
    fn leave(&mut self, place: u32) -> Passage {
        let passage = &mut self.passages[place as usize];
        let left = *passage;
        passage.is_open = false;
        passage.turn = (passage.turn + 1) % (1 << TURN_BITS);
        self.free.push(place);
        left
    }

    /// The event by which a request goes on from where it is.
    fn event(&self, place: u32) -> u64 {
        u64::from(self.passages[place as usize].turn) << PLACE_BITS | u64::from(place)
    }

    /// The request that an event is about, where it is still there.
    fn place_of(&self, event: u64) -> Option<u32> {
        let (place, turn) = (event as u32, (event >> PLACE_BITS) as u32);
        let passage = self.passages[place as usize];
        (passage.is_open && passage.turn == turn).then_some(place)
    }

    /// A request has passed the station that it is at, where it is at one.
    fn pass(&mut self, place: u32) {
        let Passage { at, io, .. } = self.passages[place as usize];
        if let Some(station) = self.stations.get_mut(at as usize) {
            station.passed.0 += 1;
            station.passed.1 += io.bytes;
            self.passages[place as usize].passed += 1;
        }
    }

    /// Sends a request on from where it is.
    fn go(&mut self, now: SimTime, place: u32) -> Next {
        let passage = &mut self.passages[place as usize];
        let Passage { io, device, passed, .. } = *passage;
        let (first, end) = (self.first[device as usize], self.first[device as usize + 1]);
        passage.at = NOBODY;
        if self.is_down[device as usize] {
            return Next::Over;
        }
        let is_read = io.direction == Direction::Read;
        if passed == end - first {
            return if is_read { Next::Over } else { Next::Device };
        }
        let number = self.of_devices[if is_read { first + passed } else { end - 1 - passed } as usize];
        let stand_in = self.stations[number as usize].stand_in;
        let Some(station) = self.stations.get_mut(stand_in as usize) else { return Next::Over };
        passage.at = stand_in;
        passage.order = self.orders;
        self.orders += 1;
        Next::Passes(station.take(now, io.bytes))
    }

    /// A part goes or comes back: who takes over for whom is found anew. Returns the requests that were at it, in their order.
    ///
    /// What its partner has taken in meanwhile, the partner serves.
    fn change(&mut self, now: SimTime, index: usize) -> Vec<u32> {
        let (_, goes, number) = self.changes[index];
        self.parts.set_health(self.stations[number as usize].part, if goes { 0.0 } else { 1.0 });
        for other in 0..self.stations.len() {
            let stand_in = self.parts.stand_in(self.stations[other].part);
            self.stations[other].stand_in = stand_in.map_or(NOBODY, |part| self.number_of[part.index()]);
        }
        let all = (0..).zip(&self.passages).filter(|(_, one)| one.is_open && one.at == number);
        let mut waiting: Vec<(u64, u32)> = all.map(|(place, one)| (one.order, place)).collect();
        waiting.sort_unstable();
        let station = &mut self.stations[number as usize];
        station.given = station.busy_until(now);
        station.idle_from = now;
        station.moved += waiting.len() as u64;
        let places: Vec<u32> = waiting.into_iter().map(|(_, place)| place).collect();
        for &place in &places {
            let passage = &mut self.passages[place as usize];
            passage.turn = (passage.turn + 1) % (1 << TURN_BITS);
        }
        places
    }
}
