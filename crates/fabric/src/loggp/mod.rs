//! A fabric of LogGP interfaces: full duplex, with separate send and receive queues, and a switch that never fills.
//!
//! A message of s bytes leaves its sender when the sender's interface is free, keeps it busy for g + (s - 1) G, reaches
//! the receiver's interface after L, waits there for the messages that arrived before it, and is delivered (s - 1) G
//! after the interface turned to it (Carns et al. 2016, section III-A). Undisturbed, that is L + (s - 1) G.

mod lanes;
mod table;

use std::sync::Arc;

use resilver_kernel::lanes::{LaneUse, Lanes};
use resilver_units::{Bytes, EndpointId, SimDuration, SimTime};

use crate::{Fabric, FabricEvent, Message, Notice, PortUse};
use lanes::{Base, LanedInterfaces};
use table::MessageCost;
pub use table::{LogGpRow, LogGpTable, LogGpTableError};

/// The fabric's own events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogGpEvent {
    /// The first byte of a message reaches its receiver's interface.
    Arrive {
        /// The message's token.
        token: u64,
    },
    /// The last byte of a message has been received.
    Deliver {
        /// The message's token.
        token: u64,
    },
    /// An interface with lanes has sent a message.
    FreeSend {
        /// Whose interface.
        endpoint: EndpointId,
    },
    /// An interface with lanes has received a message, and others wait at it.
    FreeReceive {
        /// Whose interface.
        endpoint: EndpointId,
    },
}

/// The highest three bits of 61, which no message's token has all of: they mark the interfaces of [`LogGpEvent::FreeSend`].
const INTERFACE: u64 = 0b111;
const INTERFACE_SHIFT: u32 = 58;

/// The token, and in the lowest bit which of the two it is.
impl FabricEvent for LogGpEvent {
    #[inline]
    fn number(self) -> u64 {
        match self {
            LogGpEvent::Arrive { token } => token << 1,
            LogGpEvent::Deliver { token } => token << 1 | 1,
            LogGpEvent::FreeSend { endpoint } => of_interface(endpoint) << 1,
            LogGpEvent::FreeReceive { endpoint } => of_interface(endpoint) << 1 | 1,
        }
    }

    #[inline]
    fn of_number(number: u64) -> Self {
        let token = number >> 1;
        if token >> INTERFACE_SHIFT == INTERFACE {
            let endpoint = EndpointId::new(token as u32);
            return if number & 1 == 0 {
                LogGpEvent::FreeSend { endpoint }
            } else {
                LogGpEvent::FreeReceive { endpoint }
            };
        }
        if number & 1 == 0 { LogGpEvent::Arrive { token } } else { LogGpEvent::Deliver { token } }
    }
}

fn of_interface(endpoint: EndpointId) -> u64 {
    INTERFACE << INTERFACE_SHIFT | u64::from(endpoint.get())
}

/// What one endpoint's interface did in a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceUse {
    /// Time its send side was busy.
    pub send_busy: SimDuration,
    /// Time its receive side was busy.
    pub receive_busy: SimDuration,
    /// Data sent, control messages included.
    pub bytes_sent: Bytes,
    /// Data received, control messages included.
    pub bytes_received: Bytes,
    /// Messages sent.
    pub messages_sent: u64,
    /// Messages whose reception began.
    pub messages_received: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Interface {
    send_idle_from: SimTime,
    receive_idle_from: SimTime,
    usage: InterfaceUse,
}

impl Interface {
    #[inline]
    pub(crate) fn count_sent(&mut self, bytes: Bytes, cost: MessageCost) {
        self.usage.send_busy += cost.occupancy;
        self.usage.bytes_sent += bytes;
        self.usage.messages_sent += 1;
    }

    #[inline]
    pub(crate) fn count_received(&mut self, bytes: Bytes, cost: MessageCost) {
        self.usage.receive_busy += cost.occupancy;
        self.usage.bytes_received += bytes;
        self.usage.messages_received += 1;
    }
}

