//! What a run came to, row by row.

use resilver_device::DeviceUse;
use resilver_fabric::ChannelUse;
use resilver_fabric::topology::Topology;
use resilver_kernel::lanes::{LaneUse, Lanes};
use resilver_units::Bytes;

use super::classes::request_classes;
use super::detection::detection;
use super::flows::{flows, jobs, layers};
use super::limits::limits;
use super::metrics::{forget_delays, of_periods};
use super::{Metric, Metrics, Table, tell};
use crate::TrafficClass;
use crate::clients::measures::{Bar, ServerOutcome, StripeGroup, TrafficInterval, together};
use crate::recovery::outcome::{DeviceOutcome, PoolOutcome};
use crate::scenario::Traffic;
use crate::simulation::{Report, Simulation};

/// Bars of the histogram of how busy channels are.
const BUSY_BARS: usize = 50;

/// The tables of a finished run; none until it is done.
///
/// `servers` has a row a device, by number, and `interfaces` one an endpoint; `links`, `stripe_groups`, `request_classes`, `flows`, `layers`, `jobs` and
/// `detection` have no columns where there are none.
pub fn tables(simulation: &Simulation) -> Vec<Table> {
    let Some(report) = simulation.report() else { return Vec::new() };
    vec![
        servers(report),
        transfers(report),
        timeline(report),
        film(report),
        interfaces(report),
        links(report, simulation.topology()),
        distributions(report),
        traffic(report),
        lanes(report, simulation.lanes()),
        lending(report),
        stripe_groups(report),
        parts(report),
        request_classes(report, simulation.traffic()),
        pools(report, simulation.traffic()),
        limits(report, simulation.lanes(), simulation.topology()),
        flows(report, simulation.topology()),
        layers(report),
        jobs(report),
        detection(report),
    ]
}

fn servers(report: &Report) -> Table {
    let mut table = Table::new("servers");
    let devices = &report.outcome.devices;
    let counts = |value: fn(&DeviceOutcome) -> u64| devices.iter().map(value);
    table.add("failed", devices.iter().map(|device| device.is_failed));
    if let Some(groups) = &report.groups {
        table.add("placement_groups_gained", groups.gained.iter().map(|&count| u64::from(count)));
    }
    table.add("rebuilt_objects", counts(|device| device.rebuilt_pieces));
    table.add("rebuilt_bytes", counts(|device| device.rebuilt_bytes.get()));
    table.add("remapped_objects", counts(|device| device.moved_pieces));
    table.add("remapped_bytes", counts(|device| device.remapped_bytes.get()));
    table.add("sent_objects", counts(|device| device.sent_pieces));
    table.add("sent_bytes", counts(|device| device.sent_bytes.get()));
    table.add("finish_seconds", devices.iter().map(|device| device.finished_at.map(|time| time.seconds())));
    let backlog = |device: &DeviceOutcome| device.most_unwritten.map(|most| Metric::Count(most.get()));
    table.add("push_backlog_bytes", devices.iter().map(backlog));
    // With clients, what disks did is told of the time of their statistics.
    let disks: Vec<DeviceUse> = match &report.clients {
        Some(clients) => clients.disks.clone(),
        None => devices.iter().map(|device| device.disk).collect(),
    };
    table.add("device_busy_seconds", disks.iter().map(|disk| disk.busy));
    table.add("device_bytes_read", disks.iter().map(|disk| disk.bytes_read));
    table.add("device_bytes_written", disks.iter().map(|disk| disk.bytes_written));
    if let Some(clients) = &report.clients {
        let counts = |value: fn(&ServerOutcome) -> u64| clients.servers.iter().map(value);
        table.add("requests_completed", counts(|server| server.completed));
        table.add("requests_lost", counts(|server| server.lost));
        table.add("requests_read", counts(|server| server.read));
        table.add("requests_written", counts(|server| server.written));
        table.add("write_backlog_requests", counts(|server| server.write_backlog));
    }
    table
}

