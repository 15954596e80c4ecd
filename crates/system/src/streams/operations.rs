//! The operations that something is still to happen to.

use resilver_units::{Bytes, SimTime};

use super::tokens::Handle;

/// What is counted of an operation: a message of each kind that arrived, then pieces that devices read, and wrote.
pub(super) const STEPS: usize = 10;
/// The place of pieces read by devices among what is counted.
pub(super) const PIECES_READ: usize = 8;
/// The place of pieces written by devices.
pub(super) const PIECES_WRITTEN: usize = 9;

/// The coordinator holds none of the pieces.
pub(super) const NO_PIECE: u8 = u8::MAX;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Read,
    Write,
    Rebuild,
}

/// One operation on one stripe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    /// When it was due.
    pub due_at: SimTime,
    /// The data of the stripe, and of one piece.
    pub data: Bytes,
    pub piece: Bytes,
    /// The pieces that are gathered, or written, as a set.
    pub pieces: u64,
    /// The pieces that are at their devices.
    pub at_disk: u64,
    /// Which of the sources began it.
    pub source: u32,
    pub coordinator: u32,
    /// The endpoint where the client is.
    pub entry: u32,
    /// What the present step still waits for.
    pub waiting: u16,
    /// Messages on their way.
    pub messages: u16,
    /// The coordinator's own piece.
    pub own: u8,
    pub side: u8,
    /// The lane of its class.
    pub lane: u8,
    /// Which of the codes.
    pub code: u8,
    pub action: Action,
    /// Whether it is still to be completed.
    pub is_wanted: bool,
    /// Whether data are to be decoded.
    pub is_degraded: bool,
    /// Whether its coordinator is coding.
    pub is_coding: bool,
    pub steps: [u8; STEPS],
}

impl Operation {
    #[inline]
    fn is_over(&self) -> bool {
        !self.is_wanted && !self.is_coding && self.messages == 0 && self.at_disk == 0
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
pub(super) struct Operations {
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
        if !place.operation.is_over() {
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