/// A fabric of LogGP interfaces around a switch that never fills.
#[derive(Clone, Debug)]
pub struct LogGp {
    table: Arc<LogGpTable>,
    interfaces: Vec<Interface>,
    /// What each had done when statistics began; empty until then.
    before: Vec<InterfaceUse>,
    /// The queues, where there are several lanes; of one, the time at which a side is idle again says all.
    laned: Option<Box<LanedInterfaces>>,
}

impl LogGp {
    /// A fabric that joins `endpoints` idle interfaces.
    pub fn new(table: Arc<LogGpTable>, endpoints: usize) -> Self {
        LogGp { table, interfaces: vec![Interface::default(); endpoints], before: Vec::new(), laned: None }
    }

    /// A fabric whose interfaces have lanes on both sides; one lane is as good as none.
    ///
    /// # Panics
    /// When [`Lanes::check`] refuses the lanes.
    pub fn with_lanes(table: Arc<LogGpTable>, endpoints: usize, lanes: &Lanes) -> Self {
        let laned = (lanes.count() != 1).then(|| Box::new(LanedInterfaces::new(endpoints, lanes)));
        LogGp { laned, ..LogGp::new(table, endpoints) }
    }

    /// What the lanes of both sides of all interfaces did from the beginning of statistics to `now`; nothing without lanes.
    pub fn lane_uses(&self, now: SimTime) -> Vec<LaneUse> {
        self.laned.as_ref().map_or_else(Vec::new, |laned| laned.uses(now))
    }

    /// What each endpoint's interface did from the beginning of statistics to `now`.
    pub fn uses(&self, now: SimTime) -> Vec<InterfaceUse> {
        let mut uses: Vec<InterfaceUse> = self.uses_so_far(now).collect();
        for (usage, before) in uses.iter_mut().zip(&self.before) {
            usage.send_busy = usage.send_busy - before.send_busy;
            usage.receive_busy = usage.receive_busy - before.receive_busy;
            usage.bytes_sent -= before.bytes_sent;
            usage.bytes_received -= before.bytes_received;
            usage.messages_sent -= before.messages_sent;
            usage.messages_received -= before.messages_received;
        }
        uses
    }

    /// What each did up to `now`: a message counts from when it is taken up, and the time for it as far as it has come.
    fn uses_so_far(&self, now: SimTime) -> impl Iterator<Item = InterfaceUse> + '_ {
        let ahead = move |idle_from: SimTime| idle_from.max(now).since(now);
        (0..).zip(&self.interfaces).map(move |(endpoint, interface)| {
            let [send_free, receive_free] = match &self.laned {
                None => [interface.send_idle_from, interface.receive_idle_from],
                Some(laned) => laned.free_at(EndpointId::new(endpoint)),
            };
            let mut usage = interface.usage;
            usage.send_busy = usage.send_busy - ahead(send_free);
            usage.receive_busy = usage.receive_busy - ahead(receive_free);
            usage
        })
    }
}

impl Fabric for LogGp {
    type Event = LogGpEvent;

    /// Messages between devices of one endpoint do not cross the network: they are delivered at once.
    ///
    /// With lanes, the sender is told when its message has left.
    #[inline]
    fn send(
        &mut self,
        now: SimTime,
        message: Message,
        mut schedule: impl FnMut(SimTime, LogGpEvent),
    ) -> Option<SimTime> {
        let Message { from, to, bytes, token, .. } = message;
        if from == to {
            schedule(now, LogGpEvent::Deliver { token });
            return Some(now);
        }
        if let Some(laned) = &mut self.laned {
            let base = Base { table: &self.table, interfaces: &mut self.interfaces };
            laned.send(now, message, base, &mut schedule);
            return None;
        }
        let cost = self.table.cost(bytes);
        let interface = &mut self.interfaces[from.index()];
        let start = interface.send_idle_from.max(now);
        interface.send_idle_from = start + cost.occupancy;
        interface.count_sent(bytes, cost);
        schedule(start + cost.latency, LogGpEvent::Arrive { token });
        Some(interface.send_idle_from)
    }

