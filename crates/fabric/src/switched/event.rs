//! What happens in a switched fabric.

use crate::FabricEvent;

/// What a message's sender is told of it, apart from the events of its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// All of it has arrived.
    Delivered,
    /// A part of it was dropped.
    Lost,
    /// All of it has left its sender.
    Sent,
}

/// An event of a switched fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchedEvent {
    /// A packet is in a node and may go on from it, or has reached its destination.
    Arrive {
        /// The packet's number.
        packet: u32,
        /// The node's number, below 2^28.
        node: u32,
    },
    /// A port that packets wait at has sent the one before.
    Free {
        /// The port's channel.
        channel: u32,
    },
    /// A message's sender is told of it.
    Tell {
        /// The message's number.
        message: u32,
        /// What has become of it.
        fate: Fate,
    },
}

/// Most nodes whose numbers fit into an event.
pub(super) const NODE_LIMIT: u32 = 1 << 28;

const KIND_BITS: u32 = 2;
const ARRIVE: u64 = 0;
const FREE: u64 = 1;
const TELL: u64 = 2;

/// The kind in the lowest bits, and its numbers above.
impl FabricEvent for SwitchedEvent {
    #[inline]
    fn number(self) -> u64 {
        match self {
            SwitchedEvent::Arrive { packet, node } => (u64::from(node) << 32 | u64::from(packet)) << KIND_BITS | ARRIVE,
            SwitchedEvent::Free { channel } => u64::from(channel) << KIND_BITS | FREE,
            SwitchedEvent::Tell { message, fate } => (u64::from(message) << 2 | fate as u64) << KIND_BITS | TELL,
        }
    }

    #[inline]
    fn of_number(number: u64) -> Self {
        let rest = number >> KIND_BITS;
        match number % (1 << KIND_BITS) {
            ARRIVE => SwitchedEvent::Arrive { packet: rest as u32, node: (rest >> 32) as u32 },
            FREE => SwitchedEvent::Free { channel: rest as u32 },
            _ => {
                let fate = [Fate::Delivered, Fate::Lost, Fate::Sent, Fate::Sent][(rest % 4) as usize];
                SwitchedEvent::Tell { message: (rest >> 2) as u32, fate }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_comes_back_from_its_number() {
        for number in [0, 1, 77, u32::MAX] {
            let events = [
                SwitchedEvent::Arrive { packet: number, node: number % NODE_LIMIT },
                SwitchedEvent::Free { channel: number },
                SwitchedEvent::Tell { message: number, fate: Fate::Delivered },
                SwitchedEvent::Tell { message: number, fate: Fate::Lost },
                SwitchedEvent::Tell { message: number, fate: Fate::Sent },
            ];
            for event in events {
                assert_eq!(SwitchedEvent::of_number(event.number()), event);
                assert!(event.number() < 1 << 62);
            }
        }
    }
}
