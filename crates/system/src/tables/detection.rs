//! How what broke became known, fault by fault and device by device.

use resilver_detection::{Known, Outcome};
use resilver_units::SimDuration;

use super::{Metrics, Table, tell};
use crate::scenario::Detected;
use crate::simulation::Report;

const SECONDS_AN_HOUR: f64 = 3600.0;

/// A row a device that is gone with faults that devices found out; no columns where there are none.
pub(super) fn detection(report: &Report) -> Table {
    let rows = report.detected.iter().flat_map(|detected| {
        detected.outcome.failures.iter().map(|known| {
            let mut row = Metrics::new();
            let keys: Vec<String> = detected.faults.iter().map(|index| format!("faults.{index}")).collect();
            tell(&mut row, "faults", keys.join(","));
            tell(&mut row, "at_seconds", detected.at);
            tell(&mut row, "device", u64::from(known.member));
            of_device(&mut row, known);
            tell(&mut row, "others", u64::from(detected.outcome.others));
            tell(&mut row, "detection_seconds", detected.delay);
            of_healthy(&mut row, Some(&detected.outcome));
            row
        })
    });
    Table::of_rows("detection", rows.collect())
}

fn of_device(row: &mut Metrics, known: &Known) {
    tell(row, "first_seconds", known.first.map(|(delay, _)| delay));
    tell(row, "first_device", known.first.map(|(_, by)| u64::from(by)));
    tell(row, "half_seconds", known.half);
    tell(row, "all_seconds", known.all);
    tell(row, "informed", u64::from(known.informed));
}

/// What a protocol costs and gets wrong while all are healthy.
fn of_healthy(row: &mut Metrics, outcome: Option<&Outcome>) {
    let rate = |value: fn(&Outcome) -> f64| {
        let outcome = outcome.filter(|outcome| outcome.healthy > SimDuration::ZERO)?;
        Some(value(outcome) / outcome.healthy.seconds())
    };
    let members = |outcome: &Outcome| (outcome.others as usize + outcome.failures.len()) as f64;
    tell(row, "false_alarms", outcome.map(|outcome| outcome.false_alarms));
    tell(row, "false_alarms_per_hour", rate(|outcome| outcome.false_alarms as f64).map(|rate| rate * SECONDS_AN_HOUR));
    let messages = rate(|outcome| outcome.messages as f64);
    tell(row, "detection_messages_per_second", messages.zip(outcome).map(|(rate, outcome)| rate / members(outcome)));
    let bytes = rate(|outcome| outcome.bytes.get() as f64);
    tell(row, "detection_bytes_per_second", bytes.zip(outcome).map(|(rate, outcome)| rate / members(outcome)));
    tell(row, "busiest_messages_per_second", rate(|outcome| outcome.most_messages as f64));
}

/// How long it took until the system was told of the fault that took longest, and what the protocol costs and gets wrong.
pub(super) fn of_detection(found: &mut Metrics, detected: &[Detected]) {
    tell(found, "detection_seconds", detected.iter().filter_map(|detected| detected.delay).max());
    of_healthy(found, detected.first().map(|detected| &detected.outcome));
}
