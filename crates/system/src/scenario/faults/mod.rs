//! Faults: what breaks, when, how far, who is told, and until when. There is one kind.
//!
//! At a time devices, nodes or links go to a health: 0 is gone, and between 0 and 1 is that share of their speed. Where the
//! system is told, recovery begins; where nobody is, requests meet what is broken. With an end, all is as before from then on.

mod drawing;
mod kinds;
mod naming;
mod stages;

use std::collections::BTreeMap;

use resilver_fabric::topology::Topology;
use resilver_kernel::Pace;
use resilver_units::{DeviceId, EndpointId, SimTime};

use crate::ports::Ports;
use crate::scenario::SystemConfig;

pub use drawing::choose_failed;
pub use naming::{Ask, LevelNames, Named, Names, PartsOfLevel, Wanted, named_faults};
pub(crate) use stages::{Span, common, merged, span_of};

/// Parts of a system that go to a health together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fault {
    /// When.
    pub at: SimTime,
    /// When all is as before; `None` where it never is.
    pub until: Option<SimTime>,
    /// The share of its speed that each works at from then on, below 1; 0 is gone. Of several at a time the worst holds.
    pub health: f64,
    /// Whether the system is told, and makes what was there anew elsewhere: of devices that are gone.
    pub is_told: bool,
    /// Whether its devices are replaced where they are: they come back empty, and what they held is made anew on them.
    pub is_replaced: bool,
    /// Whether clients send again, once all is as before, what waits for its devices.
    pub is_resent: bool,
    /// Devices. Of those that are gone, nobody else: what contains them goes on.
    pub devices: Vec<DeviceId>,
    /// Nodes, by their numbers in the topology: with all their links and the clients at them, and where nobody is told, the devices.
    pub nodes: Vec<u32>,
    /// Links, by their numbers in the topology.
    pub links: Vec<u32>,
    /// Parts that requests pass, by their numbers among all: what carries others, and slow parts with a service.
    pub parts: Vec<u32>,
}

impl Fault {
    /// Devices that are gone for good from `at` on, of which the system is told.
    pub fn told(at: SimTime, devices: Vec<DeviceId>) -> Self {
        Fault { at, devices, is_told: true, ..Fault::default() }
    }

    /// The devices, of so many, that are gone with it: its own, and those of which it takes the nodes of all ports.
    pub(crate) fn devices_gone(
        &self,
        devices: usize,
        ports: &Ports,
        node_of: impl Fn(EndpointId) -> Option<u32>,
    ) -> Vec<DeviceId> {
        let is_in_node = |&endpoint: &EndpointId| node_of(endpoint).is_some_and(|node| self.nodes.contains(&node));
        let numbers = (0..devices as u32).map(DeviceId::new).filter(|_| !self.nodes.is_empty());
        let mut gone: Vec<DeviceId> = numbers.filter(|&device| ports.of(device).iter().all(is_in_node)).collect();
        gone.extend(&self.devices);
        gone.sort_unstable();
        gone.dedup();
        gone
    }

    /// Whether what it concerns works at a share of its speed.
    pub fn is_slow(&self) -> bool {
        self.health > 0.0
    }
}

/// The beginning or the end of a fault that messages and devices meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub at: SimTime,
    pub fault: usize,
    pub is_end: bool,
}

/// The beginnings and the ends of faults, in the order of time, then of the faults.
pub(crate) fn changes_of(faults: &[Fault]) -> Vec<Change> {
    let ends = |(fault, of): (usize, &Fault)| {
        let begin = Change { at: of.at, fault, is_end: false };
        [Some(begin), of.until.map(|at| Change { at, fault, is_end: true })]
    };
    let mut changes: Vec<Change> = faults.iter().enumerate().flat_map(ends).flatten().collect();
    changes.sort_by_key(|change| (change.at, change.fault, change.is_end));
    changes
}

