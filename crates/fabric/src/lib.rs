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
    /// What the sender wants to be told when the message is delivered.
    pub token: u64,
}

/// A network that carries messages between endpoints.
///
/// A fabric schedules events of its own through the closure it is given, and is handed each of them back when it is due.
pub trait Fabric {
    /// The fabric's own events.
    type Event: Copy;

    /// Hands over a message at time `now`; returns when the sender is done with it and may reuse its buffer.
    fn send(&mut self, now: SimTime, message: Message, schedule: impl FnMut(SimTime, Self::Event)) -> SimTime;

    /// Executes an event that is due; returns the token of a message that it delivered.
    fn execute(&mut self, now: SimTime, event: Self::Event, schedule: impl FnMut(SimTime, Self::Event)) -> Option<u64>;

    /// The token of the message that an event is about.
    fn token(event: Self::Event) -> u64;

    /// A number that tells the fabric's events apart, for the digest of a run.
    fn event_code(event: Self::Event) -> u64;
}
