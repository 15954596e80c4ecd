//! The devices of a system: of which kind each is, and how fast it is.

use std::collections::BTreeMap;

pub use resilver_device::Discipline;
use resilver_device::{Device, Pace, Service};
use resilver_kernel::lanes::Lanes;
use resilver_parts::Parts;
use resilver_units::{DeviceId, SimTime};
use serde::Deserialize;

use crate::SystemError;

/// A kind of device.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceKind {
    /// Service times at speed 1.
    pub service: Service,
    /// In which order requests are served.
    pub discipline: Discipline,
    /// Standard deviation of the devices' speeds around 1.
    pub spread: f64,
}

/// The devices of a system.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Devices {
    /// The kinds that there are, one or more.
    pub kinds: Vec<DeviceKind>,
    /// Which of them each device is of; empty where all are of the first.
    pub kind_of: Vec<u8>,
    /// How often each of some devices has been replaced; its speed is drawn anew each time.
    #[serde(default)]
    pub replaced: BTreeMap<u32, u32>,
    /// The parts of the cluster, where requests pass any of them.
    pub passing: Option<Parts>,
}

impl Devices {
    /// Devices that are all alike.
    pub fn alike(service: Service, discipline: Discipline) -> Self {
        let kinds = vec![DeviceKind { service, discipline, spread: 0.0 }];
        Devices { kinds, kind_of: Vec::new(), replaced: BTreeMap::new(), passing: None }
    }

    /// The kind of a device.
    pub fn kind(&self, device: DeviceId) -> &DeviceKind {
        &self.kinds[self.kind_of.get(device.index()).map_or(0, |&kind| usize::from(kind))]
    }

    /// Checks that `count` devices have kinds that there are.
    ///
    /// # Errors
    /// The first number that is too large.
    pub(crate) fn check(&self, count: usize) -> Result<(), SystemError> {
        if let Some(passing) = self.passing.as_ref().filter(|parts| parts.devices().len() != count) {
            let number = passing.devices().len() as u32;
            return Err(SystemError::NoSuchPart { part: "device of the parts", number, count: count as u32 });
        }
        let no_such = |part, number, count: usize| SystemError::NoSuchPart { part, number, count: count as u32 };
        let kinds = self.kinds.len();
        if let Some(&kind) = self.kind_of.iter().find(|&&kind| usize::from(kind) >= kinds) {
            return Err(no_such("kind of devices", u32::from(kind), kinds));
        }
        if kinds == 0 || !self.kind_of.is_empty() && self.kind_of.len() != count {
            return Err(no_such("device of kind_of", self.kind_of.len() as u32, count));
        }
        if let Some((&number, _)) = self.replaced.last_key_value().filter(|(number, _)| **number as usize >= count) {
            return Err(no_such("device of replaced", number, count));
        }
        Ok(())
    }

    /// `count` devices with these lanes, where they have any; `slow` says the health of those that are ever slow.
    pub(crate) fn build(
        &self,
        seed: u64,
        count: usize,
        slow: &BTreeMap<u32, Vec<(SimTime, f64)>>,
        lanes: Option<&Lanes>,
    ) -> Vec<Device> {
        let device = |number: u32| {
            let kind = self.kind(DeviceId::new(number));
            let mut device = Device::new(&kind.service, u64::from(number), kind.discipline, lanes);
            let replacements = self.replaced.get(&number).copied().unwrap_or(0);
            let pace = Pace::drawn_again(seed, u64::from(number), kind.spread, replacements);
            device.set_pace(pace.with_health(slow.get(&number).map_or(&[], Vec::as_slice)));
            device
        };
        (0..count as u32).map(device).collect()
    }
}

/// The speeds of some devices of one spread, each after so many replacements.
///
/// # Errors
/// A spread beyond [`Pace::SPREAD_MAX`].
pub fn drawn_speeds(seed: u64, spread: f64, replacements: &[(u32, u32)]) -> Result<Vec<f64>, SystemError> {
    spread_in_range(spread)?;
    let speed = |&(device, times): &(u32, u32)| Pace::drawn_again(seed, u64::from(device), spread, times).speed();
    Ok(replacements.iter().map(speed).collect())
}

/// Refuses a spread that would leave devices without speed.
pub(crate) fn spread_in_range(spread: f64) -> Result<(), SystemError> {
    let most = Pace::SPREAD_MAX;
    if (0.0..=most).contains(&spread) {
        return Ok(());
    }
    Err(SystemError::Described(format!("cluster.parts.spread = {spread}: it is from 0 to {most}")))
}
