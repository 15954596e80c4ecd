//! One requester alone, which asks one thing at a time: what a request costs every part of a system.

use std::sync::Arc;

use resilver_units::{Bytes, DeviceId, EndpointId, SimDuration, SimTime};

use super::Workload;
use super::request_traffic::{Arrivals, TraceRequest, Traffic};
use super::requesters::{Law, Requester, Requests};

/// What clients of a closed loop have under way, and which kinds of requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    /// Which of the traffics it is of.
    pub law: usize,
    /// Requests that it keeps outstanding.
    pub outstanding: u64,
    /// Within what time after an answer the next request is issued.
    pub interval: SimDuration,
    /// The least time between two requests; zero where they keep no distance.
    pub gap: SimDuration,
}

/// The clients of a system, of whom one at a time is tried.
#[derive(Clone, Debug)]
pub(crate) struct Clients {
    requests: Requests,
    /// What they ask for, without them.
    asked: Workload,
}

impl Clients {
    /// Those of a workload; `None` where nobody issues requests.
    pub fn of(mut workload: Workload) -> Option<Self> {
        let requests = workload.requests.take()?;
        Some(Clients { requests, asked: workload })
    }

    /// The closed loop of each requester that is one as a steady flow, in their order; `None` for others.
    pub fn loops(&self) -> Vec<Option<Loop>> {
        let Requests { laws, requesters } = &self.requests;
        let own = |(number, requester): (u32, &Requester)| {
            let law = usize::from(requester.law);
            let Traffic { arrivals, gap, .. } = &laws[law].traffic;
            let &Arrivals::Flows { outstanding, interval } = arrivals else { return None };
            Some(Loop { law, outstanding: self.requests.share(number, outstanding), interval, gap: *gap })
        };
        (0..).zip(requesters).map(own).collect()
    }

    /// How many servers requests of a traffic may go to.
    pub fn targets_of(&self, law: usize) -> usize {
        self.requests.laws[law].chooser.count()
    }

    /// Where requests of a requester enter.
    pub fn entry_of(&self, requester: u32) -> EndpointId {
        self.requests.endpoint(requester)
    }

    /// The servers of a requester's own, where each has some.
    pub fn own_servers(&self, requester: u32) -> Option<Vec<DeviceId>> {
        let law = self.requests.law_of(requester);
        law.chooser.own(requester - law.first).map(Iterator::collect)
    }

    /// The same system with this requester alone, which issues as many requests of a kind and a size, one after another with `spacing` between them:
    /// so many to each of these servers in turn, or where none is named, to each server as many as its share of the requests says.
    pub fn alone(
        &self,
        (requester, servers): (u32, &[DeviceId]),
        (is_read, bytes): (bool, Bytes),
        (each, spacing): (usize, SimDuration),
    ) -> Workload {
        let rows = each * servers.len().max(1);
        let (all, endpoint) = (&self.requests, self.entry_of(requester));
        let requesters = vec![all.requesters[requester as usize].clone()];
        let law = usize::from(requesters[0].law);
        let mut requests = Requests { laws: all.laws.clone(), requesters };
        for (number, other) in requests.laws.iter_mut().enumerate() {
            // Rows are looked for by the first ones of the traffics, which come in the order of these.
            (other.first, other.first_row) = (0, if number <= law { 0 } else { u32::MAX });
        }
        let Law { traffic, chooser, .. } = &mut requests.laws[law];
        let row = |number: usize| TraceRequest {
            at: SimTime::from_picoseconds(number as u64 * spacing.picoseconds()),
            is_read,
            bytes,
            target: Some(match servers.get(number / each) {
                Some(&server) => server,
                None => chooser.at((number as f64 + 0.5) / rows as f64),
            }),
        };
        let arrivals = Arrivals::Trace(Arc::new((0..rows).map(row).collect()));
        *traffic = Traffic { requesters: vec![endpoint], arrivals, timeout: None, ..traffic.clone() };
        let duration = Some(SimDuration::from_picoseconds(rows as u64 * spacing.picoseconds()));
        let requests = Some(requests);
        Workload { requests, warm_up: SimDuration::ZERO, duration, is_time_over: false, ..self.asked.clone() }
    }
}
