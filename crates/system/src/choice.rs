//! What a destination chooses: whom it asks for an object, and in which order it asks for its objects.

use resilver_kernel::{Purpose, Stream};
use resilver_units::{Bytes, DeviceId, ObjectId};

use crate::work::Copies;

/// Which surviving holder a new home pulls an object from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceChoice {
    /// The first survivor in placement order.
    #[default]
    Primary,
    /// Any survivor, each as likely as the others.
    Random,
    /// The survivor with the least data assigned to it and not sent yet, when the pull begins.
    LeastLoaded,
}

const SOURCE_CHOICE: Purpose = Purpose::named("source");

impl SourceChoice {
    /// Those of an object's holders that may be asked for it: all where the choice is made when the pull begins.
    pub(crate) fn candidates(self, seed: u64, object: ObjectId, holders: &[DeviceId]) -> &[DeviceId] {
        match self {
            SourceChoice::Primary => &holders[..1],
            SourceChoice::Random => {
                let choice = Stream::new(seed, object.get(), SOURCE_CHOICE).below(holders.len() as u64) as usize;
                &holders[choice..=choice]
            }
            SourceChoice::LeastLoaded => holders,
        }
    }
}

/// The order in which a destination pulls its objects; equals come in the order of the population.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectOrder {
    /// As the population has them.
    #[default]
    Population,
    /// The smallest object first.
    Smallest,
    /// The largest object first.
    Largest,
    /// The object with the fewest copies left first.
    Risk,
}

impl ObjectOrder {
    /// What pulls are sorted by, in rising order.
    #[inline]
    pub(crate) fn key(self, size: Bytes, copies: Copies) -> u64 {
        match self {
            ObjectOrder::Population => 0,
            ObjectOrder::Smallest => size.get(),
            ObjectOrder::Largest => !size.get(),
            ObjectOrder::Risk => u64::from(copies.left),
        }
    }
}
