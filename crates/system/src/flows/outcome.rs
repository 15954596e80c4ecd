//! What flows come to over their time, in the form in which events tell it.

use resilver_device::DeviceUse;
use resilver_units::{Bytes, SimDuration, SimTime};

use super::rows::{FlowOutcome, counted, layers, rows};
use super::sharing::Shared;
use super::trial::{Cost, Kind};
use super::{Steady, refused};
use crate::SystemError;
use crate::limits::Limits;
use crate::measures::{ClientOutcome, Counts, Delays, PeriodOutcome, PieceCounts, ServerOutcome, TrafficInterval};
use crate::storage::Conclusion;
use crate::ways::PartUse;

/// Requests with their data and the seconds that they took.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    requests: f64,
    bytes: f64,
    seconds: f64,
}

impl Sum {
    fn add(&mut self, requests: f64, size: f64, delay: f64) {
        self.requests += requests;
        self.bytes += requests * size;
        self.seconds += requests * delay;
    }

    fn and(self, other: Sum) -> Sum {
        let (requests, bytes) = (self.requests + other.requests, self.bytes + other.bytes);
        Sum { requests, bytes, seconds: self.seconds + other.seconds }
    }

    /// As delays, of which flows know the mean and no more.
    fn delays(self) -> Delays {
        let sum_picoseconds = (self.seconds * 1e12).round() as u128;
        let (completed, bytes) = (self.requests.round() as u64, Bytes::new(self.bytes.round() as u64));
        Delays { completed, bytes, sum_picoseconds, ..Delays::default() }
    }
}

/// All that is summed over phases and flows.
struct Totals {
    /// By traffic, class of its requests, period and whether they read.
    served: Vec<Vec<[[Sum; 2]; 3]>>,
    windows: [SimDuration; 3],
    /// By part, of reads and of writes.
    costs: [Vec<Cost>; 2],
    answered: Vec<f64>,
    network_bytes: f64,
    hops: Vec<f64>,
    pieces: (f64, f64),
    intervals: Vec<TrafficInterval>,
}

fn duration(seconds: f64) -> SimDuration {
    SimDuration::from_picoseconds((seconds * 1e12).round() as u64)
}

impl Totals {
    fn of(steady: &Steady, shared: &[Shared], devices: usize, since: SimTime) -> Self {
        let traffic = steady.config.traffic.iter();
        let none = || vec![Cost::default(); shared[0].parts.count()];
        let mut totals = Totals {
            served: traffic.map(|traffic| vec![[[Sum::default(); 2]; 3]; traffic.classes.len()]).collect(),
            windows: [SimDuration::ZERO; 3],
            costs: [none(), none()],
            answered: vec![0.0; devices],
            network_bytes: 0.0,
            hops: Vec::new(),
            pieces: (0.0, 0.0),
            intervals: Vec::new(),
        };
        for (number, (phase, shared)) in steady.phases.iter().zip(shared).enumerate() {
            totals.windows[phase.period as usize] += counted(phase, since);
            totals.add_phase(steady, number, shared, counted(phase, since).seconds());
        }
        totals
    }

    fn add_phase(&mut self, steady: &Steady, number: usize, shared: &Shared, window: f64) {
        let (phase, count) = (&steady.phases[number], steady.requesters.len());
        let length = phase.to.since(phase.from);
        let mut of_phase = [Sum::default(); 2];
        let trials = &steady.trials[number * count..(number + 1) * count];
        for (trial, (&rate, &delay)) in trials.iter().zip(shared.rates.iter().zip(&shared.delays)) {
            let traffic = &steady.config.traffic[trial.of.law];
            let (requests, reads) = (rate / traffic.mean_size(), traffic.read_share());
            let alone = trial.alone_seconds(reads);
            for (number, (class, own)) in traffic.classes.iter().zip(&trial.alone).enumerate() {
                for (kind, (share, own)) in class.shares().into_iter().zip(own).enumerate() {
                    let (a_second, size) = (requests * share, class.size.get() as f64);
                    // What is waited for is the same for all classes and both kinds.
                    let own = (own + delay - alone).max(0.0);
                    of_phase[kind].add(a_second * length.seconds(), size, own);
                    let served = &mut self.served[trial.of.law][number][phase.period as usize][kind];
                    served.add(a_second * window, size, own);
                }
            }
            self.add(0, &trial.reads, requests * reads * window);
            self.add(1, &trial.writes, requests * (1.0 - reads) * window);
        }
        let both = of_phase[0].and(of_phase[1]);
        self.intervals.push(TrafficInterval {
            start: phase.from,
            duration: length,
            completed: both.requests.round() as u64,
            lost: 0,
            read_bytes: of_phase[0].bytes.round() as u64,
            write_bytes: of_phase[1].bytes.round() as u64,
            mean_delay_seconds: (both.requests > 0.0).then(|| both.seconds / both.requests),
            packets_dropped: 0,
            write_backlog: 0.0,
        });
    }

