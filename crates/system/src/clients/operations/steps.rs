//! What happens to an operation: its messages, the devices that it reads and writes, and its coding.

use resilver_device::{Direction, Io};
use resilver_fabric::{Fabric, Message, Notice};
use resilver_units::{Bytes, DeviceId, EndpointId, ObjectId, SimTime};

use super::plan::{Plan, pieces_in};
use super::table::{Action, Operation, PIECES_READ, PIECES_WRITTEN};
use super::tokens::{Handle, Kind, WorkloadEvent, token, untoken};
use crate::clients::Workload;
use crate::event::{EventOf, StorageEvent};
use crate::plant::Site;
use crate::ports::Ports;
use crate::scenario::TrafficClass;
use crate::trace::About;

/// The lane of what clients read and write.
const CLIENTS: u8 = TrafficClass::Clients.lane();

impl Workload {
    /// Schedules an event of the workload's.
    #[inline]
    pub(crate) fn schedule<F: Fabric>(&self, time: SimTime, event: WorkloadEvent, site: &mut Site<'_, F>) {
        site.schedule.at(time, EventOf::new(StorageEvent::Operation(event.number())));
    }

    /// The fabric has news of a message.
    #[inline]
    pub(crate) fn notice<F: Fabric>(&mut self, notice: Notice, site: &mut Site<'_, F>) {
        site.note(notice);
        match notice {
            Notice::Delivered(token) => {
                let (handle, kind, piece) = untoken(token);
                let operation = self.operations.get(handle);
                operation.messages -= 1;
                operation.steps[kind as usize] += 1;
                let (lane, is_abandoned) = (operation.lane, operation.is_abandoned);
                self.measures.step(lane, kind as usize);
                if !is_abandoned {
                    self.arrived(handle, kind, piece, site);
                }
                self.settle(handle);
            }
            Notice::Lost(token) => {
                let (handle, ..) = untoken(token);
                let operation = self.operations.get(handle);
                operation.messages -= 1;
                let (lane, is_request) = (operation.lane, operation.is_request);
                self.measures.message_lost(lane);
                if is_request {
                    self.lose_message(handle, site);
                } else {
                    self.give_up(handle, site);
                }
                self.settle(handle);
            }
            Notice::Sent(_) => {}
        }
    }

    /// The message of a token.
    #[inline]
    pub(crate) fn message_of(&self, token: u64, ports: &Ports) -> Message {
        let (handle, kind, piece) = untoken(token);
        let operation = self.operations.peek(handle);
        let side = u32::from(operation.side);
        let coordinator = DeviceId::new(operation.coordinator);
        let entry = EndpointId::new(operation.entry);
        let holder = || DeviceId::new(self.operations.holder(handle, piece));
        let is_metadata = operation.operation.is_some();
        let (from, to) = match kind {
            // The client itself asks the servers of a file's stripes.
            Kind::Request if is_metadata => (entry, ports.working(holder(), side)),
            Kind::Gather if is_metadata => (ports.working(holder(), side), entry),
            Kind::Ask | Kind::Bring => (entry, ports.working(coordinator, side)),
            Kind::Deliver | Kind::Done => (ports.working(coordinator, side), entry),
            Kind::Request | Kind::Spread => ports.ends(coordinator, holder(), side),
            Kind::Gather | Kind::Written => ports.ends(holder(), coordinator, side),
        };
        let bytes = if kind.carries_data() && !is_metadata { operation.piece } else { self.control };
        Message { from, to, bytes, lane: operation.lane, token }
    }

    #[inline]
    fn send<F: Fabric>(&mut self, handle: Handle, kind: Kind, piece: u32, site: &mut Site<'_, F>) {
        let operation = self.operations.get(handle);
        operation.messages += 1;
        let lane = operation.lane;
        self.measures.sent(lane);
        let message = self.message_of(token(handle, kind, piece), &site.plant.ports);
        site.send(message, || About { kind: 2 + kind as u8, part: None, devices: None });
    }

