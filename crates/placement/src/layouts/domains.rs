//! Which devices may hold a further copy of an object.

use resilver_units::DeviceId;
use serde::Deserialize;

/// The failure domain of each device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Domains {
    of: Vec<u32>,
}

impl Domains {
    /// Device number i is in domain `of[i]`.
    ///
    /// # Examples
    /// ```
    /// use resilver_placement::layouts::Domains;
    /// assert_eq!(Domains::new(vec![0, 0, 1]).count(), 2);
    /// ```
    #[must_use]
    pub fn new(of: Vec<u32>) -> Self {
        Domains { of }
    }

    /// Every device is a domain of its own.
    #[must_use]
    pub fn each_its_own(devices: u32) -> Self {
        Domains { of: (0..devices).collect() }
    }

    /// The number of devices.
    #[must_use]
    pub fn devices(&self) -> usize {
        self.of.len()
    }

    /// The domain of a device.
    #[inline]
    #[must_use]
    pub fn of(&self, device: DeviceId) -> u32 {
        self.of[device.index()]
    }

    /// The domain of each device, by its number.
    pub(crate) fn of_all(&self) -> &[u32] {
        &self.of
    }

    /// The number of different domains.
    #[must_use]
    pub fn count(&self) -> usize {
        let mut domains = self.of.clone();
        domains.sort_unstable();
        domains.dedup();
        domains.len()
    }

    /// Whether a device lies in the domain of one of `found`.
    #[inline]
    #[must_use]
    pub fn is_used(&self, device: DeviceId, found: &[DeviceId]) -> bool {
        let domain = self.of(device);
        found.iter().any(|&other| self.of(other) == domain)
    }

    /// Takes those of `candidates` that have not failed and lie in new domains, in order, until there are `copies`.
    ///
    /// A failed device only drops out of the sequence. Its domain may come up again further on; the first device of any
    /// other domain stays where it is, so every survivor is taken again, in the same order.
    #[inline]
    pub(crate) fn take(
        &self,
        candidates: impl Iterator<Item = DeviceId>,
        copies: usize,
        failed: impl Fn(DeviceId) -> bool,
        found: &mut Vec<DeviceId>,
    ) {
        if found.len() >= copies {
            return;
        }
        for device in candidates {
            if failed(device) || self.is_used(device, found) {
                continue;
            }
            found.push(device);
            if found.len() == copies {
                return;
            }
        }
    }
}

/// All of `devices` devices in turn, from one on and around.
pub(crate) fn around(first: u32, devices: usize) -> impl Iterator<Item = DeviceId> {
    let devices = devices as u32;
    (first..devices).chain(0..first.min(devices)).map(DeviceId::new)
}