    /// So many requests of a kind.
    fn add(&mut self, number: usize, kind: &Kind, requests: f64) {
        for cost in &kind.costs {
            let sum = &mut self.costs[number][cost.part as usize];
            sum.busy += cost.busy * requests;
            sum.bytes += cost.bytes * requests;
            sum.requests += cost.requests * requests;
            sum.seeks += cost.seeks * requests;
        }
        for &(device, answers) in &kind.answered {
            self.answered[device as usize] += answers * requests;
        }
        self.network_bytes += kind.network_bytes * requests;
        self.hops.resize(self.hops.len().max(kind.hops.len()), 0.0);
        self.hops.iter_mut().zip(&kind.hops).for_each(|(sum, hops)| *sum += hops * requests);
        self.pieces.0 += kind.pieces.0 * requests;
        self.pieces.1 += kind.pieces.1 * requests;
    }

    /// What a part did for both kinds.
    fn both(&self, part: usize) -> Cost {
        let [reads, writes] = [self.costs[0][part], self.costs[1][part]];
        Cost {
            busy: reads.busy + writes.busy,
            bytes: reads.bytes + writes.bytes,
            requests: reads.requests + writes.requests,
            seeks: reads.seeks + writes.seeks,
            ..reads
        }
    }

    fn disk(&self, device: usize) -> DeviceUse {
        let both = self.both(device);
        DeviceUse {
            busy: duration(both.busy),
            bytes_read: Bytes::new(self.costs[0][device].bytes.round() as u64),
            bytes_written: Bytes::new(self.costs[1][device].bytes.round() as u64),
            seeks: both.seeks.round() as u64,
            requests: both.requests.round() as u64,
        }
    }

    fn periods(&self, of: &[[Sum; 2]; 3]) -> [PeriodOutcome; 3] {
        let period = |number: usize| {
            let [reads, writes] = of[number].map(Sum::delays);
            let completed = reads.completed + writes.completed;
            let counts = Counts { issued: completed, completed, ..Counts::default() };
            PeriodOutcome { window: self.windows[number], counts, reads, writes }
        };
        [period(0), period(1), period(2)]
    }

    fn clients(&self, form: &ClientOutcome, outstanding: f64) -> ClientOutcome {
        let mut all = [[Sum::default(); 2]; 3];
        for of_class in self.served.iter().flatten() {
            for (sums, of_period) in all.iter_mut().zip(of_class) {
                sums.iter_mut().zip(of_period).for_each(|(sum, of_kind)| *sum = sum.and(*of_kind));
            }
        }
        let of_kind = |kind: usize| all.iter().fold(Sum::default(), |sum, period| sum.and(period[kind]));
        let both = of_kind(0).and(of_kind(1)).delays();
        let server = |(device, answered): (usize, &f64)| ServerOutcome {
            completed: answered.round() as u64,
            read: self.costs[0][device].requests.round() as u64,
            written: self.costs[1][device].requests.round() as u64,
            ..ServerOutcome::default()
        };
        let asked = |bytes: f64| Bytes::new(bytes.round() as u64);
        ClientOutcome {
            window: self.windows.into_iter().fold(SimDuration::ZERO, |sum, window| sum + window),
            counts: Counts { issued: both.completed, completed: both.completed, ..Counts::default() },
            outstanding: outstanding.round() as u64,
            hanging: 0,
            periods: self.periods(&all),
            classes: self.served.iter().map(|of| of.iter().map(|of_class| self.periods(of_class)).collect()).collect(),
            pieces: form.pieces.map(|_| PieceCounts {
                read: asked(self.pieces.0),
                written: asked(self.pieces.1),
                ..PieceCounts::default()
            }),
            reads: of_kind(0).delays(),
            writes: of_kind(1).delays(),
            all: both,
            write_backlog: 0,
            write_backlog_bytes: Bytes::ZERO,
            write_backlog_max: 0,
            servers: self.answered.iter().enumerate().map(server).collect(),
            disks: (0..self.answered.len()).map(|device| self.disk(device)).collect(),
            intervals: self.intervals.clone(),
        }
    }
}

