//! When the system is told of what is gone, where its devices find that out themselves.

use resilver_detection::{Detection, Group, Outcome};
use resilver_fabric::topology::Topology;
use resilver_fabric::{Component, Fabric, LogGp, Switched};
use resilver_units::{DeviceId, EndpointId, SimDuration, SimTime};

use super::FabricConfig;
use super::faults::{Fault, Named};
use crate::SystemError;
use crate::ports::Ports;

/// How a failure became known.
#[derive(Clone, Debug, PartialEq)]
pub struct Detected {
    /// Which faults of the study it is, by their places; all happen at a time.
    pub faults: Vec<usize>,
    /// When they happen.
    pub at: SimTime,
    /// How long after that the system is told; `None` where it never is.
    pub delay: Option<SimDuration>,
    /// What the devices found out.
    pub outcome: Outcome,
}

/// Where devices are, and over what they send.
pub(super) struct Watching<'a> {
    pub seed: u64,
    pub fabric: &'a FabricConfig,
    /// All endpoints of each device.
    pub ends: &'a [Vec<EndpointId>],
}

impl Watching<'_> {
    /// Finds out when each of the faults for which `waits` says so becomes known: faults of one time together, by devices that
    /// are there until then.
    ///
    /// # Errors
    /// When it cannot be simulated.
    pub fn detect(
        &self,
        detection: &Detection,
        named: &[Named],
        waits: impl Fn(usize) -> bool,
    ) -> Result<Vec<Detected>, SystemError> {
        let mut groups: Vec<(SimTime, Vec<usize>)> = Vec::new();
        for (index, Named { fault, .. }) in named.iter().enumerate().filter(|&(index, _)| waits(index)) {
            match groups.iter_mut().find(|(at, _)| *at == fault.at) {
                Some((_, faults)) => faults.push(index),
                None => groups.push((fault.at, vec![index])),
            }
        }
        groups.sort_by_key(|&(at, _)| at);
        let detected = groups.into_iter().map(|(at, faults)| self.detect_at(detection, named, at, faults));
        detected.filter_map(Result::transpose).collect()
    }

    fn detect_at(
        &self,
        detection: &Detection,
        named: &[Named],
        at: SimTime,
        faults: Vec<usize>,
    ) -> Result<Option<Detected>, SystemError> {
        let is_gone_already = |index: &usize| {
            let fault = &named[*index].fault;
            !fault.is_slow() && fault.at < at && fault.until.is_none_or(|until| until > at)
        };
        let earlier: Vec<usize> = (0..named.len()).filter(is_gone_already).collect();
        let goes_too = |index: &usize| {
            let fault = &named[*index].fault;
            !faults.contains(index) && !fault.is_slow() && fault.at == at
        };
        let beside: Vec<usize> = (0..named.len()).filter(goes_too).collect();
        let of = |indices: &[usize]| indices.iter().map(|&index| named[index].fault.clone()).collect::<Vec<Fault>>();
        let (before, now, beside) = (of(&earlier), of(&faults), of(&beside));
        let absent = self.devices_gone(&before);
        let devices: Vec<DeviceId> =
            self.devices_gone(&now).into_iter().filter(|device| !absent.contains(device)).collect();
        if devices.is_empty() {
            // Of what has no device, or is gone already, there is nothing to find out.
            return Ok(None);
        }
        let numbers = |devices: &[DeviceId]| devices.iter().map(|device| device.get()).collect::<Vec<u32>>();
        let is_new = |device: &DeviceId| !absent.contains(device) && !devices.contains(device);
        let leaving: Vec<DeviceId> = self.devices_gone(&beside).into_iter().filter(is_new).collect();
        let (broken, breaking) = (components(&before), [components(&now), components(&beside)].concat());
        let side = self.best_side(&[broken.as_slice(), breaking.as_slice()].concat());
        let group = Group {
            endpoints: self.ends.iter().map(|ends| ends[side]).collect(),
            absent: numbers(&absent),
            broken,
            failing: numbers(&devices),
            leaving: numbers(&leaving),
            breaking,
        };
        let (seed, entity) = (self.seed, faults[0] as u64);
        let outcome = match self.fabric {
            FabricConfig::LogGp { table } => {
                let endpoints = self.ends.iter().flatten().map(|endpoint| endpoint.index() + 1).max().unwrap_or(0);
                detection.detect(&group, LogGp::new(table.clone(), endpoints), seed, entity)
            }
            FabricConfig::Switched { topology, parameters } => {
                let fabric = Switched::new(topology.clone(), parameters.clone());
                detection.detect(&group, fabric, seed, entity)
            }
        };
        let outcome = outcome.map_err(|error| SystemError::Described(error.to_string()))?;
        let delay = outcome.delay(detection.known_by);
        Ok(Some(Detected { faults, at, delay, outcome }))
    }

    /// The side of the ports by which members send: that on which most of them work when all of these parts are gone.
    fn best_side(&self, gone: &[Component]) -> usize {
        let sides = self.ends.iter().map(Vec::len).min().unwrap_or(1);
        let FabricConfig::Switched { topology, parameters } = self.fabric else { return 0 };
        let mut fabric = Switched::new(topology.clone(), parameters.clone());
        for &component in gone {
            fabric.fail(SimTime::ZERO, component, |_, _| {}, |_| {});
        }
        let working =
            |side: &usize| self.ends.iter().filter(|ends| fabric.is_linked(topology.node_of(ends[*side]))).count();
        (0..sides).rev().max_by_key(working).unwrap_or(0)
    }

    fn topology(&self) -> Option<&Topology> {
        match self.fabric {
            FabricConfig::LogGp { .. } => None,
            FabricConfig::Switched { topology, .. } => Some(topology),
        }
    }

    /// The devices that are gone with some faults, by number.
    fn devices_gone(&self, faults: &[Fault]) -> Vec<DeviceId> {
        let ports = Ports::new(&[], self.ends);
        let node_of = |endpoint| self.topology().map(|topology| topology.node_of(endpoint));
        let mut gone: Vec<DeviceId> =
            faults.iter().flat_map(|fault| fault.devices_gone(self.ends.len(), &ports, node_of)).collect();
        gone.sort_unstable();
        gone.dedup();
        gone
    }
}

/// What of the network is gone with some faults.
fn components(faults: &[Fault]) -> Vec<Component> {
    let links = faults.iter().flat_map(|fault| fault.links.iter().map(|&link| Component::Link(link)));
    let nodes = faults.iter().flat_map(|fault| fault.nodes.iter().map(|&node| Component::Node(node)));
    links.chain(nodes).collect()
}
