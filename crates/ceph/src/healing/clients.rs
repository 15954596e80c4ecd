//! What clients ask of each OSD, and what they get of each pool.

use std::collections::{BTreeMap, BTreeSet};

use resilver_units::elementary::{exp, ln};

use super::record::Served;
use crate::groups::{Group, Protection};
use crate::input::PoolLoad;
use crate::plane::{ClientLoad, ClientState};

/// Groups of a pool that a row of the timeline looks at: of larger pools every so-many-th stands for the others.
const GROUPS_A_ROW: usize = 2048;
/// The share of requests that may get nothing where 99 % of them still have a delay.
const NOT_SERVED_MOST: f64 = 0.01;
/// The share of requests that are slower than the delay that 99 % stay below.
const SLOWEST: f64 = 0.01;
/// Buckets of delays, each a tenth longer than the one before, from a microsecond on.
const BUCKETS: usize = 256;

/// What one group adds to its OSDs.
#[derive(Debug, Clone, Default)]
struct Part {
    weight: u64,
    reads: Vec<u32>,
    writes: Vec<u32>,
}

/// The load, spread over OSDs by the bytes of groups. Weights are whole numbers, so that what is added and taken off leaves nothing.
#[derive(Debug, Default)]
pub(super) struct Clients {
    load: Vec<PoolLoad>,
    protections: Vec<Protection>,
    /// Weights of all groups of each pool, and of those that serve.
    all: Vec<u64>,
    serving: Vec<u64>,
    /// By pool, by OSD.
    reads: Vec<Vec<u64>>,
    writes: Vec<Vec<u64>>,
    parts: Vec<Part>,
    /// Pools that a full OSD keeps from being written.
    full: Vec<bool>,
    changed: BTreeSet<u32>,
}

/// A group's share of its pool's requests; one more byte than it has, so that empty groups of empty pools have one too.
fn weight(group: &Group) -> u64 {
    group.contents.bytes + 1
}

impl Clients {
    pub(super) fn new(load: &[PoolLoad], protections: &[Protection]) -> Self {
        let pools = protections.len();
        Clients {
            load: load.to_vec(),
            protections: protections.to_vec(),
            all: vec![0; pools],
            serving: vec![0; pools],
            reads: vec![Vec::new(); pools],
            writes: vec![Vec::new(); pools],
            parts: Vec::new(),
            full: vec![false; pools],
            changed: BTreeSet::new(),
        }
    }

    /// Whether clients ask for anything.
    pub(super) fn is_any(&self) -> bool {
        !self.load.is_empty()
    }

    /// Another size of a pool.
    pub(super) fn protect(&mut self, pool: usize, protection: Protection) {
        self.protections[pool] = protection;
    }

    /// The weights of a pool's groups in all.
    pub(super) fn measure(&mut self, groups: &[Group]) {
        self.all.fill(0);
        for group in groups.iter().filter(|group| group.exists) {
            self.all[group.pool] += weight(group);
        }
    }

    /// Writes a second of a group.
    pub(super) fn writes_per_second(&self, group: &Group) -> f64 {
        let load = self.load.get(group.pool).copied().unwrap_or_default();
        if self.full.get(group.pool) == Some(&true) || self.all[group.pool] == 0 {
            return 0.0;
        }
        load.writes_per_second * weight(group) as f64 / self.all[group.pool] as f64
    }

    /// A group is served by others, or by nobody, from now on.
    pub(super) fn serve(&mut self, number: u32, group: &Group) {
        if !self.is_any() {
            return;
        }
        let at = number as usize;
        if self.parts.len() <= at {
            self.parts.resize(at + 1, Part::default());
        }
        let before = std::mem::take(&mut self.parts[at]);
        self.serving[group.pool] -= before.weight;
        self.add(group.pool, &before, false);
        if group.exists && !group.tally.is_inactive && group.primary >= 0 {
            let protection = &self.protections[group.pool];
            let served = group.serving(true).fold(0_u64, |set, (_, position)| set | 1 << position);
            let writes: Vec<u32> = group.serving(protection.is_coded()).map(|(osd, _)| osd).collect();
            let reads = if let Some(positions) = protection.code.as_ref().and_then(|code| code.reads(served)) {
                let of_data = group.serving(true).filter(|&(_, position)| positions >> position & 1 == 1);
                of_data.map(|(osd, _)| osd).collect()
            } else if protection.is_coded() {
                writes.iter().copied().take(protection.data_pieces as usize).collect()
            } else {
                vec![group.primary as u32]
            };
            let part = Part { weight: weight(group), reads, writes };
            self.serving[group.pool] += part.weight;
            self.add(group.pool, &part, true);
            self.parts[at] = part;
        }
    }

