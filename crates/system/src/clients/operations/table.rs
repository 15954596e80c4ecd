//! The operations that something is still to happen to.

use resilver_device::Operation as OfMetadata;
use resilver_units::{Bytes, SimTime};

use super::tokens::{Handle, Kind};
use crate::scenario::TrafficClass;

/// What is counted of an operation: a message of each kind that arrived, then pieces that devices read, and wrote.
pub(crate) const STEPS: usize = 10;
/// The place of pieces read by devices among what is counted.
pub(crate) const PIECES_READ: usize = 8;
/// The place of pieces written by devices.
pub(crate) const PIECES_WRITTEN: usize = 9;

/// The coordinator holds none of the pieces.
pub(crate) const NO_PIECE: u8 = u8::MAX;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Read,
    Write,
    Rebuild,
}

/// One operation on one stripe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    /// When it was due; of a request, when its first attempt was issued.
    pub due_at: SimTime,
    /// When it began.
    pub begun_at: SimTime,
    /// The data that is read or written, and that of one piece.
    pub data: Bytes,
    pub piece: Bytes,
    /// The pieces that are gathered, or written, as a set.
    pub pieces: u64,
    /// The pieces that are at their devices.
    pub at_disk: u64,
    /// What the present step still waits for: pieces, or messages with as many numbers.
    pub awaited: u64,
    /// Which of the requesters, or of the sources, began it.
    pub source: u32,
    /// How often its requester had failed before.
    pub life: u32,
    /// The server that its request asked, and which of the sampled objects it is on.
    pub server: u32,
    pub object: u32,
    pub coordinator: u32,
    /// The endpoint where the client is.
    pub entry: u32,
    /// Messages on their way.
    pub messages: u16,
    /// The coordinator's own piece.
    pub own: u8,
    pub side: u8,
    /// The lane of its class.
    pub lane: u8,
    /// Which of the codes.
    pub code: u8,
    /// Which of the laws of requests it follows; the first of a stream's.
    pub law: u8,
    /// Of which class of requests it is, of those of all laws.
    pub class: u16,
    pub action: Action,
    /// What it asks of metadata, where it moves no data.
    pub operation: Option<OfMetadata>,
    /// What the present step waits for.
    pub step: Kind,
    /// Whether it is a client's request, and not of a stream.
    pub is_request: bool,
    /// Whether it is acknowledged when its data has arrived, and written behind.
    pub writes_behind: bool,
    /// Whether whoever began it waits for it.
    pub is_wanted: bool,
    /// Whether nobody works on it any more; servers go on with a request that its client does not wait for.
    pub is_abandoned: bool,
    /// Whether it is a request that is tried again after a pause, until which it is as one yet to come.
    pub is_paused: bool,
    /// Whether it has done all that it was to do, and whether a piece was lost with its device on the way.
    pub is_completed: bool,
    pub lost_piece: bool,
    /// Whether data are to be decoded.
    pub is_degraded: bool,
    /// Whether its coordinator is coding.
    pub is_coding: bool,
    pub steps: [u8; STEPS],
}

impl Operation {
    /// A read of nothing yet, which is due and begins now.
    pub fn due(now: SimTime) -> Self {
        Operation {
            due_at: now,
            begun_at: now,
            data: Bytes::ZERO,
            piece: Bytes::ZERO,
            pieces: 0,
            at_disk: 0,
            awaited: 0,
            source: 0,
            life: 0,
            server: 0,
            object: u32::MAX,
            coordinator: u32::MAX,
            entry: 0,
            messages: 0,
            own: NO_PIECE,
            side: 0,
            lane: TrafficClass::Clients.lane(),
            code: 0,
            law: 0,
            class: 0,
            action: Action::Read,
            operation: None,
            step: Kind::Ask,
            is_request: false,
            writes_behind: false,
            is_wanted: true,
            is_abandoned: false,
            is_paused: false,
            is_completed: false,
            lost_piece: false,
            is_degraded: false,
            is_coding: false,
            steps: [0; STEPS],
        }
    }

