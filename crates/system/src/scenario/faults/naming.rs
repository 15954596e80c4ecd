//! Which parts faults are of: those that are named, and those that are drawn where a fault says how many.
//!
//! Draws are made in the order of their times, among what no fault names and no earlier draw took: first of what is gone and
//! told, then of what is gone and nobody is told, from which no device is drawn that is told of. What is slow is drawn among
//! what has no device that is told of.

use std::collections::{BTreeMap, BTreeSet};

use resilver_fabric::topology::Topology;
use resilver_units::{DeviceId, EndpointId, Refusal, SimTime};
use serde::Deserialize;

use super::kinds::{Class, Kind};
use super::stages::most_at_once;
use super::{Fault, Span, choose_failed, span_of};

/// Which parts of a level a fault is of.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Wanted {
    /// So many, drawn.
    Count(u32),
    /// Devices of these numbers, whatever the level.
    Devices(Vec<u32>),
    /// Those of these names.
    Names(Vec<String>),
}

/// A fault as a study says it.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Its place among the study's faults, by which it draws.
    pub index: u64,
    /// Where the study says what breaks.
    pub key: String,
    /// When, until when, how far and whether the system is told; of no parts yet.
    pub fault: Fault,
    /// The level of the parts: one of the cluster's, or `disk`, `link` or `switch`.
    pub level: String,
    /// Which of them.
    pub wanted: Wanted,
}

/// The parts of a level.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartsOfLevel {
    /// So many, of equally many devices each, called by this word and their number.
    Even(u32, String),
    /// Each with its name and its devices; one of several names is there as often.
    Listed(Vec<(String, Vec<u32>)>),
    /// What carries others and has no device in it, by name; the first has this number among all that do.
    Carriers(u32, Vec<String>),
}

/// A level of a cluster.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelNames {
    /// Its name.
    pub level: String,
    /// Whether its parts are machines with network ports, or contain such, so that they do not forward once they are gone.
    pub has_ports: bool,
    /// Its parts.
    pub parts: PartsOfLevel,
}

/// What a system's parts are called.
#[derive(Clone, Debug)]
pub struct Names<'a> {
    /// How many devices there are, and what several are called.
    pub devices: (u32, String),
    /// The levels that faults are of.
    pub levels: Vec<LevelNames>,
    /// The network, where it has links and nodes.
    pub topology: Option<&'a Topology>,
    /// What its nodes are called where the topology does not say it.
    pub node_names: Vec<String>,
    /// The endpoints of a device.
    pub endpoints_of: BTreeMap<u32, Vec<EndpointId>>,
}

/// A fault with its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The fault.
    pub fault: Fault,
    /// The level of its parts.
    pub level: String,
    /// The number of each part, and its name.
    pub parts: Vec<(u32, String)>,
}

/// What is taken of a system so far, in the order of time.
struct Taking<'a> {
    seed: u64,
    asks: &'a [Ask],
    kinds: BTreeMap<&'a str, Kind<'a>>,
    /// The parts of each fault.
    parts: Vec<Vec<u32>>,
    /// When what is gone and told is, and what is gone besides.
    told: BTreeMap<(Class, u32), Vec<Span>>,
    untold: BTreeSet<(Class, u32)>,
    problems: Vec<Refusal>,
}

