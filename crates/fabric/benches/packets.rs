//! Packets through a torus and other networks: the rate at which a switched fabric moves them from node to node, and its memory.
//!
//! Routers keep a constant number of requests under way to random hosts, half of them reads: a message of 64 B and one of
//! 512 KiB in eight packets, one each way, as in the study of failing storage networks. Hosts answer at once, so the network
//! is all there is. A packet-hop is a packet sent over one link; all events and the draws of the requests are included.
//! Rates are by processor time where the system tells it.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use resilver_fabric::topology::{Topology, butterfly, draw_routers, fat_tree, hypercube, torus};
use resilver_fabric::{
    Fabric, FabricEvent, Forwarding, Message, Notice, Queues, Routing, Switched, SwitchedEvent, SwitchedParameters,
};
use resilver_kernel::lanes::Lanes;
use resilver_kernel::{Event, Limit, Model, Purpose, Schedule, Stream, run};
use resilver_units::{Bytes, BytesPerSecond, EndpointId, SimDuration};

/// Million packet-hops a second, all events included: of the fast path, and with explicit queues.
const GOAL: f64 = 20.0;
const GOAL_OF_LANES: f64 = 8.0;
const ROUTERS: u32 = 128;
const OUTSTANDING: u64 = 5120;
const CONTROL_BYTES: u64 = 64;
const DATA_BYTES: u64 = 512 << 10;

#[derive(Clone, Copy)]
struct Step(u64);

impl Event for Step {
    #[inline]
    fn code(&self) -> u64 {
        self.0
    }
}

/// Who asks whom for what.
#[derive(Clone, Copy)]
struct Request {
    router: EndpointId,
    host: EndpointId,
    is_read: bool,
}

struct Load {
    fabric: Switched,
    lanes: u64,
    requests: Vec<Request>,
    draws: Stream,
}

impl Load {
    /// Token 2 k is the first message of request k, token 2 k + 1 the second.
    #[inline]
    fn send(&mut self, token: u64, schedule: &mut Schedule<Step>) {
        let Request { router, host, is_read } = self.requests[(token / 2) as usize];
        let is_answer = token % 2 == 1;
        let (from, to) = if is_answer { (host, router) } else { (router, host) };
        let bytes = Bytes::new(if is_read == is_answer { DATA_BYTES } else { CONTROL_BYTES });
        let message = Message { from, to, bytes, lane: (token / 2 % self.lanes) as u8, token };
        self.fabric.send(schedule.now(), message, |time, event| schedule.at(time, Step(event.number())));
    }

    fn issue(&mut self, number: u64, schedule: &mut Schedule<Step>) {
        let hosts = self.fabric.topology().hosts().len() as u64;
        let request = &mut self.requests[number as usize];
        request.host = EndpointId::new(self.draws.below(hosts) as u32);
        request.is_read = self.draws.below(2) == 0;
        self.send(2 * number, schedule);
    }
}

impl Model for Load {
    type Event = Step;

    #[inline]
    fn execute(&mut self, Step(number): Step, schedule: &mut Schedule<Step>) {
        let event = SwitchedEvent::of_number(number);
        let message_of = |_| unreachable!("the fabric keeps its messages");
        let notice = self.fabric.execute(schedule.now(), event, message_of, |time, event| {
            schedule.at(time, Step(event.number()));
        });
        match notice {
            Some(Notice::Delivered(token)) if token % 2 == 0 => self.send(token + 1, schedule),
            Some(Notice::Delivered(token)) => self.issue(token / 2, schedule),
            _ => {}
        }
    }

    #[inline]
    fn announce(&self, Step(number): Step) {
        self.fabric.announce(SwitchedEvent::of_number(number));
    }
}

/// A torus with its routers at random nodes.
fn torus_of(sides: &[u32]) -> Topology {
    torus(sides, &draw_routers(sides.iter().product(), ROUTERS, 5).expect("fewer than nodes")).expect("a grid")
}

/// A network of 1 Gb/s links under load.
fn loaded(topology: Topology, outstanding: u64, queues: Queues, lanes: Lanes) -> (Load, Schedule<Step>) {
    let draws = Stream::new(5, 0, Purpose::named("bench"));
    let topology = Arc::new(topology);
    let (hosts, routers) = (topology.hosts().len() as u32, topology.routers().len() as u64);
    let count = lanes.count() as u64;
    let parameters = SwitchedParameters {
        rate: BytesPerSecond::new(125e6).expect("above zero"),
        link_rates: Vec::new(),
        latency: SimDuration::ZERO,
        switch_latency: SimDuration::from_picoseconds(6_000_000),
        overhead: Bytes::new(38),
        packet: Bytes::kibibytes(64),
        forwarding: Forwarding::StoreAndForward,
        routing: Routing::Adaptive,
        hop_limit: 96,
        lanes,
        queues,
    };
    let request = |number| Request {
        router: EndpointId::new(hosts + (number % routers) as u32),
        host: EndpointId::new(0),
        is_read: true,
    };
    let requests = (0..outstanding).map(request).collect();
    let mut load = Load { fabric: Switched::new(topology, parameters), lanes: count, requests, draws };
    let mut schedule = Schedule::with_capacity(0);
    for number in 0..outstanding {
        load.issue(number, &mut schedule);
    }
    (load, schedule)
}

