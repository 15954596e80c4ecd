//! Fixed groups of devices: an object's pieces lie on distinct members of one group, drawn for each object.
//!
//! The layout of parallel file systems and burst buffers: devices 0 to G - 1 are the first group, the next G the second,
//! and so on. An object belongs to a group by its hash, and a random permutation of the group's members, the object's own,
//! says which of them hold its pieces: the first as many as it has pieces. So all members share a group's load alike, and
//! what one of them held can be made anew from all others: the group is declustered inside. Where a group has no more members
//! than an object has pieces, it is a RAID set.
//!
//! Spare room comes in the two ways of Holland and Gibson, "Parity Declustering for Continuous Operation in Redundant Disk
//! Arrays" (ASPLOS 1992), section 3. Distributed: every member keeps room, and a lost piece goes to the next member of its
//! object's permutation. Dedicated: the last members of a group hold nothing until others fail, and each of them takes the
//! place of one. A piece never leaves its group; where the group has nobody left to take it, the object stays short.

use std::collections::VecDeque;

use resilver_units::{DeviceId, ObjectId};
use serde::Deserialize;

use super::{Build, Domains, ObjectLayout, Over, draw, part};
use resilver_crush::MapError;

/// The most devices of a group: what a permutation of them is drawn in then takes 2 KiB of the stack.
pub const GROUP_SIZE_MAX: usize = 1024;

/// The groups whose permutations are drawn in an eighth of a kilobyte.
const SMALL: usize = 64;

/// Where the pieces of a failed member go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spare {
    /// To other members that hold none of the object's pieces.
    Distributed,
    /// To this many members at the end of the group that hold nothing before.
    Dedicated(usize),
}

/// Placement in fixed groups.
#[derive(Clone, Debug)]
pub struct Groups {
    domains: Domains,
    group_size: usize,
    spare: Spare,
    /// For each device, how many are known to fail before it; the greatest number where nothing is known.
    fails_after: Vec<u32>,
}

impl Groups {
    /// A layout of groups of `group_size` devices, device 0 on.
    ///
    /// # Arguments
    /// * `domains` - the failure domain of each device; pieces of an object lie in different ones.
    /// * `group_size` - devices in a group, spares included.
    /// * `pieces` - pieces of an object.
    /// * `spare` - where the pieces of a failed member go.
    /// * `failing` - devices in the order in which they fail, which decides who takes which dedicated spare; those that are not
    ///   named come behind them, by their numbers.
    ///
    /// # Errors
    /// When the devices do not divide into groups, or a group has too few members that hold data, or failure domains.
    ///
    /// # Examples
    /// ```
    /// use resilver_placement::layouts::groups::{Groups, Spare};
    /// use resilver_placement::layouts::{Domains, ObjectLayout};
    /// use resilver_units::ObjectId;
    /// let layout = Groups::new(Domains::each_its_own(288), 24, 11, Spare::Distributed, &[]).unwrap();
    /// let mut found = Vec::new();
    /// layout.place(ObjectId::new(7), 11, |_| false, &mut found);
    /// let group = layout.group_of(ObjectId::new(7));
    /// assert!(found.len() == 11 && found.iter().all(|device| device.index() / 24 == group));
    /// ```
    pub fn new(
        domains: Domains,
        group_size: usize,
        pieces: usize,
        spare: Spare,
        failing: &[DeviceId],
    ) -> Result<Self, MapError> {
        let devices = domains.devices();
        if !(1..=GROUP_SIZE_MAX).contains(&group_size) || devices == 0 || !devices.is_multiple_of(group_size) {
            let rule = format!("groups of 1 to {GROUP_SIZE_MAX} hold all {devices} servers, each as many");
            return Err(MapError::invalid("placement.group_size", group_size, rule, "use a divisor of the servers"));
        }
        let mut fails_after = vec![u32::MAX; devices];
        for (before, device) in (0..).zip(failing) {
            fails_after[device.index()] = before;
        }
        let layout = Groups { domains, group_size, spare, fails_after };
        let holders = layout.holders();
        let fewest = (0..layout.group_count()).map(|group| layout.domains_in(group, holders)).min().unwrap_or(0);
        if fewest < pieces {
            let rule = format!("the {holders} members of a group that hold data lie in {fewest} failure domains");
            let remedy = "use larger groups, fewer spares, or fewer pieces";
            return Err(MapError::invalid("redundancy pieces", pieces, rule, remedy));
        }
        Ok(layout)
    }

    /// The number of groups.
    #[must_use]
    pub fn group_count(&self) -> usize {
        self.domains.devices() / self.group_size
    }

    /// The group of an object.
    #[inline]
    #[must_use]
    pub fn group_of(&self, object: ObjectId) -> usize {
        part(draw(object, 0), self.group_count())
    }

    /// Whether each group has a member for which `failed` is true; objects of the others lost nothing.
    #[must_use]
    pub fn touched(&self, failed: impl Fn(DeviceId) -> bool) -> Vec<bool> {
        let devices: Vec<DeviceId> = (0..self.devices() as u32).map(DeviceId::new).collect();
        devices.chunks(self.group_size).map(|members| members.iter().any(|&member| failed(member))).collect()
    }

    /// How many members of a group hold data before anything fails.
    fn holders(&self) -> usize {
        match self.spare {
            Spare::Distributed => self.group_size,
            Spare::Dedicated(spares) => self.group_size.saturating_sub(spares),
        }
    }

