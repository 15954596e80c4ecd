//! When requests are issued.

use resilver_device::Device;
use resilver_fabric::Fabric;
use resilver_kernel::queue::QueueKind;
use resilver_units::{Bytes, DeviceId, EndpointId, SimDuration, SimTime};

use super::Clients;
use super::requests::{Pending, Request};
use super::tokens::{ClientEvent, Handle};
use super::traffic::{Arrivals, TraceRequest};
use crate::event::{EventOf, StorageEvent};
use crate::storage::Site;

/// Picoseconds in a second.
const PICOSECONDS_PER_SECOND: f64 = 1e12;
/// How long a requester waits before it issues again what was lost in the moment in which it was issued.
///
/// A requester that no link leads away from loses each attempt at once; without a pause it would try for ever at one time.
const PAUSE: SimDuration = SimDuration::from_picoseconds(1_000_000_000);

/// Schedules an event of the clients'.
#[inline]
pub(super) fn schedule<F: Fabric, D: Device, K: QueueKind>(
    time: SimTime,
    event: ClientEvent,
    site: &mut Site<'_, F, D, K>,
) {
    site.schedule.at(time, EventOf::new(StorageEvent::Client(event.number())));
}

/// A random time from zero to below `interval`.
#[inline]
fn within(interval: SimDuration, uniform: f64) -> SimDuration {
    // The product is below 2^64: a uniform number is below one by 2^-53 at least.
    SimDuration::from_picoseconds((interval.picoseconds() as f64 * uniform) as u64)
}

/// A gap of this many seconds; the horizon, where it is longer.
fn gap_of(seconds: f64) -> SimDuration {
    SimDuration::from_picoseconds((seconds * PICOSECONDS_PER_SECOND).round() as u64)
}

impl Clients {
    /// Schedules the beginning and the end of statistics, and the first requests.
    pub(crate) fn start<F: Fabric, D: Device, K: QueueKind>(&mut self, site: &mut Site<'_, F, D, K>) {
        let begins_at = SimTime::ZERO + self.traffic.warm_up;
        if begins_at > SimTime::ZERO {
            schedule(begins_at, ClientEvent::Begin, site);
        }
        if let Some(end) = self.end() {
            schedule(end, ClientEvent::End, site);
        }
        match &self.traffic.arrivals {
            &Arrivals::Closed { outstanding, interval } => {
                let count = self.requesters.len() as u64;
                for requester in 0..count {
                    let own = outstanding / count + u64::from(requester < outstanding % count);
                    (0..own).for_each(|_| self.issue_within(requester as u32, interval, site));
                }
            }
            Arrivals::Poisson { .. } | Arrivals::Pareto { .. } => {
                (0..self.requesters.len() as u32).for_each(|requester| self.arrive_next(requester, site));
            }
            Arrivals::Trace(requests) => {
                if let Some(first) = requests.first() {
                    schedule(first.at, ClientEvent::Recorded(0), site);
                }
            }
        }
    }

