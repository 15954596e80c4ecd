//! Storage devices: how long a request takes, in which order they are served, and when they complete.

mod device;
mod queue;
mod service;
mod table;

pub use device::Device;
pub use queue::Discipline;
pub use resilver_kernel::Pace;
pub use service::{OperationTimes, Service};
pub use table::{Direction, DirectionFigures, DiskTable, DiskTableError, DiskTableRow};

use resilver_units::{Bytes, ObjectId, SimDuration, SimTime};
use serde::Deserialize;

/// What a request asks of a file's metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// The attributes of a file.
    Stat,
    /// An open of a file that exists.
    Open,
    /// A new file.
    Create,
    /// A file's removal.
    Unlink,
}

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
    /// Which of a device's lanes it waits in, where the device has several.
    pub lane: u8,
    /// The operation that it is, where it moves no data.
    pub operation: Option<Operation>,
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

/// What became of a request that was handed to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queued {
    /// It completes then, whatever else is queued.
    Completes(SimTime),
    /// It is being served, and [`Device::finish`] is to be called then.
    Begins(SimTime),
    /// It waits, and is begun when another is finished.
    Waits,
}

/// A request that was finished, and the one that is begun after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// What the finished request was tagged with.
    pub tag: u64,
    /// When the request begun now is to be finished; `None` when none waits.
    pub next: Option<SimTime>,
}
