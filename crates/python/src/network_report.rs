//! What a finished run tells of its clients and its network, as columns and numbers for Python.

use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use resilver_fabric::topology::Topology;
use resilver_fabric::{ChannelUse, NetworkUse};
use resilver_system::{Bar, ClientOutcome, Delays, Report, ServerOutcome, TrafficInterval};

use crate::periods::set_periods;

/// Bars of the histogram of how busy channels are.
const BUSY_BARS: usize = 50;

/// A column of the servers: its name, and a server's value.
type ServerColumn = (&'static str, fn(&ServerOutcome) -> u64);

/// Sets a column of the values.
fn set<'py, T: Element>(columns: &Bound<'py, PyDict>, name: &str, values: impl Iterator<Item = T>) -> PyResult<()> {
    columns.set_item(name, values.collect::<Vec<T>>().into_pyarray(columns.py()))
}

/// Sets the numbers of clients and of packets, `None` where there are no such parts.
pub fn set_network_totals(dict: &Bound<'_, PyDict>, report: &Report) -> PyResult<()> {
    set_client_totals(dict, report.clients.as_ref())?;
    let network = report.network.as_ref();
    let count = |value: fn(&NetworkUse) -> u64| network.map(value);
    let delivered: fn(&NetworkUse) -> u64 = |network| network.packets_delivered;
    dict.set_item("packets_delivered", count(delivered))?;
    dict.set_item("packets_dropped", count(|network| network.packets_dropped.total()))?;
    dict.set_item("packets_dropped_no_link", count(|network| network.packets_dropped.no_link))?;
    dict.set_item("packets_dropped_hop_limit", count(|network| network.packets_dropped.hop_limit))?;
    dict.set_item("packets_dropped_cut", count(|network| network.packets_dropped.cut))?;
    dict.set_item("packets_deviated", count(|network| network.deviated))?;
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let queued = network.and_then(|network| share(network.packets_queued, network.packets_forwarded));
    dict.set_item("packets_queued_fraction", queued)?;
    let hops = |network: &NetworkUse| {
        let sum: u64 = (0..).zip(&network.hops).map(|(hops, &count): (u64, &u64)| hops * count).sum();
        share(sum, network.packets_delivered)
    };
    dict.set_item("mean_hops", network.and_then(hops))?;
    dict.set_item("unreachable_objects", report.outcome.unreachable_objects)?;
    dict.set_item("unreachable_pieces", report.outcome.unreachable_pieces)
}

fn set_client_totals(dict: &Bound<'_, PyDict>, clients: Option<&ClientOutcome>) -> PyResult<()> {
    let count = |value: fn(&ClientOutcome) -> u64| clients.map(value);
    dict.set_item("requests_issued", count(|c| c.counts.issued))?;
    dict.set_item("requests_completed", count(|c| c.counts.completed))?;
    dict.set_item("requests_lost", count(|c| c.counts.lost))?;
    dict.set_item("requests_late", count(|c| c.counts.late))?;
    dict.set_item("requests_retried", count(|c| c.counts.retried))?;
    dict.set_item("requests_outstanding", count(|c| c.outstanding))?;
    dict.set_item("requests_hanging", count(|c| c.hanging))?;
    let pieces = clients.and_then(|clients| clients.pieces);
    dict.set_item("client_device_bytes_read", pieces.map(|pieces| pieces.read.get()))?;
    dict.set_item("client_device_bytes_written", pieces.map(|pieces| pieces.written.get()))?;
    dict.set_item("degraded_reads", pieces.map(|pieces| pieces.degraded_reads))?;
    dict.set_item("degraded_read_bytes", pieces.map(|pieces| pieces.degraded_bytes.get()))?;
    set_periods(dict, clients.map(|clients| &clients.periods))?;
    dict.set_item("read_requests", count(|c| c.reads.completed))?;
    dict.set_item("write_requests", count(|c| c.writes.completed))?;
    let rate = |delays: fn(&ClientOutcome) -> &Delays| {
        let per_second = |c: &ClientOutcome| {
            let seconds = c.window.seconds();
            (seconds > 0.0).then(|| delays(c).bytes.get() as f64 / seconds)
        };
        clients.and_then(per_second)
    };
    dict.set_item("read_bytes_per_second", rate(|c| &c.reads))?;
    dict.set_item("write_bytes_per_second", rate(|c| &c.writes))?;
    dict.set_item("throughput_bytes_per_second", rate(|c| &c.all))?;
    dict.set_item("mean_delay_seconds", clients.and_then(|c| c.all.mean_seconds()))?;
    dict.set_item("p50_delay_seconds", clients.and_then(|c| c.all.quantile_seconds(0.5)))?;
    dict.set_item("p99_delay_seconds", clients.and_then(|c| c.all.quantile_seconds(0.99)))?;
    dict.set_item("mean_read_delay_seconds", clients.and_then(|c| c.reads.mean_seconds()))?;
    dict.set_item("mean_write_delay_seconds", clients.and_then(|c| c.writes.mean_seconds()))?;
    dict.set_item("write_backlog_requests", count(|c| c.write_backlog))?;
    dict.set_item("write_backlog_bytes", count(|c| c.write_backlog_bytes.get()))?;
    dict.set_item("write_backlog_requests_max", count(|c| c.write_backlog_max))?;
    dict.set_item("statistics_seconds", clients.map(|c| c.window.seconds()))
}

