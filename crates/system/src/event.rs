//! What happens in a storage system, and the tokens by which the fabric names its messages.
//!
//! An event is one word of 64 bits, its kind in the lowest. The bits that each owner has for numbers of its own stand here
//! and nowhere else:
//!
//! | owner | bits | what they number |
//! |---|---|---|
//! | recovery | 62 | buffers under way (28), their task (31) or their pieces (6), kinds of event (3) |
//! | operations and who begins them | 59 | operations (50), their pieces, kinds of event |
//! | devices, changes, failures | 32 | each its own |
//! | ways | 60 | requests on them (32), how often each was put elsewhere (26), kinds of event (1) |

use std::marker::PhantomData;

use resilver_fabric::{Fabric, FabricEvent};
use resilver_kernel::Event;
use resilver_units::DeviceId;

/// Most buffers of one piece of an object.
pub(crate) const BUFFER_LIMIT: u64 = 1 << 30;
/// Most pieces that are to come to devices, and most objects that have some of them.
pub(crate) const TASK_LIMIT: usize = 1 << 31;

/// What happens in the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageEvent<F> {
    /// An event of the fabric.
    Fabric(F),
    /// Something of recovery, by a number of its own.
    Recovery(u64),
    /// Something of operations, or of those who begin them, by a number of theirs.
    Operation(u64),
    /// Devices fail: which of the points of time at which some do.
    Fail(u32),
    /// A device finishes what it is serving.
    Device(DeviceId),
    /// Parts of the network fail or are repaired: which of the changes.
    Network(u32),
    /// Something on the ways between devices and ports, by a number of theirs.
    Way(u64),
}

/// How many low bits of an event's word tell its kind; of the kind `OTHER`, the next ones tell which one.
const KIND_BITS: u32 = 2;
const FABRIC: u64 = 0;
const RECOVERY: u64 = 1;
const OPERATION_EVENT: u64 = 2;
const OTHER: u64 = 3;
/// How many bits tell which of the other kinds.
const OTHER_BITS: u32 = 2;
const FAIL: u64 = 0;
const NETWORK: u64 = 1;
const DEVICE: u64 = 2;
const WAY: u64 = 3;

/// An event in the queue: a [`StorageEvent`] in one word, which also stands for it in the digest.
///
/// With its time it takes 16 bytes, half of what the enum would, and is stored in as many pieces as it is loaded in.
/// `F` is the fabric whose events are among them.
pub struct EventOf<F: Fabric> {
    word: u64,
    fabric: PhantomData<fn(F)>,
}

impl<F: Fabric> EventOf<F> {
    #[inline]
    pub(crate) fn new(event: StorageEvent<F::Event>) -> Self {
        let other = |kind: u64, number: u64| (OTHER, number << OTHER_BITS | kind);
        let (kind, rest) = match event {
            StorageEvent::Fabric(event) => (FABRIC, event.number()),
            StorageEvent::Recovery(number) => (RECOVERY, number),
            StorageEvent::Operation(number) => (OPERATION_EVENT, number),
            StorageEvent::Fail(stage) => other(FAIL, u64::from(stage)),
            StorageEvent::Device(device) => other(DEVICE, u64::from(device.get())),
            StorageEvent::Network(change) => other(NETWORK, u64::from(change)),
            StorageEvent::Way(number) => other(WAY, number),
        };
        debug_assert!(rest < 1 << (64 - KIND_BITS), "{rest}");
        EventOf { word: rest << KIND_BITS | kind, fabric: PhantomData }
    }

    #[inline]
    pub(crate) fn get(self) -> StorageEvent<F::Event> {
        let rest = self.word >> KIND_BITS;
        match self.word % (1 << KIND_BITS) {
            FABRIC => StorageEvent::Fabric(F::Event::of_number(rest)),
            RECOVERY => StorageEvent::Recovery(rest),
            OPERATION_EVENT => StorageEvent::Operation(rest),
            _ => {
                let number = rest >> OTHER_BITS;
                match rest % (1 << OTHER_BITS) {
                    FAIL => StorageEvent::Fail(number as u32),
                    NETWORK => StorageEvent::Network(number as u32),
                    WAY => StorageEvent::Way(number),
                    _ => StorageEvent::Device(DeviceId::new(number as u32)),
                }
            }
        }
    }

    /// The event of a word that [`EventOf::word`] gave.
    #[inline]
    pub(crate) fn of_word(word: u64) -> Self {
        EventOf { word, fabric: PhantomData }
    }

    #[inline]
    pub(crate) fn word(self) -> u64 {
        self.word
    }
}

impl<F: Fabric> Clone for EventOf<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Fabric> Copy for EventOf<F> {}

impl<F: Fabric> Event for EventOf<F> {
    #[inline]
    fn code(&self) -> u64 {
        self.word
    }
}

/// Marks the tokens of operations' messages; those of recovery lie below. The fabric takes tokens of 61 bits.
pub(crate) const OPERATION: u64 = 1 << 60;

/// Whose message a token names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Recovery,
    Operations,
}

impl Owner {
    /// The owner of a message.
    #[inline]
    pub fn of(token: u64) -> Owner {
        if token & OPERATION == 0 { Owner::Recovery } else { Owner::Operations }
    }
}

/// The two kinds of recovery's messages: the lowest bit of a token.
pub(crate) const REQUEST: u64 = 0;
pub(crate) const DATA: u64 = 1;

#[cfg(test)]
mod tests {
    use resilver_fabric::{LogGp, LogGpEvent};

    use super::*;

    #[test]
    fn an_event_comes_back_from_its_word() {
        let last = u32::MAX;
        for event in [
            StorageEvent::Recovery((1 << 62) - 1),
            StorageEvent::Operation((1 << 59) - 1),
            StorageEvent::Fail(last),
            StorageEvent::Device(DeviceId::new(last)),
            StorageEvent::Network(0),
            StorageEvent::Network(last),
            StorageEvent::Way((1 << 60) - 1),
            StorageEvent::Fabric(LogGpEvent::of_number(17)),
        ] {
            assert_eq!(EventOf::<LogGp>::new(event).get(), event);
        }
        assert_eq!(std::mem::size_of::<EventOf<LogGp>>(), 8);
    }

    #[test]
    fn a_token_tells_its_owner() {
        assert_eq!(Owner::of((1 << 39) - 1), Owner::Recovery);
        assert_eq!(Owner::of(OPERATION | ((1 << 60) - 1)), Owner::Operations);
    }
}
