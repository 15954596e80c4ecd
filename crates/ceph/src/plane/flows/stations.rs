//! What objects wait for: devices, threads, classes of queues, sleeps, ports.

use std::collections::BTreeMap;

use resilver_units::elementary::{exp, pow};

use super::chains::Own;
use super::dirty::Dirty;
use super::path::{Put, Visit};
use crate::input::{DeviceLaw, NetworkInput, OsdInput};
use crate::plane::{Limit, OpClass, Work, law};
use crate::settings::OsdSettings;

/// A load of others beyond which waits for them grow no more: then prices hold what is asked to what there is.
const MOST_LOAD: f64 = 0.9;

/// What a station is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The device of an OSD.
    Device { osd: u32 },
    /// The threads of a shard.
    Threads { osd: u32, shard: u32 },
    /// A class of a shard's queue, which may have a limit.
    Class { osd: u32, shard: u32, class: OpClass },
    /// The sleep before items.
    Sleep { osd: u32 },
    /// The port of a host, outward or inward.
    Port { host: (i32, u32), into: bool },
    /// Time that passes, of which there is enough for all.
    Delay,
}

/// A station and what is asked of it.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Station {
    // What each visit asks for comes first, on one line of a cache.
    /// Servers, or the cost a second that a class may spend; infinite where there is no bound.
    pub servers: f64,
    /// Its servers by themselves.
    squared: f64,
    /// Seconds that all of a class wait because more was asked than there is.
    pub price: f64,
    /// The sums over all visits of classes.
    pub sums: Put,
    /// The sums over all visits that go before them, and what they pay.
    pub first: Put,
    pub first_price: f64,
    /// Whether its visitors wait for each other.
    pub queues: bool,
    /// Whether it is a class that may not spend all.
    pays: bool,
    /// Servers that clients keep busy, and their part of the sums.
    pub open: Put,
    /// The power of the load by which several servers make wait.
    power: f64,
    pub kind: Kind,
    /// The most that those who go before all classes find of the classes, in requests: the threads hold no more.
    pub held: f64,
    /// What its visitors waited when they were told last.
    pub told: [f64; 2],
    /// Chains that come here, with how many visits.
    pub visitors: Vec<(u32, u32)>,
}

/// An OSD as flows know it.
#[derive(Debug)]
pub(super) struct Osd {
    pub device: DeviceLaw,
    pub settings: OsdSettings,
    pub port: (i32, u32),
}

/// All stations.
#[derive(Debug)]
pub(super) struct Stations {
    pub network: NetworkInput,
    pub osds: Vec<Option<Osd>>,
    pub all: Vec<Station>,
    pub dirty: Dirty,
    by_kind: BTreeMap<Kind, u32>,
}

impl Put {
    fn add(&mut self, other: &Put, sign: f64) {
        self.rate += sign * other.rate;
        self.load += sign * other.load;
        self.waiting += sign * other.waiting;
        self.residual += sign * other.residual;
        self.slope += sign * other.slope;
    }
}

impl Station {
    /// Has so many servers.
    fn serve(&mut self, servers: f64) {
        self.servers = servers;
        self.squared = servers * servers;
        self.power = (2.0 * (servers + 1.0)).sqrt() - 2.0;
        self.pays = matches!(self.kind, Kind::Class { .. }) && servers.is_finite();
    }

    /// Whether nobody waits here whatever is asked, and nobody was told otherwise.
    fn is_idle(&self) -> bool {
        self.servers == f64::INFINITY && self.price == 0.0 && self.first_price == 0.0 && self.told == [0.0; 2]
    }

    /// Seconds that a visitor waits for others, whose own chain puts this much of the sums here.
    ///
    /// Those of its own chain follow one another at distances that the slowest station gives, so that they find each other only where
    /// that is this one: then the price is what they wait. Of the others, one that comes finds what waits and half of what is served, as
    /// services have fixed lengths. With several servers the share of the time in which all are busy counts, by Sakasegawa's
    /// approximation (Ann. Inst. Stat. Math. 29, 1977).
    pub fn wait_for_others(&self, own: &Own, immediate: bool) -> f64 {
        if !self.queues {
            return 0.0;
        }
        let (mut wait, load) = self.wait_where_busy(own);
        // Most are alone at their threads, and need no power of nothing.
        if self.servers > 1.0 && wait > 0.0 {
            wait *= pow(load, self.power);
        }
        // Sums keep a trace of what has left them, which is nobody's service.
        if immediate && self.sums.load > 1e-9 {
            let usual = 2.0 * self.sums.residual / self.sums.load.max(1e-300);
            wait += (self.sums.load * self.price).min(self.held * usual) / self.servers;
        }
        wait
    }

    /// Seconds that a visitor who finds all servers busy waits for others, and their load.
    fn wait_where_busy(&self, own: &Own) -> (f64, f64) {
        let residual = (self.sums.residual + self.first.residual + self.open.residual - own.residual).max(0.0);
        let load = self.sums.load + self.first.load + self.open.load - own.load;
        let load = (if self.servers == 1.0 { load } else { load / self.servers }).clamp(0.0, MOST_LOAD);
        (residual / (self.squared * (1.0 - load)), load)
    }

