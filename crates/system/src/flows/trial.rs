//! What a request of one requester costs every part, found by events: one request at a time to each of its servers.

use resilver_device::Service;
use resilver_units::{Bytes, DeviceId, SimDuration};

use super::refused;
use crate::SystemError;
use crate::actors::{Clients, Loop, Workload};
use crate::config::SystemConfig;
use crate::recovery::Recovery;
use crate::running::begin_with;
use crate::storage::Conclusion;

/// About how many requests all trials of a system issue, of each kind: an object's other pieces lie anywhere, and each of a hundred devices then
/// has thousands.
const REQUESTS: usize = 1 << 18;
/// The most that they may.
const REQUESTS_MAX: usize = 1 << 24;
/// Picoseconds between requests, at the most, and of all together.
const SPACING_MAX: u64 = 100_000_000_000_000;
const TIME_MAX: u64 = 1 << 62;

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
    pub of: Loop,
    pub reads: Kind,
    pub writes: Kind,
}

/// How many requests a trial issues, and the time between them.
pub(super) fn rows(targets: usize, requesters: usize) -> Result<(usize, SimDuration), SystemError> {
    let once = targets.saturating_mul(requesters);
    if once > REQUESTS_MAX {
        return Err(refused(&format!(
            "{requesters} places where clients enter and {targets} servers are more than 2^24 pairs to try; let clients use few of the \
             servers, such as targets = {{ per_client = 1 }}, or enter at fewer places"
        )));
    }
    let rows = targets * (REQUESTS / once.max(1)).clamp(1, 64);
    Ok((rows, SimDuration::from_picoseconds(SPACING_MAX.min(TIME_MAX / rows as u64))))
}

/// Tries the reads and the writes of a requester, of one of its servers where that is named; returns the form of an outcome, too, and how many events it took.
pub(super) fn run(
    config: &SystemConfig,
    clients: &Clients,
    (asking, of): ((u32, Option<DeviceId>), Loop),
    rows: (usize, SimDuration),
) -> Result<(Trial, Conclusion, u64), SystemError> {
    let read_share = config.traffic[of.law].read_share;
    let (mut reads, mut writes, mut form, mut all_events) = (Kind::default(), Kind::default(), None, 0);
    for (kind, is_read, share) in [(&mut reads, true, read_share), (&mut writes, false, 1.0 - read_share)] {
        if share > 0.0 {
            let (told, events) = conclude(config, clients.alone(asking, is_read, rows))?;
            *kind = Kind::of(&told, rows)?;
            all_events += events;
            form.get_or_insert(told);
        }
    }
    let form = form.ok_or_else(|| refused("a share of requests reads, and the others write"))?;
    Ok((Trial { of, reads, writes }, form, all_events))
}

/// Runs a workload to its end.
fn conclude(config: &SystemConfig, workload: Workload) -> Result<(Conclusion, u64), SystemError> {
    let recovery = Recovery::of_nothing(config.endpoint_of.len());
    let mut run = begin_with(config, recovery, Bytes::ZERO, Some(workload))?;
    while !run.advance()? {}
    run.conclude().map(|(told, _, events)| (told, events))
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
    SystemConfig { devices, lanes: None, ..config.clone() }
}

impl Kind {
    /// What requests come to that are as often of one of these kinds as of another; `renamed` says which part a kind's part is.
    pub fn mean(kinds: &[&Kind], renamed: impl Fn(usize, u32) -> u32) -> Self {
        let share = 1.0 / kinds.len().max(1) as f64;
        let (mut mean, mut costs) = (Kind::default(), Vec::new());
        for (number, kind) in kinds.iter().enumerate() {
            costs.extend(kind.costs.iter().map(|cost| Cost { part: renamed(number, cost.part), ..*cost }));
            mean.answered.extend(kind.answered.iter().map(|&(device, answers)| (device, answers * share)));
            mean.delay += kind.delay * share;
            mean.network_bytes += kind.network_bytes * share;
            mean.hops.resize(mean.hops.len().max(kind.hops.len()), 0.0);
            mean.hops.iter_mut().zip(&kind.hops).for_each(|(sum, hops)| *sum += hops * share);
            mean.pieces = (mean.pieces.0 + kind.pieces.0 * share, mean.pieces.1 + kind.pieces.1 * share);
        }
        costs.sort_by_key(|cost| cost.part);
        for cost in costs {
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

    fn of(told: &Conclusion, (rows, spacing): (usize, SimDuration)) -> Result<Self, SystemError> {
        let Some(clients) = &told.clients else { return Ok(Kind::default()) };
        let slowest = clients.all.quantile_seconds(1.0).unwrap_or(0.0);
        if clients.all.completed != rows as u64 || slowest >= spacing.seconds() / 2.0 {
            let spacing = spacing.seconds() / 2.0;
            return Err(refused(&format!(
                "{} of {rows} requests were answered, each by itself, within {spacing} s; make requests smaller, or parts faster",
                clients.all.completed
            )));
        }
        let each = |amount: f64| amount / rows as f64;
        let mut costs = Vec::new();
        let mut first = 0;
        let mut add = |uses: &mut dyn Iterator<Item = (f64, u64, u64, u64)>| {
            for (busy, bytes, requests, seeks) in uses {
                if requests > 0 || bytes > 0 {
                    let (bytes, requests, seeks) = (each(bytes as f64), each(requests as f64), each(seeks as f64));
                    costs.push(Cost { part: first, busy: each(busy), bytes, requests, seeks });
                }
                first += 1;
            }
        };
        let disk_bytes = |disk: &resilver_device::DeviceUse| disk.bytes_read.get() + disk.bytes_written.get();
        add(&mut clients.disks.iter().map(|disk| (disk.busy.seconds(), disk_bytes(disk), disk.requests, disk.seeks)));
        add(&mut told.parts.iter().map(|part| (part.busy.seconds(), part.bytes.get(), part.requests, 0)));
        add(&mut told.interfaces.iter().flat_map(|one| {
            let sent = (one.send_busy.seconds(), one.bytes_sent.get(), one.messages_sent, 0);
            [sent, (one.receive_busy.seconds(), one.bytes_received.get(), one.messages_received, 0)]
        }));
        let channels = told.network.as_ref().map_or(&[][..], |network| &network.channels);
        add(&mut channels.iter().map(|one| (one.busy.seconds(), one.bytes.get(), one.packets, 0)));
        let answered = (0..).zip(&clients.servers).filter(|(_, server)| server.completed > 0);
        let pieces = clients.pieces.unwrap_or_default();
        Ok(Kind {
            costs,
            answered: answered.map(|(device, server)| (device, each(server.completed as f64))).collect(),
            delay: clients.all.mean_seconds().unwrap_or(0.0),
            network_bytes: each(told.network_bytes.get() as f64),
            hops: told.network.iter().flat_map(|network| &network.hops).map(|&hops| each(hops as f64)).collect(),
            pieces: (each(pieces.read.get() as f64), each(pieces.written.get() as f64)),
        })
    }
}
