//! Which sources streams, bursts and rebuilds in place have, and how they begin.

use std::ops::Range;

use resilver_fabric::Fabric;
use resilver_kernel::{Purpose, Stream};
use resilver_units::{Bytes, DeviceId, EndpointId, SimDuration, SimTime};

use super::drain::Drain;
use super::operations::tokens::WorkloadEvent;
use super::streams::{ENDLESS, Source};
use super::{Group, NO_DEVICE, NO_GROUP, Period, Workload};
use crate::plant::Site;
use crate::scenario::{Corruption, StreamTraffic, StripesOf, SystemConfig, TrafficClass, pace_of};

const DRAWS: Purpose = Purpose::named("streams");

/// Where a source is: its server, group and side, or its entry.
#[derive(Clone, Copy)]
struct Seat {
    device: u32,
    group: u32,
    side: Option<u8>,
    entry: u32,
}

impl Seat {
    /// At an entry, of any objects of the population.
    fn at(entry: EndpointId) -> Self {
        Seat { device: NO_DEVICE, group: NO_GROUP, side: None, entry: entry.get() }
    }
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
            read_share: if class == TrafficClass::Clients { self.traffic.read_share } else { 0.0 },
            draws,
        });
    }

    /// Adds the sources of bursts, of so many operations each; they begin nothing before these are asked for.
    fn add_bursts(&mut self, seats: &[Seat], operations: u64) -> Range<u32> {
        let first = self.sources.len();
        seats.iter().for_each(|&seat| self.add(TrafficClass::Bursts, seat));
        self.deal(first, operations.max(1));
        first as u32..self.sources.len() as u32
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

/// The sources of a system, and which of them are those of each series of bursts and of each corruption.
pub(super) struct Sources {
    pub all: Vec<Source>,
    pub of_bursts: Vec<Range<u32>>,
    pub drain: Option<Drain>,
    pub of_corruptions: Vec<Range<u32>>,
}

/// The sources of streams whose operations have so much data in the mean.
pub(super) fn sources_of(config: &SystemConfig, traffic: &StreamTraffic, sides: u32, data: Bytes) -> Sources {
    let shared_by = if matches!(traffic.over, StripesOf::Groups(_)) { f64::from(sides) } else { 1.0 };
    let interval = traffic.rate.and_then(|rate| pace_of(data, rate / shared_by)).unwrap_or(SimDuration::ZERO);
    let mut maker = Maker { seed: config.seed, traffic, interval, sources: Vec::new() };
    let seats = seats_of(traffic, sides);
    if traffic.rate != Some(0.0) {
        seats.iter().for_each(|&seat| maker.add(TrafficClass::Clients, seat));
    }
    let (mut of_bursts, mut drain) = (Vec::new(), None);
    if let Some(bursts) = traffic.bursts {
        let sources = maker.add_bursts(&seats, bursts.volume.pieces_of(data));
        if let Some(interval) = bursts.drain.and_then(|rate| pace_of(data, rate / shared_by)) {
            drain = Some(Drain::new(sources.clone(), sources.end, interval, data));
            seats.iter().for_each(|&seat| maker.add(TrafficClass::Bursts, seat));
            maker.sources[sources.end as usize..].iter_mut().for_each(|source| source.read_share = 1.0);
        }
        of_bursts.push(sources);
    }
    for job in &traffic.jobs {
        let seats: Vec<Seat> = job.entries.iter().copied().map(Seat::at).collect();
        let sources = maker.add_bursts(&seats, job.volume.pieces_of(data));
        for source in &mut maker.sources[sources.start as usize..] {
            (source.free, source.read_share) = (job.window, job.read_share);
        }
        of_bursts.push(sources);
    }
    let (corruptions, attempts) = ((1u8..).zip(&config.corruptions), config.retry.attempts);
    let of_corruptions = corruptions.map(|(code, corruption)| maker.corrupt(code, corruption, attempts)).collect();
    Sources { all: maker.sources, of_bursts, drain, of_corruptions }
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
        StripesOf::Placement => traffic.entries.iter().copied().map(Seat::at).collect(),
    }
}

/// Strips that corruptions with an end make.
pub(super) fn strips_of(corruptions: &[Corruption], sources: &[Range<u32>]) -> u64 {
    let strips = |(corruption, sources): (&Corruption, &Range<u32>)| {
        corruption.strips_per_server.unwrap_or(0).saturating_mul(sources.len() as u64)
    };
    corruptions.iter().zip(sources).map(strips).fold(0, u64::saturating_add)
}

/// The groups of the streams, where their stripes are of groups.
pub(super) fn groups_of(traffic: &StreamTraffic) -> Vec<Group> {
    let StripesOf::Groups(groups) = &traffic.over else { return Vec::new() };
    let members = |members: &Vec<DeviceId>| members.iter().map(|device| device.get()).collect();
    groups.iter().map(|of| Group { members: members(of), is_rebuilding: false }).collect()
}

impl Workload {
    /// Has an endless source begin its operations at random moments within the first half of the warm-up.
    ///
    /// Windows that all begin at once go on in step for long: all gather, then all deliver, and what a time of a few operations
    /// completes depends on where in the wave it begins and ends.
    pub(super) fn ramp<F: Fabric>(&mut self, number: u32, site: &mut Site<'_, F>) {
        let span = self.warm_up.picoseconds() / 2;
        let source = &mut self.sources[number as usize];
        let places = std::mem::take(&mut source.free);
        for _ in 0..places {
            let uniform = self.sources[number as usize].draws.uniform();
            // A uniform number is below one, so the product fits.
            let after = SimDuration::from_picoseconds((span as f64 * uniform) as u64);
            let event = WorkloadEvent::Resume { source: number, gives_back: true };
            self.schedule(site.schedule.now() + after, event, site);
        }
    }

    /// Groups begin to rebuild in place.
    pub(super) fn corrupt<F: Fabric>(&mut self, number: u32, site: &mut Site<'_, F>) {
        let now = site.schedule.now();
        let window = self.corruptions[number as usize].window;
        self.corrupted_at = Some(self.corrupted_at.map_or(now, |at| at.min(now)));
        if self.period() == Period::Before {
            self.enter(now, Period::During);
        }
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
