//! How operations are named in events and in the fabric's tokens.

use crate::event::STREAM;
use crate::handle;

/// Bits of an operation's place in the table, of how often the place was used before, and of a piece's number.
const PLACE_BITS: u32 = 24;
const GENERATION_BITS: u32 = 25;
const PIECE_BITS: u32 = 6;
const HANDLE_BITS: u32 = Handle::BITS;
const KIND_SHIFT: u32 = HANDLE_BITS + PIECE_BITS;

/// An operation.
pub(super) type Handle = handle::Handle<PLACE_BITS, GENERATION_BITS>;

/// What a message of an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
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
    /// All pieces are written: from the coordinator to the entry.
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

#[inline]
fn pack(kind: u64, handle: Handle, piece: u32) -> u64 {
    kind << KIND_SHIFT | u64::from(piece) << HANDLE_BITS | handle.pack()
}

#[inline]
fn unpack(word: u64) -> (u64, Handle, u32) {
    (word >> KIND_SHIFT & 0b111, Handle::unpack(word), (word >> HANDLE_BITS) as u32 % (1 << PIECE_BITS))
}

/// A message's token.
#[inline]
pub(super) fn token(handle: Handle, kind: Kind, piece: u32) -> u64 {
    STREAM | pack(kind as u64, handle, piece)
}

/// The operation, the message and the piece that a token names.
#[inline]
pub(super) fn untoken(token: u64) -> (Handle, Kind, u32) {
    let (kind, handle, piece) = unpack(token);
    (handle, Kind::ALL[kind as usize], piece)
}

/// Something that happens to streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamEvent {
    /// Statistics begin.
    Begin,
    /// The run's time is over.
    End,
    /// A paced source's next operation is due.
    Pace(u32),
    /// A source goes on after a pause, with the place of an operation that was lost where there is one.
    Again {
        /// Which source.
        source: u32,
        /// Whether an operation of it was lost.
        gives_back: bool,
    },
    /// A burst begins.
    Burst,
    /// Groups begin to rebuild in place: which of the corruptions.
    Corrupt(u32),
    /// A device has read or written a piece.
    Served(Handle, u32),
    /// A server has encoded or decoded.
    Coded(Handle),
}

impl StreamEvent {
    /// The event as a number below 2^58.
    #[inline]
    pub fn number(self) -> u64 {
        let (kind, rest) = match self {
            StreamEvent::Begin => (0, 0),
            StreamEvent::End => (1, 0),
            StreamEvent::Pace(source) => (2, u64::from(source)),
            StreamEvent::Again { source, gives_back } => (3, u64::from(source) << 1 | u64::from(gives_back)),
            StreamEvent::Burst => (4, 0),
            StreamEvent::Corrupt(corruption) => (5, u64::from(corruption)),
            StreamEvent::Served(handle, piece) => return pack(6, handle, piece),
            StreamEvent::Coded(handle) => return pack(7, handle, 0),
        };
        kind << KIND_SHIFT | rest
    }

    /// The event of a number that [`StreamEvent::number`] gave.
    #[inline]
    pub fn of_number(number: u64) -> Self {
        let (kind, handle, piece) = unpack(number);
        let rest = number % (1 << KIND_SHIFT);
        match kind {
            0 => StreamEvent::Begin,
            1 => StreamEvent::End,
            2 => StreamEvent::Pace(rest as u32),
            3 => StreamEvent::Again { source: (rest >> 1) as u32, gives_back: rest & 1 == 1 },
            4 => StreamEvent::Burst,
            5 => StreamEvent::Corrupt(rest as u32),
            6 => StreamEvent::Served(handle, piece),
            _ => StreamEvent::Coded(handle),
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
            for piece in [0, 1, 63] {
                for kind in Kind::ALL {
                    let token = token(handle, kind, piece);
                    assert_eq!(untoken(token), (handle, kind, piece));
                    assert!(token < 1 << 61 && Owner::of(token) == Owner::Streams);
                }
                let event = StreamEvent::Served(handle, piece);
                assert_eq!(StreamEvent::of_number(event.number()), event);
                assert!(event.number() < 1 << 58);
            }
            for event in [
                StreamEvent::Begin,
                StreamEvent::End,
                StreamEvent::Pace(u32::MAX),
                StreamEvent::Again { source: u32::MAX, gives_back: true },
                StreamEvent::Again { source: 3, gives_back: false },
                StreamEvent::Burst,
                StreamEvent::Corrupt(7),
                StreamEvent::Coded(handle),
            ] {
                assert_eq!(StreamEvent::of_number(event.number()), event);
                assert!(event.number() < 1 << 58);
            }
        }
    }
}
