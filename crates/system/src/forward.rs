//! The plain inverse: ask the forward question for every object, before and after the failure.
//!
//! It serves every algorithm that has no faster inverse, and is what the faster ones are held against. Where CRUSH places
//! objects from one flat bucket, a screen spares most objects that question; where objects lie within groups of servers, so
//! does a look at their group.

use resilver_crush::{Candidate, FlatScreen, ScreenScratch};
use resilver_placement::inverse::{FailedSet, Inverse};
use resilver_placement::layout::{Relocation, object_position};
use resilver_placement::layouts::{Groups, Layout};
use resilver_units::{DeviceId, ObjectId};

use crate::scenario::{Algorithm, PlaceScratch};

/// The inverse of an algorithm that places each object on its own, by asking for each.
pub struct ForwardInverse {
    before: Algorithm,
    after: Algorithm,
    failed: FailedSet,
    screen: Option<FlatScreen>,
    /// Whether each group of servers has a failed one, where objects lie within groups; empty elsewhere.
    touched: Vec<bool>,
}

impl ForwardInverse {
    /// Compares where `algorithm` places objects before and after the failure.
    pub fn new(algorithm: Algorithm, failed: FailedSet) -> Self {
        let screen = algorithm.flat_screen(&failed);
        let touched =
            groups_of(&algorithm).map_or(Vec::new(), |groups| groups.touched(|device| failed.contains(device)));
        ForwardInverse { after: algorithm.without(&failed), before: algorithm, failed, screen, touched }
    }

    /// The same without the screen and with no group passed over, to hold both against.
    pub fn plain(algorithm: Algorithm, failed: FailedSet) -> Self {
        ForwardInverse { screen: None, touched: Vec::new(), ..ForwardInverse::new(algorithm, failed) }
    }
}

/// The groups of servers that objects lie within, where the algorithm has some.
fn groups_of(algorithm: &Algorithm) -> Option<&Groups> {
    match algorithm {
        Algorithm::Layout { layout, .. } => match layout.as_ref() {
            Layout::Groups(groups) => Some(groups),
            _ => None,
        },
        _ => None,
    }
}

/// Working memory of one thread.
#[derive(Default)]
pub struct ForwardScratch {
    place: PlaceScratch,
    before: Vec<DeviceId>,
    after: Vec<DeviceId>,
    screen: ScreenScratch,
    positions: Vec<u32>,
    candidates: Vec<Candidate>,
}

impl Inverse for ForwardInverse {
    type Scratch = ForwardScratch;

    const LISTED: usize = 1 << 15;

    fn objects_a_step(&self) -> u64 {
        // A screened object takes some 45 ns, and one that is placed some microseconds. A step is worked on in 256 parts,
        // whose objects should fill a list or two.
        if self.screen.is_some() { 1 << 24 } else { 1 << 16 }
    }

    fn affected_among(&self, objects: &[u64], scratch: &mut ForwardScratch, found: &mut Vec<ObjectId>) {
        let ForwardScratch { place, before, screen: screening, positions, candidates, .. } = scratch;
        let mut ask = |object: ObjectId, found: &mut Vec<ObjectId>| {
            before.clear();
            self.before.place_object(object, place, before);
            if before.iter().any(|&device| self.failed.contains(device)) {
                found.push(object);
            }
        };
        if let Some(groups) = groups_of(&self.before).filter(|_| !self.touched.is_empty()) {
            let objects = objects.iter().copied().map(ObjectId::new);
            objects.filter(|&object| self.touched[groups.group_of(object)]).for_each(|object| ask(object, found));
            return;
        }
        let Some(screen) = &self.screen else {
            objects.iter().copied().map(ObjectId::new).for_each(|object| ask(object, found));
            return;
        };
        positions.clear();
        positions.extend(objects.iter().map(|&object| object_position(ObjectId::new(object))));
        candidates.clear();
        screen.candidates(positions, screening, candidates);
        for &Candidate { index, is_certain } in &*candidates {
            let object = ObjectId::new(objects[index as usize]);
            if is_certain { found.push(object) } else { ask(object, found) }
        }
    }

    fn relocate(&self, object: ObjectId, scratch: &mut ForwardScratch, relocation: &mut Relocation) {
        scratch.before.clear();
        scratch.after.clear();
        self.before.place_object(object, &mut scratch.place, &mut scratch.before);
        self.after.place_object(object, &mut scratch.place, &mut scratch.after);
        relocation.set(&scratch.before, &scratch.after, |device| self.failed.contains(device));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use resilver_crush::pool::{Exceptions, Pool, PoolKind};
    use resilver_crush::{BucketKind, CrushMap, Tunables};
    use resilver_placement::inverse::Run;
    use resilver_placement::layouts::Domains;
    use resilver_placement::layouts::groups::Spare;

    use super::*;
    use crate::scenario::CrushPlacement;

    #[test]
    fn the_screen_changes_nothing_but_the_time() {
        let servers = 150;
        let map = CrushMap::flat(servers, BucketKind::Straw, Tunables::JEWEL);
        let rule = map.rule_by_id(0).unwrap().clone();
        let (kind, exceptions) = (PoolKind::Replicated, Exceptions::default());
        let pool = Pool { id: 1, pg_num: 1, pgp_num: 1, size: 3, rule: 0, hashpspool: true, kind, exceptions };
        let failed = FailedSet::new(servers as usize, &[DeviceId::new(4), DeviceId::new(99)]);
        let found = |inverse: ForwardInverse| {
            let (mut scratch, mut found) = (ForwardScratch::default(), Vec::new());
            inverse.affected_in(Run { first: 5000, count: 50_000, step: 1 }, &mut scratch, &mut found);
            found
        };
        let (order, reweight) = (vec![], vec![0x10000; servers as usize]);
        let algorithm = Algorithm::Crush(Box::new(CrushPlacement { map: Arc::new(map), pool, rule, order, reweight }));
        let screened = ForwardInverse::new(algorithm.clone(), failed.clone());
        assert!(screened.screen.is_some());
        let screened = found(screened);
        assert_eq!(screened, found(ForwardInverse::plain(algorithm, failed)));
        // Two of 150 servers hold a copy of about 3 x 2/150 = 4 % of the objects: 2,000, standard deviation 44.
        assert!((screened.len() as i64 - 2000).abs() < 250, "{}", screened.len());
    }

    #[test]
    fn groups_without_a_failure_change_nothing_but_the_time() {
        // Two failures in two of twelve groups of 24, where an object has 11 pieces: 2 x 1/12 x 11/24 = 7.6 % of 20,000 objects,
        // 1,528, standard deviation 38.
        let groups = Groups::new(Domains::each_its_own(288), 24, 11, Spare::Distributed, &[]).unwrap();
        let layout = Arc::new(Layout::Groups(groups));
        let algorithm = Algorithm::Layout { layout, copies: 11, is_out: vec![false; 288] };
        let failed = FailedSet::new(288, &[DeviceId::new(4), DeviceId::new(100)]);
        let found = |inverse: ForwardInverse| {
            let (mut scratch, mut found) = (ForwardScratch::default(), Vec::new());
            inverse.affected_in(Run { first: 5000, count: 20_000, step: 1 }, &mut scratch, &mut found);
            found
        };
        let passed = ForwardInverse::new(algorithm.clone(), failed.clone());
        assert_eq!(passed.touched.iter().filter(|&&touched| touched).count(), 2);
        let passed = found(passed);
        assert_eq!(passed, found(ForwardInverse::plain(algorithm, failed)));
        assert!(passed.len().abs_diff(1528) < 228, "{}", passed.len());
    }
}
