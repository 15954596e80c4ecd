//! The plain inverse: ask the forward question for every object, before and after the failure.
//!
//! It serves every algorithm that has no faster inverse, and is what the faster ones are held against.

use resilver_placement::inverse::{FailedSet, Inverse};
use resilver_placement::layout::Relocation;
use resilver_units::{DeviceId, ObjectId};

use crate::config::{Algorithm, PlaceScratch};

/// The inverse of an algorithm that places each object on its own, by asking for each.
pub struct ForwardInverse {
    before: Algorithm,
    after: Algorithm,
    failed: FailedSet,
}

impl ForwardInverse {
    /// Compares where `algorithm` places objects before and after the failure.
    pub fn new(algorithm: Algorithm, failed: FailedSet) -> Self {
        ForwardInverse { after: algorithm.without(&failed), before: algorithm, failed }
    }
}

/// Working memory of one thread.
#[derive(Default)]
pub struct ForwardScratch {
    place: PlaceScratch,
    before: Vec<DeviceId>,
    after: Vec<DeviceId>,
}

impl Inverse for ForwardInverse {
    type Scratch = ForwardScratch;

    fn affected_in(&self, first: ObjectId, count: u64, scratch: &mut ForwardScratch, found: &mut Vec<ObjectId>) {
        for object in (first.get()..first.get() + count).map(ObjectId::new) {
            scratch.before.clear();
            self.before.place_object(object, &mut scratch.place, &mut scratch.before);
            if scratch.before.iter().any(|&device| self.failed.contains(device)) {
                found.push(object);
            }
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
