//! What happens to a request on its way, at its server, and back.

use resilver_device::{Device, Direction, Io};
use resilver_fabric::{Fabric, Message, Notice};
use resilver_kernel::queue::QueueKind;
use resilver_units::{DeviceId, EndpointId, ObjectId, SimTime};

use super::Clients;
use super::arrivals::schedule;
use super::requests::Request;
use super::tokens::{ClientEvent, Handle, Way, token, untoken};
use crate::SystemError;
use crate::class::TrafficClass;
use crate::event::StorageEvent;
use crate::storage::Site;

/// The queue of a port that clients' messages wait in, where there are several.
const LANE: u8 = TrafficClass::Clients.lane();

impl Clients {
    /// Executes an event of the clients' own.
    #[inline]
    pub(crate) fn execute<F: Fabric, D: Device, K: QueueKind>(&mut self, number: u64, site: &mut Site<'_, F, D, K>) {
        match ClientEvent::of_number(number) {
            ClientEvent::Served(handle) => self.served(handle, site),
            ClientEvent::Timeout(handle) => self.time_out(handle, site),
            ClientEvent::Issue { requester, life } => {
                if self.is_in_life(requester, life) {
                    self.issue_drawn(requester, site);
                }
            }
            ClientEvent::Arrive { requester, life } => self.arrive(requester, life, site),
            ClientEvent::Recorded(row) => self.replay(row, site),
            ClientEvent::Again(handle) => self.try_again(handle, site),
            ClientEvent::Begin => {
                let now = site.schedule.now();
                let disks = self.attendance.uses(now, &site.plant.disks);
                self.measures.begin(now, disks);
                site.begin_statistics();
            }
            ClientEvent::End => self.is_over = true,
        }
    }

    /// The fabric has news of a message.
    #[inline]
    pub(crate) fn notice<F: Fabric, D: Device, K: QueueKind>(&mut self, notice: Notice, site: &mut Site<'_, F, D, K>) {
        match notice {
            Notice::Delivered(token) => match untoken(token) {
                (handle, Way::Forth) => self.reach_server(handle, site),
                (handle, Way::Back) => self.reach_requester(handle, site),
            },
            Notice::Lost(token) => self.lose(untoken(token).0, site),
            Notice::Sent(_) => {}
        }
    }

    /// The message of a token.
    pub(crate) fn message_of(&self, token: u64, endpoint_of: &[EndpointId]) -> Message {
        let (handle, way) = untoken(token);
        let request = self.requests.peek(handle);
        self.message(token, request, way, endpoint_of)
    }

    #[inline]
    fn message(&self, token: u64, request: Request, way: Way, endpoint_of: &[EndpointId]) -> Message {
        let requester = self.traffic.requesters[request.requester as usize];
        let server = endpoint_of[request.device as usize];
        // Data goes forth with a write and back with a read.
        let carries_data = request.is_read == (way == Way::Back);
        let bytes = if carries_data { request.bytes } else { self.traffic.control };
        let (from, to) = if way == Way::Forth { (requester, server) } else { (server, requester) };
        Message { from, to, bytes, lane: LANE, token }
    }

    #[inline]
    fn send<F: Fabric, D: Device, K: QueueKind>(&mut self, handle: Handle, way: Way, site: &mut Site<'_, F, D, K>) {
        let request = self.requests.get(handle);
        request.pending.message = true;
        let request = *request;
        let message = self.message(token(handle, way), request, way, &site.plant.endpoint_of);
        site.send(message);
    }