    /// Has the holder of a piece read or write it, where the device answers.
    #[inline]
    fn submit<F: Fabric>(&mut self, handle: Handle, (piece, direction): (u32, Direction), site: &mut Site<'_, F>) {
        let device = self.operations.holder(handle, piece);
        if self.liveness.is_dead(device) {
            self.unanswered(handle, site);
            return;
        }
        let operation = self.operations.get(handle);
        operation.at_disk |= 1 << piece;
        let of_metadata = operation.operation.filter(|_| piece == 0);
        let bytes = if of_metadata.is_some() { Bytes::ZERO } else { operation.piece };
        let lane = operation.lane;
        self.measures.submitted(lane, bytes, direction == Direction::Read);
        // Each piece is an object of its own, so none continues the one before; rebuilds count theirs from below.
        self.pieces_asked += 1;
        let io =
            Io { object: ObjectId::new(!self.pieces_asked), offset: 0, bytes, direction, lane, operation: of_metadata };
        let event = StorageEvent::Operation(WorkloadEvent::Served(handle, piece).number());
        site.submit(DeviceId::new(device), io, event);
    }

    /// A device or a coordinator does not answer: whoever streams gives up, and a client is not told.
    fn unanswered<F: Fabric>(&mut self, handle: Handle, site: &mut Site<'_, F>) {
        if !self.operations.peek(handle).is_request {
            self.give_up(handle, site);
        }
    }

    /// Sends an operation's first messages.
    #[inline]
    pub(crate) fn start_operation<F: Fabric>(&mut self, handle: Handle, site: &mut Site<'_, F>) {
        let &Operation { action, code, .. } = self.operations.peek(handle);
        match action {
            Action::Read => self.send(handle, Kind::Ask, 0, site),
            Action::Write => self.send_data(handle, Kind::Bring, code, site),
            Action::Rebuild => self.gather(handle, site),
        }
    }

    /// Sends the data of an operation between its client and its coordinator, a message a piece.
    #[inline]
    fn send_data<F: Fabric>(&mut self, handle: Handle, kind: Kind, code: u8, site: &mut Site<'_, F>) {
        let Plan { data, .. } = self.plans[code as usize];
        let operation = self.operations.get(handle);
        (operation.step, operation.awaited) = (kind, data);
        pieces_in(data).for_each(|piece| self.send(handle, kind, piece, site));
    }

    /// All of a message has arrived.
    #[inline]
    fn arrived<F: Fabric>(&mut self, handle: Handle, kind: Kind, piece: u32, site: &mut Site<'_, F>) {
        let operation = self.operations.peek(handle);
        let is_metadata = operation.operation.is_some();
        let is_at_coordinator =
            matches!(kind, Kind::Ask | Kind::Bring | Kind::Written) || kind == Kind::Gather && !is_metadata;
        if is_at_coordinator && self.liveness.is_dead(operation.coordinator) {
            self.unanswered(handle, site);
            return;
        }
        match kind {
            Kind::Ask => self.gather(handle, site),
            Kind::Request => self.submit(handle, (piece, Direction::Read), site),
            Kind::Spread => self.submit(handle, (piece, Direction::Write), site),
            Kind::Gather | Kind::Deliver | Kind::Bring | Kind::Written => self.count_down(handle, kind, piece, site),
            Kind::Done => self.complete(handle, site),
        }
    }

    /// Asks for all pieces that an operation gathers; of metadata the answer of the directory's server comes first.
    fn gather<F: Fabric>(&mut self, handle: Handle, site: &mut Site<'_, F>) {
        let operation = self.operations.get(handle);
        if operation.operation.is_some() {
            (operation.step, operation.awaited) = (Kind::Gather, 1);
            self.submit(handle, (0, Direction::Read), site);
            return;
        }
        (operation.step, operation.awaited) = (Kind::Gather, operation.pieces);
        let Operation { pieces, own, .. } = *operation;
        for piece in pieces_in(pieces) {
            if piece == u32::from(own) {
                self.submit(handle, (piece, Direction::Read), site);
            } else {
                self.send(handle, Kind::Request, piece, site);
            }
        }
    }

