//! The layouts by their names, each with what it needs to be built.

use resilver_units::DeviceId;
use serde::Deserialize;

use super::groups::{Groups, Spare};
use super::{Copysets, Declustered, Domains, Jump, Layout, Modulo, MultiRing, Rendezvous, Sets, Xor};
use crate::crush::MapError;

/// A layout that is not built yet.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LayoutKind {
    /// Several rings, of so many points a device.
    MultiRing {
        /// How many.
        rings: u32,
        /// Points a device.
        points: u32,
    },
    /// Highest random weight.
    Rendezvous,
    /// The least distance by exclusive or.
    Xor {
        /// Points a device.
        points: u32,
    },
    /// The object's hash modulo the number of devices.
    Modulo,
    /// Jump consistent hash.
    Jump,
    /// Declustered parity groups.
    Declustered {
        /// How many at least; `None` for as few as balance.
        groups: Option<u64>,
    },
    /// Copysets.
    Copysets {
        /// How many other devices a device shares objects with at least.
        scatter_width: u32,
    },
    /// Fixed groups.
    Groups {
        /// Devices of each.
        group_size: usize,
        /// Where the pieces of a failed member go.
        spare: Spare,
    },
    /// Sets of devices that are given.
    Sets {
        /// The devices of each set.
        sets: Vec<Vec<DeviceId>>,
        /// Of which pool of spares each device is.
        pool_of: Vec<u32>,
    },
}

impl LayoutKind {
    /// The layout of objects of so many pieces over devices in failure domains; `seed` decides what it draws at random, and
    /// `failing` who fails before whom.
    ///
    /// # Errors
    /// When it cannot be built over these devices.
    pub fn build(self, domains: Domains, pieces: usize, seed: u64, failing: &[DeviceId]) -> Result<Layout, MapError> {
        Ok(match self {
            LayoutKind::MultiRing { rings, points } => {
                let points = vec![points; domains.devices()];
                Layout::MultiRing(MultiRing::new(domains, &points, rings))
            }
            LayoutKind::Rendezvous => Layout::Rendezvous(Rendezvous::new(domains)),
            LayoutKind::Xor { points } => Layout::Xor(Xor::new(domains, points)),
            LayoutKind::Modulo => Layout::Modulo(Modulo::new(domains)),
            LayoutKind::Jump => Layout::Jump(Jump::new(domains)),
            LayoutKind::Declustered { groups } => Layout::Declustered(Declustered::new(domains, pieces, groups)?),
            LayoutKind::Copysets { scatter_width } => {
                Layout::Copysets(Copysets::new(domains, pieces, scatter_width, seed)?)
            }
            LayoutKind::Groups { group_size, spare } => {
                Layout::Groups(Groups::new(domains, group_size, pieces, spare, failing)?)
            }
            LayoutKind::Sets { sets, pool_of } => {
                let is_known = |set: &Vec<DeviceId>| {
                    set.len() == pieces && set.iter().all(|device| device.index() < pool_of.len())
                };
                if sets.is_empty() || pool_of.len() != domains.devices() || !sets.iter().all(is_known) {
                    let rule = "every set has as many members as an object has pieces, and they are devices";
                    let field = "placement.level".to_owned();
                    let (value, remedy) = (format!("{} sets", sets.len()), "let the sizes be equal".to_owned());
                    return Err(MapError::Invalid { field, value, rule: rule.to_owned(), remedy });
                }
                Layout::Sets(Sets::new(&sets, &pool_of, failing))
            }
        })
    }
}
