//! How streams are made, and what begins by itself.

use std::ops::Range;
use std::sync::Arc;

use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_kernel::queue::QueueKind;
use resilver_kernel::{Purpose, Stream};
use resilver_redundancy::Code;
use resilver_units::{Bytes, DeviceId, EndpointId, SimDuration, SimTime};

use super::operations::Operations;
use super::sources::{ENDLESS, Plan, Source};
use super::stripes::Stripes;
use super::traffic::pace_of;
use super::{Burst, Corruption, Group, NO_DEVICE, StreamEvent, StreamMeasures, StreamTraffic, Streams, StripesOf};
use crate::SystemError;
use crate::attendance::Attendance;
use crate::class::TrafficClass;
use crate::config::SystemConfig;
use crate::storage::Site;

const DRAWS: Purpose = Purpose::named("streams");
/// The shortest pause after a loss: a source that no link leads away from would try for ever at one time without one.
const SHORTEST_PAUSE: SimDuration = SimDuration::from_picoseconds(1_000_000_000);

/// Where a source is: its server, group and side, or its entry.
#[derive(Clone, Copy)]
struct Seat {
    device: u32,
    group: u32,
    side: Option<u8>,
    entry: u32,
}

/// Makes sources one by one.
struct Maker<'a> {
    seed: u64,
    traffic: &'a StreamTraffic,
    /// The time between operations of a source that has a pace.
    interval: SimDuration,
    sources: Vec<Source>,
}

impl Maker<'_> {
    fn add(&mut self, class: TrafficClass, seat: Seat) {
        let Seat { device, group, side, entry } = seat;
        let mut draws = Stream::new(self.seed, self.sources.len() as u64, DRAWS);
        let is_paced = class == TrafficClass::Clients && self.traffic.rate.is_some();
        let interval = if is_paced { self.interval } else { SimDuration::ZERO };
        let phase = if is_paced { draws.uniform() } else { 0.0 };
        // A phase is below one, so the product fits.
        let first = SimDuration::from_picoseconds((interval.picoseconds() as f64 * phase) as u64);
        self.sources.push(Source {
            class,
            code: 0,
            device,
            group,
            side,
            entry,
            free: self.traffic.window,
            owed: if class == TrafficClass::Clients && !is_paced { ENDLESS } else { 0 },
            paced: 0,
            first_due: SimTime::ZERO + first,
            interval,
            is_resting: false,
            is_closed: false,
            lost_in_a_row: 0,
            lost_most: u64::MAX,
            begun: 0,
            completed: 0,
            of_burst: 0,
            draws,
        });
    }

    /// Adds the sources of a corruption, one a server: they begin nothing before its time.
    fn corrupt(&mut self, code: u8, corruption: &Corruption, attempts: u32) -> Range<u32> {
        let first = self.sources.len();
        let StripesOf::Groups(groups) = &self.traffic.over else { return 0..0 };
        for &group in &corruption.groups {
            for device in &groups[group as usize] {
                self.add(TrafficClass::Rebuild, Seat { device: device.get(), group, side: None, entry: 0 });
            }
        }
        for source in &mut self.sources[first..] {
            source.code = code;
            source.free = 0;
            source.owed = corruption.strips_per_server.unwrap_or(ENDLESS);
            // Operations under way at a time may all meet the same fault, and so may as many in a row as there are peers to draw: they
            // are one attempt together.
            let at_once = (groups[source.group as usize].len() as u64).max(u64::from(corruption.window));
            source.lost_most = u64::from(attempts) * at_once;
        }
        first as u32..self.sources.len() as u32
    }

    /// Deals the operations of a burst over its sources, from `first` on: the remainder to the first of them.
    fn deal(&mut self, first: usize, operations: u64) {
        let sources = &mut self.sources[first..];
        let count = sources.len() as u64;
        for (number, source) in (0..count).zip(sources) {
            source.of_burst = operations / count + u64::from(number < operations % count);
        }
    }
}

/// The sources of a system, and which of them are those of bursts and of each corruption.
struct Sources {
    all: Vec<Source>,
    of_bursts: Range<u32>,
    of_corruptions: Vec<Range<u32>>,
}

