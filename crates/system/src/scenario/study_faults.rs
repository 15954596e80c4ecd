//! Faults as a study says them.

use std::collections::BTreeMap;
use std::sync::Arc;

use resilver_fabric::topology::Topology;
use resilver_kernel::{Purpose, Stream};
use resilver_redundancy::Code;
use resilver_units::elementary::pow;
use resilver_units::{EndpointId, Refusal, SimDuration, SimTime};
use serde::Deserialize;

use super::Corruption;
use super::detecting::Detected;
use super::faults::{Ask, Fault, LevelNames, Named, Names, Wanted, choose_failed, named_faults};
use crate::SystemError;

const REJOIN: Purpose = Purpose::named("rejoin");

/// The faults of a study, and the names of what they may be of.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyFaults {
    faults: Vec<StudyFault>,
    /// The levels of parts that faults are of.
    levels: Vec<LevelNames>,
    /// What nodes are called where a file says it.
    node_names: Vec<String>,
    /// How many devices there are, and what several are called.
    devices: (u32, String),
}

/// A fault as the study has it, with the place where it stands there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StudyFault {
    key: String,
    at: SimTime,
    part: Option<BTreeMap<String, Wanted>>,
    #[serde(default)]
    health: f64,
    #[serde(default)]
    told: bool,
    until: Option<SimTime>,
    /// When empty devices are in the place of what is gone, which is rebuilt there and nowhere else.
    replaced: Option<SimTime>,
    /// When the system is told, where that is later than the fault.
    detected: Option<SimTime>,
    corrupt: Option<Corrupt>,
    /// How the server that comes back then recovers its clients before it serves anyone.
    recovery: Option<ServerRecovery>,
}

/// How a server that is back recovers: it waits until all of its clients have reconnected, and no longer than its window.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServerRecovery {
    window: SimDuration,
    /// Within what time each client finds out that it is back, at a random moment.
    reconnect: SimDuration,
    clients: u32,
    /// How many of the clients never reconnect.
    missing: u32,
}

impl ServerRecovery {
    /// How long the server waits: until the last of all clients, whose moments are uniform, or to the end of its window.
    fn time(&self, seed: u64, fault: u64) -> SimDuration {
        if self.missing > 0 {
            return self.window;
        }
        let uniform = Stream::new(seed, fault, REJOIN).uniform();
        let last = pow(uniform, 1.0 / f64::from(self.clients.max(1)));
        // The share is at most one, so the product fits.
        let time = SimDuration::from_picoseconds((self.reconnect.picoseconds() as f64 * last) as u64);
        time.min(self.window)
    }
}

/// Soft errors: the groups that rebuild in place.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Corrupt {
    groups: WantedGroups,
    strips: Option<u64>,
    code: Option<Arc<Code>>,
    window: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum WantedGroups {
    Count(u32),
    Numbers(Vec<u32>),
}

/// When what is known to be gone is replaced: what is back at the time at which it fails was never gone.
fn after(known_at: SimTime, replaced: SimTime) -> SimTime {
    replaced.max(known_at + SimDuration::from_picoseconds(1))
}

impl StudyFault {
    fn ask(&self, seed: u64, index: usize) -> Result<Option<Ask>, SystemError> {
        let Some((level, wanted)) = self.part.as_ref().and_then(BTreeMap::first_key_value) else { return Ok(None) };
        let &StudyFault { at, health, told: is_told, recovery, replaced, .. } = self;
        let until = replaced.map(|replaced| after(self.detected.unwrap_or(at), replaced)).or(self.until);
        let recovers = recovery.map(|recovery| recovery.time(seed, index as u64));
        let until = until.map(|until| until + recovers.unwrap_or(SimDuration::ZERO));
        let (is_replaced, is_resent) = (replaced.is_some(), recovery.is_some());
        let fault = Fault { at, until, health, is_told, is_replaced, is_resent, ..Fault::default() };
        let wrong =
            |key, value: String, rule| Err(SystemError::Described(format!("faults.{index}.{key} = {value}: {rule}")));
        if !(0.0..1.0).contains(&health) || until.is_some_and(|until| until <= at) {
            return wrong("health", health.to_string(), "it is from 0 to below 1, until a later time");
        }
        if recovery.is_some() && (is_told || fault.is_slow() || until.is_none()) {
            return wrong("recovery", "given".to_owned(), "a server that is gone undetected comes back and recovers");
        }
        if is_replaced && (!is_told || self.until.is_some()) {
            return wrong(
                "replaced",
                "given".to_owned(),
                "the system is told of what it replaces, which does not come back",
            );
        }
        if is_told && (fault.is_slow() || ["link", "switch"].contains(&level.as_str())) {
            return wrong("told", "true".to_owned(), "the system is told of parts with devices that are gone");
        }
        if let Some(detected) = self.detected
            && (!is_told || detected < at || until.is_some_and(|until| until <= detected))
        {
            return wrong(
                "detected",
                detected.seconds().to_string(),
                "a told fault is detected once it has begun and before it ends",
            );
        }
        let (key, level, wanted) = (self.key.clone(), level.clone(), wanted.clone());
        Ok(Some(Ask { index: index as u64, key, fault, level, wanted }))
    }
}

