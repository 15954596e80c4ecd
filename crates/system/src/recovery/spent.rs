//! What buffers spent their time on, between two devices.

/// What a part of a buffer, or the buffer itself, spends its time on, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Lost messages: until it is asked for as it came in the end.
    Retry,
    /// The request is on its way to the source.
    Request,
    /// It waits for memory at the source.
    SendMemory,
    /// The source reads it.
    Read,
    /// It leaves the source.
    Send,
    /// It is on its way, and is received.
    Transit,
    /// It is decoded, and checked.
    Decode,
    /// Software takes its time for the piece.
    Software,
    /// It is on its way from who drives it to where it is to be, where these are two.
    HandOver,
    /// It is written.
    Write,
}

/// How many stages there are.
pub(crate) const STAGES: usize = 10;

/// What the traced buffers that a device drives spent on each stage: of those whose last part came from one source, or what they spent
/// on their way to one other device that they are to be at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    /// The driver above, the other device below.
    pub(super) ends: u64,
    /// Whether the other device is the one they go to.
    pub is_handed_over: bool,
    /// Picoseconds.
    pub stages: [u64; STAGES],
    pub buffers: u64,
    pub bytes: u64,
}

impl Spent {
    /// The device that the last parts came from, or that they go to; nobody where this is of all that there was no room for.
    pub fn other(&self) -> u32 {
        self.ends as u32
    }

    /// The device that drives them, and that they are to be at unless they are handed over.
    pub fn driver(&self) -> u32 {
        (self.ends >> 32) as u32
    }

    pub fn picoseconds(&self) -> u64 {
        self.stages.iter().sum()
    }

    pub(super) fn add(&mut self, other: &Spent) {
        self.stages.iter_mut().zip(other.stages).for_each(|(sum, more)| *sum += more);
        self.buffers += other.buffers;
        self.bytes += other.bytes;
    }
}

/// Adds up what is of the same devices.
pub(super) fn merge(spent: &mut Vec<Spent>) {
    let key = |spent: &Spent| (spent.ends, spent.is_handed_over);
    spent.sort_unstable_by_key(key);
    spent.dedup_by(|next, sum| {
        let is_same = key(next) == key(sum);
        if is_same {
            sum.add(next);
        }
        is_same
    });
}
