//! How operations, and what happens to those who begin them, are named in events and in the fabric's tokens.

use crate::event::OPERATION;
use crate::handle;

/// Bits of an operation's place in the table, of how often the place was used before, and of a piece's number.
const PLACE_BITS: u32 = 25;
const GENERATION_BITS: u32 = 25;
const PIECE_BITS: u32 = 6;
const HANDLE_BITS: u32 = Handle::BITS;
const KIND_SHIFT: u32 = HANDLE_BITS + PIECE_BITS;
/// Bits of a requester's number, and of how often it has failed.
const REQUESTER_BITS: u32 = 26;
const LIFE_BITS: u32 = 24;
/// Lives of a requester that are told apart.
pub(crate) const LIVES: u32 = 1 << LIFE_BITS;

/// An operation.
pub(crate) type Handle = handle::Handle<PLACE_BITS, GENERATION_BITS>;

/// What a message of an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A read is asked for: from the entry to the coordinator.
    Ask,
    /// A piece is asked for: from the coordinator to its holder.
    Request,
    /// A piece that was asked for.
    Gather,
    /// Data that was read: from the coordinator to the entry.
    Deliver,
    /// Data to be written: from the entry to the coordinator.
    Bring,
    /// A piece to be written: from the coordinator to its holder.
    Spread,
    /// A piece is written: from its holder to the coordinator.
    Written,
    /// The write is acknowledged: from the coordinator to the entry.
    Done,
}

impl Kind {
    const ALL: [Kind; 8] =
        [Kind::Ask, Kind::Request, Kind::Gather, Kind::Deliver, Kind::Bring, Kind::Spread, Kind::Written, Kind::Done];

    /// Whether it carries a piece of data, and not a control message.
    #[inline]
    pub fn carries_data(self) -> bool {
        matches!(self, Kind::Gather | Kind::Deliver | Kind::Bring | Kind::Spread)
    }
}

/// A message's token.
#[inline]
pub(crate) fn token(handle: Handle, kind: Kind, piece: u32) -> u64 {
    OPERATION | (kind as u64) << KIND_SHIFT | u64::from(piece) << HANDLE_BITS | handle.pack()
}

#[inline]
fn piece_of(word: u64) -> u32 {
    (word >> HANDLE_BITS) as u32 % (1 << PIECE_BITS)
}

/// The operation, the message and the piece that a token names.
#[inline]
pub(crate) fn untoken(token: u64) -> (Handle, Kind, u32) {
    (Handle::unpack(token), Kind::ALL[(token >> KIND_SHIFT) as usize % Kind::ALL.len()], piece_of(token))
}

/// A requester in one of its lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    /// Which requester.
    pub requester: u32,
    /// How often it had failed before.
    pub life: u32,
}

impl Life {
    fn pack(self) -> u64 {
        u64::from(self.life) << REQUESTER_BITS | u64::from(self.requester)
    }

    fn unpack(word: u64) -> Self {
        let life = (word >> REQUESTER_BITS) as u32 % (1 << LIFE_BITS);
        Life { requester: word as u32 % (1 << REQUESTER_BITS), life }
    }
}

/// Something that happens to operations, or to those who begin them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkloadEvent {
    /// A device has read or written a piece.
    Served(Handle, u32),
    /// A server has encoded or decoded.
    Coded(Handle),
    /// Statistics begin.
    Begin,
    /// The run's time is over.
    End,
    /// A requester of the closed loop issues a request.
    Issue(Life),
    /// A request of the open loop comes to a requester.
    Arrive(Life),
    /// A recorded request comes.
    Recorded(u32),
    /// The time that a requester waits for a request is over.
    Timeout(Handle),
    /// A request that was lost at once is issued again.
    Retry(Handle),
    /// A paced source's next operation is due.
    Pace(u32),
    /// A source goes on after a pause, with the place of an operation that was lost where there is one.
    Resume {
        /// Which source.
        source: u32,
        /// Whether an operation of it was lost.
        gives_back: bool,
    },
    /// A burst begins.
    Burst(u32),
    /// Groups begin to rebuild in place: which of the corruptions.
    Corrupt(u32),
}