/// What flows come to, in the form of what a trial told.
pub(super) fn conclude(mut steady: Steady, shared: &[Shared]) -> Result<Conclusion, SystemError> {
    let mut told = steady.form.take().ok_or_else(|| refused("no client asks for anything"))?;
    let form = told.clients.take().ok_or_else(|| refused("no client asks for anything"))?;
    let since = SimTime::ZERO + steady.config.traffic[steady.config.traffic.len() - 1].warm_up;
    let totals = Totals::of(&steady, shared, form.disks.len(), since);
    // What is outstanding in the end is what comes in the time that a request takes.
    let last = shared.last().map_or(0.0, |last| {
        let trials = &steady.trials[steady.trials.len() - steady.requesters.len()..];
        let each = trials.iter().zip(last.rates.iter().zip(&last.delays));
        each.map(|(trial, (rate, delay))| rate / steady.config.traffic[trial.of.law].mean_size() * delay).sum()
    });
    let clients = totals.clients(&form, last);
    let mut part = form.disks.len();
    let mut next = || {
        part += 1;
        totals.both(part - 1)
    };
    for PartUse { requests, bytes, busy, .. } in &mut told.parts {
        let cost = next();
        (*requests, *bytes, *busy) =
            (cost.requests.round() as u64, Bytes::new(cost.bytes.round() as u64), duration(cost.busy));
    }
    for interface in &mut told.interfaces {
        let [sent, received] = [next(), next()];
        (interface.send_busy, interface.receive_busy) = (duration(sent.busy), duration(received.busy));
        interface.bytes_sent = Bytes::new(sent.bytes.round() as u64);
        interface.bytes_received = Bytes::new(received.bytes.round() as u64);
        (interface.messages_sent, interface.messages_received) =
            (sent.requests.round() as u64, received.requests.round() as u64);
    }
    if let Some(network) = &mut told.network {
        for channel in &mut network.channels {
            let cost = next();
            (channel.busy, channel.packets) = (duration(cost.busy), cost.requests.round() as u64);
            (channel.bytes, channel.queued) = (Bytes::new(cost.bytes.round() as u64), 0);
        }
        network.hops = totals.hops.iter().map(|hops| hops.round() as u64).collect();
        let delivered = network.hops.iter().sum();
        (network.packets_sent, network.packets_delivered) = (delivered, delivered);
        (network.total.sent, network.total.delivered) = (delivered, delivered);
        // Nothing is known of waiting: what has not been counted has no share.
        (network.packets_queued, network.packets_forwarded) = (0, 0);
    }
    told.outcome.ended_at = steady.phases.last().map_or(SimTime::ZERO, |phase| phase.to);
    told.outcome.timeline.clear();
    told.outcome.devices.iter_mut().zip(&clients.disks).for_each(|(device, disk)| device.disk = *disk);
    told.network_bytes = Bytes::new(totals.network_bytes.round() as u64);
    told.limits = Limits::default();
    told.flows = Some(FlowOutcome { rows: rows(&steady, shared, since), layers: layers(&steady, shared) });
    told.clients = Some(clients);
    Ok(told)
}