/// The sources of streams whose operations have so much data in the mean.
fn sources_of(config: &SystemConfig, traffic: &StreamTraffic, sides: u32, data: Bytes) -> Sources {
    let shared_by = if matches!(traffic.over, StripesOf::Groups(_)) { f64::from(sides) } else { 1.0 };
    let interval = traffic.rate.and_then(|rate| pace_of(data, rate / shared_by)).unwrap_or(SimDuration::ZERO);
    let mut maker = Maker { seed: config.seed, traffic, interval, sources: Vec::new() };
    let seats = seats_of(traffic, sides);
    if traffic.rate != Some(0.0) {
        seats.iter().for_each(|&seat| maker.add(TrafficClass::Clients, seat));
    }
    let first = maker.sources.len();
    if let Some(bursts) = traffic.bursts {
        seats.iter().for_each(|&seat| maker.add(TrafficClass::Bursts, seat));
        maker.deal(first, bursts.volume.pieces_of(data).max(1));
    }
    let of_bursts = first as u32..maker.sources.len() as u32;
    let (corruptions, attempts) = ((1u8..).zip(&config.corruptions), config.retry.attempts);
    let of_corruptions = corruptions.map(|(code, corruption)| maker.corrupt(code, corruption, attempts)).collect();
    Sources { all: maker.sources, of_bursts, of_corruptions }
}

/// Where the sources of the streams are.
fn seats_of(traffic: &StreamTraffic, sides: u32) -> Vec<Seat> {
    match &traffic.over {
        StripesOf::Groups(groups) => {
            let servers = (0u32..).zip(groups).flat_map(|(group, members)| members.iter().map(move |&of| (group, of)));
            let seats = servers.flat_map(|(group, server)| {
                (0..sides).map(move |side| Seat { device: server.get(), group, side: Some(side as u8), entry: 0 })
            });
            seats.collect()
        }
        StripesOf::Placement => {
            let seat = |entry: &EndpointId| {
                let entry = entry.get();
                Seat { device: NO_DEVICE, group: u32::MAX, side: None, entry }
            };
            traffic.entries.iter().map(seat).collect()
        }
    }
}

/// The codes of the streams and of each corruption.
///
/// # Errors
/// When there is no number of copies to go by.
fn plans_of(config: &SystemConfig) -> Result<Vec<Plan>, SystemError> {
    let own = match &config.code {
        Some(coded) => coded.code.clone(),
        None => {
            let copies = config.placement.algorithm.pieces();
            let code = Code::replication(copies as u32).map_err(|_| SystemError::Traffic {
                field: "streams",
                value: format!("{copies} copies"),
                rule: "objects of 1 to 64 copies can be streamed",
            })?;
            Arc::new(code)
        }
    };
    let others = config.corruptions.iter().map(|corruption| corruption.code.clone().unwrap_or_else(|| own.clone()));
    Ok([own.clone()].into_iter().chain(others).map(Plan::new).collect())
}

/// Strips that corruptions with an end make.
fn strips_of(corruptions: &[Corruption], sources: &[Range<u32>]) -> u64 {
    let strips = |(corruption, sources): (&Corruption, &Range<u32>)| {
        corruption.strips_per_server.unwrap_or(0).saturating_mul(sources.len() as u64)
    };
    corruptions.iter().zip(sources).map(strips).fold(0, u64::saturating_add)
}

/// The groups of the streams, where their stripes are of groups.
fn groups_of(traffic: &StreamTraffic) -> Vec<Group> {
    let StripesOf::Groups(groups) = &traffic.over else { return Vec::new() };
    let members = |members: &Vec<DeviceId>| members.iter().map(|device| device.get()).collect();
    groups.iter().map(|of| Group { members: members(of), is_rebuilding: false }).collect()
}

impl Streams {
    /// The streams of a system of which each server has so many ports, where it has streams.
    ///
    /// # Errors
    /// When they cannot be drawn.
    pub(crate) fn of(config: &SystemConfig, sides: u32) -> Result<Option<Self>, SystemError> {
        let Some(traffic) = config.streams.clone() else {
            if config.corruptions.is_empty() {
                return Ok(None);
            }
            let (value, rule) = ("given".into(), "groups rebuild in place beside streams over groups: give streams");
            return Err(SystemError::Traffic { field: "faults.corrupt", value, rule });
        };
        let devices = config.endpoint_of.len();
        traffic.check((devices, !config.failed.is_empty()), config.code.as_ref(), &config.corruptions)?;
        let plans = plans_of(config)?;
        let pieces = plans.iter().map(|plan| plan.code.pieces()).max().unwrap_or(1) as usize;
        let strip = config.code.as_ref().and_then(|coded| coded.strip).unwrap_or(Bytes::ZERO);
        let (stripes, data) = match &traffic.over {
            StripesOf::Groups(_) => (Stripes::none(), strip.get() * u64::from(plans[0].code.data())),
            StripesOf::Placement => {
                let stripes = Stripes::sample(config, plans[0].code.pieces() as usize)?;
                let mean = stripes.mean_bytes() as u64;
                (stripes, mean.max(1))
            }
        };
        let Sources { all, of_bursts, of_corruptions } = sources_of(config, &traffic, sides, Bytes::new(data));
        let groups = groups_of(&traffic);
        Ok(Some(Streams {
            strip,
            coding: config.code.as_ref().and_then(|coded| coded.coding),
            pause: config.retry.after.max(SHORTEST_PAUSE),
            plans,
            measures: StreamMeasures::new(devices, groups.len()),
            groups,
            stripes,
            strips_left: strips_of(&config.corruptions, &of_corruptions),
            sources: all,
            burst_sources: of_bursts,
            corruption_sources: of_corruptions,
            operations: Operations::new(pieces),
            bursts: Vec::new(),
            coders: vec![SimTime::ZERO; devices],
            attendance: Attendance::new(devices),
            is_out: vec![false; devices],
            share_rebuilt: 0.0,
            objects: 0,
            drawn: Vec::with_capacity(pieces),
            gathered: Vec::with_capacity(pieces),
            corrupted_at: None,
            rebuilt_at: None,
            is_time_over: traffic.duration.is_none(),
            problem: None,
            corruptions: config.corruptions.clone(),
            traffic,
        }))
    }

