//! Clients: closed forms of queues, laws of counting, and what the loss of messages and servers does to requests.

use crate::common;

use std::sync::Arc;

use common::{Task, policy};
use resilver_device::{Device, Discipline, Operation, Service};
use resilver_fabric::topology::{mesh, torus};
use resilver_fabric::{Forwarding, LogGp, LogGpRow, LogGpTable, Queues, Routing, Switched, SwitchedParameters};
use resilver_kernel::lanes::Lanes;
use resilver_kernel::{Digest, ExitReason, Limit, Schedule, run};
use resilver_system::{
    Arrivals, ClientOutcome, Conclusion, EventOf, Fault, MetadataRequest, Network, Plant, Recovery, RecoveryPolicy,
    RequestClass, RetryPolicy, SourceChoice, Storage, Targets, TraceRequest, Traffic, Workload,
};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, SimDuration, SimTime};

fn seconds(seconds: f64) -> SimDuration {
    SimDuration::from_seconds(seconds).unwrap()
}

/// A fabric so fast that it does not count: a picosecond a message.
fn instant(endpoints: usize) -> LogGp {
    let row = LogGpRow {
        size: Bytes::gibibytes(1),
        latency: SimDuration::from_picoseconds(1),
        gap_picoseconds: 0,
        gap_per_byte_picoseconds: 0,
    };
    LogGp::new(Arc::new(LogGpTable::new(vec![row]).unwrap()), endpoints)
}

fn parameters() -> SwitchedParameters {
    SwitchedParameters {
        rate: BytesPerSecond::new(1.25e8).unwrap(),
        link_rates: vec![],
        latency: SimDuration::ZERO,
        switch_latency: seconds(6e-6),
        overhead: Bytes::new(38),
        packet: Bytes::kibibytes(64),
        forwarding: Forwarding::StoreAndForward,
        routing: Routing::Adaptive,
        hop_limit: 64,
        lanes: Lanes::single(),
        queues: Queues::Implicit,
    }
}

/// Requests of 512 KiB, of which this share reads.
fn requests(read_share: f64) -> Vec<RequestClass> {
    vec![RequestClass { share: 1.0, read_share, size: Bytes::kibibytes(512), operation: None }]
}

/// Requests of 512 KiB from `requesters` endpoints behind `servers` servers.
fn traffic(servers: u32, requesters: u32, arrivals: Arrivals, duration: f64) -> Traffic {
    Traffic {
        pool: None,
        requesters: (servers..servers + requesters).map(EndpointId::new).collect(),
        servers: (0..servers).map(DeviceId::new).collect(),
        arrivals,
        classes: requests(0.5),
        control: Bytes::new(64),
        targets: Targets::Uniform,
        directories: Vec::new(),
        gap: SimDuration::ZERO,
        timeout: None,
        warm_up: SimDuration::ZERO,
        duration: Some(seconds(duration)),
    }
}

fn closed(outstanding: u64, interval: f64) -> Arrivals {
    Arrivals::Closed { outstanding, interval: seconds(interval) }
}

/// A recovery of `tasks`, each (holder, home), of an object of 1 MiB that a last device beside the others has lost.
fn recovery(devices: u32, tasks: &[(u32, u32)]) -> Recovery {
    if tasks.is_empty() {
        return Recovery::of_nothing(devices as usize);
    }
    let task = |&(holder, home)| Task { bytes: 1 << 20, holders: vec![holder], home };
    let tasks: Vec<Task> = tasks.iter().map(task).collect();
    let policy = RecoveryPolicy { pipeline_buffer: Bytes::kibibytes(256), ..policy() };
    let retry = RetryPolicy { after: seconds(0.01), attempts: 3 };
    common::recovery(devices, &tasks, policy, SourceChoice::Primary).with_retry(retry)
}

/// What one run has: (tasks of the rebuild, clients, faults).
type Parts<'a> = (&'a [(u32, u32)], Option<Traffic>, Vec<Fault>);

