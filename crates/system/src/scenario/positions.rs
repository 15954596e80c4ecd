//! Where the pieces of coded objects are: a device, or none, for every position of the set.
//!
//! A copy is as good as any other, but a piece of a code is what its position says. CRUSH's rules for erasure-coded pools keep
//! positions, and leave a hole where they find no device; everywhere else the rank among the devices is the position.

use resilver_crush::NONE;
use resilver_crush::pool::PoolKind;
use resilver_placement::layout::object_position;
use resilver_placement::ring::RingWalk;
use resilver_units::{DeviceId, GroupId, ObjectId};

use super::{Algorithm, CrushPlacement, PlaceScratch, devices_of};

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
                crush.place_items(crush.pool.placement_seed(group.get()), scratch);
                crush.append_items(&scratch.items, positions);
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
                crush.place_items(object_position(object), scratch);
                crush.append_items(&scratch.items, positions);
            }
            _ => self.append_ranks(|set, scratch| self.place_object(object, scratch, set), scratch, positions),
        }
        positions.resize(end, None);
    }

    /// [`Self::place_object_positions`] at each of several stages, of which each is the first [`Self::without`] other devices.
    ///
    /// What does not depend on the devices that are out is found once.
    pub fn place_object_in_stages(
        stages: &[Algorithm],
        object: ObjectId,
        scratch: &mut PlaceScratch,
        positions: &mut Vec<Option<DeviceId>>,
    ) {
        let width = stages[0].pieces();
        let mut end = positions.len();
        match &stages[0] {
            Algorithm::Crush(first) => {
                let (input, weight_sets) = (object_position(object), first.map.weight_sets_for(first.pool.id));
                let crush = || stages.iter().filter_map(Algorithm::as_crush);
                let mut crush_of = crush();
                first.map.place_under_each(
                    (&first.rule, input, width),
                    weight_sets,
                    crush().map(|crush| &crush.reweight[..]),
                    (&mut scratch.crush, &mut scratch.items),
                    |items| {
                        let Some(crush) = crush_of.next() else { return };
                        match stages[0].keeps_positions() {
                            true => crush.append_items(items, positions),
                            false => positions.extend(devices_of(items).map(Some)),
                        }
                        end += width;
                        positions.resize(end, None);
                    },
                );
            }
            Algorithm::Ring { ring, copies, .. } if ring.walk() == RingWalk::Rehash => {
                let (mut undisturbed, mut set) =
                    (std::mem::take(&mut scratch.undisturbed), std::mem::take(&mut scratch.set));
                ring.place(object, *copies, |_| false, &mut undisturbed);
                for stage in stages {
                    let Algorithm::Ring { is_out, .. } = stage else { continue };
                    set.clone_from(&undisturbed);
                    ring.replace_failed(object, *copies, |device| is_out[device.index()], &mut set);
                    positions.extend(set.iter().copied().map(Some));
                    end += width;
                    positions.resize(end, None);
                }
                (scratch.undisturbed, scratch.set) = (undisturbed, set);
            }
            _ => stages.iter().for_each(|stage| stage.place_object_positions(object, scratch, positions)),
        }
    }

    fn as_crush(&self) -> Option<&CrushPlacement> {
        match self {
            Algorithm::Crush(crush) => Some(crush),
            Algorithm::Ring { .. } | Algorithm::Layout { .. } => None,
        }
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
    /// Appends what CRUSH placed, with its holes.
    fn append_items(&self, items: &[i32], positions: &mut Vec<Option<DeviceId>>) {
        let device = |&item: &i32| (item != NONE).then(|| DeviceId::new(item as u32));
        if self.order.is_empty() {
            positions.extend(items.iter().map(device));
        } else {
            let item = |&place: &u32| items.get(place as usize).and_then(&device);
            positions.extend(self.order.iter().map(item));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resilver_crush::pool::{Exceptions, Pool};
    use resilver_crush::{BucketKind, CrushMap, Step, Tunables};
    use resilver_placement::inverse::FailedSet;
    use resilver_placement::layout::mix;
    use resilver_placement::layouts::groups::Spare;
    use resilver_placement::layouts::{Domains, Groups, Layout};
    use resilver_placement::ring::HashRing;

    use super::*;

    const SERVERS: u32 = 60;
    const PIECES: usize = 4;

    fn crush(kind: PoolKind, firstn: bool, order: Vec<u32>) -> Algorithm {
        let map = CrushMap::flat(SERVERS, BucketKind::Straw, Tunables::JEWEL);
        let mut rule = map.rule_by_id(0).unwrap().clone();
        for step in &mut rule.steps {
            if let Step::Choose(choose) = step {
                choose.firstn = firstn;
            }
        }
        let (size, exceptions) = (PIECES as u32, Exceptions::default());
        let pool = Pool { id: 1, pg_num: 1, pgp_num: 1, size, rule: 0, hashpspool: true, kind, exceptions };
        // One server takes half of what falls to it.
        let mut reweight = vec![0x1_0000; SERVERS as usize];
        reweight[9] = 0x8000;
        Algorithm::Crush(Box::new(CrushPlacement { map: Arc::new(map), pool, rule, order, reweight }))
    }

    fn ring(walk: RingWalk, servers_a_rack: u32) -> Algorithm {
        let ring = Arc::new(HashRing::new((0..SERVERS).map(|server| server / servers_a_rack).collect(), 32, walk));
        let is_out = (0..SERVERS).map(|server| server == 11).collect();
        Algorithm::Ring { ring, copies: PIECES, is_out }
    }

    fn groups() -> Algorithm {
        let groups = Groups::new(Domains::each_its_own(SERVERS), 12, PIECES, Spare::Distributed, &[]).unwrap();
        let is_out = vec![false; SERVERS as usize];
        Algorithm::Layout { layout: Arc::new(Layout::Groups(groups)), copies: PIECES, is_out }
    }

    // Rule: an object placed in several stages at once is where it is placed in each stage by itself, however many fail.
    #[test]
    fn stages_at_once_equal_each_stage() {
        let algorithms = [
            crush(PoolKind::Replicated, true, vec![]),
            crush(PoolKind::Replicated, false, vec![]),
            crush(PoolKind::Erasure, false, vec![]),
            crush(PoolKind::Erasure, false, vec![2, 0, 3, 1]),
            ring(RingWalk::Rehash, 1),
            ring(RingWalk::Rehash, 17),
            ring(RingWalk::Successors, 3),
            groups(),
        ];
        let (mut scratch, mut alone) = (PlaceScratch::default(), PlaceScratch::default());
        let mut changed = [0; 8];
        for (algorithm, changed) in algorithms.iter().zip(&mut changed) {
            for failures in [1, 2, 30, SERVERS] {
                let failing: Vec<DeviceId> = (0..failures).map(|one| DeviceId::new(one * 7 % SERVERS)).collect();
                let (first, all) = failing.split_at(failing.len() / 2);
                let without = |failed: &[DeviceId]| algorithm.without(&FailedSet::new(SERVERS as usize, failed));
                let stages = [algorithm.clone(), without(first), without(&[first, all].concat())];
                for object in (0..400).map(|number| ObjectId::new(mix(number) >> 4)) {
                    let (mut found, mut expected) = (vec![None], vec![None]);
                    Algorithm::place_object_in_stages(&stages, object, &mut scratch, &mut found);
                    for stage in &stages {
                        stage.place_object_positions(object, &mut alone, &mut expected);
                    }
                    assert_eq!(found, expected);
                    *changed += u32::from(found[1..=PIECES] != found[1 + 2 * PIECES..]);
                }
            }
        }
        // Half of the servers out, and all of them, change nearly every set of four: 800 of 1,600.
        assert!(changed.iter().all(|&changed| changed > 700), "{changed:?}");
    }
}
