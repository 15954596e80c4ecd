//! What is said of a level.

use std::num::NonZeroU32;

use resilver_units::{Bytes, BytesPerSecond, SimDuration};
use serde::Deserialize;

/// Parts of one level, as many in each part that contains them; what is not said is absent.
///
/// A level of devices may be declared several times, with another class each.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// The level's name, the user's word.
    pub level: String,
    /// The level that contains this one; `None` at the top of the tree.
    #[serde(rename = "in")]
    pub within: Option<String>,
    /// How many there are in each container. Of a level made of another, it follows from the size.
    pub count: Option<NonZeroU32>,
    /// The class of the devices, such as `hdd`.
    pub class: Option<String>,
    /// What else is said that only devices have, by its keys.
    #[serde(default)]
    pub for_devices: Vec<String>,
    /// What bytes or requests take to pass such a part.
    pub service: Option<PartService>,
    /// Network ports of each part; those of one level.
    pub ports: Option<NonZeroU32>,
    /// The level whose bytes pass such parts, where these do not contain it.
    pub carries: Option<String>,
    /// Whether each two neighbours in a container take over for each other.
    pub partner: Option<bool>,
    /// The level of the members, of a level that is made of another.
    pub of: Option<String>,
    /// Members of each.
    pub size: Option<NonZeroU32>,
    /// The level over whose parts the members are dealt, as evenly as can be.
    pub across: Option<String>,
    /// How many devices of each part that the members are dealt over are in no set, and stand by: the last ones.
    pub spares: Option<NonZeroU32>,
}

impl Declaration {
    /// A plain level, with as many parts in each of `within`.
    ///
    /// # Examples
    /// ```
    /// use resilver_parts::{Declaration, Parts};
    /// let levels = [Declaration::new("host", None, 3), Declaration::new("osd", Some("host"), 4)];
    /// let parts = Parts::new(&levels).unwrap();
    /// assert_eq!(parts.devices().len(), 12);
    /// ```
    pub fn new(level: &str, within: Option<&str>, count: u32) -> Self {
        let (level, within) = (level.to_owned(), within.map(str::to_owned));
        Declaration { level, within, count: NonZeroU32::new(count), ..Declaration::default() }
    }

    /// How many there are in each container.
    pub(crate) fn each(&self) -> u64 {
        number(self.count).max(1)
    }

    /// Whether it is no level that contains the devices, but carries them or is made of them.
    pub(crate) fn is_side(&self) -> bool {
        self.carries.is_some() || self.of.is_some()
    }
}

/// A number that may be absent, as 0 where it is.
pub(crate) fn number(value: Option<NonZeroU32>) -> u64 {
    value.map_or(0, |value| u64::from(value.get()))
}

/// The names of all levels, in their order.
pub(crate) fn level_names(declarations: &[Declaration]) -> Vec<String> {
    let is_first =
        |&(index, part): &(usize, &Declaration)| declarations[..index].iter().all(|one| one.level != part.level);
    declarations.iter().enumerate().filter(is_first).map(|(_, part)| part.level.clone()).collect()
}

/// What it takes to pass a part: a time a request, and a time a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartService {
    /// Of each request, whatever its size.
    #[serde(rename = "per_request")]
    pub time: SimDuration,
    /// How fast bytes pass; `None` where they take no time.
    pub rate: Option<BytesPerSecond>,
}

impl PartService {
    /// How long a request keeps the part busy.
    pub fn time_for(self, bytes: Bytes) -> SimDuration {
        self.rate.map_or(self.time, |rate| self.time + rate.time_for(bytes))
    }
}