/// Runs a system of `devices` devices that serve reads first, in steps of `step` events.
fn conclude<F: Network>(
    fabric: F,
    devices: u32,
    service: &Service,
    (tasks, traffic, faults): Parts<'_>,
    step: u64,
) -> (Conclusion, Digest) {
    let disk = |number| Device::new(service, number, Discipline::ReadsFirst, None);
    let disks = (0..u64::from(devices)).map(disk).collect();
    let plant = Plant::new(fabric, disks, (0..devices).map(EndpointId::new).collect());
    let clients =
        traffic.map(|traffic| Workload::of_requests(5, traffic, devices as usize, !tasks.is_empty()).unwrap());
    let mut storage = Storage::serving(plant, recovery(devices, tasks), clients, faults);
    let mut schedule: Schedule<EventOf<F>> = Schedule::new();
    storage.start(&mut schedule);
    while run(&mut storage, &mut schedule, Limit::events(step)).unwrap() != ExitReason::Drained {}
    let digest = schedule.digest();
    (storage.conclude(schedule.now()).unwrap(), digest)
}

fn serve<F: Network>(fabric: F, service: &Service, traffic: Traffic, faults: Vec<Fault>) -> ClientOutcome {
    let devices = traffic.servers.len() as u32;
    conclude(fabric, devices, service, (&[], Some(traffic), faults), u64::MAX).0.clients.unwrap()
}

fn fixed(read: f64, write: f64) -> Service {
    Service::Fixed { read: seconds(read), write: seconds(write) }
}

#[test]
fn a_balanced_closed_network_has_the_throughput_of_its_closed_form() {
    // M = 40 exponential servers of rate mu = 1,000/s, N = 60 customers that go to any of them: N / (N + M - 1) M mu =
    // 24,242 requests a second. 20 s give 485,000 of them; their number deviates by less than its root, 0.14 %.
    let service = Service::Exponential { read: seconds(1e-3), write: seconds(1e-3), seed: 3 };
    let reads = Traffic { classes: requests(1.0), warm_up: seconds(1.0), ..traffic(40, 1, closed(60, 0.0), 20.0) };
    let outcome = serve(instant(41), &service, reads, vec![]);
    let rate = outcome.counts.completed as f64 / 20.0;
    let expected = 60.0 / 99.0 * 40.0 * 1000.0;
    assert!((rate / expected - 1.0).abs() < 0.007, "{rate} for {expected}");
    // In a closed loop without pauses, 60 are outstanding at any time: 60 = rate x delay.
    let little = rate * outcome.all.mean_seconds().unwrap();
    assert!((little / 60.0 - 1.0).abs() < 0.005, "{little}");
}

#[test]
fn requests_outstanding_are_their_rate_times_delay_and_pause() {
    // 64 requests, each followed by a pause of 5 ms on average: 64 = rate x (delay + 5 ms). 20,000 pauses of up to 10 ms
    // have a mean within 0.15 % (three standard deviations) of theirs.
    let topology = Arc::new(torus(&[4, 4], &[0, 5]).unwrap());
    let clients = Traffic { warm_up: seconds(0.5), ..traffic(14, 2, closed(64, 0.01), 20.0) };
    let outcome = serve(Switched::new(topology, parameters()), &fixed(5e-3, 5e-3), clients, vec![]);
    let rate = outcome.counts.completed as f64 / 20.0;
    let outstanding = rate * (outcome.all.mean_seconds().unwrap() + 5e-3);
    assert!((outstanding / 64.0 - 1.0).abs() < 0.005, "{outstanding}");
    assert!(outcome.counts.lost == 0 && outcome.write_backlog_max > 0);
}