    #[inline]
    fn token(event: LogGpEvent) -> Option<u64> {
        match event {
            LogGpEvent::Arrive { token } | LogGpEvent::Deliver { token } => Some(token),
            LogGpEvent::FreeSend { .. } | LogGpEvent::FreeReceive { .. } => None,
        }
    }

    #[inline]
    fn delivered(event: LogGpEvent) -> Option<u64> {
        if let LogGpEvent::Deliver { token } = event { Some(token) } else { None }
    }

    #[inline]
    fn execute(
        &mut self,
        now: SimTime,
        event: LogGpEvent,
        message_of: impl FnOnce(u64) -> Message,
        mut schedule: impl FnMut(SimTime, LogGpEvent),
    ) -> Option<Notice> {
        match event {
            LogGpEvent::Arrive { token } => {
                let message = message_of(token);
                if let Some(laned) = &mut self.laned {
                    let base = Base { table: &self.table, interfaces: &mut self.interfaces };
                    laned.arrive(now, message, base, &mut schedule);
                    return None;
                }
                let Message { to, bytes, .. } = message;
                let cost = self.table.cost(bytes);
                let interface = &mut self.interfaces[to.index()];
                let start = interface.receive_idle_from.max(now);
                interface.receive_idle_from = start + cost.occupancy;
                interface.count_received(bytes, cost);
                schedule(start + cost.transfer, LogGpEvent::Deliver { token });
                None
            }
            LogGpEvent::Deliver { token } => Some(Notice::Delivered(token)),
            LogGpEvent::FreeSend { endpoint } => {
                let base = Base { table: &self.table, interfaces: &mut self.interfaces };
                self.laned.as_mut()?.sent(now, endpoint, base, &mut schedule)
            }
            LogGpEvent::FreeReceive { endpoint } => {
                let base = Base { table: &self.table, interfaces: &mut self.interfaces };
                self.laned.as_mut()?.received(now, endpoint, base, &mut schedule);
                None
            }
        }
    }

    fn ports(&self, now: SimTime) -> Vec<PortUse> {
        let sides = |usage: InterfaceUse| {
            let sent = PortUse { busy: usage.send_busy, bytes: usage.bytes_sent };
            [sent, PortUse { busy: usage.receive_busy, bytes: usage.bytes_received }]
        };
        self.uses_so_far(now).flat_map(sides).collect()
    }

    fn has_links(&self) -> bool {
        false
    }

    fn ways(&self, from: EndpointId, to: EndpointId) -> (Vec<u32>, usize) {
        if from == to { (Vec::new(), 0) } else { (vec![2 * from.get(), 2 * to.get() + 1], 1) }
    }

