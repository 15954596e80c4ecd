//! What a finished run has to tell of its clients.

use resilver_device::DeviceUse;
use resilver_kernel::stats::LogHistogram;
use resilver_units::{Bytes, SimDuration, SimTime};

use super::periods::PeriodOutcome;

/// How many requests; a request is counted once for each attempt at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Issued.
    pub issued: u64,
    /// Answered in time.
    pub completed: u64,
    /// Given up: timed out, or lost on the way.
    pub lost: u64,
    /// Answers that came after their requests were given up.
    pub late: u64,
    /// Asked again elsewhere at once, because the server that they waited for became known to have failed.
    pub retried: u64,
}

impl Counts {
    /// The sum of both.
    pub(super) fn with(self, other: Counts) -> Counts {
        Counts {
            issued: self.issued + other.issued,
            completed: self.completed + other.completed,
            lost: self.lost + other.lost,
            late: self.late + other.late,
            retried: self.retried + other.retried,
        }
    }
}

/// Requests of one kind that were completed, and how long they took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delays {
    /// How many.
    pub completed: u64,
    /// Their data.
    pub bytes: Bytes,
    /// The sum of their delays, from the first attempt to the answer.
    pub sum_picoseconds: u128,
    /// Their delays in picoseconds.
    pub histogram: LogHistogram,
}

impl Delays {
    /// The mean delay in seconds; `None` where nothing was completed.
    pub fn mean_seconds(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.sum_picoseconds as f64 / self.completed as f64 * 1e-12)
    }

    /// The delay that a share `q` of the requests do not exceed, in seconds, within 1/256 of itself.
    pub fn quantile_seconds(&self, q: f64) -> Option<f64> {
        self.histogram.quantile(q).map(|picoseconds| picoseconds as f64 * 1e-12)
    }
}

/// What one server did for clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerOutcome {
    /// Requests that it answered in time.
    pub completed: u64,
    /// Requests to it that were given up.
    pub lost: u64,
    /// Requests that its disk read for.
    pub read: u64,
    /// Requests that its disk wrote for.
    pub written: u64,
    /// Writes that it has acknowledged and that are not on its disk yet.
    pub write_backlog: u64,
}

/// How traffic went over an interval of the run's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrafficInterval {
    /// Where it begins.
    pub start: SimTime,
    /// How long it is.
    pub duration: SimDuration,
    /// Requests completed in it.
    pub completed: u64,
    /// Requests lost in it.
    pub lost: u64,
    /// Data of the reads completed in it.
    pub read_bytes: u64,
    /// Data of the writes completed in it.
    pub write_bytes: u64,
    /// Mean delay of the requests completed in it.
    pub mean_delay_seconds: Option<f64>,
    /// Packets dropped in it.
    pub packets_dropped: u64,
    /// Acknowledged writes that are not on disk, on average.
    pub write_backlog: f64,
}

/// What clients asked of pieces at devices since statistics began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PieceCounts {
    /// Data that devices were asked to read for clients.
    pub read: Bytes,
    /// Data that devices were asked to write for clients, parity included.
    pub written: Bytes,
    /// Reads completed that lacked data and made them anew, or took another copy.
    pub degraded_reads: u64,
    /// What they gathered.
    pub degraded_bytes: Bytes,
}

/// What a finished run has to tell of its clients: all but the intervals of the time since statistics began.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientOutcome {
    /// How long statistics were taken.
    pub window: SimDuration,
    /// Requests by what became of them.
    pub counts: Counts,
    /// Requests that a requester waits for at the end.
    pub outstanding: u64,
    /// Of them, those that nothing will ever answer: a device that they wait for is gone, and no timeout gives them up.
    pub hanging: u64,
    /// What clients got before the first fault, during the faults and their recovery, and after it.
    pub periods: [PeriodOutcome; 3],
    /// The same of each class of requests of each law, in the order in which they are given.
    pub classes: Vec<Vec<[PeriodOutcome; 3]>>,
    /// What requests and streams asked of stored pieces; `None` where nothing is stored.
    pub pieces: Option<PieceCounts>,
    /// Reads completed.
    pub reads: Delays,
    /// Writes completed.
    pub writes: Delays,
    /// Both.
    pub all: Delays,
    /// Acknowledged writes that are not on disk at the end.
    pub write_backlog: u64,
    /// Their data.
    pub write_backlog_bytes: Bytes,
    /// The most of them at a time.
    pub write_backlog_max: u64,
    /// One entry a device.
    pub servers: Vec<ServerOutcome>,
    /// What each device's disk did.
    pub disks: Vec<DeviceUse>,
    /// The run from time zero to its end.
    pub intervals: Vec<TrafficInterval>,
}

/// One bar of a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// The smallest value in it.
    pub low: f64,
    /// The values in it are below this.
    pub high: f64,
    /// How many.
    pub count: u64,
}

/// Bars an octave of a delay's histogram.
const BARS_AN_OCTAVE_BITS: u32 = 3;

impl Delays {
    /// The delays' histogram, in seconds: eight bars of one width an octave, those without a request left out.
    pub fn bars(&self) -> Vec<Bar> {
        let mut bars: Vec<(u64, u64, u64)> = Vec::new();
        for (low, high, count) in self.histogram.bins() {
            // Bins of eight leading bits lie within bars of four.
            let shift = (u64::BITS - low.leading_zeros()).saturating_sub(BARS_AN_OCTAVE_BITS + 1);
            let start = low >> shift << shift;
            let end = start.saturating_add(1 << shift);
            match bars.last_mut() {
                Some(last) if last.0 == start => last.2 += count,
                _ => bars.push((start, end.max(high), count)),
            }
        }
        let seconds = |picoseconds: u64| picoseconds as f64 * 1e-12;
        bars.into_iter().map(|(low, high, count)| Bar { low: seconds(low), high: seconds(high), count }).collect()
    }
}