    /// Has a requester of the closed loop issue a request at a random moment within `interval`.
    fn issue_within<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        requester: u32,
        interval: SimDuration,
        site: &mut Site<'_, F, D, K>,
    ) {
        let after = within(interval, self.requesters[requester as usize].issue.uniform());
        let life = self.requesters[requester as usize].life;
        schedule(site.schedule.now() + after, ClientEvent::Issue { requester, life }, site);
    }

    /// Has the next request of the open loop come to a requester.
    fn arrive_next<F: Fabric, D: Device, K: QueueKind>(&mut self, requester: u32, site: &mut Site<'_, F, D, K>) {
        let count = self.requesters.len() as f64;
        let issue = &mut self.requesters[requester as usize].issue;
        let seconds = match self.traffic.arrivals {
            Arrivals::Poisson { rate } => issue.exponential(count / rate),
            // The mean of a Pareto distribution is minimum shape / (shape - 1).
            Arrivals::Pareto { rate, shape } => issue.pareto(shape, count / rate * (shape - 1.0) / shape),
            Arrivals::Closed { .. } | Arrivals::Trace(_) => return,
        };
        let time = site.schedule.now() + gap_of(seconds);
        // A gap that reaches past the horizon has no request behind it.
        if time < SimTime::MAX {
            let life = self.requesters[requester as usize].life;
            schedule(time, ClientEvent::Arrive { requester, life }, site);
        }
    }

    /// A requester of the closed loop goes on after one of its requests.
    pub(super) fn follow_up<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        requester: u32,
        site: &mut Site<'_, F, D, K>,
    ) {
        if let Arrivals::Closed { interval, .. } = self.traffic.arrivals {
            self.issue_within(requester, interval, site);
        }
    }

    /// Issues a request of the law's kind to a server of the law's.
    pub(super) fn issue_drawn<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        requester: u32,
        site: &mut Site<'_, F, D, K>,
    ) {
        let drawing = &mut self.requesters[requester as usize];
        let is_read = drawing.kind.uniform() < self.traffic.read_share;
        let device = self.chooser.draw(&mut drawing.target);
        self.issue(requester, (is_read, self.traffic.size), device, site);
    }

    /// A request of the open loop comes, and the next one is on its way.
    pub(super) fn arrive<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        requester: u32,
        life: u32,
        site: &mut Site<'_, F, D, K>,
    ) {
        if self.is_in_life(requester, life) {
            self.issue_drawn(requester, site);
            self.arrive_next(requester, site);
        }
    }

    /// A recorded request comes, and the next one is on its way.
    pub(super) fn replay<F: Fabric, D: Device, K: QueueKind>(&mut self, row: u32, site: &mut Site<'_, F, D, K>) {
        let Arrivals::Trace(requests) = &self.traffic.arrivals else { return };
        let TraceRequest { is_read, bytes, target, .. } = requests[row as usize];
        if let Some(next) = requests.get(row as usize + 1) {
            schedule(next.at, ClientEvent::Recorded(row + 1), site);
        }
        let requester = row % self.requesters.len() as u32;
        let drawing = &mut self.requesters[requester as usize];
        let device = target.unwrap_or_else(|| self.chooser.draw(&mut drawing.target));
        self.issue(requester, (is_read, bytes), device, site);
    }

    fn issue<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        requester: u32,
        (is_read, bytes): (bool, Bytes),
        device: DeviceId,
        site: &mut Site<'_, F, D, K>,
    ) {
        let now = site.schedule.now();
        let pending = Pending { is_wanted: true, ..Pending::default() };
        let device = device.get();
        let life = self.requesters[requester as usize].life;
        let request = Request { issued_at: now, tried_at: now, bytes, requester, life, device, is_read, pending };
        self.try_request(request, site);
    }

    /// Tries what was lost again, at another server.
    pub(super) fn try_elsewhere<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        lost: Request,
        site: &mut Site<'_, F, D, K>,
    ) {
        let now = site.schedule.now();
        let target = &mut self.requesters[lost.requester as usize].target;
        let device = self.chooser.draw_other(target, DeviceId::new(lost.device)).get();
        let request = Request { device, pending: Pending::default(), ..lost };
        if lost.tried_at < now {
            let pending = Pending { is_wanted: true, ..Pending::default() };
            self.try_request(Request { tried_at: now, pending, ..request }, site);
            return;
        }
        // Until it is tried, nobody waits for it: it is as a request yet to come.
        match self.requests.insert(request) {
            Some(handle) => schedule(now + PAUSE, ClientEvent::Again(handle), site),
            None => self.problem = Some(crate::SystemError::TooManyRequests),
        }
    }

    /// A request that was lost at once is tried again after a pause.
    pub(super) fn try_again<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        handle: Handle,
        site: &mut Site<'_, F, D, K>,
    ) {
        let request = *self.requests.get(handle);
        self.requests.settle(handle);
        if self.is_in_life(request.requester, request.life) {
            let pending = Pending { is_wanted: true, ..Pending::default() };
            self.try_request(Request { tried_at: site.schedule.now(), pending, ..request }, site);
        }
    }

    /// The requesters at these endpoints stop, and what they wait for is lost.
    pub(crate) fn fail_requesters(&mut self, now: SimTime, is_at: impl Fn(EndpointId) -> bool) {
        for requester in 0..self.requesters.len() {
            if !is_at(self.traffic.requesters[requester]) || !self.requesters[requester].is_working {
                continue;
            }
            self.requesters[requester].is_working = false;
            self.requesters[requester].life = (self.requesters[requester].life + 1) % (1 << 24);
            let is_own = |request: &Request| request.pending.is_wanted && request.requester == requester as u32;
            for handle in self.requests.all(is_own) {
                self.give_up(now, handle);
            }
        }
    }

    /// The requesters at these endpoints begin anew.
    pub(crate) fn repair_requesters<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        is_at: impl Fn(EndpointId) -> bool,
        site: &mut Site<'_, F, D, K>,
    ) {
        let count = self.requesters.len() as u64;
        for requester in 0..count {
            let index = requester as usize;
            if !is_at(self.traffic.requesters[index]) || self.requesters[index].is_working {
                continue;
            }
            self.requesters[index].is_working = true;
            match self.traffic.arrivals {
                Arrivals::Closed { outstanding, interval } => {
                    let own = outstanding / count + u64::from(requester < outstanding % count);
                    (0..own).for_each(|_| self.issue_within(requester as u32, interval, site));
                }
                _ => self.arrive_next(requester as u32, site),
            }
        }
    }
}
