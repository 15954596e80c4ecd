//! One requester alone, which asks one thing at a time: what a request costs every part of a system.

use std::sync::Arc;

use resilver_units::{SimDuration, SimTime};

use super::Workload;
use super::request_traffic::{Arrivals, TraceRequest, Traffic};
use super::requesters::Law;

/// What clients of a closed loop have under way, and which kinds of requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    /// Which of the traffics it is of.
    pub law: usize,
    /// Requests that it keeps outstanding.
    pub outstanding: u64,
    /// Within what time after an answer the next request is issued.
    pub interval: SimDuration,
}

impl Workload {
    /// The closed loop of each requester that is one as a steady flow, in their order; `None` for others.
    pub(crate) fn loops(&self) -> Vec<Option<Loop>> {
        let Some(requests) = &self.requests else { return Vec::new() };
        let own = |(number, requester): (u32, &super::requesters::Requester)| {
            let law = usize::from(requester.law);
            let Arrivals::Flows { outstanding, interval } = requests.laws[law].traffic.arrivals else { return None };
            Some(Loop { law, outstanding: requests.share(number, outstanding), interval })
        };
        (0..).zip(&requests.requesters).map(own).collect()
    }

    /// How many servers requests of a traffic may go to.
    pub(crate) fn targets_of(&self, law: usize) -> usize {
        self.requests.as_ref().map_or(0, |requests| requests.laws[law].chooser.count())
    }

    /// The same system with this requester alone, which issues as many requests of a kind, one after another with `spacing` between them:
    /// to each server as many as its share of the requests says.
    pub(crate) fn alone(&self, requester: u32, is_read: bool, (rows, spacing): (usize, SimDuration)) -> Workload {
        let mut trial = self.clone();
        let Some(requests) = &mut trial.requests else { return trial };
        let endpoint = requests.endpoint(requester);
        let law = usize::from(requests.requesters[requester as usize].law);
        requests.requesters = vec![requests.requesters[requester as usize].clone()];
        for (number, other) in requests.laws.iter_mut().enumerate() {
            // Rows are looked for by the first ones of the traffics, which come in the order of these.
            (other.first, other.first_row) = (0, if number <= law { 0 } else { u32::MAX });
        }
        let Law { traffic, chooser, .. } = &mut requests.laws[law];
        let row = |number: usize| TraceRequest {
            at: SimTime::from_picoseconds(number as u64 * spacing.picoseconds()),
            is_read,
            bytes: traffic.size,
            target: Some(chooser.at((number as f64 + 0.5) / rows as f64)),
        };
        let arrivals = Arrivals::Trace(Arc::new((0..rows).map(row).collect()));
        *traffic = Traffic { requesters: vec![endpoint], arrivals, timeout: None, ..traffic.clone() };
        let duration = SimDuration::from_picoseconds(rows as u64 * spacing.picoseconds());
        Workload { warm_up: SimDuration::ZERO, duration: Some(duration), is_time_over: false, ..trial }
    }
}