/// A row a link.
pub fn links<'py>(py: Python<'py>, report: &Report, topology: Option<&Topology>) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let Some((network, topology)) = report.network.as_ref().zip(topology) else { return Ok(columns) };
    let both = |link: u32| topology.channels_of(link).map(|channel| &network.channels[channel as usize]);
    let rows = 0..topology.links();
    set(&columns, "link", rows.clone().map(|link| link as i32))?;
    set(&columns, "from", rows.clone().map(|link| both(link)[0].from as i32))?;
    set(&columns, "to", rows.clone().map(|link| both(link)[0].to as i32))?;
    set(&columns, "failed", rows.clone().map(|link| both(link)[0].is_failed))?;
    for (way, name) in ["forward", "backward"].into_iter().enumerate() {
        let whole = |value: fn(&ChannelUse) -> u64| rows.clone().map(move |link| value(both(link)[way]) as i64);
        let busy = rows.clone().map(|link| both(link)[way].busy.seconds());
        set(&columns, &format!("{name}_busy_seconds"), busy)?;
        set(&columns, &format!("{name}_packets"), whole(|channel| channel.packets))?;
        set(&columns, &format!("{name}_queued"), whole(|channel| channel.queued))?;
        set(&columns, &format!("{name}_bytes"), whole(|channel| channel.bytes.get()))?;
    }
    Ok(columns)
}

/// Histograms: delays in eight bars of one width an octave, hops one by one, and how busy channels were in bars of 2 %.
pub fn distributions<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
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
    let columns = PyDict::new(py);
    columns.set_item("quantity", bars.iter().map(|&(quantity, _)| quantity).collect::<Vec<&str>>())?;
    set(&columns, "low", bars.iter().map(|(_, bar)| bar.low))?;
    set(&columns, "high", bars.iter().map(|(_, bar)| bar.high))?;
    set(&columns, "count", bars.iter().map(|(_, bar)| bar.count as i64))?;
    Ok(columns)
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

/// A row an interval of the run's time.
pub fn traffic<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let intervals: &[TrafficInterval] = report.clients.as_ref().map_or(&[], |clients| &clients.intervals);
    let columns = PyDict::new(py);
    set(&columns, "start_seconds", intervals.iter().map(|interval| interval.start.seconds()))?;
    set(&columns, "duration_seconds", intervals.iter().map(|interval| interval.duration.seconds()))?;
    let whole = |value: fn(&TrafficInterval) -> u64| intervals.iter().map(move |interval| value(interval) as i64);
    set(&columns, "requests_completed", whole(|interval| interval.completed))?;
    set(&columns, "requests_lost", whole(|interval| interval.lost))?;
    set(&columns, "read_bytes", whole(|interval| interval.read_bytes))?;
    set(&columns, "write_bytes", whole(|interval| interval.write_bytes))?;
    let delays = intervals.iter().map(|interval| interval.mean_delay_seconds.unwrap_or(f64::NAN));
    set(&columns, "mean_delay_seconds", delays)?;
    set(&columns, "packets_dropped", whole(|interval| interval.packets_dropped))?;
    set(&columns, "write_backlog_requests", intervals.iter().map(|interval| interval.write_backlog))?;
    Ok(columns)
}

/// Adds what each server did for clients to the columns of the servers: `None` where there are no clients.
pub fn set_servers(columns: &Bound<'_, PyDict>, report: &Report) -> PyResult<()> {
    let values: [ServerColumn; 5] = [
        ("requests_completed", |server| server.completed),
        ("requests_lost", |server| server.lost),
        ("requests_read", |server| server.read),
        ("requests_written", |server| server.written),
        ("write_backlog_requests", |server| server.write_backlog),
    ];
    for (name, value) in values {
        match &report.clients {
            Some(clients) => set(columns, name, clients.servers.iter().map(|server| value(server) as i64))?,
            None => columns.set_item(name, columns.py().None())?,
        }
    }
    Ok(())
}
