//! Where the pieces of coded objects are: a device, or none, for every position of the set.
//!
//! A copy is as good as any other, but a piece of a code is what its position says. CRUSH's rules for erasure-coded pools keep
//! positions, and leave a hole where they find no device; everywhere else the rank among the devices is the position.

use resilver_placement::crush::NONE;
use resilver_placement::layout::object_position;
use resilver_placement::pool::{Osds, PoolKind};
use resilver_units::{DeviceId, GroupId, ObjectId};

use crate::config::{Algorithm, CrushPlacement, PlaceScratch, PlacedPool};

impl Algorithm {
    /// Whether a device that stays in a set keeps its position in it when others leave, in every pool.
    pub fn keeps_positions(&self) -> bool {
        match self {
            Algorithm::Ring { .. } | Algorithm::Layout { .. } => false,
            Algorithm::Crush(crush) => crush.pools.iter().all(PlacedPool::keeps_positions),
        }
    }

    /// How many pieces of an object are asked for; of several pools, the most that one does.
    pub fn pieces(&self) -> usize {
        match self {
            Algorithm::Ring { copies, .. } | Algorithm::Layout { copies, .. } => *copies,
            Algorithm::Crush(crush) => crush.pools.iter().map(|placed| placed.pool.size as usize).max().unwrap_or(0),
        }
    }

    /// Where the groups of each pool end, of CRUSH; groups are numbered one pool behind another.
    pub(crate) fn pool_ends(&self) -> Vec<u32> {
        let Algorithm::Crush(crush) = self else { return Vec::new() };
        let add = |end: &mut u32, placed: &PlacedPool| {
            *end += placed.pool.pg_num;
            Some(*end)
        };
        crush.pools.iter().scan(0, add).collect()
    }

    /// Appends the device of each position of a group, as many as its pool asks for; `None` where there is none.
    pub fn place_group_positions(
        &self,
        group: GroupId,
        scratch: &mut PlaceScratch,
        positions: &mut Vec<Option<DeviceId>>,
    ) {
        let first = positions.len();
        let Algorithm::Crush(crush) = self else {
            self.append_ranks(|set, scratch| self.place_group(group, scratch, set), scratch, positions);
            return positions.resize(first + self.pieces(), None);
        };
        let mut placement_seed = group.get();
        let is_ahead = |placed: &&PlacedPool| {
            let is_here = placement_seed < placed.pool.pg_num;
            placement_seed -= if is_here { 0 } else { placed.pool.pg_num };
            is_here
        };
        let placed = crush.pools.iter().find(is_ahead).expect("a group lies in one of the pools");
        if placed.keeps_positions() {
            crush.group_items(placed, placement_seed, scratch);
            crush.append_items(scratch, positions);
        } else {
            let place = |set: &mut Vec<DeviceId>, scratch: &mut PlaceScratch| {
                crush.place_group(placed, placement_seed, scratch, set);
            };
            self.append_ranks(place, scratch, positions);
        }
        positions.resize(first + placed.pool.size as usize, None);
    }

    /// Appends the device of each position of an object that is placed on its own, as many as pieces are asked for; `None`
    /// where there is none.
    pub fn place_object_positions(
        &self,
        object: ObjectId,
        scratch: &mut PlaceScratch,
        positions: &mut Vec<Option<DeviceId>>,
    ) {
        let end = positions.len() + self.pieces();
        match self {
            Algorithm::Crush(crush) if self.keeps_positions() => {
                crush.object_items(&crush.pools[0], object_position(object), scratch);
                crush.append_items(scratch, positions);
            }
            _ => self.append_ranks(|set, scratch| self.place_object(object, scratch, set), scratch, positions),
        }
        positions.resize(end, None);
    }

    fn append_ranks(
        &self,
        place: impl FnOnce(&mut Vec<DeviceId>, &mut PlaceScratch),
        scratch: &mut PlaceScratch,
        positions: &mut Vec<Option<DeviceId>>,
    ) {
        let mut set = std::mem::take(&mut scratch.set);
        set.clear();
        place(&mut set, scratch);
        positions.extend(set.iter().copied().map(Some));
        scratch.set = set;
    }
}

impl PlacedPool {
    /// Whether a device that stays in a set keeps its position in it when others leave.
    pub(crate) fn keeps_positions(&self) -> bool {
        self.pool.kind == PoolKind::Erasure
    }
}

impl CrushPlacement {
    fn osds(&self) -> Osds<'_> {
        Osds { reweight: &self.reweight, is_up: &self.is_up, affinity: &self.affinity }
    }

    fn group_items(&self, placed: &PlacedPool, ps: u32, scratch: &mut PlaceScratch) {
        let PlaceScratch { crush, items, .. } = scratch;
        placed.pool.up_set(&self.map, &placed.rule, ps, self.osds(), crush, items);
    }

    fn object_items(&self, placed: &PlacedPool, input: u32, scratch: &mut PlaceScratch) {
        let (pieces, weight_sets) = (placed.pool.size as usize, self.map.weight_sets_for(placed.pool.id));
        let PlaceScratch { crush, items, .. } = scratch;
        self.map.place_with(&placed.rule, input, pieces, &self.reweight, weight_sets, crush, items);
    }

    /// Appends what CRUSH placed, with holes where there is no device that runs.
    fn append_items(&self, scratch: &PlaceScratch, positions: &mut Vec<Option<DeviceId>>) {
        let osds = self.osds();
        let device = |&item: &i32| (item != NONE && osds.is_up(item)).then(|| DeviceId::new(item as u32));
        positions.extend(scratch.items.iter().map(device));
    }
}