#[test]
fn open_arrivals_come_at_their_rate() {
    // 40,000 requests in 40 s. Poisson: standard deviation 200. Pareto of shape 3: the gaps' squared coefficient of
    // variation is 1 / (3 x 1) = 1/3, so 115. Five of the larger.
    for arrivals in [Arrivals::Poisson { rate: 1000.0 }, Arrivals::Pareto { rate: 1000.0, shape: 3.0 }] {
        let outcome = serve(instant(14), &fixed(1e-4, 1e-4), traffic(10, 4, arrivals, 40.0), vec![]);
        assert!(outcome.counts.issued.abs_diff(40_000) < 1000, "{:?}", outcome.counts);
        // Reads are half: 20,000 with a standard deviation of 100 beside that of their number.
        assert!(outcome.reads.completed.abs_diff(20_000) < 700, "{:?}", outcome.reads.completed);
    }
}

fn recorded(rows: &[(f64, bool, u32)]) -> Arrivals {
    let row = |&(at, is_read, target): &(f64, bool, u32)| TraceRequest {
        at: SimTime::ZERO + seconds(at),
        is_read,
        bytes: Bytes::kibibytes(512),
        target: Some(DeviceId::new(target)),
        object: u32::MAX,
    };
    Arrivals::Trace(Arc::new(rows.iter().map(row).collect()))
}

#[test]
fn a_request_to_a_dead_disk_times_out_and_succeeds_elsewhere() {
    // The disk of server 0 is dead, so the read of time 0 is given up after 1 s and goes to the only other server, which
    // takes 0.1 s: 1.1 s since it was first issued. The write of time 2 to server 1 is acknowledged at once.
    let faults = vec![Fault { devices: vec![DeviceId::new(0)], ..Fault::default() }];
    let rows = recorded(&[(0.0, true, 0), (2.0, false, 1)]);
    let clients = Traffic { timeout: Some(seconds(1.0)), ..traffic(2, 1, rows, 5.0) };
    let outcome = serve(instant(3), &fixed(0.1, 0.1), clients, faults);
    let counts = outcome.counts;
    assert_eq!((counts.issued, counts.completed, counts.lost, counts.late), (3, 2, 1, 0));
    assert_eq!((outcome.servers[0].lost, outcome.servers[1].completed, outcome.servers[1].written), (1, 2, 1));
    // Each message takes one picosecond across the fabric.
    assert!((outcome.reads.mean_seconds().unwrap() - 1.1).abs() < 1e-9);
    assert!(outcome.writes.mean_seconds().unwrap() < 1e-9);
}

#[test]
fn an_answer_that_comes_too_late_is_discarded() {
    // A read takes 1.5 s and is given up after 1 s, at 1, 2, 3 and 4 s. Each server has its first read done after 1.5 s (at
    // 1.5 and 2.5 s) and the next ones 1.5 s after they come, at 3.5 and 4.5 s: four late answers before 4.9 s.
    let clients = Traffic { timeout: Some(seconds(1.0)), ..traffic(2, 1, recorded(&[(0.0, true, 0)]), 4.9) };
    let outcome = serve(instant(3), &fixed(1.5, 1.5), clients, vec![]);
    let counts = outcome.counts;
    assert_eq!((counts.issued, counts.completed, counts.lost, counts.late), (5, 0, 4, 4));
    assert_eq!(outcome.outstanding, 1);
}

#[test]
fn a_server_that_is_cut_off_loses_what_is_asked_of_it() {
    // A chain: router 0, then servers 0, 1 and 2. Its last link fails, so that a third of the first attempts is lost; each
    // goes to one of the other two.
    let chain = || Switched::new(Arc::new(mesh(&[4], &[0]).unwrap()), parameters());
    let last = |at: f64, until: Option<f64>| Fault {
        at: SimTime::ZERO + seconds(at),
        until: until.map(|at| SimTime::ZERO + seconds(at)),
        links: vec![2],
        ..Fault::default()
    };
    let outcome = serve(chain(), &fixed(1e-3, 1e-3), traffic(3, 1, closed(4, 0.01), 2.0), vec![last(0.0, None)]);
    assert_eq!((outcome.servers[2].completed, outcome.servers[0].lost, outcome.servers[1].lost), (0, 0, 0));
    assert_eq!(outcome.counts.lost, outcome.servers[2].lost);
    assert!(outcome.counts.lost > 20 && outcome.counts.completed > 100, "{:?}", outcome.counts);
    // Repaired half way, the server answers again.
    let repaired = serve(chain(), &fixed(1e-3, 1e-3), traffic(3, 1, closed(4, 0.01), 2.0), vec![last(0.0, Some(1.0))]);
    assert!(repaired.servers[2].completed > 30 && repaired.servers[2].lost < outcome.servers[2].lost);
}