fn transfers(report: &Report) -> Table {
    let (mut table, transfers) = (Table::new("transfers"), &report.outcome.transfers);
    table.add("source", transfers.iter().map(|transfer| transfer.source.get()));
    table.add("destination", transfers.iter().map(|transfer| transfer.destination.get()));
    table.add("objects", transfers.iter().map(|transfer| transfer.pieces));
    table.add("bytes", transfers.iter().map(|transfer| transfer.bytes));
    table
}

fn timeline(report: &Report) -> Table {
    let (mut table, levels) = (Table::new("timeline"), &report.outcome.timeline);
    table.add("start_seconds", levels.iter().map(|level| level.start));
    table.add("duration_seconds", levels.iter().map(|level| level.duration));
    table.add("in_flight_bytes", levels.iter().map(|level| level.in_flight_bytes));
    table.add("rebuilt_bytes", levels.iter().map(|level| level.rebuilt_bytes));
    table.add("degraded_objects", levels.iter().map(|level| level.degraded_objects));
    table.add("at_risk_objects", levels.iter().map(|level| level.at_risk_objects));
    table
}

fn film(report: &Report) -> Table {
    let mut table = Table::new("film");
    let Some(film) = &report.outcome.film else { return table };
    let rows = film.rows();
    table.add("time_seconds", rows.iter().map(|row| row.seconds));
    table.add("since_seconds", rows.iter().map(|row| row.since));
    table.add("device", rows.iter().map(|row| row.unit));
    table.add("read_bytes_per_second", rows.iter().map(|row| row.read));
    table.add("written_bytes_per_second", rows.iter().map(|row| row.written));
    table.add("waiting_buffers", rows.iter().map(|row| u64::from(row.note.buffers)));
    table.add("waits_for", rows.iter().map(|row| row.note.on.map(f64::from)));
    table
}

fn interfaces(report: &Report) -> Table {
    let mut table = Table::new("interfaces");
    table.add("send_busy_seconds", report.interfaces.iter().map(|interface| interface.send_busy));
    table.add("receive_busy_seconds", report.interfaces.iter().map(|interface| interface.receive_busy));
    table
}

fn links(report: &Report, topology: Option<&Topology>) -> Table {
    let mut table = Table::new("links");
    let Some((network, topology)) = report.network.as_ref().zip(topology) else { return table };
    let both = |link: u32| topology.channels_of(link).map(|channel| &network.channels[channel as usize]);
    let rows = 0..topology.links();
    table.add("link", rows.clone());
    table.add("from", rows.clone().map(|link| both(link)[0].from));
    table.add("to", rows.clone().map(|link| both(link)[0].to));
    table.add("failed", rows.clone().map(|link| both(link)[0].is_failed));
    for (way, name) in ["forward", "backward"].into_iter().enumerate() {
        let count = |value: fn(&ChannelUse) -> u64| rows.clone().map(move |link| value(both(link)[way]));
        table.add(&format!("{name}_busy_seconds"), rows.clone().map(|link| both(link)[way].busy));
        table.add(&format!("{name}_packets"), count(|channel| channel.packets));
        table.add(&format!("{name}_queued"), count(|channel| channel.queued));
        table.add(&format!("{name}_bytes"), count(|channel| channel.bytes.get()));
    }
    table
}

/// Histograms: delays in eight bars of one width an octave, hops one by one, and how busy channels were in bars of 2 %.
fn distributions(report: &Report) -> Table {
    let mut bars: Vec<(&str, Bar)> = Vec::new();
    if let Some(clients) = &report.clients {
        bars.extend(clients.reads.bars().into_iter().map(|bar| ("read_delay_seconds", bar)));
        bars.extend(clients.writes.bars().into_iter().map(|bar| ("write_delay_seconds", bar)));
    }
    if let Some(network) = &report.network {
        let taken = network.hops.iter().enumerate().filter(|&(_, &count)| count > 0);
        bars.extend(taken.map(|(hops, &count)| ("hops", Bar { low: hops as f64, high: (hops + 1) as f64, count })));
        let window = report.clients.as_ref().map_or(report.outcome.ended_at.seconds(), |c| c.window.seconds());
        bars.extend(busy_bars(&network.channels, window).into_iter().map(|bar| ("channel_busy_fraction", bar)));
    }
    let mut table = Table::new("distributions");
    table.add("quantity", bars.iter().map(|&(quantity, _)| quantity));
    table.add("low", bars.iter().map(|(_, bar)| bar.low));
    table.add("high", bars.iter().map(|(_, bar)| bar.high));
    table.add("count", bars.iter().map(|(_, bar)| bar.count));
    table
}

