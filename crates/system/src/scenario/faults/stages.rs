//! Which devices are known to have failed, over time.

use std::collections::{BTreeMap, BTreeSet};

use resilver_placement::inverse::FailedSet;
use resilver_units::{DeviceId, SimTime};

use super::Fault;
use crate::ports::Ports;
use crate::scenario::{FabricConfig, SystemConfig};

/// From when to when something is gone: without its end, which is the end of time where it is gone for good.
pub(crate) type Span = (SimTime, SimTime);

/// When a fault holds.
pub(crate) fn span_of(fault: &Fault) -> Span {
    (fault.at, fault.until.unwrap_or(SimTime::MAX))
}

/// Spans in the order of time, those that meet or overlap as one.
pub(crate) fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut all: Vec<Span> = Vec::with_capacity(spans.len());
    for (at, until) in spans {
        match all.last_mut() {
            Some(last) if at <= last.1 => last.1 = last.1.max(until),
            _ => all.push((at, until)),
        }
    }
    all
}

/// What is in spans of both.
pub(crate) fn common(one: &[Span], other: &[Span]) -> Vec<Span> {
    let both = |&(at, until): &Span| other.iter().map(move |&(begin, end)| (at.max(begin), until.min(end)));
    one.iter().flat_map(both).filter(|(at, until)| at < until).collect()
}

/// The most devices that are gone at a time, of which each is in its spans.
pub(super) fn most_at_once<'a>(gone: impl Iterator<Item = &'a [Span]> + Clone) -> u32 {
    let mut times: Vec<SimTime> = gone.clone().flatten().map(|&(at, _)| at).collect();
    times.sort_unstable();
    times.dedup();
    let count_at = |now: SimTime| {
        let is_gone = |spans: &&[Span]| spans.iter().any(|&(at, until)| at <= now && now < until);
        gone.clone().filter(is_gone).count() as u32
    };
    times.into_iter().map(count_at).max().unwrap_or(0)
}

impl SystemConfig {
    /// When each device is gone and the system knows of it, of those that ever are.
    pub(crate) fn failing(&self) -> BTreeMap<DeviceId, Vec<Span>> {
        let mut failing: BTreeMap<DeviceId, Vec<Span>> = BTreeMap::new();
        for fault in self.faults.iter().filter(|fault| fault.is_told) {
            fault.devices.iter().for_each(|&device| failing.entry(device).or_default().push(span_of(fault)));
        }
        failing.into_iter().map(|(device, spans)| (device, merged(spans))).collect()
    }

    /// When each device is gone and the system does not know it yet, of those that it knows of before they are back.
    pub(crate) fn undetected(&self) -> Vec<(Span, DeviceId)> {
        if self.faults.iter().all(|fault| fault.is_told || fault.is_slow()) {
            return Vec::new();
        }
        let ports = Ports::new(&self.endpoint_of, &self.ports_of);
        let node_of = |endpoint| match &self.fabric {
            FabricConfig::LogGp { .. } => None,
            FabricConfig::Switched { topology, .. } => Some(topology.node_of(endpoint)),
        };
        let mut gone: BTreeMap<DeviceId, Vec<Span>> = BTreeMap::new();
        for fault in self.faults.iter().filter(|fault| !fault.is_slow()) {
            let devices = fault.devices_gone(self.endpoint_of.len(), &ports, node_of);
            devices.into_iter().for_each(|device| gone.entry(device).or_default().push(span_of(fault)));
        }
        let mut undetected = Vec::new();
        for (device, known) in self.failing() {
            let gone = merged(gone.remove(&device).unwrap_or_default());
            let mut back = SimTime::ZERO;
            for (at, until) in known {
                let since = gone.iter().find(|span| span.0 <= at && at <= span.1).map_or(at, |span| span.0.max(back));
                undetected.extend((since < at).then_some(((since, at), device)));
                back = until;
            }
        }
        undetected
    }

    /// The devices that are replaced where they are, by number.
    pub(crate) fn replaced(&self) -> Vec<bool> {
        let mut is_replaced = vec![false; self.endpoint_of.len()];
        let devices = self.faults.iter().filter(|fault| fault.is_replaced).flat_map(|fault| &fault.devices);
        devices.for_each(|device| is_replaced[device.index()] = true);
        is_replaced
    }

    /// Of devices that are gone, those whose pieces go to others: all that are not replaced where they are.
    pub(crate) fn abandoned(&self, failed: &FailedSet) -> FailedSet {
        let is_replaced = self.replaced();
        let abandoned: Vec<DeviceId> = failed.devices().filter(|device| !is_replaced[device.index()]).collect();
        FailedSet::new(self.endpoint_of.len(), &abandoned)
    }

    /// All devices that are ever known to be gone.
    pub fn failed(&self) -> FailedSet {
        FailedSet::new(self.endpoint_of.len(), &self.failing().into_keys().collect::<Vec<_>>())
    }

    /// The points of time from which on other devices than before are known to have failed, rising, each with those devices.
    ///
    /// There is at least one: nothing fails at time zero where nothing fails at all. At each either devices fail or devices come
    /// back; where both happen at one time, those come back first.
    pub(crate) fn stages(&self) -> Vec<(SimTime, FailedSet)> {
        let failing = self.failing();
        let ends = |&(at, until): &Span| [(at, true), (until, false)];
        let mut points: BTreeSet<(SimTime, bool)> = failing.values().flatten().flat_map(ends).collect();
        points.retain(|&(at, _)| at < SimTime::MAX);
        if points.is_empty() {
            points.insert((SimTime::ZERO, true));
        }
        let failed_by = |now: SimTime, has_begun: bool| {
            let is_gone = |&(at, until): &Span| (if has_begun { at <= now } else { at < now }) && now < until;
            let gone = failing.iter().filter(|(_, spans)| spans.iter().any(is_gone)).map(|(&device, _)| device);
            FailedSet::new(self.endpoint_of.len(), &gone.collect::<Vec<_>>())
        };
        points.into_iter().map(|(now, has_begun)| (now, failed_by(now, has_begun))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(picoseconds: u64) -> SimTime {
        SimTime::from_picoseconds(picoseconds)
    }

    #[test]
    fn spans_that_meet_are_one() {
        let spans = |all: &[(u64, u64)]| all.iter().map(|&(begin, end)| (at(begin), at(end))).collect::<Vec<Span>>();
        assert_eq!(merged(spans(&[(5, 9), (1, 3), (3, 4), (6, 7)])), spans(&[(1, 4), (5, 9)]));
        assert_eq!(common(&spans(&[(1, 4), (6, 9)]), &spans(&[(3, 7)])), spans(&[(3, 4), (6, 7)]));
        assert_eq!(common(&spans(&[(1, 4)]), &spans(&[(4, 7)])), []);
        // At 6 the first and the third are gone, and at 4 the second and the third: never all three.
        let gone = [spans(&[(1, 3), (5, 9)]), spans(&[(3, 5)]), spans(&[(2, 8)])];
        assert_eq!(most_at_once(gone.iter().map(Vec::as_slice)), 2);
    }
}