    /// Sends a request to its server.
    #[inline]
    pub(super) fn try_request<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        request: Request,
        site: &mut Site<'_, F, D, K>,
    ) {
        if !self.requesters[request.requester as usize].is_working {
            return;
        }
        let Some(handle) = self.requests.insert(request) else {
            self.problem = Some(SystemError::TooManyRequests);
            return;
        };
        self.measures.issued();
        if let Some(timeout) = self.traffic.timeout {
            let time = site.schedule.now() + timeout;
            if time < SimTime::MAX {
                schedule(time, ClientEvent::Timeout(handle), site);
            }
        }
        self.send(handle, Way::Forth, site);
    }

    /// All of a request has reached its server.
    #[inline]
    fn reach_server<F: Fabric, D: Device, K: QueueKind>(&mut self, handle: Handle, site: &mut Site<'_, F, D, K>) {
        let now = site.schedule.now();
        let request = self.requests.get(handle);
        request.pending.message = false;
        let Request { bytes, device, is_read, .. } = *request;
        if self.attendance.is_dead(device) {
            self.requests.settle(handle);
            return;
        }
        request.pending.disk = true;
        // Each request is to an object of its own, so none continues the one before; rebuilds count theirs from below.
        let object = ObjectId::new(!self.measures.total.issued);
        let direction = if is_read { Direction::Read } else { Direction::Write };
        let asked = if is_read { &mut self.measures.asked.0 } else { &mut self.measures.asked.1 };
        *asked += bytes;
        let io = Io { object, offset: 0, bytes, direction, lane: LANE };
        site.submit(DeviceId::new(device), io, StorageEvent::Client(ClientEvent::Served(handle).number()));
        if !is_read {
            self.measures.acknowledged(now, device, bytes);
            self.send(handle, Way::Back, site);
        }
    }

    /// A disk has read what a request asks for, or written what it brought.
    #[inline]
    fn served<F: Fabric, D: Device, K: QueueKind>(&mut self, handle: Handle, site: &mut Site<'_, F, D, K>) {
        // What was at a disk that died is at it no more, and may be over.
        let Some(request) = self.requests.find(handle).filter(|request| request.pending.disk) else { return };
        request.pending.disk = false;
        let Request { bytes, device, is_read, .. } = *request;
        if is_read {
            self.measures.read(device);
            self.send(handle, Way::Back, site);
        } else {
            self.measures.written(site.schedule.now(), device, bytes);
            self.requests.settle(handle);
        }
    }

    /// A requester has its answer.
    #[inline]
    fn reach_requester<F: Fabric, D: Device, K: QueueKind>(&mut self, handle: Handle, site: &mut Site<'_, F, D, K>) {
        let now = site.schedule.now();
        let request = self.requests.get(handle);
        request.pending.message = false;
        let was_wanted = std::mem::replace(&mut request.pending.is_wanted, false);
        let Request { issued_at, bytes, requester, device, is_read, .. } = *request;
        self.requests.settle(handle);
        if was_wanted {
            self.measures.completed(now, device, is_read, bytes, now.since(issued_at));
            self.follow_up(requester, site);
        } else {
            self.measures.late();
        }
    }

    /// A message of a request will never arrive; who waits without a limit of time is told so.
    fn lose<F: Fabric, D: Device, K: QueueKind>(&mut self, handle: Handle, site: &mut Site<'_, F, D, K>) {
        let request = self.requests.get(handle);
        request.pending.message = false;
        let request = *request;
        if request.pending.is_wanted && self.traffic.timeout.is_none() {
            self.give_up(site.schedule.now(), handle);
            self.try_elsewhere(request, site);
        } else {
            self.requests.settle(handle);
        }
    }

    fn time_out<F: Fabric, D: Device, K: QueueKind>(&mut self, handle: Handle, site: &mut Site<'_, F, D, K>) {
        let Some(request) = self.requests.find(handle) else { return };
        let request = *request;
        if request.pending.is_wanted {
            self.give_up(site.schedule.now(), handle);
            self.try_elsewhere(request, site);
        }
    }

    /// A requester waits for a request no more.
    pub(super) fn give_up(&mut self, now: SimTime, handle: Handle) {
        let request = self.requests.get(handle);
        request.pending.is_wanted = false;
        let device = request.device;
        self.measures.lost(now, device);
        self.requests.settle(handle);
    }
}