    /// A device has read or written a piece.
    #[inline]
    pub(crate) fn served<F: Fabric>(&mut self, handle: Handle, piece: u32, site: &mut Site<'_, F>) {
        // What was at a device that died is at it no more, and may be over.
        let at = 1u64 << piece;
        let Some(operation) = self.operations.find(handle).filter(|operation| operation.at_disk & at != 0) else {
            return;
        };
        operation.at_disk &= !at;
        let is_own = piece == u32::from(operation.own);
        let is_read = match operation.action {
            Action::Read => true,
            Action::Write => false,
            Action::Rebuild => !is_own,
        };
        let step = if is_read { PIECES_READ } else { PIECES_WRITTEN };
        operation.steps[step] += 1;
        let Operation { lane, action, is_abandoned, writes_behind, coordinator, piece: bytes, .. } = *operation;
        self.measures.step(lane, step);
        if writes_behind && action == Action::Write {
            self.measures.clients.written(site.schedule.now(), coordinator, bytes);
        } else if !is_abandoned {
            if lane == CLIENTS {
                self.measures.clients.served(self.operations.holder(handle, piece), is_read);
            }
            match (action, is_own) {
                (Action::Read, true) => self.count_down(handle, Kind::Gather, piece, site),
                (Action::Write, true) => self.count_down(handle, Kind::Written, piece, site),
                (Action::Rebuild, true) => self.complete(handle, site),
                (Action::Write, false) => self.send(handle, Kind::Written, piece, site),
                (Action::Read | Action::Rebuild, false) => self.send(handle, Kind::Gather, piece, site),
            }
        }
        self.settle(handle);
    }

    /// One of the pieces that a step waits for is there; the next step begins with the last.
    #[inline]
    fn count_down<F: Fabric>(&mut self, handle: Handle, kind: Kind, piece: u32, site: &mut Site<'_, F>) {
        let operation = self.operations.get(handle);
        operation.awaited &= !(1 << piece);
        if operation.awaited != 0 {
            return;
        }
        let stripes = operation.pieces & !1;
        match (kind, operation.operation) {
            (Kind::Deliver, Some(_)) if stripes != 0 => {
                (operation.step, operation.awaited) = (Kind::Gather, stripes);
                pieces_in(stripes).for_each(|piece| self.send(handle, Kind::Request, piece, site));
            }
            (Kind::Gather, Some(_)) if piece > 0 => self.complete(handle, site),
            (Kind::Gather | Kind::Bring, _) => self.code(handle, site),
            (Kind::Written, _) => self.acknowledge(handle, site),
            _ => self.complete(handle, site),
        }
    }

    /// Tells the entry that a write is safe.
    #[inline]
    fn acknowledge<F: Fabric>(&mut self, handle: Handle, site: &mut Site<'_, F>) {
        self.operations.get(handle).step = Kind::Done;
        self.send(handle, Kind::Done, 0, site);
    }

    /// The coordinator encodes or decodes, one operation after another, where there is something to code and it takes time.
    fn code<F: Fabric>(&mut self, handle: Handle, site: &mut Site<'_, F>) {
        let operation = self.operations.get(handle);
        let bytes = match operation.action {
            Action::Read if !operation.is_degraded => Bytes::ZERO,
            Action::Read | Action::Write => operation.data,
            Action::Rebuild => Bytes::new(operation.piece.get() * u64::from(operation.pieces.count_ones())),
        };
        // Copies are not coded.
        let has_code = self.plans[operation.code as usize].code.data() > 1;
        match self.plans[operation.code as usize].coding {
            Some(rate) if has_code && !bytes.is_zero() => {
                operation.is_coding = true;
                let free_at = &mut self.coders[operation.coordinator as usize];
                *free_at = (*free_at).max(site.schedule.now()) + rate.time_for(bytes);
                let time = *free_at;
                self.schedule(time, WorkloadEvent::Coded(handle), site);
            }
            _ => self.coded(handle, site),
        }
    }

