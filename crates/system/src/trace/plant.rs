//! What a trace notes of the plant: messages, requests to devices, and the events that the engine executes.

use resilver_device::Io;
use resilver_fabric::{Message, Notice};
use resilver_units::{Bytes, EndpointId, SimTime};

use super::{BufferRow, Fate, Spans, TraceRows, TraceWindow, WaitRow};
use crate::SystemError;

/// Fewest intervals of the engine's statistics in a window that is as long as the run or shorter; twice as many are too many.
const INTERVALS: u64 = 1000;
/// The shortest of them that there is where the window is longer, in picoseconds.
const SHORTEST: u64 = 1_000_000;
/// Kinds of events that they tell apart.
pub(crate) const EVENT_KINDS: [&str; 6] = ["network", "recovery", "operation", "device", "way", "fault"];

/// What a message is about: its kind, and of recovery's the object, the piece, the buffer, and the devices at both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct About {
    /// Place in `MESSAGE_KINDS`.
    pub kind: u8,
    pub part: Option<(u64, u32, u32)>,
    pub devices: Option<(u32, u32)>,
}

/// What messages are: the two of recovery, then the eight of operations in the order of their kinds, and the two of recovery by others
/// than destinations.
pub(crate) const MESSAGE_KINDS: [&str; 12] = [
    "request",
    "data",
    "read request",
    "piece request",
    "piece",
    "data read",
    "data to write",
    "piece to write",
    "piece written",
    "acknowledgement",
    "pushed data",
    "pushed data written",
];
/// Where the last two begin.
pub(crate) const PUSHED: u8 = 10;

/// A message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MessageRow {
    pub handed: SimTime,
    pub left: Option<SimTime>,
    pub ended: Option<SimTime>,
    pub fate: Fate,
    pub from: EndpointId,
    pub to: EndpointId,
    pub bytes: Bytes,
    pub lane: u8,
    pub about: About,
}

/// A request to a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DiskRow {
    pub queued: SimTime,
    pub begun: Option<SimTime>,
    pub ended: Option<SimTime>,
    pub fate: Fate,
    pub device: u32,
    pub io: Io,
}

/// What the engine executed in each interval of the window, and how many events were pending at its end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Engine {
    window: TraceWindow,
    width: u64,
    pub executed: Vec<[u64; EVENT_KINDS.len()]>,
    pub pending: Vec<u64>,
}

impl Engine {
    fn new(window: TraceWindow) -> Self {
        let width = window.to.since(window.from).picoseconds().div_ceil(INTERVALS).clamp(1, SHORTEST);
        Engine { window, width, executed: Vec::new(), pending: Vec::new() }
    }

    /// An event of this kind is executed, beside which so many are pending.
    fn execute(&mut self, now: SimTime, kind: usize, pending: u64) {
        let TraceWindow { from, to, .. } = self.window;
        if now < from {
            return;
        }
        let ended = |width| match now < to {
            true => now.since(from).picoseconds() / width,
            false => to.since(from).picoseconds().div_ceil(width),
        };
        while ended(self.width) > 2 * INTERVALS {
            self.coarsen();
        }
        let ended = ended(self.width);
        if ended as usize > self.pending.len() {
            // At the end of the intervals before, this event was pending with the others.
            self.pending.resize(ended as usize, pending + 1);
        }
        if now < to {
            self.executed.resize(ended as usize + 1, [0; EVENT_KINDS.len()]);
            self.executed[ended as usize][kind] += 1;
        }
    }

    /// Intervals are twice as long from now on.
    fn coarsen(&mut self) {
        self.width *= 2;
        let both = |pair: &[[u64; EVENT_KINDS.len()]]| std::array::from_fn(|kind| pair.iter().map(|of| of[kind]).sum());
        self.executed = self.executed.chunks(2).map(both).collect();
        self.pending = self.pending.chunks_exact(2).map(|pair| pair[1]).collect();
    }

    /// The run is over, and with it all events.
    fn finish(mut self) -> Self {
        self.pending.resize(self.executed.len().max(self.pending.len()), 0);
        self.executed.resize(self.pending.len(), [0; EVENT_KINDS.len()]);
        self
    }

