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

    /// What becomes of an object that keeps `survivors` copies, lost `lost`, and gains `homes` devices.
    ///
    /// New homes first take the place of lost copies; homes beyond them take copies that move.
    pub const fn repair(self, survivors: u32, lost: u32, homes: u32) -> Repair {
        if !self.is_survivable(survivors) {
            return Repair { rebuilt: 0, remapped: 0, undersized: 0, unrecoverable: lost };
        }
        let rebuilt = if homes < lost { homes } else { lost };
        Repair { rebuilt, remapped: homes - rebuilt, undersized: lost - rebuilt, unrecoverable: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_lost_copy_has_one_new_home() {
        assert_eq!(Replicas.repair(2, 1, 1), Repair { rebuilt: 1, ..Repair::default() });
    }

    #[test]
    fn homes_beyond_the_lost_copies_are_remapped() {
        assert_eq!(Replicas.repair(2, 1, 2), Repair { rebuilt: 1, remapped: 1, ..Repair::default() });
    }

    #[test]
    fn a_lost_copy_without_a_home_leaves_the_object_undersized() {
        assert_eq!(Replicas.repair(2, 1, 0), Repair { undersized: 1, ..Repair::default() });
    }

    #[test]
    fn an_object_without_survivors_is_unrecoverable() {
        assert_eq!(Replicas.repair(0, 3, 3), Repair { unrecoverable: 3, ..Repair::default() });
    }

    proptest! {
        /// Every lost copy is rebuilt, undersized or unrecoverable, and nothing goes to a home that is not there.
        #[test]
        fn copies_are_conserved(survivors in 0u32..5, lost in 0u32..5, homes in 0u32..8) {
            let repair = Replicas.repair(survivors, lost, homes);
            prop_assert_eq!(repair.rebuilt + repair.undersized + repair.unrecoverable, lost);
            prop_assert!(repair.rebuilt + repair.remapped <= homes);
        }
    }
}
