//! Lanes of a whole system: rebuilds and clients that share ports and disks.

use crate::common;

use std::sync::Arc;

use common::{files_on_ring, jbod, qdr};
use resilver_device::Service;
use resilver_fabric::topology::leaf_spine;
use resilver_fabric::{Forwarding, Queues, Routing, SwitchedParameters};
use resilver_kernel::lanes::{LaneUse, Lanes};
use resilver_system::{
    Arrivals, Devices, Discipline, FabricConfig, Fault, LanesConfig, Phase, Report, RequestClass, Simulation,
    SystemConfig, SystemError, Targets, Traffic,
};
use resilver_units::{Bytes, BytesPerSecond, DeviceId, EndpointId, SimDuration, SimTime};

const SERVERS: u32 = 16;

fn seconds(seconds: f64) -> SimDuration {
    SimDuration::from_seconds(seconds).unwrap()
}

/// Whole files of up to 256 MiB on a ring of 16 servers, of which number 3 fails.
fn system(fabric: FabricConfig, lanes: Option<LanesConfig>) -> SystemConfig {
    let faults = vec![Fault::told(SimTime::ZERO, vec![DeviceId::new(3)])];
    SystemConfig { fabric, lanes, faults, ..files_on_ring(SERVERS, 300, 256 << 20) }
}

fn loggp() -> FabricConfig {
    FabricConfig::LogGp { table: qdr() }
}

/// Four leaves, each with four servers, one router and a link of 1 GB/s to each of two spines.
fn switched() -> FabricConfig {
    let parameters = SwitchedParameters {
        rate: BytesPerSecond::new(1e9).unwrap(),
        link_rates: vec![],
        latency: seconds(1e-7),
        switch_latency: seconds(1e-6),
        overhead: Bytes::new(38),
        packet: Bytes::kibibytes(64),
        forwarding: Forwarding::StoreAndForward,
        routing: Routing::Deterministic,
        hop_limit: 64,
        lanes: Lanes::single(),
        queues: Queues::Implicit,
    };
    FabricConfig::Switched { topology: Arc::new(leaf_spine(4, 2, 5, 1, 4).unwrap()), parameters }
}

fn lanes(fractions: &[f64], devices: bool) -> Option<LanesConfig> {
    Some(LanesConfig { lanes: Lanes::of_shares(fractions).unwrap(), devices })
}

/// Runs a system to its end; the run itself holds it to the conservation laws.
fn finish(config: SystemConfig) -> Result<Report, SystemError> {
    let mut simulation = Simulation::new(config)?;
    while simulation.phase() != Phase::Done {
        simulation.advance()?;
    }
    Ok(simulation.report().unwrap().clone())
}

/// Clients that keep so many reads of 1 MiB under way for as long as the rebuild lasts.
fn with_clients(config: SystemConfig, outstanding: u64) -> SystemConfig {
    let traffic = Traffic {
        pool: None,
        requesters: (SERVERS..SERVERS + 4).map(EndpointId::new).collect(),
        servers: (0..SERVERS).filter(|&server| server != 3).map(DeviceId::new).collect(),
        arrivals: Arrivals::Closed { outstanding, interval: SimDuration::ZERO },
        classes: vec![RequestClass { share: 1.0, read_share: 1.0, size: Bytes::mebibytes(1), operation: None }],
        control: Bytes::new(64),
        targets: Targets::Uniform,
        directories: Vec::new(),
        gap: SimDuration::ZERO,
        timeout: None,
        warm_up: SimDuration::ZERO,
        duration: None,
    };
    SystemConfig { traffic: vec![traffic], ..config }
}

#[test]
fn a_rebuild_alone_takes_as_long_with_lanes_as_without() {
    // All of its messages and requests wait in one lane, so that their order is the same.
    for fabric in [loggp(), switched()] {
        let plain = finish(system(fabric.clone(), None)).unwrap();
        let laned = finish(system(fabric, lanes(&[0.9, 0.1, 0.0], true))).unwrap();
        assert!(plain.outcome.rebuilt_pieces > 40 && plain.lanes == resilver_system::LaneReport::default());
        assert_eq!(laned.outcome.rebuilt_bytes, plain.outcome.rebuilt_bytes);
        let ratio = laned.outcome.rebuilt_at.seconds() / plain.outcome.rebuilt_at.seconds();
        // Events of one picosecond may come in another order, and with them reads at a disk, which then pay other seeks.
        assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
        // Every byte was read and written in the lane of rebuilds, and nothing was in the others.
        let devices = &laned.lanes.devices;
        assert_eq!(devices[1].bytes.get(), 2 * laned.outcome.rebuilt_bytes.get());
        assert_eq!((devices[0].units, devices[2].units), (0, 0));
        let busy: f64 = laned.outcome.devices.iter().map(|device| device.disk.busy.seconds()).sum();
        assert!((devices[1].busy_seconds() / busy - 1.0).abs() < 1e-12);
        // Clients lent nine tenths of it.
        let lent = devices[0].lent_bytes[1].get() as f64 / devices[1].bytes.get() as f64;
        assert!((lent - 0.9).abs() < 1e-6);
    }
}