    fn add(&mut self, pool: usize, part: &Part, enters: bool) {
        for (weights, osds) in [(&mut self.reads[pool], &part.reads), (&mut self.writes[pool], &part.writes)] {
            for &osd in osds {
                let at = osd as usize;
                if weights.len() <= at {
                    weights.resize(at + 1, 0);
                }
                if enters {
                    weights[at] += part.weight
                } else {
                    weights[at] -= part.weight
                }
                self.changed.insert(osd);
            }
        }
    }

    /// Which pools are not written.
    pub(super) fn set_full(&mut self, full: Vec<bool>) {
        if self.is_any() && self.full != full {
            self.full = full;
            let longest = self.writes.iter().map(Vec::len).max().unwrap_or(0);
            self.changed.extend(0..longest as u32);
        }
    }

    /// OSDs that are asked for something else than when they were taken last, with what that is.
    pub(super) fn take_changed(&mut self) -> Vec<(u32, ClientLoad)> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|osd| (osd, self.load_of(osd))).collect()
    }

    fn load_of(&self, osd: u32) -> ClientLoad {
        let mut sum = ClientLoad::default();
        for (pool, load) in self.load.iter().enumerate() {
            if self.all[pool] == 0 {
                continue;
            }
            let part = |weights: &[u64]| weights.get(osd as usize).copied().unwrap_or(0) as f64 / self.all[pool] as f64;
            let reads = load.reads_per_second * part(&self.reads[pool]);
            let writes = if self.full[pool] { 0.0 } else { load.writes_per_second * part(&self.writes[pool]) };
            let protection = &self.protections[pool];
            sum.reads_per_second += reads;
            sum.read_bytes += reads * protection.piece_of(load.read_bytes) as f64;
            sum.writes_per_second += writes;
            sum.write_bytes += writes * protection.piece_of(load.write_bytes) as f64;
        }
        // Means of bytes, of the requests of all pools.
        if sum.reads_per_second > 0.0 {
            sum.read_bytes /= sum.reads_per_second;
        }
        if sum.writes_per_second > 0.0 {
            sum.write_bytes /= sum.writes_per_second;
        }
        sum
    }

    /// What clients of a pool get, from what they get of each OSD.
    ///
    /// A request is as slow as the slowest OSD that it needs, and served where all of them serve it. Groups that serve nobody serve
    /// nothing of their own share of the requests, a full pool no writes, and OSDs no more than they can. Where more than 1 % of the
    /// requests are not served, no delay holds for 99 % of them. A request to an OSD in `hanging` hangs so many seconds, until what
    /// happened to it is detected: it is not served now, and is slow.
    pub(super) fn served(
        &self,
        pool: usize,
        numbers: &[u32],
        hanging: &BTreeMap<u32, f64>,
        of: &mut impl FnMut(u32) -> ClientState,
    ) -> Option<Served> {
        let load = self.load.get(pool)?;
        let asked = load.reads_per_second + load.writes_per_second;
        if asked <= 0.0 {
            return None;
        }
        let (all, serving) = (self.all[pool] as f64, self.serving[pool] as f64);
        let reached = if all > 0.0 { serving / all } else { f64::NAN };
        let step = numbers.len().div_ceil(GROUPS_A_ROW).max(1);
        let (mut weight, mut done, mut seconds) = (0.0, 0.0, 0.0);
        let (mut hung, mut longest) = (0.0, 0.0_f64);
        // (requests a second, and the sum of their delays)
        let mut tails = vec![(0.0, 0.0); BUCKETS];
        for &number in numbers.iter().step_by(step) {
            let part = self.parts.get(number as usize)?;
            if part.weight == 0 {
                continue;
            }
            let own = part.weight as f64;
            weight += own * asked;
            let written = if self.full[pool] { 0.0 } else { load.writes_per_second };
            for (osds, rate) in [(&part.reads, load.reads_per_second), (&part.writes, written)] {
                if let Some(wait) = osds.iter().filter_map(|osd| hanging.get(osd)).copied().reduce(f64::max) {
                    hung += own * rate;
                    seconds += own * rate * wait;
                    longest = longest.max(wait);
                    continue;
                }
                let states = osds.iter().map(|&osd| of(osd));
                let Some(worst) = states.reduce(slower) else { continue };
                let served = own * rate * worst.served;
                done += served;
                seconds += served * worst.mean_seconds;
                let tail = &mut tails[bucket(worst.p99_seconds)];
                *tail = (tail.0 + served, tail.1 + served * worst.p99_seconds);
            }
        }
        let answered = done + hung;
        let mean_seconds = if answered > 0.0 { seconds / answered } else { f64::NAN };
        let part = |served: f64| if weight > 0.0 { reached * served / weight } else { reached };
        let slowest = if answered > 0.0 { hung / answered } else { 0.0 };
        let p99_seconds = if part(answered) < 1.0 - NOT_SERVED_MOST {
            f64::NAN
        } else if slowest >= SLOWEST {
            longest
        } else {
            percentile(&tails, answered, SLOWEST - slowest)
        };
        Some(Served { share: part(done), mean_seconds, p99_seconds })
    }
}

