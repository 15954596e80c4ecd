//! Storage devices: how long a request takes, in which order they are served, and when they complete.

mod disk;
mod laned;
mod mixed;
mod reads_first;
mod service;
mod table;

pub use disk::Disk;
pub use laned::LaneDisk;
pub use mixed::Mixed;
pub use reads_first::ReadsFirst;
pub use resilver_kernel::Pace;
pub use service::Service;
pub use table::{Direction, DirectionFigures, DiskTable, DiskTableError, DiskTableRow};

use resilver_kernel::lanes::LaneUse;
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
    /// Which of a device's queues it waits in, where the device has several.
    pub lane: u8,
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

impl DeviceUse {
    /// Counts a request, but for the time it takes.
    #[inline]
    fn count(&mut self, io: Io) {
        self.requests += 1;
        match io.direction {
            Direction::Read => self.bytes_read += io.bytes,
            Direction::Write => self.bytes_written += io.bytes,
        }
    }
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

/// A storage device with a queue of its own.
pub trait Device {
    /// Queues a request at time `now`, with a tag that [`Device::finish`] gives back.
    ///
    /// Calls come in the order of simulated time.
    fn submit(&mut self, now: SimTime, io: Io, tag: u64) -> Queued;

    /// Finishes the request that is being served, at the time that was told when it was begun.
    ///
    /// # Panics
    /// When none is being served, or the device knows all its completions in advance.
    fn finish(&mut self, now: SimTime) -> Finished;

    /// Sets how fast the device works, before it is given its first request.
    fn set_pace(&mut self, pace: Pace);

    /// The device fails: what is queued goes on in name only, and counts no more as time that it served.
    ///
    /// Returns what was counted of it until now and will not be served.
    fn fail(&mut self, now: SimTime) -> SimDuration;

    /// The device works again: what was in its queue when it failed is not served.
    fn repair(&mut self, now: SimTime);

    /// What the device did so far, with the data of requests in the queue, and the time of those that were counted.
    fn usage(&self) -> DeviceUse;

    /// The time that the device served requests until `now`.
    fn busy_until(&self, now: SimTime) -> SimDuration;

    /// Statistics of lanes begin anew: what is being served is shared out.
    fn begin_statistics(&mut self, now: SimTime) {
        let _ = now;
    }

    /// What each lane did from the beginning of its statistics to `now`; nothing where there are no lanes.
    fn lane_uses(&self, now: SimTime) -> Vec<LaneUse> {
        let _ = now;
        Vec::new()
    }
}
