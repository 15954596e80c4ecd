//! Storage devices: how long a request takes and when it completes.

mod disk;
mod table;

pub use disk::Disk;
pub use table::{Direction, DirectionFigures, DiskTable, DiskTableError, DiskTableRow};

use resilver_units::{Bytes, ObjectId, SimDuration, SimTime};

/// One request to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// The object that is read or written.
    pub object: ObjectId,
    /// Where in the object the request begins.
    pub offset: u64,
    /// How much is read or written.
    pub bytes: Bytes,
    /// Whether the request reads or writes.
    pub direction: Direction,
}

/// What a device did in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceUse {
    /// Time spent serving requests.
    pub busy: SimDuration,
    /// Data read.
    pub bytes_read: Bytes,
    /// Data written.
    pub bytes_written: Bytes,
    /// Requests that paid a seek.
    pub seeks: u64,
    /// Requests served or in the queue.
    pub requests: u64,
}

/// A storage device with a queue of its own.
pub trait Device {
    /// Queues a request at time `now` and returns when it completes.
    ///
    /// Calls come in the order of simulated time.
    fn submit(&mut self, now: SimTime, io: Io) -> SimTime;

    /// What the device did so far, the queue included.
    fn usage(&self) -> DeviceUse;
}
