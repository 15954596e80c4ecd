//! What a request of one requester costs every part, found by events: one request at a time to each of its servers.

use std::iter::repeat;

use resilver_device::Service;
use resilver_units::{Bytes, DeviceId, SimDuration, SimTime};

use super::refused;
use crate::SystemError;
use crate::clients::measures::ClientOutcome;
use crate::clients::{Asked, Clients, Demand, Workload};
use crate::conclusion::Conclusion;
use crate::recovery::Recovery;
use crate::running::begin_with;
use crate::scenario::SystemConfig;
use crate::storage::Used;

/// About how many requests all trials of a system issue, of each kind: an object's other pieces lie anywhere, and each of a hundred devices then
/// has thousands.
const REQUESTS: usize = 1 << 18;
/// The most that they may.
const REQUESTS_MAX: usize = 1 << 24;
/// Picoseconds between requests, at the most, and of all together.
const SPACING_MAX: u64 = 100_000_000_000_000;
const TIME_MAX: u64 = 1 << 62;

/// How much heavier what comes whether or not others are done is than what waits for answers: it has all that it asks for before those share the
/// rest.
const OPEN_WEIGHT: f64 = 1e9;

/// What one request costs a part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    /// Which part, by its number in `sharing::Parts`.
    pub part: u32,
    /// Seconds that it is busy.
    pub busy: f64,
    /// Data that it passes, reads or writes.
    pub bytes: f64,
    /// Requests or packets that it serves, and those of them that seek.
    pub requests: f64,
    pub seeks: f64,
}

/// What a kind of request comes to, a request on average.
#[derive(Clone, Debug, Default)]
pub(super) struct Kind {
    pub costs: Vec<Cost>,
    /// Requests that each server answers.
    pub answered: Vec<(u32, f64)>,
    /// Its data in bytes.
    pub size: f64,
    /// Seconds that it takes alone.
    pub delay: f64,
    /// Data handed to the fabric.
    pub network_bytes: f64,
    /// Packets delivered, by hops.
    pub hops: Vec<f64>,
    /// Data that devices read and write for it, where something is stored.
    pub pieces: (f64, f64),
}

/// What the requests of a requester come to.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub of: Demand,
    /// The mean read, and the mean write.
    pub reads: Kind,
    pub writes: Kind,
    /// What a read and a write of each class of requests come to by themselves.
    pub classes: Vec<[OfClass; 2]>,
}

/// What requests of one class and kind come to by themselves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfClass {
    /// Their share of all requests.
    pub share: f64,
    /// The data of each in bytes.
    pub size: f64,
    /// Seconds that one takes alone.
    pub delay: f64,
}

impl Trial {
    /// What the requests of each class and kind that were tried come to together: their class and kind, their share of all, and what was found.
    fn of(of: Demand, classes: usize, tried: &[(usize, usize, f64, Kind)]) -> Self {
        let mut by_class = vec![[OfClass::default(); 2]; classes];
        for &(class, kind, share, Kind { size, delay, .. }) in tried {
            by_class[class][kind] = OfClass { share, size, delay };
        }
        let mean_of = |kind: usize| {
            let own = tried.iter().filter(|one| one.1 == kind);
            let sum: f64 = own.clone().map(|one| one.2).sum();
            let own: Vec<(&Kind, f64)> = own.map(|(_, _, share, found)| (found, share / sum)).collect();
            Kind::mean(&own, |_, part| part)
        };
        Trial { of, reads: mean_of(0), writes: mean_of(1), classes: by_class }
    }

    /// The mean of both kinds of requests.
    fn mean(&self, of_kind: impl Fn(&Kind) -> f64) -> f64 {
        let reads = self.of.read_share;
        reads * of_kind(&self.reads) + (1.0 - reads) * of_kind(&self.writes)
    }

    /// The data of a request in bytes.
    pub fn size(&self) -> f64 {
        self.mean(|kind| kind.size).max(1.0)
    }

    /// Seconds that a request takes alone.
    pub fn alone(&self) -> f64 {
        self.mean(|kind| kind.delay)
    }