    /// Seconds that a visitor waits because more is asked than there is, beside what [`wait_for_others`](Self::wait_for_others) says.
    ///
    /// A class at its limit lets each request go its own cost after the one before; with less to do, each goes at once.
    pub fn wait_for_room(&self, visit: &Visit) -> f64 {
        if visit.immediate {
            return self.first_price;
        }
        if !self.pays {
            return self.price;
        }
        let pays = visit.seconds / self.servers;
        // Each request goes no sooner than what it pays after the one before, so that one waits that follows a cheaper one closely; those
        // of its own kind keep their distance by themselves.
        let others = (self.sums.rate - visit.put.rate).max(0.0);
        let close = if others * pays > 1e-9 { pays - (1.0 - exp(-others * pays)) / others } else { 0.0 };
        if self.price == 0.0 {
            return close;
        }
        let usual = 2.0 * self.sums.residual / (self.sums.load * self.servers).max(1e-300);
        close.max(self.price + pays * (self.price / usual).min(1.0))
    }

    /// What its visitors wait: for room, and for each other.
    pub fn waits(&self) -> [f64; 2] {
        if !self.servers.is_finite() {
            return [0.0; 2];
        }
        [self.price + self.first_price, self.wait_for_others(&Own::default(), false)]
    }

    /// Whether a visitor waits for what is not there.
    fn has_price(&self, immediate: bool) -> bool {
        if immediate { self.first_price > 0.0 } else { self.price > 0.0 }
    }

    /// Whether what is asked is what there is, within this share, or less and without a price.
    pub fn is_settled(&self, share: f64) -> bool {
        let load = self.first.load + self.sums.load + self.open.load;
        let least = if self.price > 0.0 { self.servers * (1.0 - share) } else { 0.0 };
        (least..=self.servers * (1.0 + share)).contains(&load)
    }

    /// Mends the price: what is asked may not exceed what is there.
    pub fn mend(&mut self, part: f64) {
        if self.first.slope > 0.0 {
            let step = (self.first.load - self.servers) / self.first.slope;
            self.first_price = (self.first_price + part * step).max(0.0);
        }
        let room = (self.servers - self.open.load - self.first.load).max(self.servers * 0.02);
        if !room.is_finite() || self.sums.slope <= 0.0 {
            self.price = 0.0;
            return;
        }
        // Nothing is paid, and nothing is to be.
        if self.price == 0.0 && self.sums.load <= room {
            return;
        }
        // Below its usual wait a price of a class counts twice: each request waits its own cost as well.
        let twice = matches!(self.kind, Kind::Class { .. })
            && self.price < 2.0 * self.sums.residual / (self.sums.load * self.servers);
        let step = (self.sums.load - room) / (self.sums.slope * if twice { 2.0 } else { 1.0 });
        // Where rates have fallen low, what a price does is not felt in a straight line: no step more than doubles it, or adds some services.
        let usual = 2.0 * self.sums.residual.max(0.0) / self.sums.load.max(1e-9);
        let usual = if matches!(self.kind, Kind::Class { .. }) { usual / self.servers } else { usual };
        let most = self.price.max(20.0 * usual);
        self.price = (self.price + (part * step).min(most)).max(0.0);
    }
}

impl Stations {
    pub fn new(network: NetworkInput) -> Self {
        Stations { network, osds: Vec::new(), all: Vec::new(), dirty: Dirty::default(), by_kind: BTreeMap::new() }
    }

    pub fn osd(&self, osd: u32) -> &Osd {
        self.osds[osd as usize].as_ref().expect("an OSD is set before it is used")
    }

    /// Adds an OSD, or gives it other settings.
    pub fn set(&mut self, input: &OsdInput, settings: &OsdSettings) {
        let index = input.id as usize;
        if index >= self.osds.len() {
            self.osds.resize_with(index + 1, || None);
        }
        let port = if input.host < 0 { (-1, input.id) } else { (input.host, 0) };
        self.osds[index] = Some(Osd { device: input.device, settings: settings.clone(), port });
        let own: Vec<u32> = self.of_osd(input.id).collect();
        for station in own {
            let servers = self.servers(self.all[station as usize].kind);
            self.all[station as usize].serve(servers);
            self.touch(station);
        }
    }

