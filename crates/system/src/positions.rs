//! Where the pieces of coded objects are: a device, or none, for every position of the set.
//!
//! A copy is as good as any other, but a piece of a code is what its position says. CRUSH's rules for erasure-coded pools keep
//! positions, and leave a hole where they find no device; everywhere else the rank among the devices is the position.

use resilver_placement::crush::NONE;
use resilver_placement::layout::object_position;
use resilver_placement::pool::{Osds, PoolKind};
use resilver_units::{DeviceId, GroupId, ObjectId};

use crate::config::{Algorithm, CrushPlacement, PlaceScratch};

impl Algorithm {
    /// Whether a device that stays in a set keeps its position in it when others leave.
    pub fn keeps_positions(&self) -> bool {
        match self {
            Algorithm::Ring { .. } | Algorithm::Layout { .. } => false,
            Algorithm::Crush(crush) => crush.pool.kind == PoolKind::Erasure,
        }
    }

    /// How many pieces of an object are asked for.
    pub fn pieces(&self) -> usize {
        match self {
            Algorithm::Ring { copies, .. } | Algorithm::Layout { copies, .. } => *copies,
            Algorithm::Crush(crush) => crush.pool.size as usize,
        }
    }

    /// Appends the device of each position of a group, as many as pieces are asked for; `None` where there is none.
    pub fn place_group_positions(
        &self,
        group: GroupId,
        scratch: &mut PlaceScratch,
        positions: &mut Vec<Option<DeviceId>>,
    ) {
        let end = positions.len() + self.pieces();
        match self {
            Algorithm::Crush(crush) if self.keeps_positions() => {
                crush.group_items(group.get(), scratch);
                crush.append_items(scratch, positions);
            }
            _ => self.append_ranks(|set, scratch| self.place_group(group, scratch, set), scratch, positions),
        }
        positions.resize(end, None);
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
                crush.object_items(object_position(object), scratch);
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

impl CrushPlacement {
    fn osds(&self) -> Osds<'_> {
        Osds { reweight: &self.reweight, is_up: &self.is_up, affinity: &self.affinity }
    }

    fn group_items(&self, ps: u32, scratch: &mut PlaceScratch) {
        let PlaceScratch { crush, items, .. } = scratch;
        self.pool.up_set(&self.map, &self.rule, ps, self.osds(), crush, items);
    }

    fn object_items(&self, input: u32, scratch: &mut PlaceScratch) {
        let (pieces, weight_sets) = (self.pool.size as usize, self.map.weight_sets_for(self.pool.id));
        let PlaceScratch { crush, items, .. } = scratch;
        self.map.place_with(&self.rule, input, pieces, &self.reweight, weight_sets, crush, items);
    }

    /// Appends what CRUSH placed, with holes where there is no device that runs.
    fn append_items(&self, scratch: &PlaceScratch, positions: &mut Vec<Option<DeviceId>>) {
        let osds = self.osds();
        let device = |&item: &i32| (item != NONE && osds.is_up(item)).then(|| DeviceId::new(item as u32));
        if self.order.is_empty() {
            positions.extend(scratch.items.iter().map(device));
        } else {
            let item = |&place: &u32| scratch.items.get(place as usize).and_then(&device);
            positions.extend(self.order.iter().map(item));
        }
    }
}