    /// The same request as one that nothing was done for yet: it is due since then, and asks the same object.
    pub fn anew(self) -> Self {
        let Operation { due_at, data, source, life, server, object, entry, law, class, action, operation, .. } = self;
        let is_request = true;
        Operation {
            data,
            source,
            life,
            server,
            object,
            entry,
            law,
            class,
            action,
            operation,
            is_request,
            ..Operation::due(due_at)
        }
    }

    /// Whether a message, a device or a coder is at work for it.
    #[inline]
    pub fn is_under_way(&self) -> bool {
        self.is_coding || self.messages > 0 || self.at_disk != 0
    }

    /// Whether what it waits for is, or will be, at one of the devices of the set `here` of its pieces, or at its coordinator
    /// where that `is_gone`.
    pub fn waits_for(&self, here: u64, is_gone: bool) -> bool {
        match self.step {
            // What is on its way to the client has left the servers.
            Kind::Deliver | Kind::Done => false,
            Kind::Gather | Kind::Written => is_gone || self.awaited & here != 0,
            _ => is_gone || self.pieces & here != 0,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Place {
    operation: Operation,
    generation: u32,
    is_taken: bool,
}

/// A table of operations whose places are used again once nothing is to happen to them any more.
#[derive(Clone, Debug)]
pub(crate) struct Operations {
    places: Vec<Place>,
    free: Vec<u32>,
    /// The devices of the pieces, `stride` of them for each place.
    holders: Vec<u32>,
    stride: usize,
}

impl Operations {
    /// An empty table of operations on stripes of up to `stride` pieces.
    pub fn new(stride: usize) -> Self {
        Operations { places: Vec::new(), free: Vec::new(), holders: Vec::new(), stride }
    }

    /// Takes in an operation on pieces at these devices; `None` when there are more than can be numbered.
    #[inline]
    pub fn insert(&mut self, operation: Operation, holders: &[u32]) -> Option<Handle> {
        let place = match self.free.pop() {
            Some(place) => place,
            None if self.places.len() == Handle::PLACE_LIMIT => return None,
            None => {
                self.places.push(Place { operation, generation: 0, is_taken: false });
                self.holders.resize(self.places.len() * self.stride, 0);
                (self.places.len() - 1) as u32
            }
        };
        let taken = &mut self.places[place as usize];
        taken.operation = operation;
        taken.is_taken = true;
        let row = place as usize * self.stride;
        self.holders[row..row + holders.len()].copy_from_slice(holders);
        Some(Handle { place, generation: taken.generation })
    }

    /// An operation to which something is still to happen.
    #[inline]
    pub fn get(&mut self, handle: Handle) -> &mut Operation {
        let place = &mut self.places[handle.place as usize];
        debug_assert_eq!(place.generation, handle.generation, "{handle:?} is over");
        &mut place.operation
    }

    /// An operation to which something is still to happen, to be looked at.
    #[inline]
    pub fn peek(&self, handle: Handle) -> &Operation {
        &self.places[handle.place as usize].operation
    }

    /// An operation, if it is not over.
    #[inline]
    pub fn find(&mut self, handle: Handle) -> Option<&mut Operation> {
        let place = &mut self.places[handle.place as usize];
        (place.generation == handle.generation && place.is_taken).then_some(&mut place.operation)
    }

    /// The device of a piece.
    #[inline]
    pub fn holder(&self, handle: Handle, piece: u32) -> u32 {
        self.holders[handle.place as usize * self.stride + piece as usize]
    }

    /// Gives an operation's place back if nothing is to happen to it any more, and returns it then.
    #[inline]
    pub fn settle(&mut self, handle: Handle) -> Option<Operation> {
        let place = &mut self.places[handle.place as usize];
        let operation = &place.operation;
        let is_settled = place.generation != handle.generation || !place.is_taken;
        if is_settled || operation.is_wanted || operation.is_paused || operation.is_under_way() {
            return None;
        }
        place.generation = Handle::next_generation(place.generation);
        place.is_taken = false;
        self.free.push(handle.place);
        Some(place.operation)
    }

    /// The operations to which something is still to happen, in the order of their places.
    pub fn all(&self) -> impl Iterator<Item = (Handle, &Operation)> {
        let taken = (0u32..).zip(&self.places).filter(|(_, place)| place.is_taken);
        taken.map(|(number, place)| (Handle { place: number, generation: place.generation }, &place.operation))
    }
}
