//! What happens in recovery, each in a word.

use super::gathers::{Leg, TASK_BITS};

/// Something that happens in recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecoveryEvent {
    /// A source has read its part.
    ReadDone(Leg),
    /// A source has sent its part and may reuse its memory.
    SendDone(Leg),
    /// A driver asks a source again.
    Retry(Leg),
    /// A driver has made a buffer of what came.
    Decoded(u32),
    /// A buffer is written, of this task.
    WriteDone(u32, u32),
    /// A driver may ask for more without passing its bandwidth.
    Wake(u32),
    /// A driver sends a buffer again.
    HandOver(u32),
    /// A device says again that a buffer is written.
    Acknowledge(u32),
}

impl RecoveryEvent {
    /// The number that stands for it among events, below 2^62.
    #[inline]
    pub fn number(self) -> u64 {
        let (kind, rest) = match self {
            RecoveryEvent::ReadDone(leg) => (0, leg.pack()),
            RecoveryEvent::SendDone(leg) => (1, leg.pack()),
            RecoveryEvent::Retry(leg) => (2, leg.pack()),
            RecoveryEvent::Decoded(slot) => (3, u64::from(slot)),
            RecoveryEvent::WriteDone(slot, task) => (4, u64::from(slot) << TASK_BITS | u64::from(task)),
            RecoveryEvent::Wake(device) => (5, u64::from(device)),
            RecoveryEvent::HandOver(slot) => (6, u64::from(slot)),
            RecoveryEvent::Acknowledge(slot) => (7, u64::from(slot)),
        };
        rest << 3 | kind
    }

    #[inline]
    pub fn of_number(number: u64) -> Self {
        let rest = number >> 3;
        match number & 7 {
            0 => RecoveryEvent::ReadDone(Leg::unpack(rest)),
            1 => RecoveryEvent::SendDone(Leg::unpack(rest)),
            2 => RecoveryEvent::Retry(Leg::unpack(rest)),
            3 => RecoveryEvent::Decoded(rest as u32),
            4 => RecoveryEvent::WriteDone((rest >> TASK_BITS) as u32, (rest % (1 << TASK_BITS)) as u32),
            5 => RecoveryEvent::Wake(rest as u32),
            6 => RecoveryEvent::HandOver(rest as u32),
            _ => RecoveryEvent::Acknowledge(rest as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Owner;

    #[test]
    fn legs_and_events_come_back_from_their_numbers() {
        for (slot, position) in [(0, 0), (1, 63), (u32::MAX, 0), (u32::MAX, 63), (77, 5)] {
            let leg = Leg { slot, position };
            for kind in [0, 1] {
                let token = leg.token(kind);
                assert_eq!((Owner::of(token), Leg::of_token(token)), (Owner::Recovery, (leg, kind)));
            }
            let events = [
                RecoveryEvent::ReadDone(leg),
                RecoveryEvent::SendDone(leg),
                RecoveryEvent::Retry(leg),
                RecoveryEvent::Decoded(slot),
                RecoveryEvent::WriteDone(slot % (1 << 28), (1 << 31) - 1),
                RecoveryEvent::Wake(slot),
                RecoveryEvent::HandOver(slot),
                RecoveryEvent::Acknowledge(slot),
            ];
            for event in events {
                assert!(event.number() < 1 << 62);
                assert_eq!(RecoveryEvent::of_number(event.number()), event);
            }
        }
    }
}
