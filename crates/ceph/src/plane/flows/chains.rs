//! Chains: the objects that a primary has under way, going round among its works' stations; and how fast.
//!
//! A closed network of queues, solved as by mean value analysis (Schweitzer 1979; Reiser and Lavenberg, J. ACM 27, 1980) with two
//! differences. Services have fixed lengths, so who comes finds half a service left and not a whole one, and a chain's own objects do
//! not queue behind each other where another station already spaces them. And what is asked of a station is held to what there is by a
//! price, a wait that all its visitors pay: nothing where there is enough. Objects of a chain over the seconds of a round are its rate.

use std::collections::BTreeMap;

use resilver_units::elementary::pow;

use super::clients::Open;
use super::path::{Put, Visit};
use super::stations::{Kind, Stations};

/// Share of its rate by which a chain must change before its neighbours are solved again.
const NOTABLE: f64 = 1e-3;
/// Rounds of mending, and chains solved, after which a solution is taken as it is. So many for each that a change touches, and so many over the
/// number of chains: a small network settles, and in a large one a change does not go on to where it is hardly felt.
const MOST_ROUNDS: u32 = 200;
const MOST_SOLVED: u64 = 100_000;
const SOLVED_EACH: u64 = 30;
const CARRIED: usize = 10;

/// A work's way through the network.
#[derive(Debug)]
pub(super) struct Way {
    /// Which work.
    pub id: u32,
    pub path: Vec<Visit>,
    /// Units a second.
    pub rate: f64,
    /// Whether it waits for its items and not for room in the window.
    pub held: bool,
}

/// Objects of one primary, or transactions of one deletion, under way together.
#[derive(Debug, Default)]
pub(super) struct Chain {
    /// How many are under way.
    pub window: f64,
    /// Its works, which take turns.
    pub ways: Vec<Way>,
    /// How many stations it comes to, and whether to one more than once where it could wait for itself.
    pub stations: u32,
    pub shares: bool,
    /// Objects a second of all its works.
    pub rate: f64,
    /// Seconds of an object's way, with all its waits.
    pub round: f64,
    pub dirty: bool,
    /// Whether an earlier solution has left it as it was.
    pub late: bool,
    /// Whether its rate has changed since the works were told.
    pub changed: bool,
}

/// What a chain has at a station.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Own {
    pub load: f64,
    pub residual: f64,
}

/// All chains.
#[derive(Debug, Default)]
pub(super) struct Chains {
    pub all: Vec<Chain>,
    pub dirty: Vec<u32>,
    pub changed: Vec<u32>,
    /// Chains solved so far, and visits of stations in them: what a run costs.
    pub solved: u64,
    pub visits: u64,
    left: Vec<u32>,
    own: Vec<Own>,
    /// Room for the lists of a round.
    chains: Vec<u32>,
    touched: Vec<u32>,
    rates: Vec<Found>,
}

/// Seconds of an object's way: each stage takes what its longest branch takes. `of` gives the seconds of a visit.
pub(super) fn along(path: &[Visit], of: impl Fn(&Visit) -> f64) -> f64 {
    let (mut total, mut longest, mut branch) = (0.0, 0.0_f64, 0.0);
    let mut at = (0, 0);
    for visit in path {
        let here = (visit.stage, visit.branch);
        if here != at {
            longest = longest.max(branch);
            branch = 0.0;
            if here.0 != at.0 {
                total += longest;
                longest = 0.0;
            }
            at = here;
        }
        branch += visit.times * of(visit);
    }
    total + longest.max(branch)
}

/// Seconds from one item of a work to the next, if there is always room for one more object.
///
/// Where a shard has one thread, the next item is not taken before that thread has read what the last one asks.
fn item_seconds(path: &[Visit]) -> f64 {
    let (mut seconds, mut device_wait) = (0.0, 0.0);
    for visit in path {
        if visit.item {
            let own = if visit.passes { visit.seconds } else { 0.0 };
            let read = if visit.serial { visit.seconds + device_wait } else { 0.0 };
            seconds += visit.times.min(1.0) * (visit.wait + own + read);
        }
        device_wait = visit.wait;
    }
    seconds
}

impl Chains {
    pub fn touch(&mut self, chain: u32) {
        let of = &mut self.all[chain as usize];
        if !of.dirty {
            of.dirty = true;
            self.dirty.push(chain);
        }
    }

    /// Puts a work's path into a chain.
    pub fn insert(&mut self, stations: &Stations, chain: u32, id: u32, path: Vec<Visit>) {
        let of = &mut self.all[chain as usize];
        of.ways.push(Way { id, path, rate: 0.0, held: false });
        of.rate = 0.0;
        of.group(stations);
        self.touch(chain);
        self.change(chain);
    }

