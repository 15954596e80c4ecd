//! The network that joins servers: how long a message takes, what it keeps busy, and what becomes of it when parts fail.

mod loggp;
mod switched;
pub mod topology;

pub use loggp::{InterfaceUse, LogGp, LogGpEvent, LogGpRow, LogGpTable, LogGpTableError};
pub use switched::{
    ChannelUse, Conservation, Dropped, Fate, Forwarding, NetworkUse, Queues, Routing, Switched, SwitchedError,
    SwitchedEvent, SwitchedParameters,
};

use resilver_units::{Bytes, EndpointId, SimDuration, SimTime};

/// A message handed to the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who sends.
    pub from: EndpointId,
    /// Who receives.
    pub to: EndpointId,
    /// Size on the wire.
    pub bytes: Bytes,
    /// Which of a port's queues it waits in, where the fabric has several.
    pub lane: u8,
    /// What the sender wants to be told of the message by, below 2^61; no other message under way has the same.
    pub token: u64,
}

/// An event of a fabric, which travels through its user's queue as a number.
pub trait FabricEvent: Copy {
    /// The event as a number below 2^62, which tells it from all others; in a run's digest it stands for the event.
    fn number(self) -> u64;

    /// The event of a number that [`FabricEvent::number`] gave.
    fn of_number(number: u64) -> Self;
}

/// What becomes of a message, by its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// All of it has arrived.
    Delivered(u64),
    /// A part of it was dropped, so it will never arrive.
    Lost(u64),
    /// All of it has left its sender, which may reuse the buffer; only of messages for which [`Fabric::send`] could not say.
    Sent(u64),
}

/// A part of a fabric that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// A link, both directions, by its number in the topology.
    Link(u32),
    /// A node with all its links, by its number in the topology.
    Node(u32),
}

/// What a port did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortUse {
    /// Time in which it was sending or receiving.
    pub busy: SimDuration,
    /// Data that it passed, or is to pass of what has come to it.
    pub bytes: Bytes,
}

/// A network that carries messages between endpoints.
///
/// A fabric schedules events of its own through the closure it is given, and is handed each of them back when it is due.
pub trait Fabric {
    /// The fabric's own events.
    type Event: FabricEvent;

    /// Hands over a message at time `now`; returns when the sender is done with it and may reuse its buffer, or `None` where
    /// a [`Notice::Sent`] will tell.
    fn send(&mut self, now: SimTime, message: Message, schedule: impl FnMut(SimTime, Self::Event)) -> Option<SimTime>;

    /// The token of the message that an event is about, where the event alone tells.
    fn token(event: Self::Event) -> Option<u64>;

    /// The token of the message that an event delivers, where the event alone tells.
    #[inline]
    fn delivered(event: Self::Event) -> Option<u64> {
        let _ = event;
        None
    }

    /// Executes an event that is due; returns what it means for a message.
    ///
    /// A fabric that keeps no more than the token of a message on its way asks `message_of` for the rest.
    fn execute(
        &mut self,
        now: SimTime,
        event: Self::Event,
        message_of: impl FnOnce(u64) -> Message,
        schedule: impl FnMut(SimTime, Self::Event),
    ) -> Option<Notice>;

    /// Learns that an event is among the next, and may fetch what it needs; nothing else follows from it.
    #[inline]
    fn announce(&self, event: Self::Event) {
        let _ = event;
    }

    /// A component fails; `lost` is told the tokens of the messages that are lost by it at once.
    ///
    /// A fabric without such components has nothing that fails.
    fn fail(
        &mut self,
        now: SimTime,
        component: Component,
        schedule: impl FnMut(SimTime, Self::Event),
        lost: impl FnMut(u64),
    ) {
        let _ = (now, component, schedule, lost);
    }

    /// A component that failed works again.
    fn repair(&mut self, now: SimTime, component: Component) {
        let _ = (now, component);
    }

    /// What each port did from the start of the run to `now`, whenever statistics began: of interfaces the send and the receive
    /// side of each endpoint in turn, of links each channel.
    fn ports(&self, now: SimTime) -> Vec<PortUse>;

    /// Whether its ports are channels of links, two a link; they are interfaces where they are not.
    fn has_links(&self) -> bool;

    /// The ports of [`Fabric::ports`] that a message between two endpoints may pass, those that it leaves its sender by first
    /// with how many these are; none where it crosses no network.
    fn ways(&self, from: EndpointId, to: EndpointId) -> (Vec<u32>, usize);

    /// Statistics begin anew: what happened before `now` is left out of them, and what is under way is shared out.
    fn begin_statistics(&mut self, now: SimTime) {
        let _ = now;
    }
}
