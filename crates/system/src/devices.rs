//! The devices of a system: of which kind each is, how fast it is, and when it is slow.

use std::collections::BTreeMap;

use resilver_device::{Device, Disk, Mixed, Pace, ReadsFirst, Service};
use resilver_units::{DeviceId, SimTime};

use crate::SystemError;
use crate::network::NetworkFault;
use crate::ways::Passing;

/// In which order a device serves its requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discipline {
    /// As they come.
    #[default]
    Fifo,
    /// Reads before writes.
    ReadsFirst,
}

/// A kind of device.
#[derive(Clone, Debug)]
pub struct DeviceKind {
    /// Service times at speed 1.
    pub service: Service,
    /// In which order requests are served.
    pub discipline: Discipline,
    /// Standard deviation of the devices' speeds around 1.
    pub spread: f64,
}

/// How something works at a share of its speed for a while, of which nobody is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slowdown {
    /// When it becomes slow.
    pub at: SimTime,
    /// When it works as before; `None` where it does not.
    pub until: Option<SimTime>,
    /// The share of its speed, above 0 and below 1; of several at a time, the smallest holds.
    pub health: f64,
}

/// The devices of a system.
#[derive(Clone, Debug)]
pub struct Devices {
    /// The kinds that there are, one or more.
    pub kinds: Vec<DeviceKind>,
    /// Which of them each device is of; empty where all are of the first.
    pub kind_of: Vec<u8>,
    /// Those that are slow for a while, and how.
    pub slowdowns: Vec<(DeviceId, Slowdown)>,
    /// The parts that their requests pass, where any has a service.
    pub passing: Option<Passing>,
}

impl Devices {
    /// Devices that are all alike, and never slow.
    pub fn alike(service: Service, discipline: Discipline) -> Self {
        let kinds = vec![DeviceKind { service, discipline, spread: 0.0 }];
        Devices { kinds, kind_of: Vec::new(), slowdowns: Vec::new(), passing: None }
    }

    /// The kind of a device.
    pub fn kind(&self, device: DeviceId) -> &DeviceKind {
        &self.kinds[self.kind_of.get(device.index()).map_or(0, |&kind| usize::from(kind))]
    }

    /// The discipline of all devices, where they have one.
    pub(crate) fn discipline(&self) -> Option<Discipline> {
        let first = self.kinds.first()?.discipline;
        self.kinds.iter().all(|kind| kind.discipline == first).then_some(first)
    }

    /// Checks that `count` devices have kinds that there are.
    ///
    /// # Errors
    /// The first number that is too large.
    pub(crate) fn check(&self, count: usize) -> Result<(), SystemError> {
        if let Some(passing) = self.passing.as_ref().filter(|passing| passing.parts.devices().len() != count) {
            let number = passing.parts.devices().len() as u32;
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
        let beyond = |slow: &&(DeviceId, Slowdown)| slow.0.index() >= count;
        match self.slowdowns.iter().find(beyond) {
            Some((device, _)) => Err(no_such("device that is slow", device.get(), count)),
            None => Ok(()),
        }
    }

    /// When devices become slow, and when they are not any more, and when parts on their ways go, as faults that take nothing
    /// away.
    pub(crate) fn slow_times(&self) -> Vec<NetworkFault> {
        let mut times: Vec<(SimTime, Option<SimTime>)> =
            self.slowdowns.iter().map(|(_, slow)| (slow.at, slow.until)).collect();
        if let Some(passing) = &self.passing {
            times.extend(passing.slow.iter().map(|(_, slow)| (slow.at, slow.until)));
            times.extend(passing.gone.iter().map(|&(at, _)| (at, None)));
        }
        times.sort_unstable();
        times.dedup();
        times.into_iter().map(|(at, repair_at)| NetworkFault { at, repair_at, ..NetworkFault::default() }).collect()
    }

    /// `count` devices, each made by its service and its number, and set to its pace.
    pub(crate) fn build<D: Device>(&self, seed: u64, count: usize, make: impl Fn(&DeviceKind, u64) -> D) -> Vec<D> {
        let slow = by_key(&self.slowdowns);
        let device = |number: u32| {
            let (id, kind) = (DeviceId::new(number), self.kind(DeviceId::new(number)));
            let mut made = make(kind, u64::from(number));
            let pace = Pace::drawn(seed, u64::from(number), kind.spread);
            made.set_pace(pace.with_health(slow.get(&id).map_or(&[], |health| &health[..])));
            made
        };
        (0..count as u32).map(device).collect()
    }
}

/// The volume of a system with several disciplines.
pub(crate) fn mixed(kind: &DeviceKind, device: u64) -> Mixed {
    match kind.discipline {
        Discipline::Fifo => Mixed::Fifo(Disk::new(&kind.service, device)),
        Discipline::ReadsFirst => Mixed::ReadsFirst(ReadsFirst::new(&kind.service, device)),
    }
}

/// The health over time of all that is slow at times.
pub(crate) fn by_key<T: Copy + Ord>(slowdowns: &[(T, Slowdown)]) -> BTreeMap<T, Vec<(SimTime, f64)>> {
    let mut of_each: BTreeMap<T, Vec<Slowdown>> = BTreeMap::new();
    slowdowns.iter().for_each(|&(key, slow)| of_each.entry(key).or_default().push(slow));
    of_each.into_iter().map(|(key, slow)| (key, health_of(&slow))).collect()
}

/// The health of one thing over time: the worst of the slowdowns that hold at each.
fn health_of(slowdowns: &[Slowdown]) -> Vec<(SimTime, f64)> {
    let mut times: Vec<SimTime> = slowdowns.iter().flat_map(|slow| [Some(slow.at), slow.until]).flatten().collect();
    times.sort_unstable();
    times.dedup();
    let worst = |time: SimTime| {
        let holds = slowdowns.iter().filter(|slow| slow.at <= time && slow.until.is_none_or(|until| time < until));
        holds.map(|slow| slow.health).fold(1.0, f64::min)
    };
    times.into_iter().map(|time| (time, worst(time))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_slowdowns_the_worst_holds() {
        let at = SimTime::from_picoseconds;
        let slow = |begin, until: Option<u64>, health| Slowdown { at: at(begin), until: until.map(at), health };
        let all = [slow(10, None, 0.5), slow(20, Some(30), 0.1), slow(25, Some(40), 0.8)];
        assert_eq!(health_of(&all), [(10, 0.5), (20, 0.1), (25, 0.1), (30, 0.5), (40, 0.5)].map(|(t, h)| (at(t), h)));
        assert_eq!(health_of(&all[1..2]), [(at(20), 0.1), (at(30), 1.0)]);
        assert!(health_of(&[]).is_empty());
    }
}
