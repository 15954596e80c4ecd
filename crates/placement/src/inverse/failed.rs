//! The set of failed devices.

use resilver_units::DeviceId;

/// Which devices failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedSet {
    failed: Vec<bool>,
}

impl FailedSet {
    /// The set of `failed` among `devices` devices.
    pub fn new(devices: usize, failed: &[DeviceId]) -> Self {
        let mut set = FailedSet { failed: vec![false; devices] };
        for device in failed {
            set.failed[device.index()] = true;
        }
        set
    }

    /// Whether a device failed.
    #[inline]
    pub fn contains(&self, device: DeviceId) -> bool {
        self.failed[device.index()]
    }

    /// The failed devices, in rising order.
    pub fn devices(&self) -> impl Iterator<Item = DeviceId> + '_ {
        (0..self.failed.len() as u32).map(DeviceId::new).filter(|&device| self.contains(device))
    }
}
