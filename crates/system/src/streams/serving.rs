//! What happens to an operation: its messages, the devices that it reads and writes, and its coding.

use resilver_device::{Device, Direction, Io};
use resilver_fabric::{Fabric, Message, Notice};
use resilver_kernel::queue::QueueKind;
use resilver_units::{Bytes, DeviceId, EndpointId, ObjectId, SimTime};

use super::Streams;
use super::operations::{Action, Operation, PIECES_READ, PIECES_WRITTEN};
use super::sources::pieces_in;
use super::tokens::{Handle, Kind, StreamEvent, token, untoken};
use crate::class::TrafficClass;
use crate::event::{EventOf, StorageEvent};
use crate::ports::Ports;
use crate::storage::Site;

impl Streams {
    /// Schedules an event of the streams'.
    #[inline]
    pub(super) fn schedule<F: Fabric, D: Device, K: QueueKind>(
        &self,
        time: SimTime,
        event: StreamEvent,
        site: &mut Site<'_, F, D, K>,
    ) {
        site.schedule.at(time, EventOf::new(StorageEvent::Stream(event.number())));
    }

    /// Executes an event of the streams' own.
    #[inline]
    pub(crate) fn execute<F: Fabric, D: Device, K: QueueKind>(&mut self, number: u64, site: &mut Site<'_, F, D, K>) {
        match StreamEvent::of_number(number) {
            StreamEvent::Served(handle, piece) => self.served(handle, piece, site),
            StreamEvent::Coded(handle) => {
                let operation = self.operations.get(handle);
                operation.is_coding = false;
                if operation.is_wanted {
                    self.coded(handle, site);
                } else {
                    self.settle(handle);
                }
            }
            StreamEvent::Pace(source) => self.pace(source, site),
            StreamEvent::Again { source, gives_back } => self.go_on(source, gives_back, site),
            StreamEvent::Burst => self.burst(site),
            StreamEvent::Corrupt(corruption) => self.corrupt(corruption, site),
            StreamEvent::Begin => {
                let now = site.schedule.now();
                let disks = self.attendance.uses(now, &site.plant.disks);
                self.measures.begin(now, disks);
                site.begin_statistics();
            }
            StreamEvent::End => self.is_time_over = true,
        }
    }

    /// The fabric has news of a message.
    #[inline]
    pub(crate) fn notice<F: Fabric, D: Device, K: QueueKind>(&mut self, notice: Notice, site: &mut Site<'_, F, D, K>) {
        match notice {
            Notice::Delivered(token) => {
                let (handle, kind, piece) = untoken(token);
                let operation = self.operations.get(handle);
                operation.messages -= 1;
                operation.steps[kind as usize] += 1;
                let (lane, is_wanted) = (operation.lane, operation.is_wanted);
                self.measures.step(lane, kind as usize);
                if is_wanted {
                    self.arrived(handle, kind, piece, site);
                } else {
                    self.settle(handle);
                }
            }
            Notice::Lost(token) => {
                let (handle, ..) = untoken(token);
                let operation = self.operations.get(handle);
                operation.messages -= 1;
                let lane = operation.lane;
                self.measures.message_lost(lane);
                self.give_up(handle, site);
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
        let (from, to) = match kind {
            Kind::Ask | Kind::Bring => (entry, ports.working(coordinator, side)),
            Kind::Deliver | Kind::Done => (ports.working(coordinator, side), entry),
            Kind::Request | Kind::Spread => ports.ends(coordinator, holder(), side),
            Kind::Gather | Kind::Written => ports.ends(holder(), coordinator, side),
        };
        let bytes = if kind.carries_data() { operation.piece } else { self.traffic.control };
        Message { from, to, bytes, lane: operation.lane, token }
    }

    #[inline]
    fn send<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        handle: Handle,
        kind: Kind,
        piece: u32,
        site: &mut Site<'_, F, D, K>,
    ) {
        let operation = self.operations.get(handle);
        operation.messages += 1;
        let lane = operation.lane;
        self.measures.sent(lane);
        let message = self.message_of(token(handle, kind, piece), &site.plant.ports);
        site.send(message);
    }

    /// Has the holder of a piece read or write it; the operation is given up where the device does not answer.
    #[inline]
    fn submit<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        handle: Handle,
        (piece, direction): (u32, Direction),
        site: &mut Site<'_, F, D, K>,
    ) {
        let device = self.operations.holder(handle, piece);
        if self.attendance.is_dead(device) {
            self.give_up(handle, site);
            self.settle(handle);
            return;
        }
        let operation = self.operations.get(handle);
        operation.at_disk |= 1 << piece;
        let (lane, bytes) = (operation.lane, operation.piece);
        self.measures.submitted(lane, bytes, direction == Direction::Read);
        // Each piece is an object of its own, so none continues the one before; rebuilds count theirs from below.
        self.objects += 1;
        let io = Io { object: ObjectId::new(!self.objects), offset: 0, bytes, direction, lane };
        site.submit(DeviceId::new(device), io, StorageEvent::Stream(StreamEvent::Served(handle, piece).number()));
    }

