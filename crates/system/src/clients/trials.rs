//! One requester alone, which asks one thing at a time: what a request costs every part of a system.

use std::collections::BTreeMap;
use std::sync::Arc;

use resilver_units::{Bytes, DeviceId, EndpointId, SimDuration, SimTime};

use super::Workload;
use super::requesters::{Law, Requester, Requests};
use crate::scenario::{Arrivals, FlowLaw, NO_OBJECT, TraceRequest, Traffic};

/// What divides a whole so that its multiples, cut off, lie as evenly as any: the golden section.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// How much a requester asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Asked {
    /// Another request for each that is done.
    Always,
    /// So many requests a second, up to a time.
    Requests(f64, SimTime),
    /// So much data a second; none where it asks for volumes, each at its time.
    Data(f64),
}

/// What a requester asks for that is a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand {
    /// Which of the traffics it is of.
    pub law: usize,
    /// Requests that it has under way at the most; infinite where they come whether or not others are done.
    pub window: f64,
    /// Within what time after an answer the next request is issued.
    pub interval: SimDuration,
    /// The least time between two requests; zero where they keep no distance.
    pub gap: SimDuration,
    pub asked: Asked,
    /// The share of its requests that read.
    pub read_share: f64,
}

/// A flow of a requester.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientFlow {
    pub requester: u32,
    /// The server that all of it goes to; `None` where it is to several, which wait for each other.
    pub server: Option<DeviceId>,
    pub demand: Demand,
}

/// The clients of a system, of whom one at a time is tried.
#[derive(Clone, Debug)]
pub(crate) struct Clients {
    requests: Requests,
    /// What they ask for, without them.
    asked: Workload,
}

impl FlowLaw {
    /// Whether requests are of whole objects.
    pub(crate) fn is_of_objects(&self) -> bool {
        matches!(self, FlowLaw::Objects { .. })
    }
}

impl Law {
    /// Of recorded requests that are a flow, the share of each server; of none where they are drawn.
    fn recorded_shares(&self) -> Vec<(DeviceId, f64)> {
        let Some(FlowLaw::Trace(rows)) = self.traffic.flow_law() else { return Vec::new() };
        let (mut shares, mut drawn, each) = (BTreeMap::<DeviceId, f64>::new(), 0.0, 1.0 / rows.len() as f64);
        for row in rows.iter() {
            match row.target {
                Some(target) => *shares.entry(target).or_default() += each,
                None => drawn += each,
            }
        }
        if drawn > 0.0 {
            let of_law = self.chooser.shares(0).into_iter();
            of_law.for_each(|(server, share)| *shares.entry(server).or_default() += drawn * share);
        }
        shares.into_iter().collect()
    }
}

impl Traffic {
    /// What its flows stand for; `None` where its requests are followed.
    pub(crate) fn flow_law(&self) -> Option<&FlowLaw> {
        match &self.arrivals {
            Arrivals::Flows(law) => Some(law),
            _ => None,
        }
    }
}

impl Clients {
    /// Those of a workload; `None` where nobody issues requests.
    pub fn of(mut workload: Workload) -> Option<Self> {
        let requests = workload.requests.take()?;
        Some(Clients { requests, asked: workload })
    }

    /// What each requester asks for that is a flow and asks for anything, in their order; `None` for others.
    pub fn demands(&self) -> Vec<Option<Demand>> {
        let Requests { laws, requesters } = &self.requests;
        let own = |(number, requester): (u32, &Requester)| {
            let law = usize::from(requester.law);
            let traffic @ Traffic { arrivals, gap, requesters, .. } = &laws[law].traffic;
            let Arrivals::Flows(flow) = arrivals else { return None };
            let count = requesters.len() as f64;
            let demand = Demand {
                law,
                window: f64::INFINITY,
                interval: SimDuration::ZERO,
                gap: *gap,
                asked: Asked::Always,
                read_share: traffic.read_share(),
            };
            Some(match flow {
                &FlowLaw::Closed { outstanding, interval } => {
                    let window = self.requests.share(number, outstanding) as f64;
                    return (window > 0.0).then_some(Demand { window, interval, ..demand });
                }
                FlowLaw::Open { rate } => Demand { asked: Asked::Requests(rate / count, SimTime::MAX), ..demand },
                FlowLaw::Trace(rows) => {
                    let end = rows.last().map_or(SimTime::ZERO, |row| row.at);
                    let reads = rows.iter().filter(|row| row.is_read).count();
                    let rate = rows.len() as f64 / end.seconds() / count;
                    let read_share = reads as f64 / rows.len().max(1) as f64;
                    Demand { asked: Asked::Requests(rate, end), read_share, ..demand }
                }
                &FlowLaw::Objects { window, rate } => {
                    let asked = rate.map_or(Asked::Always, Asked::Data);
                    Demand { window: f64::from(window), asked, ..demand }
                }
            })
        };
        (0..).zip(requesters).map(own).collect()
    }

