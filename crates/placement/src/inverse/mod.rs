//! The inverse of placement: which objects a failure touches, without holding the population.
//!
//! The forward question, where each copy of an object is, asks for every object of a population in turn. The inverse
//! prepares an answer for one set of failed devices, so that an object that is not touched, as nearly all are, costs a
//! hash or two and as many bits.

mod enough;
mod failed;
mod groups;
mod ring;
mod screen;
mod stretches;

use resilver_units::ObjectId;

use crate::layout::Relocation;

pub(crate) use enough::{NEGLIGIBLE, chance_of_draw, sufficient_draws};
pub use failed::FailedSet;
pub use groups::GroupInverse;
pub use ring::{RehashInverse, SuccessorInverse};

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

    /// Appends, in their order, those of `objects` that had a copy on a failed device.
    ///
    /// Lists of [`Self::LISTED`] objects are served best.
    fn affected_among(&self, objects: &[u64], scratch: &mut Self::Scratch, found: &mut Vec<ObjectId>);

    /// Where the copies of an affected object go.
    fn relocate(&self, object: ObjectId, scratch: &mut Self::Scratch, relocation: &mut Relocation);
}

/// Appends, in order, those of the `count` objects from `first` that had a copy on a failed device.
pub fn affected_in<I: Inverse>(
    inverse: &I,
    first: ObjectId,
    count: u64,
    scratch: &mut I::Scratch,
    found: &mut Vec<ObjectId>,
) {
    let end = first.get() + count;
    let mut objects = Vec::with_capacity(I::LISTED);
    let mut start = first.get();
    while start < end {
        let stop = end.min(start + I::LISTED as u64);
        objects.clear();
        objects.extend(start..stop);
        inverse.affected_among(&objects, scratch, found);
        start = stop;
    }
}
