//! Requests: how they are issued, and what becomes of those that are not answered.

use resilver_fabric::Fabric;
use resilver_units::{DeviceId, EndpointId, SimDuration, SimTime};

use super::operations::table::{Action, Operation};
use super::operations::tokens::{Handle, LIVES, Life, WorkloadEvent};
use super::requesters::Drawn;
use super::{NO_GROUP, Workload};
use crate::SystemError;
use crate::plant::Site;
use crate::scenario::{Arrivals, NO_OBJECT, TraceRequest};

/// How long a requester waits before it issues again what was lost in the moment in which it was issued.
///
/// A requester that no link leads away from loses each attempt at once; without a pause it would try for ever at one time.
const PAUSE: SimDuration = SimDuration::from_picoseconds(1_000_000_000);

impl Workload {
    /// Schedules the first requests.
    pub(super) fn start_requests<F: Fabric>(&mut self, site: &mut Site<'_, F>) {
        let Some(requests) = &mut self.requests else { return };
        let mut events = Vec::new();
        for law in &requests.laws {
            events.extend(law.first_recorded().map(|(row, at)| (at, WorkloadEvent::Recorded(row))));
        }
        let now = site.schedule.now();
        for requester in 0..requests.requesters.len() as u32 {
            requests.first_of(requester, now, |at, event| events.push((at, event)));
        }
        events.into_iter().for_each(|(time, event)| self.schedule_within(time, event, site));
    }

    /// Schedules an event, unless it lies past the horizon.
    fn schedule_within<F: Fabric>(&self, time: SimTime, event: WorkloadEvent, site: &mut Site<'_, F>) {
        if time < SimTime::MAX {
            self.schedule(time, event, site);
        }
    }

    /// A requester of the closed loop goes on after one of its requests.
    fn follow_up<F: Fabric>(&mut self, requester: u32, site: &mut Site<'_, F>) {
        let Some(requests) = &mut self.requests else { return };
        if let Arrivals::Closed { interval, .. } = requests.law_of(requester).traffic.arrivals {
            let (at, event) = requests.issue_within(requester, site.schedule.now(), interval);
            self.schedule_within(at, event, site);
        }
    }

    /// A requester of the closed loop issues a request.
    pub(super) fn issue_drawn<F: Fabric>(&mut self, life: Life, site: &mut Site<'_, F>) {
        let Some(requests) = self.requests.as_mut().filter(|requests| requests.is_in_life(life)) else { return };
        let drawn = requests.drawn(life.requester);
        self.issue(life, drawn, NO_OBJECT, site);
    }

    /// A request of the open loop comes, and the next one is on its way.
    pub(super) fn arrive<F: Fabric>(&mut self, life: Life, site: &mut Site<'_, F>) {
        self.issue_drawn(life, site);
        let Some(requests) = self.requests.as_mut().filter(|requests| requests.is_in_life(life)) else { return };
        if let Some((after, event)) = requests.arrive_next(life.requester) {
            self.schedule_within(site.schedule.now() + after, event, site);
        }
    }

    /// A recorded request comes, and the next one is on its way.
    pub(super) fn replay<F: Fabric>(&mut self, row: u32, site: &mut Site<'_, F>) {
        let Some(requests) = &mut self.requests else { return };
        let (requester, TraceRequest { is_read, bytes, target, object, .. }, next) = requests.recorded(row);
        let server = target.unwrap_or_else(|| requests.draw_server(requester));
        let (life, class) = (requests.life(requester), requests.law_of(requester).first_class);
        if let Some((row, at)) = next {
            self.schedule(at, WorkloadEvent::Recorded(row), site);
        }
        self.issue(life, Drawn { class, is_read, bytes, server, operation: None }, object, site);
    }

    fn issue<F: Fabric>(
        &mut self,
        Life { requester, life }: Life,
        Drawn { class, is_read, bytes, server, operation }: Drawn,
        object: u32,
        site: &mut Site<'_, F>,
    ) {
        let Some(requests) = &self.requests else { return };
        let now = site.schedule.now();
        let request = Operation {
            is_request: true,
            life,
            source: requester,
            law: requests.requesters[requester as usize].law,
            class,
            entry: requests.endpoint(requester).get(),
            server: server.get(),
            object,
            data: bytes,
            operation,
            action: if is_read { Action::Read } else { Action::Write },
            ..Operation::due(now)
        };
        self.try_request(request, site);
    }