    /// The share of the data that is read.
    pub fn read_data(&self) -> f64 {
        self.of.read_share * self.reads.size / self.size()
    }

    /// What a byte costs each part, in seconds that it is busy.
    pub fn way(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        let kinds = [(&self.reads, self.of.read_share), (&self.writes, 1.0 - self.of.read_share)];
        let size = self.size();
        let costs = kinds.into_iter().flat_map(|(kind, share)| kind.costs.iter().map(move |cost| (cost, share)));
        let busy = costs.map(move |(cost, share)| (cost.part, cost.busy * share / size));
        busy.filter(|&(_, cost)| cost > 0.0)
    }

    /// Bytes a second that it asks for; infinite where it is always asked for more, zero where it is asked for volumes.
    pub fn asks(&self) -> f64 {
        match self.of.asked {
            Asked::Always => f64::INFINITY,
            Asked::Requests(rate, _) => rate * self.size(),
            Asked::Data(rate) => rate,
        }
    }

    /// Its share beside others: what it has under way, of what requests queue for.
    pub fn weight(&self) -> f64 {
        match self.of.asked {
            Asked::Requests(rate, _) => rate * OPEN_WEIGHT,
            Asked::Always | Asked::Data(_) => self.of.window,
        }
    }

    /// The rate in bytes a second at which what it has under way is done where nothing is in its way (Little's law), and its requests
    /// keep their distance.
    pub fn window_rate(&self) -> f64 {
        // A request is issued at a random moment of the interval, on average in its middle.
        let cycle = self.alone() + self.of.interval.seconds() / 2.0;
        let (size, gap) = (self.size(), self.of.gap.seconds());
        let of_window = if cycle > 0.0 { self.of.window * size / cycle } else { f64::INFINITY };
        if gap > 0.0 { of_window.min(size / gap) } else { of_window }
    }
}

/// How many requests of a kind are tried for a client, or for a server of its own, which has so many `targets`; `trials` is how many there are
/// of these.
pub(super) fn rows(targets: usize, trials: usize) -> Result<usize, SystemError> {
    let once = targets.saturating_mul(trials);
    if once > REQUESTS_MAX {
        return Err(refused(&format!(
            "{trials} places where clients enter and {targets} servers are more than 2^24 pairs to try; let clients use few of the servers, such \
             as targets = {{ per_client = 1 }}, or enter at fewer places"
        )));
    }
    Ok(targets * (REQUESTS / once.max(1)).clamp(1, 64))
}

/// How many are tried where requests are of so many objects, as often of one as of another; `trials` is how many there are of these.
pub(super) fn rows_of_objects(objects: usize, trials: usize) -> usize {
    (REQUESTS / trials.max(1)).clamp(1, objects.max(1))
}

/// What was tried of a requester.
pub(super) struct Tried {
    /// Of each server that was named, or one of all of them.
    pub trials: Vec<Trial>,
    /// The form of an outcome.
    pub form: Conclusion,
    pub events: u64,
}

/// Tries the reads and the writes of a requester: of each of its servers that is named, or of all together where none is, so many `rows`.
pub(super) fn run(
    config: &SystemConfig,
    clients: &Clients,
    ((requester, servers), of): ((u32, &[DeviceId]), Demand),
    rows: usize,
) -> Result<Tried, SystemError> {
    let classes = &config.traffic[of.law].classes;
    let count = servers.len().max(1);
    let spacing = SimDuration::from_picoseconds(SPACING_MAX.min(TIME_MAX / (rows * count) as u64));
    // By server: which class, which kind, its share of all requests, and what it comes to.
    let mut tried: Vec<Vec<(usize, usize, f64, Kind)>> = vec![Vec::new(); count];
    let (mut form, mut all_events) = (None, 0);
    for (number, class) in classes.iter().enumerate() {
        // Of recorded requests these say which of them read.
        let shares = if classes.len() == 1 { [of.read_share, 1.0 - of.read_share] } else { class.shares() };
        for (kind, share) in shares.into_iter().enumerate().filter(|&(_, share)| share > 0.0) {
            let workload = clients.alone((requester, servers), (kind == 0, class.size), (rows, spacing));
            let (found, told, events) = try_one_by_one(config, workload, count, (rows, spacing))?;
            tried.iter_mut().zip(found).for_each(|(of_server, found)| of_server.push((number, kind, share, found)));
            all_events += events;
            form.get_or_insert(told);
        }
    }
    let form = form.ok_or_else(|| refused("a share of requests reads, and the others write"))?;
    let trials = tried.iter().map(|tried| Trial::of(of, classes.len(), tried)).collect();
    Ok(Tried { trials, form, events: all_events })
}