    /// Schedules the beginning and the end of statistics, bursts and corruptions, and begins the first operations.
    pub(crate) fn start<F: Fabric, D: Device, K: QueueKind>(&mut self, site: &mut Site<'_, F, D, K>) {
        let begins_at = SimTime::ZERO + self.traffic.warm_up;
        if begins_at > SimTime::ZERO {
            self.schedule(begins_at, StreamEvent::Begin, site);
        }
        if let Some(end) = self.end() {
            self.schedule(end, StreamEvent::End, site);
        }
        for (number, corruption) in (0u32..).zip(&self.corruptions) {
            self.schedule(corruption.at, StreamEvent::Corrupt(number), site);
        }
        if let Some(bursts) = self.traffic.bursts {
            self.schedule(SimTime::ZERO + bursts.first, StreamEvent::Burst, site);
        }
        for number in 0..self.sources.len() as u32 {
            let Source { interval, first_due, owed, .. } = self.sources[number as usize];
            if interval > SimDuration::ZERO {
                if first_due < SimTime::MAX {
                    self.schedule(first_due, StreamEvent::Pace(number), site);
                }
            } else if owed == ENDLESS {
                self.ramp(number, site);
            }
        }
    }

    /// Has an endless source begin its operations at random moments within the first half of the warm-up.
    ///
    /// Windows that all begin at once go on in step for long: all gather, then all deliver, and what a time of a few operations
    /// completes depends on where in the wave it begins and ends.
    fn ramp<F: Fabric, D: Device, K: QueueKind>(&mut self, number: u32, site: &mut Site<'_, F, D, K>) {
        let span = self.traffic.warm_up.picoseconds() / 2;
        let source = &mut self.sources[number as usize];
        let places = std::mem::take(&mut source.free);
        for _ in 0..places {
            let uniform = self.sources[number as usize].draws.uniform();
            // A uniform number is below one, so the product fits.
            let after = SimDuration::from_picoseconds((span as f64 * uniform) as u64);
            let event = StreamEvent::Again { source: number, gives_back: true };
            self.schedule(site.schedule.now() + after, event, site);
        }
    }

    /// A burst begins, and the next one is on its way.
    pub(super) fn burst<F: Fabric, D: Device, K: QueueKind>(&mut self, site: &mut Site<'_, F, D, K>) {
        let Some(bursts) = self.traffic.bursts else { return };
        let now = site.schedule.now();
        let sources = self.burst_sources.clone();
        let operations = |source: u32| self.sources[source as usize].of_burst;
        let left = sources.clone().map(operations).sum();
        self.bursts.push(Burst { began_at: now, left });
        let next = now + bursts.every;
        if next < SimTime::MAX {
            self.schedule(next, StreamEvent::Burst, site);
        }
        for source in sources {
            let owed = &mut self.sources[source as usize];
            owed.owed += owed.of_burst;
            self.fill(source, site);
        }
    }

    /// Groups begin to rebuild in place.
    pub(super) fn corrupt<F: Fabric, D: Device, K: QueueKind>(&mut self, number: u32, site: &mut Site<'_, F, D, K>) {
        let now = site.schedule.now();
        let window = self.corruptions[number as usize].window;
        self.corrupted_at = Some(self.corrupted_at.map_or(now, |at| at.min(now)));
        for source in self.corruption_sources[number as usize].clone() {
            let begun = &mut self.sources[source as usize];
            begun.free = window;
            let is_endless = begun.owed == ENDLESS;
            self.groups[begun.group as usize].is_rebuilding = true;
            if is_endless {
                self.ramp(source, site);
            } else {
                self.fill(source, site);
            }
        }
    }
}
