//! The table of parts, and what is asked of it.

use std::ops::Range;

use resilver_units::DeviceId;
use serde::Deserialize;

use crate::declaration::{Declaration, PartService};

/// A part of a cluster: a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartId(pub(crate) u32);

impl PartId {
    /// The number of the row.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is known of one part.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Which of the levels it is of.
    pub level: usize,
    /// Its number within the level.
    pub number: u32,
    /// Which of the declarations made it.
    pub declaration: usize,
    /// What contains it.
    pub parent: Option<PartId>,
    /// What its bytes pass next on the way to the port.
    pub carrier: Option<PartId>,
    /// What takes over for it.
    pub partner: Option<PartId>,
    /// The devices in it, which are neighbours; none in one that is made of others.
    pub devices: Range<u32>,
    /// What it is made of.
    pub members: Vec<PartId>,
    pub health: f64,
}

/// A level, with its parts by number.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    pub name: String,
    pub parts: Vec<PartId>,
}

/// The parts of a cluster.
///
/// Parts are numbered within their level through the whole tree, in its order: the parts of the first rack come before those of
/// the second, and in one container those of an earlier declaration before those of a later.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Vec<Declaration>")]
pub struct Parts {
    pub(crate) declarations: Vec<Declaration>,
    pub(crate) levels: Vec<Level>,
    pub(crate) rows: Vec<Row>,
    pub(crate) device_level: usize,
}

impl Parts {
    /// How many parts there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The parts of a level by number; none where there is no such level.
    pub fn of_level(&self, level: &str) -> &[PartId] {
        self.levels.iter().find(|one| one.name == level).map_or(&[], |level| &level.parts)
    }

    /// The devices, by number.
    pub fn devices(&self) -> &[PartId] {
        &self.levels[self.device_level].parts
    }

    /// The part that is a device.
    pub fn device(&self, device: DeviceId) -> PartId {
        self.devices()[device.index()]
    }

    /// A part's name: its level and its number there.
    pub fn name(&self, part: PartId) -> String {
        format!("{}.{}", self.level(part), self.row(part).number)
    }

    /// The part of this name.
    pub fn find(&self, name: &str) -> Option<PartId> {
        let (level, number) = name.rsplit_once('.')?;
        let number: usize = number.parse().ok()?;
        self.of_level(level).get(number).copied().filter(|&part| self.name(part) == name)
    }

    /// The level of a part.
    pub fn level(&self, part: PartId) -> &str {
        &self.levels[self.row(part).level].name
    }

    /// What contains a part.
    pub fn parent(&self, part: PartId) -> Option<PartId> {
        self.row(part).parent
    }

    /// The class of a part.
    pub fn class(&self, part: PartId) -> Option<&str> {
        self.declaration(part).class.as_deref()
    }

    /// What it takes to pass a part, where that takes any time.
    pub fn service(&self, part: PartId) -> Option<PartService> {
        self.declaration(part).service
    }

    /// What a part is made of; nothing where it is of a level that is in another.
    pub fn members(&self, part: PartId) -> &[PartId] {
        &self.row(part).members
    }

    /// All devices in a part or of it, in rising order: those that its failure takes away.
    pub fn devices_below(&self, part: PartId) -> Vec<DeviceId> {
        let row = self.row(part);
        let mut devices: Vec<DeviceId> = row.devices.clone().map(DeviceId::new).collect();
        devices.extend(row.members.iter().flat_map(|&member| self.devices_below(member)));
        devices.sort_unstable();
        devices
    }

    /// How many devices of each part of a level, by number, are in each part of another: a row for each of the other level.
    pub fn members_within(&self, level: &str, other: &str) -> Vec<Vec<u32>> {
        let of_level = self.of_level(level);
        let below: Vec<Vec<DeviceId>> = of_level.iter().map(|&part| self.devices_below(part)).collect();
        let counts = |&container: &PartId| {
            let inside = self.devices_below(container);
            let is_inside = |device: &&DeviceId| inside.binary_search(device).is_ok();
            below.iter().map(|devices| devices.iter().filter(is_inside).count() as u32).collect()
        };
        self.of_level(other).iter().map(counts).collect()
    }

    /// The part whose network ports a device's bytes go by.
    pub fn port_of(&self, device: DeviceId) -> PartId {
        let mut part = self.device(device);
        while self.declaration(part).ports.is_none() {
            // Some part on each way has ports, or the top of the tree has them in its stead.
            let Some(above) = self.row(part).carrier else { break };
            part = above;
        }
        part
    }

    /// The parts that a device's bytes pass on the way to its port, whether that takes time or not, from the device up.
    pub fn carriers(&self, device: DeviceId) -> Vec<PartId> {
        let (mut part, port) = (self.device(device), self.port_of(device));
        let mut carriers = Vec::new();
        while let Some(carrier) = self.row(part).carrier.filter(|_| part != port) {
            carriers.push(carrier);
            part = carrier;
        }
        carriers
    }

    /// The parts with a service that an I/O passes between a device and its port, from the device up.
    ///
    /// A part that is gone is passed by its partner; `None` where there is none left that works.
    pub fn way(&self, device: DeviceId) -> Option<Vec<PartId>> {
        let serving = self.carriers(device).into_iter().filter(|&part| self.service(part).is_some());
        serving.map(|part| self.stand_in(part)).collect()
    }

    /// What takes over for a part.
    pub fn partner(&self, part: PartId) -> Option<PartId> {
        self.row(part).partner
    }

    /// Who does a part's work: itself while it works at all, else its partner; `None` where both are gone.
    pub fn stand_in(&self, part: PartId) -> Option<PartId> {
        let works = |&part: &PartId| self.row(part).health > 0.0;
        Some(part).filter(works).or_else(|| self.row(part).partner.filter(works))
    }

    /// How well a part works itself: 1 as it should, 0 not at all, between at that share of its speed.
    pub fn health(&self, part: PartId) -> f64 {
        self.row(part).health
    }

    /// Sets how well a part works.
    ///
    /// # Panics
    /// When `health` is not from 0 to 1.
    pub fn set_health(&mut self, part: PartId, health: f64) {
        assert!((0.0..=1.0).contains(&health), "health = {health}: it is from 0 to 1");
        self.rows[part.index()].health = health;
    }

    fn row(&self, part: PartId) -> &Row {
        &self.rows[part.index()]
    }

    fn declaration(&self, part: PartId) -> &Declaration {
        &self.declarations[self.row(part).declaration]
    }
}
