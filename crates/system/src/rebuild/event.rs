//! What happens in a rebuild, and the tokens by which the fabric names its messages.

use resilver_fabric::Fabric;
use resilver_kernel::Event;
use resilver_units::DeviceId;

/// One buffer of one pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Which pull of the work list.
    pub(super) pull: u32,
    /// Which buffer of the pull's object.
    pub(super) number: u32,
}

/// What happens in the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageEvent<F> {
    /// An event of the fabric.
    Fabric(F),
    /// A source has read a buffer.
    ReadDone(Buffer),
    /// A source has sent a buffer and may reuse its memory.
    SendDone(Buffer),
    /// A destination has written a buffer.
    WriteDone(Buffer),
    /// A destination may ask for more without passing its bandwidth.
    Wake(DeviceId),
    /// Devices fail: which of the points of time at which some do.
    Fail(u32),
}

/// A fabric's event in the system's queue; `F` carries the fabric's way to number its events.
pub struct EventOf<F: Fabric>(pub(super) StorageEvent<F::Event>);

impl<F: Fabric> Clone for EventOf<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Fabric> Copy for EventOf<F> {}

impl<F: Fabric> Event for EventOf<F> {
    #[inline]
    fn code(&self) -> u64 {
        let (kind, buffer) = match self.0 {
            StorageEvent::Fabric(event) => return F::event_code(event),
            StorageEvent::ReadDone(buffer) => (1, buffer),
            StorageEvent::SendDone(buffer) => (2, buffer),
            StorageEvent::WriteDone(buffer) => (3, buffer),
            // The two highest bits are zero, unlike those of a buffer's.
            StorageEvent::Wake(device) => return u64::from(device.get()),
            StorageEvent::Fail(stage) => return (1 << 61) | u64::from(stage),
        };
        (kind << 62) ^ (u64::from(buffer.pull) << 31) ^ u64::from(buffer.number)
    }
}

/// The two kinds of message: the lowest bit of a token.
pub(super) const REQUEST: u64 = 0;
pub(super) const DATA: u64 = 1;

/// A message's token: the pull, the buffer's number and the kind.
#[inline]
pub(super) fn token(buffer: Buffer, kind: u64) -> u64 {
    (u64::from(buffer.pull) << 32) | (u64::from(buffer.number) << 1) | kind
}

#[inline]
pub(super) fn untoken(token: u64) -> (Buffer, u64) {
    (Buffer { pull: (token >> 32) as u32, number: (token as u32) >> 1 }, token & 1)
}
