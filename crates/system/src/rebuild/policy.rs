//! How recovery goes about its work.

use resilver_units::{Bytes, BytesPerSecond};

use crate::SystemError;
use crate::event::{BUFFER_LIMIT, PULL_LIMIT};
use crate::stages::Later;
use crate::work::WorkList;

/// How recovery goes about its work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RebuildPolicy {
    /// Size of a buffer: the unit of requests, reads, transfers and writes.
    pub pipeline_buffer: Bytes,
    /// Whether a destination asks for further buffers before the one under way is written.
    pub pipelining: bool,
    /// Memory of each device for data asked for and not yet written.
    pub receive_memory: Bytes,
    /// Memory of each device for data being read or sent.
    pub send_memory: Bytes,
    /// Size of a request on the wire.
    pub control_message: Bytes,
    /// The most that a device asks for a second: a buffer's request is followed by the next no earlier than after the
    /// time that the buffer takes at this rate. `None` where it asks as soon as its memory allows.
    pub bandwidth: Option<BytesPerSecond>,
}

impl RebuildPolicy {
    /// Checks that the pulls of `work` and their buffers can be numbered, and that buffers fit into memory.
    ///
    /// # Errors
    /// When they do not.
    pub(super) fn check(self, work: &WorkList, later: Option<&Later>) -> Result<(), SystemError> {
        let buffer = self.pipeline_buffer.get();
        if buffer == 0 {
            return Err(SystemError::EmptyBuffer);
        }
        for (pool, memory) in [("receive_memory", self.receive_memory), ("send_memory", self.send_memory)] {
            if memory < self.pipeline_buffer {
                return Err(SystemError::BufferTooLarge { pool, buffer, memory: memory.get() });
            }
        }
        if work.pulls.len() > PULL_LIMIT {
            return Err(SystemError::TooManyPulls);
        }
        let listed = work.pulls.iter().map(|pull| pull.size);
        let may_be_listed = later.iter().flat_map(|later| &later.objects).map(|affected| affected.size);
        let largest = listed.chain(may_be_listed).max().unwrap_or(Bytes::ZERO);
        if largest.pieces_of(self.pipeline_buffer) > BUFFER_LIMIT {
            return Err(SystemError::TooManyBuffers { buffer, object: largest.get() });
        }
        Ok(())
    }
}