/// Marks the event of a piece at a device, which is the most frequent; the others have their kind in place of a piece.
const SERVED: u64 = 1 << KIND_SHIFT;

impl WorkloadEvent {
    /// The event as a number below 2^57.
    #[inline]
    pub fn number(self) -> u64 {
        let (kind, rest) = match self {
            WorkloadEvent::Served(handle, piece) => return SERVED | u64::from(piece) << HANDLE_BITS | handle.pack(),
            WorkloadEvent::Coded(handle) => (0, handle.pack()),
            WorkloadEvent::Begin => (1, 0),
            WorkloadEvent::End => (2, 0),
            WorkloadEvent::Issue(life) => (3, life.pack()),
            WorkloadEvent::Arrive(life) => (4, life.pack()),
            WorkloadEvent::Recorded(row) => (5, u64::from(row)),
            WorkloadEvent::Timeout(handle) => (6, handle.pack()),
            WorkloadEvent::Retry(handle) => (7, handle.pack()),
            WorkloadEvent::Pace(source) => (8, u64::from(source)),
            WorkloadEvent::Resume { source, gives_back } => (9, u64::from(source) << 1 | u64::from(gives_back)),
            WorkloadEvent::Burst(series) => (10, u64::from(series)),
            WorkloadEvent::Corrupt(corruption) => (11, u64::from(corruption)),
        };
        kind << HANDLE_BITS | rest
    }

    /// The event of a number that [`WorkloadEvent::number`] gave.
    #[inline]
    pub fn of_number(number: u64) -> Self {
        let handle = Handle::unpack(number);
        if number & SERVED != 0 {
            return WorkloadEvent::Served(handle, piece_of(number));
        }
        let rest = number % (1 << HANDLE_BITS);
        match piece_of(number) {
            0 => WorkloadEvent::Coded(handle),
            1 => WorkloadEvent::Begin,
            2 => WorkloadEvent::End,
            3 => WorkloadEvent::Issue(Life::unpack(rest)),
            4 => WorkloadEvent::Arrive(Life::unpack(rest)),
            5 => WorkloadEvent::Recorded(rest as u32),
            6 => WorkloadEvent::Timeout(handle),
            7 => WorkloadEvent::Retry(handle),
            8 => WorkloadEvent::Pace(rest as u32),
            9 => WorkloadEvent::Resume { source: (rest >> 1) as u32, gives_back: rest & 1 == 1 },
            10 => WorkloadEvent::Burst(rest as u32),
            _ => WorkloadEvent::Corrupt(rest as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Owner;

    #[test]
    fn events_and_tokens_come_back_from_their_numbers() {
        for (place, generation) in
            [(0, 0), (1, 0), (0, 1), (Handle::PLACE_LIMIT as u32 - 1, (1 << GENERATION_BITS) - 1)]
        {
            let handle = Handle { place, generation };
            let life = Life { requester: place, life: generation % LIVES };
            let mut events = vec![
                WorkloadEvent::Coded(handle),
                WorkloadEvent::Begin,
                WorkloadEvent::End,
                WorkloadEvent::Issue(life),
                WorkloadEvent::Arrive(Life { requester: (1 << REQUESTER_BITS) - 1, life: LIVES - 1 }),
                WorkloadEvent::Recorded(u32::MAX),
                WorkloadEvent::Timeout(handle),
                WorkloadEvent::Retry(handle),
                WorkloadEvent::Pace(u32::MAX),
                WorkloadEvent::Resume { source: u32::MAX, gives_back: true },
                WorkloadEvent::Resume { source: 3, gives_back: false },
                WorkloadEvent::Burst(199),
                WorkloadEvent::Corrupt(7),
            ];
            for piece in [0, 1, 63] {
                for kind in Kind::ALL {
                    let token = token(handle, kind, piece);
                    assert_eq!(untoken(token), (handle, kind, piece));
                    assert!(token < 1 << 61 && Owner::of(token) == Owner::Operations);
                }
                events.push(WorkloadEvent::Served(handle, piece));
            }
            for event in events {
                assert_eq!(WorkloadEvent::of_number(event.number()), event);
                assert!(event.number() < 1 << 57);
            }
        }
    }
}
