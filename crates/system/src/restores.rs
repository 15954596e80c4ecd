//! What one pull does for its object's redundancy.

use resilver_placement::layout::Relocation;
use resilver_redundancy::Repair;

/// What a completed copy does for its object's redundancy, where that is known beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Restores {
    /// The object's copies are to be counted: several are missing, or another failure may change them.
    Counted,
    /// All copies, of an object of which several were left.
    All,
    /// All copies, of an object of which no more than one was left.
    AllOfOneAtRisk,
}

impl Restores {
    /// What the pull in place of a lost copy does for an object that goes from one set of devices to another.
    pub fn of(relocation: &Relocation, repair: Repair) -> Self {
        match (relocation.lost, repair.rebuilt, relocation.survivors.len()) {
            (1, 1, 1) => Restores::AllOfOneAtRisk,
            (1, 1, 2..) => Restores::All,
            _ => Restores::Counted,
        }
    }
}

#[cfg(test)]
mod tests {
    use resilver_units::DeviceId;

    use super::*;
    use crate::work::repair_of;

    #[test]
    fn a_pull_restores_its_object_where_nothing_else_is_missing() {
        // Of the copies on 0, 1 and 2, those on the first devices are lost, and 3 and 4 take their place as far as asked.
        let devices = |numbers: &[u32]| -> Vec<DeviceId> { numbers.iter().copied().map(DeviceId::new).collect() };
        let restores = |before: &[u32], failed: u32, after: &[u32]| {
            let mut relocation = Relocation::default();
            relocation.set(&devices(before), &devices(after), |device| device.get() < failed);
            Restores::of(&relocation, repair_of(&relocation))
        };
        assert_eq!(restores(&[0, 1, 2], 1, &[1, 2, 3]), Restores::All);
        assert_eq!(restores(&[0, 1], 1, &[1, 3]), Restores::AllOfOneAtRisk);
        // Two are lost, and both or one of them come back.
        assert_eq!(restores(&[0, 1, 2], 2, &[2, 3, 4]), Restores::Counted);
        assert_eq!(restores(&[0, 1, 2], 2, &[2, 3]), Restores::Counted);
    }
}
