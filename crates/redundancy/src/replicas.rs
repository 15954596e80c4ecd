//! Replication: every piece is a full copy, and any one of them restores the others.

/// What becomes of the pieces of an object after a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repair {
    /// Lost pieces that are made anew.
    pub rebuilt: u32,
    /// Pieces that were not lost, but move because the placement changed.
    pub remapped: u32,
    /// Lost pieces that could be made anew, but for which the placement found no device.
    pub undersized: u32,
    /// Pieces that nothing can restore: the lost ones of an object of which too little survived.
    pub unrecoverable: u32,
}

/// Replication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replicas;

impl Replicas {
    /// How many survivors the repair of one piece reads from.
    pub const SOURCES: u32 = 1;

    /// Whether an object of which `survivors` copies are left can be restored.
    pub const fn is_survivable(self, survivors: u32) -> bool {
        survivors >= Self::SOURCES
    }

    /// What becomes of an object that keeps `survivors` copies, of which `leaving` are no longer placed where they are, lost
    /// `lost`, and gains `homes` devices.
    ///
    /// A copy that leaves needs a home as much as a lost one does, so homes serve those that leave first: an object whose
    /// set comes up short by one is undersized by one, whichever copies the set changed beside it.
    pub const fn repair(self, survivors: u32, leaving: u32, lost: u32, homes: u32) -> Repair {
        if !self.is_survivable(survivors) {
            return Repair { rebuilt: 0, remapped: 0, undersized: 0, unrecoverable: lost };
        }
        let for_lost = homes.saturating_sub(leaving);
        let rebuilt = if for_lost < lost { for_lost } else { lost };
        Repair { rebuilt, remapped: homes - rebuilt, undersized: lost - rebuilt, unrecoverable: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_lost_copy_has_one_new_home() {
        assert_eq!(Replicas.repair(2, 0, 1, 1), Repair { rebuilt: 1, ..Repair::default() });
    }

    #[test]
    fn homes_beyond_the_lost_copies_are_remapped() {
        assert_eq!(Replicas.repair(2, 1, 1, 2), Repair { rebuilt: 1, remapped: 1, ..Repair::default() });
    }

    #[test]
    fn a_lost_copy_without_a_home_leaves_the_object_undersized() {
        assert_eq!(Replicas.repair(2, 0, 1, 0), Repair { undersized: 1, ..Repair::default() });
    }

    #[test]
    fn a_copy_that_leaves_for_the_only_home_leaves_the_object_undersized() {
        // [5, 7, 1] becomes [5, 0]: 7 is lost, 1 leaves, and one home is not enough for two.
        assert_eq!(Replicas.repair(2, 1, 1, 1), Repair { remapped: 1, undersized: 1, ..Repair::default() });
    }

    #[test]
    fn an_object_without_survivors_is_unrecoverable() {
        assert_eq!(Replicas.repair(0, 0, 3, 3), Repair { unrecoverable: 3, ..Repair::default() });
    }

    proptest! {
        /// Every lost copy is rebuilt, undersized or unrecoverable, and nothing goes to a home that is not there.
        #[test]
        fn copies_are_conserved(survivors in 0u32..5, leaving in 0u32..5, lost in 0u32..5, homes in 0u32..8) {
            let repair = Replicas.repair(survivors, leaving.min(survivors), lost, homes);
            prop_assert_eq!(repair.rebuilt + repair.undersized + repair.unrecoverable, lost);
            prop_assert!(repair.rebuilt + repair.remapped <= homes);
        }
    }
}