    /// Takes a work's path out of a chain.
    pub fn remove(&mut self, stations: &Stations, chain: u32, id: u32) -> Vec<Visit> {
        let of = &mut self.all[chain as usize];
        let at = of.ways.iter().position(|way| way.id == id).expect("a work under way has a way");
        let path = of.ways.remove(at).path;
        of.group(stations);
        if of.ways.is_empty() {
            of.rate = 0.0;
        }
        self.touch(chain);
        self.change(chain);
        path
    }

    /// The works of a chain are to be told of its rate.
    fn change(&mut self, chain: u32) {
        let of = &mut self.all[chain as usize];
        if !of.changed {
            of.changed = true;
            self.changed.push(chain);
        }
    }

    /// Whether nothing is left to be solved again.
    pub fn is_settled(&self, stations: &Stations) -> bool {
        self.left.is_empty() && self.dirty.is_empty() && stations.dirty.is_empty()
    }

    /// Solves what has been touched, and what that touches; so many chains have works.
    pub fn solve(&mut self, stations: &mut Stations, clients: &BTreeMap<u32, Open>, busy: u64) {
        let until = self.solved + SOLVED_EACH * self.dirty.len() as u64 + MOST_SOLVED / (busy + 1);
        // Some of what was left comes with each change, so that nothing stays as it was for long: what was left first comes first.
        let carried: Vec<u32> = self.left.drain(..self.left.len().min(CARRIED)).collect();
        for chain in carried {
            self.all[chain as usize].late = false;
            self.touch(chain);
        }
        let mut round = 0_u32;
        loop {
            // What the last change has touched goes first, then what an earlier solution has left.
            let mut chains = std::mem::take(&mut self.chains);
            std::mem::swap(&mut chains, &mut self.dirty);
            if chains.is_empty() && stations.dirty.is_empty() {
                std::mem::swap(&mut chains, &mut self.left);
                chains.iter().for_each(|chain| self.all[*chain as usize].late = false);
                // Nothing is left that could change.
                if chains.is_empty() {
                    self.chains = chains;
                    return;
                }
            }
            // Smaller steps where large ones have not led there.
            let step = (8.0 / f64::from(round + 1)).clamp(0.1, 0.8);
            round += 1;
            for chain in chains.drain(..) {
                let of = &mut self.all[chain as usize];
                of.dirty = false;
                if self.solved <= until || of.rate == 0.0 {
                    of.late = false;
                    self.update(stations, chain, step);
                } else if !of.late {
                    of.late = true;
                    self.left.push(chain);
                }
            }
            self.chains = chains;
            // What has not settled by now is near enough, and the next change goes on from here.
            if round > MOST_ROUNDS || self.solved > until {
                return;
            }
            let mut touched = std::mem::take(&mut self.touched);
            stations.dirty.take(&mut touched);
            for &index in &touched {
                if let Kind::Device { osd } = stations.all[index as usize].kind
                    && let Some(open) = clients.get(&osd)
                {
                    stations.admit(osd, open);
                }
                self.mend(stations, index, step);
            }
            self.touched = touched;
        }
    }

    /// Mends the price of a station, and tells its visitors what they wait if that matters to them.
    fn mend(&mut self, stations: &mut Stations, index: u32, step: f64) {
        let station = &mut stations.all[index as usize];
        if station.visitors.is_empty() {
            return;
        }
        station.mend(step);
        let waits = station.waits();
        let change = (waits[0] - station.told[0]).abs() / step + (waits[1] - station.told[1]).abs();
        let mut told = false;
        for (chain, visits) in &station.visitors {
            if change * f64::from(*visits) > NOTABLE * self.all[*chain as usize].round {
                self.touch(*chain);
                told = true;
            }
        }
        if told {
            station.told = waits;
            // A price that has not done its work goes on, whether or not it is felt yet.
            if !station.is_settled(NOTABLE) {
                stations.touch(index);
            }
        }
    }

    /// Finds the waits of a chain and its rate.
    fn update(&mut self, stations: &mut Stations, index: u32, step: f64) {
        self.solved += 1;
        let chain = &mut self.all[index as usize];
        if chain.ways.is_empty() {
            return;
        }
        self.visits += chain.ways.iter().map(|way| way.path.len() as u64).sum::<u64>();
        chain.find_waits(stations, &mut self.own);
        let (before, found) = (chain.rate, chain.find_rates(step, &mut self.rates));
        // However small the step, what matters is how far there is to go.
        let changed = (found / before - 1.0).abs() > NOTABLE || before == 0.0;
        let all = chain.ways.len() as f64 * chain.round;
        for Way { path, rate, held, .. } in &mut chain.ways {
            let mut device_wait = 0.0;
            for visit in path.iter_mut().filter(|visit| visit.bounded) {
                let seconds = if visit.holds { visit.seconds + device_wait } else { visit.seconds };
                if visit.held {
                    // Threads are held while the device makes wait, but for what more is asked of it than it has: that waits before.
                    device_wait = visit.wait - stations.all[visit.station as usize].wait_for_room(visit);
                }
                let load = *rate * visit.times * seconds;
                // A longer wait of one second lowers the rate by its share of a round, as often as an object comes.
                let mut slope = load * visit.own_times / all;
                if *held && visit.item {
                    slope = slope.max(load * *rate);
                }
                let put = Put {
                    rate: *rate * visit.times,
                    load,
                    waiting: load * visit.wait,
                    residual: load * seconds / 2.0,
                    slope,
                };
                stations.put(visit, put);
                if changed {
                    stations.touch(visit.station);
                }
            }
        }
        if changed {
            self.change(index);
        }
    }
}

