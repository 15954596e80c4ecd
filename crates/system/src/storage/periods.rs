//! In which period of its faults a system is: before them, during them and their recovery, or after.

use resilver_units::SimTime;

use super::Storage;
use crate::clients::measures::Period;
use crate::plant::Network;

impl<F: Network> Storage<F> {
    /// A fault happens: from the first one on, clients are served beside it.
    pub(crate) fn note_fault(&mut self, now: SimTime) {
        if let Some(workload) = &mut self.workload
            && workload.period() == Period::Before
        {
            workload.enter(now, Period::During);
            self.is_faulty = true;
        }
    }

    /// Notes that faults are over, once they are: when all that can be recovered is, and with nothing to recover when all is
    /// repaired.
    #[inline]
    pub(crate) fn note_recovery(&mut self, now: SimTime) {
        if self.is_faulty && self.recovery.is_over() && self.is_whole() {
            self.is_faulty = false;
            if let Some(workload) = &mut self.workload {
                workload.enter(now, Period::After);
            }
        }
    }

    /// Whether there was something to recover and it is, or nothing and all faults are repaired.
    #[cold]
    fn is_whole(&self) -> bool {
        let Some(workload) = &self.workload else { return false };
        let (makes_anew, is_made) = workload.repair_in_place();
        if self.recovery.losses().pieces_to_rebuild > 0 || makes_anew {
            return is_made || !makes_anew;
        }
        // What is known to have failed is never repaired, and of the others each has its own time.
        let is_repaired = |fault: usize| {
            self.changes[..self.changes_done].iter().any(|change| change.is_end && change.fault == fault)
        };
        // This is asked at every event while a fault lasts: faults are few, and devices are many.
        (0..self.faults.len()).all(is_repaired) && !workload.knows_of_failures()
    }
}