    /// In how many failure domains the first `members` of a group lie.
    fn domains_in(&self, group: usize, members: usize) -> usize {
        let first = group * self.group_size;
        let mut of = self.domains.of_all()[first..first + members].to_vec();
        of.sort_unstable();
        of.dedup();
        of.len()
    }

    /// Places an object with a permutation drawn in an array of `ROOM`, which the group's members fit into.
    #[inline]
    fn place_in<const ROOM: usize>(
        &self,
        object: ObjectId,
        copies: usize,
        failed: impl Fn(DeviceId) -> bool,
        found: &mut Vec<DeviceId>,
    ) {
        let first = (self.group_of(object) * self.group_size) as u32;
        let members = Permutation::<ROOM>::new(object, self.holders()).map(|member| DeviceId::new(first + member));
        match self.spare {
            Spare::Distributed => self.domains.take(members, copies, failed, found),
            Spare::Dedicated(_) => {
                self.domains.take(members, copies, |_| false, found);
                if found.iter().any(|&device| failed(device)) {
                    self.stand_in(first, failed, found);
                }
            }
        }
    }

    /// Puts dedicated spares in the places of what failed: survivors keep their order, and spares follow in that of the lost.
    fn stand_in(&self, first: u32, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        let stand_ins = self.stand_ins(first, &failed);
        let lost: Vec<DeviceId> = found.iter().copied().filter(|&device| failed(device)).collect();
        found.retain(|&device| !failed(device));
        for device in lost {
            // A spare in the domain of another piece would break the promise that a domain's failure costs one piece.
            let stand_in = stand_ins.iter().find(|&&(member, _)| member == device);
            if let Some(&(_, spare)) = stand_in.filter(|&&(_, spare)| !self.domains.is_used(spare, found)) {
                found.push(spare);
            }
        }
    }

    /// The failed members of a group that a spare stands in for, each with its spare.
    ///
    /// Failures are taken in their order: a member takes the first free spare, and where that fails too, the next. So what
    /// fails later changes nothing of what went before.
    fn stand_ins(&self, first: u32, failed: impl Fn(DeviceId) -> bool) -> Vec<(DeviceId, DeviceId)> {
        let (holders, end) = (first + self.holders() as u32, first + self.group_size as u32);
        let mut failures: Vec<DeviceId> = (first..end).map(DeviceId::new).filter(|&device| failed(device)).collect();
        failures.sort_by_key(|device| self.fails_after[device.index()]);
        let mut free: VecDeque<DeviceId> = (holders..end).map(DeviceId::new).collect();
        let mut stand_ins: Vec<(DeviceId, DeviceId)> = Vec::new();
        for device in failures {
            free.retain(|&spare| spare != device);
            let member = match stand_ins.iter().position(|&(_, spare)| spare == device) {
                Some(place) => stand_ins.swap_remove(place).0,
                None if device.get() < holders => device,
                None => continue,
            };
            stand_ins.extend(free.pop_front().map(|spare| (member, spare)));
        }
        stand_ins
    }
}

/// Fixed groups by their keys.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupsKeys {
    /// Devices of each.
    group_size: usize,
    /// Where the pieces of a failed member go.
    spare: SpareKind,
    /// How many members stand by, where spares are dedicated.
    spares: Option<usize>,
}

/// Where the pieces of a failed member go, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SpareKind {
    Distributed,
    Dedicated,
}

impl Build for GroupsKeys {
    type Layout = Groups;

    fn build(self, over: Over<'_>) -> Result<Groups, MapError> {
        let spare = match self.spare {
            SpareKind::Distributed => Spare::Distributed,
            SpareKind::Dedicated => Spare::Dedicated(self.spares.unwrap_or(0)),
        };
        Groups::new(over.domains, self.group_size, over.pieces, spare, over.failing)
    }
}

impl ObjectLayout for Groups {
    fn devices(&self) -> usize {
        self.domains.devices()
    }

    #[inline]
    fn place(&self, object: ObjectId, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        found.clear();
        if self.group_size <= SMALL {
            self.place_in::<SMALL>(object, copies, failed, found);
        } else {
            self.place_in::<GROUP_SIZE_MAX>(object, copies, failed, found);
        }
    }
}

/// The numbers below a limit in the random order of an object, by Fisher and Yates's shuffle from the front.
///
/// The shuffle is drawn as far as it is asked for: a member's place does not depend on how many come behind it.
struct Permutation<const ROOM: usize> {
    object: ObjectId,
    numbers: [u16; ROOM],
    limit: usize,
    next: usize,
}

impl<const ROOM: usize> Permutation<ROOM> {
    #[inline]
    fn new(object: ObjectId, limit: usize) -> Self {
        let mut numbers = [0; ROOM];
        for (number, place) in (0..).zip(&mut numbers[..limit]) {
            *place = number;
        }
        Permutation { object, numbers, limit, next: 0 }
    }
}

impl<const ROOM: usize> Iterator for Permutation<ROOM> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.next == self.limit {
            return None;
        }
        let other = self.next + part(draw(self.object, 1 + self.next as u64), self.limit - self.next);
        self.numbers.swap(self.next, other);
        self.next += 1;
        Some(u32::from(self.numbers[self.next - 1]))
    }
}

#[cfg(test)]
mod tests;
