//! What a run came to, as numbers by name.

use std::collections::BTreeMap;

use resilver_fabric::NetworkUse;
use resilver_units::{Bytes, SimDuration, SimTime};

use super::detection::of_detection;
use super::{Metrics, tell};
use crate::clients::measures::{ClientOutcome, Delays, Period, PeriodOutcome, StreamOutcome};
use crate::recovery::outcome::Outcome;
use crate::scenario::faults::Named;
use crate::simulation::Report;

/// How names of the periods begin, in the order of their times.
const PERIODS: [&str; 3] = ["before_", "during_", "after_"];

/// What a finished run came to; `faults` are what broke in it, by name.
pub fn metrics(report: &Report, faults: &[Named]) -> Metrics {
    let mut found = Metrics::new();
    tell(&mut found, "digest", report.digest.to_string());
    tell(&mut found, "events", report.events);
    tell(&mut found, "simulated_seconds", report.outcome.ended_at);
    tell(&mut found, "population_files", report.population.files);
    tell(&mut found, "population_objects", report.population.objects);
    tell(&mut found, "population_bytes", report.population.bytes);
    tell(&mut found, "network_bytes", report.network_bytes);
    let groups = report.groups.as_ref();
    tell(&mut found, "placement_groups", groups.map(|groups| u64::from(groups.groups)));
    tell(&mut found, "placement_groups_affected", groups.map(|groups| u64::from(groups.affected)));
    of_recovery(&mut found, &report.outcome);
    of_returns(&mut found, &report.outcome, faults);
    of_faults(&mut found, faults);
    of_detection(&mut found, &report.detected);
    of_clients(&mut found, report.clients.as_ref());
    of_network(&mut found, report.network.as_ref());
    of_streams(&mut found, report.streams.as_ref(), &report.outcome);
    if let Some(flows) = &report.flows {
        forget_delays(&mut found, flows.has_delays);
    }
    let backlog = report.flows.as_ref().and_then(|flows| flows.backlog);
    tell(&mut found, "backlog_bytes", backlog.map(|backlog| Bytes::new(backlog.round() as u64)));
    found
}

/// Of flows it is known how long a request takes on average, and not how much longer one kind waits than the other: that is
/// told where all are of one kind. Where some do not wait for answers, not even the mean is known.
pub(super) fn forget_delays(found: &mut Metrics, has_delays: bool) {
    let is_delay = |name: &str| name.contains("mean_") && name.ends_with("delay_seconds") && !name.contains("burst");
    if !has_delays {
        found.iter_mut().filter(|(name, _)| is_delay(name)).for_each(|(_, value)| *value = None);
    }
    for period in ["", "before_", "during_", "after_"] {
        let names = ["read", "write"].map(|kind| format!("{period}mean_{kind}_delay_seconds"));
        let is_told = |(other, value): &&(String, Option<super::Metric>)| names.contains(other) && value.is_some();
        if found.iter().filter(is_told).count() == names.len() {
            found.iter_mut().filter(|(other, _)| names.contains(other)).for_each(|(_, value)| *value = None);
        }
    }
}

fn of_recovery(found: &mut Metrics, outcome: &Outcome) {
    let losses = outcome.losses;
    tell(found, "affected_objects", losses.affected_objects);
    tell(found, "unrecoverable_objects", losses.unrecoverable_objects);
    tell(found, "unrecoverable_bytes", losses.unrecoverable_bytes);
    tell(found, "undersized_replicas", losses.undersized_pieces);
    tell(found, "unreachable_objects", outcome.unreachable_objects);
    tell(found, "unreachable_pieces", outcome.unreachable_pieces);
    tell(found, "rebuilt_objects", outcome.rebuilt_objects);
    tell(found, "rebuilt_pieces", outcome.rebuilt_pieces);
    tell(found, "rebuilt_bytes", outcome.rebuilt_bytes);
    tell(found, "remapped_objects", outcome.moved_objects);
    tell(found, "remapped_pieces", outcome.moved_pieces);
    tell(found, "remapped_bytes", outcome.remapped_bytes);
    tell(found, "gathered_bytes", outcome.coded.map(|coded| coded.gathered_bytes));
    tell(found, "decoded_bytes", outcome.coded.map(|coded| coded.decoded_bytes));
    let backlogs = outcome.devices.iter().filter_map(|device| device.most_unwritten);
    tell(found, "push_backlog_bytes", backlogs.max());
    let after_failure = |time: SimTime| time.since(outcome.begins_at);
    tell(found, "rebuild_seconds", after_failure(outcome.rebuilt_at));
    tell(found, "rebuild_p50_seconds", outcome.half_rebuilt_at.map(after_failure));
    tell(found, "rebuild_p99_seconds", outcome.nearly_rebuilt_at.map(after_failure));
    tell(found, "first_redundant_seconds", outcome.first_redundant_at.map(after_failure));
    tell(found, "last_redundant_seconds", outcome.last_redundant_at.map(after_failure));
}

