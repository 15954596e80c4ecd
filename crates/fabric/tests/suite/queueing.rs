//! A port is a queue: what theory says of queues holds of it, and its statistics are those of its packets.

use crate::harness;

use std::collections::BTreeMap;
use std::sync::Arc;

use harness::{Hop, Play, gigabit, mesh, torus};
use resilver_fabric::{ChannelUse, Fabric, FabricEvent, Message, Notice, Switched, SwitchedEvent, SwitchedParameters};
use resilver_kernel::stats::TimeMean;
use resilver_kernel::{Event, Limit, Model, Purpose, Schedule, Stream, run};
use resilver_units::{Bytes, BytesPerSecond, EndpointId, SimDuration, SimTime};

/// A byte takes a picosecond.
const FAST: f64 = 1e12;
/// Mean size of a message.
const MEAN_BYTES: f64 = 1e6;
const LOAD: f64 = 0.9;
const MESSAGES: u64 = 2_000_000;
const BATCHES: usize = 50;

#[derive(Clone, Copy)]
enum Step {
    Next,
    Fabric(SwitchedEvent),
}

impl Event for Step {
    fn code(&self) -> u64 {
        match self {
            Step::Next => u64::MAX,
            Step::Fabric(event) => event.number(),
        }
    }
}

/// Messages that come to one link at random, each of one packet.
struct Line {
    fabric: Switched,
    draws: Stream,
    is_exponential: bool,
    sent_at: Vec<u64>,
    /// Time each message took beyond its own transmission, in picoseconds.
    waits: Vec<f64>,
    bytes: Vec<u64>,
}

impl Model for Line {
    type Event = Step;

    fn execute(&mut self, event: Step, schedule: &mut Schedule<Step>) {
        let now = schedule.now();
        match event {
            Step::Next => {
                let token = self.sent_at.len() as u64;
                let size = if self.is_exponential { self.draws.exponential(MEAN_BYTES) } else { MEAN_BYTES };
                // Exponential sizes are rounded to bytes, a millionth of their mean.
                let bytes = size.round().max(1.0) as u64;
                self.sent_at.push(now.picoseconds());
                self.bytes.push(bytes);
                let (from, to, bytes) = (EndpointId::new(0), EndpointId::new(1), Bytes::new(bytes));
                let message = Message { from, to, bytes, lane: 0, token };
                self.fabric.send(now, message, |time, event| schedule.at(time, Step::Fabric(event)));
                if token + 1 < MESSAGES {
                    let gap = self.draws.exponential(MEAN_BYTES / LOAD);
                    schedule.after(SimDuration::from_picoseconds(gap.round() as u64), Step::Next);
                }
            }
            Step::Fabric(event) => {
                let notice = self.fabric.execute(
                    now,
                    event,
                    |_| unreachable!(),
                    |time, event| {
                        schedule.at(time, Step::Fabric(event));
                    },
                );
                if let Some(Notice::Delivered(token)) = notice {
                    let took = now.picoseconds() - self.sent_at[token as usize];
                    self.waits.push((took - self.bytes[token as usize]) as f64);
                }
            }
        }
    }
}

/// The mean wait in mean transmission times, and its standard error from the means of batches.
fn mean_wait(is_exponential: bool, seed: u64) -> (f64, f64) {
    let parameters = SwitchedParameters {
        rate: BytesPerSecond::new(FAST).unwrap(),
        overhead: Bytes::ZERO,
        packet: Bytes::new((1 << 31) - 1),
        ..gigabit()
    };
    let mut line = Line {
        fabric: Switched::new(mesh(&[2], &[]), parameters),
        draws: Stream::new(seed, 0, Purpose::named("queue")),
        is_exponential,
        sent_at: Vec::new(),
        waits: Vec::new(),
        bytes: Vec::new(),
    };
    let mut schedule = Schedule::new();
    schedule.at(SimTime::ZERO, Step::Next);
    run(&mut line, &mut schedule, Limit::none()).unwrap();
    assert_eq!(line.waits.len() as u64, MESSAGES);
    let report = line.fabric.report(schedule.now());
    let busy: u64 = line.bytes.iter().sum();
    assert_eq!(report.channels[0].busy.picoseconds(), busy, "a byte a picosecond");
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let batches: Vec<f64> =
        line.waits.chunks(line.waits.len() / BATCHES).map(|batch| mean(batch) / MEAN_BYTES).collect();
    let all = mean(&batches);
    let variance = batches.iter().map(|batch| (batch - all).powi(2)).sum::<f64>() / (BATCHES - 1) as f64;
    (all, (variance / BATCHES as f64).sqrt())
}