fn busy_bars(channels: &[ChannelUse], window_seconds: f64) -> Vec<Bar> {
    let mut counts = [0u64; BUSY_BARS];
    if window_seconds > 0.0 {
        for channel in channels {
            let fraction = channel.busy.seconds() / window_seconds;
            // A channel that never rested belongs to the last bar.
            counts[((fraction * BUSY_BARS as f64) as usize).min(BUSY_BARS - 1)] += 1;
        }
    }
    let edge = |index: usize| index as f64 / BUSY_BARS as f64;
    let bar = |(index, &count): (usize, &u64)| Bar { low: edge(index), high: edge(index + 1), count };
    counts.iter().enumerate().map(bar).filter(|bar| bar.count > 0).collect()
}

fn traffic(report: &Report) -> Table {
    let intervals: &[TrafficInterval] = report.clients.as_ref().map_or(&[], |clients| &clients.intervals);
    let mut table = Table::new("traffic");
    let counts = |value: fn(&TrafficInterval) -> u64| intervals.iter().map(value);
    table.add("start_seconds", intervals.iter().map(|interval| interval.start));
    table.add("duration_seconds", intervals.iter().map(|interval| interval.duration));
    table.add("requests_completed", counts(|interval| interval.completed));
    table.add("requests_lost", counts(|interval| interval.lost));
    table.add("read_bytes", counts(|interval| interval.read_bytes));
    table.add("write_bytes", counts(|interval| interval.write_bytes));
    table.add("mean_delay_seconds", intervals.iter().map(|interval| interval.mean_delay_seconds));
    table.add("packets_dropped", counts(|interval| interval.packets_dropped));
    table.add("write_backlog_requests", intervals.iter().map(|interval| interval.write_backlog));
    table
}

/// The names of the classes, in the order of their lanes.
pub(super) const CLASSES: [&str; TrafficClass::ALL.len()] = ["clients", "rebuild", "bursts"];

/// The name of a lane's class.
fn class_name(lane: usize) -> &'static str {
    CLASSES.get(lane).copied().unwrap_or("other")
}

/// Every lane of every kind of part that has lanes: the part's name, the lane, all lanes of the part.
fn lane_rows(report: &Report) -> impl Iterator<Item = (&'static str, usize, &[LaneUse])> {
    let lanes = &report.lanes;
    let parts = [("links", &lanes.links), ("interfaces", &lanes.interfaces), ("devices", &lanes.devices)];
    parts.into_iter().flat_map(|(part, uses)| (0..uses.len()).map(move |lane| (part, lane, &uses[..])))
}

/// A row a class of traffic at each kind of part.
fn lanes(report: &Report, lanes: Option<&Lanes>) -> Table {
    let mut table = Table::new("lanes");
    let rows = || lane_rows(report);
    table.add("part", rows().map(|(part, ..)| part));
    table.add("class", rows().map(|(_, lane, _)| class_name(lane)));
    table.add("share", rows().map(|(_, lane, _)| lanes.map(|lanes| lanes.share(lane))));
    table.add("units", rows().map(|(_, lane, uses)| uses[lane].units));
    table.add("bytes", rows().map(|(_, lane, uses)| uses[lane].bytes));
    table.add("busy_seconds", rows().map(|(_, lane, uses)| uses[lane].busy_seconds()));
    table.add("mean_wait_seconds", rows().map(|(_, lane, uses)| uses[lane].mean_wait_seconds()));
    let lent = rows().map(|(_, lane, uses)| uses[lane].lent_bytes.iter().copied().sum::<Bytes>());
    table.add("lent_bytes", lent);
    let borrowed = |uses: &[LaneUse], lane: usize| uses.iter().map(|lender| lender.lent_bytes[lane]).sum::<Bytes>();
    table.add("borrowed_bytes", rows().map(|(_, lane, uses)| borrowed(uses, lane)));
    table
}