impl StudyFaults {
    /// The faults with their parts, of which `seed` draws those that are not named; `endpoints_of` says those of each device.
    ///
    /// # Errors
    /// When a fault cannot be, or is of what the system has not.
    pub fn named(
        &self,
        seed: u64,
        topology: Option<&Topology>,
        endpoints_of: BTreeMap<u32, Vec<EndpointId>>,
    ) -> Result<Vec<Named>, SystemError> {
        self.named_and_detected(seed, topology, endpoints_of, |_, _| Ok(Vec::new())).map(|(named, _)| named)
    }

    /// The same, and how those became known of which the study does not say when: `detect` is given the faults, and which of
    /// them these are.
    ///
    /// # Errors
    /// As there, and when `detect` fails.
    pub(super) fn named_and_detected(
        &self,
        seed: u64,
        topology: Option<&Topology>,
        endpoints_of: BTreeMap<u32, Vec<EndpointId>>,
        detect: impl FnOnce(&[Named], &[bool]) -> Result<Vec<Detected>, SystemError>,
    ) -> Result<(Vec<Named>, Vec<Detected>), SystemError> {
        let asks = self.faults.iter().enumerate().map(|(index, fault)| fault.ask(seed, index));
        let asks: Vec<Ask> = asks.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        let names = Names {
            devices: self.devices.clone(),
            levels: self.levels.clone(),
            topology,
            node_names: self.node_names.clone(),
            endpoints_of,
        };
        let mut named = named_faults(&asks, &names, seed).map_err(SystemError::Faults)?;
        let mut known_at: Vec<SimTime> = asks
            .iter()
            .zip(&named)
            .map(|(ask, named)| self.faults[ask.index as usize].detected.unwrap_or(named.fault.at))
            .collect();
        let waits = |(ask, named): (&Ask, &Named)| {
            // What has no device, nobody watches.
            let is_of_devices = named.fault.is_told && !named.fault.devices.is_empty();
            is_of_devices && self.faults[ask.index as usize].detected.is_none()
        };
        let waits: Vec<bool> = asks.iter().zip(&named).map(waits).collect();
        let mut detected = detect(&named, &waits)?;
        for Detected { faults, at, delay, .. } in &mut detected {
            for &mut fault in &mut *faults {
                known_at[fault] = delay.map_or(SimTime::MAX, |delay| *at + delay);
                let fault = &mut named[fault].fault;
                if let (true, Some(replaced), Some(delay)) = (fault.is_replaced, fault.until, *delay) {
                    fault.until = Some(after(*at + delay, replaced));
                }
            }
            // What is back before it is known, nobody finds out.
            faults.retain(|&fault| named[fault].fault.until.is_none_or(|until| until > known_at[fault]));
            // Among the study's, some have no parts.
            faults.iter_mut().for_each(|fault| *fault = asks[*fault].index as usize);
        }
        detected.retain(|detected| !detected.faults.is_empty());
        let split = |(named, known_at): (Named, SimTime)| {
            if !named.fault.is_told || known_at == named.fault.at {
                return vec![named];
            }
            let unseen = Named { fault: Fault { is_told: false, ..named.fault.clone() }, ..named.clone() };
            if named.fault.until.unwrap_or(SimTime::MAX) <= known_at {
                return vec![unseen];
            }
            vec![unseen, Named { fault: Fault { at: known_at, ..named.fault }, ..named }]
        };
        Ok((named.into_iter().zip(known_at).flat_map(split).collect(), detected))
    }

    /// The soft errors in the order of the study; `seed` draws their groups where they are not given, of so many.
    ///
    /// # Errors
    /// When fewer groups are left to draw from than a fault says.
    pub(super) fn corruptions(&self, seed: u64, groups: u32) -> Result<Vec<Corruption>, SystemError> {
        let all: Vec<(usize, SimTime, &Corrupt)> = (0..)
            .zip(&self.faults)
            .filter_map(|(index, fault)| Some((index, fault.at, fault.corrupt.as_ref()?)))
            .collect();
        let named = |corrupt: &Corrupt| match &corrupt.groups {
            WantedGroups::Numbers(numbers) => numbers.clone(),
            WantedGroups::Count(_) => Vec::new(),
        };
        let mut chosen: Vec<Vec<u32>> = all.iter().map(|(.., corrupt)| named(corrupt)).collect();
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&at| all[at].1);
        for at in order {
            let (index, _, Corrupt { groups: WantedGroups::Count(count), .. }) = &all[at] else { continue };
            let left: Vec<u32> = (0..groups).filter(|group| !chosen.iter().flatten().any(|one| one == group)).collect();
            if *count as usize > left.len() {
                return Err(SystemError::Faults(vec![Refusal {
                    key: format!("faults.{index}.corrupt.groups"),
                    count: Some(*count),
                    rule: format!("{} groups are left when this happens", left.len()),
                    remedy: "let fewer rebuild, or name them".to_owned(),
                    ..Refusal::default()
                }]));
            }
            let drawn = choose_failed(seed, *index as u64, left.len() as u32, *count);
            chosen[at] = drawn.into_iter().map(|number| left[number as usize]).collect();
        }
        let corruption = |((_, at, corrupt), groups): ((usize, SimTime, &Corrupt), Vec<u32>)| Corruption {
            at,
            groups,
            strips_per_server: corrupt.strips,
            window: corrupt.window,
            code: corrupt.code.clone(),
        };
        Ok(all.into_iter().zip(chosen).map(corruption).collect())
    }
}