#[test]
fn a_requester_that_nothing_leads_away_from_goes_on_trying() {
    // Its only link has failed. Two requests are tried again every millisecond for 0.1 s: 100 or 101 times each.
    let cut = Fault { links: vec![0], ..Fault::default() };
    let chain = Switched::new(Arc::new(mesh(&[3], &[0]).unwrap()), parameters());
    let outcome = serve(chain, &fixed(1e-3, 1e-3), traffic(2, 1, closed(2, 0.0), 0.1), vec![cut]);
    assert_eq!(outcome.counts.completed, 0);
    assert!((200..=202).contains(&outcome.counts.lost), "{:?}", outcome.counts);
}

#[test]
fn a_router_that_dies_takes_its_requests_with_it() {
    // Of two routers with 8 requests each, one dies half way; the other has as many outstanding as before.
    let topology = Arc::new(torus(&[3, 3], &[0, 4]).unwrap());
    let fault = Fault { at: SimTime::ZERO + seconds(0.5), nodes: vec![4], ..Fault::default() };
    let clients = traffic(7, 2, closed(16, 0.0), 1.0);
    let outcome = serve(Switched::new(topology, parameters()), &fixed(1e-3, 1e-3), clients, vec![fault]);
    assert_eq!(outcome.outstanding, 8);
    assert!(outcome.counts.lost >= 1, "{:?}", outcome.counts);
}

/// A torus of 16 nodes, two of them routers, with 14 servers.
fn small_torus() -> Switched {
    Switched::new(Arc::new(torus(&[4, 4], &[0, 5]).unwrap()), parameters())
}

/// 40 objects from server i to server i + 1.
fn ring_of_tasks() -> Vec<(u32, u32)> {
    (0..40).map(|task| (task % 13, (task + 1) % 13)).collect()
}

#[test]
fn a_run_is_the_same_however_it_is_cut_into_steps() {
    let (tasks, cut) = (
        ring_of_tasks(),
        Fault { at: SimTime::ZERO + seconds(0.05), links: vec![3, 4], nodes: vec![9], ..Fault::default() },
    );
    let run = |step| {
        let clients = traffic(14, 2, closed(32, 0.01), 0.3);
        conclude(small_torus(), 14, &fixed(2e-3, 2e-3), (&tasks, Some(clients), vec![cut.clone()]), step)
    };
    assert_eq!(run(u64::MAX), run(97));
}

#[test]
fn a_rebuild_over_links_moves_all_with_clients_and_without() {
    let tasks = ring_of_tasks();
    let alone = conclude(small_torus(), 14, &fixed(2e-3, 2e-3), (&tasks, None, vec![]), u64::MAX).0.outcome;
    assert_eq!((alone.rebuilt_pieces, alone.rebuilt_bytes), (40, Bytes::mebibytes(40)));
    // With clients for as long as the rebuild lasts, it takes longer.
    let clients = Traffic { duration: None, ..traffic(13, 2, closed(64, 0.0), 1.0) };
    let clients = Traffic { pool: None, requesters: vec![EndpointId::new(14), EndpointId::new(15)], ..clients };
    let both = conclude(small_torus(), 14, &fixed(2e-3, 2e-3), (&tasks, Some(clients), vec![]), u64::MAX).0;
    assert_eq!(both.outcome.rebuilt_pieces, 40);
    assert!(both.outcome.rebuilt_at > alone.rebuilt_at);
    assert!(both.clients.unwrap().counts.completed > 0);
}

