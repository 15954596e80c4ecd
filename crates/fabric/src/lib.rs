//! The network that joins servers: how long a message takes and what it keeps busy.

mod loggp;
mod loggp_table;

pub use loggp::{InterfaceUse, LogGp, LogGpEvent};
pub use loggp_table::{LogGpRow, LogGpTable, LogGpTableError};

use resilver_units::{Bytes, EndpointId, SimTime};

/// A message handed to the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who sends.
    pub from: EndpointId,
    /// Who receives.
    pub to: EndpointId,
    /// Size on the wire.
    pub bytes: Bytes,
    /// What the sender wants to be told when the message is delivered; no other message under way has the same.
    pub token: u64,
}

/// An event of a fabric, which travels through its user's queue as a number.
pub trait FabricEvent: Copy {
    /// The event as a number below 2^62, which tells it from all others; in a run's digest it stands for the event.
    fn number(self) -> u64;

    /// The event of a number that [`FabricEvent::number`] gave.
    fn of_number(number: u64) -> Self;
}

/// A network that carries messages between endpoints.
///
/// A fabric schedules events of its own through the closure it is given, and is handed each of them back when it is due.
/// Of a message on its way it keeps no more than the token, which is below 2^61: its user, who needs it until it is
/// delivered, is asked for the rest.
pub trait Fabric {
    /// The fabric's own events.
    type Event: FabricEvent;

    /// Hands over a message at time `now`; returns when the sender is done with it and may reuse its buffer.
    fn send(&mut self, now: SimTime, message: Message, schedule: impl FnMut(SimTime, Self::Event)) -> SimTime;

    /// The token of the message that an event is about.
    fn token(event: Self::Event) -> u64;

    /// Executes an event that is due; returns the token of a message that it delivered.
    ///
    /// `message` is that of the event's token, as it was sent.
    fn execute(
        &mut self,
        now: SimTime,
        event: Self::Event,
        message: Message,
        schedule: impl FnMut(SimTime, Self::Event),
    ) -> Option<u64>;
}
