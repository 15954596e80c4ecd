//! What a system has of a level: the parts, links or nodes that go by its name, with their numbers and names.

use std::collections::BTreeMap;

use super::naming::{LevelNames, Names, PartsOfLevel};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Device,
    Link,
    Node,
    /// What carries others, and has no device in it.
    Carrier,
}

enum Members<'a> {
    /// Each is itself: a link or a node.
    Itself(Vec<u32>),
    Even(u32),
    Listed(Vec<&'a [u32]>),
    /// Numbered on from here.
    From(u32),
}

/// What there is of a level, by number.
pub(super) struct Kind<'a> {
    pub class: Class,
    members: Members<'a>,
    /// Whether what is gone forwards nothing.
    pub has_ports: bool,
    pub count: u32,
    /// What the parts are called, or the word before their numbers.
    names: Result<Vec<String>, &'a str>,
    /// The numbers by name, other spellings among them; none where they are in the names.
    numbers: BTreeMap<String, u32>,
}

impl<'a> Kind<'a> {
    pub fn of(level: &str, names: &'a Names<'_>) -> Option<Kind<'a>> {
        if let Some(found) = names.levels.iter().find(|known| known.level == level) {
            return Some(Kind::of_level(found, names.devices.0));
        }
        let topology = names.topology?;
        let node_name = |node: u32| match names.node_names.get(node as usize) {
            Some(name) => name.clone(),
            None => topology.node_name(node),
        };
        match level {
            "link" => {
                let ends = |link: u32| topology.ends(link).map(node_name);
                let called = parallel((0..topology.links()).map(ends));
                let turned = parallel((0..topology.links()).map(|link| {
                    let [one, other] = ends(link);
                    [other, one]
                }));
                let drawable = topology.links_between_switching_nodes();
                Some(Kind::of_network(Class::Link, called, turned, drawable))
            }
            "switch" => {
                let called = (0..topology.nodes()).map(node_name).collect();
                Some(Kind::of_network(Class::Node, called, Vec::new(), topology.switches()))
            }
            _ => None,
        }
    }

    fn of_network(class: Class, names: Vec<String>, also: Vec<String>, drawable: Vec<u32>) -> Kind<'a> {
        let mut numbers: BTreeMap<String, u32> = also.into_iter().zip(0..).collect();
        numbers.extend(names.iter().cloned().zip(0..));
        let count = names.len() as u32;
        Kind { class, members: Members::Itself(drawable), has_ports: false, count, names: Ok(names), numbers }
    }

    fn of_level(level: &'a LevelNames, devices: u32) -> Kind<'a> {
        let has_ports = level.has_ports;
        match &level.parts {
            PartsOfLevel::Even(count, word) => {
                let members = Members::Even(devices / (*count).max(1));
                let (count, names, numbers) = (*count, Err(word.as_str()), BTreeMap::new());
                Kind { class: Class::Device, members, has_ports, count, names, numbers }
            }
            PartsOfLevel::Listed(parts) => {
                // What goes by two names is one part, called by the first.
                let mut sorted: Vec<(&[u32], usize)> = (0..).zip(parts).map(|(at, part)| (&part.1[..], at)).collect();
                sorted.sort_unstable();
                let mut numbers = BTreeMap::new();
                let (mut members, mut names): (Vec<&[u32]>, Vec<String>) = (Vec::new(), Vec::new());
                for (devices, at) in sorted {
                    if members.last() != Some(&devices) {
                        members.push(devices);
                        names.push(parts[at].0.clone());
                    }
                    numbers.insert(parts[at].0.clone(), members.len() as u32 - 1);
                }
                let count = members.len() as u32;
                let members = Members::Listed(members);
                Kind { class: Class::Device, members, has_ports, count, names: Ok(names), numbers }
            }
            PartsOfLevel::Carriers(first, names) => {
                let (names, numbers) = (Ok(names.clone()), names.iter().cloned().zip(0..).collect::<BTreeMap<_, _>>());
                let (members, count) = (Members::From(*first), numbers.len() as u32);
                Kind { class: Class::Carrier, members, has_ports, count, names, numbers }
            }
        }
    }

    pub fn name(&self, part: u32) -> String {
        match &self.names {
            Ok(names) => names[part as usize].clone(),
            Err(word) => format!("{word}.{part}"),
        }
    }

    pub fn named(&self, name: &str) -> Option<u32> {
        match &self.names {
            Ok(_) => self.numbers.get(name).copied(),
            Err(_) => {
                let number: u32 = name.rsplit_once('.')?.1.parse().ok()?;
                (number < self.count && self.name(number) == name).then_some(number)
            }
        }
    }

    pub fn members(&self, part: u32) -> Vec<u32> {
        match &self.members {
            Members::Itself(_) => vec![part],
            Members::Even(size) => (part * size..(part + 1) * size).collect(),
            Members::Listed(parts) => parts[part as usize].to_vec(),
            Members::From(first) => vec![first + part],
        }
    }

    /// The parts that a draw may take, of which nothing is in `taken`.
    pub fn left(&self, taken: impl Fn((Class, u32)) -> bool) -> Vec<u32> {
        let is_whole = |&part: &u32| !self.members(part).into_iter().any(|member| taken((self.class, member)));
        match &self.members {
            Members::Itself(drawable) => drawable.iter().copied().filter(is_whole).collect(),
            _ => (0..self.count).filter(is_whole).collect(),
        }
    }
}

/// The names of links by those of their ends; of parallel ones, those after the first have a number.
fn parallel(ends: impl Iterator<Item = [String; 2]>) -> Vec<String> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let name = |[one, other]: [String; 2]| {
        let name = format!("{one}-{other}");
        let count = counts.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { name } else { format!("{name}#{count}") }
    };
    ends.map(name).collect()
}
