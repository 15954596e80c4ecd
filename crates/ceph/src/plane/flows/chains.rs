//! Chains: the objects that a primary has under way, going round among its works' stations; and how fast.
//!
//! A closed network of queues, solved as by mean value analysis (Schweitzer 1979; Reiser and Lavenberg, J. ACM 27, 1980) with two
//! differences. Services have fixed lengths, so who comes finds half a service left and not a whole one, and a chain's own objects do
//! not queue behind each other where another station already spaces them. And what is asked of a station is held to what there is by a
//! price, a wait that all its visitors pay: nothing where there is enough. Objects of a chain over the seconds of a round are its rate.

use std::collections::BTreeMap;

use super::clients::Open;
use super::path::{Put, Visit};
use super::stations::{Kind, Stations};

/// Share of its rate by which a chain must change before its neighbours are solved again.
const NOTABLE: f64 = 1e-3;
/// Rounds of mending after which a solution is taken as it is.
const MOST_ROUNDS: u32 = 200;

/// Objects of one primary, or transactions of one deletion, under way together.
#[derive(Debug)]
pub(super) struct Chain {
    /// How many are under way.
    pub window: f64,
    /// The paths of its works, which take turns, with the works' places.
    pub paths: Vec<(u32, Vec<Visit>)>,
    /// Objects a second of all its works.
    pub rate: f64,
    /// Seconds of an object's way, with all its waits.
    pub round: f64,
    pub dirty: bool,
    /// Whether its rate has changed since the works were told.
    pub changed: bool,
}

/// All chains.
#[derive(Debug, Default)]
pub(super) struct Chains {
    pub all: Vec<Chain>,
    pub dirty: Vec<u32>,
    pub changed: Vec<u32>,
    /// Chains solved so far, for measuring.
    pub solved: u64,
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
fn item_seconds(path: &[Visit]) -> f64 {
    let wait = |visit: &Visit| visit.times.min(1.0) * (visit.wait + if visit.passes { visit.seconds } else { 0.0 });
    path.iter().filter(|visit| visit.item).map(wait).sum()
}

impl Chains {
    pub fn touch(&mut self, chain: u32) {
        let of = &mut self.all[chain as usize];
        if !of.dirty {
            of.dirty = true;
            self.dirty.push(chain);
        }
    }

    /// Solves what has been touched, and what that touches.
    pub fn solve(&mut self, stations: &mut Stations, clients: &BTreeMap<u32, Open>) {
        for round in 0..MOST_ROUNDS {
            // Smaller steps where large ones have not led there.
            let step = (8.0 / f64::from(round + 1)).clamp(0.1, 0.8);
            let mut chains = std::mem::take(&mut self.dirty);
            if chains.is_empty() && stations.dirty.is_empty() {
                return;
            }
            chains.sort_unstable();
            for chain in chains {
                self.all[chain as usize].dirty = false;
                self.update(stations, chain, step);
            }
            let mut touched = std::mem::take(&mut stations.dirty);
            touched.sort_unstable();
            for index in touched {
                if let Kind::Device { osd } = stations.all[index as usize].kind
                    && let Some(open) = clients.get(&osd)
                {
                    stations.admit(osd, open);
                }
                let station = &mut stations.all[index as usize];
                station.dirty = false;
                station.mend(step);
                let wait = station.wait();
                let change = (wait - station.told).abs();
                let mut told = false;
                for (chain, visits) in &stations.all[index as usize].visitors {
                    if change * f64::from(*visits) > NOTABLE * self.all[*chain as usize].round {
                        self.touch(*chain);
                        told = true;
                    }
                }
                if told {
                    stations.all[index as usize].told = wait;
                }
            }
        }
        #[cfg(test)]
        if std::env::var("LOOK").is_ok() {
            println!("not settled");
            for station in &stations.all {
                if station.sums.load + station.first.load > 0.98 * station.servers {
                    println!(
                        "{:?} {} load {} + {} price {} first {}",
                        station.kind,
                        station.servers,
                        station.sums.load,
                        station.first.load,
                        station.price,
                        station.first_price
                    );
                }
            }
            for chain in &self.all {
                println!("chain rate {} round {}", chain.rate, chain.round);
            }
        }
        // What has not settled is near enough: the next change goes on from here.
        for chain in std::mem::take(&mut self.dirty) {
            self.all[chain as usize].dirty = false;
        }
    }