/// A row a pair of classes at each kind of part, where one lent to the other.
fn lending(report: &Report) -> Table {
    let pairs = lane_rows(report).flat_map(|(part, lender, uses)| {
        let lent = uses[lender].lent_bytes.iter().enumerate();
        lent.map(move |(borrower, &bytes)| (part, lender, borrower, bytes))
    });
    let pairs: Vec<_> = pairs.filter(|(.., bytes)| !bytes.is_zero()).collect();
    let mut table = Table::new("lending");
    table.add("part", pairs.iter().map(|pair| pair.0));
    table.add("lender", pairs.iter().map(|pair| class_name(pair.1)));
    table.add("borrower", pairs.iter().map(|pair| class_name(pair.2)));
    table.add("bytes", pairs.iter().map(|pair| pair.3));
    table
}

/// A row a group of servers that streams go over.
fn stripe_groups(report: &Report) -> Table {
    let mut table = Table::new("stripe_groups");
    let Some(streams) = &report.streams else { return table };
    let groups = &streams.groups;
    let rate = |bytes: fn(&StripeGroup) -> Bytes| groups.iter().map(move |group| streams.per_second(bytes(group)));
    table.add("group", 0..groups.len() as u32);
    table.add("is_rebuilding", groups.iter().map(|group| group.is_rebuilding));
    table.add("servers", groups.iter().map(|group| u64::from(group.servers)));
    table.add("ports_working", groups.iter().map(|group| u64::from(group.ports_working)));
    table.add("read_bytes_per_second", rate(|group| group.rates.read));
    table.add("write_bytes_per_second", rate(|group| group.rates.written));
    table.add("burst_bytes_per_second", rate(|group| group.rates.bursts));
    table.add("rebuild_bytes_per_second", rate(|group| group.rates.rebuilt));
    table.add("mean_delay_seconds", groups.iter().map(|group| group.rates.mean_delay_seconds()));
    table
}

/// A row a part with a service.
fn parts(report: &Report) -> Table {
    let (mut table, parts) = (Table::new("parts"), &report.parts);
    table.add("level", parts.iter().map(|part| part.level.as_str()));
    table.add("name", parts.iter().map(|part| part.name.as_str()));
    table.add("requests", parts.iter().map(|part| part.requests));
    table.add("bytes", parts.iter().map(|part| part.bytes));
    table.add("busy_seconds", parts.iter().map(|part| part.busy));
    table
}

/// A row a pool: what it holds, what became of it, and what the clients that ask for it alone got.
fn pools(report: &Report, traffic: &[Traffic]) -> Table {
    let outcome = &report.outcome;
    let of_pool = |number: usize| {
        let (population, PoolOutcome { losses, rebuilt_objects, rebuilt_pieces, rebuilt_bytes, rebuilt_at }) =
            (report.populations[number], outcome.pools[number]);
        let mut row = Metrics::new();
        tell(&mut row, "objects", population.objects);
        tell(&mut row, "bytes", population.bytes);
        tell(&mut row, "affected_objects", losses.affected_objects);
        tell(&mut row, "unrecoverable_objects", losses.unrecoverable_objects);
        tell(&mut row, "unrecoverable_bytes", losses.unrecoverable_bytes);
        tell(&mut row, "undersized_pieces", losses.undersized_pieces);
        tell(&mut row, "rebuilt_objects", rebuilt_objects);
        tell(&mut row, "rebuilt_pieces", rebuilt_pieces);
        tell(&mut row, "rebuilt_bytes", rebuilt_bytes);
        tell(&mut row, "rebuild_seconds", rebuilt_at.since(outcome.begins_at));
        let law = traffic.iter().position(|traffic| traffic.pool == Some(number));
        let clients = report.clients.as_ref().zip(law).map(|(clients, law)| together(clients.classes[law].iter()));
        of_periods(&mut row, clients.as_ref());
        if let Some(flows) = &report.flows {
            forget_delays(&mut row, flows.has_delays);
        }
        row
    };
    Table::of_rows("pools", (0..outcome.pools.len()).map(of_pool).collect())
}