    fn begin_statistics(&mut self, now: SimTime) {
        self.before = self.uses_so_far(now).collect();
        if let Some(laned) = &mut self.laned {
            laned.begin_statistics(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use resilver_units::EndpointId;

    use super::table::tests::qdr;
    use super::*;

    /// Runs messages through a fabric of four endpoints; returns (delivery time in ps, token) in order of delivery.
    fn deliver(messages: &[(u64, Message)]) -> Vec<(u64, u64)> {
        let mut fabric = LogGp::new(Arc::new(qdr()), 4);
        let mut pending: Vec<(SimTime, LogGpEvent)> = Vec::new();
        for &(at, message) in messages {
            fabric.send(SimTime::from_picoseconds(at), message, |time, event| pending.push((time, event)));
        }
        let mut delivered = Vec::new();
        while !pending.is_empty() {
            let next = (0..pending.len()).min_by_key(|&i| (pending[i].0, i)).unwrap();
            let (now, event) = pending.remove(next);
            let message_of =
                |token| *messages.iter().map(|(_, message)| message).find(|message| message.token == token).unwrap();
            let notice = fabric.execute(now, event, message_of, |time, event| pending.push((time, event)));
            if let Some(Notice::Delivered(token)) = notice {
                delivered.push((now.picoseconds(), token));
            }
        }
        delivered
    }

    fn message(from: u32, to: u32, bytes: u64, token: u64) -> Message {
        Message { from: EndpointId::new(from), to: EndpointId::new(to), bytes: Bytes::new(bytes), lane: 0, token }
    }

    /// L of every row of the table, and (s - 1) G and g of a message of 64 KiB (served by the row of 128 KiB).
    const LATENCY: u64 = 6_782_182;
    const TRANSFER: u64 = 65_535 * 609;
    const GAP: u64 = 1_856_250;

    #[test]
    fn an_undisturbed_message_takes_latency_and_transfer() {
        assert_eq!(deliver(&[(0, message(0, 1, 65_536, 7))]), [(LATENCY + TRANSFER, 7)]);
    }

    #[test]
    fn messages_of_one_sender_leave_one_after_another() {
        let two = deliver(&[(0, message(0, 1, 65_536, 1)), (0, message(0, 2, 65_536, 2))]);
        assert_eq!(two, [(LATENCY + TRANSFER, 1), (GAP + TRANSFER + LATENCY + TRANSFER, 2)]);
    }

    #[test]
    fn messages_to_one_receiver_are_received_one_after_another() {
        let two = deliver(&[(0, message(0, 3, 65_536, 1)), (0, message(1, 3, 65_536, 2))]);
        assert_eq!(two, [(LATENCY + TRANSFER, 1), (LATENCY + GAP + TRANSFER + TRANSFER, 2)]);
    }

    #[test]
    fn a_message_that_leaves_late_does_not_hold_up_one_that_arrives_first() {
        // Sender 0 is busy with a message to 2, so its message to 3 arrives after that of sender 1, sent later.
        let three = [(0, message(0, 2, 65_536, 1)), (0, message(0, 3, 65_536, 2)), (10, message(1, 3, 65_536, 3))];
        let delivered = deliver(&three);
        assert!(delivered.contains(&(10 + LATENCY + TRANSFER, 3)));
    }

    #[test]
    fn a_side_is_busy_within_the_statistics_alone() {
        // Three messages leave one after another, each in GAP + TRANSFER. Of the time from the middle of the second to a fourth
        // part into the third, all is busy; before, and behind the last, nothing counts.
        let (mut fabric, each) = (LogGp::new(Arc::new(qdr()), 2), GAP + TRANSFER);
        for token in 1..=3 {
            fabric.send(SimTime::ZERO, message(0, 1, 65_536, token), |_, _| {});
        }
        let busy = |fabric: &LogGp, at| fabric.uses(SimTime::from_picoseconds(at))[0].send_busy.picoseconds();
        assert_eq!((busy(&fabric, 0), busy(&fabric, 10 * each)), (0, 3 * each));
        let begin = each + each / 2;
        fabric.begin_statistics(SimTime::from_picoseconds(begin));
        let until = 2 * each + each / 4;
        assert_eq!(busy(&fabric, until), until - begin);
        assert_eq!(busy(&fabric, 10 * each), 3 * each - begin);
    }

    #[test]
    fn sending_and_receiving_do_not_disturb_each_other() {
        let both = deliver(&[(0, message(0, 1, 65_536, 1)), (0, message(1, 0, 65_536, 2))]);
        assert_eq!(both, [(LATENCY + TRANSFER, 1), (LATENCY + TRANSFER, 2)]);
    }

    #[test]
    fn an_event_comes_back_from_its_number() {
        for token in [0, 1, 5, (0b111 << 58) - 1] {
            let endpoint = EndpointId::new(token as u32);
            let free = [LogGpEvent::FreeSend { endpoint }, LogGpEvent::FreeReceive { endpoint }];
            for event in [LogGpEvent::Arrive { token }, LogGpEvent::Deliver { token }].into_iter().chain(free) {
                assert_eq!(LogGpEvent::of_number(event.number()), event);
                assert!(event.number() < 1 << 62);
            }
        }
    }

    #[test]
    fn a_message_within_one_endpoint_is_delivered_at_once() {
        assert_eq!(deliver(&[(5, message(2, 2, 65_536, 9))]), [(5, 9)]);
    }
}
