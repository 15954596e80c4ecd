//! Declustered parity groups: fixed groups of devices in which every pair of devices occurs equally often, or nearly.
//!
//! Sources: Muntz and Lui, "Performance Analysis of Disk Arrays Under Failure" (VLDB 1990); Holland and Gibson, "Parity
//! Declustering for Continuous Operation in Redundant Disk Arrays" (ASPLOS 1992), which takes groups from block designs;
//! Alvarez, Burkhard, Stockmeyer and Cristian, "Declustered Disk Array Architectures with Optimal and Near-Optimal
//! Parallelism" (ISCA 1998).
//!
//! An object belongs to a group by its hash, and its first copy is on any of the group's devices alike. What a failed device
//! held is then on all others equally. The spare room is distributed: every object draws a new device of its own, so
//! that the writes of a rebuild spread as evenly as the reads. With failure domains of several devices each, the design is over the
//! domains, and a transversal design over the devices in them makes pairs of devices in different domains as even.

use resilver_units::{DeviceId, ObjectId};
use serde::Deserialize;

use super::design::Design;
use super::domains::around;
use super::{Build, Domains, EXTRA_DRAWS, ObjectLayout, Over, draw};
use resilver_crush::MapError;

pub use balance::Balance;

mod balance;
mod transversal;

/// The most groups that can be asked for.
pub const GROUPS_MAX: u64 = 1 << 22;

/// The most devices in all groups together: their four bytes each then take 256 MiB.
const PLACES_MAX: u64 = 1 << 26;

/// Placement by declustered groups.
#[derive(Clone, Debug)]
pub struct Declustered {
    width: usize,
    /// The devices of all groups, one group behind another.
    groups: Vec<DeviceId>,
    domains: Domains,
}

impl Declustered {
    /// A layout of groups of `width` devices in different domains.
    ///
    /// # Arguments
    /// * `domains` - the failure domain of each device; every domain has equally many devices.
    /// * `width` - devices in a group.
    /// * `groups` - how many groups there are; as many as an exactly balanced design takes where it is `None`.
    ///
    /// # Errors
    /// When domains differ in size, or there are fewer than a group needs, or more groups than can be held.
    ///
    /// # Examples
    /// ```
    /// use resilver_placement::layouts::{Declustered, Domains};
    /// // Nine devices in groups of three: the twelve lines of the affine plane of order three.
    /// let layout = Declustered::new(Domains::each_its_own(9), 3, None).unwrap();
    /// assert_eq!((layout.group_count(), layout.balance().pairs_max), (12, 1));
    /// ```
    pub fn new(domains: Domains, width: usize, groups: Option<u64>) -> Result<Self, MapError> {
        let members = members_of(&domains)?;
        if width == 0 || members.len() < width {
            let rule =
                format!("a group of {width} needs as many failure domains, of which there are {}", members.len());
            return Err(MapError::invalid("redundancy.replicas", width, rule, "use fewer copies, or more domains"));
        }
        if groups.is_some_and(|groups| !(1..=GROUPS_MAX).contains(&groups)) {
            let rule = format!("there are from 1 to {GROUPS_MAX} parity groups");
            let value = groups.unwrap_or_default();
            return Err(MapError::invalid(
                "placement.parity_groups",
                value,
                rule,
                "use a number in that range, or \"auto\"",
            ));
        }
        let (domain_count, size) = (members.len() as u32, members[0].len() as u32);
        let tuple_count = transversal::count(size, width);
        let design = match groups {
            None => Design::balanced(domain_count, width),
            Some(groups) => {
                let bases = (groups.div_ceil(tuple_count)).div_ceil(u64::from(domain_count));
                Design::cyclic(domain_count, width, bases as usize)
            }
        };
        let blocks = design.block_count() as u64;
        // A design over domains times one within them can be too large to hold: it is then cut off after the last
        // whole round of its blocks that fits.
        let fitting = (PLACES_MAX / width as u64 / blocks).clamp(1, tuple_count) * blocks;
        let count = groups.unwrap_or(fitting);
        let transversals = transversal::tuples(size, width, count.div_ceil(blocks) as usize);
        let mut table = Vec::with_capacity(count as usize * width);
        for group in 0..count {
            let block = design.block((group % blocks) as usize);
            let tuple = (group / blocks) as usize * width;
            let tuple = &transversals[tuple..tuple + width];
            table.extend(block.iter().zip(tuple).map(|(&domain, &place)| members[domain as usize][place as usize]));
        }
        Ok(Declustered { width, groups: table, domains })
    }

    /// The number of groups.
    #[must_use]
    pub fn group_count(&self) -> usize {
        self.groups.len() / self.width
    }

    /// The devices of a group.
    #[must_use]
    pub fn group(&self, number: usize) -> &[DeviceId] {
        &self.groups[number * self.width..(number + 1) * self.width]
    }

    /// How even the groups are.
    #[must_use]
    pub fn balance(&self) -> Balance {
        balance::of(self)
    }
}

/// The devices of each domain, of which each has equally many.
fn members_of(domains: &Domains) -> Result<Vec<Vec<DeviceId>>, MapError> {
    let mut order: Vec<DeviceId> = (0..domains.devices() as u32).map(DeviceId::new).collect();
    order.sort_by_key(|&device| domains.of(device));
    let members: Vec<Vec<DeviceId>> =
        order.chunk_by(|&one, &other| domains.of(one) == domains.of(other)).map(<[DeviceId]>::to_vec).collect();
    let size = members.first().map_or(0, Vec::len);
    match members.iter().find(|devices| devices.len() != size) {
        Some(odd) => {
            let rule = format!("declustered groups need domains of equally many devices, and others have {size}");
            Err(MapError::invalid("failure domain size", odd.len(), rule, "use equal domains"))
        }
        None => Ok(members),
    }
}

/// Declustered parity groups by their keys.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclusteredKeys {
    /// How many at least; `None` for as few as balance.
    parity_groups: Option<u64>,
}

impl Build for DeclusteredKeys {
    type Layout = Declustered;

    fn build(self, over: Over<'_>) -> Result<Declustered, MapError> {
        Declustered::new(over.domains, over.pieces, self.parity_groups)
    }
}

impl ObjectLayout for Declustered {
    fn devices(&self) -> usize {
        self.domains.devices()
    }

    #[inline]
    fn place(&self, object: ObjectId, copies: usize, failed: impl Fn(DeviceId) -> bool, found: &mut Vec<DeviceId>) {
        found.clear();
        let part = |word: u64, of: usize| ((u128::from(word) * of as u128) >> 64) as usize;
        let group = self.group(part(draw(object, 0), self.group_count()));
        let first = part(draw(object, 1), self.width);
        found.extend(group[first..].iter().chain(&group[..first]).take(copies));
        if !found.iter().any(|&device| failed(device)) {
            return;
        }
        let (copies, devices) = (found.len(), self.devices());
        found.retain(|&device| !failed(device));
        let mut last = 0;
        for number in 2..2 + copies + EXTRA_DRAWS {
            last = part(draw(object, number as u64), devices) as u32;
            self.domains.take(std::iter::once(DeviceId::new(last)), copies, &failed, found);
            if found.len() == copies {
                return;
            }
        }
        self.domains.take(around(last, devices), copies, &failed, found);
    }
}

#[cfg(test)]
mod tests;