#[test]
fn a_rebuild_in_a_network_that_falls_apart_ends() {
    // A chain of servers 0 to 5, of which the last failed. The link between 2 and 3 fails at time 0, so objects from 0 to 1 and
    // from 3 to 4 are restored, and those from 0 to 4 and from 3 to 1 are out of reach.
    let chain = || Switched::new(Arc::new(mesh(&[6], &[]).unwrap()), parameters());
    let cut = Fault { links: vec![2], ..Fault::default() };
    let tasks = [(0, 1), (3, 4), (0, 4), (3, 1), (0, 1)];
    let outcome = conclude(chain(), 6, &fixed(2e-3, 2e-3), (&tasks, None, vec![cut]), u64::MAX).0.outcome;
    assert_eq!((outcome.rebuilt_pieces, outcome.unreachable_pieces), (3, 2));
    // Repaired before the third attempt, 20 ms later, all is restored.
    let repaired = Fault { links: vec![2], until: Some(SimTime::ZERO + seconds(0.015)), ..Fault::default() };
    let outcome = conclude(chain(), 6, &fixed(2e-3, 2e-3), (&tasks, None, vec![repaired]), u64::MAX).0.outcome;
    assert_eq!((outcome.rebuilt_pieces, outcome.unreachable_pieces), (5, 0));
}

#[test]
fn a_rebuild_whose_destination_or_source_dies_ends() {
    // Objects to the dead server 4 are out of reach, be it with its node, its disk, at the start or half way; so is what it
    // has to send.
    let tasks = [(0, 1), (3, 4), (0, 4), (4, 1), (0, 1)];
    for at in [0.0, 0.004] {
        for (nodes, devices) in [(vec![4], vec![]), (vec![], vec![DeviceId::new(4)])] {
            let fault = Fault { at: SimTime::ZERO + seconds(at), nodes, devices, ..Fault::default() };
            let chain = Switched::new(Arc::new(mesh(&[6], &[]).unwrap()), parameters());
            let outcome = conclude(chain, 6, &fixed(2e-3, 2e-3), (&tasks, None, vec![fault]), u64::MAX).0.outcome;
            assert_eq!((outcome.rebuilt_pieces, outcome.unreachable_pieces), (2, 3), "at {at}");
        }
    }
}

#[test]
fn both_disciplines_serve_clients() {
    // One request at a time never waits, so the discipline makes no difference to it.
    let plant = |clients: Traffic| {
        let disk = |number| Device::new(&fixed(0.01, 0.01), number, Discipline::Fifo, None);
        let disks = (0..2).map(disk).collect();
        let plant = Plant::new(instant(3), disks, (0..2).map(EndpointId::new).collect());
        let mut storage =
            Storage::serving(plant, recovery(2, &[]), Workload::of_requests(5, clients, 2, false).ok(), vec![]);
        let mut schedule: Schedule<EventOf<LogGp>> = Schedule::new();
        storage.start(&mut schedule);
        run(&mut storage, &mut schedule, Limit::none()).unwrap();
        storage.conclude(schedule.now()).unwrap().clients.unwrap()
    };
    let reads = Traffic { classes: requests(1.0), ..traffic(2, 1, closed(1, 0.0), 1.0) };
    let other = serve(instant(3), &fixed(0.01, 0.01), reads.clone(), vec![]);
    assert_eq!(plant(reads).counts, other.counts);
    // 1 s / (10 ms and two messages of 1 ps): 99 are over before the end, the last of a hundred after it.
    assert_eq!(other.counts.completed, 99);
}