/// Runs a workload to its end, which issues as many requests each of so many times in a row; returns what those of each time cost.
fn try_one_by_one(
    config: &SystemConfig,
    workload: Workload,
    count: usize,
    (rows, spacing): (usize, SimDuration),
) -> Result<(Vec<Kind>, Conclusion, u64), SystemError> {
    let recovery = Recovery::of_nothing(config.endpoint_of.len());
    let mut run = begin_with(config, recovery, Bytes::ZERO, Some(workload))?;
    let (mut kinds, mut before, mut then) = (Vec::with_capacity(count), None, Vec::new());
    for number in 1..=count as u64 {
        // The next requests come at the end of this time.
        let end = SimTime::from_picoseconds(number * rows as u64 * spacing.picoseconds() - 1);
        let Some(used) = run.used_by(end)? else { return Err(refused("no client asks for anything")) };
        kinds.push(Kind::of(&used, (before.as_ref(), &mut then), (rows, spacing))?);
        before = Some(used);
    }
    while !run.advance()? {}
    run.conclude().map(|(told, _, events)| (kinds, told, events))
}

/// A system in which every request takes its mean time.
pub(super) fn steady(config: &SystemConfig) -> SystemConfig {
    let mut devices = config.devices.clone();
    for kind in &mut devices.kinds {
        // The mean is known, and need not be drawn.
        if let Service::Exponential { read, write, .. } = kind.service {
            kind.service = Service::Fixed { read, write };
        }
    }
    SystemConfig { devices, lanes: None, frames: 0, ..config.clone() }
}

impl Kind {
    /// What requests come to of which a share is of each of these kinds; `renamed` says which part a kind's part is.
    pub fn mean(kinds: &[(&Kind, f64)], renamed: impl Fn(usize, u32) -> u32) -> Self {
        let (mut mean, mut costs) = (Kind::default(), Vec::new());
        for (number, &(kind, share)) in kinds.iter().enumerate() {
            costs.extend(kind.costs.iter().map(|cost| (share, Cost { part: renamed(number, cost.part), ..*cost })));
            mean.answered.extend(kind.answered.iter().map(|&(device, answers)| (device, answers * share)));
            mean.size += kind.size * share;
            mean.delay += kind.delay * share;
            mean.network_bytes += kind.network_bytes * share;
            mean.hops.resize(mean.hops.len().max(kind.hops.len()), 0.0);
            mean.hops.iter_mut().zip(&kind.hops).for_each(|(sum, hops)| *sum += hops * share);
            mean.pieces = (mean.pieces.0 + kind.pieces.0 * share, mean.pieces.1 + kind.pieces.1 * share);
        }
        costs.sort_by_key(|(_, cost)| cost.part);
        for (share, cost) in costs {
            if mean.costs.last().is_none_or(|last| last.part != cost.part) {
                mean.costs.push(Cost { part: cost.part, ..Cost::default() });
            }
            let sum = mean.costs.last_mut().expect("one was pushed");
            sum.busy += cost.busy * share;
            sum.bytes += cost.bytes * share;
            sum.requests += cost.requests * share;
            sum.seeks += cost.seeks * share;
        }
        mean
    }

