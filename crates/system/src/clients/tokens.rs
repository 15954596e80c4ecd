//! How requests are named in events and in the fabric's tokens.

use crate::event::CLIENT;
use crate::handle;

/// Bits of a request's place in the table, and of how often the place was used before.
const PLACE_BITS: u32 = 28;
const GENERATION_BITS: u32 = 28;
const HANDLE_BITS: u32 = Handle::BITS;

/// A request.
pub(super) type Handle = handle::Handle<PLACE_BITS, GENERATION_BITS>;

/// Which of a request's two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// From the requester to the server.
    Forth,
    /// From the server to the requester.
    Back,
}

/// A message's token.
#[inline]
pub(super) fn token(handle: Handle, way: Way) -> u64 {
    CLIENT | handle.pack() << 1 | u64::from(way == Way::Back)
}

/// The request and the message that a token names.
#[inline]
pub(super) fn untoken(token: u64) -> (Handle, Way) {
    let way = if token & 1 == 0 { Way::Forth } else { Way::Back };
    (Handle::unpack((token & !CLIENT) >> 1), way)
}

/// Something that happens to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientEvent {
    /// Statistics begin.
    Begin,
    /// The run's time is over.
    End,
    /// A requester of the closed loop issues a request.
    Issue {
        /// Which one.
        requester: u32,
        /// How often it had failed before.
        life: u32,
    },
    /// A request of the open loop comes to a requester.
    Arrive {
        /// Which one.
        requester: u32,
        /// How often it had failed before.
        life: u32,
    },
    /// A recorded request comes.
    Recorded(u32),
    /// A requester's patience with a request is over.
    Timeout(Handle),
    /// A server's disk has served a request.
    Served(Handle),
    /// A request that was lost at once is issued again.
    Again(Handle),
}

/// A requester in one of its lives, of which 24 bits are told apart.
fn in_life(requester: u32, life: u32) -> u64 {
    u64::from(life % (1 << 24)) << 32 | u64::from(requester)
}

impl ClientEvent {
    /// The event as a number below 2^59.
    #[inline]
    pub fn number(self) -> u64 {
        let (kind, rest) = match self {
            ClientEvent::Begin => (0, 0),
            ClientEvent::End => (1, 0),
            ClientEvent::Issue { requester, life } => (2, in_life(requester, life)),
            ClientEvent::Arrive { requester, life } => (3, in_life(requester, life)),
            ClientEvent::Recorded(row) => (4, u64::from(row)),
            ClientEvent::Timeout(handle) => (5, handle.pack()),
            ClientEvent::Served(handle) => (6, handle.pack()),
            ClientEvent::Again(handle) => (7, handle.pack()),
        };
        kind << HANDLE_BITS | rest
    }

    /// The event of a number that [`ClientEvent::number`] gave.
    #[inline]
    pub fn of_number(number: u64) -> Self {
        let rest = number % (1 << HANDLE_BITS);
        match number >> HANDLE_BITS {
            0 => ClientEvent::Begin,
            1 => ClientEvent::End,
            2 => ClientEvent::Issue { requester: rest as u32, life: (rest >> 32) as u32 },
            3 => ClientEvent::Arrive { requester: rest as u32, life: (rest >> 32) as u32 },
            4 => ClientEvent::Recorded(rest as u32),
            5 => ClientEvent::Timeout(Handle::unpack(rest)),
            6 => ClientEvent::Served(Handle::unpack(rest)),
            _ => ClientEvent::Again(Handle::unpack(rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_tokens_come_back_from_their_numbers() {
        for (place, generation) in
            [(0, 0), (1, 0), (0, 1), (Handle::PLACE_LIMIT as u32 - 1, (1 << GENERATION_BITS) - 1)]
        {
            let handle = Handle { place, generation };
            for way in [Way::Forth, Way::Back] {
                assert_eq!(untoken(token(handle, way)), (handle, way));
                // The fabric takes tokens below 2^61, and those of a rebuild lack the bit.
                assert!(token(handle, way) < 1 << 61 && token(handle, way) & CLIENT != 0);
            }
            for event in [
                ClientEvent::Begin,
                ClientEvent::End,
                ClientEvent::Issue { requester: place, life: 7 },
                ClientEvent::Arrive { requester: u32::MAX, life: (1 << 24) - 1 },
                ClientEvent::Recorded(place),
                ClientEvent::Timeout(handle),
                ClientEvent::Served(handle),
                ClientEvent::Again(handle),
            ] {
                assert_eq!(ClientEvent::of_number(event.number()), event);
                assert!(event.number() < 1 << 59);
            }
        }
    }
}