    /// Sends a request to where its pieces are.
    fn try_request<F: Fabric>(&mut self, draft: Operation, site: &mut Site<'_, F>) {
        let Some(requests) = self.requests.as_ref() else { return };
        let timeout = requests.laws[usize::from(draft.law)].traffic.timeout;
        if !requests.requesters[draft.source as usize].is_working {
            return;
        }
        let now = site.schedule.now();
        let draft = Operation { begun_at: now, side: self.next_side(&site.plant.ports), ..draft };
        let Some(operation) = self.place_request(draft) else {
            // Nothing of what it could ask can be read or written now.
            self.pause(draft, now + PAUSE, site);
            return;
        };
        let Some(handle) = self.operations.insert(operation, &self.drawn) else {
            self.problem = Some(SystemError::TooManyRequests);
            return;
        };
        self.measures.issued(operation.lane, operation.class);
        if let Some(timeout) = timeout {
            self.schedule_within(now + timeout, WorkloadEvent::Timeout(handle), site);
        }
        self.start_operation(handle, site);
    }

    /// Tries a request again after a pause; until then nobody waits for it: it is as a request yet to come.
    fn pause<F: Fabric>(&mut self, draft: Operation, until: SimTime, site: &mut Site<'_, F>) {
        match self.operations.insert(Operation { is_wanted: false, is_paused: true, ..draft }, &[]) {
            Some(handle) => self.schedule_within(until, WorkloadEvent::Retry(handle), site),
            None => self.problem = Some(SystemError::TooManyRequests),
        }
    }

    /// A request that was lost at once is tried again after a pause.
    pub(super) fn retry<F: Fabric>(&mut self, handle: Handle, site: &mut Site<'_, F>) {
        let request = self.operations.get(handle);
        request.is_paused = false;
        let request = *request;
        self.settle(handle);
        let life = Life { requester: request.source, life: request.life };
        if self.requests.as_ref().is_some_and(|requests| requests.is_in_life(life)) {
            self.try_request(request.anew(), site);
        }
    }

    /// Tries what was lost again, at another server; an operation at the same one, which alone has its directory.
    fn try_elsewhere<F: Fabric>(&mut self, lost: Operation, site: &mut Site<'_, F>) {
        let Some(requests) = &mut self.requests else { return };
        let now = site.schedule.now();
        let server = match lost.operation {
            Some(_) => None,
            None => requests.draw_other(lost.source, |server| server.get() == lost.server),
        };
        let server = server.map_or(lost.server, DeviceId::get);
        let draft = Operation { server, object: NO_OBJECT, ..lost.anew() };
        if lost.begun_at < now {
            self.try_request(draft, site);
        } else {
            self.pause(draft, now + PAUSE, site);
        }
    }

    /// A requester has its answer, or it comes too late.
    #[inline]
    pub(crate) fn complete_request<F: Fabric>(
        &mut self,
        request: &Operation,
        was_wanted: bool,
        site: &mut Site<'_, F>,
    ) {
        if was_wanted {
            self.measures.completed(site.schedule.now(), request, NO_GROUP);
            self.follow_up(request.source, site);
        } else {
            self.measures.clients.late(request.class);
        }
    }

    /// A message of a request will never arrive; who waits without a limit of time is told so.
    pub(crate) fn lose_message<F: Fabric>(&mut self, handle: Handle, site: &mut Site<'_, F>) {
        let request = *self.operations.peek(handle);
        if request.is_wanted && self.timeout_of(&request).is_none() {
            self.operations.get(handle).is_abandoned = true;
            self.lose_request(site.schedule.now(), handle);
            self.try_elsewhere(request, site);
        }
    }

    /// The time that a requester waits is over.
    pub(super) fn time_out<F: Fabric>(&mut self, handle: Handle, site: &mut Site<'_, F>) {
        let now = site.schedule.now();
        let Some(request) = self.operations.find(handle).map(|request| *request) else { return };
        // Another request may have the place of one that was done long ago.
        if request.is_wanted && self.timeout_of(&request).is_some_and(|timeout| request.begun_at + timeout == now) {
            self.lose_request(now, handle);
            self.try_elsewhere(request, site);
        }
    }