    /// When each interval begins and ends.
    pub fn intervals(&self) -> impl Iterator<Item = (SimTime, SimTime)> {
        let TraceWindow { from, to, .. } = self.window;
        let (from, width) = (from.picoseconds(), self.width);
        let at = move |interval: u64| SimTime::from_picoseconds(from + interval * width).min(to);
        (0..self.pending.len() as u64).map(move |interval| (at(interval), at(interval + 1)))
    }
}

/// What happens at the plant: messages, requests to devices, and events.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    messages: Spans<MessageRow>,
    disks: Spans<DiskRow>,
    engine: Engine,
}

impl Trace {
    pub fn new(window: TraceWindow) -> Self {
        let (messages, disks) = (Spans::new("messages", window), Spans::new("disks", window));
        Trace { messages, disks, engine: Engine::new(window) }
    }

    pub fn problem(&self) -> Option<SystemError> {
        self.messages.problem().or_else(|| self.disks.problem())
    }

    /// An event is executed, beside which so many are pending.
    pub fn event(&mut self, now: SimTime, kind: usize, pending: usize) {
        self.engine.execute(now, kind, pending as u64);
    }

    /// A message is handed to the network, which says when it will have left, or tells later.
    pub fn sent(&mut self, now: SimTime, message: Message, left: Option<SimTime>, about: About) {
        let Message { from, to, bytes, lane, token } = message;
        let row = MessageRow { handed: now, left, ended: None, fate: Fate::UnderWay, from, to, bytes, lane, about };
        self.messages.open(token, now, row);
    }

    /// A message has left its sender, has arrived, or never will. It may have left only after that.
    pub fn notice(&mut self, now: SimTime, notice: Notice) {
        let (Notice::Sent(token) | Notice::Delivered(token) | Notice::Lost(token)) = notice;
        let is_left = matches!(notice, Notice::Sent(_));
        let is_next = |row: &MessageRow| if is_left { row.left.is_none() } else { row.ended.is_none() };
        let Some((number, row)) = self.messages.find(token, is_next) else { return };
        match notice {
            Notice::Sent(_) => row.left = Some(now),
            Notice::Delivered(_) => (row.ended, row.fate) = (Some(now), Fate::Done),
            Notice::Lost(_) => (row.ended, row.fate) = (Some(now), Fate::Lost),
        }
        if let Some((_, end)) = row.left.zip(row.ended) {
            self.messages.close(token, number, end);
        }
    }

    /// A request is queued at a device, which serves it from a time that may be known, or is gone.
    pub fn queued(&mut self, now: SimTime, (device, io, tag): (u32, Io, u64), begun: Option<SimTime>, is_gone: bool) {
        self.disks.open(tag, now, DiskRow { queued: now, begun, ended: None, fate: Fate::UnderWay, device, io });
        if is_gone {
            self.end_request(now, tag, Fate::Lost);
        }
    }

    /// A device turns to a request.
    pub fn begun(&mut self, now: SimTime, tag: u64) {
        if let Some((_, row)) = self.disks.find(tag, |row| row.begun.is_none()) {
            row.begun = Some(now);
        }
    }

    /// A device is done with a request.
    pub fn done(&mut self, now: SimTime, tag: u64) {
        self.end_request(now, tag, Fate::Done);
    }

    fn end_request(&mut self, now: SimTime, tag: u64, fate: Fate) {
        if let Some((number, row)) = self.disks.find(tag, |_| true) {
            (row.ended, row.fate) = (Some(now), fate);
            row.begun = row.begun.filter(|&begun| begun <= now);
            self.disks.close(tag, number, now);
        }
    }

    /// A device is gone, and what is queued there is not served.
    pub fn gone(&mut self, now: SimTime, device: u32) {
        let rows = self.disks.open.iter().filter(|(_, row)| row.device == device);
        let mut tags: Vec<(u64, u64)> = rows.map(|(&(tag, number), _)| (number, tag)).collect();
        tags.sort_unstable();
        tags.into_iter().for_each(|(_, tag)| self.end_request(now, tag, Fate::Lost));
    }

    /// All rows, with those of recovery.
    pub fn rows(self, (buffers, waits): (Vec<BufferRow>, Vec<WaitRow>)) -> TraceRows {
        let Trace { messages, disks, engine } = self;
        TraceRows { messages: messages.rows(), disks: disks.rows(), buffers, waits, engine: engine.finish() }
    }
}
