//! What flows come to over their time, in the form in which events tell it.

use resilver_device::DeviceUse;
use resilver_units::{Bytes, SimDuration, SimTime};

use super::course::Course;
use super::rows::{counted, layers, rows};
use super::sharing::{Allowed, Parts};
use super::stretches::{Stretch, Sum};
use super::trial::{Cost, Kind};
use super::{Steady, refused};
use crate::SystemError;
use crate::clients::measures::{
    ClientOutcome, Counts, Delays, PeriodOutcome, PieceCounts, Rates, ServerOutcome, StreamOutcome, TrafficInterval,
};
use crate::conclusion::{Conclusion, FlowOutcome, FlowsOf};
use crate::plant::ways::PartUse;
use crate::recovery::limits::Limits;

impl Sum {
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
    /// What bursts moved.
    bursts: f64,
}

fn duration(seconds: f64) -> SimDuration {
    SimDuration::from_picoseconds((seconds * 1e12).round() as u64)
}

impl Totals {
    fn of(steady: &Steady, course: &Course, parts: &Parts, devices: usize) -> Self {
        let traffic = steady.config.traffic.iter();
        let none = || vec![Cost::default(); parts.count()];
        let mut totals = Totals {
            served: traffic.map(|traffic| vec![[[Sum::default(); 2]; 3]; traffic.classes.len()]).collect(),
            windows: [SimDuration::ZERO; 3],
            costs: [none(), none()],
            answered: vec![0.0; devices],
            network_bytes: 0.0,
            hops: Vec::new(),
            pieces: (0.0, 0.0),
            bursts: 0.0,
        };
        for (number, phase) in steady.phases.iter().enumerate() {
            totals.windows[phase.period as usize] += counted(phase, steady.since());
            totals.add_phase(steady, number, course);
        }
        totals
    }

    fn add_phase(&mut self, steady: &Steady, number: usize, course: &Course) {
        let (period, count) = (steady.phases[number].period as usize, steady.flows.len());
        for (requester, moved) in course.moved[number * count..(number + 1) * count].iter().enumerate() {
            let trial = steady.trial(number, requester);
            let (law, reads, alone) = (trial.of.law, trial.of.read_share, trial.alone());
            let requests = moved.bytes / trial.size();
            let delay = if requests > 0.0 { moved.seconds / requests } else { 0.0 };
            let is_of_clients = steady.whose(law) == FlowsOf::Clients;
            if is_of_clients {
                for (of_class, served) in trial.classes.iter().zip(&mut self.served[law]) {
                    for (one, sum) in of_class.iter().zip(&mut served[period]) {
                        // What is waited for is the same for all classes and both kinds.
                        sum.add(requests * one.share, one.size, (one.delay + delay - alone).max(0.0));
                    }
                }
            }
            for (kind, (of_kind, share)) in
                [(&trial.reads, reads), (&trial.writes, 1.0 - reads)].into_iter().enumerate()
            {
                if is_of_clients {
                    self.answer(of_kind, requests * share);
                } else {
                    self.bursts += requests * share * of_kind.size;
                }
                self.add(kind, of_kind, requests * share);
            }
        }
    }

    /// So many requests of clients, bursts apart.
    fn answer(&mut self, kind: &Kind, requests: f64) {
        for &(device, answers) in &kind.answered {
            self.answered[device as usize] += answers * requests;
        }
        self.pieces.0 += kind.pieces.0 * requests;
        self.pieces.1 += kind.pieces.1 * requests;
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
        self.network_bytes += kind.network_bytes * requests;
        self.hops.resize(self.hops.len().max(kind.hops.len()), 0.0);
        self.hops.iter_mut().zip(&kind.hops).for_each(|(sum, hops)| *sum += hops * requests);
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

    fn clients(&self, form: &ClientOutcome, outstanding: f64, intervals: Vec<TrafficInterval>) -> ClientOutcome {
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
            intervals,
        }
    }
}

/// What clients got in a stretch of time, bursts apart.
fn interval(stretch: &Stretch, has_delays: bool) -> TrafficInterval {
    let [reads, writes] = stretch.served;
    let both = reads.and(writes);
    TrafficInterval {
        start: stretch.from,
        duration: stretch.to.since(stretch.from),
        completed: both.requests.round() as u64,
        lost: 0,
        read_bytes: reads.bytes.round() as u64,
        write_bytes: writes.bytes.round() as u64,
        mean_delay_seconds: (has_delays && both.requests > 0.0).then(|| both.seconds / both.requests),
        packets_dropped: 0,
        write_backlog: 0.0,
    }
}

/// What streams, bursts and jobs came to.
fn streams(steady: &Steady, course: &Course, totals: &Totals, clients: &ClientOutcome) -> StreamOutcome {
    let bytes = |bytes: f64| Bytes::new(bytes.round() as u64);
    let ended = course.volumes.iter().map(|volumes| volumes.counted).sum::<u64>();
    let seconds = course.volumes.iter().map(|volumes| volumes.seconds).sum::<f64>();
    StreamOutcome {
        window: clients.window,
        all: Rates {
            read: clients.reads.bytes,
            written: clients.writes.bytes,
            bursts: bytes(totals.bursts),
            completed: clients.all.completed,
            delay_picoseconds: clients.all.sum_picoseconds,
            ..Rates::default()
        },
        has_bursts: !steady.series.is_empty(),
        has_corruption: false,
        mean_burst_seconds: (ended > 0).then(|| seconds / ended as f64),
        undrained: None,
        strips_rebuilt: 0,
        rebuild_seconds: None,
        groups: Vec::new(),
        jobs: course.volumes.iter().flat_map(|volumes| volumes.rows.iter().cloned()).collect(),
    }
}

/// What flows come to, in the form of what a trial told.
pub(super) fn conclude(
    mut steady: Steady,
    course: &Course,
    (parts, allowed): (&Parts, &[Vec<Allowed>]),
) -> Result<Conclusion, SystemError> {
    let mut told = steady.form.take().ok_or_else(|| refused("no client asks for anything"))?;
    let form = told.clients.take().ok_or_else(|| refused("no client asks for anything"))?;
    let totals = Totals::of(&steady, course, parts, form.disks.len());
    let (stretches, has_delays) = (course.stretches.all(), steady.has_delays());
    let intervals = stretches.iter().map(|stretch| interval(stretch, has_delays)).collect();
    let clients = totals.clients(&form, course.outstanding(&steady), intervals);
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
    let (rows, layers) = (rows(&steady, parts, stretches), layers(&steady, allowed));
    told.flows = Some(FlowOutcome { rows, layers, backlog: course.backlog(), has_delays });
    told.streams = steady.has_streams.then(|| streams(&steady, course, &totals, &clients));
    told.clients = Some(clients);
    Ok(told)
}