/// The parts of faults, in the order of `asks`; `seed` draws them where a fault says how many.
///
/// # Errors
/// When a name is none, was gone by then, or fewer are left to draw from than a fault says: all that is wrong.
pub fn named_faults(asks: &[Ask], names: &Names<'_>, seed: u64) -> Result<Vec<Named>, Vec<Refusal>> {
    let mut taking = Taking {
        seed,
        asks,
        kinds: BTreeMap::new(),
        parts: vec![Vec::new(); asks.len()],
        told: BTreeMap::new(),
        untold: BTreeSet::new(),
        problems: Vec::new(),
    };
    for ask in asks.iter().filter(|ask| !matches!(ask.wanted, Wanted::Devices(_))) {
        match Kind::of(&ask.level, names) {
            Some(kind) => drop(taking.kinds.insert(&ask.level, kind)),
            None => taking.problems.push(Refusal {
                key: ask.key.clone(),
                rule: format!("the system has no {}", ask.level),
                remedy: "name a level of its parts, or links and switches of a fabric that has them".to_owned(),
                ..Refusal::default()
            }),
        }
    }
    if taking.problems.is_empty() {
        taking.take_all();
    }
    let (devices, called) = &names.devices;
    let of_devices = taking.told.iter().filter(|&(&(class, _), _)| class == Class::Device);
    let failed = most_at_once(of_devices.map(|(_, spans)| spans.as_slice()));
    if taking.problems.is_empty() && failed > 0 && failed >= *devices {
        taking.problems.push(Refusal {
            key: "faults".to_owned(),
            rule: format!("{failed} of {devices} {called} fail, and a rebuild needs one that does not"),
            remedy: "let fewer fail".to_owned(),
            ..Refusal::default()
        });
    }
    if taking.problems.is_empty() { Ok(taking.finish(names)) } else { Err(taking.problems) }
}

