//! Clients over a packet fabric on one core: packet-hops a second, with everything that a request costs beside them.
//!
//! A torus of 16 x 16 x 16 nodes at 1 Gb/s, of which 128 are routers that keep 5,120 requests of 512 KiB outstanding, half of
//! them reads, to disks of 22 ms a request that serve reads first.

use std::sync::Arc;
use std::time::Instant;

use resilver_device::{Device, Discipline, Service};
use resilver_fabric::topology::torus;
use resilver_fabric::{Forwarding, Queues, Routing, Switched, SwitchedParameters};
use resilver_kernel::lanes::Lanes;
use resilver_kernel::{Digest, Limit, Schedule, run};
use resilver_system::{Arrivals, EventOf, Plant, Recovery, RequestClass, Storage, Targets, Traffic, Workload};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, SimDuration};

const SIDES: [u32; 3] = [16, 16, 16];
const ROUTERS: u32 = 128;
const HOSTS: u32 = 16 * 16 * 16 - ROUTERS;
/// Requests outstanding, over all routers.
const OUTSTANDING: u64 = 5120;
/// Goal of the rate, in million packet-hops a second.
const GOAL_RATE: f64 = 15.0;

fn seconds(seconds: f64) -> SimDuration {
    SimDuration::from_seconds(seconds).expect("a short time")
}

fn fabric() -> Switched {
    // Every 32nd node is a router.
    let routers: Vec<u32> = (0..ROUTERS).map(|router| router * 32).collect();
    let parameters = SwitchedParameters {
        rate: BytesPerSecond::new(1.25e8).expect("a rate"),
        link_rates: vec![],
        latency: SimDuration::ZERO,
        switch_latency: seconds(6e-6),
        overhead: Bytes::new(38),
        packet: Bytes::kibibytes(64),
        forwarding: Forwarding::StoreAndForward,
        routing: Routing::Adaptive,
        hop_limit: 96,
        lanes: Lanes::single(),
        queues: Queues::Implicit,
    };
    Switched::new(Arc::new(torus(&SIDES, &routers).expect("a torus")), parameters)
}

fn clients(duration: f64) -> Workload {
    let traffic = Traffic {
        pool: None,
        requesters: (HOSTS..HOSTS + ROUTERS).map(EndpointId::new).collect(),
        servers: (0..HOSTS).map(DeviceId::new).collect(),
        arrivals: Arrivals::Closed { outstanding: OUTSTANDING, interval: seconds(0.022) },
        classes: vec![RequestClass { share: 1.0, read_share: 0.5, size: Bytes::kibibytes(512), operation: None }],
        control: Bytes::new(64),
        targets: Targets::Uniform,
        directories: Vec::new(),
        gap: SimDuration::ZERO,
        timeout: None,
        warm_up: SimDuration::ZERO,
        duration: Some(seconds(duration)),
    };
    Workload::of_requests(1, traffic, HOSTS as usize, false).expect("traffic that can be drawn")
}

/// Serves for a simulated time; returns packet-hops, events with their digest, and the seconds that they took.
fn serve(duration: f64) -> (u64, (u64, Digest), f64) {
    let service = Service::Fixed { read: seconds(0.022), write: seconds(0.022) };
    let disk = |number| Device::new(&service, number, Discipline::ReadsFirst, None);
    let disks = (0..u64::from(HOSTS)).map(disk).collect();
    let plant = Plant::new(fabric(), disks, (0..HOSTS).map(EndpointId::new).collect());
    let mut storage = Storage::serving(plant, Recovery::of_nothing(HOSTS as usize), Some(clients(duration)), vec![]);
    let mut schedule: Schedule<EventOf<Switched>> = Schedule::new();
    let begin = Instant::now();
    storage.start(&mut schedule);
    run(&mut storage, &mut schedule, Limit::none()).expect("no event is out of time");
    let seconds = begin.elapsed().as_secs_f64();
    let conclusion = storage.conclude(schedule.now()).expect("the laws of conservation hold");
    (
        conclusion.network.map_or(0, |network| network.packets_forwarded),
        (schedule.executed(), schedule.digest()),
        seconds,
    )
}

fn main() {
    // `cargo bench` asks for measurements; `cargo test --benches` only for a run that works.
    let measure = std::env::args().any(|argument| argument == "--bench");
    let mut runs: Vec<(u64, (u64, Digest), f64)> =
        (0..if measure { 5 } else { 1 }).map(|_| serve(if measure { 1.0 } else { 0.05 })).collect();
    runs.sort_by(|left, right| left.2.total_cmp(&right.2));
    let (hops, (events, digest), seconds) = runs[runs.len() / 2];
    println!("{hops} packet-hops, {events} events, digest {digest}");
    println!("goal {GOAL_RATE:.1} million packet-hops/s, rate {:.1}", hops as f64 / seconds / 1e6);
}