/// Pollaczek and Khinchine: the mean wait is load / (1 - load) (1 + cv^2) / 2 mean transmission times.
///
/// 3.5 standard errors of 49 degrees of freedom are a chance of one in a thousand for each of the two cases.
#[test]
fn waits_at_a_link_of_90_percent_load_are_those_of_pollaczek_and_khinchine() {
    // Equal sizes: cv = 0, 9 / 2 = 4.5. Exponential sizes: cv = 1, 9.
    for (is_exponential, expected) in [(false, 4.5), (true, 9.0)] {
        let (mean, error) = mean_wait(is_exponential, 11);
        assert!(error < 0.04 * expected, "{error} is too wide an error to tell anything");
        assert!((mean - expected).abs() < 3.5 * error, "{mean} for {expected}, standard error {error}");
    }
}

const PACKET: u64 = 65_536;
const FULL: u64 = (PACKET + 38) * 8000;
/// Statistics begin here and end there: at least 3,000 packets cross every channel.
const BEGIN: u64 = 200 * FULL + 12_345;
const END: u64 = 12_000 * FULL + 54_321;

/// The hops over each channel, by the two nodes that it joins.
type HopsOfChannels = BTreeMap<(u32, u32), Vec<Hop>>;

/// A torus under random traffic, as its statistics and as its hops tell it.
fn busy_torus() -> (Vec<ChannelUse>, HopsOfChannels) {
    let topology = torus(&[3, 3], &[]);
    let parameters = SwitchedParameters { latency: SimDuration::from_picoseconds(777), ..gigabit() };
    let mut play = Play::new(&topology, parameters);
    play.diary.notes_hops = true;
    let mut draws = Stream::new(3, 0, Purpose::named("little"));
    // Each node sends a packet every 0.62 FULL, of which 95 % are of FULL, over 1.5 hops in the mean (of the eight others
    // four are one hop away and four two), on four channels a node: 0.95 / 0.62 x 1.5 / 4 is a load of 0.57.
    for node in 0..9 {
        let mut at = 0.0;
        loop {
            at += draws.exponential(0.62 * FULL as f64);
            if at >= 1.01 * END as f64 {
                break;
            }
            let to = (node + 1 + draws.below(8) as u32) % 9;
            play.send(at as u64, node, to, [64, PACKET][usize::from(draws.below(20) > 0)]);
        }
    }
    play.until(BEGIN).diary.fabric.begin_statistics(SimTime::from_picoseconds(BEGIN));
    play.until(END);
    let channels = play.diary.fabric.report(SimTime::from_picoseconds(END)).channels;
    let mut hops: HopsOfChannels = BTreeMap::new();
    for &hop in &play.diary.hops {
        hops.entry((hop.from, hop.to)).or_default().push(hop);
    }
    (channels, hops)
}

/// How much of the time from `start` to `end` lies in the window of the statistics.
fn within(start: u64, end: u64) -> u64 {
    end.min(END).saturating_sub(start.max(BEGIN))
}

#[test]
fn statistics_are_those_of_the_packets_seen() {
    let (channels, hops) = busy_torus();
    for channel in &channels {
        let hops = &hops[&(channel.from, channel.to)];
        let (mut free_at, mut busy, mut queued, mut packets, mut bytes) = (0, 0, 0, 0, 0);
        for hop in hops {
            // First come, first served, one at a time, and never idle while one waits.
            let start = hop.came.max(free_at);
            assert_eq!(hop.left, start + (hop.bytes + 38) * 8000);
            busy += within(start, hop.left);
            if hop.came > BEGIN && hop.came <= END {
                packets += 1;
                queued += u64::from(free_at > hop.came);
                bytes += hop.bytes + 38;
            }
            free_at = hop.left;
        }
        assert_eq!(channel.busy.picoseconds(), busy, "exact at both ends of the window");
        assert_eq!((channel.packets, channel.queued, channel.bytes.get()), (packets, queued, bytes));
        assert!(channel.busy.picoseconds() <= END - BEGIN);
    }
}

