//! The requests that something is still to happen to.

use resilver_units::{Bytes, SimTime};

use super::tokens::Handle;

/// What is still to happen to a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pending {
    /// Whether its requester waits for it.
    pub is_wanted: bool,
    /// Whether a message of it is on its way.
    pub message: bool,
    /// Whether it is at a disk.
    pub disk: bool,
}

impl Pending {
    fn is_over(self) -> bool {
        self == Pending::default()
    }
}

/// One attempt at a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// When the first attempt was issued.
    pub issued_at: SimTime,
    /// When this one was.
    pub tried_at: SimTime,
    pub bytes: Bytes,
    /// Which of the requesters.
    pub requester: u32,
    /// How often its requester had failed before.
    pub life: u32,
    /// The device that serves it.
    pub device: u32,
    pub is_read: bool,
    pub pending: Pending,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    request: Request,
    generation: u32,
}

/// A table of requests whose places are used again once nothing is to happen to them any more.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    places: Vec<Place>,
    free: Vec<u32>,
}

impl Requests {
    /// Takes in a request; `None` when there are more than can be numbered.
    #[inline]
    pub fn insert(&mut self, request: Request) -> Option<Handle> {
        if let Some(place) = self.free.pop() {
            let taken = &mut self.places[place as usize];
            taken.request = request;
            return Some(Handle { place, generation: taken.generation });
        }
        if self.places.len() == Handle::PLACE_LIMIT {
            return None;
        }
        self.places.push(Place { request, generation: 0 });
        Some(Handle { place: (self.places.len() - 1) as u32, generation: 0 })
    }

    /// A request to which something is still to happen.
    #[inline]
    pub fn get(&mut self, handle: Handle) -> &mut Request {
        let place = &mut self.places[handle.place as usize];
        debug_assert_eq!(place.generation, handle.generation, "{handle:?} is over");
        &mut place.request
    }

    /// A request to which something is still to happen, to be looked at.
    #[inline]
    pub fn peek(&self, handle: Handle) -> Request {
        self.places[handle.place as usize].request
    }

    /// A request, if it is not over.
    #[inline]
    pub fn find(&mut self, handle: Handle) -> Option<&mut Request> {
        let place = &mut self.places[handle.place as usize];
        (place.generation == handle.generation).then_some(&mut place.request)
    }

    /// Gives a request's place back if nothing is to happen to it any more.
    #[inline]
    pub fn settle(&mut self, handle: Handle) {
        let place = &mut self.places[handle.place as usize];
        if place.request.pending.is_over() {
            place.generation = Handle::next_generation(place.generation);
            self.free.push(handle.place);
        }
    }

    /// How many requesters wait for.
    pub fn outstanding(&self) -> u64 {
        self.places.iter().filter(|place| place.request.pending.is_wanted).count() as u64
    }

    /// The requests of which something holds, in the order of their places.
    pub fn all(&self, holds: impl Fn(&Request) -> bool) -> Vec<Handle> {
        (0u32..)
            .zip(&self.places)
            .filter(|(_, place)| holds(&place.request))
            .map(|(place, taken)| Handle { place, generation: taken.generation })
            .collect()
    }
}
