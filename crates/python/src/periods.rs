//! What clients got before the first fault, during the faults and their recovery, and after it, as numbers for Python.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use resilver_system::{Period, PeriodOutcome};
use resilver_units::Bytes;

/// The names of the periods, in the order of their times.
const NAMES: [&str; 3] = ["before", "during", "after"];

/// Sets the numbers of each period, `None` where there are no clients, or where the period has no time.
pub fn set_periods(dict: &Bound<'_, PyDict>, periods: Option<&[PeriodOutcome; 3]>) -> PyResult<()> {
    for (period, name) in Period::ALL.into_iter().zip(NAMES) {
        let outcome = periods.map(|periods| &periods[period as usize]);
        set_period(dict, name, outcome.filter(|outcome| outcome.window.picoseconds() > 0))?;
    }
    let goodput = |period: Period| {
        let outcome = &periods?[period as usize];
        outcome.per_second(outcome.reads.bytes + outcome.writes.bytes)
    };
    let ratio = goodput(Period::During).zip(goodput(Period::Before).filter(|&before| before > 0.0));
    dict.set_item("during_before_throughput_ratio", ratio.map(|(during, before)| during / before))
}

fn set_period(dict: &Bound<'_, PyDict>, name: &str, outcome: Option<&PeriodOutcome>) -> PyResult<()> {
    let real = |metric: &str, value: Option<f64>| dict.set_item(format!("{name}_{metric}"), value);
    let count =
        |metric: &str, value: fn(&PeriodOutcome) -> u64| dict.set_item(format!("{name}_{metric}"), outcome.map(value));
    let rate = |bytes: fn(&PeriodOutcome) -> Bytes| outcome.and_then(|outcome| outcome.per_second(bytes(outcome)));
    real("seconds", outcome.map(|outcome| outcome.window.seconds()))?;
    count("requests_completed", |outcome| outcome.counts.completed)?;
    count("requests_lost", |outcome| outcome.counts.lost)?;
    count("requests_late", |outcome| outcome.counts.late)?;
    real("read_bytes_per_second", rate(|outcome| outcome.reads.bytes))?;
    real("write_bytes_per_second", rate(|outcome| outcome.writes.bytes))?;
    real("throughput_bytes_per_second", rate(|outcome| outcome.reads.bytes + outcome.writes.bytes))?;
    let mean = |outcome: &PeriodOutcome| {
        let sum = outcome.reads.sum_picoseconds + outcome.writes.sum_picoseconds;
        let count = outcome.reads.completed + outcome.writes.completed;
        (count > 0).then(|| sum as f64 / count as f64 * 1e-12)
    };
    real("mean_delay_seconds", outcome.and_then(mean))?;
    for kind in ["read", "write"] {
        let delays = outcome.map(|outcome| if kind == "read" { &outcome.reads } else { &outcome.writes });
        real(&format!("mean_{kind}_delay_seconds"), delays.and_then(|delays| delays.mean_seconds()))?;
        real(&format!("p50_{kind}_delay_seconds"), delays.and_then(|delays| delays.quantile_seconds(0.5)))?;
        real(&format!("p99_{kind}_delay_seconds"), delays.and_then(|delays| delays.quantile_seconds(0.99)))?;
    }
    Ok(())
}
