//! Which devices answer requests, and what each did while it did.

use resilver_device::{Device, DeviceUse};
use resilver_units::{DeviceId, SimDuration, SimTime};

/// Whether a device answers.
#[derive(Clone, Copy, Debug, Default)]
struct DeviceState {
    is_dead: bool,
    /// How long it had been serving when it died.
    busy_until_death: SimDuration,
}

/// Which devices answer requests.
#[derive(Clone, Debug)]
pub(crate) struct Liveness {
    devices: Vec<DeviceState>,
}

impl Liveness {
    /// All of `devices` devices answer.
    pub fn new(devices: usize) -> Self {
        Liveness { devices: vec![DeviceState::default(); devices] }
    }

    /// Whether a device answers no request.
    #[inline]
    pub fn is_dead(&self, device: u32) -> bool {
        self.devices[device as usize].is_dead
    }

    /// A device answers no request from now on; returns whether it did before.
    pub fn fail(&mut self, now: SimTime, device: DeviceId, disk: &Device) -> bool {
        let state = &mut self.devices[device.index()];
        let did_answer = !state.is_dead;
        if did_answer {
            *state = DeviceState { is_dead: true, busy_until_death: disk.busy_until(now) };
        }
        did_answer
    }

    /// A device works again, with an empty queue.
    pub fn repair(&mut self, device: DeviceId) {
        self.devices[device.index()].is_dead = false;
    }

    /// What each disk has done up to now.
    pub fn uses(&self, now: SimTime, disks: &[Device]) -> Vec<DeviceUse> {
        let use_of = |(state, disk): (&DeviceState, &Device)| {
            let busy = if state.is_dead { state.busy_until_death } else { disk.busy_until(now) };
            DeviceUse { busy, ..disk.usage() }
        };
        self.devices.iter().zip(disks).map(use_of).collect()
    }
}
