//! Queues of events in the order of (time, order of pushing): the radix queue that runs use, and its plain twin.

mod plain;
mod radix;
#[cfg(test)]
mod tests;

pub use plain::PlainQueue;
pub use radix::RadixQueue;

/// How soon an announced entry comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// Among the next hundreds.
    Far,
    /// Among the next few, and mostly announced from far before.
    Near,
}

/// A monotone queue: what is pushed is never due before what was popped last, and entries of equal time come out in the
/// order in which they went in.
pub trait EventQueue<E: Copy> {
    /// An empty queue with room for `pending` entries.
    fn with_capacity(pending: usize) -> Self;

    /// How many entries are queued.
    fn len(&self) -> usize;

    /// Whether nothing is queued.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// When the first entry is due.
    fn earliest(&self) -> Option<u64>;

    /// Queues `event` at `time` picoseconds, which is at or after the time popped last.
    fn push(&mut self, time: u64, event: E);

    /// Takes the first entry if it is due at or before `until`; `None` leaves the queue as it was.
    fn pop(&mut self, until: u64) -> Option<(u64, E)>;

    /// Takes the first entry as [`EventQueue::pop`] does, and may tell `announce` of some that come next.
    #[inline]
    fn pop_announcing(&mut self, until: u64, announce: impl FnMut(E, Distance)) -> Option<(u64, E)> {
        let _ = announce;
        self.pop(until)
    }
}

/// Chooses the queue of a schedule at compile time.
pub trait QueueKind {
    /// The queue for events of type `E`.
    type Queue<E: Copy>: EventQueue<E>;
}

/// Chooses [`RadixQueue`], the fast path.
#[derive(Clone, Copy, Debug)]
pub struct Radix;

impl QueueKind for Radix {
    type Queue<E: Copy> = RadixQueue<E>;
}

/// Chooses [`PlainQueue`], the plain path that tests and benches hold the fast one against.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl QueueKind for Plain {
    type Queue<E: Copy> = PlainQueue<E>;
}