    /// The stations of an OSD that are in use.
    pub fn of_osd(&self, osd: u32) -> impl Iterator<Item = u32> + '_ {
        let device = Kind::Device { osd }..=Kind::Device { osd };
        let threads = Kind::Threads { osd, shard: 0 }..=Kind::Threads { osd, shard: u32::MAX };
        let classes = Kind::Class { osd, shard: 0, class: OpClass::Client }..=Kind::Class {
            osd,
            shard: u32::MAX,
            class: OpClass::BestEffort,
        };
        let ranges = [device, threads, classes].into_iter();
        ranges.flat_map(|range| self.by_kind.range(range).map(|(_, station)| *station))
    }

    /// How much of a station there is.
    fn servers(&self, kind: Kind) -> f64 {
        match kind {
            Kind::Device { osd } => f64::from(self.osd(osd).device.channels.max(1)),
            Kind::Threads { osd, .. } => f64::from(self.osd(osd).settings.osd_op_num_threads_per_shard.max(1)),
            Kind::Class { osd, class, .. } => {
                law::rates(&self.osd(osd).settings, class).map_or(f64::INFINITY, |rates| rates.limit)
            }
            Kind::Sleep { .. } | Kind::Port { .. } => 1.0,
            Kind::Delay => f64::INFINITY,
        }
    }

    /// The station of this kind, where there is one.
    pub fn known(&self, kind: Kind) -> Option<u32> {
        self.by_kind.get(&kind).copied()
    }

    /// The station of this kind, made where it is new.
    pub fn of(&mut self, kind: Kind) -> u32 {
        if let Some(station) = self.by_kind.get(&kind) {
            return *station;
        }
        let index = self.all.len() as u32;
        let (sums, open) = (Put::default(), Put::default());
        let servers = self.servers(kind);
        let held = match kind {
            Kind::Device { osd } => {
                let settings = &self.osd(osd).settings;
                f64::from(settings.osd_op_num_shards.max(1) * settings.osd_op_num_threads_per_shard.max(1))
            }
            _ => servers,
        };
        let first = sums;
        let mut station = Station {
            kind,
            servers,
            sums,
            first,
            open,
            price: 0.0,
            first_price: 0.0,
            held,
            told: [0.0; 2],
            visitors: Vec::new(),
            squared: 0.0,
            power: 0.0,
            queues: !matches!(kind, Kind::Class { .. } | Kind::Sleep { .. } | Kind::Delay),
            pays: false,
        };
        station.serve(servers);
        self.all.push(station);
        self.by_kind.insert(kind, index);
        index
    }

    /// The ports that a message passes, of its sender and its receiver; none within a host.
    pub fn ports(&mut self, from: u32, to: u32) -> Option<(u32, u32)> {
        let (here, there) = (self.osd(from).port, self.osd(to).port);
        if here == there {
            return None;
        }
        Some((self.of(Kind::Port { host: here, into: false }), self.of(Kind::Port { host: there, into: true })))
    }

    /// What keeps a work from going faster: what it pays most for; else, where its items hold it, what they wait for; else its window.
    pub fn limit(&self, work: &Work, path: &[Visit], held: bool) -> Limit {
        let paid = |visit: &Visit| {
            let station = &self.all[visit.station as usize];
            let seconds =
                if station.has_price(visit.immediate) { visit.times * station.wait_for_room(visit) } else { 0.0 };
            let of_item =
                if held && visit.item { visit.wait + if visit.passes { visit.seconds } else { 0.0 } } else { 0.0 };
            (if held { of_item } else { seconds }, station.kind)
        };
        let dearest = path.iter().map(paid).filter(|(seconds, _)| *seconds > 0.0);
        match dearest.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, kind)| kind) {
            Some(Kind::Class { osd, .. }) => Limit::MclockLimit { osd },
            Some(Kind::Sleep { osd }) => Limit::Sleep { osd },
            Some(Kind::Device { osd }) => Limit::Device { osd },
            Some(Kind::Threads { osd, .. }) => Limit::Threads { osd },
            Some(Kind::Port { host, .. }) => {
                let all = work.targets.iter().chain(&work.sources).chain([&work.primary]);
                let at_host = all.copied().find(|osd| self.osd(*osd).port == host);
                Limit::Network { osd: at_host.unwrap_or(work.primary) }
            }
            Some(Kind::Delay) | None => Limit::Window { osd: work.primary },
        }
    }

    /// A station is to be looked at again.
    pub fn touch(&mut self, station: u32) {
        if self.all[station as usize].is_idle() {
            self.dirty.insert_idle();
        } else {
            self.dirty.insert(station);
        }
    }

    /// A chain begins to come, or no longer comes, once more than before.
    pub fn visited(&mut self, visit: &Visit, chain: u32, comes: bool) {
        let station = &mut self.all[visit.station as usize];
        if station.kind == Kind::Delay {
            return;
        }
        let at = station.visitors.binary_search_by_key(&chain, |visitor| visitor.0);
        match (at, comes) {
            (Ok(at), true) => station.visitors[at].1 += 1,
            (Err(at), true) => station.visitors.insert(at, (chain, 1)),
            (Ok(at), false) => {
                station.visitors[at].1 -= 1;
                if station.visitors[at].1 == 0 {
                    station.visitors.remove(at);
                }
            }
            (Err(_), false) => {}
        }
        if station.visitors.is_empty() {
            // What sums have lost to rounding is lost no longer.
            (station.sums, station.first) = (Put::default(), Put::default());
            (station.price, station.first_price) = (0.0, 0.0);
        }
    }

    /// Puts a visit's new part into the sums in place of its old one.
    pub fn put(&mut self, visit: &mut Visit, new: Put) {
        if !visit.bounded {
            return;
        }
        let station = &mut self.all[visit.station as usize];
        let sums = if visit.immediate { &mut station.first } else { &mut station.sums };
        sums.add(&visit.put, -1.0);
        sums.add(&new, 1.0);
        visit.put = new;
    }
}