    /// Sends an operation's first messages.
    #[inline]
    pub(super) fn start_operation<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        handle: Handle,
        site: &mut Site<'_, F, D, K>,
    ) {
        let &Operation { action, code, .. } = self.operations.peek(handle);
        match action {
            Action::Read => self.send(handle, Kind::Ask, 0, site),
            Action::Write => {
                let pieces = self.plans[code as usize].code.data();
                self.operations.get(handle).waiting = pieces as u16;
                (0..pieces).for_each(|piece| self.send(handle, Kind::Bring, piece, site));
            }
            Action::Rebuild => self.gather(handle, site),
        }
    }

    /// All of a message has arrived.
    #[inline]
    fn arrived<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        handle: Handle,
        kind: Kind,
        piece: u32,
        site: &mut Site<'_, F, D, K>,
    ) {
        let operation = self.operations.peek(handle);
        let is_at_coordinator = matches!(kind, Kind::Ask | Kind::Gather | Kind::Bring | Kind::Written);
        if is_at_coordinator && self.attendance.is_dead(operation.coordinator) {
            self.give_up(handle, site);
            self.settle(handle);
            return;
        }
        match kind {
            Kind::Ask => self.gather(handle, site),
            Kind::Request => self.submit(handle, (piece, Direction::Read), site),
            Kind::Spread => self.submit(handle, (piece, Direction::Write), site),
            Kind::Gather | Kind::Deliver | Kind::Bring | Kind::Written => self.count_down(handle, kind, site),
            Kind::Done => self.complete(handle, site),
        }
    }

    /// Asks for all pieces that an operation gathers.
    fn gather<F: Fabric, D: Device, K: QueueKind>(&mut self, handle: Handle, site: &mut Site<'_, F, D, K>) {
        let operation = self.operations.get(handle);
        operation.waiting = operation.pieces.count_ones() as u16;
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
    fn served<F: Fabric, D: Device, K: QueueKind>(&mut self, handle: Handle, piece: u32, site: &mut Site<'_, F, D, K>) {
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
        let Operation { lane, action, is_wanted, coordinator, .. } = *operation;
        self.measures.step(lane, step);
        if !is_wanted {
            self.settle(handle);
            return;
        }
        if lane == TrafficClass::Clients.lane() {
            let server = if is_own { coordinator } else { self.operations.holder(handle, piece) };
            self.measures.clients.served(server, is_read);
        }
        match (action, is_own) {
            (Action::Read, true) => self.count_down(handle, Kind::Gather, site),
            (Action::Write, true) => self.count_down(handle, Kind::Written, site),
            (Action::Rebuild, true) => self.complete(handle, site),
            (Action::Write, false) => self.send(handle, Kind::Written, piece, site),
            (Action::Read | Action::Rebuild, false) => self.send(handle, Kind::Gather, piece, site),
        }
    }

    /// One of the pieces that a step waits for is there; the next step begins with the last.
    #[inline]
    fn count_down<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        handle: Handle,
        kind: Kind,
        site: &mut Site<'_, F, D, K>,
    ) {
        let operation = self.operations.get(handle);
        operation.waiting -= 1;
        if operation.waiting > 0 {
            return;
        }
        match kind {
            Kind::Gather | Kind::Bring => self.code(handle, site),
            Kind::Written => self.send(handle, Kind::Done, 0, site),
            _ => self.complete(handle, site),
        }
    }

    /// The coordinator encodes or decodes, one operation after another, where there is something to code and it takes time.
    fn code<F: Fabric, D: Device, K: QueueKind>(&mut self, handle: Handle, site: &mut Site<'_, F, D, K>) {
        let operation = self.operations.get(handle);
        let bytes = match operation.action {
            Action::Read if !operation.is_degraded => Bytes::ZERO,
            Action::Read | Action::Write => operation.data,
            Action::Rebuild => Bytes::new(operation.piece.get() * u64::from(operation.pieces.count_ones())),
        };
        // Copies are not coded.
        let has_code = self.plans[operation.code as usize].code.data() > 1;
        match self.coding {
            Some(rate) if has_code && !bytes.is_zero() => {
                operation.is_coding = true;
                let free_at = &mut self.coders[operation.coordinator as usize];
                *free_at = (*free_at).max(site.schedule.now()) + rate.time_for(bytes);
                let time = *free_at;
                self.schedule(time, StreamEvent::Coded(handle), site);
            }
            _ => self.coded(handle, site),
        }
    }

    /// The coordinator has what it sends or writes.
    fn coded<F: Fabric, D: Device, K: QueueKind>(&mut self, handle: Handle, site: &mut Site<'_, F, D, K>) {
        let &Operation { action, own, pieces, code, .. } = self.operations.peek(handle);
        match action {
            Action::Read => {
                let pieces = self.plans[code as usize].code.data();
                self.operations.get(handle).waiting = pieces as u16;
                (0..pieces).for_each(|piece| self.send(handle, Kind::Deliver, piece, site));
            }
            Action::Write => {
                self.operations.get(handle).waiting = pieces.count_ones() as u16;
                for piece in pieces_in(pieces & !(1 << own)) {
                    self.send(handle, Kind::Spread, piece, site);
                }
                self.submit(handle, (u32::from(own), Direction::Write), site);
            }
            Action::Rebuild => self.submit(handle, (u32::from(own), Direction::Write), site),
        }
    }

    /// An operation has done all that it was to do.
    #[inline]
    fn complete<F: Fabric, D: Device, K: QueueKind>(&mut self, handle: Handle, site: &mut Site<'_, F, D, K>) {
        let now = site.schedule.now();
        let operation = self.operations.get(handle);
        operation.is_wanted = false;
        let operation = *operation;
        let settled = self.operations.settle(handle);
        debug_assert!(settled.is_some(), "nothing is to happen to an operation that is complete");
        let data_pieces = self.plans[operation.code as usize].code.data();
        let source = &mut self.sources[operation.source as usize];
        source.free += 1;
        source.completed += 1;
        source.lost_in_a_row = 0;
        self.measures.completed(now, &operation, (data_pieces, source.group));
        match source.class {
            TrafficClass::Clients => {}
            TrafficClass::Bursts => self.count_burst(now, operation.source),
            TrafficClass::Rebuild => self.count_strip(now),
        }
        self.fill(operation.source, site);
    }

    /// An operation will never be completed; another one in its place begins after a pause, unless too many were lost.
    pub(super) fn give_up<F: Fabric, D: Device, K: QueueKind>(&mut self, handle: Handle, site: &mut Site<'_, F, D, K>) {
        let operation = self.operations.get(handle);
        if !std::mem::replace(&mut operation.is_wanted, false) {
            return;
        }
        let operation = *operation;
        self.measures.lost(site.schedule.now(), &operation);
        let source = &mut self.sources[operation.source as usize];
        source.lost_in_a_row += 1;
        if source.lost_in_a_row >= source.lost_most {
            self.close(operation.source);
        }
        self.later(operation.source, true, site);
    }

    /// Gives back the place of an operation to which nothing is to happen any more; of one that was completed, it was.
    #[inline]
    pub(super) fn settle(&mut self, handle: Handle) {
        if let Some(operation) = self.operations.settle(handle) {
            self.measures.settled(&operation);
        }
    }

    /// A device answers no request from now on: operations with a piece there that is asked for, or coordinated there, are lost.
    pub(crate) fn fail_device<F: Fabric, D: Device, K: QueueKind>(
        &mut self,
        device: DeviceId,
        site: &mut Site<'_, F, D, K>,
    ) {
        if !self.attendance.fail(site.schedule.now(), device, &site.plant.disks[device.index()]) {
            return;
        }
        for number in 0..self.sources.len() as u32 {
            if self.sources[number as usize].device == device.get() {
                self.close(number);
            }
        }
        let handles: Vec<Handle> = self.operations.all().map(|(handle, _)| handle).collect();
        for handle in handles {
            let &Operation { at_disk, coordinator, .. } = self.operations.peek(handle);
            let is_here = |piece: &u32| self.operations.holder(handle, *piece) == device.get();
            let here = pieces_in(at_disk).filter(is_here).fold(0u64, |set, piece| set | 1 << piece);
            if here == 0 && coordinator != device.get() {
                continue;
            }
            let operation = self.operations.get(handle);
            operation.at_disk &= !here;
            let lane = operation.lane;
            self.measures.lost_with_device(lane, here.count_ones());
            self.give_up(handle, site);
            self.settle(handle);
        }
    }
}