    /// Finds the waits of a chain and its rate.
    fn update(&mut self, stations: &mut Stations, index: u32, step: f64) {
        self.solved += 1;
        let chain = &mut self.all[index as usize];
        let works = chain.paths.len() as f64;
        if chain.paths.is_empty() {
            chain.rate = 0.0;
            return;
        }
        let waits = waits(stations, chain);
        let (mut at, mut steep) = (0, 0);
        let (mut round, mut starts) = (0.0, 0.0);
        for (_, path) in &mut chain.paths {
            for visit in path.iter_mut() {
                visit.wait = waits[at].0;
                at += 1;
            }
            round += along(path, |visit| visit.wait + if visit.passes { visit.seconds } else { 0.0 }) / works;
            starts += 1.0 / item_seconds(path).max(1e-12);
        }
        chain.round = round;
        // A work queues one item at a time, so that it starts no more objects than its items are let through.
        let held = starts < chain.window / round.max(1e-12);
        let found = starts.min(chain.window / round.max(1e-12));
        let before = chain.rate;
        chain.rate = if before > 0.0 { before.powf(1.0 - step) * found.powf(step) } else { found };
        let changed = (chain.rate / before - 1.0).abs() > NOTABLE || before == 0.0;
        let (rate, window) = (chain.rate / works, chain.window);
        for (_, path) in &mut chain.paths {
            let mut wait_before = 0.0;
            for visit in path.iter_mut() {
                let visits = rate * visit.times;
                let seconds = if visit.holds { visit.seconds + wait_before } else { visit.seconds };
                let price = stations.all[visit.station as usize].wait_for_room(visit.seconds, visit.immediate);
                let others = visit.wait - price;
                wait_before = others;
                let load = visits * seconds;
                // A longer wait of one second lowers the rate by its share of a round, as often as an object comes.
                // No more of a work can wait here than are under way.
                let most = window / works * seconds;
                let mut slope = load * waits[steep].1 / (works * round);
                if held && visit.item {
                    slope = slope.max(load * starts / works);
                }
                steep += 1;
                let put = Put {
                    load,
                    waiting: load.min(most / others.max(1e-300)) * others,
                    residual: load * seconds / 2.0,
                    slope,
                };
                let kind = stations.all[visit.station as usize].kind;
                stations.put(visit, put);
                if changed && kind != Kind::Delay {
                    stations.touch(visit.station);
                }
            }
        }
        let chain = &mut self.all[index as usize];
        if changed && !chain.changed {
            chain.changed = true;
            self.changed.push(index);
        }
    }
}

/// What each visit of a chain waits, in the order of its paths, and how often an object of each work comes to the station in all.
fn waits(stations: &Stations, chain: &Chain) -> Vec<(f64, f64)> {
    let visits: Vec<&Visit> = chain.paths.iter().flat_map(|(_, path)| path).collect();
    let mut own: Vec<(u32, Put, f64)> = visits.iter().map(|visit| (visit.station, visit.put, visit.times)).collect();
    own.sort_unstable_by_key(|(station, ..)| *station);
    own.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1.waiting += next.1.waiting;
            kept.1.residual += next.1.residual;
            kept.1.load += next.1.load;
            kept.2 += next.2;
        }
        same
    });
    let wait = |visit: &&Visit| {
        let station = &stations.all[visit.station as usize];
        let at = own.binary_search_by_key(&visit.station, |(station, ..)| *station).unwrap_or(0);
        let wait = station.wait_for_others(&own[at].1, visit.immediate);
        (wait + station.wait_for_room(visit.seconds, visit.immediate), own[at].2)
    };
    visits.iter().map(wait).collect()
}
