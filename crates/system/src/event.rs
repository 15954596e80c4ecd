//! What happens in a storage system, and the tokens by which the fabric names its messages.

use std::marker::PhantomData;

use resilver_fabric::{Fabric, FabricEvent};
use resilver_kernel::Event;
use resilver_units::DeviceId;

/// How many bits a buffer's number and its pull's have: with a message's kind and an event's, they fill a word.
const NUMBER_BITS: u32 = 30;
const PULL_BITS: u32 = 29;
/// Most buffers of one object.
pub(crate) const BUFFER_LIMIT: u64 = 1 << NUMBER_BITS;
/// Most pulls of a run.
pub(crate) const PULL_LIMIT: usize = 1 << PULL_BITS;

/// One buffer of one pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Which pull of the work list.
    pub(crate) pull: u32,
    /// Which buffer of the pull's object.
    pub(crate) number: u32,
}

impl Buffer {
    /// Both numbers in one of 60 bits.
    #[inline]
    fn pack(self) -> u64 {
        debug_assert!((self.pull as usize) < PULL_LIMIT && u64::from(self.number) < BUFFER_LIMIT, "{self:?}");
        u64::from(self.pull) << NUMBER_BITS | u64::from(self.number)
    }

    #[inline]
    fn unpack(packed: u64) -> Self {
        let pull = (packed >> NUMBER_BITS) as u32 & ((1 << PULL_BITS) - 1);
        Buffer { pull, number: packed as u32 & ((1 << NUMBER_BITS) - 1) }
    }
}

/// What happens in the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageEvent<F> {
    /// An event of the fabric.
    Fabric(F),
    /// A source has read a buffer.
    ReadDone(Buffer),
    /// A source has sent a buffer and may reuse its memory.
    SendDone(Buffer),
    /// A destination has written a buffer.
    WriteDone(Buffer),
    /// A destination asks again for a buffer that did not come.
    Retry(Buffer),
    /// A destination may ask for more without passing its bandwidth.
    Wake(DeviceId),
    /// Devices fail: which of the points of time at which some do.
    Fail(u32),
    /// Something of the operations, or of those who begin them, by a number of theirs below 2^59.
    Operation(u64),
    /// Something of a reconstruction, by a number of its own below 2^58.
    Reconstruction(u64),
    /// A device finishes what it is serving.
    Device(DeviceId),
    /// Parts of the network fail or are repaired: which of the changes.
    Network(u32),
}

/// How many low bits of an event's word tell its kind; of the kind `OTHER`, the bits above a buffer's tell which one.
const KIND_BITS: u32 = 2;
const FABRIC: u64 = 0;
const READ_DONE: u64 = 1;
const WRITE_DONE: u64 = 2;
const OTHER: u64 = 3;
const SEND_DONE: u64 = 0;
const WAKE: u64 = 1;
const FAIL: u64 = 2;
const OPERATION_EVENT: u64 = 3;
const NETWORK: u64 = 4;
const DEVICE: u64 = 5;
const RETRY: u64 = 6;
const PIECES: u64 = 7;
/// How many bits a pull's and a buffer's number have together.
const BUFFER_BITS: u32 = PULL_BITS + NUMBER_BITS;
/// How many bits the numbers of reconstructions have.
const PIECE_BITS: u32 = BUFFER_BITS - 1;

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
        let (kind, rest) = match event {
            StorageEvent::Fabric(event) => (FABRIC, event.number()),
            StorageEvent::ReadDone(buffer) => (READ_DONE, buffer.pack()),
            StorageEvent::WriteDone(buffer) => (WRITE_DONE, buffer.pack()),
            StorageEvent::SendDone(buffer) => (OTHER, SEND_DONE << BUFFER_BITS | buffer.pack()),
            StorageEvent::Retry(buffer) => (OTHER, RETRY << BUFFER_BITS | buffer.pack()),
            StorageEvent::Wake(device) => (OTHER, WAKE << BUFFER_BITS | u64::from(device.get())),
            StorageEvent::Fail(stage) => (OTHER, FAIL << BUFFER_BITS | u64::from(stage)),
            StorageEvent::Operation(number) => {
                debug_assert!(number < 1 << BUFFER_BITS, "{number}");
                (OTHER, OPERATION_EVENT << BUFFER_BITS | number)
            }
            StorageEvent::Reconstruction(number) => {
                debug_assert!(number < 1 << PIECE_BITS, "{number}");
                (OTHER, PIECES << BUFFER_BITS | number)
            }
            StorageEvent::Device(device) => (OTHER, DEVICE << BUFFER_BITS | u64::from(device.get())),
            StorageEvent::Network(change) => (OTHER, NETWORK << BUFFER_BITS | u64::from(change)),
        };
        EventOf { word: rest << KIND_BITS | kind, fabric: PhantomData }
    }

    #[inline]
    pub(crate) fn get(self) -> StorageEvent<F::Event> {
        let rest = self.word >> KIND_BITS;
        match self.word % (1 << KIND_BITS) {
            FABRIC => StorageEvent::Fabric(F::Event::of_number(rest)),
            READ_DONE => StorageEvent::ReadDone(Buffer::unpack(rest)),
            WRITE_DONE => StorageEvent::WriteDone(Buffer::unpack(rest)),
            _ => match rest >> BUFFER_BITS {
                SEND_DONE => StorageEvent::SendDone(Buffer::unpack(rest)),
                WAKE => StorageEvent::Wake(DeviceId::new(rest as u32)),
                FAIL => StorageEvent::Fail(rest as u32),
                OPERATION_EVENT => StorageEvent::Operation(rest & ((1 << BUFFER_BITS) - 1)),
                RETRY => StorageEvent::Retry(Buffer::unpack(rest)),
                NETWORK => StorageEvent::Network(rest as u32),
                PIECES => StorageEvent::Reconstruction(rest & ((1 << PIECE_BITS) - 1)),
                _ => StorageEvent::Device(DeviceId::new(rest as u32)),
            },
        }
    }
}

