//! The loop that executes a model's events.

use resilver_units::SimTime;

use crate::queue::{Distance, QueueKind, Radix};
use crate::{Event, KernelError, Schedule};

/// The state that events act on.
///
/// A model implements `Model` as it is; `K` matters only to code that runs a model over both kinds of queue.
pub trait Model<K: QueueKind = Radix> {
    /// The one event type of the model.
    type Event: Event;

    /// Acts on `event`, due at `schedule.now()`, and schedules what follows from it.
    fn execute(&mut self, event: Self::Event, schedule: &mut Schedule<Self::Event, K>);

    /// Learns that `event` is among the next, some of which will be scheduled only now.
    ///
    /// A model whose state exceeds the cache may fetch what the event needs, while others are executed. Whether, when and how
    /// often an event is announced is up to the queue, so nothing else may follow from it.
    #[inline]
    fn announce(&self, event: Self::Event) {
        let _ = event;
    }

    /// Learns that `event` is among the next few: what was fetched when it was announced may tell what else it needs.
    #[inline]
    fn approach(&self, event: Self::Event) {
        self.announce(event);
    }
}

/// Where a call of [`run`] stops, so that its caller can show progress and stay responsive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The last instant: events due at it are executed, later ones are left pending.
    pub until: SimTime,
    /// How many events this call may execute.
    pub events: u64,
}

impl Limit {
    /// No limit: run until no event is left.
    pub const fn none() -> Self {
        Limit { until: SimTime::MAX, events: u64::MAX }
    }

    /// At most `count` events.
    pub const fn events(count: u64) -> Self {
        Limit { until: SimTime::MAX, events: count }
    }

    /// All events due at or before `time`.
    pub const fn until(time: SimTime) -> Self {
        Limit { until: time, events: u64::MAX }
    }
}

/// Why a call of [`run`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitReason {
    /// No event is left; the clock stands at the last one.
    Drained,
    /// The next event is due after the limit's last instant, where the clock stands.
    EndTime,
    /// The limit's number of events has been executed, and more are pending.
    EventLimit,
}

/// Executes the events of `schedule` on `model` in the order of (time, order of scheduling), up to `limit`.
///
/// A run may be continued by calling again; however it is cut into calls, the events, their order and the digest are
/// the same.
///
/// # Errors
/// When the model scheduled an event in the past or beyond the horizon. The schedule is then at the event that did so,
/// and every further call returns the same error.
pub fn run<K: QueueKind, M: Model<K>>(
    model: &mut M,
    schedule: &mut Schedule<M::Event, K>,
    limit: Limit,
) -> Result<ExitReason, KernelError> {
    let mut left = limit.events;
    loop {
        if let Some(fault) = schedule.fault() {
            return Err(fault);
        }
        if left == 0 {
            return Ok(if schedule.pending() == 0 { ExitReason::Drained } else { ExitReason::EventLimit });
        }
        let Some(event) = schedule.advance(limit.until, |event, distance| match distance {
            Distance::Far => model.announce(event),
            Distance::Near => model.approach(event),
        }) else {
            if schedule.pending() == 0 {
                return Ok(ExitReason::Drained);
            }
            schedule.rest_until(limit.until);
            return Ok(ExitReason::EndTime);
        };
        left -= 1;
        model.execute(event, schedule);
    }
}
