//! What a driver asks for, and when, and what a source is asked for.

use std::collections::VecDeque;

use resilver_redundancy::Pieces;
use resilver_units::{Bytes, ObjectId, SimDuration, SimTime};

use super::gathers::Leg;

/// A source's memory and the requests that wait for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Sender {
    pub bytes_held: Bytes,
    /// Data asked of it and not sent yet.
    pub bytes_asked: Bytes,
    pub waiting: VecDeque<Leg>,
}

/// The pieces that a task's is made of, in the order in which they are asked for; none while a task has no plan.
///
/// They stand within their receiver, where a list of its own would be one more place in memory to be waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub count: u8,
    pub positions: [u8; Pieces::LIMIT as usize],
}

impl Plan {
    const NONE: Plan = Plan { count: 0, positions: [0; Pieces::LIMIT as usize] };

    pub fn set(&mut self, positions: &[u32]) {
        self.count = positions.len() as u8;
        self.positions.iter_mut().zip(positions).for_each(|(own, &position)| *own = position as u8);
    }

    pub fn clear(&mut self) {
        self.count = 0;
    }

    #[inline]
    pub fn positions(&self) -> &[u8] {
        &self.positions[..usize::from(self.count)]
    }

    /// The pieces as a set.
    #[inline]
    pub fn set_of(&self) -> u64 {
        self.positions().iter().fold(0, |set, &position| set | 1u64 << position)
    }
}

/// A destination's progress through its tasks: what each of its buffers needs lies in the first line of the cache.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Receiver {
    /// The place of the task that is being asked for, and where this device's tasks end.
    pub place: u32,
    pub end: u32,
    /// What is asked for of that task: its object, the size of its piece, and the next buffer.
    pub subject: u32,
    pub number: u32,
    pub object: ObjectId,
    pub size: Bytes,
    pub bytes_held: Bytes,
    /// When the last buffer was written so far.
    pub finished_at: Option<SimTime>,
    pub gathers_held: u32,
    /// Whether it is to be woken when it may ask again.
    pub is_waiting: bool,
    pub plan: Plan,
    /// When what it asked for is paid for by its bandwidth.
    pub paid_at: SimTime,
    /// When it has decoded all that has come, and how long it has decoded in all by then.
    pub decoder_idle_from: SimTime,
    pub decoding: SimDuration,
    /// Since when it asks for nothing lest it pass its bandwidth, and how long it did before.
    pub paced_since: SimTime,
    pub paced: SimDuration,
    /// Since when it waits until software lets it begin a piece, and how long it did before.
    pub queued_since: SimTime,
    pub queued: SimDuration,
    /// When it had asked for all that it is to get.
    pub asked_at: SimTime,
}

impl Receiver {
    /// A destination that asks for the tasks from one place to another.
    pub fn of(place: u32, end: u32) -> Self {
        Receiver {
            place,
            end,
            plan: Plan::NONE,
            subject: 0,
            object: ObjectId::new(0),
            size: Bytes::ZERO,
            number: 0,
            gathers_held: 0,
            bytes_held: Bytes::ZERO,
            finished_at: None,
            paid_at: SimTime::ZERO,
            is_waiting: false,
            decoder_idle_from: SimTime::ZERO,
            decoding: SimDuration::ZERO,
            paced_since: SimTime::ZERO,
            paced: SimDuration::ZERO,
            queued_since: SimTime::ZERO,
            queued: SimDuration::ZERO,
            asked_at: SimTime::ZERO,
        }
    }
}