impl<F: Fabric> EventOf<F> {
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

/// Marks the tokens of operations' messages; those of a rebuild have buffers in them, and are below.
pub(crate) const OPERATION: u64 = 1 << (BUFFER_BITS + 1);
/// Together with [`OPERATION`], marks the tokens of reconstructions; below both are 59 bits of their own.
pub(crate) const RECONSTRUCTION: u64 = OPERATION | 1 << (PIECE_BITS + 1);

/// Whose message a token names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Rebuild,
    Operations,
    Reconstruction,
}

impl Owner {
    /// The owner of a message.
    #[inline]
    pub fn of(token: u64) -> Owner {
        match (token & OPERATION, token & RECONSTRUCTION) {
            (0, _) => Owner::Rebuild,
            (_, RECONSTRUCTION) => Owner::Reconstruction,
            _ => Owner::Operations,
        }
    }
}

/// The two kinds of a rebuild's messages: the lowest bit of a token.
pub(crate) const REQUEST: u64 = 0;
pub(crate) const DATA: u64 = 1;

/// A message's token: the buffer and the kind.
#[inline]
pub(crate) fn token(buffer: Buffer, kind: u64) -> u64 {
    buffer.pack() << 1 | kind
}

#[inline]
pub(crate) fn untoken(token: u64) -> (Buffer, u64) {
    (Buffer::unpack(token >> 1), token & 1)
}

#[cfg(test)]
mod tests {
    use resilver_fabric::{LogGp, LogGpEvent};

    use super::*;

    #[test]
    fn an_event_comes_back_from_its_word() {
        for (pull, number) in [(0, 0), (1, 0), (0, 1), (77, 3), ((1 << PULL_BITS) - 1, (1 << NUMBER_BITS) - 1)] {
            let buffer = Buffer { pull, number };
            for kind in [REQUEST, DATA] {
                assert_eq!(untoken(token(buffer, kind)), (buffer, kind));
                assert!(token(buffer, kind) < OPERATION);
            }
            let events = [
                StorageEvent::Fabric(LogGpEvent::Arrive { token: token(buffer, DATA) }),
                StorageEvent::Fabric(LogGpEvent::Deliver { token: token(buffer, REQUEST) }),
                StorageEvent::ReadDone(buffer),
                StorageEvent::SendDone(buffer),
                StorageEvent::Retry(buffer),
                StorageEvent::WriteDone(buffer),
                StorageEvent::Wake(DeviceId::new(pull)),
                StorageEvent::Wake(DeviceId::new(u32::MAX)),
                StorageEvent::Fail(number),
                StorageEvent::Operation(buffer.pack()),
                StorageEvent::Reconstruction(buffer.pack() >> 1),
                StorageEvent::Network(pull),
                StorageEvent::Device(DeviceId::new(pull)),
            ];
            for event in events {
                assert_eq!(EventOf::<LogGp>::new(event).get(), event);
            }
        }
    }

    #[test]
    fn a_token_tells_whose_message_it_names() {
        let last = (1u64 << PIECE_BITS) - 1;
        for (mark, owner) in
            [(0, Owner::Rebuild), (OPERATION, Owner::Operations), (RECONSTRUCTION, Owner::Reconstruction)]
        {
            // Tokens of all owners lie below 2^61, the most that a fabric takes.
            assert!(mark | last < 1 << 61);
            assert_eq!([Owner::of(mark), Owner::of(mark | last)], [owner; 2]);
        }
    }
}
