//! What follows from declared levels, without the parts one by one: how many there are, and which have the network ports.

use serde::Serialize;

use crate::declaration::{Declaration, number};

/// The levels of a cluster, with how many parts they have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// The levels that contain the devices from the top down, each with how many parts it has in all; the last is the devices'.
    pub levels: Vec<(String, u64)>,
    /// The level whose parts have the network ports.
    pub port_level: String,
    /// How many ports each of these has.
    pub ports: u64,
    /// The kinds of the devices in turn, over and over: the number of the declaration among theirs.
    pub kinds: Vec<u32>,
    /// The levels beside the tree: first what is made of devices, then what carries others.
    pub sides: Vec<Side>,
}

/// A level beside the tree: of parts that are made of devices, or that carry others' bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Its name.
    pub name: String,
    /// How many parts of the tree there are that such parts are in; 1 for all of it.
    pub scopes: u64,
    /// How many there are in each of these.
    pub each: u64,
    /// Of what is made of devices: of how many; else 0.
    pub size: u64,
    /// Of what is made of devices: over how many parts of each scope these are dealt.
    pub hands: u64,
    /// How many devices of each of these are in no set, and stand by.
    pub spares: u64,
    /// Of what carries others: their level.
    pub carries: Option<String>,
    /// Whether each two neighbours take over for each other.
    pub has_partners: bool,
}

impl Shape {
    /// The tree of levels of which this is the devices', with no levels beside it.
    pub(crate) fn tree(declarations: &[Declaration], device: String) -> Self {
        let of_level = |level: &String| declarations.iter().filter(|part| part.level == *level).collect::<Vec<_>>();
        let mut names = vec![device];
        while let Some(above) = of_level(&names[names.len() - 1]).iter().find_map(|part| part.within.clone()) {
            names.push(above);
        }
        let mut total = 1u64;
        let counted = |name: String| {
            total = total.saturating_mul(of_level(&name).into_iter().map(Declaration::each).sum());
            (name, total)
        };
        let levels = names.into_iter().rev().map(counted).collect();
        let ports = declarations.iter().map(|part| number(part.ports)).max().unwrap_or(0).max(1);
        let mut shape = Shape { levels, port_level: String::new(), ports, kinds: vec![0], sides: Vec::new() };
        let owner = declarations.iter().find(|part| part.ports.is_some());
        shape.port_level = owner.map_or_else(|| shape.usual_port_level(declarations), |part| part.level.clone());
        shape
    }

    /// Adds the levels beside the tree.
    pub(crate) fn add_sides(&mut self, declarations: &[Declaration]) {
        let sets = declarations.iter().filter(|part| part.of.is_some()).map(|part| self.set(part));
        let carriers = declarations.iter().filter(|part| part.carries.is_some()).map(|part| self.carrier(part));
        self.sides = sets.chain(carriers).collect();
    }

    /// Adds the kinds of the devices, where they are of several.
    pub(crate) fn add_kinds(&mut self, declarations: &[Declaration]) {
        let counts = declarations.iter().filter(|part| part.level == self.devices().0).map(Declaration::each);
        let kinds: Vec<u32> = counts.zip(0..).flat_map(|(count, kind)| (0..count).map(move |_| kind)).collect();
        self.kinds = if kinds.last() == Some(&0) { vec![0] } else { kinds };
    }

    /// The level of the devices, and how many there are.
    pub fn devices(&self) -> &(String, u64) {
        &self.levels[self.levels.len() - 1]
    }

    /// How many levels that contain devices lie above one of them.
    pub(crate) fn depth(&self, level: Option<&String>) -> Option<usize> {
        self.levels.iter().position(|(name, _)| Some(name) == level)
    }

    /// What contains the devices or, where other parts carry these, what contains the carriers.
    fn usual_port_level(&self, declarations: &[Declaration]) -> String {
        let sides = declarations.iter().filter(|part| part.is_side());
        let above = sides.filter_map(|part| self.depth(part.within.as_ref()));
        let depth = above.chain([self.levels.len().saturating_sub(2)]).min();
        self.levels[depth.unwrap_or(0)].0.clone()
    }

    /// Over what sets are dealt: the parts that they are in, those of each that give devices, and the devices of each of these.
    pub(crate) fn dealt_over(&self, set: &Declaration) -> (u64, u64, u64) {
        let count = |level: &Option<String>| self.depth(level.as_ref()).map(|depth| self.levels[depth].1);
        let scopes = count(&set.within).unwrap_or(1);
        let hands = count(&set.across).map_or(1, |parts| (parts / scopes).max(1));
        (scopes, hands, self.devices().1 / (scopes * hands))
    }

    fn set(&self, part: &Declaration) -> Side {
        let ((scopes, hands, devices), size, spares) = (self.dealt_over(part), number(part.size), number(part.spares));
        let (name, each) = (part.level.clone(), hands * (devices - spares) / size);
        Side { name, scopes, each, size, hands, spares, ..Side::default() }
    }

    fn carrier(&self, part: &Declaration) -> Side {
        let ((scopes, hands, _), name, carries) = (self.dealt_over(part), part.level.clone(), part.carries.clone());
        let (each, has_partners) = (part.each(), part.partner == Some(true));
        Side { name, scopes, each, hands, carries, has_partners, ..Side::default() }
    }
}