#[test]
fn interfaces_and_links_count_what_was_sent_in_each_lane() {
    let report = finish(system(loggp(), lanes(&[0.9, 0.1, 0.0], false))).unwrap();
    let sum = |value: fn(&LaneUse) -> u64, uses: &[LaneUse]| uses.iter().map(value).sum::<u64>();
    let sent: u64 = report.interfaces.iter().map(|interface| interface.bytes_sent.get()).sum();
    let received: u64 = report.interfaces.iter().map(|interface| interface.bytes_received.get()).sum();
    assert_eq!(sum(|lane| lane.bytes.get(), &report.lanes.interfaces), sent + received);
    assert!(report.lanes.devices.is_empty() && report.lanes.links.is_empty());

    let report = finish(system(switched(), lanes(&[0.9, 0.1, 0.0], false))).unwrap();
    let channels = &report.network.as_ref().unwrap().channels;
    assert_eq!(
        sum(|lane| lane.bytes.get(), &report.lanes.links),
        channels.iter().map(|channel| channel.bytes.get()).sum::<u64>()
    );
    assert!(report.lanes.devices.is_empty() && report.lanes.interfaces.is_empty());
}

#[test]
fn a_larger_share_makes_a_rebuild_beside_clients_faster() {
    for fabric in [loggp(), switched()] {
        let rebuilt = |config: Option<LanesConfig>, outstanding| {
            let report = finish(with_clients(system(fabric.clone(), config), outstanding)).unwrap();
            report.outcome.rebuilt_at.seconds()
        };
        let by_share = [0.02, 0.3, 0.8].map(|share| rebuilt(lanes(&[1.0 - share, share, 0.0], true), 256));
        // Some device always has a request of so many clients, and a rebuild behind it would never end; 16 leave it some time.
        let by_priority =
            [(vec![0, 1, 2], 16), (vec![1, 0, 2], 16), (vec![1, 0, 2], 256)].map(|(priority, outstanding)| {
                let lanes = Lanes::in_turns(3).by_priority(priority);
                rebuilt(Some(LanesConfig { lanes, devices: true }), outstanding)
            });
        let [last, first, first_of_many] = by_priority;
        assert!(by_share[0] > 1.2 * by_share[1] && last > 1.2 * first, "{by_share:?} {by_priority:?}");
        assert!(by_share[1] > 1.2 * by_share[2] && by_share[2] > first_of_many, "{by_share:?} {by_priority:?}");
    }
}

#[test]
fn failures_one_after_another_keep_the_laws_with_lanes() {
    // The second server fails while it receives and sends: its messages wait in lanes, and are of pulls that are void.
    for at in [0.05, 0.3, 1.0] {
        let told = |at: f64, device| Fault::told(SimTime::ZERO + seconds(at), vec![DeviceId::new(device)]);
        let faults = vec![told(0.0, 3), told(at, 9)];
        let config = SystemConfig { faults, ..system(loggp(), lanes(&[0.5, 0.5, 0.0], true)) };
        let report = finish(config).unwrap();
        assert!(report.outcome.rebuilt_pieces == report.outcome.losses.lost_pieces);
        assert!(report.outcome.devices[9].is_failed);
    }
}

#[test]
fn reads_pass_the_writes_of_their_class_where_devices_have_lanes() {
    // Four clients whose every other request is a write, and more of them than the disks serve: a read waits for the writes before it, or
    // passes them.
    let mean_read_delay = |discipline| {
        let config = with_clients(system(loggp(), lanes(&[0.5, 0.5, 0.0], true)), 64);
        let devices = Devices::alike(Service::Table(jbod(1.0)), discipline);
        let mut traffic = config.traffic.clone();
        traffic[0].classes[0].read_share = 0.5;
        let report = finish(SystemConfig { devices, traffic, ..config }).unwrap();
        assert!(report.outcome.rebuilt_pieces > 40 && report.lanes.devices[0].units > 1000);
        let delays = report.conclusion.clients.unwrap().reads;
        delays.mean_seconds().unwrap()
    };
    assert!(mean_read_delay(Discipline::ReadsFirst) < 0.7 * mean_read_delay(Discipline::Fifo));
}