#[test]
fn the_law_of_little_holds_at_every_channel() {
    let (channels, hops) = busy_torus();
    let seconds = (END - BEGIN) as f64 * 1e-12;
    let mut loads = Vec::new();
    for channel in &channels {
        let hops = &hops[&(channel.from, channel.to)];
        // The number at the channel, waiting or being sent, stepped through its comings and goings within the window.
        let mut changes: Vec<(u64, i64)> = hops.iter().flat_map(|hop| [(hop.came, 1), (hop.left, -1)]).collect();
        changes.sort_unstable();
        let mut number = TimeMean::new(SimTime::from_picoseconds(BEGIN));
        for &(at, change) in changes.iter().filter(|&&(at, _)| at <= END) {
            number.add(SimTime::from_picoseconds(at.max(BEGIN)), change);
        }
        let mean_number = number.mean(SimTime::from_picoseconds(END)).unwrap();
        let came: Vec<&Hop> = hops.iter().filter(|hop| hop.came > BEGIN && hop.came <= END).collect();
        let mean_seconds = came.iter().map(|hop| (hop.left - hop.came) as f64 * 1e-12).sum::<f64>() / came.len() as f64;
        let rate = channel.packets as f64 / seconds;
        assert!(channel.packets > 3000, "{} packets leave too much to the window's ends", channel.packets);
        assert!((mean_number / (rate * mean_seconds) - 1.0).abs() < 0.005, "{mean_number} for {rate} x {mean_seconds}");
        // The same law of the packet being sent: the share of time in which there is one is rate x transmission time.
        let transmission = channel.bytes.get() as f64 / channel.packets as f64 * 8e-9;
        let load = channel.busy.seconds() / seconds;
        assert!((load / (rate * transmission) - 1.0).abs() < 0.005, "{load} for {rate} x {transmission}");
        loads.push(load);
    }
    let mean = loads.iter().sum::<f64>() / loads.len() as f64;
    assert!((0.5..0.7).contains(&mean), "the mean load {mean} makes packets wait, and ends");
}

#[test]
fn no_channel_is_busy_for_more_than_all_of_the_time() {
    // Ten packets of FULL each wait as the statistics begin: five and a half FULL later the channel was busy throughout, and
    // after all is over, for the nine and a half FULL that were left.
    let mut play = Play::new(&mesh(&[2], &[]), gigabit());
    play.send(0, 0, 1, 10 * PACKET).until(FULL / 2).diary.fabric.begin_statistics(SimTime::from_picoseconds(FULL / 2));
    let busy = |play: &Play, at| play.diary.fabric.report(SimTime::from_picoseconds(at)).channels[0].busy.picoseconds();
    play.until(6 * FULL);
    assert_eq!(busy(&play, 6 * FULL), 11 * FULL / 2);
    play.run();
    assert_eq!(busy(&play, 20 * FULL), 19 * FULL / 2);
    // They came before the window began, and are delivered in it.
    let report = play.diary.fabric.report(SimTime::from_picoseconds(20 * FULL));
    assert_eq!((report.packets_sent, report.packets_delivered, report.packets_forwarded), (0, 10, 0));
    assert_eq!(report.total.sent, 10);
}

#[test]
fn reports_do_not_change_what_follows() {
    let topology = torus(&[3, 3], &[]);
    let mut plays = [(); 2].map(|()| Play::new(&Arc::clone(&topology), gigabit()));
    for play in &mut plays {
        for message in 0..40 {
            play.send(u64::from(message) * FULL / 9, message % 9, (message * 7 + 1) % 9, 3 * PACKET);
        }
    }
    for at in 1..30 {
        plays[0].until(at * FULL / 4);
        let _ = plays[0].diary.fabric.report(SimTime::from_picoseconds(at * FULL / 4));
        plays[0].diary.fabric.begin_statistics(SimTime::from_picoseconds(at * FULL / 4));
    }
    let [mut reported, mut quiet] = plays;
    reported.run();
    quiet.run();
    assert_eq!((reported.digest(), reported.delivered_at()), (quiet.digest(), quiet.delivered_at()));
}