impl Taking<'_> {
    /// A told fault takes parts away.
    fn tell(told: &mut BTreeMap<(Class, u32), Vec<Span>>, fault: &Fault, members: impl Iterator<Item = (Class, u32)>) {
        members.for_each(|member| told.entry(member).or_default().push(span_of(fault)));
    }

    fn take_all(&mut self) {
        let in_time = |of: fn(&Fault) -> bool| {
            let mut order: Vec<usize> = (0..self.asks.len()).filter(|&at| of(&self.asks[at].fault)).collect();
            order.sort_by_key(|&at| self.asks[at].fault.at);
            order
        };
        let told = in_time(|fault| fault.is_told);
        let untold = in_time(|fault| !fault.is_told && !fault.is_slow());
        let slow: Vec<usize> = (0..self.asks.len()).filter(|&at| self.asks[at].fault.is_slow()).collect();
        for order in [told, untold, slow] {
            self.take_named(&order);
            self.draw(&order);
        }
    }

    fn take_named(&mut self, order: &[usize]) {
        let mut until: BTreeMap<(&str, u32), SimTime> = BTreeMap::new();
        for &at in order {
            let ask = &self.asks[at];
            let Wanted::Names(wanted) = &ask.wanted else { continue };
            let kind = &self.kinds[ask.level.as_str()];
            let mut parts = Vec::new();
            for name in wanted {
                let error = |rule: String, remedy: &str, known: Vec<String>| Refusal {
                    key: ask.key.clone(),
                    name: Some(name.clone()),
                    rule,
                    remedy: remedy.to_owned(),
                    known,
                    ..Refusal::default()
                };
                let Some(part) = kind.named(name) else {
                    let known = (0..kind.count).map(|part| kind.name(part)).collect();
                    self.problems.push(error(format!("there is no such {}", ask.level), "", known));
                    continue;
                };
                let members: Vec<(Class, u32)> = kind.members(part).into_iter().map(|one| (kind.class, one)).collect();
                let is_gone = |member: &(Class, u32)| {
                    let spans = self.told.get(member).map_or(&[][..], Vec::as_slice);
                    spans.iter().any(|&(_, until)| until > ask.fault.at)
                };
                if ask.fault.is_told && !members.is_empty() && members.iter().all(is_gone) {
                    let rule = format!("it has failed by then: other faults name all that is in \"{name}\"");
                    self.problems.push(error(rule, "name each once", Vec::new()));
                }
                let before = until.insert((&ask.level, part), ask.fault.until.unwrap_or(SimTime::MAX));
                if !ask.fault.is_told && !ask.fault.is_slow() && before.is_some_and(|before| before > ask.fault.at) {
                    if parts.contains(&part) {
                        continue;
                    }
                    let rule = format!("\"{name}\" has failed by then, and is not repaired");
                    self.problems.push(error(rule, "name it once, or let the fault before it end", Vec::new()));
                }
                if !parts.contains(&part) {
                    parts.push(part);
                }
                if ask.fault.is_told {
                    Self::tell(&mut self.told, &ask.fault, members.into_iter());
                } else if !ask.fault.is_slow() {
                    self.untold.extend(members);
                }
            }
            self.parts[at] = parts;
        }
    }

    fn draw(&mut self, order: &[usize]) {
        for &at in order {
            let ask = &self.asks[at];
            let &Wanted::Count(count) = &ask.wanted else { continue };
            let (kind, is_slow) = (&self.kinds[ask.level.as_str()], ask.fault.is_slow());
            let (told, untold) = (&self.told, &self.untold);
            // Several faults may slow one device down, while what is gone is gone once.
            let is_taken = |one: (Class, u32)| {
                told.contains_key(&one)
                    || !ask.fault.is_told && (!is_slow || one.0 != Class::Device) && untold.contains(&one)
            };
            let left = kind.left(is_taken);
            if count as usize > left.len() {
                let (seed, left) = (self.seed, left.len());
                let (rule, remedy) = if ask.fault.is_told {
                    let rule = format!("with seed {seed}, {left} of them are left when this fault happens");
                    (rule, "let fewer fail, or name them")
                } else {
                    let among = match (ask.level.as_str(), is_slow) {
                        ("link", _) => "links between nodes that pass packets on",
                        ("switch", _) => "nodes that pass packets on and are no routers",
                        (_, true) => "of them that have no device that fails",
                        _ => "of them that no other fault takes away",
                    };
                    (format!("{left} {among} are left to draw from with seed {seed}"), "let fewer fail, or name them")
                };
                let (key, remedy) = (ask.key.clone(), remedy.to_owned());
                self.problems.push(Refusal { key, count: Some(count), rule, remedy, ..Refusal::default() });
                continue;
            }
            let chosen: Vec<u32> = choose_failed(self.seed, ask.index, left.len() as u32, count)
                .into_iter()
                .map(|number| left[number as usize])
                .collect();
            let members = chosen.iter().flat_map(|&part| kind.members(part)).map(|member| (kind.class, member));
            if ask.fault.is_told {
                Self::tell(&mut self.told, &ask.fault, members);
            } else if !is_slow {
                self.untold.extend(members);
            }
            self.parts[at] = chosen;
        }
    }

    fn finish(self, names: &Names<'_>) -> Vec<Named> {
        let Taking { asks, kinds, parts, .. } = self;
        let named = |(ask, parts): (&Ask, Vec<u32>)| {
            let (mut fault, level) = (ask.fault.clone(), ask.level.clone());
            if let Wanted::Devices(devices) = &ask.wanted {
                fault.devices = devices.iter().copied().map(DeviceId::new).collect();
                return Named { fault, level, parts: Vec::new() };
            }
            let kind = &kinds[level.as_str()];
            let mut members: Vec<u32> = parts.iter().flat_map(|&part| kind.members(part)).collect();
            members.sort_unstable();
            members.dedup();
            match kind.class {
                Class::Link => fault.links = members,
                Class::Node => fault.nodes = members,
                // Which devices go with it, others say.
                Class::Carrier => {}
                Class::Device => {
                    // A machine that is gone passes nothing on, whoever is told; one that is slow does.
                    if let Some(topology) = names.topology.filter(|_| kind.has_ports && !fault.is_slow()) {
                        let ends = members.iter().filter_map(|device| names.endpoints_of.get(device)).flatten();
                        fault.nodes = ends.map(|&endpoint| topology.node_of(endpoint)).collect();
                        fault.nodes.sort_unstable();
                        fault.nodes.dedup();
                    }
                    fault.devices = members.into_iter().map(DeviceId::new).collect();
                }
            }
            Named { fault, level, parts: parts.iter().map(|&part| (part, kind.name(part))).collect() }
        };
        asks.iter().zip(parts).map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(index: u64, level: &str, wanted: Wanted, fault: Fault) -> Ask {
        Ask { index, key: format!("faults.{index}.part.{level}"), fault, level: level.to_owned(), wanted }
    }

    fn count(count: u32) -> Wanted {
        Wanted::Count(count)
    }

    fn called(name: &str) -> Wanted {
        Wanted::Names(vec![name.to_owned()])
    }

    fn told() -> Fault {
        Fault { is_told: true, ..Fault::default() }
    }

    /// Three hosts of two devices each, of which two go by names of their own.
    fn names() -> Names<'static> {
        let level = |level: &str, has_ports, parts| LevelNames { level: level.to_owned(), has_ports, parts };
        let listed = [("osd.0", 0), ("a", 0), ("osd.1", 1), ("osd.4", 4)];
        let listed = listed.map(|(name, device)| (name.to_owned(), vec![device])).to_vec();
        Names {
            devices: (6, "osds".to_owned()),
            levels: vec![
                level("host", true, PartsOfLevel::Even(3, "host".to_owned())),
                level("disk", false, PartsOfLevel::Even(6, "osd".to_owned())),
                level("osd", false, PartsOfLevel::Listed(listed)),
            ],
            topology: None,
            node_names: Vec::new(),
            endpoints_of: BTreeMap::new(),
        }
    }

    #[test]
    fn draws_take_what_is_told_first_and_never_twice() {
        for seed in 0..50 {
            // Three hosts: one is gone unseen, one told, and one has a slow disk, in whatever order they are written.
            let slow = Fault { health: 0.5, ..Fault::default() };
            let asks = [
                ask(0, "host", count(1), Fault::default()),
                ask(1, "host", count(1), told()),
                ask(2, "host", count(2), slow.clone()),
            ];
            let found = named_faults(&asks, &names(), seed).unwrap();
            assert_ne!(found[0].parts, found[1].parts);
            assert!(!found[2].parts.contains(&found[1].parts[0]), "what is told of is not slow besides");
            assert_eq!(found[2].fault, Fault { devices: found[2].fault.devices.clone(), ..slow });
            // The told draw is the first of three hosts, whatever else there is.
            let alone = named_faults(&asks[1..2], &names(), seed).unwrap();
            assert_eq!(alone[0], found[1]);
        }
    }

    #[test]
    fn what_goes_by_two_names_is_one_part() {
        let asks = [ask(0, "osd", called("a"), Fault::default()), ask(1, "osd", count(2), Fault::default())];
        let found = named_faults(&asks, &names(), 1).unwrap();
        assert_eq!(found[0].parts, [(0, "osd.0".to_owned())]);
        assert_eq!(found[1].parts, [(1, "osd.1".to_owned()), (2, "osd.4".to_owned())]);
        assert_eq!(found[1].fault.devices, [1, 4].map(DeviceId::new));
    }

    #[test]
    fn what_a_system_has_not_is_told_with_the_names_that_it_has() {
        let wrong = |asks: &[Ask]| named_faults(asks, &names(), 1).unwrap_err().remove(0);
        let unknown = wrong(&[ask(0, "host", called("host.3"), told())]);
        assert_eq!((unknown.name.as_deref(), unknown.known.len()), (Some("host.3"), 3));
        assert!(wrong(&[ask(0, "host", called("host.03"), told())]).rule.contains("no such host"));
        assert!(wrong(&[ask(0, "link", count(1), Fault::default())]).rule.contains("has no link"));
        assert!(wrong(&[ask(0, "host", count(3), told())]).rule.contains("6 of 6 osds fail"));
        let twice = [ask(0, "host", called("host.1"), told()), ask(1, "disk", called("osd.3"), told())];
        assert!(wrong(&twice).rule.contains("has failed by then"));
        let few = [ask(0, "host", count(2), told()), ask(1, "disk", count(3), Fault::default())];
        assert_eq!((wrong(&few).key.as_str(), wrong(&few).count), ("faults.1.part.disk", Some(3)));
    }

    #[test]
    fn a_part_may_be_gone_again_once_it_is_back() {
        let outage = |at: u64, until: Option<u64>| Fault {
            at: SimTime::from_picoseconds(at),
            until: until.map(SimTime::from_picoseconds),
            ..Fault::default()
        };
        let of = |first| [ask(0, "disk", called("osd.1"), first), ask(1, "disk", called("osd.1"), outage(9, None))];
        assert!(named_faults(&of(outage(1, Some(9))), &names(), 1).is_ok());
        let error = named_faults(&of(outage(1, Some(10))), &names(), 1).unwrap_err();
        assert!(error[0].rule.contains("is not repaired"), "{error:?}");
    }
}
