//! LogGP interfaces whose messages wait in lanes, a lane a class of traffic, on both sides.
//!
//! A lane's share is one of the interface's time, g + (s - 1) G a message: by bytes alone, messages of a few bytes would pass
//! ahead of all others although each keeps the interface busy for g at least. Since what comes later may be sent earlier, the
//! time at which a message has left is not known when it is handed over, and its sender is told.

use resilver_kernel::lanes::{LanePorts, LaneUse, Lanes, Service, Taken};
use resilver_units::{EndpointId, SimTime};

use super::table::MessageCost;
use super::{Interface, LogGpEvent};
use crate::{LogGpTable, Message, Notice};

/// The two sides of an interface, each a port.
#[derive(Clone, Copy, Debug)]
enum Side {
    Send,
    Receive,
}

fn port(endpoint: EndpointId, side: Side) -> u32 {
    endpoint.get() * 2 + side as u32
}

/// The queues of all interfaces.
#[derive(Clone, Debug)]
pub(crate) struct LanedInterfaces {
    ports: LanePorts,
    /// The message that each interface is sending.
    sending: Vec<Option<u64>>,
    /// The messages that wait on either side, and free places among them.
    waiting: Vec<Message>,
    free: Vec<u32>,
}

/// What the interfaces share with those that have no lanes.
pub(crate) struct Base<'a> {
    pub table: &'a LogGpTable,
    pub interfaces: &'a mut [Interface],
}

impl LanedInterfaces {
    pub fn new(endpoints: usize, lanes: &Lanes) -> Self {
        LanedInterfaces {
            ports: LanePorts::new(2 * endpoints, lanes),
            sending: vec![None; endpoints],
            waiting: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Keeps a message that has to wait; returns its place.
    fn keep(&mut self, message: Message) -> u32 {
        if let Some(place) = self.free.pop() {
            self.waiting[place as usize] = message;
            return place;
        }
        self.waiting.push(message);
        u32::try_from(self.waiting.len() - 1).expect("2^32 messages exceed any memory")
    }

    /// A sender hands over a message.
    pub fn send(
        &mut self,
        now: SimTime,
        message: Message,
        base: Base<'_>,
        schedule: &mut impl FnMut(SimTime, LogGpEvent),
    ) {
        let (port, lane) = (port(message.from, Side::Send), self.ports.lane(message.lane));
        if self.sending[message.from.index()].is_some() {
            let place = self.keep(message);
            self.ports.push(now, port, lane, place);
            return;
        }
        self.ports.pass(port, lane);
        self.begin_send(now, message, lane, base, schedule);
    }

    /// Begins the serving of a message.
    fn begin(&mut self, port: u32, lane: usize, now: SimTime, message: Message, cost: MessageCost) {
        let service = Service {
            start: now,
            end: now + cost.occupancy,
            cost: cost.occupancy.picoseconds(),
            bytes: message.bytes.get(),
        };
        self.ports.begin(port, lane, service);
    }

    fn begin_send(
        &mut self,
        now: SimTime,
        message: Message,
        lane: usize,
        base: Base<'_>,
        schedule: &mut impl FnMut(SimTime, LogGpEvent),
    ) {
        let Message { from, bytes, token, .. } = message;
        let cost = base.table.cost(bytes);
        self.begin(port(from, Side::Send), lane, now, message, cost);
        base.interfaces[from.index()].count_sent(bytes, cost);
        self.sending[from.index()] = Some(token);
        schedule(now + cost.latency, LogGpEvent::Arrive { token });
        schedule(now + cost.occupancy, LogGpEvent::FreeSend { endpoint: from });
    }

    /// A message has left its sender, whose interface turns to the next.
    pub fn sent(
        &mut self,
        now: SimTime,
        endpoint: EndpointId,
        base: Base<'_>,
        schedule: &mut impl FnMut(SimTime, LogGpEvent),
    ) -> Option<Notice> {
        let token = self.sending[endpoint.index()].take();
        if let Some(Taken { unit, lane }) = self.ports.take(now, port(endpoint, Side::Send)) {
            self.free.push(unit);
            self.begin_send(now, self.waiting[unit as usize], lane, base, schedule);
        }
        token.map(Notice::Sent)
    }

    /// The first byte of a message reaches its receiver.
    pub fn arrive(
        &mut self,
        now: SimTime,
        message: Message,
        base: Base<'_>,
        schedule: &mut impl FnMut(SimTime, LogGpEvent),
    ) {
        let (port, lane) = (port(message.to, Side::Receive), self.ports.lane(message.lane));
        let (is_empty, free_at) = (self.ports.is_empty(port), self.ports.busy_until(port));
        if is_empty && free_at <= now {
            self.ports.pass(port, lane);
            self.begin_receive(now, message, lane, base, schedule);
            return;
        }
        let place = self.keep(message);
        self.ports.push(now, port, lane, place);
        if is_empty {
            schedule(free_at, LogGpEvent::FreeReceive { endpoint: message.to });
        }
    }

    fn begin_receive(
        &mut self,
        now: SimTime,
        message: Message,
        lane: usize,
        base: Base<'_>,
        schedule: &mut impl FnMut(SimTime, LogGpEvent),
    ) {
        let Message { to, bytes, token, .. } = message;
        let cost = base.table.cost(bytes);
        self.begin(port(to, Side::Receive), lane, now, message, cost);
        base.interfaces[to.index()].count_received(bytes, cost);
        schedule(now + cost.transfer, LogGpEvent::Deliver { token });
    }

    /// A receiver's interface is free, and others wait at it.
    pub fn received(
        &mut self,
        now: SimTime,
        endpoint: EndpointId,
        base: Base<'_>,
        schedule: &mut impl FnMut(SimTime, LogGpEvent),
    ) {
        let port = port(endpoint, Side::Receive);
        let Some(Taken { unit, lane }) = self.ports.take(now, port) else { return };
        self.free.push(unit);
        self.begin_receive(now, self.waiting[unit as usize], lane, base, schedule);
        if !self.ports.is_empty(port) {
            schedule(self.ports.busy_until(port), LogGpEvent::FreeReceive { endpoint });
        }
    }

    /// When either side of an interface is done with what it serves; what waits is not counted yet.
    pub fn free_at(&self, endpoint: EndpointId) -> [SimTime; 2] {
        [Side::Send, Side::Receive].map(|side| self.ports.busy_until(port(endpoint, side)))
    }

    pub fn begin_statistics(&mut self, now: SimTime) {
        self.ports.begin_statistics(now);
    }

    pub fn uses(&self, now: SimTime) -> Vec<LaneUse> {
        self.ports.uses(now)
    }
}