#[test]
fn traffic_that_cannot_be_drawn_is_refused_by_name() {
    let good = traffic(2, 1, closed(1, 0.0), 1.0);
    let refused = |traffic: Traffic| Workload::of_requests(5, traffic, 2, false).unwrap_err().to_string();
    assert!(refused(Traffic { pool: None, requesters: vec![], ..good.clone() }).contains("traffic.requesters"));
    assert!(refused(Traffic { duration: None, ..good.clone() }).contains("traffic.duration"));
    assert!(refused(Traffic { classes: requests(f64::NAN), ..good.clone() }).contains("traffic.read_share"));
    assert!(refused(Traffic { classes: Vec::new(), ..good.clone() }).contains("traffic.classes"));
    let twice = [requests(0.5), requests(0.5)].concat();
    assert!(refused(Traffic { classes: twice, ..good.clone() }).contains("traffic.share"));
    let shape = Arrivals::Pareto { rate: 1.0, shape: 1.0 };
    assert!(refused(Traffic { arrivals: shape, ..good.clone() }).contains("traffic.arrivals.shape"));
    let hot = Targets::Hot { servers: 0.0, requests: 0.5 };
    assert!(refused(Traffic { targets: hot, ..good }).contains("traffic.targets.servers"));
}

/// Attributes of files of three stripes, whose directories are on device 0; all devices take 1 ms a request.
fn stats(arrivals: Arrivals, duration: f64) -> Traffic {
    let asked = MetadataRequest { kind: Operation::Stat, stripes: 3, attributes: Bytes::kibibytes(4) };
    let classes = vec![RequestClass { share: 1.0, read_share: 1.0, size: Bytes::ZERO, operation: Some(asked) }];
    Traffic { classes, directories: vec![DeviceId::new(0)], ..traffic(5, 1, arrivals, duration) }
}

#[test]
fn a_stat_asks_the_directory_s_server_and_then_each_stripe_s() {
    // One client asks one thing at a time: 1 ms at the metadata server, then 1 ms at three others at once, so 500 a second.
    let data = (1..5).map(DeviceId::new).collect();
    let clients = Traffic { servers: data, ..stats(closed(1, 0.0), 1.0) };
    let (conclusion, _) = conclude(instant(6), 5, &fixed(1e-3, 1e-3), (&[], Some(clients), vec![]), u64::MAX);
    let outcome = conclusion.clients.unwrap();
    // Messages take picoseconds, so that the 500th ends just after the run.
    assert_eq!((outcome.counts.completed, outcome.outstanding, outcome.all.bytes), (499, 1, Bytes::ZERO));
    let asked: Vec<u64> = outcome.disks.iter().map(|disk| disk.requests).collect();
    assert_eq!((asked[0], asked[1..].iter().sum::<u64>()), (500, 1500));
    // Each of four servers has three stripes in four; of 500 files, 375 with a standard deviation of 9.7.
    assert!(asked[1..].iter().all(|&count| count.abs_diff(375) < 39), "{asked:?}");
    let read: u64 = outcome.disks.iter().map(|disk| disk.bytes_read.get()).sum();
    assert_eq!((read, outcome.disks[0].bytes_read), (1500 * 4096, Bytes::ZERO));
}

#[test]
fn operations_of_a_server_that_is_away_wait_for_it() {
    // Device 0 is away from 0.2 s to 0.65 s. The client gives up at 0.3, 0.4, 0.5, 0.6 and 0.7 s, and tries the same server again: its
    // directories are nowhere else. So 100 are completed before, and after 0.7 s some 150.
    let at = |time: f64| SimTime::ZERO + seconds(time);
    let away = Fault { at: at(0.2), until: Some(at(0.65)), devices: vec![DeviceId::new(0)], ..Fault::default() };
    let clients = Traffic { timeout: Some(seconds(0.1)), ..stats(closed(1, 0.0), 1.0) };
    let clients = Traffic { servers: (1..5).map(DeviceId::new).collect(), ..clients };
    let (conclusion, _) = conclude(instant(6), 5, &fixed(1e-3, 1e-3), (&[], Some(clients), vec![away]), u64::MAX);
    let outcome = conclusion.clients.unwrap();
    assert_eq!((outcome.counts.lost, outcome.hanging), (5, 0));
    assert_eq!(outcome.servers[0].completed, outcome.counts.completed);
    assert!((248..=250).contains(&outcome.counts.completed), "{:?}", outcome.counts);
}
