//! What a destination chooses: whom it asks for an object, and in which order it asks for its objects.

use resilver_units::Bytes;
use serde::Deserialize;

/// Which of the survivors that serve a new home asks for a piece's parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceChoice {
    /// The first survivors in placement order, those made anew last.
    #[default]
    Primary,
    /// Any survivors, each as likely as the others.
    Random,
    /// The survivors with the least data asked of them and not sent yet, when the piece's first buffer is asked for.
    LeastLoaded,
}

/// The order in which a destination asks for its pieces; equals come in the order of the population.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectOrder {
    /// As the population has them.
    #[default]
    Population,
    /// The smallest object first.
    Smallest,
    /// The largest object first.
    Largest,
    /// The object with the fewest pieces left first.
    Risk,
}

impl ObjectOrder {
    /// What pieces are sorted by, in rising order; of an object of this size that has so many left.
    #[inline]
    pub(crate) fn key(self, size: Bytes, copies_left: u8) -> u64 {
        match self {
            ObjectOrder::Population => 0,
            ObjectOrder::Smallest => size.get(),
            ObjectOrder::Largest => !size.get(),
            ObjectOrder::Risk => u64::from(copies_left),
        }
    }
}
