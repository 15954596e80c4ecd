//! What limited a rebuild, row by row.

use resilver_fabric::topology::Topology;
use resilver_kernel::lanes::Lanes;

use super::{Metric, Table};
use crate::TrafficClass;
use crate::recovery::limits::{Limit, LimitKind};
use crate::simulation::Report;

/// The word of a kind in tables.
pub(super) fn word(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::Reading => "reading",
        LimitKind::Writing => "writing",
        LimitKind::Sending => "sending",
        LimitKind::Receiving => "receiving",
        LimitKind::Link => "link",
        LimitKind::Coding => "coding",
        LimitKind::SendMemory => "send_memory",
        LimitKind::Loss => "loss",
        LimitKind::Bandwidth => "bandwidth",
        LimitKind::Software => "software",
        LimitKind::ReceiveMemory => "receive_memory",
        LimitKind::Pipelining => "pipelining",
        LimitKind::RoundTrip => "round_trip",
    }
}

/// The nodes that a channel leaves and leads to.
pub(super) fn channel_ends(channel: u32, topology: &Topology) -> [u32; 2] {
    [topology.peer(topology.reverse(channel)), topology.peer(channel)]
}

/// The share of recovery's lane at a part, where the part has lanes.
fn lane_share(limit: &Limit, report: &Report, lanes: Option<&Lanes>) -> Option<f64> {
    let has_lanes = match limit.kind {
        LimitKind::Reading | LimitKind::Writing => limit.part.is_none() && !report.lanes.devices.is_empty(),
        LimitKind::Sending | LimitKind::Receiving | LimitKind::Link => true,
        _ => false,
    };
    lanes.filter(|_| has_lanes).map(|lanes| lanes.share(usize::from(TrafficClass::Rebuild.lane())))
}

/// A row a part that the device waited for which made the last lost piece, the limit first.
pub(super) fn limits(report: &Report, lanes: Option<&Lanes>, topology: Option<&Topology>) -> Table {
    let mut table = Table::new("limits");
    let (limits, rows) = (&report.limits, &report.limits.rows);
    let count = |number: Option<u64>| number.map(Metric::Count);
    let ends = |limit: &Limit| {
        let (channel, topology) = limit.number.filter(|_| limit.kind == LimitKind::Link).zip(topology)?;
        Some(channel_ends(channel, topology))
    };
    let destination = limits.destination.map_or(0, |device| device.get());
    table.add("destination", rows.iter().map(|_| destination));
    table.add("window_seconds", rows.iter().map(|_| limits.window));
    table.add("kind", rows.iter().map(|row| word(row.kind)));
    table.add("number", rows.iter().map(|row| count(row.number.map(u64::from))));
    table.add("from", rows.iter().map(|row| count(ends(row).map(|[from, _]| u64::from(from)))));
    table.add("to", rows.iter().map(|row| count(ends(row).map(|[_, to]| u64::from(to)))));
    let part = |row: &Limit| row.part.clone().unwrap_or_default();
    table.add("level", rows.iter().map(|row| part(row).0));
    table.add("name", rows.iter().map(|row| part(row).1));
    table.add("parts", rows.iter().map(|row| row.parts));
    table.add("busy_fraction", rows.iter().map(|row| row.busy_fraction));
    table.add("waited_fraction", rows.iter().map(|row| row.waited_fraction));
    table.add("waited_seconds", rows.iter().map(|row| row.waited_fraction * limits.window.seconds()));
    table.add("buffer_seconds", rows.iter().map(|row| row.buffer_seconds));
    table.add("buffers", rows.iter().map(|row| row.buffers));
    table.add("destinations", rows.iter().map(|row| count(row.destinations)));
    table.add("rebuild_fraction", rows.iter().map(|row| row.rebuild_fraction));
    table.add("lane_share", rows.iter().map(|row| lane_share(row, report, lanes)));
    table.add("is_limit", rows.iter().map(|row| row.is_limit));
    table
}
