//! Static modulo: an object's hash modulo the number of devices, further copies on the devices that follow.
//!
//! The placement that storage systems begin with, and `static_modulo` of the ch-placement library (Carns et al. 2016,
//! section IV). A failure moves only what was lost, to the devices that follow. A device more or less changes the divisor and
//! moves nearly everything: of n devices an object keeps its place with the chance 1/n.

use resilver_units::{DeviceId, ObjectId};
use serde::Deserialize;

use super::domains::around;
use super::{Build, Domains, ObjectLayout, Over, draw};
use resilver_crush::MapError;

/// Placement by the remainder of an object's hash.
#[derive(Clone, Debug)]
pub struct Modulo {
    domains: Domains,
}

impl Modulo {
    /// A layout over devices in failure domains.
    ///
    /// # Examples
    /// ```
    /// use resilver_placement::layouts::{Domains, Modulo, ObjectLayout};
    /// use resilver_units::ObjectId;
    /// let mut found = Vec::new();
    /// Modulo::new(Domains::each_its_own(4)).place(ObjectId::new(7), 3, |_| false, &mut found);
    /// assert_eq!(found[1].get(), (found[0].get() + 1) % 4);
    /// ```
    #[must_use]
    pub fn new(domains: Domains) -> Self {
        Modulo { domains }
    }
}

/// The remainder of a hash, which has no keys.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModuloKeys {}

impl Build for ModuloKeys {
    type Layout = Modulo;

    fn build(self, over: Over<'_>) -> Result<Modulo, MapError> {
        Ok(Modulo::new(over.domains))
    }
}

impl ObjectLayout for Modulo {
    fn devices(&self) -> usize {
        self.domains.devices()
    }

    #[inline]
    fn place(&self, object: ObjectId, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        found.clear();
        let devices = self.devices();
        let first = draw(object, 0).checked_rem(devices as u64).unwrap_or(0);
        self.domains.take(around(first as u32, devices), copies, failed, found);
    }
}