    /// The coordinator is done with its coding.
    pub(crate) fn finish_coding<F: Fabric>(&mut self, handle: Handle, site: &mut Site<'_, F>) {
        let operation = self.operations.get(handle);
        operation.is_coding = false;
        // A coordinator that died meanwhile goes on with nothing.
        if !operation.is_abandoned && !self.liveness.is_dead(operation.coordinator) {
            self.coded(handle, site);
        }
        self.settle(handle);
    }

    /// The coordinator has what it sends or writes.
    fn coded<F: Fabric>(&mut self, handle: Handle, site: &mut Site<'_, F>) {
        let &Operation { action, own, pieces, code, coordinator, piece, writes_behind, .. } =
            self.operations.peek(handle);
        match action {
            Action::Read => self.send_data(handle, Kind::Deliver, code, site),
            Action::Write => {
                let operation = self.operations.get(handle);
                (operation.step, operation.awaited) = (Kind::Written, pieces);
                for piece in pieces_in(pieces & !(1 << own)) {
                    self.send(handle, Kind::Spread, piece, site);
                }
                self.submit(handle, (u32::from(own), Direction::Write), site);
                if writes_behind {
                    self.measures.clients.acknowledged(site.schedule.now(), coordinator, piece);
                    self.acknowledge(handle, site);
                }
            }
            Action::Rebuild => self.submit(handle, (u32::from(own), Direction::Write), site),
        }
    }

    /// An operation has done all that it was to do.
    #[inline]
    fn complete<F: Fabric>(&mut self, handle: Handle, site: &mut Site<'_, F>) {
        let operation = self.operations.get(handle);
        operation.is_completed = true;
        let was_wanted = std::mem::replace(&mut operation.is_wanted, false);
        let operation = *operation;
        self.settle(handle);
        if operation.is_request {
            self.complete_request(&operation, was_wanted, site);
        } else {
            self.complete_of_stream(&operation, site);
        }
    }

    /// Gives back the place of an operation to which nothing is to happen any more.
    #[inline]
    pub(crate) fn settle(&mut self, handle: Handle) {
        if let Some(operation) = self.operations.settle(handle) {
            let data_pieces = self.plans[operation.code as usize].code.data();
            self.measures.settled(&operation, data_pieces);
        }
    }

    /// A device answers no request from now on: what is at it is lost, and with it operations of streams that need it.
    pub(crate) fn fail_device<F: Fabric>(&mut self, device: DeviceId, site: &mut Site<'_, F>) {
        let now = site.schedule.now();
        if !self.liveness.fail(now, device, &site.plant.disks[device.index()]) {
            return;
        }
        self.measures.clients.lose_backlog(now, device);
        self.close_sources(device);
        let handles: Vec<Handle> = self.operations.all().map(|(handle, _)| handle).collect();
        for handle in handles {
            let &Operation { at_disk, coordinator, is_request, .. } = self.operations.peek(handle);
            let here = self.pieces_at(handle, at_disk, device.get());
            if here == 0 && (is_request || coordinator != device.get()) {
                continue;
            }
            let operation = self.operations.get(handle);
            operation.at_disk &= !here;
            operation.lost_piece |= here != 0;
            let lane = operation.lane;
            self.measures.lost_with_device(lane, here.count_ones());
            if !is_request {
                self.give_up(handle, site);
            }
            self.settle(handle);
        }
    }

    /// Which of a set of an operation's pieces a device holds.
    pub(crate) fn pieces_at(&self, handle: Handle, pieces: u64, device: u32) -> u64 {
        let is_here = |piece: &u32| self.operations.holder(handle, *piece) == device;
        pieces_in(pieces).filter(is_here).fold(0, |set, piece| set | 1 << piece)
    }
}