/// What came back, where anything that the system is told of does.
fn of_returns(found: &mut Metrics, outcome: &Outcome, faults: &[Named]) {
    let comes_back = faults.iter().any(|Named { fault, .. }| fault.is_told && fault.until.is_some());
    for (name, count) in [
        ("returned_objects", outcome.returned_objects),
        ("returned_pieces", outcome.returned_pieces),
        ("surplus_pieces", outcome.surplus_pieces),
    ] {
        tell(found, name, comes_back.then_some(count));
    }
}

/// What broke, by name: what nobody was told of, each once and in the order of its numbers, and what was slow.
fn of_faults(found: &mut Metrics, faults: &[Named]) {
    let mut gone: BTreeMap<&str, BTreeMap<(&str, u32), &str>> = BTreeMap::new();
    let mut slow: Vec<&str> = Vec::new();
    for Named { fault, level, parts } in faults.iter().filter(|named| !named.fault.is_told) {
        let column = match level.as_str() {
            "disk" => "failed_disks",
            "link" => "failed_links",
            "switch" => "failed_switches",
            _ => "failed_parts",
        };
        for (number, name) in parts {
            if !fault.is_slow() {
                gone.entry(column).or_default().insert((level, *number), name);
            } else if !slow.contains(&name.as_str()) {
                slow.push(name);
            }
        }
    }
    for (column, names) in gone {
        tell(found, column, names.into_values().collect::<Vec<_>>().join(","));
    }
    tell(found, "slow_parts", (!slow.is_empty()).then(|| slow.join(",")));
}

fn of_clients(found: &mut Metrics, clients: Option<&ClientOutcome>) {
    let count = |value: fn(&ClientOutcome) -> u64| clients.map(value);
    tell(found, "requests_issued", count(|c| c.counts.issued));
    tell(found, "requests_completed", count(|c| c.counts.completed));
    tell(found, "requests_lost", count(|c| c.counts.lost));
    tell(found, "requests_late", count(|c| c.counts.late));
    tell(found, "requests_retried", count(|c| c.counts.retried));
    tell(found, "requests_outstanding", count(|c| c.outstanding));
    tell(found, "requests_hanging", count(|c| c.hanging));
    let pieces = clients.and_then(|clients| clients.pieces);
    tell(found, "client_device_bytes_read", pieces.map(|pieces| pieces.read));
    tell(found, "client_device_bytes_written", pieces.map(|pieces| pieces.written));
    tell(found, "degraded_reads", pieces.map(|pieces| pieces.degraded_reads));
    tell(found, "degraded_read_bytes", pieces.map(|pieces| pieces.degraded_bytes));
    of_periods(found, clients.map(|clients| &clients.periods));
    tell(found, "read_requests", count(|c| c.reads.completed));
    tell(found, "write_requests", count(|c| c.writes.completed));
    let rate = |delays: fn(&ClientOutcome) -> &Delays| {
        let clients = clients.filter(|clients| clients.window > SimDuration::ZERO)?;
        Some(delays(clients).bytes.get() as f64 / clients.window.seconds())
    };
    tell(found, "read_bytes_per_second", rate(|c| &c.reads));
    tell(found, "write_bytes_per_second", rate(|c| &c.writes));
    tell(found, "throughput_bytes_per_second", rate(|c| &c.all));
    let all = clients.map(|clients| &clients.all);
    tell(found, "mean_delay_seconds", all.and_then(Delays::mean_seconds));
    tell(found, "p50_delay_seconds", all.and_then(|all| all.quantile_seconds(0.5)));
    tell(found, "p99_delay_seconds", all.and_then(|all| all.quantile_seconds(0.99)));
    tell(found, "mean_read_delay_seconds", clients.and_then(|c| c.reads.mean_seconds()));
    tell(found, "mean_write_delay_seconds", clients.and_then(|c| c.writes.mean_seconds()));
    tell(found, "write_backlog_requests", count(|c| c.write_backlog));
    tell(found, "write_backlog_bytes", count(|c| c.write_backlog_bytes.get()));
    tell(found, "write_backlog_requests_max", count(|c| c.write_backlog_max));
    tell(found, "statistics_seconds", clients.map(|c| c.window));
}

/// What clients got in each period, with the ratio of during to before; none where there are no clients, or where the period
/// has no time.
pub(super) fn of_periods(found: &mut Metrics, periods: Option<&[PeriodOutcome; 3]>) {
    for (period, name) in Period::ALL.into_iter().zip(PERIODS) {
        let outcome = periods.map(|periods| &periods[period as usize]);
        of_period(found, name, outcome.filter(|outcome| outcome.window > SimDuration::ZERO));
    }
    let goodput = |period: Period| {
        let outcome = &periods?[period as usize];
        outcome.per_second(outcome.reads.bytes + outcome.writes.bytes)
    };
    let ratio = goodput(Period::During).zip(goodput(Period::Before).filter(|&before| before > 0.0));
    tell(found, "during_before_throughput_ratio", ratio.map(|(during, before)| during / before));
}

