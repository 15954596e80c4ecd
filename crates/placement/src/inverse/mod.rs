//! The inverse of placement: which objects a failure touches, without holding the population.
//!
//! The forward question, where each copy of an object is, asks for every object of a population in turn. The inverse
//! prepares an answer for one set of failed devices, so that an object that is not touched, as nearly all are, costs a
//! hash or two and as many bits.

mod failed;
mod groups;
mod ring;
mod screen;
mod stretches;

use resilver_units::ObjectId;

use crate::layout::Relocation;

pub use failed::FailedSet;
pub use groups::GroupInverse;
pub use ring::{RehashInverse, SuccessorInverse};

/// Objects at even distances: those of a file, or the first ones of consecutive files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first object's number.
    pub first: u64,
    /// How many objects there are.
    pub count: u64,
    /// How far each further object's number lies behind the one before.
    pub step: u64,
}

/// Finds the objects that a set of failed devices touches, and where they go.
pub trait Inverse: Sync {
    /// Working memory of one thread.
    type Scratch: Default;

    /// Objects that are best asked together: enough for wide loops, few enough for their cache.
    const LISTED: usize = 1024;

    /// Objects of which all threads of a small machine find the affected ones in a fraction of a second.
    fn objects_a_step(&self) -> u64 {
        1 << 22
    }

    /// Objects of a run that is best asked by itself; shorter ones are listed.
    const LONG_RUN: u64 = u64::MAX;

    /// Appends, in their order, those of `objects` that had a copy on a failed device.
    ///
    /// Lists of [`Self::LISTED`] objects are served best.
    fn affected_among(&self, objects: &[u64], scratch: &mut Self::Scratch, found: &mut Vec<ObjectId>);

    /// Appends, in their order, those objects of a run that had a copy on a failed device.
    fn affected_in(&self, run: Run, scratch: &mut Self::Scratch, found: &mut Vec<ObjectId>) {
        let mut objects = Vec::with_capacity(Self::LISTED);
        for start in (0..run.count).step_by(Self::LISTED) {
            objects.clear();
            let indices = start..run.count.min(start + Self::LISTED as u64);
            objects.extend(indices.map(|index| run.first + index * run.step));
            self.affected_among(&objects, scratch, found);
        }
    }

    /// Where the copies of an affected object go.
    fn relocate(&self, object: ObjectId, scratch: &mut Self::Scratch, relocation: &mut Relocation);
}
