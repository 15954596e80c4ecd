//! When the system is told of what is gone, where its devices find that out themselves.

use resilver_detection::{Detection, Group, Outcome};
use resilver_fabric::topology::Topology;
use resilver_fabric::{Component, LogGp, Switched};
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
    /// How long after that the system is told.
    pub delay: SimDuration,
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
    /// When it cannot be simulated, or not all who have to know ever do.
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
            !faults.contains(index) && !fault.is_slow() && fault.at <= at && fault.until.is_none_or(|until| until > at)
        };
        let earlier: Vec<usize> = (0..named.len()).filter(is_gone_already).collect();
        let of = |indices: &[usize]| indices.iter().map(|&index| named[index].fault.clone()).collect::<Vec<Fault>>();
        let (before, now) = (of(&earlier), of(&faults));
        let absent = self.devices_gone(&before);
        let devices: Vec<DeviceId> =
            self.devices_gone(&now).into_iter().filter(|device| !absent.contains(device)).collect();
        if devices.is_empty() {
            // Of what has no device, or is gone already, there is nothing to find out.
            return Ok(None);
        }
        let numbers = |devices: &[DeviceId]| devices.iter().map(|device| device.get()).collect::<Vec<u32>>();
        let group = Group {
            endpoints: self.ends.iter().map(|ends| ends[0]).collect(),
            absent: numbers(&absent),
            broken: components(&before),
            failing: numbers(&devices),
            breaking: components(&now),
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
        let delay = outcome.delay(detection.known_by).ok_or_else(|| {
            let rule = format!("not all of {} devices that are left find out what fails at {at}", outcome.others);
            let remedy = "lower detection.loss, or write detection.known_by = \"first\" or faults.detection";
            SystemError::Described(format!("detection.protocol: {rule}; {remedy}"))
        })?;
        Ok(Some(Detected { faults, at, delay, outcome }))
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