/// What clients got in a period, under names that begin with its own; in the whole time where that is empty.
pub(super) fn of_period(found: &mut Metrics, period: &str, outcome: Option<&PeriodOutcome>) {
    let count = |value: fn(&PeriodOutcome) -> u64| outcome.map(value);
    let rate = |bytes: fn(&PeriodOutcome) -> Bytes| outcome.and_then(|outcome| outcome.per_second(bytes(outcome)));
    tell(found, format!("{period}seconds"), outcome.map(|outcome| outcome.window));
    tell(found, format!("{period}requests_completed"), count(|outcome| outcome.counts.completed));
    tell(found, format!("{period}requests_lost"), count(|outcome| outcome.counts.lost));
    tell(found, format!("{period}requests_late"), count(|outcome| outcome.counts.late));
    tell(found, format!("{period}read_bytes_per_second"), rate(|outcome| outcome.reads.bytes));
    tell(found, format!("{period}write_bytes_per_second"), rate(|outcome| outcome.writes.bytes));
    let both = rate(|outcome| outcome.reads.bytes + outcome.writes.bytes);
    tell(found, format!("{period}throughput_bytes_per_second"), both);
    let mean = |outcome: &PeriodOutcome| {
        let sum = outcome.reads.sum_picoseconds + outcome.writes.sum_picoseconds;
        let count = outcome.reads.completed + outcome.writes.completed;
        (count > 0).then(|| sum as f64 / count as f64 * 1e-12)
    };
    tell(found, format!("{period}mean_delay_seconds"), outcome.and_then(mean));
    for kind in ["read", "write"] {
        let delays = outcome.map(|outcome| if kind == "read" { &outcome.reads } else { &outcome.writes });
        tell(found, format!("{period}mean_{kind}_delay_seconds"), delays.and_then(Delays::mean_seconds));
        for (word, share) in [("p50", 0.5), ("p99", 0.99)] {
            let quantile = delays.and_then(|delays| delays.quantile_seconds(share));
            tell(found, format!("{period}{word}_{kind}_delay_seconds"), quantile);
        }
    }
}

fn of_network(found: &mut Metrics, network: Option<&NetworkUse>) {
    let count = |value: fn(&NetworkUse) -> u64| network.map(value);
    tell(found, "packets_delivered", count(|network| network.packets_delivered));
    tell(found, "packets_dropped", count(|network| network.packets_dropped.total()));
    tell(found, "packets_dropped_no_link", count(|network| network.packets_dropped.no_link));
    tell(found, "packets_dropped_hop_limit", count(|network| network.packets_dropped.hop_limit));
    tell(found, "packets_dropped_cut", count(|network| network.packets_dropped.cut));
    tell(found, "packets_deviated", count(|network| network.deviated));
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let queued = network.and_then(|network| share(network.packets_queued, network.packets_forwarded));
    tell(found, "packets_queued_fraction", queued);
    let hops = |network: &NetworkUse| {
        let sum: u64 = (0..).zip(&network.hops).map(|(hops, &count): (u64, &u64)| hops * count).sum();
        share(sum, network.packets_delivered)
    };
    tell(found, "mean_hops", network.and_then(hops));
}

fn of_streams(found: &mut Metrics, streams: Option<&StreamOutcome>, outcome: &Outcome) {
    let of_bursts = streams.filter(|streams| streams.has_bursts);
    let of_rebuild = streams.filter(|streams| streams.has_corruption);
    let rate = |streams: Option<&StreamOutcome>, bytes: fn(&StreamOutcome) -> Bytes| {
        streams.and_then(|streams| streams.per_second(bytes(streams)))
    };
    tell(found, "burst_bytes_per_second", rate(of_bursts, |streams| streams.all.bursts));
    let of_drain = of_bursts.filter(|streams| streams.undrained.is_some());
    tell(found, "drain_bytes_per_second", rate(of_drain, |streams| streams.all.drained));
    let undrained = of_drain.and_then(|streams| streams.undrained);
    tell(found, "undrained_bytes", undrained.map(|(left, ..)| left.get()));
    tell(found, "undrained_bytes_max", undrained.map(|(_, most, _)| most.get()));
    tell(found, "carried_bytes", undrained.and_then(|(.., carried)| carried).map(|carried| carried.get()));
    tell(found, "mean_burst_delay_seconds", of_bursts.and_then(|streams| streams.mean_burst_seconds));
    tell(found, "rebuild_bytes_per_second", rate(of_rebuild, |streams| streams.all.rebuilt));
    tell(found, "strips_rebuilt", of_rebuild.map(|streams| streams.strips_rebuilt));
    // A rebuild in place takes the place of one after a failure, where nothing has failed.
    if let Some(seconds) = of_rebuild.and_then(|streams| streams.rebuild_seconds)
        && outcome.losses.lost_pieces == 0
    {
        found.retain(|(name, _)| name != "rebuild_seconds");
        tell(found, "rebuild_seconds", seconds);
    }
}
