//! How recovery goes about its work.

use resilver_units::{Bytes, BytesPerSecond, SimDuration};
use serde::Deserialize;

/// Who drives the rebuild of a piece: has its parts gathered, makes it of them, and has it written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// The device that it comes to, which pulls.
    #[default]
    Destination,
    /// The first device that it is made of, which pushes.
    Source,
    /// So many devices, which take one piece after another from one queue.
    Managers(u32),
}

/// How recovery goes about its work.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecoveryPolicy {
    /// Who drives it.
    #[serde(default)]
    pub driver: Driver,
    /// Size of a buffer: the unit of requests, reads, transfers and writes.
    pub pipeline_buffer: Bytes,
    /// Whether a driver asks for further buffers before the one under way is written.
    pub pipelining: bool,
    /// Memory of each device for data that it asked for or read as a driver, and that is not yet written.
    pub receive_memory: Bytes,
    /// Memory of each device for data being read or sent.
    pub send_memory: Bytes,
    /// Size of a request on the wire.
    pub control_message: Bytes,
    /// The most that a device asks for a second: a buffer's request is followed by the next no earlier than after the
    /// time that the buffer takes at this rate. `None` where it asks as soon as its memory allows.
    pub bandwidth: Option<BytesPerSecond>,
    /// What software allows beside memory and this bandwidth.
    #[serde(default)]
    pub software: SoftwareLimits,
}

/// Limits that software sets itself: pieces at a time, time for each, rates. Those of servers are of what shares a network port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SoftwareLimits {
    /// The most pieces at a time that a server drives.
    pub per_driver: Option<u32>,
    /// The most that are read from a server.
    pub per_source: Option<u32>,
    /// The most that come to a server.
    pub per_target: Option<u32>,
    /// The most in all.
    pub in_all: Option<u32>,
    /// How long each buffer takes beside its data, and each piece.
    pub time_per_buffer: SimDuration,
    /// See there.
    pub time_per_piece: SimDuration,
    /// How long a driver begins nothing after each of its pieces.
    pub pause: SimDuration,
    /// How long it scans for each of its pieces before it begins the first.
    pub scan_per_piece: SimDuration,
    /// How fast a driver checks what it gathers.
    pub check_rate: Option<BytesPerSecond>,
    /// The most that all ask for a second.
    pub rate_in_all: Option<BytesPerSecond>,
    /// How much may be asked for at once after a time in which less was than a rate allows.
    pub burst: Bytes,
}

impl SoftwareLimits {
    /// Whether pieces wait for others, for a time, or for what all may ask for.
    pub fn holds_pieces(&self) -> bool {
        let counts = [self.per_driver, self.per_source, self.per_target, self.in_all];
        let times = [self.pause, self.scan_per_piece];
        counts.iter().any(Option::is_some)
            || times.iter().any(|&time| time > SimDuration::ZERO)
            || self.rate_in_all.is_some()
    }
}

/// How a destination goes about parts of a buffer that do not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryPolicy {
    /// How long it waits before it asks again.
    pub after: SimDuration,
    /// After how many losses of one part its source is passed over; one at least.
    pub attempts: u32,
}

impl Default for RecoveryPolicy {
    /// Pipelined buffers of 16 MiB and memories of 1 GiB: the protocol of the rebuild study.
    fn default() -> Self {
        RecoveryPolicy {
            driver: Driver::Destination,
            pipeline_buffer: Bytes::mebibytes(16),
            pipelining: true,
            receive_memory: Bytes::gibibytes(1),
            send_memory: Bytes::gibibytes(1),
            control_message: Bytes::new(64),
            bandwidth: None,
            software: SoftwareLimits::default(),
        }
    }
}