impl SystemConfig {
    /// The faults that messages and devices meet, beside what the system knows of devices: those that nobody is told of, and those
    /// of nodes. First those in which something is gone, then the slow ones, each in the order of time.
    ///
    /// When devices are slow only clients have to know, as they are measured apart from then on.
    pub(crate) fn breaking(&self, has_clients: bool) -> Vec<Fault> {
        let is_met = |fault: &Fault| !fault.is_told || !fault.nodes.is_empty();
        let matters = |fault: &&Fault| is_met(fault) && (has_clients || !fault.is_slow());
        let mut breaking: Vec<Fault> = self.faults.iter().filter(matters).cloned().collect();
        breaking.sort_by_key(|fault| (fault.is_slow(), fault.at));
        breaking
    }

    /// How fast each device is over time, of those that are ever slow.
    pub(crate) fn slow_devices(&self) -> BTreeMap<u32, Vec<(SimTime, f64)>> {
        paces(&self.faults, |fault| fault.devices.iter().map(|device| device.get()).collect())
    }

    /// The same of the channels of a fabric: a link is slow both ways, and a node with all its links.
    pub(crate) fn slow_channels(&self, topology: &Topology) -> BTreeMap<u32, Pace> {
        let of_node = |&node: &u32| {
            let out = topology.channels_from(node);
            out.flat_map(|channel| [channel, topology.reverse(channel)])
        };
        let channels = |fault: &Fault| {
            let links = fault.links.iter().flat_map(|&link| topology.channels_of(link));
            let mut channels: Vec<u32> = links.chain(fault.nodes.iter().flat_map(of_node)).collect();
            channels.sort_unstable();
            channels.dedup();
            channels
        };
        let pace = |(channel, health): (u32, Vec<(SimTime, f64)>)| (channel, Pace::default().with_health(&health));
        paces(&self.faults, channels).into_iter().map(pace).collect()
    }
}

/// The health over time of all that is ever slow, by the numbers that `of` gives for a fault.
pub(crate) fn paces(faults: &[Fault], of: impl Fn(&Fault) -> Vec<u32>) -> BTreeMap<u32, Vec<(SimTime, f64)>> {
    let mut slow: BTreeMap<u32, Vec<&Fault>> = BTreeMap::new();
    for fault in faults.iter().filter(|fault| fault.is_slow()) {
        of(fault).into_iter().for_each(|number| slow.entry(number).or_default().push(fault));
    }
    slow.into_iter().map(|(number, faults)| (number, health_of(&faults))).collect()
}

/// The health of one part over time: the worst of what holds at each.
fn health_of(faults: &[&Fault]) -> Vec<(SimTime, f64)> {
    let mut times: Vec<SimTime> = faults.iter().flat_map(|fault| [Some(fault.at), fault.until]).flatten().collect();
    times.sort_unstable();
    times.dedup();
    let worst = |time: SimTime| {
        let holds = faults.iter().filter(|fault| fault.at <= time && fault.until.is_none_or(|until| time < until));
        holds.map(|fault| fault.health).fold(1.0, f64::min)
    };
    times.into_iter().map(|time| (time, worst(time))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_faults_at_a_time_the_worst_holds() {
        let at = SimTime::from_picoseconds;
        let slow = |begin, until: Option<u64>, health| Fault {
            at: at(begin),
            until: until.map(at),
            health,
            ..Fault::default()
        };
        let all = [slow(10, None, 0.5), slow(20, Some(30), 0.1), slow(25, Some(40), 0.8)];
        let of = |faults: &[Fault]| health_of(&faults.iter().collect::<Vec<_>>());
        assert_eq!(of(&all), [(10, 0.5), (20, 0.1), (25, 0.1), (30, 0.5), (40, 0.5)].map(|(t, h)| (at(t), h)));
        assert_eq!(of(&all[1..2]), [(at(20), 0.1), (at(30), 1.0)]);
        assert!(of(&[]).is_empty());
    }
}
