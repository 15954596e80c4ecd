//! The clients that issue requests, and when each issues which.

use resilver_device::Operation;
use resilver_kernel::{Purpose, Stream};
use resilver_units::{Bytes, DeviceId, EndpointId, SimDuration, SimTime};

use super::operations::tokens::{Life, WorkloadEvent};
use super::targets::Chooser;
use crate::scenario::{Arrivals, MetadataRequest, TraceRequest, Traffic};

const ISSUE: Purpose = Purpose::named("issue");
const TARGET: Purpose = Purpose::named("target");
const KIND: Purpose = Purpose::named("kind");
/// Picoseconds in a second.
const PICOSECONDS_PER_SECOND: f64 = 1e12;

/// One place where requests enter.
#[derive(Clone, Debug)]
pub(super) struct Requester {
    /// When requests come.
    issue: Stream,
    /// Where they go.
    pub target: Stream,
    /// Whether they read.
    kind: Stream,
    pub is_working: bool,
    /// How often it has failed.
    pub life: u32,
    /// Which of the laws its requests follow.
    pub law: u8,
    /// When it may issue its next request, where they keep a distance.
    not_before: SimTime,
}

/// What some of the requesters ask for: those of one traffic.
#[derive(Clone, Debug)]
pub(super) struct Law {
    pub traffic: Traffic,
    pub chooser: Chooser,
    /// Its first requester.
    pub first: u32,
    /// The number of its first recorded request.
    pub first_row: u32,
    /// The number of its first class of requests, of those of all laws.
    pub first_class: u16,
}

/// What a requester asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawn {
    /// Its class, of those of all laws.
    pub class: u16,
    pub is_read: bool,
    pub bytes: Bytes,
    pub server: DeviceId,
    /// What it asks of metadata, where it moves no data; its server is then that of the directory.
    pub operation: Option<Operation>,
}

/// The clients that issue requests.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    pub laws: Vec<Law>,
    pub requesters: Vec<Requester>,
}

impl Requests {
    /// More clients, whose requests go to these servers.
    pub fn add(&mut self, seed: u64, traffic: Traffic, servers: &[DeviceId]) {
        let (law, first) = (self.laws.len() as u8, self.requesters.len() as u32);
        let requester = |entity: u64| Requester {
            issue: Stream::new(seed, entity, ISSUE),
            target: Stream::new(seed, entity, TARGET),
            kind: Stream::new(seed, entity, KIND),
            is_working: true,
            life: 0,
            law,
            not_before: SimTime::ZERO,
        };
        let count = traffic.requesters.len() as u64;
        self.requesters.extend((u64::from(first)..u64::from(first) + count).map(requester));
        let first_row = self.laws.iter().map(|law| law.rows().len() as u32).sum();
        let chooser = Chooser::new(seed, servers, traffic.targets, (u64::from(first), count as usize));
        let first_class = self.laws.iter().map(|law| law.traffic.classes.len() as u16).sum();
        self.laws.push(Law { traffic, chooser, first, first_row, first_class });
    }

    /// The law of a requester.
    #[inline]
    pub fn law_of(&self, requester: u32) -> &Law {
        &self.laws[usize::from(self.requesters[requester as usize].law)]
    }

    /// Where a requester is.
    #[inline]
    pub fn endpoint(&self, requester: u32) -> EndpointId {
        let law = self.law_of(requester);
        law.traffic.requesters[(requester - law.first) as usize]
    }

    /// A server for a requester by its law.
    #[inline]
    pub fn draw_server(&mut self, requester: u32) -> DeviceId {
        let Requests { laws, requesters } = self;
        let drawing = &mut requesters[requester as usize];
        let law = &laws[usize::from(drawing.law)];
        law.chooser.draw(requester - law.first, &mut drawing.target)
    }

    /// Any server of a requester's law but those of which `is_excluded` holds; `None` where that leaves none.
    pub fn draw_other(&mut self, requester: u32, is_excluded: impl Fn(DeviceId) -> bool) -> Option<DeviceId> {
        let Requests { laws, requesters } = self;
        let requester = &mut requesters[requester as usize];
        laws[usize::from(requester.law)].chooser.draw_other(&mut requester.target, is_excluded)
    }

    /// Where the stripes of a file are that a requester asks of by a class, with what each server reads: neighbours, from any on.
    pub fn draw_stripes(&mut self, requester: u32, class: u16) -> (Bytes, impl Iterator<Item = u32> + use<'_>) {
        let Requests { laws, requesters } = self;
        let requester = &mut requesters[requester as usize];
        let Law { traffic, chooser, first_class, .. } = &laws[usize::from(requester.law)];
        let asked = traffic.classes[usize::from(class - first_class)].operation;
        let MetadataRequest { stripes, attributes, .. } = asked.expect("it is a class of operations");
        (attributes, chooser.neighbours(&mut requester.target, usize::from(stripes)))
    }

