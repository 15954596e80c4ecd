//! What clients got by classes of their requests.

use resilver_units::SimDuration;

use super::metrics::{forget_delays, of_period, of_periods};
use super::{Metrics, Table, tell};
use crate::clients::measures::PeriodOutcome;
use crate::scenario::Traffic;
use crate::simulation::Report;

/// A row a class of requests of each traffic that has several.
pub(super) fn request_classes(report: &Report, traffic: &[Traffic]) -> Table {
    let has_delays = report.flows.as_ref().map(|flows| flows.has_delays);
    let by_law = report.clients.iter().flat_map(|clients| &clients.classes).zip(traffic);
    let of_law = |(classes, traffic): (&Vec<[PeriodOutcome; 3]>, &Traffic)| -> Vec<Metrics> {
        let has_both = [0, 1].iter().all(|&kind| traffic.classes.iter().any(|class| class.shares()[kind] > 0.0));
        let rows = classes.iter().enumerate();
        rows.map(|(number, periods)| of_class(traffic, number, periods, has_delays, has_both)).collect()
    };
    let several = by_law.filter(|(_, traffic)| traffic.classes.len() > 1);
    Table::of_rows("request_classes", several.flat_map(of_law).collect())
}

/// The row of a class; where clients are flows, `has_delays` says whether it is known how long requests take.
fn of_class(
    traffic: &Traffic,
    number: usize,
    periods: &[PeriodOutcome; 3],
    has_delays: Option<bool>,
    has_both: bool,
) -> Metrics {
    let mut row = Metrics::new();
    tell(&mut row, "pool_number", traffic.pool.map(|pool| pool as u64));
    tell(&mut row, "class", number as u64);
    tell(&mut row, "request_bytes", traffic.classes[number].size);
    let whole = PeriodOutcome::of_all(periods);
    of_period(&mut row, "", Some(&whole).filter(|whole| whole.window > SimDuration::ZERO));
    of_periods(&mut row, Some(periods));
    if let Some(has_delays) = has_delays {
        forget_delays(&mut row, has_delays);
    }
    if has_delays.is_some() && has_both {
        // One kind may wait longer than the other, and a class may have more of it.
        row.iter_mut().filter(|(name, _)| name.ends_with("delay_seconds")).for_each(|(_, value)| *value = None);
    }
    row
}
