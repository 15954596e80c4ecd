//! Where in its source a part of a map was declared, so that a rule broken later can still name the place.

use crate::map::error::MapError;

/// The place of one declaration.
///
/// Text and binary maps give an offset; JSON maps give the way down to the value, which its reader turns into a path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// A part that no source declares.
    #[default]
    Unknown,
    /// Bytes from the start of the source.
    Offset(usize),
    /// Entry of `devices`.
    Device(usize),
    /// Entry of `types`.
    Type(usize),
    /// Entry of `buckets`.
    Bucket(usize),
    /// Item of an entry of `buckets`.
    Item(usize, usize),
    /// Entry of `rules`.
    Rule(usize),
    /// Step of an entry of `rules`.
    Step(usize, usize),
    /// Entry of the stand-ins of a key of `choose_args`.
    Arguments(i64, usize),
}

/// A broken rule and the place of what breaks it.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) error: MapError,
}

impl Fault {
    /// Joins a place to an error.
    pub(crate) fn at(place: Place) -> impl FnOnce(MapError) -> Self {
        move |error| Self { place, error }
    }
}

impl From<MapError> for Fault {
    fn from(error: MapError) -> Self {
        Self { place: Place::Unknown, error }
    }
}

impl From<Fault> for MapError {
    fn from(fault: Fault) -> Self {
        fault.error
    }
}