    /// The flows of all requesters: one each where requests wait for each other, and else one to each server, since what comes whether or not
    /// others are done waits for those at its own server alone.
    pub fn flows(&self) -> Vec<ClientFlow> {
        let mut flows = Vec::new();
        // Of recorded requests the share to each server is that of its law.
        let recorded: Vec<Vec<(DeviceId, f64)>> = self.requests.laws.iter().map(Law::recorded_shares).collect();
        for (requester, demand) in (0u32..).zip(self.demands()) {
            let Some(demand) = demand else { continue };
            let Asked::Requests(rate, until) = demand.asked else {
                flows.push(ClientFlow { requester, server: None, demand });
                continue;
            };
            let law = &self.requests.laws[demand.law];
            let shares = match &recorded[demand.law][..] {
                [] => law.chooser.shares(requester - law.first),
                of_law => of_law.to_vec(),
            };
            flows.extend(shares.into_iter().map(|(server, share)| {
                let asked = Asked::Requests(rate * share, until);
                ClientFlow { requester, server: Some(server), demand: Demand { asked, ..demand } }
            }));
        }
        flows
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

    /// How many objects requests of a traffic are of, where they are of whole ones.
    pub fn objects_of(&self, law: usize) -> Option<usize> {
        let is_of_objects = self.requests.laws[law].traffic.flow_law().is_some_and(FlowLaw::is_of_objects);
        is_of_objects.then(|| self.asked.objects.last_sample().len())
    }

    /// The first traffic whose requests are like those of this one, from the same place: of whole objects and as often read.
    pub fn like(&self, law: usize) -> usize {
        let traffic = |law: usize| &self.requests.laws[law].traffic;
        let is_of_objects = |law: usize| self.objects_of(law).is_some();
        let reads_like = |other: usize| traffic(law).read_share() == traffic(other).read_share();
        let is_like = |&other: &usize| other == law || is_of_objects(law) && is_of_objects(other) && reads_like(other);
        (0..=law).find(is_like).unwrap_or(law)
    }

    /// The same system with this requester alone, which issues as many requests of a kind and a size, one after another with `spacing` between
    /// them: so many to each of these servers in turn, or where none is named, to each server as many as its share of the requests says.
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
        let recorded: Vec<TraceRequest> = match traffic.flow_law() {
            Some(FlowLaw::Trace(rows)) => rows.iter().filter(|row| row.is_read == is_read).copied().collect(),
            _ => Vec::new(),
        };
        let objects = traffic.flow_law().filter(|law| law.is_of_objects()).map(|_| self.asked.objects.last_sample());
        // All objects are asked alike often, and by each requester others.
        let offset = (f64::from(requester) * GOLDEN).fract();
        let row = |number: usize| {
            let drawn = TraceRequest {
                at: SimTime::from_picoseconds(number as u64 * spacing.picoseconds()),
                is_read,
                bytes,
                target: Some(match servers.get(number / each) {
                    Some(&server) => server,
                    None => chooser.at((number as f64 + 0.5) / rows as f64),
                }),
                object: NO_OBJECT,
            };
            if let Some(objects) = &objects {
                let share = (number as f64 + offset) / rows as f64;
                let object = objects.start + (share * objects.len() as f64) as u32;
                return TraceRequest { object, bytes: self.asked.objects.size(object as usize), ..drawn };
            }
            let like = (number as f64 + 0.5) / rows as f64 * recorded.len() as f64;
            match recorded.get(like as usize) {
                Some(&TraceRequest { bytes, target, .. }) => {
                    let target = if servers.is_empty() { target.or(drawn.target) } else { drawn.target };
                    TraceRequest { bytes, target, ..drawn }
                }
                None => drawn,
            }
        };
        let arrivals = Arrivals::Trace(Arc::new((0..rows).map(row).collect()));
        *traffic = Traffic { requesters: vec![endpoint], arrivals, timeout: None, ..traffic.clone() };
        let duration = Some(SimDuration::from_picoseconds(rows as u64 * spacing.picoseconds()));
        let requests = Some(requests);
        Workload { requests, warm_up: SimDuration::ZERO, duration, is_time_over: false, ..self.asked.clone() }
    }
}
