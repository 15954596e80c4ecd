//! Which devices answer requests, and what each did while it did.

use resilver_device::{Device, DeviceUse};
use resilver_units::{DeviceId, SimDuration, SimTime};

/// What is known of a device.
#[derive(Clone, Copy, Debug, Default)]
struct Served {
    is_dead: bool,
    /// How long it had been serving when it died.
    busy_until_death: SimDuration,
}

/// Which devices answer requests.
#[derive(Clone, Debug)]
pub(crate) struct Attendance {
    devices: Vec<Served>,
}

impl Attendance {
    /// All of `devices` devices answer.
    pub fn new(devices: usize) -> Self {
        Attendance { devices: vec![Served::default(); devices] }
    }

    /// Whether a device answers no request.
    #[inline]
    pub fn is_dead(&self, device: u32) -> bool {
        self.devices[device as usize].is_dead
    }

    /// A device answers no request from now on; returns whether it did before.
    pub fn fail<D: Device>(&mut self, now: SimTime, device: DeviceId, disk: &D) -> bool {
        let served = &mut self.devices[device.index()];
        let did_answer = !served.is_dead;
        if did_answer {
            *served = Served { is_dead: true, busy_until_death: disk.busy_until(now) };
        }
        did_answer
    }

    /// A device works again, with an empty queue.
    pub fn repair(&mut self, device: DeviceId) {
        self.devices[device.index()].is_dead = false;
    }

    /// What each disk has done up to now.
    pub fn uses<D: Device>(&self, now: SimTime, disks: &[D]) -> Vec<DeviceUse> {
        let use_of = |(served, disk): (&Served, &D)| {
            let busy = if served.is_dead { served.busy_until_death } else { disk.busy_until(now) };
            DeviceUse { busy, ..disk.usage() }
        };
        self.devices.iter().zip(disks).map(use_of).collect()
    }
}