    /// What requests came to that were issued between two times: `rows` of them, one after another with `spacing` between them.
    ///
    /// `then` is what each part had done before, and becomes what it has done now.
    fn of(
        used: &Used,
        (before, then): (Option<&Used>, &mut Vec<[u64; 4]>),
        (rows, spacing): (usize, SimDuration),
    ) -> Result<Self, SystemError> {
        let (clients, all) = (&used.clients, &used.clients.all);
        let slowest = all.quantile_seconds(1.0).unwrap_or(0.0);
        let since = before.map(|before| &before.clients);
        let completed = all.completed - since.map_or(0, |since| since.all.completed);
        if completed != rows as u64 || slowest >= spacing.seconds() / 2.0 {
            let spacing = spacing.seconds() / 2.0;
            return Err(refused(&format!(
                "{completed} of {rows} requests were answered, each by itself, within {spacing} s; make requests smaller, or parts faster",
            )));
        }
        let each = |amount: f64| amount / rows as f64;
        let mut costs = Vec::new();
        let by_part: Vec<[u64; 4]> = use_by_part(used).collect();
        then.resize(by_part.len(), [0; 4]);
        for (part, (now, then)) in (0..).zip(by_part.iter().zip(then.iter())) {
            if now == then {
                continue;
            }
            let [busy, bytes, requests, seeks] = [0, 1, 2, 3].map(|at: usize| now[at] - then[at]);
            if requests > 0 || bytes > 0 {
                let busy = SimDuration::from_picoseconds(busy).seconds();
                let (bytes, requests, seeks) = (each(bytes as f64), each(requests as f64), each(seeks as f64));
                costs.push(Cost { part, busy: each(busy), bytes, requests, seeks });
            }
        }
        *then = by_part;
        let answers = clients.servers.iter().map(|server| server.completed);
        let answered_then = since.into_iter().flat_map(|since| &since.servers).map(|server| server.completed);
        let answered = (0..).zip(answers.zip(answered_then.chain(repeat(0))));
        let size = all.bytes.get() - since.map_or(0, |since| since.all.bytes.get());
        let delays = all.sum_picoseconds - since.map_or(0, |since| since.all.sum_picoseconds);
        let pieces = |of: &ClientOutcome| of.pieces.map_or((0, 0), |of| (of.read.get(), of.written.get()));
        let (pieces, pieces_then) = (pieces(clients), since.map_or((0, 0), pieces));
        let sent = used.network_bytes.get() - before.map_or(0, |before| before.network_bytes.get());
        let hops = |used: &Used| used.network.as_ref().map_or(Vec::new(), |network| network.hops.clone());
        let hops_then = before.map_or(Vec::new(), hops);
        let hops = hops(used).into_iter().zip(hops_then.into_iter().chain(repeat(0)));
        Ok(Kind {
            costs,
            answered: answered
                .filter(|(_, (now, then))| now > then)
                .map(|(device, (now, then))| (device, each((now - then) as f64)))
                .collect(),
            size: each(size as f64),
            delay: each(delays as f64 * 1e-12),
            network_bytes: each(sent as f64),
            hops: hops.map(|(now, then)| each((now - then) as f64)).collect(),
            pieces: (each((pieces.0 - pieces_then.0) as f64), each((pieces.1 - pieces_then.1) as f64)),
        })
    }
}

/// The picoseconds that each part was busy for, its data, its requests or packets, and those of them that sought: in the order of
/// `sharing::Parts`.
fn use_by_part(used: &Used) -> impl Iterator<Item = [u64; 4]> + '_ {
    let disks = used.clients.disks.iter().map(|disk| {
        let bytes = disk.bytes_read.get() + disk.bytes_written.get();
        [disk.busy.picoseconds(), bytes, disk.requests, disk.seeks]
    });
    let parts = used.parts.iter().map(|part| [part.busy.picoseconds(), part.bytes.get(), part.requests, 0]);
    let interfaces = used.interfaces.iter().flat_map(|one| {
        let sent = [one.send_busy.picoseconds(), one.bytes_sent.get(), one.messages_sent, 0];
        [sent, [one.receive_busy.picoseconds(), one.bytes_received.get(), one.messages_received, 0]]
    });
    let channels = used.network.as_ref().map_or(&[][..], |network| &network.channels);
    let channels = channels.iter().map(|one| [one.busy.picoseconds(), one.bytes.get(), one.packets, 0]);
    disks.chain(parts).chain(interfaces).chain(channels)
}
