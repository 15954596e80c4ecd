//! The clients that issue requests, and when each issues which.

use resilver_kernel::{Purpose, Stream};
use resilver_units::{Bytes, DeviceId, SimDuration};

use super::request_traffic::{Arrivals, Traffic};
use super::targets::Chooser;
use crate::operations::tokens::{Life, WorkloadEvent};

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
}

/// The clients that issue requests.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    pub traffic: Traffic,
    pub requesters: Vec<Requester>,
    pub chooser: Chooser,
}

impl Requests {
    /// Clients whose requests go to these servers.
    pub fn new(seed: u64, traffic: Traffic, servers: &[DeviceId]) -> Self {
        let requester = |entity: u64| Requester {
            issue: Stream::new(seed, entity, ISSUE),
            target: Stream::new(seed, entity, TARGET),
            kind: Stream::new(seed, entity, KIND),
            is_working: true,
            life: 0,
        };
        Requests {
            requesters: (0..traffic.requesters.len() as u64).map(requester).collect(),
            chooser: Chooser::new(seed, servers, traffic.targets),
            traffic,
        }
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
    fn share(&self, requester: u32, outstanding: u64) -> u64 {
        let count = self.requesters.len() as u64;
        outstanding / count + u64::from(u64::from(requester) < outstanding % count)
    }

    /// What a requester of the closed loop issues after a random moment within `interval`.
    pub fn issue_within(&mut self, requester: u32, interval: SimDuration) -> (SimDuration, WorkloadEvent) {
        let uniform = self.requesters[requester as usize].issue.uniform();
        // The product is below 2^64: a uniform number is below one by 2^-53 at least.
        let after = SimDuration::from_picoseconds((interval.picoseconds() as f64 * uniform) as u64);
        (after, WorkloadEvent::Issue(self.life(requester)))
    }

    /// When the next request of the open loop comes to a requester.
    pub fn arrive_next(&mut self, requester: u32) -> Option<(SimDuration, WorkloadEvent)> {
        let count = self.requesters.len() as f64;
        let issue = &mut self.requesters[requester as usize].issue;
        let seconds = match self.traffic.arrivals {
            Arrivals::Poisson { rate } => issue.exponential(count / rate),
            // The mean of a Pareto distribution is minimum shape / (shape - 1).
            Arrivals::Pareto { rate, shape } => issue.pareto(shape, count / rate * (shape - 1.0) / shape),
            Arrivals::Closed { .. } | Arrivals::Trace(_) => return None,
        };
        let after = SimDuration::from_picoseconds((seconds * PICOSECONDS_PER_SECOND).round() as u64);
        Some((after, WorkloadEvent::Arrive(self.life(requester))))
    }

    /// What a requester begins with.
    pub fn first_of(&mut self, requester: u32, mut schedule: impl FnMut(SimDuration, WorkloadEvent)) {
        if let Arrivals::Closed { outstanding, interval } = self.traffic.arrivals {
            for _ in 0..self.share(requester, outstanding) {
                let (after, event) = self.issue_within(requester, interval);
                schedule(after, event);
            }
        } else if let Some((after, event)) = self.arrive_next(requester) {
            schedule(after, event);
        }
    }

    /// A request of the law's kind to a server of the law's.
    pub fn drawn(&mut self, requester: u32) -> (bool, Bytes, DeviceId) {
        let drawing = &mut self.requesters[requester as usize];
        let is_read = drawing.kind.uniform() < self.traffic.read_share;
        (is_read, self.traffic.size, self.chooser.draw(&mut drawing.target))
    }
}