    /// A recorded request: who issues it, what it asks, and the number and the time of the one after it.
    pub fn recorded(&self, row: u32) -> (u32, TraceRequest, Option<(u32, SimTime)>) {
        let law = &self.laws[self.laws.partition_point(|law| law.first_row <= row) - 1];
        let (rows, own) = (law.rows(), row - law.first_row);
        let requester = law.first + own % law.traffic.requesters.len() as u32;
        (requester, rows[own as usize], rows.get(own as usize + 1).map(|next| (row + 1, next.at)))
    }

    /// A requester in its present life.
    pub fn life(&self, requester: u32) -> Life {
        Life { requester, life: self.requesters[requester as usize].life }
    }

    /// Whether a requester works, and has not failed since an event was scheduled for it.
    #[inline]
    pub fn is_in_life(&self, Life { requester, life }: Life) -> bool {
        let requester = &self.requesters[requester as usize];
        requester.is_working && requester.life == life
    }

    /// How many requests a requester of the closed loop keeps outstanding.
    pub fn share(&self, requester: u32, outstanding: u64) -> u64 {
        let law = self.law_of(requester);
        let count = law.traffic.requesters.len() as u64;
        outstanding / count + u64::from(u64::from(requester - law.first) < outstanding % count)
    }

    /// What a requester of the closed loop issues after a random moment within `interval`.
    ///
    /// Where its requests keep a distance, it comes no sooner than that after the one before; the first at a random moment of it, so that
    /// requesters are not in step.
    pub fn issue_within(&mut self, requester: u32, now: SimTime, interval: SimDuration) -> (SimTime, WorkloadEvent) {
        let gap = self.law_of(requester).traffic.gap;
        let Requester { issue, not_before, .. } = &mut self.requesters[requester as usize];
        // The product is below 2^64: a uniform number is below one by 2^-53 at least.
        let mut within =
            |time: SimDuration| SimDuration::from_picoseconds((time.picoseconds() as f64 * issue.uniform()) as u64);
        let mut at = now + within(interval);
        if gap > SimDuration::ZERO {
            if *not_before == SimTime::ZERO {
                *not_before = now + within(gap);
            }
            at = at.max(*not_before);
            *not_before = at + gap;
        }
        (at, WorkloadEvent::Issue(self.life(requester)))
    }

    /// When the next request of the open loop comes to a requester.
    pub fn arrive_next(&mut self, requester: u32) -> Option<(SimDuration, WorkloadEvent)> {
        let Requests { laws, requesters } = self;
        let Requester { issue, law, .. } = &mut requesters[requester as usize];
        let traffic = &laws[usize::from(*law)].traffic;
        let count = traffic.requesters.len() as f64;
        let seconds = match traffic.arrivals {
            Arrivals::Poisson { rate } => issue.exponential(count / rate),
            // The mean of a Pareto distribution is minimum shape / (shape - 1).
            Arrivals::Pareto { rate, shape } => issue.pareto(shape, count / rate * (shape - 1.0) / shape),
            Arrivals::Closed { .. } | Arrivals::Flows(_) | Arrivals::Trace(_) => return None,
        };
        let after = SimDuration::from_picoseconds((seconds * PICOSECONDS_PER_SECOND).round() as u64);
        Some((after, WorkloadEvent::Arrive(self.life(requester))))
    }

    /// What a requester begins with.
    pub fn first_of(&mut self, requester: u32, now: SimTime, mut schedule: impl FnMut(SimTime, WorkloadEvent)) {
        if let Arrivals::Closed { outstanding, interval } = self.law_of(requester).traffic.arrivals {
            for _ in 0..self.share(requester, outstanding) {
                let (at, event) = self.issue_within(requester, now, interval);
                schedule(at, event);
            }
        } else if let Some((after, event)) = self.arrive_next(requester) {
            schedule(now + after, event);
        }
    }

    /// A request of one of the law's classes, to a server of the law's.
    pub fn drawn(&mut self, requester: u32) -> Drawn {
        let Requests { laws, requesters } = self;
        let drawing = &mut requesters[requester as usize];
        let Law { traffic, chooser, first, first_class, .. } = &laws[usize::from(drawing.law)];
        let (class, of_class, is_read) = traffic.class_at(drawing.kind.uniform());
        let (operation, servers) = (of_class.operation.map(|of| of.kind), &traffic.directories);
        let server = match operation {
            Some(_) => servers[drawing.target.below(servers.len() as u64) as usize],
            None => chooser.draw(requester - first, &mut drawing.target),
        };
        let is_read = is_read || operation.is_some();
        Drawn { class: first_class + class, is_read, bytes: of_class.size, server, operation }
    }
}

impl Law {
    /// Its recorded requests; none where they are drawn.
    fn rows(&self) -> &[TraceRequest] {
        match &self.traffic.arrivals {
            Arrivals::Trace(rows) => rows,
            _ => &[],
        }
    }

    /// The number of its first recorded request, and when it comes.
    pub fn first_recorded(&self) -> Option<(u32, SimTime)> {
        self.rows().first().map(|first| (self.first_row, first.at))
    }
}
