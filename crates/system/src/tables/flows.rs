//! What clients got as steady flows, row by row.

use resilver_fabric::topology::Topology;
use resilver_units::SimTime;

use super::limits::{channel_ends, word};
use super::{Metric, Table};
use crate::clients::measures::JobBurst;
use crate::conclusion::{FlowOutcome, FlowRow, FlowsOf, LayerRow};
use crate::recovery::limits::LimitKind;
use crate::simulation::Report;

fn outcome(report: &Report) -> (&[FlowRow], &[LayerRow]) {
    match &report.flows {
        Some(FlowOutcome { rows, layers, .. }) => (rows, layers),
        None => (&[], &[]),
    }
}

/// A row a stretch of time, traffic and part that binds flows; no columns where there are none.
pub(super) fn flows(report: &Report, topology: Option<&Topology>) -> Table {
    let (mut table, (rows, _)) = (Table::new("flows"), outcome(report));
    if report.flows.is_none() {
        return table;
    }
    let count = |number: Option<u64>| number.map(Metric::Count);
    let ends = |row: &FlowRow| {
        let channel = row.number.filter(|_| row.kind == Some(LimitKind::Link));
        channel.zip(topology).map(|(channel, topology)| channel_ends(channel, topology))
    };
    let part = |row: &FlowRow| row.part.clone().unwrap_or_default();
    let job = |row: &FlowRow| match row.of {
        FlowsOf::Job(job) => Some(u64::from(job)),
        FlowsOf::Clients | FlowsOf::Bursts => None,
    };
    table.add("is_burst", rows.iter().map(|row| row.of == FlowsOf::Bursts));
    table.add("job_number", rows.iter().map(|row| count(job(row))));
    table.add("backlog_bytes", rows.iter().map(|row| count(row.backlog.map(|backlog| backlog.round() as u64))));
    table.add("start_seconds", rows.iter().map(|row| row.from));
    table.add("duration_seconds", rows.iter().map(|row| row.duration));
    table.add("pool_number", rows.iter().map(|row| count(row.pool.map(|pool| pool as u64))));
    table.add("flows", rows.iter().map(|row| row.count));
    table.add("bytes_per_second", rows.iter().map(|row| row.rate));
    table.add("least_bytes_per_second", rows.iter().map(|row| row.least));
    table.add("largest_bytes_per_second", rows.iter().map(|row| row.largest));
    table.add("bytes", rows.iter().map(|row| row.bytes.round() as u64));
    table.add("full_parts", rows.iter().map(|row| row.full));
    table.add("kind", rows.iter().map(|row| row.kind.map_or("", word)));
    table.add("number", rows.iter().map(|row| count(row.number.map(u64::from))));
    table.add("from", rows.iter().map(|row| count(ends(row).map(|[from, _]| u64::from(from)))));
    table.add("to", rows.iter().map(|row| count(ends(row).map(|[_, to]| u64::from(to)))));
    table.add("level", rows.iter().map(|row| part(row).0));
    table.add("name", rows.iter().map(|row| part(row).1));
    table
}

/// A row a stretch of time and layer of parts; no columns where there are no flows.
pub(super) fn layers(report: &Report) -> Table {
    let (mut table, (_, layers)) = (Table::new("layers"), outcome(report));
    if report.flows.is_none() {
        return table;
    }
    table.add("start_seconds", layers.iter().map(|row| row.from));
    table.add("duration_seconds", layers.iter().map(|row| row.duration));
    table.add("layer", layers.iter().map(|row| row.layer.as_str()));
    table.add("parts", layers.iter().map(|row| row.parts));
    table.add("alone_bytes_per_second", layers.iter().map(|row| row.alone));
    table.add("stacked_bytes_per_second", layers.iter().map(|row| row.stacked));
    table.add("lost_bytes_per_second", layers.iter().map(|row| row.lost));
    table.add("flows_bound", layers.iter().map(|row| row.bound));
    table
}

/// A row a burst of a job; no columns where there are no streams.
pub(super) fn jobs(report: &Report) -> Table {
    let mut table = Table::new("jobs");
    let Some(streams) = &report.streams else { return table };
    let rows = &streams.jobs;
    let seconds = |row: &JobBurst| row.ended.map(|ended| ended.since(row.began).seconds());
    table.add("job_number", rows.iter().map(|row| u64::from(row.job)));
    table.add("burst", rows.iter().map(|row| u64::from(row.burst)));
    table.add("asked_seconds", rows.iter().map(|row| row.asked));
    table.add("began_seconds", rows.iter().map(|row| row.began.seconds()));
    table.add("ended_seconds", rows.iter().map(|row| row.ended.map(SimTime::seconds)));
    table.add("seconds", rows.iter().map(seconds));
    table.add("bytes", rows.iter().map(|row| row.bytes));
    table.add("slowed", rows.iter().map(|row| seconds(row).map(|seconds| seconds / row.length.seconds())));
    table.add("layer", rows.iter().map(|row| row.layer.clone().unwrap_or_default()));
    table
}
