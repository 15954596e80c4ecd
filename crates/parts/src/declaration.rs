//! What is said of a level.

use resilver_units::{Bytes, BytesPerSecond, SimDuration};
use serde::Deserialize;

/// Parts of one level, as many in each part that contains them.
///
/// A level of devices may be declared several times, with another class each.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// The level's name, the user's word.
    pub level: String,
    /// The level that contains this one; `None` at the top of the tree.
    #[serde(rename = "in")]
    pub within: Option<String>,
    /// How many there are in each container. Of a level made of another, it follows from the size and is not read.
    pub count: u32,
    /// The class of the devices, such as `hdd`.
    pub class: Option<String>,
    /// What bytes or requests take to pass such a part.
    pub service: Option<PartService>,
    /// Network ports of each part; zero where they are another level's.
    pub ports: u32,
    /// The level whose bytes pass such parts, where these do not contain it.
    pub carries: Option<String>,
    /// Whether each two neighbours in a container take over for each other.
    #[serde(rename = "partner")]
    pub has_partner: bool,
    /// What the level is made of, where it is.
    pub of: Option<Made>,
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
        Declaration {
            level: level.to_owned(),
            within: within.map(str::to_owned),
            count,
            class: None,
            service: None,
            ports: 0,
            carries: None,
            has_partner: false,
            of: None,
        }
    }
}

/// What a level is made of.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// The level of the members.
    pub level: String,
    /// Members of each.
    pub size: u32,
    /// The level over whose parts the members are dealt, as evenly as can be.
    pub across: Option<String>,
    /// How many devices of each part that the members are dealt over are in no set, and stand by: the last ones.
    pub spares: u32,
    /// The code over the members.
    #[serde(default)]
    pub code: Option<String>,
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