/// What one work of a chain would have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    /// Seconds of its round.
    round: f64,
    /// The most objects a second that its items let through.
    most: f64,
    held: bool,
}

impl Found {
    fn of(way: &Way) -> Self {
        let round = along(&way.path, |visit| visit.wait + if visit.passes { visit.seconds } else { 0.0 });
        Found { round: round.max(1e-12), most: 1.0 / item_seconds(&way.path).max(1e-12), held: false }
    }
}

impl Way {
    /// Goes this part of the way to a rate.
    fn go_to(&mut self, found: f64, held: bool, part: f64) {
        self.held = held;
        self.rate = if self.rate > 0.0 { self.rate * pow(found / self.rate, part) } else { found };
    }
}

impl Chain {
    /// Finds the rates of the works, goes this part of the way there, and says what all of them would have.
    ///
    /// Works take turns, so that all have one rate where the window binds; but a work queues one item at a time, and starts no more
    /// objects than its items are let through. The others have what that leaves of the window.
    pub(super) fn find_rates(&mut self, part: f64, ways: &mut Vec<Found>) -> f64 {
        if let [way] = &mut self.ways[..] {
            let of = Found::of(way);
            self.round = of.round;
            let held = of.most * of.round < self.window;
            let found = if held { of.most } else { self.window.max(0.0) / of.round };
            way.go_to(found, held, part);
            self.rate = way.rate;
            return found;
        }
        self.find_rates_of_several(part, ways)
    }

    /// The same for any number of works.
    pub(super) fn find_rates_of_several(&mut self, part: f64, ways: &mut Vec<Found>) -> f64 {
        let works = self.ways.len() as f64;
        ways.clear();
        ways.extend(self.ways.iter().map(Found::of));
        self.round = ways.iter().map(|way| way.round).sum::<f64>() / works;
        let (mut window, mut rounds) = (self.window, self.round * works);
        // Each pass holds one work at least, or ends.
        while let Some(way) = ways.iter_mut().find(|way| !way.held && way.most * rounds < window) {
            way.held = true;
            window -= way.most * way.round;
            rounds -= way.round;
        }
        let common = if rounds > 0.0 { window.max(0.0) / rounds } else { 0.0 };
        let mut all = 0.0;
        for (way, of) in self.ways.iter_mut().zip(ways) {
            let found = if of.held { of.most } else { common };
            way.go_to(found, of.held, part);
            all += found;
        }
        self.rate = self.ways.iter().map(|way| way.rate).sum();
        all
    }

    /// Finds which visits are of one station.
    fn group(&mut self, stations: &Stations) {
        let mut firsts: Vec<(u32, f64, u32)> = Vec::new();
        for visit in self.ways.iter_mut().flat_map(|way| &mut way.path) {
            visit.first = firsts.iter().position(|of| of.0 == visit.station).unwrap_or(firsts.len()) as u32;
            if visit.first == firsts.len() as u32 {
                firsts.push((visit.station, 0.0, 0));
            }
            let of = &mut firsts[visit.first as usize];
            of.1 += visit.times;
            of.2 += 1;
        }
        for visit in self.ways.iter_mut().flat_map(|way| &mut way.path) {
            let (station, times, visits) = firsts[visit.first as usize];
            visit.own_times = times;
            visit.shared = visits > 1 && stations.all[station as usize].queues;
        }
        self.stations = firsts.len() as u32;
        self.shares = self.ways.iter().flat_map(|way| &way.path).any(|visit| visit.shared);
    }

    /// Finds what each visit waits, beside what its chain has at its station.
    fn find_waits(&mut self, stations: &Stations, own: &mut Vec<Own>) {
        if self.shares {
            own.clear();
            own.resize(self.stations as usize, Own::default());
            for visit in self.ways.iter().flat_map(|way| &way.path).filter(|visit| visit.shared) {
                let own = &mut own[visit.first as usize];
                own.load += visit.put.load;
                own.residual += visit.put.residual;
            }
        }
        for way in &mut self.ways {
            for visit in way.path.iter_mut().filter(|visit| visit.bounded) {
                let station = &stations.all[visit.station as usize];
                let alone = Own { load: visit.put.load, residual: visit.put.residual };
                let own = if visit.shared { &own[visit.first as usize] } else { &alone };
                visit.wait = station.wait_for_others(own, visit.immediate) + station.wait_for_room(visit);
            }
        }
    }
}
