//! The clock and the pending events.

use resilver_units::{SimDuration, SimTime};

use crate::Digest;
use crate::queue::{Distance, EventQueue, QueueKind, Radix};

/// Something that happens at a point of time: a plain value, one enum for a whole system.
///
/// Keep it small (16 to 32 bytes): the queue copies it a few times on its way to the front.
pub trait Event: Copy {
    /// A word that tells this event's kind and subject from others', folded into the digest of the run.
    fn code(&self) -> u64;
}

/// Why a run cannot go on: the model asked for an event at an impossible time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    /// An event would be due at or past the horizon of simulated time.
    #[error(
        "at {now} an event is due beyond the simulated horizon of 213 days (2^64 ps); shorten the run, or use the \
         durability methods for longer spans"
    )]
    BeyondHorizon {
        /// The clock when the event was scheduled.
        now: SimTime,
    },
    /// An event was scheduled before the clock.
    #[error("an event is due at {due}, before the clock at {now}; a model schedules at or after the present")]
    IntoThePast {
        /// The clock when the event was scheduled.
        now: SimTime,
        /// The time asked for.
        due: SimTime,
    },
}

/// The clock, the pending events, and the count and digest of those executed.
///
/// Events come out in the order of (time, order of scheduling). `K` chooses the queue and is left at its default except
/// to compare with the plain one.
pub struct Schedule<E: Event, K: QueueKind = Radix> {
    now: SimTime,
    executed: u64,
    digest: Digest,
    fault: Option<KernelError>,
    queue: K::Queue<E>,
}

impl<E: Event> Schedule<E> {
    /// An empty schedule at time zero.
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// An empty schedule at time zero with room for `pending` events.
    pub fn with_capacity(pending: usize) -> Self {
        Self::of_kind(pending)
    }
}

impl<E: Event> Default for Schedule<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Event, K: QueueKind> Schedule<E, K> {
    /// An empty schedule at time zero over the queue `K`, with room for `pending` events.
    pub fn of_kind(pending: usize) -> Self {
        Schedule {
            now: SimTime::ZERO,
            executed: 0,
            digest: Digest::new(),
            fault: None,
            queue: K::Queue::with_capacity(pending),
        }
    }

    /// The present: the time of the event being executed, or where the last run ended.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// How many events are still to be executed.
    pub fn pending(&self) -> usize {
        self.queue.len()
    }

    /// When the next event is due.
    pub fn due(&self) -> Option<SimTime> {
        self.queue.earliest().map(SimTime::from_picoseconds)
    }

    /// How many events have been executed.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// The digest of (time, code) of the events executed so far, in their order.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Schedules `event` at `time`, after all events already scheduled for that time.
    ///
    /// A `time` before the present or at the horizon is a fault of the model: the event is dropped, and the run ends
    /// with that [`KernelError`] before any other event is executed.
    #[inline]
    pub fn at(&mut self, time: SimTime, event: E) {
        let (now, due) = (self.now.picoseconds(), time.picoseconds());
        // One comparison finds both faults: a time before `now` wraps round to more than any allowed distance, and the
        // horizon is exactly the distance that is one too far.
        if due.wrapping_sub(now) >= u64::MAX - now {
            self.refuse(time);
        } else {
            self.queue.push(due, event);
        }
    }

    /// Schedules `event` after `delay`; as [`Schedule::at`], with a sum past the horizon a fault.
    #[inline]
    pub fn after(&mut self, delay: SimDuration, event: E) {
        self.at(self.now + delay, event);
    }

    /// Latches the first fault, for the run loop to report.
    #[cold]
    fn refuse(&mut self, due: SimTime) {
        let now = self.now;
        self.fault.get_or_insert(if due < now {
            KernelError::IntoThePast { now, due }
        } else {
            KernelError::BeyondHorizon { now }
        });
    }

    /// The fault of the model, if it made one.
    #[inline]
    pub(crate) fn fault(&self) -> Option<KernelError> {
        self.fault
    }

    /// Moves the clock to the next event due at or before `until`, counts it, folds it into the digest and returns it.
    ///
    /// `announce` is told of some that come next.
    #[inline]
    pub(crate) fn advance(&mut self, until: SimTime, announce: impl FnMut(E, Distance)) -> Option<E> {
        let (time, event) = self.queue.pop_announcing(until.picoseconds(), announce)?;
        self.now = SimTime::from_picoseconds(time);
        self.executed += 1;
        self.digest.fold_pair(time, event.code());
        Some(event)
    }

    /// Moves the clock to `until`, with nothing due before; never backwards.
    pub(crate) fn rest_until(&mut self, until: SimTime) {
        self.now = self.now.max(until);
    }
}