fn hops(load: &Load, schedule: &Schedule<Step>) -> u64 {
    load.fabric.report(schedule.now()).packets_forwarded
}

/// Million packet-hops a second in each of five pieces, in order of size.
fn rates(load: &mut Load, schedule: &mut Schedule<Step>, events: u64) -> [f64; 5] {
    run(load, schedule, Limit::events(events)).expect("no event is out of time");
    let mut rates = [0.0; 5];
    for rate in &mut rates {
        let (before, start, processor) = (hops(load, schedule), Instant::now(), processor_seconds());
        black_box(run(load, schedule, Limit::events(events))).expect("no event is out of time");
        let elapsed = start.elapsed().as_secs_f64();
        let seconds = processor_seconds().zip(processor).map_or(elapsed, |(now, before)| now - before);
        *rate = (hops(load, schedule) - before) as f64 / seconds / 1e6;
    }
    rates.sort_by(f64::total_cmp);
    rates
}

/// Seconds that this thread has had a processor, where the system tells: what else runs on it does not count.
fn processor_seconds() -> Option<f64> {
    let words = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    words.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds * 1e-9)
}

/// Resident memory in MiB, where the system tells.
fn resident_mebibytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kibibytes| kibibytes / 1024.0)
}

fn main() {
    // `cargo test --benches` only looks whether the bench runs.
    let events = if std::env::args().any(|argument| argument == "--bench") { 10_000_000 } else { 100_000 };
    println!("packets, {ROUTERS} routers on grids, million packet-hops a second (median of 5, least, most)");
    println!(
        "{:>16} {:>12} {:>9} {:>16} {:>6} {:>7} {:>7} {:>7} {:>9}",
        "network", "outstanding", "queues", "lanes", "goal", "median", "least", "most", "MiB"
    );
    let shares = |fractions: &[f64]| Lanes::of_shares(fractions).expect("parts of a whole");
    let lanes_of = [Lanes::single(), shares(&[0.9, 0.1]), shares(&[0.6, 0.3, 0.1])];
    let explicit =
        |lanes: &Lanes| ("torus 16^3", torus_of(&[16, 16, 16]), OUTSTANDING, Queues::Explicit, lanes.clone());
    let implicit = |name, topology| (name, topology, OUTSTANDING, Queues::Implicit, Lanes::single());
    let mut cases = vec![implicit("torus 16^3", torus_of(&[16, 16, 16]))];
    cases.extend(lanes_of.iter().map(explicit));
    cases.push(("torus 16^4", torus_of(&[16; 4]), 16 * OUTSTANDING, Queues::Implicit, Lanes::single()));
    cases.push(implicit("torus 64^2", torus_of(&[64, 64])));
    cases.push(implicit(
        "hypercube 12",
        hypercube(12, &draw_routers(4096, ROUTERS, 5).expect("nodes")).expect("a cube"),
    ));
    cases.push(implicit("butterfly", butterfly(4, 4, 16).expect("a butterfly")));
    let tree = fat_tree(&[4096, 128, 64, 32], &[1, 32, 64], Some(1));
    cases.push(implicit("fat tree", tree.expect("levels that nest")));
    for (name, topology, outstanding, queues, lanes) in cases {
        let before = resident_mebibytes();
        let goal = if queues == Queues::Explicit { GOAL_OF_LANES } else { GOAL };
        let parts: Vec<String> = (0..lanes.count()).map(|lane| lanes.share(lane).to_string()).collect();
        let (mut load, mut schedule) = loaded(topology, outstanding, queues, lanes);
        let [least, _, median, _, most] = rates(&mut load, &mut schedule, events);
        let memory =
            resident_mebibytes().zip(before).map_or("-".to_owned(), |(now, before)| format!("{:.0}", now - before));
        let (queues, lanes) = (format!("{queues:?}"), parts.join(" "));
        println!(
            "{name:>16} {outstanding:>12} {queues:>9} {lanes:>16} {goal:>6.1} {median:>7.2} {least:>7.2} {most:>7.2} \
             {memory:>9}"
        );
    }
}
