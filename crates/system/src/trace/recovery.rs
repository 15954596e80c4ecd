//! What a trace notes of recovery: its buffers, and what keeps sources and destinations waiting.

use resilver_units::{Bytes, SimTime};

use super::{Fate, Spans, TraceWindow};
use crate::SystemError;

/// Marks the key of a destination that waits; those of sources lie below.
const DESTINATION: u64 = 1 << 63;

/// A buffer of recovery, whose piece and use its task tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BufferRow {
    pub asked: SimTime,
    pub whole: Option<SimTime>,
    pub decoded: Option<SimTime>,
    pub ended: Option<SimTime>,
    pub fate: Fate,
    pub device: u32,
    pub object: u64,
    pub task: u32,
    pub number: u32,
    pub bytes: Bytes,
    /// What it is made of, and takes of its device's memory.
    pub held: Bytes,
    /// Place in `BUFFER_STATES`, and the piece; both known at the end.
    pub state: u8,
    pub piece: u8,
}

/// What became of buffers: whether their pieces were completed in place of lost ones, or moved, or were given up.
pub(crate) const BUFFER_STATES: [&str; 4] = ["under way", "rebuilt", "moved", "discarded"];

/// What keeps a source or a destination waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    SendMemory,
    ReceiveMemory,
    Bandwidth,
    Software,
}

/// Their names.
pub(crate) const HELD: [&str; 4] = ["send memory", "receive memory", "bandwidth", "software"];

/// A wait of a source or a destination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WaitRow {
    pub begun: SimTime,
    pub ended: Option<SimTime>,
    pub fate: Fate,
    pub device: u32,
    pub held: Held,
    pub bytes: Bytes,
    pub part: Option<(u64, u32, u32)>,
}

/// What recovery does: buffers and waits.
#[derive(Clone, Debug)]
pub(crate) struct RecoveryTrace {
    pub window: TraceWindow,
    buffers: Spans<BufferRow>,
    waits: Spans<WaitRow>,
}

impl RecoveryTrace {
    pub fn new(window: TraceWindow) -> Self {
        RecoveryTrace { window, buffers: Spans::new("buffers", window), waits: Spans::new("waits", window) }
    }

    pub fn problem(&self) -> Option<SystemError> {
        self.buffers.problem().or_else(|| self.waits.problem())
    }

    /// A driver takes a buffer up, in place of what had its number before.
    pub fn opened(&mut self, slot: u32, now: SimTime, row: BufferRow) {
        self.buffers.open(u64::from(slot), now, row);
        self.released(row.device, now);
    }

    /// Something is known of the buffer that has a number.
    pub fn know(&mut self, slot: u32, note: impl FnOnce(&mut BufferRow)) {
        if let Some((_, row)) = self.buffers.find(u64::from(slot), |_| true) {
            note(row);
        }
    }

    /// A buffer is written, or nothing more is done for it.
    pub fn ended(&mut self, slot: u32, now: SimTime, fate: Fate) {
        let key = u64::from(slot);
        if let Some((number, row)) = self.buffers.find(key, |_| true) {
            (row.ended, row.fate) = (Some(now), fate);
            self.buffers.close(key, number, now);
        }
    }

    /// A request for the part at a position of a buffer waits for memory at its source.
    pub fn came(&mut self, (slot, position): (u32, u32), source: u32, now: SimTime) {
        let Some((_, buffer)) = self.buffers.find(u64::from(slot), |_| true) else { return };
        let (bytes, part) = (buffer.bytes, Some((buffer.object, position, buffer.number)));
        let (held, fate) = (Held::SendMemory, Fate::UnderWay);
        let row = WaitRow { begun: now, ended: None, fate, device: source, held, bytes, part };
        self.waits.open(part_key(slot, position), now, row);
    }

    /// It is not wanted any more.
    pub fn unwanted(&mut self, part: (u32, u32), now: SimTime) {
        self.went(part, now, Fate::Lost);
    }

    /// It is read, or not wanted any more.
    pub fn went(&mut self, (slot, position): (u32, u32), now: SimTime, fate: Fate) {
        self.end_wait(part_key(slot, position), now, fate);
    }

    /// A driver asks for nothing more, for want of memory or of bandwidth.
    pub fn held_back(&mut self, device: u32, held: Held, bytes: Bytes, now: SimTime) {
        let key = DESTINATION | u64::from(device);
        if self.waits.find(key, |row| row.held == held).is_none() {
            self.released(device, now);
            let row = WaitRow { begun: now, ended: None, fate: Fate::UnderWay, device, held, bytes, part: None };
            self.waits.open(key, now, row);
        }
    }

    /// It asks again, or has nothing to ask for.
    pub fn released(&mut self, device: u32, now: SimTime) {
        self.end_wait(DESTINATION | u64::from(device), now, Fate::Done);
    }

    fn end_wait(&mut self, key: u64, now: SimTime, fate: Fate) {
        let Some((number, row)) = self.waits.find(key, |_| true) else { return };
        (row.ended, row.fate) = (Some(now), fate);
        if row.begun == now {
            // What waits for no time does not wait.
            self.waits.open.remove(&(key, number));
        } else {
            self.waits.close(key, number, now);
        }
    }

    /// The buffers and waits.
    pub fn rows(self) -> (Vec<BufferRow>, Vec<WaitRow>) {
        (self.buffers.rows(), self.waits.rows())
    }
}

fn part_key(slot: u32, position: u32) -> u64 {
    u64::from(slot) << 6 | u64::from(position)
}