fn slower(one: ClientState, other: ClientState) -> ClientState {
    ClientState {
        served: one.served.min(other.served),
        mean_seconds: one.mean_seconds.max(other.mean_seconds),
        p99_seconds: one.p99_seconds.max(other.p99_seconds),
        busy: one.busy.max(other.busy),
    }
}

fn bucket(seconds: f64) -> usize {
    (ln(seconds.max(1e-6) / 1e-6) / ln(1.1)).min(BUCKETS as f64 - 1.0) as usize
}

/// The delay that all but a share `most` of `all` requests stay below, of requests of whose own the delay that 99 % stay below is known.
///
/// Each tail, given by its requests and the sum of their percentiles, is taken for an exponential one through its own mean percentile, so
/// that a share 0.01^(x / p99) of its requests is slower than x.
fn percentile(tails: &[(f64, f64)], all: f64, most: f64) -> f64 {
    if all <= 0.0 {
        return f64::NAN;
    }
    let held = tails.iter().filter(|(weight, sum)| *weight > 0.0 && *sum > 0.0);
    let falls: Vec<(f64, f64)> = held.map(|&(weight, sum)| (ln(100.0) * weight / sum, weight)).collect();
    let slower = |x: f64| falls.iter().map(|(fall, weight)| weight * exp(-fall * x)).sum::<f64>() / all;
    let longest = |most: f64, &(weight, sum): &(f64, f64)| if weight > 0.0 { most.max(sum / weight) } else { most };
    // Of fewer than a hundredth the last is slower than any of these delays.
    let (mut low, mut high) = (0.0, tails.iter().fold(0.0, longest) * (ln(most) / ln(SLOWEST)).max(1.0));
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if slower(middle) > most { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tails: &[(f64, f64)]) -> f64 {
        let mut buckets = vec![(0.0, 0.0); BUCKETS];
        for &(requests, seconds) in tails {
            let held = &mut buckets[bucket(seconds)];
            *held = (held.0 + requests, held.1 + requests * seconds);
        }
        percentile(&buckets, tails.iter().map(|(requests, _)| requests).sum(), SLOWEST)
    }

    // Rule: what all requests have in common is that of them all, wherever in a bucket it lies.
    #[test]
    fn requests_that_are_alike_have_their_own_percentile() {
        for seconds in [1e-4, 3.414_229, 3.38, 0.01, 7.9] {
            assert!((of(&[(10.0, seconds), (3.0, seconds)]) / seconds - 1.0).abs() < 1e-9);
        }
    }

    // By hand: of two halves with percentiles of 1 and 100 s, x seconds are exceeded by (0.01^x + 0.01^(x / 100)) / 2, which is 0.01 where
    // 0.01^(x / 100) is 0.02: x = 100 ln 50 / ln 100.
    #[test]
    fn a_half_that_is_slow_has_its_say() {
        let expected = 100.0 * 50_f64.ln() / 100_f64.ln();
        assert!((of(&[(1.0, 1.0), (1.0, 100.0)]) - expected).abs() < 1e-6);
    }

    #[test]
    fn without_requests_there_is_none() {
        assert!(of(&[]).is_nan());
    }
}