    /// After what time a request is given up, where it ever is.
    pub(super) fn timeout_of(&self, request: &Operation) -> Option<SimDuration> {
        self.requests.as_ref().and_then(|requests| requests.laws[usize::from(request.law)].traffic.timeout)
    }

    /// A requester waits for a request no more.
    fn lose_request(&mut self, now: SimTime, handle: Handle) {
        let request = self.operations.get(handle);
        request.is_wanted = false;
        let request = *request;
        self.measures.lost(now, &request);
        self.settle(handle);
    }

    /// Devices are known to have failed: each request that waits for one is asked again at once, where its pieces are now.
    pub(super) fn ask_elsewhere<F: Fabric>(&mut self, devices: &[DeviceId], site: &mut Site<'_, F>) {
        self.ask_again(devices, |_| true, site);
    }

    /// Clients have reconnected to servers: each sends again what it waits for and nothing works on.
    pub(crate) fn resend<F: Fabric>(&mut self, devices: &[DeviceId], site: &mut Site<'_, F>) {
        self.ask_again(devices, |request| !request.is_under_way(), site);
    }

    /// Asks again, where their pieces are now, the requests that wait for one of these devices and for which `is_asked` holds.
    fn ask_again<F: Fabric>(
        &mut self,
        devices: &[DeviceId],
        is_asked: impl Fn(&Operation) -> bool,
        site: &mut Site<'_, F>,
    ) {
        let waits = |&(handle, request): &(Handle, &Operation)| {
            let here = |device: &DeviceId| {
                let pieces = self.pieces_at(handle, request.pieces, device.get());
                request.waits_for(pieces, request.coordinator == device.get())
            };
            request.is_request && request.is_wanted && is_asked(request) && devices.iter().any(here)
        };
        let waiting: Vec<Handle> = self.operations.all().filter(waits).map(|(handle, _)| handle).collect();
        for handle in waiting {
            let request = self.operations.get(handle);
            (request.is_wanted, request.is_abandoned) = (false, true);
            let request = *request;
            self.measures.retried(request.class);
            self.settle(handle);
            self.try_request(request.anew(), site);
        }
    }

    /// The endpoints where requests enter.
    pub(crate) fn requesters(&self) -> impl Iterator<Item = EndpointId> + '_ {
        let laws = self.requests.iter().flat_map(|requests| &requests.laws);
        laws.flat_map(|law| law.traffic.requesters.iter().copied())
    }

    /// The requesters at these endpoints stop, and what they wait for is lost.
    pub(crate) fn fail_requesters(&mut self, now: SimTime, is_at: impl Fn(EndpointId) -> bool) {
        let Some(requests) = &mut self.requests else { return };
        let mut stopped = Vec::new();
        for number in 0..requests.requesters.len() as u32 {
            let is_here = is_at(requests.endpoint(number));
            let requester = &mut requests.requesters[number as usize];
            if is_here && requester.is_working {
                requester.is_working = false;
                requester.life = (requester.life + 1) % LIVES;
                stopped.push(number);
            }
        }
        for number in stopped {
            let is_own = |request: &Operation| request.is_request && request.is_wanted && request.source == number;
            let own = self.operations.all().filter(|&(_, request)| is_own(request));
            let own: Vec<Handle> = own.map(|(handle, _)| handle).collect();
            own.into_iter().for_each(|handle| self.lose_request(now, handle));
        }
    }

    /// The requesters at these endpoints begin anew.
    pub(crate) fn repair_requesters<F: Fabric>(&mut self, is_at: impl Fn(EndpointId) -> bool, site: &mut Site<'_, F>) {
        let Some(requests) = &mut self.requests else { return };
        let (now, mut events) = (site.schedule.now(), Vec::new());
        for number in 0..requests.requesters.len() as u32 {
            let index = number as usize;
            if is_at(requests.endpoint(number)) && !requests.requesters[index].is_working {
                requests.requesters[index].is_working = true;
                requests.first_of(number, now, |at, event| events.push((at, event)));
            }
        }
        events.into_iter().for_each(|(time, event)| self.schedule_within(time, event, site));
    }
}
